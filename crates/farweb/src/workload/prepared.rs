//! The requests of a workload, open for every reader, and the load that a run lays over them.
//!
//! Rows of a table stream from its beginning as often as they are asked for. Days, a period and days drawn anew need all of
//! them in memory (80 bytes a request). A generated trace is generated once.

use std::path::Path;
use std::sync::Arc;

use super::{
    AtRate, AtSpeed, Copies, CopiesHosts, Directory, Load, MemoryRows, MemoryTable, RequestSource,
    RequestTable, ResampledClients, Summary, WorkloadError, prowgen, shared,
};
use crate::rng::RandomStreams;
use crate::units::Duration;

/// Requests of any kind of table.
pub type Requests = Box<dyn RequestSource + Send + Sync>;

/// A request table that can be read again.
pub trait Begin: Send + Sync {
    /// Its requests from the first one on.
    ///
    /// # Errors
    /// When the table cannot be read.
    fn begin(&self) -> Result<Requests, WorkloadError>;
}

/// The requests of a workload, and the hosts that are known before any request asks for one.
pub struct Prepared {
    rows: Rows,
    hosts: Option<Directory>,
}

enum Rows {
    /// A table without days, or with days that are not numbered yet.
    Table { table: Box<dyn Begin>, count: Option<u64>, has_days: bool },
    /// Days in memory.
    Days(Arc<MemoryTable>),
    /// A generated trace, with requests made on demand.
    Trace(prowgen::Trace),
}

/// How a run lays days and copies of its workload over each other.
#[derive(Debug, Clone, Copy)]
pub struct Laying {
    /// Days and copies.
    pub load: Load,
    /// Factor that divides the start times of a table.
    pub speed: Option<f64>,
    /// Factor on the number of requests, and the time that repeats start in.
    pub rate: Option<(f64, Duration)>,
    /// Where clients are drawn anew, the time that doubles start in.
    pub doubles: Option<Duration>,
    /// Random numbers of the rate and of drawn clients.
    pub streams: RandomStreams,
}

impl Prepared {
    /// A table and, if there is one, its host table. `count` is its number of rows, where that is known.
    ///
    /// # Errors
    /// When the first row cannot be read.
    pub fn of_table(
        table: Box<dyn Begin>,
        count: Option<u64>,
        hosts: Option<Directory>,
    ) -> Result<Self, WorkloadError> {
        let first = table.begin()?.next_request(&mut Directory::default())?;
        let has_days = first.is_some_and(|request| request.day.is_some());
        Ok(Self { rows: Rows::Table { table, count, has_days }, hosts })
    }

    /// The table in the text file at `path`. It is read once from end to end.
    ///
    /// # Errors
    /// Errors of [`RequestTable::open`].
    pub fn of_text(path: &Path, hosts: Option<Directory>) -> Result<Self, WorkloadError> {
        Ok(Self::of_summarized(RequestTable::open(path)?, hosts))
    }

    /// The table in memory, called `name` in messages.
    ///
    /// # Errors
    /// Errors of [`RequestTable::of_bytes`].
    pub fn of_bytes(name: String, bytes: Vec<u8>, hosts: Option<Directory>) -> Result<Self, WorkloadError> {
        Ok(Self::of_summarized(RequestTable::of_bytes(name, bytes)?, hosts))
    }

    fn of_summarized((table, summary): (RequestTable, Summary), hosts: Option<Directory>) -> Self {
        let (count, has_days) = (Some(summary.requests), summary.has_days);
        Self { rows: Rows::Table { table: Box::new(table), count, has_days }, hosts }
    }

    /// Generated days, with their hosts.
    #[must_use]
    pub fn of_days(days: MemoryTable) -> Self {
        let hosts = Some(days.names().clone());
        Self { rows: Rows::Days(Arc::new(days)), hosts }
    }

    /// A generated trace, with its hosts.
    #[must_use]
    pub fn of_trace(trace: prowgen::Trace) -> Self {
        let hosts = Some(trace.hosts().clone());
        Self { rows: Rows::Trace(trace), hosts }
    }

    /// The hosts of a host table or of a generated trace.
    #[must_use]
    pub const fn hosts(&self) -> Option<&Directory> {
        self.hosts.as_ref()
    }

    /// Number of rows, where it is known.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match &self.rows {
            Rows::Table { count, .. } => *count,
            Rows::Days(days) => Some(days.requests().len() as u64),
            Rows::Trace(trace) => Some(trace.len()),
        }
    }

    /// All rows once, several days by start time.
    ///
    /// # Errors
    /// When the table cannot be read.
    pub fn all(&self) -> Result<Requests, WorkloadError> {
        match &self.rows {
            Rows::Table { table, .. } => table.begin(),
            Rows::Days(days) => {
                let load = Load {
                    load: days.days() as u32,
                    offset: Duration::ZERO,
                    period: None,
                    hosts: CopiesHosts::Same,
                    drawn: None,
                };
                Ok(Box::new(load.of_table(days, |rows| rows)?))
            }
            Rows::Trace(trace) => Ok(Box::new(trace.requests())),
        }
    }

    /// The requests of a run, and how many they are, where that is known.
    ///
    /// # Errors
    /// When the table cannot be read, or lacks something the load needs.
    pub fn laid(&self, laying: &Laying) -> Result<(Requests, Option<u64>), WorkloadError> {
        let load = &laying.load;
        let (copies, count) = match &self.rows {
            Rows::Table { table, has_days, .. } if *has_days || load.needs_memory() => {
                let rows = MemoryTable::read(&mut laying.at_speed(table.begin()?))?;
                return laying.in_memory(&Arc::new(rows));
            }
            Rows::Trace(trace) if load.needs_memory() => {
                return laying.in_memory(&Arc::new(MemoryTable::read(&mut trace.requests())?));
            }
            Rows::Days(days) => return laying.in_memory(days),
            Rows::Table { table, .. } => {
                let copies = shared(table.begin()?, load.load).into_iter();
                (copies.map(|copy| laying.at_rate(laying.at_speed(copy))).collect(), self.count())
            }
            Rows::Trace(trace) => {
                ((0..load.load).map(|_| laying.at_rate(trace.requests())).collect(), self.count())
            }
        };
        let total = count.and_then(|count| laying.total(count * u64::from(load.load)));
        Ok((laying.drawn(load.of_streams(copies)), total))
    }
}

impl Laying {
    fn in_memory(&self, table: &Arc<MemoryTable>) -> Result<(Requests, Option<u64>), WorkloadError> {
        let copies = self.load.of_table(table, |rows: MemoryRows| self.at_rate(rows))?;
        Ok((self.drawn(copies), self.total(self.load.requests_of(table))))
    }

    fn at_speed(&self, requests: impl RequestSource + Send + Sync + 'static) -> Requests {
        match self.speed {
            Some(speed) => Box::new(AtSpeed::new(requests, speed)),
            None => Box::new(requests),
        }
    }

    fn at_rate(&self, requests: impl RequestSource + Send + Sync + 'static) -> Requests {
        match self.rate {
            Some((load, window)) => Box::new(AtRate::new(requests, load, window, self.streams)),
            None => Box::new(requests),
        }
    }

    fn drawn(&self, copies: Copies<Requests>) -> Requests {
        match self.doubles {
            Some(window) => Box::new(ResampledClients::new(copies, window, self.streams)),
            None => Box::new(copies),
        }
    }

    /// Number of requests that so many become. `None` where draws decide it.
    fn total(&self, requests: u64) -> Option<u64> {
        (self.rate.is_none() && self.doubles.is_none()).then_some(requests)
    }
}

#[cfg(test)]
mod tests;
