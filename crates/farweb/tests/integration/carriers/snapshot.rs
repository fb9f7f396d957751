//! A small run through a mux, as a table that a person can follow.

use std::fmt::Write;

use farweb::record::NULL_INT;
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, codes, ints, run};

/// At 8 Mbit/s a byte takes a microsecond. The mux has full segments of 1040 B, so 1.04 ms, and 100 ms each way; the servers are
/// 10 ms behind the proxy.
const SCENARIO: &str = r#"
    format = 1
    [path]
    nodes = ["client", "proxy", "servers"]
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "100 ms" }
    down = { rate = "8 Mbit/s", delay = "100 ms" }
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "10 ms" }
    down = { rate = "8 Mbit/s", delay = "10 ms" }
    [[leg]]
    from = "client"
    to = "proxy"
    carrier = { kind = "mux", connections = 2, overhead = "20 B" }
    tcp = { mss = "1000 B" }
    [[leg]]
    from = "proxy"
    to = "servers"
    carrier = { kind = "http/1.0" }
    tcp = { mss = "1000 B" }
    [origin]
    release = "at-once"
    [workload]
    requests = "given by the test"
    [record]
    exchanges = true
    packets = "all"
"#;

fn millis(nanos: i64) -> String {
    if nanos == NULL_INT { "-".to_owned() } else { format!("{:.3}", nanos as f64 / 1e6) }
}

/// Segments with payload on the first leg: sent, received, what they carry.
fn segments(tables: &Tables) -> String {
    let column = |name| ints(tables, "packets", name);
    let word = |name| codes(tables, "packets", name);
    let rows = || (0..column("seq").len()).filter(|row| column("leg")[*row] == 0 && column("payload_bytes")[*row] > 0);
    let mut text = "connection          sent      arrives  bytes of its stream\n".to_owned();
    for sent in rows().filter(|row| word("event")[*row] == 0) {
        let key = |row: usize| (column("connection")[row], word("direction")[row], column("packet")[row]);
        let received = rows().find(|row| word("event")[*row] == 1 && key(*row) == key(sent)).unwrap();
        let way = if word("direction")[sent] == 0 { "up" } else { "down" };
        let (first, behind) = (column("seq")[sent] - 1, column("seq")[sent] - 1 + column("payload_bytes")[sent]);
        writeln!(
            text,
            "{} {way:<4} {:>16} {:>12}  {first}..{behind}",
            column("connection")[sent],
            millis(column("time_ns")[sent]),
            millis(column("time_ns")[received]),
        )
        .unwrap();
    }
    text
}

/// The exchanges of the first leg, by request.
fn exchanges(tables: &Tables) -> String {
    let column = |name| ints(tables, "exchanges", name);
    let columns = ["start_ns", "requested_ns", "ready_first_ns", "ready_last_ns", "first_byte_ns", "end_ns"];
    let mut text = format!("request up down{}\n", columns.map(|name| format!("{:>15}", name.trim_end_matches("_ns"))).concat());
    let mut rows: Vec<_> = (0..column("leg").len()).filter(|row| column("leg")[*row] == 0).collect();
    rows.sort_by_key(|row| column("request")[*row]);
    for row in rows {
        let times = columns.map(|name| format!("{:>15}", millis(column(name)[row]))).concat();
        let (up, down) = (column("connection_up")[row], column("connection_down")[row]);
        writeln!(text, "{:>7} {up:>2} {down:>4}{times}", column("request")[row]).unwrap();
    }
    text
}

/// Three requests when both connections are open. The first two are in flight at once, so they go up one connection each. The
/// response to the second is there first and takes connection 0, that to the first comes 1 ms later and takes connection 1; the
/// third finds less outstanding on connection 0, whose response has been acknowledged in the meantime.
#[test]
fn three_requests_share_two_connections() {
    let scenario = Scenario::parse(SCENARIO, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let second = 1_000_000_000;
    let asked = vec![
        Asked(second, 300, 3000, 5_000_000),
        Asked(second + 1_000_000, 300, 1000, 0),
        Asked(second + 250_000_000, 300, 2000, 0),
    ];
    let (tables, _) = run(&scenario, 1, asked);
    insta::assert_snapshot!(format!("{}\n{}", exchanges(&tables), segments(&tables)), @"");
}
