//! A connection: its variables, the commands of the application, and what can be asked of it.
//!
//! Variables keep the names of RFC 793 and of 4.4BSD. Sequence numbers start at [`ISS`] for the SYN and never wrap.
//! What comes in is in [`input`](super::input), what goes out in [`output`](super::output), what happens with time in
//! [`timers`](super::timers).
//!
//! Models the connection of 4.4BSD-Lite's `tcpcb` and the part of its socket that TCP sees. Leaves out urgent data,
//! cached route metrics, reuse of a connection in TIME_WAIT by a new SYN (every connection here has numbers of its own), and
//! errors of the network layer.
//!
//! Source: 4.4BSD-Lite `tcp_var.h` 8.3, `tcp_usrreq.c` 8.2, `tcp_subr.c` 8.1.

use std::sync::Arc;

use super::congestion::Congestion;
use super::negotiation::Negotiated;
use super::receive::ReceiveBuffer;
use super::recovery::Recovery;
use super::rtt::Rtt;
use super::send::SendBuffer;
use super::shared::SharedProfile;
use super::timers::{Clock, Timer, Timers};
use crate::tcp::host::HostClock;
use crate::tcp::segment::{FIRST_BYTE, Flags, ISS, Plain, Segment};
use crate::tcp::state::{CloseReason, Emit, Notice, State};
use crate::units::{Duration, Instant};

/// Configuration of an endpoint.
#[derive(Debug, Clone)]
pub struct Config {
    /// Constants.
    pub profile: Arc<SharedProfile>,
    /// MSS that is offered to the peer, and the largest that is used, in bytes. At least 32.
    pub mss: u16,
    /// Send buffer in bytes, at least 32. Rounded up to whole segments as [`Profile::buffer_rounding_max`](super::Profile::buffer_rounding_max) allows.
    pub send_buffer: u64,
    /// Receive buffer in bytes, at least 32. Rounded likewise.
    pub receive_buffer: u64,
}

/// An endpoint of a TCP connection: a state machine without clock, queue or I/O.
#[derive(Debug, Clone)]
pub struct Connection {
    pub(super) state: State,
    /// An ACK must be sent (`TF_ACKNOW`).
    pub(super) ack_now: bool,
    /// A FIN was sent (`TF_SENTFIN`).
    pub(super) sent_fin: bool,
    /// The application has closed, and no reader is left (`SS_NOFDREF`).
    pub(super) detached: bool,
    /// Small segments do not wait (`TCP_NODELAY`).
    pub(super) nodelay: bool,

    /// First number not acknowledged.
    pub(super) snd_una: u64,
    /// Next number to send. Goes back to `snd_una` to send again.
    pub(super) snd_nxt: u64,
    /// Highest number sent, plus one.
    pub(super) snd_max: u64,
    /// Window of the peer, in bytes.
    pub(super) snd_wnd: u64,
    /// Largest window that the peer ever offered.
    pub(super) max_sndwnd: u64,
    /// Number and ACK of the segment that the window was last taken from.
    pub(super) snd_wl1: u64,
    pub(super) snd_wl2: u64,
    /// Largest segment to send, options included, in bytes (`t_maxseg`).
    pub(super) mss: u64,
    pub(super) send: SendBuffer,

    /// Next number expected.
    pub(super) rcv_nxt: u64,
    /// Right edge of the window, as advertised.
    pub(super) rcv_adv: u64,
    /// Receive window, in bytes.
    pub(super) rcv_wnd: u64,
    /// ACK of the segment that was sent last.
    pub(super) last_ack_sent: u64,
    /// Segments in order that came since.
    pub(super) unacked_segments: u32,
    pub(super) receive: ReceiveBuffer,

    pub(super) congestion: Congestion,
    pub(super) recovery: Recovery,
    pub(super) rtt: Rtt,
    pub(super) timers: Timers,
    pub(super) clock: Clock,
    /// Slow tick of the last segment received. Idle time counts from here.
    pub(super) received_tick: u32,
    /// Slow tick of the last data sent. The tick of the opening before any data.
    pub(super) sent_tick: u32,

    pub(super) negotiated: Negotiated,
    pub(super) profile: Arc<SharedProfile>,
    pub(super) retransmits: u32,
    pub(super) timeouts: u32,
}

impl Connection {
    /// Opens a connection, or answers the `syn` that reached a listener, in `memory` of one that has ended if that is given: sends
    /// the SYN or the SYN-ACK.
    ///
    /// # Panics
    /// When `syn` is not a plain SYN, or a size in `config` is below 32 B.
    pub fn open(
        memory: Option<Box<Self>>,
        now: Instant,
        config: Config,
        host: HostClock,
        syn: Option<&Segment>,
        out: &mut impl Emit,
    ) -> Box<Self> {
        let state = if syn.is_some() { State::SynReceived } else { State::SynSent };
        let mut connection = Self::place(memory, Self::new(now, config, host, state));
        match syn {
            Some(syn) => connection.on_first_syn(syn, out),
            None => connection.output(out),
        }
        connection
    }

    /// Puts a new connection into the memory of one that has ended, if there is any.
    fn place(memory: Option<Box<Self>>, new: Self) -> Box<Self> {
        match memory {
            Some(mut memory) => {
                *memory = new;
                memory
            }
            None => Box::new(new),
        }
    }

    fn new(now: Instant, config: Config, host: HostClock, state: State) -> Self {
        let smallest = config.send_buffer.min(config.receive_buffer).min(u64::from(config.mss));
        assert!(smallest >= 32, "an MSS or a buffer of {smallest} B is too small for options and data");
        let negotiated = Negotiated::new(&config);
        let Config { profile, send_buffer, receive_buffer, .. } = config;
        let clock = Clock::new(now, host, &profile);
        let mut timers = Timers::new();
        timers.set(Timer::Keep, profile.ticks.connect_timeout, &clock, &profile);
        Self {
            state,
            ack_now: false,
            sent_fin: false,
            detached: false,
            nodelay: false,
            snd_una: ISS,
            snd_nxt: ISS,
            snd_max: ISS,
            snd_wnd: 0,
            max_sndwnd: 0,
            snd_wl1: 0,
            snd_wl2: 0,
            mss: profile.mss_default.get(),
            send: SendBuffer::new(send_buffer),
            rcv_nxt: 0,
            rcv_adv: 0,
            rcv_wnd: 0,
            last_ack_sent: 0,
            unacked_segments: 0,
            receive: ReceiveBuffer::new(receive_buffer),
            congestion: Congestion::new(),
            recovery: Recovery::new(),
            rtt: Rtt::new(&profile),
            timers,
            received_tick: clock.tick,
            sent_tick: clock.tick,
            clock,
            negotiated,
            profile,
            retransmits: 0,
            timeouts: 0,
        }
    }

    /// Moves the clock to `now` and runs due timers: a tick at `now` comes before all else at `now`.
    pub(super) fn catch_up(&mut self, now: Instant, out: &mut impl Emit) {
        if self.timers.are_due(now) {
            self.on_timeout(now, out);
        } else {
            self.clock.advance(now, &self.profile);
        }
    }

    /// Ends our stream: the FIN follows the bytes already written. The peer may go on.
    ///
    /// A connection that is not yet established vanishes, as with [`close`](Self::close).
    pub fn shutdown_write(&mut self, now: Instant, out: &mut impl Emit) {
        self.catch_up(now, out);
        self.end_stream(out);
    }

    /// The application is done with the connection, in both directions.
    ///
    /// Bytes already written are still sent, then the FIN. Unread bytes are forgotten, and data that arrives from now on
    /// is answered with a reset. A connection that is not yet established vanishes without a segment.
    pub fn close(&mut self, now: Instant, out: &mut impl Emit) {
        self.catch_up(now, out);
        self.detached = true;
        self.receive.buffered = 0;
        self.end_stream(out);
    }

    fn end_stream(&mut self, out: &mut impl Emit) {
        self.state = match self.state {
            State::SynSent | State::SynReceived => {
                self.finish(CloseReason::Aborted, out);
                return;
            }
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::Closed => return,
            ended => ended,
        };
        self.send.forget_writer();
        self.output(out);
    }

    /// Gives the connection up: sends a reset, and nothing follows.
    pub fn abort(&mut self, now: Instant, out: &mut impl Emit) {
        self.catch_up(now, out);
        if self.state != State::Closed {
            self.drop_connection(CloseReason::Aborted, out);
        }
    }

    /// Replaces the round trip of the handshake.
    pub fn take_round_trip(&mut self, round_trip: Duration) {
        let ticks = (round_trip.as_nanos() / self.profile.slow_tick.as_nanos()) as u32;
        self.rtt = Rtt::new(&self.profile);
        self.rtt.on_ack(
            self.snd_una,
            self.clock.tick,
            Some(self.clock.tick.wrapping_sub(ticks)),
            &self.profile,
        );
    }

    /// From now on a small segment waits for nothing, whatever the profile says of Nagle's rule (`TCP_NODELAY`).
    pub const fn set_nodelay(&mut self) {
        self.nodelay = true;
    }

    /// The host's own queue refused the segment that was sent last: with `source_quench` cwnd becomes one segment.
    ///
    /// The segment counts as sent. The retransmission timer recovers it (`tcp_quench`).
    pub fn on_local_drop(&mut self) {
        if self.profile.source_quench {
            self.congestion.on_source_quench(self.mss);
        }
    }

    /// Gives the connection up for `reason`, with a reset where the peer knows of it.
    pub(super) fn drop_connection(&mut self, reason: CloseReason, out: &mut impl Emit) {
        if self.state >= State::SynReceived {
            out.send(Plain::new(self.snd_max, self.rcv_nxt, 0, 0, State::Closed.flags(), None));
        }
        self.finish(reason, out);
    }

    /// The connection is gone.
    pub(super) fn finish(&mut self, reason: CloseReason, out: &mut impl Emit) {
        self.state = State::Closed;
        self.timers.cancel_all();
        out.notify(Notice::Closed(reason));
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        if segment.flags.contains(Flags::SYN) {
            self.catch_up(now, out);
            if self.state != State::Closed {
                self.read_options(segment);
            }
        }
        self.on_plain(now, &segment.plain(), out);
    }

    /// A segment without rare options arrived.
    pub fn on_plain(&mut self, now: Instant, segment: &Plain, out: &mut impl Emit) {
        self.catch_up(now, out);
        if self.state == State::Closed {
            out.refuse(segment);
            return;
        }
        self.received_tick = self.clock.tick;
        self.restart_keep();
        if !self.on_predicted(segment, out) {
            self.on_unpredicted(segment, out);
        }
    }

    /// State of the connection.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// First number not acknowledged.
    #[must_use]
    pub const fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Next number to send. Below [`snd_max`](Self::snd_max) while something is sent again.
    #[must_use]
    pub const fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Highest number sent, plus one.
    #[must_use]
    pub const fn snd_max(&self) -> u64 {
        self.snd_max
    }

    /// Window of the peer, in bytes.
    #[must_use]
    pub const fn snd_wnd(&self) -> u64 {
        self.snd_wnd
    }

    /// Next number expected from the peer.
    #[must_use]
    pub const fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Shift of the window field in segments that this end sends, but for its SYN.
    #[must_use]
    pub const fn window_shift(&self) -> u8 {
        self.negotiated.rcv_scale
    }

    /// Right edge of our window, as it was advertised.
    #[must_use]
    pub const fn rcv_adv(&self) -> u64 {
        self.rcv_adv
    }

    /// Congestion window, in bytes.
    #[must_use]
    pub const fn cwnd(&self) -> u64 {
        self.congestion.cwnd()
    }

    /// Slow-start threshold, in bytes: 65535 · 2^14 before the first loss.
    #[must_use]
    pub const fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh()
    }

    /// Largest segment that is sent, options included, in bytes.
    #[must_use]
    pub const fn mss(&self) -> u64 {
        self.mss
    }

    /// Sequence space sent and not acknowledged, in bytes.
    #[must_use]
    pub const fn flight_size(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    /// Bytes of our stream that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acknowledged(&self) -> u64 {
        self.snd_una.max(FIRST_BYTE).min(self.send.end) - FIRST_BYTE
    }

    /// Bytes that the application has written, as far as they were accepted.
    #[must_use]
    pub const fn bytes_written(&self) -> u64 {
        self.send.end - FIRST_BYTE
    }

    /// Bytes written that the peer has not acknowledged, sent or not.
    #[must_use]
    pub fn bytes_unsent_or_unacknowledged(&self) -> u64 {
        self.send.queued(self.snd_una)
    }

    /// Segments with data, SYN or FIN that were sent again. Probes of a closed window not counted.
    #[must_use]
    pub const fn retransmits(&self) -> u64 {
        self.retransmits as u64
    }

    /// Times that the retransmission timer expired.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.timeouts as u64
    }

    /// The retransmission timeout in force.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.profile.slow_tick * u64::from(self.rtt.rto())
    }

    /// Smoothed round-trip time. `None` before the first sample. One tick too long on average, as 4.4BSD has it.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt_x8().map(|ticks| self.profile.slow_tick.mul_div(u64::from(ticks), 8))
    }

    /// Send and receive buffer in bytes, as the MSS has rounded them.
    #[must_use]
    pub const fn buffers(&self) -> (u64, u64) {
        (self.send.capacity, self.receive.capacity)
    }
}
