//! Causes that hold a sender: closed forms for each, and times that add up to the whole interval, to the nanosecond.
//!
//! Links of unlimited rate, 50 ms each way: a packet takes no time to send, and an ACK or a grant comes back after 100 ms.

use farweb::record::NULL_INT;
use farweb::scenario::Scenario;
use proptest::prelude::*;

use crate::run::{Asked, Tables, ints, run};

const MS: i64 = 1_000_000;
const SEGMENT: u64 = 1460;

/// Causes that may hold a sender, as the columns of `connections`. `nothing to send` last.
const CAUSES: [&str; 10] = [
    "cwnd",
    "pacing",
    "window",
    "buffer",
    "nagle",
    "recovery",
    "handshake",
    "credit",
    "application",
    "nothing",
];

/// A client, a server, and a leg with these keys over a link of 50 ms each way.
fn leg(carrier: &str, keys: &str, rest: &str) -> Scenario {
    let unlimited = "{ rate = \"unlimited\", delay = \"50 ms\" }";
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\nup = {unlimited}\ndown = {unlimited}\n\
         [[leg]]\nfrom = \"client\"\nto = \"server\"\ncarrier = {{ {carrier} }}\n{keys}\n\
         [workload]\nrequests = \"given by the test\"\n{rest}\n[record]\nexchanges = true"
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Linux with these constants. The receiver acknowledges every segment at once.
fn linux(keys: &str, constants: &str) -> String {
    format!(
        "tcp = {{ profile = \"linux-classic\", {keys} constants = {{ quick_ack_always = true, {constants} }} }}"
    )
}

const AT_ONCE: &str = "[origin]\nrelease = \"at-once\"";

/// Time that each cause held the sender of the only connection, in ms.
fn held(tables: &Tables) -> Vec<(&'static str, i64)> {
    let of = |cause: &&'static str| (*cause, ints(tables, "connections", &format!("held_{cause}_ns"))[0]);
    let all = CAUSES.iter().map(of).filter(|(cause, time)| *time > 0 && *cause != "nothing");
    all.map(|(cause, ns)| (cause, ns / MS)).collect()
}

fn holds(scenario: &Scenario, asked: Asked) -> Vec<(&'static str, i64)> {
    let (tables, _) = run(scenario, 1, vec![asked]);
    let found = held(&tables);
    all_of_the_time(&tables).expect("times add up");
    found
}

/// For every connection the causes add up to its whole life. For every response sent, to the time from its first byte to its
/// last.
fn all_of_the_time(tables: &Tables) -> Result<(), TestCaseError> {
    if !["connections", "exchanges"].iter().all(|table| tables.contains_key(table)) {
        return Ok(()); // The run was over before there was one.
    }
    let [opened, closed] = ["open_ns", "close_ns"].map(|column| ints(tables, "connections", column));
    for connection in 0..opened.len() {
        let times = CAUSES.map(|cause| ints(tables, "connections", &format!("held_{cause}_ns"))[connection]);
        prop_assert!(times.iter().all(|time| *time >= 0), "{:?}", times);
        if closed[connection] != NULL_INT {
            let there = closed[connection] - opened[connection];
            prop_assert_eq!(times.iter().sum::<i64>(), there, "{:?} of connection {}", times, connection);
        }
    }
    let of = |column| ints(tables, "exchanges", column);
    let sent = of("sent_last_ns");
    for row in (0..sent.len()).filter(|row| sent[*row] != NULL_INT) {
        let causes = [
            "cwnd_ns",
            "pacing_ns",
            "window_ns",
            "nagle_ns",
            "recovery_ns",
            "handshake_ns",
            "credit_ns",
            "application_ns",
        ];
        let times = causes.map(|column| of(column)[row]);
        prop_assert!(times.iter().all(|time| *time >= 0) && of("buffer_ns")[row] <= of("window_ns")[row]);
        prop_assert_eq!(times.iter().sum::<i64>(), sent[row] - of("ready_first_ns")[row], "{:?}", times);
    }
    Ok(())
}

/// 1, 2, 4 and 1 segments. The server has taken 70 ms.
#[test]
fn slow_start_is_held_by_cwnd() {
    let scenario = leg(
        "kind = \"http/1.0\"",
        &linux("", "initial_cwnd_segments = 1"),
        "[origin]\nrelease = \"delayed\"",
    );
    let found = holds(&scenario, Asked(0, 300, 8 * SEGMENT, 70 * MS as u64));
    assert_eq!(found, [("cwnd", 300), ("application", 70)]);
}

/// 1, 2, 4, 4, 4 and 1 segments: with four in flight cwnd would let more go, and the window does not.
#[test]
fn a_small_window_of_the_client_holds() {
    let keys = linux("from = { buffer = \"5840 B\" },", "initial_cwnd_segments = 1");
    let found = holds(&leg("kind = \"http/1.0\"", &keys, AT_ONCE), Asked(0, 300, 16 * SEGMENT, 0));
    assert_eq!(found, [("cwnd", 200), ("window", 300)]);
}

/// A send buffer of four segments under an initial cwnd of two: 2, 4 and 4.
#[test]
fn a_small_buffer_of_the_server_holds() {
    let keys = "tcp = { to = { buffer = \"5840 B\" }, constants = { delayed_ack = false, send_low_water = \"1460 B\" } }";
    let found = holds(&leg("kind = \"http/1.0\"", keys, AT_ONCE), Asked(0, 300, 10 * SEGMENT, 0));
    assert_eq!(found, [("cwnd", 100), ("buffer", 100)]);
}

/// A head that leaves by itself, and a piece of a hundred bytes behind it that waits for its ACK.
#[test]
fn a_small_piece_behind_a_small_head_is_held_by_nagle() {
    let keys = |nagle: bool| {
        let tcp = format!("tcp = {{ constants = {{ delayed_ack = false, nagle = {nagle} }} }}");
        format!("{tcp}\napplication = {{ write = \"4096 B\", head = \"250 B\" }}")
    };
    let asked = Asked(0, 300, 350, 0);
    // On a connection that stays the end of the stream does not let the piece go.
    let found = |nagle| holds(&leg("kind = \"http/1.1\"", &keys(nagle), AT_ONCE), asked);
    assert_eq!(found(true), [("nagle", 100)]);
    assert_eq!(found(false), []);
}

/// The server's FIN lets the short end of a response go. If the client closes, there is none. 4.4BSD holds that end behind a
/// full segment, Linux only behind another short one (Minshall's variant).
#[test]
fn the_short_end_of_a_response_is_held_by_nagle_where_the_client_closes() {
    let found = |tcp: &str, closed_by: &str, application: &str, bytes: u64| {
        let carrier = format!("kind = \"http/1.0\", closed_by = \"{closed_by}\"");
        holds(&leg(&carrier, &format!("{tcp}\n{application}"), AT_ONCE), Asked(0, 300, bytes, 0))
    };
    let bsd = "tcp = { constants = { delayed_ack = false } }";
    let linux = linux("", "initial_cwnd_segments = 4");
    let head = "application = { write = \"4096 B\", head = \"250 B\" }";
    for tcp in [bsd, &linux] {
        assert_eq!(found(tcp, "server", head, 350), [], "{tcp}");
        assert_eq!(found(tcp, "client", head, 350), [("nagle", 100)], "{tcp}");
    }
    assert_eq!(found(bsd, "server", "", 3 * SEGMENT + 300), [("cwnd", 100)]);
    assert_eq!(found(bsd, "client", "", 3 * SEGMENT + 300), [("cwnd", 100), ("nagle", 100)]);
    assert_eq!(found(&linux, "client", "", 3 * SEGMENT + 300), []);
}

/// A server that releases a response over 200 ms, in more pieces than one.
#[test]
fn a_server_that_takes_its_time_is_the_application() {
    let paced =
        leg("kind = \"http/1.0\"", &linux("", "initial_cwnd_segments = 8"), "[origin]\nrelease = \"paced\"");
    let asked = Asked(0, 300, 8 * SEGMENT, 200 * MS as u64);
    let (tables, _) = run(&paced, 1, vec![asked]);
    assert_eq!(held(&tables), [("application", 200)]);
    let of = |column| ints(&tables, "exchanges", column)[0];
    assert_eq!(of("application_ns"), of("ready_last_ns") - of("ready_first_ns"));
}

/// A credit W of two fragments that comes back whole: W a round trip in k rounds, and the last needs no grant.
#[test]
fn a_credit_holds_a_round_trip_for_each_time_that_it_is_used_up() {
    let carrier = "kind = \"webmux\", credit = \"2912 B\", fragment = \"1456 B\"";
    for rounds in [1, 2, 5] {
        let keys = "tcp = { profile = \"linux\", constants = { nagle = false, quick_ack_always = true } }";
        let found = holds(&leg(carrier, keys, AT_ONCE), Asked(0, 300, rounds as u64 * 2912, 0));
        let expected = if rounds == 1 { vec![] } else { vec![("credit", (rounds - 1) * 100)] };
        assert_eq!(found, expected, "{rounds} rounds");
    }
}

/// A credit of five fragments under a rule that grants once more than half is used returns three at a time: 5, then 3 a
/// round trip.
#[test]
fn what_a_rule_keeps_back_is_held_by_credit_too() {
    let carrier = "kind = \"webmux\", credit = \"7280 B\", fragment = \"1456 B\", read_buffer = \"1460 B\"";
    let keys = "tcp = { profile = \"linux\", constants = { nagle = false, quick_ack_always = true } }";
    let found = holds(&leg(carrier, keys, AT_ONCE), Asked(0, 300, (5 + 3 * 3) * 1456, 0));
    assert_eq!(found, [("credit", 300)]);
}

/// A stream's credit of two frames, granted back frame by frame.
#[test]
fn credit_of_a_stream_holds_a_round_trip_for_each_time_that_it_is_used_up() {
    let carrier = "kind = \"http/2\", preset = \"rfc-default\", session_credit = \"2800 B\", fragment = \"1400 B\", grant = { kind = \"each\" }, \
                   response_text = \"0 B\", nodelay = true";
    let keys = "tcp = { profile = \"linux\", constants = { quick_ack_always = true } }";
    for rounds in [1, 2, 5] {
        let found = holds(&leg(carrier, keys, AT_ONCE), Asked(0, 300, rounds as u64 * 2800, 0));
        let expected = if rounds == 1 { vec![] } else { vec![("credit", (rounds - 1) * 100)] };
        assert_eq!(found, expected, "{rounds} rounds");
    }
}

/// Carriers that end where the servers are, and those that end at a proxy.
const TO_SERVERS: [&str; 7] = [
    "kind = \"http/1.0\"",
    "kind = \"http/1.1\"",
    "kind = \"webmux\"",
    "kind = \"webmux\", credit = \"1000 B\", layout = \"1998\"",
    "kind = \"http/2\", preset = \"rfc-default\"",
    "kind = \"http/2\", preset = \"rfc-default\", session_credit = \"3000 B\", grant = { kind = \"each\" }, session_limit = 2",
    "kind = \"http/2\", preset = \"grpc\", session_credit = \"5000 B\"",
];
const TO_PROXY: [&str; 6] = [
    TO_SERVERS[0],
    TO_SERVERS[1],
    TO_SERVERS[2],
    TO_SERVERS[5],
    TO_SERVERS[6],
    "kind = \"mux\", connections = 2",
];

/// A chain of two legs with any stacks, carriers, programs, servers, queues and losses.
fn scenarios() -> impl Strategy<Value = Scenario> {
    let tcp = prop::sample::select(vec![
        "profile = \"bsd44-lite\"",
        "profile = \"solaris-2.5\"",
        "profile = \"linux\"",
        "profile = \"linux-classic\", from = { buffer = \"9000 B\" }",
        "profile = \"bsd44-lite\", to = { buffer = \"4000 B\" }",
    ]);
    let application =
        prop::sample::select(vec!["", "wake = \"7 ms\"", "write = \"1000 B\", head = \"100 B\""]);
    let release = prop::sample::select(vec!["at-once", "delayed", "paced", "closed-loop"]);
    let loss = prop::sample::select(vec![
        "",
        ", loss = { kind = \"bernoulli\", probability = 0.05 }",
        ", loss = { kind = \"list\", drop = [\"syn 1\", \"data 2..3\", \"fin 1\"] }",
    ]);
    let rate = prop::sample::select(vec!["unlimited", "1 Mbit/s"]);
    let carriers = (prop::sample::select(&TO_PROXY[..]), prop::sample::select(&TO_SERVERS[..]));
    let tls = prop::sample::select(vec!["", "tls = { version = \"1.3\" }\n"]);
    let legs = (carriers, tcp, application, tls);
    (legs, release, loss, rate, 1..100_u64).prop_map(
        |(((first, second), tcp, application, tls), release, loss, rate, until)| {
            let link = format!("{{ rate = \"{rate}\", delay = \"20 ms\", queue = \"20 packets\"{loss} }}");
            let leg = |from, to, carrier: &str| {
                let writes = application.contains("write") && carrier.contains("http/2");
                let application = if writes { "" } else { application };
                format!(
                    "[[leg]]\nfrom = \"{from}\"\nto = \"{to}\"\ncarrier = {{ {carrier} }}\ntcp = {{ {tcp} }}\n\
                     application = {{ {application} }}\n{tls}"
                )
            };
            let is_alone = second.contains("http/1.");
            let release = if release == "closed-loop" && !is_alone { "paced" } else { release };
            let text = format!(
                "format = 1\n[path]\nnodes = [\"client\", \"proxy\", \"server\"]\n\
                 [[path.link]]\nup = {link}\ndown = {link}\n[[path.link]]\nup = {link}\ndown = {link}\n{}{}\
                 [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"{release}\"\n\
                 [run]\nuntil = \"{until} s\"\n[record]\nexchanges = true",
                leg("client", "proxy", first),
                leg("proxy", "server", second)
            );
            Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
        },
    )
}

proptest! {
    #[test]
    fn what_holds_senders_is_all_of_their_time(
        scenario in scenarios(),
        requests in prop::collection::vec((0..3_000_000_000_u64, 1..3000_u64, 1..60_000_u64, 0..500_000_000_u64), 1..12),
    ) {
        let mut requests: Vec<_> =
            requests.into_iter().map(|(start, up, down, server)| Asked(start, up, down, server)).collect();
        requests.sort_unstable_by_key(|asked| asked.0);
        let (tables, _) = run(&scenario, 1, requests);
        all_of_the_time(&tables)?;
    }
}
