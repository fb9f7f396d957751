//! One end of an HTTP/2 connection on a socket: farweb's endpoint decides which frames go, here are their bytes.
//!
//! Nothing here knows a rule of HTTP/2 but one, as a check on the peer: it sends no more data than it was granted. Leaves out
//! padding, header blocks in several frames and trailers. Where the peer uses them that is a problem.

use std::collections::BTreeMap;

use farweb::http::credit::Window;
use farweb::http::h2::endpoint::{Config, Endpoint, Frame, Role};
use farweb::http::h2::fields::Head;
use farweb::http::h2::frame::{Body, HEADER_BYTES};
use farweb::http::h2::sender::Data;
use farweb::http::h2::settings::Settings;
use farweb::http::h2::wire::{self, Piece, Reader};
use farweb::units::Instant;
use loona_hpack::Decoder;
use serde::Serialize;

use crate::endpoint::Socket;

/// Bytes that wait for the socket before the endpoint is asked for another frame: few, so it decides late.
const WRITE_BYTES: usize = 16_384;

/// An end of a connection.
pub(crate) struct Session {
    role: Role,
    endpoint: Endpoint<u32, ()>,
    reader: Reader,
    blocks: Decoder<'static>,
    received: Vec<u8>,
    to_write: Vec<u8>,
    messages: BTreeMap<u32, Message>,
    /// Bytes that the peer may send, on the whole connection and on each stream.
    granted: Window,
    granted_streams: BTreeMap<u32, Window>,
    stream_credit: u64,
    report: SessionReport,
}

/// Report on a session.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SessionReport {
    /// Frames by the names of RFC 9113.
    sent: BTreeMap<&'static str, u64>,
    received: BTreeMap<&'static str, u64>,
    problem: Option<String>,
}

/// A message of ours.
struct Message {
    head: OwnHead,
    body: Vec<u8>,
    sent: usize,
}

/// Content of a message's header block.
pub(crate) enum OwnHead {
    Get { authority: String, path: String },
    Answer { is_found: bool },
}

/// Messages of the peer.
pub(crate) enum Heard {
    /// The fields of a message.
    Head { stream: u32, fields: BTreeMap<String, String>, ends: bool },
    /// The next bytes of one.
    Data { stream: u32, bytes: Vec<u8>, ends: bool },
}

impl Session {
    pub(crate) fn new(role: Role, config: &Config) -> Self {
        let peer = match role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        Self {
            role,
            endpoint: Endpoint::new(role, config),
            reader: Reader::new(peer, config.max_frame),
            blocks: Decoder::new(),
            received: Vec::new(),
            to_write: Vec::new(),
            messages: BTreeMap::new(),
            granted: Window::new(Settings::DEFAULT.initial_window),
            granted_streams: BTreeMap::new(),
            stream_credit: config.credit.stream,
            report: SessionReport::default(),
        }
    }

    /// Streams that the peer lets us have open.
    pub(crate) const fn max_streams(&self) -> u32 {
        self.endpoint.max_streams()
    }

    /// A message is there to be sent.
    pub(crate) fn begin(&mut self, stream: u32, head: OwnHead, body: Vec<u8>) {
        self.endpoint.begin(stream, (), 0, body.is_empty());
        if !body.is_empty() {
            self.endpoint.send(stream, body.len() as u64, true);
        }
        self.messages.insert(stream, Message { head, body, sent: 0 });
    }

    pub(crate) fn go_away(&mut self) {
        self.endpoint.go_away();
    }

    /// Reports `problem`, unless one came before it.
    pub(crate) fn fail(&mut self, problem: String) {
        self.report.problem.get_or_insert(problem);
    }

    pub(crate) const fn has_failed(&self) -> bool {
        self.report.problem.is_some()
    }

    pub(crate) fn into_report(self) -> SessionReport {
        self.report
    }

    /// Messages since the last call.
    pub(crate) fn read(&mut self, socket: &mut Socket) -> Vec<Heard> {
        self.received.extend(socket.read(u64::MAX));
        let received = std::mem::take(&mut self.received);
        let (mut heard, mut start) = (Vec::new(), 0);
        while !self.has_failed() {
            match self.reader.read(&received[start..]) {
                Ok(Some((piece, taken))) => {
                    start += taken;
                    match self.hear(socket.now, piece) {
                        Ok(said) => heard.extend(said),
                        Err(problem) => self.fail(problem),
                    }
                }
                Ok(None) => break,
                Err(problem) => self.fail(problem.to_string()),
            }
        }
        self.received = received[start..].to_vec();
        heard
    }

    fn hear(&mut self, now: Instant, piece: Piece<'_>) -> Result<Option<Heard>, String> {
        match piece {
            Piece::Data(data, bytes, left) => {
                if left == 0 {
                    count(&mut self.report.received, "DATA");
                }
                self.charge(&data, bytes.len() as u64)?;
                self.endpoint.on_data(now, &data, bytes.len() as u64, left);
                let (stream, ends) = (data.stream, data.ends && left == 0);
                Ok(Some(Heard::Data { stream, bytes: bytes.to_vec(), ends }))
            }
            Piece::Frame(frame, body) => {
                count(&mut self.report.received, name(&frame));
                if let Body::GoAway { code: code @ 1.., .. } | Body::RstStream { code: code @ 1.. } = body {
                    return Err(format!("{} with error code {code}", name(&frame)));
                }
                self.endpoint.on_frame(now, &frame);
                self.said(&frame, &body)
            }
            Piece::Other(frame) => match frame.body {
                Body::Priority(_) => {
                    count(&mut self.report.received, "PRIORITY");
                    Ok(None)
                }
                body => Err(format!("{body:?} is left out")),
            },
        }
    }

    fn said(&mut self, frame: &Frame<u32>, body: &Body<'_>) -> Result<Option<Heard>, String> {
        let (Frame::Head { stream, ends, .. }, Body::Headers { block, .. }) = (*frame, body) else {
            return Ok(None);
        };
        if !ends {
            self.granted_streams.entry(stream).or_insert(Window::new(self.stream_credit));
        }
        let fields = self.blocks.decode(block).map_err(|problem| format!("{problem:?}"))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let fields = fields.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        Ok(Some(Heard::Head { stream, fields, ends }))
    }

    /// Checks that the peer may send so much.
    fn charge(&mut self, data: &Data<u32>, bytes: u64) -> Result<(), String> {
        let stream = self.granted_streams.get_mut(&data.stream);
        let stream = stream.ok_or_else(|| format!("data on stream {}, which has no header", data.stream))?;
        for window in [&mut self.granted, stream] {
            window.charge(bytes);
            if window.credit() < 0 {
                return Err(format!(
                    "stream {} has {} B more than were granted",
                    data.stream,
                    -window.credit()
                ));
            }
        }
        Ok(())
    }

    /// Sends what there is to be sent, as far as the socket takes it.
    pub(crate) fn write(&mut self, socket: &mut Socket) {
        loop {
            while self.to_write.len() < WRITE_BYTES
                && let Some((frame, framing)) = self.endpoint.next_frame(socket.now)
            {
                if let Err(problem) = self.encode(&frame, framing) {
                    return self.fail(problem);
                }
            }
            let written = socket.write(&self.to_write);
            self.to_write.drain(..written);
            if written == 0 {
                break;
            }
        }
    }

    /// True when the socket has all that there is to be sent.
    pub(crate) fn is_written(&self) -> bool {
        self.to_write.is_empty() && !self.endpoint.has_frame()
    }

    /// Appends a frame to the bytes to write. The endpoint sets its length.
    fn encode(&mut self, frame: &Frame<u32>, framing: u64) -> Result<(), String> {
        count(&mut self.report.sent, name(frame));
        let before = self.to_write.len() as u64;
        match *frame {
            Frame::Head { stream, .. } => {
                let block = self.messages[&stream].block(framing - HEADER_BYTES)?;
                wire::encode(self.role, frame, &block, &mut self.to_write);
                self.granted_streams.entry(stream).or_insert(Window::new(self.stream_credit));
            }
            Frame::Data(Data { stream, bytes, .. }) => {
                let message = self.messages.get_mut(&stream).expect("a message that began");
                let data = &message.body[message.sent..][..bytes as usize];
                wire::encode(self.role, frame, data, &mut self.to_write);
                message.sent += bytes as usize;
            }
            _ => wire::encode(self.role, frame, &[], &mut self.to_write),
        }
        if let Frame::Settings { settings, .. } = *frame {
            let before = std::mem::replace(&mut self.stream_credit, settings.initial_window);
            for window in self.granted_streams.values_mut() {
                let changed = window.change_initial(before, settings.initial_window);
                changed.map_err(|problem| problem.to_string())?;
            }
        }
        if let Frame::Grant { stream, bytes } = *frame {
            let window = match stream {
                Some(stream) => self.granted_streams.get_mut(&stream),
                None => Some(&mut self.granted),
            };
            window.map_or(Ok(()), |window| window.grant(bytes)).map_err(|problem| problem.to_string())?;
        }
        let data = if let Frame::Data(data) = frame { data.bytes } else { 0 };
        match self.to_write.len() as u64 - before {
            bytes if bytes == framing + data => Ok(()),
            bytes => Err(format!("{frame:?} has {bytes} B, and the endpoint says {}", framing + data)),
        }
    }
}

impl Message {
    fn block(&self, size: u64) -> Result<Vec<u8>, String> {
        let head = match &self.head {
            OwnHead::Get { authority, path } => Head::Get { authority, path },
            OwnHead::Answer { is_found } => {
                Head::Answer { is_found: *is_found, length: Some(self.body.len() as u64) }
            }
        };
        head.block(size).ok_or_else(|| format!("{head:?} has no room in {size} B"))
    }
}

fn count(frames: &mut BTreeMap<&'static str, u64>, name: &'static str) {
    *frames.entry(name).or_default() += 1;
}

/// Its name in RFC 9113, section 6.
const fn name(frame: &Frame<u32>) -> &'static str {
    match frame {
        Frame::Settings { .. } | Frame::SettingsAck => "SETTINGS",
        Frame::Ping(_) | Frame::PingAck(_) => "PING",
        Frame::Grant { .. } => "WINDOW_UPDATE",
        Frame::Head { .. } => "HEADERS",
        Frame::Data(_) => "DATA",
        Frame::Reset(_) => "RST_STREAM",
        Frame::GoAway => "GOAWAY",
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("role", &self.role)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
