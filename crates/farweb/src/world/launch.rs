//! The way of a segment from its endpoint into the link there.
//!
//! Models hosts that put a segment into their link at once. An endpoint builds its packets in the link by [`Launch`]. Segments
//! of a recorded or regulated connection wait in an output until the call is over, since its row has the state after the call.
//! Leaves out the time that hosts take.

use crate::conn::{ConnectionId, End, Mark, Packet, Way};
use crate::tcp::{Emit, Notice, Output, Plain, Segment};

use super::network::Network;

/// Takes the segments of an end of a connection to its link, and keeps the notices.
pub(super) struct Launch<'a> {
    network: &'a mut Network,
    id: ConnectionId,
    end: End,
    way: &'a mut Way,
    in_flight: &'a mut u32,
    output: &'a mut Output,
}

impl<'a> Launch<'a> {
    /// For `end` of a connection: its segments go this way.
    #[inline(always)]
    pub(super) fn new(
        network: &'a mut Network,
        id: ConnectionId,
        end: End,
        way: &'a mut Way,
        in_flight: &'a mut u32,
        output: &'a mut Output,
    ) -> Self {
        Self { network, id, end, way, in_flight, output }
    }

    #[inline(always)]
    fn put(&mut self, packet: Packet) {
        if self.network.enqueue(self.way.link, &packet, None) {
            *self.in_flight += 1;
        } else {
            self.way.refused += 1;
        }
    }
}

impl Emit for Launch<'_> {
    #[inline(always)]
    fn send(&mut self, segment: Plain) {
        let number = self.way.count(segment.packet_bytes());
        self.put(Packet::plain(self.id, self.end.other(), self.way.peer, segment, number));
    }

    #[cold]
    fn send_with_options(&mut self, segment: &Segment) {
        let bytes = segment.packet_bytes();
        let mark = Mark::unrecorded(self.way.count(bytes));
        let (toward, extras) = (self.end.other(), &mut self.network.extras);
        let packet = Packet::new(self.id, toward, self.way.peer, segment, bytes, mark, extras);
        self.put(packet);
    }

    #[inline]
    fn notify(&mut self, notice: Notice) {
        self.output.notices.push(notice);
    }
}

/// Does it out of the way: few connections are recorded or regulated in a run of many.
#[cold]
#[inline(never)]
pub(super) fn watched<T>(act: impl FnOnce() -> T) -> T {
    act()
}

/// Has the TCP at an end of a connection do something. `None` where none runs that the application may use.
///
/// `(session, tcp, out) => call` names the session of the end, its TCP, and what takes the segments.
macro_rules! on_tcp {
    ($network:expr, $id:expr, $connection:expr, $end:expr, $output:expr, ($session:pat, $tcp:ident, $out:ident) => $call:expr) => {{
        let is_plain = $connection.is_plain();
        let $crate::conn::Connection { ends, in_flight, .. } = &mut *$connection;
        let $crate::conn::Endpoint { socket, session: $session, .. } = &mut ends[$end as usize];
        match &mut socket.transport {
            Some($crate::conn::Transport::Tcp($tcp)) if is_plain => {
                let $out = &mut $crate::world::launch::Launch::new(
                    $network,
                    $id,
                    $end,
                    &mut socket.way,
                    in_flight,
                    $output,
                );
                Some($call)
            }
            Some($crate::conn::Transport::Tcp($tcp)) => {
                let $out = &mut *$output;
                Some($crate::world::launch::watched(|| $call))
            }
            _ => None,
        }
    }};
}
pub(super) use on_tcp;
