//! Limit of one connection: the least of its window, its carrier's credits, and cwnd at the losses on its way.
//!
//! - The **window** lets as many whole segments fly as it holds, once a round trip ([`WindowLimit`]).
//! - A **credit** comes back once a round trip at best: a session's limits one response, a connection's all of them together. A
//!   credit that grows counts with its largest value.
//! - **Losses** keep cwnd small: in the mean at `sqrt(3 / 2bp)` segments with Reno, b segments an ACK and the share p lost at random
//!   (Mathis). CUBIC's mean is the larger of Reno's and its own (RFC 9438). Retransmission timeouts cost time besides (Padhye).
//!
//! Left out: losses of steps, losses in bursts, which count with their mean share; losses of ACKs, listed losses, queues that overflow. Window and credit
//! are bounds, losses give an estimate: 24 bulk transfers, round trips of 40 to 600 ms and losses of 0.03 to 3 %, ran at 0.99 to 1.45
//! times it.
//!
//! Sources: M. Mathis, J. Semke, J. Mahdavi and T. Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR
//! 27(3), 1997; J. Padhye, V. Firoiu, D. Towsley and J. Kurose, "Modeling TCP throughput", SIGCOMM 1998, equation 30; RFC 9438,
//! section 5.1.

use serde::Serialize;

use super::figures;
use super::leg::{Stretch, WindowLimit};
use crate::http::h2::endpoint::{Config, Role};
use crate::http::h2::tuning::{Tuning, TuningRule};
use crate::net::Loss;
use crate::scenario::{Carrier, Leg};
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
    /// Losses.
    Loss,
}

/// Limits of one connection towards the clients, in bit/s on the wire; none where a round trip takes no time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConnectionLimit {
    /// Least of its window, its credit and its losses.
    pub connection_limit_bps: Option<f64>,
    /// Which of them it is.
    pub limited_by: LimitedBy,
    /// Credit of a connection, in bytes; none where the carrier has none.
    pub credit_bytes: Option<u64>,
    /// Credit of a session, in bytes; none as above.
    pub session_credit_bytes: Option<u64>,
    /// Limit of one session on it, by its own credit too; none where there are no sessions.
    pub session_limit_bps: Option<f64>,
    /// Share of packets lost on the way to the clients, 0 to 1.
    pub loss_share: f64,
    /// Estimate of the rate that losses leave; none without losses.
    pub loss_limit_bps: Option<f64>,
}

impl ConnectionLimit {
    /// Limits of a connection of `leg` with this window.
    pub(super) fn of(leg: &Leg, stretch: &Stretch<'_>, window: &WindowLimit) -> Self {
        let trip = stretch.round_trip();
        let (session, connection) = credits(&leg.carrier);
        let per_trip = |credit: u64| {
            let on_wire = credit as f64 * window.packet_bytes() as f64 / window.mss_bytes as f64;
            (trip > Duration::ZERO).then(|| on_wire * 8.0 / trip.as_secs_f64())
        };
        let loss_share = stretch.loss_share();
        let loss_limit_bps = (loss_share > 0.0 && trip > Duration::ZERO)
            .then(|| rate_at(loss_share, &leg.tcp.profile(), trip, window.packet_bytes()));
        let limits = [
            (window.window_limit_bps, LimitedBy::Window),
            (connection.and_then(per_trip), LimitedBy::Credit),
            (loss_limit_bps, LimitedBy::Loss),
        ];
        let limits = limits.into_iter().filter_map(|(limit, by)| Some((limit?, by)));
        let least = limits.min_by(|(a, _), (b, _)| a.total_cmp(b));
        let connection_limit_bps = least.map(|(limit, _)| limit);
        let of_session = session.and_then(per_trip);
        Self {
            connection_limit_bps,
            limited_by: least.map_or(LimitedBy::Window, |(_, by)| by),
            credit_bytes: connection,
            session_credit_bytes: session,
            session_limit_bps: of_session.zip(connection_limit_bps).map(|(own, all)| own.min(all)),
            loss_share,
            loss_limit_bps,
        }
    }

    /// The limit and its reason in words, with the window of the connection and its round trip.
    pub(super) fn text(&self, window: &WindowLimit, trip: Duration) -> Option<String> {
        let packet = window.packet_bytes();
        let reason = match self.limited_by {
            LimitedBy::Window => format!(
                "= {} × {packet} B per ({} + {})",
                window.window_segments,
                figures::span(trip),
                figures::span(Duration::from_nanos(window.segment_ns))
            ),
            LimitedBy::Credit => {
                format!("at most, {}", per_trip(self.credit_bytes.expect("it limits"), trip))
            }
            LimitedBy::Loss => format!("about, {} are lost (Padhye)", figures::percent(self.loss_share)),
        };
        self.connection_limit_bps.map(|bps| format!("{} on the wire {reason}", figures::rate(bps)))
    }

    /// Number of such connections that fill a link of this rate.
    pub(super) fn connections_to_fill(&self, rate: BitRate) -> Option<u64> {
        self.connection_limit_bps.map(|limit| libm::ceil(rate.as_bps() as f64 / limit).max(1.0) as u64)
    }
}

/// Credits that clients grant, or let grow to, in bytes: of a session and of a connection; `None` where there is none.
fn credits(carrier: &Carrier) -> (Option<u64>, Option<u64>) {
    match carrier {
        Carrier::WebMux { credit, fragment, .. } => {
            (Some(credit.get().next_multiple_of(fragment.get())), None)
        }
        Carrier::Http2(http2) => {
            let Config { credit, .. } = http2.config(Role::Client);
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

/// Rate of bulk data on the wire at a loss probability `p`.
fn rate_at(p: f64, profile: &Profile, trip: Duration, packet: u64) -> f64 {
    let trip = trip.as_secs_f64();
    // cwnd grows by acknowledged segments in Linux, by ACKs in 4.4BSD: one for two segments.
    let (per_ack, timeout, is_cubic) = match profile {
        Profile::Linux(own) => (1.0, trip + 0.2, own.congestion_control == CongestionControl::Cubic),
        Profile::Bsd(_) | Profile::Ns2(_) => (2.0, trip.max(1.0), false),
    };
    let reno = libm::sqrt(3.0 / (2.0 * per_ack * p));
    let cubic = if is_cubic { 1.054 * libm::pow(trip / p, 0.75) } else { 0.0 };
    let waits = timeout * libm::sqrt(27.0 * per_ack * p / 8.0).min(1.0) * p * (1.0 + 32.0 * p * p);
    packet as f64 * 8.0 / (trip / reno.max(cubic) + waits)
}

impl Stretch<'_> {
    /// Share of packets towards the clients that its links lose.
    fn loss_share(&self) -> f64 {
        1.0 - self.links.iter().map(|link| 1.0 - mean_loss(&link.down.loss)).product::<f64>()
    }
}

/// Mean share of packets that a loss process takes; listed packets are no share.
fn mean_loss(loss: &Loss) -> f64 {
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
pub(super) fn per_trip(credit: u64, trip: Duration) -> String {
    format!("{} of credit per {}", Bytes::new(credit), figures::span(trip))
}
