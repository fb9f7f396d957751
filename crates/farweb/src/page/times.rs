//! When a request was wanted, sent and answered, as the exporter means the times of its entry.

use super::exporters::Exporter;
use super::har::{PAGE_MS_MAX, Page, Row};
use super::json::Json;
use super::sent::at_least_0;

/// A connection that was ready longer before its request was made for another, in ms. Chosen.
const READY_MS: f64 = 20.0;

const SPANS: [&str; 7] = ["blocked", "dns", "connect", "send", "wait", "receive", "ssl"];

/// Times of an entry in ms since the page began; `tcp`, `tls` and `queued` are spans.
pub(super) struct Times {
    pub issue: f64,
    pub queued: f64,
    pub send: f64,
    pub first: f64,
    pub end: f64,
    pub tcp: f64,
    pub tls: f64,
    pub is_new: bool,
}

impl Times {
    pub(super) fn of(page: &Page<'_>, row: &Row<'_>) -> Self {
        let since = row.start_ms - page.start_ms;
        match page.exporter {
            Exporter::WebPageTest => of_webpagetest(row.entry, since),
            exporter => of_timings(row.entry, bounded(since), exporter),
        }
    }
}

/// A span in ms, 0 for -1 and whatever else is none.
pub(super) fn span(value: &Json<'_>) -> f64 {
    value.number().filter(|span| *span > 0.0 && *span <= PAGE_MS_MAX).unwrap_or(0.0)
}

/// True where a span of an entry is no number, or beyond an hour.
pub(super) fn has_odd_times(entry: &Json<'_>) -> bool {
    let timings = entry.get("timings");
    let given = SPANS.iter().map(|name| timings.get(name)).filter(|value| !value.is_null());
    given.into_iter().any(|value| value.number().is_none_or(|span| span > PAGE_MS_MAX))
}

fn bounded(ms: f64) -> f64 {
    ms.clamp(-PAGE_MS_MAX, PAGE_MS_MAX)
}

/// The spans of `timings`, with a wait as long as `time` leaves where it has none.
struct Spans {
    blocked: f64,
    dns: f64,
    connect: f64,
    send: f64,
    wait: f64,
    receive: f64,
    ssl: f64,
}

impl Spans {
    fn of(entry: &Json<'_>) -> Self {
        let timings = entry.get("timings");
        let [blocked, dns, connect, send, wait, receive, ssl] = SPANS.map(|name| span(timings.get(name)));
        let mut spans = Self { blocked, dns, connect, send, wait, receive, ssl };
        let has_wait = timings.get("wait").number().is_some_and(|wait| (0.0..=PAGE_MS_MAX).contains(&wait));
        if !has_wait {
            spans.wait = at_least_0(span(entry.get("time")) - spans.sum() + ssl);
        }
        spans
    }

    fn sum(&self) -> f64 {
        self.blocked + self.dns + self.connect + self.send + self.wait + self.receive + self.ssl
    }

    /// True where `whole` is the sum without `ssl`: the newer files of an exporter follow the format.
    fn has_ssl_within(&self, whole: f64) -> bool {
        let beside = self.sum();
        let within = beside - self.ssl;
        self.connect >= self.ssl && self.ssl > 0.0 && (whole - within).abs() < (whole - beside).abs()
    }
}

/// Times by `startedDateTime`, `start` since the page began, and `timings`.
fn of_timings(entry: &Json<'_>, mut start: f64, exporter: Exporter) -> Times {
    let (timings, spans, whole) = (entry.get("timings"), Spans::of(entry), span(entry.get("time")));
    if exporter == Exporter::Packets {
        start -= spans.dns; // begins with the connection, behind the look-up of the name
    }
    let mut tcp = spans.connect;
    let mut before = spans.blocked + spans.dns + spans.connect + spans.send;
    let is_mozilla = matches!(exporter, Exporter::Firefox | Exporter::Mitmproxy);
    if is_mozilla && !spans.has_ssl_within(whole) {
        before += spans.ssl; // beside connect
    } else {
        tcp = at_least_0(tcp - spans.ssl);
    }
    let is_new = spans.connect > 0.0;
    if exporter == Exporter::Safari && !is_new {
        before = at_least_0(whole - spans.wait - spans.receive); // blocked and send overlap
    }
    let given = timings.get("_blocked_queueing");
    let mut queued = span(if given.holds() { given } else { entry.get("_blocked_queueing") });
    let mut issue = start;
    if let Some(own) = timings.member("_queued") {
        queued = at_least_0(start).min(span(own)); // chrome-har begins behind the renderer's queue
        issue -= queued;
    }
    let send = start + before;
    let first = send + spans.wait;
    Times {
        issue,
        queued: queued.min(at_least_0(send - issue)),
        send,
        first,
        end: first + spans.receive,
        tcp,
        tls: spans.ssl,
        is_new,
    }
}

/// Times by WebPageTest's own fields. A span counts if it ends behind its start: old versions write 0 for -1.
fn of_webpagetest(entry: &Json<'_>, since: f64) -> Times {
    let number = |name: &str| entry.get(name).number();
    let sends = [number("_load_start_float"), number("_load_start")];
    let send = bounded(sends.into_iter().flatten().find(|each| *each >= 0.0).unwrap_or(since));
    let first = send + span(entry.get("_ttfb_ms"));
    let over = span(entry.get("_download_end"));
    let end = first.max(if over > 0.0 { over } else { send + span(entry.get("_load_ms")) });
    let step = |name: &str| {
        let (begin, over) = (number(&format!("_{name}_start"))?, number(&format!("_{name}_end"))?);
        (over > begin && begin >= 0.0).then(|| (bounded(begin), bounded(over)))
    };
    let (dns, connect, ssl) = (step("dns"), step("connect"), step("ssl"));
    let ready = [connect, ssl].into_iter().flatten().map(|(_, over)| over).reduce(f64::max).unwrap_or(send);
    let begins = [dns, connect, ssl].into_iter().flatten().map(|(begin, _)| begin);
    let began = begins.reduce(f64::min).filter(|_| send - ready < READY_MS);
    let lasted = |step: Option<(f64, f64)>| step.map_or(0.0, |(begin, over)| over - begin);
    Times {
        issue: began.unwrap_or(send).min(send),
        queued: 0.0,
        send,
        first,
        end,
        tcp: lasted(connect),
        tls: lasted(ssl),
        is_new: connect.is_some() || ssl.is_some(),
    }
}
