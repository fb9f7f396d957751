//! Events: everything that can happen in a run.

use super::{ConnectionId, End, ExchangeId};

/// Everything that can happen but on links, which are channels of the queue. `Copy` and small: an event names entities by id and
/// carries no data.
///
/// Closed: `World::step` has the one `match`. It stands here, below all who schedule events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The connections that are always open are opened.
    Begin,
    /// The upcoming request reaches the first node.
    RequestStarts,
    /// A timer of an endpoint may be due.
    TimerFires(ConnectionId, End),
    /// A timer on a side of a relay may be due.
    RelayTimerFires(ConnectionId, u8),
    /// The application at an end acts on its notice.
    ApplicationWakes(ConnectionId, End),
    /// The next piece of a response is released where it is served.
    ResponseReleases(ExchangeId),
    /// A segment leaves the regulator of a connection.
    RegulatorIsDue(ConnectionId),
    /// An end of a connection may have been idle for long enough.
    IdleEnds(ConnectionId, End),
    /// The client of a request has waited for it as long as it does.
    ClientGivesUp(ExchangeId),
    /// The client's end of a connection that has failed without its knowing is closed.
    ClientCloses(ConnectionId),
    /// A recording interval of links and legs ends.
    IntervalEnds,
}
