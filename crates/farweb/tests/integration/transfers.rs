//! Transfers in a world: where they start, how long they take, and errors for invalid requests.

use farweb::record::{Failure, NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::Instant;
use farweb::workload::{Caching, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};
use farweb::world::World;

use crate::run::{Asked, Tables, codes, e3, ints, one_link, run};

const MS: i64 = 1_000_000;

/// Nanoseconds of `bytes` bytes at 10 Mbit/s.
const fn ser(bytes: i64) -> i64 {
    bytes * 800
}

/// Clients, a cache 1 ms away, and a server 5 ms behind it. `rest` overrides keys.
fn hierarchy(rest: &[(&str, &str)]) -> Scenario {
    let text = r#"
        format = 1
        [path]
        nodes = ["clients", "cache", "server"]
        [[path.link]]
        up = { rate = "10 Mbit/s", delay = "1 ms" }
        down = { rate = "10 Mbit/s", delay = "1 ms" }
        [[path.link]]
        up = { rate = "10 Mbit/s", delay = "5 ms" }
        down = { rate = "10 Mbit/s", delay = "5 ms" }
        [[leg]]
        from = "clients"
        to = "server"
        carrier = { kind = "transfer" }
        tcp = { profile = "ns2-reno" }
        [workload]
        requests = "given by the test"
        [record]
        packets = "all"
    "#;
    let rest: Vec<_> = rest.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
    Scenario::parse(text, "test.toml", &rest).unwrap_or_else(|error| panic!("{error}"))
}

/// Requests at times in ms, of sizes in bytes, from nodes by name.
struct From<'t>(std::vec::IntoIter<(u64, u64, &'t str)>);

impl RequestSource for From<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|(millis, response_bytes, source)| Request {
            start: Instant::from_nanos(millis * 1_000_000),
            host: directory.host("web"),
            request_bytes: 0,
            response_bytes,
            server: OriginTime::NONE,
            object: None,
            source: (!source.is_empty()).then(|| directory.sources.symbol(source)),
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        }))
    }
}

fn transfer(scenario: &Scenario, requests: Vec<(u64, u64, &str)>) -> Result<Tables, String> {
    let mut world = World::new(scenario, 1, Directory::default());
    let mut source = From(requests.into_iter());
    world.advance(&mut source, u64::MAX).map_err(|error| error.to_string())?;
    let tables = world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect()));
    Ok(tables.collect())
}

/// One packet from each node, alone on the path: 512 B there and 40 B back over each link.
#[test]
fn a_transfer_starts_at_the_node_that_serves_it() {
    let requests = vec![(0, 100, "cache"), (100, 512, "server"), (200, 1, "")];
    let tables = transfer(&hierarchy(&[]), requests).unwrap();
    let near = ser(512) + MS;
    let far = 2 * ser(512) + 6 * MS;
    assert_eq!(ints(&tables, "requests", "end_ns"), [near, 100 * MS + far, 200 * MS + far]);
    let acked =
        [near + ser(40) + MS, 100 * MS + far + 2 * ser(40) + 6 * MS, 200 * MS + far + 2 * ser(40) + 6 * MS];
    assert_eq!(ints(&tables, "requests", "acked_ns"), acked);
    assert_eq!(ints(&tables, "requests", "first_byte_ns"), ints(&tables, "requests", "end_ns"));
    assert_eq!(ints(&tables, "requests", "connect_ns"), [NULL_INT; 3]);
    assert_eq!(codes(&tables, "requests", "served_by"), [1, 2, 2], "places of the nodes");
    assert_eq!(ints(&tables, "connections", "close_ns"), acked);
}

/// 3 packets, the last one padded: one without and two with 40 B of headers, three ACKs.
#[test]
fn a_connection_counts_packets_as_they_are_on_the_wire() {
    let tables = transfer(&hierarchy(&[]), vec![(0, 1025, "cache")]).unwrap();
    let row = |column| ints(&tables, "connections", column)[0];
    assert_eq!((row("segments_down"), row("bytes_down")), (3, 512 + 2 * 552));
    assert_eq!((row("segments_up"), row("bytes_up")), (3, 3 * 40));
    // Each packet is sent and received: seen twice, data and ACKs.
    let payload: i64 = ints(&tables, "packets", "payload_bytes").iter().sum();
    assert_eq!((ints(&tables, "packets", "seq").len(), payload), (12, 2 * 3 * 512));
    let cwnd = ints(&tables, "packets", "cwnd_bytes");
    assert!(cwnd.contains(&(4 * 512)) && cwnd.contains(&NULL_INT), "a sender has a window, a sink has none");
}

/// ACKs in phase with an outage, or none at all: ns-2's agents would send for ever.
#[test]
fn an_agent_without_acks_gives_up() {
    let give_up = ("leg.0.tcp.constants.timeouts_max", "10");
    let outage = r#"[{ at = "0 s", lasts = "300 ms", every = "1 s", mode = "drop" }]"#;
    let silent = hierarchy(&[("path.link.0.up.outage", outage), give_up]);
    let tables = transfer(&silent, vec![(50, 500, "cache")]).unwrap();
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [50 * MS + ser(512) + MS]);
    assert_eq!(ints(&tables, "requests", "acked_ns"), [NULL_INT]);
    let lossy = r#"{ kind = "bernoulli", probability = 1 }"#;
    let tables = transfer(&hierarchy(&[("path.link.0.down.loss", lossy), give_up]), vec![(0, 500, "cache")]);
    let tables = tables.unwrap();
    assert_eq!(codes(&tables, "requests", "failure"), [Failure::ServerGaveUp as i32]);
    // 6, 12, 24, 48 s, and then 60 s each.
    assert_eq!(ints(&tables, "requests", "failed_ns"), [(6 + 12 + 24 + 48 + 6 * 60) * 1000 * MS]);
}

/// The first packet lost on a local network: 6 s, then two round trips.
#[test]
fn a_lost_first_packet_is_sent_again_after_six_seconds() {
    let lossy = [("path.link.0.down.loss", r#"{ kind = "list", drop = ["data 1"] }"#)];
    let tables = transfer(&hierarchy(&lossy), vec![(0, 1536, "cache")]).unwrap();
    let two_trips = ser(512 + 40) + ser(552 + 552 + 40) + 4 * MS;
    assert_eq!(ints(&tables, "requests", "acked_ns"), [6_000 * MS + two_trips]);
    assert_eq!(
        (ints(&tables, "requests", "retransmits"), ints(&tables, "requests", "timeouts")),
        (&[1][..], &[1][..])
    );
}

#[test]
fn a_transfer_from_nowhere_is_an_error() {
    for node in ["srever", "clients"] {
        let error = transfer(&hierarchy(&[]), vec![(0, 512, "cache"), (7, 512, node)]).unwrap_err();
        let wanted = format!(
            "request table: column source: found {node:?} for the request at 0.007000000 s; write the node that serves it \
             (cache, server), or nothing for server"
        );
        assert_eq!(error, wanted);
    }
}

#[test]
fn only_transfers_do_without_a_request() {
    let scenario = one_link(&e3(60, 60), "", "");
    let mut world = World::new(&scenario, 1, Directory::default());
    let error = world.advance(&mut From(vec![(0, 512, "")].into_iter()), 10).unwrap_err().to_string();
    assert!(
        error.starts_with("request table: column request_bytes: found 0 for the request at 0.000000000 s"),
        "{error}"
    );
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 1, 512, 0)]);
    assert_eq!(codes(&tables, "requests", "status"), [0]);
}

/// A run that stops in the middle of a transfer has a row for it.
#[test]
fn an_unfinished_transfer_has_a_row() {
    let tables = transfer(&hierarchy(&[("run.until", "20 ms")]), vec![(0, 100_000, "server")]).unwrap();
    assert_eq!(codes(&tables, "requests", "status"), [2]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [NULL_INT]);
    assert!(ints(&tables, "requests", "first_byte_ns")[0] > 0);
}
