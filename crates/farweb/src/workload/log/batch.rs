//! Requests of a log as columns.

use rustc_hash::FxHashMap;

use super::clients::{ClientKey, ClientNames};
use super::{Entry, FirstRequest, SECOND};
use crate::schema::{NULL_CODE, NULL_INT};
use crate::units::Duration;
use crate::workload::{Caching, ClientId, Method, Words};

/// Most requests of one second that are held back to be spread over it. Chosen: more than one machine answers in a
/// second, and below 100 MB.
const SECOND_ROWS_MAX: usize = 1 << 20;

/// Some requests of a log, as columns of equal length, in the order of the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogBatch {
    /// Starts, in s since [`Report::origin_unix_s`](super::Report::origin_unix_s): not always in order, and below
    /// zero for requests that started before the first one of the log. Rows of one whole second are spread over it as far as
    /// they stand side by side.
    pub start_s: Vec<f64>,
    /// Whole seconds of the lines' times, since 1970; [`NULL_INT`] for finer times.
    pub second: Vec<i64>,
    /// Times from the starts to the lines' times, in s.
    pub before_s: Vec<f64>,
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
    /// Ids of the objects asked for, by the bytes of their URLs.
    pub object: Vec<u64>,
    /// Who asks.
    pub client: ClientColumn,
    /// Methods.
    pub method: Vec<Method>,
    /// Treatments by caches.
    pub caching: Vec<Caching>,
    /// 1 for TLS, 0 for none, -1 where the log does not say.
    pub tls: Vec<i8>,
}

/// The clients of some requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientColumn {
    /// Pseudonyms; [`ClientId::NONE`] where the log names none.
    Pseudonyms(Vec<u64>),
    /// Texts of the log.
    AsLogged(Words),
}

impl Default for ClientColumn {
    fn default() -> Self {
        Self::Pseudonyms(Vec::new())
    }
}

/// A [`LogBatch`] in the making.
#[derive(Debug)]
pub(super) struct Builder {
    /// All but starts, hosts and clients.
    batch: LogBatch,
    clients: Clients,
    /// Times as the log has them, in ns since 1970.
    times: Vec<i64>,
    /// Time in ns from each request's start to its line's time.
    before: Vec<i64>,
    /// The whole second of the log's first start, since 1970.
    origin_s: Option<i64>,
    hosts: WordCodes,
    /// First row of the last row's whole second, over which its rows are spread. `None`: the last row has a part of a
    /// second.
    second_from: Option<usize>,
    /// Rows that may be the earliest request.
    early: Vec<(usize, FirstRequest)>,
    /// The earliest request so far.
    first: Option<FirstRequest>,
}

/// The clients of a batch in the making.
#[derive(Debug)]
enum Clients {
    Pseudonyms(ClientKey, Vec<u64>),
    AsLogged(WordCodes),
}

impl Builder {
    pub(super) fn new(clients: ClientNames) -> Self {
        let clients = match clients {
            ClientNames::Pseudonyms(key) => Clients::Pseudonyms(key, Vec::new()),
            ClientNames::AsLogged => Clients::AsLogged(WordCodes::default()),
        };
        Self {
            batch: LogBatch::default(),
            clients,
            times: Vec::new(),
            before: Vec::new(),
            origin_s: None,
            hosts: WordCodes::default(),
            second_from: None,
            early: Vec::new(),
            first: None,
        }
    }

    /// The whole second, since 1970, of the log's first start.
    pub(super) const fn origin_s(&self) -> Option<i64> {
        self.origin_s
    }

    /// The earliest request of the batches taken, of several the first in the log.
    pub(super) const fn first(&self) -> Option<&FirstRequest> {
        self.first.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// True when a batch may end before `entry`: not within a second that is to be spread.
    pub(super) fn may_end_before(&self, entry: &Entry) -> bool {
        let Some(from) = self.second_from else { return true };
        !entry.whole || self.times.last() != Some(&entry.at) || self.len() - from >= SECOND_ROWS_MAX
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.may_end_before(&entry) {
            self.spread();
            self.second_from = entry.whole.then_some(self.len());
        }
        self.origin_s.get_or_insert((entry.at - entry.before).div_euclid(SECOND));
        self.early.extend(entry.first.map(|first| (self.times.len(), *first)));
        self.times.push(entry.at);
        self.before.push(entry.before);
        let batch = &mut self.batch;
        batch.second.push(if entry.whole { entry.at.div_euclid(SECOND) } else { NULL_INT });
        batch.before_s.push(entry.before as f64 / SECOND as f64);
        self.hosts.push(Some(&entry.host));
        self.clients.push(entry.client.as_deref());
        batch.object.push(entry.object.get());
        batch.method.push(entry.method);
        batch.caching.push(entry.rule.caching());
        batch.tls.push(entry.tls.map_or(NULL_CODE as i8, i8::from));
        batch.request_bytes.push(entry.request_bytes as i64);
        batch.response_bytes.push(entry.response_bytes as i64);
        let seconds = |span: Option<Duration>| span.map_or(f64::NAN, |span| span.as_secs_f64());
        batch.server_s.push(seconds(entry.server.whole()));
        batch.wait_s.push(seconds(entry.server.wait()));
    }

    /// Takes the rows so far and starts again.
    pub(super) fn take(&mut self) -> LogBatch {
        self.spread();
        for (row, early) in self.early.drain(..) {
            let start_unix_s = (self.times[row] - self.before[row]) as f64 / 1e9;
            if self.first.as_ref().is_none_or(|first| start_unix_s < first.start_unix_s) {
                self.first = Some(FirstRequest { start_unix_s, ..early });
            }
        }
        let origin = self.origin_s.unwrap_or_default() * SECOND;
        let starts = self.times.drain(..).zip(self.before.drain(..)).map(|(time, before)| time - before);
        let start_s = starts.map(|start| (start - origin) as f64 / SECOND as f64).collect();
        let (host, client) = (self.hosts.take(), self.clients.take());
        LogBatch { start_s, host, client, ..std::mem::take(&mut self.batch) }
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

impl Clients {
    fn push(&mut self, client: Option<&[u8]>) {
        match self {
            Self::Pseudonyms(key, ids) => {
                ids.push(client.map_or(ClientId::NONE, |client| key.pseudonym(client).get()));
            }
            Self::AsLogged(words) => words.push(client.map(String::from_utf8_lossy).as_deref()),
        }
    }

    fn take(&mut self) -> ClientColumn {
        match self {
            Self::Pseudonyms(_, ids) => ClientColumn::Pseudonyms(std::mem::take(ids)),
            Self::AsLogged(words) => ClientColumn::AsLogged(words.take()),
        }
    }
}

/// A column of words in the making.
#[derive(Debug, Default)]
struct WordCodes {
    column: Words,
    codes: FxHashMap<Box<str>, i32>,
}

impl WordCodes {
    fn push(&mut self, word: Option<&str>) {
        let code = word.map_or(NULL_CODE, |word| match self.codes.get(word) {
            Some(code) => *code,
            None => {
                let code = i32::try_from(self.codes.len()).expect("a batch of fewer than 2^31 rows");
                self.column.words.push(word.to_owned());
                self.codes.insert(word.into(), code);
                code
            }
        });
        self.column.codes.push(code);
    }

    /// Takes the column and starts again.
    fn take(&mut self) -> Words {
        self.codes.clear();
        std::mem::take(&mut self.column)
    }
}
