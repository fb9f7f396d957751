//! Observation of a run: rows, recorded packets, the measured interval, what held a sender. **Nothing here changes a result.**
//!
//! The observer reads connections, exchanges and links. Others report to it what happens, and ask it only if
//! that is recorded.

mod caches;
mod capture;
mod frames;
mod measurement;
mod occupancy;
mod points;
mod recorder;
mod rows;
mod senders;

use serde::{Deserialize, Serialize};

use crate::conn::{Cause, Connection, ConnectionId, Exchange, ExchangeId, HeldTimes, PacketPath};
use crate::record::{Column, Status};
use crate::tcp::Limit;
use crate::units::{Duration, Instant};

use capture::Capture;
pub use capture::Packets;
pub(crate) use capture::Seen;
pub(crate) use frames::FramePlace;
use frames::Frames;
use recorder::Recorder;
use senders::Senders;

pub(crate) use caches::CacheWatch;
pub use caches::{Asked, CacheStats};
pub(crate) use measurement::Measurement;
pub use measurement::{Measure, Measured};
pub use occupancy::{Count, LegStats};
pub(crate) use occupancy::{Counted, Occupancy};
pub use points::{CapturePoint, CapturePointError};
pub use rows::{cache_row, leg_row, link_row};

/// Tables recorded besides the requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// Length of the intervals in the tables of links, legs and caches; only totals when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_every: Option<Duration>,
    /// True when it is measured how long packets wait in front of links.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sojourn: bool,
    /// True when the table of connections is recorded, a row a connection.
    pub connections: bool,
    /// True when the table of exchanges is recorded, a row a request and leg.
    pub exchanges: bool,
    /// Connections with recorded packets.
    pub packets: Packets,
    /// Points at which packets are seen: both ends and the splits of every leg ("ends"), a link ("link 0"), or one direction of it
    /// ("link 0 up", "link 0 down").
    pub points: Vec<CapturePoint>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            links_every: None,
            sojourn: false,
            connections: true,
            exchanges: false,
            packets: Packets::None,
            points: vec![CapturePoint::Ends],
        }
    }
}

/// Things to watch, and how.
pub(crate) struct Config {
    pub(crate) record: Record,
    pub(crate) links: usize,
    pub(crate) legs: usize,
    /// By cache.
    pub(crate) cache_nodes: Vec<i32>,
    pub(crate) warmup: Duration,
    pub(crate) measure: Measure,
}

/// All observers of a run.
pub(crate) struct Observer {
    recorder: Recorder,
    pub(crate) packets: Capture,
    pub(crate) frames: Frames,
    /// Occupancy of each leg.
    pub(crate) legs: Vec<Occupancy>,
    /// Statistics of each cache.
    pub(crate) caches: Vec<CacheWatch>,
    pub(crate) measurement: Measurement,
    /// Clocks of the causes that hold the senders of responses, if exchanges are recorded.
    senders: Option<Senders>,
}

impl Observer {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            packets: Capture::new(&config),
            frames: Frames::default(),
            legs: (0..config.legs).map(|_| Occupancy::new()).collect(),
            caches: config.cache_nodes.iter().map(|_| CacheWatch::default()).collect(),
            measurement: Measurement::new(&config),
            senders: config.record.exchanges.then(Senders::default),
            recorder: Recorder::new(config),
        }
    }

    /// Takes the rows up to `now`. Tables without rows are left out.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<(&'static str, Vec<(&'static str, Column)>)> {
        let mut tables = self.recorder.take();
        tables.push(("packets", self.packets.take(now)));
        tables.push(("frames", self.frames.take()));
        tables.retain(|(_, columns)| columns.iter().any(|(_, column)| !column.is_empty()));
        tables
    }

    /// Distance of the rows of links and legs, if there are any.
    pub(crate) const fn interval(&self) -> Option<Duration> {
        self.recorder.interval()
    }

    /// Writes a row for each link, leg and cache, of what happened since the last call.
    pub(crate) fn close_interval(&mut self, now: Instant, path: &mut PacketPath) {
        self.recorder.close_interval(now, path, &mut self.legs, &mut self.caches);
    }

    /// A connection opens.
    pub(crate) fn on_open(&mut self, now: Instant, id: ConnectionId, connection: &mut Connection) {
        self.legs[connection.leg].add(now, Counted::Open);
        connection.recorded = self.packets.wants_all();
        if let Some(senders) = &mut self.senders {
            senders.start(now, id);
        }
    }

    /// Requests may go on a connection from now on.
    pub(crate) fn on_ready(&mut self, now: Instant, id: ConnectionId) {
        if let Some(senders) = &mut self.senders {
            senders.note_ready(now, id);
        }
    }

    /// Both ends of a connection are closed or in TIME_WAIT.
    pub(crate) fn on_connection_over(&mut self, now: Instant, id: ConnectionId, connection: &Connection) {
        self.legs[connection.leg].remove(now, Counted::Open);
        if let Some(senders) = &mut self.senders {
            senders.stop(now, id);
        }
    }

    /// A connection is forgotten, or the run ends.
    pub(crate) fn on_connection_end(&mut self, now: Instant, id: ConnectionId, connection: &Connection) {
        let held = self.senders.as_ref().map(|senders| (senders.at(now, id), senders.opening(id)));
        self.recorder.push_connection(connection, held.as_ref(), now);
        if connection.recorded {
            self.frames.forget(connection);
        }
    }

    /// A request ends. `connection` carried it, if that is still there.
    pub(crate) fn on_request_end(
        &mut self,
        now: Instant,
        exchange: &Exchange,
        connection: Option<&Connection>,
        status: Status,
    ) {
        self.recorder.push_request(now, exchange, connection, status);
    }

    /// An exchange ends, or the run does.
    pub(crate) fn on_exchange_end(&mut self, exchange: &Exchange) {
        self.recorder.push_exchange(exchange);
    }

    /// True when a record asks for times of sending and for their causes.
    #[inline]
    pub(crate) const fn wants_senders(&self) -> bool {
        self.senders.is_some()
    }

    /// A response is due on a connection, and a part of it is still missing.
    pub(crate) fn on_response_due(&mut self, id: ConnectionId, response: ExchangeId) {
        if let Some(senders) = &mut self.senders {
            senders.expect(id, response);
        }
    }

    /// The cause that holds the sender of responses may have changed. `is_due` is true while more of a
    /// response is expected there.
    pub(crate) fn note_cause(
        &mut self,
        now: Instant,
        id: ConnectionId,
        limit: Option<Limit>,
        waits_for_credit: bool,
        is_due: impl Fn(ExchangeId) -> bool,
    ) {
        let Some(senders) = &mut self.senders else {
            return;
        };
        let awaits_more = || {
            let due = senders.due(id);
            due.retain(|response| is_due(*response));
            !due.is_empty()
        };
        let cause = Cause::of(limit, waits_for_credit, awaits_more);
        senders.change(now, id, cause);
    }

    /// Readings of the clocks of the sender of responses. Zero where they are not kept.
    pub(crate) fn held(&self, now: Instant, id: ConnectionId) -> HeldTimes {
        self.senders.as_ref().map_or(HeldTimes::default(), |senders| senders.at(now, id))
    }
}
