//! HTTP/2 at one end: frames that wait, and frames that the other end has not read.
//!
//! Models when an end puts frames into its stream: once the connection is there, a write of frames at a time, and none
//! while it handles a read, so that requests of one segment are answered together. A message is a header block and
//! data: the block stands for the first bytes of the message, its header. The [`Endpoint`] decides which frames leave
//! next and how much is granted.
//!
//! Source: RFC 9113, sections 3.4, 8.1 and 8.7.

use std::collections::VecDeque;

use crate::http::h2::endpoint::{self, Endpoint, Frame, Role};
use crate::http::stream::Stream;
use crate::units::Instant;
use crate::workload::HostId;

use super::{Answer, Content, ExchangeId, Part, Report, Sent, Speak};

/// Bytes of frames that are put together for one write. Chosen: a buffer as nghttpd's, 64 KiB.
const WRITE_BYTES: u64 = 65_536;

/// Settings of an end.
#[derive(Clone, Copy)]
pub(crate) struct End {
    pub(crate) endpoint: endpoint::Config,
    pub(crate) role: Role,
    pub(crate) nodelay: bool,
    /// Its settings go out before it has read anything.
    pub(crate) speaks_first: bool,
    /// A header block ends a write.
    pub(crate) heads_apart: bool,
    /// Bytes of a message that its header block stands for.
    pub(crate) text: u64,
}

/// One end.
pub(super) struct Http2 {
    end: End,
    endpoint: Endpoint<ExchangeId, HostId>,
    /// Frames in its stream that the other end has not read.
    unread: VecDeque<Unread>,
    is_open: bool,
    is_reading: bool,
}

/// A frame in a stream, and how much of its data has not been read.
#[derive(Debug, Clone, Copy)]
struct Unread {
    frame: Frame<ExchangeId>,
    left: u64,
}

impl Http2 {
    pub(super) fn new(end: End) -> Self {
        Self {
            end,
            endpoint: Endpoint::new(end.role, &end.endpoint),
            unread: VecDeque::new(),
            is_open: end.role == Role::Server,
            is_reading: false,
        }
    }

    pub(super) const fn is_nodelay(&self) -> bool {
        self.end.nodelay
    }

    /// Says that no request will come.
    pub(super) fn finish(&mut self) {
        self.endpoint.go_away();
    }
}

impl Speak for Http2 {
    fn open(&mut self) -> bool {
        self.is_open = true;
        self.end.speaks_first
    }

    /// A header block leaves when the bytes that it stands for are there.
    fn send(&mut self, part: Part) {
        let Part { of, host, before, bytes, length, first } = part;
        let (text, there) = (self.end.text.min(first), before + bytes);
        if before < text.max(1) && there >= text.max(1) {
            self.endpoint.begin(of, host, text, text == length);
        }
        if there > text {
            self.endpoint.send(of, there - before.max(text), part.is_last());
        }
    }

    fn fill(&mut self, now: Instant, stream: &mut Stream<Content>, report: &mut impl Report) {
        if !self.is_open || self.is_reading {
            return;
        }
        while stream.to_write() < WRITE_BYTES
            && let Some((frame, framing)) = self.endpoint.next_frame(now)
        {
            report.on_frame(stream.pushed() + 1, &Sent::Http2(frame, framing));
            let mut left = 0;
            match frame {
                Frame::Data(data) => {
                    stream.push(Content::Message(data.stream), data.bytes, framing);
                    left = data.bytes;
                }
                Frame::Head { stream: of, .. } => stream.push_frame(Content::Message(of), framing),
                _ => stream.push_frame(Content::Frame, framing),
            }
            self.unread.push_back(Unread { frame, left });
            if self.end.heads_apart && matches!(frame, Frame::Head { .. }) {
                stream.end_write();
            }
            if let Some(of) = frame.ended() {
                report.on_message_end(of, stream.pushed());
            }
        }
    }

    /// All that there is, frame by frame.
    fn to_read(&self) -> u64 {
        u64::MAX
    }

    fn on_content(&mut self, now: Instant, from: &mut Self, _content: Content, bytes: u64) -> u64 {
        self.is_reading = true;
        let Unread { frame, left } = from.unread.front_mut().expect("it was put into the stream");
        if let Frame::Data(data) = *frame {
            *left -= bytes;
            let left = *left;
            if left == 0 {
                from.unread.pop_front();
            }
            self.endpoint.on_data(now, &data, bytes, left);
            return bytes;
        }
        let frame = *frame;
        from.unread.pop_front();
        self.endpoint.on_frame(now, &frame);
        if let Frame::Head { text, .. } = frame { text } else { 0 }
    }

    fn on_read(&mut self) -> Answer {
        let had_read = std::mem::take(&mut self.is_reading);
        Answer { writes: had_read && self.endpoint.has_frame(), ended: 0 }
    }

    fn reset(&mut self, of: ExchangeId) -> bool {
        self.endpoint.reset(of);
        true
    }

    fn waits_for_credit(&self) -> bool {
        self.endpoint.waits_for_credit()
    }

    fn credit(&self) -> Option<u64> {
        self.endpoint.available()
    }

    fn messages_max(&self) -> u32 {
        self.endpoint.max_streams()
    }
}
