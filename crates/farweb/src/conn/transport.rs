//! Transport at an end of a connection: an endpoint of TCP, or one of ns-2's agents.

use crate::tcp::{self, Emit, Limit, Segment, State, ns2};
use crate::units::{Instant, When};

/// A state machine at one end.
pub(crate) enum Transport {
    /// Sends and receives.
    Tcp(tcp::Connection),
    /// Has asked the relay at its peer to go on (CONNECT), and takes nothing else before the answer.
    Asking(tcp::Connection),
    /// Sends packets of a transfer.
    Sender(Box<ns2::Sender>),
    /// Receives them.
    Sink(Box<ns2::Sink>),
}

/// Calls the same method of whatever runs there.
macro_rules! on_each {
    ($transport:expr, $agent:ident => $call:expr) => {
        match $transport {
            Transport::Tcp($agent) | Transport::Asking($agent) => $call,
            Transport::Sender($agent) => $call,
            Transport::Sink($agent) => $call,
        }
    };
}

impl Transport {
    pub(crate) fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        on_each!(self, agent => agent.on_segment(now, segment, out));
    }

    pub(crate) fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        on_each!(self, agent => agent.on_timeout(now, out));
    }

    #[inline]
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        on_each!(self, agent => agent.next_timeout())
    }

    /// State of an end whenever its connection is settled: a lower bound for its next timer, and true if
    /// nothing but late packets is left to answer.
    #[inline]
    pub(crate) fn standing(&self) -> (When, bool) {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => (tcp.no_timeout_before(), is_over(tcp.state())),
            Self::Sender(_) | Self::Sink(_) => (self.next_timeout().into(), self.is_over()),
        }
    }

    /// The first link refused the segment that was sent last. An agent of ns-2 does not notice.
    pub(crate) fn on_local_drop(&mut self) {
        if let Self::Tcp(tcp) | Self::Asking(tcp) = self {
            tcp.on_local_drop();
        }
    }

    /// Size on the wire of a segment that is sent from here, in bytes.
    #[inline]
    pub(crate) fn packet_bytes(&self, segment: &Segment) -> u32 {
        match self {
            Self::Sender(sender) => sender.packet_bytes(segment),
            Self::Sink(sink) => sink.packet_bytes(segment),
            Self::Tcp(_) | Self::Asking(_) => segment.packet_bytes(),
        }
    }

    /// True when nothing is left to do here but to answer late packets.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => is_over(tcp.state()),
            Self::Sender(sender) => sender.is_done(),
            Self::Sink(_) => true,
        }
    }

    /// Limit that keeps this end from sending more. `more` says that the application has more than was taken.
    pub(crate) fn limit(&self, more: bool) -> Limit {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.limit(more),
            Self::Sender(sender) => sender.limit(),
            Self::Sink(_) => Limit::None,
        }
    }

    /// Bytes of the stream that have been sent from here at least once.
    pub(crate) fn bytes_sent(&self) -> u64 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.bytes_sent(),
            Self::Sender(sender) => sender.bytes_sent(),
            Self::Sink(_) => 0,
        }
    }

    /// Bytes sent from here that the other end has acknowledged.
    pub(crate) fn bytes_acknowledged(&self) -> u64 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.bytes_acknowledged(),
            Self::Sender(sender) => sender.bytes_acknowledged(),
            Self::Sink(_) => 0,
        }
    }

    pub(crate) fn retransmits(&self) -> u64 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.retransmits(),
            Self::Sender(sender) => sender.retransmits(),
            Self::Sink(_) => 0,
        }
    }

    pub(crate) fn ece_cuts(&self) -> u64 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.ece_cuts(),
            Self::Sender(_) | Self::Sink(_) => 0,
        }
    }

    pub(crate) fn timeouts(&self) -> u64 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.timeouts(),
            Self::Sender(sender) => sender.timeouts(),
            Self::Sink(_) => 0,
        }
    }

    /// Congestion window and slow-start threshold, in bytes. A sink has none.
    pub(crate) fn windows(&self) -> Option<(u64, u64)> {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => Some((tcp.cwnd(), tcp.ssthresh())),
            Self::Sender(sender) => Some((sender.cwnd(), sender.ssthresh())),
            Self::Sink(_) => None,
        }
    }

    /// Shift of the window field in segments that are sent from here, but for a SYN.
    pub(crate) fn window_shift(&self) -> u8 {
        match self {
            Self::Tcp(tcp) | Self::Asking(tcp) => tcp.window_shift(),
            Self::Sender(_) | Self::Sink(_) => 0,
        }
    }
}

/// True when a TCP in this state only answers late packets.
#[inline]
const fn is_over(state: State) -> bool {
    matches!(state, State::Closed | State::TimeWait)
}
