//! BBR: window and pace follow a model of the path, its rate and its shortest round trip, instead of losses.
//!
//! Models version 1 as Linux has it, in its integers: rates in segments a microsecond times 2^24, gains in 256ths, windows
//! in segments, the 10 s and 200 ms of the shortest round trip in ticks. Each ACK moves the model in the kernel's order: rate,
//! ACK aggregation, phase of the cycle, full pipe, drained queue, shortest round trip. Pace and window follow. Leaves out ECN,
//! as version 1 does.
//!
//! Source: Linux 6.18 `tcp_bbr.c`; N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016.

mod aggregation;
mod policer;
#[cfg(test)]
mod tests;
mod windowed_max;

use aggregation::Aggregation;
use policer::Policer;
use windowed_max::WindowedMax;

use super::window::Window;
use crate::rng::RandomStream;
use crate::tcp::linux::rates::Rate;
use crate::tcp::linux::recovery::CaState;
use crate::units::Duration;

/// Fraction bits of a rate in segments a microsecond (`BW_SCALE`).
const RATE_SHIFT: u32 = 24;
const RATE_UNIT: u64 = 1 << RATE_SHIFT;
/// A gain of one (`BBR_UNIT`).
const ONE: u64 = 256;
/// Gain that doubles the rate each round trip, 2 / ln 2 (`bbr_high_gain`), and its inverse (`bbr_drain_gain`).
const GAIN_STARTUP: u64 = ONE * 2885 / 1000 + 1;
const GAIN_DRAIN: u64 = ONE * 1000 / 2885;
/// Gain of the window in PROBE_BW (`bbr_cwnd_gain`).
const GAIN_WINDOW: u64 = 2 * ONE;
/// Gain of the pace in each phase of PROBE_BW (`bbr_pacing_gain`).
const CYCLE: [u64; 8] = [ONE * 5 / 4, ONE * 3 / 4, ONE, ONE, ONE, ONE, ONE, ONE];
/// Phases that a cycle may begin with (`bbr_cycle_rand`).
const CYCLE_STARTS: u64 = 7;
/// Rounds that a rate counts for (`bbr_bw_rtts`).
const RATE_ROUNDS: u32 = 10;
/// Time that a round trip counts as the shortest (`bbr_min_rtt_win_sec`), and length of PROBE_RTT
/// (`bbr_probe_rtt_mode_ms`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Smallest window (`bbr_cwnd_min_target`).
const CWND_MIN: u32 = 4;
/// Segments that a path of unknown round trip holds. The window also grows until as many are delivered
/// (`TCP_INIT_CWND`).
const CWND_INITIAL: u32 = 10;
/// Rounds without growth of the rate by a quarter before the pipe counts as full (`bbr_full_bw_cnt`,
/// `bbr_full_bw_thresh`).
const FULL_ROUNDS: u32 = 3;
const FULL_GROWTH: u64 = ONE * 5 / 4;
/// Pace in percent of the rate times its gain (`bbr_pacing_margin_percent` 1).
const PACE_PERCENT: u64 = 99;
/// Least pace, in bytes a second, of bursts with two segments and not one (`bbr_min_tso_rate`).
const SLOW: u64 = 1_200_000 >> 3;
/// Bytes of the largest burst (`GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`), and its segments.
const BURST_BYTES_MAX: u64 = 65_536 - 1 - 320;
const BURST_MAX: u64 = 127;

/// State of the model (`bbr_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Doubles the rate each round trip.
    Startup,
    /// Lets the queue that this has built run empty.
    Drain,
    /// Sends at the rate, with a probe for more in each cycle (PROBE_BW).
    ProbeRate,
    /// Sends four segments a round trip, to see the path without a queue (PROBE_RTT).
    ProbeRtt,
}

impl Mode {
    const COUNT: usize = Self::ProbeRtt as usize + 1;

    /// Names in the order of the modes, as papers on BBR write them.
    pub const NAMES: [&'static str; Self::COUNT] = ["STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"];
}

/// State of BBR.
#[derive(Debug, Clone)]
pub(super) struct Bbr {
    mode: Mode,
    /// Start of the mode, and time in each before it, in microseconds.
    entered_at: u64,
    times: [u64; Mode::COUNT],
    pace_gain: u64,
    window_gain: u64,
    rate: WindowedMax,
    /// Pace in bytes a second (`sk_pacing_rate`).
    pace: u64,
    round: u32,
    /// A round ends with a segment that left after so many deliveries (`next_rtt_delivered`).
    round_end: u64,
    round_started: bool,
    /// Shortest round trip in microseconds, if known, and its jiffy.
    min_rtt: Option<u64>,
    min_rtt_at: u64,
    /// Last jiffy of PROBE_RTT. `None` while more is in flight than it allows (`probe_rtt_done_stamp`).
    probe_rtt_until: Option<u64>,
    probe_rtt_round_done: bool,
    phase: usize,
    /// Start of the phase in microseconds.
    phase_at: u64,
    /// The pipe is full. The rate at its last growth by a quarter, and rounds since.
    is_full: bool,
    full_rate: u64,
    full_rounds: u32,
    /// Window before recovery or PROBE_RTT, and the state at the last ACK that showed a delivery.
    prior_cwnd: u32,
    prior_state: CaState,
    /// First round of recovery (`packet_conservation`).
    conserves_packets: bool,
    restarts_from_idle: bool,
    has_seen_rtt: bool,
    aggregation: Aggregation,
    policer: Policer,
    random: RandomStream,
}

/// The connection as an event finds it. Times in microseconds but for `jiffies`.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp::linux) struct Found {
    /// Now, and the time until the next departure.
    pub(in crate::tcp::linux) now: u64,
    pub(in crate::tcp::linux) wait: u64,
    /// Ticks of the kernel up to now, and their length.
    pub(in crate::tcp::linux) jiffies: u64,
    pub(in crate::tcp::linux) jiffy: Duration,
    /// Payload of a full segment, in bytes.
    pub(in crate::tcp::linux) mss: u64,
    /// Segments delivered and lost since the connection was opened, and the time of the last delivery.
    pub(in crate::tcp::linux) delivered: u64,
    pub(in crate::tcp::linux) lost: u64,
    pub(in crate::tcp::linux) delivered_at: u64,
    pub(in crate::tcp::linux) in_flight: u32,
    pub(in crate::tcp::linux) state: CaState,
    /// Smoothed and shortest round trip, if known.
    pub(in crate::tcp::linux) srtt: Option<u64>,
    pub(in crate::tcp::linux) min_rtt: Option<u64>,
}

/// The model of BBR, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BbrReport {
    /// State of the model.
    pub mode: Mode,
    /// Time in STARTUP.
    pub startup: Duration,
    /// Time in DRAIN.
    pub drain: Duration,
    /// Time in PROBE_BW.
    pub probe_bw: Duration,
    /// Time in PROBE_RTT.
    pub probe_rtt: Duration,
    /// Shortest round trip, if known.
    pub min_rtt: Option<Duration>,
    /// Rate in bit/s of payload.
    pub rate_bps: u64,
}

/// An event other than an ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp::linux) enum Event {
    /// Both SYNs are acknowledged (`init`).
    Established,
    /// Data leaves after an empty flight, and the application had too little of it (`CA_EVENT_TX_START`).
    RestartsFromIdle,
    /// The retransmission timer expired (`set_state` with `TCP_CA_Loss`).
    Timeout,
    /// A loss was none (`undo_cwnd`).
    Undo,
}

/// An ACK and its sample of the rate (`struct rate_sample`).
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp::linux) struct RateSample {
    pub(in crate::tcp::linux) rate: Rate,
    /// Segments that had been delivered when the most recently sent one of this ACK left.
    pub(in crate::tcp::linux) prior_delivered: u64,
    /// Segments that it newly shows to have arrived, or to be lost.
    pub(in crate::tcp::linux) acked: u32,
    pub(in crate::tcp::linux) lost: u32,
    /// Its round trip in microseconds, if it shows one, and true if it may have waited at the receiver.
    pub(in crate::tcp::linux) rtt: Option<u64>,
    pub(in crate::tcp::linux) maybe_delayed: bool,
    /// Segments in flight before it.
    pub(in crate::tcp::linux) prior_in_flight: u32,
}

impl Found {
    const fn ticks(&self, span: Duration) -> u64 {
        span.as_nanos().div_ceil(self.jiffy.as_nanos())
    }
}

/// Pace in bytes a second at `gain` times `rate` (`bbr_rate_bytes_per_sec()`).
fn pace(rate: u64, gain: u64, mss: u64) -> u64 {
    let gained = (u128::from(rate) * u128::from(mss * gain)) >> 8;
    let bytes = (gained * u128::from(1_000_000 / 100 * PACE_PERCENT)) >> RATE_SHIFT;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Bbr {
    pub(super) fn new(random: RandomStream) -> Self {
        Self {
            mode: Mode::Startup,
            entered_at: 0,
            times: [0; Mode::COUNT],
            pace_gain: GAIN_STARTUP,
            window_gain: GAIN_STARTUP,
            rate: WindowedMax::default(),
            pace: 0,
            round: 0,
            round_end: 0,
            round_started: false,
            min_rtt: None,
            min_rtt_at: 0,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            phase: 0,
            phase_at: 0,
            is_full: false,
            full_rate: 0,
            full_rounds: 0,
            prior_cwnd: 0,
            prior_state: CaState::Open,
            conserves_packets: false,
            restarts_from_idle: false,
            has_seen_rtt: false,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            random,
        }
    }

    /// Pace in bytes a second, 0 before the connection is established.
    pub(super) const fn pace(&self) -> u64 {
        self.pace
    }

    /// Moves the model, pace and window by an event other than an ACK.
    pub(super) fn on_event(&mut self, found: &Found, event: Event, window: &mut Window) {
        match event {
            Event::Established => self.begin(found, window.cwnd),
            Event::RestartsFromIdle => self.restart_from_idle(found, window),
            Event::Timeout => {
                self.prior_state = CaState::Loss;
                self.full_rate = 0;
                self.round_started = true;
                self.note_policer(found, 1, false);
            }
            Event::Undo => {
                (self.full_rate, self.full_rounds) = (0, 0);
                self.policer.forget(found);
            }
        }
    }

    /// Begins anew: the ACK of our SYN came before (`bbr_init()`).
    fn begin(&mut self, found: &Found, cwnd: u32) {
        *self = Self { entered_at: found.now, ..Self::new(self.random.clone()) };
        self.round_end = found.delivered;
        (self.min_rtt, self.min_rtt_at) = (found.min_rtt, found.jiffies);
        self.aggregation.restart(found.now);
        self.policer.forget(found);
        self.begin_pace(found, cwnd);
    }

    /// Pace that doubles cwnd in a round trip, of 1 ms while unknown (`bbr_init_pacing_rate_from_rtt()`).
    fn begin_pace(&mut self, found: &Found, cwnd: u32) {
        self.has_seen_rtt = found.srtt.is_some();
        let rate = u64::from(cwnd) * RATE_UNIT / found.srtt.unwrap_or(1000).max(1);
        self.pace = pace(rate, GAIN_STARTUP, found.mss);
    }

    fn restart_from_idle(&mut self, found: &Found, window: &mut Window) {
        self.restarts_from_idle = true;
        self.aggregation.restart(found.now);
        match self.mode {
            Mode::ProbeRate => self.set_pace(found, window.cwnd, ONE),
            Mode::ProbeRtt => self.end_probe_rtt(found, window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// Rate of the model (`bbr_bw()`).
    fn rate(&self) -> u64 {
        self.policer.rate().unwrap_or(self.rate.get())
    }

    /// Segments of a burst at the pace (`bbr_tso_segs_goal()`).
    fn burst(&self, mss: u64) -> u32 {
        let least = if self.pace < SLOW { 1 } else { 2 };
        ((self.pace >> 10).min(BURST_BYTES_MAX) / mss).max(least).min(BURST_MAX) as u32
    }

    /// Segments that the path holds without a queue, times `gain` (`bbr_bdp()`).
    fn pipe(&self, rate: u64, gain: u64) -> u32 {
        match self.min_rtt {
            None => CWND_INITIAL,
            Some(rtt) => ((rate * rtt * gain) >> 8).div_ceil(RATE_UNIT) as u32,
        }
    }

    /// Adds three bursts for both hosts, rounds up to an even number, and adds two for the probe (`bbr_quantization_budget()`).
    fn with_bursts(&self, segments: u32, mss: u64) -> u32 {
        let even = (segments + 3 * self.burst(mss) + 1) & !1;
        if self.mode == Mode::ProbeRate && self.phase == 0 { even + 2 } else { even }
    }

    /// Segments in flight at `gain` times the rate (`bbr_inflight()`).
    fn target(&self, gain: u64, mss: u64) -> u32 {
        self.with_bursts(self.pipe(self.rate.get(), gain), mss)
    }

    /// Segments in the network at the next departure, of `in_flight` now (`bbr_packets_in_net_at_edt()`).
    fn in_network(&self, found: &Found, in_flight: u32) -> u32 {
        let more = if self.pace_gain > ONE { self.burst(found.mss) } else { 0 };
        let arrives = (self.rate() * found.wait) >> RATE_SHIFT;
        u64::from(in_flight + more).saturating_sub(arrives) as u32
    }

    /// Moves the model, pace and window by an ACK (`bbr_main()`). True while the sender itself keeps the flight small, so that
    /// rates are no measure of the path.
    pub(super) fn on_ack(&mut self, found: &Found, sample: &RateSample, window: &mut Window) -> bool {
        self.note_rate(found, sample);
        self.note_aggregation(found, sample, window.cwnd);
        if self.mode == Mode::ProbeRate && self.is_phase_over(found, sample) {
            self.next_phase(found.delivered_at);
        }
        self.note_full(sample);
        self.drain(found, window);
        let is_probing_rtt = self.note_round_trip(found, sample, window);
        (self.pace_gain, self.window_gain) = match self.mode {
            Mode::Startup => (GAIN_STARTUP, GAIN_STARTUP),
            Mode::Drain => (GAIN_DRAIN, GAIN_STARTUP),
            Mode::ProbeRate if self.policer.rate().is_some() => (ONE, GAIN_WINDOW),
            Mode::ProbeRate => (CYCLE[self.phase], GAIN_WINDOW),
            Mode::ProbeRtt => (ONE, ONE),
        };
        self.set_pace(found, window.cwnd, self.pace_gain);
        self.set_window(found, sample, window);
        is_probing_rtt
    }

    /// Sets the pace. Until the pipe is full it only rises (`bbr_set_pacing_rate()`).
    fn set_pace(&mut self, found: &Found, cwnd: u32, gain: u64) {
        if !self.has_seen_rtt && found.srtt.is_some() {
            self.begin_pace(found, cwnd);
        }
        let pace = pace(self.rate(), gain, found.mss);
        if self.is_full || pace > self.pace {
            self.pace = pace;
        }
    }

    /// Counts rounds, and takes the sample (`bbr_update_bw()`).
    fn note_rate(&mut self, found: &Found, sample: &RateSample) {
        self.round_started = false;
        let Some(interval) = sample.rate.interval else { return };
        if sample.prior_delivered >= self.round_end {
            self.round_end = found.delivered;
            self.round += 1;
            self.round_started = true;
            self.conserves_packets = false;
        }
        self.note_policer(found, sample.lost, sample.rate.app_limited);
        let rate = sample.rate.delivered * RATE_UNIT / interval;
        if !sample.rate.app_limited || rate >= self.rate.get() {
            self.rate.insert(RATE_ROUNDS, self.round, rate);
        }
    }

    fn note_policer(&mut self, found: &Found, lost: u32, app_limited: bool) {
        if self.policer.rate().is_some() {
            if self.mode == Mode::ProbeRate && self.round_started && self.policer.is_round_last() {
                self.policer.forget(found);
                self.begin_cycle(found);
            }
        } else if self.policer.note(found, lost, app_limited, self.round_started) {
            self.pace_gain = ONE;
        }
    }

    fn note_aggregation(&mut self, found: &Found, sample: &RateSample, cwnd: u32) {
        if sample.acked > 0 && sample.rate.interval.is_some() {
            let rate = self.rate();
            self.aggregation.note(rate, found.delivered_at, sample.acked, cwnd, self.round_started);
        }
    }

    /// True at the end of a phase of PROBE_BW (`bbr_is_next_cycle_phase()`).
    fn is_phase_over(&self, found: &Found, sample: &RateSample) -> bool {
        let elapsed = found.delivered_at.saturating_sub(self.phase_at);
        let is_full_length = self.min_rtt.is_some_and(|rtt| elapsed > rtt);
        if self.pace_gain == ONE {
            return is_full_length;
        }
        let in_network = self.in_network(found, sample.prior_in_flight);
        if self.pace_gain > ONE {
            is_full_length && (sample.lost > 0 || in_network >= self.target(self.pace_gain, found.mss))
        } else {
            is_full_length || in_network <= self.target(ONE, found.mss)
        }
    }

    fn next_phase(&mut self, at: u64) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_at = at;
    }

    fn enter(&mut self, mode: Mode, now: u64) {
        self.times[self.mode as usize] += now - self.entered_at;
        (self.mode, self.entered_at) = (mode, now);
    }

    /// The model at `now`, in microseconds.
    pub(super) fn report(&self, now: u64, mss: u64) -> BbrReport {
        let mut times = self.times;
        times[self.mode as usize] += now - self.entered_at;
        let [startup, drain, probe_bw, probe_rtt] = times.map(Duration::from_micros);
        let rate_bps = 8 * ((self.rate() * mss * 1_000_000) >> RATE_SHIFT);
        BbrReport {
            mode: self.mode,
            startup,
            drain,
            probe_bw,
            probe_rtt,
            min_rtt: self.min_rtt.map(Duration::from_micros),
            rate_bps,
        }
    }

    /// Enters PROBE_BW in any phase but the slow one.
    fn begin_cycle(&mut self, found: &Found) {
        self.enter(Mode::ProbeRate, found.now);
        self.phase = CYCLE.len() - 1 - self.random.below(CYCLE_STARTS) as usize;
        self.next_phase(found.delivered_at);
    }

    /// Finds the pipe to be full (`bbr_check_full_bw_reached()`).
    fn note_full(&mut self, sample: &RateSample) {
        if self.is_full || !self.round_started || sample.rate.app_limited {
            return;
        }
        if self.rate.get() >= (self.full_rate * FULL_GROWTH) >> 8 {
            (self.full_rate, self.full_rounds) = (self.rate.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.is_full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Leaves STARTUP and DRAIN (`bbr_check_drain()`).
    fn drain(&mut self, found: &Found, window: &mut Window) {
        if self.mode == Mode::Startup && self.is_full {
            self.enter(Mode::Drain, found.now);
            window.ssthresh = self.target(ONE, found.mss);
        }
        if self.mode == Mode::Drain && self.in_network(found, found.in_flight) <= self.target(ONE, found.mss)
        {
            self.begin_cycle(found);
        }
    }

    /// Tracks the shortest round trip, and runs PROBE_RTT where it is old (`bbr_update_min_rtt()`). True in PROBE_RTT.
    fn note_round_trip(&mut self, found: &Found, sample: &RateSample, window: &mut Window) -> bool {
        let is_old = found.jiffies > self.min_rtt_at + found.ticks(MIN_RTT_WINDOW);
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || (is_old && !sample.maybe_delayed))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), found.jiffies);
        }
        if is_old && !self.restarts_from_idle && self.mode != Mode::ProbeRtt {
            self.enter(Mode::ProbeRtt, found.now);
            self.save_window(window.cwnd);
            self.probe_rtt_until = None;
        }
        let is_probing_rtt = self.mode == Mode::ProbeRtt;
        if is_probing_rtt {
            self.probe_rtt(found, window);
        }
        if sample.rate.delivered > 0 {
            self.restarts_from_idle = false;
        }
        is_probing_rtt
    }

    /// PROBE_RTT lasts for its time and a round from when the flight is small.
    fn probe_rtt(&mut self, found: &Found, window: &mut Window) {
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_started;
            if self.probe_rtt_round_done {
                self.end_probe_rtt(found, window);
            }
        } else if found.in_flight <= CWND_MIN {
            self.probe_rtt_until = Some(found.jiffies + found.ticks(PROBE_RTT));
            self.probe_rtt_round_done = false;
            self.round_end = found.delivered;
        }
    }

    /// Leaves PROBE_RTT if its time is over (`bbr_check_probe_rtt_done()`).
    fn end_probe_rtt(&mut self, found: &Found, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| found.jiffies <= until) {
            return;
        }
        self.min_rtt_at = found.jiffies;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.is_full {
            self.begin_cycle(found);
        } else {
            self.enter(Mode::Startup, found.now);
        }
    }

    /// Keeps the window for the end of recovery or PROBE_RTT (`bbr_save_cwnd()`).
    pub(super) fn save_window(&mut self, cwnd: u32) {
        let is_good = self.prior_state < CaState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_good { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// Grows the window towards its target, or cuts it (`bbr_set_cwnd()`).
    fn set_window(&mut self, found: &Found, sample: &RateSample, window: &mut Window) {
        if sample.acked > 0 && !self.follow_losses(found, sample, window) {
            let most = if self.is_full { self.aggregation.room(self.rate()) } else { 0 };
            let target = self.with_bursts(self.pipe(self.rate(), self.window_gain) + most, found.mss);
            if self.is_full {
                window.cwnd = (window.cwnd + sample.acked).min(target);
            } else if window.cwnd < target || found.delivered < u64::from(CWND_INITIAL) {
                window.cwnd += sample.acked;
            }
            window.cwnd = window.cwnd.max(CWND_MIN);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(CWND_MIN);
        }
    }

    /// Takes losses off the window, and restores it behind recovery (`bbr_set_cwnd_to_recover_or_restore()`). True in the first
    /// round of recovery, which sends as much as arrives.
    fn follow_losses(&mut self, found: &Found, sample: &RateSample, window: &mut Window) -> bool {
        if sample.lost > 0 {
            window.cwnd = window.cwnd.saturating_sub(sample.lost).max(1);
        }
        let (before, state) = (self.prior_state, found.state);
        if state == CaState::Recovery && before != CaState::Recovery {
            self.conserves_packets = true;
            self.round_end = found.delivered;
            window.cwnd = found.in_flight + sample.acked;
        } else if before >= CaState::Recovery && state < CaState::Recovery {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.conserves_packets = false;
        }
        self.prior_state = state;
        if self.conserves_packets {
            window.cwnd = window.cwnd.max(found.in_flight + sample.acked);
        }
        self.conserves_packets
    }
}
