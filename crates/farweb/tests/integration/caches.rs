//! Caches on the path: what can be worked out by hand, to the nanosecond and to the byte.
//!
//! Names: `ser(n)` is the time of an n-byte packet on an E3 link. A SYN is 44 bytes long, a pure ACK 40, a full segment 1500.

use farweb::record::{NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::{BitRate, Bytes, Duration, Instant};
use farweb::workload::{
    Caching, Directory, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;

use crate::run::{Tables, codes, ints};

const MS: i64 = 1_000_000;

/// Nodes as the column `served_by` has them.
const CACHE: i32 = 1;
const SERVER: i32 = 2;

/// A request for an object: (start in ns, object, response bytes, node that serves it or "").
#[derive(Debug, Clone, Copy)]
struct Ask(i64, u64, u64, &'static str);

/// Requests from a list. The server takes this time for each.
struct Asks<'a>(std::slice::Iter<'a, Ask>, Duration);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&Ask(start, object, response_bytes, source)| Request {
            start: Instant::from_nanos(start as u64),
            host: directory.host("server.example"),
            request_bytes: 300,
            response_bytes,
            server: OriginTime::new(self.1),
            object: ObjectId::new(object),
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

fn run(scenario: &Scenario, asks: &[Ask]) -> Tables {
    run_slowly(scenario, asks, Duration::ZERO)
}

/// The same with a server that takes `server` time for each response.
fn run_slowly(scenario: &Scenario, asks: &[Ask], server: Duration) -> Tables {
    let mut world = World::new(scenario, 1, Directory::default());
    let mut source = Asks(asks.iter(), server);
    let progress = world.advance(&mut source, u64::MAX).expect("a list can be read");
    assert!(progress.done);
    world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> i64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos() as i64
}

pub(super) const EACH: &str = "{ kind = \"http/1.0\" }";

/// A client, a cache 60 ms from it and a server 20 ms further, with E3 links. Two legs that meet at the cache.
pub(super) fn two_legs(cache: &str) -> Scenario {
    let leg = |from: &str, to: &str| format!("[[leg]]\nfrom = \"{from}\"\nto = \"{to}\"\ncarrier = {EACH}\n");
    scenario(&(leg("client", "cache") + &leg("cache", "server")), cache)
}

/// The same path with one leg, of this carrier.
pub(super) fn one_leg(carrier: &str, tcp: &str, cache: &str) -> Scenario {
    let leg = format!("[[leg]]\nfrom = \"client\"\nto = \"server\"\ncarrier = {carrier}\ntcp = {tcp}\n");
    scenario(&leg, cache)
}

fn scenario(legs: &str, cache: &str) -> Scenario {
    let link = |ms: u64| {
        let way = format!("{{ rate = \"34.368 Mbit/s\", delay = \"{ms} ms\" }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"cache\", \"server\"]\n{}{}{legs}\
         [[cache]]\nnode = \"cache\"\n{cache}\n[workload]\nrequests = \"given by the test\"\n\
         [origin]\nrelease = \"at-once\"\n[record]\nexchanges = true\n",
        link(60),
        link(20)
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Latency of a response of one segment over a connection of its own, from a node `ms` away: the request is sent behind an ACK.
fn one_segment(ms: i64, response: u64) -> i64 {
    2 * (ser(44) + ms * MS) + ser(380) + ser(response + 40) + 2 * ms * MS
}

#[test]
fn a_drawn_hit_is_served_where_it_is_held() {
    let tables = run(&two_legs("hit_ratio = 1.0"), &[Ask(0, 7, 1000, "")]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [one_segment(60, 1000)]);
    assert_eq!(codes(&tables, "requests", "served_by"), [CACHE]);
    assert_eq!(ints(&tables, "exchanges", "leg"), [0], "nothing goes on");
    assert_eq!(ints(&tables, "caches", "hits"), [1]);
    assert_eq!(ints(&tables, "caches", "hit_bytes"), [1000]);
}

#[test]
fn the_table_says_who_serves_where_the_cache_has_no_other_rule() {
    let asks = [Ask(0, 7, 1000, "cache"), Ask(0, 7, 1000, "server"), Ask(0, 7, 1000, "")];
    let tables = run(&two_legs(""), &asks);
    assert_eq!(codes(&tables, "requests", "served_by"), [CACHE, SERVER, SERVER]);
    assert_eq!(ints(&tables, "caches", "requests"), [3]);
    assert_eq!(ints(&tables, "caches", "hits"), [1]);
}

/// A connection ends at a cut-through cache. Requests that the cache does not serve pass it as a router.
#[test]
fn a_node_inside_a_leg_is_the_source_of_its_hits() {
    let asks = [Ask(0, 7, 1000, "cache"), Ask(1000 * MS, 7, 1000, "server")];
    let tables = run(&one_leg(EACH, "{}", ""), &asks);
    assert_eq!(ints(&tables, "requests", "end_ns")[0], one_segment(60, 1000));
    let through = 2 * (2 * ser(44) + 80 * MS) + ser(380) + ser(340) + 2 * ser(1040) + 2 * 80 * MS;
    assert_eq!(ints(&tables, "requests", "end_ns")[1], 1000 * MS + through);
    assert_eq!(codes(&tables, "requests", "served_by"), [CACHE, SERVER]);
    assert_eq!(ints(&tables, "exchanges", "leg"), [0, 0]);
}

/// Connections that are used again are the cache's or the server's: the later request to each of them shakes no hands.
#[test]
fn connections_to_a_node_inside_a_leg_are_used_again_for_its_hits() {
    let asks = [(0, "cache"), (1, "server"), (2, "cache"), (3, "server")];
    let asks = asks.map(|(second, source)| Ask(second * 1000 * MS, 7, 1000, source));
    for carrier in ["http/1.1", "http/2"] {
        let tcp = "{ profile = \"linux\", constants = { nagle = false } }";
        let tables = run(&one_leg(&format!("{{ kind = \"{carrier}\" }}"), tcp, ""), &asks);
        assert_eq!(codes(&tables, "requests", "served_by"), [CACHE, SERVER, CACHE, SERVER]);
        assert_eq!(ints(&tables, "requests", "connection"), [0, 1, 0, 1]);
        let [start, end] = ["start_ns", "end_ns"].map(|column| ints(&tables, "requests", column));
        for (place, round_trip) in [(0, 2 * 120), (1, 2 * 160), (2, 120), (3, 160)] {
            assert_eq!((end[place] - start[place]) / MS, round_trip, "{carrier}");
        }
    }
}

#[test]
fn a_transfer_starts_at_the_cache_that_serves_it() {
    let leg = |cache| one_leg("{ kind = \"transfer\" }", "{ profile = \"ns2-reno\" }", cache);
    let by_cache = run(&leg("hit_ratio = 1.0"), &[Ask(0, 7, 512, "")]);
    assert_eq!(ints(&by_cache, "requests", "end_ns"), [ser(512) + 60 * MS]);
    let by_server = run(&leg("hit_ratio = 0.0"), &[Ask(0, 7, 512, "")]);
    assert_eq!(ints(&by_server, "requests", "end_ns"), [2 * ser(512) + 80 * MS]);
    let listed = run(&leg("hit_ratio = 0.0"), &[Ask(0, 7, 512, "cache")]);
    assert_eq!(codes(&listed, "requests", "served_by"), [SERVER], "the draw decides, not the table");
}

#[test]
fn drawn_hits_are_the_share_that_was_asked_for_and_the_same_in_every_run() {
    let asks: Vec<_> = (0..2000).map(|number| Ask(number * 10 * MS, number as u64, 500, "")).collect();
    let served = |cache: &str| codes(&run(&two_legs(cache), &asks), "requests", "served_by").to_vec();
    let hits = served("hit_ratio = 0.4").iter().filter(|node| **node == CACHE).count();
    assert!((750..850).contains(&hits), "{hits} of 2000 for a share of 0.4");
    let more = run(&two_legs("hit_ratio = 0.4\nmode = \"store-and-forward\""), &asks);
    let hit = |tables: &Tables| -> std::collections::BTreeSet<i64> {
        let rows = codes(tables, "requests", "served_by").iter().zip(ints(tables, "requests", "request"));
        rows.filter(|(node, _)| **node == CACHE).map(|(_, request)| *request).collect()
    };
    assert_eq!(hit(&more), hit(&run(&two_legs("hit_ratio = 0.4"), &asks)));
}

/// Time of `bytes` bytes on a link of 1 Mbit/s.
const fn slow(bytes: i64) -> i64 {
    bytes * 8_000
}

/// A client 60 ms from a cache, over links that take no time to send, and a server 20 ms behind it, over 1 Mbit/s.
fn near_and_slow(cache: &str) -> Scenario {
    near_and_slow_with(cache, &[])
}

/// The same with other values, by key.
fn near_and_slow_with(cache: &str, overrides: &[(String, String)]) -> Scenario {
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"cache\", \"server\"]\n\
         [[path.link]]\nup = {{ rate = \"unlimited\", delay = \"60 ms\" }}\ndown = {{ rate = \"unlimited\", delay = \"60 ms\" }}\n\
         [[path.link]]\nup = {{ rate = \"1 Mbit/s\", delay = \"20 ms\" }}\ndown = {{ rate = \"1 Mbit/s\", delay = \"20 ms\" }}\n\
         [[leg]]\nfrom = \"client\"\nto = \"cache\"\ncarrier = {EACH}\n\
         [[leg]]\nfrom = \"cache\"\nto = \"server\"\ncarrier = {EACH}\n\
         [[cache]]\nnode = \"cache\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\n{cache}\n\
         [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"at-once\"\n[record]\nexchanges = true\n"
    );
    Scenario::parse(&text, "test.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

/// From the start of a request until all of it is at the cache.
const TO_CACHE: i64 = 180 * MS;
/// From there until it has come from the cache to the server over a connection of its own.
const TO_SERVER: i64 = 2 * (slow(44) + 20 * MS) + slow(380) + 20 * MS;
/// When the first and second segment of a response of 2920 B to a request of time 0 are at the cache.
const FIRST: i64 = TO_CACHE + TO_SERVER + slow(1500) + 20 * MS;
const SECOND: i64 = FIRST + slow(1500);

/// Ends of the responses to a request at time 0 and to one that is whole at the cache at `second`, and who served them.
fn twice(cache: &str, second: i64) -> (Vec<i64>, Vec<i32>, Tables) {
    let tables = run(&near_and_slow(cache), &[Ask(0, 7, 2920, ""), Ask(second - TO_CACHE, 7, 2920, "")]);
    let mut rows: Vec<_> = ints(&tables, "requests", "request").iter().zip(0..).collect();
    rows.sort_unstable();
    let by_request = |values: &[i64]| rows.iter().map(|(_, row)| values[*row as usize]).collect::<Vec<_>>();
    let ends = by_request(ints(&tables, "requests", "end_ns"));
    let servers = codes(&tables, "requests", "served_by");
    (ends, rows.iter().map(|(_, row)| servers[*row as usize]).collect(), tables)
}

#[test]
fn what_was_fetched_whole_is_a_hit() {
    let (ends, servers, tables) = twice("", SECOND + 1);
    assert_eq!(ends, [SECOND + 60 * MS, SECOND + 1 + 60 * MS]);
    assert_eq!(servers, [SERVER, CACHE]);
    assert_eq!(
        (ints(&tables, "caches", "hits"), ints(&tables, "caches", "delayed_hits")),
        (&[1][..], &[0][..])
    );
    assert_eq!(ints(&tables, "caches", "bytes"), [2920]);
    assert_eq!(ints(&tables, "caches", "objects"), [1]);
}

/// A delayed hit gets the part already fetched at once, and the rest as it arrives.
#[test]
fn a_delayed_hit_is_served_from_the_fetch_at_each_moment_of_it() {
    for (second, first_byte) in [
        (TO_CACHE, FIRST),
        (TO_CACHE + 1, FIRST),
        (FIRST - 1, FIRST),
        (FIRST + 1, FIRST + 1),
        (FIRST + 5 * MS, FIRST + 5 * MS),
        (SECOND - 1, SECOND - 1),
    ] {
        let (ends, servers, tables) = twice("", second);
        assert_eq!(ends, [SECOND + 60 * MS; 2], "at the cache at {second} ns");
        let row = ints(&tables, "requests", "request").iter().position(|request| *request == 1).unwrap();
        assert_eq!(
            ints(&tables, "requests", "first_byte_ns")[row],
            first_byte + 60 * MS,
            "at the cache at {second} ns"
        );
        assert_eq!(servers, [SERVER, CACHE]);
        assert_eq!(ints(&tables, "caches", "delayed_hits"), [1]);
        assert_eq!(ints(&tables, "caches", "delayed_hit_bytes"), [2920]);
        assert_eq!(ints(&tables, "exchanges", "leg").iter().sum::<i64>(), 1, "one fetch");
    }
}

/// LFU drops the object of one access, though the one with a delayed hit has been there for longer.
#[test]
fn a_delayed_hit_is_an_access() {
    let two = [("policy", "lfu"), ("capacity", "6 kB")]
        .map(|(key, value)| (format!("cache.0.{key}"), value.to_owned()));
    let at = |object: u64, start: i64| Ask(start, object, 2920, "");
    let asks = [at(7, 0), at(7, FIRST + 1 - TO_CACHE), at(8, 2000 * MS), at(9, 4000 * MS), at(7, 6000 * MS)];
    let tables = run(&near_and_slow_with("", &two), &asks);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [1]);
    assert_eq!(ints(&tables, "caches", "hits"), [1], "the last one");
}

#[test]
fn a_cache_that_stores_first_sends_a_response_on_when_it_is_whole() {
    for second in [TO_CACHE + 1, FIRST + 1, SECOND - 1] {
        let (ends, _, tables) = twice("mode = \"store-and-forward\"", second);
        assert_eq!(ends, [SECOND + 60 * MS; 2]);
        assert_eq!(ints(&tables, "requests", "first_byte_ns"), [SECOND + 60 * MS; 2]);
    }
}

#[test]
fn without_coalescing_each_request_fetches_for_itself() {
    let (ends, servers, tables) = twice("coalesce = false", SECOND - 1);
    assert_eq!(ends, [SECOND + 60 * MS, SECOND - 1 - TO_CACHE + SECOND + 60 * MS]);
    assert_eq!(servers, [SERVER; 2]);
    assert_eq!(ints(&tables, "exchanges", "leg").iter().sum::<i64>(), 2, "two fetches");
    assert_eq!(ints(&tables, "caches", "bytes"), [2920], "held once");
}

/// A conditional request costs its round trip and 200 B. The body comes from the cache.
#[test]
fn a_revalidation_costs_a_round_trip_and_no_body() {
    let back = TO_SERVER + slow(240) + 20 * MS;
    let later = 10_000 * MS;
    let (ends, servers, tables) = twice("ttl = \"1 s\"", later);
    assert_eq!(ends[1], later + back + 60 * MS);
    assert_eq!(servers, [SERVER, CACHE]);
    assert_eq!(ints(&tables, "caches", "hits"), [1]);
    assert_eq!(ints(&tables, "caches", "revalidations"), [1]);
    assert_eq!(ints(&tables, "caches", "hit_bytes"), [2920]);
    // Asked anew within the time to live of the revalidation, it is a plain hit.
    let again = [Ask(0, 7, 2920, ""), Ask(later - TO_CACHE, 7, 2920, ""), Ask(later + 500 * MS, 7, 2920, "")];
    let tables = run(&near_and_slow("ttl = \"1 s\""), &again);
    assert_eq!(ints(&tables, "requests", "end_ns")[2], later + 500 * MS + TO_CACHE + 60 * MS);
    assert_eq!(ints(&tables, "caches", "revalidations"), [1]);
}

/// A request that joined a revalidation is served from the cache when the revalidation ends.
#[test]
fn requests_wait_for_a_revalidation_that_is_under_way() {
    let later = 10_000 * MS;
    let asks =
        [Ask(0, 7, 2920, ""), Ask(later - TO_CACHE, 7, 2920, ""), Ask(later - TO_CACHE + 1, 7, 2920, "")];
    let tables = run(&near_and_slow("ttl = \"1 s\""), &asks);
    let end = later + TO_SERVER + slow(240) + 20 * MS + 60 * MS;
    assert_eq!(ints(&tables, "requests", "end_ns")[1..], [end; 2]);
    assert_eq!(codes(&tables, "requests", "served_by")[1..], [CACHE; 2]);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [1]);
}

#[test]
fn what_the_cache_would_not_keep_is_not_waited_for() {
    let (ends, servers, tables) = twice("admit = { max = \"2919 B\" }", FIRST + 1);
    assert_eq!(servers, [SERVER; 2]);
    assert!(ends[1] > SECOND + 60 * MS);
    assert_eq!(ints(&tables, "caches", "objects"), [0]);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [0]);
    let inside = "policy = \"lru\"\ncapacity = \"1 MB\"\nadmit = { max = \"2919 B\" }";
    let tables = run(&one_leg(EACH, "{}", inside), &[Ask(0, 7, 2920, ""), Ask(MS, 7, 2920, "")]);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [0]);
}

/// The fetch fails for the request that began it. The waiting request then fetches by itself, and fails in its turn.
#[test]
fn who_waited_for_a_fetch_that_fails_goes_on_alone() {
    let lost = [("path.link.1.up.loss".to_owned(), "{ kind = \"list\", drop = [\"syn 1..20\"] }".to_owned())];
    let scenario = near_and_slow_with("", &lost);
    let tables = run(&scenario, &[Ask(0, 7, 2920, ""), Ask(1000 * MS, 7, 2920, "")]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32; 2]);
    let fetches = ints(&tables, "exchanges", "leg").iter().filter(|leg| **leg == 1).count();
    assert_eq!(fetches, 2);
    let opened: Vec<_> =
        ints(&tables, "connections", "open_ns").iter().zip(ints(&tables, "connections", "leg")).collect();
    let of_fetches: Vec<_> = opened.iter().filter(|(_, leg)| **leg == 1).map(|(open, _)| **open).collect();
    assert_eq!(of_fetches[0], TO_CACHE);
    assert!(
        (60..90).contains(&((of_fetches[1] - of_fetches[0]) / (1000 * MS))),
        "after the first has timed out"
    );
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [1]);
    assert_eq!(ints(&tables, "caches", "requests"), [2], "who goes on alone has been counted");
}

/// A response that passes a cache inside a leg is stored when it is complete at the client. Waiting requests are served
/// then.
#[test]
fn a_response_that_passes_is_held_when_it_has_come_through() {
    let leg = |cache: &str| {
        let cache = format!("policy = \"lru\"\ncapacity = \"1 MB\"\n{cache}");
        one_leg("{ kind = \"transfer\" }", "{ profile = \"ns2-reno\" }", &cache)
    };
    let (far, near) = (2 * ser(512) + 80 * MS, ser(512) + 60 * MS);
    let asks = [Ask(0, 7, 512, ""), Ask(10 * MS, 7, 512, ""), Ask(200 * MS, 7, 512, "")];
    let tables = run(&leg(""), &asks);
    assert_eq!(ints(&tables, "requests", "end_ns"), [far, far + near, 200 * MS + near]);
    assert_eq!(codes(&tables, "requests", "served_by"), [SERVER, CACHE, CACHE]);
    assert_eq!(
        (ints(&tables, "caches", "hits"), ints(&tables, "caches", "delayed_hits")),
        (&[1][..], &[1][..])
    );
    let alone = run(&leg("coalesce = false"), &asks);
    assert_eq!(ints(&alone, "requests", "end_ns"), [far, 10 * MS + far, 200 * MS + near]);
}

/// After waiting for a response that turned out not to be stored, a request does not wait again.
#[test]
fn a_request_waits_once_inside_a_leg() {
    let cache = "policy = \"lru\"\ncapacity = \"1 MB\"\nadmit = { probability = 0.0 }";
    let scenario = one_leg("{ kind = \"transfer\" }", "{ profile = \"ns2-reno\" }", cache);
    let far = 2 * ser(512) + 80 * MS;
    let tables = run(&scenario, &[Ask(0, 7, 512, ""), Ask(10 * MS, 7, 512, ""), Ask(20 * MS, 7, 512, "")]);
    assert_eq!(ints(&tables, "requests", "end_ns"), [far, 2 * far, 2 * far + ser(512)]);
    assert_eq!(ints(&tables, "caches", "requests"), [3]);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [2]);
}

#[test]
fn siblings_divide_the_objects_among_them() {
    let asks: Vec<_> =
        (0..200).map(|number| Ask(number * 1000 * MS, number as u64 % 100, 1000, "")).collect();
    let held = |rest: &str| {
        let tables = run(&two_legs(&format!("policy = \"fifo\"\ncapacity = \"30 kB\"\n{rest}")), &asks);
        let objects = ints(&tables, "caches", "objects")[0];
        assert_eq!(ints(&tables, "caches", "bytes"), [1000 * objects]);
        (objects, ints(&tables, "caches", "hits")[0])
    };
    assert_eq!(held(""), (30, 0), "a loop over 100 objects never hits in a FIFO of 30");
    assert_eq!(held("siblings = 2").0, 60);
    let (objects, hits) = held("siblings = 10");
    assert!(objects > 95 && hits > 90, "{objects} objects, {hits} hits");
    assert_eq!(held("siblings = 10\ndivide_by = \"host\"").0, 30, "all are of one host");
}

#[test]
fn requests_that_a_cache_can_make_nothing_of_are_refused() {
    let problem = |scenario: &Scenario, ask: Ask| {
        let mut world = World::new(scenario, 1, Directory::default());
        let asked = world.advance(&mut Asks([ask].iter(), Duration::ZERO), u64::MAX);
        asked.expect_err("it is refused").to_string()
    };
    assert_eq!(
        problem(&near_and_slow(""), Ask(0, ObjectId::NONE, 1000, "")),
        "request table: column object: nothing for the request at 0.000000000 s; write what it asks for, as a cache with a policy must know \
         that"
    );
    assert_eq!(
        problem(&two_legs(""), Ask(0, 7, 1000, "chache")),
        "request table: column source: found \"chache\" for the request at 0.000000000 s; write the node that serves it (cache, server)"
    );
}

/// Losses cut the client off while the server takes an hour for ten segments. The fetch has no reader left.
#[test]
fn a_fetch_that_nobody_waits_for_goes_on_when_little_of_it_is_missing() {
    let cut = [
        ("path.link.0.down.loss".to_owned(), "{ kind = \"list\", drop = [\"data 1..100\"] }".to_owned()),
        ("origin.release".to_owned(), "paced".to_owned()),
    ];
    let outcome = |cache: &str, response: u64| {
        let hour = Duration::from_secs(3600);
        let tables = run_slowly(&near_and_slow_with(cache, &cut), &[Ask(0, 7, response, "")], hour);
        assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32]);
        let row = ints(&tables, "exchanges", "leg").iter().position(|leg| *leg == 1).unwrap();
        (ints(&tables, "exchanges", "end_ns")[row] != NULL_INT, ints(&tables, "caches", "objects")[0])
    };
    assert_eq!(outcome("", 14_600), (true, 1), "under 16 KiB are missing");
    assert_eq!(outcome("", 146_000), (false, 0), "given up");
    assert_eq!(outcome("admit = { max = \"10 kB\" }", 14_600), (false, 0), "not to be kept");
}
