//! Cells with one request a connection, as scenarios.

use farweb::scenario::Scenario;

use super::cells::Cell;
use super::stacks::stack;
use crate::run::{Asked, ints, one_link, run};

/// Time between the starts of parallel connections, in ns.
const START_GAP_NS: u64 = 20_000;

/// Time until the last byte of all connections in ms, and segments that were sent again.
pub(super) fn transfer(cell: &Cell, seed: u64) -> (f64, i64) {
    let asked = (0..cell.connections).map(|connection| {
        Asked(connection * START_GAP_NS, 300, cell.size, (cell.server_delay_s * 1e9) as u64)
    });
    let (tables, _) = run(&described(cell), seed, asked.collect());
    let end = ints(&tables, "requests", "end_ns").iter().max().expect("a request");
    (*end as f64 / 1e6, ints(&tables, "connections", "retransmits").iter().sum())
}

/// The cell as a scenario.
fn described(cell: &Cell) -> Scenario {
    let stack = stack(&cell.stack);
    let direction = |name: &str, delay_ms: u64, link: &str| {
        let drops: Vec<String> = cell.drops(link).iter().map(|drop| format!("\"{drop}\"")).collect();
        let loss = if drops.is_empty() {
            String::new()
        } else {
            format!(", loss = {{ kind = \"list\", drop = [{}] }}", drops.join(", "))
        };
        format!(
            "{name} = {{ rate = \"{} bit/s\", delay = \"{delay_ms} ms\", queue = \"{} packets\"{loss} }}\n",
            cell.rate_bps, cell.queue_packets
        )
    };
    let link = direction("up", cell.delay_up_ms, "ab") + &direction("down", cell.delay_down_ms, "ba");
    let buffer = stack.buffer.map(|bytes| format!(", buffer = \"{bytes} B\"")).unwrap_or_default();
    let leg = format!(
        "tcp = {{ profile = \"{}\", mss = \"{} B\"{buffer}, constants = {} }}",
        stack.profile,
        stack.mss,
        stack.constants(cell)
    );
    one_link(&link, &leg, "[origin]\nrelease = \"delayed\"")
}
