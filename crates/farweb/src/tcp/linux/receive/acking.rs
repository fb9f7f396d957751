//! Acknowledgements: when they leave.
//!
//! Models Linux: at the start, after a hole, and after a silence of more than an RTO every segment is acknowledged at once,
//! up to 16 times. Then every second full segment is, and a single one waits 40 to 200 ms for company. The time adapts to
//! the gaps between segments. A connection that answers received data is in a dialogue, and has its ACKs ride on data.
//! Reading the last of a pushed segment sends its ACK. Beyond a gap, each of three segments is acknowledged at once, and
//! then one ACK covers a twentieth of a round trip, at most 1 ms (SACK only). A mark has two segments acknowledged at once
//! ([`marks`](super::marks)). Leaves out nothing.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_event_data_recv()`, `__tcp_ack_snd_check()`, `tcp_incr_quickack()`,
//! `tcp_measure_rcv_mss()`; `tcp_output.c`, `tcp_send_delayed_ack()`, `tcp_event_ack_sent()`, `tcp_event_data_sent()`; `tcp.c`,
//! `__tcp_cleanup_rbuf()`; `tcp_timer.c`, `tcp_delack_timer_handler()`; RFC 9293, section 3.8.6.3; RFC 5681, section 4.2.

use super::super::clock::Clock;
use super::super::shared::SharedProfile;
use super::{AckDue, Context};
use crate::units::{Duration, When};

/// ACKs of segments beyond a gap that leave at once (`TCP_FASTRETRANS_THRESH`).
const UNCOMPRESSED: u32 = 3;
/// ACKs that are held back wait for this part of a round trip at most (`rtt * (NSEC_PER_USEC >> 3) / 20`, of `srtt` times 8).
const COMPRESSED_RTT_DIVISOR: u64 = 20;

/// State of acknowledging.
#[derive(Debug, Clone)]
pub(super) struct Acking {
    /// Something is to be acknowledged (`ICSK_ACK_SCHED`).
    scheduled: bool,
    /// It is to be acknowledged with this segment, whatever the rules (`ICSK_ACK_NOW`).
    at_once: bool,
    /// A segment below the size estimate has come, or a pushed one, and then a second one (`ICSK_ACK_PUSHED`,
    /// `PUSHED2`).
    pushed: bool,
    pushed_again: bool,
    /// An ACK must leave before anything else happens.
    due: bool,
    delayed: Delayed,
    /// ACKs to be sent at once still.
    quick: u32,
    /// Answers to received data. A dialogue from `pingpong_threshold` on.
    pingpong: u32,
    /// Time that an ACK waits, in jiffies. Zero before the first data.
    ato: u64,
    /// Jiffy of the last data in order.
    received_at: u64,
    /// Most connections never hold an ACK back.
    compressed: Option<Box<Compressed>>,
}

/// A delayed ACK, if there is one.
#[derive(Debug, Clone, Copy)]
struct Delayed {
    /// Jiffy that it was set to. It runs when the timer wheel comes to it.
    timeout: u64,
    runs: When,
}

/// ACKs of segments beyond a gap that wait to become one.
#[derive(Debug, Clone, Default)]
struct Compressed {
    held: u32,
    deadline: When,
    /// The gap that they are for, and ACKs that left at once for it.
    rcv_nxt: u64,
    sent: u32,
}

/// State of the receiver when it decides.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiveState {
    pub(super) rcv_nxt: u64,
    /// Bytes received in order since the last ACK.
    pub(super) unacknowledged: u64,
    /// Payload that the peer's segments are taken to have.
    pub(super) segment: u64,
    /// True when an ACK would leave the right edge of the window at least as far ahead as the last one did.
    pub(super) window_advances: bool,
    /// True when data waits for a gap to be filled.
    pub(super) has_gap: bool,
    /// True when SACK reports that data.
    pub(super) sack: bool,
    /// The receiver's own estimate of the round trip.
    pub(super) receiver_rtt: Option<Duration>,
}

/// Half of our window: as many segments are acknowledged at once where a sender may be starting slowly.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfWindow {
    pub(super) bytes: u64,
    /// Payload that the peer's segments are taken to have.
    pub(super) segment: u64,
}

impl HalfWindow {
    fn segments(self) -> u32 {
        u32::try_from(self.bytes / self.segment).unwrap_or(u32::MAX)
    }
}

impl Delayed {
    const NONE: Self = Self { timeout: 0, runs: When::NEVER };
}

impl Acking {
    pub(super) const fn new() -> Self {
        Self {
            scheduled: false,
            at_once: false,
            pushed: false,
            pushed_again: false,
            due: false,
            delayed: Delayed::NONE,
            quick: 0,
            pingpong: 0,
            ato: 0,
            received_at: 0,
            compressed: None,
        }
    }

    /// When an ACK is due.
    pub(super) fn due(&self) -> AckDue {
        if self.due {
            return AckDue::Now;
        }
        let compressed = self.compressed.as_ref().map_or(When::NEVER, |compressed| compressed.deadline);
        self.delayed.runs.min(compressed).get().map_or(AckDue::No, AckDue::At)
    }

    fn is_dialogue(&self, profile: &SharedProfile) -> bool {
        self.pingpong >= profile.pingpong_threshold
    }

    /// Something is to be acknowledged.
    pub(super) const fn schedule(&mut self) {
        self.scheduled = true;
    }

    /// Acknowledges with this segment the data that filled a gap.
    pub(super) const fn schedule_at_once(&mut self) {
        self.at_once = true;
    }

    /// The connection opens at `now`.
    pub(super) const fn start(&mut self, clock: &Clock) {
        self.received_at = clock.jiffies();
    }

    /// The peer has finished: our answer will be a FIN.
    pub(super) fn on_fin(&mut self, profile: &SharedProfile) {
        self.scheduled = true;
        self.pingpong = profile.pingpong_threshold;
    }

    /// A segment that fills the size estimate, and a smaller one. `psh` as its flag says.
    pub(super) const fn on_full_segment(&mut self, psh: bool) {
        self.pushed |= psh;
    }

    pub(super) const fn on_small_segment(&mut self) {
        self.pushed_again |= self.pushed;
        self.pushed = true;
    }

    /// Data came in order.
    #[inline]
    pub(super) fn on_data(&mut self, context: &Context<'_>, half_window: HalfWindow) {
        let Context { clock, profile, rtt } = context;
        self.scheduled = true;
        let now = clock.jiffies();
        let (ato_min, gap) = (profile.jiffies.delayed_ack_min, now - self.received_at);
        if self.ato == 0 {
            self.raise_quick(half_window, profile.quick_acks_max);
            self.ato = ato_min;
        } else if gap <= ato_min / 2 {
            self.ato = self.ato / 2 + ato_min / 2;
        } else if gap < self.ato {
            let longest = profile.jiffies.delayed_ack_max.min(rtt.rto_ticks());
            self.ato = (self.ato / 2 + gap).min(longest);
        } else if gap > rtt.rto_ticks() {
            // The sender may start slowly again after so long a silence, and is helped by ACKs.
            self.raise_quick(half_window, profile.quick_acks_max);
        }
        self.received_at = now;
    }

    fn raise_quick(&mut self, half_window: HalfWindow, most: u32) {
        let wanted = match half_window.segments() {
            0 => 2,
            segments => segments,
        };
        self.quick = self.quick.max(wanted.min(most));
    }

    /// A copy, a segment beyond the window, a mark: the next segments are acknowledged at once, so many at `most`.
    pub(super) fn go_quick(&mut self, half_window: HalfWindow, most: u32, profile: &SharedProfile) {
        self.raise_quick(half_window, most);
        self.pingpong = 0;
        self.ato = profile.jiffies.delayed_ack_min;
    }

    /// The window grows: an ACK is to announce it soon.
    pub(super) const fn on_window_growth(&mut self) {
        self.quick |= 1;
    }

    /// Memory is short: no ACKs in advance.
    pub(super) const fn stop_quick(&mut self) {
        self.quick = 0;
    }

    /// Decides about the ACK of the segment that has just come.
    #[inline]
    pub(super) fn decide(&mut self, context: &Context<'_>, state: &ReceiveState) {
        if !self.scheduled {
            return;
        }
        let profile = context.profile;
        let is_quick = profile.quick_ack_always || (self.quick > 0 && !self.is_dialogue(profile));
        let is_second = state.unacknowledged > state.segment && state.window_advances;
        if is_second || is_quick || self.at_once {
            self.due = true;
        } else if state.has_gap {
            self.compress(context, state);
        } else {
            self.delay(context);
        }
    }

    /// An ACK of a segment beyond a gap.
    fn compress(&mut self, context: &Context<'_>, state: &ReceiveState) {
        let Context { clock, profile, rtt } = context;
        let compressed = self.compressed.get_or_insert_default();
        if !state.sack || compressed.held >= profile.compressed_acks_max {
            self.due = true;
            return;
        }
        if compressed.rcv_nxt != state.rcv_nxt {
            compressed.rcv_nxt = state.rcv_nxt;
            compressed.sent = 0;
        }
        if compressed.sent < UNCOMPRESSED {
            compressed.sent += 1;
            self.due = true;
            return;
        }
        compressed.held += 1;
        let receiver = state.receiver_rtt.unwrap_or(Duration::ZERO);
        let shortest = rtt.srtt().map_or(receiver, |srtt| srtt.min(receiver));
        let wait = shortest.mul_div(1, COMPRESSED_RTT_DIVISOR).min(profile.compressed_ack_delay);
        compressed.deadline.set_once(clock.now() + wait);
    }

    /// True when ACKs that are held back would not report a block: one leaves before the segment is taken.
    pub(super) fn has_compressed(&self) -> bool {
        self.compressed.as_ref().is_some_and(|compressed| compressed.held > 0)
    }

    /// Sets the timer of a delayed ACK, or sends the ACK if the timer is about to run.
    fn delay(&mut self, context: &Context<'_>) {
        let clock = context.clock;
        let ato = self.wait(context).min(context.profile.jiffies.delayed_ack_limit);
        let jiffies = clock.jiffies();
        let mut timeout = jiffies + ato;
        if !self.delayed.runs.is_never() {
            if self.delayed.timeout <= jiffies + ato / 4 {
                self.due = true;
                return;
            }
            timeout = timeout.min(self.delayed.timeout);
        }
        let runs = When::at(clock.wheel_deadline(timeout - jiffies));
        self.delayed = Delayed { timeout, runs };
    }

    /// Jiffies that an ACK waits: no longer than the round trip is, where it is known.
    fn wait(&self, context: &Context<'_>) -> u64 {
        let Context { clock, profile, rtt } = context;
        let shortest = profile.jiffies.delayed_ack_min;
        if self.ato <= shortest {
            return self.ato;
        }
        let is_bounded = self.is_dialogue(profile) || self.pushed;
        let jiffies = &profile.jiffies;
        let bound = if is_bounded { jiffies.delayed_ack_max } else { jiffies.delayed_ack_unknown };
        let round_trip = rtt.srtt().map_or(u64::MAX, |srtt| clock.jiffies_in(srtt).max(shortest));
        self.ato.min(bound).min(round_trip)
    }

    /// A timer has run.
    pub(super) fn on_timer(&mut self, clock: &Clock, profile: &SharedProfile) {
        if let Some(compressed) = &mut self.compressed
            && compressed.deadline.is_by(clock.now())
        {
            compressed.deadline = When::NEVER;
            self.due = true;
        }
        if !self.delayed.runs.is_by(clock.now()) {
            return;
        }
        self.delayed = Delayed::NONE;
        if self.is_dialogue(profile) {
            // The answer did not come in time: ACKs no longer wait for it.
            self.pingpong = 0;
            self.ato = profile.jiffies.delayed_ack_min;
        } else {
            self.ato = (self.ato * 2).min(profile.jiffies.delayed_ack_max);
        }
        self.due = true;
    }

    /// The application has read, `emptied` if all that there was. True when that makes an ACK due.
    pub(super) fn on_read(
        &mut self,
        emptied: bool,
        unacknowledged: u64,
        segment: u64,
        profile: &SharedProfile,
    ) -> bool {
        let is_pushed = self.pushed_again || (self.pushed && !self.is_dialogue(profile));
        if self.scheduled && (unacknowledged > segment || (emptied && is_pushed)) {
            self.due = true;
        }
        self.due
    }

    /// The window has opened: an ACK announces it.
    pub(super) const fn on_window_opened(&mut self) {
        self.due = true;
    }

    /// A segment with an ACK has left.
    pub(super) fn on_ack_sent(&mut self, profile: &SharedProfile) {
        if self.scheduled && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = profile.jiffies.delayed_ack_min;
            }
        }
        if let Some(compressed) = &mut self.compressed {
            (compressed.held, compressed.deadline) = (0, When::NEVER);
        }
        self.delayed = Delayed::NONE;
        (self.scheduled, self.at_once, self.due) = (false, false, false);
        (self.pushed, self.pushed_again) = (false, false);
    }

    /// A segment with data has left. Soon after one came, it is an answer.
    pub(super) const fn on_data_sent(&mut self, clock: &Clock) {
        if clock.jiffies() - self.received_at < self.ato {
            self.pingpong = self.pingpong.saturating_add(1);
        }
    }
}
