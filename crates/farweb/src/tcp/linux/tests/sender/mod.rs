//! Tests of the sender against a peer 100 ms away (round trip). The test makes the peer's segments.

mod closing;
mod loss;
mod opening;
mod pacing;
mod windows;

use crate::tcp::linux::{Config, Connection, Profile, SharedProfile};
use crate::tcp::segment::{Codepoint, Flags, Options, SackBlocks, Segment, Timestamps};
use crate::tcp::state::{Notice, Output, State};
use crate::tcp::{HostClock, Random};
use crate::units::{Bytes, Duration, Instant};
use std::num::NonZeroU16;
use std::sync::Arc;

/// Payload of a full segment of these connections, in bytes.
const MSS: u64 = 1000;

/// An endpoint that has connected, and its segments since the last look.
struct Sender {
    connection: Box<Connection>,
    now: Instant,
    out: Output,
    /// Number of the next byte that the peer sends.
    peer_seq: u64,
    window: u16,
}

fn host() -> HostClock {
    HostClock { uptime: Duration::from_secs(1000), ..HostClock::default() }
}

impl Sender {
    /// A client of `profile` with a send buffer that is never full. Its SYN was answered after 100 ms, with the options
    /// that it asked for.
    fn new(profile: Profile) -> Self {
        let buffer = Bytes::new(1 << 24);
        Self::with_own_buffer(Profile { send_buffer_initial: buffer, send_buffer_max: buffer, ..profile })
    }

    fn with_own_buffer(profile: Profile) -> Self {
        let config = Config {
            mss: MSS as u16 + if profile.timestamps { 12 } else { 0 },
            profile: Arc::new(SharedProfile::new(profile)),
            receive_window: None,
            random: Random::default(),
        };
        let mut out = Output::default();
        let connection = Connection::open(None, Instant::ZERO, config, host(), None, &mut out);
        let syn = out.segments.pop().expect("a SYN leaves");
        let mut sender = Self { connection, now: Instant::ZERO, out, peer_seq: 0, window: u16::MAX };
        sender.now = Instant::ZERO + Duration::from_millis(100);
        let options = Options {
            mss: syn.options.mss,
            timestamps: syn.options.timestamps.map(|stamps| Timestamps { value: 1, echo: stamps.value }),
            sack_permitted: syn.options.sack_permitted,
            window_scale: syn.options.window_scale,
            ..Options::NONE
        };
        let flags = Flags::SYN | Flags::ACK;
        let answer =
            Segment { seq: 0, ack: 1, len: 0, window: u16::MAX, flags, ecn: Codepoint::NotEct, options };
        sender.connection.on_segment(sender.now, &answer, &mut sender.out);
        sender.peer_seq = 1;
        assert_eq!(sender.connection.state(), State::Established);
        assert_eq!(sender.out.notices, [Notice::Connected]);
        sender.out = Output::default();
        sender
    }

    fn wait(&mut self, millis: u64) {
        let until = self.now + Duration::from_millis(millis);
        while let Some(due) = self.connection.next_timeout().filter(|due| *due <= until) {
            self.now = due;
            self.connection.on_timeout(due, &mut self.out);
        }
        self.now = until;
    }

    fn write(&mut self, segments: u64) {
        assert_eq!(self.connection.write(self.now, segments * MSS, &mut self.out), segments * MSS);
    }

    /// The number of the first byte of segment `n`, counted from 0.
    const fn number(n: u64) -> u64 {
        1 + n * MSS
    }

    /// The peer acknowledges `segments` segments, and SACKs the ranges of segments.
    fn ack(&mut self, segments: u64, sacked: &[(u64, u64)]) {
        // The peer echoes the timestamp of a round trip ago.
        let then = self.connection.clock.timestamp_ms_at(self.now) - 100;
        let stamps = self.connection.agreed.timestamps.then_some(then);
        self.ack_with(segments, sacked, stamps);
    }

    fn ack_with(&mut self, segments: u64, sacked: &[(u64, u64)], echo: Option<u32>) {
        let ack = Self::number(segments);
        let blocks = sacked.iter().map(|(first, after)| Self::number(*first)..Self::number(*after));
        let value = (self.now - Instant::ZERO).as_nanos() / 1_000_000;
        let timestamps = echo.map(|echo| Timestamps { value: value as u32, echo });
        let options = Options { timestamps, sack: SackBlocks::new(ack, blocks), ..Options::NONE };
        let segment = Segment {
            seq: self.peer_seq,
            ack,
            len: 0,
            window: self.window,
            flags: Flags::ACK,
            ecn: Codepoint::NotEct,
            options,
        };
        self.connection.on_segment(self.now, &segment, &mut self.out);
    }

    /// Numbers of the data segments that have left since the last look.
    fn sent(&mut self) -> Vec<u64> {
        let segments = std::mem::take(&mut self.out.segments);
        segments.iter().filter(|segment| segment.len > 0).map(|segment| (segment.seq - 1) / MSS).collect()
    }

    /// Time of the next timer, in milliseconds from now.
    fn timer(&self) -> Option<f64> {
        let due = self.connection.next_timeout()?;
        Some((due - self.now).as_nanos() as f64 / 1e6)
    }

    fn cwnd(&self) -> u64 {
        self.connection.cwnd() / MSS
    }

    fn ssthresh(&self) -> u64 {
        self.connection.ssthresh() / MSS
    }
}
