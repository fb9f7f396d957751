//! Methods and treatments by caches: who serves each request, and the contents of the cache after it.

use farweb::record::Status;
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Caching, Directory, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;

use crate::caches::{EACH, one_leg, two_legs};
use crate::run::{Tables, codes, ints};

const CACHE: i32 = 1;
const SERVER: i32 = 2;

/// Request for an object: start in ms, object, response bytes, method and treatment.
#[derive(Clone, Copy)]
struct Ask(u64, u64, u64, Method, Caching);

fn get(ms: u64, object: u64, bytes: u64) -> Ask {
    Ask(ms, object, bytes, Method::Get, Caching::Store)
}

fn of(ms: u64, object: u64, bytes: u64, method: Method) -> Ask {
    Ask(ms, object, bytes, method, method.caching())
}

struct Asks<'a>(std::slice::Iter<'a, Ask>);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&Ask(ms, object, response_bytes, method, caching)| Request {
            start: Instant::ZERO + Duration::from_millis(ms),
            host: directory.host("server.example"),
            request_bytes: 300,
            response_bytes,
            server: OriginTime::NONE,
            object: ObjectId::new(object),
            source: None,
            tag: None,
            day: None,
            client: None,
            method,
            caching,
            tls: None,
        }))
    }
}

fn run(scenario: &Scenario, asks: &[Ask]) -> Tables {
    let mut world = World::new(scenario, 1, Directory::default());
    let progress = world.advance(&mut Asks(asks.iter()), u64::MAX).expect("a list can be read");
    assert!(progress.done);
    let tables: Tables =
        world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    assert_eq!(codes(&tables, "requests", "status"), vec![Status::Done as i32; asks.len()]);
    tables
}

/// Both kinds of caches, with room for everything.
fn both(more: &str) -> [Scenario; 2] {
    let cache = format!("policy = \"lru\"\ncapacity = \"1 MB\"\n{more}");
    [two_legs(&cache), one_leg(EACH, "{}", &cache)]
}

fn served_by(tables: &Tables) -> Vec<i32> {
    codes(tables, "requests", "served_by").to_vec()
}

#[test]
fn an_unsafe_method_reaches_the_server_and_the_copy_is_given_up() {
    for scenario in both("") {
        let asks = [
            get(0, 7, 1000),
            get(1000, 7, 1000),
            of(2000, 7, 500, Method::Post),
            get(3000, 7, 1000),
            get(4000, 7, 1000),
        ];
        let tables = run(&scenario, &asks);
        assert_eq!(served_by(&tables), [SERVER, CACHE, SERVER, SERVER, CACHE]);
        assert_eq!(ints(&tables, "caches", "hits"), [2]);
        assert_eq!(ints(&tables, "caches", "bypasses"), [1]);
        assert_eq!(ints(&tables, "caches", "objects"), [1]);
        assert_eq!(ints(&tables, "caches", "bytes"), [1000]);
    }
}

#[test]
fn a_request_that_bypasses_leaves_the_copy_and_is_not_stored() {
    for scenario in both("") {
        let bypass = |ms, object| Ask(ms, object, 1000, Method::Get, Caching::Bypass);
        let asks = [
            bypass(0, 7),
            get(1000, 7, 1000),
            bypass(2000, 7),
            of(3000, 7, 60, Method::Options),
            get(4000, 7, 1000),
        ];
        assert_eq!(served_by(&run(&scenario, &asks)), [SERVER, SERVER, SERVER, SERVER, CACHE]);
    }
}

/// Its size differs from the copy's, without a change of the object.
#[test]
fn a_head_is_served_with_its_own_size_and_stores_nothing() {
    for changed in ["serve", "fetch"] {
        for scenario in both(&format!("changed = \"{changed}\"")) {
            let head = |ms| of(ms, 7, 250, Method::Head);
            let tables =
                run(&scenario, &[head(0), head(1000), get(2000, 7, 1000), head(3000), get(4000, 7, 1000)]);
            assert_eq!(served_by(&tables), [SERVER, SERVER, SERVER, CACHE, CACHE]);
            assert_eq!(ints(&tables, "requests", "response_bytes"), [250, 250, 1000, 250, 1000]);
            assert_eq!(ints(&tables, "caches", "bypasses"), [0], "they are asked for here");
        }
    }
}

#[test]
fn a_stale_copy_serves_no_head() {
    let scenario = two_legs("policy = \"lru\"\ncapacity = \"1 MB\"\nttl = \"1500 ms\"");
    let asks = [get(0, 7, 1000), of(1000, 7, 250, Method::Head), of(2000, 7, 250, Method::Head)];
    assert_eq!(served_by(&run(&scenario, &asks)), [SERVER, CACHE, SERVER]);
}

/// The fetch of 400 kB takes seconds. The change is known before it ends.
#[test]
fn a_response_asked_for_before_the_change_is_not_stored() {
    for scenario in both("") {
        let asks = [
            get(0, 7, 400_000),
            of(100, 7, 500, Method::Put),
            get(10_000, 7, 400_000),
            get(20_000, 7, 400_000),
        ];
        assert_eq!(served_by(&run(&scenario, &asks)), [SERVER, SERVER, SERVER, CACHE]);
    }
}

#[test]
fn no_request_joins_one_of_another_treatment() {
    for scenario in both("") {
        let asks =
            [Ask(0, 7, 90_000, Method::Get, Caching::Bypass), get(100, 7, 90_000), get(200, 7, 90_000)];
        let tables = run(&scenario, &asks);
        assert_eq!(
            ints(&tables, "caches", "delayed_hits"),
            [1],
            "the second joins none, the third the second"
        );
    }
}

/// A client and a server, over connections of this carrier.
fn without_cache(carrier: &str) -> Scenario {
    let way = "{ rate = \"10 Mbit/s\", delay = \"20 ms\" }";
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\nup = {way}\ndown = {way}\n[[leg]]\n\
         from = \"client\"\nto = \"server\"\ncarrier = {carrier}\n[workload]\nrequests = \"given by the test\"\n"
    );
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// It takes no idle connection, leaves none, and the request after it finds the one before it.
#[test]
fn a_tunnel_has_a_connection_of_its_own() {
    let scenario = without_cache("{ kind = \"http/1.1\" }");
    let tunnel = |ms| of(ms, 7, 5000, Method::Connect);
    let asks = [get(0, 7, 1000), tunnel(2000), tunnel(2100), get(4000, 7, 1000), tunnel(6000)];
    let tables = run(&scenario, &asks);
    let by_number = |column: &str| {
        let mut rows: Vec<_> =
            ints(&tables, "requests", "request").iter().zip(ints(&tables, "requests", column)).collect();
        rows.sort_unstable();
        rows.into_iter().map(|(_, value)| *value).collect::<Vec<i64>>()
    };
    assert_eq!(by_number("connection"), [0, 1, 2, 0, 3]);
    let mut requests = ints(&tables, "connections", "requests").to_vec();
    requests.sort_unstable();
    assert_eq!(requests, [1, 1, 1, 2]);
}

#[test]
fn a_tunnel_is_a_stream_where_connections_have_streams() {
    let scenario = without_cache("{ kind = \"http/2\", preset = \"rfc-default\" }");
    let tables = run(&scenario, &[get(0, 7, 1000), of(2000, 7, 5000, Method::Connect)]);
    assert_eq!(ints(&tables, "connections", "requests"), [2]);
}

#[test]
fn a_drawn_hit_is_of_what_a_copy_may_serve() {
    let scenario = two_legs("hit_ratio = 1.0");
    let asks = [get(0, 7, 1000), of(1000, 7, 1000, Method::Post), of(2000, 7, 250, Method::Head)];
    assert_eq!(served_by(&run(&scenario, &asks)), [CACHE, SERVER, CACHE]);
}
