//! Parameters of the family `nzix`, each with its source, and how a scenario sets others.
//!
//! "Chosen" marks values without a source. The reason stands beside each. "Fitted" marks the two that the calibration in
//! `papers/calibration` has set. No other was fitted.

use crate::units::{BitRate, Bytes, Duration};
use crate::workload::parameters::{ParameterError, Rule, first_broken, parameters};

const fn rate(kbps: u64) -> BitRate {
    BitRate::from_bps(kbps * 1000).expect("above 0")
}

parameters! { "NzixParameters";
    /// Requests of a day on average. Source: the NZ–US studies, 421 in ten minutes.
    day_requests: u32 = 421;
    /// Standard deviation of the logarithm of a day's requests. Chosen: two days of three are within 15 % of the average.
    day_sigma: f64 = 0.15;

    /// Pages that a user asks for on a site before leaving it, on average. Geometric. Chosen: caches answer most further pages.
    visit_pages: f64 = 1.5;
    /// Clients. Each visit is of one, drawn anew. 0: requests name none. Chosen.
    clients: u32 = 0;
    /// Exponent of the number of visits by client. Chosen: as popularity.
    client_slope: f64 = 0.8;
    /// Time from one page of a visit to the next, median. Chosen: a page is read before the next one is asked for.
    reading_median: Duration = Duration::from_secs(20);
    /// Standard deviation of the logarithm of the reading time. Chosen: from a few seconds to some minutes.
    reading_sigma: f64 = 1.0;
    /// Tail index of the number of requests of a page, from 1. Chosen: with the largest page, 3.4 on average, half of the 5
    /// to 8 objects of a page of 1997; caches of the hierarchy hold the rest.
    page_shape: f64 = 1.0;
    /// Most requests of a page. Source: W3C, "Network Performance Effects of HTTP/1.1, CSS1, and PNG" (1997)(test page
    /// of 43 objects).
    page_requests_max: u32 = 43;
    /// Requests that a browser has under way at once. Source: Netscape Navigator 4 with HTTP/1.0.
    browser_connections: u32 = 4;
    /// Time from the end of a response to the next request on its connection: scale of a Weibull distribution. Source: SURGE
    /// (Barford, Crovella, SIGMETRICS 1998), active OFF time.
    gap_scale: Duration = Duration::from_millis(382);
    /// Shape of that Weibull distribution. Source: SURGE.
    gap_shape: f64 = 1.46;
    /// Time that a request takes on the path to the United States where the trace is recorded, besides its server time.
    /// Source: the NZ–US studies, two round trips of 120 ms (set-up, and request with response).
    recorded_path: Duration = Duration::from_millis(240);

    /// Hosts that are asked every day. Chosen: a few hundred sites were popular for months.
    core_hosts: u32 = 300;
    /// Share of visits that go to them. Chosen: half.
    core_share: f64 = 0.5;
    /// Hosts that are asked besides them on one day. Chosen: more than the visits of ten minutes reach.
    day_hosts: u32 = 1000;
    /// Hosts that the others of a day are taken from. Chosen: two days rarely share one.
    other_hosts: u32 = 100_000;
    /// Exponent of the popularity of both. Source: Breslau and others, "Web caching and Zipf-like distributions" (INFOCOM
    /// 1999), 0.64 to 0.83 for documents; the upper end, as a host has many documents.
    popularity: f64 = 0.8;

    /// Share of hosts that do not advertise an MSS. The studies took the most common one, 1480 B, for them. Chosen.
    silent_share: f64 = 0.10;
    /// Share of 1480 B among the hosts on an Ethernet, the others have 1460 B. Chosen: 1480 B is the most common MSS, as the
    /// studies found, and 1460 B is next.
    mss_1480_share: f64 = 0.5;

    /// Share of hosts that advertise 512 or 536 B, among hosts with an MSS, known by system. Chosen: with the systems
    /// below, about a fifth.
    small_mss_share: f64 = 0.2075;
    /// Share of hosts with windows of at most 8760 B. Chosen: the servers that surveys of 1997 counted.
    small_window_share: f64 = 0.57;

    /// Request with its headers, median. Chosen: robots of 1997 sent some 190 B,
    /// browsers with long Accept lists up to 350 B.
    request_median: Bytes = Bytes::new(270);
    /// Standard deviation of the logarithm of a request's size. Chosen: nine of ten are within 165 and 440 B.
    request_sigma: f64 = 0.3;
    /// Mean of the lognormal distribution of most responses, headers included. Values from `tail_from` on are drawn again.
    /// Source: Busari, Williamson, "On the sensitivity of Web proxy cache performance to workload characteristics"
    /// (INFOCOM 2001), base case.
    body_mean: Bytes = Bytes::new(7000);
    /// Standard deviation of that distribution. Source: the same.
    body_deviation: Bytes = Bytes::new(11_000);
    /// Smallest response of the tail, a Pareto distribution. Source: the same.
    tail_from: Bytes = Bytes::new(10_000);
    /// Tail index. Source: Crovella, Bestavros, "Self-similarity in World Wide Web traffic: evidence and possible causes"
    /// (IEEE/ACM Transactions on Networking 5(6), 1997), 1.0 to 1.2 for transfers; the lower end, as the traces
    /// have much more in than out.
    tail_shape: f64 = 1.0;
    /// Share of responses that belong to the tail. Fitted: 19 bytes towards New Zealand for one back between proxies; 0.22 in
    /// the base case above.
    tail_share: f64 = 0.126;
    /// Largest response. Chosen: larger ones would come three times in ten minutes and dominate the mean of the 421
    /// sample requests. With this bound that mean differs by some 10 % from seed to seed.
    response_max: Bytes = Bytes::new(500_000);

    /// Shortest round trip from the far end of the cable to a host. Chosen: light in
    /// fibre and routers take 40 to 120 ms from the west coast to the hosts and back.
    us_round_trip_min: Duration = Duration::from_millis(40);
    /// Longest one. Source: the same.
    us_round_trip_max: Duration = Duration::from_millis(120);
    /// Time that a host thinks about a request, median. Chosen: disks and processes of 1997; servers near by
    /// answered in 50 to 150 ms.
    server_median: Duration = Duration::from_millis(100);
    /// Standard deviation of its logarithm over hosts. Chosen: one host of ten has a median of 0.36 s or more.
    server_host_sigma: f64 = 1.0;
    /// Standard deviation of its logarithm over requests to a host. Chosen: with the one above, nine of ten requests
    /// are below 0.6 s.
    server_request_sigma: f64 = 1.0;
    /// Rate of a response through the United States, median over hosts. Fitted: 2.8 s for a sample request without proxy.
    us_rate: BitRate = rate(60);
    /// Standard deviation of its logarithm over hosts. Chosen: lines from 64 kbit/s to T1, shared by visitors.
    us_rate_host_sigma: f64 = 0.8;
    /// Standard deviation of its logarithm over requests to a host. Chosen: traffic of others differs by the minute.
    us_rate_request_sigma: f64 = 0.5;
    /// Probability that a packet is lost in the United States. Chosen: the lower end of the 1 to 5 % of the
    /// busy exchange points of 1997.
    us_loss: f64 = 0.02;
    /// Segments of a response with a loss that costs a timeout: too few follow for a fast retransmit. Source:
    /// 4.4BSD-Lite `tcp_input.c`, `tcprexmtthresh` 3: windows of 1, 2 and 4 segments.
    exposed_segments: u32 = 7;
    /// Shortest timeout of a segment. Source: 4.4BSD-Lite `tcp_timer.h`, `TCPTV_MIN`: two ticks of 500 ms.
    timeout_min: Duration = Duration::from_secs(1);
    /// Longest timeout of a segment. Source: RFC 1122, section 4.2.3.1: 3 s before there is a measurement.
    timeout_max: Duration = Duration::from_secs(3);
    /// Timeout of a SYN or its answer. Source: 4.4BSD-Lite `tcp_subr.c`, `tcp_newtcpcb`: twelve ticks of 500 ms.
    syn_timeout: Duration = Duration::from_secs(6);
    /// True when the trace has the wait for the first byte besides the time of the whole response. Chosen: the NZ–US studies
    /// release packets at a regulated rate, and a wait has none that could be regulated.
    wait_recorded: bool = true;
    /// Longest server time. Chosen: users stop after a minute, and a stopped request is not successful.
    server_longest: Duration = Duration::from_secs(60);
}

/// Most requests of a day. Chosen: two thousand times the studies'.
pub(super) const LARGEST_DAY: u32 = 1_000_000;

/// Longest time of a parameter, and of draws from one. Chosen: the million requests of the largest day, each with a
/// gap, a path, a server time and a reading time of an hour, add up to less than time can hold.
pub(super) const LONGEST: Duration = Duration::from_secs(3600);

/// Largest request or response, in bytes, as in a request table.
const LARGEST: Bytes = Bytes::new(1 << 53);

impl Parameters {
    /// Checks that a trace can be made with these values.
    ///
    /// # Errors
    /// The first parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let rules = self.counts().into_iter().chain(self.shapes()).chain(self.sizes()).chain(self.times());
        first_broken(rules)
    }

    fn counts(&self) -> [Rule; 8] {
        let million = |number: u32| (1..=LARGEST_DAY).contains(&number);
        let allowed = "1 to 1000000";
        [
            ("day_requests", million(self.day_requests), allowed),
            ("page_requests_max", million(self.page_requests_max), allowed),
            ("browser_connections", (1..=1000).contains(&self.browser_connections), "1 to 1000"),
            ("core_hosts", million(self.core_hosts), allowed),
            ("day_hosts", million(self.day_hosts), allowed),
            ("other_hosts", million(self.other_hosts), allowed),
            ("exposed_segments", self.exposed_segments <= 1000, "0 to 1000"),
            ("visit_pages", (1.0..=1000.0).contains(&self.visit_pages), "1 to 1000"),
        ]
    }

    fn shapes(&self) -> [Rule; 19] {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        // Beyond three, the largest of a million numbers is a million times the median.
        let sigma = |value: f64| (0.0..=3.0).contains(&value);
        let shape = |value: f64| (0.1..=10.0).contains(&value);
        let (a_share, a_sigma, a_shape) = ("0 to 1", "0 to 3", "0.1 to 10");
        [
            ("day_sigma", sigma(self.day_sigma), a_sigma),
            ("reading_sigma", sigma(self.reading_sigma), a_sigma),
            ("page_shape", shape(self.page_shape), a_shape),
            ("gap_shape", shape(self.gap_shape), a_shape),
            ("core_share", share(self.core_share), a_share),
            ("popularity", (0.0..=10.0).contains(&self.popularity), "0 to 10"),
            ("client_slope", (0.0..=10.0).contains(&self.client_slope), "0 to 10"),
            ("silent_share", share(self.silent_share), a_share),
            ("mss_1480_share", share(self.mss_1480_share), a_share),
            ("small_mss_share", share(self.small_mss_share), a_share),
            ("small_window_share", share(self.small_window_share), a_share),
            ("request_sigma", sigma(self.request_sigma), a_sigma),
            ("tail_shape", shape(self.tail_shape), a_shape),
            ("tail_share", share(self.tail_share), a_share),
            ("server_host_sigma", sigma(self.server_host_sigma), a_sigma),
            ("server_request_sigma", sigma(self.server_request_sigma), a_sigma),
            ("us_rate_host_sigma", sigma(self.us_rate_host_sigma), a_sigma),
            ("us_rate_request_sigma", sigma(self.us_rate_request_sigma), a_sigma),
            ("us_loss", share(self.us_loss), a_share),
        ]
    }

    fn sizes(&self) -> [Rule; 5] {
        let size = |bytes: Bytes| bytes >= Bytes::new(1) && bytes <= LARGEST;
        [
            ("request_median", size(self.request_median), "1 B to 2^53 B"),
            ("body_mean", size(self.body_mean), "1 B to 2^53 B"),
            ("body_deviation", self.body_deviation <= LARGEST, "0 B to 2^53 B"),
            // Half of a lognormal distribution is below its mean, so a draw succeeds soon.
            (
                "tail_from",
                size(self.tail_from) && self.tail_from >= self.body_mean,
                "at least `body_mean`, and at most 2^53 B",
            ),
            (
                "response_max",
                size(self.response_max) && self.response_max > self.tail_from,
                "above `tail_from`, and at most 2^53 B",
            ),
        ]
    }

    fn times(&self) -> [Rule; 10] {
        let time = |span: Duration| span <= LONGEST;
        let allowed = "0 s to 1 h";
        [
            (
                "reading_median",
                self.reading_median > Duration::ZERO && time(self.reading_median),
                "above 0 s, and at most 1 h",
            ),
            ("gap_scale", time(self.gap_scale), allowed),
            ("recorded_path", time(self.recorded_path), allowed),
            ("us_round_trip_min", time(self.us_round_trip_min), allowed),
            (
                "us_round_trip_max",
                time(self.us_round_trip_max) && self.us_round_trip_max >= self.us_round_trip_min,
                "at least `us_round_trip_min`, and at most 1 h",
            ),
            (
                "server_median",
                self.server_median > Duration::ZERO && time(self.server_median),
                "above 0 s, and at most 1 h",
            ),
            ("timeout_min", time(self.timeout_min), allowed),
            (
                "timeout_max",
                time(self.timeout_max) && self.timeout_max >= self.timeout_min,
                "at least `timeout_min`, and at most 1 h",
            ),
            ("syn_timeout", time(self.syn_timeout), allowed),
            ("server_longest", time(self.server_longest), allowed),
        ]
    }
}
