//! The family `nzix`: traces like the lost ones of the New Zealand Internet Exchange in July 1997.
//!
//! A trace has some days of ten minutes each: requests of a hierarchy of caches in New Zealand to servers in the United
//! States from 15:00 to 15:10. It has pages and their objects, hosts that are popular every day and others of one day,
//! heavy-tailed sizes, windows and MSS by the systems of servers, and server times made from their causes in the United
//! States then. The requests of the first day are tagged `sample`.
//!
//! A trace is a function of its seed, parameters and number of days. A day does not depend on how many others there
//! are.
//!
//! Left out: caches (the requests are their misses, for unknown objects), users who give up, errors, uploads, and the
//! hour of the day.
//!
//! Sources: the NZ–US studies (Proc. SPIE 3529, 1998, doi 10.1117/12.333730; CNDS 2001, pp. 97–102) for the traces.
//! Each parameter names its own. `docs/models/workload.md` lists them all.

mod day;
mod hosts;
mod parameters;
mod response;
#[cfg(test)]
mod tests;

pub use parameters::{Overrides, Parameters};

use day::Days;
use hosts::Server;

use super::{Caching, Directory, Host, HostId, MemoryTable, Method, Request};
use crate::rng::RandomStreams;
use crate::units::{Duration, Instant};

/// Length of a day's trace. Source: the NZ–US studies, 15:00 to 15:10.
pub const PERIOD: Duration = Duration::from_secs(600);

/// Days of a trace. Source: the NZ–US studies, July 1997.
pub const DAYS: u32 = 31;

/// Word of the column `tag` of the requests of the first day.
const SAMPLE: &str = "sample";

/// The trace of `days` days from the random streams of `seed`, with its hosts in the order of their first requests.
///
/// # Panics
/// When the parameters do not pass [`Parameters::check`].
#[must_use]
pub fn trace(parameters: &Parameters, days: u32, seed: u64) -> MemoryTable {
    parameters.check().expect("checked parameters");
    let streams = RandomStreams::new(seed);
    let source = Days::new(parameters, streams);
    let mut names = Directory::default();
    let sample = names.tags.symbol(SAMPLE);
    let mut requests = Vec::new();
    for day in 1..=days {
        for asked in source.requests(u64::from(day) - 1) {
            requests.push(Request {
                start: Instant::ZERO + asked.start,
                host: known(&mut names, asked.host, &streams, parameters),
                request_bytes: asked.request_bytes,
                response_bytes: asked.response_bytes,
                server: asked.server,
                object: None,
                source: None,
                tag: (day == 1).then_some(sample),
                day: Some(day),
                client: asked.client,
                method: Method::Get,
                caching: Caching::Store,
                tls: None,
            });
        }
    }
    MemoryTable::new(requests, names)
}

/// The host with this number, added when it is new.
fn known(names: &mut Directory, number: u64, streams: &RandomStreams, parameters: &Parameters) -> HostId {
    names.find(&key(number)).unwrap_or_else(|| names.add(host(number, streams, parameters)))
}

/// The host with this number, with its system's values.
pub(super) fn host(number: u64, streams: &RandomStreams, parameters: &Parameters) -> Host {
    let Server { mss, window, .. } = Server::new(number, streams, parameters);
    Host { key: key(number).into(), name: "".into(), buffer: Some(window), mss: Some(mss) }
}

fn key(number: u64) -> String {
    format!("h{number}")
}
