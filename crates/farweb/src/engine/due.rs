//! When an event leaves the queue.

use crate::units::Instant;

/// The time of an event, and behind it its number among all that were ever scheduled: as one number, so that a comparison is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due(u128);

impl Due {
    /// Behind every event.
    pub(super) const NEVER: Self = Self(u128::MAX);

    #[inline]
    pub(super) const fn new(at: Instant, number: u64) -> Self {
        Self((at.as_nanos() as u128) << 64 | number as u128)
    }

    #[inline]
    pub(super) const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}
