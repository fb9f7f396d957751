//! ACK aggregation: segments acknowledged beyond what the rate explains.
//!
//! Models BBR's estimate in Linux: in an epoch with more ACKs than the rate predicts, the largest surplus of the last five to ten
//! rounds makes room in the window, so that sending goes on while ACKs are held back. Leaves out nothing.
//!
//! Source: Linux 6.18 `tcp_bbr.c`, `bbr_update_ack_aggregation()`, `bbr_ack_aggregation_cwnd()`.

use super::RATE_UNIT;

/// Rounds of each half of the window (`bbr_extra_acked_win_rtts`).
const ROUNDS: u32 = 5;
/// Most room, as time at the rate, in microseconds (`bbr_extra_acked_max_us`).
const ROOM_MAX: u64 = 100_000;
/// Segments that end an epoch (`bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_MAX: u32 = 1 << 20;

/// The estimate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Aggregation {
    /// Start of the epoch in microseconds, and segments acknowledged since.
    epoch_at: u64,
    epoch_acked: u32,
    rounds: u32,
    /// Largest surplus of both halves, and the current one.
    surplus: [u32; 2],
    current: usize,
}

impl Aggregation {
    /// A new epoch begins at `now`, in microseconds.
    pub(super) const fn restart(&mut self, now: u64) {
        (self.epoch_at, self.epoch_acked) = (now, 0);
    }

    /// `acked` segments arrived by `now`, in microseconds, at `rate`.
    pub(super) fn note(&mut self, rate: u64, now: u64, acked: u32, cwnd: u32, round_started: bool) {
        if round_started {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.current ^= 1;
                self.surplus[self.current] = 0;
            }
        }
        let mut expected = rate * now.saturating_sub(self.epoch_at) / RATE_UNIT;
        if u64::from(self.epoch_acked) <= expected || self.epoch_acked + acked >= EPOCH_MAX {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_MAX - 1);
        let surplus = &mut self.surplus[self.current];
        *surplus = (self.epoch_acked - expected as u32).min(cwnd).max(*surplus);
    }

    /// Room in the window, in segments.
    pub(super) fn room(&self, rate: u64) -> u32 {
        let [one, other] = self.surplus;
        one.max(other).min((rate * ROOM_MAX / RATE_UNIT) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment in 1024 us.
    const RATE: u64 = RATE_UNIT / 1024;

    #[test]
    fn acks_in_time_make_no_room_and_a_late_lump_its_surplus() {
        let mut aggregation = Aggregation::default();
        (1..=20).for_each(|n| aggregation.note(RATE, 1024 * n, 1, 100, false));
        assert_eq!(aggregation.room(RATE), 1, "the segment of the ACK itself");
        // Nothing for ten of them, then all at once.
        aggregation.note(RATE, 1024 * 30, 10, 100, false);
        assert_eq!(aggregation.room(RATE), 10);
    }

    #[test]
    fn a_surplus_is_forgotten_after_ten_rounds_and_never_above_100_ms() {
        let mut aggregation = Aggregation::default();
        aggregation.note(RATE, 0, 500, 1000, false);
        assert_eq!(aggregation.room(RATE), 97);
        let rooms: Vec<u32> = (1..=10)
            .map(|round| {
                aggregation.note(RATE, 10_000_000 * round, 1, 1000, true);
                aggregation.room(RATE)
            })
            .collect();
        assert_eq!(rooms, [97, 97, 97, 97, 97, 97, 97, 97, 97, 1]);
    }
}
