//! An endpoint of the stack that its profile names.

use super::bsd;
use super::host::HostClock;
use super::linux;
use super::profile::Profile;
use super::segment::{FIRST_BYTE, Plain, Segment};
use super::state::{Emit, Limit, Output, State};
use crate::rng::{RandomStream, RandomStreams};
use crate::units::{Duration, Instant, When};

/// Configuration of an endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Constants, and with them the stack.
    pub profile: Profile,
    /// MSS that is offered to the peer, and the largest that is used, in bytes. At least 32.
    pub mss: u16,
    /// Send buffer in bytes, at least 32. `None`: as the profile has it.
    pub send_buffer: Option<u64>,
    /// Receive buffer in bytes, at least 32, and with it the window. `None`: as the profile has it.
    pub receive_buffer: Option<u64>,
    /// Random numbers of its own.
    pub random: Random,
}

/// Random numbers of an endpoint, from streams of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random {
    /// The streams.
    pub streams: RandomStreams,
    /// Index of its own in them.
    pub index: u64,
}

/// An endpoint of a TCP connection: a state machine without clock, queue or I/O.
///
/// Boxed: stacks differ in size by a factor of three, and an endpoint must not move.
#[derive(Debug, Clone)]
pub enum Connection {
    /// Of 4.4BSD.
    Bsd(Box<bsd::Connection>),
    /// Of Linux.
    Linux(Box<linux::Connection>),
}

impl Random {
    /// Its stream for one purpose.
    #[must_use]
    pub fn stream(&self, name: &str) -> RandomStream {
        self.streams.stream(name, self.index)
    }
}

impl Default for Random {
    fn default() -> Self {
        Self { streams: RandomStreams::new(0), index: 0 }
    }
}

/// Why ns-2's TCP has no endpoint to open.
const NO_CONNECTIONS: &str = "ns-2 has no connections: make a `Sender` and a `Sink`";

/// Calls the method of the stack.
macro_rules! on_stack {
    ($connection:expr, $tcp:ident => $call:expr) => {
        match $connection {
            Connection::Bsd($tcp) => $call,
            Connection::Linux($tcp) => $call,
        }
    };
}

impl Connection {
    /// Opens a connection: sends the SYN.
    ///
    /// # Panics
    /// When a size in `config` is below 32 B, or the profile is one of ns-2, which has no connections.
    pub fn connect(now: Instant, config: &Config, host: HostClock, out: &mut impl Emit) -> Self {
        Self::open(None, now, config.clone(), host, None, out)
    }

    /// Answers a SYN that reached a listener: sends the SYN-ACK.
    ///
    /// # Panics
    /// When `syn` is not a plain SYN, a size in `config` is below 32 B, or the profile is one of ns-2.
    pub fn accept(
        now: Instant,
        config: &Config,
        host: HostClock,
        syn: &Segment,
        out: &mut impl Emit,
    ) -> Self {
        Self::open(None, now, config.clone(), host, Some(syn), out)
    }

    /// Connects, or accepts a `syn`, in the memory of a connection of the same stack that has `ended`.
    ///
    /// # Panics
    /// As [`connect`](Self::connect) and [`accept`](Self::accept) do.
    pub fn open(
        ended: Option<Self>,
        now: Instant,
        config: Config,
        host: HostClock,
        syn: Option<&Segment>,
        out: &mut impl Emit,
    ) -> Self {
        let Config { profile, mss, send_buffer, receive_buffer, random } = config;
        match profile {
            Profile::Bsd(profile) => {
                let memory = if let Some(Self::Bsd(tcp)) = ended { Some(tcp) } else { None };
                let size = |buffer: Option<u64>| buffer.unwrap_or(profile.buffer_default.get());
                let (send_buffer, receive_buffer) = (size(send_buffer), size(receive_buffer));
                let config = bsd::Config { profile, mss, send_buffer, receive_buffer };
                Self::Bsd(bsd::Connection::open(memory, now, config, host, syn, out))
            }
            Profile::Linux(profile) => {
                let memory = if let Some(Self::Linux(tcp)) = ended { Some(tcp) } else { None };
                // The send buffer of Linux grows by itself.
                let config = linux::Config { profile, mss, receive_window: receive_buffer, random };
                Self::Linux(linux::Connection::open(memory, now, config, host, syn, out))
            }
            Profile::Ns2(_) => panic!("{}", NO_CONNECTIONS),
        }
    }

    /// Both ends of a connection that has stood for long: they have shaken hands, and know a round trip of the path and the
    /// window of the other end, which a SYN has without its scale.
    ///
    /// # Panics
    /// As [`connect`](Self::connect) does.
    #[must_use]
    pub fn standing(now: Instant, hosts: [(Config, HostClock); 2], round_trip: Duration) -> [Self; 2] {
        let [(near, near_host), (far, far_host)] = hosts;
        let mut out = Output::default();
        let mut near = Self::connect(now, &near, near_host, &mut out);
        let syn = out.segments.pop().expect("an active open sends a SYN");
        let mut far = Self::accept(now, &far, far_host, &syn, &mut out);
        let syn_ack = out.segments.pop().expect("a SYN is answered");
        near.on_segment(now, &syn_ack, &mut out);
        let ack = out.segments.pop().expect("a SYN-ACK is answered");
        far.on_segment(now, &ack, &mut out);
        on_stack!(&mut far, tcp => tcp.send_ack(&mut out));
        near.on_segment(now, &out.segments.pop().expect("an ACK is sent"), &mut out);
        for end in [&mut near, &mut far] {
            on_stack!(end, tcp => tcp.take_round_trip(round_trip));
        }
        [near, far]
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.on_segment(now, segment, out));
    }

    /// A segment without rare options arrived.
    #[inline]
    pub fn on_plain(&mut self, now: Instant, segment: &Plain, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.on_plain(now, segment, out));
    }

    /// Runs the timers that are due. May be called early or for nothing.
    pub fn on_timeout(&mut self, now: Instant, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.on_timeout(now, out));
    }

    /// From now on a small segment waits for nothing, whatever the profile says of Nagle's rule (`TCP_NODELAY`).
    pub fn set_nodelay(&mut self) {
        on_stack!(self, tcp => tcp.set_nodelay());
    }

    /// The host's own queue refused the segment that was sent last. It counts as sent.
    pub fn on_local_drop(&mut self) {
        on_stack!(self, tcp => tcp.on_local_drop());
    }

    /// Writes up to `bytes` to the stream and gives the number accepted, which may be zero.
    ///
    /// Before [`Notice::Connected`](super::Notice::Connected) and after the end of our stream nothing is accepted. When the
    /// buffer takes less than all, [`Notice::Writable`](super::Notice::Writable) says when to try again with the rest.
    pub fn write(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        on_stack!(self, tcp => tcp.write(now, bytes, out))
    }

    /// Reads up to `bytes` and gives the number read. May send a window update, and with it the ACK of the bytes read.
    #[inline(always)]
    pub fn read(&mut self, now: Instant, bytes: u64, out: &mut impl Emit) -> u64 {
        on_stack!(self, tcp => tcp.read(now, bytes, out))
    }

    /// Ends our stream: the FIN follows the bytes already written. The peer may go on.
    ///
    /// A connection that is not yet established vanishes, as with [`close`](Self::close).
    pub fn shutdown_write(&mut self, now: Instant, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.shutdown_write(now, out));
    }

    /// The application is done with the connection, in both directions.
    ///
    /// Bytes already written are still sent, then the FIN. Unread bytes are forgotten, and data that arrives from now on is
    /// answered with a reset. A connection that is not yet established vanishes without a segment.
    pub fn close(&mut self, now: Instant, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.close(now, out));
    }

    /// Gives the connection up: sends a reset, and nothing follows.
    pub fn abort(&mut self, now: Instant, out: &mut impl Emit) {
        on_stack!(self, tcp => tcp.abort(now, out));
    }

    /// State of the connection.
    #[must_use]
    pub fn state(&self) -> State {
        on_stack!(self, tcp => tcp.state())
    }

    /// First number not acknowledged.
    #[must_use]
    pub fn snd_una(&self) -> u64 {
        on_stack!(self, tcp => tcp.snd_una())
    }

    /// Next number to send. Below [`snd_max`](Self::snd_max) while something is sent again.
    #[must_use]
    pub fn snd_nxt(&self) -> u64 {
        on_stack!(self, tcp => tcp.snd_nxt())
    }

    /// Highest number sent, plus one.
    #[must_use]
    pub fn snd_max(&self) -> u64 {
        on_stack!(self, tcp => tcp.snd_max())
    }

    /// Window of the peer, in bytes.
    #[must_use]
    pub fn snd_wnd(&self) -> u64 {
        on_stack!(self, tcp => tcp.snd_wnd())
    }

    /// Next number expected from the peer.
    #[must_use]
    pub fn rcv_nxt(&self) -> u64 {
        on_stack!(self, tcp => tcp.rcv_nxt())
    }

    /// Right edge of our window, as it was advertised.
    #[must_use]
    pub fn rcv_adv(&self) -> u64 {
        on_stack!(self, tcp => tcp.rcv_adv())
    }

    /// Shift of the window field in segments that this end sends, but for its SYN.
    #[must_use]
    pub fn window_shift(&self) -> u8 {
        on_stack!(self, tcp => tcp.window_shift())
    }

    /// Congestion window, in bytes.
    #[must_use]
    pub fn cwnd(&self) -> u64 {
        on_stack!(self, tcp => tcp.cwnd())
    }

    /// Slow-start threshold, in bytes: 65535 · 2^14 before the first loss.
    #[must_use]
    pub fn ssthresh(&self) -> u64 {
        on_stack!(self, tcp => tcp.ssthresh())
    }

    /// Largest segment that is sent, options included, in bytes.
    #[must_use]
    pub fn mss(&self) -> u64 {
        on_stack!(self, tcp => tcp.mss())
    }

    /// Sequence space sent and not acknowledged, in bytes.
    #[must_use]
    pub fn flight_size(&self) -> u64 {
        on_stack!(self, tcp => tcp.flight_size())
    }

    /// Bytes of our stream that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acknowledged(&self) -> u64 {
        on_stack!(self, tcp => tcp.bytes_acknowledged())
    }

    /// Bytes of our stream that have been sent at least once.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.snd_max().saturating_sub(FIRST_BYTE).min(self.bytes_written())
    }

    /// Bytes that the application has written, as far as they were accepted.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        on_stack!(self, tcp => tcp.bytes_written())
    }

    /// Bytes written that the peer has not acknowledged, sent or not.
    #[must_use]
    pub fn bytes_unsent_or_unacknowledged(&self) -> u64 {
        on_stack!(self, tcp => tcp.bytes_unsent_or_unacknowledged())
    }

    /// Limit on further sending of the stream. `more` says that the application has more to write than the
    /// send buffer took.
    #[must_use]
    pub fn limit(&self, more: bool) -> Limit {
        on_stack!(self, tcp => tcp.limit(more))
    }

    /// Bytes that can be read.
    #[must_use]
    pub fn readable(&self) -> u64 {
        on_stack!(self, tcp => tcp.readable())
    }

    /// Segments with data, SYN or FIN that were sent again. Probes of a closed window not counted.
    #[must_use]
    pub fn retransmits(&self) -> u64 {
        on_stack!(self, tcp => tcp.retransmits())
    }

    /// Times that the retransmission timer expired.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        on_stack!(self, tcp => tcp.timeouts())
    }

    /// Times that the window was reduced for marks of routers, at most once a window.
    #[must_use]
    pub fn ece_cuts(&self) -> u64 {
        match self {
            Self::Linux(tcp) => tcp.ece_cuts(),
            Self::Bsd(_) => 0,
        }
    }

    /// The retransmission timeout in force.
    #[must_use]
    pub fn rto(&self) -> Duration {
        on_stack!(self, tcp => tcp.rto())
    }

    /// Smoothed round-trip time. `None` before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        on_stack!(self, tcp => tcp.srtt())
    }

    /// The model of BBR at the last event. `None` where another control runs.
    #[must_use]
    pub fn bbr(&self) -> Option<linux::BbrReport> {
        match self {
            Self::Linux(tcp) => tcp.bbr(),
            Self::Bsd(_) => None,
        }
    }

    /// Pace in bit/s of payload. `None` where segments leave as windows let them.
    #[must_use]
    pub fn pace_bps(&self) -> Option<u64> {
        match self {
            Self::Linux(tcp) => tcp.pace_bps(),
            Self::Bsd(_) => None,
        }
    }

    /// Send and receive buffer in bytes, as they are now.
    #[must_use]
    pub fn buffers(&self) -> (u64, u64) {
        on_stack!(self, tcp => tcp.buffers())
    }

    /// No timer is due before this: a bound below [`next_timeout`](Self::next_timeout) that costs little.
    #[inline]
    #[must_use]
    pub fn no_timeout_before(&self) -> When {
        on_stack!(self, tcp => tcp.no_timeout_before())
    }

    /// When [`on_timeout`](Self::on_timeout) has something to do. `None` when nothing is pending.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        on_stack!(self, tcp => tcp.next_timeout())
    }
}
