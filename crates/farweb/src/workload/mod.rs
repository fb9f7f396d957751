//! Requests and the hosts that answer them: tables, generated traces, readers of logs and captures.

mod copies;
mod directory;
mod fenwick;
mod hashed_id;
mod lines;
mod link_trace;
mod log;
mod lru_stack;
mod memory;
mod method;
pub mod nzix;
mod origin_time;
pub(crate) mod packed;
mod parameters;
mod population;
mod prepared;
mod probe;
pub mod prowgen;
mod rate;
mod references;
mod repeats;
mod resample;
mod shared;
mod speed;
mod table;
mod trace;
mod unreadable;

pub use copies::{Copies, CopiesHosts, Load};
pub use directory::{Directory, Host, HostId, Symbol, SymbolTable};
pub use hashed_id::{Client, ClientId, HashedId, Object, ObjectId};
pub use link_trace::{is_trace, trace_of_bytes};
pub(crate) use log::unix_us;
pub use log::{
    Bound, Bypass, CachingReport, ClientColumn, ClientKey, ClientNames, FirstRequest, Keep, KnownOfLog,
    LOG_HEADER_BYTES, LogBatch, LogFormat, LogOptions, LogReader, LogsReader, Overview, Reason, Repeat,
    Report, Rule, Sample, SampleBy, ServerTime, TimeOuts, Unclear, Unit as SpanUnit, UnreadFields,
};
pub(crate) use lru_stack::LruStack;
pub use memory::{MemoryRows, MemoryTable};
pub use method::{Caching, Method};
pub use origin_time::OriginTime;
pub use parameters::ParameterError;
pub use prepared::{Begin, Laying, Prepared, Requests};
pub use probe::{Probe, ProbeReport, ProbedHost, Skipped, UnreadablePacket};
pub use rate::{AtRate, RATE_MAX, RATE_MIN};
pub use references::References;
pub use resample::{Resample, ResampledClients};
pub use shared::{Reader, shared};
pub use speed::{AtSpeed, SPEED_MAX, SPEED_MIN};
pub use table::{
    Batch, BatchTable, Changes, HostColumns, ROWS_KEPT, RequestTable, Schedule, Summary, WORKLOAD_TABLES,
    Words, hosts_from_columns, hosts_of_bytes, open_hosts,
};
pub use trace::{TraceBatch, TraceReader};
pub use unreadable::{Unreadable, UnreadableLines};

use crate::units::Instant;

/// One request of a request table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Time when the first node gets it.
    pub start: Instant,
    /// The origin server that it is for.
    pub host: HostId,
    /// Request, body and headers, in bytes. At least 1 where the carrier has requests.
    pub request_bytes: u64,
    /// Response, body and headers, in bytes. At least 1.
    pub response_bytes: u64,
    /// Time that the origin took, from the arrival of the request to the end of the response, as far as it was recorded.
    pub server: OriginTime,
    /// Column `object`: the object requested.
    pub object: Option<ObjectId>,
    /// Column `source`: which node serves it.
    pub source: Option<Symbol>,
    /// Column `tag`. "sample" marks the requests measured in every run.
    pub tag: Option<Symbol>,
    /// Column `day`, at least 1: the start is counted from the beginning of its day. `None`: the table has no days.
    pub day: Option<u32>,
    /// Column `client`: who asks.
    pub client: Option<ClientId>,
    /// Column `method`.
    pub method: Method,
    /// Column `caching`, or the treatment that its method has.
    pub caching: Caching,
    /// Column `tls`: false for a request in the clear, where its leg has TLS, and for a tunnel without TLS inside. `None`: the
    /// table does not say, and the leg decides.
    pub tls: Option<bool>,
}

impl Request {
    /// True of a request that the table says is in the clear.
    #[must_use]
    pub const fn is_clear(&self) -> bool {
        matches!(self.tls, Some(false))
    }

    /// Checks that it has bytes to send.
    ///
    /// # Errors
    /// When it has none.
    pub fn require_bytes(&self) -> Result<(), WorkloadError> {
        if self.request_bytes > 0 {
            return Ok(());
        }
        Err(WorkloadError(format!(
            "request table: column request_bytes: found 0 for the request at {}; write at least 1, as only the \
             carrier \"transfer\" has no requests",
            self.start
        )))
    }
}

#[cfg(test)]
impl Request {
    /// A request of a byte for a byte, with nothing that a table may leave out.
    pub(crate) const fn bare(start: Instant, host: HostId) -> Self {
        Self {
            start,
            host,
            request_bytes: 1,
            response_bytes: 1,
            server: OriginTime::NONE,
            object: None,
            source: None,
            tag: None,
            day: None,
            client: None,
            method: Method::Get,
            caching: Caching::Store,
            tls: None,
        }
    }
}

/// A stream of requests by start time.
pub trait RequestSource {
    /// The next request. `None` at the end. Starts never decrease. Hosts and words that are new go into `directory`.
    ///
    /// # Errors
    /// When the table cannot be read or a row is not a request: names file, line, column and the value found.
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError>;
}

impl<S: RequestSource + ?Sized> RequestSource for Box<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        (**self).next_request(directory)
    }
}

/// Error in a request table, a host table or a log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WorkloadError(pub String);
