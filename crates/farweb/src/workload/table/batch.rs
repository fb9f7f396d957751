//! Request tables that come as batches of columns: what Python reads from Parquet.

use super::place::{self, Place, Position};
use crate::schema::{NULL_CODE, NULL_INT};
use crate::units::Instant;
use crate::workload::lines::quoted;
use crate::workload::{
    Caching, ClientId, Directory, HostId, Method, ObjectId, OriginTime, Request, RequestSource, Symbol,
    SymbolTable, WorkloadError,
};

/// A column of words: for each row the place of its word, -1 for a null.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// Places in `words`, or -1.
    pub codes: Vec<i32>,
    /// The words.
    pub words: Vec<String>,
}

/// Some rows of a request table, as columns of equal length. A null is `i64::MIN`, NaN or code -1, and `u64::MAX` of objects and
/// clients.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// Starts, in seconds since the start of the run.
    pub start_s: Vec<f64>,
    /// Hosts.
    pub host: Words,
    /// Requests, body and headers, in bytes.
    pub request_bytes: Vec<i64>,
    /// Responses, body and headers, in bytes.
    pub response_bytes: Vec<i64>,
    /// Times that the origin took, in seconds.
    pub server_s: Option<Vec<f64>>,
    /// Parts of them before the first byte, in seconds.
    pub wait_s: Option<Vec<f64>>,
    /// Ids of the requested objects.
    pub object: Option<Vec<u64>>,
    /// Node that serves the request.
    pub source: Option<Words>,
    /// "sample" marks requests that are measured in every run.
    pub tag: Option<Words>,
    /// Days, from 1. All null in a table without days.
    pub day: Option<Vec<i64>>,
    /// Ids of who asks.
    pub client: Option<Vec<u64>>,
    /// Methods of HTTP.
    pub method: Option<Words>,
    /// Treatments by caches.
    pub caching: Option<Words>,
    /// 1 for TLS, 0 for none, -1 for a null.
    pub tls: Option<Vec<i8>>,
}

/// Requests from batches that `next` hands out until it returns `None`.
#[derive(Debug)]
pub struct BatchTable<F> {
    name: String,
    next: F,
    batch: Batch,
    /// Row of the batch that comes next, and the number of rows before this batch.
    row: usize,
    rows_before: u64,
    last: Instant,
    /// True when rows have days, as the first one has or has not.
    has_days: Option<bool>,
    /// Ids of the words of this batch that have been met.
    hosts: Vec<Option<HostId>>,
    sources: Vec<Option<Symbol>>,
    tags: Vec<Option<Symbol>>,
    /// Methods and treatments that the words of this batch stand for.
    methods: Vec<Method>,
    cachings: Vec<Option<Caching>>,
}

impl Words {
    /// The word in `row`. `None` for a null.
    #[must_use]
    pub fn word(&self, row: usize) -> Option<&str> {
        usize::try_from(self.codes[row]).ok().map(|code| self.words[code].as_str())
    }

    /// Checks that there are `rows` codes, each -1 or the place of a word.
    pub(super) fn check(&self, file: &str, column: &str, rows: usize) -> Result<(), WorkloadError> {
        check_length(file, column, self.codes.len(), rows)?;
        let words = self.words.len();
        let wrong = |code: &i32| *code < NULL_CODE || usize::try_from(*code).is_ok_and(|code| code >= words);
        match self.codes.iter().position(wrong) {
            None => Ok(()),
            Some(row) => {
                let place = Place { file, position: Position::Row(row as u64 + 1) };
                Err(place.wrong(
                    column,
                    format!("code {}", self.codes[row]),
                    &format!("-1 to {}", words as i64 - 1),
                ))
            }
        }
    }
}

pub(super) fn check_length(file: &str, column: &str, found: usize, rows: usize) -> Result<(), WorkloadError> {
    if found == rows {
        return Ok(());
    }
    Err(WorkloadError(format!("{file}, column {column}: has {found} rows where the first column has {rows}")))
}

impl<F: FnMut() -> Result<Option<Batch>, WorkloadError>> BatchTable<F> {
    /// Requests from the batches of `next`, called `name` in messages. Rows count from 1 over all batches.
    pub fn new(name: impl Into<String>, next: F) -> Self {
        Self {
            name: name.into(),
            next,
            batch: Batch::default(),
            row: 0,
            rows_before: 0,
            last: Instant::ZERO,
            has_days: None,
            hosts: Vec::new(),
            sources: Vec::new(),
            tags: Vec::new(),
            methods: Vec::new(),
            cachings: Vec::new(),
        }
    }

    /// Moves to the next batch that has rows. `false` when there is none.
    fn next_batch(&mut self) -> Result<bool, WorkloadError> {
        while self.row == self.batch.start_s.len() {
            self.rows_before += self.row as u64;
            self.row = 0;
            let Some(batch) = (self.next)()? else {
                self.batch = Batch::default();
                return Ok(false);
            };
            batch.check(&self.name)?;
            let unmet = |words: Option<&Words>| words.map_or(0, |words| words.words.len());
            self.hosts = vec![None; unmet(Some(&batch.host))];
            self.sources = vec![None; unmet(batch.source.as_ref())];
            self.tags = vec![None; unmet(batch.tag.as_ref())];
            let [methods, cachings] =
                [&batch.method, &batch.caching].map(|of| of.iter().flat_map(|of| &of.words));
            self.methods = methods.map(|word| Method::of(word.as_bytes())).collect();
            self.cachings = cachings.map(|word| Caching::of(word)).collect();
            self.batch = batch;
        }
        Ok(true)
    }

    fn host(&mut self, directory: &mut Directory) -> Option<HostId> {
        let code = usize::try_from(self.batch.host.codes[self.row]).ok()?;
        let word = self.batch.host.words[code].as_str();
        if word.is_empty() {
            return None;
        }
        Some(*self.hosts[code].get_or_insert_with(|| directory.host(word)))
    }
}

impl Batch {
    fn check(&self, file: &str) -> Result<(), WorkloadError> {
        let rows = self.start_s.len();
        self.host.check(file, "host", rows)?;
        check_length(file, "request_bytes", self.request_bytes.len(), rows)?;
        check_length(file, "response_bytes", self.response_bytes.len(), rows)?;
        for (column, seconds) in [("server_s", &self.server_s), ("wait_s", &self.wait_s)] {
            if let Some(seconds) = seconds {
                check_length(file, column, seconds.len(), rows)?;
            }
        }
        for (column, ids) in [("object", &self.object), ("client", &self.client)] {
            if let Some(ids) = ids {
                check_length(file, column, ids.len(), rows)?;
            }
        }
        if let Some(day) = &self.day {
            check_length(file, "day", day.len(), rows)?;
        }
        if let Some(tls) = &self.tls {
            check_length(file, "tls", tls.len(), rows)?;
        }
        let columns = [
            ("source", &self.source),
            ("tag", &self.tag),
            ("method", &self.method),
            ("caching", &self.caching),
        ];
        for (column, words) in columns {
            if let Some(words) = words {
                words.check(file, column, rows)?;
            }
        }
        Ok(())
    }
}

/// The symbol of the word in `row`, if that is no null.
fn symbol(
    words: Option<&Words>,
    row: usize,
    met: &mut [Option<Symbol>],
    table: &mut SymbolTable,
) -> Option<Symbol> {
    let words = words?;
    let code = usize::try_from(words.codes[row]).ok()?;
    Some(*met[code].get_or_insert_with(|| table.symbol(&words.words[code])))
}

impl<F: FnMut() -> Result<Option<Batch>, WorkloadError>> RequestSource for BatchTable<F> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        if !self.next_batch()? {
            return Ok(None);
        }
        let host = self.host(directory);
        let Self { name, batch, row, rows_before, has_days, .. } = self;
        let row = *row;
        let place = Place { file: name, position: Position::Row(*rows_before + row as u64 + 1) };
        let host = host.ok_or_else(|| place.wrong("host", "nothing", "the id or name of a host"))?;
        let start = place::start(batch.start_s[row])
            .ok_or_else(|| place.wrong("start_s", batch.start_s[row], place::START_ALLOWED))?;
        if start < self.last {
            let last = self.last.as_secs_f64();
            let found = format!("{} after {last}", batch.start_s[row]);
            return Err(place.wrong("start_s", found, "the rows by start time"));
        }
        let found = |bytes: i64| if bytes == NULL_INT { "nothing".into() } else { bytes.to_string() };
        let (asked, answered) = (batch.request_bytes[row], batch.response_bytes[row]);
        let request_bytes = place::request_size(asked)
            .ok_or_else(|| place.wrong("request_bytes", found(asked), place::REQUEST_ALLOWED))?;
        let response_bytes = place::size(answered)
            .ok_or_else(|| place.wrong("response_bytes", found(answered), place::SIZE_ALLOWED))?;
        let seconds = |column: &Option<Vec<f64>>| column.as_ref().map(|of| of[row]).filter(|s| !s.is_nan());
        let mut server = match seconds(&batch.server_s) {
            Some(secs) => OriginTime::new(
                place::server(secs).ok_or_else(|| place.wrong("server_s", secs, place::SERVER_ALLOWED))?,
            ),
            None => OriginTime::NONE,
        };
        if let Some(secs) = seconds(&batch.wait_s) {
            let wait = place::server(secs).and_then(|wait| server.with_wait(wait));
            server = wait.ok_or_else(|| place.wrong("wait_s", secs, place::WAIT_ALLOWED))?;
        }
        let day = batch.day.as_ref().map(|day| day[row]).filter(|day| *day != NULL_INT);
        if *has_days.get_or_insert(day.is_some()) != day.is_some() {
            return Err(place.wrong("day", found(day.unwrap_or(NULL_INT)), place::DAY_ALLOWED));
        }
        let day = day
            .map(|day| place::day(day).ok_or_else(|| place.wrong("day", day, place::DAY_ALLOWED)))
            .transpose()?;
        let code =
            |words: &Option<Words>| words.as_ref().and_then(|words| usize::try_from(words.codes[row]).ok());
        let method = code(&batch.method).map_or(Method::Get, |code| self.methods[code]);
        let caching = code(&batch.caching).map_or(Some(method.caching()), |code| self.cachings[code]);
        let caching = caching.ok_or_else(|| {
            let found = batch.caching.as_ref().and_then(|words| words.word(row)).unwrap_or_default();
            place.wrong("caching", quoted(found.as_bytes()), place::CACHING_ALLOWED)
        })?;
        let request = Request {
            start,
            host,
            request_bytes,
            response_bytes,
            server,
            object: batch.object.as_ref().and_then(|object| ObjectId::new(object[row])),
            source: symbol(batch.source.as_ref(), row, &mut self.sources, &mut directory.sources),
            tag: symbol(batch.tag.as_ref(), row, &mut self.tags, &mut directory.tags),
            day,
            client: batch.client.as_ref().and_then(|client| ClientId::new(client[row])),
            method,
            caching,
            tls: batch.tls.as_ref().map(|tls| tls[row]).filter(|tls| *tls >= 0).map(|tls| tls > 0),
        };
        self.last = start;
        self.row += 1;
        Ok(Some(request))
    }
}
