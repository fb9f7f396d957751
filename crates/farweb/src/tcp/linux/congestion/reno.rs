//! Reno: slow start, then one segment a round trip. Half the window after a loss.
//!
//! Models Linux, which counts segments acknowledged, not ACKs: delayed ACKs do not slow growth (RFC 3465 with no limit).
//! After a loss it takes half of cwnd where RFC 5681 takes half of the data in flight. Leaves out ECN.
//!
//! Source: Linux 6.18 `tcp_cong.c`, `tcp_reno_cong_avoid()`, `tcp_reno_ssthresh()`; RFC 5681, section 3.1.

use super::window::Window;

/// `acked` segments were acknowledged while cwnd limited sending.
pub(super) fn grow(window: &mut Window, acked: u32) {
    let rest = if window.in_slow_start() { window.slow_start(acked) } else { acked };
    if rest > 0 {
        window.avoid(window.cwnd, rest);
    }
}

/// Half of `cwnd`, at least two segments.
pub(super) const fn ssthresh_after_loss(cwnd: u32) -> u32 {
    let half = cwnd / 2;
    if half > 2 { half } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_of_more_segments_grows_slow_start_by_all_of_them() {
        let mut window = Window { cwnd: 1, ssthresh: 100, cwnd_cnt: 0 };
        grow(&mut window, 1);
        grow(&mut window, 2);
        assert_eq!(window.cwnd, 4);
    }

    #[test]
    fn beyond_ssthresh_a_window_of_segments_adds_one() {
        let mut window = Window { cwnd: 4, ssthresh: 4, cwnd_cnt: 0 };
        (0..4).for_each(|_| grow(&mut window, 1));
        assert_eq!((window.cwnd, window.cwnd_cnt), (5, 0));
    }

    #[test]
    fn half_is_rounded_down_and_two_segments_stay() {
        assert_eq!([9, 5, 4, 3, 1].map(ssthresh_after_loss), [4, 2, 2, 2, 2]);
    }
}
