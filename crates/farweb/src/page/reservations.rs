//! Limits of the file that a page comes from, a sentence each.

use super::crossing::CACHE;
use super::har::{Page, Row};
use super::recording::Recording;
use super::sent::Sent;
use super::times::has_odd_times;
use crate::units::words::plural;

/// Share of a load below which its line was idle. Chosen.
const IDLE: f64 = 0.25;

/// A recording without its warnings, and what else is known of its page.
pub(super) struct Known<'a> {
    pub page: &'a Page<'a>,
    pub recording: &'a Recording,
    /// Why it has no onLoad that can be, or empty.
    pub fault: &'a str,
    /// Waits that held the browser's queue.
    pub queued: u64,
}

/// Limits of the file, a sentence each.
pub(super) fn warnings_of(known: &Known<'_>) -> Vec<String> {
    let sent = &known.recording.sent;
    let count = |is_so: fn(&Sent) -> bool| sent.iter().filter(|each| is_so(each)).count() as u64;
    let page = known.page;
    let mut found = Vec::new();
    if !known.fault.is_empty() {
        let whole = if page.name.is_empty() { "it has no pages, and is taken for one load; " } else { "" };
        found.push(format!("{whole}{}, and the end of the last request stands for it", known.fault));
    }
    if sent.iter().all(|each| each.initiator.is_empty()) {
        found.push(
            "it names no initiators: what waited for what is taken from times alone; Chrome's HAR names them"
                .into(),
        );
    }
    let lacking =
        [("a time", count(|each| each.end_ms == each.issue_ms)), ("a size", count(|each| !each.is_sized))];
    for (what, number) in lacking {
        if number as f64 > sent.len() as f64 / 10.0 {
            found.push(format!("{} without {what}, taken for 0", plural(number, "request")));
        }
    }
    let odd = page.rows.iter().filter(|row| has_odd_times(row.entry)).count() as u64;
    let told = [
        (
            count(|each| each.is_unpacked),
            ["", "response", " with no size but the unpacked one: fewer bytes may have crossed"],
        ),
        (
            counted_twice(page),
            ["it counts received bytes twice: of ", "response", " object and header are taken instead"],
        ),
        (odd, ["", "request", " with a time that is no number or beyond an hour, taken as unknown"]),
        (known.queued, ["", "wait", " held the browser's queue for connections, which is taken out"]),
        (count(|each| each.is_pushed), ["", "response", " came by server push, which is not simulated"]),
    ];
    for (number, [before, noun, behind]) in told.into_iter().filter(|(number, _)| *number > 0) {
        found.push(format!("{before}{}{behind}", plural(number, noun)));
    }
    found.extend(of_conditions(known.recording).into_iter().map(str::to_owned));
    found
}

/// Responses whose received bytes are counted twice.
fn counted_twice(page: &Page<'_>) -> u64 {
    let has_count = |entry: &&Row<'_>| entry.entry.get("_bytesIn").number().unwrap_or(0.0) > 0.0;
    if page.counts.twice { page.rows.iter().filter(has_count).count() as u64 } else { 0 }
}

/// Limits by the conditions that the page was recorded under.
fn of_conditions(known: &Recording) -> Vec<&'static str> {
    let sent = &known.sent;
    let cached = known.dropped.iter().filter(|(why, _)| why == CACHE).map(|(_, number)| number);
    let unchanged = sent.iter().filter(|each| each.status == 304).count() as u64;
    let warm = known.is_repeat || (cached.sum::<u64>() + unchanged) as f64 > 0.1 * sent.len() as f64;
    let rtt = || known.rtt_ms.iter().map(|(_, rtt)| *rtt);
    let (least, most) = (rtt().fold(f64::INFINITY, f64::min), rtt().fold(0.0, f64::max));
    let differ = least.round_ties_even() != most.round_ties_even();
    [
        (warm, "it was recorded with a warm cache: a first visit takes longer than this"),
        (
            is_split(sent),
            "a proxy near the browser answered its handshakes: round trips are taken from waits",
        ),
        (
            peak_share(sent, known.rate_bps) < IDLE,
            "it never filled its line for long: the recorded rate is a lower bound",
        ),
        (differ && most > 3.0 * least, "its hosts are at different distances, which are taken as one here"),
    ]
    .into_iter()
    .filter_map(|(is_so, sentence)| is_so.then_some(sentence))
    .collect()
}

/// True where handshakes are answered by something nearer than the servers.
fn is_split(sent: &[Sent]) -> bool {
    let shaken: Vec<_> = sent.iter().filter(|each| each.tcp_ms > 0.0).collect();
    let is_near = |each: &&Sent| each.tcp_ms <= 5.0 && each.wait_ms() >= 10.0 * each.tcp_ms;
    shaken.len() >= 3 && shaken.iter().all(is_near)
}

/// How long the page would take at its busiest rate, as a share of its transfers' span.
fn peak_share(sent: &[Sent], rate_bps: f64) -> f64 {
    let begin = sent.iter().map(|each| each.first_ms).fold(f64::INFINITY, f64::min);
    let end = sent.iter().map(|each| each.end_ms).fold(f64::NEG_INFINITY, f64::max);
    if rate_bps <= 0.0 || end <= begin {
        return 1.0;
    }
    let bits: u64 = sent.iter().map(|each| 8 * each.response_bytes).sum();
    (bits as f64 / rate_bps / ((end - begin) / 1000.0)).min(1.0)
}
