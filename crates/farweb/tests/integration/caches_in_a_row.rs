//! A cache behind another one: how the second handles conditional requests.

use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Caching, Directory, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;

use crate::run::{Tables, ints};

const MS: i64 = 1_000_000;

/// Requests from a list: start in ms, host, object, and the time in ms that the server takes.
struct Asks<'a>(std::slice::Iter<'a, (u64, &'static str, u64, u64)>);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&(start, host, object, server)| Request {
            start: Instant::from_nanos(start * 1_000_000),
            host: directory.host(host),
            request_bytes: 300,
            response_bytes: 1000,
            server: OriginTime::new(Duration::from_millis(server)),
            object: ObjectId::new(object),
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

/// Clients, an edge of two siblings that divide the hosts and fetch each for itself, a shield with room for one object, and a
/// server: 10 ms a link, which takes no time to send.
fn run(asks: &[(u64, &'static str, u64, u64)]) -> Tables {
    let way = "{ rate = \"unlimited\", delay = \"10 ms\" }";
    let link = format!("[[path.link]]\nup = {way}\ndown = {way}\n");
    let nodes = ["clients", "edge", "shield", "server"];
    let leg = |pair: &[&str]| {
        format!(
            "[[leg]]\nfrom = \"{}\"\nto = \"{}\"\ncarrier = {{ kind = \"http/1.0\" }}\n",
            pair[0], pair[1]
        )
    };
    let text = format!(
        "format = 1\n[path]\nnodes = {nodes:?}\n{}{}\
         [[cache]]\nnode = \"edge\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\nttl = \"1 s\"\nsiblings = 2\ndivide_by = \"host\"\n\
         coalesce = false\n[[cache]]\nnode = \"shield\"\npolicy = \"lru\"\ncapacity = \"1500 B\"\n\
         [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"delayed\"\n[record]\nexchanges = true\n",
        link.repeat(3),
        nodes.windows(2).map(leg).collect::<String>()
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut world = World::new(&scenario, 1, Directory::default());
    let progress = world.advance(&mut Asks(asks.iter()), u64::MAX).expect("a list can be read");
    assert!(progress.done);
    world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}

/// Two hosts of different siblings have the same object. The shield has lost it and spends a second fetching it for one of
/// them. Meanwhile the other revalidates its copy with an answer of 200 B from the server. The fetch goes on, and the next
/// request for the object joins it.
#[test]
fn who_has_the_body_does_not_wait_for_it() {
    let asks = [
        (0, "a", 7, 0),
        (5_000, "a", 8, 0),
        (10_000, "b", 7, 1_000),
        (10_100, "a", 7, 0),
        (10_500, "b", 7, 0),
    ];
    let tables = run(&asks);
    let mut ends: Vec<_> =
        ints(&tables, "requests", "request").iter().zip(ints(&tables, "requests", "end_ns")).collect();
    ends.sort_unstable();
    let ends: Vec<_> = ends.into_iter().map(|(_, end)| *end).collect();
    // Three handshakes and requests to the server, and the way back.
    let all_the_way = 3 * 30 * MS + 30 * MS;
    assert_eq!(ends[2], 10_000 * MS + all_the_way + 1_000 * MS);
    assert_eq!(ends[3], 10_100 * MS + all_the_way);
    assert_eq!(ends[4], ends[2], "the fetch for which it waits");
    assert_eq!(ints(&tables, "caches", "revalidations"), [1, 0]);
    assert_eq!(ints(&tables, "caches", "delayed_hits"), [0, 1]);
    let fetches = ints(&tables, "exchanges", "leg").iter().filter(|leg| **leg == 2).count();
    assert_eq!(fetches, 4, "two at first, one for the body and one for the question");
}
