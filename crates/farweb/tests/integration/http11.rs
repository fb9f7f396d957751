//! HTTP/1.1: connections that are used again, wait for their timeout, have limits, and are closed while a request is on its way.

use farweb::record::{Failure, Status};
use farweb::scenario::{Measure, Scenario};
use farweb::units::{BitRate, Bytes};
use farweb::workload::Directory;
use farweb::world::World;

use crate::run::{Asked, Listed, Tables, codes, e3, ints, run};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> i64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos() as i64
}

/// A client and a server over an E3 link of 60 ms each way. `keys` belong to the carrier.
fn http11(keys: &str) -> Scenario {
    over(&e3(60, 60), keys)
}

fn over(link: &str, keys: &str) -> Scenario {
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\n{link}\n\
         [[leg]]\nfrom = \"client\"\nto = \"server\"\ncarrier = {{ kind = \"http/1.1\"{keys} }}\n\
         [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"at-once\"\n[record]\nexchanges = true\n"
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// A request of 300 B at `start`, answered by one full segment.
fn asked(start: i64) -> Asked {
    Asked(start as u64, 300, 1460, 0)
}

/// End of a request sent at `sent` on an open connection.
fn answered(sent: i64) -> i64 {
    sent + ser(340) + 60 * MS + ser(1500) + 60 * MS
}

fn connections(tables: &Tables) -> usize {
    ints(tables, "connections", "connection").len()
}

#[test]
fn an_idle_connection_is_used_again_without_a_handshake() {
    let (tables, progress) = run(&http11(""), 1, vec![asked(0), asked(2 * SECOND), asked(5 * SECOND)]);
    let end = ints(&tables, "requests", "end_ns");
    let connected = 2 * (ser(44) + 60 * MS);
    assert_eq!(end, [answered(connected + ser(40)), answered(2 * SECOND), answered(5 * SECOND)]);
    assert_eq!(ints(&tables, "requests", "connect_ns"), [connected, 2 * SECOND, 5 * SECOND]);
    assert_eq!(ints(&tables, "connections", "requests"), [3]);
    assert_eq!(ints(&tables, "connections", "requests_max"), [1]);
    let busy: i64 = end[0] + (end[1] - 2 * SECOND) + (end[2] - 5 * SECOND);
    assert_eq!(ints(&tables, "connections", "busy_ns"), [busy]);
    // The client closes 15 s after the last response: FIN, the server's FIN, and the last ACK.
    let closed = ints(&tables, "connections", "close_ns")[0];
    let fin = end[2] + 15 * SECOND + 3 * (60 * MS + ser(40));
    assert!((fin..fin + 2 * ser(40)).contains(&closed), "{closed} and {fin}");
    assert_eq!(progress.now.as_nanos() as i64, closed);
}

#[test]
fn requests_at_the_same_time_have_connections_of_their_own() {
    let requests = vec![asked(0), asked(1000), asked(SECOND), asked(SECOND), asked(SECOND)];
    let (tables, _) = run(&http11(""), 1, requests);
    assert_eq!(connections(&tables), 3);
    assert_eq!(ints(&tables, "connections", "requests").iter().sum::<i64>(), 5);
}

#[test]
fn a_connection_idle_for_the_timeout_is_gone() {
    let (tables, _) =
        run(&http11(", idle_timeout = \"3 s\""), 1, vec![asked(0), asked(3 * SECOND), asked(8 * SECOND)]);
    // The second request finds the first connection after less than 3 s, the third does not.
    assert_eq!(connections(&tables), 2);
    assert_eq!(ints(&tables, "requests", "connection"), [0, 0, 1]);
}

#[test]
fn at_the_limit_requests_wait_for_a_connection() {
    for keys in [", per_host = 1", ", total = 1"] {
        let (tables, _) = run(&http11(keys), 1, vec![asked(0), asked(1000), asked(2000)]);
        assert_eq!(connections(&tables), 1, "{keys}");
        let end = ints(&tables, "requests", "end_ns");
        let connects = ints(&tables, "requests", "connect_ns");
        assert_eq!(
            (connects[1], connects[2]),
            (end[0], end[1]),
            "the wait is before the connection is there"
        );
        // The request goes with the ACK that it gives to the last segment.
        assert_eq!(end[1], answered(end[0]));
        assert_eq!(end[2], answered(end[1]));
    }
}

/// A request is on its way when the server closes the idle connection: it is sent again on another one, and answered.
#[test]
fn a_request_that_meets_a_close_is_sent_again() {
    let scenario = http11(", idle_timeout = \"1 s\", closed_by = \"server\"");
    let written = 2 * (ser(44) + 60 * MS) + ser(380) + 60 * MS;
    let fin_arrives = written + SECOND + ser(40) + 60 * MS;
    let start = written + SECOND - 10 * MS;
    let (tables, progress) = run(&scenario, 1, vec![asked(0), asked(start)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32; 2]);
    assert_eq!((progress.requests_finished, progress.requests_failed), (2, 0));
    assert_eq!(ints(&tables, "exchanges", "resent"), [0, 1]);
    assert_eq!(ints(&tables, "requests", "connection"), [0, 1]);
    // The handshake begins at the arrival of the server's FIN. The ACKs of the FIN precede the SYN.
    let handshake = fin_arrives + 2 * (ser(44) + 60 * MS);
    let connected = ints(&tables, "requests", "connect_ns")[1];
    assert!((handshake..handshake + 4 * ser(40)).contains(&connected), "{connected} and {handshake}");
}

/// A server closes an idle connection `idle_timeout` after its last byte. No client sends on a connection it closed.
#[test]
fn a_server_may_close_idle_connections() {
    let scenario = http11(", idle_timeout = \"1 s\", closed_by = \"server\"");
    let (tables, _) = run(&scenario, 1, vec![asked(0), asked(SECOND), asked(4 * SECOND)]);
    assert_eq!(ints(&tables, "requests", "connection"), [0, 0, 1]);
    assert_eq!(ints(&tables, "exchanges", "resent"), [0; 3]);
}

/// A new connection that fails is not tried again.
#[test]
fn a_request_on_a_new_connection_is_sent_once() {
    let dead = r#"
        up = { rate = "1 Mbit/s", delay = "60 ms", loss = { kind = "bernoulli", probability = 1.0 } }
        down = { rate = "1 Mbit/s", delay = "60 ms" }
    "#;
    let scenario = over(dead, ", per_host = 1");
    let (tables, progress) = run(&scenario, 1, vec![asked(0), asked(1000)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32; 2]);
    assert_eq!((progress.requests_started, progress.requests_failed), (2, 2));
    assert_eq!(connections(&tables), 2, "the one that waited may open its own when the first has failed");
}

/// The server's FIN is lost. It answers the request with a reset, which ends the connection at both ends at once: the
/// request is sent again on another connection and no longer counts on the first.
#[test]
fn a_request_that_meets_a_reset_leaves_its_connection() {
    let keys = ", idle_timeout = \"1 s\", closed_by = \"server\"";
    let down =
        "{ rate = \"34.368 Mbit/s\", delay = \"60 ms\", loss = { kind = \"list\", drop = [\"fin 1\"] } }";
    let link = format!("up = {{ rate = \"34.368 Mbit/s\", delay = \"60 ms\" }}\ndown = {down}");
    let written = 2 * (ser(44) + 60 * MS) + ser(380) + 60 * MS;
    let mut scenario = over(&link, keys);
    scenario.run.measure = Measure::Whole;
    let mut source = Listed(vec![asked(0), asked(written + SECOND)].into_iter());
    let mut world = World::new(&scenario, 1, Directory::default());
    world.advance(&mut source, u64::MAX).expect("a list can be read");
    let busy = world.measured().legs[0].busy.nanos;
    let tables: Tables =
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32; 2]);
    assert_eq!(ints(&tables, "exchanges", "resent"), [0, 1]);
    assert_eq!(busy, ints(&tables, "connections", "busy_ns").iter().sum::<i64>() as u128);
}

/// The server gives up a response that never reaches the client, without the client hearing of it. The request waiting for
/// the only place gets a connection of its own at that instant.
#[test]
fn a_request_that_fails_unheard_gives_its_place_back() {
    let down = "{ rate = \"34.368 Mbit/s\", delay = \"60 ms\", loss = { kind = \"list\", drop = [\"data 1..99\", \"fin 1..9\", \"rst 1..9\"] } }";
    let link = format!("up = {{ rate = \"34.368 Mbit/s\", delay = \"60 ms\" }}\ndown = {down}");
    let (tables, _) = run(&over(&link, ", per_host = 1"), 1, vec![asked(0), asked(SECOND)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32; 2]);
    assert_eq!(codes(&tables, "requests", "failure"), [Failure::ServerGaveUp as i32; 2]);
    let opened = ints(&tables, "connections", "open_ns");
    assert_eq!(opened, [0, ints(&tables, "requests", "failed_ns")[0]]);
}

/// The server end gives up its part of the TLS handshake, which the client never gets: the client has nothing to send, and waits.
#[test]
fn a_request_fails_with_a_tls_handshake_that_ends_unheard() {
    let down = "{ rate = \"34.368 Mbit/s\", delay = \"60 ms\", loss = { kind = \"list\", drop = [\"data 1..99\", \"fin 1..9\", \"rst 1..9\"] } }";
    let link = format!("up = {{ rate = \"34.368 Mbit/s\", delay = \"60 ms\" }}\ndown = {down}");
    let keys = " }\ntls = { version = \"1.3\"";
    let (tables, _) = run(&over(&link, keys), 1, vec![asked(0)]);
    assert_eq!(codes(&tables, "requests", "failure"), [Failure::ServerGaveUp as i32]);
}
