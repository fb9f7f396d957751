//! What an end of an HTTP/2 connection grants for the data that it gets.
//!
//! Models a credit for the connection and one for each stream, each returned by the same rule. Data is counted as it is read, in the
//! middle of a frame, or by whole frames. The connection's credit is raised with the first bytes that the end sends; that of a
//! stream, where it is raised, when its headers or its first data have come. Leaves out readers that are slower than the network.
//!
//! Source: RFC 9113, sections 5.2 and 6.9; implementations, each where it is described.

use crate::http::credit::{GrantRule, Grants};

use super::settings::Settings;

/// How an end gives credit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credit {
    /// Of a stream, as SETTINGS have it, in bytes.
    pub stream: u64,
    /// To what that of a stream is raised later, and when.
    pub raised: Option<(u64, RaiseAt)>,
    /// Of the connection, in bytes, at least 65,535.
    pub connection: u64,
    /// When it is returned.
    pub rule: GrantRule,
    /// What is counted.
    pub counts: Counts,
}

/// When the credit of a stream is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RaiseAt {
    /// When its headers have come (curl 8, `lib/http2.c`).
    Headers,
    /// With its first data (h2o, `lib/http2/connection.c`).
    FirstData,
}

/// What of a DATA frame is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Every byte as it is read (nghttp2, `session_update_recv_stream_window_size()`).
    Bytes,
    /// A whole frame when its last byte is read (h2, whose codec decodes whole frames).
    Frames,
}

/// What is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Granted {
    /// On the connection.
    pub connection: Option<u64>,
    /// On the stream.
    pub stream: Option<u64>,
}

/// The messages that an end receives, by stream (`S`).
#[derive(Debug, Clone)]
pub struct Receiver<S> {
    credit: Credit,
    connection: Grants,
    streams: Vec<(S, Grants)>,
    /// Bytes read of a frame that is not whole.
    uncounted: u64,
}

impl<S: Copy + Eq> Receiver<S> {
    /// An end that gives `credit`.
    #[must_use]
    pub const fn new(credit: Credit) -> Self {
        let connection = Grants::new(credit.rule, credit.connection);
        Self { credit, connection, streams: Vec::new(), uncounted: 0 }
    }

    /// The grant on the connection that goes out before anything else, in bytes.
    #[must_use]
    pub const fn first_grant(&self) -> Option<u64> {
        match self.credit.connection.saturating_sub(Settings::DEFAULT.initial_window) {
            0 => None,
            bytes => Some(bytes),
        }
    }

    /// A message begins, or its headers have come; what is granted on its stream.
    pub fn open(&mut self, stream: S) -> Option<u64> {
        self.streams.push((stream, Grants::new(self.credit.rule, self.credit.stream)));
        self.raise(stream, RaiseAt::Headers)
    }

    /// The next `bytes` of a message have been read, the rest of its frame is `left`, and `ends` when it is the last one.
    pub fn on_data(&mut self, stream: S, bytes: u64, left: u64, ends: bool) -> Granted {
        let mut raised = self.raise(stream, RaiseAt::FirstData);
        let counted = match self.credit.counts {
            Counts::Bytes => bytes,
            Counts::Frames if left > 0 => {
                self.uncounted += bytes;
                return Granted { stream: raised, connection: None };
            }
            Counts::Frames => bytes + std::mem::take(&mut self.uncounted),
        };
        self.connection.on_received(counted);
        let connection = self.connection.on_consumed(counted);
        let Some(place) = self.streams.iter().position(|(of, _)| *of == stream) else {
            return Granted { connection, stream: None };
        };
        if ends && left == 0 {
            self.streams.remove(place);
            raised = None;
        } else {
            let grants = &mut self.streams[place].1;
            grants.on_received(counted);
            if let Some(bytes) = grants.on_consumed(counted) {
                *raised.get_or_insert_default() += bytes;
            }
        }
        Granted { connection, stream: raised }
    }

    /// Nothing more of a message is wanted. What still comes is counted for the connection.
    pub fn reset(&mut self, stream: S) {
        self.streams.retain(|(of, _)| *of != stream);
    }

    fn raise(&mut self, stream: S, at: RaiseAt) -> Option<u64> {
        let (to, _) = self.credit.raised.filter(|(_, when)| *when == at)?;
        let (_, grants) = self.streams.iter_mut().find(|(of, _)| *of == stream)?;
        grants.raise(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NGHTTP: Credit = Credit {
        stream: 65_535,
        raised: None,
        connection: 65_535,
        rule: GrantRule::HALF,
        counts: Counts::Bytes,
    };

    /// The grants for a message of `size` in frames of `fragment`, read in segments of `segment`: on the connection, on the stream.
    fn grants(credit: Credit, size: u64, fragment: u64, segment: u64) -> [Vec<u64>; 2] {
        let mut receiver = Receiver::new(credit);
        receiver.open('a');
        let (mut connection, mut stream) = (Vec::new(), Vec::new());
        let (mut left, mut frame) = (size, 0);
        let mut readable = 0;
        while left > 0 {
            readable = if readable == 0 { segment } else { readable };
            if frame == 0 {
                frame = fragment.min(left);
            }
            let bytes = readable.min(frame);
            frame -= bytes;
            left -= bytes;
            readable -= bytes;
            let granted = receiver.on_data('a', bytes, frame, left == 0);
            connection.extend(granted.connection);
            stream.extend(granted.stream);
        }
        [connection, stream]
    }

    #[test]
    fn a_frame_that_ends_cuts_a_read() {
        // Two frames are one byte more than half of 65,535 B, and a read ends with each: half of the credit comes back twice.
        let [connection, stream] = grants(NGHTTP, 1_000_000, 16_384, 1448);
        assert_eq!((connection.len(), stream.len()), (30, 30));
        assert_eq!(stream[..2], [32_768, 32_768]);
    }

    #[test]
    fn whole_frames_are_counted_when_they_are_there() {
        let remaining = GrantRule::Share {
            of: crate::http::credit::ShareOf::Remaining,
            millionths: 500_000,
            strict: false,
        };
        let hyper = Credit { rule: remaining, counts: Counts::Frames, ..NGHTTP };
        let [_, stream] = grants(hyper, 1_000_000, 16_384, 1448);
        assert_eq!(stream[0], 32_768);
        assert_eq!(stream.len(), 30);
    }

    #[test]
    fn a_connection_gets_grants_for_messages_that_nobody_wants() {
        let mut receiver = Receiver::new(NGHTTP);
        receiver.open('a');
        receiver.reset('a');
        let granted = receiver.on_data('a', 32_767, 1, false);
        assert_eq!(granted, Granted { connection: Some(32_767), stream: None });
    }

    #[test]
    fn a_credit_may_be_raised_late() {
        let raised = |when| Credit { stream: 65_536, raised: Some((10 << 20, when)), ..NGHTTP };
        let mut curl = Receiver::new(raised(RaiseAt::Headers));
        assert_eq!(curl.open('a'), Some((10 << 20) - 65_536));
        let mut h2o = Receiver::new(raised(RaiseAt::FirstData));
        assert_eq!(h2o.open('a'), None);
        assert_eq!(h2o.on_data('a', 1000, 0, false).stream, Some((10 << 20) - 65_536));
        assert_eq!(h2o.on_data('a', 1000, 0, false).stream, None);
    }

    #[test]
    fn a_larger_credit_of_the_connection_is_granted_first() {
        assert_eq!(Receiver::<u8>::new(NGHTTP).first_grant(), None);
        let chrome = Receiver::<u8>::new(Credit { connection: 15 << 20, ..NGHTTP });
        assert_eq!(chrome.first_grant(), Some(15_663_105), "as Chrome sends it");
    }
}
