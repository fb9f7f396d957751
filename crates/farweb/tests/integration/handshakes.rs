//! Handshakes of TLS on idle paths: what their parts weigh, and when a server's flight pays another round trip.

use farweb::scenario::{LegReport, Scenario};

use crate::run::{Asked, Tables, ints, one_link, run};

/// A link without a rate, 10 ms each way.
const IDLE: &str =
    "up = { rate = \"unlimited\", delay = \"10 ms\" }\ndown = { rate = \"unlimited\", delay = \"10 ms\" }";
const ROUND_TRIP_NS: i64 = 20_000_000;

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
    scenario.report(None).legs.remove(0)
}

#[test]
fn a_byte_beyond_the_window_costs_a_round_trip() {
    // Segments of 1,448 B behind timestamps; the window doubles: 10, 20 more; 4, 8 more; 35.
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

/// 4.4BSD's server begins with two segments, as the ACK of its SYN opens the window, which then grows by one for each two that are
/// acknowledged: 2, 3, 4 with one of them not acknowledged yet, 6, so that 2, 5, 8, 14 segments have gone. Nagle's rule is off, so that
/// the end of a flight waits for nothing, and the client's hello is one segment.
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

/// Go 1.26 at both ends of a real Linux, 10 Mbit/s and 60 ms each way: milliseconds until its handshake was done, less the millisecond or
/// two that its cryptography took, for chains on both sides of 10 and 30 segments.
#[test]
fn flights_of_go_take_the_round_trips_that_they_took() {
    let link = "up = { rate = \"10 Mbit/s\", delay = \"60 ms\" }\ndown = { rate = \"10 Mbit/s\", delay = \"60 ms\" }";
    for (hello, flight, measured_ms) in [
        (238, 1006, 242.669),
        (238, 8032, 248.315),
        (238, 14_332, 253.446),
        (238, 14_633, 363.062),
        (238, 29_055, 375.072),
        (238, 43_077, 386.796),
        (238, 44_077, 485.126),
        (238, 61_098, 499.189),
        (1422, 13_120, 253.583),
        (1422, 15_121, 364.690),
        (1422, 45_165, 487.011),
    ] {
        let tls = format!("tls = {{ client_hello = \"{hello} B\", server_flight = \"{flight} B\" }}");
        let tcp = "tcp = { profile = \"linux\", constants = { nagle = false } }";
        let tables = ask(&one_link(link, &format!("{tcp}\n{tls}"), ""));
        let connected_ms = ints(&tables, "requests", "connect_ns")[0] as f64 / 1e6;
        let late = measured_ms - connected_ms;
        assert!((0.0..3.0).contains(&late), "{flight} B: {connected_ms} ms, measured {measured_ms} ms");
    }
}
