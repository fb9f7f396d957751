//! Clients with connections of their own: as hosts of their own, in closed form, within the limits of browsers.

use farweb::record::{Column, NULL_CODE};
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{
    Caching, ClientId, Directory, Method, OriginTime, Request, RequestSource, WorkloadError,
};
use farweb::world::World;
use proptest::prelude::*;

use crate::run::{Tables, codes, ints};

const MS: i64 = 1_000_000;

/// A request of a client: (start in ms, client, response bytes).
#[derive(Debug, Clone, Copy)]
struct Ask(i64, u64, u64);

/// How a table names the client of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing.
    Nothing,
    /// The client. All ask one host.
    Client,
    /// Nothing, but each asks a host of its own.
    Host,
}

struct Asks<'a>(std::slice::Iter<'a, Ask>, Told);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let told = self.1;
        Ok(self.0.next().map(|&Ask(start, client, response_bytes)| Request {
            start: Instant::from_nanos((start * MS) as u64),
            host: match told {
                Told::Host => directory.host(&format!("server {client}")),
                Told::Nothing | Told::Client => directory.host("server"),
            },
            request_bytes: 300,
            response_bytes,
            server: OriginTime::new(Duration::ZERO),
            object: None,
            source: None,
            tag: None,
            day: None,
            client: ClientId::new(client).filter(|_| told == Told::Client),
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        }))
    }
}

/// A link with a delay of 300 ms each way.
const SATELLITE: &str = "[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\n\
                         up = { rate = \"unlimited\", delay = \"300 ms\" }\n\
                         down = { rate = \"unlimited\", delay = \"300 ms\" }\n";

/// A link without queues: packets of hosts with clocks of their own, which acknowledge at other times, do not
/// wait for each other.
const SHARED: &str = "[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\n\
                    up = { rate = \"unlimited\", delay = \"40 ms\" }\n\
                    down = { rate = \"unlimited\", delay = \"40 ms\" }\n";

fn run(path: &str, leg: &str, rest: &str, asks: &[Ask], told: Told) -> Tables {
    let text = format!(
        "format = 1\n{path}[[leg]]\nfrom = \"client\"\nto = \"server\"\n{leg}\n[workload]\nrequests = \"given by the test\"\n\
         [record]\nconnections = true\n{rest}"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut world = World::new(&scenario, 1, Directory::default());
    let progress = world.advance(&mut Asks(asks.iter(), told), 10_000_000).expect("a list can be read");
    assert!(progress.done);
    world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}

/// Rows of the requests without the columns for client and host, and without the time of the last acknowledgement.
fn rows(tables: &Tables) -> Vec<(&'static str, &Column)> {
    let columns = tables["requests"].iter().map(|(name, column)| (*name, column));
    columns.filter(|(name, _)| !matches!(*name, "client" | "visit_request" | "host" | "acked_ns")).collect()
}

/// Latencies in ms, by request.
fn latencies(tables: &Tables) -> Vec<i64> {
    let [number, start, end] =
        ["request", "start_ns", "end_ns"].map(|column| ints(tables, "requests", column));
    let mut found: Vec<_> =
        (0..number.len()).map(|row| (number[row], (end[row] - start[row]) / MS)).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, latency)| latency).collect()
}

/// Idle connections keep their congestion windows: they would lose them by the timeouts of their hosts.
const LINUX: &str =
    "tcp = { profile = \"linux\", buffer = \"65536 B\", constants = { slow_start_after_idle = false } }";

fn carriers() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("carrier = { kind = \"http/1.0\" }"),
        Just("carrier = { kind = \"http/1.1\", per_host = 6, idle_timeout = \"2 s\" }"),
        Just(
            "carrier = { kind = \"http/1.1\", per_host = 2, closed_by = \"server\", idle_timeout = \"1 s\" }"
        ),
        Just("carrier = { kind = \"http/2\", preset = \"rfc-default\" }"),
        Just(
            "carrier = { kind = \"http/2\", server = { preset = \"nginx\" }, idle_timeout = \"1 s\" }\ntls = { version = \"1.3\" }"
        ),
        Just("carrier = { kind = \"http/1.1\", per_host = 1 }\ntls = { version = \"1.2\" }"),
    ]
}

/// The server closes the connection while the second request is on its way. It is sent again on another one.
#[test]
fn a_request_that_is_sent_again_stays_in_its_visit() {
    let leg =
        "carrier = { kind = \"http/1.1\", per_host = 1, closed_by = \"server\", idle_timeout = \"1 ms\" }";
    let tables = run(SATELLITE, leg, "exchanges = true", &[Ask(0, 1, 100), Ask(0, 1, 100)], Told::Client);
    assert_eq!(ints(&tables, "exchanges", "resent"), [0, 1]);
    assert_eq!(codes(&tables, "requests", "visit_request"), [0, 1]);
}

proptest! {
    /// Clients are kept apart as hosts are.
    #[test]
    fn each_client_is_as_a_host_of_its_own(
        carrier in carriers(),
        gaps in prop::collection::vec((0..1500_i64, 0..4_u64, 1..40_000_u64), 1..25),
    ) {
        let mut start = 0;
        let asks: Vec<_> = gaps.into_iter().map(|(gap, client, bytes)| {
            start += gap;
            Ask(start, client, bytes)
        }).collect();
        let leg = format!("{carrier}\n{LINUX}");
        let [own, hosts] = [Told::Client, Told::Host].map(|told| run(SHARED, &leg, "", &asks, told));
        prop_assert_eq!(rows(&own), rows(&hosts));
        let all = "[clients]\nshare = \"all\"";
        let [shared, untold] = [Told::Client, Told::Nothing].map(|told| run(SHARED, &leg, all, &asks, told));
        prop_assert_eq!(rows(&shared), rows(&untold));
    }
}

/// A path of 600 ms there and back: TCP's handshake, TLS's, and the request with its response take a round trip each.
#[test]
fn a_returning_client_resumes() {
    let asks = [Ask(0, 7, 1000), Ask(10_000, 7, 1000), Ask(20_000, 8, 1000), Ask(30_000, 7, 1000)];
    for (tls, full, again) in [
        ("version = \"1.3\", start = \"full\"", 1800, 1800),
        ("version = \"1.3\", start = \"resumed\"", 1800, 1800),
        ("version = \"1.3\", start = \"0-rtt\"", 1800, 1200),
        ("version = \"1.2\", start = \"resumed\"", 2400, 1800),
    ] {
        let leg = format!(
            "carrier = {{ kind = \"http/1.1\", idle_timeout = \"1 s\" }}\n{LINUX}\ntls = {{ {tls} }}"
        );
        let tables = run(SATELLITE, &leg, "", &asks, Told::Client);
        assert_eq!(latencies(&tables), [full, again, full, again], "{tls}");
        let [first, second] =
            if tls.contains("full") { [0, 0] } else { [0, if again == 1200 { 2 } else { 1 }] };
        assert_eq!(codes(&tables, "connections", "handshake"), [first, second, first, second], "{tls}");
        let shared = run(SATELLITE, &leg, "", &asks, Told::Nothing);
        assert_eq!(latencies(&shared), [again; 4], "one place has its tickets: {tls}");
    }
}

#[test]
fn a_ticket_that_is_too_old_is_not_used() {
    let tls = "tls = { version = \"1.3\", start = \"0-rtt\", ticket_lifetime = \"5 s\" }";
    let leg = format!("carrier = {{ kind = \"http/1.1\", idle_timeout = \"1 s\" }}\n{LINUX}\n{tls}");
    let asks = [Ask(0, 7, 1000), Ask(4000, 7, 1000), Ask(12_000, 7, 1000)];
    assert_eq!(latencies(&run(SATELLITE, &leg, "", &asks, Told::Client)), [1800, 1200, 1800]);
}

/// Without TLS there is no handshake to name.
#[test]
fn a_connection_belongs_to_its_client() {
    let asks = [Ask(0, 7, 1000), Ask(0, 8, 1000), Ask(0, 7, 1000)];
    let leg = format!("carrier = {{ kind = \"http/2\", preset = \"rfc-default\" }}\n{LINUX}");
    let tables = run(SATELLITE, &leg, "", &asks, Told::Client);
    assert_eq!(tables["connections"]["client"], Column::Id(vec![7, 8]));
    assert_eq!(tables["requests"]["client"], Column::Id(vec![7, 7, 8]));
    assert_eq!(codes(&tables, "connections", "handshake"), [NULL_CODE; 2]);
    let all = run(SATELLITE, &leg, "[clients]\nshare = \"all\"", &asks, Told::Client);
    assert_eq!(all["connections"]["client"], Column::Id(vec![ClientId::NONE]));
}

/// Grants of W3C MUX wait for delayed acknowledgements, and so for the clocks of hosts: here nothing is granted.
#[test]
fn each_client_has_sessions_of_its_own() {
    let asks = [Ask(0, 7, 3000), Ask(1, 8, 4000), Ask(500, 7, 2000), Ask(501, 9, 10)];
    let leg = format!("carrier = {{ kind = \"webmux\" }}\n{LINUX}");
    let [own, hosts] = [Told::Client, Told::Host].map(|told| run(SHARED, &leg, "", &asks, told));
    assert_eq!(rows(&own), rows(&hosts));
    assert_eq!(ints(&own, "connections", "connection").len(), 3);
    assert_eq!(ints(&run(SHARED, &leg, "", &asks, Told::Nothing), "connections", "connection").len(), 1);
}

/// A browser opens six connections to a host, one with HTTP/2. A client without a name may open any number.
#[test]
fn limits_are_those_of_a_browser() {
    let asks: Vec<_> = (0..40).map(|number| Ask(0, number % 2, 1000)).collect();
    let count = |carrier: &str, told| {
        let tables = run(SATELLITE, &format!("{carrier}\n{LINUX}"), "", &asks, told);
        assert_eq!(ints(&tables, "requests", "end_ns").len(), 40);
        ints(&tables, "connections", "connection").len()
    };
    assert_eq!(count("carrier = { kind = \"http/1.1\" }", Told::Client), 12);
    assert_eq!(count("carrier = { kind = \"http/1.1\", per_host = 3 }", Told::Client), 6);
    assert_eq!(count("carrier = { kind = \"http/1.1\" }", Told::Nothing), 40);
    assert_eq!(count("carrier = { kind = \"http/2\", preset = \"rfc-default\" }", Told::Client), 2);
    assert_eq!(count("carrier = { kind = \"http/2\", preset = \"rfc-default\" }", Told::Nothing), 1);
}

/// A server that takes two requests on a connection closes it behind the second response. The waiting request opens another.
#[test]
fn a_server_takes_so_many_requests_on_a_connection() {
    let leg = |more: &str| format!("carrier = {{ kind = \"http/1.1\", per_connection = 2{more} }}\n{LINUX}");
    let apart: Vec<_> = (0..5).map(|number| Ask(2000 * number, 7, 1000)).collect();
    let tables = run(SATELLITE, &leg(""), "", &apart, Told::Client);
    assert_eq!(latencies(&tables), [1200, 600, 1200, 600, 1200]);
    assert_eq!(ints(&tables, "connections", "requests"), [2, 2, 1]);
    let together = [Ask(0, 7, 1000); 5];
    let tables = run(SATELLITE, &leg(", per_host = 1"), "", &together, Told::Client);
    assert_eq!(latencies(&tables), [1200, 1800, 3000, 3600, 4800]);
}
