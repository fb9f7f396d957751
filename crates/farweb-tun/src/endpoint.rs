//! One connection of ours: the sans-IO endpoint, the content of its streams, its application, and its report.

use std::fmt;

use farweb::tcp::{CloseReason, Connection, Flags, Notice, Options, Output, Segment, State};
use farweb::units::Instant;
use serde::Serialize;

use crate::application::{Application, ApplicationReport};
use crate::codec::{Addresses, Numbering, WirePacket};
use crate::content::{Incoming, Outgoing};

/// A connection of ours.
#[derive(Debug)]
pub(crate) struct Endpoint {
    /// From us to the peer.
    addresses: Addresses,
    numbering: Numbering,
    socket: Socket,
    application: Application,
    sent: Traffic,
    received: Traffic,
    states: Vec<String>,
}

/// The side of a connection that its application sees.
#[derive(Debug)]
pub(crate) struct Socket {
    /// The instant of the call that the application is in.
    pub(crate) now: Instant,
    tcp: Connection,
    outgoing: Outgoing,
    incoming: Incoming,
    output: Output,
    read: u64,
    status: Status,
}

/// Notices that the application has had.
#[derive(Debug, Clone, Copy, Default)]
struct Status {
    connected: bool,
    /// A write was not taken whole, and nothing has said since that there is room.
    blocked: bool,
    ended: bool,
    closed: Option<CloseReason>,
}

/// Segments in one direction.
#[derive(Debug, Clone, Default, Serialize)]
struct Traffic {
    segments: u64,
    data_segments: u64,
    bytes: u64,
    with_timestamps: u64,
    with_sack: u64,
    /// Segments without SYN or RST that shut the window.
    zero_windows: u64,
    /// Options of the first SYN.
    syn: Option<String>,
}

/// Report on a connection at its end.
#[derive(Debug, Serialize)]
pub(crate) struct EndpointReport {
    peer: String,
    /// States, from the first to the last.
    states: Vec<String>,
    closed: Option<String>,
    connected: bool,
    written: u64,
    acknowledged: u64,
    read: u64,
    retransmits: u64,
    timeouts: u64,
    ece_cuts: u64,
    mss: u64,
    window_shift: u8,
    sent: Traffic,
    received: Traffic,
    application: ApplicationReport,
}

impl Endpoint {
    /// A connection that has just been opened or accepted, with what that call put out.
    pub(crate) fn new(
        addresses: Addresses,
        numbering: Numbering,
        tcp: Connection,
        output: Output,
        application: Application,
    ) -> Self {
        let socket = Socket {
            now: Instant::ZERO,
            tcp,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            output,
            read: 0,
            status: Status::default(),
        };
        Self {
            addresses,
            numbering,
            socket,
            application,
            sent: Traffic::default(),
            received: Traffic::default(),
            states: Vec::new(),
        }
    }

    /// Takes note of the SYN that opened it, when the peer did.
    pub(crate) fn note_first_syn(&mut self, syn: &Segment) {
        self.received.count(syn);
    }

    /// A packet of this connection arrived.
    pub(crate) fn on_packet(&mut self, now: Instant, packet: &WirePacket<'_>) {
        let tcp = &self.socket.tcp;
        if tcp.state() == State::SynSent && packet.flags.contains(Flags::SYN) {
            self.numbering.theirs = packet.sequence_number();
        }
        let Some(segment) = packet.segment(self.numbering, tcp.rcv_nxt(), tcp.snd_una()) else { return };
        self.received.count(&segment);
        // What follows a SYN has the next number.
        let first = segment.seq + u64::from(segment.flags.contains(Flags::SYN));
        if let Some(offset) = first.checked_sub(1) {
            let limit = tcp.rcv_adv().max(tcp.rcv_nxt());
            self.socket.incoming.keep(offset, packet.payload(), limit);
        }
        self.socket.tcp.on_segment(now, &segment, &mut self.socket.output);
        self.settle(now);
    }

    /// Time has come to what [`next_timeout`](Self::next_timeout) said.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if self.socket.tcp.next_timeout().is_some_and(|due| due <= now) {
            self.socket.tcp.on_timeout(now, &mut self.socket.output);
        }
        self.settle(now);
    }

    /// When the endpoint or its application next has something to do.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        [self.socket.tcp.next_timeout(), self.application.next_timeout()].into_iter().flatten().min()
    }

    /// Passes notices to the application, as long as that makes something happen.
    pub(crate) fn settle(&mut self, now: Instant) {
        self.socket.now = now;
        loop {
            self.socket.take_notices();
            self.application.advance(&mut self.socket);
            if self.socket.output.notices.is_empty() {
                break;
            }
        }
        let state = format!("{:?}", self.socket.tcp.state());
        if self.states.last() != Some(&state) {
            self.states.push(state);
        }
    }

    /// Segments to be sent, with their payload and numbering.
    pub(crate) fn take_segments(&mut self) -> Vec<(Segment, Vec<u8>, Numbering)> {
        let Socket { tcp, outgoing, output, .. } = &mut self.socket;
        let mut taken = Vec::with_capacity(output.segments.len());
        for segment in output.segments.drain(..) {
            self.sent.count(&segment);
            let payload = if segment.len > 0 {
                outgoing.slice(segment.seq - 1, segment.len as usize)
            } else {
                Vec::new()
            };
            taken.push((segment, payload, self.numbering));
        }
        outgoing.forget(tcp.bytes_acknowledged());
        taken
    }

    /// True when nothing more will happen unless a packet comes: done, and closed but for the wait for late packets.
    pub(crate) fn is_over(&self) -> bool {
        self.application.is_done() && matches!(self.socket.tcp.state(), State::Closed | State::TimeWait)
    }

    pub(crate) fn report(self) -> EndpointReport {
        let tcp = &self.socket.tcp;
        EndpointReport {
            peer: self.addresses.to.to_string(),
            states: self.states,
            closed: self.socket.status.closed.map(|reason| format!("{reason:?}")),
            connected: self.socket.status.connected,
            written: tcp.bytes_written(),
            acknowledged: tcp.bytes_acknowledged(),
            read: self.socket.read,
            retransmits: tcp.retransmits(),
            timeouts: tcp.timeouts(),
            ece_cuts: tcp.ece_cuts(),
            mss: tcp.mss(),
            window_shift: tcp.window_shift(),
            sent: self.sent,
            received: self.received,
            application: self.application.report(),
        }
    }
}

impl Socket {
    fn take_notices(&mut self) {
        for notice in self.output.notices.drain(..) {
            match notice {
                Notice::Connected => self.status.connected = true,
                Notice::Writable => self.status.blocked = false,
                Notice::EndOfStream => self.status.ended = true,
                Notice::Closed(reason) => self.status.closed = Some(reason),
                Notice::Readable => {}
            }
        }
    }

    /// Writes as much of `bytes` as there is room for, and says how much that is.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        if self.status.blocked || bytes.is_empty() {
            return 0;
        }
        // The call sends segments at once, so the content has to be there before.
        let known = self.tcp.bytes_written();
        let written = self.tcp.write(self.now, bytes.len() as u64, &mut self.output);
        debug_assert_eq!(self.tcp.bytes_written(), known + written);
        self.outgoing.append(&bytes[..written as usize]);
        self.status.blocked = written < bytes.len() as u64;
        written as usize
    }

    /// Reads up to `limit` bytes.
    pub(crate) fn read(&mut self, limit: u64) -> Vec<u8> {
        let read = self.tcp.read(self.now, limit, &mut self.output);
        self.read += read;
        self.incoming.take(read as usize)
    }

    pub(crate) fn shutdown(&mut self) {
        self.tcp.shutdown_write(self.now, &mut self.output);
    }

    pub(crate) fn close(&mut self) {
        self.tcp.close(self.now, &mut self.output);
    }

    pub(crate) fn abort(&mut self) {
        self.tcp.abort(self.now, &mut self.output);
    }

    /// True when the connection was established, now or before.
    pub(crate) const fn is_connected(&self) -> bool {
        self.status.connected
    }

    /// True when the peer has finished and all of its stream was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.status.ended && self.tcp.readable() == 0
    }

    /// Why the connection is gone, once it is.
    pub(crate) const fn closed(&self) -> Option<CloseReason> {
        self.status.closed
    }
}

impl Traffic {
    fn count(&mut self, segment: &Segment) {
        self.segments += 1;
        self.data_segments += u64::from(segment.len > 0);
        self.bytes += u64::from(segment.len);
        self.with_timestamps += u64::from(segment.options.timestamps.is_some());
        self.with_sack += u64::from(!segment.options.sack.is_empty());
        let shuts = segment.window == 0 && !segment.flags.intersects(Flags::SYN.union(Flags::RST));
        self.zero_windows += u64::from(shuts);
        if segment.flags.contains(Flags::SYN) {
            self.syn.get_or_insert_with(|| OptionList(&segment.options).to_string());
        }
    }
}

/// Options as tcpdump writes them: `mss 1460, sackOK, wscale 7, timestamps`.
struct OptionList<'a>(&'a Options);

impl fmt::Display for OptionList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { mss, window_scale, timestamps, sack_permitted, .. } = self.0;
        let words = [
            mss.map(|mss| format!("mss {mss}")),
            sack_permitted.then(|| "sackOK".to_owned()),
            window_scale.map(|shift| format!("wscale {shift}")),
            timestamps.map(|_| "timestamps".to_owned()),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}
