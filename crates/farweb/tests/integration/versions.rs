//! Versions of objects in caches on the path: sizes that change, conditions that pass proxies, and what each cache counts.
//!
//! Paths have no limit of rate, 60 ms to the cache and 20 ms from there to the server: times are sums of round trips.

use farweb::record::Status;
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Caching, Directory, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;

use crate::run::{Tables, codes, ints};

const MS: i64 = 1_000_000;

/// A request for object 7: (start in ms, response bytes), with a server that takes 100 ms.
#[derive(Debug, Clone, Copy)]
struct Ask(i64, u64);

struct Asks<'a>(std::slice::Iter<'a, Ask>);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&Ask(start, response_bytes)| Request {
            start: Instant::from_nanos((start * MS) as u64),
            host: directory.host("server.example"),
            request_bytes: 300,
            response_bytes,
            server: OriginTime::new(Duration::from_nanos(100 * MS as u64)),
            object: ObjectId::new(7),
            source: None,
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        }))
    }
}

/// Runs requests over nodes with links of 60, 20, 20, … ms between them. A leg ends at each of `ends`.
fn run(nodes: &[&str], ends: &[&str], caches: &str, asks: &[Ask]) -> Tables {
    let quoted: Vec<_> = nodes.iter().map(|node| format!("\"{node}\"")).collect();
    let link = |place: usize| {
        let way = format!("{{ rate = \"unlimited\", delay = \"{} ms\" }}", if place == 0 { 60 } else { 20 });
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let links: String = (0..nodes.len() - 1).map(link).collect();
    let from = std::iter::once(&nodes[0]).chain(ends);
    let leg = |(from, to): (&&str, &&str)| {
        format!("[[leg]]\nfrom = \"{from}\"\nto = \"{to}\"\ncarrier = {{ kind = \"http/1.0\" }}\n")
    };
    let legs: String = from.zip(ends).map(leg).collect();
    let text = format!(
        "format = 1\n[path]\nnodes = [{}]\n{links}{legs}{caches}[workload]\nrequests = \"given by the test\"\n\
         [origin]\nrelease = \"delayed\"\n[record]\nexchanges = true\n",
        quoted.join(", ")
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut world = World::new(&scenario, 1, Directory::default());
    let progress = world.advance(&mut Asks(asks.iter()), 10_000_000).expect("a list can be read");
    assert!(progress.done);
    let tables: Tables =
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    let statuses = codes(&tables, "requests", "status");
    assert_eq!(statuses, vec![Status::Done as i32; asks.len()]);
    tables
}

/// The values of a column of `requests`, by number of the request.
fn by_request(tables: &Tables, column: &str) -> Vec<i64> {
    let rows = ints(tables, "requests", "request").iter().zip(ints(tables, "requests", column));
    let mut rows: Vec<_> = rows.map(|(request, value)| (*request, *value)).collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, value)| value).collect()
}

/// Counts of the caches, a value each.
fn counts<'a>(tables: &'a Tables, column: &str) -> &'a [i64] {
    ints(tables, "caches", column)
}

fn one_cache(rest: &str, asks: &[Ask]) -> Tables {
    let cache = format!("[[cache]]\nnode = \"cache\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\n{rest}\n");
    run(&["client", "cache", "server"], &["cache", "server"], &cache, asks)
}

/// Time from the start of a request until its response of one segment from the cache has arrived.
const NEAR: i64 = 240 * MS;
/// Time of a fetch from the server behind the cache, and of one without a body.
const FETCH: i64 = 180 * MS;
const CONFIRMED: i64 = 80 * MS;

#[test]
fn a_joiner_gets_the_version_that_is_fetched() {
    for (first, second) in [(300, 900), (900, 300), (300, 90), (100, 1400)] {
        for mode in ["", "mode = \"store-and-forward\""] {
            let tables = one_cache(mode, &[Ask(0, first), Ask(50, second)]);
            assert_eq!(by_request(&tables, "end_ns"), [NEAR + FETCH; 2], "{first} and {second} B");
            assert_eq!(by_request(&tables, "response_bytes"), [first as i64, second as i64]);
            assert_eq!(by_request(&tables, "served_bytes"), [first as i64; 2]);
            assert_eq!(
                (counts(&tables, "delayed_hits"), counts(&tables, "bytes")),
                (&[1][..], &[first as i64][..])
            );
        }
    }
}

#[test]
fn a_fresh_copy_serves_requests_for_other_versions() {
    let tables = one_cache("", &[Ask(0, 300), Ask(1000, 900)]);
    assert_eq!(by_request(&tables, "end_ns"), [NEAR + FETCH, 1000 * MS + NEAR]);
    assert_eq!(by_request(&tables, "served_bytes"), [300, 300]);
    assert_eq!((counts(&tables, "hits"), counts(&tables, "hit_bytes")), (&[1][..], &[900][..]));
    let down = ints(&tables, "connections", "bytes_down");
    assert!(down.iter().all(|bytes| *bytes < 900), "the wire carries what is served: {down:?}");
}

#[test]
fn with_changes_learned_of_another_version_is_a_miss_of_its_own() {
    let asks = [Ask(0, 300), Ask(50, 900), Ask(60, 900), Ask(1000, 900), Ask(2000, 300)];
    let tables = one_cache("changed = \"fetch\"", &asks);
    let expected = [0, 50, 50, 1000, 2000].map(|start| start * MS + NEAR);
    let waits = [FETCH, FETCH, FETCH, 0, FETCH];
    let ends: Vec<_> = expected.iter().zip(waits).map(|(start, wait)| start + wait).collect();
    assert_eq!(by_request(&tables, "end_ns"), ends);
    assert_eq!(by_request(&tables, "served_bytes"), [300, 900, 900, 900, 300]);
    assert_eq!((counts(&tables, "hits"), counts(&tables, "delayed_hits")), (&[1][..], &[1][..]));
}

#[test]
fn a_revalidation_of_a_changed_object_brings_the_new_version_and_was_a_miss() {
    let asks = [Ask(0, 300), Ask(5000, 900), Ask(5010, 300), Ask(5500, 900)];
    let tables = one_cache("ttl = \"1 s\"", &asks);
    let changed = 5000 * MS + NEAR + FETCH;
    assert_eq!(by_request(&tables, "end_ns"), [NEAR + FETCH, changed, changed, 5500 * MS + NEAR]);
    assert_eq!(by_request(&tables, "served_bytes"), [300, 900, 900, 900]);
    assert_eq!((counts(&tables, "hits"), counts(&tables, "revalidations")), (&[1][..], &[0][..]));
    assert_eq!((counts(&tables, "delayed_hits"), counts(&tables, "bytes")), (&[1][..], &[900][..]));
    let unchanged = one_cache("ttl = \"1 s\"", &[Ask(0, 300), Ask(5000, 300)]);
    assert_eq!(by_request(&unchanged, "end_ns")[1], 5000 * MS + NEAR + CONFIRMED);
    assert_eq!((counts(&unchanged, "hits"), counts(&unchanged, "revalidations")), (&[1][..], &[1][..]));
}

/// The condition of a cache passes the proxy behind it: the answer has no body on either leg, for objects smaller than it too.
#[test]
fn a_condition_passes_a_proxy() {
    let cache = "[[cache]]\nnode = \"cache\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\nttl = \"1 s\"\n";
    let nodes = ["client", "cache", "proxy", "server"];
    for bytes in [100_000, 1000, 90] {
        let asks = [Ask(0, bytes), Ask(9000, bytes)];
        let tables = run(&nodes, &["cache", "proxy", "server"], cache, &asks);
        let conditional = |leg: i64| {
            let rows =
                ints(&tables, "connections", "leg").iter().zip(ints(&tables, "connections", "bytes_down"));
            rows.filter(|(of, _)| **of == leg).map(|(_, bytes)| *bytes).nth(1).unwrap()
        };
        // A SYN-ACK, the answer, a FIN and the ACK of the other one.
        assert_eq!(conditional(1), 44 + 240 + 2 * 40, "{bytes} B");
        assert_eq!(conditional(2), conditional(1), "{bytes} B");
        assert_eq!(counts(&tables, "revalidations"), [1]);
        assert_eq!(by_request(&tables, "served_bytes"), [bytes as i64; 2]);
    }
}

/// A parent answers the condition of its child by the version that the parent holds.
#[test]
fn a_condition_is_answered_by_a_cache_with_its_own_version() {
    let cache = |node: &str, ttl: &str| {
        format!("[[cache]]\nnode = \"{node}\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\n{ttl}\n")
    };
    let caches = cache("child", "ttl = \"1 s\"") + &cache("parent", "");
    let nodes = ["client", "child", "parent", "server"];
    let tables = run(&nodes, &["child", "parent", "server"], &caches, &[Ask(0, 300), Ask(5000, 900)]);
    assert_eq!(
        by_request(&tables, "served_bytes"),
        [300, 300],
        "the parent's copy is fresh, and confirms the child's"
    );
    assert_eq!(counts(&tables, "revalidations"), [1, 0]);
    assert_eq!(counts(&tables, "request_bytes"), [1200, 500], "a conditional request counts 200 B");
}

/// The parent holds another version, and the new one is too large for it: its condition brings the body that the child has.
/// The first byte of it confirms the child's copy. The child's request ends long before the body is complete.
#[test]
fn a_condition_that_is_answered_by_the_beginning_of_a_body_ends_before_it() {
    let cache = |node: &str, capacity: &str| {
        format!("[[cache]]\nnode = \"{node}\"\npolicy = \"lru\"\ncapacity = \"{capacity}\"\nttl = \"1 s\"\n")
    };
    let caches = cache("child", "1 MB") + &cache("parent", "50 kB");
    let nodes = ["client", "child", "parent", "server"];
    let asks = [Ask(0, 300), Ask(5000, 100_000), Ask(20_000, 100_000)];
    let tables = run(&nodes, &nodes[1..], &caches, &asks);
    assert_eq!(by_request(&tables, "served_bytes"), [300, 100_000, 100_000]);
    assert_eq!(counts(&tables, "revalidations"), [1, 0]);
}

/// Two conditional requests of a cache that does not coalesce wait above for one confirmation: neither brings a body.
#[test]
fn what_a_joined_confirmation_confirms_is_served_below() {
    let cache = |node: &str, coalesce: bool| {
        format!(
            "[[cache]]\nnode = \"{node}\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\nttl = \"1 s\"\ncoalesce = {coalesce}\n"
        )
    };
    let caches = cache("child", false) + &cache("parent", true);
    let nodes = ["client", "child", "parent", "server"];
    let tables = run(&nodes, &nodes[1..], &caches, &[Ask(0, 300), Ask(5000, 300), Ask(5001, 300)]);
    assert_eq!(codes(&tables, "requests", "served_by"), [3, 1, 1]);
    let again = run(&nodes, &nodes[1..], &caches, &[Ask(0, 300), Ask(5000, 400), Ask(5001, 400)]);
    assert_eq!(codes(&again, "requests", "served_by"), [3, 3, 2], "a new version comes from above");
}

/// The request reaches both caches of its leg's path, and each counts it.
#[test]
fn a_cache_behind_a_cache_inside_the_leg_counts_its_requests() {
    let cache = |node: &str, mode: &str| {
        format!("[[cache]]\nnode = \"{node}\"\nmode = \"{mode}\"\npolicy = \"lru\"\ncapacity = \"500 B\"\n")
    };
    let caches = cache("router", "cut-through") + &cache("proxy", "split");
    let nodes = ["client", "router", "proxy", "server"];
    let tables = run(&nodes, &["proxy", "server"], &caches, &[Ask(0, 300), Ask(1000, 300), Ask(2000, 900)]);
    assert_eq!(counts(&tables, "requests"), [3, 1]);
    assert_eq!((counts(&tables, "hits"), counts(&tables, "bypasses")), (&[2, 0][..], &[0, 0][..]));
    let missed = run(
        &nodes,
        &["proxy", "server"],
        &caches.replacen("500 B", "100 B", 1),
        &[Ask(0, 300), Ask(1000, 300)],
    );
    assert_eq!((counts(&missed, "requests"), counts(&missed, "hits")), (&[2, 2][..], &[0, 1][..]));
    assert_eq!(counts(&missed, "bypasses"), [2, 0]);
}
