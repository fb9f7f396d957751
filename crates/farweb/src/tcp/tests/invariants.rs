//! Invariants of every endpoint and of every segment that it sends, whatever arrives.
//!
//! The fuzz targets take this file as it is, so it names nothing beside itself but `tcp` and `units`.

use crate::tcp::{Connection, Flags, Segment, State};
use crate::units::Duration;

/// Promises and data that an endpoint has sent so far.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Last ACK and right edge of the window that were sent.
    ack: u64,
    edge: u64,
    /// End of the data that was sent.
    end: u64,
}

impl Watch {
    /// Panics when `connection` may not send `segment` in a call that began at a cwnd of `cwnd_before`.
    pub(super) fn check(&mut self, segment: &Segment, connection: &Connection, cwnd_before: u64) {
        if segment.flags.contains(Flags::RST) || !segment.flags.contains(Flags::ACK) {
            return;
        }
        self.check_promises(segment, connection);
        if segment.len > 0 {
            self.check_window(segment, connection, cwnd_before);
            self.end = self.end.max(segment.seq + u64::from(segment.len));
        }
    }

    fn check_promises(&mut self, segment: &Segment, connection: &Connection) {
        assert!(segment.ack >= self.ack, "the ACK goes back from {}: {segment:?}", self.ack);
        self.ack = segment.ack;
        if segment.flags.contains(Flags::SYN) {
            // Its field is never scaled, so one that is sent again may show less than an ACK before it did.
            return;
        }
        // 4.4BSD's keepalive probe shows what room there is and promises nothing (`tcp_respond()`).
        let is_probe = segment.len == 0 && segment.seq < connection.snd_una().max(1);
        if is_probe && matches!(connection, Connection::Bsd(_)) {
            return;
        }
        let scale = connection.window_shift();
        let edge = segment.ack + (u64::from(segment.window) << scale);
        // The field counts whole units of 2^scale, so the edge may seem to move back by less than one.
        assert!(edge + (1 << scale) > self.edge, "the window shrinks from {}: {segment:?}", self.edge);
        self.edge = edge.max(self.edge);
    }

    /// Data is sent into the windows only, except for probes and retransmissions of the stack's own accord.
    fn check_window(&self, segment: &Segment, connection: &Connection, cwnd_before: u64) {
        let (start, end) = (segment.seq, segment.seq + u64::from(segment.len));
        let first = connection.snd_una();
        assert!(start >= first, "already acknowledged: {segment:?}");
        let (edge, is_exempt) = match connection {
            // A tick comes before anything else in a call, and one timer before another: the first may send beyond a cwnd
            // that the second has lowered.
            Connection::Bsd(_) => {
                let window = connection.snd_wnd().min(connection.cwnd().max(cwnd_before));
                (first + window, segment.len == 1 && connection.snd_wnd() == 0)
            }
            // cwnd bounds the segments in the network. SACK takes some unacknowledged ones out of that. When a peer takes
            // its window back, a segment that begins in it is sent again whole, and the first segment whatever the window.
            Connection::Linux(_) => {
                let edge = first + connection.snd_wnd();
                (edge, start == first || (end <= self.end && start < edge))
            }
        };
        assert!(is_exempt || end <= edge, "beyond the window {edge}: {segment:?}");
    }
}

/// Panics when the variables of `connection` contradict each other.
pub(super) fn check(connection: &Connection) {
    assert!(connection.snd_una() <= connection.snd_nxt());
    assert!(connection.snd_nxt() <= connection.snd_max());
    assert!(connection.flight_size() == connection.snd_max() - connection.snd_una());
    assert!(connection.state() == State::Closed || connection.cwnd() > 0);
    let counted = connection.bytes_acknowledged() + connection.bytes_unsent_or_unacknowledged();
    assert_eq!(counted, connection.bytes_written());
    assert!(connection.readable() <= connection.buffers().1, "more than the buffer holds");
    let (shortest, longest) = match connection {
        Connection::Bsd(_) => (Duration::from_secs(1), Duration::from_secs(64)),
        Connection::Linux(_) => (Duration::from_millis(200), Duration::from_secs(120)),
    };
    assert!((shortest..=longest).contains(&connection.rto()), "a timeout of {}", connection.rto());
}
