//! A sender and a sink with a link in each direction between them, and chosen losses.

use std::collections::{BTreeMap, BTreeSet};

use crate::rng::{RandomStream, RandomStreams};
use crate::tcp::ns2::{Profile, Sender, Sink};
use crate::tcp::segment::Segment;
use crate::tcp::state::{Notice, Output};
use crate::units::{BitRate, Bytes, Duration, Instant};

/// ns-2's defaults from before May 2001.
pub(super) const RENO: Profile = Profile::ns2_reno();

/// One of the two agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Sender,
    Sink,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival(Agent, Segment),
    Timer(Agent),
}

/// The links between the agents.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    /// Rate of both. `None` sends in no time.
    pub(super) rate: Option<BitRate>,
    /// Delay of each.
    pub(super) delay: Duration,
    /// Which packets are lost, counted from 0 as they are sent, the repeated ones too.
    pub(super) lost_packets: BTreeSet<usize>,
    /// Which ACKs are lost, counted likewise.
    pub(super) lost_acks: BTreeSet<usize>,
}

/// Events of a transfer.
#[derive(Debug)]
pub(super) struct Record {
    /// Packets by number, as they were sent.
    pub(super) sent: Vec<(Instant, u64)>,
    /// ACKs by the packet that they expect, as they were sent.
    pub(super) acks: Vec<(Instant, u64)>,
    /// When the sink had everything in order.
    pub(super) delivered: Instant,
    /// When the sender had everything acknowledged.
    pub(super) acked: Instant,
    pub(super) sender: Sender,
    pub(super) sink: Sink,
}

/// An agent's random numbers.
pub(super) fn random() -> RandomStream {
    RandomStreams::new(1).stream("agent", 0)
}

pub(super) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(super) fn at(millis: u64) -> Instant {
    Instant::ZERO + ms(millis)
}

impl Wire {
    /// Links of 10 Mbit/s with a delay of `millis`.
    pub(super) fn ethernet(millis: u64) -> Self {
        Self { rate: BitRate::from_bps(10_000_000), ..Self::instant(millis) }
    }

    /// Links that send in no time, with a delay of `millis`.
    pub(super) fn instant(millis: u64) -> Self {
        Self { rate: None, delay: ms(millis), lost_packets: BTreeSet::new(), lost_acks: BTreeSet::new() }
    }

    /// The same with these packets lost.
    pub(super) fn losing(self, packets: impl IntoIterator<Item = usize>) -> Self {
        Self { lost_packets: packets.into_iter().collect(), ..self }
    }

    /// Transfers `packets` packets of data from time 0 on. The agent's clock is at `phase`.
    pub(super) fn transfer(&self, profile: &Profile, packets: u64, phase: Duration) -> Record {
        let mut run = Run::new(self.clone(), profile, phase);
        let mut output = Output::default();
        run.sender.write(Instant::ZERO, packets * profile.packet_size.get(), &mut output);
        run.settle(Instant::ZERO, Agent::Sender, output);
        run.finish()
    }
}

struct Run {
    wire: Wire,
    profile: Profile,
    sender: Sender,
    sink: Sink,
    /// By time, then in order of scheduling.
    events: BTreeMap<(Instant, usize), Event>,
    scheduled: usize,
    /// When the link that leaves an agent is free.
    free: [Instant; 2],
    timers: [Option<Instant>; 2],
    sent: Vec<(Instant, u64)>,
    acks: Vec<(Instant, u64)>,
    delivered: Instant,
}

impl Run {
    fn new(wire: Wire, profile: &Profile, phase: Duration) -> Self {
        Self {
            wire,
            profile: *profile,
            sender: Sender::new(profile, phase, random()),
            sink: Sink::new(profile),
            events: BTreeMap::new(),
            scheduled: 0,
            free: [Instant::ZERO; 2],
            timers: [None; 2],
            sent: Vec::new(),
            acks: Vec::new(),
            delivered: Instant::ZERO,
        }
    }

    fn finish(mut self) -> Record {
        loop {
            let ((now, _), event) =
                self.events.pop_first().expect("something is pending until all is acknowledged");
            assert!(now < at(3_600_000), "the transfer does not end");
            let mut output = Output::default();
            let agent = match event {
                Event::Arrival(agent, segment) => {
                    match agent {
                        Agent::Sender => self.sender.on_segment(now, &segment, &mut output),
                        Agent::Sink => self.sink.on_segment(now, &segment, &mut output),
                    }
                    agent
                }
                Event::Timer(agent) => {
                    if self.timers[agent as usize] != Some(now) {
                        continue;
                    }
                    self.timers[agent as usize] = None;
                    match agent {
                        Agent::Sender => self.sender.on_timeout(now, &mut output),
                        Agent::Sink => self.sink.on_timeout(now, &mut output),
                    }
                    agent
                }
            };
            self.settle(now, agent, output);
            if self.sender.is_done() {
                let Self { sent, acks, delivered, sender, sink, .. } = self;
                return Record { sent, acks, delivered, acked: now, sender, sink };
            }
        }
    }

    fn settle(&mut self, now: Instant, agent: Agent, output: Output) {
        if output.notices.contains(&Notice::Readable) {
            self.delivered = now;
        }
        for segment in output.segments {
            self.transmit(now, agent, segment);
        }
        let next = match agent {
            Agent::Sender => self.sender.next_timeout(),
            Agent::Sink => self.sink.next_timeout(),
        };
        self.timers[agent as usize] = next;
        if let Some(at) = next {
            self.schedule(at, Event::Timer(agent));
        }
    }

    fn transmit(&mut self, now: Instant, from: Agent, segment: Segment) {
        let (log, number, lost) = match from {
            Agent::Sender => (&mut self.sent, segment.seq, &self.wire.lost_packets),
            Agent::Sink => (&mut self.acks, segment.ack, &self.wire.lost_acks),
        };
        let is_lost = lost.contains(&log.len());
        log.push((now, self.profile.packet_number(number)));
        if is_lost {
            return;
        }
        let size = Bytes::new(u64::from(self.profile.packet_bytes(&segment)));
        let on_wire = self.wire.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
        let departure = self.free[from as usize].max(now) + on_wire;
        self.free[from as usize] = departure;
        let to = if from == Agent::Sender { Agent::Sink } else { Agent::Sender };
        self.schedule(departure + self.wire.delay, Event::Arrival(to, segment));
    }

    fn schedule(&mut self, at: Instant, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }
}

impl Record {
    /// Bursts: when packets were sent, and which.
    pub(super) fn bursts(&self) -> Vec<(Instant, Vec<u64>)> {
        let mut bursts: Vec<(Instant, Vec<u64>)> = Vec::new();
        for (at, number) in &self.sent {
            match bursts.last_mut().filter(|(last, _)| last == at) {
                Some((_, numbers)) => numbers.push(*number),
                None => bursts.push((*at, vec![*number])),
            }
        }
        bursts
    }

    /// How many packets each burst had.
    pub(super) fn burst_sizes(&self) -> Vec<usize> {
        self.bursts().iter().map(|(_, numbers)| numbers.len()).collect()
    }

    /// When packet `number` was sent, each time.
    pub(super) fn times_of(&self, number: u64) -> Vec<Instant> {
        self.sent.iter().filter(|(_, sent)| *sent == number).map(|(at, _)| *at).collect()
    }
}
