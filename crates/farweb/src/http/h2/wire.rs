//! Bytes of the stream that an [`Endpoint`](super::endpoint::Endpoint) sends and receives.
//!
//! Models the preface and every frame of the endpoint, its stream numbers included. Data is read as it comes, in the middle of its
//! frame. Header blocks and data are the caller's. Leaves out padding and CONTINUATION, which are handed on as they are, like the
//! frames that an endpoint does not know.
//!
//! Source: RFC 9113, sections 3.4, 4 and 6.

use super::endpoint::{Frame, Role};
use super::frame::{self, Body, FrameError, HEADER_BYTES, PREFACE};
use super::sender::Data;
use super::settings::Settings;

/// Error code of a message that is given up (RFC 9113, section 7).
const CANCEL: u32 = 0x8;

/// Appends a frame that an end has to send. `content` is the header block of a head, or the data.
///
/// A GOAWAY says that no stream of the other end was taken, as a client has it to say that knows no pushes.
///
/// # Panics
/// When the data is not as long as its frame says, or a grant is above 2^31 - 1 B.
pub fn encode(role: Role, frame: &Frame<u32>, content: &[u8], bytes: &mut Vec<u8>) {
    let (stream, body) = match *frame {
        Frame::Settings { settings, opens } => {
            if opens && role == Role::Client {
                bytes.extend(PREFACE);
            }
            (0, Body::Settings(settings.entries()))
        }
        Frame::SettingsAck => (0, Body::SettingsAck),
        Frame::Grant { stream, bytes } => {
            let increment = u32::try_from(bytes).expect("a grant is below 2^31 B");
            (stream.unwrap_or(0), Body::WindowUpdate { increment })
        }
        Frame::Head { stream, ends, .. } => {
            let body = Body::Headers {
                block: content,
                padding: None,
                priority: None,
                end_stream: ends,
                end_headers: true,
            };
            (stream, body)
        }
        Frame::Data(Data { stream, bytes, ends }) => {
            assert_eq!(content.len() as u64, bytes, "the data of a frame");
            (stream, Body::Data { data: content, padding: None, end_stream: ends })
        }
        Frame::Reset(stream) => (stream, Body::RstStream { code: CANCEL }),
        Frame::Ping(opaque) => (0, Body::Ping { opaque: opaque.to_be_bytes(), ack: false }),
        Frame::PingAck(opaque) => (0, Body::Ping { opaque: opaque.to_be_bytes(), ack: true }),
        Frame::GoAway => (0, Body::GoAway { last: 0, code: 0, debug: b"" }),
    };
    frame::Frame { stream, body }.encode(bytes);
}

/// Takes apart the bytes of the other end.
#[derive(Debug, Clone)]
pub struct Reader {
    /// True when the preface has to come first.
    awaits_preface: bool,
    /// Largest payload of a frame.
    max_frame: u32,
    settings: Settings,
    /// True when no settings have been read.
    is_first: bool,
    /// The frame with data that is being read, and what of it is to come.
    data: Option<(Data<u32>, u64)>,
}

/// Piece of a stream, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A frame without data, and all that it carries.
    Frame(Frame<u32>, Body<'a>),
    /// The next bytes of a frame with data, and how many of it are to come.
    Data(Data<u32>, &'a [u8], u64),
    /// A frame that no endpoint knows, or one with padding, or a header block in more than one.
    Other(frame::Frame<'a>),
}

impl Reader {
    /// Reads the bytes of an end in `role`, to one with settings that allow frames of `max_frame` bytes.
    #[must_use]
    pub const fn new(role: Role, max_frame: u64) -> Self {
        Self {
            awaits_preface: matches!(role, Role::Client),
            max_frame: max_frame as u32,
            settings: Settings::DEFAULT,
            is_first: true,
            data: None,
        }
    }

    /// The first piece of `bytes` and its length, or `None` while it is not whole.
    ///
    /// # Errors
    /// When it is not what HTTP/2 has there.
    pub fn read<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, FrameError> {
        if self.awaits_preface {
            let common = bytes.len().min(PREFACE.len());
            if bytes[..common] != PREFACE[..common] {
                return Err(FrameError::Protocol);
            }
            let Some((piece, taken)) = self.read_frame(&bytes[common..])? else { return Ok(None) };
            self.awaits_preface = false;
            return Ok(Some((piece, common + taken)));
        }
        match self.data {
            Some((data, left)) => Ok(self.read_data(data, left, bytes)),
            None => self.read_frame(bytes),
        }
    }

    fn read_frame<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(Piece<'a>, usize)>, FrameError> {
        if let Some((stream, length, ends)) = frame::Frame::data_header(bytes) {
            if length > self.max_frame {
                return Err(FrameError::FrameSize);
            }
            if stream == 0 {
                return Err(FrameError::Protocol);
            }
            let data = Data { stream, bytes: u64::from(length), ends };
            let header = HEADER_BYTES as usize;
            let read = self.read_data(data, data.bytes, &bytes[header..]);
            return Ok(read.map(|(piece, taken)| (piece, header + taken)));
        }
        let Some((whole, taken)) = frame::Frame::decode(bytes, self.max_frame)? else { return Ok(None) };
        let piece = match self.known(&whole)? {
            Some(known) => Piece::Frame(known, whole.body),
            None => Piece::Other(whole),
        };
        Ok(Some((piece, taken)))
    }

    /// The next bytes of a frame with data. All of an empty one.
    fn read_data<'a>(&mut self, data: Data<u32>, left: u64, bytes: &'a [u8]) -> Option<(Piece<'a>, usize)> {
        let taken = bytes.len().min(left as usize);
        if taken == 0 && left > 0 {
            return None;
        }
        let left = left - taken as u64;
        self.data = (left > 0).then_some((data, left));
        Some((Piece::Data(data, &bytes[..taken], left), taken))
    }

    /// A frame as endpoints know it.
    fn known(&mut self, frame: &frame::Frame<'_>) -> Result<Option<Frame<u32>>, FrameError> {
        let stream = frame.stream;
        Ok(Some(match frame.body {
            Body::Settings(ref entries) => {
                self.settings = self.settings.with(entries)?;
                let opens = std::mem::replace(&mut self.is_first, false);
                Frame::Settings { settings: self.settings, opens }
            }
            Body::SettingsAck => Frame::SettingsAck,
            Body::WindowUpdate { increment } => Frame::Grant {
                stream: Some(stream).filter(|stream| *stream != 0),
                bytes: u64::from(increment),
            },
            Body::Headers { padding: None, end_headers: true, end_stream, .. } => {
                Frame::Head { stream, text: 0, ends: end_stream }
            }
            Body::RstStream { .. } => Frame::Reset(stream),
            Body::Ping { opaque, ack: false } => Frame::Ping(u64::from_be_bytes(opaque)),
            Body::Ping { opaque, ack: true } => Frame::PingAck(u64::from_be_bytes(opaque)),
            Body::GoAway { .. } => Frame::GoAway,
            _ => return Ok(None),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::h2::endpoint::Endpoint;
    use crate::http::h2::fields::Head;
    use crate::http::h2::preset::Preset;
    use crate::units::Instant;
    use proptest::prelude::*;

    /// Everything that two ends of this program say while one fetches `sizes` from the other, as bytes: the client's, the server's.
    fn conversation(preset: Preset, sizes: &[u64], read: usize) -> [Vec<u8>; 2] {
        const ROLES: [Role; 2] = [Role::Client, Role::Server];
        let mut ends = ROLES.map(|role| Endpoint::new(role, &preset.config(role)));
        let [client, server] = ROLES.map(|role| preset.config(role).max_frame);
        let mut readers = [Reader::new(Role::Server, client), Reader::new(Role::Client, server)];
        let mut streams = [Vec::new(), Vec::new()];
        let (mut heard, mut data) = ([0, 0], vec![0; sizes.len()]);
        for stream in 0..sizes.len() as u32 {
            ends[0].begin(2 * stream + 1, 0_u8, 300, true);
        }
        while ends.iter().any(Endpoint::has_frame) {
            for (from, to) in [(0, 1), (1, 0)] {
                while let Some((frame, framing)) = ends[from].next_frame(Instant::ZERO) {
                    let before = streams[from].len() as u64;
                    write(ROLES[from], &frame, framing, &mut streams[from]);
                    let payload = if let Frame::Data(data) = frame { data.bytes } else { 0 };
                    assert_eq!(streams[from].len() as u64 - before, framing + payload, "{frame:?}");
                }
                let (mut start, mut end) = (heard[to], heard[to]);
                while end < streams[from].len() {
                    end = (end + read).min(streams[from].len());
                    while let Some((piece, taken)) =
                        readers[to].read(&streams[from][start..end]).expect("frames")
                    {
                        start += taken;
                        if let Piece::Data(of, bytes, _) = &piece {
                            data[(of.stream / 2) as usize] += bytes.len() as u64;
                        }
                        hear(&mut ends[to], to, &piece, sizes);
                    }
                }
                heard[to] = start;
                assert_eq!(start, streams[from].len());
            }
        }
        assert_eq!(data, sizes);
        streams
    }

    fn write(role: Role, frame: &Frame<u32>, framing: u64, stream: &mut Vec<u8>) {
        let content = match (frame, role) {
            (Frame::Head { .. }, Role::Client) => Head::Get { authority: "host", path: "/" }
                .block(framing - HEADER_BYTES)
                .expect("there is room"),
            (Frame::Head { .. }, Role::Server) => {
                let answer = Head::Answer { is_found: true, length: None };
                answer.block(framing - HEADER_BYTES).expect("there is room")
            }
            (Frame::Data(data), _) => vec![0; data.bytes as usize],
            _ => Vec::new(),
        };
        encode(role, frame, &content, stream);
    }

    fn hear(end: &mut Endpoint<u32, u8>, place: usize, piece: &Piece<'_>, sizes: &[u64]) {
        match piece {
            Piece::Frame(frame, _) => {
                end.on_frame(Instant::ZERO, frame);
                if let (Frame::Head { stream, .. }, 1) = (frame, place) {
                    let size = sizes[(*stream / 2) as usize];
                    end.begin(*stream, 0, 100, size == 0);
                    if size > 0 {
                        end.send(*stream, size, true);
                    }
                }
            }
            Piece::Data(data, bytes, left) => end.on_data(Instant::ZERO, data, bytes.len() as u64, *left),
            Piece::Other(frame) => panic!("{frame:?}"),
        }
    }

    #[test]
    fn two_ends_talk_in_bytes_as_they_do_in_frames() {
        let [up, down] = conversation(Preset::Nghttp2, &[1_000_000], 1448);
        let grants = 60 * 13;
        assert_eq!(up.len(), 24 + (9 + 6) + (9 + 120) + 9 + grants, "as many grants as nghttp sends");
        assert_eq!(
            down.len(),
            (9 + 6) + 9 + (9 + 150) + 1_000_000 + 62 * 9,
            "as many frames as nghttpd sends"
        );
    }

    #[test]
    fn a_preface_comes_first() {
        let mut reader = Reader::new(Role::Client, 16_384);
        assert_eq!(reader.read(&PREFACE[..10]), Ok(None));
        assert_eq!(reader.read(PREFACE), Ok(None));
        assert_eq!(reader.read(b"GET / HTTP"), Err(FrameError::Protocol));
        let mut bytes = Vec::new();
        let settings = Frame::Settings { settings: Settings::DEFAULT, opens: true };
        encode(Role::Client, &settings, &[], &mut bytes);
        assert_eq!(reader.read(&bytes), Ok(Some((Piece::Frame(settings, Body::Settings(vec![])), 33))));
        encode(Role::Server, &Frame::SettingsAck, &[], &mut bytes);
        assert_eq!(
            reader.read(&bytes[33..]),
            Ok(Some((Piece::Frame(Frame::SettingsAck, Body::SettingsAck), 9)))
        );
    }

    #[test]
    fn data_is_read_as_it_comes() {
        let data = Data { stream: 1, bytes: 5, ends: true };
        let mut bytes = Vec::new();
        encode(Role::Server, &Frame::Data(data), b"films", &mut bytes);
        let mut reader = Reader::new(Role::Server, 16_384);
        assert_eq!(reader.read(&bytes[..9]), Ok(None));
        assert_eq!(reader.read(&bytes[..11]), Ok(Some((Piece::Data(data, b"fi", 3), 11))));
        assert_eq!(reader.read(b""), Ok(None));
        assert_eq!(reader.read(b"lmsabc"), Ok(Some((Piece::Data(data, b"lms", 0), 3))));
        let empty = Data { stream: 1, bytes: 0, ends: true };
        bytes.clear();
        encode(Role::Server, &Frame::Data(empty), b"", &mut bytes);
        assert_eq!(reader.read(&bytes), Ok(Some((Piece::Data(empty, b"", 0), 9))));
    }

    #[test]
    fn settings_come_on_top_of_those_before() {
        let mut reader = Reader::new(Role::Server, 16_384);
        let first = Settings { max_streams: Some(128), initial_window: 65_536, ..Settings::DEFAULT };
        for (settings, opens) in [(first, true), (Settings { initial_window: 1 << 20, ..first }, false)] {
            let mut bytes = Vec::new();
            let sent = Frame::Settings { settings, opens };
            encode(Role::Server, &sent, &[], &mut bytes);
            let read = reader.read(&bytes).expect("settings").expect("all of them").0;
            assert!(matches!(read, Piece::Frame(frame, _) if frame == sent));
        }
    }

    #[test]
    fn a_question_comes_back_with_its_bytes() {
        let mut end = Endpoint::<u32, u8>::new(Role::Server, &Preset::Nghttp2.config(Role::Server));
        end.next_frame(Instant::ZERO).expect("settings");
        let mut bytes = Vec::new();
        encode(Role::Client, &Frame::Ping(0x0204_1010_090e_0707), &[], &mut bytes);
        assert_eq!(bytes, [0, 0, 8, 6, 0, 0, 0, 0, 0, 2, 4, 16, 16, 9, 14, 7, 7], "as gRPC sends it");
        let read = Reader::new(Role::Server, 16_384).read(&bytes).expect("a frame").expect("all of it").0;
        let Piece::Frame(asked, _) = read else { panic!("{read:?}") };
        end.on_frame(Instant::ZERO, &asked);
        let (answer, size) = end.next_frame(Instant::ZERO).expect("an answer");
        bytes.clear();
        encode(Role::Server, &answer, &[], &mut bytes);
        assert_eq!(bytes, [0, 0, 8, 6, 1, 0, 0, 0, 0, 2, 4, 16, 16, 9, 14, 7, 7]);
        assert_eq!(size, 17);
    }

    #[test]
    fn what_may_not_be_is_an_error() {
        let read = |bytes: &[u8]| Reader::new(Role::Server, 16_384).read(bytes).map(|piece| piece.is_some());
        assert_eq!(
            read(&[0, 0, 1, 0, 0, 0, 0, 0, 0, 7]),
            Err(FrameError::Protocol),
            "data for the connection"
        );
        assert_eq!(read(&[0, 0x40, 1, 0, 0, 0, 0, 0, 1]), Err(FrameError::FrameSize), "16,385 B");
        assert_eq!(read(&[0, 0, 2, 0, 8, 0, 0, 0, 1, 1, 0]), Ok(true), "padding is left to the caller");
    }

    proptest! {
        #[test]
        fn messages_are_whole_however_they_are_read(
            sizes in prop::collection::vec(0..200_000_u64, 1..6),
            read in 1..20_000_usize,
            preset in prop::sample::select(vec![Preset::Nghttp2, Preset::Nginx, Preset::Chrome, Preset::Hyper, Preset::Grpc]),
        ) {
            conversation(preset, &sizes, read);
        }

        #[test]
        fn any_bytes_are_pieces_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400), is_client: bool) {
            let mut reader = Reader::new(if is_client { Role::Client } else { Role::Server }, 16_384);
            let mut rest = &bytes[..];
            while let Ok(Some((_, taken))) = reader.read(rest) {
                prop_assert!(taken > 0);
                rest = &rest[taken..];
            }
        }
    }
}
