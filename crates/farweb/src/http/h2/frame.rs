//! Frames of HTTP/2, as bytes.
//!
//! Models the layout of every frame of RFC 9113 and of PRIORITY_UPDATE (RFC 9218). A simulation counts frames by the
//! sizes here and makes no bytes. Bytes serve the exchange with other programs, and keep the sizes true. Leaves out the
//! meaning of frames on their stream (order, open or not), and the text of header blocks.
//!
//! Source: RFC 9113, sections 3.4, 4.1 and 6; RFC 9218, section 7.1.

use super::settings::Entry;

/// Preface, which a client sends first.
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a frame without its payload.
pub const HEADER_BYTES: u64 = 9;

/// A frame on a stream. Stream 0 is the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its stream, below 2^31.
    pub stream: u32,
    /// Its payload.
    pub body: Body<'a>,
}

/// Payload of a frame, by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields have the names of RFC 9113, section 6")]
pub enum Body<'a> {
    /// Bytes of a message.
    Data { data: &'a [u8], padding: Padding, end_stream: bool },
    /// The beginning of a header block.
    Headers {
        block: &'a [u8],
        padding: Padding,
        priority: Option<Priority>,
        end_stream: bool,
        end_headers: bool,
    },
    /// A priority of RFC 7540, deprecated.
    Priority(Priority),
    /// The stream ends here.
    RstStream { code: u32 },
    /// SETTINGS: how the sender wants to be sent to.
    Settings(Vec<Entry>),
    /// The settings of the other end are in force.
    SettingsAck,
    /// A request that the server makes for the client.
    PushPromise { promised: u32, block: &'a [u8], padding: Padding, end_headers: bool },
    /// Asks if the other end is there, or answers with the same bytes.
    Ping { opaque: [u8; 8], ack: bool },
    /// No stream behind `last` is answered.
    GoAway { last: u32, code: u32, debug: &'a [u8] },
    /// A grant of credit, 1 to 2^31 - 1 bytes.
    WindowUpdate { increment: u32 },
    /// More of a header block.
    Continuation { block: &'a [u8], end_headers: bool },
    /// A priority of RFC 9218, as the text of a header field.
    PriorityUpdate { prioritized: u32, field: &'a [u8] },
    /// A frame of an unknown type, which is ignored.
    Unknown { kind: u8, flags: u8, payload: &'a [u8] },
}

/// Bytes behind the data, where there is a byte for their number.
pub type Padding = Option<u8>;

/// Dependency and weight of RFC 7540.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// True when the stream is the only one to depend on that one.
    pub exclusive: bool,
    /// The stream that it depends on.
    pub dependency: u32,
    /// Its weight less 1.
    pub weight: u8,
}

/// Error in a frame, by the error code of RFC 9113, section 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Its length is none for its type, or above the limit.
    #[error("FRAME_SIZE_ERROR")]
    FrameSize,
    /// It may not be on its stream, or has more padding than payload, or grants nothing, or has a setting out of range.
    #[error("PROTOCOL_ERROR")]
    Protocol,
    /// It gives more credit than there may be.
    #[error("FLOW_CONTROL_ERROR")]
    FlowControl,
}

mod kind {
    pub(super) const DATA: u8 = 0x0;
    pub(super) const HEADERS: u8 = 0x1;
    pub(super) const PRIORITY: u8 = 0x2;
    pub(super) const RST_STREAM: u8 = 0x3;
    pub(super) const SETTINGS: u8 = 0x4;
    pub(super) const PUSH_PROMISE: u8 = 0x5;
    pub(super) const PING: u8 = 0x6;
    pub(super) const GOAWAY: u8 = 0x7;
    pub(super) const WINDOW_UPDATE: u8 = 0x8;
    pub(super) const CONTINUATION: u8 = 0x9;
    pub(super) const PRIORITY_UPDATE: u8 = 0x10;

    pub(super) const fn is_known(kind: u8) -> bool {
        kind <= CONTINUATION || kind == PRIORITY_UPDATE
    }
}

mod flag {
    /// END_STREAM, and the ACK of SETTINGS and PING.
    pub(super) const END_STREAM: u8 = 0x1;
    pub(super) const ACK: u8 = 0x1;
    pub(super) const END_HEADERS: u8 = 0x4;
    pub(super) const PADDED: u8 = 0x8;
    pub(super) const PRIORITY: u8 = 0x20;
}

/// All but the reserved bit of a stream number.
const STREAM_MASK: u32 = (1 << 31) - 1;

impl<'a> Frame<'a> {
    /// The frame that `bytes` begin with, and how many of them it takes. `None` while some are missing. Its payload is
    /// at most `max_frame` bytes.
    ///
    /// # Errors
    /// The error in it, which is known before all of it is there.
    pub fn decode(bytes: &'a [u8], max_frame: u32) -> Result<Option<(Self, usize)>, FrameError> {
        let Some((head, rest)) = bytes.split_first_chunk::<9>() else {
            return Ok(None);
        };
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = *head;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        if length > max_frame {
            return Err(FrameError::FrameSize);
        }
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & STREAM_MASK;
        let Some(payload) = rest.get(..length as usize) else {
            return Ok(None);
        };
        let body = Body::decode(kind, flags, stream, payload)?;
        Ok(Some((Self { stream, body }, head.len() + payload.len())))
    }

    /// Stream, length and END_STREAM of the frame that `bytes` begin with, when it is one of data without padding: it can be read
    /// before all of it is there.
    pub(super) fn data_header(bytes: &[u8]) -> Option<(u32, u32, bool)> {
        let [l0, l1, l2, kind::DATA, flags, s0, s1, s2, s3] = *bytes.first_chunk::<9>()? else {
            return None;
        };
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & STREAM_MASK;
        let length = u32::from_be_bytes([0, l0, l1, l2]);
        (flags & flag::PADDED == 0).then_some((stream, length, flags & flag::END_STREAM != 0))
    }

    /// Appends the frame to `bytes`.
    ///
    /// # Panics
    /// When its payload is 2^24 bytes or more.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        bytes.extend([0; HEADER_BYTES as usize]);
        let (kind, flags) = self.body.encode(bytes);
        let length = u32::try_from(bytes.len() - start - HEADER_BYTES as usize).unwrap_or(u32::MAX);
        assert!(length < 1 << 24, "the payload of a frame is below 2^24 B");
        let [_, l0, l1, l2] = length.to_be_bytes();
        let [s0, s1, s2, s3] = (self.stream & STREAM_MASK).to_be_bytes();
        bytes[start..start + HEADER_BYTES as usize]
            .copy_from_slice(&[l0, l1, l2, kind, flags, s0, s1, s2, s3]);
    }
}

impl<'a> Body<'a> {
    fn decode(kind: u8, flags: u8, stream: u32, payload: &'a [u8]) -> Result<Self, FrameError> {
        let has = |flag: u8| flags & flag != 0;
        if kind::is_known(kind) && kind != kind::WINDOW_UPDATE {
            let is_of_connection =
                matches!(kind, kind::SETTINGS | kind::PING | kind::GOAWAY | kind::PRIORITY_UPDATE);
            if is_of_connection != (stream == 0) {
                return Err(FrameError::Protocol);
            }
        }
        let (end_stream, end_headers) = (has(flag::END_STREAM), has(flag::END_HEADERS));
        Ok(match kind {
            kind::DATA => {
                let (data, padding) = unpad(payload, has(flag::PADDED))?;
                Self::Data { data, padding, end_stream }
            }
            kind::HEADERS => {
                let (rest, padding) = unpad(payload, has(flag::PADDED))?;
                let (priority, block) = match has(flag::PRIORITY) {
                    true => {
                        let (fields, block) = rest.split_first_chunk().ok_or(FrameError::FrameSize)?;
                        (Some(Priority::decode(*fields)), block)
                    }
                    false => (None, rest),
                };
                Self::Headers { block, padding, priority, end_stream, end_headers }
            }
            kind::PRIORITY => Self::Priority(Priority::decode(whole(payload)?)),
            kind::RST_STREAM => Self::RstStream { code: u32::from_be_bytes(whole(payload)?) },
            kind::SETTINGS if has(flag::ACK) => {
                let [] = whole(payload)?;
                Self::SettingsAck
            }
            kind::SETTINGS => {
                let (entries, rest) = payload.as_chunks();
                let [] = whole(rest)?;
                Self::Settings(entries.iter().map(|entry| Entry::decode(*entry)).collect())
            }
            kind::PUSH_PROMISE => {
                let (rest, padding) = unpad(payload, has(flag::PADDED))?;
                let (promised, block) = rest.split_first_chunk().ok_or(FrameError::FrameSize)?;
                let promised = u32::from_be_bytes(*promised) & STREAM_MASK;
                Self::PushPromise { promised, block, padding, end_headers }
            }
            kind::PING => Self::Ping { opaque: whole(payload)?, ack: has(flag::ACK) },
            kind::GOAWAY => {
                let ([l0, l1, l2, l3, c0, c1, c2, c3], debug) =
                    payload.split_first_chunk::<8>().ok_or(FrameError::FrameSize)?;
                let last = u32::from_be_bytes([*l0, *l1, *l2, *l3]) & STREAM_MASK;
                Self::GoAway { last, code: u32::from_be_bytes([*c0, *c1, *c2, *c3]), debug }
            }
            kind::WINDOW_UPDATE => {
                let increment = u32::from_be_bytes(whole(payload)?) & STREAM_MASK;
                if increment == 0 {
                    return Err(FrameError::Protocol);
                }
                Self::WindowUpdate { increment }
            }
            kind::CONTINUATION => Self::Continuation { block: payload, end_headers },
            kind::PRIORITY_UPDATE => {
                let (prioritized, field) = payload.split_first_chunk().ok_or(FrameError::FrameSize)?;
                Self::PriorityUpdate { prioritized: u32::from_be_bytes(*prioritized) & STREAM_MASK, field }
            }
            _ => Self::Unknown { kind, flags, payload },
        })
    }

    /// Appends the payload. The type and the flags that go with it.
    fn encode(&self, bytes: &mut Vec<u8>) -> (u8, u8) {
        let when = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        match *self {
            Self::Data { data, padding, end_stream } => {
                pad(bytes, padding, |bytes| bytes.extend(data));
                (kind::DATA, when(padding.is_some(), flag::PADDED) | when(end_stream, flag::END_STREAM))
            }
            Self::Headers { block, padding, priority, end_stream, end_headers } => {
                pad(bytes, padding, |bytes| {
                    if let Some(priority) = priority {
                        bytes.extend(priority.encode());
                    }
                    bytes.extend(block);
                });
                let flags = when(padding.is_some(), flag::PADDED) | when(priority.is_some(), flag::PRIORITY);
                let ends = when(end_stream, flag::END_STREAM) | when(end_headers, flag::END_HEADERS);
                (kind::HEADERS, flags | ends)
            }
            Self::Priority(priority) => {
                bytes.extend(priority.encode());
                (kind::PRIORITY, 0)
            }
            Self::RstStream { code } => {
                bytes.extend(code.to_be_bytes());
                (kind::RST_STREAM, 0)
            }
            Self::Settings(ref entries) => {
                entries.iter().for_each(|entry| bytes.extend(entry.encode()));
                (kind::SETTINGS, 0)
            }
            Self::SettingsAck => (kind::SETTINGS, flag::ACK),
            Self::PushPromise { promised, block, padding, end_headers } => {
                pad(bytes, padding, |bytes| {
                    bytes.extend((promised & STREAM_MASK).to_be_bytes());
                    bytes.extend(block);
                });
                let flags = when(padding.is_some(), flag::PADDED) | when(end_headers, flag::END_HEADERS);
                (kind::PUSH_PROMISE, flags)
            }
            Self::Ping { opaque, ack } => {
                bytes.extend(opaque);
                (kind::PING, when(ack, flag::ACK))
            }
            Self::GoAway { last, code, debug } => {
                bytes.extend((last & STREAM_MASK).to_be_bytes());
                bytes.extend(code.to_be_bytes());
                bytes.extend(debug);
                (kind::GOAWAY, 0)
            }
            Self::WindowUpdate { increment } => {
                bytes.extend((increment & STREAM_MASK).to_be_bytes());
                (kind::WINDOW_UPDATE, 0)
            }
            Self::Continuation { block, end_headers } => {
                bytes.extend(block);
                (kind::CONTINUATION, when(end_headers, flag::END_HEADERS))
            }
            Self::PriorityUpdate { prioritized, field } => {
                bytes.extend((prioritized & STREAM_MASK).to_be_bytes());
                bytes.extend(field);
                (kind::PRIORITY_UPDATE, 0)
            }
            Self::Unknown { kind, flags, payload } => {
                bytes.extend(payload);
                (kind, flags)
            }
        }
    }
}

impl Priority {
    fn decode([d0, d1, d2, d3, weight]: [u8; 5]) -> Self {
        let word = u32::from_be_bytes([d0, d1, d2, d3]);
        Self { exclusive: word > STREAM_MASK, dependency: word & STREAM_MASK, weight }
    }

    fn encode(self) -> [u8; 5] {
        let word = self.dependency & STREAM_MASK | u32::from(self.exclusive) << 31;
        let [d0, d1, d2, d3] = word.to_be_bytes();
        [d0, d1, d2, d3, self.weight]
    }
}

/// All of a payload that has one length.
fn whole<const N: usize>(payload: &[u8]) -> Result<[u8; N], FrameError> {
    payload.try_into().map_err(|_| FrameError::FrameSize)
}

/// A payload without its padding.
fn unpad(payload: &[u8], is_padded: bool) -> Result<(&[u8], Padding), FrameError> {
    if !is_padded {
        return Ok((payload, None));
    }
    let (&padding, rest) = payload.split_first().ok_or(FrameError::FrameSize)?;
    let data = rest.len().checked_sub(usize::from(padding)).ok_or(FrameError::Protocol)?;
    Ok((&rest[..data], Some(padding)))
}

/// Appends a payload between the number of its padding bytes and those.
fn pad(bytes: &mut Vec<u8>, padding: Padding, payload: impl FnOnce(&mut Vec<u8>)) {
    bytes.extend(padding);
    payload(bytes);
    bytes.extend(std::iter::repeat_n(0, padding.map_or(0, usize::from)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Largest payload without a setting.
    const MAX_FRAME: u32 = 16_384;

    fn bytes_of(stream: u32, body: Body) -> Vec<u8> {
        let mut bytes = Vec::new();
        Frame { stream, body }.encode(&mut bytes);
        bytes
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn frames_have_the_bytes_of_a_capture() {
        // As nghttp 1.52 sent them: its settings, a grant for stream 1, the farewell.
        let settings = Body::Settings(vec![Entry::new(3, 100), Entry::new(4, 65_535)]);
        assert_eq!(hex(&bytes_of(0, settings)), "00000c04000000000000030000006400040000ffff");
        assert_eq!(hex(&bytes_of(1, Body::WindowUpdate { increment: 32_768 })), "00000408000000000100008000");
        assert_eq!(
            hex(&bytes_of(0, Body::GoAway { last: 0, code: 0, debug: b"" })),
            "0000080700000000000000000000000000"
        );
        assert_eq!(hex(&bytes_of(0, Body::SettingsAck)), "000000040100000000");
    }

    #[test]
    fn what_is_wrong_with_a_frame_is_named() {
        let decode = |text: &str| {
            let bytes: Vec<u8> = (0..text.len() / 2)
                .map(|place| u8::from_str_radix(&text[2 * place..2 * place + 2], 16).expect("hex"))
                .collect();
            Frame::decode(&bytes, MAX_FRAME).map(|frame| frame.map(|(_, taken)| taken))
        };
        assert_eq!(decode("00000000"), Ok(None), "some of the header is missing");
        assert_eq!(decode("000002000000000001aa"), Ok(None), "some of the payload is missing");
        assert_eq!(decode("004001000000000001"), Err(FrameError::FrameSize), "16,385 B");
        assert_eq!(decode("00000408000000000100000000"), Err(FrameError::Protocol), "it grants nothing");
        assert_eq!(decode("000000000000000000"), Err(FrameError::Protocol), "data for the connection");
        assert_eq!(
            decode("000008060000000001aaaaaaaaaaaaaaaa"),
            Err(FrameError::Protocol),
            "a ping on a stream"
        );
        assert_eq!(decode("00000206000000000000aa"), Err(FrameError::FrameSize), "a ping of 2 B");
        assert_eq!(decode("00000104010000000000"), Err(FrameError::FrameSize), "an ACK with a payload");
        assert_eq!(decode("00000504000000000000030000ff"), Err(FrameError::FrameSize), "half a setting");
        assert_eq!(decode("0000020008000000010300"), Err(FrameError::Protocol), "more padding than payload");
        assert_eq!(decode("000002ff080000000003ff"), Ok(Some(11)), "nobody knows this one");
    }

    /// Bytes that stand in for data, header blocks and texts.
    static BYTES: [u8; 300] = [0x5a; 300];

    fn frames() -> impl Strategy<Value = Frame<'static>> {
        let payload = (0..BYTES.len()).prop_map(|length| &BYTES[..length]);
        let priority = (any::<bool>(), 0..=STREAM_MASK, any::<u8>())
            .prop_map(|(exclusive, dependency, weight)| Priority { exclusive, dependency, weight });
        let parts =
            (payload, any::<Padding>(), proptest::option::of(priority), any::<(bool, bool, u32, [u8; 8])>());
        let entries = prop::collection::vec((any::<u16>(), any::<u32>()), 0..8);
        (0..12_u8, 1..=STREAM_MASK, 0..=STREAM_MASK, 0x11..=u8::MAX, entries, parts).prop_map(
            |(which, stream, number, kind, entries, (payload, padding, priority, rest))| {
                let (end_stream, end_headers, code, opaque) = rest;
                let body = match which {
                    0 => Body::Data { data: payload, padding, end_stream },
                    1 => Body::Headers { block: payload, padding, priority, end_stream, end_headers },
                    2 => Body::Priority(priority.unwrap_or(Priority {
                        exclusive: false,
                        dependency: 0,
                        weight: 15,
                    })),
                    3 => Body::RstStream { code },
                    4 => Body::PushPromise { promised: number, block: payload, padding, end_headers },
                    5 => Body::Continuation { block: payload, end_headers },
                    6 => Body::WindowUpdate { increment: stream },
                    7 => Body::Unknown { kind, flags: opaque[0], payload },
                    8 => {
                        Body::Settings(entries.into_iter().map(|(id, value)| Entry::new(id, value)).collect())
                    }
                    9 => Body::Ping { opaque, ack: end_stream },
                    10 => Body::GoAway { last: number, code, debug: payload },
                    _ => Body::PriorityUpdate { prioritized: number, field: payload },
                };
                Frame { stream: if which < 8 { stream } else { 0 }, body }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(frame in frames(), behind in prop::collection::vec(any::<u8>(), 0..20)) {
            let mut bytes = Vec::new();
            frame.encode(&mut bytes);
            let length = bytes.len();
            bytes.extend(&behind);
            prop_assert_eq!(Frame::decode(&bytes, MAX_FRAME), Ok(Some((frame, length))));
            prop_assert_eq!(Frame::decode(&bytes[..length - 1], MAX_FRAME), Ok(None));
        }

        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(Some((frame, taken))) = Frame::decode(&bytes, MAX_FRAME) {
                let mut again = Vec::new();
                frame.encode(&mut again);
                prop_assert_eq!(again.len(), taken);
                prop_assert_eq!(Frame::decode(&again, MAX_FRAME), Ok(Some((frame, taken))));
            }
        }
    }
}
