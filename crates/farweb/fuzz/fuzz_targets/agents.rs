//! The one-way agents of ns-2, with any constants, on a pipe that loses, doubles and delays: every packet arrives.

#![no_main]

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use farweb::rng::RandomStreams;
use farweb::tcp::ns2::{Overrides, Profile, Sender, Sink};
use farweb::tcp::{Output, Segment};
use farweb::units::{Duration, Instant};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// Delay of the pipe each way.
const DELAY: Duration = Duration::from_millis(20);
/// Losses before the pipe becomes a good one: timeouts double up to a minute.
const LOSSES_MAX: usize = 40;

/// Constants that are on or off.
const SWITCHES: [&str; 14] = [
    "headers",
    "syn",
    "delay_growth",
    "slow_start_restart",
    "rfc2988",
    "timer_after_rtt",
    "limited_transmit",
    "bug_fix",
    "bug_fix_start",
    "exit_fast_retransmit",
    "precise_halving",
    "delayed_ack",
    "immediate_ack_in_gap",
    "immediate_ack_of_first",
];

#[derive(Debug)]
struct Input {
    profile: Profile,
    phase: Duration,
    /// When bytes are written, and how many.
    writes: Vec<(Duration, u64)>,
    /// Extra delays of the copies of the first packets and ACKs. Later ones arrive once and in time.
    fates: Vec<Vec<Duration>>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let profile = profile(u)?;
        let phase = Duration::from_millis(u.int_in_range(0..=99)?);
        let mut writes = Vec::new();
        for _ in 0..=u.int_in_range(0..=3)? {
            writes.push((Duration::from_millis(u.int_in_range(0..=5000)?), u.int_in_range(0..=100_000)?));
        }
        let (mut fates, mut losses) = (Vec::new(), 0);
        while !u.is_empty() && fates.len() < 300 {
            let late = |u: &mut Unstructured<'a>| u.int_in_range(0..=400).map(Duration::from_millis);
            fates.push(match u.int_in_range(0..=7)? {
                0 | 1 if losses < LOSSES_MAX => vec![],
                2 => vec![late(u)?],
                3 => vec![Duration::ZERO, late(u)?],
                _ => vec![Duration::ZERO],
            });
            losses += usize::from(fates.last().is_some_and(Vec::is_empty));
        }
        Ok(Self { profile, phase, writes, fates })
    }
}

fn profile(u: &mut Unstructured<'_>) -> Result<Profile> {
    let mut constants = Map::new();
    for name in SWITCHES {
        constants.insert(name.to_owned(), json!(u.arbitrary::<bool>()?));
    }
    constants.insert("window".into(), json!(u.int_in_range(1..=40)?));
    constants.insert("initial_cwnd_segments".into(), json!(u.int_in_range(1..=6)?));
    constants.insert("burst_max".into(), json!(u.int_in_range(0..=5)?));
    constants.insert("packet_size".into(), json!(format!("{} B", u.int_in_range(500..=2000)?)));
    constants.insert("tick".into(), json!(format!("{} ms", u.int_in_range(1..=200)?)));
    let constants: Overrides =
        serde_json::from_value(Value::Object(constants)).expect("constants have their kinds");
    let profile = Profile::ns2_reno().with(&constants);
    profile.check().expect("the constants are in range");
    Ok(profile)
}

#[derive(Debug)]
enum Event {
    Write(u64),
    AtSink(Segment),
    AtSender(Segment),
}

/// Agents, and the events between them.
struct Pipe {
    sender: Sender,
    sink: Sink,
    events: BTreeMap<(Instant, usize), Event>,
    fates: std::vec::IntoIter<Vec<Duration>>,
    /// The last ACK that the sink sent.
    acknowledged: u64,
}

impl Pipe {
    fn new(input: Input) -> Self {
        let stream = RandomStreams::new(1).stream("agent", 0);
        let mut pipe = Self {
            sender: Sender::new(&input.profile, input.phase, stream),
            sink: Sink::new(&input.profile),
            events: BTreeMap::new(),
            fates: input.fates.into_iter(),
            acknowledged: 0,
        };
        for (at, bytes) in input.writes {
            pipe.schedule(Instant::ZERO + at, Event::Write(bytes));
        }
        pipe
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        // Times are unlike, or the order of scheduling decides.
        let mut order = 0;
        while self.events.contains_key(&(at, order)) {
            order += 1;
        }
        self.events.insert((at, order), event);
    }

    fn send(&mut self, now: Instant, out: &mut Output, event: impl Fn(Segment) -> Event) {
        for segment in out.segments.drain(..) {
            for extra in self.fates.next().unwrap_or_else(|| vec![Duration::ZERO]) {
                self.schedule(now + DELAY + extra, event(segment));
            }
        }
    }

    /// Runs the earliest pending event. `false` when there is none.
    fn step(&mut self) -> bool {
        let timers = [self.sender.next_timeout(), self.sink.next_timeout()];
        let arrival = self.events.first_key_value().map(|((at, _), _)| *at);
        let Some(now) = timers.into_iter().chain([arrival]).flatten().min() else { return false };
        assert!(now < Instant::ZERO + Duration::from_secs(100_000), "the transfer never ends");
        let (mut data, mut acks) = (Output::default(), Output::default());
        if timers[0].is_some_and(|at| at <= now) {
            self.sender.on_timeout(now, &mut data);
        } else if timers[1].is_some_and(|at| at <= now) {
            self.sink.on_timeout(now, &mut acks);
        } else if let Some((_, event)) = self.events.pop_first() {
            match event {
                Event::Write(bytes) => self.sender.write(now, bytes, &mut data),
                Event::AtSink(segment) => self.sink.on_segment(now, &segment, &mut acks),
                Event::AtSender(segment) => self.sender.on_segment(now, &segment, &mut data),
            }
        }
        for ack in &acks.segments {
            assert!(ack.ack >= self.acknowledged, "the ACK goes back from {}: {ack:?}", self.acknowledged);
            self.acknowledged = ack.ack;
        }
        assert!(self.sender.snd_una() <= self.sender.snd_max());
        self.send(now, &mut data, Event::AtSink);
        self.send(now, &mut acks, Event::AtSender);
        true
    }
}

fuzz_target!(|input: Input| {
    let packet = input.profile.packet_size.get();
    let written: u64 = input.writes.iter().map(|(_, bytes)| bytes.div_ceil(packet) * packet).sum();
    let mut pipe = Pipe::new(input);
    let mut steps = 0;
    while pipe.step() {
        steps += 1;
        assert!(steps < 1_000_000, "the transfer never ends");
    }
    assert!(pipe.sender.is_done());
    assert_eq!(pipe.sink.received(), written);
    assert_eq!(pipe.sender.bytes_acknowledged(), written);
});
