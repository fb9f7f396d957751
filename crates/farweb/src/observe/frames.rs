//! Recorded frames of HTTP/2: what stands where in the streams of connections whose packets are recorded.

use rustc_hash::FxHashMap;

use crate::conn::{Connection, End, ExchangeId};
use crate::http::h2::endpoint::Frame;
use crate::record::{Column, FrameColumns, FrameKind, FrameRow};
use crate::units::Instant;

use super::recorder::{int, nanos};

#[derive(Default)]
pub(crate) struct Frames {
    rows: FrameColumns,
    /// By the number of a connection that is recorded from its first frame on: the exchanges of its streams, with the numbers of
    /// their requests, in the order in which their headers were sent.
    streams: FxHashMap<u64, Vec<(ExchangeId, Option<u64>)>>,
}

impl Frames {
    /// A row for a frame that `end` has put into its stream at `seq`; `framing` is its size but for data, and `request` the number of
    /// the request on its stream.
    #[cold]
    #[expect(clippy::too_many_arguments, reason = "a frame, and where it is")]
    pub(crate) fn record(
        &mut self,
        now: Instant,
        connection: &Connection,
        end: End,
        seq: u64,
        frame: &Frame<ExchangeId>,
        framing: u64,
        request: Option<u64>,
    ) {
        if seq == 1 {
            self.streams.entry(connection.number).or_default();
        }
        let Some(streams) = self.streams.get_mut(&connection.number) else {
            return;
        };
        let exchange = frame.stream();
        if let (Frame::Head { stream, .. }, End::Client) = (frame, end) {
            streams.push((*stream, request));
        }
        let place = exchange.and_then(|exchange| streams.iter().rposition(|(of, _)| *of == exchange));
        let settings = if let Frame::Settings { settings, .. } = frame { Some(settings) } else { None };
        let granted = if let Frame::Grant { bytes, .. } = frame { Some(*bytes) } else { None };
        self.rows.push(&FrameRow {
            time_ns: nanos(now),
            connection: int(connection.number),
            leg: connection.leg as i64,
            direction: end.other().direction() as i32,
            seq: int(seq),
            kind: kind(frame) as i32,
            // Those of a client are odd (RFC 9113, section 5.1.1).
            stream: place.map(|place| 2 * place as i64 + 1),
            request: place.and_then(|place| streams[place].1).map(int),
            framing_bytes: int(framing),
            data_bytes: if let Frame::Data(data) = frame { int(data.bytes) } else { 0 },
            ends: frame.ended().is_some(),
            credit_bytes: settings.map(|settings| settings.initial_window).or(granted).map(int),
            frame_bytes_max: settings.map(|settings| int(settings.max_frame)),
            streams_max: settings.and_then(|settings| settings.max_streams).map(i64::from),
        });
    }

    /// A connection is forgotten.
    pub(crate) fn forget(&mut self, connection: &Connection) {
        self.streams.remove(&connection.number);
    }

    /// The rows, leaving none behind.
    pub(crate) fn take(&mut self) -> Vec<(&'static str, Column)> {
        self.rows.take()
    }
}

const fn kind<S>(frame: &Frame<S>) -> FrameKind {
    match frame {
        Frame::Settings { .. } => FrameKind::Settings,
        Frame::SettingsAck => FrameKind::SettingsAck,
        Frame::Grant { .. } => FrameKind::WindowUpdate,
        Frame::Head { .. } => FrameKind::Headers,
        Frame::Data(_) => FrameKind::Data,
        Frame::Reset(_) => FrameKind::RstStream,
        Frame::GoAway => FrameKind::GoAway,
        Frame::Ping(_) => FrameKind::Ping,
        Frame::PingAck(_) => FrameKind::PingAck,
    }
}
