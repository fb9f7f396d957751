//! The family `prowgen`: the workload of a web proxy's clients, as ProWGen makes it.
//!
//! A number of requests for a number of documents. The popularity of documents is Zipf-like with many one-timers
//! (`popularity`), their sizes are lognormal with a Pareto tail, alike or unlike their popularity (`documents`), and
//! recent documents are requested again (`stack`). Each document has exactly its drawn number of requests. A request
//! beyond the stack is for one of the other documents, each as likely, without regard to popularity.
//!
//! Requests stream: memory is some 20 B a document and 40 B a document of the stack, whatever the number of requests.
//!
//! Added to ProWGen, which gives ids and sizes: arrivals (`arrivals`), clients (`visits`), hosts, sizes of requests and
//! server times. Each has random numbers of its own, which never change the sequence of documents. Differs from it:
//! counts are scaled to the exact number of requests. Popularities and sizes are joined as they are instead of being
//! drawn again from their interpolated distributions. Every seed gives another workload (ProWGen has constants).
//!
//! Left out: changes of documents, aborted transfers, the hour of the day.
//!
//! Source: M. Busari, C. Williamson, "ProWGen: a synthetic workload generation tool for simulation evaluation of web proxy
//! caches" (Computer Networks 38(6), 2002), and the program of 2000. `docs/models/prowgen.md` lists all parameters.

mod arrivals;
mod documents;
mod parameters;
mod popularity;
mod stack;
#[cfg(test)]
mod tests;
mod visits;

pub use parameters::{Arrivals, Correlation, Overrides, Parameters, StackMode};

use std::sync::Arc;

use super::nzix;
use super::{
    Caching, Directory, HostId, Method, ObjectId, OriginTime, Request, RequestSource, WorkloadError,
};
use crate::id::Id;
use crate::rng::{LogNormal, RandomStream, RandomStreams};
use crate::units::Duration;
use arrivals::Clock;
use documents::Documents;
use stack::Stack;
use visits::Visits;

/// Longest server time. Chosen: as the family nzix.
const SERVER_LONGEST: Duration = Duration::from_secs(60);

/// A workload: its documents and hosts. [`Self::requests`] gives the requests.
#[derive(Debug, Clone)]
pub struct Trace {
    parameters: Parameters,
    streams: RandomStreams,
    documents: Arc<Documents>,
    hosts: Arc<Directory>,
}

impl Trace {
    /// The workload from the random streams of `seed`.
    ///
    /// # Panics
    /// When the parameters do not pass [`Parameters::check`].
    #[must_use]
    pub fn new(parameters: &Parameters, seed: u64) -> Self {
        parameters.check().expect("checked parameters");
        let streams = RandomStreams::new(seed);
        let mut hosts = Directory::default();
        for number in 0..parameters.hosts {
            hosts.add(nzix::host(u64::from(number) + 1, &streams, &nzix::Parameters::default()));
        }
        let documents = Arc::new(Documents::new(parameters, &streams));
        Self { parameters: *parameters, streams, documents, hosts: Arc::new(hosts) }
    }

    /// All hosts, also those without requests.
    #[must_use]
    pub fn hosts(&self) -> &Directory {
        &self.hosts
    }

    /// Number of requests.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.parameters.requests as u64
    }

    /// Never: a workload has a request.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The requests, from the first one on.
    #[must_use]
    pub fn requests(&self) -> Requests {
        let Self { parameters, streams, documents, hosts } = self.clone();
        let count = documents.requests.len();
        let lognormal =
            |median: f64, sigma| LogNormal::from_mu_sigma(libm::log(median), sigma).expect("checked");
        Requests {
            order: Order {
                left: documents.requests.clone(),
                others: (0..count as u32).collect(),
                stack: Stack::new(parameters.stack_size as usize, parameters.stack_mode, &documents.requests),
                all: self.len(),
                random: streams.stream("prowgen order", 0),
                documents,
            },
            clock: Clock::new(&parameters, streams.stream("prowgen arrivals", 0)),
            request_bytes: lognormal(parameters.request_median.get() as f64, parameters.request_sigma),
            server: lognormal(parameters.server_median.as_secs_f64(), parameters.server_sigma),
            random: streams.stream("prowgen exchange", 0),
            visits: Visits::new(&parameters, streams.stream("prowgen clients", 0)),
            hosts,
        }
    }
}

/// The requests of a workload, one by one.
#[derive(Debug)]
pub struct Requests {
    order: Order,
    clock: Clock,
    request_bytes: LogNormal,
    server: LogNormal,
    /// For the two above.
    random: RandomStream,
    visits: Option<Visits>,
    hosts: Arc<Directory>,
}

/// Order of requests: selects the document that is asked for next.
#[derive(Debug)]
struct Order {
    documents: Arc<Documents>,
    /// Requests of each document that are still to come.
    left: Vec<u32>,
    /// Documents that are not on the stack and have requests left.
    others: Vec<u32>,
    stack: Stack,
    /// Requests of the whole workload.
    all: u64,
    random: RandomStream,
}

impl Iterator for Order {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let owned = self.stack.owned();
        // Without other documents a request is drawn among the stack's.
        let all = if self.others.is_empty() { owned } else { self.all };
        if all == 0 {
            return None;
        }
        let drawn = self.random.below(all);
        let document = if drawn < owned {
            self.stack.take(drawn)
        } else {
            let place = self.random.below(self.others.len() as u64);
            self.others.swap_remove(place as usize)
        };
        let left = &mut self.left[document as usize];
        *left -= 1;
        if *left > 0 {
            let leaves = self.stack.put(document, self.documents.requests[document as usize]);
            self.others.extend(leaves);
        }
        Some(document)
    }
}

impl RequestSource for Requests {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some(document) = self.order.next() else { return Ok(None) };
        let documents = &self.order.documents;
        let place = document as usize;
        let server = Duration::from_secs_f64(self.server.sample(&mut self.random));
        let request = Request {
            start: self.clock.next(),
            host: HostId::new(documents.host[place] as usize),
            request_bytes: (libm::round(self.request_bytes.sample(&mut self.random)) as u64).max(1),
            response_bytes: documents.bytes[place].into(),
            server: OriginTime::new(server.map_or(SERVER_LONGEST, |server| server.min(SERVER_LONGEST))),
            object: ObjectId::new(document.into()),
            source: None,
            tag: None,
            day: None,
            client: self.visits.as_mut().map(Visits::next),
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        };
        Ok(Some(directory.adopt(request, &self.hosts)))
    }
}
