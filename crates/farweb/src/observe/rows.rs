//! Rows about links, legs and caches: over an interval of the recorder, in the measured interval, or in a whole run.

use crate::net::LinkTotals;
use crate::record::{CacheRow, LegRow, LinkRow};
use crate::units::Instant;

use super::caches::CacheStats;
use super::occupancy::LegStats;
use super::recorder::{int, nanos};

/// The row of a direction of a link.
#[must_use]
pub fn link_row(totals: &LinkTotals) -> LinkRow {
    let stats = &totals.stats;
    LinkRow {
        link: totals.link as i64,
        direction: totals.direction as i32,
        time_ns: nanos(stats.to),
        interval_ns: int((stats.to - stats.from).as_nanos()),
        bytes: int(stats.bytes.get()),
        packets: int(stats.packets),
        drops: int(stats.drops()),
        drops_full: int(stats.drops_full),
        drops_aqm: int(stats.drops_aqm),
        drops_loss: int(stats.drops_loss),
        marks: int(stats.marks),
        queue_bytes_mean: stats.queue_bytes_mean(),
        queue_bytes_max: int(stats.queue_bytes_max.get()),
        busy: stats.busy_share(),
        available_bytes: stats.available_bytes().map(|bytes| int(bytes.get())),
        rate_bps_mean: stats.rate_bps_mean(),
        sojourn_mean_s: stats.waits.map(|waits| waits.sum as f64 / waits.packets as f64 / 1e9),
        sojourn_p50_s: stats.waits.map(|waits| waits.quantiles[0].as_secs_f64()),
        sojourn_p95_s: stats.waits.map(|waits| waits.quantiles[1].as_secs_f64()),
        sojourn_p99_s: stats.waits.map(|waits| waits.quantiles[2].as_secs_f64()),
        sojourn_max_s: stats.waits.map(|waits| waits.longest.as_secs_f64()),
        granted_bytes: stats.grants.map(|grants| int(grants.bytes)),
        granted_unused_bytes: stats.grants.map(|grants| int(grants.unused)),
    }
}

/// The row of a leg.
#[must_use]
pub fn leg_row(leg: usize, stats: &LegStats) -> LegRow {
    LegRow {
        leg: leg as i64,
        time_ns: nanos(stats.to),
        interval_ns: int((stats.to - stats.from).as_nanos()),
        open_mean: stats.mean(stats.open),
        open_max: int(stats.open.max),
        busy_mean: stats.mean(stats.busy),
        busy_max: int(stats.busy.max),
        requests_mean: stats.mean(stats.requests),
        requests_max: int(stats.requests.max),
        connection_requests_max: int(stats.connection_requests_max),
    }
}

/// The row of a cache at `node` for the time between two instants.
#[must_use]
pub fn cache_row(node: i32, from: Instant, to: Instant, stats: &CacheStats) -> CacheRow {
    CacheRow {
        node,
        time_ns: nanos(to),
        interval_ns: int((to - from).as_nanos()),
        requests: int(stats.requests.number),
        hits: int(stats.hits.number),
        delayed_hits: int(stats.delayed.number),
        bypasses: int(stats.bypasses),
        revalidations: int(stats.revalidations),
        request_bytes: int(stats.requests.bytes),
        hit_bytes: int(stats.hits.bytes),
        delayed_hit_bytes: int(stats.delayed.bytes),
        objects: int(stats.objects),
        bytes: int(stats.bytes),
    }
}
