//! Time that the sender of the responses on a connection was held, by cause.
//!
//! Models a clock for each cause that may hold a sender ([`Cause`]). One runs at a time, from the opening of the connection to
//! its end. A response takes the difference between two readings of the clocks. Waiting behind other responses on its
//! connection, it counts their causes, too. Linux keeps such clocks of a connection (`tcp_chrono_start()` in 6.18
//! `tcp_output.c`), for the peer's window and the send buffer. The congestion window has the rest there.

use crate::conn::{Cause, ConnectionId, ExchangeId, HeldTimes};
use crate::units::{Duration, Instant};

/// The clocks of the senders of responses, by the place of their connections.
#[derive(Debug, Default)]
pub(crate) struct Senders(Vec<Clocks>);

/// The clocks of a sender.
#[derive(Debug)]
struct Clocks {
    /// The cause that holds it, and since when. None when the connection is over.
    cause: Option<Cause>,
    since: Instant,
    times: HeldTimes,
    /// Time that cwnd had held it when requests might go.
    opening: Duration,
    /// Responses due here and incomplete. Some may have ended since.
    due: Vec<ExchangeId>,
}

impl Senders {
    /// A connection opens: its clocks stand at zero.
    pub(crate) fn start(&mut self, now: Instant, id: ConnectionId) {
        let place = id.place();
        if place >= self.0.len() {
            self.0.resize_with(place + 1, || Clocks::new(now));
        }
        self.0[place] = Clocks::new(now);
    }

    /// Notes that from now on `cause` holds the sender on a connection.
    pub(crate) fn change(&mut self, now: Instant, id: ConnectionId, cause: Cause) {
        self.0[id.place()].change(now, cause);
    }

    /// Requests may go on a connection from now on.
    pub(crate) fn note_ready(&mut self, now: Instant, id: ConnectionId) {
        let clocks = &mut self.0[id.place()];
        clocks.opening = clocks.at(now).by(Cause::Cwnd);
    }

    /// Time that cwnd held the sender on a connection before requests might go.
    pub(crate) fn opening(&self, id: ConnectionId) -> Duration {
        self.0[id.place()].opening
    }

    /// A connection is over: its clocks stop.
    pub(crate) fn stop(&mut self, now: Instant, id: ConnectionId) {
        self.0[id.place()].stop(now);
    }

    /// Readings of the clocks of a connection at `now`.
    pub(crate) fn at(&self, now: Instant, id: ConnectionId) -> HeldTimes {
        self.0[id.place()].at(now)
    }

    /// A response is due on a connection, and a part of it is still missing.
    pub(crate) fn expect(&mut self, id: ConnectionId, response: ExchangeId) {
        let due = &mut self.0[id.place()].due;
        if !due.contains(&response) {
            due.push(response);
        }
    }

    /// Responses that were due on a connection at the last look.
    pub(crate) fn due(&mut self, id: ConnectionId) -> &mut Vec<ExchangeId> {
        &mut self.0[id.place()].due
    }
}

impl Clocks {
    fn new(now: Instant) -> Self {
        Self {
            cause: Some(Cause::Nothing),
            since: now,
            times: HeldTimes::default(),
            opening: Duration::ZERO,
            due: Vec::new(),
        }
    }

    fn change(&mut self, now: Instant, cause: Cause) {
        if self.cause.is_some() && self.cause != Some(cause) {
            self.stop(now);
            self.cause = Some(cause);
            self.since = now;
        }
    }

    fn stop(&mut self, now: Instant) {
        self.times = self.at(now);
        self.cause = None;
    }

    fn at(&self, now: Instant) -> HeldTimes {
        let mut times = self.times;
        if let Some(cause) = self.cause {
            times.add(cause, now - self.since);
        }
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_clock_runs_until_the_connection_is_over() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let ms = |times: HeldTimes| {
            [Cause::Nothing, Cause::Cwnd, Cause::Window, Cause::Nagle]
                .map(|cause| times.by(cause).as_nanos() / 1_000_000)
        };
        let mut held = Clocks::new(at(5));
        held.change(at(10), Cause::Cwnd);
        assert_eq!(ms(held.at(at(17))), [5, 7, 0, 0]);
        held.change(at(30), Cause::Window);
        held.change(at(31), Cause::Window);
        held.change(at(70), Cause::Nagle);
        held.change(at(80), Cause::Cwnd);
        let before = held.at(at(81));
        held.change(at(90), Cause::Nothing);
        assert_eq!(ms(held.at(at(1000)).since(before)), [910, 9, 0, 0]);
        held.stop(at(100));
        held.change(at(200), Cause::Nagle);
        assert_eq!(ms(held.at(at(1000))), [15, 30, 40, 10]);
    }
}
