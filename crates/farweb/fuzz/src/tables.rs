//! Request tables and host tables.

use std::path::Path;

use farweb::workload::{Begin, Directory, Request, RequestSource, RequestTable, WorkloadError, open_hosts};

use crate::checked;

/// Endings of names, which choose the separator. The bytes of a file tell if it is packed.
pub const SUFFIXES: [&str; 4] = [".csv", ".tsv", ".log", ".csv.gz"];

/// Reads the request table at `path` to its end, twice.
///
/// # Panics
/// When a row is invalid or contradicts the summary, or the second reading the first.
pub fn read_requests(path: &Path) {
    let Ok((table, summary)) = checked(RequestTable::open(path)) else { return };
    let again = || table.begin().expect("the table was read before");
    let mut directory = Directory::default();
    let requests = rest(&mut again(), &mut directory).expect("the table was read before");
    assert_eq!(requests.len() as u64, summary.requests);
    assert_eq!(directory.hosts().len(), summary.hosts);
    assert!(requests.is_sorted_by_key(|request| request.start));
    assert_eq!(requests.first().map(|request| request.start), Some(summary.first_start));
    assert_eq!(requests.last().map(|request| request.start), Some(summary.last_start));
    assert!(requests.iter().all(|request| request.response_bytes >= 1));
    assert_eq!(rest(&mut again(), &mut directory).expect("the table was read before"), requests);
}

/// The requests that `source` still has.
///
/// # Errors
/// The source's own.
pub fn rest(
    source: &mut impl RequestSource,
    directory: &mut Directory,
) -> Result<Vec<Request>, WorkloadError> {
    let mut requests = Vec::new();
    while let Some(request) = source.next_request(directory)? {
        requests.push(request);
    }
    Ok(requests)
}

/// Reads the host table at `path`.
///
/// # Panics
/// When a host cannot be found by its key, or not simulated.
pub fn read_hosts(path: &Path) {
    if let Ok(directory) = checked(open_hosts(path)) {
        check_hosts(&directory);
    }
}

/// Panics unless every host can be found by its key and could be simulated.
pub fn check_hosts(directory: &Directory) {
    for (id, host) in directory.hosts().iter() {
        assert_eq!(directory.find(&host.key), Some(id));
        assert!(!host.key.is_empty());
        assert!(host.buffer.is_none_or(|buffer| buffer >= 32) && host.mss.is_none_or(|mss| mss >= 32));
    }
}
