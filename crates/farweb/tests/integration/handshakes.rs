//! Handshakes of TLS on idle paths: what their parts weigh, and when a server's flight pays another round trip.

use farweb::explain::LegReport;
use farweb::scenario::Scenario;
use farweb::units::{BitRate, Bytes};

use crate::run::{Asked, Tables, e3, ints, one_link, run};

const MS: i64 = 1_000_000;

/// A link without a rate, 10 ms each way.
const IDLE: &str =
    "up = { rate = \"unlimited\", delay = \"10 ms\" }\ndown = { rate = \"unlimited\", delay = \"10 ms\" }";
const ROUND_TRIP_NS: i64 = 20 * MS;

/// A leg with these constants of the profile, and these keys of TLS.
fn over(profile: &str, constants: &str, tls: &str) -> Scenario {
    let tcp = format!("profile = \"{profile}\", constants = {{ {constants} }}");
    one_link(IDLE, &format!("tcp = {{ {tcp} }}\ntls = {{ {tls} }}"), "")
}

/// A request of 300 B and a response of 1 kB.
fn ask(scenario: &Scenario) -> Tables {
    run(scenario, 1, vec![Asked(0, 300, 1000, 0)]).0
}

fn in_round_trips(tables: &Tables, column: &str) -> i64 {
    let time = ints(tables, "requests", column)[0];
    assert_eq!(time % ROUND_TRIP_NS, 0, "{column}: {time}");
    time / ROUND_TRIP_NS
}

fn report(scenario: &Scenario) -> LegReport {
    farweb::explain::report(scenario, None, None).legs.remove(0)
}

#[test]
fn a_byte_beyond_the_window_costs_a_round_trip() {
    // Segments of 1,448 B behind timestamps. The window doubles: 10 and 20 more, 4 and 8 more, 35.
    for (initial, server_flight, rounds) in [
        (10, 14_480, 1),
        (10, 14_481, 2),
        (10, 43_440, 2),
        (10, 43_441, 3),
        (4, 5792, 1),
        (4, 5793, 2),
        (4, 17_376, 2),
        (4, 17_377, 3),
        (35, 50_680, 1),
        (35, 50_681, 2),
    ] {
        let scenario = over(
            "linux",
            &format!("initial_cwnd_segments = {initial}"),
            &format!("server_flight = \"{server_flight} B\""),
        );
        let tables = ask(&scenario);
        let handshake = &report(&scenario).handshakes[0];
        assert_eq!(handshake.first_window_bytes, initial * 1448);
        assert_eq!(i64::from(handshake.rounds), rounds, "check: {initial} {server_flight}");
        assert_eq!(in_round_trips(&tables, "connect_ns"), 1 + rounds, "run: {initial} {server_flight}");
        assert_eq!(in_round_trips(&tables, "first_byte_ns"), 2 + rounds, "run: {initial} {server_flight}");
    }
}

/// 4.4BSD's server begins with two segments, as the ACK of its SYN opens the window. The window then grows by one for each
/// two segments acknowledged: 2, 3, 4 (one not acknowledged yet), 6. In sum 2, 5, 8, 14 segments have gone. With Nagle's
/// rule off the end of a flight waits for nothing, and the client's hello is one segment.
#[test]
fn the_windows_of_4_4bsd_grow_by_an_ack_of_two_segments() {
    for (segments, rounds) in [(1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (8, 3), (9, 4), (14, 4), (15, 5)] {
        let tls = format!("client_hello = \"300 B\", server_flight = \"{} B\"", segments * 1460);
        let scenario = over("bsd44-lite", "nagle = false", &tls);
        let handshake = &report(&scenario).handshakes[0];
        assert_eq!((handshake.first_window_bytes, i64::from(handshake.rounds)), (2920, rounds), "{segments}");
        assert_eq!(in_round_trips(&ask(&scenario), "connect_ns"), 1 + rounds, "{segments}");
    }
}

#[test]
fn a_run_carries_what_check_counts() {
    let carried = |tls: &str| {
        let tables = ask(&over("linux", "", tls));
        ["bytes_up", "bytes_down"].map(|column| ints(&tables, "connections", column)[0])
    };
    for tls in [
        "key_exchange = \"x25519\"",
        "key_exchange = \"x25519mlkem768\"",
        "certificates = \"ml-dsa-65\", intermediates = 2, scts = 2, ocsp = true, compression = 0.9",
        "version = \"1.2\", key_exchange = \"x25519\"",
    ] {
        let version = if tls.contains("1.2") { "1.2" } else { "1.3" };
        let of = |up, down| {
            let sizes = format!("client_hello = \"{up} B\", server_flight = \"{down} B\"");
            carried(&format!("version = \"{version}\", {sizes}"))
        };
        let handshake = report(&over("linux", "", tls)).handshakes.remove(0);
        let (up, down) = (handshake.up.bytes, handshake.down.bytes);
        let found = carried(tls);
        assert_eq!(found, of(up, down), "{tls}");
        assert_ne!(found, of(up + 1, down), "{tls}");
        assert_ne!(found, of(up, down + 1), "{tls}");
    }
}

#[test]
fn sizes_that_are_given_overrule_parts() {
    let scenario = over("linux", "", "certificates = \"ml-dsa-44\", server_flight = \"9000 B\"");
    let handshake = report(&scenario).handshakes.remove(0);
    assert_eq!((handshake.down.bytes, handshake.down.parts.len()), (9000, 0));
    assert_eq!(handshake.up.bytes as i64, handshake.up.parts.iter().map(|part| part.bytes).sum::<i64>());
}

#[test]
fn keys_of_parts_change_the_sizes_and_nothing_else_does() {
    let sizes = |tls: &str| {
        let handshake = report(&over("linux", "", tls)).handshakes.remove(0);
        [handshake.up.bytes, handshake.down.bytes]
    };
    assert_eq!(sizes(""), [1600, 4500]);
    assert_eq!(sizes("version = \"1.2\", record = \"4000 B\""), [300, 4500]);
    let parts = sizes("key_exchange = \"x25519mlkem768\"");
    for spelled in [
        "certificates = \"ecdsa-p256\"",
        "intermediates = 1",
        "scts = 0",
        "ocsp = false",
        "suppress_intermediates = false",
    ] {
        assert_eq!(sizes(spelled), parts, "{spelled}: its default among parts");
    }
}

#[test]
fn clients_with_tickets_begin_with_a_full_handshake() {
    let starts = |rest: &str| {
        let tls = "tls = { start = \"resumed\", certificates = \"ml-dsa-44\" }";
        let handshakes =
            report(&one_link(IDLE, &format!("tcp = {{ profile = \"linux\" }}\n{tls}"), rest)).handshakes;
        handshakes.iter().map(|handshake| handshake.down.bytes > 10_000).collect::<Vec<_>>()
    };
    assert_eq!(starts(""), [true, false]);
    assert_eq!(starts("[clients]\nshare = \"all\""), [false]);
}

/// In TLS 1.2 the client's key and `Finished` follow the server's flight, and the server's `Finished` follows them.
#[test]
fn a_flight_of_tls_1_2_beyond_the_window_costs_a_round_trip_too() {
    for (server_flight, rounds) in [(14_480, 1), (14_481, 2), (43_440, 2), (43_441, 3)] {
        let scenario =
            over("linux", "", &format!("version = \"1.2\", server_flight = \"{server_flight} B\""));
        assert_eq!(i64::from(report(&scenario).handshakes[0].rounds), rounds, "check: {server_flight}");
        assert_eq!(in_round_trips(&ask(&scenario), "connect_ns"), 2 + rounds, "run: {server_flight}");
    }
}

/// A hello of several segments leaves in one window over Linux, and is answered when the last one is there.
#[test]
fn a_hello_of_several_segments_takes_their_transmission() {
    let link = BitRate::from_bps(34_368_000).unwrap();
    let sent = |bytes| link.time_to_send(Bytes::new(bytes)).as_nanos() as i64;
    let one_way = 60 * MS;
    // A SYN has 60 B. Hello and flight, by their segments with headers of 52 B, leave behind an ACK each: the server's is one of the
    // first, which Linux does not delay.
    for (tls, mss, hello, flight) in [
        ("client_hello = \"1448 B\", server_flight = \"3000 B\"", 1460, 1500, 1500 + 1500 + 156),
        ("client_hello = \"1449 B\", server_flight = \"3000 B\"", 1460, 1500 + 53, 1500 + 1500 + 156),
        // 1,403 B and 2,683 B. An MSS of 536 leaves 524 B behind timestamps.
        ("key_exchange = \"x25519mlkem768\"", 536, 2 * 576 + 407, 5 * 576 + 115),
    ] {
        let tcp = format!("tcp = {{ profile = \"linux\", mss = \"{mss} B\" }}");
        let scenario = one_link(&e3(60, 60), &format!("{tcp}\ntls = {{ {tls} }}"), "");
        let connected = 2 * (sent(60) + one_way);
        let shaken = connected + sent(52 + hello) + sent(52 + flight) + 2 * one_way;
        assert_eq!(ints(&ask(&scenario), "requests", "connect_ns"), [shaken], "{tls}");
    }
}

/// Ticks of 4 ms of a Linux host, given by any one of them.
struct Ticks(i64);

impl Ticks {
    /// Expiry of a timer set at `now` for `span`, rounded up to whole ticks (below 252 ms).
    fn timer(&self, now: i64, span: i64) -> i64 {
        const TICK: i64 = 4 * MS;
        now + (self.0 - now).rem_euclid(TICK) + (span + TICK - 1) / TICK * TICK
    }
}

/// First time that requests may go, with these data segments lost once towards the client or the server.
fn connected_without(down: &str, up: &str, tls: &str) -> i64 {
    let direction = |lost: &str| {
        let loss = format!(", loss = {{ kind = \"list\", drop = [{lost}] }}");
        format!("{{ rate = \"unlimited\", delay = \"10 ms\"{} }}", if lost.is_empty() { "" } else { &loss })
    };
    let link = format!("up = {}\ndown = {}", direction(up), direction(down));
    let tables = ask(&one_link(&link, &format!("tcp = {{ profile = \"linux\" }}\ntls = {{ {tls} }}"), ""));
    ints(&tables, "requests", "connect_ns")[0]
}

/// A flight of ten segments from 30 ms on, some of them lost. Without losses it is there at 40 ms.
#[test]
fn a_lost_segment_of_the_servers_flight_is_sent_again_by_its_place() {
    let connected = |lost: &str| connected_without(lost, "", "server_flight = \"14480 B\"");
    // Three behind it have come: at once when their ACKs are there.
    for lost in 1..=7 {
        assert_eq!(connected(&format!("\"data {lost}\"")), 60 * MS, "segment {lost}");
    }
    assert_eq!(connected("\"data 2\", \"data 5\""), 60 * MS, "one hole opens the way of the other");
    // One alone, RTO of a round trip and 200 ms: its timer tells where ticks are.
    let alone = connected_without("\"data 1\"", "", "server_flight = \"1000 B\"");
    assert!((260 * MS..264 * MS).contains(&alone), "{alone}");
    let server = Ticks(alone - 10 * MS);
    // Fewer behind it: RACK waits a quarter of the round trip, and 2 ms, since their ACKs came.
    for lost in [8, 9] {
        assert_eq!(
            connected(&format!("\"data {lost}\"")),
            server.timer(50 * MS, 7 * MS) + 10 * MS,
            "segment {lost}"
        );
    }
    // None behind it: the probe comes with the RTO, since the ACKs of the others.
    assert_eq!(connected("\"data 10\""), server.timer(50 * MS, 220 * MS) + 10 * MS);
    // None at all: a probe of the last one after two round trips and 2 ms, and on its ACK the nine others: 1, 2, 4, 2 in a round trip.
    let all: Vec<String> = (1..=10).map(|segment| format!("\"data {segment}\"")).collect();
    let answered = server.timer(30 * MS, 42 * MS) + 20 * MS;
    assert_eq!(connected(&all.join(", ")), answered + 3 * ROUND_TRIP_NS + 10 * MS);
}

/// A hello from 20 ms on, of one segment and of two. Without losses the server's flight is there at 40 ms.
#[test]
fn a_lost_hello_is_sent_again_by_its_place() {
    let connected = |lost: &str, hello| connected_without("", lost, &format!("client_hello = \"{hello} B\""));
    let alone = connected("\"data 1\"", 300);
    assert!((260 * MS..264 * MS).contains(&alone), "{alone}");
    let client = Ticks(alone - 20 * MS);
    assert_eq!(
        connected("\"data 1\"", 1600),
        client.timer(40 * MS, 7 * MS) + 20 * MS,
        "its end is acknowledged"
    );
    assert_eq!(connected("\"data 2\"", 1600), client.timer(40 * MS, 220 * MS) + 20 * MS, "its beginning is");
}

/// Go 1.26's TLS at both ends of a real Linux, 10 Mbit/s and 60 ms each way, medians of three: bytes of the client's hello and
/// of the server's flight, then milliseconds since the client asked for a connection, until it had one, had shaken hands, and
/// got the first and the last of 10,042 B that it asked for with 124 B. The chain is padded, of an X25519 handshake, and from
/// the 17th row on of a hybrid one.
const GO: [(u64, u64, f64, f64, f64, f64); 21] = [
    (238, 1_006, 120.402, 242.669, 364.104, 371.580),
    (238, 4_032, 120.406, 244.967, 366.410, 373.876),
    (238, 8_032, 120.368, 248.315, 369.744, 377.213),
    (238, 12_031, 120.404, 251.660, 373.094, 380.538),
    (238, 14_033, 120.479, 253.460, 374.920, 382.342),
    (238, 14_332, 120.369, 253.446, 374.869, 382.343),
    (238, 14_633, 120.389, 363.062, 484.518, 491.953),
    (238, 15_231, 120.409, 363.727, 485.156, 492.634),
    (238, 21_054, 120.387, 368.590, 489.992, 497.459),
    (238, 29_055, 120.386, 375.072, 496.508, 503.966),
    (238, 36_077, 120.374, 380.991, 502.418, 509.875),
    (238, 43_077, 120.362, 386.796, 508.208, 515.686),
    (238, 44_077, 120.360, 485.126, 606.566, 614.023),
    (238, 45_077, 120.391, 485.940, 607.366, 614.825),
    (238, 61_098, 120.382, 499.189, 620.642, 628.111),
    (238, 101_169, 120.391, 551.212, 672.720, 680.192),
    (1422, 2_094, 120.370, 244.400, 365.838, 373.315),
    (1422, 13_120, 120.368, 253.583, 375.024, 382.469),
    (1422, 15_121, 120.377, 364.690, 486.115, 493.656),
    (1422, 30_144, 120.402, 377.216, 498.670, 506.108),
    (1422, 45_165, 120.364, 487.011, 608.496, 615.962),
];

#[test]
fn handshakes_and_records_of_go_take_the_time_that_they_took() {
    let link = "up = { rate = \"10 Mbit/s\", delay = \"60 ms\" }\ndown = { rate = \"10 Mbit/s\", delay = \"60 ms\" }";
    // A SYN of 60 B, and as much back.
    let connected_ms = 120.0 + 2.0 * 60.0 * 8.0 / 10_000.0;
    for (hello, flight, connect, handshake, first, last) in GO {
        let sizes = format!("client_hello = \"{hello} B\", server_flight = \"{flight} B\"");
        let tls = format!("tls = {{ {sizes}, small_record = \"go\" }}");
        let tcp = "tcp = { profile = \"linux\", constants = { nagle = false } }";
        let scenario = one_link(link, &format!("{tcp}\n{tls}"), "");
        let tables = run(&scenario, 1, vec![Asked(0, 124, 10_042, 0)]).0;
        let late = |column, measured: f64| measured - ints(&tables, "requests", column)[0] as f64 / 1e6;
        assert!((0.0..0.004 * last).contains(&late("end_ns", last)), "{flight} B: {}", late("end_ns", last));
        // Packets were late there, by the connection's a quarter of a millisecond and more in each round trip. The rest is cryptography
        // and programs that wake.
        let trips = 2.0 + f64::from(report(&scenario).handshakes[0].rounds);
        let path = |trips: f64| trips * (connect - connected_ms);
        let [shaken, begun] =
            [late("connect_ns", handshake) - path(trips - 1.0), late("first_byte_ns", first) - path(trips)];
        assert!(shaken.abs() < 1.0, "{flight} B, handshake: {shaken} ms");
        assert!(begun.abs() < 1.0, "{flight} B, first byte: {begun} ms");
    }
}
