//! Where the latency of a request goes: handshake, request, server, what held the sender, and the last flight.
//!
//! Links of unlimited rate, 50 ms each way: a packet takes no time to send, and every round is one of 100 ms.

use farweb::record::{Column, NULL_INT};
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, ints, one_link, run};

const MS: i64 = 1_000_000;
const SEGMENT: u64 = 1460;
const UNLIMITED: &str =
    "up = { rate = \"unlimited\", delay = \"50 ms\" }\ndown = { rate = \"unlimited\", delay = \"50 ms\" }";

/// The first row of `exchanges` on the first leg, of the request `number`.
fn of_request(tables: &Tables, number: i64, column: &str) -> i64 {
    let rows = ints(tables, "exchanges", "request").iter().zip(ints(tables, "exchanges", "leg"));
    let row = rows.into_iter().position(|row| row == (&number, &0)).expect("a row a request and leg");
    ints(tables, "exchanges", column)[row]
}

/// A request over one link: handshake, request, server, held by cwnd, held by the window, last flight, in ns.
fn parts(tcp: &str, release: &str, asked: Asked) -> [i64; 6] {
    let rest = format!("[origin]\nrelease = \"{release}\"\n[record]\nexchanges = true");
    let (tables, _) = run(&one_link(UNLIMITED, tcp, &rest), 1, vec![asked]);
    let of = |column| of_request(&tables, 0, column);
    let parts = [
        of("connect_ns") - of("start_ns"),
        of("requested_ns") - of("connect_ns"),
        of("ready_first_ns") - of("requested_ns"),
        of("cwnd_ns"),
        of("window_ns"),
        of("end_ns") - of("sent_last_ns"),
    ];
    assert_eq!(parts.iter().sum::<i64>(), of("end_ns") - of("start_ns"), "{parts:?} are not all of it");
    parts
}

/// Linux with an initial window of one segment and an ACK for each segment at once.
fn classic(from: &str) -> String {
    let constants = "initial_cwnd_segments = 1, quick_ack_always = true";
    format!("tcp = {{ profile = \"linux-classic\", {from} constants = {{ {constants} }} }}")
}

/// 1, 2, 4 and 1 segments: three rounds of slow start.
#[test]
fn slow_start_is_time_held_by_cwnd() {
    let parts = parts(&classic(""), "at-once", Asked(7, 300, 8 * SEGMENT, 0));
    assert_eq!(parts, [100 * MS, 50 * MS, 0, 300 * MS, 0, 50 * MS]);
}

/// 1, 2, 4, 4, 4 and 1 segments: with four in flight a larger cwnd would not help any more.
#[test]
fn from_the_window_on_it_is_time_held_by_the_window() {
    let tcp = classic("from = { buffer = \"5840 B\" },");
    let parts = parts(&tcp, "delayed", Asked(0, 300, 16 * SEGMENT, 70 * MS as u64));
    assert_eq!(parts, [100 * MS, 50 * MS, 70 * MS, 200 * MS, 300 * MS, 50 * MS]);
}

/// A send buffer of four segments at the server limits it like a window of four.
#[test]
fn the_buffer_of_the_server_counts_as_window() {
    let tcp = "tcp = { to = { buffer = \"5840 B\" }, constants = { delayed_ack = false, send_low_water = \"1460 B\" } }";
    // Two segments in the first round, as the ACK of the handshake opens cwnd.
    let parts = parts(tcp, "at-once", Asked(0, 300, 10 * SEGMENT, 0));
    assert_eq!(parts, [100 * MS, 50 * MS, 0, 100 * MS, 100 * MS, 50 * MS]);
}

/// Without queues and losses the parts are all of the latency, whatever the stack, the window and the size.
#[test]
fn the_parts_are_all_of_the_latency() {
    for profile in ["bsd44-lite", "linux", "linux-classic"] {
        for buffer in ["", "buffer = \"8192 B\", ", "from = { buffer = \"20000 B\" }, "] {
            for bytes in [1, 1460, 5000, 20_000, 100_000, 1_000_000] {
                let tcp =
                    format!("tcp = {{ profile = \"{profile}\", {buffer} constants = {{ nagle = false }} }}");
                let [handshake, request, server, .., last] = parts(&tcp, "at-once", Asked(0, 300, bytes, 0));
                assert_eq!(
                    (handshake, request, server, last),
                    (100 * MS, 50 * MS, 0, 50 * MS),
                    "{tcp}, {bytes} B"
                );
            }
        }
    }
}

/// A mux of one connection to a proxy next to the server. Every segment is acknowledged.
fn mux(idle_restart: &str) -> Scenario {
    let text = format!(
        r#"
        format = 1
        [path]
        nodes = ["client", "proxy", "server"]
        [[path.link]]
        {UNLIMITED}
        [[path.link]]
        up = {{ rate = "unlimited", delay = "0 ms" }}
        down = {{ rate = "unlimited", delay = "0 ms" }}
        [[leg]]
        from = "client"
        to = "proxy"
        carrier = {{ kind = "mux", connections = 1, overhead = "none" }}
        tcp = {{ constants = {{ delayed_ack = false, idle_restart = "{idle_restart}" }} }}
        [[leg]]
        from = "proxy"
        to = "server"
        carrier = {{ kind = "http/1.0" }}
        [workload]
        requests = "given by the test"
        [origin]
        release = "at-once"
        [record]
        exchanges = true
        "#
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// After a pause of a minute a connection between proxies goes back to slow start only if the pause counts from the last
/// byte sent: the proxy has just heard the request. 1, 2, 4 and 1 segments are three rounds.
#[test]
fn a_pause_between_proxies_costs_rounds_since_sent() {
    for (idle_restart, held) in [("off", 0), ("since-received", 0), ("since-sent", 300 * MS)] {
        let requests =
            vec![Asked(1_000_000_000, 300, 60 * SEGMENT, 0), Asked(60_000_000_000, 300, 8 * SEGMENT, 0)];
        let (tables, _) = run(&mux(idle_restart), 1, requests);
        let of = |column| of_request(&tables, 1, column);
        assert_eq!(of("connect_ns"), of("start_ns"), "it finds the connection open");
        assert_eq!((of("cwnd_ns"), of("window_ns")), (held, 0), "{idle_restart}");
        assert_eq!(of("end_ns") - of("start_ns"), 50 * MS + held + 50 * MS, "{idle_restart}");
    }
}

/// Without the table nothing is kept, and the rows of the others are the same.
#[test]
fn clocks_do_not_change_what_they_measure() {
    let rest = "[origin]\nrelease = \"at-once\"";
    let asked = Asked(0, 300, 100_000, 0);
    let (without, _) = run(&one_link(UNLIMITED, &classic(""), rest), 1, vec![asked]);
    let (with, _) = run(
        &one_link(UNLIMITED, &classic(""), &format!("{rest}\n[record]\nexchanges = true")),
        1,
        vec![asked],
    );
    assert!(!without.contains_key("exchanges"));
    assert_eq!(with["requests"], without["requests"]);
    for (column, values) in &with["connections"] {
        let other = &without["connections"][column];
        if column.starts_with("held_") {
            assert_eq!(*other, Column::Int(vec![NULL_INT]), "{column}");
        } else {
            assert_eq!(values, other, "{column}");
        }
    }
}
