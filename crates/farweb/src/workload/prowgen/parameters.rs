//! Parameters of the family `prowgen`, each with its source.
//!
//! "Base case": Busari, Williamson, "On the sensitivity of Web proxy cache performance to workload characteristics"
//! (INFOCOM 2001). "Chosen" marks values absent from ProWGen, with the reason.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Duration};
use crate::workload::parameters::{ParameterError, Rule, first_broken, parameters};

/// Sizes of popular documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Correlation {
    /// The most popular document is the smallest.
    Negative,
    /// Size and popularity are independent, but no document is both very popular and large.
    None,
    /// The most popular document is the largest.
    Positive,
}

/// Probabilities that positions of the LRU stack own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StackMode {
    /// The requests of the document of that rank: more locality.
    Static,
    /// The requests of the document that lies there: closer to traces.
    Dynamic,
}

/// Process of the starts of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Independently of each other.
    Poisson,
    /// At equal intervals.
    Constant,
    /// In bursts: a Poisson process that is on and off for exponentially distributed times.
    OnOff,
    /// All at once: their order is all that is wanted.
    None,
}

parameters! { "ProwgenParameters";
    /// Requests. Source: base case.
    requests: u32 = 5_000_000;
    /// Distinct documents for each request. Source: base case.
    distinct_share: f64 = 0.34;
    /// Share of the documents that are asked for once. Source: base case.
    onetimer_share: f64 = 0.72;
    /// Exponent of the popularity by rank. Source: base case.
    zipf_slope: f64 = 0.807;

    /// Mean of the lognormal distribution of most sizes; values from `tail_from` on are drawn again. Source: base case.
    body_mean: Bytes = Bytes::new(7000);
    /// Standard deviation of that distribution. Source: base case.
    body_deviation: Bytes = Bytes::new(11_000);
    /// Smallest size of the tail, a Pareto distribution. Source: base case.
    tail_from: Bytes = Bytes::new(10_000);
    /// Tail index. Source: base case.
    tail_shape: f64 = 1.322;
    /// Share of the documents that belong to the tail. Source: base case.
    tail_share: f64 = 0.22;
    /// All sizes are below this one. Source: ProWGen, `stream.cc`: 50 MiB.
    response_max: Bytes = Bytes::new(50 << 20);
    /// Sizes of popular documents: negative, none or positive. Source: base case.
    correlation: Correlation = Correlation::None;

    /// Documents on the LRU stack. Source: base case.
    stack_size: u32 = 1000;
    /// Probabilities that positions of the stack own: static or dynamic. Source: base case.
    stack_mode: StackMode = StackMode::Dynamic;

    /// Process of the starts of requests: poisson, constant, on-off or none (all at once). Source: the cache hierarchies that
    /// were fed with ProWGen had Poisson arrivals.
    arrivals: Arrivals = Arrivals::Poisson;
    /// Requests a second, on average. Source: the same, 10 to 80.
    arrival_rate: f64 = 10.0;
    /// Mean on time of on-off arrivals. Chosen: bursts of a page.
    on_mean: Duration = Duration::from_secs(1);
    /// Mean time that they are off. Chosen: with it a burst has five times the mean rate.
    off_mean: Duration = Duration::from_secs(4);

    /// Hosts that have the documents. Chosen: some thousands of documents a host.
    hosts: u32 = 1000;
    /// Exponent of the number of documents by host. Chosen: as popularity.
    host_popularity: f64 = 0.8;
    /// Request with its headers, median. Chosen: as the family nzix.
    request_median: Bytes = Bytes::new(270);
    /// Standard deviation of the logarithm of a request's size. Chosen: as the family nzix.
    request_sigma: f64 = 0.3;
    /// Time that a server takes for a response, median; lognormal. Chosen: as the family nzix, servers near by.
    server_median: Duration = Duration::from_millis(100);
    /// Standard deviation of its logarithm. Chosen: as the family nzix.
    server_sigma: f64 = 1.0;

    /// Clients; 0: requests name none. Chosen.
    clients: u32 = 0;
    /// Exponent of the number of visits by client. Chosen: as popularity.
    client_slope: f64 = 0.8;
    /// Requests of a visit of a client on average, geometric. Chosen: some pages with the objects in them.
    visit_requests: f64 = 20.0;
    /// Mean time between two requests of a visit. Chosen: with it a visit lasts ten minutes.
    visit_gap: Duration = Duration::from_secs(30);
}

/// Most requests. Chosen: two hundred times the base case's.
const REQUESTS_MAX: u32 = 1_000_000_000;

/// Longest time of a parameter. Chosen: an hour, as the family nzix.
const LONGEST: Duration = Duration::from_secs(3600);

/// Longest workload on average, in s: a ninth of the longest time that a request table can express.
const SPAN_MAX: f64 = 1e9;

/// Least share of the lognormal distribution below `tail_from`. Chosen: a hundred draws for a size on average.
const BODY_SHARE_MIN: f64 = 0.01;

/// Most visits under way. Chosen: 80 MB.
const VISITS_MAX: f64 = 1e7;

impl Parameters {
    /// Number of distinct documents, at least 1.
    #[must_use]
    pub fn documents(&self) -> u32 {
        ((f64::from(self.requests) * self.distinct_share) as u32).max(1)
    }

    /// Number of documents that are asked for once.
    #[must_use]
    pub fn onetimers(&self) -> u32 {
        (f64::from(self.documents()) * self.onetimer_share) as u32
    }

    /// Visits of clients that are under way at a time.
    #[must_use]
    pub(super) fn visits_under_way(&self) -> u64 {
        libm::round(self.arrival_rate * self.visit_gap.as_secs_f64()).max(1.0) as u64
    }

    /// Checks that a workload can be made with these values.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        first_broken(self.shares().into_iter().chain(self.shapes()).chain(self.sizes()).chain(self.times()))?;
        self.enough_requests()?;
        let (body, deviation) = (self.body_mean.get() as f64, self.body_deviation.get() as f64);
        if below(self.tail_from.get() as f64, body, deviation) < BODY_SHARE_MIN {
            return Err(ParameterError::new(
                "tail_from",
                "larger: less than 1 % of the lognormal distribution of `body_mean` and `body_deviation` is below it",
            ));
        }
        Ok(())
    }

    /// Two requests for each document that is no one-timer.
    fn enough_requests(&self) -> Result<(), ParameterError> {
        let (documents, onetimers) = (u64::from(self.documents()), u64::from(self.onetimers()));
        let least = 2 * (documents - onetimers) + onetimers;
        let requests = u64::from(self.requests);
        if requests < least {
            let allowed = format!(
                "smaller, or `onetimer_share` larger: {documents} documents, {onetimers} of them asked for once and the \
                 others twice, take {least} requests, and there are {requests}"
            );
            return Err(ParameterError::new("distinct_share", allowed));
        }
        if documents == onetimers && requests > onetimers {
            let allowed = "below 1 where there are more requests than documents";
            return Err(ParameterError::new("onetimer_share", allowed));
        }
        Ok(())
    }

    fn shares(&self) -> [Rule; 8] {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let a_share = "0 to 1";
        [
            ("requests", (1..=REQUESTS_MAX).contains(&self.requests), "1 to 1000000000"),
            (
                "distinct_share",
                self.distinct_share > 0.0 && share(self.distinct_share),
                "above 0, and at most 1",
            ),
            ("onetimer_share", share(self.onetimer_share), a_share),
            ("tail_share", share(self.tail_share), a_share),
            ("stack_size", (1..=10_000_000).contains(&self.stack_size), "1 to 10000000"),
            ("hosts", (1..=1_000_000).contains(&self.hosts), "1 to 1000000"),
            ("arrival_rate", (0.001..=1e9).contains(&self.arrival_rate), "0.001 to 1e9 a second"),
            (
                "arrival_rate",
                f64::from(self.requests) / self.arrival_rate <= SPAN_MAX,
                "larger: the requests would last more than 1e9 s",
            ),
        ]
    }

    fn shapes(&self) -> [Rule; 7] {
        let sigma = |value: f64| (0.0..=3.0).contains(&value);
        let slope = |value: f64| (0.0..=10.0).contains(&value);
        [
            ("zipf_slope", slope(self.zipf_slope), "0 to 10"),
            ("host_popularity", slope(self.host_popularity), "0 to 10"),
            ("client_slope", slope(self.client_slope), "0 to 10"),
            ("visit_requests", (1.0..=1e6).contains(&self.visit_requests), "1 to 1000000"),
            ("tail_shape", (0.1..=10.0).contains(&self.tail_shape), "0.1 to 10"),
            ("request_sigma", sigma(self.request_sigma), "0 to 3"),
            ("server_sigma", sigma(self.server_sigma), "0 to 3"),
        ]
    }

    fn sizes(&self) -> [Rule; 5] {
        let size = |bytes: Bytes| bytes >= Bytes::new(1) && bytes <= Bytes::new(1 << 31);
        let allowed = "1 B to 2^31 B";
        [
            (
                "body_mean",
                self.body_mean >= Bytes::new(1) && self.body_mean <= Bytes::new(1 << 53),
                "1 B to 2^53 B",
            ),
            ("body_deviation", self.body_deviation <= Bytes::new(1 << 53), "0 B to 2^53 B"),
            ("tail_from", size(self.tail_from), allowed),
            (
                "response_max",
                size(self.response_max) && self.response_max > self.tail_from,
                "above `tail_from`, and at most 2^31 B",
            ),
            ("request_median", size(self.request_median), allowed),
        ]
    }

    fn times(&self) -> [Rule; 5] {
        let above_zero = |span: Duration| span > Duration::ZERO && span <= LONGEST;
        let allowed = "above 0 s, and at most 1 h";
        [
            ("on_mean", above_zero(self.on_mean), allowed),
            ("off_mean", self.off_mean <= LONGEST, "0 s to 1 h"),
            ("server_median", above_zero(self.server_median), allowed),
            ("visit_gap", above_zero(self.visit_gap), allowed),
            (
                "visit_gap",
                self.arrival_rate * self.visit_gap.as_secs_f64() <= VISITS_MAX,
                "shorter: more than 10000000 visits would be under way at a time",
            ),
        ]
    }
}

/// Share of the lognormal distribution with this mean and standard deviation that lies below `bound`.
fn below(bound: f64, mean: f64, deviation: f64) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log1p(ratio * ratio);
    let mu = libm::log(mean) - variance / 2.0;
    if variance == 0.0 {
        return f64::from(u8::from(mean < bound));
    }
    libm::erfc((mu - libm::log(bound)) / (2.0 * variance).sqrt()) / 2.0
}
