//! The sender: ns-2's one-way Reno.
//!
//! Models the agent packet by packet: slow start and congestion avoidance with a window that is a real number, fast
//! retransmit and recovery, limited transmit, going back to the first packet that is not acknowledged after a timeout,
//! bursts that are limited or wait, and the window of an idle agent.
//!
//! Numbers of packets keep ns-2's meaning, but where ns-2 keeps the last packet of a kind (`highest_ack_`, `maxseq_`,
//! `recover_`, with -1 for none) the number after it stands here, as in RFC 9293.
//!
//! Other than ns-2's it gives up after many timeouts in a row ([`Profile::timeouts_max`]). Leaves out the same as [`ns2`](super) as a
//! whole.
//!
//! Source: ns-2.35 `tcp/tcp.cc`, `tcp/tcp-reno.cc`.

use super::profile::Profile;
use super::rtt::Rtt;
use crate::rng::RandomStream;
use crate::tcp::segment::{FIRST_BYTE, Segment};
use crate::tcp::state::{CloseReason, Emit, Limit, Notice};
use crate::units::{Duration, Instant, When};

/// Smallest slow-start threshold, in packets.
const SSTHRESH_MIN: u64 = 2;

/// The sending agent of a one-way transfer: a state machine without clock, queue or I/O.
///
/// Driven in the same way as a [`Connection`](crate::tcp::Connection). Sizes and windows are given in bytes of payload.
#[derive(Debug, Clone)]
pub struct Sender {
    profile: Profile,
    /// Number of packets to send (`curseq_`).
    total: u64,
    /// First packet not acknowledged (`highest_ack_` plus one).
    una: u64,
    /// Next packet to send. Goes back to `una` after a timeout (`t_seqno_`).
    next: u64,
    /// The packet after the highest sent (`maxseq_` plus one).
    max: u64,

    cwnd: f64,
    ssthresh: u64,
    /// Packets that duplicate ACKs add to the window (`dupwnd_`).
    inflation: u64,
    duplicates: u32,
    /// The packet after the highest sent at the last loss: none before it starts another fast retransmit.
    recover: u64,
    last_reaction: Reaction,
    /// Initial window as it is now. The loss of the first packet lowers it.
    initial_cwnd: u32,

    rtt: Rtt,
    /// The packet timed for the round trip, and its time of sending.
    timed: Option<(u64, Instant)>,
    retransmit_timer: Option<Instant>,
    /// When a burst that waits is sent.
    burst_timer: Option<Instant>,
    /// Draws how long a burst waits.
    random: RandomStream,

    retransmits: u64,
    timeouts: u64,
    /// Timeouts since the last ACK of new packets.
    in_a_row: u32,
}

/// Reason of the last reduction of the window (`last_cwnd_action_`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    None,
    DuplicateAcks,
    /// For duplicate ACKs, and a new one has come since.
    Recovered,
    Timeout,
}

impl Sender {
    /// An agent with nothing to send yet.
    ///
    /// Its clock for round-trip times is at `phase` into a tick when the run starts. `random` is asked only for the waiting
    /// time of bursts, where [`Profile::overhead`] is above zero.
    #[must_use]
    pub fn new(profile: &Profile, phase: Duration, random: RandomStream) -> Self {
        let initial_cwnd = profile.initial_cwnd_segments;
        let waits_for_syn = profile.syn && profile.delay_growth;
        Self {
            profile: *profile,
            total: 0,
            una: 0,
            next: 0,
            max: 0,
            cwnd: if waits_for_syn { 1.0 } else { f64::from(initial_cwnd) },
            ssthresh: u64::from(profile.window),
            inflation: 0,
            duplicates: 0,
            recover: 1,
            last_reaction: Reaction::None,
            initial_cwnd,
            rtt: Rtt::new(profile, phase),
            timed: None,
            retransmit_timer: None,
            burst_timer: None,
            random,
            retransmits: 0,
            timeouts: 0,
            in_a_row: 0,
        }
    }

    /// Gives the agent `bytes` more bytes to send, in whole packets.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) {
        if self.total == 0 && bytes > 0 {
            self.total = u64::from(self.profile.syn);
        }
        self.total += self.profile.packets(bytes);
        self.send_much(now, out);
    }

    /// An ACK arrived.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        let acknowledged = self.profile.packet_number(segment.ack);
        if acknowledged > self.una {
            self.on_new_ack(now, acknowledged);
        } else if acknowledged == self.una && self.una < self.total {
            self.on_duplicate_ack(now, out);
        }
        if self.duplicates == 0 || self.duplicates >= self.profile.duplicate_ack_threshold {
            self.send_much(now, out);
        }
    }

    /// When [`on_timeout`](Self::on_timeout) has something to do. `None` when nothing is pending.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        When::from(self.retransmit_timer).min(self.burst_timer.into()).get()
    }

    /// Runs the timers that are due. May be called early or for nothing.
    pub fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        if self.burst_timer.is_some_and(|at| at <= now) {
            self.burst_timer = None;
            self.send_burst(now, out);
        }
        if self.retransmit_timer.is_some_and(|at| at <= now) {
            self.retransmit_timer = None;
            self.on_retransmit_expiry(now, out);
        }
    }

    fn on_new_ack(&mut self, now: Instant, acknowledged: u64) {
        if self.last_reaction == Reaction::DuplicateAcks {
            self.last_reaction = Reaction::Recovered;
        }
        self.inflation = 0;
        self.duplicates = 0;
        self.in_a_row = 0;
        if !self.profile.timer_after_rtt {
            self.restart_timer(now, acknowledged);
        }
        self.una = acknowledged;
        self.next = self.next.max(acknowledged);
        if let Some((_, sent)) = self.timed.take_if(|(number, _)| *number < acknowledged) {
            self.rtt.sample(sent, now, &self.profile);
        }
        if self.profile.timer_after_rtt {
            self.restart_timer(now, acknowledged);
        }
        self.cwnd += if self.cwnd < self.ssthresh as f64 { 1.0 } else { 1.0 / self.cwnd };
        if self.una == 1 && self.profile.delay_growth {
            self.cwnd = f64::from(self.initial_cwnd);
        }
    }

    /// Restarts the retransmission timer after an ACK if packets are still outstanding.
    ///
    /// With `timer_after_rtt` it restarts always: the timer also measures the agent's idle time.
    fn restart_timer(&mut self, now: Instant, acknowledged: u64) {
        if self.next >= acknowledged || acknowledged < self.max || self.cwnd < 1.0 {
            self.set_timer(now);
        } else {
            self.retransmit_timer = None;
        }
    }

    fn on_duplicate_ack(&mut self, now: Instant, out: &mut impl Emit) {
        self.duplicates += 1;
        let threshold = self.profile.duplicate_ack_threshold;
        let exits = self.profile.exit_fast_retransmit;
        if self.duplicates == threshold {
            self.on_third_duplicate(now, out);
            if !exits {
                self.inflation = u64::from(threshold);
            }
        } else if self.duplicates > threshold {
            if !exits || self.last_reaction == Reaction::DuplicateAcks {
                self.inflation += 1;
            }
        } else if self.profile.limited_transmit {
            self.send_one(now, out);
        }
    }

    /// Sends the first packet again and halves the window, once a window of data.
    fn on_third_duplicate(&mut self, now: Instant, out: &mut impl Emit) {
        let has_recovered = self.una > self.recover;
        let second_is_lost = self.profile.bug_fix_start && self.una == 1;
        if !has_recovered && self.profile.bug_fix && !second_is_lost {
            return;
        }
        self.recover = self.max;
        self.last_reaction = Reaction::DuplicateAcks;
        let half = self.half_window();
        self.ssthresh = (half as u64).max(SSTHRESH_MIN);
        self.cwnd = half;
        self.set_timer(now);
        self.timed = None;
        self.send(now, self.una, out);
        self.inflation = u64::from(self.profile.duplicate_ack_threshold);
    }

    /// Sends a new packet for a duplicate ACK below the threshold (RFC 3042).
    fn send_one(&mut self, now: Instant, out: &mut impl Emit) {
        let allowance = self.cwnd + f64::from(self.duplicates);
        let in_window = self.next < self.una + u64::from(self.profile.window);
        if in_window && self.next < self.total && ((self.next + 1 - self.una) as f64) <= allowance {
            self.send(now, self.next, out);
            self.next += 1;
        }
    }

    /// Halves ssthresh, shuts the window to one packet and goes back to the first packet that is not acknowledged. When
    /// nothing was outstanding, the agent has been idle, and only the window is shut.
    fn on_retransmit_expiry(&mut self, now: Instant, out: &mut impl Emit) {
        self.inflation = 0;
        self.duplicates = 0;
        self.cwnd = self.cwnd.max(1.0);
        let is_idle = self.una == self.max;
        if self.profile.bug_fix || !is_idle || self.profile.slow_start_restart {
            self.recover = self.max;
        }
        if is_idle {
            if self.profile.slow_start_restart {
                self.cwnd = 1.0;
                self.ssthresh = self.ssthresh.max(SSTHRESH_MIN);
            }
        } else {
            self.timeouts += 1;
            self.in_a_row += 1;
            if self.has_given_up() {
                return out.notify(Notice::Closed(CloseReason::TimedOut));
            }
            if self.una == 0 && self.profile.bug_fix_start {
                self.initial_cwnd = 1;
            }
            self.ssthresh = (self.half_window() as u64).max(SSTHRESH_MIN);
            self.cwnd = 1.0;
            self.rtt.back_off(&self.profile);
            self.set_timer(now);
        }
        self.last_reaction = Reaction::Timeout;
        self.next = self.una;
        self.timed = None;
        self.send_much(now, out);
    }

    /// Sends what the window allows, now or, where bursts wait, after a while.
    fn send_much(&mut self, now: Instant, out: &mut impl Emit) {
        if self.burst_timer.is_some() {
            return;
        }
        if self.profile.overhead == Duration::ZERO {
            self.send_burst(now, out);
        } else if self.may_send() {
            let wait = self.random.duration_between(Duration::ZERO, self.profile.overhead);
            self.burst_timer = Some(now + wait);
        }
    }

    fn send_burst(&mut self, now: Instant, out: &mut impl Emit) {
        let limit = match self.profile.burst_max {
            0 => u32::MAX,
            limit => limit,
        };
        for _ in 0..limit {
            if !self.may_send() {
                break;
            }
            self.send(now, self.next, out);
            self.next += 1;
        }
    }

    /// True when there is a packet to send and the window has room for it.
    fn may_send(&self) -> bool {
        self.next < self.una + self.window() && self.next < self.total
    }

    fn send(&mut self, now: Instant, number: u64, out: &mut impl Emit) {
        let nothing_outstanding = self.una == self.max;
        out.send_with_options(&self.profile.packet(number));
        if number < self.max {
            self.retransmits += 1;
        } else {
            self.max = number + 1;
            self.timed.get_or_insert((number, now));
        }
        if self.retransmit_timer.is_none() || nothing_outstanding {
            self.set_timer(now);
        }
    }

    fn set_timer(&mut self, now: Instant) {
        self.retransmit_timer = Some(now + self.rtt.timeout(&self.profile));
    }

    /// Packets that may be in flight.
    fn window(&self) -> u64 {
        (self.cwnd as u64 + self.inflation).min(u64::from(self.profile.window))
    }

    /// Half of what may be in flight, in packets. Whole unless `precise_halving` is on.
    fn half_window(&self) -> f64 {
        if self.profile.precise_halving {
            (self.cwnd + self.inflation as f64).min(f64::from(self.profile.window)) / 2.0
        } else {
            (self.window() / 2) as f64
        }
    }

    /// Limit on further packets of the agent: a burst that waits is [`Limit::Writer`].
    #[must_use]
    pub fn limit(&self) -> Limit {
        if self.next >= self.total {
            Limit::None
        } else if self.next >= self.una + u64::from(self.profile.window) {
            Limit::Window
        } else if self.next >= self.una + self.window() {
            Limit::Cwnd
        } else {
            Limit::Writer
        }
    }

    /// True when everything that was written is acknowledged, or the agent has given up.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.una == self.total || self.has_given_up()
    }

    const fn has_given_up(&self) -> bool {
        self.in_a_row >= self.profile.timeouts_max
    }

    /// Size of a packet of the agent on the wire, in bytes.
    #[must_use]
    pub fn packet_bytes(&self, segment: &Segment) -> u32 {
        self.profile.packet_bytes(segment)
    }

    /// Bytes of payload that have been sent at least once. The last packet counts whole.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.profile.data_bytes(self.max)
    }

    /// Bytes of payload that the sink has acknowledged. The last packet counts whole.
    #[must_use]
    pub fn bytes_acknowledged(&self) -> u64 {
        self.profile.data_bytes(self.una)
    }

    /// First number not acknowledged.
    #[must_use]
    pub fn snd_una(&self) -> u64 {
        self.profile.sequence_number(self.una)
    }

    /// Highest number sent, plus one. [`FIRST_BYTE`] at least.
    #[must_use]
    pub fn snd_max(&self) -> u64 {
        self.profile.sequence_number(self.max).max(FIRST_BYTE)
    }

    /// Congestion window, in bytes. Inflated by duplicate ACKs as the agent does it.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        ((self.cwnd + self.inflation as f64) * self.profile.packet_size.get() as f64) as u64
    }

    /// Slow-start threshold, in bytes. The window before the first loss.
    #[must_use]
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh * self.profile.packet_size.get()
    }

    /// Packets that were sent again.
    #[must_use]
    pub const fn retransmits(&self) -> u64 {
        self.retransmits
    }

    /// Times that the retransmission timer expired with something outstanding.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// The retransmission timeout in force.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rtt.timeout(&self.profile)
    }

    /// Smoothed round-trip time, in fractions of a tick. `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt(&self.profile)
    }
}
