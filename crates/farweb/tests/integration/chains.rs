//! Requests that go leg by leg, through proxies: what can be worked out by hand, to the nanosecond and to the byte.
//!
//! Names: `ser(n)` is the time of an n-byte packet on an E3 link. A SYN is 44 bytes long, a pure ACK 40, a full segment 1500.

use farweb::record::{NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::{BitRate, Bytes};

use crate::run::{Asked, Tables, codes, ints, run};

const MS: i64 = 1_000_000;

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> i64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos() as i64
}

/// A client, a proxy and a server, an E3 link of `near` ms and one of `far` ms each way, with these carriers.
fn chain(near: u64, far: u64, carriers: [&str; 2], rest: &str) -> Scenario {
    chain_with(near, far, carriers, rest, &[])
}

/// The same with other values, by key.
fn chain_with(near: u64, far: u64, carriers: [&str; 2], rest: &str, overrides: &[(&str, &str)]) -> Scenario {
    let link = |ms: u64| {
        let way = format!("{{ rate = \"34.368 Mbit/s\", delay = \"{ms} ms\" }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let leg = |from: &str, to: &str, carrier: &str| {
        format!("[[leg]]\nfrom = \"{from}\"\nto = \"{to}\"\ncarrier = {{ {carrier} }}\n")
    };
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"proxy\", \"server\"]\n{}{}{}{}\
         [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"at-once\"\n{rest}",
        link(near),
        link(far),
        leg("client", "proxy", carriers[0]),
        leg("proxy", "server", carriers[1]),
    );
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::parse(&text, "test.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

const EACH: &str = r#"kind = "http/1.0""#;
const RECORD: &str = "[record]\nexchanges = true\n";

/// The value in `column` of the row of a request on a leg.
fn on_leg(tables: &Tables, request: i64, leg: i64, column: &str) -> i64 {
    let rows = ints(tables, "exchanges", "request").iter().zip(ints(tables, "exchanges", "leg"));
    let row = rows.into_iter().position(|row| row == (&request, &leg)).expect("a row a request and leg");
    ints(tables, "exchanges", column)[row]
}

/// The proxy opens its connection when it has the whole request, and passes each segment of the response on when it has come.
#[test]
fn a_proxy_stores_the_request_and_passes_segments_on() {
    let scenario = chain(60, 20, [EACH, EACH], RECORD);
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 2920, 0)]);

    let at_proxy = ser(44) + 60 * MS + ser(44) + 60 * MS + ser(380) + 60 * MS;
    assert_eq!(on_leg(&tables, 0, 0, "requested_ns"), at_proxy);
    assert_eq!(on_leg(&tables, 0, 1, "start_ns"), at_proxy);
    let connected = at_proxy + ser(44) + 20 * MS + ser(44) + 20 * MS;
    assert_eq!(on_leg(&tables, 0, 1, "connect_ns"), connected);
    let at_server = connected + ser(380) + 20 * MS;
    assert_eq!(on_leg(&tables, 0, 1, "requested_ns"), at_server);
    assert_eq!(on_leg(&tables, 0, 1, "sent_last_ns"), at_server);
    // The server's ACK of the request is not delayed: it rides on the first segment.
    let (first, last) = (at_server + ser(1500) + 20 * MS, at_server + ser(3000) + 20 * MS);
    assert_eq!(on_leg(&tables, 0, 1, "first_byte_ns"), first);
    assert_eq!(on_leg(&tables, 0, 0, "ready_first_ns"), first);
    assert_eq!(on_leg(&tables, 0, 1, "end_ns"), last);
    assert_eq!(on_leg(&tables, 0, 0, "ready_last_ns"), last);
    assert_eq!(ints(&tables, "requests", "first_byte_ns"), [first + ser(1500) + 60 * MS]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [last + ser(1500) + 60 * MS]);
    assert_eq!(ints(&tables, "connections", "leg"), [1, 0]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32]);
}

fn mux(connections: u32, overhead: &str) -> String {
    format!("kind = \"mux\", connections = {connections}, overhead = \"{overhead}\"")
}

/// A request on open connections needs no handshake on their leg. Each segment from the server gets 20 bytes of framing, and
/// goes on as two if it no longer fits.
#[test]
fn a_mux_saves_the_handshake_and_frames_each_segment() {
    let scenario = chain(60, 20, [&mux(1, "20 B"), EACH], RECORD);
    let start = 1000 * MS;
    let (tables, progress) = run(&scenario, 1, vec![Asked(start as u64, 300, 1460, 0)]);

    let at_proxy = start + ser(340) + 60 * MS;
    let at_server = at_proxy + 2 * (ser(44) + 20 * MS) + ser(380) + 20 * MS;
    let back = at_server + ser(1500) + 20 * MS;
    assert_eq!(on_leg(&tables, 0, 0, "requested_ns"), at_proxy);
    assert_eq!(on_leg(&tables, 0, 0, "connect_ns"), start);
    assert_eq!(on_leg(&tables, 0, 1, "end_ns"), back);
    // 20 bytes of framing and 1460 of the response are a full segment and one of 20 bytes.
    assert_eq!(ints(&tables, "requests", "first_byte_ns"), [back + ser(1500) + 60 * MS]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [back + ser(1560) + 60 * MS]);
    // The first connection is the mux, which is closed when the request has ended.
    let place = ints(&tables, "connections", "connection").iter().position(|number| *number == 0).unwrap();
    assert_eq!(ints(&tables, "connections", "open_ns")[place], 0);
    assert_eq!(ints(&tables, "connections", "requests")[place], 1);
    assert!(ints(&tables, "connections", "close_ns")[place] > ints(&tables, "requests", "acked_ns")[0]);
    assert!(progress.done && progress.now.as_secs_f64() < 2.0);
}

/// A slow client's leg: responses of several servers at the same time share one connection, in order of arrival.
#[test]
fn responses_on_one_connection_interleave_segment_by_segment() {
    // With Nagle's algorithm the second request would wait for the acknowledgement of the first.
    let no_delay = [("leg.0.tcp.constants.nagle", "false")];
    let record = format!("{RECORD}packets = \"all\"");
    let scenario = chain_with(60, 20, [&mux(1, "20 B"), EACH], &record, &no_delay);
    let size = 4 * 1460;
    let start = 1_000_000_000;
    let (tables, _) = run(&scenario, 1, vec![Asked(start, 300, size, 0), Asked(start, 300, size, 0)]);
    let end = ints(&tables, "requests", "end_ns");
    let first_byte = ints(&tables, "requests", "first_byte_ns");
    // Both are under way at once on the only connection: the one does not wait for the other's end.
    assert!(first_byte[1] < end[0] && first_byte[0] < end[1], "{first_byte:?} to {end:?}");
    // On the wire: 8 segments came, so the stream has 8 times 20 bytes more than the responses.
    let rows = ints(&tables, "packets", "connection").len();
    let column = |name| ints(&tables, "packets", name);
    let sent_down = |row: &usize| {
        column("connection")[*row] == 0
            && codes(&tables, "packets", "direction")[*row] == 1
            && codes(&tables, "packets", "event")[*row] == 0
    };
    let payload: i64 = (0..rows).filter(sent_down).map(|row| column("payload_bytes")[row]).sum();
    assert_eq!(payload, 2 * size as i64 + 8 * 20);
}

/// While the first response is being sent on connection 0, the next one goes over connection 1.
#[test]
fn a_response_goes_where_least_is_outstanding() {
    let scenario = chain(60, 20, [&mux(3, "none"), EACH], RECORD);
    let start = 1_000_000_000;
    let asked = |at: u64, size| Asked(start + at, 300, size, 0);
    let (tables, _) =
        run(&scenario, 1, vec![asked(0, 40_000), asked(1_000_000, 3000), asked(9_000_000_000, 500)]);
    let down: Vec<_> = (0..3).map(|request| on_leg(&tables, request, 0, "connection_down")).collect();
    assert_eq!(down, [0, 1, 0]);
    // Requests by the same rule: the first is not acknowledged when the second comes.
    let up: Vec<_> = (0..3).map(|request| on_leg(&tables, request, 0, "connection_up")).collect();
    assert_eq!(up, [0, 1, 0]);
    assert_eq!(
        ints(&tables, "requests", "connection").iter().collect::<std::collections::BTreeSet<_>>().len(),
        2
    );
}

/// Requests that come while the mux is being opened wait for it, at the connections with the shortest queue.
#[test]
fn requests_before_the_mux_is_open_wait_for_it() {
    let scenario = chain(60, 20, [&mux(2, "20 B"), EACH], RECORD);
    let (tables, _) = run(&scenario, 1, (0..3).map(|n| Asked(n * 1000, 300, 1000, 0)).collect());
    let connected = ser(44) + 60 * MS + ser(44) + 60 * MS;
    // The second SYN stands behind the first one.
    let second = ser(88) + 60 * MS + ser(44) + 60 * MS;
    let connects: Vec<_> = (0..3).map(|request| on_leg(&tables, request, 0, "connect_ns")).collect();
    assert_eq!(connects, [connected, second, connected]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32; 3]);
}

/// The proxy has no answer: the server's link is dead. It closes the client's connection, and the request has failed.
#[test]
fn a_failure_above_is_passed_on() {
    let dead = [("path.link.1.up.loss", "{ kind = \"bernoulli\", probability = 1 }")];
    for carrier in [EACH, "kind = \"http/1.1\"", &mux(2, "20 B")] {
        let scenario = chain_with(60, 20, [carrier, EACH], RECORD, &dead);
        let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 5000, 0)]);
        assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32], "{carrier}");
        assert_eq!((progress.requests_started, progress.requests_failed), (1, 1));
        assert_eq!(codes(&tables, "requests", "served_by"), [NULL_CODE], "{carrier}");
        // The connection timer of the proxy, 75 s less up to a tick after the request came there, and then the way back.
        assert!((74.5..76.5).contains(&progress.now.as_secs_f64()), "{carrier}: {}", progress.now);
        assert!(ints(&tables, "connections", "close_ns").iter().all(|closed| *closed > 0), "{carrier}");
        assert_eq!(ints(&tables, "exchanges", "leg").len(), 2);
    }
}

/// The client's link dies while the response is on its way: when the client's connection has failed, so has the request, and
/// the proxy does not go on for it.
#[test]
fn a_failure_below_is_passed_on() {
    let lost = [("path.link.0.down.loss", "{ kind = \"list\", drop = [\"data 2..100000\"] }")];
    for carriers in [[EACH, EACH], [EACH, "kind = \"http/1.1\""]] {
        let scenario = chain_with(60, 20, carriers, RECORD, &lost);
        let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 3_000_000, 0)]);
        assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32]);
        assert_eq!(codes(&tables, "requests", "served_by"), [2], "the response had begun");
        assert!(progress.done);
        assert_eq!(ints(&tables, "exchanges", "leg").len(), 2);
        assert_eq!(ints(&tables, "connections", "leg").len(), 2);
    }
}

/// A response counts as served by the origin from its first byte there, which the proxy has half a second later.
#[test]
fn a_response_is_served_as_soon_as_it_begins_at_the_origin() {
    for carrier in [EACH, "kind = \"http/1.1\"", &mux(2, "20 B")] {
        for (until, served_by) in [("1.5 s", NULL_CODE), ("2 s", 2)] {
            let rest = format!("{RECORD}[run]\nuntil = \"{until}\"\n");
            let scenario = chain(60, 500, [carrier, EACH], &rest);
            let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 5000, 0)]);
            assert_eq!(codes(&tables, "requests", "status"), [Status::Unfinished as i32]);
            assert_eq!(codes(&tables, "requests", "served_by"), [served_by], "{carrier} until {until}");
            assert_eq!(on_leg(&tables, 0, 0, "ready_first_ns"), NULL_INT);
        }
    }
}
