//! Logs of proxies and servers.

use std::path::Path;

use arbitrary::Arbitrary;
use farweb::units::Duration;
use farweb::workload::{
    Bound, ClientColumn, ClientKey, ClientNames, Keep, KnownOfLog, LogBatch, LogFormat, LogOptions, LogReader, Report, Sample,
    SampleBy, ServerTime, WorkloadError,
};

use crate::checked;

/// How a log is read.
#[derive(Debug, Clone, Arbitrary)]
pub struct How {
    keep: u8,
    dynamic: bool,
    errors: bool,
    tunnels: bool,
    rtt_ms: u16,
    request_bytes: Option<u16>,
    server_time: bool,
    strict: bool,
    client: Option<String>,
    /// True when clients are kept as logged, and taken from `X-Forwarded-For`.
    clients: (bool, bool),
    from: Option<String>,
    /// Share in 1/255, true if hosts are drawn, seed.
    sample: Option<(u8, bool, u64)>,
    rows: u8,
}

impl How {
    fn options(&self) -> LogOptions {
        LogOptions {
            keep: [None, Some(Keep::Misses), Some(Keep::Crossed), Some(Keep::All), Some(Keep::Lines)]
                [usize::from(self.keep % 5)],
            dynamic: self.dynamic,
            errors: self.errors,
            client: self.client.clone(),
            client_names: match self.clients.0 {
                true => ClientNames::AsLogged,
                false => ClientNames::Pseudonyms(ClientKey::new([7; 16])),
            },
            client_from_forwarded: self.clients.1,
            from: self.from.as_deref().and_then(Bound::parse),
            sample: self.sample.map(|(share, hosts, seed)| Sample {
                share: f64::from(share.max(1)) / 255.0,
                by: if hosts { SampleBy::Host } else { SampleBy::Client },
                seed,
            }),
            tunnels: self.tunnels,
            rtt: Duration::from_millis(u64::from(self.rtt_ms)),
            request_bytes: self.request_bytes.map(u64::from),
            server_time: if self.server_time { ServerTime::Elapsed } else { ServerTime::None },
            max_unreadable: if self.strict { 0.01 } else { 1.0 },
            ..LogOptions::default()
        }
    }
}

/// Reads the log at `path` to its end: its batches and the report.
///
/// # Errors
/// As the reader.
///
/// # Panics
/// When a batch is no part of a request table, or a line is not accounted for.
pub fn read(path: &Path, format: &LogFormat, how: &How) -> Result<(Vec<LogBatch>, Report), WorkloadError> {
    let mut reader = checked(LogReader::open(path, format, how.options(), KnownOfLog::default()))?;
    let mut batches = Vec::new();
    while let Some(batch) = checked(reader.batch(usize::from(how.rows)))? {
        check(&batch);
        batches.push(batch);
    }
    let report = reader.report().clone();
    let dropped: u64 = report.dropped.values().sum();
    assert_eq!(report.lines, report.requests + dropped + report.unreadable.count);
    assert_eq!(report.requests, batches.iter().map(|batch| batch.start_s.len() as u64).sum::<u64>());
    Ok((batches, report))
}

fn check(batch: &LogBatch) {
    let rows = batch.start_s.len();
    assert!(rows > 0, "an empty batch is the end");
    assert!(batch.start_s.iter().all(|start| start.is_finite()));
    assert!(batch.host.codes.len() == rows && batch.object.len() == rows);
    assert!(match &batch.client {
        ClientColumn::Pseudonyms(ids) => ids.len() == rows,
        ClientColumn::AsLogged(words) => words.codes.len() == rows,
    });
    assert!((0..rows).all(|row| batch.host.word(row).is_some_and(|host| !host.is_empty())));
    for sizes in [&batch.request_bytes, &batch.response_bytes] {
        assert!(sizes.len() == rows && sizes.iter().all(|bytes| *bytes >= 1));
    }
    assert!(batch.server_s.len() == rows && batch.wait_s.len() == rows);
    assert!(batch.server_s.iter().all(|server| server.is_nan() || *server >= 0.0));
    let mut times = batch.wait_s.iter().zip(&batch.server_s);
    assert!(times.all(|(wait, server)| wait.is_nan() || (0.0..=*server).contains(wait)));
}
