//! A request table in memory, day by day: what days, periods and generated traces need.

use std::iter::Chain;
use std::ops::Range;
use std::sync::Arc;

use super::{Directory, Request, RequestSource, WorkloadError};
use crate::units::{Duration, Instant};

/// All requests of a table, by day and start, and the directory that their ids belong to. It takes 80 bytes a request.
#[derive(Debug, Clone)]
pub struct MemoryTable {
    requests: Vec<Request>,
    /// Index of the first request of each day, and after the last one the number of requests.
    days: Vec<usize>,
    names: Directory,
}

impl MemoryTable {
    /// A table of these requests, with ids in `names`. Requests without a day make one day.
    #[must_use]
    pub fn new(mut requests: Vec<Request>, names: Directory) -> Self {
        requests.sort_by_key(|request| (request.day, request.start));
        let mut days: Vec<usize> = (0..requests.len())
            .filter(|row| *row == 0 || requests[*row].day != requests[*row - 1].day)
            .collect();
        days.push(requests.len());
        Self { requests, days, names }
    }

    /// Reads a table to its end.
    ///
    /// # Errors
    /// Errors of the table.
    pub fn read(source: &mut impl RequestSource) -> Result<Self, WorkloadError> {
        let (mut requests, mut names) = (Vec::new(), Directory::default());
        while let Some(request) = source.next_request(&mut names)? {
            requests.push(request);
        }
        Ok(Self::new(requests, names))
    }

    /// All requests, by day and start.
    #[must_use]
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Number of different days, 0 for a table without a request.
    #[must_use]
    pub fn days(&self) -> usize {
        self.days.len() - 1
    }

    /// The hosts and words of its requests.
    #[must_use]
    pub const fn names(&self) -> &Directory {
        &self.names
    }

    /// Places of the requests of day `day`, from 0.
    pub(super) fn day(&self, day: usize) -> Range<usize> {
        self.days[day]..self.days[day + 1]
    }

    /// The latest start of a request, on any day.
    pub(super) fn last_start(&self) -> Instant {
        self.requests.iter().map(|request| request.start).max().unwrap_or(Instant::ZERO)
    }
}

/// The requests of one day of a table, wrapped around within a period or as they are.
#[derive(Debug)]
pub struct MemoryRows {
    table: Arc<MemoryTable>,
    rest: Chain<Range<usize>, Range<usize>>,
    wrap: Option<Wrap>,
}

/// Starts move on by `by`, and starts beyond `period` begin again at zero.
#[derive(Debug, Clone, Copy)]
struct Wrap {
    period: Duration,
    by: Duration,
}

impl MemoryRows {
    /// The requests of day `day`, from 0, as they are.
    pub(super) fn of_day(table: &Arc<MemoryTable>, day: usize) -> Self {
        Self { table: Arc::clone(table), rest: table.day(day).chain(0..0), wrap: None }
    }

    /// The requests of day `day`, all with starts within `period`, wrapped around in it by the shorter `by`.
    pub(super) fn wrapped(table: &Arc<MemoryTable>, day: usize, period: Duration, by: Duration) -> Self {
        let rows = table.day(day);
        let last = period.as_nanos() - by.as_nanos();
        let begins_again =
            table.requests[rows.clone()].partition_point(|request| request.start.as_nanos() < last);
        let middle = rows.start + begins_again;
        let rest = (middle..rows.end).chain(rows.start..middle);
        Self { table: Arc::clone(table), rest, wrap: Some(Wrap { period, by }) }
    }
}

impl RequestSource for MemoryRows {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some(row) = self.rest.next() else { return Ok(None) };
        let mut request = directory.adopt(self.table.requests[row], &self.table.names);
        if let Some(Wrap { period, by }) = self.wrap {
            let start = u128::from(request.start.as_nanos()) + u128::from(by.as_nanos());
            request.start = Instant::from_nanos((start % u128::from(period.as_nanos())) as u64);
        }
        Ok(Some(request))
    }
}
