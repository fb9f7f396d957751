//! HTTP/2 on a leg: its keys, as types, and the configuration of each end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::credit::{GrantRule, ShareOf};
use crate::http::h2::endpoint::{Config, Role};
use crate::http::h2::receiver::{Counts, RaiseAt};
use crate::http::h2::sender::Schedule;
use crate::http::h2::tuning::{CREDIT_MAX, Tuning, TuningRule};
use crate::units::{Bytes, Duration};

pub use crate::http::h2::preset::Preset;

/// HTTP/2 on a leg. The keys of an end stand for both ends, those in `client` and `server` for one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Http2 {
    /// Both ends.
    #[serde(flatten)]
    pub both: Http2End,
    /// What is different at the end that sends requests.
    #[serde(default, skip_serializing_if = "Http2End::is_empty")]
    pub client: Http2End,
    /// What is different at the end that sends responses.
    #[serde(default, skip_serializing_if = "Http2End::is_empty")]
    pub server: Http2End,
    /// Most connections to one host, on an inner leg to the next proxy, 1 to 1000.
    #[schemars(range(min = 1, max = super::carrier::CONNECTIONS_MAX))]
    #[serde(default = "one")]
    pub connections: u32,
    /// When they are opened.
    #[serde(default)]
    pub open_rule: OpenRule,
    /// Which one a request goes over, of those that have room for it.
    #[serde(default)]
    pub assign: AssignStream,
    /// How long a connection is idle before its client closes it.
    #[serde(default = "default_idle_timeout")]
    pub idle_timeout: Duration,
    /// How many bytes of a request are its header, which goes as a header block and not as data.
    #[serde(default = "default_request_text")]
    pub request_text: Bytes,
    /// How many bytes of a response are its header.
    #[serde(default = "default_response_text")]
    pub response_text: Bytes,
}

/// One end of HTTP/2: a program, and what it has differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Http2End {
    /// The program that it does as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Credit that it gives for each stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_credit: Option<Bytes>,
    /// To what it raises that later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_credit_raised: Option<Bytes>,
    /// When it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise_at: Option<Raise>,
    /// Credit that it gives for the connection, at least 65535 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_credit: Option<Bytes>,
    /// When it returns credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
    /// How long after a grant it returns anything that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_timer: Option<Duration>,
    /// How its credits grow with the path that it measures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Growth>,
    /// To what they grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_max: Option<Bytes>,
    /// Whether it counts bytes as it reads them ("bytes"), or a frame when that is whole ("frames").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<CountedBy>,
    /// Streams that it lets the other end have open at once.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_limit: Option<u32>,
    /// Most bytes of data that it puts into a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<Bytes>,
    /// Which stream it sends from next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Turns>,
    /// Header block of the first message that it sends for a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_first: Option<Bytes>,
    /// Header block of further ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_repeat: Option<Bytes>,
    /// Whether its small segments wait for nothing, whatever the TCP profile says of Nagle's rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelay: Option<bool>,
}

/// When credit is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Grant {
    /// When what was taken is a part of a credit.
    Share {
        /// Of the credit as it began ("initial"), or of what the sender has left of it ("remaining").
        #[serde(default)]
        of: GrantOf,
        /// Which part: a half is 2, an eighth 8.
        #[schemars(range(min = 1, max = 1000))]
        #[serde(default = "two")]
        one_in: u32,
        /// Whether it has to be more than that part.
        #[serde(default)]
        strict: bool,
    },
    /// When it is so many bytes, or what the sender has left if that is less.
    Bytes {
        /// The bytes.
        bytes: Bytes,
    },
    /// When the sender has less than so many bytes left.
    Below {
        /// The bytes.
        bytes: Bytes,
    },
    /// When it is so many bytes, or the sender has no more than `below` left.
    BytesOrBelow {
        /// The bytes.
        bytes: Bytes,
        /// What the sender has left.
        below: Bytes,
    },
    /// Each time that something is taken.
    Each {},
}

/// The credit that a part is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrantOf {
    /// As it began.
    #[default]
    Initial,
    /// What is left.
    Remaining,
}

/// When the credit of a stream is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Raise {
    /// With the request.
    Request,
    /// When the header has come.
    Headers,
    /// With the first data.
    FirstData,
}

/// How credits grow with the measured path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// They do not.
    None,
    /// Stream and connection, to twice the data that comes while a PING is out, as in gRPC.
    BdpGrpc,
    /// So too, as in hyper, which spaces its PINGs.
    BdpHyper,
    /// The stream alone, twice where it is used up faster than once a round trip, as in .NET.
    DrainEighth,
}

/// What of a frame is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedBy {
    /// Every byte as it is read.
    Bytes,
    /// A frame when it is whole.
    Frames,
}

/// Which stream is sent from next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// A frame of each in turn.
    RoundRobin,
    /// The one that began first, until the connection's credit is used up; then the next one.
    InOrder,
    /// By RFC 9218: as all are equally urgent, the one that began first.
    Urgency,
}

/// When connections are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenRule {
    /// When a request finds all that there are with as many streams as they may have, as Envoy, nghttpx, Go and curl do.
    #[default]
    AtSessionLimit,
    /// All when the run begins, as a pair of proxies with so many workers has them; on an inner leg only.
    Fixed,
}

/// Which connection a request goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AssignStream {
    /// The first one with room.
    #[default]
    FirstWithRoom,
    /// One after the other.
    RoundRobin,
    /// The one with the fewest streams.
    LeastSessions,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

/// hyper's pool and Go's transport close what has been idle for 90 s.
const fn default_idle_timeout() -> Duration {
    Duration::from_secs(90)
}

/// Chosen: what a browser's or a proxy's request without a body has.
const fn default_request_text() -> Bytes {
    Bytes::new(1024)
}

/// Chosen: a response's header as logs of servers have it.
const fn default_response_text() -> Bytes {
    Bytes::new(250)
}

impl Http2End {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Http2 {
    /// The keys of one end: its own before those of both.
    #[must_use]
    pub fn end(&self, role: Role) -> Http2End {
        let own = match role {
            Role::Client => &self.client,
            Role::Server => &self.server,
        };
        let both = &self.both;
        Http2End {
            preset: own.preset.or(both.preset),
            session_credit: own.session_credit.or(both.session_credit),
            session_credit_raised: own.session_credit_raised.or(both.session_credit_raised),
            raise_at: own.raise_at.or(both.raise_at),
            connection_credit: own.connection_credit.or(both.connection_credit),
            grant: own.grant.or(both.grant),
            grant_timer: own.grant_timer.or(both.grant_timer),
            tuning: own.tuning.or(both.tuning),
            credit_max: own.credit_max.or(both.credit_max),
            counts: own.counts.or(both.counts),
            session_limit: own.session_limit.or(both.session_limit),
            fragment: own.fragment.or(both.fragment),
            schedule: own.schedule.or(both.schedule),
            header_first: own.header_first.or(both.header_first),
            header_repeat: own.header_repeat.or(both.header_repeat),
            nodelay: own.nodelay.or(both.nodelay),
        }
    }

    /// What an end is made with.
    #[must_use]
    pub fn config(&self, role: Role) -> Config {
        let end = self.end(role);
        let mut config = self.preset(role).config(role);
        let credit = &mut config.credit;
        let set = |to: &mut u64, from: Option<Bytes>| *to = from.map_or(*to, Bytes::get);
        set(&mut credit.stream, end.session_credit);
        set(&mut credit.connection, end.connection_credit);
        set(&mut config.fragment, end.fragment);
        set(&mut config.blocks.first, end.header_first);
        set(&mut config.blocks.repeat, end.header_repeat);
        let (to, at) = credit.raised.unzip();
        let raised = end.session_credit_raised.map(Bytes::get).or(to);
        let at = end.raise_at.map(Raise::at).or(at).unwrap_or(RaiseAt::Headers);
        credit.raised = raised.map(|raised| (raised, at));
        credit.rule = end.grant.map_or(credit.rule, Grant::rule);
        credit.timer = end.grant_timer.or(credit.timer);
        let (rule, max) = credit.tuning.map(|Tuning { rule, max }| (rule, max)).unzip();
        let rule = end.tuning.map_or(rule, Growth::rule);
        let max = end.credit_max.map(Bytes::get).or(max).unwrap_or(CREDIT_MAX);
        credit.tuning = rule.map(|rule| Tuning { rule, max });
        credit.counts = end.counts.map_or(credit.counts, CountedBy::counts);
        config.schedule = end.schedule.map_or(config.schedule, Turns::schedule);
        config.max_streams = end.session_limit.or(config.max_streams);
        config
    }

    /// The program that an end does as.
    #[must_use]
    pub fn preset(&self, role: Role) -> Preset {
        self.end(role).preset.unwrap_or_default()
    }

    /// Whether small segments of an end wait for nothing.
    #[must_use]
    pub fn is_nodelay(&self, role: Role, has_tls: bool) -> bool {
        self.end(role).nodelay.unwrap_or_else(|| self.preset(role).is_nodelay(role, has_tls))
    }
}

impl Grant {
    const fn rule(self) -> GrantRule {
        match self {
            Self::Share { of, one_in, strict } => {
                let of = match of {
                    GrantOf::Initial => ShareOf::Initial,
                    GrantOf::Remaining => ShareOf::Remaining,
                };
                GrantRule::Share { of, millionths: 1_000_000 / one_in, strict }
            }
            Self::Bytes { bytes } => GrantRule::Bytes(bytes.get()),
            Self::Below { bytes } => GrantRule::Below(bytes.get()),
            Self::BytesOrBelow { bytes, below } => {
                GrantRule::BytesOrBelow { bytes: bytes.get(), below: below.get() }
            }
            Self::Each {} => GrantRule::Each,
        }
    }
}

impl Raise {
    const fn at(self) -> RaiseAt {
        match self {
            Self::Request => RaiseAt::Request,
            Self::Headers => RaiseAt::Headers,
            Self::FirstData => RaiseAt::FirstData,
        }
    }
}

impl Growth {
    const fn rule(self) -> Option<TuningRule> {
        match self {
            Self::None => None,
            Self::BdpGrpc => Some(TuningRule::BdpGrpc),
            Self::BdpHyper => Some(TuningRule::BdpHyper),
            Self::DrainEighth => Some(TuningRule::DrainEighth),
        }
    }
}

impl CountedBy {
    const fn counts(self) -> Counts {
        match self {
            Self::Bytes => Counts::Bytes,
            Self::Frames => Counts::Frames,
        }
    }
}

impl Turns {
    const fn schedule(self) -> Schedule {
        match self {
            Self::RoundRobin => Schedule::RoundRobin,
            Self::InOrder => Schedule::InOrder,
            Self::Urgency => Schedule::Urgency,
        }
    }
}
