//! One day of the family: who asks for what, and when.
//!
//! Users come to a site, ask for a page or a few, read each one, and leave. A page is one response and then the objects
//! in it, which a browser asks for by a few connections at a time. Each is busy for as long as the response took when
//! the trace was recorded. So arrivals are clustered, a host is asked again within seconds, and slow hosts spread their
//! pages out. Requests that would begin after the ten minutes begin that much after their start instead, in place of
//! the pages under way then. A visit is of one client where the trace has clients, drawn apart from all else. Left out:
//! the hour of the day (it is always three in the afternoon), and objects from other hosts than the page.

use super::hosts::{Server, scaled, spread};
use super::parameters::LARGEST_DAY;
use super::response::{Sizes, server_time};
use super::{PERIOD, Parameters};
use crate::rng::{Exponential, Pareto, RandomStream, RandomStreams, Zipf};
use crate::units::Duration;
use crate::workload::population::Population;
use crate::workload::{ClientId, OriginTime};

/// A request of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    /// Since the start of the day's ten minutes.
    pub(super) start: Duration,
    /// Number of the host.
    pub(super) host: u64,
    pub(super) request_bytes: u64,
    pub(super) response_bytes: u64,
    pub(super) server: OriginTime,
    pub(super) client: Option<ClientId>,
}

/// Generator of the requests of days.
#[derive(Debug)]
pub(super) struct Days<'a> {
    parameters: &'a Parameters,
    streams: RandomStreams,
    sizes: Sizes,
    core: Zipf,
    of_the_day: Zipf,
    page: Pareto,
    clients: Option<Population>,
}

impl<'a> Days<'a> {
    pub(super) fn new(parameters: &'a Parameters, streams: RandomStreams) -> Self {
        let zipf = |hosts: u32| Zipf::new(hosts.into(), parameters.popularity).expect("checked");
        let beyond = f64::from(parameters.page_requests_max) + 1.0;
        Self {
            parameters,
            streams,
            sizes: Sizes::new(parameters),
            core: zipf(parameters.core_hosts),
            of_the_day: zipf(parameters.day_hosts),
            page: Pareto::bounded(1.0, parameters.page_shape, beyond).expect("checked"),
            clients: Population::new(parameters.clients, parameters.client_slope),
        }
    }

    /// The requests of day `day`, from 0, by start. They depend on no other day.
    pub(super) fn requests(&self, day: u64) -> Vec<Asked> {
        let random = &mut self.streams.stream("nzix day", day);
        let sigma = self.parameters.day_sigma;
        // The mean of such a factor is 1.
        let factor = spread(sigma, random) * libm::exp(-sigma * sigma / 2.0);
        let count = libm::round(f64::from(self.parameters.day_requests) * factor);
        let count = count.clamp(1.0, f64::from(LARGEST_DAY)) as usize;
        let mut asked = Vec::with_capacity(count);
        let visitors = &mut self.streams.stream("nzix clients", day);
        while asked.len() < count {
            let first = asked.len();
            self.visit(day, count, random, &mut asked);
            let client = self.clients.map(|clients| clients.draw(visitors));
            asked[first..].iter_mut().for_each(|request| request.client = client);
        }
        asked.sort_by_key(|request| request.start);
        asked
    }

    /// Adds the requests of a visit to a site, up to `count` in all.
    fn visit(&self, day: u64, count: usize, random: &mut RandomStream, asked: &mut Vec<Asked>) {
        let host = self.host(day, random);
        let server = Server::new(host, &self.streams, self.parameters);
        let mut time = random.duration_between(Duration::ZERO, PERIOD);
        loop {
            time = self.page(host, &server, time, count, random, asked);
            if asked.len() == count || random.happens(1.0 / self.parameters.visit_pages) {
                return;
            }
            time += scaled(self.parameters.reading_median, spread(self.parameters.reading_sigma, random));
        }
    }

    /// Number of the host of a visit: the core comes first, by popularity.
    fn host(&self, day: u64, random: &mut RandomStream) -> u64 {
        if random.happens(self.parameters.core_share) {
            return self.core.sample(random);
        }
        let rank = self.of_the_day.sample(random);
        let place = day * (u64::from(self.parameters.day_hosts) + 1) + rank;
        let other =
            self.streams.stream("nzix hosts of a day", place).below(self.parameters.other_hosts.into());
        u64::from(self.parameters.core_hosts) + 1 + other
    }

    /// Adds the requests of a page that is asked for at `time`. When the last one was answered.
    fn page(
        &self,
        host: u64,
        server: &Server,
        time: Duration,
        count: usize,
        random: &mut RandomStream,
        asked: &mut Vec<Asked>,
    ) -> Duration {
        let objects =
            (self.page.sample(random) as usize).clamp(1, self.parameters.page_requests_max as usize);
        let objects = objects.min(count - asked.len());
        let first = self.ask(host, server, time, random, asked);
        // When each connection of the browser is free again.
        let mut free = vec![first; self.parameters.browser_connections as usize];
        for _ in 1..objects {
            let next = free.iter_mut().min().expect("a browser has a connection");
            let start = *next + self.gap(random);
            *next = self.ask(host, server, start, random, asked);
        }
        free.into_iter().max().expect("a browser has a connection")
    }

    /// Adds a request that starts at `time`. When it was answered.
    fn ask(
        &self,
        host: u64,
        server: &Server,
        time: Duration,
        random: &mut RandomStream,
        asked: &mut Vec<Asked>,
    ) -> Duration {
        let (request_bytes, response_bytes) = (self.sizes.request(random), self.sizes.response(random));
        let took = server_time(server, response_bytes, random, self.parameters);
        let start = Duration::from_nanos(time.as_nanos() % PERIOD.as_nanos());
        asked.push(Asked { start, host, request_bytes, response_bytes, server: took, client: None });
        time + self.parameters.recorded_path + took.whole().expect("the family records it")
    }

    /// Time from a response to the next request on its connection.
    fn gap(&self, random: &mut RandomStream) -> Duration {
        let exponential = Exponential::new(1.0).expect("a mean of 1").sample(random);
        scaled(self.parameters.gap_scale, libm::pow(exponential, 1.0 / self.parameters.gap_shape))
    }
}
