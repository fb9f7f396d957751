//! Random hierarchies of caches over random paths, and properties of all of them.
//!
//! Conservation: a request served by a cache follows a fetch through that cache, complete or under way. Every fetch
//! belongs to a request that the cache did not serve.

use std::collections::BTreeMap;

use farweb::record::{NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Caching, Directory, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;
use proptest::prelude::*;

use crate::run::{Tables, check_failures, codes, ints};

/// Caches at the nodes from the clients on, a leg to each and one to the servers.
#[derive(Debug, Clone)]
struct Hierarchy {
    levels: Vec<Level>,
    last_link: String,
    last_carrier: &'static str,
    asks: Vec<Ask>,
    seed: u64,
}

#[derive(Debug, Clone)]
struct Level {
    link: String,
    carrier: &'static str,
    policy: &'static str,
    capacity: u64,
    mode: &'static str,
    coalesce: bool,
    ttl: &'static str,
    changed: &'static str,
    admit: &'static str,
    siblings: u64,
}

/// A request: start and server time in ns, and the version of the object at its origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ask {
    start: u64,
    object: u64,
    version: u64,
    server: u64,
}

const HTTP10: &str = "{ kind = \"http/1.0\" }";
const HTTP11: &str = "{ kind = \"http/1.1\", per_host = 2 }";
const MUX: &str = "{ kind = \"mux\", connections = 3 }";

const fn size_of(object: u64) -> u64 {
    [300, 1460, 2920, 7_000, 20_000, 90_000][object as usize]
}

/// Versions of an object, in bytes. The last one is smaller than a response without a body.
const fn versions_of(object: u64) -> [u64; 3] {
    [size_of(object), size_of(object) + 2000, 100 + object]
}

impl Ask {
    const fn response_bytes(&self) -> u64 {
        versions_of(self.object)[self.version as usize]
    }
}

fn link(is_rough: bool) -> impl Strategy<Value = String> {
    let rate = prop::sample::select(vec!["unlimited", "256 kbit/s", "10 Mbit/s"]);
    let delay = prop::sample::select(vec!["0 ms", "1 ms", "30 ms", "320 ms"]);
    let loss = prop::sample::select(match is_rough {
        true => vec![
            "",
            ", queue = \"6 packets\"",
            ", loss = { kind = \"bernoulli\", probability = 0.05 }",
            ", loss = { kind = \"bernoulli\", probability = 0.4 }",
            ", loss = { kind = \"list\", drop = [\"syn 1..9\", \"data 2..3\"] }",
        ],
        false => vec![""],
    });
    (rate, delay, loss).prop_map(|(rate, delay, loss)| {
        let way = format!("{{ rate = \"{rate}\", delay = \"{delay}\"{loss} }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    })
}

fn level(is_rough: bool) -> impl Strategy<Value = Level> {
    let policy = ["fifo", "lru", "rand", "lfu", "gds", "gdsf", "arc", "s3-fifo", "sieve", "w-tinylfu"];
    let admit = [
        "",
        "admit = { max = \"8192 B\" }\n",
        "admit = { second_hit = true }\n",
        "admit = { probability = 0.5 }\n",
    ];
    (
        link(is_rough),
        prop::sample::select(vec![HTTP10, HTTP11, MUX]),
        prop::sample::select(policy.to_vec()),
        prop::sample::select(vec![1_u64, 3_000, 30_000, 200_000]),
        prop::sample::select(vec!["split", "store-and-forward"]),
        any::<bool>(),
        prop::sample::select(vec!["", "", "ttl = \"2 s\"\n"]),
        prop::sample::select(vec!["", "changed = \"fetch\"\n"]),
        prop::sample::select(admit.to_vec()),
        1..3_u64,
    )
        .prop_map(|(link, carrier, policy, capacity, mode, coalesce, ttl, changed, admit, siblings)| {
            Level { link, carrier, policy, capacity, mode, coalesce, ttl, changed, admit, siblings }
        })
}

fn hierarchy(is_rough: bool) -> impl Strategy<Value = Hierarchy> {
    let start = prop_oneof![Just(0), 0..2_000_000_000_u64, 0..20_000_000_000_u64];
    let version = prop::sample::select(vec![0, 0, 0, 1, 2]);
    let ask = (start, 0..6_u64, version, prop_oneof![Just(0), 0..900_000_000_u64]);
    let asks = prop::collection::vec(ask, 1..30).prop_map(|asks| {
        let mut asks: Vec<_> = asks
            .into_iter()
            .map(|(start, object, version, server)| Ask { start, object, version, server })
            .collect();
        asks.sort_unstable();
        asks
    });
    let levels = prop::collection::vec(level(is_rough), 1..4);
    let last = prop::sample::select(vec![HTTP10, HTTP11]);
    (levels, link(is_rough), last, asks, any::<u32>()).prop_map(
        |(levels, last_link, last_carrier, asks, seed)| Hierarchy {
            levels,
            last_link,
            last_carrier,
            asks,
            seed: u64::from(seed),
        },
    )
}

struct Asks<'a>(std::slice::Iter<'a, Ask>);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|ask| Request {
            start: Instant::from_nanos(ask.start),
            host: directory.host(&format!("server {}", ask.object % 2)),
            request_bytes: 250,
            response_bytes: ask.response_bytes(),
            server: OriginTime::new(Duration::from_nanos(ask.server)),
            object: ObjectId::new(ask.object),
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

impl Hierarchy {
    fn scenario(&self) -> Scenario {
        let nodes = self.levels.len() + 2;
        let names: Vec<_> = (0..nodes).map(|node| format!("\"n{node}\"")).collect();
        let links: String = self.levels.iter().map(|level| level.link.as_str()).collect();
        let carriers = self.levels.iter().map(|level| level.carrier).chain([self.last_carrier]);
        let leg = |(place, carrier): (usize, &str)| {
            format!("[[leg]]\nfrom = \"n{place}\"\nto = \"n{}\"\ncarrier = {carrier}\n", place + 1)
        };
        let legs: String = carriers.enumerate().map(leg).collect();
        let cache = |(place, level): (usize, &Level)| {
            let Level { policy, capacity, mode, coalesce, ttl, changed, admit, siblings, .. } = level;
            format!(
                "[[cache]]\nnode = \"n{}\"\nmode = \"{mode}\"\npolicy = \"{policy}\"\ncapacity = \"{capacity} B\"\n\
                 coalesce = {coalesce}\nsiblings = {siblings}\n{ttl}{changed}{admit}",
                place + 1
            )
        };
        let caches: String = self.levels.iter().enumerate().map(cache).collect();
        let text = format!(
            "format = 1\n[path]\nnodes = [{}]\n{links}{}{legs}{caches}[workload]\nrequests = \"given by the test\"\n\
             [run]\nuntil = \"2000 h\"\n[record]\nexchanges = true\n",
            names.join(", "),
            self.last_link
        );
        Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn run(&self) -> Tables {
        let mut world = World::new(&self.scenario(), self.seed, Directory::default());
        let progress = world.advance(&mut Asks(self.asks.iter()), 50_000_000).expect("a list can be read");
        assert!(progress.done, "it goes on after 50 million events");
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
    }

    /// A request served by the origin gets the version that it asks for. Any other gets a version asked for earlier or at
    /// the same time.
    fn check_versions(&self, tables: &Tables) -> Result<(), TestCaseError> {
        let [requests, served] = ["request", "served_bytes"].map(|name| ints(tables, "requests", name));
        for ((request, served), node) in
            requests.iter().zip(served).zip(codes(tables, "requests", "served_by"))
        {
            let ask = self.asks[*request as usize];
            if *node as usize > self.levels.len() {
                prop_assert_eq!(*served as u64, ask.response_bytes());
            } else {
                let mut asked = self.asks.iter().filter(|other| other.object == ask.object);
                let is_known = asked.any(|other| other.response_bytes() == *served as u64);
                prop_assert!(is_known, "request {request} got {served} B");
            }
        }
        Ok(())
    }

    /// Rows of the table `exchanges` on a leg: request, cache answer, start, whole request there, end.
    fn on_leg(&self, tables: &Tables, leg: usize) -> Vec<[i64; 5]> {
        let column = |name| ints(tables, "exchanges", name);
        let answers = codes(tables, "exchanges", "cache_answer");
        let rows = (0..answers.len()).filter(|row| column("leg")[*row] == leg as i64);
        rows.map(|row| {
            let [request, start, requested, end] =
                ["request", "start_ns", "requested_ns", "end_ns"].map(|name| column(name)[row]);
            [request, i64::from(answers[row]), start, requested, end]
        })
        .collect()
    }

    /// Counts of a cache: by column, of the row of the whole run.
    fn counts(tables: &Tables, level: usize) -> BTreeMap<&'static str, i64> {
        let row = codes(tables, "caches", "node").iter().position(|node| *node == level as i32 + 1).unwrap();
        let names = [
            "requests",
            "hits",
            "delayed_hits",
            "bypasses",
            "revalidations",
            "bytes",
            "objects",
            "request_bytes",
            "hit_bytes",
        ];
        names.into_iter().map(|name| (name, ints(tables, "caches", name)[row])).collect()
    }
}

const HIT: i64 = 0;
const DELAYED: i64 = 1;
const REVALIDATED: i64 = 2;
const MISS: i64 = 3;
const BYPASS: i64 = 4;

proptest! {
    #[test]
    fn on_a_smooth_path_every_request_is_answered_and_every_fetch_is_accounted_for(hierarchy in hierarchy(false)) {
        let tables = hierarchy.run();
        let statuses = codes(&tables, "requests", "status");
        prop_assert_eq!(statuses.len(), hierarchy.asks.len());
        prop_assert!(statuses.iter().all(|status| *status == Status::Done as i32));
        hierarchy.check_versions(&tables)?;
        let object = |request: i64| hierarchy.asks[request as usize].object;
        for (place, level) in hierarchy.levels.iter().enumerate() {
            let (asked, fetched) = (hierarchy.on_leg(&tables, place), hierarchy.on_leg(&tables, place + 1));
            let counts = Hierarchy::counts(&tables, place);
            let of = |answer: i64| asked.iter().filter(|row| row[1] == answer).count() as i64;
            prop_assert_eq!(counts["requests"], asked.len() as i64);
            prop_assert_eq!(counts["hits"], of(HIT) + of(REVALIDATED));
            prop_assert_eq!(counts["revalidations"], of(REVALIDATED));
            prop_assert_eq!(counts["delayed_hits"], of(DELAYED));
            prop_assert_eq!(counts["bypasses"], of(BYPASS));
            prop_assert_eq!(
                fetched.len() as i64, of(MISS) + of(BYPASS) + of(REVALIDATED), "a fetch for each that is not served here"
            );
            let held = level.capacity * level.siblings;
            prop_assert!(counts["bytes"] as u64 <= held, "{} B in {held} B", counts["bytes"]);
            for [request, answer, _, requested, end] in asked {
                prop_assert!(end != NULL_INT, "smooth");
                let fetches = fetched.iter().filter(|fetch| object(fetch[0]) == object(request));
                if answer == HIT || answer == REVALIDATED {
                    let before = fetches.clone().any(|fetch| fetch[4] <= requested);
                    prop_assert!(before, "request {request} hits what no fetch had brought");
                } else if answer == DELAYED {
                    let meanwhile = fetches.clone().any(|fetch| fetch[2] <= requested && requested <= fetch[4]);
                    prop_assert!(meanwhile, "request {request} waits for no fetch");
                }
            }
            let is_plain = level.ttl.is_empty() && hierarchy.levels[..place].iter().all(|below| below.ttl.is_empty());
            let waits_for_all = level.coalesce && level.admit != "admit = { max = \"8192 B\" }\n";
            for (index, first) in fetched.iter().enumerate().filter(|_| is_plain && waits_for_all) {
                for second in &fetched[index + 1..] {
                    let [one, other] = [first, second].map(|fetch| hierarchy.asks[fetch[0] as usize]);
                    let is_same = one.object == other.object
                        && (level.changed.is_empty() || one.version == other.version)
                        && versions_of(one.object).iter().all(|bytes| *bytes <= level.capacity);
                    let overlap = first[2] < second[4] && second[2] < first[4];
                    prop_assert!(!(is_same && overlap), "two fetches of one object at a time");
                }
            }
        }
        let from_origin = codes(&tables, "requests", "served_by").iter().filter(|node| **node as usize > hierarchy.levels.len());
        let (last, is_plain) = (hierarchy.on_leg(&tables, hierarchy.levels.len()), hierarchy.levels.iter().all(|level| level.ttl.is_empty()));
        prop_assert!(!is_plain || from_origin.count() == last.len(), "who is served by the origin made it send");
    }

    #[test]
    fn whatever_is_lost_every_request_ends_and_is_counted(hierarchy in hierarchy(true)) {
        let tables = hierarchy.run();
        let rows = codes(&tables, "requests", "status").len();
        prop_assert_eq!(rows, hierarchy.asks.len());
        for (status, served_by) in codes(&tables, "requests", "status").iter().zip(codes(&tables, "requests", "served_by")) {
            prop_assert!(*status != Status::Done as i32 || *served_by != NULL_CODE, "an answer has a source");
        }
        check_failures(&tables)?;
        for (place, level) in hierarchy.levels.iter().enumerate() {
            let counts = Hierarchy::counts(&tables, place);
            prop_assert!(counts["hits"] + counts["delayed_hits"] <= counts["requests"]);
            prop_assert!(counts["hit_bytes"] <= counts["request_bytes"]);
            prop_assert!(counts["bytes"] as u64 <= level.capacity * level.siblings);
            prop_assert!(counts["objects"] <= 6);
        }
        prop_assert_eq!(tables, hierarchy.run(), "the same seed gives the same rows");
    }
}
