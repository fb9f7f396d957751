//! The window itself, and its two ways to grow.
//!
//! Models slow start and additive increase as all of Linux's controls share them: by segments acknowledged, not by ACKs.
//! Leaves out the largest cwnd that an application may set (`snd_cwnd_clamp`).
//!
//! Source: Linux 6.18 `tcp_cong.c`, `tcp_slow_start()`, `tcp_cong_avoid_ai()`; RFC 5681, section 3.1.

/// `ssthresh` before the first loss (`TCP_INFINITE_SSTHRESH`).
pub(super) const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;

/// The windows of a connection, in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Window {
    /// Segments that may be in flight.
    pub(in super::super) cwnd: u32,
    /// Window where exponential growth ends.
    pub(in super::super) ssthresh: u32,
    /// Segments acknowledged towards the next growth of cwnd by one.
    pub(in super::super) cwnd_cnt: u32,
}

impl Window {
    pub(super) const fn new(cwnd: u32) -> Self {
        Self { cwnd, ssthresh: SSTHRESH_INFINITE, cwnd_cnt: 0 }
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// True when there was a loss, or something else that has set ssthresh.
    pub(super) const fn has_ssthresh(&self) -> bool {
        self.ssthresh < SSTHRESH_INFINITE
    }

    /// Grows by `acked` segments, but not beyond ssthresh. Gives those that are left over (`tcp_slow_start()`).
    pub(super) fn slow_start(&mut self, acked: u32) -> u32 {
        let growth = acked.min(self.ssthresh - self.cwnd);
        self.cwnd += growth;
        acked - growth
    }

    /// Grows by one for every `per_segment` segments acknowledged (`tcp_cong_avoid_ai()`).
    pub(super) const fn avoid(&mut self, per_segment: u32, acked: u32) {
        // Credit gathered for a larger step is spent at once, but gives no more than one.
        if self.cwnd_cnt >= per_segment {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / per_segment;
        self.cwnd_cnt %= per_segment;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, cwnd_cnt: 0 }
    }

    #[test]
    fn slow_start_stops_at_ssthresh_and_gives_the_rest_back() {
        let mut window = window(10, 12);
        assert_eq!(window.slow_start(5), 3);
        assert_eq!((window.cwnd, window.in_slow_start()), (12, false));
    }

    #[test]
    fn avoidance_adds_one_for_each_step_of_segments() {
        let mut window = window(10, 10);
        window.avoid(10, 9);
        assert_eq!((window.cwnd, window.cwnd_cnt), (10, 9));
        window.avoid(10, 12);
        assert_eq!((window.cwnd, window.cwnd_cnt), (12, 1));
    }

    #[test]
    fn what_was_gathered_for_a_larger_step_gives_one() {
        let mut window = Window { cwnd_cnt: 35, ..window(10, 10) };
        window.avoid(10, 1);
        assert_eq!((window.cwnd, window.cwnd_cnt), (11, 1));
    }
}
