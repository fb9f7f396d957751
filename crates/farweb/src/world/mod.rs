//! The world: owns every entity, the closed [`Event`] enum and its one `match`; alone knows them all.
//!
//! Requests stream in from a [`RequestSource`], rows stream out through [`World::take`]: memory is that of the open
//! connections and of the packets in flight. Entities hold ids of each other, never references.

mod application;
mod capture;
mod connections;
mod ending;
mod exchange;
mod held;
mod leg;
mod measurement;
mod mux;
mod occupancy;
mod origin;
mod pair;
mod path;
mod persistent;
mod recorder;
mod tasks;
mod transfers;
mod transport;
mod unacknowledged;

use std::collections::VecDeque;

use crate::engine::EventQueue;
use crate::id::Slab;
use crate::record::{Column, Dictionary, Status};
use crate::rng::Streams;
use crate::scenario::{Scenario, Until};
use crate::tcp::{Flags, Output};
use crate::units::Instant;
use crate::workload::{Directory, Request, RequestSource, WorkloadError};

use exchange::{Exchange, ExchangeId};
use leg::{Carrier, Hosts, Leg};
use measurement::Measurement;
use pair::{ConnectionId, End, Pair};
use path::{LinkId, Path};
use recorder::Recorder;
use tasks::Task;

pub use measurement::Measured;
pub use occupancy::{Count, LegStats};
pub use path::{Direction, LinkTotals};

/// Everything that can happen. `Copy` and small: an event names entities by id and carries no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The connections that are always open are opened.
    Begin,
    /// The upcoming request reaches the first node.
    RequestStarts,
    /// The packet at the head of a link reaches its far end.
    PacketArrives(LinkId),
    /// A timer of an endpoint may be due.
    TimerFires(ConnectionId, End),
    /// The origin releases the next piece of a response.
    OriginReleases(ExchangeId),
    /// An end of a connection may have been idle for long enough.
    IdleEnds(ConnectionId, End),
    /// A recording interval of links and legs ends.
    IntervalEnds,
}

/// A simulation in progress.
pub struct World {
    queue: EventQueue<Event>,
    path: Path,
    legs: Vec<Leg>,
    hosts: Hosts,
    streams: Streams,
    connections: Slab<Pair>,
    connections_opened: u64,
    exchanges: Slab<Exchange>,
    /// What the event leaves to be done at once.
    tasks: VecDeque<Task>,
    directory: Directory,
    recorder: Recorder,
    upcoming: Upcoming,
    until: Until,
    measurement: Measurement,
    progress: Progress,
    /// Lent to endpoints; kept so that no event allocates.
    output: Output,
    /// What was read last, by exchange; kept for the same reason.
    arrivals: Vec<(ExchangeId, u64)>,
}

/// The request that starts next.
enum Upcoming {
    /// Nothing has been read yet.
    Unread,
    /// This one; its event is pending.
    Request(Request),
    /// There are no more.
    None,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Time of the last event.
    pub now: Instant,
    /// Events processed.
    pub events: u64,
    /// Arrivals of a packet at the far end of a link.
    pub packet_hops: u64,
    /// Requests that have started.
    pub requests_started: u64,
    /// Requests whose whole response arrived.
    pub requests_finished: u64,
    /// Requests whose connection was refused, reset or timed out.
    pub requests_failed: u64,
    /// Whether the run is over.
    pub done: bool,
}

impl World {
    /// Builds what `scenario` describes, with the hosts that `directory` knows so far.
    ///
    /// The same scenario, seed and requests give the same rows in any process.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64, directory: Directory) -> Self {
        let streams = Streams::new(seed);
        let mut world = Self {
            queue: EventQueue::new(),
            path: Path::new(&scenario.path, &streams),
            legs: Leg::all(scenario),
            hosts: Hosts::new(streams),
            streams,
            connections: Slab::new(),
            connections_opened: 0,
            exchanges: Slab::new(),
            tasks: VecDeque::new(),
            recorder: Recorder::new(scenario),
            directory,
            upcoming: Upcoming::Unread,
            until: scenario.run.until,
            measurement: Measurement::new(&scenario.run),
            progress: Progress::default(),
            output: Output::default(),
            arrivals: Vec::new(),
        };
        if world.legs.iter().any(|leg| matches!(leg.carrier, Carrier::Mux(_))) {
            world.queue.push(Instant::ZERO, Event::Begin);
        }
        if let Some(interval) = world.recorder.interval() {
            world.queue.push(Instant::ZERO + interval, Event::IntervalEnds);
        }
        world
    }

    /// Processes up to `events` events; [`Progress::done`] tells whether the run is over.
    ///
    /// # Errors
    /// When the next request cannot be read from `source`.
    pub fn advance(
        &mut self,
        source: &mut dyn RequestSource,
        events: u64,
    ) -> Result<Progress, WorkloadError> {
        if matches!(self.upcoming, Upcoming::Unread) {
            self.read_request(source)?;
        }
        for _ in 0..events {
            if self.progress.done {
                break;
            }
            self.step(source)?;
        }
        Ok(self.progress)
    }

    /// How far the run is.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Rows finished since the last call, as columns by table; tables without new rows are left out.
    pub fn take(&mut self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        self.recorder.take(self.progress.now)
    }

    /// The words of a dictionary, by number.
    #[must_use]
    pub fn words(&self, dictionary: Dictionary) -> Vec<String> {
        let texts = |words: &mut dyn Iterator<Item = &Box<str>>| words.map(ToString::to_string).collect();
        match dictionary {
            Dictionary::Fixed(words) => words.iter().map(ToString::to_string).collect(),
            Dictionary::Hosts => texts(&mut self.directory.hosts().iter().map(|(_, host)| &host.key)),
            Dictionary::Sources => texts(&mut self.directory.sources.words().iter().map(|(_, word)| word)),
            Dictionary::Tags => texts(&mut self.directory.tags.words().iter().map(|(_, word)| word)),
            Dictionary::Nodes => self.path.nodes().to_vec(),
            Dictionary::Flags => Flags::all().map(|flags| flags.to_string()).collect(),
        }
    }

    /// What each link carried over the whole run, by link and direction.
    #[must_use]
    pub fn link_totals(&mut self) -> Vec<LinkTotals> {
        self.path.totals(self.progress.now)
    }

    fn step(&mut self, source: &mut dyn RequestSource) -> Result<(), WorkloadError> {
        if self.until == Until::Done && self.is_quiet() {
            self.finish(self.queue.now(), Status::Failed);
            return Ok(());
        }
        if let Until::Time(limit) = self.until {
            let end = Instant::ZERO + limit;
            if self.queue.next_at().is_none_or(|at| at > end) {
                self.finish(end, Status::Unfinished);
                return Ok(());
            }
        }
        let Some((now, event)) = self.queue.pop() else {
            self.finish(self.queue.now(), Status::Failed);
            return Ok(());
        };
        self.progress.now = now;
        self.progress.events += 1;
        self.measure_from_warmup(now);
        match event {
            Event::Begin => self.on_begin(now),
            Event::RequestStarts => self.on_request_start(now, source)?,
            Event::PacketArrives(link) => self.on_packet_arrival(now, link),
            Event::TimerFires(connection, end) => self.on_timer(now, connection, end),
            Event::OriginReleases(exchange) => self.on_origin_release(now, exchange),
            Event::IdleEnds(connection, end) => self.on_idle_end(now, connection, end),
            Event::IntervalEnds => self.on_interval_end(now),
        }
        self.run_tasks(now);
        Ok(())
    }

    /// Whether nothing is left to happen.
    fn is_quiet(&self) -> bool {
        self.connections.is_empty() && matches!(self.upcoming, Upcoming::None)
    }

    fn on_request_start(
        &mut self,
        now: Instant,
        source: &mut dyn RequestSource,
    ) -> Result<(), WorkloadError> {
        if let Upcoming::Request(request) = self.upcoming {
            self.start_request(now, request)?;
        }
        self.read_request(source)?;
        self.measure_to_start(now, matches!(self.upcoming, Upcoming::None));
        Ok(())
    }

    fn read_request(&mut self, source: &mut dyn RequestSource) -> Result<(), WorkloadError> {
        self.upcoming = match source.next_request(&mut self.directory)? {
            Some(request) => {
                self.queue.push(request.start, Event::RequestStarts);
                Upcoming::Request(request)
            }
            None => Upcoming::None,
        };
        Ok(())
    }

    fn on_interval_end(&mut self, now: Instant) {
        self.recorder.close_interval(now, &mut self.path, &mut self.legs);
        if let Some(interval) = self.recorder.interval()
            && !self.queue.is_empty()
        {
            self.queue.push(now + interval, Event::IntervalEnds);
        }
    }

    /// Ends the run at `end`: rows of what is still open, and the last interval.
    fn finish(&mut self, end: Instant, status: Status) {
        self.progress.now = end;
        self.measure_to_end(end);
        self.close_remaining(end, status);
        self.recorder.close_interval(end, &mut self.path, &mut self.legs);
        self.progress.done = true;
    }
}
