//! Share of a link's rate left by credits, in a model of credits alone.
//!
//! Models one message over a link with a rate and a delay, to a receiver that reads segments of one size and grants by
//! its rule. Leaves out TCP, frames and the connection's credit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::http::credit::{GrantRule, Grants, ShareOf, Window};

/// A path and a receiver.
struct Model {
    /// B/s.
    rate: f64,
    /// Both ways, in s.
    round_trip: f64,
    read: u64,
    rule: GrantRule,
    credit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Granted(u64),
    Read(u64),
}

impl Model {
    /// Time from the request to the last byte of a response of `size` bytes, in s.
    fn time(&self, size: u64) -> f64 {
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        let (mut sender, mut receiver) = (Window::new(self.credit), Grants::new(self.rule, self.credit));
        let (mut left, mut unread, mut free_at) = (size, size, 0);
        let mut events = BinaryHeap::from([Reverse((nanos(self.round_trip / 2.0), Event::Granted(0)))]);
        while let Some(Reverse((now, event))) = events.pop() {
            match event {
                Event::Granted(bytes) => {
                    sender.grant(bytes).expect("no more than it began with");
                    free_at = now.max(free_at);
                    while left > 0 && sender.available() > 0 {
                        let bytes = self.read.min(left).min(sender.available());
                        sender.charge(bytes);
                        left -= bytes;
                        free_at += nanos(bytes as f64 / self.rate);
                        events.push(Reverse((free_at + nanos(self.round_trip / 2.0), Event::Read(bytes))));
                    }
                }
                Event::Read(bytes) => {
                    unread -= bytes;
                    if unread == 0 {
                        return now as f64 / 1e9;
                    }
                    receiver.on_received(bytes);
                    if let Some(grant) = receiver.on_consumed(bytes) {
                        events.push(Reverse((now + nanos(self.round_trip / 2.0), Event::Granted(grant))));
                    }
                }
            }
        }
        unreachable!("a receiver that reads all keeps its sender going")
    }

    /// The share of W/T that a long response gets.
    fn share(&self) -> f64 {
        let size = 400 * self.credit;
        size as f64 / self.time(size) / (self.credit as f64 / self.round_trip)
    }
}

const fn part(of: ShareOf, millionths: u32, strict: bool) -> GrantRule {
    GrantRule::Share { of, millionths, strict }
}

const HALF_OF_REST: GrantRule = part(ShareOf::Remaining, 500_000, false);
const ABOVE_HALF: GrantRule = part(ShareOf::Initial, 500_000, true);

#[test]
fn a_rule_leaves_its_share_of_a_credit() {
    let share = |rule, rate| {
        let round_trip = 0.64;
        Model { rate: rate * 65_535.0 / round_trip, round_trip, read: 1460, rule, credit: 65_535 }.share()
    };
    let cases = [
        (GrantRule::Each, 0.97..1.0),
        (GrantRule::Bytes(4096), 0.93..1.0),
        (part(ShareOf::Initial, 125_000, false), 0.87..0.94),
        (part(ShareOf::Initial, 250_000, false), 0.75..0.80),
        (HALF_OF_REST, 0.66..0.69),
        (GrantRule::HALF, 0.49..0.52),
        (GrantRule::Below(16_384), 0.70..0.76),
    ];
    for (rule, range) in cases {
        for rate in [10.0, 30.0] {
            let share = share(rule, rate);
            assert!(range.contains(&share), "{rule:?} at {rate}: {share}");
        }
    }
}

#[test]
fn reads_that_divide_the_grant_give_the_whole_credit() {
    // W/(T + u/R) with u = W/2, where the link is `rate` times as fast as W/T.
    for rate in [0.75, 1.0, 2.0, 4.0_f64] {
        let round_trip = 0.64;
        let model = |rule| {
            Model { rate: rate * 65_536.0 / round_trip, round_trip, read: 16_384, rule, credit: 65_536 }
                .share()
        };
        let expected = 1.0 / (1.0 + 0.5 / rate);
        let share = model(GrantRule::HALF);
        assert!((share / expected - 1.0).abs() < 0.02, "{share} at {rate}, {expected}");
        assert!(model(ABOVE_HALF) <= share.max(0.76), "three reads of four are above half");
    }
}

#[test]
fn programs_take_the_times_of_their_credits() {
    const MIB: u64 = 1 << 20;
    let over = |credit, rule, round_trip, size| {
        Model { rate: 34_368_000.0 / 8.0, round_trip, read: 1460, rule, credit }.time(size)
    };
    let cases = [
        (65_535, GrantRule::HALF, 0.12, 10, 35.9),
        (65_535, GrantRule::HALF, 0.64, 10, 190.8),
        (65_535, GrantRule::Below(16_384), 0.64, 10, 130.9),
        (16_384, GrantRule::Each, 0.64, 10, 391.0),
        (MIB / 2, ABOVE_HALF, 0.64, 10, 24.4),
        (MIB, GrantRule::Bytes(4096), 0.64, 10, 6.54),
        (2 * MIB, HALF_OF_REST, 0.64, 10, 4.86),
        (4 * MIB, GrantRule::HALF, 0.64, 10, 3.42),
        (4 * MIB, GrantRule::HALF, 0.64, 100, 30.9),
        (6 * MIB, ABOVE_HALF, 0.64, 100, 23.9),
    ];
    for (credit, rule, round_trip, megabytes, expected) in cases {
        let time = over(credit, rule, round_trip, megabytes * 1_000_000);
        assert!((time / expected - 1.0).abs() < 0.02, "{credit} B, {rule:?}: {time} s, not {expected} s");
    }
}
