//! Requests of another source, each never, once or several times, with repeats that start later.
//!
//! A [`Rule`] draws how often each occurs, and how much later its repeats start. The first occurrence is the request
//! itself. Repeats have no tag, and are of other clients. Memory grows with the repeats still to come.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{ClientId, Directory, Request, RequestSource, WorkloadError};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

/// Latest start, in ns: results hold times as int64.
const LATEST: u64 = i64::MAX as u64;

/// Draws how often requests occur.
pub(super) trait Rule {
    /// Number of times that `request`, in the given row, occurs. 0 only where it is not there at all.
    ///
    /// # Errors
    /// When the request cannot be drawn. Says why.
    fn times(&mut self, request: &Request, row: u64, words: &Directory) -> Result<u64, WorkloadError>;

    /// Random numbers for the delays of the repeats of `request`.
    fn delays(&self, request: &Request, row: u64) -> RandomStream;

    /// The client of repeat `number`, from 1, where the request is of `client`.
    fn other(client: ClientId, number: u32) -> ClientId;
}

/// The requests of another source, each as often as a rule draws.
#[derive(Debug)]
pub(super) struct Repeated<S, R> {
    source: S,
    rule: R,
    /// Repeats start less than this later, or at the same time where it is zero.
    window: Duration,
    rows: u64,
    /// The request of the source that is next, unless it is to be read.
    head: Option<Request>,
    has_ended: bool,
    repeats: BinaryHeap<Repeat>,
    repeated: u64,
}

/// A repeat that is still to come. The greatest is the earliest, and of equal starts the one that was made first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Repeat {
    request: Request,
    number: u64,
}

impl Ord for Repeat {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.request.start, other.number).cmp(&(self.request.start, self.number))
    }
}

impl PartialOrd for Repeat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<S: RequestSource, R: Rule> Repeated<S, R> {
    pub(super) fn new(source: S, rule: R, window: Duration) -> Self {
        Self {
            source,
            rule,
            window,
            rows: 0,
            head: None,
            has_ended: false,
            repeats: BinaryHeap::new(),
            repeated: 0,
        }
    }

    /// Number of repeats that are still to come.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.repeats.len()
    }

    /// Reads requests of the source until one occurs, and makes its repeats.
    fn read(&mut self, directory: &mut Directory) -> Result<(), WorkloadError> {
        while self.head.is_none() && !self.has_ended {
            let Some(request) = self.source.next_request(directory)? else {
                self.has_ended = true;
                return Ok(());
            };
            let row = self.rows;
            self.rows += 1;
            let times = self.rule.times(&request, row, directory)?;
            if times > 0 {
                self.head = Some(request);
            }
            if times > 1 {
                self.repeat(&request, row, times - 1)?;
            }
        }
        Ok(())
    }

    /// Makes repeats of the request in a row.
    fn repeat(&mut self, request: &Request, row: u64, times: u64) -> Result<(), WorkloadError> {
        let mut delays = self.rule.delays(request, row);
        for number in 1..=times {
            let by = match self.window {
                Duration::ZERO => Duration::ZERO,
                window => delays.duration_between(Duration::ZERO, window),
            };
            let start = request.start.as_nanos().saturating_add(by.as_nanos());
            if start > LATEST {
                return Err(WorkloadError(format!(
                    "workload.copies_offset: found {}; a repeat of a request then starts after 292 years",
                    self.window
                )));
            }
            // No load makes 2^32 repeats.
            let client = request.client.map(|client| R::other(client, number as u32));
            let request = Request { start: Instant::from_nanos(start), tag: None, client, ..*request };
            self.repeats.push(Repeat { request, number: self.repeated });
            self.repeated += 1;
        }
        Ok(())
    }
}

impl<S: RequestSource, R: Rule> RequestSource for Repeated<S, R> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        self.read(directory)?;
        let is_repeat = match (self.repeats.peek(), &self.head) {
            (Some(repeat), Some(head)) => repeat.request.start < head.start,
            (repeat, _) => repeat.is_some(),
        };
        Ok(if is_repeat { self.repeats.pop().map(|repeat| repeat.request) } else { self.head.take() })
    }
}
