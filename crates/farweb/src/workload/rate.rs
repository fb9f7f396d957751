//! Load as a rate: every request of a table occurs never, once or several times, a factor on their number.
//!
//! Models more or fewer users of the same kind by the hour: each request occurs by the whole part of the load, and once
//! more with the probability of its fraction. Repeats start later, each by a time of its own, uniform below a window.
//! Repeat k of a request is of another client, the same for all requests of one client: its k-th double, as in copy k.
//! Requests tagged `sample` always occur, the same ones in every run: below load 1 they are a larger share than in the
//! table. One draw a row decides for every load: with the same seed a smaller load has part of the requests of a larger
//! one. Variations of the rate over longer times than the window stay, and so does the mix of requests. Leaves out
//! bursts among repeats: simultaneous requests of a page are repeated one by one. Copies keep bursts, and come in whole
//! numbers.
//!
//! Source: thinning as P. A. W. Lewis and G. S. Shedler have it, "Simulation of nonhomogeneous Poisson processes by thinning", Naval
//! Research Logistics Quarterly 26(3), 1979. Chosen: how repeats are spread.

use super::repeats::{Repeated, Rule};
use super::{ClientId, Directory, Request, RequestSource, WorkloadError};
use crate::rng::{RandomStream, RandomStreams};
use crate::units::Duration;

/// Smallest and largest load as a rate. Chosen: as for the speed, with anything beyond a slip.
pub const RATE_MIN: f64 = 0.001;
/// Largest.
pub const RATE_MAX: f64 = 1_000_000.0;

/// The tag of requests that are measured in every run.
const MEASURED: &str = "sample";

/// The requests of another source at so many times their rate. Memory: the repeats within a window.
#[derive(Debug)]
pub struct AtRate<S>(Repeated<S, Rate>);

#[derive(Debug)]
struct Rate {
    load: f64,
    streams: RandomStreams,
    choices: RandomStream,
}

impl<S: RequestSource> AtRate<S> {
    /// The requests of `source` at `load` times their rate, drawn from `streams`. Repeats start less than `window` later, or at the
    /// same time where that is zero.
    ///
    /// # Panics
    /// When the load is out of range.
    #[must_use]
    pub fn new(source: S, load: f64, window: Duration, streams: RandomStreams) -> Self {
        assert!((RATE_MIN..=RATE_MAX).contains(&load), "checked with the scenario");
        let rule = Rate { load, streams, choices: streams.stream("load as a rate", 0) };
        Self(Repeated::new(source, rule, window))
    }
}

impl Rule for Rate {
    fn times(&mut self, request: &Request, _: u64, words: &Directory) -> Result<u64, WorkloadError> {
        let wanted = self.load.floor() as u64 + u64::from(self.choices.happens(self.load.fract()));
        let is_measured = request.tag.is_some_and(|tag| &*words.tags.words()[tag] == MEASURED);
        Ok(wanted.max(u64::from(is_measured)))
    }

    fn delays(&self, _: &Request, row: u64) -> RandomStream {
        self.streams.stream("repeats of a request", row)
    }

    fn other(client: ClientId, number: u32) -> ClientId {
        client.in_copy(number)
    }
}

impl<S: RequestSource> RequestSource for AtRate<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        self.0.next_request(directory)
    }
}

#[cfg(test)]
mod tests;
