//! Requests of a log as columns.

use rustc_hash::FxHashMap;

use super::Entry;
use crate::units::Duration;
use crate::workload::Words;

const SECOND: i64 = 1_000_000_000;

/// Most requests of one second that are held back to be spread over it. Chosen: more than one machine answers in a
/// second, and below 100 MB.
const SECOND_ROWS_MAX: usize = 1 << 20;

/// Some requests of a log, as columns of equal length, in the order of the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogBatch {
    /// Starts, in s since [`Report::origin_unix_s`](super::Report::origin_unix_s): not always in order, and below
    /// zero for requests that started before the first one of the log.
    pub start_s: Vec<f64>,
    /// Hosts, in lower case, without port.
    pub host: Words,
    /// Requests, body and headers, in bytes.
    pub request_bytes: Vec<i64>,
    /// Responses, body and headers, in bytes.
    pub response_bytes: Vec<i64>,
    /// Times that the origin took, in s; NaN when not known.
    pub server_s: Vec<f64>,
    /// Parts of these before the first byte, in s; NaN when not known.
    pub wait_s: Vec<f64>,
    /// Ids of what is asked for: those of the URLs' bytes.
    pub object: Vec<u64>,
}

/// A [`LogBatch`] in the making.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// All but `start_s`.
    batch: LogBatch,
    /// Times as the log has them, in ns since 1970.
    times: Vec<i64>,
    /// Time in ns by which each request started before its line's time.
    before: Vec<i64>,
    /// The whole second in which the first request of the log started, since 1970.
    origin_s: Option<i64>,
    hosts: FxHashMap<Box<str>, i32>,
    /// First row of the whole second that the last row belongs to, whose rows are to be spread over it; `None`: the last
    /// row has a part of a second.
    second_from: Option<usize>,
}

impl Builder {
    /// The whole second, since 1970, in which the first request of the log started.
    pub(super) const fn origin_s(&self) -> Option<i64> {
        self.origin_s
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether a batch may end before `entry`: not within a second that is to be spread.
    pub(super) fn may_end_before(&self, entry: &Entry) -> bool {
        let Some(from) = self.second_from else { return true };
        !entry.whole || self.times.last() != Some(&entry.at) || self.len() - from >= SECOND_ROWS_MAX
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        if self.may_end_before(entry) {
            self.spread();
            self.second_from = entry.whole.then_some(self.len());
        }
        self.origin_s.get_or_insert((entry.at - entry.before).div_euclid(SECOND));
        self.times.push(entry.at);
        self.before.push(entry.before);
        let batch = &mut self.batch;
        let host = entry.host.as_str();
        let code = self.hosts.get(host).copied().unwrap_or_else(|| {
            let code = new_word(&mut batch.host, host.into());
            self.hosts.insert(host.into(), code);
            code
        });
        batch.host.codes.push(code);
        batch.object.push(entry.object.get());
        batch.request_bytes.push(entry.request_bytes as i64);
        batch.response_bytes.push(entry.response_bytes as i64);
        let seconds = |span: Option<Duration>| span.map_or(f64::NAN, |span| span.as_secs_f64());
        batch.server_s.push(seconds(entry.server.whole()));
        batch.wait_s.push(seconds(entry.server.wait()));
    }

    /// Takes what is there and starts again.
    pub(super) fn take(&mut self) -> LogBatch {
        self.spread();
        self.hosts.clear();
        let origin = self.origin_s.unwrap_or_default() * SECOND;
        let starts = self.times.drain(..).zip(self.before.drain(..)).map(|(time, before)| time - before);
        let start_s = starts.map(|start| (start - origin) as f64 / SECOND as f64).collect();
        LogBatch { start_s, ..std::mem::take(&mut self.batch) }
    }

    /// Spreads the rows of the last second evenly over it, in their order, the first at its beginning.
    fn spread(&mut self) {
        let Some(from) = self.second_from.take() else { return };
        let rows = &mut self.times[from..];
        let count = rows.len() as i64;
        for (row, time) in rows.iter_mut().enumerate() {
            *time += row as i64 * SECOND / count;
        }
    }
}

fn new_word(column: &mut Words, word: String) -> i32 {
    let code = i32::try_from(column.words.len()).expect("a batch of fewer than 2^31 rows");
    column.words.push(word);
    code
}
