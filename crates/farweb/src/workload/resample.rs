//! Clients drawn anew: each client of a log occurs never, once or several times, with all its requests.
//!
//! Models another week of users of the same kind. A replication draws the log's clients with replacement: results of
//! several vary like several logs, if clients are alike and independent. A client occurs a Poisson number of times with
//! mean 1, the limit of drawing n of n clients with replacement. The number of clients varies with it. The first
//! occurrence is the client itself. Each further one is another client that asks the same, later by one time, uniform
//! below a window: its bursts stay and doubles do not ask in step. Leaves out common causes beyond the log: the weather
//! of that week, an event, the hour of its busiest minute.
//!
//! Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993 (resampled units); J. A. Hanley and B. MacGibbon,
//! "Creating non-parametric bootstrap samples using Poisson frequencies", Computer Methods and Programs in Biomedicine 83(1), 2006.
//! Chosen: how doubles are spread.

use serde::{Deserialize, Serialize};

use super::repeats::{Repeated, Rule};
use super::{ClientId, Directory, Request, RequestSource, WorkloadError};
use crate::rng::{RandomStream, RandomStreams};
use crate::units::Duration;

/// Unit that each seed draws anew from a request table, with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Resample {
    /// Clients, each with all its requests.
    Clients,
    /// Days of a table that has several.
    Days,
}

/// The requests of another source, of clients that are drawn anew. Memory grows with the repeats within a window.
#[derive(Debug)]
pub struct ResampledClients<S>(Repeated<S, OfClients>);

#[derive(Debug)]
struct OfClients {
    streams: RandomStreams,
}

impl<S: RequestSource> ResampledClients<S> {
    /// The requests of `source`, with clients drawn from `streams`. A double starts less than `window` later, or at the
    /// same time if that is zero.
    #[must_use]
    pub fn new(source: S, window: Duration, streams: RandomStreams) -> Self {
        Self(Repeated::new(source, OfClients { streams }, window))
    }
}

impl Rule for OfClients {
    fn times(&mut self, request: &Request, row: u64, _: &Directory) -> Result<u64, WorkloadError> {
        let Some(client) = request.client else {
            return Err(WorkloadError(format!(
                "workload.resample: clients are to be drawn, and request {} of the table names none; import the log with its \
                 clients, or leave the key out",
                row + 1
            )));
        };
        Ok(poisson(&mut self.streams.stream("clients drawn anew", client.get())))
    }

    fn delays(&self, request: &Request, _: u64) -> RandomStream {
        self.streams.stream("doubles of a client", request.client.map_or(0, ClientId::get))
    }

    /// Counted from the end: doubles are other people than a copy's.
    fn other(client: ClientId, number: u32) -> ClientId {
        client.in_copy(u32::MAX - number)
    }
}

impl<S: RequestSource> RequestSource for ResampledClients<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        self.0.next_request(directory)
    }
}

/// A number of Poisson's distribution with mean 1, by inversion.
fn poisson(random: &mut RandomStream) -> u64 {
    let mut rest = random.uniform();
    // exp(-1), the probability of 0.
    let mut probability = 0.367_879_441_171_442_33;
    let mut number = 0;
    // The 18th term is below the step of a uniform number.
    while rest >= probability && number < 18 {
        rest -= probability;
        number += 1;
        probability /= number as f64;
    }
    number
}

#[cfg(test)]
mod tests;
