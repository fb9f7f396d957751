//! Recorded packets for other programs: captures (pcapng) and time–sequence plots (xplot).
//!
//! Sans-IO: rows of the packet table go in as columns, in the table's order, and the bytes of a file come out. Memory does
//! not grow with their number. Nothing is simulated, and no file is opened.

mod frames;
mod headers;
mod pcapng;
mod rows;
#[cfg(test)]
mod tests;
mod xplot;

pub use frames::Frames;
pub use pcapng::{Payload, Pcapng};
pub use rows::{ExportError, Packets, Point, Route};
pub use xplot::Xplot;
