//! The keys of a scenario, as types. JSON Schema, defaults and documentation of every key come from here.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use super::cache::Cache;
pub use super::carrier::{Carrier, ConnectionUse};
pub use super::factors::{
    DesignKind, Factor, Factors, Label, Levels, NamedLevel, RandomNumbers, Range, Scale, Sweep,
};
use super::family::{Family, FamilyParameters};
use super::key;
pub use super::load::{LoadLevel, LoadScale};
use super::preset::PresetName;
pub use super::queue::{Flows, Queue, QueueLimit, QueueTable};
pub use super::tls::Tls;
use crate::conn::EndSizes;
pub use crate::conn::HostOr;
pub use crate::http::Release;
pub use crate::http::mux::{Assign, Overhead, Ties};
use crate::http::tls::Handshake;
pub use crate::http::webmux::Layout;
use crate::net::{
    self, Direction, LinkConfig, Opportunities, QueueConfig, Rates, Timeline, Trace, mean_rates,
};
pub use crate::net::{
    Attenuation, Fade, Handover, Jitter, Loss, Outage, OutageMode, Phase, QueueCounts, Shift, Step, Variation,
};
pub use crate::node::{CacheMode, DivideBy};
pub use crate::observe::{CapturePoint, CapturePointError, Measure, Packets, Record};
pub use crate::pool::{AssignStream, ClosedBy, OpenRule};
use crate::rng::RandomStreams;
use crate::tcp::{Overrides, Profile, ProfileName};
use crate::units::{BitRate, Bytes, Duration, quantity_or_word};
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

/// Both directions of the link between two neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Kind of path, which gives the keys that are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<PresetName>,
    /// The direction of requests, towards the servers.
    pub up: LinkDirection,
    /// The direction of responses, towards the clients.
    pub down: LinkDirection,
    /// Handovers, which change both directions at the same times. "none" switches the preset's off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Handover>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LinkDirection {
    /// Rate of the link, such as "34.368 Mbit/s", or "unlimited". Left out where a trace stands in its place.
    #[cfg_attr(test, schemars(extend("x-unless" = "trace")))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LinkRate>,
    /// Propagation delay in this direction, such as "60 ms".
    pub delay: Duration,
    /// Limit of the drop-tail queue, such as "256000 B", "100 packets" or "250 ms", what the link sends in it at its rate at the
    /// start; or a discipline, by its name or as a table. Unlimited when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Packets that a plain limit counts: the one in transmission as well ("all", as ns-2 and Linux count) or only those that
    /// wait ("waiting").
    #[serde(default)]
    pub queue_counts: QueueCounts,
    /// Loss process: packets lost besides those that find the queue full.
    #[serde(default)]
    pub loss: Loss,
    /// Changes of rate, delay and loss, each with its time; what a step leaves out stays as it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Period after which the steps come again, at the begin of each with the link's own values; they come once when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_every: Option<Duration>,
    /// File with steps and outages by time, in place of steps: columns time_s, rate_mbps, delay_ms, loss, state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Behind the last row of the schedule: its values hold ("hold"), or the rows before it come again ("repeat").
    #[serde(default, skip_serializing_if = "ScheduleAfter::is_hold")]
    pub schedule_after: ScheduleAfter,
    /// File with delivery opportunities in place of the rate, a line each, in whole ms, as mahimahi has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Bytes that an opportunity of the trace carries.
    #[serde(default = "trace_bytes", skip_serializing_if = "is_trace_bytes")]
    pub trace_bytes: Bytes,
    /// Bytes of an opportunity that each packet takes besides its own.
    #[serde(default = "trace_overhead", skip_serializing_if = "is_trace_overhead")]
    pub trace_overhead: Bytes,
    /// Behind its last opportunity the trace begins again; else the run ends with it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub trace_repeat: bool,
    /// Time of the trace at the start of the run, or "random": others in each replication, alike in both directions of a link.
    #[serde(default = "at_start", skip_serializing_if = "is_at_start")]
    pub trace_offset: Phase,
    /// The opportunities of the trace, once they are read.
    #[serde(skip)]
    pub(super) opportunities: Option<Arc<Opportunities>>,
    /// Rain over a satellite link with adaptive coding, in place of steps; "none" switches it off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Fade>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub fade: Option<Fade>,
    /// Times without sending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outage: Vec<Outage>,
    /// Factor on the rate that changes at random; "none" switches the one of the preset off.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Variation>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// Time that each packet takes beyond the delay, or "none"; no packet overtakes another.
    #[cfg_attr(test, schemars(schema_with = "super::tests::schema::or_none::<Jitter>"))]
    #[serde(default, deserialize_with = "key::or_none", skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
}

/// What a link does behind the last row of its schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleAfter {
    /// It keeps the last values.
    #[default]
    Hold,
    /// The rows come again, at the time of the last one, which is the end of the period and sets nothing.
    Repeat,
}

impl ScheduleAfter {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_hold(&self) -> bool {
        matches!(self, Self::Hold)
    }
}

const fn trace_bytes() -> Bytes {
    Bytes::new(1504)
}

const fn trace_overhead() -> Bytes {
    Bytes::new(4)
}

const fn at_start() -> Phase {
    Phase::At(Duration::ZERO)
}

const fn yes() -> bool {
    true
}

fn is_trace_bytes(bytes: &Bytes) -> bool {
    *bytes == trace_bytes()
}

fn is_trace_overhead(bytes: &Bytes) -> bool {
    *bytes == trace_overhead()
}

fn is_at_start(phase: &Phase) -> bool {
    *phase == at_start()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}

impl LinkDirection {
    /// Its rate, the mean one of a trace that is read; none when unlimited.
    #[must_use]
    pub fn rate(&self) -> Option<BitRate> {
        self.rate.and_then(|rate| rate.0)
    }

    /// True when packets take time to send.
    pub(crate) fn is_rated(&self) -> bool {
        self.trace.is_some() || self.rate().is_some()
    }

    /// Keys of a trace that are not as when they are left out.
    pub(super) fn keys_of_trace(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("trace_bytes", is_trace_bytes(&self.trace_bytes)),
            ("trace_overhead", is_trace_overhead(&self.trace_overhead)),
            ("trace_repeat", is_yes(&self.trace_repeat)),
            ("trace_offset", is_at_start(&self.trace_offset)),
        ];
        keys.into_iter().filter(|(_, is_left_out)| !is_left_out).map(|(key, _)| key)
    }

    /// Its trace, once that is read.
    pub(crate) fn trace(&self) -> Option<Trace> {
        let opportunities = self.opportunities.clone()?;
        let [bytes, overhead] = [self.trace_bytes, self.trace_overhead].map(|bytes| bytes.get() as u32);
        Some(Trace { opportunities, bytes, overhead, repeats: self.trace_repeat, offset: self.trace_offset })
    }

    /// The limit of its queue, a time as bytes; none when unlimited.
    pub(crate) fn limit(&self) -> Option<net::QueueLimit> {
        self.queue.and_then(|queue| queue.limit()?.at(self.rate()))
    }

    /// Packets that this limit counts.
    pub(crate) const fn counts(&self) -> QueueCounts {
        match self.queue {
            Some(Queue::Table(QueueTable::DropTail { counts, .. } | QueueTable::DropHead { counts, .. })) => {
                counts
            }
            Some(queue) if queue.is_aqm() => QueueCounts::Waiting,
            Some(_) | None => self.queue_counts,
        }
    }

    /// True where a packet above the limit never passes: drop-tail that counts the one in transmission as well.
    pub(crate) fn is_barred_above_limit(&self) -> bool {
        let is_drop_head = matches!(self.queue, Some(Queue::Table(QueueTable::DropHead { .. })));
        self.counts() == QueueCounts::All && !is_drop_head
    }
}

impl Link {
    /// One of its directions.
    #[must_use]
    pub const fn towards(&self, way: Direction) -> &LinkDirection {
        match way {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    /// True when a direction sends by a trace.
    pub(super) const fn has_trace(&self) -> bool {
        self.up.trace.is_some() || self.down.trace.is_some()
    }

    pub(super) const fn towards_mut(&mut self, way: Direction) -> &mut LinkDirection {
        match way {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }

    /// The link that one of its directions describes.
    #[must_use]
    pub fn config(&self, way: Direction) -> LinkConfig {
        let own = self.towards(way);
        LinkConfig {
            rate: own.rate(),
            delay: own.delay,
            queue: own
                .queue
                .map_or(QueueConfig::Unlimited, |queue| queue.config(own.rate(), own.queue_counts)),
            loss: own.loss.clone(),
            timeline: self.timeline(way),
        }
    }

    /// What changes in a direction.
    pub(crate) fn timeline(&self, way: Direction) -> Timeline {
        let own = self.towards(way);
        let LinkDirection { steps, steps_every, fade, outage, variation, jitter, .. } = own;
        let back = self.towards(way.opposite()).delay;
        let faded = |fade: &Fade| own.rate().map(|rate| fade.pieces(rate, back));
        Timeline {
            steps: steps.clone(),
            every: *steps_every,
            fade: fade.as_ref().and_then(faded).unwrap_or_default(),
            trace: own.trace(),
            outages: outage.clone(),
            handover: self.handover,
            variation: *variation,
            jitter: *jitter,
        }
    }

    /// Rates that a direction has over time, in a run of this length; none where its own is unlimited.
    pub(crate) fn rates(&self, way: Direction, until: Until) -> Option<Rates> {
        let until = if let Until::Time(until) = until { Some(until) } else { None };
        self.towards(way).rate().map(|own| Rates::of(&self.timeline(way), own, until))
    }

    /// Mean rates of a direction in `count` spans of `every` from the start of the run on, in bit/s; none where its own is
    /// unlimited.
    #[must_use]
    pub fn mean_rates(&self, way: Direction, every: Duration, count: usize) -> Option<Vec<f64>> {
        self.towards(way).rate().map(|own| mean_rates(&self.timeline(way), own, every, count))
    }

    /// Least delay that a direction has over time.
    pub(crate) fn least_delay(&self, way: Direction) -> Duration {
        self.timeline(way).least_delay(self.towards(way).delay)
    }
}

/// Rate of a link; `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkRate(pub Option<BitRate>);

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

    /// Factor on the number of requests, and the time within which repeats start; none where the load counts copies.
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

    /// Days of the family's trace; `None` where it has none, or requests come from tables.
    #[must_use]
    pub fn days(&self) -> Option<u32> {
        (self.family == Some(Family::Nzix)).then(|| self.days.unwrap_or(nzix::DAYS))
    }

    /// The generated workload for this seed; `None` when requests come from tables.
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

quantity_or_word!(LinkRate, "unlimited", BitRate, Self(None), |rate| Self(Some(rate)), |rate| rate.0);
quantity_or_word!(Until, "done", Duration, Self::Done, Self::Time, |until| match until {
    Until::Done => None,
    Until::Time(time) => Some(*time),
});
