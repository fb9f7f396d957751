//! Several logs read as one: their requests one log after the other on one clock, and their counts together.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use super::caching::CachingReport;
use super::facts::{Facts, Part};
use super::report::{FirstRequest, Report, TimeOuts, Unclear};
use super::{LogBatch, LogFormat, LogOptions, LogReader, Overview};
use crate::workload::{Unreadable, WorkloadError};

/// Reads several logs as one.
#[derive(Debug)]
pub struct LogsReader {
    /// Logs that are not read yet, with their places.
    left: VecDeque<(usize, PathBuf)>,
    names: Vec<String>,
    format: LogFormat,
    options: LogOptions,
    overview: Overview,
    now: Option<(usize, LogReader)>,
    report: Report,
}

impl LogsReader {
    /// Opens the first of the logs at `paths`, each plain or packed. The report calls them by `names`, or not at all. `overview` is of the same logs.
    ///
    /// # Errors
    /// As [`LogReader::open`].
    pub fn open(
        paths: Vec<PathBuf>,
        names: Vec<String>,
        format: LogFormat,
        options: LogOptions,
        overview: Overview,
    ) -> Result<Self, WorkloadError> {
        let left = paths.into_iter().enumerate().collect();
        let mut reader =
            Self { left, names, format, options, overview, now: None, report: Report::default() };
        reader.turn()?;
        Ok(reader)
    }

    /// The next requests, about `rows` of one log. Their starts count from the origin of the first log with a request. `None` at the end
    /// of the last log.
    ///
    /// # Errors
    /// As [`LogReader::open`] and [`LogReader::batch`].
    pub fn batch(&mut self, rows: usize) -> Result<Option<LogBatch>, WorkloadError> {
        while let Some((place, reader)) = &mut self.now {
            if let Some(mut batch) = reader.batch(rows)? {
                let origin = reader.report().origin_unix_s.expect("there is a request");
                let shift = (origin - *self.report.origin_unix_s.get_or_insert(origin)) as f64;
                batch.start_s.iter_mut().for_each(|start| *start += shift);
                return Ok(Some(batch));
            }
            let name = self.names.get(*place).map_or("", String::as_str);
            self.report.add(reader.report(), name);
            self.turn()?;
        }
        Ok(None)
    }

    /// Report on the logs that were read to their ends.
    #[must_use]
    pub const fn report(&self) -> &Report {
        &self.report
    }

    /// Opens the next log.
    fn turn(&mut self) -> Result<(), WorkloadError> {
        let open = |(place, path): (usize, PathBuf)| {
            let known = self.overview.about(place);
            LogReader::open(&path, &self.format, self.options.clone(), known).map(|reader| (place, reader))
        };
        self.now = self.left.pop_front().map(open).transpose()?;
        Ok(())
    }
}

impl Report {
    /// Adds the report on a whole log, called `log`.
    pub(super) fn add(&mut self, one: &Self, log: &str) {
        let is_first = self.formats.is_empty();
        let before = if log.is_empty() { String::new() } else { format!("{log} ") };
        let units = one.units.iter().map(|unit| format!("{before}{unit}")).collect::<Vec<_>>();
        join(&mut self.formats, &one.formats);
        join(&mut self.units, &units);
        join(&mut self.assumptions, &one.assumptions);
        self.unit_doubt = self.unit_doubt.or(one.unit_doubt);
        self.lines += one.lines;
        self.requests += one.requests;
        self.kept_apart += one.kept_apart;
        self.with_elapsed_time += one.with_elapsed_time;
        self.request_bytes = self.request_bytes.saturating_add(one.request_bytes);
        self.response_bytes = self.response_bytes.saturating_add(one.response_bytes);
        self.given_up.join(one.given_up);
        sum(&mut self.dropped, &one.dropped);
        sum(&mut self.unreadable_by, &one.unreadable_by);
        self.meanings.extend(&one.meanings);
        self.facts.join(&one.facts);
        self.treated.join(&one.treated);
        self.unreadable.count += one.unreadable.count;
        self.unreadable.first.extend(one.unreadable.first.iter().cloned().map(|line| {
            let log = before.clone();
            Unreadable { log, ..line }
        }));
        if let Some(first) = &one.first_request
            && self.first_request.as_ref().is_none_or(|known| first.start_unix_s < known.start_unix_s)
        {
            self.first_request = Some(FirstRequest { log: log.to_owned(), ..first.clone() });
        }
        self.time_outs.join(&one.time_outs, log);
        let unread = self.unread_fields.requests + one.unread_fields.requests;
        if self.unread_fields.requests == 0 {
            self.unread_fields = one.unread_fields.clone();
        }
        self.unread_fields.requests = unread;
        for (field, those) in &one.unclear {
            let empty = || Unclear { requests: 0, text: those.text.clone() };
            self.unclear.entry(field).or_insert_with(empty).requests += those.requests;
        }
        self.follow(one, is_first);
    }

    /// Takes the times of a log that is read behind the others.
    fn follow(&mut self, one: &Self, is_first: bool) {
        self.sorted |= is_first;
        let (Some(origin), Some(first), Some(last)) =
            (one.origin_unix_s, one.first_start_s, one.last_start_s)
        else {
            return;
        };
        let shift = (origin - *self.origin_unix_s.get_or_insert(origin)) as f64;
        let (first, last) = (first + shift, last + shift);
        self.sorted &= one.sorted && self.last_start_s.is_none_or(|before| before <= first);
        self.first_start_s = Some(self.first_start_s.map_or(first, |known| known.min(first)));
        self.last_start_s = Some(self.last_start_s.map_or(last, |known| known.max(last)));
    }
}

impl TimeOuts {
    fn join(&mut self, one: &Self, log: &str) {
        let requests = self.requests + one.requests;
        if one.longest_s > self.longest_s {
            *self = Self { log: log.to_owned(), ..one.clone() };
        }
        self.requests = requests;
    }
}

impl Part {
    const fn join(&mut self, one: Self) {
        self.requests += one.requests;
        self.bytes = self.bytes.saturating_add(one.bytes);
    }
}

impl Facts {
    fn join(&mut self, one: &Self) {
        if let Some(server) = &one.software {
            let known = self.software.get_or_insert_default();
            if !known.split(", ").any(|each| each == server) {
                known.push_str(if known.is_empty() { "" } else { ", " });
                known.push_str(server);
            }
        }
        parts(&mut self.schemes, &one.schemes);
        parts(&mut self.http_versions, &one.http_versions);
        parts(&mut self.table_http_versions, &one.table_http_versions);
        parts(&mut self.methods, &one.methods);
        self.tunnels.join(one.tunnels);
        self.bytes_logged = self.bytes_logged.saturating_add(one.bytes_logged);
        sum(&mut self.dropped_bytes, &one.dropped_bytes);
    }
}

impl CachingReport {
    fn join(&mut self, one: &Self) {
        parts(&mut self.caching, &one.caching);
        sum(&mut self.storable_with, &one.storable_with);
        self.has_cache_control |= one.has_cache_control;
        self.errors.join(one.errors);
    }
}

/// Adds texts that are not there yet.
fn join(texts: &mut Vec<String>, more: &[String]) {
    for each in more {
        if !texts.contains(each) {
            texts.push(each.clone());
        }
    }
}

fn sum<K: Ord + Clone>(sums: &mut BTreeMap<K, u64>, one: &BTreeMap<K, u64>) {
    for (key, number) in one {
        let sum = sums.entry(key.clone()).or_default();
        *sum = sum.saturating_add(*number);
    }
}

fn parts<K: Ord + Clone>(sums: &mut BTreeMap<K, Part>, one: &BTreeMap<K, Part>) {
    for (key, part) in one {
        sums.entry(key.clone()).or_default().join(*part);
    }
}
