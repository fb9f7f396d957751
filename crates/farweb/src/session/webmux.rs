//! W3C MUX at one end: sessions side by side, each direction of each with a credit of its own.
//!
//! Models each request as a session: SYN and the request, then the response and FIN, last a FIN back. [`Sender`] decides which
//! bytes go when, write by write, as the transport takes them. The reader passes the bytes of one read to the applications,
//! which take them at once, and grants them back. A session that fails is taken back with RST. Leaves out strings and stacks of
//! protocols, and limits of fragments that the peer sets.
//!
//! Sources: see [`http::webmux`](crate::http::webmux).

use std::collections::VecDeque;

use crate::http::stream::Stream;
use crate::http::webmux::{self, Control, Ending, Frame, Ids, Layout, Receiver, SESSIONS_MAX, Sender, Step};
use crate::units::Instant;

use super::{Answer, Content, ExchangeId, Part, Report, Sent, Speak};

/// Settings of both ends.
#[derive(Clone, Copy)]
pub(crate) struct Config {
    pub(crate) sender: webmux::Config,
    /// Most bytes in one read.
    pub(crate) read_buffer: u64,
}

/// One end.
pub(super) struct WebMux {
    is_client: bool,
    layout: Layout,
    read_buffer: u64,
    sender: Sender<ExchangeId>,
    receiver: Receiver<ExchangeId>,
    /// Numbers that it has given to sessions. A client's.
    ids: Ids,
    /// Sessions that it knows to be open.
    sessions: Vec<(ExchangeId, u8)>,
    /// Frames in its stream that the other end has not read, each with its exchange.
    unread: VecDeque<(ExchangeId, Frame)>,
    /// Sessions that the other end has finished, as far as its stream is read.
    finished: Vec<ExchangeId>,
    /// Number of sessions that have come to their end at the client since the last read was answered.
    ended: u32,
}

impl WebMux {
    pub(super) fn pair(config: &Config) -> [Self; 2] {
        [true, false].map(|is_client| Self {
            is_client,
            layout: config.sender.layout,
            read_buffer: config.read_buffer,
            sender: Sender::new(config.sender),
            receiver: Receiver::new(config.sender),
            ids: Ids::default(),
            sessions: Vec::new(),
            unread: VecDeque::new(),
            finished: Vec::new(),
            ended: 0,
        })
    }

    fn open_session(&mut self, of: ExchangeId) {
        let session = self.ids.take().expect("a message comes when there is room for it");
        self.sessions.push((of, session));
        self.sender.open(of, session);
        self.receiver.open(of, session);
    }

    /// A session is over at this end: another may have its number. The number, where it was open.
    fn end_session(&mut self, of: ExchangeId) -> Option<u8> {
        let place = self.sessions.iter().position(|(other, _)| *other == of)?;
        let (_, session) = self.sessions.swap_remove(place);
        if self.is_client {
            self.ids.give_back(session);
        }
        Some(session)
    }

    /// Nothing more of a message comes or goes.
    fn forget(&mut self, of: ExchangeId) {
        self.sender.forget(of);
        self.receiver.close(of);
    }

    /// Acts on a frame without payload.
    fn on_frame(&mut self, of: ExchangeId, frame: Frame) {
        match frame {
            Frame::Control(Control::AddCredit { bytes, .. }) => self.sender.on_grant(of, bytes.into()),
            Frame::Control(_) => {}
            Frame::Fragment { session, flags, .. } if flags.syn => {
                self.sessions.push((of, session));
                self.sender.accept(of, session);
                self.receiver.open(of, session);
            }
            Frame::Fragment { flags, .. } if flags.fin => self.finished.push(of),
            Frame::Fragment { .. } => {
                self.forget(of);
                let was_open = self.end_session(of).is_some();
                self.ended += u32::from(was_open && self.is_client);
            }
        }
    }
}

impl Speak for WebMux {
    fn open(&mut self) -> bool {
        false
    }

    fn send(&mut self, part: Part) {
        let Part { of, before, bytes, .. } = part;
        if self.is_client && before == 0 {
            self.open_session(of);
        }
        let ending = match (part.is_last(), self.is_client) {
            (false, _) => Ending::More,
            (true, true) => Ending::Message,
            (true, false) => Ending::Session,
        };
        self.sender.write(of, bytes, ending);
    }

    fn fill(&mut self, _now: Instant, stream: &mut Stream<Content>, report: &mut impl Report) {
        while let Some(step) = self.sender.next_step() {
            if let Step::Header(of, frame, _) | Step::Frame(of, frame, _) = step {
                report.on_frame(stream.pushed() + 1, &Sent::WebMux(self.layout, frame, of));
            }
            match step {
                Step::Header(_, _, bytes) | Step::Padding(bytes) => stream.push(Content::Frame, 0, bytes),
                Step::Payload(of, bytes) => stream.push(Content::Message(of), bytes, 0),
                Step::Frame(of, frame, bytes) => {
                    stream.push_frame(Content::Frame, bytes);
                    self.unread.push_back((of, frame));
                }
                Step::Whole(of) => report.on_message_end(of, stream.pushed()),
                Step::Flush => return stream.end_write(),
            }
        }
    }

    fn to_read(&self) -> u64 {
        self.read_buffer
    }

    fn on_content(&mut self, _now: Instant, from: &mut Self, content: Content, bytes: u64) -> u64 {
        match content {
            Content::Frame => {
                let (of, frame) = from.unread.pop_front().expect("it was put into the stream");
                self.on_frame(of, frame);
            }
            Content::Message(of) => self.receiver.on_payload(of, bytes),
        }
        bytes
    }

    /// Grants what the applications have taken, and ends its side of sessions that the other end has finished. The frames read may
    /// also have brought the credit that this end waits for.
    fn on_read(&mut self) -> Answer {
        while let Some((of, bytes)) = self.receiver.next_piece() {
            if let Some(grant) = self.receiver.on_taken(of, bytes) {
                self.sender.send(of, grant);
            }
        }
        for of in std::mem::take(&mut self.finished) {
            self.receiver.close(of);
            if let Some(session) = self.end_session(of)
                && self.is_client
            {
                self.sender.send(of, Frame::end(session, false));
                self.ended += 1;
            }
        }
        Answer { writes: true, ended: std::mem::take(&mut self.ended) }
    }

    fn reset(&mut self, of: ExchangeId) -> bool {
        let session = self.end_session(of);
        if let Some(session) = session {
            self.forget(of);
            self.sender.send(of, Frame::end(session, true));
        }
        session.is_some()
    }

    fn waits_for_credit(&self) -> bool {
        self.sender.waits_for_credit()
    }

    /// Credit of all sessions together.
    fn credit(&self) -> Option<u64> {
        self.sender.available()
    }

    fn messages_max(&self) -> u32 {
        SESSIONS_MAX
    }
}
