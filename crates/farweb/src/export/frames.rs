//! Payload of packets: the frames of HTTP/2 or W3C MUX where a run recorded them, zeros elsewhere.
//!
//! Frames have their true bytes. A header block of HTTP/2 has the facts of a simulation, GET or 200, and a meaningless
//! field that fills it up to its size. Data is zeros. Memory grows with the number of frames, not with their data.

use rustc_hash::FxHashMap;

use crate::http::h2::endpoint::{Frame, Role};
use crate::http::h2::fields::{Head, empty_block};
use crate::http::h2::frame::HEADER_BYTES;
use crate::http::h2::sender::Data;
use crate::http::h2::settings::Settings;
use crate::http::h2::wire;
use crate::http::webmux::{self, Control, HTTP, Layout};
use crate::record::{FrameKind, FrameProtocol, NULL_INT};
use crate::workload::Words;

use super::rows::{ExportError, Sighting, check_lengths, is_up, natural, optional, text};

/// Largest payload of a packet is below 64 KiB.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Largest payload of a frame (RFC 9113, section 4.2), and largest grant and window (section 6.9).
const FRAME_MAX: u64 = (1 << 24) - 1;
const CREDIT_MAX: u32 = (1 << 31) - 1;

/// Some rows of the frame table, by column. All columns are equally long.
///
/// A missing whole number is [`NULL_INT`].
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the columns of the frame table, which says what they are")]
pub struct Frames {
    pub connection: Vec<i64>,
    pub direction: Words,
    pub seq: Vec<i64>,
    pub protocol: Words,
    pub kind: Words,
    pub stream: Vec<i64>,
    pub framing_bytes: Vec<i64>,
    pub data_bytes: Vec<i64>,
    pub ends: Vec<bool>,
    pub credit_bytes: Vec<i64>,
    pub frame_bytes_max: Vec<i64>,
    pub streams_max: Vec<i64>,
}

/// First sequence number of a stream, behind the SYN.
const FIRST_SEQ: i64 = 1;

/// The frames of all connections.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// By connection and direction, in the order of the stream.
    streams: FxHashMap<(u64, bool), Vec<Placed>>,
    buffer: Vec<u8>,
}

/// A frame in a stream.
#[derive(Debug)]
struct Placed {
    seq: u64,
    /// Bytes before its data.
    head: Box<[u8]>,
    /// Zeros behind that: data, and what fills it up.
    zeros: u64,
}

impl Contents {
    /// Adds the frames of some rows, which follow those before in the order of each stream.
    ///
    /// # Errors
    /// When a row is none of a frame table.
    pub(super) fn add(&mut self, rows: &Frames) -> Result<(), ExportError> {
        rows.check()?;
        for row in 0..rows.connection.len() {
            let connection = natural("connection", rows.connection[row])?;
            let is_up = is_up(text("direction", &rows.direction, row)?)
                .ok_or_else(|| rows.unknown("direction", &rows.direction, row))?;
            let placed = rows.placed(row, is_up)?;
            let stream = self.streams.entry((connection, is_up)).or_default();
            if stream.last().is_some_and(|last| last.end() > placed.seq) {
                return Err(ExportError::new("seq", placed.seq.to_string(), "it is in the frame before"));
            }
            stream.push(placed);
        }
        Ok(())
    }

    /// The payload of a packet. No packet has more than is returned here.
    pub(super) fn of(&mut self, packet: &Sighting<'_>) -> &[u8] {
        let length = (packet.segment.len as usize).min(ZEROS.len());
        let seq = packet.segment.seq;
        let Some(frames) = self.streams.get(&(packet.connection, packet.up)) else { return &ZEROS[..length] };
        self.buffer.clear();
        self.buffer.resize(length, 0);
        let first = frames.partition_point(|frame| frame.end() <= seq);
        for Placed { seq: start, head, .. } in
            frames[first..].iter().take_while(|frame| frame.seq < seq + length as u64)
        {
            let skipped = seq.saturating_sub(*start).min(head.len() as u64) as usize;
            let place = start.saturating_sub(seq) as usize;
            let bytes = (head.len() - skipped).min(length - place);
            self.buffer[place..place + bytes].copy_from_slice(&head[skipped..skipped + bytes]);
        }
        &self.buffer
    }
}

impl Placed {
    const fn end(&self) -> u64 {
        self.seq + self.head.len() as u64 + self.zeros
    }
}

impl Frames {
    fn placed(&self, row: usize, is_up: bool) -> Result<Placed, ExportError> {
        let (framing, data): (u64, u64) = (
            natural("framing_bytes", self.framing_bytes[row])?,
            natural("data_bytes", self.data_bytes[row])?,
        );
        let name = text("protocol", &self.protocol, row)?;
        let protocol = FrameProtocol::NAMES
            .iter()
            .position(|known| *known == name)
            .map(|place| FrameProtocol::ALL[place]);
        let head = match protocol.ok_or_else(|| self.unknown("protocol", &self.protocol, row))? {
            FrameProtocol::Http2 => self.http2_head(row, is_up, framing, data)?,
            FrameProtocol::Mux1996 => self.mux_head(row, Layout::Y1996, framing, data)?,
            FrameProtocol::Mux1998 => self.mux_head(row, Layout::Y1998, framing, data)?,
        };
        let zeros = framing + data - head.len() as u64;
        Ok(Placed { seq: natural("seq", self.seq[row])?, head: head.into(), zeros })
    }

    /// The bytes of a frame of HTTP/2 before its data.
    fn http2_head(&self, row: usize, is_up: bool, framing: u64, data: u64) -> Result<Vec<u8>, ExportError> {
        if framing + data > FRAME_MAX {
            return Err(ExportError::new("data_bytes", data.to_string(), "a frame has less than 2^24 B"));
        }
        let frame = self.http2_frame(row, data)?;
        let content = match frame {
            Frame::Head { .. } => block(is_up, framing.saturating_sub(HEADER_BYTES)),
            Frame::Data(_) => vec![0; data as usize],
            _ if data > 0 => return Err(without_data(data)),
            _ => Vec::new(),
        };
        let role = if is_up { Role::Client } else { Role::Server };
        let mut bytes = Vec::new();
        wire::encode(role, &frame, &content, &mut bytes);
        bytes.truncate(bytes.len() - data as usize);
        if bytes.len() as u64 == framing { Ok(bytes) } else { Err(other_framing(framing)) }
    }

    fn http2_frame(&self, row: usize, data: u64) -> Result<Frame<u32>, ExportError> {
        let stream = || natural::<u32>("stream", self.stream[row]);
        let credit = || match natural::<u32>("credit_bytes", self.credit_bytes[row])? {
            credit @ 0..=CREDIT_MAX => Ok(u64::from(credit)),
            credit => {
                Err(ExportError::new("credit_bytes", credit.to_string(), "HTTP/2 has less than 2^31 B"))
            }
        };
        let ends = self.ends[row];
        Ok(match self.kind_of(row)? {
            FrameKind::Settings => Frame::Settings {
                settings: Settings {
                    initial_window: credit()?,
                    max_frame: natural::<u32>("frame_bytes_max", self.frame_bytes_max[row])?.into(),
                    max_streams: optional("streams_max", self.streams_max[row])?,
                },
                opens: self.seq[row] == FIRST_SEQ,
            },
            FrameKind::SettingsAck => Frame::SettingsAck,
            FrameKind::WindowUpdate => {
                let stream = if self.stream[row] == NULL_INT { None } else { Some(stream()?) };
                Frame::Grant { stream, bytes: credit()? }
            }
            FrameKind::Headers => Frame::Head { stream: stream()?, text: 0, ends },
            FrameKind::Data => Frame::Data(Data { stream: stream()?, bytes: data, ends }),
            FrameKind::RstStream => Frame::Reset(stream()?),
            FrameKind::GoAway => Frame::GoAway,
            FrameKind::Ping => Frame::Ping(0),
            FrameKind::PingAck => Frame::PingAck(0),
            FrameKind::Syn | FrameKind::Fragment | FrameKind::Fin | FrameKind::Rst | FrameKind::AddCredit => {
                return Err(self.unknown("kind", &self.kind, row));
            }
        })
    }

    /// The header of a frame of W3C MUX.
    fn mux_head(&self, row: usize, layout: Layout, framing: u64, data: u64) -> Result<Vec<u8>, ExportError> {
        let session: u8 = natural("stream", self.stream[row])?;
        let frame = match self.kind_of(row)? {
            FrameKind::Syn => webmux::Frame::open(session, HTTP),
            FrameKind::Fragment => {
                webmux::Frame::fragment(session, natural("data_bytes", self.data_bytes[row])?)
            }
            FrameKind::Fin => webmux::Frame::end(session, false),
            FrameKind::Rst => webmux::Frame::end(session, true),
            FrameKind::AddCredit => {
                let bytes = natural("credit_bytes", self.credit_bytes[row])?;
                webmux::Frame::Control(Control::AddCredit { session, bytes })
            }
            _ => return Err(self.unknown("kind", &self.kind, row)),
        };
        if u64::from(frame.payload()) != data {
            return Err(without_data(data));
        }
        if frame.header(layout) + frame.padding(layout) != framing {
            return Err(other_framing(framing));
        }
        Ok(frame.encode(layout))
    }

    fn kind_of(&self, row: usize) -> Result<FrameKind, ExportError> {
        let name = text("kind", &self.kind, row)?;
        let place = FrameKind::NAMES.iter().position(|known| *known == name);
        place.map(|place| FrameKind::ALL[place]).ok_or_else(|| self.unknown("kind", &self.kind, row))
    }

    fn unknown(&self, column: &'static str, words: &Words, row: usize) -> ExportError {
        let found = text(column, words, row).unwrap_or_default();
        ExportError::new(column, format!("\"{found}\""), "that is not a word of the frame table")
    }

    fn check(&self) -> Result<(), ExportError> {
        let lengths = [
            ("direction", self.direction.codes.len()),
            ("seq", self.seq.len()),
            ("protocol", self.protocol.codes.len()),
            ("kind", self.kind.codes.len()),
            ("stream", self.stream.len()),
            ("framing_bytes", self.framing_bytes.len()),
            ("data_bytes", self.data_bytes.len()),
            ("ends", self.ends.len()),
            ("credit_bytes", self.credit_bytes.len()),
            ("frame_bytes_max", self.frame_bytes_max.len()),
            ("streams_max", self.streams_max.len()),
        ];
        check_lengths("every column has as many as connection", self.connection.len(), &lengths)
    }
}

fn without_data(data: u64) -> ExportError {
    ExportError::new("data_bytes", data.to_string(), "such a frame has no data")
}

fn other_framing(framing: u64) -> ExportError {
    ExportError::new("framing_bytes", framing.to_string(), "such a frame has another size")
}

/// A header block of `size` bytes.
fn block(is_up: bool, size: u64) -> Vec<u8> {
    let head = if is_up {
        Head::Get { authority: "", path: "/" }
    } else {
        Head::Answer { is_found: true, length: None }
    };
    head.block(size).unwrap_or_else(|| empty_block(size))
}
