//! A connection: its variables, the commands of the application, and what can be asked of it.
//!
//! Variables keep the names of RFC 9293 and of Linux where these are better known than words. Windows of congestion control
//! are counted in segments, as Linux counts them. What comes in is in [`input`](super::input), what goes out in
//! [`output`](super::output), opening in [`handshake`](super::handshake), what happens with time in
//! [`timers`](super::timers).
//!
//! Models Linux's `tcp_sock` and the part of its socket that TCP sees. Leaves out urgent data, accurate ECN (RFC 9768), Fast Open, MTU probing,
//! segmentation offload, autocorking, memory pressure, cached route metrics, and reuse of a connection in TIME_WAIT.
//!
//! Source: Linux 6.18 `include/linux/tcp.h`, `tcp.c`, `tcp_input.c`, `tcp_output.c`, `tcp_timer.c`; RFC 9293.

use std::sync::Arc;

use super::clock::Clock;
use super::congestion::Congestion;
use super::handshake::{Negotiated, Request};
use super::output::Push;
use super::profile::CongestionControl;
use super::queue::Queue;
use super::receive::Receiver;
use super::recovery::Recovery;
use super::rtt::Rtt;
use super::send::SendBuffer;
use super::shared::SharedProfile;
use super::timers::{Timers, ZeroWindow};
use crate::tcp::segment::{FIRST_BYTE, ISS, Segment, WINDOW_MAX};
use crate::tcp::state::{CloseReason, Emit, Notice, State};
use crate::tcp::{HostClock, Random};
use crate::units::{Duration, Instant, When};

/// Configuration of an endpoint.
#[derive(Debug, Clone)]
pub struct Config {
    /// Constants.
    pub profile: Arc<SharedProfile>,
    /// MSS that is offered to the peer, and the largest that is used, in bytes. At least 32.
    pub mss: u16,
    /// Largest receive window in bytes, at least 32. `None`: it follows the rate.
    pub receive_window: Option<u64>,
    /// Random numbers of its own.
    pub random: Random,
}

/// An endpoint of a TCP connection: a state machine without clock, queue or I/O.
#[derive(Debug, Clone)]
pub struct Connection {
    pub(super) state: State,
    /// The application has closed, and no reader is left.
    pub(super) detached: bool,
    /// Small segments do not wait (`TCP_NODELAY`).
    pub(super) nodelay: bool,
    /// The SYN-ACK that waits for its ACK, where the peer has opened.
    pub(super) request: Option<Request>,

    /// First number not acknowledged.
    pub(super) snd_una: u64,
    /// Next number to send for the first time.
    pub(super) snd_nxt: u64,
    /// Window of the peer, in bytes.
    pub(super) snd_wnd: u64,
    /// Largest window that the peer ever offered, in bytes.
    pub(super) max_window: u64,
    /// Number of the segment that the window was last taken from.
    pub(super) snd_wl1: u64,
    /// Payload of a full segment without SACK blocks, in bytes (`mss_cache`).
    pub(super) mss: u64,
    /// End of the last segment sent that was not full (`snd_sml`).
    pub(super) small_end: u64,
    pub(super) send: SendBuffer,
    pub(super) queue: Queue,
    /// Jiffy of the last data sent.
    pub(super) last_sent: u64,

    pub(super) receive: Receiver,
    /// `rcv_nxt` as the last segment that left had it (`rcv_wup`).
    pub(super) last_ack_sent: u64,
    /// Jiffy of the last acceptable ACK.
    pub(super) heard_at: u64,
    /// The timestamp echoed by the segment being processed.
    pub(super) last_echo: Option<u32>,
    /// When a segment that is not acceptable was last answered.
    pub(super) challenged_at: When,

    pub(super) congestion: Congestion,
    pub(super) recovery: Recovery,
    pub(super) rtt: Rtt,
    pub(super) timers: Timers,
    pub(super) zero_window: ZeroWindow,
    /// Keepalive probes since anything was heard.
    pub(super) keepalive_probes: u32,
    pub(super) clock: Clock,

    pub(super) agreed: Negotiated,
    pub(super) profile: Arc<SharedProfile>,
    pub(super) retransmits: u64,
    pub(super) timeouts: u64,
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
        let random = config.random;
        let mut connection = Self::place(memory, Self::new(now, config, host, state));
        if connection.profile.congestion_control == CongestionControl::Bbr {
            connection.begin_by_rate(random.stream("BBR phase"));
        }
        match syn {
            Some(syn) => connection.answer_first_syn(syn, out),
            None => connection.send_first_syn(out),
        }
        connection
    }

    /// Puts a new connection into the memory of one that has ended, if there is any, with its queue's.
    fn place(memory: Option<Box<Self>>, mut new: Self) -> Box<Self> {
        match memory {
            Some(mut memory) => {
                new.queue = std::mem::take(&mut memory.queue).renewed();
                *memory = new;
                memory
            }
            None => Box::new(new),
        }
    }

    fn new(now: Instant, config: Config, host: HostClock, state: State) -> Self {
        let smallest = config.receive_window.unwrap_or(u64::MAX).min(u64::from(config.mss));
        assert!(smallest >= 32, "an MSS or a window of {smallest} B is too small for options and data");
        let agreed = Negotiated::new(&config, state == State::SynReceived);
        let Config { profile, mss, receive_window, random: _ } = config;
        let clock = Clock::new(now, host, &profile);
        Self {
            state,
            detached: false,
            nodelay: false,
            request: None,
            snd_una: ISS,
            snd_nxt: ISS,
            snd_wnd: 0,
            max_window: 0,
            snd_wl1: 0,
            mss: profile.mss_default.get().min(u64::from(mss)),
            small_end: ISS,
            send: SendBuffer::new(&profile),
            queue: Queue::default(),
            last_sent: clock.jiffies(),
            receive: Receiver::new(&profile, mss, receive_window),
            last_ack_sent: 0,
            heard_at: clock.jiffies(),
            last_echo: None,
            challenged_at: When::NEVER,
            congestion: Congestion::new(&clock, &profile),
            recovery: Recovery::new(&profile),
            rtt: Rtt::new(&profile),
            timers: Timers::default(),
            zero_window: ZeroWindow::default(),
            keepalive_probes: 0,
            clock,
            agreed,
            profile,
            retransmits: 0,
            timeouts: 0,
        }
    }

    /// Ends our stream: the FIN follows the bytes already written. The peer may go on.
    ///
    /// A connection that is not yet established vanishes, as with [`close`](Self::close).
    pub fn shutdown_write(&mut self, now: Instant, out: &mut impl Emit) {
        self.clock.advance(now);
        self.end_stream(out);
    }

    /// The application is done with the connection, in both directions.
    ///
    /// Bytes already written are still sent, then the FIN. Data that arrives from now on is answered with a reset, and
    /// unread data at once (RFC 2525, section 2.17). A connection that is not yet established vanishes without a segment.
    pub fn close(&mut self, now: Instant, out: &mut impl Emit) {
        self.clock.advance(now);
        self.detached = true;
        if self.receive.discard() && self.state != State::Closed {
            self.drop_connection(CloseReason::Aborted, out);
            return;
        }
        if self.state == State::FinWait2 {
            self.set_fin_wait_2_timer();
        }
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
            _ => return,
        };
        self.send.end_stream();
        self.push(Push::Now, out);
    }

    /// Gives the connection up: sends a reset, and nothing follows.
    pub fn abort(&mut self, now: Instant, out: &mut impl Emit) {
        self.clock.advance(now);
        if self.state != State::Closed {
            self.drop_connection(CloseReason::Aborted, out);
        }
    }

    /// Replaces the round trip of the handshake, and all that has come of it.
    pub fn take_round_trip(&mut self, round_trip: Duration) {
        let (now, profile) = (self.clock.now(), Arc::clone(&self.profile));
        self.rtt = Rtt::new(&profile);
        self.rtt.on_sample(round_trip, self.snd_una, self.snd_nxt, &profile);
        self.rtt.on_minimum_sample(now, round_trip, &profile);
        self.recovery = Recovery::new(&profile);
        self.congestion.renew(&self.clock, &profile);
        self.congestion.on_established(&self.clock, &profile, false);
        self.begin_pacing();
    }

    /// From now on a small segment waits for nothing, whatever the profile says of Nagle's rule (`TCP_NODELAY`).
    pub const fn set_nodelay(&mut self) {
        self.nodelay = true;
    }

    /// The host's own queue refused the segment that was sent last. It counts as sent.
    ///
    /// Linux would send it again from its own queue without delay. Here the path's queues belong to routers.
    pub const fn on_local_drop(&mut self) {}

    /// Gives the connection up for `reason`, with a reset where the peer knows of it.
    pub(super) fn drop_connection(&mut self, reason: CloseReason, out: &mut impl Emit) {
        if !matches!(self.state, State::SynSent | State::TimeWait) {
            self.send_reset(out);
        }
        self.finish(reason, out);
    }

    /// The connection is gone.
    pub(super) fn finish(&mut self, reason: CloseReason, out: &mut impl Emit) {
        self.state = State::Closed;
        self.timers = Timers::default();
        self.queue.clear();
        out.notify(Notice::Closed(reason));
    }

    /// Ticks of the kernel since the jiffy `since`.
    pub(super) const fn ticks_since(&self, since: u64) -> u64 {
        self.clock.jiffies() - since
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

    /// Next number to send for the first time.
    #[must_use]
    pub const fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// Highest number sent, plus one.
    #[must_use]
    pub const fn snd_max(&self) -> u64 {
        self.snd_nxt
    }

    /// Window of the peer, in bytes.
    #[must_use]
    pub const fn snd_wnd(&self) -> u64 {
        self.snd_wnd
    }

    /// Next number expected from the peer.
    #[must_use]
    pub const fn rcv_nxt(&self) -> u64 {
        self.receive.rcv_nxt()
    }

    /// Right edge of our window, as it was advertised.
    #[must_use]
    pub const fn rcv_adv(&self) -> u64 {
        self.receive.rcv_adv()
    }

    /// Shift of the window field in segments that this end sends, but for its SYN.
    #[must_use]
    pub const fn window_shift(&self) -> u8 {
        self.receive.shift()
    }

    /// Congestion window, in bytes: whole segments.
    #[must_use]
    pub const fn cwnd(&self) -> u64 {
        self.congestion.cwnd() as u64 * self.mss
    }

    /// Slow-start threshold, in bytes: whole segments, 65535 · 2^14 before the first loss.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        self.congestion.ssthresh().map_or(WINDOW_MAX, |segments| u64::from(segments) * self.mss)
    }

    /// Largest segment that is sent, options that all segments have included, in bytes.
    #[must_use]
    pub fn mss(&self) -> u64 {
        self.mss + self.agreed.option_bytes()
    }

    /// Sequence space sent and not acknowledged, in bytes.
    #[must_use]
    pub const fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
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
        self.send.end.saturating_sub(self.snd_una.max(FIRST_BYTE))
    }

    /// Bytes that can be read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        self.receive.readable()
    }

    /// Segments with data, SYN or FIN that were sent again. Probes of a closed window not counted.
    #[must_use]
    pub const fn retransmits(&self) -> u64 {
        self.retransmits
    }

    /// Times that the retransmission timer expired.
    #[must_use]
    pub const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Times that the window was reduced for marks, at most once a window.
    #[must_use]
    pub const fn ece_cuts(&self) -> u64 {
        self.recovery.ece_cuts
    }

    /// The retransmission timeout in force.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }

    /// Smoothed round-trip time. `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }

    /// Send and receive buffer in bytes of memory, overhead of segments included, as they are now.
    #[must_use]
    pub fn buffers(&self) -> (u64, u64) {
        (self.send.capacity, self.receive.buffer())
    }
}
