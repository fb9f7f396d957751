//! Mean rate of bulk data where packets are lost at random: the windows of a sender, round trip by round trip.
//!
//! - Behind a loss the window falls, to a half or to CUBIC's share, and stands for the round trip that
//!   repairs the loss. It then grows by its congestion control in each round trip, and goes on for one more
//!   behind the next loss, until that is known.
//! - It holds no more than the receiver's window, the send buffer and the credits let fly. Where it was full, nothing but the lost segment
//!   goes until that is repaired. A round trip lasts as long as the slowest link takes for it.
//! - An ACK covers two segments: half a segment, in the mean, waits for another one, or for the timer of a delayed ACK.
//! - Without SACK each further loss in a window takes a round trip more, and with Reno half of the window
//!   again. A timeout and slow start repair a loss that fewer than three segments follow, the loss of a
//!   retransmission, and with Reno three losses in a window, or two in a small or full one.
//!
//! Losses are so many packets apart as an exponential distribution has it: its quantiles, in an order that is drawn once for all.
//!
//! Left out: slow start at the beginning, lost ACKs, timeouts with SACK, queues that overflow.
//!
//! Sources: M. Mathis, J. Semke, J. Mahdavi and T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR
//! 27(3), 1997; RFC 9438, section 5.1; K. Fall and S. Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996.

use std::sync::OnceLock;

use crate::rng::RandomStreams;
use crate::tcp::Profile;
use crate::tcp::linux::CongestionControl;
use crate::units::Duration;

/// Growth of a window, and its fall.
#[derive(Debug, Clone, Copy)]
enum Law {
    /// A segment in `per_ack` round trips, in 4.4BSD with an `eighth` of a segment an ACK besides. Half of it is left.
    Reno { per_ack: f64, eighth: f64 },
    /// RFC 9438: `beta` of it is left. It grows by `steepness` segments a cubed second around the last maximum, or as Reno
    /// would.
    Cubic { beta: f64, steepness: f64, gives_way: bool, is_friendly: bool },
}

impl Law {
    /// Growth from a window, with CUBIC towards its last maximum.
    fn growth(self, begins: f64, last_max: f64, trip_s: f64) -> Growth {
        let origin = last_max.max(begins);
        let plateau_s = match self {
            Self::Reno { .. } => 0.0,
            Self::Cubic { steepness, .. } => libm::cbrt((origin - begins) / steepness),
        };
        Growth { law: self, begins, origin, plateau_s, trip_s }
    }
}

/// Growth of a window behind a loss.
struct Growth {
    law: Law,
    begins: f64,
    /// CUBIC's window on its plateau, and the time until it is there.
    origin: f64,
    plateau_s: f64,
    trip_s: f64,
}

impl Growth {
    /// The window of a round trip, from 1, behind one with `grown` segments.
    fn after(&self, round: f64, grown: f64) -> f64 {
        match self.law {
            Law::Reno { per_ack, eighth } => grown + (1.0 + grown * eighth) / per_ack,
            Law::Cubic { steepness, is_friendly, .. } => {
                // The window follows where the function will be, as ACKs come in the round.
                let away_s = (round + 0.5) * self.trip_s - self.plateau_s;
                let friendly = if is_friendly { self.begins + round * FRIENDLY } else { 0.0 };
                (self.origin + steepness * away_s * away_s * away_s).max(friendly).max(grown)
            }
        }
    }
}

/// Repair of several losses in one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repair {
    /// In one round trip.
    Sack,
    /// One in a round trip.
    NewReno,
    /// Likewise, and each is a loss by itself.
    Reno,
}

/// A sender of bulk data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    law: Law,
    repair: Repair,
    /// Shortest round trip with a segment on its way, in s.
    trip_s: f64,
    /// Time that the slowest link takes for a segment, in s.
    segment_s: f64,
    /// Most segments under way.
    most: f64,
    /// Time that an ACK waits for a second segment, in s.
    ack_wait_s: f64,
    timeout_s: f64,
}

/// Loss events of an estimate. Chosen: ten times as many move the rate by 1.5 % at most.
const EVENTS: usize = 512;

/// Share of the slowest link's rate that counts as full. Chosen: less is told from the whole.
const FULL: f64 = 0.95;

impl Sender {
    /// A sender of `profile`, or `None` where its window does not answer losses: BBR follows the rate of the path.
    pub(super) fn of(profile: &Profile, trip_s: f64, segment_s: f64) -> Option<Self> {
        let (law, repair, timeout_s) = match profile {
            Profile::Linux(own) => {
                let law = match own.congestion_control {
                    CongestionControl::Bbr => return None,
                    CongestionControl::Reno => Law::Reno { per_ack: 1.0, eighth: 0.0 },
                    CongestionControl::Cubic => Law::Cubic {
                        beta: f64::from(own.cubic_beta_1024ths) / 1024.0,
                        steepness: f64::from(own.cubic_scale) * 10.0 / 1024.0,
                        gives_way: own.cubic_fast_convergence,
                        is_friendly: own.cubic_reno_friendly,
                    },
                };
                (law, if own.sack { Repair::Sack } else { Repair::NewReno }, trip_s + 0.2)
            }
            Profile::Bsd(own) => {
                let per_ack = if own.delayed_ack { 2.0 } else { 1.0 };
                let eighth = if own.additive_eighth { 0.125 } else { 0.0 };
                // Two or three ticks of 500 ms pass.
                (Law::Reno { per_ack, eighth }, Repair::Reno, trip_s.max(1.0) + 0.25)
            }
            Profile::Ns2(own) => {
                let per_ack = if own.delayed_ack { 2.0 } else { 1.0 };
                (Law::Reno { per_ack, eighth: 0.0 }, Repair::Reno, trip_s.max(1.0))
            }
        };
        let ack_wait_s = profile.ack_wait().unwrap_or(Duration::ZERO).as_secs_f64();
        Some(Self { law, repair, trip_s, segment_s, most: f64::MAX, ack_wait_s, timeout_s })
    }

    /// The same with at most so many segments under way.
    pub(super) fn with_at_most(self, most: f64) -> Self {
        Self { most: most.max(1.0), ..self }
    }

    /// Mean number of segments in a round trip, where a share `p` of packets, above 0, begins a loss event.
    pub(super) fn window(&self, p: f64) -> f64 {
        self.rate(p) * self.trip_s
    }

    /// Mean rate of segments that arrive, in segments a second, likewise. If it fills the slowest link, the
    /// rate without that link.
    pub(super) fn rate(&self, p: f64) -> f64 {
        let mut draws = RandomStreams::new(0).stream("windows", 0);
        let mut run = Run { sender: self, sent: 0.0, took_s: 0.0, free_s: 0.0 };
        let mut state = State { at_loss: self.most.min(1.0 / p).max(1.0), last_max: 0.0 };
        for quantile in quantiles() {
            let distance = (quantile / p).ceil();
            let more_lost = state.more_lost(p, draws.uniform());
            let is_lost_again = draws.uniform() < p;
            state = run.event(&state, distance, more_lost, is_lost_again);
        }
        let held = 0.5 * (self.ack_wait_s / self.trip_s).min(1.0);
        let mean =
            |took_s: f64| (run.sent / took_s - held / self.trip_s).max(0.5 * run.sent / took_s) * (1.0 - p);
        let found = mean(run.took_s);
        if found * self.segment_s < FULL { found } else { mean(run.free_s) }
    }
}

/// Quantiles of the exponential distribution, in an order of chance.
fn quantiles() -> &'static [f64; EVENTS] {
    static QUANTILES: OnceLock<[f64; EVENTS]> = OnceLock::new();
    QUANTILES.get_or_init(|| {
        let mut found: [f64; EVENTS] =
            std::array::from_fn(|at| -libm::log1p(-(at as f64 + 0.5) / EVENTS as f64));
        let mut order = RandomStreams::new(0).stream("order of losses", 0);
        for at in (1..EVENTS).rev() {
            found.swap(at, order.below(at as u64 + 1) as usize);
        }
        found
    })
}

/// A window at a loss, in segments, and CUBIC's last maximum.
struct State {
    at_loss: f64,
    last_max: f64,
}

impl State {
    /// Further losses in the window behind the first one: 0, 1 or 2 and more, by a draw from 0 to 1.
    fn more_lost(&self, p: f64, draw: f64) -> u32 {
        let others = (self.at_loss - 1.0).max(0.0);
        let none = libm::pow(1.0 - p, others);
        let one = others * p * libm::pow(1.0 - p, (others - 1.0).max(0.0));
        if draw < none { 0 } else { 1 + u32::from(draw >= none + one) }
    }
}

/// Duplicate ACKs that show a loss.
const DUPLICATES: f64 = 3.0;
/// Least window that repairs two losses without a timeout (Fall and Floyd).
const TWO_REPAIRED: f64 = 10.0;
/// Segments a window of growth with CUBIC's beta, that Reno's rate has (`tcp_cubic.c`: 8 / 15).
const FRIENDLY: f64 = 8.0 / 15.0;

/// Segments that were sent, the time that they took, and the time on links that are never full: windows are the same there.
struct Run<'s> {
    sender: &'s Sender,
    sent: f64,
    took_s: f64,
    free_s: f64,
}

impl Run<'_> {
    /// A round trip with a window.
    fn round(&mut self, window: f64) {
        self.sent += window;
        self.lasts(window, 1.0);
    }

    /// Round trips with a window, or a part of one.
    fn lasts(&mut self, window: f64, rounds: f64) {
        let Sender { trip_s, segment_s, .. } = *self.sender;
        self.took_s += rounds * trip_s.max(window * segment_s);
        self.free_s += rounds * trip_s;
    }

    /// From one loss to the next, which is `distance` packets away.
    fn event(&mut self, state: &State, distance: f64, more_lost: u32, is_lost_again: bool) -> State {
        let Sender { law, most, trip_s, .. } = *self.sender;
        let (share, last_max) = match law {
            Law::Reno { .. } => (0.5, 0.0),
            Law::Cubic { beta, gives_way, .. } if gives_way && state.at_loss < state.last_max => {
                (beta, state.at_loss * (1.0 + beta) / 2.0)
            }
            Law::Cubic { beta, .. } => (beta, state.at_loss),
        };
        let is_shut = state.at_loss >= most;
        let mut window = self.repaired(state, share, more_lost, is_shut, is_lost_again);
        let begun = self.sent;
        let growth = law.growth(window, last_max, trip_s);
        let mut grown = window;
        let mut round = 0.0;
        // Behind the hole in a full window nothing more may go.
        self.round(if is_shut { 1.0 } else { window });
        while self.sent - begun < distance {
            if window >= most {
                let rounds = ((distance - (self.sent - begun)) / window).ceil();
                self.sent += rounds * window;
                self.lasts(window, rounds);
                break;
            }
            round += 1.0;
            grown = growth.after(round, grown);
            window = grown.floor().min(most);
            self.round(window);
        }
        let behind = (window - (self.sent - begun - distance)).max(0.0);
        self.lasts(window, behind / window);
        self.sent += behind;
        State { at_loss: window, last_max }
    }

    /// Window while losses are repaired: a share of the one at the loss.
    fn repaired(
        &mut self,
        state: &State,
        share: f64,
        more_lost: u32,
        is_shut: bool,
        is_lost_again: bool,
    ) -> f64 {
        let left = |window: f64| (window * share).floor().max(2.0);
        let window = left(state.at_loss);
        let is_hidden = state.at_loss < DUPLICATES + 1.0 || is_lost_again;
        match self.sender.repair {
            Repair::Sack => {}
            Repair::NewReno if is_hidden => self.slow_start(window),
            Repair::NewReno => (0..more_lost).for_each(|_| self.round(window)),
            Repair::Reno => {
                let repaired = u32::from(state.at_loss >= TWO_REPAIRED && !is_shut);
                if is_hidden || more_lost > repaired {
                    self.slow_start(window);
                } else if more_lost > 0 {
                    self.round(window);
                    return left(window);
                }
            }
        }
        window
    }

    /// A timeout, and slow start up to a window.
    fn slow_start(&mut self, until: f64) {
        let per_ack = if let Law::Reno { per_ack, .. } = self.sender.law { per_ack } else { 1.0 };
        self.took_s += self.sender.timeout_s;
        self.free_s += self.sender.timeout_s;
        let mut window = 1.0;
        while window < until {
            self.round(window.floor());
            window = (window + (window / per_ack).max(1.0)).min(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::ProfileName;

    #[test]
    fn a_rate_that_fills_the_link_is_as_without_it() {
        for name in [ProfileName::LinuxClassic, ProfileName::Bsd44Lite] {
            let profile = name.profile();
            let on =
                |segment_s| Sender { segment_s, ack_wait_s: 0.0, ..Sender::of(&profile, 0.1, 0.0).unwrap() };
            let free = on(0.0).rate(0.01);
            // A link of a quarter of that rate, where transmission takes far longer than timeouts.
            assert_eq!(on(4.0 / free).rate(0.01), free, "{name:?}");
            // A link that is just not full takes more time for large windows.
            assert!(on(0.9 / free).rate(0.01) < free, "{name:?}");
        }
    }
}
