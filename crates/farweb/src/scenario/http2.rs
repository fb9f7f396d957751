//! HTTP/2 on a leg: its keys, as types, and the configuration of each end.

use serde::{Deserialize, Serialize};

use crate::http::credit::{GrantRule, ShareOf};
use crate::http::h2::endpoint::{Config, Role};
use crate::http::h2::receiver::{Counts, RaiseAt};
use crate::http::h2::sender::Schedule;
use crate::http::h2::tuning::{CREDIT_MAX, Tuning, TuningRule};
use crate::pool::{AssignStream, OpenRule};
use crate::units::{Bytes, Duration};

pub use crate::http::h2::preset::Preset;

/// HTTP/2 on a leg. The keys of an end are for both ends. Those in `client` and `server` are for one, and go
/// before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(inline))]
pub struct Http2 {
    /// Keys of both ends.
    #[serde(flatten)]
    pub both: Http2End,
    /// Keys of the client end, the sender of requests. They go before the keys of both ends.
    #[serde(default, skip_serializing_if = "Http2End::is_empty")]
    pub client: Http2End,
    /// Keys of the server end, the sender of responses. They go before the keys of both ends.
    #[serde(default, skip_serializing_if = "Http2End::is_empty")]
    pub server: Http2End,
    /// Most connections to one host, or on an inner leg to the next proxy, 1 to 1000.
    #[cfg_attr(test, schemars(range(min = 1, max = super::carrier::CONNECTIONS_MAX)))]
    #[serde(default = "one")]
    pub connections: u32,
    /// Rule for when connections are opened.
    #[serde(default)]
    pub open_rule: OpenRule,
    /// Rule that selects the connection of a request, among those that have room for it.
    #[serde(default)]
    pub assign: AssignStream,
    /// Time that a connection is idle before its client closes it.
    #[serde(default = "default_idle_timeout")]
    pub idle_timeout: Duration,
    /// Bytes of a request that are its header, sent as a header block and not as data.
    #[serde(default = "default_request_text")]
    pub request_text: Bytes,
    /// Bytes of a response that are its header, sent as a header block and not as data.
    #[serde(default = "default_response_text")]
    pub response_text: Bytes,
}

/// One end of HTTP/2: a preset, and the keys that differ from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Http2End {
    /// Program to imitate: its settings and rules hold for every key left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Credit that the end gives each stream, in bytes: the data that it lets the other end send before it grants more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_credit: Option<Bytes>,
    /// Credit of a stream to which the end raises `session_credit` later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_credit_raised: Option<Bytes>,
    /// Event at which the end raises the credit of a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raise_at: Option<Raise>,
    /// Credit that the end gives the connection, at least 65535 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_credit: Option<Bytes>,
    /// Rule for when the end returns credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
    /// Time after a grant from which on the end returns anything that it takes, whatever the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_timer: Option<Duration>,
    /// Rule by which the end's credits grow with the path that it measures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<Growth>,
    /// Largest credit to which they grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_max: Option<Bytes>,
    /// Data that the end counts: bytes as it reads them ("bytes"), or whole frames ("frames").
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<CountedBy>,
    /// Most streams that the end lets the other end have open at once.
    #[cfg_attr(test, schemars(range(min = 1)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_limit: Option<u32>,
    /// Most bytes of data that the end puts into a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragment: Option<Bytes>,
    /// Rule that selects the stream that the end sends from next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Turns>,
    /// Size of the header block of the first message that the end sends for a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_first: Option<Bytes>,
    /// Size of the header block of each further message for that host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header_repeat: Option<Bytes>,
    /// True when the end switches Nagle's rule off, whatever the TCP profile says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodelay: Option<bool>,
}

/// Rule for when credit is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Grant {
    /// When the bytes taken come to a part of a credit.
    Share {
        /// Credit that the part is of: as it began ("initial"), or as the sender has it left ("remaining").
        #[serde(default)]
        of: GrantOf,
        /// The part, as its denominator: a half is 2, an eighth 8.
        #[cfg_attr(test, schemars(range(min = 1, max = 1000)))]
        #[serde(default = "two")]
        one_in: u32,
        /// True when the bytes taken have to be more than that part.
        #[serde(default)]
        strict: bool,
    },
    /// When the bytes taken come to a number, or to the sender's remaining credit if that is less.
    Bytes {
        /// The number of bytes.
        bytes: Bytes,
    },
    /// When the sender's remaining credit is below a number of bytes.
    Below {
        /// The number of bytes.
        bytes: Bytes,
    },
    /// When the bytes taken come to a number, or the sender's remaining credit is at most `below`.
    BytesOrBelow {
        /// The number of bytes.
        bytes: Bytes,
        /// The sender's remaining credit, in bytes.
        below: Bytes,
    },
    /// Each time that bytes are taken.
    Each {},
}

/// Credit that a part is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GrantOf {
    /// The credit as it began.
    #[default]
    Initial,
    /// The sender's remaining credit.
    Remaining,
}

/// Event at which the credit of a stream is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Raise {
    /// When the request is sent.
    Request,
    /// When the header of the response has come.
    Headers,
    /// When the first data has come.
    FirstData,
}

/// Rule by which credits grow with the measured path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Credits do not grow.
    None,
    /// Credits of streams and connection grow to twice the data that comes while a PING is out, as in gRPC.
    BdpGrpc,
    /// The same as in hyper, which spaces its PINGs.
    BdpHyper,
    /// The credit of a stream doubles where it is used up faster than once a round trip, as in .NET.
    DrainEighth,
}

/// Bytes of a frame that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountedBy {
    /// Every byte, as it is read.
    Bytes,
    /// A frame, when it is whole.
    Frames,
}

/// Rule that selects the stream that is sent from next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// A frame of each stream in turn.
    RoundRobin,
    /// The stream that began first, until the connection's credit is used up; then the next one.
    InOrder,
    /// The rule of RFC 9218: as all are equally urgent, the stream that began first.
    Urgency,
}

const fn one() -> u32 {
    1
}

const fn two() -> u32 {
    2
}

/// hyper's pool and Go's transport close a connection after 90 s without a request.
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
    /// The keys of one end: its own, else the keys of both.
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

    /// Configuration of an end.
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

    /// The program that an end does as. By default the most used: Chrome, by StatCounter's counts of page
    /// views, and nginx, by W3Techs' of sites.
    #[must_use]
    pub fn preset(&self, role: Role) -> Preset {
        self.end(role).preset.unwrap_or(match role {
            Role::Client => Preset::Chrome,
            Role::Server => Preset::Nginx,
        })
    }

    /// True when a preset is named for an end.
    #[must_use]
    pub const fn has_preset(&self, role: Role) -> bool {
        let own = match role {
            Role::Client => &self.client,
            Role::Server => &self.server,
        };
        own.preset.is_some() || self.both.preset.is_some()
    }

    /// True when small segments of an end wait for nothing.
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
