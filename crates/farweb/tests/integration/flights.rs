//! Packets on their way over links: reached, left, arrived, to the nanosecond.

use std::collections::BTreeMap;

use farweb::record::{NULL_INT, PacketEvent, reached};
use farweb::scenario::Scenario;
use proptest::prelude::*;

use crate::conservation::{direction, requests};
use crate::run::{Asked, Tables, codes, ints, run};

/// A crossing or a loss: its packet, link and event, and when it reached the link, left it and arrived behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Flight {
    /// Connection, stretch, direction, number among its sender's.
    packet: (i64, i64, i32, i64),
    link: i64,
    event: i32,
    payload: i64,
    reached: i64,
    seen: i64,
    left: i64,
    arrived: i64,
}

const UP: i32 = 0;
const DOWN: i32 = 1;

/// Four segments may leave at first.
const FOUR: &str = "tcp = { profile = \"linux\", constants = { initial_cwnd_segments = 4 } }";

/// A leg over links of these keys, each a table of both directions, that records packets everywhere.
fn scenario(links: &[String], leg: &str) -> Scenario {
    let nodes: Vec<String> = (0..=links.len()).map(|node| format!("\"node {node}\"")).collect();
    let points: String = (0..links.len()).map(|link| format!(", \"link {link}\"")).collect();
    let text = format!(
        "format = 1\n[path]\nnodes = [{}]\n{}[[leg]]\nfrom = \"node 0\"\nto = \"node {}\"\n\
         carrier = {{ kind = \"http/1.0\" }}\n{leg}\n[workload]\nrequests = \"given by the test\"\n\
         [record]\npackets = \"all\"\npoints = [\"ends\"{points}]\n",
        nodes.join(", "),
        links.iter().map(|link| format!("[[path.link]]\n{link}\n")).collect::<String>(),
        links.len(),
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// One link with this direction towards the clients. The other takes a millisecond.
fn down(keys: &str) -> Vec<String> {
    vec![format!(
        "up = {{ rate = \"unlimited\", delay = \"1 ms\" }}\ndown = {{ rate = \"8 Mbit/s\", delay = \"1 ms\", {keys} }}"
    )]
}

fn flights(tables: &Tables) -> Vec<Flight> {
    let packets: Vec<_> = tables["packets"].iter().map(|(name, column)| (*name, column.clone())).collect();
    let column = |name| ints(tables, "packets", name);
    let (events, directions) = (codes(tables, "packets", "event"), codes(tables, "packets", "direction"));
    let flight = |(row, reached)| Flight {
        packet: (column("connection")[row], column("stretch")[row], directions[row], column("packet")[row]),
        link: column("link")[row],
        event: events[row],
        payload: column("payload_bytes")[row],
        reached,
        seen: column("time_ns")[row],
        left: column("left_ns")[row],
        arrived: column("arrived_ns")[row],
    };
    reached(&packets).into_iter().enumerate().map(flight).collect()
}

/// Flights of data of the first burst of a response towards the clients, by the packet's number.
fn burst(keys: &str) -> Vec<Flight> {
    let scenario = scenario(&down(keys), FOUR);
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 5_000, 0)]);
    let mut found = flights(&tables);
    found.retain(|flight| flight.link == 0 && flight.packet.2 == DOWN && flight.payload > 0);
    found.truncate(4);
    found.sort_by_key(|flight| flight.packet);
    found
}

/// 44 bytes, a SYN with its MSS, take 44 µs at 8 Mbit/s and 88 µs at 4 Mbit/s. A node takes nothing.
#[test]
fn a_packet_reaches_each_link_as_it_arrives_from_the_one_before() {
    let link = |rate, ms| {
        format!(
            "up = {{ rate = \"{rate} Mbit/s\", delay = \"{ms} ms\" }}\ndown = {{ rate = \"unlimited\", delay = \"{ms} ms\" }}"
        )
    };
    let scenario = scenario(&[link(8, 1), link(4, 2), link(8, 3)], "tcp = { profile = \"bsd44-lite\" }");
    let (tables, _) = run(&scenario, 1, vec![Asked(5, 300, 1000, 0)]);
    let mut syn = flights(&tables);
    syn.retain(|flight| flight.packet == (0, 0, UP, 0) && flight.link != NULL_INT);
    let times: Vec<_> = syn.iter().map(|flight| (flight.reached, flight.left, flight.arrived)).collect();
    let expected =
        [(0, 44_000, 1_044_000), (1_044_000, 1_132_000, 3_132_000), (3_132_000, 3_176_000, 6_176_000)];
    assert_eq!(times, expected.map(|(reached, left, arrived)| (5 + reached, 5 + left, 5 + arrived)));
}

/// Segments of 1500 and 708 bytes that leave together reach the queue together behind an ACK of 52 bytes, and each waits
/// for those before it. With three places the ACK and two segments have room.
#[test]
fn a_full_queue_is_waited_for_and_drops() {
    let free = burst("queue = \"100 packets\"");
    let waits: Vec<_> = free.iter().map(|flight| flight.left - flight.reached).collect();
    assert_eq!(waits, [1_552_000, 3_052_000, 4_552_000, 5_260_000]);
    assert!(free.iter().all(|flight| flight.reached == free[0].reached));

    let full = burst("queue = \"3 packets\"");
    let events: Vec<_> = full.iter().map(|flight| flight.event).collect();
    let [pass, drop] = [PacketEvent::Pass as i32, PacketEvent::Drop as i32];
    assert_eq!(events, [pass, pass, drop, drop]);
    assert!(full.iter().all(|flight| flight.reached == full[0].reached));
    assert_eq!((full[2].seen, full[2].left, full[2].arrived), (full[0].reached, NULL_INT, NULL_INT));
}

#[test]
fn a_packet_lost_at_random_has_reached_its_link() {
    let lost = burst("loss = { kind = \"list\", drop = [\"data 2\"] }");
    assert_eq!(lost[1].event, PacketEvent::Drop as i32);
    assert_eq!((lost[1].reached, lost[1].seen), (lost[0].reached, lost[0].reached));
}

/// Four segments leave at first, so that acknowledgements fill the queue pair by pair before it drops.
#[test]
fn a_packet_dropped_from_the_head_had_waited() {
    let scenario = scenario(&down("queue = { kind = \"drop-head\", limit = \"5 packets\" }"), FOUR);
    let requests = vec![Asked(0, 300, 200_000, 0)];
    let (tables, _) = run(&scenario, 1, requests);
    let mut waited = flights(&tables);
    waited.retain(|flight| flight.event == PacketEvent::Drop as i32 && flight.seen > flight.reached);
    assert!(!waited.is_empty());
}

/// An outage begins as the third of four segments is half on the line: it and the fourth leave 50 ms later.
#[test]
fn an_outage_is_waited_for_on_the_link() {
    let free = burst("queue = \"100 packets\"");
    let begins = free[0].reached + 3_750_000;
    let held = burst(&format!("outage = [{{ at = \"{begins} ns\", lasts = \"50 ms\" }}]"));
    let later: Vec<_> = held.iter().zip(&free).map(|(held, free)| held.left - free.left).collect();
    assert_eq!(later, [0, 0, 50_000_000, 50_000_000]);
    assert!(held.iter().zip(&free).all(|(held, free)| held.reached == free.reached));
}

/// Behind a split another sender begins: its first packet, too, has the number 0, and reaches its link as it is sent.
#[test]
fn stretches_of_a_split_have_packets_of_their_own() {
    let link =
        "up = { rate = \"8 Mbit/s\", delay = \"10 ms\" }\ndown = { rate = \"8 Mbit/s\", delay = \"10 ms\" }";
    let scenario = scenario(&[link.to_owned(), link.to_owned()], "[[leg.split]]\nat = \"node 1\"");
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 1000, 0)]);
    for stretch in [0, 1] {
        let mut syn = flights(&tables);
        syn.retain(|flight| flight.packet == (0, stretch, UP, 0));
        let events: Vec<_> = syn.iter().map(|flight| (flight.event, flight.link)).collect();
        let [send, receive, pass] =
            [PacketEvent::Send as i32, PacketEvent::Receive as i32, PacketEvent::Pass as i32];
        assert_eq!(events, [(send, NULL_INT), (pass, stretch), (receive, NULL_INT)]);
        assert_eq!((syn[1].reached, syn[2].reached), (syn[0].seen, syn[1].arrived));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Reached, left, arrived, in this order, one link behind the other, with an end for each packet sent.
    #[test]
    fn a_packet_is_at_one_place_at_a_time(
        links in prop::collection::vec((direction(), direction()), 1..4),
        requests in requests(),
        seed: u64,
    ) {
        let links: Vec<_> = links.iter().map(|(up, down)| format!("up = {up}\ndown = {down}")).collect();
        let (tables, _) = run(&scenario(&links, ""), seed, requests);
        let mut ways: BTreeMap<_, Vec<Flight>> = BTreeMap::new();
        for flight in flights(&tables) {
            ways.entry(flight.packet).or_default().push(flight);
        }
        for ((_, _, direction, _), way) in ways {
            prop_assert_eq!(way[0].event, PacketEvent::Send as i32);
            let [receive, drop] = [PacketEvent::Receive as i32, PacketEvent::Drop as i32];
            let last = way.last().expect("it was sent");
            prop_assert!(last.event == receive || last.event == drop, "{way:?}");
            let mut crossed: Vec<_> = way.iter().map(|flight| flight.link).filter(|link| *link != NULL_INT).collect();
            if direction == DOWN {
                crossed.iter_mut().for_each(|link| *link = links.len() as i64 - 1 - *link);
            }
            prop_assert_eq!(&crossed, &(0..crossed.len() as i64).collect::<Vec<_>>());
            for (before, flight) in way.iter().zip(&way[1..]) {
                let behind = if before.arrived == NULL_INT { before.seen } else { before.arrived };
                prop_assert_eq!(flight.reached, behind);
                if flight.event == PacketEvent::Pass as i32 {
                    prop_assert!(flight.reached <= flight.left && flight.left <= flight.arrived, "{flight:?}");
                } else {
                    prop_assert!(flight.reached <= flight.seen, "{flight:?}");
                }
            }
        }
    }
}
