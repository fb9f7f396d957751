//! Sockets: where TCP runs on a connection, at its ends and on both sides of a relay.

use crate::net::{Direction, LinkId};
use crate::tcp::{self, Segment};
use crate::units::{Instant, When};

use super::{End, Transport};

/// The transport at one place of a connection, and the way of its segments.
pub(crate) struct Socket {
    /// None before a SYN has arrived.
    pub(crate) transport: Option<Transport>,
    /// The earliest pending timer event.
    pub(crate) timer: When,
    pub(crate) way: Way,
    pub(crate) node: u8,
}

/// Where the segments of a socket go, and totals sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The first link.
    pub(crate) link: LinkId,
    /// Node of the socket at its end.
    pub(crate) peer: u8,
    /// IP bytes.
    pub(crate) bytes: u64,
    pub(crate) segments: u64,
    /// The sequence number after the highest sent, where packets are recorded.
    pub(crate) highest: u64,
    /// Segments refused by the first link, still unknown to the transport.
    pub(crate) refused: u32,
}

/// Place of a socket on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// At an end.
    End(End),
    /// At a relay, by [`Relays::side`](super::Relays::side).
    Side(u8),
}

impl Place {
    /// Its stretch on a leg with so many splits, counted from the clients.
    pub(crate) fn stretch(self, splits: usize) -> usize {
        match self {
            Self::End(End::Client) => 0,
            Self::End(End::Server) => splits,
            Self::Side(side) => usize::from(side.div_ceil(2)),
        }
    }

    /// Its number among the places of a connection, below 256.
    pub(crate) const fn index(self) -> u64 {
        match self {
            Self::End(End::Client) => 0,
            Self::End(End::Server) => 1,
            Self::Side(side) => 2 + side as u64,
        }
    }

    /// The end towards which its segments go.
    #[inline]
    pub(crate) const fn toward(self) -> End {
        match self {
            Self::End(end) => end.other(),
            Self::Side(side) if side % 2 == 0 => End::Client,
            Self::Side(_) => End::Server,
        }
    }
}

impl Way {
    /// Counts a segment of `bytes` on the wire. Its number.
    #[inline]
    pub(crate) const fn count(&mut self, bytes: u32) -> u32 {
        let number = self.segments as u32;
        self.bytes += bytes as u64;
        self.segments += 1;
        number
    }
}

impl Socket {
    pub(crate) fn new(node: u8, peer: u8) -> Self {
        let link = LinkId::leaving(node, if peer > node { Direction::Up } else { Direction::Down });
        let way = Way { link, peer, bytes: 0, segments: 0, highest: 0, refused: 0 };
        Self { transport: None, timer: When::NEVER, way, node }
    }

    /// True when nothing runs here, or only something that answers late packets.
    pub(crate) fn is_over(&self) -> bool {
        self.transport.as_ref().is_none_or(Transport::is_over)
    }

    /// The TCP that takes bytes here, if one does.
    #[inline]
    pub(crate) const fn tcp(&self) -> Option<&tcp::Connection> {
        match &self.transport {
            Some(Transport::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    #[inline]
    pub(crate) const fn tcp_mut(&mut self) -> Option<&mut tcp::Connection> {
        match &mut self.transport {
            Some(Transport::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// The TCP that runs here, if one does, whoever may use it.
    pub(crate) const fn stack(&self) -> Option<&tcp::Connection> {
        match &self.transport {
            Some(Transport::Tcp(tcp) | Transport::Asking(tcp)) => Some(tcp),
            _ => None,
        }
    }

    pub(crate) const fn stack_mut(&mut self) -> Option<&mut tcp::Connection> {
        match &mut self.transport {
            Some(Transport::Tcp(tcp) | Transport::Asking(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// Takes out the TCP that has ended here, if one has.
    pub(crate) fn take_tcp(&mut self) -> Option<tcp::Connection> {
        match self.transport.take() {
            Some(Transport::Tcp(tcp) | Transport::Asking(tcp)) => Some(tcp),
            _ => None,
        }
    }

    /// Size on the wire of a segment from here. A reset may come from where nothing runs.
    #[inline]
    pub(crate) fn packet_bytes(&self, segment: &Segment) -> u32 {
        self.transport
            .as_ref()
            .map_or_else(|| segment.packet_bytes(), |transport| transport.packet_bytes(segment))
    }

    /// Reports the segments refused by the first link to the transport.
    #[cold]
    pub(crate) fn tell_refused(&mut self) {
        for _ in 0..std::mem::take(&mut self.way.refused) {
            self.transport.as_mut().expect("it has sent").on_local_drop();
        }
    }

    /// The time of a timer event that is needed here and not pending yet.
    #[inline]
    pub(crate) fn timer_to_set(&mut self) -> Option<Instant> {
        let at = self.transport.as_ref()?.next_timeout()?;
        if self.timer.is_by(at) {
            return None;
        }
        self.timer = When::at(at);
        Some(at)
    }
}
