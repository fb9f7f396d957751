//! What the applications at both ends of a connection do: the exchange of HTTP/1.0, and the row of a request.

use crate::http::ReleasePlan;
use crate::http::http10::{Client, Server};
use crate::http::transfer::Transfer;
use crate::record::Status;
use crate::tcp::{Notice, Output};
use crate::units::{Duration, Instant};
use crate::workload::Request;

use super::connections::{ConnectionId, End};
use super::transport::Transport;
use super::{Event, World};

/// The request that a connection carries, and how far it is.
pub(super) struct Exchange {
    pub(super) number: u64,
    pub(super) request: Request,
    pub(super) application: Application,
    pub(super) times: Times,
    /// Whether its row has been written.
    pub(super) ended: bool,
}

/// When a request came how far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) connected: Option<Instant>,
    pub(super) first_byte: Option<Instant>,
    pub(super) end: Option<Instant>,
    pub(super) acked: Option<Instant>,
}

/// What runs on a connection, by carrier.
pub(super) enum Application {
    Http10(Http10),
    Transfer(Transfer),
}

/// Both sides of an exchange of HTTP/1.0.
pub(super) struct Http10 {
    client: Client,
    server: Server,
    release: Option<Releasing>,
}

/// A response that its origin is releasing.
#[derive(Debug, Clone, Copy)]
struct Releasing {
    since: Instant,
    plan: ReleasePlan,
}

impl Exchange {
    pub(super) fn new(number: u64, request: Request, application: Application) -> Self {
        Self { number, request, application, times: Times::default(), ended: false }
    }
}

impl Application {
    /// The exchange of `request` for its response.
    pub(super) const fn http10(request: &Request) -> Self {
        let (up, down) = (request.request_bytes, request.response_bytes);
        Self::Http10(Http10 { client: Client::new(up, down), server: Server::new(up, down), release: None })
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
                self.with_http(id, end, |times, _, _| times.connected = Some(now));
                self.client_writes(now, id, output);
            }
            (End::Client, Notice::Writable) => self.client_writes(now, id, output),
            (End::Client, Notice::Readable) => self.client_reads(now, id, output),
            (End::Server, Notice::Readable) => self.server_reads(now, id, output),
            (End::Server, Notice::Writable) => self.server_writes(now, id, output),
            (_, Notice::EndOfStream) => {
                self.with_http(id, end, |_, _, tcp| tcp.close(now, output));
            }
            (End::Server, Notice::Connected) | (_, Notice::Closed(_)) => {}
        }
    }

    fn client_writes(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        self.with_http(id, End::Client, |_, http, tcp| {
            let written = tcp.write(now, http.client.to_write(), output);
            http.client.on_written(written);
        });
    }

    fn client_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let read = self.with_http(id, End::Client, |times, http, tcp| {
            let read = tcp.read(now, tcp.readable(), output);
            http.client.on_read(read);
            if read > 0 {
                times.first_byte.get_or_insert(now);
            }
            if http.client.is_complete() {
                times.end.get_or_insert(now);
            }
        });
        if read.is_none() {
            self.take_packets(now, id);
        }
    }

    fn server_reads(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        let complete = self.with_http(id, End::Server, |_, http, tcp| {
            let read = tcp.read(now, tcp.readable(), output);
            http.server.on_read(read)
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
        let Application::Http10(http) = &mut pair.exchange.application else {
            return;
        };
        http.release = Some(Releasing { since: now, plan });
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
        let Application::Http10(Http10 { server, release: Some(Releasing { since, plan }), .. }) =
            &mut pair.exchange.application
        else {
            return;
        };
        let released = plan.release(now - *since);
        if let Some(due) = plan.next_due() {
            self.queue.push(*since + due, Event::OriginReleases(id));
        }
        server.on_released(released);
        self.server_writes(now, id, output);
    }

    fn server_writes(&mut self, now: Instant, id: ConnectionId, output: &mut Output) {
        self.with_http(id, End::Server, |_, http, tcp| {
            let written = tcp.write(now, http.server.to_write(), output);
            http.server.on_written(written);
            if http.server.is_finished() {
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
        if exchange.times.acked.is_some() {
            return;
        }
        let acknowledged = pair.transport(End::Server).map_or(0, Transport::bytes_acknowledged);
        if acknowledged >= exchange.request.response_bytes {
            pair.exchange.times.acked = Some(now);
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
        let status = if pair.exchange.times.end.is_some() { Status::Done } else { otherwise };
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
