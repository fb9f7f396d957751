//! The receiving end: the bytes that have arrived of each session, and the credit granted for them.
//!
//! Models Jigsaw: the reader hands over the bytes of one read of the transport, adjacent payload of one session as one
//! piece. Once the application has taken more than half of the initial credit, all taken bytes are granted. Leaves out
//! libwww, which grants at half and on delivery.
//!
//! Source: W3C Jigsaw, `MuxReader.java`, `MuxSession.java`, `MuxInputStream.java`.

use std::collections::VecDeque;

use super::{Config, Control, Frame};
use crate::http::credit::{GrantRule, Grants, ShareOf};

/// When Jigsaw grants.
pub const RULE: GrantRule = GrantRule::Share { of: ShareOf::Initial, millionths: 500_000, strict: true };

/// The sessions with payload arriving at an end. `E` names the message of a session.
#[derive(Debug, Clone)]
pub struct Receiver<E> {
    credit: u64,
    sessions: Vec<Incoming<E>>,
    /// Pieces that wait for their applications.
    arrived: VecDeque<(E, u64)>,
}

#[derive(Debug, Clone)]
struct Incoming<E> {
    message: E,
    session: u8,
    grants: Grants,
}

impl<E: Copy + Eq> Receiver<E> {
    /// A receiver without sessions.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self { credit: config.credit, sessions: Vec::new(), arrived: VecDeque::new() }
    }

    /// A session is open.
    pub fn open(&mut self, message: E, session: u8) {
        self.sessions.push(Incoming { message, session, grants: Grants::new(RULE, self.credit) });
    }

    /// A session is over: nothing more is granted.
    pub fn close(&mut self, message: E) {
        self.sessions.retain(|incoming| incoming.message != message);
    }

    /// `bytes` of payload have arrived, one piece with the bytes before if of the same session.
    pub fn on_payload(&mut self, message: E, bytes: u64) {
        if let Some(incoming) = self.find(message) {
            incoming.grants.on_received(bytes);
        }
        match self.arrived.back_mut() {
            Some((last, piece)) if *last == message => *piece += bytes,
            _ => self.arrived.push_back((message, bytes)),
        }
    }

    /// The piece waiting longest for its application, and its message.
    pub fn next_piece(&mut self) -> Option<(E, u64)> {
        self.arrived.pop_front()
    }

    /// The application has taken `bytes`: the grant that is due for it.
    pub fn on_taken(&mut self, message: E, bytes: u64) -> Option<Frame> {
        let incoming = self.find(message)?;
        let grant = incoming.grants.on_consumed(bytes)?;
        let control = Control::AddCredit { session: incoming.session, bytes: grant as u32 };
        Some(Frame::Control(control))
    }

    fn find(&mut self, message: E) -> Option<&mut Incoming<E>> {
        self.sessions.iter_mut().find(|incoming| incoming.message == message)
    }
}
