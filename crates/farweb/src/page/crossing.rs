//! Which entries of a HAR crossed the network, by the marks of its exporter.
//!
//! An entry without such a mark is a request, however short it was and whatever it is called. The marks:
//!
//! * Chrome (DevTools, chrome-har, WebPageTest): `_fromCache`, `_fetchedViaServiceWorker` or `fromServiceWorker`, 307
//!   with `Non-Authoritative-Reason` for a redirect inside the browser, connection 0, `_transferSize` 0, `_error` of a
//!   blocker.
//! * Safari: `_fetchType`. Firefox and Firebug: `cache.afterRequest`, and a body without a transferred byte.
//! * Playwright: `_wasFulfilled` and `_wasAborted` of a route, `_apiRequest` of a request that the test made itself.
//! * The format: `cache.beforeRequest`, and `bodySize` 0 of a response with content, which is an answer of a cache.
//!
//! Sizes of 0 are marks only in files that count them, so that one sees some above 0.

use std::collections::{BTreeMap, BTreeSet};

use super::exporters::{Exporter, Read, first_of};
use super::har::Page;
use super::json::{Json, Value};
use super::sent::{RESPONSE_HEADER_BYTES, Sent};

pub(super) const WORKER: &str = "service worker";
pub(super) const CACHE: &str = "cache";
const INTERNAL: &str = "internal redirect";

/// Marks of tests, and what they say.
const BY_TEST: [(&str, &str); 3] = [
    ("_wasFulfilled", "answered by a test"),
    ("_wasAborted", "blocked in the browser"),
    ("_apiRequest", "asked by a test"),
];

/// Most hops of a redirect: browsers follow no more.
const HOPS: usize = 20;

/// Why an entry is no request over the network, or empty.
pub(super) fn why_gone(page: &Page<'_>, entry: &Json<'_>, sent: &Sent, scheme: &str) -> String {
    let response = entry.get("response");
    let fetch = entry.get("_fetchType").text().to_lowercase();
    let by_test = BY_TEST.iter().find(|(name, _)| entry.get(name).value == Value::Bool(true));
    let why = if is_of_socket(entry, sent, scheme) {
        "web socket"
    } else if (100..200).contains(&sent.status) {
        "interim response" // such as 103 (RFC 8297): the response has an entry of its own
    } else if sent.method == "CONNECT" {
        "tunnel"
    } else if !matches!(scheme, "http" | "https") || sent.host.is_empty() {
        let shown: String = scheme.chars().take(20).collect();
        return format!("no http ({})", if shown.is_empty() { "no scheme" } else { &shown });
    } else if is_of_certificates(entry) {
        "certificate status"
    } else if sent.status == 307 && is_internal(response) {
        INTERNAL
    } else if let Some((_, why)) = by_test {
        why
    } else if fetch.contains("override") {
        "answered by the inspector"
    } else if fetch.contains("service worker")
        || is_marked(entry, &["_fetchedViaServiceWorker", "fromServiceWorker"])
    {
        WORKER
    } else if fetch.contains("cache") || is_cached(page, entry, sent) {
        CACHE
    } else if response.get("_error").text().starts_with("net::ERR_BLOCKED_BY") {
        "blocked in the browser"
    } else if sent.status <= 0 && !has_bytes(entry) {
        "no answer"
    } else {
        ""
    };
    why.to_owned()
}

fn is_of_socket(entry: &Json<'_>, sent: &Sent, scheme: &str) -> bool {
    matches!(scheme, "ws" | "wss")
        || entry.get("_resourceType").text().eq_ignore_ascii_case("websocket")
        || sent.status == 101
        || entry.get("_webSocketMessages").holds()
}

/// True where request or response are of OCSP.
fn is_of_certificates(entry: &Json<'_>) -> bool {
    let types = [
        entry.get("response").get("content").get("mimeType").text(),
        entry.get("_contentType").text(),
        entry.get("request").header("content-type"),
    ];
    types.iter().any(|word| word.to_lowercase().contains("application/ocsp-"))
}

/// True for a redirect inside the browser.
fn is_internal(response: &Json<'_>) -> bool {
    !response.header("non-authoritative-reason").is_empty()
        || response.get("statusText").text().eq_ignore_ascii_case("internal redirect")
}

/// True where an entry or its response has one of these marks.
fn is_marked(entry: &Json<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| entry.get(name).holds() || entry.get("response").get(name).holds())
}

fn has_bytes(entry: &Json<'_>) -> bool {
    let response = entry.get("response");
    let above_0 = |size: &Json<'_>| size.number().is_some_and(|size| size > 0.0);
    above_0(response.get("_transferSize"))
        || above_0(response.get("bodySize"))
        || entry.get("_objectSize").number().is_some_and(|size| size != 0.0)
}

/// True for an answer of the browser's own cache, or one that was joined to another request.
fn is_cached(page: &Page<'_>, entry: &Json<'_>, sent: &Sent) -> bool {
    if is_marked(entry, &["_fromCache", "fromDiskCache", "fromPrefetchCache", "_fromDiskCache"]) {
        return true;
    }
    if sent.is_new || sent.status == 304 {
        return false; // a question to the server
    }
    let cache = entry.get("cache");
    let is_mozilla = matches!(page.exporter, Exporter::Firefox | Exporter::Firebug);
    if cache.get("beforeRequest").holds() || (is_mozilla && cache.member("afterRequest").is_some()) {
        return transferred(entry) <= 0.0;
    }
    let is_without_connection = page.exporter == Exporter::Browsertime
        && entry.get("connection").identifier() == "0"
        && !entry.get("serverIPAddress").holds();
    if is_without_connection { transferred(entry) <= 0.0 } else { came_from_nowhere(page, entry, sent) }
}

/// True for a whole response with content that transferred none, where the file counts transfers.
fn came_from_nowhere(page: &Page<'_>, entry: &Json<'_>, sent: &Sent) -> bool {
    if sent.status != 200 || sent.method == "HEAD" || content(entry) <= 0.0 {
        return false;
    }
    let size = |name: &str| entry.get("response").get(name).number();
    let by_transfer = size("_transferSize").filter(|_| page.counts.transfer);
    if let Some(transferred) = by_transfer {
        return transferred == 0.0;
    }
    let Some(body) = size("bodySize").filter(|_| page.counts.body && transferred(entry) <= 0.0) else {
        return false;
    };
    if page.exporter == Exporter::Firefox { body <= 0.0 } else { body == 0.0 }
}

/// Makes one request of each that a service worker passed on: its own over the network, for the cause of the page's.
///
/// Where the file has the page's alone, that stays if the worker's answer came from the network. What a worker fetches
/// that no request of the page asks for is ahead of need.
pub(super) fn join_workers(read: &mut [Read<'_>]) {
    let mut own: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (place, each) in read.iter().enumerate().filter(|(_, each)| each.gone.is_empty()) {
        own.entry((each.sent.method.clone(), each.sent.name.clone())).or_default().push(place);
    }
    let mut workers: BTreeSet<String> =
        read.iter().filter(|each| is_script(each.entry)).map(|each| each.sent.name.clone()).collect();
    let mut twins = Vec::new();
    for place in 0..read.len() {
        let each = &read[place];
        if each.gone != WORKER {
            continue;
        }
        let within = each.sent.issue_ms..=each.sent.end_ms;
        let own = own.get_mut(&(each.sent.method.clone(), each.sent.name.clone()));
        let issue = |twin: &usize| read[*twin].sent.issue_ms;
        let during =
            own.iter().flat_map(|own| own.iter().copied()).filter(|twin| within.contains(&issue(twin)));
        let found = during.min_by(|one, other| issue(one).total_cmp(&issue(other)));
        if let (Some(twin), Some(own)) = (found, own) {
            own.retain(|each| *each != twin);
            if read[twin].sent.initiator_type == "script" {
                workers.insert(read[twin].sent.initiator.clone());
            }
            twins.push((twin, place));
        } else if is_from_network(each.entry) || transferred(each.entry) > 0.0 {
            read[place].gone.clear();
        }
    }
    workers.remove("");
    for (_, asked) in &twins {
        workers.remove(&read[*asked].sent.initiator);
    }
    for (twin, asked) in twins {
        let asked = &read[asked].sent;
        let cause = (asked.initiator.clone(), asked.initiator_type.clone(), asked.kind);
        let own = &mut read[twin].sent;
        (own.initiator, own.initiator_type, own.kind) = cause;
    }
    for each in read {
        each.sent.is_ahead = workers.contains(&each.sent.initiator);
    }
}

/// Takes the body of its target from a redirect that has a copy of it: the same size, and no length of its own.
pub(super) fn own_sizes(read: &mut [Read<'_>]) {
    let mut targets: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, each) in read.iter().enumerate().filter(|(_, each)| each.gone.is_empty()) {
        targets.entry(&each.sent.name).or_insert(place);
    }
    let mut copied = Vec::new();
    for (place, each) in read.iter().enumerate().filter(|(_, each)| each.gone.is_empty()) {
        let next = |place: &usize| targets.get(read[*place].sent.redirect.as_str()).copied();
        let last = std::iter::successors(Some(place), next).take(HOPS + 1).last().unwrap_or(place);
        let (response, other) = (each.entry.get("response"), read[last].entry.get("response"));
        let size = content(each.entry);
        let is_copied = size > 0.0 && size == content(read[last].entry);
        let is_whole = each.sent.response_bytes as f64 > size
            || response.get("bodySize").number() == other.get("bodySize").number();
        let has_length = !response.header("content-length").is_empty();
        let leads_on = !each.sent.redirect.is_empty() && read[last].sent.redirect.is_empty();
        if leads_on && is_copied && is_whole && !has_length {
            let head = response.get("headersSize").number().filter(|head| *head > 0.0);
            copied.push((place, head.map_or(RESPONSE_HEADER_BYTES, |head| head.round_ties_even() as u64)));
        }
    }
    for (place, head) in copied {
        let sent = &mut read[place].sent;
        sent.response_bytes = sent.response_bytes.min(head);
    }
}

fn content(entry: &Json<'_>) -> f64 {
    entry.get("response").get("content").get("size").number().unwrap_or(0.0)
}

fn transferred(entry: &Json<'_>) -> f64 {
    entry.get("response").get("_transferSize").number().unwrap_or(0.0)
}

/// True for the script of a service worker: browsers say so in the request.
fn is_script(entry: &Json<'_>) -> bool {
    entry.get("request").header("service-worker").eq_ignore_ascii_case("script")
}

/// True where a service worker had its answer from the network, and not from its own store.
fn is_from_network(entry: &Json<'_>) -> bool {
    let name = "_serviceWorkerResponseSource";
    first_of([entry.get(name), entry.get("response").get(name)]).eq_ignore_ascii_case("network")
}
