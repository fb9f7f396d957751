//! Any columns as a request table and as a host table: what Python hands over from Parquet.

#![no_main]

use arbitrary::Arbitrary;
use farweb::workload::{Batch, BatchTable, Directory, HostColumns, Words, hosts_from_columns};
use farweb_fuzz::{checked, tables};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Column {
    codes: Vec<i8>,
    words: Vec<String>,
}

#[derive(Debug, Arbitrary)]
struct Rows {
    start_s: Vec<f64>,
    host: Column,
    request_bytes: Vec<i64>,
    response_bytes: Vec<i64>,
    server_s: Option<Vec<f64>>,
    wait_s: Option<Vec<f64>>,
    object: Option<Vec<u64>>,
    source: Option<Column>,
    tag: Option<Column>,
    day: Option<Vec<i64>>,
    client: Option<Vec<u64>>,
    method: Option<Column>,
    caching: Option<Column>,
    tls: Option<Vec<i8>>,
}

#[derive(Debug, Arbitrary)]
struct Input {
    batches: Vec<Rows>,
    /// True when lengths are made equal, so that cells are looked at.
    fitted: bool,
    host: Column,
    name: Option<Column>,
    windows: Option<Vec<i64>>,
    segments: Option<Vec<i64>>,
}

impl Column {
    fn into_words(self, rows: Option<usize>) -> Words {
        let mut codes: Vec<i32> = self.codes.into_iter().map(i32::from).collect();
        if let Some(rows) = rows {
            codes.resize(rows, 0);
        }
        Words { codes, words: self.words }
    }
}

impl Rows {
    fn into_batch(mut self, fitted: bool) -> Batch {
        let rows = fitted.then_some(self.start_s.len());
        if let Some(rows) = rows {
            self.start_s.sort_by(f64::total_cmp);
            self.request_bytes.resize(rows, 300);
            self.response_bytes.resize(rows, 9000);
            for times in [&mut self.server_s, &mut self.wait_s] {
                times.iter_mut().for_each(|times| times.resize(rows, f64::NAN));
            }
            for ids in [&mut self.object, &mut self.client] {
                ids.iter_mut().for_each(|ids| ids.resize(rows, 0));
            }
            self.day.iter_mut().for_each(|day| day.resize(rows, 1));
            self.tls.iter_mut().for_each(|tls| tls.resize(rows, 1));
        }
        Batch {
            start_s: self.start_s,
            host: self.host.into_words(rows),
            request_bytes: self.request_bytes,
            response_bytes: self.response_bytes,
            server_s: self.server_s,
            wait_s: self.wait_s,
            object: self.object,
            source: self.source.map(|column| column.into_words(rows)),
            tag: self.tag.map(|column| column.into_words(rows)),
            day: self.day,
            client: self.client,
            method: self.method.map(|column| column.into_words(rows)),
            caching: self.caching.map(|column| column.into_words(rows)),
            tls: self.tls,
        }
    }
}

fuzz_target!(|input: Input| {
    let rows: usize = input.batches.iter().map(|batch| batch.start_s.len()).sum();
    let mut batches = input.batches.into_iter().map(|batch| batch.into_batch(input.fitted));
    let mut table = BatchTable::new("columns", || Ok(batches.next()));
    if let Ok(requests) = checked(tables::rest(&mut table, &mut Directory::default())) {
        assert_eq!(requests.len(), rows);
        assert!(requests.is_sorted_by_key(|request| request.start));
        assert!(requests.iter().all(|request| request.response_bytes >= 1));
    }
    let hosts = HostColumns {
        host: input.host.into_words(None),
        name: input.name.map(|column| column.into_words(None)),
        window_bytes: input.windows,
        mss_bytes: input.segments,
    };
    if let Ok(directory) = checked(hosts_from_columns(&hosts, "columns")) {
        assert_eq!(directory.hosts().len(), hosts.host.codes.len());
        tables::check_hosts(&directory);
    }
});
