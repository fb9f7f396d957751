//! Split legs: times that relays save and cost, to the nanosecond, and the bytes that pass them.
//!
//! Names: `r` are round trips of the links. Links have no rate: only round trips count.

use std::collections::BTreeMap;

use farweb::record::{Failure, NULL_CODE, NULL_INT, PacketEvent};
use farweb::scenario::{Scenario, SplitBy, SplitOpen};
use proptest::prelude::*;

use crate::conservation::{STACKS, direction, requests};
use crate::run::{Asked, Tables, codes, ints, run};

const MS: i64 = 1_000_000;

/// A path of links with these round trips, one leg over all, with these splits and other keys.
fn path(round_trips: &[u64], leg: &str, splits: &[(&str, &str)], rest: &str) -> Scenario {
    let links: String = round_trips
        .iter()
        .map(|trip| {
            let way = format!("{{ rate = \"unlimited\", delay = \"{} us\" }}", trip * 500);
            format!("[[path.link]]\nup = {way}\ndown = {way}\n")
        })
        .collect();
    with_links(&links, round_trips.len(), leg, splits, rest)
}

fn with_links(links: &str, count: usize, leg: &str, splits: &[(&str, &str)], rest: &str) -> Scenario {
    let text = text_with_links(links, count, leg, splits, rest);
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn text_with_links(links: &str, count: usize, leg: &str, splits: &[(&str, &str)], rest: &str) -> String {
    let nodes: Vec<String> = (0..=count).map(|node| format!("\"n{node}\"")).collect();
    let splits: String =
        splits.iter().map(|(at, keys)| format!("[[leg.split]]\nat = \"{at}\"\n{keys}\n")).collect();
    format!(
        "format = 1\n[path]\nnodes = [{}]\n{links}[[leg]]\nfrom = \"n0\"\nto = \"n{count}\"\n\
         carrier = {{ kind = \"http/1.0\" }}\n{leg}\n{splits}[workload]\nrequests = \"given by the test\"\n{rest}\n",
        nodes.join(", ")
    )
}

const LINUX: &str = "tcp = { profile = \"linux\" }";
const TLS: &str = "tcp = { profile = \"linux\" }\ntls = { version = \"1.3\" }";
const SYN: &str = "";
const CONNECT: &str = "by = \"connect\"";
const READY: &str = "open = \"ready\"";

/// Time to first byte of a request on a new connection, in milliseconds. `check` reports the same.
fn first_byte(round_trips: &[u64], leg: &str, splits: &[(&str, &str)]) -> i64 {
    let scenario = path(round_trips, leg, splits, "");
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 1000, 0)]);
    let time = ints(&tables, "requests", "first_byte_ns")[0];
    assert_eq!(
        farweb::explain::report(&scenario, None, None).legs[0].first_byte_ns as i64,
        time,
        "check says what a run takes"
    );
    assert_eq!(time % MS, 0, "{time}");
    time / MS
}

#[test]
fn one_relay_opens_both_sides_at_once() {
    for [r1, r2] in [[600, 20], [20, 600], [40, 40]] {
        let of = |leg: &str, splits: &[(&str, &str)]| first_byte(&[r1, r2], leg, splits);
        let [r1, r2] = [r1 as i64, r2 as i64];
        for profile in ["linux", "bsd44-lite"] {
            let leg = format!("tcp = {{ profile = \"{profile}\" }}");
            assert_eq!(of(&leg, &[]), 2 * (r1 + r2));
            assert_eq!(of(&leg, &[("n1", SYN)]), (2 * r1 + r2).max(r1 + 2 * r2));
            assert_eq!(of(&leg, &[("n1", CONNECT)]), 3 * r1 + 2 * r2);
        }
        assert_eq!(of(TLS, &[]), 3 * (r1 + r2));
        assert_eq!(of(TLS, &[("n1", SYN)]), (3 * r1 + 2 * r2).max(2 * r1 + 3 * r2));
        assert_eq!(of(TLS, &[("n1", CONNECT)]), 4 * r1 + 3 * r2);
    }
}

/// A terminal and a hub around a satellite: a stretch that stands saves the round trip of its handshake.
#[test]
fn two_relays_save_a_round_trip_where_the_stretch_between_them_stands() {
    let trips = [2, 600, 20];
    let of = |leg: &str, terminal: &str, hub: &str| first_byte(&trips, leg, &[("n1", terminal), ("n2", hub)]);
    let [r0, r1, r2] = trips.map(|trip| trip as i64);
    for profile in ["linux", "bsd44-lite"] {
        let leg = format!("tcp = {{ profile = \"{profile}\" }}");
        assert_eq!(of(&leg, READY, SYN), r0 + r1 + 2 * r2, "{profile}");
    }
    assert_eq!(of(TLS, READY, SYN), 2 * r0 + 2 * r1 + 3 * r2);
    assert_eq!(of(TLS, SYN, SYN), 2 * r0 + 3 * r1 + 2 * r2);
    assert_eq!(of(TLS, SYN, SYN), 1844);
    assert_eq!(of(LINUX, SYN, SYN), r0 + 2 * r1 + r2);
    // Each asks the next: terminal, and hub behind it, before the client has its answer.
    assert_eq!(of(LINUX, CONNECT, CONNECT), 3 * r0 + 3 * r1 + 2 * r2);
    // The terminal goes on without waiting, and asks the hub.
    assert_eq!(of(LINUX, SYN, CONNECT), r0 / 2 + 3 * r1 + 2 * r2 + r0 / 2);
}

/// With 100 segments and buffers of 16 MB at all ends, 140 kB cross a standing stretch in its first window. A server's
/// SYN-ACK has 16 bits for its window. Bytes beyond them leave the hub a round trip later.
#[test]
fn a_stretch_that_stands_begins_with_its_whole_window_both_ways() {
    let [r0, r1, r2] = [2, 600, 20];
    for profile in ["linux", "bsd44-lite"] {
        let tcp = format!(
            "tcp = {{ profile = \"{profile}\", buffer = \"16 MB\", constants = {{ nagle = false, window_scaling = true, initial_cwnd_segments = 100 }} }}"
        );
        let terminal = format!("{tcp}\n{READY}");
        let scenario = path(&[r0, r1, r2], &tcp, &[("n1", &terminal), ("n2", &tcp)], "");
        for (asked, time) in
            [(Asked(0, 300, 140_000, 0), r0 + r1 + 2 * r2), (Asked(0, 140_000, 300, 0), r0 + r1 + 3 * r2)]
        {
            let (tables, _) = run(&scenario, 1, vec![asked]);
            assert_eq!(ints(&tables, "requests", "end_ns"), [time as i64 * MS], "{profile}");
        }
    }
}

/// Rows of the packet table that a condition holds for, as (row, time).
fn packets<'a>(
    tables: &'a Tables,
    event: PacketEvent,
    node: i32,
    stretch: i64,
    flag: i32,
) -> impl Iterator<Item = (usize, i64)> + 'a {
    let words = |name| codes(tables, "packets", name);
    let (events, nodes, flags) = (words("event"), words("node"), words("flags"));
    let stretches = ints(tables, "packets", "stretch");
    let times = ints(tables, "packets", "time_ns");
    (0..times.len())
        .filter(move |row| events[*row] == event as i32 && nodes[*row] == node && stretches[*row] == stretch)
        .filter(move |row| flag == 0 || flags[*row] & flag != 0)
        .map(|row| (row, times[row]))
}

const FIN: i32 = 1;
const RESET: i32 = 4;
const ALL: &str = "[record]\npackets = \"all\"";

/// A relay with a slow client: it fills its two buffers, and the server waits.
#[test]
fn a_slow_stretch_shuts_the_window_of_the_one_before() {
    let way = |rate: &str| format!("{{ rate = \"{rate}\", delay = \"10 ms\" }}");
    let link = |rate: &str| format!("[[path.link]]\nup = {0}\ndown = {0}\n", way(rate));
    let links = format!("{}{}", link("1 Mbit/s"), link("100 Mbit/s"));
    let tcp = "tcp = { profile = \"bsd44-lite\", buffer = \"16384 B\" }";
    let scenario = with_links(&links, 2, tcp, &[("n1", SYN)], ALL);
    let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 500_000, 0)]);
    assert_eq!(progress.requests_finished, 1);
    let [seqs, lengths, acks] = ["seq", "payload_bytes", "ack"].map(|name| ints(&tables, "packets", name));
    let mut events: Vec<(usize, i64, i64)> = Vec::new();
    events.extend(
        packets(&tables, PacketEvent::Receive, 1, 1, 0).map(|(row, _)| (row, seqs[row] + lengths[row], 0)),
    );
    events.extend(packets(&tables, PacketEvent::Receive, 1, 0, 0).map(|(row, _)| (row, 0, acks[row])));
    events.sort_unstable();
    let (mut came, mut left, mut most) = (1, 1, 0);
    for (_, seq, ack) in events {
        (came, left) = (came.max(seq), left.max(ack));
        most = most.max(came - left);
    }
    // Buffers in whole segments: 12 of 1,460 B each.
    assert!((16_384 + 16_384 - 1460..=2 * 17_520).contains(&most), "{most} B at the relay");
    let last = packets(&tables, PacketEvent::Send, 2, 1, 0).filter(|(row, _)| lengths[*row] > 0).last();
    let least = (500_000 - 2 * 17_520) * 8 * 1000;
    assert!(last.is_some_and(|(_, time)| time > least), "the server has to wait: {last:?}");
}

#[test]
fn the_end_of_a_stream_passes_behind_its_last_byte() {
    let scenario = path(&[40, 20], LINUX, &[("n1", SYN)], ALL);
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 5_000, 0)]);
    // The server closes, then the client.
    for (node, from, to) in [(1, 1, 0), (1, 0, 1)] {
        let came = packets(&tables, PacketEvent::Receive, node, from, FIN).next().expect("a FIN comes").1;
        let went = packets(&tables, PacketEvent::Send, node, to, FIN).next().expect("a FIN goes on").1;
        assert_eq!(went, came);
    }
    let [up, down] = ["bytes_up", "bytes_down"].map(|column| ints(&tables, "connections", column)[0]);
    assert!(up > 300 && down > 5_000 && down < 10_000, "of the ends: {up} B, {down} B");
}

#[test]
fn a_reset_passes_at_once() {
    let rest = format!("{ALL}\n[clients]\ngive_up = \"200 ms\"");
    let links = "[[path.link]]\nup = { rate = \"1 Mbit/s\", delay = \"20 ms\" }\n\
                 down = { rate = \"1 Mbit/s\", delay = \"20 ms\" }\n[[path.link]]\n\
                 up = { rate = \"10 Mbit/s\", delay = \"10 ms\" }\ndown = { rate = \"10 Mbit/s\", delay = \"10 ms\" }\n";
    let scenario = with_links(links, 2, LINUX, &[("n1", SYN)], &rest);
    let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 5_000_000, 0)]);
    assert_eq!(progress.requests_failed, 1);
    let came = packets(&tables, PacketEvent::Receive, 1, 0, RESET).next().expect("the client resets").1;
    let went = packets(&tables, PacketEvent::Send, 1, 1, RESET).next().expect("the relay passes it on").1;
    assert_eq!(went, came);
    assert!(packets(&tables, PacketEvent::Receive, 2, 1, RESET).next().is_some(), "the server gets it");
    assert!(ints(&tables, "connections", "close_ns")[0] > went);
}

/// A server that cannot be reached: the relay tries twice, 1 s and 2 s, and resets its client.
#[test]
fn a_relay_that_gives_up_resets_its_client() {
    let links = "[[path.link]]\nup = { rate = \"unlimited\", delay = \"20 ms\" }\n\
                 down = { rate = \"unlimited\", delay = \"20 ms\" }\n[[path.link]]\n\
                 up = { rate = \"unlimited\", delay = \"10 ms\", loss = { kind = \"bernoulli\", probability = 1.0 } }\n\
                 down = { rate = \"unlimited\", delay = \"10 ms\" }\n";
    let leg = "tcp = { profile = \"linux\", constants = { syn_retries = 1 } }";
    for by in [SYN, CONNECT] {
        let scenario = with_links(links, 2, leg, &[("n1", by)], ALL);
        let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 1000, 0)]);
        assert_eq!(progress.requests_failed, 1, "{by}");
        let failed = ints(&tables, "requests", "failed_ns")[0];
        assert!((3000 * MS..3200 * MS).contains(&failed), "{by}: {failed}");
        assert_eq!(codes(&tables, "requests", "failure"), [Failure::HandshakeTimedOut as i32], "{by}");
        let reset = packets(&tables, PacketEvent::Receive, 0, 0, RESET).next().expect("the client gets it").1;
        assert_eq!(reset, failed, "{by}: not before its client hears of it");
    }
}

/// A server closes behind its response and waits a minute in FIN_WAIT_2 for the relay's FIN. The slow link takes longer.
#[test]
fn a_response_that_a_relay_still_holds_is_not_lost_with_its_server() {
    let link = |rate: &str| {
        let way = format!("{{ rate = \"{rate}\", delay = \"10 ms\" }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let links = format!("{}{}", link("64 kbit/s"), link("10 Mbit/s"));
    let leg = "tcp = { profile = \"linux\", buffer = \"4 MiB\" }";
    let text = text_with_links(&links, 2, leg, &[("n1", SYN)], ALL);
    let of = |carrier: &str| {
        let carrier = [("leg.0.carrier".to_owned(), carrier.to_owned())];
        let scenario =
            Scenario::parse(&text, "test.toml", &carrier).unwrap_or_else(|error| panic!("{error}"));
        run(&scenario, 1, vec![Asked(0, 300, 800_000, 0)]).0
    };
    let by_client = ints(&of("{kind=\"http/1.0\",closed_by=\"client\"}"), "requests", "end_ns")[0];
    assert!(by_client > 100_000 * MS, "{by_client}");
    for carrier in ["{kind=\"http/1.0\"}", "{kind=\"http/1.1\",closed_by=\"server\",idle_timeout=\"1 s\"}"] {
        let tables = of(carrier);
        assert_eq!(codes(&tables, "requests", "failure"), [NULL_CODE], "{carrier}");
        assert_eq!(ints(&tables, "requests", "end_ns"), [by_client], "{carrier}");
    }
}

/// Times of the last byte of a response: at the server, at the relay behind a slow stretch, and at the client.
#[test]
fn the_last_byte_is_seen_where_it_passes() {
    let link = |rate: &str| {
        let way = format!("{{ rate = \"{rate}\", delay = \"10 ms\" }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let links = format!("{}{}", link("unlimited"), link("1 Mbit/s"));
    for leg in [LINUX, TLS] {
        let scenario = with_links(&links, 2, leg, &[("n1", SYN)], "[record]\nexchanges = true");
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 5000, 0)]);
        let of = |column| ints(&tables, "exchanges", column)[0];
        assert_eq!(of("end_ns") - of("relayed_last_ns"), 10 * MS, "{leg}");
        assert!(of("relayed_last_ns") - of("sent_last_ns") > 10 * MS + 30 * MS, "{leg}");
        assert_eq!(ints(&tables, "connections", "relay_held_cwnd_ns"), [0], "{leg}");
    }
    let scenario = path(&[40, 20], LINUX, &[("n1", SYN)], "[record]\nexchanges = true");
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 29 * 1448, 0)]);
    // Ten segments, then twenty: the relay waits a round trip for its client while the server waited 20 ms.
    assert!((15 * MS..=40 * MS).contains(&ints(&tables, "connections", "relay_held_cwnd_ns")[0]));
    let scenario = path(&[40, 20], LINUX, &[], "[record]\nexchanges = true");
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 1000, 0)]);
    assert_eq!(ints(&tables, "connections", "relay_held_cwnd_ns"), [NULL_INT]);
    assert_eq!(ints(&tables, "exchanges", "relayed_last_ns"), [NULL_INT]);
}

/// A path of two or three links with losses, its splits and their keys.
fn split_path() -> impl Strategy<Value = Scenario> {
    let links = prop::collection::vec((direction(), direction()), 2..4);
    let key = || prop::sample::select(vec![SYN, CONNECT, READY]);
    let keys = (key(), key(), any::<bool>());
    let carrier = prop::sample::select(vec!["http/1.0", "http/1.1", "http/2"]);
    let tls = prop::sample::select(vec!["", "tls = { version = \"1.3\" }"]);
    (links, prop::sample::select(STACKS.to_vec()), keys, carrier, tls).prop_map(
        |(links, (profile, patience), (first, second, both), carrier, tls)| {
            let count = links.len();
            let links: String =
                links.iter().map(|(up, down)| format!("[[path.link]]\nup = {up}\ndown = {down}\n")).collect();
            let last = |keys| if keys == READY { SYN } else { keys };
            let splits = match (count, both) {
                (3, true) => vec![("n1", first), ("n2", last(second))],
                _ => vec![("n1", last(first))],
            };
            let leg = format!("tcp = {{ profile = \"{profile}\", constants = {{ {patience} }} }}\n{tls}");
            let rest = format!("[run]\nuntil = \"2000 h\"\n{ALL}");
            let text = text_with_links(&links, count, &leg, &splits, &rest)
                .replace("kind = \"http/1.0\"", &format!("kind = \"{carrier}\""));
            Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// Every request is answered, and each stretch of a connection carries the same bytes apart from its opening.
    #[test]
    fn what_goes_into_a_relay_comes_out(scenario in split_path(), requests in requests(), seed: u64) {
        let asked = requests.len() as u64;
        let (tables, progress) = run(&scenario, seed, requests);
        prop_assert_eq!(progress.requests_finished, asked);
        let column = |name| ints(&tables, "packets", name);
        let (connections, stretches) = (column("connection"), column("stretch"));
        let (seqs, lengths) = (column("seq"), column("payload_bytes"));
        let mut ends: BTreeMap<(i64, i32), BTreeMap<i64, i64>> = BTreeMap::new();
        for row in (0..seqs.len()).filter(|row| lengths[*row] > 0) {
            let direction = codes(&tables, "packets", "direction")[row];
            let end = ends.entry((connections[row], direction)).or_default().entry(stretches[row]).or_default();
            *end = (*end).max(seqs[row] + lengths[row]);
        }
        let splits = &scenario.leg[0].split;
        for ((connection, direction), by_stretch) in ends {
            let own = |stretch: i64| {
                let is_asked = splits.get(stretch as usize).is_some_and(|split| split.by == SplitBy::Connect);
                let stands = stretch > 0 && splits[stretch as usize - 1].open == SplitOpen::Ready;
                match (direction, is_asked, stands) {
                    (0, true, _) => 200,
                    (1, true, _) => 100,
                    (0, false, true) => 60,
                    _ => 0,
                }
            };
            let streams: Vec<i64> = by_stretch.iter().map(|(stretch, end)| end - own(*stretch)).collect();
            prop_assert!(streams.windows(2).all(|pair| pair[0] == pair[1]), "{connection} {direction}: {streams:?}");
        }
    }
}
