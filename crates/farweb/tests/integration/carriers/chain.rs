//! Random chains of carriers over random paths, and one run of them.

use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{Caching, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};
use farweb::world::{LinkTotals, Measured, Progress, World};
use proptest::prelude::*;

use crate::run::{DISCIPLINES, Tables};

/// Legs from the clients to the servers, and the requests on them.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    pub(super) legs: Vec<Leg>,
    release: &'static str,
    pub(super) requests: Vec<Ask>,
    /// Patience of clients, in ms. None: for ever.
    pub(super) patience: Option<u64>,
    seed: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Leg {
    pub(super) carrier: Carrier,
    tcp: String,
    pub(super) application: &'static str,
    /// A table, or nothing.
    pub(super) tls: &'static str,
    /// Both directions of its links.
    pub(super) links: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Carrier {
    Http10 { text: String },
    Http11 { text: String, per_host: Option<u32>, total: Option<u32> },
    Mux { connections: u32, overhead: &'static str, text: String },
    WebMux { text: String },
    Http2 { connections: u32, is_fixed: bool, text: String },
}

/// Features that legs may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// Features of the studies of the 1990s.
    Plain,
    /// HTTP/2 and TLS as well.
    Modern,
}

/// A request: times in ns, sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ask {
    start: u64,
    pub(super) host: u32,
    pub(super) request: u64,
    pub(super) response: u64,
    server: u64,
}

/// Everything visible of a run.
pub(super) struct Run {
    pub(super) tables: Tables,
    pub(super) progress: Progress,
    pub(super) links: Vec<LinkTotals>,
    pub(super) measured: Measured,
}

/// How rough paths are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// Nothing is ever lost.
    Smooth,
    /// Losses and short queues.
    Rough,
}

/// Limit of the events of a run: a hundred times the longest ones.
const EVENTS_MAX: u64 = 20_000_000;

fn direction(path: Path) -> BoxedStrategy<String> {
    let rate = prop::sample::select(vec!["unlimited", "128 kbit/s", "2 Mbit/s", "34.368 Mbit/s"]);
    let delay = prop::sample::select(vec!["0 ms", "1 ms", "60 ms", "320 ms"]);
    let queue = prop_oneof![
        2 => prop::sample::select(vec!["", "", ", queue = \"4 packets\"", ", queue = \"6000 B\""]).prop_map(str::to_owned),
        1 => prop::sample::select(&DISCIPLINES[..]).prop_map(|queue| format!(", queue = {queue}")),
    ];
    let loss = prop::sample::select(vec![
        "",
        "",
        ", loss = { kind = \"bernoulli\", probability = 0.05 }",
        ", loss = { kind = \"list\", drop = [\"syn 1\", \"data 2..3\", \"fin 1\", \"ack 4\"] }",
        ", loss = { kind = \"gilbert-elliott\", good_to_bad = 0.02, bad_to_good = 0.5 }",
    ]);
    (rate, delay, queue, loss)
        .prop_map(move |(rate, delay, queue, loss)| match path {
            Path::Smooth => format!("{{ rate = \"{rate}\", delay = \"{delay}\" }}"),
            Path::Rough => format!("{{ rate = \"{rate}\", delay = \"{delay}\"{queue}{loss} }}"),
        })
        .boxed()
}

fn http11() -> impl Strategy<Value = Carrier> {
    let timeout = prop::sample::select(vec!["1 ms", "200 ms", "3 s", "15 s"]);
    let limit = || prop::option::of(1..4_u32);
    (timeout, any::<bool>(), limit(), limit()).prop_map(|(timeout, server, per_host, total)| {
        let closed_by = if server { "server" } else { "client" };
        let limit = |name, most: Option<u32>| most.map_or(String::new(), |most| format!(", {name} = {most}"));
        let (of_host, of_all) = (limit("per_host", per_host), limit("total", total));
        let text = format!(
            "{{ kind = \"http/1.1\", idle_timeout = \"{timeout}\", closed_by = \"{closed_by}\"{of_host}{of_all} }}"
        );
        Carrier::Http11 { text, per_host, total }
    })
}

fn mux() -> impl Strategy<Value = Carrier> {
    let overhead = prop::sample::select(vec!["20 B", "7 B", "2 %", "0.01 %", "none"]);
    let assign = prop::sample::select(vec!["least-outstanding", "round-robin"]);
    let ties = prop::sample::select(vec!["first", "next"]);
    (1..9_u32, overhead, assign, ties).prop_map(|(connections, overhead, assign, ties)| {
        let text = format!(
            "{{ kind = \"mux\", connections = {connections}, overhead = \"{overhead}\", assign = \"{assign}\", \
             ties = \"{ties}\" }}"
        );
        Carrier::Mux { connections, overhead, text }
    })
}

fn webmux() -> impl Strategy<Value = Carrier> {
    let size = |sizes: &[u32]| prop::sample::select(sizes.to_vec());
    let (credit, buffer) = (size(&[1, 300, 2048, 4096, 65_536]), size(&[8, 700, 2048, 8192]));
    let (read, fragment) = (size(&[100, 4096, 100_000]), size(&[64, 512, 5000]));
    let layout = prop::sample::select(vec!["1996", "1998"]);
    (credit, buffer, read, fragment, layout).prop_map(|(credit, buffer, read, fragment, layout)| {
        let text = format!(
            "{{ kind = \"webmux\", credit = \"{credit} B\", write_buffer = \"{buffer} B\", read_buffer = \"{read} B\", \
             fragment = \"{fragment} B\", layout = \"{layout}\" }}"
        );
        Carrier::WebMux { text }
    })
}

fn http2(is_last: bool) -> impl Strategy<Value = Carrier> {
    let preset = prop::sample::select(vec![
        "rfc-default",
        "nginx",
        "go",
        "hyper",
        "hyper-adaptive",
        "grpc",
        "dotnet",
        "firefox",
        "curl-8",
        "ats",
        "chrome",
    ]);
    let credit = prop::sample::select(vec![
        "",
        ", session_credit = \"1000 B\"",
        ", session_credit = \"3000 B\"",
        ", grant_timer = \"10 ms\"",
    ]);
    let limit = prop::sample::select(vec!["", ", session_limit = 1", ", session_limit = 2"]);
    let assign = prop::sample::select(vec!["first-with-room", "round-robin", "least-sessions"]);
    let idle = prop::sample::select(vec!["1 ms", "3 s", "90 s"]);
    (1..4_u32, any::<bool>(), (preset, credit, limit), assign, idle).prop_map(
        move |(connections, is_fixed, (preset, credit, limit), assign, idle)| {
            let is_fixed = is_fixed && !is_last;
            let open_rule = if is_fixed { "fixed" } else { "at-session-limit" };
            let text = format!(
                "{{ kind = \"http/2\", preset = \"{preset}\"{credit}{limit}, connections = {connections}, \
                 open_rule = \"{open_rule}\", assign = \"{assign}\", idle_timeout = \"{idle}\" }}"
            );
            Carrier::Http2 { connections, is_fixed, text }
        },
    )
}

fn tls(era: Era) -> impl Strategy<Value = &'static str> {
    let with_tls = vec![
        "",
        "{ version = \"1.3\" }",
        "{ version = \"1.3\", start = \"0-rtt\", record = \"1000 B\" }",
        "{ version = \"1.2\" }",
        "{ certificates = \"ml-dsa-44\", scts = 2, start = \"resumed\" }",
        "{ version = \"1.2\", start = \"resumed\", small_record = \"500 B\", small_until = \"3000 B\" }",
    ];
    prop::sample::select(if era == Era::Plain { vec![""] } else { with_tls })
}

fn carrier(era: Era, is_last: bool) -> BoxedStrategy<Carrier> {
    let plain = plain_carrier(is_last);
    if era == Era::Plain { plain } else { prop_oneof![plain, http2(is_last)].boxed() }
}

fn http10() -> impl Strategy<Value = Carrier> {
    let ends = prop::sample::select(vec!["", ", closed_by = \"client\""]);
    ends.prop_map(|end| Carrier::Http10 { text: format!("{{ kind = \"http/1.0\"{end} }}") })
}

fn plain_carrier(is_last: bool) -> BoxedStrategy<Carrier> {
    match is_last {
        true => prop_oneof![http10(), http11(), webmux()].boxed(),
        false => prop_oneof![1 => http10(), 2 => http11(), 3 => mux(), 2 => webmux()].boxed(),
    }
}

fn leg(path: Path, era: Era, is_last: bool) -> impl Strategy<Value = Leg> {
    let profile = prop::sample::select(vec!["bsd44-lite", "linux", "linux-classic", "solaris-2.5"]);
    let mss = prop::sample::select(vec!["", ", mss = \"536 B\"", ", mss = \"1000 B\""]);
    let buffer = prop::sample::select(vec!["", "", ", buffer = \"3000 B\"", ", buffer = \"20000 B\""]);
    let tcp = (profile, mss, buffer)
        .prop_map(|(profile, mss, buffer)| format!("{{ profile = \"{profile}\"{mss}{buffer} }}"));
    let links = prop::collection::vec((direction(path), direction(path)), 1..3);
    let with_writes = carrier(era, is_last).prop_flat_map(|carrier| {
        let application = application(&carrier);
        (Just(carrier), application)
    });
    (with_writes, tcp, tls(era), links).prop_map(|((carrier, application), tcp, tls, links)| Leg {
        carrier,
        tcp,
        tls,
        application,
        links,
    })
}

/// Programs at the ends. HTTP/2's write frames.
fn application(carrier: &Carrier) -> impl Strategy<Value = &'static str> + use<> {
    let wakes = vec!["{}", "{}", "{ wake = \"3 ms\" }"];
    let writes = vec!["{ wake = \"100 us\", write = \"4096 B\", head = \"250 B\" }", "{ write = \"700 B\" }"];
    let is_http2 = matches!(carrier, Carrier::Http2 { .. });
    prop::sample::select(if is_http2 { wakes } else { [wakes, writes].concat() })
}

fn asks() -> impl Strategy<Value = Vec<Ask>> {
    let start = prop_oneof![Just(0), 0..3_000_000_000_u64, 0..40_000_000_000_u64];
    let server = prop_oneof![Just(0), 0..500_000_000_u64];
    let ask = (start, 0..3_u32, 1..2000_u64, 1..12_000_u64, server)
        .prop_map(|(start, host, request, response, server)| Ask { start, host, request, response, server });
    prop::collection::vec(ask, 1..9).prop_map(|mut asks| {
        asks.sort_unstable();
        asks
    })
}

/// Chains of one to four legs.
pub(super) fn chain(path: Path, era: Era) -> impl Strategy<Value = Chain> {
    let inner = prop::collection::vec(leg(path, era, false), 0..4);
    let release = prop::sample::select(vec!["at-once", "delayed", "paced"]);
    (inner, leg(path, era, true), release, asks(), any::<u32>()).prop_map(
        |(mut legs, last, release, requests, seed)| {
            legs.push(last);
            Chain { legs, release, requests, patience: None, seed: u64::from(seed) }
        },
    )
}

impl Leg {
    /// True when its connections carry the messages of requests and nothing else.
    pub(super) fn is_bare(&self) -> bool {
        self.tls.is_empty()
            && !matches!(self.carrier, Carrier::Mux { .. } | Carrier::WebMux { .. } | Carrier::Http2 { .. })
    }

    /// True when the bytes of its connections are known one by one.
    pub(super) fn is_counted(&self) -> bool {
        self.tls.is_empty() && !matches!(self.carrier, Carrier::Http2 { .. })
    }
}

impl Chain {
    pub(super) fn scenario(&self) -> Scenario {
        let text = self.text();
        Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The scenario as a person would write it.
    fn text(&self) -> String {
        let (mut links, mut legs, mut node) = (String::new(), String::new(), 0);
        for Leg { carrier, tcp, tls, application, links: own } in &self.legs {
            for (up, down) in own {
                links += &format!("[[path.link]]\nup = {up}\ndown = {down}\n");
            }
            let carrier = match carrier {
                Carrier::Http10 { text }
                | Carrier::Http11 { text, .. }
                | Carrier::Mux { text, .. }
                | Carrier::WebMux { text }
                | Carrier::Http2 { text, .. } => text,
            };
            let tls = if tls.is_empty() { String::new() } else { format!("tls = {tls}\n") };
            let far = node + own.len();
            legs += &format!(
                "[[leg]]\nfrom = \"node {node}\"\nto = \"node {far}\"\ncarrier = {carrier}\ntcp = {tcp}\n\
                 application = {application}\n{tls}"
            );
            node = far;
        }
        let clients =
            self.patience.map_or(String::new(), |wait| format!("[clients]\ngive_up = \"{wait} ms\"\n"));
        let nodes: Vec<String> = (0..=node).map(|node| format!("\"node {node}\"")).collect();
        format!(
            "format = 1\n[path]\nnodes = [{}]\n{links}{legs}{clients}[origin]\nrelease = \"{}\"\n\
             [workload]\nrequests = \"given by the test\"\n[run]\nmeasure = \"whole\"\n\
             [record]\nexchanges = true\npackets = \"all\"\n",
            nodes.join(", "),
            self.release
        )
    }

    /// Runs to the end.
    pub(super) fn run(&self) -> Result<Run, TestCaseError> {
        let mut world = World::new(&self.scenario(), self.seed, Directory::default());
        let mut source = Asked(self.requests.clone().into_iter());
        let progress = world.advance(&mut source, EVENTS_MAX).expect("a list can be read");
        prop_assert!(progress.done, "the run goes on for ever");
        let tables = world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect()));
        let tables = tables.collect();
        Ok(Run { tables, progress, links: world.link_totals(), measured: world.measured() })
    }
}

struct Asked(std::vec::IntoIter<Ask>);

impl RequestSource for Asked {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|ask| Request {
            start: Instant::from_nanos(ask.start),
            host: directory.host(&format!("server {}", ask.host)),
            request_bytes: ask.request,
            response_bytes: ask.response,
            server: OriginTime::new(Duration::from_nanos(ask.server)),
            object: None,
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
