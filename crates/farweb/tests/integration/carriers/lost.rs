//! Connections that are lost below a proxy: their requests fail with them, on all legs, and the next one finds another.

use farweb::record::{NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::workload::Directory;
use farweb::world::World;

use crate::run::{Asked, Listed, Tables, codes, ints, run};

/// On each connection of the mux everything towards the client is lost after the first two segments. Its sender gives up
/// with the third timeout.
const SCENARIO: &str = r#"
    format = 1
    [path]
    nodes = ["client", "proxy", "servers"]
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "10 ms" }
    down = { rate = "8 Mbit/s", delay = "10 ms", loss = { kind = "list", drop = ["data 3..1000"] } }
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "10 ms" }
    down = { rate = "8 Mbit/s", delay = "10 ms" }
    [[leg]]
    from = "client"
    to = "proxy"
    carrier = { kind = "mux", connections = 1, overhead = "none" }
    tcp = { constants = { retries_max = 3 } }
    [[leg]]
    from = "proxy"
    to = "servers"
    carrier = { kind = "http/1.0" }
    [workload]
    requests = "given by the test"
    [record]
    exchanges = true
"#;

#[test]
fn the_requests_of_a_lost_connection_fail_and_the_next_one_gets_another() {
    let scenario = Scenario::parse(SCENARIO, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let minute = 60_000_000_000;
    let asked = vec![Asked(0, 300, 10_220, 70_000_000_000), Asked(4 * minute, 300, 1000, 0)];
    let mut source = Listed(asked.into_iter());
    let mut world = World::new(&scenario, 1, Directory::default());
    let mut failed_at = None;
    while !world.advance(&mut source, 1).expect("a list can be read").done {
        let progress = world.progress();
        if progress.requests_failed == 1 {
            failed_at.get_or_insert(progress.now.as_secs_f64());
        }
    }
    // The third segment of seven comes after 30 s, the last one after 70 s. The timer is 1 s at least and doubled three times.
    let failed_at = failed_at.expect("the first request fails");
    assert!((30.0 + 15.0..70.0).contains(&failed_at), "{failed_at}");
    let tables: Tables =
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32, Status::Done as i32]);
    let requests_on_mux: Vec<_> = ints(&tables, "connections", "leg")
        .iter()
        .zip(ints(&tables, "connections", "requests"))
        .filter_map(|(leg, requests)| (*leg == 0).then_some(*requests))
        .collect();
    assert_eq!(requests_on_mux, [1, 1], "a connection each");
    assert_eq!(ints(&tables, "exchanges", "connection_down").len(), 4);
}

/// The client's connection is given up while the server is still releasing: the proxy closes its own to the server, which has ten
/// minutes to go.
#[test]
fn a_proxy_does_not_go_on_for_a_client_that_is_gone() {
    let keys = [("leg.0.carrier", "{ kind = \"http/1.0\" }"), ("origin.release", "\"paced\"")];
    let keys: Vec<_> = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = Scenario::parse(SCENARIO, "test.toml", &keys).unwrap_or_else(|error| panic!("{error}"));
    let (tables, progress) = run(&scenario, 1, vec![Asked(0, 300, 146_000, 600_000_000_000)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32]);
    // The third segment comes after 18 s.
    assert!((18.0 + 10.0..18.0 + 60.0).contains(&progress.now.as_secs_f64()), "{}", progress.now);
    let closed = ints(&tables, "connections", "close_ns");
    assert!(closed.len() == 2 && closed.iter().all(|at| *at != NULL_INT), "{closed:?}");
}
