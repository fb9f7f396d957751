//! Captures in the format pcapng, which Wireshark, tshark and tcpdump read.
//!
//! A file has an interface for each capture point, in the order given, and a packet for each row seen there. Rows of
//! other points and of drops are left out. Packets begin with their IPv4 header (`LINKTYPE_RAW`). Times are nanoseconds
//! since the start of the run: a capture begins near 1970-01-01 00:00:00 UTC. At an end each packet says if
//! it
//! came in or went out.
//!
//! Source: draft-ietf-opsawg-pcapng (PCAP Next Generation Capture File Format), sections 3 and 4.

use super::frames::{Contents, Frames};
use super::headers::Headers;
use super::rows::{ExportError, Packets, Point, Reader, Route, Sighting};
use crate::record::PacketEvent;

/// Block types (section 11.1 of the draft).
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// Option codes.
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;

/// Marks the byte order of a section.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Packets that begin with an IPv4 or IPv6 header (tcpdump.org's list of link-layer header types).
const LINKTYPE_RAW: u16 = 101;

/// Times in units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Part of a packet's payload that a capture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// Nothing, as with a snap length: packets have their headers and the field of their whole length.
    None,
    /// All of it, as frames where the run recorded them and else as zeros: the file is as large as the traffic, and programs can
    /// verify TCP checksums.
    Whole,
}

/// Writes a capture.
#[derive(Debug)]
pub struct Pcapng {
    route: Route,
    points: Vec<Point>,
    payload: Payload,
    headers: Headers,
    contents: Contents,
    packets: u64,
}

impl Pcapng {
    /// A capture at `points`.
    #[must_use]
    pub fn new(route: Route, points: Vec<Point>, payload: Payload) -> Self {
        Self {
            route,
            points,
            payload,
            headers: Headers::default(),
            contents: Contents::default(),
            packets: 0,
        }
    }

    /// Appends the beginning of the file to `out`: what made it, `comment` for people, and the interfaces.
    pub fn start(&self, comment: &str, out: &mut Vec<u8>) {
        block(SECTION_HEADER, out, |out| {
            out.extend_from_slice(&BYTE_ORDER.to_le_bytes());
            out.extend_from_slice(&1_u16.to_le_bytes());
            out.extend_from_slice(&0_u16.to_le_bytes());
            out.extend_from_slice(&u64::MAX.to_le_bytes()); // length of the section: unknown
            option(COMMENT, comment.as_bytes(), out);
            option(APPLICATION, format!("farweb {}", crate::VERSION).as_bytes(), out);
            option(END_OF_OPTIONS, &[], out);
        });
        for point in &self.points {
            block(INTERFACE, out, |out| {
                out.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
                out.extend_from_slice(&[0; 2]);
                out.extend_from_slice(&0_u32.to_le_bytes()); // no snap length
                option(INTERFACE_NAME, self.route.name(*point).as_bytes(), out);
                option(INTERFACE_DESCRIPTION, self.description(*point).as_bytes(), out);
                option(TIME_RESOLUTION, &[NANOSECONDS], out);
                option(END_OF_OPTIONS, &[], out);
            });
        }
    }

    /// Takes note of the frames of some rows, before the packets that they are in.
    ///
    /// # Errors
    /// When a row is none of a frame table.
    pub fn add_frames(&mut self, rows: &Frames) -> Result<(), ExportError> {
        self.contents.add(rows)
    }

    /// Appends the packets of some rows to `out`.
    ///
    /// # Errors
    /// When a row is none of a packet table.
    pub fn add(&mut self, rows: &Packets, out: &mut Vec<u8>) -> Result<(), ExportError> {
        let Self { route, points, payload, headers, contents, packets } = self;
        let reader = Reader::new(rows, route)?;
        for row in 0..reader.len() {
            let packet = reader.sighting(row)?;
            let Some(interface) = points.iter().position(|point| *point == packet.point) else { continue };
            if packet.event != PacketEvent::Drop {
                let content = contents.of(&packet);
                let kept = if *payload == Payload::Whole { content } else { &[] };
                enhanced_packet(interface as u32, &packet, out, |out| {
                    let length = headers.write(&packet, route, content, out)?;
                    out.extend_from_slice(kept);
                    Ok(length)
                })?;
                *packets += 1;
            }
        }
        Ok(())
    }

    /// Packets written so far.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    fn description(&self, point: Point) -> String {
        match point {
            Point::End(node) => format!("the host {}", self.route.node(node)),
            Point::Link(link) => {
                let (near, far) = (self.route.node(link), self.route.node(link + 1));
                format!("the link {near} – {far}, at {near}")
            }
        }
    }
}

/// Appends a packet. `write` appends the captured bytes and returns the whole length.
fn enhanced_packet(
    interface: u32,
    packet: &Sighting<'_>,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<u32, ExportError>,
) -> Result<(), ExportError> {
    let mut problem = None;
    block(ENHANCED_PACKET, out, |out| {
        out.extend_from_slice(&interface.to_le_bytes());
        out.extend_from_slice(&((packet.time_ns >> 32) as u32).to_le_bytes());
        out.extend_from_slice(&(packet.time_ns as u32).to_le_bytes());
        let lengths = out.len();
        out.extend_from_slice(&[0; 8]);
        match write(out) {
            Ok(length) => {
                let captured = (out.len() - lengths - 8) as u32;
                out[lengths..lengths + 4].copy_from_slice(&captured.to_le_bytes());
                out[lengths + 4..lengths + 8].copy_from_slice(&length.to_le_bytes());
            }
            Err(error) => problem = Some(error),
        }
        pad(out);
        let way: u32 = match packet.event {
            PacketEvent::Receive => 1,
            PacketEvent::Send => 2,
            PacketEvent::Drop | PacketEvent::Pass => return,
        };
        option(PACKET_FLAGS, &way.to_le_bytes(), out);
        option(END_OF_OPTIONS, &[], out);
    });
    problem.map_or(Ok(()), Err)
}

/// Appends a block: its type, its length, what `write` appends, and its length again.
fn block(kind: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    write(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out.extend_from_slice(&length);
    out[start + 4..start + 8].copy_from_slice(&length);
}

fn option(code: u16, value: &[u8], out: &mut Vec<u8>) {
    // Names and comments of more than 64 KiB are cut.
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(&(value.len() as u16).to_le_bytes());
    out.extend_from_slice(value);
    pad(out);
}

/// Fills up to a multiple of 4 bytes. Every block begins at one.
fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}
