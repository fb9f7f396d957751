//! Use of the congestion window: where it is not used it does not grow, and in the end shrinks.
//!
//! Models Linux's validation of the window: the test if it limited the current flight, and its decay when
//! the application does not fill it (RFC 2861) or pauses.
//! Leaves out sending put off for the sake of offload, which Linux takes for a window that is filled.
//!
//! Source: Linux 6.18 `tcp_output.c`, `tcp_cwnd_validate()`, `tcp_cwnd_application_limited()`, `tcp_cwnd_restart()`;
//! `include/net/tcp.h`, `tcp_is_cwnd_limited()`; RFC 2861; RFC 7661.

use super::super::clock::Clock;
use super::super::profile::Profile;
use super::Congestion;

/// Use that a sender has made of its window.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    /// The window was filled in the current flight.
    is_limited: bool,
    /// Most segments outstanding in the current flight.
    max_packets: u32,
    /// Most segments outstanding since the window was last filled.
    used: u32,
    /// Number at the end of the current flight.
    flight_end: u64,
    /// Jiffy of the last time that the window was filled or changed (`snd_cwnd_stamp`).
    since: u64,
}

/// Segments outstanding after a send.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Flight {
    /// Segments that are not acknowledged.
    pub(in super::super) packets: u32,
    /// True when there is no room for another one in the window.
    pub(in super::super) fills_window: bool,
    pub(in super::super) snd_una: u64,
    pub(in super::super) snd_nxt: u64,
}

impl Usage {
    pub(super) const fn new(now: u64) -> Self {
        Self { is_limited: false, max_packets: 0, used: 0, flight_end: 0, since: now }
    }

    pub(super) const fn on_window_changed(&mut self, clock: &Clock) {
        self.since = clock.jiffies();
    }
}

impl Congestion {
    /// True when it was the congestion window that kept more from being sent. In slow start half of it is enough.
    pub(super) const fn is_limiting(&self) -> bool {
        self.usage.is_limited
            || (self.window.in_slow_start() && self.window.cwnd < self.usage.max_packets.saturating_mul(2))
    }

    /// As much was sent as may be.
    pub(in super::super) fn on_sent(&mut self, clock: &Clock, flight: &Flight) {
        let usage = &mut self.usage;
        if flight.snd_una >= usage.flight_end
            || flight.fills_window
            || (!usage.is_limited && flight.packets > usage.max_packets)
        {
            usage.is_limited = flight.fills_window;
            usage.max_packets = flight.packets;
            usage.flight_end = flight.snd_nxt;
        }
        if self.is_limiting() {
            self.usage.used = 0;
            self.usage.since = clock.jiffies();
        } else {
            self.usage.used = self.usage.used.max(flight.packets);
        }
    }

    /// True when the window was neither filled nor changed for `ticks` jiffies.
    pub(in super::super) const fn is_unused_for(&self, clock: &Clock, ticks: u64) -> bool {
        clock.jiffies() - self.usage.since >= ticks
    }

    /// The window was not filled for one RTO: if it `may_shrink`, it goes half way down to the used part (RFC 2861).
    pub(in super::super) fn on_unused(&mut self, clock: &Clock, profile: &Profile, may_shrink: bool) {
        if may_shrink {
            let used = self.usage.used.max(profile.initial_cwnd_segments);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh(false);
                self.window.cwnd = u32::midpoint(self.window.cwnd, used);
            }
            self.usage.used = 0;
        }
        self.usage.since = clock.jiffies();
    }

    /// Nothing was sent for `rtos` timeouts: the window loses half for each, down to the initial one (RFC 2861).
    pub(in super::super) fn on_idle(
        &mut self,
        clock: &Clock,
        profile: &Profile,
        rtos: u32,
        is_reducing: bool,
    ) {
        self.window.ssthresh = self.current_ssthresh(is_reducing);
        let floor = profile.initial_cwnd_segments.min(self.window.cwnd);
        self.window.cwnd = (self.window.cwnd >> rtos).max(floor);
        self.usage.used = 0;
        self.usage.since = clock.jiffies();
    }

    /// The send buffer was enlarged for a window that it did not fill.
    pub(in super::super) const fn on_buffer_expanded(&mut self, clock: &Clock) {
        self.usage.on_window_changed(clock);
    }
}
