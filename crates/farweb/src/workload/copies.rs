//! Load: days of a request table that run at the same time, and beyond those copies of them.
//!
//! A table with days gives them one after the other: load 40 of 31 days is the 31 days and copy 1 of the first nine. In
//! a table without days the whole table is the one day. Copy k starts k offsets later and is the same otherwise, except
//! for tags, which stay in copy 0: sample requests are measured once at any load. With a period a copy wraps around
//! within it: requests beyond its end start that much after its beginning, and every part of the run has the same load.
//! Copies ask the same hosts for the same objects, or each copy hosts of its own, `HOST~k` with the same values, for
//! objects of its own. The clients of copies are always other people: each copy has its own ids. Days may be drawn from
//! the table instead, with replacement: a repeated one is a copy.
//!
//! Source: the NZ–US study ("Improving the performance of HTTP over high bandwidth-delay product circuits", CNDS
//! 2001) merges the same minutes of successive days, and beyond that copies, each offset in time against
//! self-correlation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::memory::MemoryRows;
use super::{Directory, Host, HostId, MemoryTable, Request, RequestSource, WorkloadError};
use crate::rng::RandomStreams;
use crate::units::{Duration, Instant};

/// Hosts that the copies of a workload ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CopiesHosts {
    /// The same in every copy.
    #[default]
    Same,
    /// Every copy has hosts of its own, with the same MSS and window, and objects of its own.
    Renamed,
}

/// Number of days and copies of a table that run at the same time, and how copies differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Days that run at the same time, copies included, at least 1.
    pub load: u32,
    /// Time between the starts of two copies.
    pub offset: Duration,
    /// Time that copies wrap around in, above zero. With `None` they are only shifted.
    pub period: Option<Duration>,
    /// Hosts that copies ask.
    pub hosts: CopiesHosts,
    /// Random numbers to draw days from the table with replacement. With `None` days come one after the other.
    pub drawn: Option<RandomStreams>,
}

impl Load {
    /// The requests of `sources`, each a copy of the same table without days, read from its start. They are shifted: a
    /// period takes a table in memory.
    #[must_use]
    pub fn of_streams<S: RequestSource>(&self, sources: Vec<S>) -> Copies<S> {
        let copies = sources.into_iter().zip(0..).map(|(source, number)| self.copy(source, number, true));
        Copies::new(copies.collect(), self.hosts)
    }

    /// True when it takes a table in memory.
    pub(super) const fn needs_memory(&self) -> bool {
        self.period.is_some() || self.drawn.is_some()
    }

    /// Checks that the last request of a table, this long after the beginning, starts within the period.
    ///
    /// # Errors
    /// When it does not.
    pub fn require_in_period(&self, last: Duration) -> Result<(), WorkloadError> {
        match self.period {
            Some(period) if last >= period => Err(WorkloadError(format!(
                "workload.period: found {period}, but a request starts {last} after the beginning; write a longer \
                 period, or leave the key out"
            ))),
            _ => Ok(()),
        }
    }

    /// Requests that the load makes of a table. `source` makes a source of each day's rows.
    ///
    /// # Errors
    /// When there is a period and a request starts after it.
    pub fn of_table<S: RequestSource>(
        &self,
        table: &Arc<MemoryTable>,
        source: impl Fn(MemoryRows) -> S,
    ) -> Result<Copies<S>, WorkloadError> {
        self.require_in_period(table.last_start().saturating_since(Instant::ZERO))?;
        if self.drawn.is_some() && table.days() < 2 {
            return Err(WorkloadError(
                "workload.resample: days are to be drawn, and the table has one; farweb workload merge makes a table of days \
                 of several logs, and \"clients\" draws clients"
                    .into(),
            ));
        }
        let copies = self.days_of(table).into_iter().map(|(day, number)| match self.period {
            None => self.copy(source(MemoryRows::of_day(table, day)), number, true),
            Some(period) => {
                let by = u128::from(self.offset.as_nanos()) * u128::from(number);
                let by = Duration::from_nanos((by % u128::from(period.as_nanos())) as u64);
                self.copy(source(MemoryRows::wrapped(table, day, period, by)), number, false)
            }
        });
        Ok(Copies::new(copies.collect(), self.hosts))
    }

    /// Number of requests that the load makes of a table.
    #[must_use]
    pub fn requests_of(&self, table: &MemoryTable) -> u64 {
        self.days_of(table).into_iter().map(|(day, _)| table.day(day).len() as u64).sum()
    }

    /// The days that run: place of each in the table, and how often it runs before.
    fn days_of(&self, table: &MemoryTable) -> Vec<(usize, u32)> {
        let mut before = vec![0; table.days()];
        let mut random = self.drawn.map(|streams| streams.stream("days drawn anew", 0));
        let places = if before.is_empty() { 0 } else { self.load as usize };
        (0..places)
            .map(|place| {
                let day = match &mut random {
                    Some(random) => random.below(before.len() as u64) as usize,
                    None => place % before.len(),
                };
                before[day] += 1;
                (day, before[day] - 1)
            })
            .collect()
    }

    const fn copy<S>(&self, source: S, number: u32, shifted: bool) -> Copy<S> {
        let offset = if shifted { self.offset } else { Duration::ZERO };
        Copy { source, number, offset, head: None }
    }
}

/// Days and copies merged by start time. Equal starts come in the order of days and copies. Memory: the open tables.
#[derive(Debug)]
pub struct Copies<S> {
    copies: Vec<Copy<S>>,
    /// Copies with a `head` to come, earliest first.
    queue: BinaryHeap<Reverse<(Instant, usize)>>,
    started: bool,
    /// The hosts of copies with their own, by copy and by the replaced host.
    renamed: Option<FxHashMap<(u32, HostId), HostId>>,
}

#[derive(Debug)]
struct Copy<S> {
    source: S,
    /// Number of times that the same rows run before this one.
    number: u32,
    /// Delay of its start for each of these.
    offset: Duration,
    head: Option<Request>,
}

impl<S: RequestSource> Copies<S> {
    fn new(copies: Vec<Copy<S>>, hosts: CopiesHosts) -> Self {
        let renamed = (hosts == CopiesHosts::Renamed).then(FxHashMap::default);
        Self { copies, queue: BinaryHeap::new(), started: false, renamed }
    }

    /// Reads the next request of copy `index` and puts the copy into the queue.
    fn advance(&mut self, index: usize, directory: &mut Directory) -> Result<(), WorkloadError> {
        let copy = &mut self.copies[index];
        copy.head = copy.source.next_request(directory)?;
        let Some(head) = &mut copy.head else { return Ok(()) };
        let shift = u128::from(copy.offset.as_nanos()) * u128::from(copy.number);
        let start = u64::try_from(shift + u128::from(head.start.as_nanos())).unwrap_or(u64::MAX);
        if start > LATEST {
            return Err(WorkloadError(format!(
                "workload.copies_offset: found {}; a request of copy {} then starts after 292 years",
                copy.offset, copy.number
            )));
        }
        head.start = Instant::from_nanos(start);
        if copy.number > 0 {
            head.tag = None;
            head.client = head.client.map(|client| client.in_copy(copy.number));
            if let Some(renamed) = &mut self.renamed {
                head.object = head.object.map(|object| object.in_copy(copy.number));
                let place = (copy.number, head.host);
                head.host =
                    *renamed.entry(place).or_insert_with(|| another(directory, head.host, copy.number));
            }
        }
        self.queue.push(Reverse((head.start, index)));
        Ok(())
    }
}

/// A host that advertises the same as `host`, for copy `number`.
fn another(directory: &mut Directory, host: HostId, number: u32) -> HostId {
    let Host { key, name, buffer, mss } = directory.hosts()[host].clone();
    let mut key = format!("{key}~{number}");
    while directory.find(&key).is_some() {
        key.push('~');
    }
    directory.add(Host { key: key.into(), name, buffer, mss })
}

/// Latest start, in ns: results hold times as int64.
const LATEST: u64 = i64::MAX as u64;

impl<S: RequestSource> RequestSource for Copies<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        if !self.started {
            self.started = true;
            for index in 0..self.copies.len() {
                self.advance(index, directory)?;
            }
        }
        let Some(Reverse((_, index))) = self.queue.pop() else { return Ok(None) };
        let request = self.copies[index].head.take();
        self.advance(index, directory)?;
        Ok(request)
    }
}

#[cfg(test)]
mod tests;
