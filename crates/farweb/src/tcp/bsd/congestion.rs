//! Congestion control: how much may fly, as in 4.4BSD-Lite's Reno. [`recovery`](super::recovery) finds losses.
//!
//! Models slow start, congestion avoidance with its additional eighth of a segment, halving, and the inflation of cwnd
//! during fast recovery. Grows once for each ACK of new data, whatever it acknowledges. The connection reports events.
//! Nothing else writes the windows. Leaves out the cache of ssthresh by route, and pacing. One place asks how much may
//! leave (`plan()` in [`output`](super::output)).
//!
//! Source: 4.4BSD-Lite `tcp_input.c` 8.5, `tcp_output.c` 8.3, `tcp_timer.c` 8.1; RFC 2525, sections 2.6 and 2.8, for its
//! faults.

use super::profile::Profile;
use crate::tcp::segment::WINDOW_MAX;

/// The windows of a connection, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Congestion {
    cwnd: u64,
    ssthresh: u64,
}

impl Congestion {
    pub(super) const fn new() -> Self {
        Self { cwnd: WINDOW_MAX, ssthresh: WINDOW_MAX }
    }

    /// Bytes that may be in flight.
    pub(super) const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Window where exponential growth ends.
    pub(super) const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// A SYN has settled the segment size: `initial` bytes may go at first.
    pub(super) const fn on_mss_settled(&mut self, initial: u64) {
        self.cwnd = initial;
    }

    /// Nothing passed for so long that cwnd is out of date: no more than `restart` bytes may go.
    pub(super) fn on_idle(&mut self, restart: u64) {
        self.cwnd = self.cwnd.min(restart);
    }

    /// The host's own queue was full (`tcp_quench()`).
    pub(super) const fn on_source_quench(&mut self, mss: u64) {
        self.cwnd = mss;
    }

    /// New data was acknowledged: one segment up to and including ssthresh, about one a round trip above. cwnd does not
    /// grow beyond `limit`.
    pub(super) fn on_ack(&mut self, mss: u64, limit: u64, profile: &Profile) {
        let increase = if self.cwnd > self.ssthresh {
            mss * mss / self.cwnd + if profile.additive_eighth { mss / 8 } else { 0 }
        } else {
            mss
        };
        self.cwnd = (self.cwnd + increase).min(limit);
    }

    /// The retransmission timer expired with `window` bytes allowed: half of it in whole segments, at least two, is the new
    /// ssthresh, and one segment the new window.
    pub(super) fn on_timeout(&mut self, window: u64, mss: u64) {
        self.ssthresh = (window / 2 / mss).max(2) * mss;
        self.cwnd = mss;
    }

    /// A fast retransmit starts with `window` bytes allowed: for the time of one segment, that is all that may go.
    pub(super) fn on_fast_retransmit(&mut self, window: u64, mss: u64) {
        self.on_timeout(window, mss);
    }

    /// The lost segment was sent again. `duplicates` segments are known to have left the network.
    pub(super) const fn on_recovery_started(&mut self, duplicates: u64, mss: u64) {
        self.cwnd = self.ssthresh + duplicates * mss;
    }

    /// One more segment has left the network.
    pub(super) const fn on_further_duplicate(&mut self, mss: u64) {
        self.cwnd += mss;
    }

    /// The lost segment was acknowledged.
    pub(super) fn on_recovered(&mut self) {
        self.cwnd = self.cwnd.min(self.ssthresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1460;

    const LITE: Profile = Profile::bsd44_lite();

    fn reno(cwnd: u64, ssthresh: u64) -> Congestion {
        Congestion { cwnd, ssthresh }
    }

    #[test]
    fn a_window_equal_to_ssthresh_still_grows_by_a_segment() {
        let mut reno = reno(4 * MSS, 4 * MSS);
        reno.on_ack(MSS, 65535, &LITE);
        assert_eq!(reno.cwnd(), 5 * MSS);
    }

    #[test]
    fn above_ssthresh_an_ack_adds_a_share_and_an_eighth_of_a_segment() {
        let mut growing = reno(5 * MSS, 4 * MSS);
        growing.on_ack(MSS, 65535, &LITE);
        assert_eq!(growing.cwnd(), 5 * MSS + MSS / 5 + MSS / 8);
        let mut standard = reno(5 * MSS, 4 * MSS);
        standard.on_ack(MSS, 65535, &Profile { additive_eighth: false, ..LITE });
        assert_eq!(standard.cwnd(), 5 * MSS + MSS / 5);
    }

    #[test]
    fn growth_stops_at_the_largest_window_that_can_be_advertised() {
        let mut reno = reno(65000, 1 << 20);
        reno.on_ack(MSS, 65535, &LITE);
        assert_eq!(reno.cwnd(), 65535);
    }

    #[test]
    fn halving_rounds_down_to_segments_and_keeps_two() {
        for (window, segments) in [(32767, 11), (8 * MSS, 4), (7 * MSS, 3), (3 * MSS, 2), (0, 2)] {
            let mut reno = reno(window, 1 << 20);
            reno.on_timeout(window, MSS);
            assert_eq!((reno.ssthresh(), reno.cwnd()), (segments * MSS, MSS), "window {window}");
        }
    }
}
