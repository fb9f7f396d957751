//! The keys of a scenario, as types. JSON Schema, defaults and documentation of every key come from here.

use serde::{Deserialize, Serialize};

pub use super::cache::Cache;
pub use super::carrier::{Carrier, ConnectionUse};
pub use super::factors::{
    DesignKind, Factor, Factors, Label, Levels, NamedLevel, RandomNumbers, Range, Scale, Sweep,
};
use super::family::{Family, FamilyParameters};
use super::key;
pub use super::link::{Link, LinkDirection, LinkRate, ScheduleAfter};
pub use super::load::{LoadLevel, LoadScale};
pub use super::queue::{Flows, Queue, QueueLimit, QueueTable};
pub use super::tls::Tls;
use crate::conn::EndSizes;
pub use crate::conn::HostOr;
pub use crate::http::Release;
pub use crate::http::mux::{Assign, Overhead, Ties};
use crate::http::tls::Handshake;
pub use crate::http::webmux::Layout;
pub use crate::net::{
    Attenuation, Dama, DamaKind, Fade, Handover, Jitter, Loss, Outage, OutageMode, Phase, QueueCounts, Shift,
    Step, Variation, Wake,
};
pub use crate::node::{CacheMode, DivideBy};
pub use crate::observe::{CapturePoint, CapturePointError, Measure, Packets, Record};
pub use crate::pool::{AssignStream, ClosedBy, OpenRule};
use crate::rng::RandomStreams;
use crate::tcp::{Overrides, Profile, ProfileName};
use crate::units::{Bytes, Duration, quantity_or_word};
pub use crate::workload::{CopiesHosts, Resample};
use crate::workload::{Laying, Load, Prepared, nzix};

/// A scenario: a path from clients to origin servers, its load, and the tables to record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of the scenario format: 1.
    #[cfg_attr(test, schemars(example = 1))]
    pub format: u32,
    /// One line that says what the scenario is.
    #[serde(default)]
    pub name: String,
    /// Nodes in a row and the links between neighbours.
    pub path: Path,
    /// Stretches of the path between transport endpoints, from the clients to the servers.
    pub leg: Vec<Leg>,
    /// Caches at nodes between the clients and the origin servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache: Vec<Cache>,
    /// The origin servers: how they release responses.
    #[serde(default)]
    pub origin: Origin,
    /// The clients, who wait for responses at the first node.
    #[serde(default, skip_serializing_if = "Clients::is_default")]
    pub clients: Clients,
    /// The requests.
    pub workload: Workload,
    /// Seed and length of the run.
    #[serde(default)]
    pub run: Run,
    /// Tables recorded besides the requests.
    #[serde(default)]
    pub record: Record,
    /// Factors and replications of a sweep; a single run ignores them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

/// Nodes in a row from the clients (first) to the origin servers (last), and the links between neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Names of the nodes, at least two, each once.
    #[cfg_attr(test, schemars(extend("examples" = [["clients", "servers"]])))]
    pub nodes: Vec<String>,
    /// Links between neighbours, one fewer than nodes.
    pub link: Vec<Link>,
}

/// A stretch of the path between two transport endpoints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Leg {
    /// Node nearer to the clients; it opens the connections.
    #[cfg_attr(test, schemars(example = &"clients"))]
    pub from: String,
    /// Node nearer to the servers.
    #[cfg_attr(test, schemars(example = &"servers"))]
    pub to: String,
    /// Carrier: how requests ride connections.
    pub carrier: Carrier,
    /// The transport at both ends.
    #[serde(default)]
    pub tcp: Tcp,
    /// TLS on its connections; "none", or left out, when they have none.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Tls>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The programs at both ends.
    #[serde(default, skip_serializing_if = "Application::is_default")]
    pub application: Application,
    /// Nodes between its ends that end TCP and begin it anew, from the clients to the servers; "none", or left out, when there are none.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Vec<Split>>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<Split>,
}

/// A node inside a leg that ends TCP, begins it anew and passes bytes on as they come: a performance-enhancing proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Node between the ends of the leg.
    #[cfg_attr(test, schemars(example = &"hub"))]
    pub at: String,
    /// The transport of the stretch behind it, up to the next split or to `leg.to`; the leg's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
    /// The stretch behind it: opened anew for each connection ("each"), or standing, without handshakes ("ready").
    #[serde(default)]
    pub open: SplitOpen,
    /// What opens the stretch behind it: the SYN that reaches the node ("syn"), or a CONNECT, which is answered when the stretch
    /// stands ("connect").
    #[serde(default)]
    pub by: SplitBy,
}

/// How the stretch behind a split comes to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SplitOpen {
    /// By a handshake for each connection.
    #[default]
    Each,
    /// It stands, up to the next split.
    Ready,
}

/// What opens the stretch behind a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The SYN; who sent it goes on without waiting.
    #[default]
    Syn,
    /// A CONNECT; who sent it waits for the answer.
    Connect,
}

impl Leg {
    /// The transport of each stretch between its ends and splits, from the clients to the servers.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = &Tcp> {
        std::iter::once(&self.tcp)
            .chain(self.split.iter().map(|split| split.tcp.as_ref().unwrap_or(&self.tcp)))
    }
}

/// The programs at both ends of a leg's connections: how soon they run, and the size of their writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Application {
    /// Time that a program takes to wake, from when it can read or write until it does.
    pub wake: Duration,
    /// Most bytes of a response that are written at once; all that are there when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Bytes>,
    /// Bytes at the start of each response, its head, that are written by themselves.
    pub head: Bytes,
}

impl Application {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The transport of a leg.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tcp {
    /// Profile: a named set of the constants of a TCP.
    pub profile: ProfileName,
    /// MSS that both ends advertise, or "host": the value of the request's server in the host table.
    pub mss: HostOr,
    /// Send and receive buffer of both ends, the limit of their advertised window, or "host": the `window_bytes` of
    /// the request's server in the host table. Left out, the profile's own: 32767 B for bsd44-lite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<HostOr>,
    /// MSS and buffer of the end at `leg.from`, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<TcpEnd>,
    /// MSS and buffer of the end at `leg.to`, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TcpEnd>,
    /// Other values for constants of the profile.
    pub constants: Overrides,
}

/// MSS and buffer of one end of a leg, where they differ from the leg's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TcpEnd {
    /// MSS that this end advertises.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<HostOr>,
    /// Send and receive buffer of this end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<HostOr>,
}

/// The origin servers: how they release responses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Origin {
    /// Rule for when the bytes of a response are there to be sent.
    pub release: Release,
}

/// The clients, who wait for responses at the first node.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Clients {
    /// Time that a client waits for the end of a request, from its start; then it gives the request up. For ever when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(example = &"60 s"))]
    pub give_up: Option<Duration>,
    /// Connections of the first leg: of its own for each client of the request table ("each"), or all clients come through one place,
    /// such as a proxy, and share them ("all"). Requests without a client share theirs.
    #[serde(skip_serializing_if = "ClientShare::is_default")]
    pub share: ClientShare,
    /// Tunnels (CONNECT).
    #[serde(skip_serializing_if = "Tunnels::is_default")]
    pub tunnels: Tunnels,
}

/// Tunnels (CONNECT) through the proxies of a path, between a client and its server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Tunnels {
    /// TLS between client and server inside a tunnel: the last proxy answers the CONNECT when its connection to the server stands, then
    /// the flights of the handshake go to and fro over the whole path, taken out of the tunnel's bytes. Without it, or with "none", a
    /// tunnel is one request and one response.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Tls>"))]
    #[serde(deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
}

impl Tunnels {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Handshake inside each tunnel, where it is simulated.
    pub(crate) fn handshake(&self) -> Option<Handshake> {
        self.tls.as_ref().map(|tls| tls.settings().handshakes[tls.start as usize])
    }
}

/// Who shares the connections of the first leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientShare {
    /// Each client has connections, TLS sessions and credits of its own.
    #[default]
    Each,
    /// All clients together, at one place.
    All,
}

impl ClientShare {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Clients {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The requests and the hosts that answer them, from tables or generated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Request table: .parquet, .csv, .tsv, or a whitespace-separated log file; relative to the scenario. `{seed}` stands for
    /// the seed of the run. Either this or `family`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(example = &"requests.csv"))]
    pub requests: Option<String>,
    /// Host table: .parquet, .csv, .tsv, or a whitespace-separated host file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<String>,
    /// Family of traces from which requests and hosts are generated, with the run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Number of days in a trace of the family nzix; 31 when left out.
    #[cfg_attr(test, schemars(range(min = 1, max = DAYS_MAX)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Other values for parameters of the family.
    #[serde(default, skip_serializing_if = "FamilyParameters::is_empty")]
    pub parameters: FamilyParameters,
    /// Factor by which requests come faster than in the table, 0.001 to 1,000,000: their start times are divided by it. 1 when
    /// left out.
    #[cfg_attr(test, schemars(range(min = crate::workload::SPEED_MIN, max = crate::workload::SPEED_MAX)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Number of days that run at the same time, at least 1, and beyond those in the table copies of them; without days, copies
    /// of the table. With the scale "rate": factor on the number of requests, 0.001 to 1,000,000.
    #[serde(default)]
    pub load: LoadLevel,
    /// Meaning of the load: a number of days and copies ("copies"), or a factor on the rate of requests ("rate").
    #[serde(default, skip_serializing_if = "LoadScale::is_default")]
    pub scale: LoadScale,
    /// Unit of the request table that each seed draws anew, with replacement: "clients", or "days" of a table that has several.
    /// Replications are then as different as logs of other weeks would be. Left out, every seed has the requests of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resample: Option<Resample>,
    /// Time between the starts of two copies; with the scale "rate", the time within which repeats of a request start, and with
    /// `resample`, doubles of a client.
    #[serde(default = "default_copies_offset")]
    pub copies_offset: Duration,
    /// Period within which a copy wraps around: a request shifted beyond its end starts as much after its beginning. Left out, the
    /// family nzix has its 600 s, and other copies are only shifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
    /// Hosts of copies: the same ("same"), or for each copy its own with the same MSS and window ("renamed").
    #[serde(default)]
    pub copies_hosts: CopiesHosts,
    /// MSS of hosts that the host table does not name, or names without an `mss_bytes`.
    #[serde(default = "default_mss")]
    pub default_mss: Bytes,
    /// Buffer, and so largest window, of hosts that the host table does not name, or names without a `window_bytes`.
    #[serde(default = "default_window")]
    pub default_window: Bytes,
}

/// Most days of a family's trace. Chosen: ten years, some million and a half requests.
#[cfg(test)] // only the schema asks
const DAYS_MAX: u32 = 3660;

impl Workload {
    /// Number of days and copies that run at the same time, and how copies differ.
    #[must_use]
    pub fn load(&self) -> Load {
        let of_family = self.family.and_then(Family::period);
        let copies = match self.scale {
            LoadScale::Copies => self.load.get() as u32,
            LoadScale::Rate => 1,
        };
        Load {
            load: copies,
            offset: self.copies_offset,
            period: self.period.or(of_family),
            hosts: self.copies_hosts,
            drawn: None,
        }
    }

    /// Factor on the number of requests, and the time that repeats start in. None where the load
    /// counts copies.
    #[must_use]
    pub fn rate(&self) -> Option<(f64, Duration)> {
        (self.scale == LoadScale::Rate).then(|| (self.load.get(), self.copies_offset))
    }

    /// How a run with this seed lays the workload.
    #[must_use]
    pub fn laying(&self, seed: u64) -> Laying {
        let streams = RandomStreams::new(seed);
        Laying {
            load: Load { drawn: (self.resample == Some(Resample::Days)).then_some(streams), ..self.load() },
            speed: self.speed,
            rate: self.rate(),
            doubles: (self.resample == Some(Resample::Clients)).then_some(self.copies_offset),
            streams,
        }
    }

    /// Days of the family's trace. `None` where it has none, or requests come from tables.
    #[must_use]
    pub fn days(&self) -> Option<u32> {
        (self.family == Some(Family::Nzix)).then(|| self.days.unwrap_or(nzix::DAYS))
    }

    /// The generated workload for this seed. `None` when requests come from tables.
    ///
    /// # Panics
    /// When the parameters are of another family. Reading a scenario rules that out.
    #[must_use]
    pub fn generated(&self, seed: u64) -> Option<Prepared> {
        self.family.map(|family| self.parameters.generate(family, self.days().unwrap_or_default(), seed))
    }
}

/// Greatest seed: beyond 2^53 not every reader of JSON keeps whole numbers apart.
pub(crate) const SEED_MAX: u64 = 1 << 53;

/// Seed and length of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Root of every random stream, 0 to 2^53.
    #[cfg_attr(test, schemars(range(max = SEED_MAX)))]
    pub seed: u64,
    /// Time at which the run stops, or "done": when every request has been answered or has failed and every connection is closed.
    pub until: Until,
    /// Warm-up: requests that start before this time are left out of summaries and plots.
    pub warmup: Duration,
    /// The interval over which rates, utilisation and queues are measured: from the end of the warm-up to the start of the last
    /// request ("arrivals") or to the end of the run ("whole").
    pub measure: Measure,
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Until {
    /// When every request has been answered or has failed, and every connection is closed.
    #[default]
    Done,
    /// At this time.
    Time(Duration),
}

const fn default_copies_offset() -> Duration {
    Duration::from_secs(37)
}

const fn default_mss() -> Bytes {
    Bytes::new(1460)
}

const fn default_window() -> Bytes {
    Bytes::new(32767)
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            profile: ProfileName::default(),
            mss: HostOr::Size(default_mss()),
            buffer: None,
            from: None,
            to: None,
            constants: Overrides::default(),
        }
    }
}

impl Tcp {
    /// The profile, with the other values of the scenario.
    #[must_use]
    ///
    /// # Panics
    /// When they are not constants of the profile, which the reading of a scenario makes sure of.
    pub fn profile(&self) -> Profile {
        self.profile
            .profile()
            .with(&self.constants)
            .expect("a checked scenario sets constants of its profile")
    }

    /// Sizes that its ends are set to, nearer to the clients first.
    pub(crate) fn sizes(&self, workload: &Workload) -> [EndSizes; 2] {
        [self.from, self.to].map(|end| EndSizes {
            mss: end.and_then(|end| end.mss).unwrap_or(self.mss),
            buffer: end.and_then(|end| end.buffer).or(self.buffer),
            default_mss: workload.default_mss,
            default_window: workload.default_window,
        })
    }
}

impl Default for Run {
    fn default() -> Self {
        Self { seed: 1, until: Until::Done, warmup: Duration::ZERO, measure: Measure::default() }
    }
}

quantity_or_word!(Until, "done", Duration, Self::Done, Self::Time, |until| match until {
    Until::Done => None,
    Until::Time(time) => Some(*time),
});
