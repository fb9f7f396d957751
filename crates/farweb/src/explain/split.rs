//! Stretches of a split leg: the limit of each, and the time until the first byte of a response.
//!
//! Time of a new connection on an idle path, by propagation alone: handshakes of TCP side by side or one after the other, as the
//! splits have it, and of TLS, from end to end. Left out: transmission, name look-ups, a flight of the server
//! beyond its first window, and the time that the server takes.

use serde::Serialize;

use super::figures;
use super::leg::{Stretch, WindowLimit};
use super::limit::{ConnectionLimit, Course};
use super::profile_name;
use crate::net::Direction;
use crate::scenario::{Leg, Scenario, Split, SplitBy, SplitOpen};
use crate::units::{BitRate, Duration};

/// A stretch between an end or a split of a leg and the next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StretchReport {
    /// Node nearer to the clients.
    pub from: String,
    /// Node nearer to the servers.
    pub to: String,
    /// TCP profile.
    pub profile: String,
    /// Propagation there and back, the least over time.
    pub rtt_ns: u64,
    /// Data that the bottleneck towards the clients carries in a round trip.
    pub bdp_bytes: Option<u64>,
    /// The smaller of the send buffer and the receiver's largest window.
    pub window_bytes: u64,
    /// Limit of a connection towards the clients, by window, credit and losses.
    pub connection_limit_bps: Option<f64>,
    /// The same limit and its reason in words.
    pub connection_limit_text: Option<String>,
    /// True where it stands before a connection opens.
    pub stands: bool,
}

/// Stretches of a leg, from the clients to the servers. Empty where it is not split.
pub(super) fn stretches(leg: &Leg, scenario: &Scenario) -> Vec<StretchReport> {
    let all = if leg.split.is_empty() { Vec::new() } else { Stretch::all(leg, scenario) };
    let whole = Stretch::of(leg, scenario);
    let report = |(index, stretch): (usize, &Stretch<'_>)| {
        let window = WindowLimit::on(stretch, None);
        let way = Direction::Down;
        let limit =
            ConnectionLimit::of(&Course { carrier: &leg.carrier, whole: &whole, stretch, window, way });
        let down = stretch.bottleneck(Direction::Down).map(|(_, rate): (usize, BitRate)| rate);
        let [from, to] = stretch.ends().map(str::to_owned);
        StretchReport {
            from,
            to,
            profile: profile_name(stretch.tcp),
            rtt_ns: stretch.round_trip().as_nanos(),
            bdp_bytes: down.map(|rate| rate.data_in(stretch.round_trip()).get()),
            window_bytes: window.window_bytes,
            connection_limit_bps: limit.connection_limit_bps,
            connection_limit_text: limit.connection_limit_text,
            stands: index > 0 && leg.split[index - 1].open == SplitOpen::Ready,
        }
    };
    all.iter().enumerate().map(report).collect()
}

impl StretchReport {
    /// Lines of the report: label and text.
    pub(super) fn lines(&self, index: usize) -> [(String, String); 2] {
        let bdp = self.bdp_bytes.map(|bytes| format!(", {} in a round trip", figures::bytes(bytes as f64)));
        let what = format!(
            "{} to {}: {}, {}{}, window {} B{}",
            self.from,
            self.to,
            self.profile,
            figures::span(Duration::from_nanos(self.rtt_ns)),
            bdp.unwrap_or_default(),
            self.window_bytes,
            if self.stands { ", stands" } else { "" }
        );
        let limit = self.connection_limit_text.clone().unwrap_or_else(|| "no limit".to_owned());
        [(format!("stretch {index}"), what), (String::new(), limit)]
    }
}

/// Time from the opening of a connection until the first byte of a response.
pub(super) fn first_byte(leg: &Leg, scenario: &Scenario) -> Duration {
    let stretches = Stretch::all(leg, scenario);
    let ways: Vec<_> = stretches.iter().map(Stretch::delays).collect();
    let [up, down] = Stretch::of(leg, scenario).delays();
    // Bytes going up wait at each relay until the stretch behind it may be written to.
    let mut at = Duration::ZERO;
    for (open, [up, _]) in writable(&ways, &leg.split).into_iter().zip(&ways) {
        at = at.max(open) + *up;
    }
    let trips = leg.tls.as_ref().map_or(0, |tls| tls.settings().handshakes[tls.start as usize].round_trips());
    at + down + (up + down) * trips
}

/// When each stretch may first be written to, by their delays up and down and the splits between them.
fn writable(ways: &[[Duration; 2]], splits: &[Split]) -> Vec<Duration> {
    let mut opens = Duration::ZERO;
    let mut writable = Vec::new();
    for (index, [up, down]) in ways.iter().enumerate() {
        let stands = index > 0 && splits[index - 1].open == SplitOpen::Ready;
        let connected = if stands { opens } else { opens + *up + *down };
        writable.push(connected);
        let asks = splits.get(index).is_some_and(|split| split.by == SplitBy::Connect);
        opens = *up + if asks { connected } else { opens };
    }
    for (index, split) in splits.iter().enumerate().rev() {
        if split.by == SplitBy::Connect {
            writable[index] = writable[index + 1] + ways[index][1];
        }
    }
    writable
}
