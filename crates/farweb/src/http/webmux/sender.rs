//! The sending end: selects the next bytes and joins them in writes.
//!
//! Models Jigsaw. An application writes its message in chunks, and a chunk goes in fragments while the session has
//! credit: a fragment is never cut to the credit: the last one may overdraw it. Sessions take turns, a fragment each.
//! Control messages go before them. Header and payload of a fragment are copied into one buffer for all sessions.
//! Payload without room there flushes it and is written by itself. It is flushed as well behind a grant, a FIN or a
//! RST, when a session with more to send is out of credit, and when no session has more to send. In the layout of 1996
//! a chunk that ends with a whole fragment and leaves credit is followed by an empty one, as in Jigsaw's loop.
//!
//! Chosen, where Jigsaw's threads leave it open: turns are strict, and a buffer without room for a header is flushed.
//! Differs from Jigsaw: an application that has to wait for more of its message flushes first (a proxy holds nothing
//! back), and a grant that finds the transport full waits without stopping the reader. Leaves out limits that the peer
//! sets to fragments.
//!
//! Source: W3C Jigsaw, `MuxWriter.java`, `MuxOutputStream.java`, `MuxSession.java`.

use std::collections::VecDeque;

use super::{Config, Frame, HTTP, Layout};
use crate::http::credit::Window;

/// Next part of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<E> {
    /// The header of a fragment of a message, and its bytes.
    Header(E, Frame, u64),
    /// Bytes of payload of a message.
    Payload(E, u64),
    /// Bytes that fill up a fragment behind its payload.
    Padding(u64),
    /// A frame without payload, its message, and its bytes.
    Frame(E, Frame, u64),
    /// All of a message is in the stream.
    Whole(E),
    /// The parts so far are handed to the transport, by itself.
    Flush,
}

/// Continuation after the bytes that an application writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// More of the message.
    More,
    /// Nothing: the message is whole, and the session stays open.
    Message,
    /// Nothing, and this side of the session ends.
    Session,
}

/// The sessions that send from an end. `E` names the message of a session.
#[derive(Debug, Clone)]
pub struct Sender<E> {
    config: Config,
    /// Frames that go before all else, with their messages.
    frames: VecDeque<(E, Frame)>,
    /// Sessions with an unfinished message in the stream, the next turn first.
    sessions: VecDeque<Outgoing<E>>,
    /// Bytes in the write buffer.
    buffered: u64,
    /// Steps that follow from the last decision.
    steps: VecDeque<Step<E>>,
}

/// A session that sends.
#[derive(Debug, Clone)]
struct Outgoing<E> {
    message: E,
    session: u8,
    window: Window,
    /// Bytes of the application, and the remaining ones of the chunk being written.
    waiting: u64,
    chunk: u64,
    /// Rest of the bytes that it writes by themselves.
    head: u64,
    ending: Ending,
    /// True when an empty fragment is due.
    owes_empty: bool,
    /// True once the whole message is announced as in the stream.
    is_announced: bool,
}

impl<E: Copy + Eq> Sender<E> {
    /// A sender without sessions.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            config,
            frames: VecDeque::new(),
            sessions: VecDeque::new(),
            buffered: 0,
            steps: VecDeque::new(),
        }
    }

    /// Opens a session for a message.
    pub fn open(&mut self, message: E, session: u8) {
        self.frames.push_back((message, Frame::open(session, HTTP)));
        self.accept(message, session);
    }

    /// A message goes over a session that the other end has opened.
    pub fn accept(&mut self, message: E, session: u8) {
        self.sessions.push_back(Outgoing {
            message,
            session,
            window: Window::new(self.config.credit),
            waiting: 0,
            chunk: 0,
            head: self.config.head,
            ending: Ending::More,
            owes_empty: false,
            is_announced: false,
        });
    }

    /// The application has `bytes` more of a message, and then `ending`.
    pub fn write(&mut self, message: E, bytes: u64, ending: Ending) {
        if let Some(outgoing) = self.find(message) {
            outgoing.waiting += bytes;
            outgoing.ending = ending;
        }
    }

    /// The other end has granted `bytes` more of a message. More than a session can have in all leave it as it is.
    pub fn on_grant(&mut self, message: E, bytes: u64) {
        if let Some(outgoing) = self.find(message) {
            outgoing.window.grant(bytes).ok();
        }
    }

    /// Nothing more of a message is sent.
    pub fn forget(&mut self, message: E) {
        self.sessions.retain(|outgoing| outgoing.message != message);
    }

    /// Sends a frame without payload that is about a message, before all else.
    pub fn send(&mut self, message: E, frame: Frame) {
        self.frames.push_back((message, frame));
    }

    /// The credit of a message that is not whole in the stream.
    #[must_use]
    pub fn credit(&self, message: E) -> Option<i64> {
        Some(self.sessions.iter().find(|outgoing| outgoing.message == message)?.window.credit())
    }

    /// Bytes that may go into the stream before another grant: frames already decided, and payload within the credit of
    /// sessions with a message. None when no session has one. Headers of fragments and an overdraft of the last
    /// fragment are not counted.
    #[must_use]
    pub fn available(&self) -> Option<u64> {
        let decided = self.steps.iter().map(|step| match *step {
            Step::Header(_, _, bytes)
            | Step::Payload(_, bytes)
            | Step::Padding(bytes)
            | Step::Frame(_, _, bytes) => bytes,
            Step::Whole(_) | Step::Flush => 0,
        });
        let credits = self.sessions.iter().map(|outgoing| outgoing.window.available());
        (!self.sessions.is_empty()).then(|| decided.sum::<u64>() + credits.sum::<u64>())
    }

    /// True when a session has payload to send and no credit for it.
    #[must_use]
    pub fn waits_for_credit(&self) -> bool {
        self.sessions.iter().any(|outgoing| outgoing.waiting > 0 && outgoing.window.credit() <= 0)
    }

    /// Next part of the stream. None when all that may be sent has been flushed.
    pub fn next_step(&mut self) -> Option<Step<E>> {
        if self.steps.is_empty() {
            self.decide();
        }
        self.steps.pop_front()
    }

    fn find(&mut self, message: E) -> Option<&mut Outgoing<E>> {
        self.sessions.iter_mut().find(|outgoing| outgoing.message == message)
    }

    /// Decides the next frame, if any.
    fn decide(&mut self) {
        if let Some((message, frame)) = self.frames.pop_front() {
            self.put_frame(message, frame);
            if !matches!(frame, Frame::Fragment { flags, .. } if flags.syn) {
                self.flush();
            }
        } else if let Some(place) = self.sessions.iter().position(Outgoing::may_send) {
            let mut outgoing = self.sessions.remove(place).expect("it has a place");
            if !outgoing.is_over() {
                self.take_turn(&mut outgoing);
            }
            if outgoing.is_over() {
                self.end(&mut outgoing);
            } else {
                self.sessions.push_back(outgoing);
            }
        } else {
            self.flush();
        }
    }

    /// The next fragment of a session.
    fn take_turn(&mut self, outgoing: &mut Outgoing<E>) {
        if std::mem::take(&mut outgoing.owes_empty) {
            let empty = Frame::fragment(outgoing.session, 0);
            let header = empty.header(self.config.layout);
            self.make_room(header);
            self.steps.push_back(Step::Header(outgoing.message, empty, header));
            return;
        }
        let bytes = outgoing.next_fragment(&self.config);
        self.put_fragment(outgoing, bytes);
        outgoing.owes_empty = self.config.layout == Layout::Y1996
            && outgoing.chunk == 0
            && bytes == self.config.fragment
            && outgoing.window.credit() > 0;
        if outgoing.waiting > 0 && outgoing.window.credit() <= 0 {
            self.flush();
        }
    }

    fn put_fragment(&mut self, outgoing: &mut Outgoing<E>, bytes: u64) {
        let frame = Frame::fragment(outgoing.session, bytes as u32);
        let header = frame.header(self.config.layout);
        let padding = frame.padding(self.config.layout);
        self.make_room(header);
        self.steps.push_back(Step::Header(outgoing.message, frame, header));
        let fits = self.buffered + bytes + padding < self.config.write_buffer;
        if !fits {
            self.flush();
        }
        self.steps.push_back(Step::Payload(outgoing.message, bytes));
        if outgoing.has_all_taken() {
            self.announce_whole(outgoing);
        }
        if padding > 0 {
            self.steps.push_back(Step::Padding(padding));
        }
        self.buffered += bytes + padding;
        if !fits {
            self.flush();
        }
    }

    fn put_frame(&mut self, message: E, frame: Frame) {
        let bytes = frame.header(self.config.layout);
        self.make_room(bytes);
        self.steps.push_back(Step::Frame(message, frame, bytes));
    }

    /// A message is whole in the stream.
    fn end(&mut self, outgoing: &mut Outgoing<E>) {
        self.announce_whole(outgoing);
        if outgoing.ending == Ending::Session {
            self.put_frame(outgoing.message, Frame::end(outgoing.session, false));
            self.flush();
        }
    }

    /// Announces once that all of a message is in the stream: behind its last byte, whatever frame follows.
    fn announce_whole(&mut self, outgoing: &mut Outgoing<E>) {
        if !std::mem::replace(&mut outgoing.is_announced, true) {
            self.steps.push_back(Step::Whole(outgoing.message));
        }
    }

    /// Puts `header` bytes into the write buffer.
    fn make_room(&mut self, header: u64) {
        if self.buffered + header > self.config.write_buffer {
            self.flush();
        }
        self.buffered += header;
    }

    fn flush(&mut self) {
        if self.buffered > 0 {
            self.steps.push_back(Step::Flush);
            self.buffered = 0;
        }
    }
}

impl<E> Outgoing<E> {
    /// True when it could use its turn.
    fn may_send(&self) -> bool {
        self.owes_empty || self.is_over() || (self.waiting > 0 && self.window.credit() > 0)
    }

    /// True when its message is whole in the stream, with the empty fragment that it may owe.
    fn is_over(&self) -> bool {
        self.has_all_taken() && !self.owes_empty
    }

    /// True when no byte of its message is left to go into a fragment.
    fn has_all_taken(&self) -> bool {
        self.ending != Ending::More && self.waiting == 0
    }

    /// Takes the next fragment out of the chunk that is being written, and gives its bytes of payload.
    fn next_fragment(&mut self, config: &Config) -> u64 {
        if self.chunk == 0 {
            let most = if self.head > 0 { self.head } else { config.chunk.unwrap_or(u64::MAX) };
            self.chunk = self.waiting.min(most);
            self.head -= self.head.min(self.chunk);
        }
        let bytes = self.chunk.min(config.fragment);
        self.chunk -= bytes;
        self.waiting -= bytes;
        self.window.charge(bytes);
        bytes
    }
}
