//! Nothing is lost track of: packets in = packets out + packets dropped, and every request ends.

use farweb::scenario::Scenario;
use farweb::workload::Directory;
use farweb::world::{Direction, LinkTotals, World};
use proptest::prelude::*;

use crate::run::{Asked, Listed, Tables, ints};

/// One direction of a link, as a scenario has it.
fn direction() -> impl Strategy<Value = String> {
    let rate = prop::sample::select(vec!["unlimited", "64 kbit/s", "2 Mbit/s", "34.368 Mbit/s"]);
    let delay = prop::sample::select(vec!["0 ms", "1 ms", "60 ms", "320 ms"]);
    let queue = prop::sample::select(vec!["", ", queue = \"4 packets\"", ", queue = \"6000 B\""]);
    let loss = prop::sample::select(vec![
        "",
        ", loss = { kind = \"bernoulli\", probability = 0.05 }",
        ", loss = { kind = \"list\", drop = [\"syn 1\", \"data 2..3\", \"fin 1\", \"ack 4\"] }",
        ", loss = { kind = \"gilbert-elliott\", good_to_bad = 0.02, bad_to_good = 0.5 }",
    ]);
    (rate, delay, queue, loss).prop_map(|(rate, delay, queue, loss)| {
        format!("{{ rate = \"{rate}\", delay = \"{delay}\"{queue}{loss} }}")
    })
}

/// A path of one or two links that one leg spans. It runs until nothing is left to happen.
fn scenario() -> impl Strategy<Value = Scenario> {
    let links = prop::collection::vec((direction(), direction()), 1..3);
    let profile = prop::sample::select(vec!["bsd44-lite", "linux", "linux-classic"]);
    (links, profile).prop_map(|(links, profile)| {
        let nodes: Vec<String> = (0..=links.len()).map(|node| format!("\"node {node}\"")).collect();
        let last = nodes.len() - 1;
        let links: String =
            links.iter().map(|(up, down)| format!("[[path.link]]\nup = {up}\ndown = {down}\n")).collect();
        let text = format!(
            "format = 1\n[path]\nnodes = [{}]\n{links}[[leg]]\nfrom = \"node 0\"\nto = \"node {last}\"\n\
             carrier = {{ kind = \"http/1.0\" }}\ntcp = {{ profile = \"{profile}\" }}\n\
             [workload]\nrequests = \"given by the test\"\n[run]\nuntil = \"2000 h\"\n",
            nodes.join(", ")
        );
        Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
    })
}

fn requests() -> impl Strategy<Value = Vec<Asked>> {
    let request = (0..3_000_000_000_u64, 1..3000_u64, 1..30_000_u64, 0..500_000_000_u64);
    prop::collection::vec(request, 1..6).prop_map(|mut all| {
        all.sort_unstable();
        all.into_iter()
            .map(|(start, request, response, server)| Asked(start, request, response, server))
            .collect()
    })
}

/// Packets that left a link, and all that reached it.
fn packets(totals: &[LinkTotals], link: usize, direction: Direction) -> (u64, u64) {
    let found = totals.iter().find(|totals| totals.link == link && totals.direction == direction);
    let stats = found.expect("every link has totals").stats;
    (stats.packets, stats.packets + stats.drops())
}

fn sum(tables: &Tables, column: &str) -> u64 {
    ints(tables, "connections", column).iter().sum::<i64>() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out_or_is_dropped(scenario in scenario(), requests in requests(), seed: u64) {
        let asked = requests.len() as u64;
        let mut world = World::new(&scenario, seed, Directory::default());
        let progress = world.advance(&mut Listed(requests.into_iter()), u64::MAX).expect("a list can be read");
        let tables: Tables =
            world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
        let totals = world.link_totals();
        prop_assert_eq!(progress.requests_started, asked);
        prop_assert_eq!(progress.requests_finished + progress.requests_failed, asked);
        let last = scenario.path.link.len() - 1;
        for (direction, column) in [(Direction::Up, "segments_up"), (Direction::Down, "segments_down")] {
            let (first, far) = if direction == Direction::Up { (0, last) } else { (last, 0) };
            let (out, reached) = packets(&totals, first, direction);
            prop_assert_eq!(reached, sum(&tables, column), "{:?} into link {}", direction, first);
            if far != first {
                prop_assert_eq!(packets(&totals, far, direction).1, out, "{:?} into link {}", direction, far);
            }
        }
        let hops: u64 = totals.iter().map(|totals| totals.stats.packets).sum();
        prop_assert_eq!(progress.packet_hops, hops);
    }
}
