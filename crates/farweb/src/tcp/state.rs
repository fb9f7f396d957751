//! States of a connection, and the notices that the application gets.
//!
//! Models the states of RFC 9293 and the notices of a socket to its reader and writer. Leaves out LISTEN, which belongs to the host,
//! and errors of the network layer.
//!
//! Source: RFC 9293, section 3.3.2 (RFC 793, section 3.2); 4.4BSD-Lite `tcp_fsm.h` for the flags of a state.

use super::segment::{Flags, Plain, Segment};

/// State of a connection (RFC 793). LISTEN belongs to the host, not to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Gone: answers every segment with a reset.
    Closed,
    /// Opened by us, SYN sent.
    SynSent,
    /// SYN received and answered.
    SynReceived,
    /// Data flows both ways.
    Established,
    /// The peer has finished sending.
    CloseWait,
    /// We have finished. Our FIN is not acknowledged.
    FinWait1,
    /// Both have finished at the same time. Our FIN is not acknowledged.
    Closing,
    /// The peer finished first, then we. Our FIN is not acknowledged.
    LastAck,
    /// Our FIN is acknowledged. The peer may go on.
    FinWait2,
    /// Both have finished. The last ACK may have to be repeated.
    TimeWait,
}

/// Notice to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The connection is established.
    Connected,
    /// Bytes have arrived in order and can be read.
    Readable,
    /// There is room for the rest of a partial write, or for a piece of at least the low-water mark.
    Writable,
    /// The peer has finished sending. Only unread bytes remain.
    EndOfStream,
    /// The connection is gone. Nothing follows.
    Closed(CloseReason),
}

/// Why a connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// Both sides had finished (or a reset came when nothing was left to be received).
    Finished,
    /// A reset answered our SYN or SYN-ACK.
    Refused,
    /// A reset came.
    Reset,
    /// No answer: to a SYN in the time of `connect_timeout`, to retransmissions or to keepalive probes.
    TimedOut,
    /// Our own application gave up.
    Aborted,
}

/// Limit that keeps an endpoint from sending more of its stream at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Nothing: the whole stream so far has been sent.
    None,
    /// The congestion window: a larger one would let the next segment leave.
    Cwnd,
    /// Pacing: the time of the next segment has not come.
    Pacing,
    /// The peer's window has no room for the next segment. A larger congestion window would not help.
    Window,
    /// Our own send buffer is full and holds no whole segment that waits. No larger window would help.
    Buffer,
    /// A rule against small segments: Nagle's, Minshall's form of it, or the sender's own against silly windows.
    Nagle,
    /// Recovery from a loss, real or suspected: it sends nothing new though the windows have room.
    Recovery,
    /// The connection is not established.
    Handshake,
    /// The writer: has more, and takes time to hand it over though there is room.
    Writer,
}

/// Takes the segments and the notices of an endpoint, in order.
pub trait Emit {
    /// A segment leaves.
    fn send(&mut self, segment: Plain);

    /// A segment leaves that may have any options.
    fn send_with_options(&mut self, segment: &Segment);

    /// The application gets a notice.
    fn notify(&mut self, notice: Notice);

    /// Answers a segment with the reset that it asks for.
    #[cold]
    fn refuse(&mut self, segment: &Plain) {
        if let Some(reset) = reset_for(segment) {
            self.send(reset);
        }
    }
}

/// Keeps the segments and notices of one call, in order. Lent by the caller, who drains and reuses it.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// Segments to be sent, first to last.
    pub segments: Vec<Segment>,
    /// Notices to the application, first to last.
    pub notices: Vec<Notice>,
}

impl Emit for Output {
    #[inline]
    fn send(&mut self, segment: Plain) {
        self.segments.push(segment.segment());
    }

    fn send_with_options(&mut self, segment: &Segment) {
        self.segments.push(*segment);
    }

    #[inline]
    fn notify(&mut self, notice: Notice) {
        self.notices.push(notice);
    }
}

impl State {
    /// Control bits of a segment that is sent in this state (`tcp_outflags` in 4.4BSD-Lite `tcp_fsm.h`).
    pub(super) const fn flags(self) -> Flags {
        match self {
            Self::Closed => Flags::RST.union(Flags::ACK),
            Self::SynSent => Flags::SYN,
            Self::SynReceived => Flags::SYN.union(Flags::ACK),
            Self::Established | Self::CloseWait | Self::FinWait2 | Self::TimeWait => Flags::ACK,
            Self::FinWait1 | Self::Closing | Self::LastAck => Flags::FIN.union(Flags::ACK),
        }
    }

    /// Limit by the writer, once an endpoint has sent all accepted bytes and has room for more.
    pub(super) const fn limit_of_writer(self) -> Limit {
        match self {
            Self::SynSent | Self::SynReceived => Limit::Handshake,
            Self::Established | Self::CloseWait => Limit::Writer,
            _ => Limit::None,
        }
    }
}

/// Reset for a segment without a connection. A reset is not answered.
///
/// It takes the number that the segment acknowledges. Without one it acknowledges the whole segment (RFC 793, section 3.4).
#[must_use]
pub const fn reset_for(segment: &Plain) -> Option<Plain> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    Some(if segment.flags.contains(Flags::ACK) {
        Plain::new(segment.ack, 0, 0, 0, Flags::RST, None)
    } else {
        Plain::new(0, segment.end(), 0, 0, Flags::RST.union(Flags::ACK), None)
    })
}
