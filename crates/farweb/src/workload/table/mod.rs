//! Request tables: the requests of a run, a row each, by start time.
//!
//! [`REQUESTS`] lists the columns. A file may be comma- (`.csv`), tab- (`.tsv`) or blank-separated, plain or
//! gzip. When the first field of the first line is a number there is no header line and the columns are
//! `start_s host request_bytes response_bytes [server_s]`.
//!
//! Source: the `logfile` of the NZ–US study ("Improving the performance of HTTP over high bandwidth-delay product
//! circuits", CNDS 2001) lists host id, request size, response size and time in the US part. Its start times are not
//! described, so they stand in front here.

mod batch;
mod hosts;
mod place;

mod schedule;
mod text;

pub(in crate::workload) use place::near;

pub use batch::{Batch, BatchTable, Words};
pub use hosts::{HostColumns, hosts_from_columns, hosts_of_bytes, open_hosts};
pub use schedule::{Changes, Schedule};

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hosts::HOSTS;
use schedule::SCHEDULE;
use text::{Layout, TextTable};

use super::lines::{Lines, quoted};
use super::{
    Begin, Caching, ClientId, Directory, Method, ObjectId, OriginTime, Request, RequestSource, Requests,
    WorkloadError,
};
use crate::schema::{ColumnSpec, ColumnType as Type, TableSpec};
use crate::units::Instant;

const START: usize = 0;
const HOST: usize = 1;
const REQUEST_BYTES: usize = 2;
const RESPONSE_BYTES: usize = 3;
const SERVER: usize = 4;
const WAIT: usize = 5;
const OBJECT: usize = 6;
const SOURCE: usize = 7;
const TAG: usize = 8;
const DAY: usize = 9;
const CLIENT: usize = 10;
const METHOD: usize = 11;
const CACHING: usize = 12;
const TLS: usize = 13;

/// Tables that a scenario reads.
pub const WORKLOAD_TABLES: [TableSpec; 3] = [REQUESTS, HOSTS, SCHEDULE];

const REQUESTS: TableSpec = TableSpec {
    name: "requests",
    description: "The requests of a workload: one row a request, by start time. Nullable columns may be left out.",
    columns: &[
        ColumnSpec::required(
            "start_s",
            Type::Float64,
            "s",
            "When the first node gets the request, since the start of the table.",
        ),
        ColumnSpec::required("host", Type::String, "", "Key of the origin server."),
        ColumnSpec::required(
            "request_bytes",
            Type::Int64,
            "B",
            "Size of the request with headers; at least 1, or 0 for `transfer`.",
        ),
        ColumnSpec::required(
            "response_bytes",
            Type::Int64,
            "B",
            "Size of the response, headers included; at least 1.",
        ),
        ColumnSpec::optional(
            "server_s",
            Type::Float64,
            "s",
            "Time that the origin took, to the end of the response; null: not recorded.",
        ),
        ColumnSpec::optional(
            "wait_s",
            Type::Float64,
            "s",
            "Part of `server_s` before the first byte, the rest is the transfer; null: not recorded.",
        ),
        ColumnSpec::optional(
            "object",
            Type::UInt64,
            "",
            "What is asked for, 0 to 2^64 - 2; a text in its place has its 64-bit FNV-1a hash.",
        ),
        ColumnSpec::optional("source", Type::String, "", "Which node serves it."),
        ColumnSpec::optional("tag", Type::String, "", "`sample` marks the requests measured in every run."),
        ColumnSpec::optional(
            "day",
            Type::Int64,
            "",
            "Whose day's trace the request belongs to, from 1: starts count from its beginning. In all rows or none.",
        ),
        ColumnSpec::optional(
            "client",
            Type::UInt64,
            "",
            "Who asks, 0 to 2^64 - 2; a text in its place has its 64-bit FNV-1a hash.",
        ),
        ColumnSpec::optional("method", Type::String, "", "Method of HTTP, in upper case; null: `GET`."),
        ColumnSpec::optional(
            "caching",
            Type::String,
            "",
            "Treatment by caches, `store`, `serve`, `bypass` or `invalidate`; null: by the method.",
        ),
        ColumnSpec::optional(
            "tls",
            Type::Bool,
            "",
            "False for a request in the clear where its leg has TLS, or a tunnel without TLS inside; null: not known, as the leg.",
        ),
    ],
};

const LAYOUT: Layout = Layout {
    what: "request table",
    table: REQUESTS,
    headless: 5,
    // "nan" and "inf" are numbers to `parse`: such a line is a row, and a wrong one.
    is_header: |words| words.first().is_some_and(|word| word.parse::<f64>().is_err()),
};

/// Summary of a request table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Number of requests. At least 1.
    pub requests: u64,
    /// Number of different hosts.
    pub hosts: usize,
    /// Start of the earliest request.
    pub first_start: Instant,
    /// Start of the latest request.
    pub last_start: Instant,
    /// True if the rows come by start time. Otherwise they are sorted in memory (80 bytes a request).
    pub sorted: bool,
    /// Bytes of all requests together.
    pub request_bytes: u64,
    /// Bytes of all responses together.
    pub response_bytes: u64,
    /// Number of requests with a server time.
    pub with_server_time: u64,
    /// Number of requests tagged `sample`.
    pub samples: u64,
    /// True when the rows have days.
    pub has_days: bool,
}

/// Most rows that an opened table keeps. Chosen: 20 MB, and days of most logs.
pub const ROWS_KEPT: usize = 250_000;

/// A request table in a text file: its requests by start time, equal starts in the order of the file.
///
/// It keeps the rows of a short table, and of one in another order. Others are read from the file again.
#[derive(Debug)]
pub struct RequestTable(Rows);

#[derive(Debug)]
enum Rows {
    /// All of them.
    Kept(Arc<Sorted>),
    /// Rows of the file at this path, in its order.
    InFile(PathBuf),
}

/// All requests of a table by start time, and the directory that their ids belong to.
#[derive(Debug)]
struct Sorted {
    requests: Vec<Request>,
    names: Directory,
}

/// The rows of a table that keeps them.
#[derive(Debug)]
struct Kept {
    sorted: Arc<Sorted>,
    next: usize,
}

/// The rows of a table that is in order, as they are read.
#[derive(Debug)]
struct InFile {
    table: TextTable,
    last: Instant,
}

impl RequestTable {
    /// Opens the table at `path` after reading it once from end to end.
    ///
    /// # Errors
    /// When the file cannot be read twice (a pipe), is no text, has no requests, or a row is not a request: names file,
    /// line, column, the value found and the values allowed.
    pub fn open(path: &Path) -> Result<(Self, Summary), WorkloadError> {
        let is_file = path.metadata().map_or(true, |metadata| metadata.is_file());
        if !is_file {
            let name = path.display();
            return Err(WorkloadError(format!(
                "{name}: is not a regular file; a request table is read twice"
            )));
        }
        let (requests, names, summary) = summarized(TextTable::open(path, &LAYOUT)?, ROWS_KEPT)?;
        let rows = match (requests.len() as u64 == summary.requests, summary.sorted) {
            (true, _) => Rows::Kept(Arc::new(Sorted::new(requests, names))),
            (false, false) => Rows::Kept(Arc::new(Sorted::read(path)?)),
            (false, true) => Rows::InFile(path.to_owned()),
        };
        Ok((Self(rows), summary))
    }

    /// Reads a table in memory, called `name` in messages, and keeps all its rows (80 bytes each).
    ///
    /// # Errors
    /// When it is no text, has no requests, or a row is not a request, as [`RequestTable::open`] says it.
    pub fn of_bytes(name: String, bytes: Vec<u8>) -> Result<(Self, Summary), WorkloadError> {
        let table = TextTable::new(Lines::new(name, Cursor::new(bytes))?, &LAYOUT)?;
        let (requests, names, summary) = summarized(table, usize::MAX)?;
        Ok((Self(Rows::Kept(Arc::new(Sorted::new(requests, names)))), summary))
    }
}

impl Begin for RequestTable {
    fn begin(&self) -> Result<Requests, WorkloadError> {
        match &self.0 {
            Rows::Kept(sorted) => Ok(Box::new(Kept { sorted: Arc::clone(sorted), next: 0 })),
            Rows::InFile(path) => {
                let table = TextTable::open(path, &LAYOUT)?;
                Ok(Box::new(InFile { table, last: Instant::ZERO }))
            }
        }
    }
}

impl RequestSource for Kept {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some(request) = self.sorted.requests.get(self.next) else { return Ok(None) };
        self.next += 1;
        Ok(Some(directory.adopt(*request, &self.sorted.names)))
    }
}

impl RequestSource for InFile {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some(request) = read_request(&mut self.table, directory)? else { return Ok(None) };
        if request.start < self.last {
            let message = "the start goes back: the table has changed during the run";
            return Err(self.table.place().problem(message));
        }
        self.last = request.start;
        Ok(Some(request))
    }
}

impl Sorted {
    fn new(mut requests: Vec<Request>, names: Directory) -> Self {
        requests.sort_by_key(|request| request.start);
        Self { requests, names }
    }

    fn read(path: &Path) -> Result<Self, WorkloadError> {
        let mut table = TextTable::open(path, &LAYOUT)?;
        let (mut names, mut requests) = (Directory::default(), Vec::new());
        while let Some(request) = read_request(&mut table, &mut names)? {
            requests.push(request);
        }
        Ok(Self::new(requests, names))
    }
}

impl Summary {
    /// The state before any request, in a table that begins with this one.
    const fn of(request: &Request) -> Self {
        Self {
            requests: 0,
            hosts: 0,
            first_start: request.start,
            last_start: request.start,
            sorted: true,
            request_bytes: 0,
            response_bytes: 0,
            with_server_time: 0,
            samples: 0,
            has_days: request.day.is_some(),
        }
    }

    fn add(&mut self, request: &Request, names: &Directory) {
        self.sorted &= request.start >= self.last_start;
        self.first_start = self.first_start.min(request.start);
        self.last_start = self.last_start.max(request.start);
        self.requests += 1;
        self.request_bytes = self.request_bytes.saturating_add(request.request_bytes);
        self.response_bytes = self.response_bytes.saturating_add(request.response_bytes);
        self.with_server_time += u64::from(request.server.whole().is_some());
        self.samples += u64::from(request.tag.is_some_and(|tag| &*names.tags.words()[tag] == "sample"));
    }
}

/// First rows of a table, at most so many, in its order, and the summary of all.
fn summarized(
    mut table: TextTable,
    rows_max: usize,
) -> Result<(Vec<Request>, Directory, Summary), WorkloadError> {
    let (mut names, mut requests) = (Directory::default(), Vec::new());
    let mut summary: Option<Summary> = None;
    while let Some(request) = read_request(&mut table, &mut names)? {
        summary.get_or_insert_with(|| Summary::of(&request)).add(&request, &names);
        if requests.len() < rows_max {
            requests.push(request);
        }
    }
    let Some(mut summary) = summary else {
        return Err(WorkloadError(format!("{}: has no requests", table.name())));
    };
    summary.hosts = names.hosts().len();
    Ok((requests, names, summary))
}

/// The request in the next row. `None` at the end.
fn read_request(table: &mut TextTable, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
    if !table.next_row()? {
        return Ok(None);
    }
    let mut server = match table.get(SERVER) {
        Some(text) => OriginTime::new(
            parsed(text, place::server).ok_or_else(|| wrong(table, SERVER, place::SERVER_ALLOWED))?,
        ),
        None => OriginTime::NONE,
    };
    if let Some(text) = table.get(WAIT) {
        let wait = parsed(text, place::server).and_then(|wait| server.with_wait(wait));
        server = wait.ok_or_else(|| wrong(table, WAIT, place::WAIT_ALLOWED))?;
    }
    let host = table.get(HOST).ok_or_else(|| wrong(table, HOST, "the id or name of a host"))?;
    let method = table.get(METHOD).map_or(Method::Get, |word| Method::of(word.as_bytes()));
    let caching = match table.get(CACHING) {
        Some(word) => Caching::of(word).ok_or_else(|| wrong(table, CACHING, place::CACHING_ALLOWED))?,
        None => method.caching(),
    };
    let tls =
        table.get(TLS).map(|word| place::truth(word).ok_or_else(|| wrong(table, TLS, place::TLS_ALLOWED)));
    Ok(Some(Request {
        start: cell(table, START, place::start, place::START_ALLOWED)?,
        host: directory.host(host),
        request_bytes: cell(table, REQUEST_BYTES, place::request_size, place::REQUEST_ALLOWED)?,
        response_bytes: cell(table, RESPONSE_BYTES, place::size, place::SIZE_ALLOWED)?,
        server,
        object: table.get(OBJECT).map(ObjectId::of_text),
        source: table.get(SOURCE).map(|word| directory.sources.symbol(word)),
        tag: table.get(TAG).map(|word| directory.tags.symbol(word)),
        day: table.has(DAY).then(|| cell(table, DAY, place::day, place::DAY_ALLOWED)).transpose()?,
        client: table.get(CLIENT).map(ClientId::of_text),
        method,
        caching,
        tls: tls.transpose()?,
    }))
}

/// `text` as a number that `check` lets pass.
fn parsed<N: std::str::FromStr, T>(text: &str, check: impl Fn(N) -> Option<T>) -> Option<T> {
    text.parse().ok().and_then(check)
}

/// The number in a column that must not be empty.
fn cell<N: std::str::FromStr, T>(
    table: &TextTable,
    column: usize,
    check: impl Fn(N) -> Option<T>,
    allowed: &str,
) -> Result<T, WorkloadError> {
    table.get(column).and_then(|text| parsed(text, check)).ok_or_else(|| wrong(table, column, allowed))
}

/// The value of a column that may be empty.
fn optional<N: std::str::FromStr, T>(
    table: &TextTable,
    column: usize,
    check: impl Fn(N) -> Option<T>,
    allowed: &str,
) -> Result<Option<T>, WorkloadError> {
    table.get(column).is_some().then(|| cell(table, column, check, allowed)).transpose()
}

fn wrong(table: &TextTable, column: usize, allowed: &str) -> WorkloadError {
    let found = table.get(column).map_or_else(|| "nothing".into(), |text| quoted(text.as_bytes()));
    table.place().wrong(table.column(column), found, allowed)
}

#[cfg(test)]
mod tests;
