//! One end of an HTTP/2 connection: its frames and its reactions.
//!
//! Models the preface and the settings of the start, their acknowledgement, header blocks, data, grants, PINGs that
//! measure the path, resets and GOAWAY. Frames are asked for one by one: those without data leave in order of creation,
//! before any data, the answer to a PING before header blocks. With [`Schedule::InOrder`] a header waits for the data
//! of messages begun. A request may follow the preface at once: RFC 9113's settings hold until the other end's have
//! come. Leaves out keepalive PINGs and errors of the other end.
//!
//! Source: RFC 9113, sections 3.4, 5.1, 6 and 8.1.

use std::collections::VecDeque;

use super::frame::{HEADER_BYTES, PREFACE};
use super::hpack::{BlockBytes, Table};
use super::receiver::{Credit, Granted, Grown, Receiver};
use super::sender::{Data, Schedule, Sender, Urgency};
use super::settings::Settings;
use crate::units::Instant;

/// Configuration of an end: how it sends, and how it wants to be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Credit that it gives.
    pub credit: Credit,
    /// Streams that it lets the other end have open at once. `None`: any number.
    pub max_streams: Option<u32>,
    /// Largest frame that it takes, in bytes of payload.
    pub max_frame: u64,
    /// Most bytes of data that it puts into a frame.
    pub fragment: u64,
    /// Rule for turns among streams.
    pub schedule: Schedule,
    /// Sizes of the header blocks that it sends.
    pub blocks: BlockBytes,
}

/// Role of an end: the client speaks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sends the preface.
    Client,
    /// Answers it.
    Server,
}

/// A frame, as far as both ends have to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<S> {
    /// SETTINGS: how the sender wants to be sent to.
    Settings {
        /// All that holds from now on.
        settings: Settings,
        /// True when the connection begins with it: behind the preface, where it is a client's.
        opens: bool,
    },
    /// The other end's settings are in force.
    SettingsAck,
    /// Credit, on a stream or, with none, on the connection.
    Grant {
        /// Its stream.
        stream: Option<S>,
        /// Its size in bytes.
        bytes: u64,
    },
    /// The header block of a message.
    Head {
        /// Its stream.
        stream: S,
        /// Bytes of the message that it stands for.
        text: u64,
        /// True when no data follow.
        ends: bool,
    },
    /// Data of a message.
    Data(Data<S>),
    /// A question, answered with the same eight bytes.
    Ping(u64),
    /// The answer.
    PingAck(u64),
    /// Nothing more of a message is sent, or wanted.
    Reset(S),
    /// The connection is about to be closed.
    GoAway,
}

impl<S: Copy> Frame<S> {
    /// Its stream. None where it is of the connection.
    #[must_use]
    pub const fn stream(&self) -> Option<S> {
        match self {
            Self::Grant { stream, .. } => *stream,
            Self::Head { stream, .. } | Self::Data(Data { stream, .. }) | Self::Reset(stream) => {
                Some(*stream)
            }
            Self::Settings { .. } | Self::SettingsAck | Self::Ping(_) | Self::PingAck(_) | Self::GoAway => {
                None
            }
        }
    }

    /// The stream with a message that ends with this frame.
    #[must_use]
    pub const fn ended(&self) -> Option<S> {
        match self {
            Self::Head { stream, ends: true, .. } | Self::Data(Data { stream, ends: true, .. }) => {
                Some(*stream)
            }
            _ => None,
        }
    }
}

/// Payload of RST_STREAM and WINDOW_UPDATE, and of GOAWAY without a text.
const WORD_BYTES: u64 = 4;
const GO_AWAY_BYTES: u64 = 8;

/// Payload of a PING, and the payload of an end's own.
const PING_BYTES: u64 = 8;
const PING: u64 = 0;

/// Streams that a client takes to be allowed before it has got the server's settings.
///
/// Source: RFC 9113, section 6.5.2, advises 100 at least. nghttp2, Go and Chromium begin so.
const STREAMS_ASSUMED: u32 = 100;

/// One end of a connection with messages on streams `S`, for hosts `H`.
#[derive(Debug, Clone)]
pub struct Endpoint<S, H> {
    role: Role,
    /// Settings that it has sent to the other end.
    settings: Settings,
    sender: Sender<S>,
    receiver: Receiver<S>,
    table: Table<H>,
    /// Frames without data that wait, with their sizes.
    waiting: VecDeque<(Frame<S>, u64)>,
    max_streams: u32,
}

impl<S: Copy + Eq, H: Copy + Eq> Endpoint<S, H> {
    /// An end that has its settings to send, and the rest of its connection's credit to grant.
    #[must_use]
    pub fn new(role: Role, config: &Config) -> Self {
        let receiver = Receiver::new(config.credit);
        let initial_window = config.credit.stream;
        let Config { max_streams, max_frame, .. } = *config;
        let settings = Settings { initial_window, max_streams, max_frame };
        let preface = if role == Role::Client { PREFACE.len() as u64 } else { 0 };
        let first = (Frame::Settings { settings, opens: true }, preface + settings.bytes());
        let first_grant = receiver.first_grant();
        let mut endpoint = Self {
            role,
            settings,
            sender: Sender::new(config.schedule, config.fragment),
            receiver,
            table: Table::new(config.blocks),
            waiting: VecDeque::from([first]),
            max_streams: STREAMS_ASSUMED,
        };
        endpoint.grant(None, first_grant);
        endpoint
    }

    /// Streams that may be open at once, as far as is known.
    #[must_use]
    pub const fn max_streams(&self) -> u32 {
        self.max_streams
    }

    /// A message for `host` begins with a header that stands for `text` of its bytes. `ends` when there are no others.
    pub fn begin(&mut self, stream: S, host: H, text: u64, ends: bool) {
        let block = self.table.encode(host);
        self.waiting.push_back((Frame::Head { stream, text, ends }, HEADER_BYTES + block));
        if ends {
            self.sender.reset(stream);
        } else {
            self.sender.open(stream, Urgency::default());
        }
    }

    /// The next `bytes` of the data of a message are there. `is_whole` when they are the last ones.
    pub fn send(&mut self, stream: S, bytes: u64, is_whole: bool) {
        self.sender.queue(stream, bytes, is_whole);
    }

    /// Gives a message up, and sends RST_STREAM.
    pub fn reset(&mut self, stream: S) {
        self.drop_message(stream);
        self.waiting.push_back((Frame::Reset(stream), HEADER_BYTES + WORD_BYTES));
    }

    /// The connection is about to be closed.
    pub fn go_away(&mut self) {
        self.waiting.push_back((Frame::GoAway, HEADER_BYTES + GO_AWAY_BYTES));
    }

    /// True when there is a frame that may be sent.
    #[must_use]
    pub fn has_frame(&self) -> bool {
        !self.waiting.is_empty() || self.sender.is_ready()
    }

    /// Bytes of data that may be sent before another grant, or none without a message to send.
    #[must_use]
    pub fn available(&self) -> Option<u64> {
        self.sender.available()
    }

    /// True when a message has data to send and no credit for it.
    #[must_use]
    pub fn waits_for_credit(&self) -> bool {
        self.sender.waits_for_credit()
    }

    /// The next frame, which leaves now, and its bytes but for data.
    pub fn next_frame(&mut self, now: Instant) -> Option<(Frame<S>, u64)> {
        let is_held = match self.waiting.front() {
            Some((Frame::Head { .. }, _)) => self.sender.puts_data_first(),
            Some(_) => false,
            None => true,
        };
        if !is_held {
            let (frame, bytes) = self.waiting.pop_front()?;
            self.on_leaving(now, &frame);
            return Some((frame, bytes));
        }
        self.sender.next_frame().map(|data| (Frame::Data(data), HEADER_BYTES))
    }

    /// A frame without data leaves.
    fn on_leaving(&mut self, now: Instant, frame: &Frame<S>) {
        match *frame {
            Frame::Head { stream, ends, .. } => {
                if !ends {
                    self.sender.begin(stream);
                }
                if self.role == Role::Client
                    && let Some(bytes) = self.receiver.open(now, stream)
                {
                    self.waiting.push_front(Self::grant_of(Some(stream), bytes));
                }
            }
            Frame::Settings { opens: true, .. } => self.receiver.on_settings_sent(now),
            Frame::Ping(_) => self.receiver.on_ping_sent(now),
            Frame::Reset(stream) => self.receiver.reset(stream),
            _ => {}
        }
    }

    /// A frame without data has come.
    pub fn on_frame(&mut self, now: Instant, frame: &Frame<S>) {
        match *frame {
            Frame::Settings { settings, .. } => {
                self.sender.on_settings(&settings).expect("an end shrinks no window below what it granted");
                self.max_streams = settings.max_streams.unwrap_or(u32::MAX);
                self.waiting.push_back((Frame::SettingsAck, HEADER_BYTES));
            }
            Frame::Grant { stream, bytes } => {
                self.sender.on_grant(stream, bytes).expect("an end grants what it has taken");
            }
            Frame::Head { stream, ends, .. } => self.on_head(now, stream, ends),
            Frame::Reset(stream) => self.drop_message(stream),
            Frame::Ping(opaque) => {
                let is_head = |(frame, _): &(Frame<S>, u64)| matches!(frame, Frame::Head { .. });
                let place = self.waiting.iter().position(is_head).unwrap_or(self.waiting.len());
                self.waiting.insert(place, (Frame::PingAck(opaque), HEADER_BYTES + PING_BYTES));
            }
            Frame::PingAck(_) => {
                if let Some(grown) = self.receiver.on_ping_acked(now) {
                    self.send_grown(grown);
                }
            }
            Frame::SettingsAck => self.receiver.on_settings_acked(now),
            Frame::GoAway => {}
            Frame::Data(_) => unreachable!("data comes by parts"),
        }
    }

    /// The header of a message has come, at a server on a new stream.
    fn on_head(&mut self, now: Instant, stream: S, ends: bool) {
        if self.role == Role::Server {
            self.sender.expect(stream);
            let raised = if ends { None } else { self.receiver.open(now, stream) };
            self.grant(Some(stream), raised);
        }
        if ends {
            self.receiver.reset(stream);
        } else {
            let granted = self.receiver.on_head(now, stream);
            self.send_granted(stream, granted);
        }
    }

    /// `bytes` of a frame with data have been read, and `left` are still to come.
    pub fn on_data(&mut self, now: Instant, data: &Data<S>, bytes: u64, left: u64) {
        let granted = self.receiver.on_data(now, data.stream, bytes, left, data.ends);
        self.send_granted(data.stream, granted);
    }

    fn send_granted(&mut self, stream: S, granted: Granted) {
        for bytes in granted.connection {
            self.grant(None, bytes);
        }
        if granted.probes {
            self.waiting.push_back((Frame::Ping(PING), HEADER_BYTES + PING_BYTES));
        }
        self.grant(Some(stream), granted.stream);
    }

    fn send_grown(&mut self, grown: Grown) {
        self.settings.initial_window = grown.stream;
        let settings = self.settings;
        self.waiting.push_back((Frame::Settings { settings, opens: false }, settings.bytes()));
        self.grant(None, grown.connection);
    }

    fn grant(&mut self, stream: Option<S>, bytes: Option<u64>) {
        self.waiting.extend(bytes.map(|bytes| Self::grant_of(stream, bytes)));
    }

    const fn grant_of(stream: Option<S>, bytes: u64) -> (Frame<S>, u64) {
        (Frame::Grant { stream, bytes }, HEADER_BYTES + WORD_BYTES)
    }

    fn drop_message(&mut self, stream: S) {
        self.sender.reset(stream);
        self.receiver.reset(stream);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::credit::GrantRule;
    use crate::http::h2::frame;
    use crate::http::h2::receiver::Counts;
    use crate::http::h2::tuning::{Tuning, TuningRule};

    const BLOCKS: BlockBytes = BlockBytes { first: 100, repeat: 40 };

    fn config(stream: u64, connection: u64, fragment: u64) -> Config {
        let credit = Credit {
            stream,
            raised: None,
            connection,
            rule: GrantRule::HALF,
            timer: None,
            counts: Counts::Bytes,
            on_arrival: false,
            tuning: None,
        };
        Config {
            credit,
            max_streams: None,
            max_frame: 16_384,
            fragment,
            schedule: Schedule::RoundRobin,
            blocks: BLOCKS,
        }
    }

    type End = Endpoint<u32, u8>;

    /// Passes frames between the ends until neither has any. Returns bytes from each, and data frames from the second.
    fn talk(ends: &mut [End; 2], segment: u64) -> ([u64; 2], u64) {
        let (mut sent, mut frames) = ([0; 2], 0);
        while ends.iter().any(Endpoint::has_frame) {
            for end in 0..2 {
                while let Some((frame, framing)) = ends[end].next_frame(Instant::ZERO) {
                    sent[end] += framing;
                    let Frame::Data(data) = frame else {
                        ends[1 - end].on_frame(Instant::ZERO, &frame);
                        continue;
                    };
                    sent[end] += data.bytes;
                    frames += 1;
                    let mut left = data.bytes;
                    while left > 0 {
                        let part = segment.min(left);
                        left -= part;
                        ends[1 - end].on_data(Instant::ZERO, &data, part, left);
                    }
                }
            }
        }
        (sent, frames)
    }

    fn pair(client: &Config, server: &Config) -> [End; 2] {
        [Endpoint::new(Role::Client, client), Endpoint::new(Role::Server, server)]
    }

    #[test]
    fn a_response_has_the_bytes_of_its_frames() {
        for (fragment, bytes) in [(16_384, 100_172), (8192, 100_226)] {
            let unlimited = config(1 << 30, 1 << 30, fragment);
            let mut ends = pair(&unlimited, &unlimited);
            talk(&mut ends, 1460);
            ends[0].begin(1, 0, 300, true);
            let ([up, _], _) = talk(&mut ends, 1460);
            assert_eq!(up, 9 + 100);
            ends[1].begin(1, 0, 100, false);
            ends[1].send(1, 100_000, true);
            let ([_, down], frames) = talk(&mut ends, 1460);
            assert_eq!((down, frames), (bytes, 100_000_u64.div_ceil(fragment)));
        }
    }

    #[test]
    fn a_connection_begins_with_preface_and_settings() {
        let chrome = config(6 << 20, 15 << 20, 16_375);
        let mut ends = pair(&chrome, &config(65_535, 65_535, 16_384));
        let ([client, server], _) = talk(&mut ends, 1460);
        assert_eq!(client, 24 + 9 + 6 + 13 + 9, "preface, one setting, a grant for the connection, an ACK");
        assert_eq!(server, 9 + 9);
    }

    #[test]
    fn credits_hold_data_up_and_grants_let_it_go() {
        let (client, server) = (config(65_535, 65_535, 16_384), config(65_535, 65_535, 16_384));
        let mut ends = pair(&client, &server);
        talk(&mut ends, 1448);
        ends[0].begin(1, 0, 300, true);
        talk(&mut ends, 1448);
        ends[1].begin(1, 0, 100, false);
        ends[1].send(1, 1_000_000, true);
        let ([up, down], frames) = talk(&mut ends, 1448);
        assert_eq!(frames, 62);
        assert_eq!(up, 60 * 13, "thirty grants for each level, as nghttp sent them");
        assert_eq!(down, 9 + 100 + 1_000_000 + 62 * 9);
    }

    #[test]
    fn a_reset_ends_a_message_at_both_ends() {
        let small = config(1000, 65_535, 16_384);
        let mut ends = pair(&small, &small);
        talk(&mut ends, 1460);
        ends[1].begin(1, 0, 100, false);
        ends[1].send(1, 5000, true);
        let head = ends[1].next_frame(Instant::ZERO).expect("a head").0;
        ends[0].on_frame(Instant::ZERO, &head);
        assert!(matches!(ends[1].next_frame(Instant::ZERO), Some((Frame::Data(_), 9))));
        ends[0].reset(1);
        let ([up, down], frames) = talk(&mut ends, 1460);
        assert_eq!((up, down, frames), (13, 0, 0));
    }

    #[test]
    fn a_client_that_measures_its_path_asks_with_the_first_data_and_lets_its_credits_grow() {
        let tuning = Some(Tuning { rule: TuningRule::BdpGrpc, max: 1 << 20 });
        let mut client = config(65_535, 65_535, 16_384);
        client.credit = Credit { tuning, ..client.credit };
        let mut ends = pair(&client, &config(65_535, 65_535, 16_384));
        talk(&mut ends, 1448);
        ends[0].begin(1, 0, 300, true);
        talk(&mut ends, 1448);
        ends[1].begin(1, 0, 100, false);
        ends[1].send(1, 1_000_000, true);
        let mut kinds = Vec::new();
        let mut hear = |ends: &mut [End; 2], from: usize, millis: u64| {
            let now = Instant::from_nanos(millis * 1_000_000);
            while let Some((frame, bytes)) = ends[from].next_frame(now) {
                match frame {
                    Frame::Data(data) => ends[1 - from].on_data(now, &data, data.bytes, 0),
                    _ => ends[1 - from].on_frame(now, &frame),
                }
                if from == 0 {
                    kinds.push((frame, bytes));
                }
            }
        };
        hear(&mut ends, 1, 100);
        hear(&mut ends, 0, 200);
        assert_eq!(ends[1].waiting.front(), Some(&(Frame::PingAck(0), 17)), "before data");
        hear(&mut ends, 1, 300);
        hear(&mut ends, 0, 400);
        // 65,535 B in each of two round trips, with the PING answered first in the second.
        let grown = Settings { initial_window: 2 * 65_535, ..Settings::DEFAULT };
        assert!(kinds.contains(&(Frame::Ping(0), 17)), "{kinds:?}");
        assert!(kinds.contains(&(Frame::Settings { settings: grown, opens: false }, 15)), "{kinds:?}");
        assert!(kinds.contains(&(Frame::Grant { stream: None, bytes: 65_535 }, 13)), "{kinds:?}");
    }

    #[test]
    fn sizes_are_those_of_the_bytes() {
        let size = |body: frame::Body| {
            let mut bytes = Vec::new();
            frame::Frame { stream: 0, body }.encode(&mut bytes);
            bytes.len() as u64
        };
        assert_eq!(size(frame::Body::WindowUpdate { increment: 1 }), HEADER_BYTES + WORD_BYTES);
        assert_eq!(size(frame::Body::RstStream { code: 0 }), HEADER_BYTES + WORD_BYTES);
        assert_eq!(size(frame::Body::SettingsAck), HEADER_BYTES);
        assert_eq!(size(frame::Body::Ping { opaque: [0; 8], ack: true }), HEADER_BYTES + PING_BYTES);
        assert_eq!(size(frame::Body::GoAway { last: 0, code: 0, debug: b"" }), HEADER_BYTES + GO_AWAY_BYTES);
    }
}
