//! What the applications at both ends of a connection do: the exchange of HTTP/1.0, and the row of its request.

use crate::http::ReleasePlan;
use crate::http::http10::{Client, Server};
use crate::record::Status;
use crate::tcp::{Notice, Output};
use crate::units::{Duration, Instant};
use crate::workload::Request;

use super::connections::{ConnectionId, End};
use super::{Event, World};

/// The request that a connection carries, and how far it is.
pub(super) struct Exchange {
    pub(super) number: u64,
    pub(super) request: Request,
    client: Client,
    server: Server,
    release: Option<Releasing>,
    pub(super) connected: Option<Instant>,
    pub(super) first_byte: Option<Instant>,
    pub(super) end: Option<Instant>,
    pub(super) acked: Option<Instant>,
    /// Whether its row has been written.
    pub(super) ended: bool,
}

/// A response that its origin is releasing.
#[derive(Debug, Clone, Copy)]
struct Releasing {
    since: Instant,
    plan: ReleasePlan,
}

impl Exchange {
    pub(super) fn new(number: u64, request: Request) -> Self {
        let (up, down) = (request.request_bytes, request.response_bytes);
        Self {
            number,
            request,
            client: Client::new(up, down),
            server: Server::new(up, down),
            release: None,
            connected: None,
            first_byte: None,
            end: None,
            acked: None,
            ended: false,
        }
    }
}

impl World {
    pub(super) fn on_notice(
        &mut self,
        now: Instant,
        id: ConnectionId,
        end: End,
        notice: Notice,
        output: &mut Output,
    ) {
        match (end, notice) {
            (End::Client, Notice::Connected) => {
                self.with_endpoint(id, end, |exchange, _| exchange.connected = Some(now));
                self.client_writes(now, id, output);
            }
            (End::Client, Notice::Writable) => self.client_writes(now, id, output),
            (End::Client, Notice::Readable) => self.client_reads(now, id, output),
            (End::Server, Notice::Readable) => self.server_reads(now, id, output),
            (End::Server, Notice::Writable) => self.server_writes(now, id, output),
            (_, Notice::EndOfStream) => {
                self.with_endpoint(id, end, |_, tcp| tcp.close(now, output));
            }
            (End::Server, Notice::Connected) | (_, Notice::Closed(_)) => {}
        }
    }

    fn client_writes(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        self.with_endpoint(id, End::Client, |exchange, tcp| {
            let written = tcp.write(now, exchange.client.to_write(), output);
            exchange.client.on_written(written);
        });
    }

    fn client_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        self.with_endpoint(id, End::Client, |exchange, tcp| {
            let read = tcp.read(now, tcp.readable(), output);
            exchange.client.on_read(read);
            if read > 0 {
                exchange.first_byte.get_or_insert(now);
            }
            if exchange.client.is_complete() {
                exchange.end.get_or_insert(now);
            }
        });
    }

    fn server_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let complete = self.with_endpoint(id, End::Server, |exchange, tcp| {
            let read = tcp.read(now, tcp.readable(), output);
            exchange.server.on_read(read)
        });
        if complete == Some(true) {
            self.start_release(now, id, output);
        }
    }

    /// The origin has the whole request: plans the release of the response and releases what is due at once.
    fn start_release(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let leg = &self.legs[pair.leg];
        let mss = u64::from(leg.mss(End::Server, &self.directory.hosts()[pair.host]));
        let request = &pair.exchange.request;
        let server = request.server.unwrap_or(Duration::ZERO);
        let plan = ReleasePlan::new(leg.release, request.response_bytes, server, mss);
        pair.exchange.release = Some(Releasing { since: now, plan });
        self.release_due(now, id, output);
    }

    pub(super) fn on_origin_release(&mut self, now: Instant, id: ConnectionId) {
        let mut output = std::mem::take(&mut self.output);
        self.release_due(now, id, &mut output);
        self.settle(now, id, End::Server, output);
    }

    fn release_due(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let Some(Releasing { since, plan }) = &mut pair.exchange.release else {
            return;
        };
        let released = plan.release(now - *since);
        if let Some(due) = plan.next_due() {
            self.queue.push(*since + due, Event::OriginReleases(id));
        }
        pair.exchange.server.on_released(released);
        self.server_writes(now, id, output);
    }

    fn server_writes(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        self.with_endpoint(id, End::Server, |exchange, tcp| {
            let written = tcp.write(now, exchange.server.to_write(), output);
            exchange.server.on_written(written);
            if exchange.server.is_finished() {
                tcp.close(now, output);
            }
        });
    }

    /// Notes when the sender of the response had its last byte acknowledged; the request ends when it has arrived as well.
    pub(super) fn note_acknowledgement(&mut self, now: Instant, id: ConnectionId) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        let exchange = &pair.exchange;
        let Some(server) = pair.tcp(End::Server) else {
            return;
        };
        if exchange.acked.is_none() && server.bytes_acknowledged() >= exchange.request.response_bytes {
            pair.exchange.acked = Some(now);
            self.end_request(id, Status::Done);
        }
    }

    /// Writes the row of the request, once; without a whole response its status is `otherwise`.
    pub(super) fn end_request(&mut self, id: ConnectionId, otherwise: Status) {
        let Some(pair) = self.connections.get_mut(id) else {
            return;
        };
        if pair.exchange.ended {
            return;
        }
        pair.exchange.ended = true;
        let status = if pair.exchange.end.is_some() { Status::Done } else { otherwise };
        match status {
            Status::Done => self.progress.requests_finished += 1,
            Status::Failed => self.progress.requests_failed += 1,
            Status::Unfinished => {}
        }
        self.recorder.push_request(pair, status);
    }

    /// Writes the rows of what is still open when the run ends: requests without a whole response get `status`.
    pub(super) fn close_remaining(&mut self, status: Status) {
        let open: Vec<_> = self.connections.iter().map(|(id, _)| id).collect();
        for id in open {
            self.end_request(id, status);
            self.recorder.push_connection(self.connections.get(id).expect("listed above"));
        }
    }
}
