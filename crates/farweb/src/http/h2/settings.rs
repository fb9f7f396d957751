//! Settings: how each end of an HTTP/2 connection asks the other to send to it.
//!
//! Models the settings that change bytes and times: the credit of a stream, the largest frame, how many streams may be open. Leaves
//! out pushes and the limit on the size of headers.
//!
//! Source: RFC 9113, section 6.5.

use crate::http::credit::Window;

use super::frame::{FrameError, HEADER_BYTES};

/// A setting as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Identifier of the setting.
    pub id: u16,
    /// Its value.
    pub value: u32,
}

/// Bytes of a setting in a frame.
const ENTRY_BYTES: u64 = 6;

/// Numbers of settings.
///
/// Source: RFC 9113, section 6.5.2.
mod id {
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 0x3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 0x4;
    pub(super) const MAX_FRAME_SIZE: u16 = 0x5;
}

/// Sizes of frames that an end may ask for.
const MAX_FRAMES: std::ops::RangeInclusive<u32> = 16_384..=16_777_215;

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

/// Settings of an end: how it wants to be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Credit that streams begin with, in bytes, up to 2^31 - 1.
    pub initial_window: u64,
    /// Largest payload of a frame, in bytes, 16,384 to 16,777,215.
    pub max_frame: u64,
    /// Streams that the other end may have open at once. `None`: any number.
    pub max_streams: Option<u32>,
}

impl Settings {
    /// Settings in force before any frame.
    ///
    /// Source: RFC 9113, section 6.5.2.
    pub const DEFAULT: Self = Self { initial_window: 65_535, max_frame: 16_384, max_streams: None };

    /// Settings other than the default, as entries of a SETTINGS frame.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let default = Self::DEFAULT;
        let streams = self.max_streams.filter(|_| self.max_streams != default.max_streams);
        let window = (self.initial_window != default.initial_window).then_some(self.initial_window as u32);
        let frame = (self.max_frame != default.max_frame).then_some(self.max_frame as u32);
        let entries = [
            streams.map(|streams| Entry::new(id::MAX_CONCURRENT_STREAMS, streams)),
            window.map(|window| Entry::new(id::INITIAL_WINDOW_SIZE, window)),
            frame.map(|frame| Entry::new(id::MAX_FRAME_SIZE, frame)),
        ];
        entries.into_iter().flatten().collect()
    }

    /// Bytes of the SETTINGS frame with these, each that is not the default.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        HEADER_BYTES + ENTRY_BYTES * self.entries().len() as u64
    }

    /// Settings in force after a SETTINGS frame on top of these. Settings that change neither bytes nor times are ignored.
    ///
    /// # Errors
    /// When a value is not one that its setting may have.
    pub fn with(mut self, entries: &[Entry]) -> Result<Self, FrameError> {
        for &Entry { id, value } in entries {
            match id {
                id::MAX_CONCURRENT_STREAMS => self.max_streams = Some(value),
                id::INITIAL_WINDOW_SIZE if u64::from(value) > Window::MAX => {
                    return Err(FrameError::FlowControl);
                }
                id::INITIAL_WINDOW_SIZE => self.initial_window = u64::from(value),
                id::MAX_FRAME_SIZE if !MAX_FRAMES.contains(&value) => return Err(FrameError::Protocol),
                id::MAX_FRAME_SIZE => self.max_frame = u64::from(value),
                _ => {}
            }
        }
        Ok(self)
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
    #[test]
    fn what_is_said_holds_and_the_rest_stays() {
        let settings = Settings { max_streams: Some(100), initial_window: 1 << 20, max_frame: 20_000 };
        assert_eq!(Settings::DEFAULT.with(&settings.entries()), Ok(settings));
        let table_size = Entry::new(1, 0);
        assert_eq!(settings.with(&[table_size]), Ok(settings));
        assert_eq!(settings.with(&[Entry::new(3, 7)]), Ok(Settings { max_streams: Some(7), ..settings }));
    }

    #[test]
    fn a_value_out_of_range_is_an_error() {
        let with = |id, value| Settings::DEFAULT.with(&[Entry::new(id, value)]);
        assert_eq!(with(4, 1 << 31), Err(FrameError::FlowControl));
        assert!(with(4, (1 << 31) - 1).is_ok());
        assert_eq!(with(5, 16_383), Err(FrameError::Protocol));
        assert_eq!(with(5, 1 << 24), Err(FrameError::Protocol));
        assert!(with(5, (1 << 24) - 1).is_ok());
    }
}
