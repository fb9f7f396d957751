//! Captures.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use farweb::workload::{Probe, ProbeReport, ProbedHost, WorkloadError};

use crate::checked;

/// Looks through the capture at `path`, so many packets at a time: its hosts and the report.
///
/// # Errors
/// As the reader.
///
/// # Panics
/// When a packet or connection is not accounted for, or a host is no row of a host table.
pub fn read(
    path: &Path,
    max_unreadable: f64,
    packets: u64,
) -> Result<(Vec<ProbedHost>, ProbeReport), WorkloadError> {
    let mut probe = Probe::new(max_unreadable).expect("it is a share");
    checked(probe.open(path))?;
    while checked(probe.advance(packets))? {}
    let report = probe.report().clone();
    let skipped: u64 = report.skipped.values().sum();
    assert_eq!(report.packets, report.tcp + skipped + report.unreadable_packets);
    assert_eq!(report.connections, report.answered + report.refused + report.unanswered);
    assert!(report.half_open <= report.answered && report.rtt_samples <= report.answered);
    assert!(report.cut_off.iter().all(|text| !text.chars().any(char::is_control)));
    let hosts = probe.hosts(&[], false);
    hosts.iter().for_each(check);
    let connections: u64 = hosts.iter().map(|host| host.connections + host.refused + host.unanswered).sum();
    assert_eq!(connections, report.connections);
    assert!(hosts.is_sorted_by_key(|host| host.addresses[0]), "each address once, in order");
    let named = probe.hosts(&[(IpAddr::V4(Ipv4Addr::LOCALHOST), "a".into())], true);
    assert!(named.len() <= 1);
    Ok((hosts, report))
}

fn check(host: &ProbedHost) {
    assert!(host.mss_bytes.is_none_or(|mss| (32..=65_495).contains(&mss)));
    assert!(host.window_bytes.is_none_or(|window| (32..1 << 31).contains(&window)));
    assert!(host.window_scale.is_none_or(|shift| shift <= 14));
    assert!(host.connections > 0 || host.window_bytes.is_none() && host.rtt_ns.is_none());
    assert_eq!(host.rtt_ns.is_some(), host.rtt_samples > 0);
    assert!(!host.silent || host.mss_bytes.is_none());
}
