//! An instant that may not have come yet.

use super::Instant;

/// An instant, or never: what `Option<Instant>` says, in half the memory.
///
/// The last nanosecond that a `u64` can count, 584 years after the start, stands for never, which so comes last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct When(u64);

impl When {
    /// An instant that has not come, or never will.
    pub const NEVER: Self = Self(u64::MAX);

    /// At `instant`.
    #[must_use]
    pub const fn at(instant: Instant) -> Self {
        Self(instant.as_nanos())
    }

    /// The instant, if there is one.
    #[must_use]
    pub const fn get(self) -> Option<Instant> {
        if self.0 == Self::NEVER.0 { None } else { Some(Instant::from_nanos(self.0)) }
    }

    /// True when there is no instant.
    #[must_use]
    pub const fn is_never(self) -> bool {
        self.0 == Self::NEVER.0
    }

    /// Sets it to `instant`, unless it is set already.
    pub const fn set_once(&mut self, instant: Instant) {
        if self.is_never() {
            *self = Self::at(instant);
        }
    }

    /// True when it is at `instant` or earlier.
    #[must_use]
    pub const fn is_by(self, instant: Instant) -> bool {
        self.0 <= instant.as_nanos()
    }
}

impl Default for When {
    fn default() -> Self {
        Self::NEVER
    }
}

impl From<Option<Instant>> for When {
    fn from(instant: Option<Instant>) -> Self {
        instant.map_or(Self::NEVER, Self::at)
    }
}

impl std::fmt::Debug for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happens_first_stays() {
        let (early, late) = (Instant::from_nanos(5), Instant::from_nanos(7));
        let mut when = When::NEVER;
        assert!(when.is_never() && !when.is_by(late));
        when.set_once(early);
        when.set_once(late);
        assert_eq!(when.get(), Some(early));
        assert!(when.is_by(early) && !when.is_by(Instant::ZERO));
    }
}
