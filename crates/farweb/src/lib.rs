//! farweb: a packet-level simulator of web traffic over long paths.
//!
//! A *scenario* describes a path of nodes, the links between them, the legs that transport connections span,
//! and a request table. [`world::World`] turns it into packets and gives back rows: one for each request,
//! connection, link interval and, when asked, packet.
//!
//! The modules stand in layers, lowest first. A `use` only points up this list:
//!
//! * [`units`], [`id`], [`rng`]: quantities, typed ids, named random streams of one seed.
//! * [`schema`]: what a table is, with columns, types and units.
//! * [`engine`]: the clock and the event queue. Knows nothing of networks.
//! * [`net`]: the path of links, their queues and losses.
//! * [`tcp`]: the sans-IO TCP endpoint and its profiles.
//! * [`http`]: the ways requests ride connections, sans-IO as well.
//! * [`workload`]: request and host tables, log readers.
//! * [`cache`]: what a cache keeps: replacement policies, admission, freshness.
//! * [`record`]: rows to columns. The one home of the results schema.
//! * `session`, `conn`: bytes that go on a connection now, connections, and programs at their ends.
//! * `observe`, `context`: who watches connections, and what the next three may touch and answer with.
//! * `client`, `pool`, `node`: who asks, which connection a request gets, what happens where legs end.
//! * [`scenario`]: the description of a run, checked once, every error with its place.
//! * [`sweep`]: the design of a sweep: its points, the scenario at each, the seeds of runs.
//! * [`explain`]: what `check` says of a scenario before anything runs.
//! * [`load`]: the requests of a workload held against its path, and the size of a run, before anything runs.
//! * [`world`]: owns every entity and the one `match` over all events.
//! * [`page`]: page loads that browsers recorded, read from HARs, and loaded again.
//! * [`export`]: what other programs read: captures and plots of recorded packets.
//!
//! This crate never reads a clock, starts a thread or draws an unseeded random number.

pub mod cache;
mod client;
mod conn;
mod context;
pub mod engine;
pub mod explain;
pub mod export;
pub mod http;
pub mod id;
pub mod load;
pub mod net;
mod node;
mod observe;
pub mod page;
mod pool;
pub mod record;
pub mod rng;
pub mod scenario;
pub mod schema;
mod session;
pub mod sweep;
pub mod tcp;
pub mod units;
pub mod workload;
pub mod world;

/// Version of farweb, as results carry it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Version of what runs result in: raised when an equal scenario, workload and seed give other rows.
///
/// A sweep that resumes takes no runs of another result version. `tests/integration/result_version.rs`
/// notices when it must be raised.
pub const RESULT_VERSION: u32 = 5;
