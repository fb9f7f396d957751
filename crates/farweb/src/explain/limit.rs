//! Limit of one connection in a direction: the least of its window, its carrier's credits, and cwnd at the losses of its path.
//!
//! - The **window** lets as many whole segments fly as it holds, once a round trip ([`WindowLimit`]).
//! - The **send buffer** of Linux, in bytes of memory with the overhead of each segment, lets two thirds of what it holds fly. It counts
//!   with its largest size.
//! - A **credit** comes back once a round trip at best: a session's limits one message, a connection's all of them together. The end
//!   that receives grants it: clients for responses, servers for requests. A credit that grows counts with its largest value.
//! - **Losses** keep cwnd small: in the mean at `sqrt(3 / 2bp)` segments with Reno, b segments an ACK and the share p of packets that
//!   begin a loss event (Mathis). CUBIC's mean is the larger of Reno's and its own (RFC 9438). Retransmission timeouts cost time besides
//!   (Padhye). Losses within a window are one event: a burst counts once, and again for each window that it lasts. BBR has no such limit.
//!
//! Losses of steps count as they stay: by the last one, or the least of a period that comes again.
//!
//! Left out: losses of handovers, of ACKs and listed ones, queues that overflow, timeouts that bursts cause. Window and credit are bounds;
//! losses give an estimate, which long transfers keep within [`LOSS_MARGIN`] and short ones may not: slow start takes them beyond it.
//!
//! Sources: M. Mathis, J. Semke, J. Mahdavi and T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR
//! 27(3), 1997; J. Padhye, V. Firoiu, D. Towsley and J. Kurose, "Modeling TCP throughput", SIGCOMM 1998, equation 30 and section 2.1;
//! RFC 9438, section 5.1.

use serde::Serialize;

use super::figures;
use super::leg::{Stretch, WindowLimit};
use crate::http::h2::endpoint::{Config, Role};
use crate::http::h2::tuning::{Tuning, TuningRule};
use crate::net::{Direction, Loss};
use crate::scenario::{Carrier, Leg, LinkDirection};
use crate::tcp::Profile;
use crate::tcp::linux::CongestionControl;
use crate::units::{BitRate, Bytes, Duration};

/// Reason for the limit of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The window of TCP.
    Window,
    /// The carrier's credit for all sessions of a connection.
    Credit,
    /// The send buffer of TCP.
    SendBuffer,
    /// Losses.
    Loss,
}

/// Largest ratio of the rate of a bulk transfer with a hundred loss events to the estimate by losses. Chosen: above 1.67, the largest of
/// 180 such transfers with CUBIC and Reno, round trips of 40 to 600 ms and losses of 0.03 to 3 %, singly and in bursts of up to 20. The
/// slowest ran at 0.97 times the estimate with single losses, at 0.17 times with bursts of 10 at 3 % and 40 ms.
pub const LOSS_MARGIN: f64 = 2.0;

/// Limits of one connection in a direction, in bit/s with headers; none where a round trip takes no time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionLimit {
    /// Least of its window, its credit and its losses.
    pub connection_limit_bps: Option<f64>,
    /// Cause of the limit.
    pub limited_by: LimitedBy,
    /// The same limit and its reason in words.
    pub connection_limit_text: Option<String>,
    /// Credit of a connection, in bytes; none where the carrier has none.
    pub credit_bytes: Option<u64>,
    /// Credit of a session, in bytes; none as above.
    pub session_credit_bytes: Option<u64>,
    /// Limit of one session on it, by its own credit too; none where there are no sessions.
    pub session_limit_bps: Option<f64>,
    /// Share of packets lost on the way, 0 to 1.
    pub loss_share: f64,
    /// Share of packets that begin a loss event, 0 to 1: less than `loss_share` where losses come in bursts.
    pub loss_event_share: f64,
    /// Estimate of the rate that losses leave; none without losses, and where they set no limit.
    pub loss_limit_bps: Option<f64>,
    /// Why losses set no limit, in words; none without losses, and where they do.
    pub loss_limit_text: Option<&'static str>,
}

/// Bulk transfers with BBR keep 87 % of a link of 20 Mbit/s and 50 ms with 10 % lost, and half with 15 %, where losses pass for those
/// of a policer.
const NO_LOSS_LIMIT: &str = "no limit: BBR sends at the rate that it measures, up to some 10 % lost";

impl ConnectionLimit {
    /// Limits of a connection of `leg` on one stretch of it, with this window, as it is in that direction; credits come back after
    /// the `whole` round trip of the leg.
    pub(super) fn of(
        leg: &Leg,
        whole: Duration,
        stretch: &Stretch<'_>,
        window: &WindowLimit,
        way: Direction,
    ) -> Self {
        let trip = stretch.round_trip();
        let (session, connection) = credits(&leg.carrier, way);
        let per_trip = |credit: u64| {
            let on_wire = credit as f64 * window.packet_bytes() as f64 / window.payload_bytes as f64;
            (whole > Duration::ZERO).then(|| on_wire * 8.0 / whole.as_secs_f64())
        };
        let losses: Vec<Loss> = stretch.links.iter().map(|link| lasting(link.towards(way))).collect();
        let loss_share = one_of(losses.iter().map(mean_loss));
        let profile = stretch.tcp.profile();
        let law = SquareRoot::of(&profile, trip);
        let loss_event_share = law.events(|| losses.iter());
        let is_slowed = !is_by_rate(&profile);
        let loss_limit_bps = (loss_share > 0.0 && trip > Duration::ZERO && is_slowed)
            .then(|| law.rate(loss_event_share, window.packet_bytes()));
        let cycle = (trip + Duration::from_nanos(window.segment_ns)).as_secs_f64();
        let buffered = profile.segments_of_send_buffer(window.payload_bytes);
        let buffer_limit_bps = buffered
            .filter(|_| trip > Duration::ZERO)
            .map(|segments| (segments * window.packet_bytes() * 8) as f64 / cycle);
        let limits = [
            (window.window_limit_bps, LimitedBy::Window),
            (buffer_limit_bps, LimitedBy::SendBuffer),
            (connection.and_then(per_trip), LimitedBy::Credit),
            (loss_limit_bps, LimitedBy::Loss),
        ];
        let limits = limits.into_iter().filter_map(|(limit, by)| Some((limit?, by)));
        let least = limits.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let connection_limit_bps = least.map(|(limit, _)| limit);
        let of_session = session.and_then(per_trip);
        let mut limit = Self {
            connection_limit_bps,
            limited_by: least.map_or(LimitedBy::Window, |(_, by)| by),
            connection_limit_text: None,
            credit_bytes: connection,
            session_credit_bytes: session,
            session_limit_bps: of_session.zip(connection_limit_bps).map(|(own, all)| own.min(all)),
            loss_share,
            loss_event_share,
            loss_limit_bps,
            loss_limit_text: (loss_share > 0.0 && !is_slowed).then_some(NO_LOSS_LIMIT),
        };
        limit.connection_limit_text = limit.text(window, buffered, trip, whole);
        limit
    }

    fn text(
        &self,
        window: &WindowLimit,
        buffered: Option<u64>,
        trip: Duration,
        whole: Duration,
    ) -> Option<String> {
        let packet = window.packet_bytes();
        let rate = format!("{} with headers", figures::rate(self.connection_limit_bps?));
        Some(match self.limited_by {
            LimitedBy::Window => format!(
                "{rate} = {} × {packet} B per ({} + {})",
                window.window_segments,
                figures::span(trip),
                figures::span(Duration::from_nanos(window.segment_ns))
            ),
            LimitedBy::SendBuffer => {
                let segments = buffered.expect("it limits");
                format!(
                    "about {rate}: its send buffer lets {segments} × {packet} B go per {}",
                    figures::span(trip)
                )
            }
            LimitedBy::Credit => {
                format!("at most {rate}: {}", per_trip(self.credit_bytes.expect("it limits"), whole))
            }
            LimitedBy::Loss => {
                let lost = figures::percent(self.loss_share);
                if self.loss_event_share < 0.95 * self.loss_share {
                    format!(
                        "about {rate}: {lost} lost, {} begin a burst",
                        figures::percent(self.loss_event_share)
                    )
                } else {
                    format!("about {rate}: {lost} are lost (Padhye)")
                }
            }
        })
    }

    /// The limit of a session and its reason in words; none where there are no sessions.
    pub(super) fn session_text(&self, trip: Duration) -> Option<String> {
        let (bps, credit) = (self.session_limit_bps?, self.session_credit_bytes?);
        let rate = format!("{} with headers", figures::rate(bps));
        Some(if self.session_limit_bps < self.connection_limit_bps {
            format!("at most {rate}: {}", per_trip(credit, trip))
        } else {
            format!("{rate}, as the connection")
        })
    }

    /// Number of such connections that fill a link of this rate.
    pub(super) fn connections_to_fill(&self, rate: BitRate) -> Option<u64> {
        self.connection_limit_bps.map(|limit| libm::ceil(rate.as_bps() as f64 / limit).max(1.0) as u64)
    }
}

/// Credits for data in a direction, with their growth, in bytes: of a session and of a connection; `None` where there is none.
fn credits(carrier: &Carrier, way: Direction) -> (Option<u64>, Option<u64>) {
    match carrier {
        Carrier::WebMux { credit, fragment, .. } => {
            (Some(credit.get().next_multiple_of(fragment.get())), None)
        }
        Carrier::Http2(http2) => {
            let granting = match way {
                Direction::Up => Role::Server,
                Direction::Down => Role::Client,
            };
            let Config { credit, .. } = http2.config(granting);
            let begun = credit.raised.map_or(credit.stream, |(raised, _)| raised.max(credit.stream));
            let (session, connection) = match credit.tuning {
                None => (begun, credit.connection),
                Some(Tuning { rule: TuningRule::DrainEighth, max }) => (begun.max(max), credit.connection),
                Some(Tuning { max, .. }) => (begun.max(max), credit.connection.max(max)),
            };
            (Some(session), Some(connection))
        }
        _ => (None, None),
    }
}

/// True when the congestion control follows the rate of the path, and not losses.
fn is_by_rate(profile: &Profile) -> bool {
    matches!(profile, Profile::Linux(own) if own.congestion_control == CongestionControl::Bbr)
}

/// Rate of bulk data by loss events.
#[derive(Debug, Clone, Copy)]
struct SquareRoot {
    trip_s: f64,
    timeout_s: f64,
    per_ack: f64,
    is_cubic: bool,
}

impl SquareRoot {
    fn of(profile: &Profile, trip: Duration) -> Self {
        let trip_s = trip.as_secs_f64();
        // cwnd grows by acknowledged segments in Linux, by ACKs in 4.4BSD: one for two segments.
        let (per_ack, timeout_s, is_cubic) = match profile {
            Profile::Linux(own) => (1.0, trip_s + 0.2, own.congestion_control == CongestionControl::Cubic),
            Profile::Bsd(_) | Profile::Ns2(_) => (2.0, trip_s.max(1.0), false),
        };
        Self { trip_s, timeout_s, per_ack, is_cubic }
    }

    /// Mean cwnd in segments, where a share `p` of packets begins a loss event.
    fn window(&self, p: f64) -> f64 {
        let reno = libm::sqrt(3.0 / (2.0 * self.per_ack * p));
        let cubic = if self.is_cubic { 1.054 * libm::pow(self.trip_s / p, 0.75) } else { 0.0 };
        reno.max(cubic)
    }

    /// Rate of packets of `packet` bytes with headers, likewise.
    fn rate(&self, p: f64, packet: u64) -> f64 {
        let timeouts = libm::sqrt(27.0 * self.per_ack * p / 8.0).min(1.0) * p * (1.0 + 32.0 * p * p);
        packet as f64 * 8.0 / (self.trip_s / self.window(p) + self.timeout_s * timeouts)
    }

    /// Share of packets that begin a loss event over these losses. It sets the window, which in turn sets the events of a long burst.
    fn events<'l, I: Iterator<Item = &'l Loss>>(&self, losses: impl Fn() -> I) -> f64 {
        let mut window = f64::INFINITY;
        let mut share = 0.0;
        for _ in 0..ROUNDS {
            share = one_of(losses().map(|loss| loss_events(loss, window)));
            window = self.window(share);
        }
        share
    }
}

/// Rounds of window and share of events. Chosen: the share changes by less than a thousandth in the last one.
const ROUNDS: u32 = 16;

/// Probability of at least one of these independent events.
fn one_of(probabilities: impl Iterator<Item = f64>) -> f64 {
    1.0 - probabilities.map(|each| 1.0 - each).product::<f64>()
}

/// Share of packets that begin a loss event, for this window in segments: a burst has one, and another for each loss a window behind
/// the last.
fn loss_events(loss: &Loss, window: f64) -> f64 {
    match *loss {
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } if bad_to_good > 0.0 => {
            let good = bad_to_good / (good_to_bad + bad_to_good);
            let any = loss_bad / (loss_bad + bad_to_good * (1.0 - loss_bad)); // of the packets that a burst has left
            let lasts = libm::pow(1.0 - bad_to_good, window);
            let of_burst = any / (1.0 - any * lasts);
            (good * (good_to_bad * of_burst + loss_good)).min(mean_loss(loss))
        }
        _ => mean_loss(loss),
    }
}

/// Losses in the long run, with losses by steps. Periodic steps count by their least: a lower bound, as everywhere here.
fn lasting(way: &LinkDirection) -> Loss {
    let own = Some(&way.loss)
        .filter(|_| !way.steps.first().is_some_and(|step| step.at == Duration::ZERO && step.loss.is_some()));
    let mut steps = way.steps.iter().filter_map(|step| Some(Loss::Bernoulli { probability: step.loss? }));
    let found = match way.steps_every {
        None => steps.next_back(),
        Some(_) => own.cloned().into_iter().chain(steps).min_by(|a, b| mean_loss(a).total_cmp(&mean_loss(b))),
    };
    found.unwrap_or_else(|| way.loss.clone())
}

/// Mean share of packets that a loss process takes; listed packets are no share.
pub(super) fn mean_loss(loss: &Loss) -> f64 {
    match *loss {
        Loss::None | Loss::List { .. } => 0.0,
        Loss::Bernoulli { probability } => probability,
        Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            let both = good_to_bad + bad_to_good;
            if both > 0.0 { (good_to_bad * loss_bad + bad_to_good * loss_good) / both } else { loss_good }
        }
    }
}

/// Bytes of a credit in words.
fn per_trip(credit: u64, trip: Duration) -> String {
    format!("{} of credit per {}", Bytes::new(credit), figures::span(trip))
}
