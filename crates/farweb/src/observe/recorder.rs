//! The recorder: turns what happens in the world into rows. It reads the world and never changes it.

use crate::conn::{Cause, Connection, End, Exchange, HeldTimes, PacketPath};
use crate::id::Id;
use crate::net::LinkTotals;
use crate::record::{
    CacheColumns, Column, ConnectionColumns, ConnectionRow, ExchangeColumns, ExchangeRow, Failure,
    LegColumns, LinkColumns, RequestColumns, RequestRow, Status,
};
use crate::tcp::{self, linux::BbrReport};
use crate::units::{Duration, Instant, When};
use crate::workload::{ClientId, ObjectId};

use super::Config;
use super::caches::CacheWatch;
use super::occupancy::Occupancy;
use super::rows::{cache_row, leg_row, link_row};

pub(crate) struct Recorder {
    requests: RequestColumns,
    connections: Option<ConnectionColumns>,
    exchanges: Option<ExchangeColumns>,
    links: LinkColumns,
    legs: LegColumns,
    caches: CacheColumns,
    /// By cache.
    cache_nodes: Vec<i32>,
    interval: Option<Duration>,
    interval_start: Instant,
}

impl Recorder {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            requests: RequestColumns::default(),
            connections: config.record.connections.then(ConnectionColumns::default),
            exchanges: config.record.exchanges.then(ExchangeColumns::default),
            links: LinkColumns::default(),
            legs: LegColumns::default(),
            caches: CacheColumns::default(),
            cache_nodes: config.cache_nodes,
            interval: config.record.links_every,
            interval_start: Instant::ZERO,
        }
    }

    /// The rows so far, leaving none behind.
    pub(crate) fn take(&mut self) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        let mut tables = vec![("requests", self.requests.take())];
        tables.extend(self.connections.as_mut().map(|columns| ("connections", columns.take())));
        tables.extend(self.exchanges.as_mut().map(|columns| ("exchanges", columns.take())));
        tables.push(("links", self.links.take()));
        tables.push(("legs", self.legs.take()));
        tables.push(("caches", self.caches.take()));
        tables
    }

    /// Distance of the rows of the link table, if there are any.
    pub(crate) const fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// The request that an exchange of the first leg is, which ends at `now`, carried by `connection` if it still exists.
    pub(crate) fn push_request(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        connection: Option<&Connection>,
        status: Status,
    ) {
        let (request, times) = (&exchange.request, &exchange.times);
        let ride = exchange.down.or(exchange.up);
        let failure = (status != Status::Done).then(|| exchange.failure.unwrap_or(Failure::RunEnded));
        let since = |now: fn(&Connection) -> u64, before| {
            connection.map_or(0, |carried| int(now(carried)) - i64::from(before))
        };
        self.requests.push(RequestRow {
            request: int(exchange.number),
            client: request.client.map(ClientId::get),
            visit_request: exchange.visit.map(|visit| visit as i32),
            host: code(request.host),
            object: request.object.map(ObjectId::get),
            source: request.source.map(code),
            tag: request.tag.map(code),
            status: status as i32,
            start_ns: nanos(request.start),
            connect_ns: happened(times.connected),
            first_byte_ns: happened(times.first_byte),
            end_ns: happened(times.end),
            acked_ns: happened(times.acked),
            request_bytes: int(request.request_bytes),
            response_bytes: int(request.response_bytes),
            served_bytes: exchange.version.map(int),
            connection: ride.map(|ride| int(ride.number)),
            retransmits: ride.map_or(0, |ride| since(Connection::retransmits, ride.retransmits)),
            timeouts: ride.map_or(0, |ride| since(Connection::timeouts, ride.timeouts)),
            served_by: exchange.served_by.map(i32::from),
            failure: failure.map(|failure| failure as i32),
            failed_ns: failure.map(|_| nanos(times.failed.get().unwrap_or(now))),
        });
    }

    pub(crate) fn push_exchange(&mut self, exchange: &Exchange) {
        let Some(columns) = &mut self.exchanges else {
            return;
        };
        let times = &exchange.times;
        let sending = exchange.sending.as_deref().copied().unwrap_or_default();
        let held = |causes: &[Cause]| {
            sending.sent_last.get().map(|_| causes.iter().map(|cause| held_ns(&sending.held, *cause)).sum())
        };
        columns.push(ExchangeRow {
            request: int(exchange.number),
            leg: exchange.leg as i64,
            connection_up: exchange.up.map(|ride| int(ride.number)),
            connection_down: exchange.down.map(|ride| int(ride.number)),
            cache_answer: exchange.answer.map(|answer| answer as i32),
            resent: i64::from(exchange.resent),
            start_ns: nanos(times.start),
            connect_ns: happened(times.connected),
            tunnel_ready_ns: exchange.tunnel.as_ref().and_then(|tunnel| happened(tunnel.ready)),
            requested_ns: happened(times.requested),
            ready_first_ns: happened(sending.ready_first),
            ready_last_ns: happened(sending.ready_last),
            sent_last_ns: happened(sending.sent_last),
            relayed_last_ns: happened(sending.relayed_last),
            pace_ns: sending
                .sent_last
                .get()
                .map(|sent| sending.left_last.get().map_or(0, |left| int((left - sent).as_nanos()))),
            cwnd_ns: held(&[Cause::Cwnd]),
            pacing_ns: held(&[Cause::Pacing]),
            window_ns: held(&[Cause::Window, Cause::Buffer]),
            buffer_ns: held(&[Cause::Buffer]),
            nagle_ns: held(&[Cause::Nagle]),
            recovery_ns: held(&[Cause::Recovery]),
            handshake_ns: held(&[Cause::Handshake]),
            credit_ns: held(&[Cause::Credit]),
            application_ns: held(&[Cause::Application]),
            first_byte_ns: happened(times.first_byte),
            end_ns: happened(times.end),
        });
    }

    /// A connection that is over, or open when the run ends at `now`. `held` has the times of its sender's clocks, if kept, and
    /// the time held by cwnd before requests might go.
    pub(crate) fn push_connection(
        &mut self,
        connection: &Connection,
        held: Option<&(HeldTimes, Duration)>,
        now: Instant,
    ) {
        let Some(columns) = &mut self.connections else {
            return;
        };
        let opening = held.filter(|_| connection.end(End::Client).session.has_tls()).map(|held| held.1);
        let held = held.map(|(times, _)| times);
        let bbr = connection.end(End::Server).socket.stack().and_then(tcp::Connection::bbr);
        let of_bbr = |time: fn(&BbrReport) -> Duration| bbr.as_ref().map(|bbr| int(time(bbr).as_nanos()));
        let [up, down] = [End::Client, End::Server].map(|end| connection.end(end).socket.way);
        columns.push(ConnectionRow {
            connection: int(connection.number),
            leg: connection.leg as i64,
            client: connection.key.client.map(ClientId::get),
            host: connection.key.host.map(code),
            handshake: connection.end(End::Client).session.handshake().map(|start| start as i32),
            open_ns: nanos(connection.opened),
            close_ns: happened(connection.closed),
            bytes_up: int(up.bytes),
            bytes_down: int(down.bytes),
            segments_up: int(up.segments),
            segments_down: int(down.segments),
            retransmits: int(connection.retransmits()),
            timeouts: int(connection.timeouts()),
            ece_cuts: int(connection.ece_cuts()),
            requests: connection.requests.into(),
            requests_max: connection.aboard_max.into(),
            busy_ns: int(connection.busy(now).as_nanos()),
            held_cwnd_ns: held.map(|times| held_ns(times, Cause::Cwnd)),
            held_pacing_ns: held.map(|times| held_ns(times, Cause::Pacing)),
            held_window_ns: held.map(|times| held_ns(times, Cause::Window)),
            held_buffer_ns: held.map(|times| held_ns(times, Cause::Buffer)),
            held_nagle_ns: held.map(|times| held_ns(times, Cause::Nagle)),
            held_recovery_ns: held.map(|times| held_ns(times, Cause::Recovery)),
            held_handshake_ns: held.map(|times| held_ns(times, Cause::Handshake)),
            held_credit_ns: held.map(|times| held_ns(times, Cause::Credit)),
            held_application_ns: held.map(|times| held_ns(times, Cause::Application)),
            held_nothing_ns: held.map(|times| held_ns(times, Cause::Nothing)),
            relay_held_cwnd_ns: held
                .and(connection.relays.as_ref())
                .map(|relays| int(relays.held(connection.closed.get().unwrap_or(now)).as_nanos())),
            bbr_startup_ns: of_bbr(|bbr| bbr.startup),
            bbr_drain_ns: of_bbr(|bbr| bbr.drain),
            bbr_probe_bw_ns: of_bbr(|bbr| bbr.probe_bw),
            bbr_probe_rtt_ns: of_bbr(|bbr| bbr.probe_rtt),
            bbr_min_rtt_ns: bbr.and_then(|bbr| bbr.min_rtt).map(|min| int(min.as_nanos())),
            bbr_rate_bps: bbr.map(|bbr| int(bbr.rate_bps)),
            tls_cwnd_ns: opening.map(|time| int(time.as_nanos())),
        });
    }

    /// Writes a row for each link, leg and cache since the last call. None for an empty interval, and only the caches' if no
    /// interval is set.
    pub(crate) fn close_interval(
        &mut self,
        now: Instant,
        path: &mut PacketPath,
        legs: &mut [Occupancy],
        caches: &mut [CacheWatch],
    ) {
        let from = self.interval_start;
        for (node, cache) in self.cache_nodes.iter().zip(caches) {
            let stats = cache.close_interval();
            // A run without any time has a row all the same.
            if now > from || stats.requests.number > 0 {
                self.caches.push(cache_row(*node, from, now, &stats));
            }
        }
        if self.interval.is_none() || now == from {
            return;
        }
        self.interval_start = now;
        for (id, stats) in path.close_intervals(now) {
            self.links.push(link_row(&LinkTotals { link: id.link(), direction: id.direction(), stats }));
        }
        for (index, leg) in legs.iter_mut().enumerate() {
            self.legs.push(leg_row(index, &leg.close_interval(now)));
        }
    }
}

fn held_ns(held: &HeldTimes, cause: Cause) -> i64 {
    int(held.by(cause).as_nanos())
}

pub(crate) fn nanos(at: Instant) -> i64 {
    int(at.as_nanos())
}

fn happened(when: When) -> Option<i64> {
    when.get().map(nanos)
}

pub(crate) fn int(value: u64) -> i64 {
    i64::try_from(value).expect("counts and times below 2^63")
}

pub(crate) fn code(id: impl Id) -> i32 {
    i32::try_from(id.index()).expect("fewer than 2^31 words")
}
