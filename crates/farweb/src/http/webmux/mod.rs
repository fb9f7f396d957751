//! W3C MUX: many sessions on one connection, each with a credit in each direction, and one write buffer for all.
//!
//! Models both ends of the programs of 1997: the header word and control messages ([`wire`]), numbers of sessions
//! ([`Ids`]), the sender with its credits, fragments and write buffer ([`Sender`]), and the receiver with its grants
//! ([`Receiver`]). Leaves out the text of payload, priorities, strings and stacks of protocols (HTTP is port 80), and a
//! reader that stops the connection at a full session buffer: the credit promises the room.
//!
//! Sources: W3C Jigsaw, package `org.w3c.www.mux`; W3C libwww 5.0, `HTMux*.c`; Xerox ILU 2.0, `w3mux.c`; J. Gettys and H. Nielsen,
//! W3C WD-mux-19980722; A. Baird-Smith, "MUX Data Flow Analysis", W3C 1997.

mod ids;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;
mod wire;

pub use ids::{Ids, SESSIONS_MAX};
pub use receiver::{RULE, Receiver};
pub use sender::{Ending, Sender, Step};
pub use wire::{Control, FIELD_MAX, Flags, Frame, Layout, WireError};

/// The protocol that sessions are opened for: HTTP, by its TCP port.
pub const HTTP: u32 = 80;

/// Configuration of both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Headers and control messages.
    pub layout: Layout,
    /// Bytes of payload that a session may send at first, in each direction.
    pub credit: u64,
    /// Size of the buffer in front of the transport, in bytes.
    pub write_buffer: u64,
    /// Largest payload of a fragment, in bytes.
    pub fragment: u64,
    /// Largest piece that the application writes, in bytes. None: all that it has.
    pub chunk: Option<u64>,
    /// First bytes of a message, which the application writes by themselves.
    pub head: u64,
}
