//! Several logs read as one: their requests one log after the other on one clock, and their counts together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use super::caching::CachingReport;
use super::facts::{Facts, Part};
use super::report::{FirstRequest, Reason, Report, TimeOuts, Unclear};
use super::{LogBatch, LogFormat, LogOptions, LogReader, Overview, ServerTime};
use crate::schema::NULL_INT;
use crate::units::Duration;
use crate::units::words::{count, plural};
use crate::workload::{Unreadable, WorkloadError};

/// Reads several logs as one.
#[derive(Debug)]
pub struct LogsReader {
    name: String,
    /// Logs that are not read yet, with their places.
    left: VecDeque<(usize, PathBuf)>,
    names: Vec<String>,
    format: LogFormat,
    options: LogOptions,
    overview: Overview,
    now: Option<(usize, LogReader)>,
    /// Latest whole second of a line.
    latest: i64,
    report: Report,
}

impl LogsReader {
    /// Opens the first of the logs at `paths`, each plain or packed. Messages call them by `names`, and so does a report on several.
    /// `overview` is of the same logs.
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
        let (name, report) = (names.join(", "), Report::default());
        let mut reader = Self { name, left, names, format, options, overview, now: None, latest: -1, report };
        reader.turn()?;
        Ok(reader)
    }

    /// The next requests, about `rows` of one log. Their starts count from the origin of the first log with a request. `None` at the end
    /// of the last log.
    ///
    /// # Errors
    /// As [`LogReader::open`] and [`LogReader::batch`]. At the end when no log has a request of the table, or none an elapsed time for the
    /// round trip of the options.
    pub fn batch(&mut self, rows: usize) -> Result<Option<LogBatch>, WorkloadError> {
        while let Some((place, reader)) = &mut self.now {
            if let Some(mut batch) = reader.batch(rows)? {
                let origin = reader.report().origin_unix_s.expect("there is a request");
                let shift = (origin - *self.report.origin_unix_s.get_or_insert(origin)) as f64;
                batch.start_s.iter_mut().for_each(|start| *start += shift);
                self.note(&batch.second);
                return Ok(Some(batch));
            }
            let name = if self.names.len() > 1 { &*self.names[*place] } else { "" };
            self.report.add(reader.report(), name);
            self.turn()?;
        }
        self.check()?;
        Ok(None)
    }

    /// Looks for whole seconds that come back. A log's reader ends no batch within one.
    fn note(&mut self, seconds: &[i64]) {
        let mut before = self.latest + 1;
        for second in seconds.iter().copied().filter(|second| *second != NULL_INT) {
            self.report.seconds_come_back |= second < before;
            before = second;
            self.latest = self.latest.max(second);
        }
    }

    fn check(&self) -> Result<(), WorkloadError> {
        let (name, report) = (&self.name, &self.report);
        if report.requests == 0 {
            let formats = report.formats.join(", ");
            let why = report.why_empty();
            return Err(WorkloadError(format!("{name}: read as {formats}, no request is left: {why}")));
        }
        if self.options.rtt == Duration::ZERO || report.with_elapsed_time > 0 {
            return Ok(());
        }
        let why = match (self.options.server_time, report.with_server_time) {
            (ServerTime::None, _) => "--server-time none leaves out the times that it is taken off",
            (_, 0) => "no request has an elapsed time to take it off: it has no times",
            _ => {
                "no request has an elapsed time to take it off: server times are of servers behind, without the path"
            }
        };
        Err(WorkloadError(format!("{name}: --rtt-ms: {why}")))
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
    /// Why no line gave a request, and what to do.
    fn why_empty(&self) -> String {
        let all: Vec<_> = self.dropped.iter().map(|(reason, lines)| (*reason, *lines)).collect();
        let (empty, mut dropped): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(reason, _)| reason.is_no_line());
        let lines = self.lines - empty.iter().map(|(_, lines)| lines).sum::<u64>();
        dropped.sort_by_key(|(_, lines)| Reverse(*lines));
        let Some((most, of_most)) = dropped.first().copied() else {
            return match lines {
                0 => "it is empty".into(),
                lines => format!("none of its {} can be read", plural(lines, "line")),
            };
        };
        let hint = most.hint().map_or_else(String::new, |hint| format!("; {hint}"));
        if of_most == lines {
            let those =
                if lines == 1 { "its line is".into() } else { format!("all {} lines are", number(lines)) };
            return format!("{those} {}{hint}", most.meaning());
        }
        let each = |(reason, lines): &(Reason, u64)| format!("{} {}", number(*lines), reason.meaning());
        let reasons = dropped.iter().map(each).collect::<Vec<_>>().join(", ");
        format!("of {} lines {reasons}{hint}", number(lines))
    }

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
        self.with_server_time += one.with_server_time;
        self.with_wait += one.with_wait;
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

impl Reason {
    /// What keeps such lines, where most are left out for it.
    const fn hint(self) -> Option<&'static str> {
        Some(match self {
            Self::ConnectTunnel => "leave --no-tunnels out to keep them",
            Self::Hit | Self::AnsweredByProxy => "--keep all keeps them",
            Self::Revalidation => "--keep crossed keeps them",
            Self::InnerTier | Self::OtherSide | Self::HealthCheck | Self::Loopback | Self::Repeated => {
                "--keep lines keeps them"
            }
            Self::NoSize => {
                "let the server write it: $body_bytes_sent in nginx, %b in Apache, sc-bytes in IIS; of JSON workload import takes \
                 the key: --field bytes=KEY; --assume-bytes 10000 assumes a size"
            }
            Self::ZeroBytes => "let the server write the size of the response",
            Self::NotSampled => "take a larger --sample or another --seed",
            Self::NotSuccessful => "--errors keeps them",
            Self::OtherClient => "--client is a pattern of clients as the log has them, such as \"10.0.*\"",
            Self::OutsideTime => "--from and --to go by the clock of each line, unless they name a zone",
            _ => return None,
        })
    }
}

fn number(lines: u64) -> String {
    count(lines as f64)
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
