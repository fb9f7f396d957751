//! Sessions: choose the bytes that an end of a connection sends now, and interpret the bytes that arrive.
//!
//! A [`Session`] stands between the program at one end and its transport: it owns the [`Stream`] that its end writes, the rules of its
//! protocol, and TLS where there is any. It is sans-IO: it knows the ids of exchanges and no more of them, and neither connections nor
//! events. Which connection a message gets is decided elsewhere (`pool`).
//!
//! A protocol that chooses the next bytes late, by credits and by turns, keeps waiting bytes to itself and puts frames
//! into the stream when that is taken ([`Speak::fill`]). One without frames has nothing but the stream.
//!
//! A new protocol is a file with an implementation of [`Speak`], and a line in each place of this one that names the others.

mod application;
pub(crate) mod http2;
pub(crate) mod webmux;

use crate::http::h2;
use crate::http::stream::Stream;
use crate::http::tls::{self, Layer, Start};
use crate::http::webmux as mux;
use crate::id::SlabId;
use crate::tcp::{self, Emit};
use crate::units::{Duration, Instant};
use crate::workload::HostId;

pub(crate) use application::Application;
use http2::Http2;
use webmux::WebMux;

/// A request on one leg, as sessions know it.
pub(crate) type ExchangeId = SlabId;

/// Content of a piece of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Payload of a message of this exchange.
    Message(ExchangeId),
    /// A frame that carries none. The session that wrote it knows which one: streams keep their order, so it is the oldest that was
    /// pushed and not read.
    Frame,
}

/// The next bytes of a message that are there to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) of: ExchangeId,
    pub(crate) host: HostId,
    /// Bytes of the message before them.
    pub(crate) before: u64,
    pub(crate) bytes: u64,
    /// Bytes of the whole message.
    pub(crate) length: u64,
    /// Bytes of it that need no answer to earlier ones: all, but in a tunnel its first turn.
    pub(crate) first: u64,
}

/// A frame that a session has put into its stream.
pub(crate) enum Sent {
    /// Of HTTP/2, and its bytes but for data.
    Http2(h2::endpoint::Frame<ExchangeId>, u64),
    /// Of W3C MUX, and the exchange that it is about.
    WebMux(mux::Layout, mux::Frame, ExchangeId),
}

impl Sent {
    /// The exchange that it is about. None where it is of the connection.
    pub(crate) const fn exchange(&self) -> Option<ExchangeId> {
        match self {
            Self::Http2(frame, _) => frame.stream(),
            Self::WebMux(_, _, of) => Some(*of),
        }
    }
}

/// Takes what a session does with its stream.
pub(crate) trait Report {
    /// A frame begins with byte `seq` of the stream, counted from 1.
    fn on_frame(&mut self, seq: u64, frame: &Sent);

    /// The last byte of a message is the one before the place `end` of the stream.
    fn on_message_end(&mut self, of: ExchangeId, end: u64);
}

/// One end of a connection, above its transport.
pub(crate) struct Session {
    /// Stream that it writes.
    pub(crate) stream: Stream<Content>,
    tls: Option<Box<Layer>>,
    protocol: Protocol,
}

/// Writes one stream of a connection and interprets the other.
enum Protocol {
    /// Messages, one after the other or side by side. The reader needs no further knowledge of them.
    Plain,
    Http2(Box<Http2>),
    WebMux(Box<WebMux>),
}

/// Behaviour of a protocol with frames at one end.
trait Speak: Sized {
    /// The end may write. True where it has something to say before it is asked.
    fn open(&mut self) -> bool;

    /// Bytes of a message are there to be sent.
    fn send(&mut self, part: Part);

    /// Puts the next write into the stream, which the transport has emptied.
    fn fill(&mut self, now: Instant, stream: &mut Stream<Content>, report: &mut impl Report);

    /// Most bytes in one read. The rest shuts the sender's window until this end reads again.
    fn to_read(&self) -> u64;

    /// The next `bytes` of payload of a message have been read, or a whole frame without payload, which `from` has sent. How many bytes
    /// of the message that is: a header block stands for others than it has.
    fn on_content(&mut self, now: Instant, from: &mut Self, content: Content, bytes: u64) -> u64;

    /// All that came in one read has been made use of. Returns what follows.
    fn on_read(&mut self) -> Answer;

    /// Nothing more of a message is sent, or wanted. True where that has to be said.
    fn reset(&mut self, of: ExchangeId) -> bool;

    /// True when there is payload that nothing but credit keeps from the transport.
    fn waits_for_credit(&self) -> bool;

    /// Further bytes that may go into the stream with the credit that there is. None where no credit limits a message.
    fn credit(&self) -> Option<u64>;

    /// Messages that its client end may have open at once, as far as it knows.
    fn messages_max(&self) -> u32;
}

/// Consequence of a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// There may be something to write.
    pub(crate) writes: bool,
    /// Number of messages whose second side ended with it, behind their last byte.
    pub(crate) ended: u32,
}

/// The match on protocols with frames.
macro_rules! on_protocol {
    ($protocol:expr, $own:ident => $call:expr, plain => $plain:expr) => {
        match $protocol {
            Protocol::Plain => $plain,
            Protocol::Http2($own) => $call,
            Protocol::WebMux($own) => $call,
        }
    };
}

/// Settings of the sessions of a leg's connections.
pub(crate) struct Config {
    pub(crate) protocol: ProtocolConfig,
    /// TLS, with the handshake that the leg asks for and the lifetime of tickets.
    pub(crate) tls: Option<(tls::Settings, Start, Duration)>,
}

/// Settings of a protocol.
pub(crate) enum ProtocolConfig {
    Plain,
    /// Of both ends, the client's first.
    Http2(Box<[http2::End; 2]>),
    WebMux(webmux::Config),
}

impl Config {
    /// Kind of TLS handshake and lifetime of tickets. None without TLS.
    pub(crate) fn resumption(&self) -> Option<(Start, Duration)> {
        self.tls.as_ref().map(|(_, start, lifetime)| (*start, *lifetime))
    }

    /// Both ends of a connection, the client's first, with this handshake where there is TLS. None: without TLS.
    pub(crate) fn pair(&self, start: Option<Start>) -> [Session; 2] {
        let [client, server] = match &self.protocol {
            ProtocolConfig::Plain => [Protocol::Plain, Protocol::Plain],
            ProtocolConfig::Http2(ends) => ends.map(|end| Protocol::Http2(Box::new(Http2::new(end)))),
            ProtocolConfig::WebMux(config) => WebMux::pair(config).map(|end| Protocol::WebMux(Box::new(end))),
        };
        let layers = self.tls.as_ref().zip(start).map(|((settings, ..), start)| settings.pair(start));
        let [near, far] = layers.map_or([None, None], |layers| layers.map(|layer| Some(Box::new(layer))));
        [Session::new(client, near), Session::new(server, far)]
    }
}

impl Session {
    const fn new(protocol: Protocol, tls: Option<Box<Layer>>) -> Self {
        Self { stream: Stream::new(), tls, protocol }
    }

    /// Falls silent: nothing follows the bytes already in the stream.
    pub(crate) fn end(&mut self) {
        self.protocol = Protocol::Plain;
    }

    /// The end may write. True where it has something to say before it is asked.
    pub(crate) fn open(&mut self) -> bool {
        on_protocol!(&mut self.protocol, own => own.open(), plain => false)
    }

    /// True where the program turns Nagle's rule off.
    pub(crate) const fn is_nodelay(&self) -> bool {
        matches!(&self.protocol, Protocol::Http2(own) if own.is_nodelay())
    }

    /// Bytes of a message are there to be sent, which `application` writes. Without frames, `framing` bytes go before them.
    #[inline(always)]
    pub(crate) fn send(
        &mut self,
        part: Part,
        application: &Application,
        framing: u64,
        report: &mut impl Report,
    ) {
        on_protocol!(&mut self.protocol, own => own.send(part), plain => {
            application.write_to(&mut self.stream, part.of, part.before, part.bytes, framing);
            if part.is_last() {
                report.on_message_end(part.of, self.stream.pushed());
            }
        });
    }

    /// The client end will ask for nothing more.
    pub(crate) fn finish(&mut self) {
        if let Protocol::Http2(own) = &mut self.protocol {
            own.finish();
        }
    }

    /// Bytes that this end would hand to its transport now in one write, framing included. Asked again when the transport has taken all
    /// of them, until it is none.
    #[inline(always)]
    pub(crate) fn next_write(&mut self, now: Instant, report: &mut impl Report) -> u64 {
        let waiting = self.stream.next_write();
        if waiting > 0 {
            return waiting;
        }
        on_protocol!(&mut self.protocol, own => {
            own.fill(now, &mut self.stream, report);
            self.stream.next_write()
        }, plain => 0)
    }

    /// Hands up to `bytes` of the stream to `tcp`, in records where there is TLS. Returns how many it took.
    #[inline(always)]
    pub(crate) fn hand_over(
        &mut self,
        tcp: &mut tcp::Connection,
        now: Instant,
        bytes: u64,
        out: &mut impl Emit,
    ) -> u64 {
        let written = match &mut self.tls {
            None => tcp.write(now, bytes, out),
            Some(tls) => hand_over_sealed(tls, tcp, now, bytes, out),
        };
        if written > 0 {
            self.stream.on_written(written);
        }
        written
    }

    /// True when the transport has all that was handed over, and nothing of a handshake is left for it.
    pub(crate) fn has_handed_over(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.to_write() == 0 && tls.has_shaken_hands())
    }

    /// Bytes that wait here for the transport.
    pub(crate) fn bytes_waiting(&self) -> u64 {
        self.stream.to_write() + self.tls.as_ref().map_or(0, |tls| tls.to_write())
    }

    /// Most bytes in one read. Asked again when it has got that many. `None`: all that there is, and nothing follows from it.
    #[inline]
    pub(crate) fn to_read(&self) -> Option<u64> {
        on_protocol!(&self.protocol, own => Some(own.to_read()), plain => None)
    }

    /// The transport brought `bytes` from the session at the other end: bytes of its stream that can be read now.
    #[inline]
    pub(crate) fn unseal(&mut self, from: &mut Self, bytes: u64) -> u64 {
        match (&mut self.tls, &mut from.tls) {
            (Some(tls), Some(from)) => tls.on_read(from, bytes),
            _ => bytes,
        }
    }

    /// Reads the next part of the first `bytes` of the other end's stream, and takes it off them: content, and bytes of its message.
    #[inline]
    pub(crate) fn read(&mut self, from: &mut Self, now: Instant, bytes: &mut u64) -> Option<(Content, u64)> {
        let (content, part) = from.stream.read(bytes)?;
        let part = match (&mut self.protocol, &mut from.protocol) {
            (Protocol::Http2(own), Protocol::Http2(from)) => own.on_content(now, from, content, part),
            (Protocol::WebMux(own), Protocol::WebMux(from)) => own.on_content(now, from, content, part),
            _ => part,
        };
        Some((content, part))
    }

    /// All that came in one read has been made use of. Returns what follows.
    pub(crate) fn on_read(&mut self) -> Answer {
        on_protocol!(&mut self.protocol, own => own.on_read(), plain => Answer::default())
    }

    /// True where a message and its answer are over with the last byte of the answer. Otherwise both sides end them
    /// later.
    pub(crate) const fn ends_with_message(&self) -> bool {
        !matches!(self.protocol, Protocol::WebMux(_))
    }

    /// Nothing more of a message is sent, or wanted. True where that has to be said.
    pub(crate) fn reset(&mut self, of: ExchangeId) -> bool {
        on_protocol!(&mut self.protocol, own => own.reset(of), plain => false)
    }

    /// True when there is payload that nothing but credit keeps from the transport. Asked, where senders are recorded, when the
    /// transport has sent all that it took.
    pub(crate) fn waits_for_credit(&self) -> bool {
        on_protocol!(&self.protocol, own => own.waits_for_credit(), plain => false)
    }

    /// Place in the stream that the present credit reaches. None where no credit limits a message. Asked
    /// where packets are recorded.
    pub(crate) fn credit_limit(&self) -> Option<u64> {
        let credit = on_protocol!(&self.protocol, own => own.credit(), plain => None)?;
        Some(self.stream.pushed() + credit)
    }

    /// Messages that this client end may have open at once, as far as it knows.
    pub(crate) fn messages_max(&self) -> u32 {
        on_protocol!(&self.protocol, own => own.messages_max(), plain => 1)
    }

    /// True where records go between the stream and the transport.
    pub(crate) const fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Sends what the handshake of TLS asks for now. True when the end may send messages from now on: once.
    ///
    /// # Panics
    /// Without TLS.
    pub(crate) fn shake_hands(&mut self) -> bool {
        self.tls.as_mut().expect("the caller has asked").go_on()
    }

    /// Handshake that began the connection, where it has TLS.
    pub(crate) fn handshake(&self) -> Option<Start> {
        self.tls.as_ref().map(|tls| tls.start())
    }

    /// True once: when the client end has got the last flight of the server, and with it a ticket.
    pub(crate) fn takes_ticket(&mut self) -> bool {
        self.tls.as_mut().is_some_and(|tls| tls.takes_ticket())
    }

    /// True when there are bytes of TLS for the transport.
    pub(crate) fn has_records(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.to_write() > 0)
    }

    /// Bytes of the stream among the first `bytes` that the transport has sent.
    pub(crate) fn bytes_within(&self, bytes: u64) -> u64 {
        self.tls.as_ref().map_or(bytes, |tls| tls.messages_within(bytes))
    }

    /// Bytes of the stream among the first `bytes` that a relay has passed on, as long as the other end has not read them.
    pub(crate) fn bytes_relayed(&self, bytes: u64) -> u64 {
        self.tls.as_ref().map_or(bytes, |tls| tls.messages_before(bytes))
    }

    /// The first `bytes` that the transport took have been acknowledged. Bytes of the stream among them.
    #[inline]
    pub(crate) fn on_acknowledged(&mut self, bytes: u64) -> u64 {
        match &mut self.tls {
            Some(tls) => tls.on_acknowledged(bytes),
            None => bytes,
        }
    }
}

impl Part {
    /// True when the message is whole with it.
    pub(crate) const fn is_last(&self) -> bool {
        self.before < self.length && self.before + self.bytes >= self.length
    }
}

/// Hands up to `bytes` to `tcp` in records of `tls`. Returns how many.
fn hand_over_sealed(
    tls: &mut Layer,
    tcp: &mut tcp::Connection,
    now: Instant,
    bytes: u64,
    out: &mut impl Emit,
) -> u64 {
    let mut taken = 0;
    loop {
        let sealed = tls.to_write();
        let written = tcp.write(now, sealed, out);
        tls.on_written(written);
        if written < sealed || taken == bytes || !tls.is_ready() {
            return taken;
        }
        taken += tls.seal(now, bytes - taken);
    }
}
