//! Sizes of requests and responses, and the time that a response took in the United States.
//!
//! The server time is the recorded response's from the far end of the cable to the host and back: connection set-up,
//! thinking, slow start, the transfer at the rate of the host's part of the network, and timeouts after losses. So it
//! grows with the response, and slow hosts are slow every time. Left out: what a connection learns as it goes on (the
//! rate is the response's from its first byte), and name look-up.

use super::Parameters;
use super::hosts::{Server, scaled, spread};
use crate::rng::{LogNormal, Pareto, RandomStream};
use crate::units::{Bytes, Duration};
use crate::workload::OriginTime;

/// Most round trips that slow start takes. Source: a window of 32 segments is as large as any of 1997.
const SLOW_START_MAX: u32 = 6;

/// Distributions of sizes.
#[derive(Debug)]
pub(super) struct Sizes {
    request: LogNormal,
    body: LogNormal,
    tail: Pareto,
    tail_from: f64,
    tail_share: f64,
}

impl Sizes {
    pub(super) fn new(parameters: &Parameters) -> Self {
        let number = |bytes: Bytes| bytes.get() as f64;
        let from = number(parameters.tail_from);
        let median = libm::log(number(parameters.request_median));
        Self {
            request: LogNormal::from_mu_sigma(median, parameters.request_sigma).expect("checked"),
            body: LogNormal::from_mean_deviation(
                number(parameters.body_mean),
                number(parameters.body_deviation),
            )
            .expect("checked"),
            tail: Pareto::bounded(from, parameters.tail_shape, number(parameters.response_max))
                .expect("checked"),
            tail_from: from,
            tail_share: parameters.tail_share,
        }
    }

    /// Size of a request, in bytes.
    pub(super) fn request(&self, random: &mut RandomStream) -> u64 {
        whole(self.request.sample(random))
    }

    /// Size of a response, in bytes.
    pub(super) fn response(&self, random: &mut RandomStream) -> u64 {
        if random.happens(self.tail_share) {
            return whole(self.tail.sample(random));
        }
        loop {
            let size = self.body.sample(random);
            if size < self.tail_from {
                return whole(size);
            }
        }
    }
}

/// `size` in whole bytes, at least 1.
fn whole(size: f64) -> u64 {
    (libm::round(size) as u64).max(1)
}

/// Time that `server` took for a response of `bytes`. Its first byte comes after the set-up, the thinking and a round trip.
pub(super) fn server_time(
    server: &Server,
    bytes: u64,
    random: &mut RandomStream,
    parameters: &Parameters,
) -> OriginTime {
    let segments = bytes.div_ceil(u64::from(server.mss));
    let thinking = scaled(server.thinking, spread(parameters.server_request_sigma, random));
    let rate = server.rate * spread(parameters.us_rate_request_sigma, random);
    let transfer = scaled(Duration::from_secs(1), bytes as f64 * 8.0 / rate);
    // One for the set-up, and one for the request with the first segment. The window doubles with each further one.
    let wait = thinking + server.round_trip * 2 + set_up_timeouts(random, parameters);
    let further = server.round_trip * u64::from(slow_start(segments) - 1);
    let whole = wait + further + transfer + segment_timeouts(segments, random, parameters);
    let longest = parameters.server_longest;
    let time = OriginTime::new(whole.min(longest));
    if parameters.wait_recorded { time.with_wait(wait.min(longest)).expect("a part") } else { time }
}

/// Round trips for `segments` with a window that starts at 1 and doubles.
const fn slow_start(segments: u64) -> u32 {
    let needed = u64::BITS - segments.leading_zeros();
    if needed < SLOW_START_MAX { needed } else { SLOW_START_MAX }
}

/// Time lost by timeouts of the set-up.
fn set_up_timeouts(random: &mut RandomStream, parameters: &Parameters) -> Duration {
    let syn_and_answer = [(); 2].map(|()| random.happens(parameters.us_loss));
    parameters.syn_timeout * syn_and_answer.into_iter().map(u64::from).sum()
}

/// Time lost by timeouts of the first segments.
fn segment_timeouts(segments: u64, random: &mut RandomStream, parameters: &Parameters) -> Duration {
    let mut lost = Duration::ZERO;
    let spread = parameters.timeout_max - parameters.timeout_min;
    for _ in 0..segments.min(u64::from(parameters.exposed_segments)) {
        if random.happens(parameters.us_loss) {
            lost += parameters.timeout_min + scaled(spread, random.uniform());
        }
    }
    lost
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::RandomStreams;
    use crate::units::BitRate;

    #[test]
    fn slow_start_doubles() {
        assert_eq!(
            [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 10_000].map(slow_start),
            [1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 6, 6]
        );
    }

    /// Without chance the server time is the sum of its parts.
    #[test]
    fn a_server_time_is_the_sum_of_its_parts() {
        let parameters = Parameters {
            server_request_sigma: 0.0,
            us_rate_request_sigma: 0.0,
            us_loss: 0.0,
            wait_recorded: true,
            us_rate: BitRate::from_bps(80_000).unwrap(),
            ..Parameters::default()
        };
        let server = Server {
            mss: 1000,
            window: 8000,
            round_trip: Duration::from_millis(50),
            thinking: Duration::from_millis(200),
            rate: 80_000.0,
        };
        let random = &mut RandomStreams::new(1).stream("test", 0);
        let mut times = |bytes| {
            let time = server_time(&server, bytes, random, &parameters);
            [time.wait(), time.whole()].map(|part| part.unwrap().as_nanos() / 1_000_000)
        };
        // 200 ms of thinking, set-up and first segment 100 ms, 100 ms for 1000 B.
        assert_eq!(times(1000), [200 + 100, 200 + 100 + 100]);
        assert_eq!(times(7000), [200 + 100, 200 + 200 + 700]);
        assert_eq!(times(100_000_000), [300, 60_000], "the longest");
    }

    #[test]
    fn losses_cost_timeouts() {
        let parameters =
            Parameters { us_loss: 1.0, timeout_max: Duration::from_secs(1), ..Parameters::default() };
        let random = &mut RandomStreams::new(1).stream("test", 0);
        assert_eq!(set_up_timeouts(random, &parameters), Duration::from_secs(12));
        assert_eq!(segment_timeouts(3, random, &parameters), Duration::from_secs(3));
        assert_eq!(segment_timeouts(300, random, &parameters), Duration::from_secs(7));
        let none = Parameters { us_loss: 0.0, ..parameters };
        assert_eq!(set_up_timeouts(random, &none), Duration::ZERO);
        assert_eq!(segment_timeouts(300, random, &none), Duration::ZERO);
    }

    #[test]
    fn the_two_parts_of_the_sizes_meet() {
        let parameters = Parameters::default();
        let (sizes, random) = (Sizes::new(&parameters), &mut RandomStreams::new(1).stream("test", 0));
        let all: Vec<u64> = (0..100_000).map(|_| sizes.response(random)).collect();
        let tail = all.iter().filter(|size| **size >= 10_000).count() as f64 / 100_000.0;
        assert!((tail - parameters.tail_share).abs() < 0.005, "{tail}");
        assert!(all.iter().all(|size| (1..=parameters.response_max.get()).contains(size)));
        let mut requests: Vec<u64> = (0..10_001).map(|_| sizes.request(random)).collect();
        requests.sort_unstable();
        assert!((265..=275).contains(&requests[5000]), "{}", requests[5000]);
    }
}
