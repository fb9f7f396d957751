//! A page of a HAR as it was recorded: entries in the normal form, without those that crossed no network, by issue.

use super::crossing::{CACHE, WORKER, join_workers, own_sizes};
use super::estimates::{busiest_bps, origins, round_trips, server_times};
use super::exporters::{Exporter, Read};
use super::har::{PAGE_MS_MAX, Page};
use super::queues::{queue_anew, wait_for_connections};
use super::recording::Recording;
use super::reservations::{Known, warnings_of};
use super::sent::{Kind, Protocol, Sent};
use super::words::{by_number, elided, quoted};
use crate::units::words::{scaled, seconds};
use crate::workload::WorkloadError;

/// Most bytes of a page, requests and responses. Chosen: some seconds of packets a load.
const BYTES_MAX: u64 = 1_000_000_000;

/// Streams of one connection that overlap by less are one after the other, in ms. Chosen: clocks of browsers.
const OVERLAP_MS: f64 = 2.0;

impl Recording {
    /// Reads a page of `file`.
    ///
    /// # Errors
    /// No request of the page went over the network, or it has too many bytes.
    pub(super) fn of(page: &Page<'_>, file: &str) -> Result<Self, WorkloadError> {
        let mut read: Vec<Read<'_>> = page.rows.iter().map(|row| Read::of(page, *row)).collect();
        join_workers(&mut read);
        own_sizes(&mut read);
        find_multiplexed(&mut read, page.exporter);
        let dropped = dropped(page, &read);
        let cached = cached_document(&read);
        let mut sent: Vec<Sent> =
            read.into_iter().filter(|each| each.gone.is_empty()).map(|each| each.sent).collect();
        check(page, &sent, &dropped)?;
        if page.exporter == Exporter::WebPageTest {
            wait_for_connections(&mut sent);
        }
        let queued = queue_anew(page, &mut sent);
        let ahead = begin_with_the_first(&mut sent, !page.name.is_empty());
        sent.sort_by(|one, other| one.issue_ms.total_cmp(&other.issue_ms));
        let loaded = Loaded::of(page, &sent, ahead);
        let rtt_ms = round_trips(&sent);
        let root = root(&sent, loaded.load_ms, page.title);
        let mut found = Self {
            file: file.to_owned(),
            page: page.name.to_owned(),
            url: called(page.title, &sent[root], cached),
            exporter: match page.program.as_str() {
                "" => "an exporter without a name".into(),
                program => program.into(),
            },
            browser: page.browser.clone(),
            start_ms: page.start_ms - ahead,
            server_ms: server_times(&sent, &rtt_ms),
            origins: origins(&sent),
            root,
            dropped,
            load_ms: loaded.load_ms,
            is_load_known: loaded.fault.is_empty(),
            is_repeat: is_repeat(page),
            dom_ms: page
                .timings
                .get("onContentLoad")
                .number()
                .filter(|dom| *dom > 0.0 && *dom <= loaded.load_ms - ahead)
                .map(|dom| dom + ahead),
            gates: loaded.gates,
            rtt_ms,
            rate_bps: busiest_bps(&sent),
            warnings: Vec::new(),
            sent,
        };
        let known = Known { page, recording: &found, fault: &loaded.fault, queued };
        found.warnings = warnings_of(&known);
        Ok(found)
    }
}

/// Entries left out, by reason.
fn dropped(page: &Page<'_>, read: &[Read<'_>]) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> = Vec::new();
    for each in read.iter().filter(|each| !each.gone.is_empty()) {
        match found.iter_mut().find(|(why, _)| *why == each.gone) {
            Some((_, number)) => *number += 1,
            None => found.push((each.gone.clone(), 1)),
        }
    }
    let beside = [("of no page", page.of_no_page), ("unreadable", page.unreadable)];
    found.extend(
        beside.into_iter().filter(|(_, number)| *number > 0).map(|(why, number)| (why.to_owned(), number)),
    );
    found
}

fn check(page: &Page<'_>, sent: &[Sent], dropped: &[(String, u64)]) -> Result<(), WorkloadError> {
    let named = quoted(&elided(page.name, 60), 60);
    let which =
        if page.name.is_empty() { page.path.to_owned() } else { format!("{}: page {named}", page.path) };
    if sent.is_empty() {
        return Err(WorkloadError(format!("{which}: no request is left: {}", by_number(dropped))));
    }
    let whole: u64 = sent.iter().map(|each| each.request_bytes + each.response_bytes).sum();
    if whole > BYTES_MAX {
        let (whole, most) = (scaled(whole as f64, "B"), scaled(BYTES_MAX as f64, "B"));
        return Err(WorkloadError(format!("{which}: has {whole}; {most} at most can be loaded")));
    }
    Ok(())
}

/// Requests that overlap on one secure connection ride HTTP/2, whatever old files call it.
fn find_multiplexed(read: &mut [Read<'_>], exporter: Exporter) {
    if !matches!(exporter, Exporter::DevTools | Exporter::Browsertime) {
        return;
    }
    let is_there = |each: &&mut Read<'_>| {
        !each.sent.connection.is_empty() && each.sent.is_secure && each.gone.is_empty()
    };
    let mut sent: Vec<&mut Sent> = read.iter_mut().filter(is_there).map(|each| &mut each.sent).collect();
    sent.sort_by(|one, other| {
        let connection = |each: &Sent| (each.connection.clone(), each.host.clone());
        connection(one).cmp(&connection(other)).then(one.send_ms.total_cmp(&other.send_ms))
    });
    for those in
        sent.chunk_by_mut(|one, other| (&one.connection, &one.host) == (&other.connection, &other.host))
    {
        if those.windows(2).any(|pair| pair[1].send_ms < pair[0].end_ms - OVERLAP_MS) {
            those
                .iter_mut()
                .filter(|each| each.protocol == Protocol::H1)
                .for_each(|each| each.protocol = Protocol::H2);
        }
    }
}

/// Counts times from the first request where that is before the page's own start, which is behind its redirects.
///
/// A beacon of the page before begins none. A file without pages begins with no entry that is left out. Returns how
/// long before the page's start it was, in ms.
fn begin_with_the_first(sent: &mut [Sent], has_page: bool) -> f64 {
    let issues = sent.iter().filter(|each| each.kind != Kind::Beacon).map(|each| each.issue_ms);
    let ahead = 0.0 - issues.reduce(f64::min).unwrap_or(0.0);
    let ahead = if has_page { ahead.max(0.0) } else { ahead };
    sent.iter_mut().for_each(|each| each.shift(ahead));
    ahead
}

/// onLoad of a page.
struct Loaded {
    load_ms: f64,
    /// For each request true if onLoad waited for it.
    gates: Vec<bool>,
    /// Why the last end stands for onLoad, or empty.
    fault: String,
}

impl Loaded {
    fn of(page: &Page<'_>, sent: &[Sent], ahead: f64) -> Self {
        let given = page.timings.get("onLoad").number().unwrap_or(0.0);
        let last = sent.iter().map(|each| each.end_ms).fold(0.0, f64::max);
        let fault = if given <= 0.0 {
            "it has no onLoad".into()
        } else if given > PAGE_MS_MAX {
            format!("its onLoad, {}, is beyond an hour", seconds(given / 1000.0))
        } else {
            String::new()
        };
        let load_ms = if fault.is_empty() { given + ahead } else { last };
        let gates = |each: &Sent| {
            let is_within = each.issue_ms < load_ms && each.end_ms <= load_ms + 1.0;
            is_within && each.kind != Kind::Beacon && !each.is_ahead
        };
        let gates: Vec<bool> = sent.iter().map(gates).collect();
        if gates.contains(&true) {
            return Self { load_ms, gates, fault };
        }
        // A mistake of the exporter.
        let fault = "its onLoad is before the end of any request".into();
        Self { load_ms: last, gates: vec![true; sent.len()], fault }
    }
}

/// The document: HTML with the page's title for a URL, or the first that is no redirect. Its last reload counts.
///
/// A reload begins and ends before onLoad.
fn root(sent: &[Sent], load_ms: f64, title: &str) -> usize {
    let documents = || sent.iter().enumerate().filter(|(_, each)| is_document(each));
    let titled = documents().find(|(_, each)| each.name == title);
    let Some((first, document)) = titled.or_else(|| documents().next()) else { return 0 };
    let is_reload = |each: &Sent| each.name == document.name && each.end_ms <= load_ms + 1.0;
    documents().rfind(|(_, each)| is_reload(each)).map_or(first, |(place, _)| place)
}

fn is_document(sent: &Sent) -> bool {
    matches!(sent.kind, Kind::Html | Kind::Xml) && sent.redirect.is_empty()
}

/// URL of a document that a cache answered.
fn cached_document(read: &[Read<'_>]) -> Option<String> {
    let is_cached =
        |each: &&Read<'_>| matches!(each.gone.as_str(), CACHE | WORKER) && is_document(&each.sent);
    read.iter().find(is_cached).map(|each| each.sent.name.clone())
}

/// The name of a page: its document's URL, also of one that a cache answered, or else its title.
fn called(title: &str, root: &Sent, cached: Option<String>) -> String {
    if title.starts_with("http://") || title.starts_with("https://") {
        return title.to_owned();
    }
    match (is_document(root), cached, title.trim()) {
        (true, ..) | (false, None, "") => root.name.clone(),
        (false, Some(cached), _) => cached,
        (false, None, title) => title.to_owned(),
    }
}

/// True for the later view of a page, by WebPageTest's mark of its entries or by the page's id, `page_3_1`.
fn is_repeat(page: &Page<'_>) -> bool {
    let is_marked = page.rows.iter().any(|row| row.entry.get("_cached").number() == Some(1.0));
    let mut parts = page.name.split('_');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_second =
        parts.next() == Some("page") && parts.next().is_some_and(is_number) && parts.next() == Some("1");
    is_marked || (page.exporter == Exporter::WebPageTest && is_second)
}
