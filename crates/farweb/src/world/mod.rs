//! The world: owns every entity and has the one `match` over all events. Alone knows them all.
//!
//! Models nothing by itself: it takes the next event, gives it to its part, and carries out the actions in the answer. Requests
//! stream in from a [`RequestSource`], rows stream out through [`World::take`]: memory grows with open connections and packets
//! in flight. Entities hold ids of each other, never references.
//!
//! Events of one connection are settled in [`network`], which sees only that connection and the network around it: a packet
//! looks its connection up once. Actions on several connections are done here, in [`acting`] and [`ending`].

mod acting;
mod application;
mod build;
mod ending;
mod launch;
mod network;
mod relaying;

use crate::client::Clients;
use crate::conn::{Closing, Connections, End, Event};
use crate::context::Context;
use crate::node;
use crate::pool::{Allot, on_pool};
use crate::record::{Column, Dictionary, Status};
use crate::tcp::{Flags, Output};
use crate::units::Instant;
use crate::workload::{Request, RequestSource, WorkloadError};

use network::Network;

pub use crate::net::{Direction, LinkTotals};
pub use crate::observe::{Asked, CacheStats, Count, LegStats, Measured, cache_row, leg_row, link_row};

/// A simulation in progress.
pub struct World {
    connections: Connections,
    network: Network,
    upcoming: Upcoming,
    /// End of the run. None: when all is done.
    until: Option<Instant>,
    clients: Clients,
    progress: Progress,
    /// Lent to endpoints, and kept: no event allocates.
    output: Output,
}

/// The request that starts next.
enum Upcoming {
    /// Nothing has been read yet.
    Unread,
    /// This one. Its event is pending.
    Request(Request),
    /// There are no more.
    None,
}

/// Progress of a run.
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
    /// Requests with a whole response.
    pub requests_finished: u64,
    /// Requests that failed.
    pub requests_failed: u64,
    /// True when the run is over.
    pub done: bool,
}

impl World {
    /// Processes up to `events` events. [`Progress::done`] says if the run is over.
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
        let end = self.progress.events.saturating_add(events);
        while self.progress.events < end && !self.progress.done {
            if let Some((now, link)) = self.network.context.queue.next_on_channel(self.until) {
                self.count_event(now);
                self.on_link(link);
                self.perform_later();
            } else {
                self.step(source)?;
            }
        }
        Ok(self.progress)
    }

    /// Progress of the run.
    #[must_use]
    pub const fn progress(&self) -> Progress {
        self.progress
    }

    /// Rows finished since the last call, as columns by table. Tables without new rows are left out.
    pub fn take(&mut self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        let told = self.network.path.told_until(self.progress.now);
        self.network.context.observer.take(told)
    }

    /// The words of a dictionary, by number.
    #[must_use]
    pub fn words(&self, dictionary: Dictionary) -> Vec<String> {
        let texts = |words: &mut dyn Iterator<Item = &Box<str>>| words.map(ToString::to_string).collect();
        let directory = &self.network.context.directory;
        match dictionary {
            Dictionary::Fixed(words) => words.iter().map(ToString::to_string).collect(),
            Dictionary::Hosts => texts(&mut directory.hosts().iter().map(|(_, host)| &host.key)),
            Dictionary::Sources => texts(&mut directory.sources.words().iter().map(|(_, word)| word)),
            Dictionary::Tags => texts(&mut directory.tags.words().iter().map(|(_, word)| word)),
            Dictionary::Nodes => self.network.path.nodes().to_vec(),
            Dictionary::Flags => Flags::all().map(|flags| flags.to_string()).collect(),
        }
    }

    /// Totals of each link over the whole run, by link and direction.
    #[must_use]
    pub fn link_totals(&mut self) -> Vec<LinkTotals> {
        self.network.path.totals(self.progress.now)
    }

    /// Statistics of the links in the measured interval, or in its part so far.
    #[must_use]
    pub fn measured(&mut self) -> Measured {
        let Network { path, context: Context { observer, .. }, .. } = &mut self.network;
        observer.measurement.measured(self.progress.now, path, &mut observer.legs, &observer.caches)
    }

    /// Takes the next event, unless it is of a link. Ends the run where none is left before its end.
    fn step(&mut self, source: &mut dyn RequestSource) -> Result<(), WorkloadError> {
        let Self { connections, network, .. } = self;
        let queue = &mut network.context.queue;
        queue.begin_slice(|event| match event {
            Event::TimerFires(id, _) => connections.get(id).is_some(),
            _ => true,
        });
        if self.until.is_none() && self.connections.is_empty() && matches!(self.upcoming, Upcoming::None) {
            let now = queue.now();
            self.check_not_stuck();
            self.finish(now, Status::Failed);
            return Ok(());
        }
        if let Some(end) = self.until {
            let next = queue.next_at();
            if next.is_none_or(|at| at > end) {
                if next.is_none() {
                    self.check_not_stuck();
                }
                self.finish(end, Status::Unfinished);
                return Ok(());
            }
        }
        if queue.next_at().is_some() && queue.next_on_channel(self.until).is_some() {
            return Ok(());
        }
        let Some((now, event)) = queue.pop() else {
            let now = queue.now();
            self.check_not_stuck();
            self.finish(now, Status::Failed);
            return Ok(());
        };
        self.count_event(now);
        match event {
            Event::Begin => self.on_begin(),
            Event::RequestStarts => self.on_request_start(source)?,
            Event::TimerFires(connection, end) => self.on_timer(connection, end),
            Event::RelayTimerFires(connection, side) => self.on_relay_timer(connection, side),
            Event::ApplicationWakes(connection, end) => self.on_wake(connection, end),
            Event::ResponseReleases(exchange) => self.on_release(exchange),
            Event::RegulatorIsDue(connection) => self.on_regulator(connection),
            Event::IdleEnds(connection, end) => self.on_idle(connection, end),
            Event::ClientGivesUp(exchange) => self.give_up(exchange),
            Event::ClientCloses(connection) => self.close(connection, End::Client, Closing::Now),
            Event::IntervalEnds => self.on_interval_end(),
        }
        self.perform_later();
        Ok(())
    }

    #[inline(always)]
    fn count_event(&mut self, now: Instant) {
        self.progress.now = now;
        self.progress.events += 1;
        self.network.move_to(now);
    }

    /// Carries out the remaining actions of an event.
    #[inline(always)]
    fn perform_later(&mut self) {
        while let Some(action) = self.network.context.actions.next_later() {
            self.perform(action);
        }
    }

    /// Opens the connections that are always open.
    fn on_begin(&mut self) {
        if matches!(self.upcoming, Upcoming::None) {
            return;
        }
        for leg in 0..self.network.pools.len() {
            self.with_pool(leg, |pool, cx, connections| on_pool!(pool, own => own.begin(cx, connections)));
        }
    }

    fn on_request_start(&mut self, source: &mut dyn RequestSource) -> Result<(), WorkloadError> {
        if let Upcoming::Request(request) = self.upcoming {
            self.start_request(request)?;
        }
        self.read_request(source)?;
        let is_last = matches!(self.upcoming, Upcoming::None);
        let Network { path, context: Context { observer, .. }, .. } = &mut self.network;
        observer.measurement.on_request_start(self.progress.now, is_last, path, &mut observer.legs);
        Ok(())
    }

    /// Starts `request`.
    ///
    /// # Errors When the first leg or a node refuses the request.
    fn start_request(&mut self, request: Request) -> Result<(), WorkloadError> {
        let Network { nodes, pools, context, .. } = &mut self.network;
        let host = &context.directory.hosts()[request.host];
        let last_leg = context.legs.last().expect("a leg at least");
        context.observer.measurement.measure_request(&request, last_leg, host);
        pools[0].check(&request, context)?;
        node::check(nodes, &request, &context.directory)?;
        let number = self.progress.requests_started;
        self.progress.requests_started += 1;
        let exchange = self.clients.ask(context, number, request);
        self.send_request(exchange);
        Ok(())
    }

    fn read_request(&mut self, source: &mut dyn RequestSource) -> Result<(), WorkloadError> {
        let context = &mut self.network.context;
        self.upcoming = match source.next_request(&mut context.directory)? {
            Some(request) => {
                context.queue.push(request.start, Event::RequestStarts);
                Upcoming::Request(request)
            }
            None => Upcoming::None,
        };
        Ok(())
    }

    /// Closes the recording interval, behind all else that happens at its end, which belongs to it.
    fn on_interval_end(&mut self) {
        let now = self.progress.now;
        let Network { path, context: Context { observer, queue, .. }, .. } = &mut self.network;
        if queue.next_at() == Some(now) {
            queue.push(now, Event::IntervalEnds);
            return;
        }
        observer.close_interval(now, path);
        if let Some(interval) = observer.interval()
            && !queue.is_empty()
        {
            queue.push(now + interval, Event::IntervalEnds);
        }
    }

    /// Ends the run at `end`: writes rows of everything open, and the last interval.
    fn finish(&mut self, end: Instant, status: Status) {
        self.progress.now = end;
        self.network.context.now = end;
        self.settle_links(end);
        let Network { path, context: Context { observer, .. }, .. } = &mut self.network;
        observer.measurement.on_run_end(end, path, &mut observer.legs, &mut observer.caches);
        self.close_remaining(status);
        let Network { path, context: Context { observer, .. }, .. } = &mut self.network;
        observer.close_interval(end, path);
        self.progress.done = true;
    }
}
