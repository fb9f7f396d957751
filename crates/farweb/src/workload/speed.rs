//! Speed: the same requests in the same order, in quicker or slower succession.
//!
//! Every start is divided by the speed, before days are merged and copies are made. Server times stay as they are, and so do the
//! times that a scenario sets, such as `run.until`, `run.warmup`, `period` and `copies_offset`. It is the load of more users as
//! far as these are like the table's. Repeated requests of one user are not treated apart, and clients stay who they
//! are.
//!
//! Source: Williamson and Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003, raise the
//! arrival rate in this way.

use super::{Directory, Request, RequestSource, WorkloadError};
use crate::units::Instant;

/// Slowest. Chosen: anything beyond is a slip.
pub const SPEED_MIN: f64 = 0.001;
/// Fastest.
pub const SPEED_MAX: f64 = 1_000_000.0;

/// The requests of another source at a speed.
#[derive(Debug)]
pub struct AtSpeed<S> {
    source: S,
    speed: f64,
}

impl<S: RequestSource> AtSpeed<S> {
    /// The requests of `source` this many times as fast.
    ///
    /// # Panics
    /// When the speed is out of range.
    #[must_use]
    pub fn new(source: S, speed: f64) -> Self {
        assert!((SPEED_MIN..=SPEED_MAX).contains(&speed), "checked with the scenario");
        Self { source, speed }
    }
}

impl<S: RequestSource> RequestSource for AtSpeed<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some(mut request) = self.source.next_request(directory)? else { return Ok(None) };
        let start = (request.start.as_nanos() as f64 / self.speed).round();
        if start >= i64::MAX as f64 {
            return Err(WorkloadError(format!(
                "workload.speed: found {}; a request then starts after 292 years",
                self.speed
            )));
        }
        request.start = Instant::from_nanos(start as u64);
        Ok(Some(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests that start at these times, in ns.
    struct Starts(std::vec::IntoIter<u64>);

    impl RequestSource for Starts {
        fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            let host = directory.host("a");
            Ok(self.0.next().map(|start| Request::bare(Instant::from_nanos(start), host)))
        }
    }

    fn at_speed(starts: Vec<u64>, speed: f64) -> Result<Vec<u64>, WorkloadError> {
        let mut source = AtSpeed::new(Starts(starts.into_iter()), speed);
        let mut directory = Directory::default();
        let mut found = Vec::new();
        while let Some(request) = source.next_request(&mut directory)? {
            found.push(request.start.as_nanos());
        }
        Ok(found)
    }

    #[test]
    fn starts_are_divided_and_rounded() {
        assert_eq!(
            at_speed(vec![0, 1_308_018_762, 5_688_257_248], 40.0).unwrap(),
            [0, 32_700_469, 142_206_431]
        );
        assert_eq!(at_speed(vec![3, 1_000], 0.5).unwrap(), [6, 2_000]);
        assert_eq!(at_speed(vec![7, 7, 8], 1.0).unwrap(), [7, 7, 8]);
    }

    #[test]
    fn a_start_that_no_result_could_hold_is_an_error() {
        let error = at_speed(vec![1, i64::MAX as u64 / 2], 0.001).unwrap_err().to_string();
        assert_eq!(error, "workload.speed: found 0.001; a request then starts after 292 years");
    }
}
