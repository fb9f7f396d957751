//! The pages of a HAR with their entries, as far as its JSON goes. Everything in a file is untrusted.
//!
//! Source: HAR 1.2. An entry that cannot be read costs no other, and none is left without a page that counts it.

use super::exporters::Exporter;
use super::json::{Json, Value};
use super::source::Source;
use crate::units::words::count;
use crate::workload::{WorkloadError, unix_us};

/// Latest time of a page, and longest span in it: an hour. Chosen.
pub(super) const PAGE_MS_MAX: f64 = 3_600_000.0;

/// Most pages of a file, and most entries of a page. Chosen: ten times what crowded ones have.
const PAGES_MAX: usize = 1_000;
const ENTRIES_MAX: usize = 5_000;

/// Times the sum of object and header. Chosen: the middle between once and twice.
const COUNTED_ONCE_MOST: f64 = 1.5;

const A_TIME: &str = "a time such as 2026-11-26T10:00:00.000Z";

/// A page of a HAR.
pub(super) struct Page<'a> {
    /// Path of the file, as messages have it.
    pub path: &'a str,
    /// Its id, empty where the file names no pages.
    pub name: &'a str,
    /// A URL in files of Chrome and Safari.
    pub title: &'a str,
    pub exporter: Exporter,
    /// Name and version of the program that wrote the file.
    pub program: String,
    /// Name and version of the browser, empty where unknown.
    pub browser: String,
    /// When it began, Unix time.
    pub start_ms: f64,
    /// `pageTimings`.
    pub timings: &'a Json<'a>,
    /// Its entries, all with a URL and a start.
    pub rows: Vec<Row<'a>>,
    /// Entries of its time that no page names, and those that cannot be read.
    pub of_no_page: u64,
    pub unreadable: u64,
    pub counts: Counts,
}

/// An entry of a page.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Place in the file's entries.
    place: usize,
    pub entry: &'a Json<'a>,
    /// Unix time.
    pub start_ms: f64,
}

/// Sizes of responses as the exporter of a page counts them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    /// True where some `_transferSize` is above 0.
    pub transfer: bool,
    /// True where some `bodySize` is above 0.
    pub body: bool,
    /// True where `_bytesIn` of WebPageTest counts twice what came, as its version 17.12 does: for half the entries.
    ///
    /// A single entry tells nothing: its object may be cut, its header compressed by HTTP/2, or its count lost.
    pub twice: bool,
}

impl Counts {
    fn of(rows: &[Row<'_>]) -> Self {
        let response = |row: &Row<'_>, name: &str| above_0(row.entry.get("response").get(name));
        let has = |name: &str| rows.iter().any(|row| response(row, name).is_some());
        let times = |row: &Row<'_>| {
            let head = response(row, "headersSize")?;
            Some(above_0(row.entry.get("_bytesIn"))? / (above_0(row.entry.get("_objectSize"))? + head))
        };
        let twice = median(rows.iter().filter_map(times)).is_some_and(|times| times > COUNTED_ONCE_MOST);
        Self { transfer: has("_transferSize"), body: has("bodySize"), twice }
    }
}

fn above_0(size: &Json<'_>) -> Option<f64> {
    size.number().filter(|size| *size > 0.0)
}

/// The middle of some numbers, or of the two in the middle.
pub(super) fn median(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => None,
        1 => Some(sorted[half]),
        _ => Some(f64::midpoint(sorted[half - 1], sorted[half])),
    }
}

/// A page as the file lists it.
struct Listed<'a> {
    name: &'a str,
    page: &'a Json<'a>,
    /// Unix time, where it has one.
    start_ms: Option<f64>,
    rows: Vec<Row<'a>>,
}

/// Entries of a file, and those that cannot be read.
struct Entries<'a> {
    rows: Vec<Row<'a>>,
    /// The pages that unreadable ones name.
    unread: Vec<&'a str>,
    /// Why the first of them cannot be read.
    why: Option<WorkloadError>,
}

/// The pages of a HAR that have entries, in the order of the file.
///
/// # Errors
/// The file is too large, or lacks what every HAR has. The message names the place in it.
pub(super) fn pages_of<'a>(source: Source<'a>, har: &'a Json<'a>) -> Result<Vec<Page<'a>>, WorkloadError> {
    let log = har.get("log");
    let Value::List(entries) = &log.get("entries").value else {
        return Err(source.odd(log, "entries", "log.entries", "a list"));
    };
    let mut listed = listed(source, log)?;
    let Entries { rows, unread, why } = read_entries(source, entries);
    let strays = divide(source, &mut listed, rows)?;
    let name_of = |name: &str| {
        let by = log.get(name);
        format!("{} {}", by.get("name").text(), by.get("version").text()).trim().to_owned()
    };
    let mut pages = Vec::new();
    for each in listed.into_iter().filter(|each| !each.rows.is_empty()) {
        if each.rows.len() > ENTRIES_MAX {
            let (first, found) = (each.rows[0], count(each.rows.len() as f64));
            let (place, found) = (format!("log.entries[{}]", first.place), format!("{found} of one page"));
            return Err(source.wrong(first.entry.at, &place, &found, &at_most(ENTRIES_MAX)));
        }
        let earliest = each.rows.iter().map(|row| row.start_ms).fold(f64::INFINITY, f64::min);
        let is_own =
            |start: &f64| each.rows.iter().any(|row| (0.0..=PAGE_MS_MAX).contains(&(row.start_ms - start)));
        pages.push(Page {
            path: source.path,
            name: each.name,
            title: each.page.get("title").text(),
            exporter: Exporter::of(log.get("creator").get("name").text()),
            program: name_of("creator"),
            browser: name_of("browser"),
            start_ms: each.start_ms.filter(is_own).unwrap_or(earliest), // else of another clock
            timings: each.page.get("pageTimings"),
            counts: Counts::of(&each.rows),
            rows: each.rows,
            of_no_page: 0,
            unreadable: 0,
        });
    }
    if pages.is_empty() {
        let line = source.line(log.get("entries").at);
        let empty = || source.refused(format!("line {line}: log.entries: is empty; record the page again"));
        return Err(why.unwrap_or_else(empty));
    }
    for row in strays {
        let starts = pages.iter().map(|page| Some(page.start_ms));
        let at = at_time(starts, row.start_ms).expect("a page has a start");
        pages[at].of_no_page += 1;
    }
    for name in unread {
        let at = pages.iter().position(|page| page.name == name).unwrap_or(0);
        pages[at].unreadable += 1;
    }
    Ok(pages)
}

/// The pages that a file lists, without entries.
fn listed<'a>(source: Source<'a>, log: &'a Json<'a>) -> Result<Vec<Listed<'a>>, WorkloadError> {
    let pages = log.get("pages");
    match &pages.value {
        Value::Null => return Ok(Vec::new()),
        Value::List(all) if all.len() > PAGES_MAX => {
            let found = format!("{} pages", count(all.len() as f64));
            return Err(source.wrong(pages.at, "log.pages", &found, &at_most(PAGES_MAX)));
        }
        Value::List(_) => {}
        _ => return Err(source.odd(log, "pages", "log.pages", "a list")),
    }
    let mut found: Vec<Listed<'a>> = Vec::new();
    for (number, page) in pages.list().iter().enumerate() {
        let place = format!("log.pages[{number}]");
        if !page.is_table() {
            return Err(source.wrong(page.at, &place, &source.shown(Some(page)), "an object"));
        }
        let (began, name) = (page.get("startedDateTime"), page.get("id").identifier());
        let start_ms = time_ms(began);
        let is_absent = began.is_null() || matches!(&began.value, Value::Text(text) if text.is_empty());
        if start_ms.is_none() && !is_absent {
            return Err(source.odd(page, "startedDateTime", &format!("{place}.startedDateTime"), A_TIME));
        }
        if found.iter().any(|each| each.name == name) {
            return Err(source.wrong(
                page.member("id").unwrap_or(page).at,
                &format!("{place}.id"),
                &format!("{} again", source.shown(page.member("id"))),
                "another id: its requests would be those of both pages",
            ));
        }
        found.push(Listed { name, page, start_ms, rows: Vec::new() });
    }
    Ok(found)
}

/// Entries with a URL and a start, and those that cannot be read.
fn read_entries<'a>(source: Source<'a>, entries: &'a [Json<'a>]) -> Entries<'a> {
    let mut found = Entries { rows: Vec::new(), unread: Vec::new(), why: None };
    for (place, entry) in entries.iter().enumerate() {
        let has_url = !entry.get("request").get("url").text().is_empty();
        match time_ms(entry.get("startedDateTime")) {
            Some(start_ms) if has_url => found.rows.push(Row { place, entry, start_ms }),
            _ => {
                found.unread.push(entry.get("pageref").identifier());
                found.why.get_or_insert_with(|| unreadable(source, place, entry, has_url));
            }
        }
    }
    found
}

fn unreadable(source: Source<'_>, place: usize, entry: &Json<'_>, has_url: bool) -> WorkloadError {
    let place = format!("log.entries[{place}]");
    if !entry.is_table() {
        source.wrong(entry.at, &place, &source.shown(Some(entry)), "an object")
    } else if has_url {
        source.odd(entry, "startedDateTime", &format!("{place}.startedDateTime"), A_TIME)
    } else {
        let request = entry.member("request").unwrap_or(entry);
        source.odd(request, "url", &format!("{place}.request.url"), "a URL")
    }
}

/// Gives rows to the pages that they name, or to the one of their time where no row names any. Returns those of none.
fn divide<'a>(
    source: Source<'a>,
    pages: &mut Vec<Listed<'a>>,
    rows: Vec<Row<'a>>,
) -> Result<Vec<Row<'a>>, WorkloadError> {
    let lists_pages = !pages.is_empty();
    let only = if let [page] = &pages[..] { page.name } else { "" };
    let mut strays = Vec::new();
    for row in rows {
        let named = row.entry.get("pageref").identifier();
        let name = if !lists_pages {
            ""
        } else if named.is_empty() {
            only
        } else {
            named
        };
        if name.is_empty() && lists_pages {
            strays.push(row);
            continue;
        }
        // Rows come page after page: the last one is the likely one.
        match pages.iter_mut().rev().find(|page| page.name == name) {
            Some(page) => page.rows.push(row),
            None => pages.push(Listed { name, page: Json::nothing(), start_ms: None, rows: vec![row] }),
        }
        if pages.len() > PAGES_MAX {
            let place = format!("log.entries[{}].pageref", row.place);
            return Err(source.wrong(
                row.entry.at,
                &place,
                "one page more",
                &format!("one of {}", at_most(PAGES_MAX)),
            ));
        }
    }
    let starts: Vec<_> = pages.iter().map(|page| page.start_ms).collect();
    if pages.iter().all(|page| page.rows.is_empty()) && starts.iter().any(Option::is_some) {
        for row in std::mem::take(&mut strays) {
            let at = at_time(starts.iter().copied(), row.start_ms).expect("a page has a start");
            pages[at].rows.push(row);
        }
    }
    Ok(strays)
}

/// The page that had begun last at a time, or else the first one that began.
fn at_time(starts: impl Iterator<Item = Option<f64>>, time_ms: f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (place, start) in starts.enumerate().filter_map(|(place, start)| Some((place, start?))) {
        let is_better = best.is_none_or(|(_, other)| match (start <= time_ms, other <= time_ms) {
            (true, true) => start > other,
            (false, false) => start < other,
            (is_begun, _) => is_begun,
        });
        best = if is_better { Some((place, start)) } else { best };
    }
    best.map(|(place, _)| place)
}

fn at_most(number: usize) -> String {
    format!("{} at most", count(number as f64))
}

/// A time of ISO 8601 as Unix time in ms.
fn time_ms(value: &Json<'_>) -> Option<f64> {
    unix_us(value.text()).map(|us| us as f64 / 1e6 * 1e3)
}
