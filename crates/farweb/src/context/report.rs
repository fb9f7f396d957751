//! Takes what a session puts into its stream: recorded frames, and where responses end.

use crate::conn::{Connection, End, ExchangeId, Exchanges, Response, Unacknowledged};
use crate::observe::{FramePlace, Observer};
use crate::session::{Report, Sent, Session};
use crate::units::Instant;

use super::Context;

/// Report of the session at one end of a connection.
pub(crate) struct Log<'a> {
    now: Instant,
    exchanges: &'a Exchanges,
    observer: &'a mut Observer,
    unacknowledged: &'a mut Unacknowledged,
    number: u64,
    leg: usize,
    end: End,
    /// Frames are recorded. Those within records of TLS cannot be seen.
    is_recorded: bool,
}

impl<'a> Log<'a> {
    /// The session at an end of a connection, and its report.
    #[inline]
    pub(crate) fn of(
        cx: &'a mut Context,
        connection: &'a mut Connection,
        end: End,
    ) -> (&'a mut Session, Self) {
        let Connection { ends, unacknowledged, number, leg, recorded, .. } = connection;
        let session = &mut ends[end as usize].session;
        let is_recorded = *recorded && !session.has_tls();
        let Context { now, exchanges, observer, .. } = cx;
        let log = Self {
            now: *now,
            exchanges,
            observer,
            unacknowledged,
            number: *number,
            leg: *leg,
            end,
            is_recorded,
        };
        (session, log)
    }

    #[inline]
    pub(crate) const fn now(&self) -> Instant {
        self.now
    }
}

impl Report for Log<'_> {
    fn on_frame(&mut self, seq: u64, frame: &Sent) {
        if self.is_recorded {
            let request =
                frame.exchange().and_then(|id| self.exchanges.get(id)).map(|exchange| exchange.number);
            let place =
                FramePlace { now: self.now, connection: self.number, leg: self.leg, end: self.end, seq };
            self.observer.frames.record(place, frame, request);
        }
    }

    #[inline]
    fn on_message_end(&mut self, exchange: ExchangeId, end: u64) {
        if self.end == End::Server {
            self.unacknowledged.push(Response { exchange, end });
        }
    }
}
