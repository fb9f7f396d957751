//! Causes that hold the sender of the responses on a connection, and how long each did.
//!
//! Models one answer at each instant. The transport's comes first ([`Limit`]), nearest to the wire. Once it has sent all that
//! it was given, the session answers: its credits may hold bytes back. Last comes the program, which owes more of a response.
//! The answers exclude one another and leave nothing out, so that times add up to the interval, to the nanosecond.

use crate::tcp::Limit;
use crate::units::Duration;

/// Cause that holds a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The congestion window.
    Cwnd,
    /// Pacing.
    Pacing,
    /// The peer's window.
    Window,
    /// Its own send buffer.
    Buffer,
    /// A rule against small segments.
    Nagle,
    /// The recovery from a loss.
    Recovery,
    /// The connection is not established.
    Handshake,
    /// The credit that its session has been granted.
    Credit,
    /// The program: of a response that is asked for, all that is there has been sent.
    Application,
    /// Nothing: it has nothing to send.
    Nothing,
}

/// Time that a sender was held, by [`Cause`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HeldTimes([Duration; Cause::COUNT]);

impl Cause {
    const COUNT: usize = Self::Nothing as usize + 1;

    /// The cause that holds a sender, by the answers of its transport (where one runs), session and program. The
    /// program is asked only where its answer matters.
    pub(crate) fn of(
        limit: Option<Limit>,
        waits_for_credit: bool,
        awaits_more: impl FnOnce() -> bool,
    ) -> Self {
        match limit {
            Some(Limit::Cwnd) => Self::Cwnd,
            Some(Limit::Pacing) => Self::Pacing,
            Some(Limit::Window) => Self::Window,
            Some(Limit::Buffer) => Self::Buffer,
            Some(Limit::Nagle) => Self::Nagle,
            Some(Limit::Recovery) => Self::Recovery,
            Some(Limit::Handshake) => Self::Handshake,
            Some(Limit::Writer) => Self::Application,
            Some(Limit::None) if waits_for_credit => Self::Credit,
            Some(Limit::None) if awaits_more() => Self::Application,
            Some(Limit::None) | None => Self::Nothing,
        }
    }
}

impl HeldTimes {
    /// Time that `cause` held the sender.
    pub(crate) const fn by(&self, cause: Cause) -> Duration {
        self.0[cause as usize]
    }

    /// `cause` held the sender for so much longer.
    pub(crate) fn add(&mut self, cause: Cause, time: Duration) {
        self.0[cause as usize] += time;
    }

    /// Time added since the clocks showed `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self(std::array::from_fn(|cause| self.0[cause] - before.0[cause]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transport_is_asked_first_and_the_program_last() {
        let cause = |limit, credit, more| Cause::of(limit, credit, || more);
        assert_eq!(cause(Some(Limit::Cwnd), true, true), Cause::Cwnd);
        assert_eq!(cause(Some(Limit::Writer), true, true), Cause::Application);
        assert_eq!(cause(Some(Limit::None), true, true), Cause::Credit);
        assert_eq!(cause(Some(Limit::None), false, true), Cause::Application);
        assert_eq!(cause(Some(Limit::None), false, false), Cause::Nothing);
        assert_eq!(cause(None, true, true), Cause::Nothing, "nothing runs there");
    }
}
