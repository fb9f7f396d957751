//! Results worked out by hand, to the nanosecond.
//!
//! Names: `ser(n)` is the time of an n-byte packet on the link, `up` and `down` are propagation delays. A SYN is 44 bytes
//! long (it has the MSS option), a pure ACK 40, a full segment 1500.

use farweb::scenario::{Carrier, ClosedBy};
use farweb::units::{BitRate, Bytes};

use crate::run::{Asked, e3, floats, ints, one_link, run};

const MS: i64 = 1_000_000;

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> i64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos() as i64
}

#[test]
fn an_idle_path_takes_two_round_trips_to_the_first_byte() {
    let (up, down, start) = (60 * MS, 320 * MS, 7 * MS);
    let scenario = one_link(&e3(60, 320), "", "[origin]\nrelease = \"at-once\"");
    let (tables, _) = run(&scenario, 1, vec![Asked(start as u64, 300, 1460, 0)]);

    let connect = start + ser(44) + up + ser(44) + down;
    assert_eq!(ints(&tables, "requests", "connect_ns"), [connect]);
    // The ACK of the handshake is in front of the request.
    let request_arrives = connect + ser(40 + 340) + up;
    let first_byte = request_arrives + ser(1500) + down;
    assert_eq!(ints(&tables, "requests", "first_byte_ns"), [first_byte]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [first_byte]);
}

#[test]
fn server_time_adds_to_the_first_byte() {
    let latency = |release: &str| {
        let scenario = one_link(&e3(60, 60), "", &format!("[origin]\nrelease = \"{release}\""));
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 2920, 900 * MS as u64)]);
        let column = |name| ints(&tables, "requests", name)[0];
        (column("first_byte_ns"), column("end_ns"))
    };
    let first_byte = 2 * (60 * MS + ser(44)) + ser(380) + ser(1500) + 120 * MS;
    assert_eq!(latency("at-once"), (first_byte, first_byte - ser(1500) + ser(3000)));
    assert_eq!(latency("delayed"), (first_byte + 900 * MS, first_byte + 900 * MS - ser(1500) + ser(3000)));
    assert_eq!(latency("paced"), (first_byte + 450 * MS, first_byte + 900 * MS));
}

/// A send buffer of two segments, acknowledged together. The third is ready by then. So is the fourth if the release does
/// not wait for TCP. Otherwise it comes 50 ms later.
#[test]
fn a_closed_loop_counts_from_when_tcp_took_the_piece_before() {
    let end = |release: &str| {
        let leg = "tcp = { profile = \"bsd44-lite\", buffer = \"32767 B\", to = { buffer = \"2920 B\" } }";
        let scenario = one_link(&e3(320, 320), leg, &format!("[origin]\nrelease = \"{release}\""));
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 4 * 1460, 200 * MS as u64)]);
        ints(&tables, "requests", "end_ns")[0]
    };
    let request_arrives = 2 * (320 * MS + ser(44)) + ser(380) + 320 * MS;
    let acknowledged = request_arrives + 100 * MS + ser(1500) + 320 * MS + ser(40) + 320 * MS;
    assert_eq!(end("paced"), acknowledged + ser(3000) + 320 * MS);
    assert_eq!(end("closed-loop"), acknowledged + 50 * MS + ser(1500) + 320 * MS);
}

/// Three full segments and a short one, two of them in the first round. The server's FIN rides on the short one, which goes
/// with the third. If the client closes, 4.4BSD's Nagle rule keeps the short one until the third is acknowledged, a round
/// trip. Linux does not, as no other short one is on its way. The end that closes first waits for the other's FIN.
#[test]
fn a_client_that_closes_gets_the_short_end_of_a_response_a_round_trip_later() {
    let times = |profile: &str, closed_by: ClosedBy, constants: &str| {
        let leg = format!("tcp = {{ profile = \"{profile}\", constants = {{ {constants} }} }}");
        let mut scenario = one_link(&e3(60, 320), &leg, "[origin]\nrelease = \"at-once\"");
        scenario.leg[0].carrier = Carrier::Http10 { closed_by };
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 3 * 1460 + 300, 0)]);
        [ints(&tables, "requests", "end_ns")[0], ints(&tables, "connections", "close_ns")[0]]
    };
    let (up, down) = (60 * MS, 320 * MS);
    let acknowledged = |sent: i64| sent + down + ser(40) + up;
    // The ACK of the request goes first.
    let first_acknowledged = acknowledged(2 * ser(44) + up + down + ser(380) + up + ser(40 + 1500));
    let unhindered = first_acknowledged + ser(1500 + 340) + down;
    let held = acknowledged(first_acknowledged + ser(1500)) + ser(340) + down;
    let bsd = |closed_by, constants| times("bsd44-lite", closed_by, constants);
    let by_server = bsd(ClosedBy::Server, "delayed_ack = false");
    let by_client = bsd(ClosedBy::Client, "delayed_ack = false");
    assert_eq!([by_server[0], by_client[0]], [unhindered, held]);
    assert_eq!(bsd(ClosedBy::Client, "delayed_ack = false, nagle = false")[0], unhindered);
    let linux = |closed_by| times("linux-classic", closed_by, "initial_cwnd_segments = 2")[0];
    assert_eq!(linux(ClosedBy::Client), linux(ClosedBy::Server));
    // The ACK of the last byte goes first, then the client's FIN, which the server acknowledges. If the client closes, the
    // server's own FIN follows that ACK, and is acknowledged in its turn.
    let fin_acknowledged = 2 * ser(40) + up + ser(40) + down;
    assert_eq!(by_server[1] - by_server[0], fin_acknowledged);
    assert_eq!(by_client[1] - by_client[0], fin_acknowledged + ser(40) + ser(40) + up);
}

/// Four segments over 2 s leave 500 ms apart. With the release above TCP, slow start passes meanwhile. A
/// regulator below TCP stands still for a round trip, from the first segment until its ACK.
#[test]
fn a_regulator_below_tcp_is_in_series_with_slow_start() {
    let times_of = |profile: &str, release: &str, constants: &str| {
        let leg = format!("tcp = {{ profile = \"{profile}\", constants = {{ {constants} }} }}");
        let link = "{ rate = \"unlimited\", delay = \"60 ms\" }";
        let scenario = one_link(
            &format!("up = {link}\ndown = {link}"),
            &leg,
            &format!("[origin]\nrelease = \"{release}\""),
        );
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 4 * 1460, 2000 * MS as u64)]);
        ["first_byte_ns", "end_ns"].map(|name| ints(&tables, "requests", name)[0])
    };
    let times = |release: &str, constants: &str| times_of("bsd44-lite", release, constants);
    let one_segment = "syn_ack_opens_cwnd = false, delayed_ack = false";
    let request_arrives = 180 * MS;
    let first_byte = request_arrives + 500 * MS + 60 * MS;
    assert_eq!(times("paced", one_segment), [first_byte, request_arrives + 2000 * MS + 60 * MS]);
    assert_eq!(
        times("regulated", one_segment),
        [first_byte, request_arrives + 2000 * MS + 120 * MS + 60 * MS]
    );
    // With two segments first, the third is there before the second has left: the regulator never stands still.
    assert_eq!(
        times("regulated", "delayed_ack = false"),
        [first_byte, request_arrives + 2000 * MS + 60 * MS]
    );
    // Linux's loss probe takes the wait for a loss, and sends the second segment meanwhile.
    let linux = |probe: bool| {
        let keys = "initial_cwnd_segments = 1, timestamps = false, quick_ack_always = true";
        times_of("linux", "regulated", &format!("{keys}, tail_loss_probe = {probe}"))
    };
    assert_eq!(linux(true), [first_byte, request_arrives + 2000 * MS + 60 * MS]);
    assert_eq!(linux(false), [first_byte, request_arrives + 2000 * MS + 120 * MS + 60 * MS]);
}

/// Without delayed ACKs every segment is acknowledged: 2, 4, 8, 16 segments a round, then 21. An ACK leaves before the reader
/// has taken its segment, so it advertises 32767 − 1460 B, room for 21. A round's segments are sent back to back from the
/// first ACK of the round before. The first round stands behind the ACK of the request.
#[test]
fn slow_start_doubles_up_to_the_window() {
    let leg = "tcp = { profile = \"bsd44-lite\", constants = { delayed_ack = false } }";
    let scenario = one_link(&e3(60, 60), leg, "[origin]\nrelease = \"at-once\"");
    let request_arrives = 2 * (60 * MS + ser(44)) + ser(380) + 60 * MS;
    let acknowledged = |sent: i64| sent + 60 * MS + ser(40) + 60 * MS;
    for (segments, rounds, in_last) in
        [(2, 1, 2), (6, 2, 4), (14, 3, 8), (30, 4, 16), (31, 5, 1), (51, 5, 21), (72, 6, 21)]
    {
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, segments * 1460, 0)]);
        let last_sent = if rounds == 1 {
            request_arrives + ser(40 + in_last * 1500)
        } else {
            let second_round = acknowledged(request_arrives + ser(40 + 1500));
            let last_round = (2..rounds).fold(second_round, |start, _| acknowledged(start + ser(1500)));
            last_round + ser(in_last * 1500)
        };
        assert_eq!(ints(&tables, "requests", "end_ns"), [last_sent + 60 * MS], "{segments} segments");
    }
}

/// A connection with a buffer of 32767 B keeps 22 segments of 1460 B in flight: 22 · 1500 B a round trip on the wire, 2.19 and
/// 0.69 Mbit/s. It stays a little below, as a segment that the delayed ACK acknowledges alone frees too little of the send
/// buffer to wake the writer (low-water mark 2048 B).
#[test]
fn one_connection_is_limited_by_its_window() {
    for (down_ms, mbit_s) in [(60, 2.19), (320, 0.69)] {
        let scenario = one_link(&e3(60, down_ms), "", "[record]\nlinks_every = \"100 s\"");
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 60_000_000, 0)]);
        let carried = ints(&tables, "links", "bytes");
        // Rows come by time, then direction: the interval from 100 s to 200 s, towards the client.
        let rate = carried[2 + 1] as f64 * 8.0 / 100e6;
        assert!((rate / mbit_s - 1.0).abs() < 0.01, "{rate} Mbit/s at 60 ms up and {down_ms} ms down");
    }
}

/// 15 connections carry fifteen times the window limit, 32.8 Mbit/s. 20 fill the link of 34.368 Mbit/s.
#[test]
fn twenty_connections_fill_the_link_and_fifteen_do_not() {
    let rate_of = |connections: u64| {
        let scenario = one_link(&e3(60, 60), "", "[record]\nlinks_every = \"10 s\"\n[run]\nuntil = \"30 s\"");
        // Starts spread over a second: the connections' rounds do not come in one burst.
        let requests = (0..connections).map(|n| Asked(n * 1_000_000_000 / connections, 300, 100_000_000, 0));
        let (tables, _) = run(&scenario, 1, requests.collect());
        (
            ints(&tables, "links", "bytes")[2 * 2 + 1] as f64 * 8.0 / 10e6,
            floats(&tables, "links", "busy")[2 * 2 + 1],
        )
    };
    let (fifteen, _) = rate_of(15);
    assert!((fifteen / 32.8 - 1.0).abs() < 0.01, "15 connections carry {fifteen} Mbit/s");
    let (twenty, busy) = rate_of(20);
    assert!(twenty > 0.998 * 34.368 && busy > 0.998, "20 connections carry {twenty} Mbit/s, busy {busy}");
}
