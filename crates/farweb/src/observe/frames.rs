//! Recorded frames of HTTP/2 and W3C MUX: their places in the streams of connections with recorded packets.

use rustc_hash::FxHashMap;

use crate::conn::{Connection, End, ExchangeId};
use crate::http::h2::endpoint::Frame;
use crate::http::webmux::{self, Control, Layout};
use crate::record::{Column, FrameColumns, FrameKind, FrameProtocol, FrameRow};
use crate::session::Sent;
use crate::units::Instant;

use super::recorder::{int, nanos};

/// Place of a frame: the end that put it into its stream, when, and its first byte there, counted from 1.
pub(crate) struct FramePlace {
    pub(crate) now: Instant,
    /// Number of the connection.
    pub(crate) connection: u64,
    pub(crate) leg: usize,
    pub(crate) end: End,
    pub(crate) seq: u64,
}

#[derive(Default)]
pub(crate) struct Frames {
    rows: FrameColumns,
    /// Exchanges of the streams on a connection and the numbers of their requests, in order of opening. Keyed by the
    /// number of a connection recorded from its first frame on.
    streams: FxHashMap<u64, Vec<(ExchangeId, Option<u64>)>>,
}

impl Frames {
    /// A row for a frame. `request` is the number of its request.
    #[cold]
    pub(crate) fn record(&mut self, place: FramePlace, frame: &Sent, request: Option<u64>) {
        match frame {
            Sent::Http2(frame, framing) => self.record_http2(place, frame, *framing, request),
            Sent::WebMux(layout, frame, exchange) => {
                self.record_mux(place, *layout, *frame, *exchange, request);
            }
        }
    }

    /// A row for a frame of HTTP/2. `framing` is its size without data.
    fn record_http2(
        &mut self,
        place: FramePlace,
        frame: &Frame<ExchangeId>,
        framing: u64,
        request: Option<u64>,
    ) {
        let opens = matches!(frame, Frame::Head { .. }) && place.end == End::Client;
        let exchange = frame.stream();
        let Some(streams) = self.streams_of(&place, exchange.filter(|_| opens), request) else {
            return;
        };
        let stream = exchange.and_then(|exchange| streams.iter().rposition(|(of, _)| *of == exchange));
        let request = stream.and_then(|stream| streams[stream].1).map(int);
        let settings = if let Frame::Settings { settings, .. } = frame { Some(settings) } else { None };
        let granted = if let Frame::Grant { bytes, .. } = frame { Some(*bytes) } else { None };
        self.rows.push(FrameRow {
            // Streams of a client are odd (RFC 9113, section 5.1.1).
            stream: stream.map(|stream| 2 * stream as i64 + 1),
            request,
            framing_bytes: int(framing),
            data_bytes: if let Frame::Data(data) = frame { int(data.bytes) } else { 0 },
            ends: frame.ended().is_some(),
            credit_bytes: settings.map(|settings| settings.initial_window).or(granted).map(int),
            frame_bytes_max: settings.map(|settings| int(settings.max_frame)),
            streams_max: settings.and_then(|settings| settings.max_streams).map(i64::from),
            ..place.row(FrameProtocol::Http2, kind(frame))
        });
    }

    /// A row for a frame of W3C MUX about `exchange`.
    fn record_mux(
        &mut self,
        place: FramePlace,
        layout: Layout,
        frame: webmux::Frame,
        exchange: ExchangeId,
        request: Option<u64>,
    ) {
        let protocol = match layout {
            Layout::Y1996 => FrameProtocol::Mux1996,
            Layout::Y1998 => FrameProtocol::Mux1998,
        };
        let (kind, session, credit) = mux_kind(frame);
        let opened = (kind == FrameKind::Syn).then_some(exchange);
        let Some(streams) = self.streams_of(&place, opened, request) else {
            return;
        };
        let request = streams.iter().rfind(|(of, _)| *of == exchange).and_then(|(_, request)| *request);
        self.rows.push(FrameRow {
            stream: Some(session.into()),
            request: request.map(int),
            framing_bytes: int(frame.header(layout) + frame.padding(layout)),
            data_bytes: frame.payload().into(),
            ends: kind == FrameKind::Fin,
            credit_bytes: credit.map(i64::from),
            ..place.row(protocol, kind)
        });
    }

    /// The streams of a connection recorded from its first frame on. Adds the stream of exchange `opened` for this request.
    fn streams_of(
        &mut self,
        place: &FramePlace,
        opened: Option<ExchangeId>,
        request: Option<u64>,
    ) -> Option<&Vec<(ExchangeId, Option<u64>)>> {
        if place.seq == 1 {
            self.streams.entry(place.connection).or_default();
        }
        let streams = self.streams.get_mut(&place.connection)?;
        streams.extend(opened.map(|exchange| (exchange, request)));
        Some(streams)
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

impl FramePlace {
    /// A row without the values of its frame.
    fn row(&self, protocol: FrameProtocol, kind: FrameKind) -> FrameRow {
        FrameRow {
            time_ns: nanos(self.now),
            connection: int(self.connection),
            leg: self.leg as i64,
            direction: self.end.other().direction() as i32,
            seq: int(self.seq),
            protocol: protocol as i32,
            kind: kind as i32,
            stream: None,
            request: None,
            framing_bytes: 0,
            data_bytes: 0,
            ends: false,
            credit_bytes: None,
            frame_bytes_max: None,
            streams_max: None,
        }
    }
}

/// Kind of a frame of W3C MUX, its session, and the credit that it grants.
///
/// # Panics
/// With a control message that no end sends here.
const fn mux_kind(frame: webmux::Frame) -> (FrameKind, u8, Option<u32>) {
    match frame {
        webmux::Frame::Fragment { session, flags, .. } => {
            let kind = match flags {
                webmux::Flags { syn: true, .. } => FrameKind::Syn,
                webmux::Flags { fin: true, .. } => FrameKind::Fin,
                webmux::Flags { rst: true, .. } => FrameKind::Rst,
                _ => FrameKind::Fragment,
            };
            (kind, session, None)
        }
        webmux::Frame::Control(Control::AddCredit { session, bytes }) => {
            (FrameKind::AddCredit, session, Some(bytes))
        }
        webmux::Frame::Control(_) => panic!("grants are the only control messages that are sent"),
    }
}
