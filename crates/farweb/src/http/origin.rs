//! Origin servers: when the bytes of a response are there to be sent.
//!
//! Models six ways to replay a recorded server time. `paced` is the NZ–US studies': response packets are released at a
//! regulated rate, and the whole response takes as long as recorded. With a known wait for the first byte, only the
//! transfer is spread. `closed-loop` is a program that writes a segment, waits for its TCP to take it, and only then
//! for the next: a full send buffer delays all later ones. `regulated` takes the studies at their word another way: TCP
//! has the whole response at once, and its packets leave at the regulated rate (`conn/regulator.rs`). Leaves out the
//! server's load: requests do not wait for each other. Source: the NZ–US studies (Proc. SPIE 3529, 1998, doi
//! 10.1117/12.333730; CNDS 2001, pp. 97–102), their HTTP traffic model.

use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// Rule for when the bytes of a response are there to be sent, from the arrival of the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// All at once, without delay.
    AtOnce,
    /// All at once, after the recorded wait for the first byte; after the whole server time where that is not recorded.
    AfterWait,
    /// All at once, after the recorded server time.
    Delayed,
    /// A segment at a time, evenly over the recorded server time, the last one at its end; where the wait for the first byte
    /// is recorded, the first one after it.
    #[default]
    Paced,
    /// All at once to TCP, after the wait for the first byte where that is recorded; below TCP its packets leave at the mean rate of the
    /// rest of the recorded server time.
    Regulated,
    /// As `paced`, but each segment's turn counts from when the server's TCP took the one before.
    ClosedLoop,
}

/// The release of one response: pieces of equal size (the last may be smaller) at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleasePlan {
    response: u64,
    piece: u64,
    pieces: u64,
    released: u64,
    /// Time before the first distance between pieces.
    wait: Duration,
    /// All distances together.
    span: Duration,
    /// True when the first piece is there right after the wait.
    begins_after_wait: bool,
    is_closed_loop: bool,
    /// Time that all bytes take below TCP, where they are regulated there.
    pace: Option<Duration>,
}

impl ReleasePlan {
    /// All of `response` bytes at once.
    #[must_use]
    pub fn at_once(response: u64) -> Self {
        Self::new(Release::AtOnce, response, Duration::ZERO, None, response)
    }

    /// Plans the release of `response` bytes over a server time of `whole`, with a known `wait` before the first byte,
    /// in pieces of `mss` bytes if they come one at a time.
    #[must_use]
    pub fn new(release: Release, response: u64, whole: Duration, wait: Option<Duration>, mss: u64) -> Self {
        let (piece, before, span) = match release {
            Release::AtOnce => (response, Duration::ZERO, Duration::ZERO),
            Release::AfterWait => (response, wait.unwrap_or(whole), Duration::ZERO),
            Release::Delayed => (response, whole, Duration::ZERO),
            Release::Regulated => (response, wait.unwrap_or(Duration::ZERO), Duration::ZERO),
            Release::Paced | Release::ClosedLoop => {
                let before = wait.unwrap_or(Duration::ZERO);
                (mss.min(response), before, whole - before)
            }
        };
        let pieces = response.div_ceil(piece);
        let begins_after_wait = wait.is_some() && pieces > 1;
        let is_closed_loop = release == Release::ClosedLoop;
        let pace = (release == Release::Regulated).then(|| whole - before);
        Self {
            response,
            piece,
            pieces,
            released: 0,
            wait: before,
            span,
            begins_after_wait,
            is_closed_loop,
            pace,
        }
    }

    /// Time of the next piece, from the arrival of the request. `None` when all is released.
    #[must_use]
    pub fn next_due(&self) -> Option<Duration> {
        (self.released < self.pieces).then(|| self.due(self.released + 1))
    }

    /// Time of piece `k` of n, rounded down to the nanosecond: k/n of the span, and k − 1 of n − 1 parts after a known wait.
    fn due(&self, piece: u64) -> Duration {
        let after_wait = u64::from(self.begins_after_wait);
        self.wait + self.span.mul_div(piece - after_wait, self.pieces - after_wait)
    }

    /// Releases the bytes due `elapsed` after the arrival of the request, in a closed loop the piece after the one
    /// taken, and returns their number.
    pub fn release(&mut self, elapsed: Duration) -> u64 {
        let before = self.bytes_released();
        if self.is_closed_loop {
            let is_due = self.waits_for_transport() || self.next_due().is_some_and(|due| due <= elapsed);
            self.released += u64::from(is_due);
        } else if elapsed >= self.wait + self.span {
            self.released = self.pieces;
        } else {
            while self.next_due().is_some_and(|due| due <= elapsed) {
                self.released += 1;
            }
        }
        self.bytes_released() - before
    }

    /// True when the next piece is due only after the server's TCP has taken the last one.
    #[must_use]
    pub const fn waits_for_transport(&self) -> bool {
        self.is_closed_loop && 0 < self.released && self.released < self.pieces
    }

    /// Time that all bytes of the response take below TCP, where they are regulated there.
    #[must_use]
    pub const fn pace(&self) -> Option<Duration> {
        self.pace
    }

    /// Time from the last piece to the next one, where there are both.
    ///
    /// # Panics
    /// Where there are not.
    #[must_use]
    pub fn distance(&self) -> Duration {
        self.due(self.released + 1) - self.due(self.released)
    }

    fn bytes_released(&self) -> u64 {
        (self.released * self.piece).min(self.response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn releases(release: Release, response: u64, server_ms: u64) -> Vec<(u64, u64)> {
        planned(release, response, server_ms, None)
    }

    fn releases_after(wait_ms: u64, release: Release, response: u64, server_ms: u64) -> Vec<(u64, u64)> {
        planned(release, response, server_ms, Some(wait_ms))
    }

    fn planned(release: Release, response: u64, server_ms: u64, wait_ms: Option<u64>) -> Vec<(u64, u64)> {
        let [whole, wait] = [Some(server_ms), wait_ms].map(|ms| ms.map(Duration::from_millis));
        let mut plan = ReleasePlan::new(release, response, whole.unwrap(), wait, 1460);
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

    #[test]
    fn a_known_wait_passes_before_the_first_byte() {
        assert_eq!(releases_after(100, Release::AtOnce, 4000, 900), [(0, 4000)]);
        assert_eq!(releases_after(100, Release::AfterWait, 4000, 900), [(100, 4000)]);
        assert_eq!(releases(Release::AfterWait, 4000, 900), [(900, 4000)], "none is known");
        assert_eq!(releases_after(100, Release::Delayed, 4000, 900), [(900, 4000)]);
        assert_eq!(releases_after(100, Release::Paced, 4000, 900), [(100, 1460), (500, 1460), (900, 1080)]);
        assert_eq!(releases_after(0, Release::Paced, 4000, 900), [(0, 1460), (450, 1460), (900, 1080)]);
        assert_eq!(releases_after(100, Release::Paced, 1460, 900), [(900, 1460)], "the last one at the end");
        assert_eq!(releases_after(900, Release::Paced, 4000, 900), [(900, 4000)]);
    }

    #[test]
    fn a_closed_loop_gives_a_piece_at_a_time() {
        let server = Duration::from_millis(900);
        let mut plan = ReleasePlan::new(Release::ClosedLoop, 4000, server, None, 1460);
        assert_eq!((plan.waits_for_transport(), plan.release(Duration::ZERO)), (false, 0));
        // Long after the end of the server time.
        assert_eq!(plan.release(Duration::from_secs(5)), 1460);
        assert_eq!((plan.waits_for_transport(), plan.distance()), (true, Duration::from_millis(300)));
        assert_eq!(
            [plan.release(Duration::from_secs(5)), plan.release(Duration::from_secs(5))],
            [1460, 1080]
        );
        assert_eq!((plan.waits_for_transport(), plan.next_due()), (false, None));
    }
}
