//! Requests in the clear and under TLS on one leg: connections and tickets of their own, round trips to the nanosecond.

use farweb::record::NULL_INT;
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{ClientId, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};
use farweb::world::World;

use crate::run::{Tables, ints};

const MS: i64 = 1_000_000;

/// A round trip between client and server.
const TRIP: i64 = 100;

/// A request of one client to one host: start in ms, and `tls`.
#[derive(Clone, Copy)]
struct Ask(i64, Option<bool>);

struct Asks<'a>(std::slice::Iter<'a, Ask>, Method);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&Ask(start, tls)| Request {
            start: Instant::from_nanos((start * MS) as u64),
            host: directory.host("server.example"),
            request_bytes: 300,
            response_bytes: 1000,
            server: OriginTime::new(Duration::ZERO),
            object: None,
            source: None,
            tag: None,
            day: None,
            client: ClientId::new(1),
            method: self.1,
            caching: self.1.caching(),
            tls,
        }))
    }
}

const HTTP10: &str = "carrier = { kind = \"http/1.0\" }";
const HTTP11: &str = "carrier = { kind = \"http/1.1\" }";
const HTTP2: &str = "carrier = { kind = \"http/2\", preset = \"chrome\" }";
const TLS: &str = "tls = { version = \"1.3\" }";

fn run(leg: &str, rest: &str, asks: &mut Asks<'_>) -> Tables {
    let way = format!("{{ rate = \"unlimited\", delay = \"{} ms\" }}", TRIP / 2);
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\nup = {way}\ndown = {way}\n\
         [[leg]]\nfrom = \"client\"\nto = \"server\"\n{leg}\ntcp = {{ profile = \"linux\", constants = {{ nagle = false }} }}\n\
         [workload]\nrequests = \"given by the test\"\n[record]\nconnections = true\n{rest}"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut world = World::new(&scenario, 1, Directory::default());
    let progress = world.advance(asks, u64::MAX).expect("a list can be read");
    assert!(progress.done);
    world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}

/// Round trips of each request, in the order of the starts, and the number of connections.
fn trips(leg: &str, asks: &[Ask]) -> (Vec<i64>, usize) {
    let tables = run(leg, "", &mut Asks(asks.iter(), Method::Get));
    let [number, start, end] =
        ["request", "start_ns", "end_ns"].map(|column| ints(&tables, "requests", column));
    let mut found: Vec<_> = (0..number.len()).map(|row| (number[row], end[row] - start[row])).collect();
    found.sort_unstable();
    assert!(found.iter().all(|(_, taken)| taken % (TRIP * MS) == 0), "{found:?}");
    let trips = found.into_iter().map(|(_, taken)| taken / (TRIP * MS)).collect();
    (trips, ints(&tables, "connections", "open_ns").len())
}

const CLEAR: Option<bool> = Some(false);
const SECURE: Option<bool> = Some(true);

#[test]
fn a_leg_s_tls_holds_for_requests_that_have_it() {
    for carrier in [HTTP10, HTTP11, HTTP2] {
        let leg = format!("{carrier}\n{TLS}");
        for (tls, taken) in [(SECURE, 3), (None, 3), (CLEAR, 2)] {
            assert_eq!(trips(&leg, &[Ask(0, tls)]), (vec![taken], 1), "{carrier}, {tls:?}");
        }
    }
}

#[test]
fn http_and_https_of_one_host_share_no_connection() {
    let redirected = [Ask(0, CLEAR), Ask(200, SECURE), Ask(1000, CLEAR), Ask(2000, None)];
    for carrier in [HTTP11, HTTP2] {
        let leg = format!("{carrier}\n{TLS}");
        assert_eq!(trips(&leg, &redirected), (vec![2, 3, 1, 1], 2), "{carrier}");
        // Ports differ where no TLS is simulated, too.
        assert_eq!(trips(carrier, &redirected), (vec![2, 2, 1, 1], 2), "{carrier}");
    }
}

#[test]
fn a_request_in_the_clear_gets_and_gives_no_ticket() {
    let leg = format!("{HTTP10}\ntls = {{ version = \"1.3\", start = \"0-rtt\" }}");
    let asks = [Ask(0, CLEAR), Ask(1000, SECURE), Ask(2000, CLEAR), Ask(3000, SECURE)];
    assert_eq!(trips(&leg, &asks), (vec![2, 3, 2, 2], 4));
}

#[test]
fn a_tunnel_without_tls_inside_is_one_request_and_one_response() {
    let rest = "exchanges = true\n[clients.tunnels]\ntls = { version = \"1.3\" }\n";
    let of = |tls| {
        let tables = run(HTTP11, rest, &mut Asks([Ask(0, tls)].iter(), Method::Connect));
        ints(&tables, "exchanges", "tunnel_ready_ns")[0]
    };
    assert_eq!((of(CLEAR), of(SECURE) > 0, of(None) > 0), (NULL_INT, true, true));
}
