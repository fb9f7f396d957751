//! Fading of a satellite link with adaptive coding: rain attenuates the signal, and the sender picks its modulation and
//! code (modcod) by reports of the rest.
//!
//! Attenuation goes linearly from one given time to the next. The receiver reports at whole multiples of a period. A
//! report acts after the delay of the way back: from then on the sender has the fastest modcod of DVB-S2 that needs at most
//! the Es/N0 reported, less a margin. Where that is none, nothing is sent, and packets wait. While the signal has less than
//! the modcod in force needs, the packets that reach the link are lost. At the start the sender knows the attenuation.
//!
//! The link's own rate is the rate in a clear sky, others follow by the efficiencies of the modcods. All times and rates are
//! known before a run, in whole nanoseconds and bit/s.
//!
//! Left out: hysteresis and other filters of reports, lost reports, the time of a frame on its way to the rain, losses of
//! packets that wait as the signal fades, frames and their padding, other tables of modcods.
//!
//! Source: Es/N0 and efficiencies of EN 302 307-1 V1.4.1 (DVB-S2), table 13: normal frames without pilots. Reports as in sns3,
//! each 1.1 s. A margin as in OpenSAND.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Decibels, Duration};

/// Rain over one direction of a satellite link, and the reports by which its sender picks a modcod.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fade {
    /// Attenuation at given times: linear between them, before the first and behind the last as there.
    pub attenuation: Vec<Attenuation>,
    /// Es/N0 in a clear sky, in which the link has its own rate.
    pub clear: Decibels,
    /// Es/N0 beyond what a modcod needs before the sender picks it.
    #[serde(default = "margin")]
    pub margin: Decibels,
    /// Time from one report to the next, at least 1 ms.
    #[serde(default = "report")]
    pub report: Duration,
}

/// Attenuation at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Attenuation {
    /// Time since the start of the run.
    pub at: Duration,
    /// Attenuation then, beyond a clear sky.
    #[cfg_attr(test, schemars(example = &"3 dB"))]
    pub depth: Decibels,
}

const fn margin() -> Decibels {
    Decibels::from_millis(1000)
}

const fn report() -> Duration {
    Duration::from_millis(1100)
}

/// A modcod: the Es/N0 that it needs, in dB/1000, and its efficiency, in bit/s a MHz of symbols.
struct Modcod(i64, u64);

/// Modcods of DVB-S2, but for those that need more than a faster one.
const MODCODS: [Modcod; 22] = [
    Modcod(-2350, 490_243),
    Modcod(-1240, 656_448),
    Modcod(-300, 789_412),
    Modcod(1000, 988_858),
    Modcod(2230, 1_188_304),
    Modcod(3100, 1_322_253),
    Modcod(4030, 1_487_473),
    Modcod(4680, 1_587_196),
    Modcod(5180, 1_654_663),
    Modcod(5500, 1_779_991),
    Modcod(6420, 1_788_612),
    Modcod(6620, 1_980_636),
    Modcod(7910, 2_228_124),
    Modcod(8970, 2_637_201),
    Modcod(10_210, 2_966_728),
    Modcod(11_030, 3_165_623),
    Modcod(11_610, 3_300_184),
    Modcod(12_730, 3_703_295),
    Modcod(13_640, 3_951_571),
    Modcod(14_280, 4_119_540),
    Modcod(15_690, 4_397_854),
    Modcod(16_050, 4_453_027),
];

/// Rate of a link from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Time since the start of the run.
    pub at: Duration,
    /// Rate in bit/s, 0 where nothing is sent.
    pub rate: u64,
    /// True while packets that reach the link are lost.
    pub is_lost: bool,
}

impl Fade {
    /// Largest attenuation with anything sent, in dB/1000: below zero if nothing is sent in a clear sky.
    #[must_use]
    pub fn most(&self) -> i64 {
        self.allows(&MODCODS[0])
    }

    /// Rates over time of a link with the rate `own` in a clear sky, and reports that arrive `back` later.
    #[must_use]
    pub fn pieces(&self, own: BitRate, back: Duration) -> Vec<Piece> {
        let clear = MODCODS.iter().rfind(|modcod| self.allows(modcod) >= 0).unwrap_or(&MODCODS[0]);
        let rate = |modcod: &Modcod| scaled(own, modcod.1, clear.1);
        let in_force = self.in_force(back);
        let weakens = MODCODS.iter().flat_map(|modcod| self.crossings(self.carries(modcod)));
        let changes: BTreeSet<Duration> = in_force.iter().map(|(at, _)| *at).chain(weakens).collect();
        let mut pieces: Vec<Piece> = Vec::new();
        for at in changes {
            let (_, modcod) = in_force[in_force.partition_point(|(begin, _)| *begin <= at) - 1];
            let is_lost = modcod.is_some_and(|modcod| self.exceeds(at, self.carries(modcod)));
            let piece = Piece { at, rate: modcod.map_or(0, rate), is_lost };
            if pieces.last().is_none_or(|last| (last.rate, last.is_lost) != (piece.rate, piece.is_lost)) {
                pieces.push(piece);
            }
        }
        pieces
    }

    /// Modcods by the time when each comes into force, the first one at the start.
    fn in_force(&self, back: Duration) -> Vec<(Duration, Option<&'static Modcod>)> {
        let every = self.report.as_nanos().max(1);
        let changes = MODCODS.iter().flat_map(|modcod| self.crossings(self.allows(modcod)));
        let reports: BTreeSet<Duration> =
            changes.map(|at| Duration::from_nanos(at.as_nanos().div_ceil(every) * every)).collect();
        let picked = |at| MODCODS.iter().rfind(|modcod| !self.exceeds(at, self.allows(modcod)));
        let start = (Duration::ZERO, picked(Duration::ZERO));
        [start].into_iter().chain(reports.into_iter().map(|at| (at + back, picked(at)))).collect()
    }

    /// Largest attenuation that a modcod survives, in dB/1000.
    fn carries(&self, modcod: &Modcod) -> i64 {
        i64::from(self.clear.as_millis()) - modcod.0
    }

    /// Largest attenuation for the sender to pick it.
    fn allows(&self, modcod: &Modcod) -> i64 {
        self.carries(modcod) - i64::from(self.margin.as_millis())
    }

    /// True when the attenuation at `now` is above `limit`.
    fn exceeds(&self, now: Duration, limit: i64) -> bool {
        let passed = self.attenuation.partition_point(|each| each.at <= now);
        let before = passed.checked_sub(1).map(|last| self.attenuation[last]);
        match (before, self.attenuation.get(passed)) {
            (Some(from), Some(to)) => {
                let (since, span) = (now - from.at, to.at - from.at);
                let change = i128::from(to.above(limit) - from.above(limit));
                i128::from(from.above(limit)) * nanos(span) + change * nanos(since) > 0
            }
            (one, other) => one.as_ref().or(other).is_some_and(|only| only.above(limit) > 0),
        }
    }

    /// First nanoseconds with the attenuation above `limit`, and no longer above.
    fn crossings(&self, limit: i64) -> impl Iterator<Item = Duration> {
        self.attenuation.windows(2).filter_map(move |ends| {
            let (from, to) = (ends[0].above(limit), ends[1].above(limit));
            let way = u128::from(from.unsigned_abs()) * u128::from((ends[1].at - ends[0].at).as_nanos());
            let change = u128::from(from.abs_diff(to));
            let since = match (from > 0, to > 0) {
                (false, true) => way / change + 1,
                (true, false) => way.div_ceil(change),
                _ => return None,
            };
            Some(ends[0].at + Duration::from_nanos(u64::try_from(since).expect("a time between the two")))
        })
    }
}

impl Attenuation {
    /// Attenuation above `limit`, in dB/1000.
    fn above(&self, limit: i64) -> i64 {
        i64::from(self.depth.as_millis()) - limit
    }
}

fn nanos(span: Duration) -> i128 {
    i128::from(span.as_nanos())
}

/// `rate` by the ratio of two efficiencies, to the nearest bit/s and at least 1.
fn scaled(rate: BitRate, efficiency: u64, clear: u64) -> u64 {
    let (product, clear) = (u128::from(rate.as_bps()) * u128::from(efficiency), u128::from(clear));
    u64::try_from((product + clear / 2) / clear).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn fade(attenuation: &[(u64, u32)], clear: u32, margin: u32) -> Fade {
        let sample = |&(at, depth)| Attenuation { at: ms(at), depth: Decibels::from_millis(depth) };
        Fade {
            attenuation: attenuation.iter().map(sample).collect(),
            clear: Decibels::from_millis(clear),
            margin: Decibels::from_millis(margin),
            report: ms(1100),
        }
    }

    const RATE: BitRate = BitRate::from_bps(30_000_000).unwrap();

    /// In a clear sky 10 dB less a margin of 1 dB are 16APSK 2/3 (8.97 dB). 0.5 dB a second from 10 s on use
    /// up its reserve with the margin (0.03 dB) after 60 ms and without it (1.03 dB) after 2.06 s.
    #[test]
    fn a_report_after_a_threshold_acts_one_way_later() {
        let found = fade(&[(10_000, 0), (14_000, 2000)], 10_000, 1000).pieces(RATE, ms(250));
        let rate = |efficiency: f64| (30e6 * efficiency / 2.637201).round() as u64;
        let piece = |at, rate, is_lost| Piece { at: ms(at), rate, is_lost };
        // Reports at 11 s, 12.1 s and 13.2 s: 0.5, 1.05 and 1.6 dB. With 8PSK 3/4 (7.91) up to 1.09, then 2/3 (6.62).
        let expected = [
            piece(0, 30_000_000, false),
            piece(11_250, rate(2.228124), false),
            piece(13_450, rate(1.980636), false),
        ];
        assert_eq!(found, expected);
    }

    /// Without a margin, 16APSK 2/3 is lost from the first nanosecond beyond 1.03 dB on, until the report of 12.1 s acts.
    #[test]
    fn frames_are_lost_between_a_threshold_and_the_reaction() {
        let found = fade(&[(10_000, 0), (14_000, 2000), (20_000, 2000), (24_000, 0)], 10_000, 0)
            .pieces(RATE, ms(250));
        let lossy: Vec<_> = found.iter().filter(|piece| piece.is_lost).map(|piece| piece.at).collect();
        assert_eq!(lossy, [ms(12_060) + Duration::from_nanos(1)]);
        let times: Vec<_> = found.iter().map(|piece| piece.at.as_nanos()).collect();
        // 1.03 dB again at 21.94 s, reported at 22 s.
        assert_eq!(times, [0, 12_060_000_001, 12_350_000_000, 22_250_000_000]);
        assert_eq!(found[3].rate, 30_000_000);
    }

    #[test]
    fn below_the_slowest_modcod_nothing_is_sent() {
        let deep = fade(&[(0, 0), (1000, 20_000), (9000, 20_000), (10_000, 0)], 10_000, 1000);
        assert_eq!(deep.most(), 11_350);
        let silent = deep.pieces(RATE, ms(250));
        let times: Vec<_> = silent.iter().map(|piece| (piece.at, piece.rate == 0, piece.is_lost)).collect();
        // 1.03 dB are passed after 51.5 ms, and the report of 1.1 s has 20 dB.
        let lost = Duration::from_nanos(51_500_001);
        assert_eq!(times[..3], [(ms(0), false, false), (lost, false, true), (ms(1350), true, false)]);
        assert_eq!(times[3..], [(ms(10_150), false, false), (ms(11_250), false, false)]);
    }

    proptest! {
        /// The pieces of a walk by single milliseconds.
        #[test]
        fn pieces_are_those_of_a_clock_that_ticks(
            gaps in prop::collection::vec((1..3000_u64, 0..20_000_u32), 1..6), margin in 0..3000_u32, back in 0..600_u64,
        ) {
            let mut at = 0;
            let samples: Vec<_> = gaps.iter().map(|(gap, depth)| { at += gap; (at, *depth) }).collect();
            let fade = fade(&samples, 12_000, margin);
            let pieces = fade.pieces(RATE, ms(back));
            let depth = |now: u64| match samples.iter().position(|(at, _)| *at > now) {
                Some(0) => f64::from(samples[0].1),
                None => f64::from(samples[samples.len() - 1].1),
                Some(next) => {
                    let ((t0, d0), (t1, d1)) = (samples[next - 1], samples[next]);
                    f64::from(d0) + (f64::from(d1) - f64::from(d0)) * (now - t0) as f64 / (t1 - t0) as f64
                }
            };
            for now in (0..at + 3000).step_by(7) {
                let report = now.saturating_sub(back) / 1100 * 1100;
                let is_near = |limit: f64| (depth(report) - limit).abs() < 1e-6 || (depth(now) - limit).abs() < 1e-6;
                let left = |need: i64| 12_000.0 - need as f64;
                if MODCODS.iter().any(|Modcod(need, _)| is_near(left(*need)) || is_near(left(*need) - f64::from(margin))) {
                    continue;
                }
                let modcod = MODCODS.iter().rfind(|Modcod(need, _)| depth(report) <= left(*need) - f64::from(margin));
                let piece = pieces[pieces.partition_point(|piece| piece.at <= ms(now)) - 1];
                prop_assert_eq!(piece.is_lost, modcod.is_some_and(|Modcod(need, _)| depth(now) > left(*need)), "{}", now);
                prop_assert_eq!(piece.rate == 0, modcod.is_none(), "{}", now);
            }
        }
    }
}
