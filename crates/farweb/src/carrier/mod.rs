//! Carriers: how requests ride connections, a file each, behind the one match on them.
//!
//! A carrier selects the connections of a request and of its response, opens and closes connections, orders the bytes that wait
//! and frames them, and decides about an exchange whose connection is lost. It owns its state, gets a [`Context`] with all that
//! it may touch, and answers with [`Action`]s. The node at the server end of a leg decides about a request there (`node`).
//!
//! A new carrier is a file with an implementation of [`Carry`], and a line in each place of this one that names the others;
//! a kind of `scenario::Carrier` gives it its keys.

mod action;
mod context;
mod http10;
mod http11;
mod http2;
mod mux;
mod transfer;
mod webmux;

use std::cmp::Ordering;

use crate::conn::{Closing, Connection, ConnectionId, Connections, Content, End, ExchangeId};
use crate::http;
use crate::rng::RandomStreams;
use crate::scenario::{self, Application, Scenario};
use crate::tcp::Output;
use crate::units::Bytes;
use crate::workload::{Request, WorkloadError};

use http2::Http2;
use http10::Http10;
use http11::Http11;
use mux::Mux;
use transfer::Transfer;
use webmux::WebMux;

pub(crate) use action::{Action, Actions, Turn};
pub(crate) use context::Context;

/// Carrier of a leg.
pub(crate) enum Carrier {
    Http10(Http10),
    Http11(Http11),
    Mux(Mux),
    Http2(Box<Http2>),
    Transfer(Transfer),
    WebMux(WebMux),
}

/// The match on carriers: what each does, by the same call.
macro_rules! on_carrier {
    ($carrier:expr, $own:ident => $call:expr) => {
        match $carrier {
            $crate::carrier::Carrier::Http10($own) => $call,
            $crate::carrier::Carrier::Http11($own) => $call,
            $crate::carrier::Carrier::Mux($own) => $call,
            $crate::carrier::Carrier::Http2($own) => $call,
            $crate::carrier::Carrier::Transfer($own) => $call,
            $crate::carrier::Carrier::WebMux($own) => $call,
        }
    };
}
pub(crate) use on_carrier;

impl Carrier {
    /// The carrier of leg number `leg`.
    pub(crate) fn new(leg: usize, scenario: &Scenario, streams: RandomStreams) -> Self {
        let carrier = &scenario.leg[leg].carrier;
        match *carrier {
            scenario::Carrier::Http10 {} => Self::Http10(Http10::new(leg)),
            scenario::Carrier::Http11 { idle_timeout, closed_by, per_host, total } => {
                Self::Http11(Http11::new(leg, idle_timeout, closed_by, per_host, total))
            }
            scenario::Carrier::Mux { connections, overhead, assign, ties } => {
                Self::Mux(Mux::new(leg, connections, overhead, assign, ties))
            }
            scenario::Carrier::Http2(ref http2) => {
                let has_tls = scenario.leg[leg].tls.is_some();
                Self::Http2(Box::new(Http2::new(leg, http2, has_tls)))
            }
            scenario::Carrier::Transfer {} => Self::Transfer(Transfer::new(leg, scenario, streams)),
            scenario::Carrier::WebMux { credit, write_buffer, read_buffer, fragment, layout } => {
                let Application { write, head, .. } = scenario.leg[leg].application;
                let config = http::webmux::Config {
                    layout,
                    credit: credit.get(),
                    write_buffer: write_buffer.get(),
                    fragment: fragment.get(),
                    chunk: write.map(Bytes::get),
                    head: head.get(),
                };
                Self::WebMux(WebMux::new(leg, config, read_buffer.get()))
            }
        }
    }
}

/// Behaviour of a carrier when something happens on its leg. Default methods do nothing.
///
/// There are two moments. Where the connections are given, nothing is being settled, and the carrier may ask for actions
/// that are done at once; where only the one at hand is given, that one is being settled, and all that concerns others is done
/// later.
pub(crate) trait Carry {
    /// Whether connections are opened when the run begins.
    fn opens_at_once(&self) -> bool {
        false
    }

    /// Whether the row of a request that fails waits until its connection is over.
    fn row_waits(&self) -> bool {
        false
    }

    /// Whether `request` is one for this carrier.
    ///
    /// # Errors
    /// The problem with the workload.
    fn check(&self, request: &Request, _cx: &Context) -> Result<(), WorkloadError> {
        if request.request_bytes > 0 {
            return Ok(());
        }
        Err(WorkloadError(format!(
            "request table: column request_bytes: found 0 for the request at {}; write at least 1, as only the carrier \
             \"transfer\" has no requests",
            request.start
        )))
    }

    /// The run begins.
    fn begin(&mut self, _cx: &mut Context, _connections: &mut Connections) {}

    /// The request of an exchange that goes on is to be sent.
    fn send_request(&mut self, cx: &mut Context, connections: &mut Connections, id: ExchangeId);

    /// An exchange that has waited may go on, unless it has ended in the meantime.
    fn resume(&mut self, _cx: &mut Context, _connections: &mut Connections, _id: ExchangeId, _turn: Turn) {}

    /// Starts what runs at the ends of a connection; what that sends goes into `out`. The end that sends.
    fn start(&mut self, cx: &mut Context, connection: &mut Connection, out: &mut Output) -> End {
        cx.connect(connection, out);
        End::Client
    }

    /// Bytes of a response are there at the server end: gives it a connection, where it has none yet.
    fn place_response(&mut self, _cx: &mut Context, _connections: &mut Connections, _id: ExchangeId) {}

    /// Bytes of framing before the next `bytes` of a response, which came in segments of up to `mss` bytes.
    fn frame(&mut self, _bytes: u64, _mss: u64) -> u64 {
        0
    }

    /// The next `bytes` of a response, with their framing, wait for the connection that it has.
    fn respond(
        &mut self,
        cx: &mut Context,
        on: ConnectionId,
        connection: &mut Connection,
        id: ExchangeId,
        bytes: u64,
        framing: u64,
    ) {
        cx.queue_response(on, connection, id, bytes, framing);
    }

    /// Bytes that `end` of a connection would hand to its transport now in one write, framing included. Asked again when
    /// the transport has taken all of them, until it is none.
    ///
    /// A carrier that decides late what goes next, by credits and by turns, keeps what waits to itself, and puts frames into the
    /// stream here: payload of messages with the framing before it by [`Stream::push`](crate::http::stream::Stream::push), frames
    /// without payload by [`push_frame`](crate::http::stream::Stream::push_frame).
    #[inline]
    fn to_write(&mut self, _cx: &mut Context, connection: &mut Connection, end: End) -> u64 {
        connection.end(end).stream.next_write()
    }

    /// The transport at `end` had room for the next `bytes` of the stream and took them.
    #[inline]
    fn on_written(&mut self, connection: &mut Connection, end: End, bytes: u64) {
        connection.end_mut(end).stream.on_written(bytes);
    }

    /// Whether `end` of a connection has payload to send that nothing but credit keeps from its transport. Asked, where
    /// senders are recorded, when the transport has sent all that it took.
    fn waits_for_credit(&self, _connection: &Connection, _end: End) -> bool {
        false
    }

    /// Further bytes that `end` of a connection may put into its stream with the credit that it has; none where no credit limits
    /// a message that it sends. Asked where packets are recorded.
    fn credit(&self, _connection: &Connection, _end: End) -> Option<u64> {
        None
    }

    /// Bytes that `end` of a connection takes in now in one read. Asked again when it has got that many, until it is none.
    /// The rest shuts the sender's window, until [`Action::Act`] lets that end read again. `None`: all that there is, of which
    /// it need not hear, neither by [`on_content`](Self::on_content) nor by [`on_read`](Self::on_read).
    #[inline]
    fn to_read(&self, _connection: &Connection, _end: End) -> Option<u64> {
        None
    }

    /// `end` of a connection has read the next `bytes` of payload of a message, or a whole frame without payload. How many bytes of
    /// the message that is: a header block stands for others than it has.
    #[inline]
    fn on_content(
        &mut self,
        _cx: &mut Context,
        _connection: &mut Connection,
        _end: End,
        _content: Content,
        bytes: u64,
    ) -> u64 {
        bytes
    }

    /// `end` of a connection has made use of all that it got in one read. Whether it has something to write for it.
    #[inline]
    fn on_read(&mut self, _cx: &mut Context, _connection: &mut Connection, _end: End) -> bool {
        false
    }

    /// All that waited at `end` of a connection is written, and it is to be closed when it has been idle.
    fn on_drained(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection, _end: End) {}

    /// The client end of a connection may write.
    fn on_established(&mut self, cx: &mut Context, _on: ConnectionId, connection: &mut Connection) {
        if let Some(id) = connection.exchange {
            cx.note_connected(id);
        }
    }

    /// The server end of a connection may write.
    fn on_accepted(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection) {}

    /// The whole request of an exchange is at the server end.
    fn on_request_read(
        &mut self,
        _cx: &mut Context,
        _on: ConnectionId,
        _connection: &mut Connection,
        _id: ExchangeId,
    ) {
    }

    /// The whole response to an exchange is at the client end.
    fn on_response_read(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &mut Connection) {}

    /// `end` of a connection has been idle as long as it may.
    fn on_idle(&mut self, _cx: &mut Context, _on: ConnectionId, _connection: &Connection, _end: End) {}

    /// `end` of a connection can go on no more: it is gone, or the other end has finished.
    fn on_lost(&mut self, cx: &mut Context, on: ConnectionId, connection: &mut Connection, end: End);

    /// The client end of a connection is about to be closed: it carries no other request.
    fn on_closing(&mut self, _cx: &mut Context, _on: ConnectionId) {}

    /// An exchange has failed on the leg that lies there as seen from this one: `Less` when this one is nearer to the clients. A client
    /// that gives up lies before the first leg.
    fn on_failed(&mut self, cx: &mut Context, id: ExchangeId, there: Ordering) {
        close_behind(cx, id, there);
    }

    /// All that an end of a connection had to do is done for now.
    #[inline]
    fn on_settled(&mut self, _connection: &Connection, _end: End) {}

    /// No request is left, on any leg, and none will come.
    fn on_rest(&mut self, _cx: &mut Context, _connections: &mut Connections) {}
}

/// An exchange has failed elsewhere: the proxy at the end of its connection towards there closes it.
fn close_behind(cx: &mut Context, id: ExchangeId, there: Ordering) {
    let (end, closing) = match there {
        Ordering::Less => (End::Server, Closing::WhenWritten),
        Ordering::Equal => return,
        Ordering::Greater => (End::Client, Closing::Now),
    };
    if let Some(up) = cx.exchanges.get(id).and_then(|exchange| exchange.up) {
        cx.actions.now(Action::Close(up.connection, end, closing));
    }
}
