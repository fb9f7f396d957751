//! How long the sender of the responses on a connection was held, and by what.
//!
//! Models a clock for each thing that may hold a sender: it runs while there are bytes to be sent that only this keeps from
//! leaving. A response takes its part of the clocks as the difference between two readings, so one that waits behind others
//! on its connection counts what holds those, too. Linux keeps such clocks of a connection (`tcp_chrono_start()` in 6.18
//! `tcp_output.c`), for the peer's window and the send buffer; the congestion window has the rest there.

use crate::conn::{ConnectionId, HeldTimes};
use crate::tcp::Limit;
use crate::units::{Duration, Instant};

/// The clocks of the senders of responses, by the place of their connections.
#[derive(Debug, Default)]
pub(crate) struct Senders(Vec<Held>);

/// The clocks of a sender.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// What has held it since when.
    limit: Limit,
    since: Instant,
    times: HeldTimes,
}

impl Senders {
    /// A connection opens: its clocks stand at zero.
    pub(crate) fn start(&mut self, now: Instant, id: ConnectionId) {
        let place = id.place();
        if place >= self.0.len() {
            self.0.resize(place + 1, Held::new(now));
        }
        self.0[place] = Held::new(now);
    }

    /// From now on `limit` holds the sender on a connection.
    pub(crate) fn change(&mut self, now: Instant, id: ConnectionId, limit: Limit) {
        self.0[id.place()].change(now, limit);
    }

    /// What the clocks of a connection show at `now`.
    pub(crate) fn at(&self, now: Instant, id: ConnectionId) -> HeldTimes {
        self.0[id.place()].at(now)
    }
}

impl Held {
    const fn new(now: Instant) -> Self {
        Self {
            limit: Limit::None,
            since: now,
            times: HeldTimes { cwnd: Duration::ZERO, window: Duration::ZERO },
        }
    }

    fn change(&mut self, now: Instant, limit: Limit) {
        self.times = self.at(now);
        self.limit = limit;
        self.since = now;
    }

    fn at(&self, now: Instant) -> HeldTimes {
        let HeldTimes { mut cwnd, mut window } = self.times;
        match self.limit {
            Limit::Cwnd => cwnd += now - self.since,
            Limit::Window => window += now - self.since,
            Limit::None | Limit::Other => {}
        }
        HeldTimes { cwnd, window }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_runs_while_its_limit_holds() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let times = |cwnd, window| HeldTimes {
            cwnd: Duration::from_millis(cwnd),
            window: Duration::from_millis(window),
        };
        let mut held = Held::new(at(5));
        held.change(at(10), Limit::Cwnd);
        assert_eq!(held.at(at(17)), times(7, 0));
        held.change(at(30), Limit::Window);
        held.change(at(31), Limit::Window);
        held.change(at(70), Limit::Other);
        held.change(at(80), Limit::Cwnd);
        let before = held.at(at(81));
        held.change(at(90), Limit::None);
        assert_eq!(held.at(at(1000)), times(30, 40));
        assert_eq!(held.at(at(1000)).since(before), times(9, 0));
    }
}
