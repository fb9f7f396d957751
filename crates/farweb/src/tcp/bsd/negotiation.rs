//! Negotiation by SYNs: segment size, buffers, window scaling, timestamps.
//!
//! Models 4.4BSD-Lite's `tcp_mss` and `tcp_dooptions` with the candidate MSS given by the scenario instead of a route.
//! `tcp_mss` sets cwnd each time it runs: when a SYN goes out, to the MSS that is offered, and when an MSS option comes in,
//! to the one that is settled. Hence a host that offers more than its peer starts with more than one of the smaller segments.
//!
//! Buffers are rounded up to whole segments. On the systems of 1997 that the studies modelled, a socket buffer was at most
//! 32767 B (`SB_MAX` where a system set none), so rounding never carries a buffer beyond that: with an MSS of 1460 B a buffer of
//! 8192 B becomes 8760 B, while one of 32767 B stays as it is instead of becoming 33580 B. Of these the sender
//! fills 22 segments (32120 B), because it does not send the small rest. A buffer that a scenario sets larger than
//! 32767 B is taken as it is.
//! Leaves out what a route remembers of earlier connections.
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_var.h` 8.3; RFC 1323.

use std::num::NonZeroU16;

use super::connection::{Config, Connection};
use crate::tcp::segment::{Flags, Options, Segment, Timestamps, WINDOW_FIELD_MAX, WINDOW_SCALE_MAX};
use crate::units::Duration;

/// Age that makes a peer's timestamp too old to judge by: 24 days (RFC 1323, section 4.2.3).
pub(super) const TIMESTAMP_AGE_MAX: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// Values offered and agreed.
#[derive(Debug, Clone)]
pub(super) struct Negotiated {
    /// MSS that we offer.
    mss_offered: u16,
    /// Shift that we offer, and what the peer offered.
    scale_offered: Option<u8>,
    scale_received: Option<u8>,
    /// Shifts in force, of the peer's window and of ours.
    pub(super) snd_scale: u8,
    pub(super) rcv_scale: u8,
    timestamps_received: bool,
    /// The peer's clock, as it is to be echoed (zero: not valid), and our tick when it was noted.
    pub(super) ts_recent: u32,
    pub(super) ts_recent_tick: u32,
}

impl Negotiated {
    pub(super) fn new(config: &Config) -> Self {
        let needed = (0..WINDOW_SCALE_MAX).find(|scale| WINDOW_FIELD_MAX << scale >= config.receive_buffer);
        Self {
            mss_offered: config.mss,
            scale_offered: config.profile.window_scaling.then(|| needed.unwrap_or(WINDOW_SCALE_MAX)),
            scale_received: None,
            snd_scale: 0,
            rcv_scale: 0,
            timestamps_received: false,
            ts_recent: 0,
            ts_recent_tick: 0,
        }
    }

    /// Both have sent their SYNs: scaling is in force if both offered it.
    pub(super) const fn settle_scaling(&mut self) {
        if let (Some(ours), Some(theirs)) = (self.scale_offered, self.scale_received) {
            self.rcv_scale = ours;
            self.snd_scale = theirs;
        }
    }
}

impl Connection {
    /// Takes what the options of a SYN say.
    pub(super) fn read_options(&mut self, syn: &Segment) {
        let options = &syn.options;
        if let Some(offer) = options.mss {
            self.settle_mss(Some(offer.get()));
        }
        if let Some(scale) = options.window_scale {
            self.negotiated.scale_received = Some(scale.min(WINDOW_SCALE_MAX));
        }
        if let Some(timestamps) = options.timestamps {
            self.negotiated.timestamps_received = true;
            self.note_timestamp(timestamps);
        }
    }

    pub(super) const fn note_timestamp(&mut self, timestamps: Timestamps) {
        self.negotiated.ts_recent = timestamps.value;
        self.negotiated.ts_recent_tick = self.clock.tick;
    }

    /// Timestamps of a segment that is to be sent with `flags`, where it has them.
    #[inline]
    pub(super) fn timestamps_for(&self, flags: Flags) -> Option<Timestamps> {
        let agreed = &self.negotiated;
        let has_timestamps =
            self.profile.timestamps && (!flags.contains(Flags::ACK) || agreed.timestamps_received);
        has_timestamps.then_some(Timestamps { value: self.clock.tick, echo: agreed.ts_recent })
    }

    /// The options of a SYN that is to be sent with `flags`.
    #[cold]
    pub(super) fn syn_options(&mut self, flags: Flags) -> Options {
        let timestamps = self.timestamps_for(flags);
        let (mss, window_scale) = self.offer(flags.contains(Flags::ACK));
        Options { mss, window_scale, timestamps, ..Options::NONE }
    }

    /// The segment size and the shift of the window that a SYN offers. One that `answers` another offers a shift only to a peer
    /// that did.
    fn offer(&mut self, answers: bool) -> (Option<NonZeroU16>, Option<u8>) {
        self.settle_mss(None);
        let agreed = &self.negotiated;
        let scale =
            if answers { agreed.scale_received.and(agreed.scale_offered) } else { agreed.scale_offered };
        (NonZeroU16::new(agreed.mss_offered), scale)
    }

    /// Settles the segment size when a SYN goes out (`offer` is `None`) or when the peer's offer comes in.
    fn settle_mss(&mut self, offer: Option<u16>) {
        let own = u64::from(self.negotiated.mss_offered);
        let mut mss = offer.map_or(own, |offer| own.min(u64::from(offer))).max(self.profile.mss_min.get());
        if mss < self.mss || offer.is_some() {
            mss = mss.min(self.send.capacity);
            self.send.capacity = self.profile.rounded_buffer(self.send.capacity, mss);
            if self.receive.capacity > mss {
                self.receive.capacity = self.profile.rounded_buffer(self.receive.capacity, mss);
            }
            self.mss = mss;
        }
        self.congestion.on_mss_settled(mss * u64::from(self.profile.initial_cwnd_segments));
    }
}
