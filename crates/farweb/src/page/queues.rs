//! Waits for connections as recordings hold them: before a request is sent, or in its wait for the response.

use std::collections::BTreeMap;

use super::har::{Page, Row};
use super::sent::{Protocol, Sent};

/// Connections of HTTP/1.1 that browsers open to a host.
const PER_HOST: usize = 6;

/// Requests that were sent within this time of each other waited for the same connection, in ms. Chosen.
const TOGETHER_MS: f64 = 8.0;

/// Share of the host's least wait. Chosen: waits of one server differ by some tens of per cent.
const LIKE: f64 = 0.8;

/// WebPageTest stamps what waited for a multiplexed connection when that was ready: it was wanted with the first.
///
/// The target of a redirect was wanted when that had ended, even on a connection that was being opened already.
pub(super) fn wait_for_connections(sent: &mut [Sent]) {
    let redirects = sent.iter().filter(|each| !each.redirect.is_empty());
    let hops: Vec<(String, f64)> =
        redirects.map(|each| (place(&each.redirect).to_owned(), each.end_ms)).collect();
    let mut order: Vec<usize> = (0..sent.len()).collect();
    order.sort_by(|one, other| sent[*one].send_ms.total_cmp(&sent[*other].send_ms));
    let mut first: BTreeMap<(&str, Protocol), usize> = BTreeMap::new();
    for place in order {
        let each = &sent[place];
        if each.protocol != Protocol::H1 && each.is_new {
            first.entry((&each.host, each.protocol)).or_insert(place);
        }
    }
    let openers: Vec<_> = sent.iter().map(|each| first.get(&(&each.host, each.protocol)).copied()).collect();
    for (number, opener) in openers.into_iter().enumerate() {
        let Some(opener) = opener.filter(|opener| *opener != number) else { continue };
        if (sent[number].send_ms - sent[opener].send_ms).abs() <= TOGETHER_MS {
            sent[number].issue_ms = sent[number].issue_ms.min(sent[opener].issue_ms);
        }
    }
    for each in sent {
        let own = place(&each.name);
        let before = hops.iter().filter(|(to, end)| to == own && *end <= each.send_ms).map(|(_, end)| *end);
        each.issue_ms = before.fold(each.issue_ms, f64::max);
    }
}

/// A URL without its query, which files mask.
fn place(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}

/// Leaves a wait for one of the host's connections to the run, and gives any other to the browser.
///
/// Returns how many waits for a response held such a queue.
pub(super) fn queue_anew(page: &Page<'_>, sent: &mut [Sent]) -> u64 {
    let mut by_host: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, each) in sent.iter().enumerate().filter(|(_, each)| each.protocol == Protocol::H1) {
        by_host.entry(each.host.clone()).or_default().push(place);
    }
    for number in (0..sent.len()).filter(|number| sent[*number].queued_ms > 0.0).collect::<Vec<_>>() {
        let each = &sent[number];
        let others = by_host.get(&each.host).filter(|_| each.protocol == Protocol::H1);
        let released = each.issue_ms + each.queued_ms;
        let is_busy = |other: &&usize| {
            **other != number && sent[**other].send_ms < released && released <= sent[**other].end_ms + 1.0
        };
        let busy = others.into_iter().flatten().filter(is_busy).count();
        if busy < PER_HOST {
            sent[number].issue_ms = released.min(each.send_ms);
        }
    }
    let blocked = |row: &Row<'_>| row.entry.get("timings").get("blocked").number();
    let has_queues = page.rows.iter().any(|row| blocked(row).is_some_and(|ms| ms > 0.0));
    if has_queues || page.exporter.is_on_the_wire() {
        return 0;
    }
    by_host.values().map(|places| send_in_turn(sent, places)).sum()
}

/// Sends what had more than six others of its host before it when one of those ended: its wait held the queue.
///
/// Where a recorded connection, or a wait shorter than any, contradicts that, the host had more connections, or HTTP/2
/// under another name, and nothing moves. Returns how many were moved.
fn send_in_turn(sent: &mut [Sent], places: &[usize]) -> u64 {
    if places.iter().any(|place| !sent[*place].connection.is_empty()) {
        return 0;
    }
    let least = places.iter().map(|place| sent[*place].wait_ms()).fold(f64::INFINITY, f64::min);
    let mut order = places.to_vec();
    let key = |place: &usize| (sent[*place].send_ms, sent[*place].end_ms);
    order.sort_by(|one, other| {
        let (one, other) = (key(one), key(other));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let mut ends: Vec<f64> = Vec::new(); // the next one is the last
    let mut turns = Vec::new();
    for place in order {
        let each = &sent[place];
        while ends.last().is_some_and(|end| *end <= each.send_ms) {
            ends.pop();
        }
        if ends.len() >= PER_HOST && !each.is_new {
            turns.extend(ends.pop().map(|turn| (place, turn)));
        }
        ends.insert(ends.partition_point(|end| *end > each.end_ms), each.end_ms);
    }
    if turns.iter().any(|(place, turn)| sent[*place].first_ms - turn < LIKE * least) {
        return 0;
    }
    for (place, turn) in &turns {
        sent[*place].send_ms = *turn;
    }
    turns.len() as u64
}
