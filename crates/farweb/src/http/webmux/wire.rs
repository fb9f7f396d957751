//! The bytes of W3C MUX: headers and their payloads, in both layouts that ran.
//!
//! Models the header word of October 1996 (libwww and Jigsaw, the programs of the experiment of 1997) and of the drafts
//! of December 1997 to August 1998 (ILU), fragments, control messages, and padding. Leaves out the layout of March
//! 1996, and the text inside messages that define strings and stacks. Chosen, where no source says: in the layout of
//! 1996 every control message with a number in a second word sets the flag of a long header. In 1998's a number beyond
//! 18 bits does.
//!
//! Sources: W3C libwww 5.0, `HTMuxHeader.h` and `HTMuxTx.c`; W3C Jigsaw, package `org.w3c.www.mux`, `MUX.java` and
//! `MuxWriter.java`; Xerox ILU 2.0, `runtime/kernel/w3mux.c`; J. Gettys and H. Nielsen, W3C WD-mux-19980722.

use serde::{Deserialize, Serialize};

/// Layout of the header word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Layout {
    /// October 1996: little-endian words.
    #[default]
    #[serde(rename = "1996")]
    Y1996,
    /// December 1997 to August 1998: big-endian words.
    #[serde(rename = "1998")]
    Y1998,
}

/// Largest number in the field of a header word: 18 bits.
pub const FIELD_MAX: u32 = (1 << 18) - 1;

/// A header, field by field: one word, or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Words {
    session: u8,
    control: bool,
    /// Flags of a fragment (SYN, FIN, RST, PUSH from the highest), or the code of a control message.
    nibble: u8,
    /// Length or protocol, 18 bits.
    field: u32,
    /// The second word of a long header.
    second: Option<u32>,
}

/// Flags of a fragment: its effects on the session, besides carrying payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Opens it.
    pub syn: bool,
    /// This side sends nothing more.
    pub fin: bool,
    /// Ends it at once, in both directions.
    pub rst: bool,
    /// A message of the layer above ends here.
    pub push: bool,
}

/// A header with its meaning. On the wire [`payload`](Self::payload) bytes follow, then padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Payload of a session, or a flag for it.
    Fragment {
        /// Session.
        session: u8,
        /// Flags.
        flags: Flags,
        /// Protocol of the session, 18 bits, in a SYN.
        protocol: u32,
        /// Bytes of payload.
        length: u32,
        /// True when the header has two words.
        long: bool,
    },
    /// Something else, without payload of a session.
    Control(Control),
}

/// A control message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// A name for a string of `length` bytes, which follow: DefineString of 1996, InternAtom of 1998, where it is below 256.
    DefineString {
        /// Its number.
        id: u32,
        /// Bytes that follow.
        length: u32,
    },
    /// A stack of protocols, or in 1998 an endpoint: `length` bytes follow.
    DefineStack {
        /// Its number.
        id: u32,
        /// Bytes that follow.
        length: u32,
    },
    /// Largest fragment that the sender of this takes: MuxControl of 1996, SetMSS of 1998.
    SetMss {
        /// Session, 0 for all.
        session: u8,
        /// Bytes of payload.
        bytes: u32,
    },
    /// Grant of so many more bytes of payload: SendCredit of 1996, AddCredit of 1998.
    AddCredit {
        /// Session.
        session: u8,
        /// Bytes of payload.
        bytes: u32,
    },
    /// Initial credit of sessions opened from now on, 1998.
    SetDefaultCredit {
        /// Bytes of payload.
        bytes: u32,
    },
    /// Nothing: `length` bytes follow, to be skipped. 1998.
    NoOp {
        /// Bytes that follow.
        length: u32,
    },
}

/// Bytes that are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A control message with a code that the layout does not have.
    #[error("{0} is no code of a control message")]
    UnknownCode(u8),
    /// A field that must be zero in the layout.
    #[error("a {0} has something where nothing should be")]
    NotEmpty(&'static str),
}

impl Layout {
    const fn word(self, words: Words) -> [u8; 4] {
        let Words { session, control, nibble, field, second } = words;
        let (session, nibble) = (session as u32, nibble as u32);
        let (long, control) = (second.is_some() as u32, control as u32);
        match self {
            Self::Y1996 => (long << 31 | control << 30 | nibble << 26 | session << 18 | field).to_le_bytes(),
            Self::Y1998 => (session << 24 | control << 23 | nibble << 19 | long << 18 | field).to_be_bytes(),
        }
    }

    const fn second_word(self, value: u32) -> [u8; 4] {
        match self {
            Self::Y1996 => value.to_le_bytes(),
            Self::Y1998 => value.to_be_bytes(),
        }
    }

    const fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Y1996 => u32::from_le_bytes(bytes),
            Self::Y1998 => u32::from_be_bytes(bytes),
        }
    }

    /// The header at the beginning of `bytes`, or none while incomplete.
    fn words(self, bytes: &[u8]) -> Option<Words> {
        let (first, rest) = bytes.split_first_chunk()?;
        let word = self.number(*first);
        let (session, nibble, control, long) = match self {
            Self::Y1996 => (word >> 18, word >> 26, word >> 30 & 1, word >> 31),
            Self::Y1998 => (word >> 24, word >> 19, word >> 23 & 1, word >> 18 & 1),
        };
        let second = match long {
            0 => None,
            _ => Some(self.number(*rest.first_chunk()?)),
        };
        let (session, nibble) = (session as u8, nibble as u8 & 0xF);
        Some(Words { session, control: control == 1, nibble, field: word & FIELD_MAX, second })
    }
}

impl Flags {
    const fn nibble(self) -> u8 {
        (self.syn as u8) << 3 | (self.fin as u8) << 2 | (self.rst as u8) << 1 | self.push as u8
    }

    const fn of(nibble: u8) -> Self {
        Self { syn: nibble & 8 != 0, fin: nibble & 4 != 0, rst: nibble & 2 != 0, push: nibble & 1 != 0 }
    }
}

impl Frame {
    /// The SYN that opens a session: as ILU and Jigsaw send it, in the long form, without payload.
    #[must_use]
    pub const fn open(session: u8, protocol: u32) -> Self {
        let flags = Flags { syn: true, fin: false, rst: false, push: false };
        Self::Fragment { session, flags, protocol: protocol & FIELD_MAX, length: 0, long: true }
    }

    /// A fragment with `length` bytes of payload, in the short form where that holds it.
    #[must_use]
    pub const fn fragment(session: u8, length: u32) -> Self {
        let flags = Flags { syn: false, fin: false, rst: false, push: false };
        Self::Fragment { session, flags, protocol: 0, length, long: length > FIELD_MAX }
    }

    /// A fragment without payload that ends this side of a session, or with `at_once` all of it.
    #[must_use]
    pub const fn end(session: u8, at_once: bool) -> Self {
        let flags = Flags { syn: false, fin: !at_once, rst: at_once, push: false };
        Self::Fragment { session, flags, protocol: 0, length: 0, long: false }
    }

    /// Bytes of its header.
    #[must_use]
    pub fn header(&self, layout: Layout) -> u64 {
        if self.words(layout).second.is_some() { 8 } else { 4 }
    }

    /// Bytes that follow its header, without padding.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        match *self {
            Self::Fragment { length, .. } => length,
            Self::Control(
                Control::DefineString { length, .. }
                | Control::DefineStack { length, .. }
                | Control::NoOp { length },
            ) => length,
            Self::Control(_) => 0,
        }
    }

    /// Bytes behind those, which fill the last word, or the last two after a long header.
    #[must_use]
    pub fn padding(&self, layout: Layout) -> u64 {
        let payload = u64::from(self.payload());
        payload.next_multiple_of(self.header(layout)) - payload
    }

    /// The header as it is on the wire.
    #[must_use]
    pub fn encode(&self, layout: Layout) -> Vec<u8> {
        let words = self.words(layout);
        let mut bytes = layout.word(words).to_vec();
        bytes.extend(words.second.map(|value| layout.second_word(value)).into_iter().flatten());
        bytes
    }

    /// The frame with its header at the beginning of `bytes`, or none while incomplete.
    ///
    /// # Errors
    /// When the layout has no such header.
    pub fn decode(bytes: &[u8], layout: Layout) -> Result<Option<Self>, WireError> {
        let Some(words) = layout.words(bytes) else {
            return Ok(None);
        };
        let frame = if words.control { Self::control(words, layout)? } else { Self::of_session(words)? };
        Ok(Some(frame))
    }

    const fn of_session(words: Words) -> Result<Self, WireError> {
        let Words { session, nibble, field, second, .. } = words;
        let flags = Flags::of(nibble);
        let (protocol, length) = match (flags.syn, second) {
            (true, Some(length)) => (field, length),
            (true, None) => (field, 0),
            (false, Some(_)) if field != 0 => return Err(WireError::NotEmpty("long fragment")),
            (false, Some(length)) => (0, length),
            (false, None) => (0, field),
        };
        Ok(Self::Fragment { session, flags, protocol, length, long: second.is_some() })
    }

    fn control(words: Words, layout: Layout) -> Result<Self, WireError> {
        let Words { session, nibble, field, second, .. } = words;
        let value = second.unwrap_or(field);
        let (id, length) = match layout {
            Layout::Y1996 => (field, second.unwrap_or(0)),
            Layout::Y1998 => (session.into(), value),
        };
        let control = match (nibble, layout) {
            (0, _) => Control::DefineString { id, length },
            (1, _) => Control::DefineStack { id, length },
            (2, _) => Control::SetMss { session, bytes: value },
            (3, _) => Control::AddCredit { session, bytes: value },
            (4, Layout::Y1998) => Control::SetDefaultCredit { bytes: value },
            (5, Layout::Y1998) => Control::NoOp { length: value },
            (code, _) => return Err(WireError::UnknownCode(code)),
        };
        let frame = Self::Control(control);
        // What says the same in other bytes is no header of the layout.
        if frame.words(layout) == words { Ok(frame) } else { Err(WireError::NotEmpty("control message")) }
    }

    fn words(&self, layout: Layout) -> Words {
        match *self {
            Self::Fragment { session, flags, protocol, length, long } => {
                let field = if flags.syn {
                    protocol
                } else if long {
                    0
                } else {
                    length
                };
                let second = long.then_some(length);
                Words { session, control: false, nibble: flags.nibble(), field, second }
            }
            Self::Control(control) => control.words(layout),
        }
    }
}

impl Control {
    const fn words(self, layout: Layout) -> Words {
        let (nibble, session, id, value) = match self {
            Self::DefineString { id, length } => (0, 0, id, length),
            Self::DefineStack { id, length } => (1, 0, id, length),
            Self::SetMss { session, bytes } => (2, session, 0, bytes),
            Self::AddCredit { session, bytes } => (3, session, 0, bytes),
            Self::SetDefaultCredit { bytes } => (4, 0, 0, bytes),
            Self::NoOp { length } => (5, 0, 0, length),
        };
        let is_named = matches!(self, Self::DefineString { .. } | Self::DefineStack { .. });
        let in_second = match layout {
            Layout::Y1996 => is_named || matches!(self, Self::AddCredit { .. }) || value > FIELD_MAX,
            Layout::Y1998 => value > FIELD_MAX,
        };
        let session = if is_named && matches!(layout, Layout::Y1998) { id as u8 } else { session };
        let field = match layout {
            Layout::Y1996 if is_named => id & FIELD_MAX,
            _ if in_second => 0,
            _ => value,
        };
        let second = if in_second { Some(value) } else { None };
        Words { session, control: true, nibble, field, second }
    }
}
