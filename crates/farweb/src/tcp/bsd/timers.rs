//! The host's two timer grids, a connection's timers on them, and what each does when it expires.
//!
//! Models the counters of 4.4BSD, which has no timers but small integers that the host counts down every 500 ms, for all
//! connections at the same moment, and a flag that it looks at every 200 ms. Here a timer is the instant when
//! its count would reach zero, so nothing happens at the ticks between. A grid has its n-th tick (from 1) at
//! `phase + (n - 1) · period`. **A tick at exactly `now` has happened**: its timers run before anything else
//! at `now`, and a timer set to N ticks at `now` runs at the N-th tick strictly after `now`, that is after
//! more than N - 1 and at most N periods.
//!
//! Within a tick the timers run in the order of [`Timer`]. As in BSD, a timer that an earlier one of the same tick sets
//! is counted down in that very tick, and the counters of idle time and of the round trip see the tick only after it.
//! Where both grids tick at the same instant the fast one goes first (chosen, BSD leaves it open).
//! Leaves out the initial sequence number, which BSD moves on with each slow tick.
//!
//! Source: 4.4BSD-Lite `tcp_timer.c` 8.1, `tcp_timer.h` 8.1, `sys/kern/uipc_domain.c`.

use super::connection::Connection;
use super::profile::Profile;
use crate::tcp::host::HostClock;
use crate::tcp::segment::{Flags, Plain};
use crate::tcp::state::{CloseReason, Emit, State};
use crate::units::{Duration, Instant, When};

/// A timer of a connection. The slow grid runs its timers in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// Something sent was not acknowledged in time.
    Retransmit,
    /// The peer's window is shut, or too small to use.
    Persist,
    /// Establishing takes too long, or the connection is idle.
    Keep,
    /// TIME_WAIT or FIN_WAIT_2 ends.
    TwoMsl,
    /// An ACK has waited long enough. On the fast grid.
    DelayedAck,
}

const SLOW_TIMERS: [Timer; 4] = [Timer::Retransmit, Timer::Persist, Timer::Keep, Timer::TwoMsl];
const NEVER: Instant = Instant::from_nanos(u64::MAX);

/// The timers of a connection.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    /// By [`Timer`].
    deadlines: [Instant; 5],
    /// No timer is due before this: most looks at them are one comparison.
    none_before: Instant,
}

/// Time as a connection sees it. The profile sets the periods of the two grids.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    now: Instant,
    slow: Grid,
    fast: Grid,
    /// Slow ticks that the counters of idle time and round trip, and the timestamp clock, have seen, modulo 2^32.
    pub(super) tick: u32,
    /// The slow timer that is running.
    running: Option<Timer>,
}

/// The first tick that has not happened.
#[derive(Debug, Clone)]
struct Grid(Instant);

impl Grid {
    /// Goes on to `now`, and gives the number of ticks on the way.
    fn advance(&mut self, now: Instant, period: Duration) -> u64 {
        if now < self.0 {
            return 0;
        }
        let passed = (now - self.0).as_nanos() / period.as_nanos() + 1;
        self.0 += period * passed;
        passed
    }

    /// The instant of the tick `ticks` after the last one that has happened.
    fn after(&self, ticks: u64, period: Duration) -> Instant {
        let last = self.0.as_nanos().wrapping_sub(period.as_nanos());
        Instant::from_nanos(last.wrapping_add(period.as_nanos() * ticks))
    }
}

impl Clock {
    pub(super) fn new(now: Instant, host: HostClock, profile: &Profile) -> Self {
        let grid = |phase: Duration| Grid(Instant::ZERO + phase);
        let (slow, fast) = (grid(host.slow_phase), grid(host.fast_phase));
        let mut clock = Self { now, slow, fast, tick: 0, running: None };
        clock.advance(now, profile);
        clock
    }

    pub(super) fn advance(&mut self, now: Instant, profile: &Profile) {
        debug_assert!(now >= self.now, "time goes back from {} to {now}", self.now);
        self.now = now;
        self.tick = self.tick.wrapping_add(self.slow.advance(now, profile.slow_tick) as u32);
    }

    /// Ticks since the tick `then`.
    pub(super) const fn since(&self, then: u32) -> u32 {
        self.tick.wrapping_sub(then)
    }

    /// When `timer` expires if it is set to `ticks` now. At least one tick from now.
    fn deadline(&self, timer: Timer, ticks: u32, profile: &Profile) -> Instant {
        let counted_now = self.running.is_some_and(|running| timer as usize > running as usize);
        self.slow.after(u64::from(ticks.max(1)) - u64::from(counted_now), profile.slow_tick)
    }

    fn next_fast_tick(&mut self, profile: &Profile) -> Instant {
        self.fast.advance(self.now, profile.fast_tick);
        self.fast.0
    }
}

impl Timers {
    pub(super) const fn new() -> Self {
        Self { deadlines: [NEVER; 5], none_before: NEVER }
    }

    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.deadlines[timer as usize] != NEVER
    }

    pub(super) const fn cancel(&mut self, timer: Timer) {
        self.deadlines[timer as usize] = NEVER;
    }

    /// Sets `timer` to expire `ticks` slow ticks from now.
    pub(super) fn set(&mut self, timer: Timer, ticks: u32, clock: &Clock, profile: &Profile) {
        self.set_at(timer, clock.deadline(timer, ticks, profile));
    }

    /// Sets the delayed ACK, unless it is set: to the next fast tick, or one fast period from now.
    #[inline]
    pub(super) fn set_delayed_ack(&mut self, clock: &mut Clock, profile: &Profile) {
        if !self.is_set(Timer::DelayedAck) {
            let on_grid = profile.delayed_ack_on_grid;
            let at = if on_grid { clock.next_fast_tick(profile) } else { clock.now + profile.fast_tick };
            self.set_at(Timer::DelayedAck, at);
        }
    }

    pub(super) const fn cancel_all(&mut self) {
        *self = Self::new();
    }

    fn set_at(&mut self, timer: Timer, at: Instant) {
        self.deadlines[timer as usize] = at;
        self.none_before = self.none_before.min(at);
    }

    /// True when a timer is due.
    #[inline]
    pub(super) fn are_due(&mut self, now: Instant) -> bool {
        if now < self.none_before {
            return false;
        }
        self.none_before = self.earliest();
        self.none_before <= now
    }

    /// The earliest deadline. Far beyond every run when no timer is set.
    pub(super) fn earliest(&self) -> Instant {
        let [a, b, c, d, e] = self.deadlines;
        a.min(b).min(c.min(d)).min(e)
    }

    fn is_due(&self, timer: Timer, now: Instant) -> bool {
        self.deadlines[timer as usize] <= now
    }
}

impl Connection {
    /// When [`on_timeout`](Self::on_timeout) has something to do. `None` when nothing is pending.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let earliest = self.timers.earliest();
        (earliest != NEVER).then_some(earliest)
    }

    /// No timer is due before this: a bound below [`next_timeout`](Self::next_timeout), known without a look at the timers.
    #[inline]
    #[must_use]
    pub const fn no_timeout_before(&self) -> When {
        When::at(self.timers.none_before)
    }

    /// Sets `timer` to expire `ticks` slow ticks from now.
    pub(super) fn set_timer(&mut self, timer: Timer, ticks: u32) {
        self.timers.set(timer, ticks, &self.clock, &self.profile);
    }

    /// Runs the timers that are due. May be called early or for nothing.
    pub fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        self.clock.advance(now, &self.profile);
        if self.timers.is_due(Timer::DelayedAck, now) {
            self.timers.cancel(Timer::DelayedAck);
            self.ack_now = true;
            self.output(out);
        }
        if self.timers.earliest() > now {
            return;
        }
        self.clock.tick = self.clock.tick.wrapping_sub(1);
        for timer in SLOW_TIMERS {
            if self.timers.is_due(timer, now) {
                self.timers.cancel(timer);
                self.clock.running = Some(timer);
                self.on_expiry(timer, out);
            }
        }
        self.clock.running = None;
        self.clock.tick = self.clock.tick.wrapping_add(1);
    }

    fn on_expiry(&mut self, timer: Timer, out: &mut impl Emit) {
        match timer {
            Timer::Retransmit => self.on_retransmit_expiry(out),
            Timer::Persist => {
                self.set_persist();
                self.output_forced(out);
            }
            Timer::Keep => self.on_keep_expiry(out),
            Timer::TwoMsl => self.on_two_msl_expiry(out),
            Timer::DelayedAck => unreachable!("delayed ACKs are on the fast grid"),
        }
    }

    /// Backs off, halves ssthresh, and goes back to the first unacknowledged byte with a window of one segment.
    fn on_retransmit_expiry(&mut self, out: &mut impl Emit) {
        self.timeouts += 1;
        if self.rtt.on_timeout(&self.profile) > self.profile.retries_max {
            self.drop_connection(CloseReason::TimedOut, out);
            return;
        }
        self.set_timer(Timer::Retransmit, self.rtt.rto());
        self.snd_nxt = self.snd_una;
        self.congestion.on_timeout(self.snd_wnd.min(self.congestion.cwnd()), self.mss);
        self.recovery.reset();
        self.output(out);
    }

    /// Starts or continues waiting for the peer's window, longer each time.
    pub(super) fn set_persist(&mut self) {
        let ticks = &self.profile.ticks;
        let interval = self.rtt.next_persist(&self.profile).clamp(ticks.persist_min, ticks.persist_max);
        self.set_timer(Timer::Persist, interval);
    }

    fn on_keep_expiry(&mut self, out: &mut impl Emit) {
        if self.state < State::Established {
            self.drop_connection(CloseReason::TimedOut, out);
            return;
        }
        let ticks = &self.profile.ticks;
        if self.state > State::CloseWait {
            self.set_timer(Timer::Keep, ticks.keepalive_idle);
            return;
        }
        let patience = ticks.keepalive_idle + ticks.keepalive_timeout;
        if self.idle_ticks() >= patience {
            self.drop_connection(CloseReason::TimedOut, out);
            return;
        }
        self.set_timer(Timer::Keep, ticks.keepalive_interval);
        // A number that the peer has seen makes it answer without changing anything. Our SYN may not be acknowledged yet: a
        // peer that sends a FIN with its own SYN brings us here, and there is no number below the SYN's.
        let window = self.window_field(self.receive.space() as i64);
        let timestamps = self.timestamps_for(Flags::ACK);
        let seq = self.snd_una.saturating_sub(1);
        out.send(Plain::new(seq, self.rcv_nxt, 0, window, Flags::ACK, timestamps));
    }

    /// Receiving anything shows that the peer lives. Without keepalive an established connection needs no such timer.
    pub(super) fn restart_keep(&mut self) {
        if self.profile.keepalive || self.state < State::Established {
            self.set_timer(Timer::Keep, self.profile.ticks.keepalive_idle);
        }
    }

    fn on_two_msl_expiry(&mut self, out: &mut impl Emit) {
        let ticks = &self.profile.ticks;
        if self.state != State::TimeWait && self.idle_ticks() <= ticks.fin_wait_2_timeout {
            self.set_timer(Timer::TwoMsl, ticks.keepalive_interval);
        } else {
            self.finish(CloseReason::Finished, out);
        }
    }

    /// (Re)starts the 2 MSL of TIME_WAIT. Nothing else runs there.
    pub(super) fn enter_time_wait(&mut self) {
        self.state = State::TimeWait;
        self.timers.cancel_all();
        self.set_timer(Timer::TwoMsl, self.profile.ticks.msl * 2);
    }

    /// Slow ticks since a segment was last received.
    pub(super) const fn idle_ticks(&self) -> u32 {
        self.clock.since(self.received_tick)
    }
}
