//! The one-way TCP of ns-2: a [`Sender`] (`Agent/TCP/Reno`) and a [`Sink`] (`Agent/TCPSink`).
//!
//! Models these agents. Data goes one way in packets of one size, the last one too. The sink acknowledges packets with
//! 40-byte ACKs. The window is a constant. There is no handshake (with [`Profile::syn`] packet 0 stands for one), no close,
//! no receiver's window, no Nagle algorithm and no stream of bytes.
//!
//! Leaves out everything without a constant in the profile: ECN, Quick-Start, F-RTO, timestamps, the window options besides
//! the standard increase of one packet a window, limits on connection attempts, and the idle timer beyond its first expiry,
//! which changes nothing more. Where a late duplicate ACK would make ns-2 send a packet beyond the end of the data, nothing
//! is sent here.
//!
//! The agents count packets, from 0. In a [`Segment`](super::Segment) packets stand as the bytes that they carry, as in
//! every other stack: number 0 is the SYN, the first byte has number 1. As ns-2 counts headers in its own way,
//! [`Profile::packet_bytes`] gives sizes on the wire, not the segment.
//!
//! Source: ns-2.35 (2011), `tcp/tcp.cc`, `tcp/tcp-reno.cc`, `tcp/tcp-sink.cc`, `tcl/lib/ns-default.tcl`, `CHANGES.html`.

mod packets;
mod profile;
mod rtt;
mod sender;
mod sink;

#[cfg(test)]
mod tests;

pub use profile::{Overrides, Profile};
pub use sender::Sender;
pub use sink::Sink;
