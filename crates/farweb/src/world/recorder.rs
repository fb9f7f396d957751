//! The recorder: turns what happens in the world into rows. It reads the world and never changes it.

use crate::id::Id;
use crate::record::{
    Column, ConnectionColumns, ConnectionRow, ExchangeColumns, ExchangeRow, LegColumns, LegRow, LinkColumns,
    LinkRow, RequestColumns, RequestRow, Status,
};
use crate::scenario::Scenario;
use crate::units::{Duration, Instant};
use crate::workload::ObjectId;

use super::capture::Capture;
use super::exchange::Exchange;
use super::leg::Leg;
use super::pair::Pair;
use super::path::Path;

pub(super) struct Recorder {
    requests: RequestColumns,
    connections: Option<ConnectionColumns>,
    exchanges: Option<ExchangeColumns>,
    links: LinkColumns,
    legs: LegColumns,
    pub(super) packets: Capture,
    interval: Option<Duration>,
    interval_start: Instant,
}

impl Recorder {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let record = &scenario.record;
        Self {
            requests: RequestColumns::default(),
            connections: record.connections.then(ConnectionColumns::default),
            exchanges: record.exchanges.then(ExchangeColumns::default),
            links: LinkColumns::default(),
            legs: LegColumns::default(),
            packets: Capture::new(record, scenario.path.link.len()),
            interval: record.links_every,
            interval_start: Instant::ZERO,
        }
    }

    /// The rows up to `now`, leaving none behind; tables without rows are left out.
    pub(super) fn take(&mut self, now: Instant) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        let mut tables = vec![("requests", self.requests.take())];
        tables.extend(self.connections.as_mut().map(|columns| ("connections", columns.take())));
        tables.extend(self.exchanges.as_mut().map(|columns| ("exchanges", columns.take())));
        tables.push(("links", self.links.take()));
        tables.push(("legs", self.legs.take()));
        tables.push(("packets", self.packets.take(now)));
        tables.retain(|(_, columns)| columns.iter().any(|(_, column)| !column.is_empty()));
        tables
    }

    /// Distance of the rows of the link table, if there are any.
    pub(super) const fn interval(&self) -> Option<Duration> {
        self.interval
    }

    /// Whether there is a row an exchange.
    #[inline]
    pub(super) const fn wants_exchanges(&self) -> bool {
        self.exchanges.is_some()
    }

    /// The request that an exchange of the first leg is, carried by `pair` if that is still there.
    pub(super) fn push_request(&mut self, exchange: &Exchange, pair: Option<&Pair>, status: Status) {
        let (request, times) = (&exchange.request, &exchange.times);
        let ride = exchange.down.or(exchange.up);
        let since = |now: fn(&Pair) -> u64, before: u64| pair.map_or(0, |pair| int(now(pair) - before));
        self.requests.push(&RequestRow {
            request: int(exchange.number),
            host: code(request.host),
            object: request.object.map(ObjectId::get),
            source: request.source.map(code),
            tag: request.tag.map(code),
            status: status as i32,
            start_ns: nanos(request.start),
            connect_ns: times.connected.map(nanos),
            first_byte_ns: times.first_byte.map(nanos),
            end_ns: times.end.map(nanos),
            acked_ns: times.acked.map(nanos),
            request_bytes: int(request.request_bytes),
            response_bytes: int(request.response_bytes),
            connection: ride.map(|ride| int(ride.number)),
            retransmits: ride.map_or(0, |ride| since(Pair::retransmits, ride.retransmits)),
            timeouts: ride.map_or(0, |ride| since(Pair::timeouts, ride.timeouts)),
            served_by: exchange.served_by.map(i32::from),
        });
    }

    pub(super) fn push_exchange(&mut self, exchange: &Exchange) {
        let Some(columns) = &mut self.exchanges else {
            return;
        };
        let times = &exchange.times;
        columns.push(&ExchangeRow {
            request: int(exchange.number),
            leg: exchange.leg as i64,
            connection_up: exchange.up.map(|ride| int(ride.number)),
            connection_down: exchange.down.map(|ride| int(ride.number)),
            resent: int(exchange.resent),
            start_ns: nanos(times.start),
            connect_ns: times.connected.map(nanos),
            requested_ns: times.requested.map(nanos),
            ready_first_ns: times.ready_first.map(nanos),
            ready_last_ns: times.ready_last.map(nanos),
            sent_last_ns: times.sent_last.map(nanos),
            cwnd_ns: times.sent_last.map(|_| int(exchange.held.cwnd.as_nanos())),
            window_ns: times.sent_last.map(|_| int(exchange.held.window.as_nanos())),
            first_byte_ns: times.first_byte.map(nanos),
            end_ns: times.end.map(nanos),
        });
    }

    /// A connection that is over, or still there when the run ends at `now`.
    pub(super) fn push_connection(&mut self, pair: &Pair, now: Instant) {
        let Some(columns) = &mut self.connections else {
            return;
        };
        let [up, down] = pair.sent;
        columns.push(&ConnectionRow {
            connection: int(pair.number),
            leg: pair.leg as i64,
            host: pair.host.map(code),
            open_ns: nanos(pair.opened),
            close_ns: pair.closed.map(nanos),
            bytes_up: int(up.bytes),
            bytes_down: int(down.bytes),
            segments_up: int(up.segments),
            segments_down: int(down.segments),
            retransmits: int(pair.retransmits()),
            timeouts: int(pair.timeouts()),
            requests: int(pair.requests),
            requests_max: int(pair.aboard_max),
            busy_ns: int(pair.busy(now).as_nanos()),
        });
    }

    /// Writes a row for each link and for each leg, of what happened since the last call; none for an empty interval.
    pub(super) fn close_interval(&mut self, now: Instant, path: &mut Path, legs: &mut [Leg]) {
        let span = now.saturating_since(self.interval_start);
        if self.interval.is_none() || span == Duration::ZERO {
            return;
        }
        self.interval_start = now;
        for (id, stats) in path.close_intervals(now) {
            self.links.push(&LinkRow {
                link: id.link() as i64,
                direction: id.direction() as i32,
                time_ns: nanos(now),
                interval_ns: int(span.as_nanos()),
                bytes: int(stats.bytes.get()),
                packets: int(stats.packets),
                drops: int(stats.drops()),
                queue_bytes_mean: stats.queue_bytes_mean(),
                queue_bytes_max: int(stats.queue_bytes_max.get()),
                busy: stats.busy_share(),
            });
        }
        for (index, leg) in legs.iter_mut().enumerate() {
            let stats = leg.occupancy.close_interval(now);
            self.legs.push(&LegRow {
                leg: index as i64,
                time_ns: nanos(now),
                interval_ns: int(span.as_nanos()),
                open_mean: stats.mean(stats.open),
                open_max: int(stats.open.max),
                busy_mean: stats.mean(stats.busy),
                busy_max: int(stats.busy.max),
                requests_mean: stats.mean(stats.requests),
                requests_max: int(stats.requests.max),
                connection_requests_max: int(stats.connection_requests_max),
            });
        }
    }
}

pub(super) fn nanos(at: Instant) -> i64 {
    int(at.as_nanos())
}

pub(super) fn int(value: u64) -> i64 {
    i64::try_from(value).expect("counts and times below 2^63")
}

pub(super) fn code(id: impl Id) -> i32 {
    i32::try_from(id.index()).expect("fewer than 2^31 words")
}
