//! Settings: what each end of an HTTP/2 connection tells the other about how it wants to be sent to.
//!
//! Models the settings that change bytes and times: the credit of a stream, the largest frame, how many streams may be open. Leaves
//! out pushes and the limit on the size of headers.
//!
//! Source: RFC 9113, section 6.5.

use super::frame::HEADER_BYTES;

/// A setting as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Which one.
    pub id: u16,
    /// Its value.
    pub value: u32,
}

/// Bytes of a setting in a frame.
const ENTRY_BYTES: u64 = 6;

impl Entry {
    /// Setting number `id` is `value`.
    #[must_use]
    pub const fn new(id: u16, value: u32) -> Self {
        Self { id, value }
    }

    pub(super) const fn decode([i0, i1, v0, v1, v2, v3]: [u8; 6]) -> Self {
        Self { id: u16::from_be_bytes([i0, i1]), value: u32::from_be_bytes([v0, v1, v2, v3]) }
    }

    pub(super) const fn encode(self) -> [u8; 6] {
        let ([i0, i1], [v0, v1, v2, v3]) = (self.id.to_be_bytes(), self.value.to_be_bytes());
        [i0, i1, v0, v1, v2, v3]
    }
}

/// How an end wants to be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Credit that streams begin with, in bytes, up to 2^31 - 1.
    pub initial_window: u64,
    /// Largest payload of a frame, in bytes, 16,384 to 16,777,215.
    pub max_frame: u64,
    /// Streams that the other end may have open at once; `None`: any number.
    pub max_streams: Option<u32>,
}

impl Settings {
    /// What holds before anything was said.
    ///
    /// Source: RFC 9113, section 6.5.2.
    pub const DEFAULT: Self = Self { initial_window: 65_535, max_frame: 16_384, max_streams: None };

    /// Bytes of the SETTINGS frame with these, each that is not the default.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let said = [
            self.initial_window != Self::DEFAULT.initial_window,
            self.max_frame != Self::DEFAULT.max_frame,
            self.max_streams != Self::DEFAULT.max_streams,
        ];
        HEADER_BYTES + ENTRY_BYTES * said.into_iter().filter(|is_said| *is_said).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::h2::frame::{Body, Frame};

    #[test]
    fn a_frame_has_the_settings_that_are_not_the_default() {
        let bytes_of = |entries: &[Entry]| {
            let mut bytes = Vec::new();
            Frame { stream: 0, body: Body::Settings(entries.to_vec()) }.encode(&mut bytes);
            bytes.len() as u64
        };
        assert_eq!(Settings::DEFAULT.bytes(), bytes_of(&[]));
        let settings = Settings { max_streams: Some(100), initial_window: 1 << 20, ..Settings::DEFAULT };
        assert_eq!(settings.bytes(), bytes_of(&[Entry::new(3, 100), Entry::new(4, 1 << 20)]));
    }
}
