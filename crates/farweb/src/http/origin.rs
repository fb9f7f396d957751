//! Origin servers: when the bytes of a response are there to be sent.
//!
//! Models three ways to give back a recorded server time. `paced` is that of the NZ–US studies, where response packets are
//! released at a regulated rate, so that the whole response takes as long as it did on the real network. Leaves out the
//! server's load: requests do not wait for each other.
//! Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102), their HTTP traffic
//! model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// Rule for when the bytes of a response are there to be sent, from the arrival of the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// All at once, without delay.
    AtOnce,
    /// All at once, after the recorded server time.
    Delayed,
    /// A segment at a time, evenly over the recorded server time; the last one at its end.
    #[default]
    Paced,
}

/// The release of one response: pieces of equal size (the last may be smaller) at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleasePlan {
    response: u64,
    piece: u64,
    pieces: u64,
    span: Duration,
    released: u64,
}

impl ReleasePlan {
    /// Plans the release of `response` bytes over `server` time, in pieces of `mss` bytes where they are paced.
    #[must_use]
    pub fn new(release: Release, response: u64, server: Duration, mss: u64) -> Self {
        let (piece, span) = match release {
            Release::AtOnce => (response, Duration::ZERO),
            Release::Delayed => (response, server),
            Release::Paced => (mss.min(response), server),
        };
        Self { response, piece, pieces: response.div_ceil(piece), span, released: 0 }
    }

    /// Time of the next piece, from the arrival of the request; `None` when all is released.
    ///
    /// Piece k of n is due after k/n of the server time, rounded down to the nanosecond.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        (self.released < self.pieces).then(|| self.span.mul_div(self.released + 1, self.pieces))
    }

    /// Releases what is due `elapsed` after the arrival of the request; how many bytes that is.
    pub fn release(&mut self, elapsed: Duration) -> u64 {
        let before = self.bytes_released();
        if elapsed >= self.span {
            self.released = self.pieces;
        }
        while self.next_due().is_some_and(|due| due <= elapsed) {
            self.released += 1;
        }
        self.bytes_released() - before
    }

    fn bytes_released(&self) -> u64 {
        (self.released * self.piece).min(self.response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(release: Release, response: u64, server_ms: u64) -> Vec<(u64, u64)> {
        let mut plan = ReleasePlan::new(release, response, Duration::from_millis(server_ms), 1460);
        let mut out = Vec::new();
        while let Some(due) = plan.next_due() {
            out.push((due.as_nanos() / 1_000_000, plan.release(due)));
        }
        out
    }

    #[test]
    fn at_once_needs_no_time() {
        assert_eq!(releases(Release::AtOnce, 10_000, 900), [(0, 10_000)]);
    }

    #[test]
    fn delayed_waits_the_whole_server_time() {
        assert_eq!(releases(Release::Delayed, 10_000, 900), [(900, 10_000)]);
    }

    #[test]
    fn paced_spreads_segments_and_ends_with_the_server_time() {
        assert_eq!(releases(Release::Paced, 4000, 900), [(300, 1460), (600, 1460), (900, 1080)]);
        assert_eq!(releases(Release::Paced, 1, 900), [(900, 1)]);
        assert_eq!(releases(Release::Paced, 2920, 0), [(0, 2920)]);
    }
}
