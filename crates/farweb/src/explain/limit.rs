//! Limit of one connection in a direction: the least of its window, its send buffer, its carrier's credits, and its windows over losses.
//!
//! - The **window** lets as many whole segments fly as it holds, once a round trip ([`WindowLimit`]).
//! - The **send buffer** of Linux, in bytes of memory with the overhead of each segment, lets two thirds of
//!   its content fly. It counts with its largest size.
//! - A **credit** comes back once a round trip at best: a session's limits one message, a connection's all of them together. The end
//!   that receives grants it, clients for responses, servers for requests, in parts that its rule sets: so many whole ones come back, and
//!   the first of them waits for its bytes ([`Worth`]). A credit that grows counts with its largest value.
//! - **Losses** keep cwnd small, below the other limits as far as it has not grown back to them ([`Sender`]). Losses within a window are one
//!   event: a burst counts once, and again for each window that it lasts. BBR has no such limit up to [`BBR_BEARS`], and beyond that one without an estimate.
//!
//! Losses of steps count as they stay: by the last one, or the least of a period that comes again.
//!
//! Left out: losses of handovers, of ACKs and listed ones, queues that overflow, timeouts that bursts cause. A long transfer keeps within a
//! tenth of the least limit, of losses one by one. Over bursts it may be far slower.
//!
//! Source: J. Padhye, V. Firoiu, D. Towsley and J. Kurose, "Modeling TCP throughput", SIGCOMM 1998, section 2.1 (events).

use serde::Serialize;

use super::figures;
use super::leg::{Stretch, WindowLimit};
use super::rounds::Sender;
use crate::http::credit::{GrantRule, Worth};
use crate::http::h2::endpoint::{Config, Role};
use crate::http::h2::tuning::{Tuning, TuningRule};
use crate::http::webmux;
use crate::net::{Direction, Loss};
use crate::scenario::{Carrier, LinkDirection};
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

/// Limits of one connection in a direction, in bit/s with headers. None where a round trip takes no time, and where losses limit BBR.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConnectionLimit {
    /// Least of its window, its credit and its losses.
    pub connection_limit_bps: Option<f64>,
    /// Cause of the limit.
    pub limited_by: LimitedBy,
    /// The same limit and its reason in words.
    pub connection_limit_text: Option<String>,
    /// Credit of a connection, in bytes. None where the carrier has none.
    pub credit_bytes: Option<u64>,
    /// Credit of a session, in bytes. None as above.
    pub session_credit_bytes: Option<u64>,
    /// Limit of one session on it, by its own credit too. None where there are no sessions.
    pub session_limit_bps: Option<f64>,
    /// The same limit and its reason in words.
    pub session_limit_text: Option<String>,
    /// Share of packets lost on the way, 0 to 1.
    pub loss_share: f64,
    /// Share of packets that begin a loss event, 0 to 1: less than `loss_share` where losses come in bursts.
    pub loss_event_share: f64,
    /// Estimate of the rate that losses leave. None without losses, and where they set no limit.
    pub loss_limit_bps: Option<f64>,
    /// Effect of losses in words: without an estimate, or beside another limit. None without losses, or if
    /// their estimate is the limit.
    pub loss_limit_text: Option<String>,
}

const NO_LOSS_LIMIT: &str =
    "no limit: BBR sends at the rate that it measures, up to some 10 % lost, less in bursts";

/// Share of packets lost that BBR bears. Chosen: with 10 % bulk transfers keep 88 % of a link of 20 Mbit/s
/// and 50 ms. With 12 % they keep two thirds of a link of 5 Mbit/s and 400 ms, or a fifth, if two intervals
/// look by chance like a policer's.
const BBR_BEARS: f64 = 0.1;

/// Share of packets lost on a stretch in direction `way`, if BBR takes the losses for a policer's.
pub(super) fn beyond_bbr(stretch: &Stretch<'_>, way: Direction) -> Option<f64> {
    let share = lost(&losses(stretch, way));
    (is_bbr(&stretch.tcp.profile()) && share > BBR_BEARS).then_some(share)
}

fn is_bbr(profile: &Profile) -> bool {
    matches!(profile, Profile::Linux(own) if own.congestion_control == CongestionControl::Bbr)
}

/// Credit of a carrier, and its worth.
#[derive(Debug, Clone, Copy)]
struct Credit {
    bytes: u64,
    worth: Worth,
}

/// A direction of a stretch of a leg.
pub(super) struct Course<'s> {
    pub(super) carrier: &'s Carrier,
    /// All of the leg: credits come back over it.
    pub(super) whole: &'s Stretch<'s>,
    pub(super) stretch: &'s Stretch<'s>,
    /// The window as it is in that direction.
    pub(super) window: WindowLimit,
    pub(super) way: Direction,
}

impl Course<'_> {
    /// A round trip with a segment on its way.
    fn cycle_s(&self) -> f64 {
        (self.stretch.round_trip() + Duration::from_nanos(self.window.segment_ns)).as_secs_f64()
    }

    fn packet_bits(&self) -> f64 {
        (self.window.packet_bytes() * 8) as f64
    }

    /// Segments that the send buffer lets fly.
    fn buffered(&self) -> Option<u64> {
        self.stretch.tcp.profile().segments_of_send_buffer(self.window.payload_bytes)
    }

    /// Credits of a session and of a connection.
    fn credits(&self) -> (Option<Credit>, Option<Credit>) {
        let passed_on = self.whole.is_passed_on(self.way).then_some(self.window.payload_bytes);
        credits(self.carrier, passed_on, self.way)
    }

    /// Rate by a credit. None where a round trip takes no time.
    fn by_credit(&self, credit: Credit) -> Option<f64> {
        let [trip, ahead] = credit.comes_back(self.whole, self.way);
        let segments = credit.worth.bytes as f64 / self.window.payload_bytes as f64;
        (trip > Duration::ZERO).then(|| segments * self.packet_bits() / (trip + ahead).as_secs_f64())
    }

    /// The least rate by window, send buffer and credit, and which of them sets it.
    fn bound(&self) -> Option<(f64, LimitedBy)> {
        let takes_time = self.stretch.round_trip() > Duration::ZERO;
        let buffered = self.buffered().filter(|_| takes_time);
        let by_buffer = buffered.map(|segments| segments as f64 * self.packet_bits() / self.cycle_s());
        let by_credit = self.credits().1.and_then(|credit| self.by_credit(credit));
        let all = [
            (self.window.window_limit_bps, LimitedBy::Window),
            (by_buffer, LimitedBy::SendBuffer),
            (by_credit, LimitedBy::Credit),
        ];
        let all = all.into_iter().filter_map(|(limit, by)| Some((limit?, by)));
        all.min_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// A sender whose windows losses alone keep small. None where it follows the rate of the path.
    fn sender(&self) -> Option<Sender> {
        let segment_s =
            self.stretch.bottleneck(self.way).map(|(_, rate)| self.packet_bits() / rate.as_bps() as f64);
        Sender::of(&self.stretch.tcp.profile(), self.cycle_s(), segment_s.unwrap_or(0.0))
    }
}

impl ConnectionLimit {
    /// Limits of a connection on a course.
    pub(super) fn of(course: &Course<'_>) -> Self {
        let losses = losses(course.stretch, course.way);
        let loss_share = lost(&losses);
        let bound = course.bound();
        let segments = |bps: f64| bps * course.cycle_s() / course.packet_bits();
        // Beyond twice the bound losses do not limit, however large windows would become.
        let free = course
            .sender()
            .map(|sender| bound.map_or(sender, |(bps, _)| sender.with_at_most(2.0 * segments(bps))));
        let loss_event_share = events(&losses, free);
        let takes_time = course.stretch.round_trip() > Duration::ZERO;
        let lossy = free.filter(|_| loss_share > 0.0 && takes_time);
        let over_losses = |sender: Sender| sender.rate(loss_event_share) * course.packet_bits();
        let behind_losses =
            |bps: f64| lossy.map_or(bps, |free| over_losses(free.with_at_most(segments(bps))));
        let (session, connection) = course.credits();
        let is_beyond = takes_time && beyond_bbr(course.stretch, course.way).is_some();
        let connection_limit_bps = bound
            .map(|(bps, _)| behind_losses(bps))
            .or_else(|| lossy.map(over_losses))
            .filter(|_| !is_beyond);
        let own = session.and_then(|credit| course.by_credit(credit));
        let is_by_losses =
            is_beyond || lossy.is_some_and(|free| bound.is_none_or(|(bps, _)| over_losses(free) < bps));
        let by_bound = bound.map_or(LimitedBy::Window, |(_, by)| by);
        let mut limit = Self {
            connection_limit_bps,
            limited_by: if is_by_losses { LimitedBy::Loss } else { by_bound },
            connection_limit_text: None,
            credit_bytes: connection.map(|credit| credit.bytes),
            session_credit_bytes: session.map(|credit| credit.bytes),
            session_limit_bps: own.zip(connection_limit_bps).map(|(own, all)| all.min(behind_losses(own))),
            session_limit_text: None,
            loss_share,
            loss_event_share,
            loss_limit_bps: lossy.and(connection_limit_bps),
            loss_limit_text: None,
        };
        limit.loss_limit_text = limit.losses_beside(free.is_some());
        limit.session_limit_text = session.and_then(|credit| limit.session_text(credit, course));
        limit.connection_limit_text = limit.text(course);
        limit
    }

    fn text(&self, course: &Course<'_>) -> Option<String> {
        let packet = course.window.packet_bytes();
        let trip = course.stretch.round_trip();
        let rate = format!("{} with headers", figures::rate(self.connection_limit_bps?));
        let lost = figures::percent(self.loss_share);
        let (about, is) = if self.loss_limit_bps.is_some() { ("about ", ":") } else { ("", " =") };
        Some(match self.limited_by {
            LimitedBy::Window => format!(
                "{about}{rate}{is} {} × {packet} B per ({} + {})",
                course.window.in_flight,
                figures::span(trip),
                figures::span(Duration::from_nanos(course.window.segment_ns))
            ),
            LimitedBy::SendBuffer => {
                let segments = course.buffered().expect("it limits");
                format!(
                    "about {rate}: its send buffer lets {segments} × {packet} B go per {}",
                    figures::span(trip)
                )
            }
            LimitedBy::Credit => {
                let credit = course.credits().1.expect("it limits");
                format!("at most {rate}: {}", credit.per_return(course.whole, course.way))
            }
            LimitedBy::Loss if self.loss_event_share < 0.95 * self.loss_share => {
                let begin = figures::percent(self.loss_event_share);
                format!("about {rate}: {lost} lost, {begin} begin a burst")
            }
            LimitedBy::Loss => format!("about {rate}: {lost} are lost"),
        })
    }

    /// Losses that no estimate has as the limit, in words.
    fn losses_beside(&self, has_estimate: bool) -> Option<String> {
        let lost = figures::percent(self.loss_share);
        match (has_estimate, self.limited_by) {
            _ if self.loss_share == 0.0 => None,
            (true, LimitedBy::Loss) => None,
            (true, _) => Some(format!("{lost} of the packets, which the limit counts")),
            (false, LimitedBy::Loss) => {
                Some(format!("a limit without an estimate: BBR takes {lost} lost for a policer's losses"))
            }
            (false, _) => Some(NO_LOSS_LIMIT.to_owned()),
        }
    }

    /// The limit of a session and its reason in words. None where there are no sessions.
    fn session_text(&self, credit: Credit, course: &Course<'_>) -> Option<String> {
        let rate = format!("{} with headers", figures::rate(self.session_limit_bps?));
        Some(if self.session_limit_bps < self.connection_limit_bps {
            format!("at most {rate}: {}", credit.per_return(course.whole, course.way))
        } else {
            format!("{rate}, as the connection")
        })
    }

    /// Number of such connections that fill a link of this rate.
    pub(super) fn connections_to_fill(&self, rate: BitRate) -> Option<u64> {
        self.connection_limit_bps.map(|limit| libm::ceil(rate.as_bps() as f64 / limit).max(1.0) as u64)
    }
}

impl Credit {
    fn new(bytes: u64, rule: GrantRule, read: u64) -> Self {
        Self { bytes, worth: rule.worth(bytes, read) }
    }

    /// Time until it comes back, in two parts: a round trip, and the transmission of the bytes that its
    /// return waits for. A credit that fills the line waits for none.
    fn comes_back(self, whole: &Stretch<'_>, way: Direction) -> [Duration; 2] {
        let trip = whole.round_trip();
        let ahead = whole.bottleneck(way).map(|(_, rate)| {
            let [bytes, ahead] =
                [self.worth.bytes, self.worth.ahead].map(|bytes| rate.time_to_send(Bytes::new(bytes)));
            if bytes < trip + ahead { ahead } else { Duration::ZERO }
        });
        [trip, ahead.unwrap_or(Duration::ZERO)]
    }

    /// Credit that comes back, and how soon, in words.
    fn per_return(self, whole: &Stretch<'_>, way: Direction) -> String {
        let [trip, ahead] = self.comes_back(whole, way).map(figures::span);
        let Worth { bytes, ahead: waits } = self.worth;
        let credit = if self.bytes - bytes < SHORT {
            format!("{} B of credit", self.bytes)
        } else {
            format!("{bytes} of {} B of credit", self.bytes)
        };
        if waits < SHORT {
            format!("{credit} per {trip}")
        } else {
            format!("{credit} per ({trip} + {ahead})")
        }
    }
}

/// Bytes that are not said. Chosen: less than a packet.
const SHORT: u64 = 1000;

/// Credits for data in a direction, with their growth: a session's and a connection's, each `None` where there is none. A node
/// passes data on as it reads them, in segments of `passed_on` bytes. A server writes frames whose ends no rule of a preset
/// misses.
fn credits(carrier: &Carrier, passed_on: Option<u64>, way: Direction) -> (Option<Credit>, Option<Credit>) {
    match carrier {
        Carrier::WebMux { credit, fragment, .. } => {
            let whole = credit.get().next_multiple_of(fragment.get());
            (Some(Credit::new(whole, webmux::RULE, fragment.get())), None)
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
            let of = |bytes| Some(Credit::new(bytes, credit.rule, passed_on.unwrap_or(1)));
            (of(session), of(connection))
        }
        _ => (None, None),
    }
}

/// Share of packets that begin a loss event over these losses. It sets the window, which in turn sets the events of a long burst.
fn events(losses: &[Loss], sender: Option<Sender>) -> f64 {
    let mut window = f64::INFINITY;
    let mut share = 0.0;
    let rounds =
        if losses.iter().any(|loss| matches!(loss, Loss::GilbertElliott { .. })) { ROUNDS } else { 1 };
    for _ in 0..rounds {
        share = one_of(losses.iter().map(|loss| loss_events(loss, window)));
        window = sender.filter(|_| share > 0.0).map_or(f64::INFINITY, |sender| sender.window(share));
    }
    share
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

/// Losses of a stretch in a direction, link by link.
fn losses(stretch: &Stretch<'_>, way: Direction) -> Vec<Loss> {
    stretch.links.iter().map(|link| lasting(link.towards(way))).collect()
}

/// Share of packets that these take.
fn lost(losses: &[Loss]) -> f64 {
    one_of(losses.iter().map(mean_loss))
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

/// Mean share of packets that a loss process takes. Listed packets are no share.
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
