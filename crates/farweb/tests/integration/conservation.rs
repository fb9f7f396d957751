//! Nothing is lost track of: packets in = packets out + packets dropped, and every request ends, except on half-open
//! connections.
//!
//! A connection is half open when one end is gone without the other knowing (RFC 9293, section 3.5.1). A Linux server gives
//! up in silence if its application has closed and its retransmissions go unanswered. Its client, with nothing to send and
//! no keepalive, waits for ever. So does the real one. With constants of more patience than any of these paths needs, every
//! request is answered.

use farweb::record::Status;
use farweb::scenario::Scenario;
use farweb::workload::Directory;
use farweb::world::{Direction, LinkTotals, Progress, World};
use proptest::prelude::*;

use crate::run::{Asked, DISCIPLINES, Listed, Tables, bools, codes, ints, one_link};

/// One direction of a link, as a scenario has it.
pub(crate) fn direction() -> impl Strategy<Value = String> {
    let rate = prop::sample::select(vec!["unlimited", "64 kbit/s", "2 Mbit/s", "34.368 Mbit/s"]);
    let delay = prop::sample::select(vec!["0 ms", "1 ms", "60 ms", "320 ms"]);
    let queue = prop_oneof![
        prop::sample::select(vec!["", ", queue = \"4 packets\"", ", queue = \"6000 B\""])
            .prop_map(str::to_owned),
        prop::sample::select(&DISCIPLINES[..]).prop_map(|queue| format!(", queue = {queue}")),
    ];
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

/// Stacks, with constants patient enough that no connection is given up here.
pub(crate) const STACKS: [(&str, &str); 3] = [
    ("bsd44-lite", "retries_max = 200, connect_timeout = \"100 h\""),
    ("linux", "syn_retries = 127, synack_retries = 255, retries_max = 255, orphan_retries = 255"),
    ("linux-classic", "syn_retries = 127, synack_retries = 255, retries_max = 255, orphan_retries = 255"),
];

/// A path of one or two links that one leg spans, and true if its ends have patience. It runs until nothing
/// is left to happen.
fn scenario() -> impl Strategy<Value = (Scenario, bool)> {
    let links = prop::collection::vec((direction(), direction()), 1..3);
    (links, prop::sample::select(STACKS.to_vec()), any::<bool>()).prop_map(
        |(links, (profile, patience), is_patient)| {
            let nodes: Vec<String> = (0..=links.len()).map(|node| format!("\"node {node}\"")).collect();
            let last = nodes.len() - 1;
            let links: String =
                links.iter().map(|(up, down)| format!("[[path.link]]\nup = {up}\ndown = {down}\n")).collect();
            let constants = if is_patient { patience } else { "" };
            let text = format!(
                "format = 1\n[path]\nnodes = [{}]\n{links}[[leg]]\nfrom = \"node 0\"\nto = \"node {last}\"\n\
                 carrier = {{ kind = \"http/1.0\" }}\n\
                 tcp = {{ profile = \"{profile}\", constants = {{ {constants} }} }}\n\
                 [workload]\nrequests = \"given by the test\"\n[run]\nuntil = \"2000 h\"\n\
                 [record]\npackets = \"all\"\n",
                nodes.join(", ")
            );
            let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
            (scenario, is_patient)
        },
    )
}

pub(crate) fn requests() -> impl Strategy<Value = Vec<Asked>> {
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

/// How many requests wait for ever, each on a connection that is half open.
fn waiting_for_ever(tables: &Tables) -> Result<u64, TestCaseError> {
    let statuses = codes(tables, "requests", "status").iter().zip(ints(tables, "requests", "connection"));
    let mut waiting = 0;
    for (_, connection) in statuses.filter(|(status, _)| **status == Status::Unfinished as i32) {
        prop_assert!(is_half_open(tables, *connection), "connection {} hangs", connection);
        waiting += 1;
    }
    Ok(waiting)
}

/// True if one end of a connection without pending events may be gone without the other knowing.
///
/// The last segment of that end that asks for an answer was sent again, and it or its ACK was lost. Or it was a reset, and
/// lost.
fn is_half_open(tables: &Tables, connection: i64) -> bool {
    const SEND: i32 = 0;
    const DROP: i32 = 2;
    const FIN_OR_SYN: i32 = 3;
    const RESET: i32 = 4;
    let column = |name| codes(tables, "packets", name);
    let (events, flags, directions) = (column("event"), column("flags"), column("direction"));
    let payloads = ints(tables, "packets", "payload_bytes");
    let of = ints(tables, "packets", "connection");
    let rows: Vec<usize> = (0..of.len()).filter(|row| of[*row] == connection).collect();
    let asks = |row: usize| payloads[row] > 0 || flags[row] & (FIN_OR_SYN | RESET) != 0;
    [0, 1].into_iter().any(|direction| {
        let is_question = |row: usize| events[row] == SEND && directions[row] == direction && asks(row);
        let Some(last) = rows.iter().rposition(|row| is_question(*row)) else { return false };
        let is_last_word = flags[rows[last]] & RESET != 0;
        (is_last_word || bools(tables, "packets", "retransmission")[rows[last]])
            && rows[last..].iter().any(|row| events[*row] == DROP)
    })
}

/// Runs `requests` over the path of `scenario` and counts requests and packets.
fn check(scenario: &Scenario, requests: Vec<Asked>, seed: u64) -> Result<Progress, TestCaseError> {
    let asked = requests.len() as u64;
    let mut world = World::new(scenario, seed, Directory::default());
    let progress = world.advance(&mut Listed(requests.into_iter()), u64::MAX).expect("a list can be read");
    let tables: Tables =
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    let totals = world.link_totals();
    prop_assert_eq!(progress.requests_started, asked);
    let waiting = waiting_for_ever(&tables)?;
    prop_assert_eq!(progress.requests_finished + progress.requests_failed + waiting, asked);
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
    Ok(progress)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out_or_is_dropped(
        (scenario, is_patient) in scenario(), requests in requests(), seed: u64,
    ) {
        let asked = requests.len() as u64;
        let progress = check(&scenario, requests, seed)?;
        prop_assert!(!is_patient || progress.requests_finished == asked, "{:?}", progress);
    }
}

/// Found by the property: the server has written all and closed, one of its segments is lost six times in a row, and it
/// gives up after 102.2 s (eight doublings of 200 ms, `tcp_orphan_retries`). The client hears nothing of it.
#[test]
fn a_client_whose_server_gave_up_in_silence_waits_for_ever() {
    let link = r#"
        up = { rate = "2 Mbit/s", delay = "0 ms" }
        down = { rate = "64 kbit/s", delay = "0 ms", loss = { kind = "gilbert-elliott", good_to_bad = 0.02, bad_to_good = 0.5 } }
    "#;
    let rest = "[run]\nuntil = \"2000 h\"\n[record]\npackets = \"all\"";
    let scenario = one_link(link, "tcp = { profile = \"linux-classic\" }", rest);
    let requests = vec![
        Asked(1_235_470_965, 1712, 26_252, 131_530_821),
        Asked(2_383_421_530, 1, 20_441, 0),
        Asked(2_570_921_530, 1461, 20_441, 0),
    ];
    let progress = check(&scenario, requests, 11_472_313_589_904_641_497).expect("all counts agree");
    assert_eq!((progress.requests_finished, progress.requests_failed), (2, 1));
}
