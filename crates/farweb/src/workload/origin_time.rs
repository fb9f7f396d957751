//! Time that an origin took for a response, and how much of it passed before the first byte.
//!
//! Models what logs record: the time to the end of a response, and where they have it the wait for its first byte, the rest
//! being the transfer. Leaves out what either was spent on.

use crate::units::Duration;

/// Recorded time of a response, counted from the arrival of its request at the origin.
///
/// It takes the memory of one `Option<Duration>`: the longest span stands for unrecorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OriginTime {
    whole: Duration,
    wait: Duration,
}

const NOT_RECORDED: Duration = Duration::from_nanos(u64::MAX);

impl OriginTime {
    /// Nothing was recorded.
    pub const NONE: Self = Self { whole: NOT_RECORDED, wait: NOT_RECORDED };

    /// `whole` up to the end of the response, however that divides into wait and transfer.
    #[must_use]
    pub const fn new(whole: Duration) -> Self {
        Self { whole, wait: NOT_RECORDED }
    }

    /// The same with `wait` up to the first byte. `None` where that is longer than the whole.
    #[must_use]
    pub fn with_wait(self, wait: Duration) -> Option<Self> {
        self.whole().is_some_and(|whole| wait <= whole).then_some(Self { wait, ..self })
    }

    /// Time up to the end of the response.
    #[must_use]
    pub fn whole(self) -> Option<Duration> {
        (self.whole != NOT_RECORDED).then_some(self.whole)
    }

    /// Time up to its first byte.
    #[must_use]
    pub fn wait(self) -> Option<Duration> {
        (self.wait != NOT_RECORDED).then_some(self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_part_of_a_recorded_whole() {
        let [short, long] = [1, 2].map(Duration::from_secs);
        let time = OriginTime::new(long).with_wait(short).unwrap();
        assert_eq!((time.whole(), time.wait()), (Some(long), Some(short)));
        assert_eq!(OriginTime::new(long).with_wait(long).unwrap().wait(), Some(long));
        assert_eq!(OriginTime::new(short).with_wait(long), None);
        assert_eq!(OriginTime::NONE.with_wait(short), None);
        assert_eq!((OriginTime::NONE.whole(), OriginTime::new(short).wait()), (None, None));
        assert_eq!(size_of::<OriginTime>(), size_of::<Option<Duration>>());
    }
}
