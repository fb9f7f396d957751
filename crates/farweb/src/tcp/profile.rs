//! Named, frozen sets of constants, one enum over the stacks, and the values of a scenario that differ from them.
//!
//! Each stack lists its constants in a `profile` module of its own, with their sources.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::bsd;
use super::host::HostClock;
use super::linux;
use super::ns2;
use super::segment::{Options, Timestamps, WINDOW_FIELD_MAX};
use crate::rng::RandomStream;
use crate::units::Duration;

/// Name of a profile, as a scenario writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ProfileName {
    /// The TCP of 4.4BSD-Lite (1994).
    #[default]
    #[serde(rename = "bsd44-lite")]
    Bsd44Lite,
    /// The stack of 4.4BSD-Lite with what is known of Solaris 2.5 (1995).
    #[serde(rename = "solaris-2.5")]
    Solaris25,
    /// The TCP of Linux 6.18.
    #[serde(rename = "linux")]
    Linux,
    /// That of Linux, set as stacks of the 1990s were: Reno, no options, an initial window of one segment.
    #[serde(rename = "linux-classic")]
    LinuxClassic,
    /// The one-way Reno of ns-2 with its defaults from before May 2001; beside the carrier `transfer` and only there.
    #[serde(rename = "ns2-reno")]
    Ns2Reno,
}

/// Every constant of a TCP, by stack. A clone is cheap, because all that have it share one.
#[derive(Debug, Clone, PartialEq)]
pub enum Profile {
    /// 4.4BSD.
    Bsd(Arc<bsd::SharedProfile>),
    /// Linux.
    Linux(Arc<linux::SharedProfile>),
    /// One-way agents of ns-2.
    Ns2(Arc<ns2::Profile>),
}

/// Constants that a scenario sets to other values than its profile has, by name.
///
/// The names and their values depend on the stack of the profile beside which they stand.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overrides(pub Map<String, Value>);

/// A profile that no connection could run with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{constant}` must be {allowed}")]
pub struct ProfileError {
    /// Name of the constant, as a scenario writes it.
    pub constant: &'static str,
    pub(super) allowed: &'static str,
}

/// A constant, true if it is in range, and its range.
pub(super) type Rule = (&'static str, bool, &'static str);

impl ProfileError {
    /// The first of `rules` that is broken.
    pub(super) fn first(rules: &[Rule]) -> Result<(), Self> {
        match rules.iter().find(|(_, holds, _)| !holds) {
            Some((constant, _, allowed)) => Err(Self { constant, allowed }),
            None => Ok(()),
        }
    }
}

impl ProfileName {
    /// The constants of that name.
    #[must_use]
    pub fn profile(self) -> Profile {
        match self {
            Self::Bsd44Lite => bsd::Profile::bsd44_lite().into(),
            Self::Solaris25 => bsd::Profile::solaris_2_5().into(),
            Self::Linux => linux::Profile::linux().into(),
            Self::LinuxClassic => linux::Profile::linux_classic().into(),
            Self::Ns2Reno => ns2::Profile::ns2_reno().into(),
        }
    }
}

impl Profile {
    /// This profile with the values that `overrides` sets.
    ///
    /// # Errors
    /// When a name is not one of the stack's constants, or a value not of its kind.
    pub fn with(self, overrides: &Overrides) -> Result<Self, serde_json::Error> {
        let values = Value::Object(overrides.0.clone());
        Ok(match self {
            Self::Bsd(profile) => profile.with(&serde_json::from_value(values)?).into(),
            Self::Linux(profile) => profile.with(&serde_json::from_value(values)?).into(),
            Self::Ns2(profile) => profile.with(&serde_json::from_value(values)?).into(),
        })
    }

    /// Checks that a connection can run with these values.
    ///
    /// # Errors
    /// The first constant that is out of range.
    pub fn check(&self) -> Result<(), ProfileError> {
        match self {
            Self::Bsd(profile) => profile.check(),
            Self::Linux(profile) => profile.check(),
            Self::Ns2(profile) => profile.check(),
        }
    }

    /// The clock of a host that was started at random and has this profile. Agents of ns-2 have clocks of their own.
    pub fn host_clock(&self, random: &mut RandomStream) -> HostClock {
        match self {
            Self::Bsd(profile) => HostClock::random(random, profile.slow_tick, profile.fast_tick),
            Self::Linux(profile) => HostClock::random(random, profile.jiffy, profile.jiffy),
            Self::Ns2(_) => HostClock::default(),
        }
    }

    /// Payload of a full segment where the MSS is `mss`, in bytes: that, or the one size that packets of an ns-2 agent have.
    #[must_use]
    pub fn segment_bytes(&self, mss: u16) -> u64 {
        match self {
            Self::Bsd(_) | Self::Linux(_) => u64::from(mss),
            Self::Ns2(profile) => profile.packet_size.get(),
        }
    }

    /// True when a window may be larger than the field for it, as window scaling is offered (RFC 7323) or there is no field.
    #[must_use]
    pub fn window_scaling(&self) -> bool {
        match self {
            Self::Bsd(profile) => profile.window_scaling,
            Self::Linux(profile) => profile.window_scaling,
            Self::Ns2(_) => true,
        }
    }

    /// Payload of each segment of a connection with this `mss`, less the options of every segment.
    #[must_use]
    pub fn payload_bytes(&self, mss: u64) -> u64 {
        let timestamps = match self {
            Self::Bsd(profile) => profile.timestamps,
            Self::Linux(profile) => profile.timestamps,
            Self::Ns2(_) => false,
        };
        let options =
            Options { timestamps: timestamps.then_some(Timestamps { value: 0, echo: 0 }), ..Options::NONE };
        mss.saturating_sub(options.bytes().into()).max(1)
    }

    /// Segments of `payload` bytes that its send buffer lets go in a round trip. None where the window of the peer has its
    /// size.
    #[must_use]
    pub fn segments_of_send_buffer(&self, payload: u64) -> Option<u64> {
        match self {
            Self::Linux(profile) => Some(profile.segments_of_send_buffer(payload)),
            Self::Bsd(_) | Self::Ns2(_) => None,
        }
    }

    /// Segments of a new connection that are acknowledged one by one, before every second one is.
    #[must_use]
    pub fn quick_acks(&self) -> u32 {
        let (always, most) = match self {
            Self::Bsd(_) => (false, 0),
            Self::Linux(profile) => (profile.quick_ack_always, profile.quick_acks_max),
            Self::Ns2(profile) => (!profile.delayed_ack, 0),
        };
        if always { u32::MAX } else { most }
    }

    /// Mean time that an ACK waits for a second segment. None where each segment has one.
    #[must_use]
    pub fn ack_wait(&self) -> Option<Duration> {
        match self {
            // The host's grid, which an ACK meets at any time.
            Self::Bsd(profile) => profile.delayed_ack.then(|| profile.fast_tick.mul_div(1, 2)),
            Self::Linux(profile) => (!profile.quick_ack_always).then_some(profile.delayed_ack_min),
            Self::Ns2(profile) => profile.delayed_ack.then_some(profile.delayed_ack_interval),
        }
    }

    /// Segments that the accepting end may send at first.
    #[must_use]
    pub fn first_window(&self) -> u64 {
        let segments = match self {
            Self::Bsd(profile) => profile.initial_cwnd_segments + u32::from(profile.syn_ack_opens_cwnd),
            Self::Linux(profile) => profile.initial_cwnd_segments,
            Self::Ns2(profile) => profile.initial_cwnd_segments,
        };
        u64::from(segments)
    }

    /// Round trips that the accepting end needs to send `segments` without a loss, to a receiver that allows `window`
    /// segments.
    ///
    /// Linux grows by the segments that an ACK acknowledges, and doubles in a round trip. The others grow by a segment an
    /// ACK, and delayed ACKs come one for two segments. Left out: waiting for the timer of a delayed ACK.
    #[must_use]
    pub fn rounds(&self, segments: u64, window: u64) -> u32 {
        let every = match self {
            Self::Bsd(profile) if profile.delayed_ack => 2,
            _ => 1,
        };
        let (mut sent, mut cwnd, mut unacknowledged, mut rounds) = (0, self.first_window(), 0, 0);
        while sent < segments {
            let flight = cwnd.min(window).saturating_sub(unacknowledged).clamp(1, segments - sent);
            sent += flight;
            let acks = ((flight + unacknowledged) / every).max(1);
            cwnd += acks;
            unacknowledged = (flight + unacknowledged).saturating_sub(acks * every);
            rounds += 1;
        }
        rounds
    }

    /// Largest window in bytes of an endpoint with a buffer of `buffer` bytes (`None`: the profile's) and segments of `mss`
    /// bytes, before the limit of the header's field.
    #[must_use]
    pub fn window(&self, buffer: Option<u64>, mss: u64) -> u64 {
        match self {
            Self::Bsd(profile) => profile.rounded_buffer(buffer.unwrap_or(profile.buffer_default.get()), mss),
            Self::Linux(profile) => match buffer {
                // A window that is set is one of whole segments where it is not scaled, by the MSS with options as long as a
                // segment without them has no room beside it. Otherwise it grows up to half of the memory.
                Some(window) if window > WINDOW_FIELD_MAX => window,
                Some(window) => {
                    let (first, segment) = (window / mss * mss, self.payload_bytes(mss));
                    let whole = if first + segment > window { first } else { window / segment * segment };
                    whole.max(segment.min(window))
                }
                None => profile.receive_buffer_max.get() / 2,
            },
            Self::Ns2(profile) => u64::from(profile.window) * mss,
        }
    }
}

impl From<linux::Profile> for Profile {
    fn from(profile: linux::Profile) -> Self {
        Self::Linux(Arc::new(linux::SharedProfile::new(profile)))
    }
}

impl From<bsd::Profile> for Profile {
    fn from(profile: bsd::Profile) -> Self {
        Self::Bsd(Arc::new(bsd::SharedProfile::new(profile)))
    }
}

impl From<ns2::Profile> for Profile {
    fn from(profile: ns2::Profile) -> Self {
        Self::Ns2(Arc::new(profile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(text: &str) -> Overrides {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_unknown_constant_is_an_error() {
        let wrong = overrides(r#"{"rto_minimum": "1 s"}"#);
        let error = ProfileName::Bsd44Lite.profile().with(&wrong).unwrap_err().to_string();
        assert!(error.contains("unknown field `rto_minimum`"), "{error}");
    }

    #[test]
    fn overrides_are_written_as_they_were_read() {
        let text = r#"{"slow_tick":"100 ms","mss_default":"536 B","idle_restart":"off"}"#;
        assert_eq!(serde_json::to_string(&overrides(text)).unwrap(), text);
    }

    #[test]
    fn a_value_out_of_range_is_refused() {
        let stopped = ProfileName::Bsd44Lite.profile().with(&overrides(r#"{"slow_tick": "0 s"}"#)).unwrap();
        assert_eq!(stopped.check().unwrap_err().to_string(), "`slow_tick` must be at least 1 ms");
    }
}
