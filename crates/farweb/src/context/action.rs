//! Actions: what clients, pools and nodes want done next.
//!
//! An action is done **now**, when the method that asked for it has returned and before anything else, or **later**, behind
//! other actions, when the connection of the event is settled. While a connection is settled its applications may act on it at
//! once. Actions on other connections (a response goes on, a request starts on the next leg, a failure is passed on) are done
//! later. So no two actions on a connection overlap. All of them happen at one instant.

use std::collections::VecDeque;

use crate::conn::{Closing, ConnectionId, End, ExchangeId, Key};
use crate::net::LinkId;

/// Something to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Start the endpoints of this connection.
    Open(ConnectionId),
    /// This end of a connection reads bytes left unread, then writes and closes as due.
    Act(ConnectionId, End),
    /// This end of a connection is closed.
    Close(ConnectionId, End, Closing),
    /// The request of this exchange is to be sent over its leg.
    Send(ExchangeId),
    /// The next turn of this tunnel is there to be sent at the client end of its leg.
    Ask(ExchangeId),
    /// This exchange, which has waited for a connection of its leg, may go on.
    Resume {
        /// The exchange.
        exchange: ExchangeId,
        /// Its leg, also when it is gone by then.
        leg: usize,
        /// Its turn.
        turn: Turn,
    },
    /// The request of this exchange is sent again, as if nothing had come of it.
    SendAgain(ExchangeId),
    /// The request of this exchange is whole at a node that sends it on.
    PassOn(ExchangeId),
    /// The response to this exchange begins at the server end of its leg, or goes on there.
    Release(ExchangeId),
    /// Bytes of the response to this exchange are there at the server end of its leg.
    Respond {
        /// The exchange.
        exchange: ExchangeId,
        /// Payload.
        bytes: u64,
        /// Size of the segments that brought it, in bytes.
        mss: u64,
    },
    /// This exchange of the first leg has come to its end, after its last byte was acknowledged.
    End(ExchangeId),
    /// This exchange cannot come to its end.
    Fail(ExchangeId),
    /// The queue of this link has dropped packets that had joined it, or given recorded ones to the transmitter.
    SettleLink(LinkId),
    /// An exchange has ended, and was the last one so far.
    Rest,
}

/// Turn of an exchange that has waited for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Use this connection.
    Use(ConnectionId),
    /// Open a connection with this key.
    Open(Key),
}

/// Actions that are left to be done.
#[derive(Debug, Default)]
pub(crate) struct Actions {
    now: Vec<Action>,
    later: VecDeque<Action>,
}

impl Actions {
    /// Adds an action to carry out once its requester has returned.
    pub(crate) fn now(&mut self, action: Action) {
        self.now.push(action);
    }

    /// Adds an action to carry out once the connection at hand is settled.
    pub(crate) fn later(&mut self, action: Action) {
        self.later.push_back(action);
    }

    /// The action that has waited longest, once nothing is left to be done now.
    #[inline]
    pub(crate) fn next_later(&mut self) -> Option<Action> {
        debug_assert!(self.now.is_empty(), "{:?} should have been done", self.now);
        if self.later.is_empty() { None } else { self.later.pop_front() }
    }

    /// Number of actions to be done now: a mark for [`take_now`](Self::take_now).
    #[inline]
    pub(crate) const fn mark(&self) -> usize {
        self.now.len()
    }

    /// The first action that was added to be done now since `mark`. The others stay in their order.
    #[inline]
    pub(crate) fn take_now(&mut self, mark: usize) -> Option<Action> {
        (mark < self.now.len()).then(|| self.now.remove(mark))
    }
}
