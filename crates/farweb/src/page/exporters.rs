//! The fields of HARs as each exporter means them: an entry in the normal form, times in ms since the page began.
//!
//! Times are in `times`, sizes in `sizes`, what crossed no network in `crossing`.
//!
//! Source: the exporters' own code (chrome-har, DevTools, WebKit, mitmproxy, pcap2har, WebPageTest), and files of each.

use super::crossing::why_gone;
use super::har::{Page, Row};
use super::json::{Json, Value};
use super::sent::{Kind, Protocol, Sent, Stated};
use super::sizes::{Sizes, is_sized, is_unpacked};
use super::times::{Times, span};
use super::url::Url;

/// The program that wrote a HAR, as far as its rules go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exporter {
    WebPageTest,
    /// chrome-har, and Browsertime 1.
    Browsertime,
    DevTools,
    Firefox,
    Firebug,
    /// Fiddler and Charles.
    Proxy,
    Packets,
    Safari,
    Mitmproxy,
    Playwright,
    Farweb,
    /// Any other follows the format.
    Other,
}

/// Names, in small letters, and their rules.
const NAMES: [(&str, Exporter); 14] = [
    ("webpagetest", Exporter::WebPageTest),
    ("chrome-har", Exporter::Browsertime),
    ("webinspector", Exporter::DevTools),
    ("firefox", Exporter::Firefox),
    ("firebug", Exporter::Firebug),
    ("fiddler", Exporter::Proxy),
    ("charles proxy", Exporter::Proxy),
    ("pcap2har", Exporter::Packets),
    ("browsertime", Exporter::Browsertime),
    ("webkit web inspector", Exporter::Safari),
    ("mitmproxy", Exporter::Mitmproxy),
    ("mitmproxy har_dump", Exporter::Mitmproxy),
    ("playwright", Exporter::Playwright),
    ("farweb", Exporter::Farweb),
];

impl Exporter {
    /// By the beginning of its name.
    pub(super) fn of(name: &str) -> Self {
        let name = name.to_lowercase();
        NAMES.iter().find(|(known, _)| name.starts_with(known)).map_or(Self::Other, |(_, rules)| *rules)
    }

    /// True where requests begin when they are sent, outside of a browser's queue.
    pub(super) const fn is_on_the_wire(self) -> bool {
        matches!(self, Self::WebPageTest | Self::Proxy | Self::Packets | Self::Mitmproxy)
    }
}

/// An entry and its normal form.
pub(super) struct Read<'a> {
    pub entry: &'a Json<'a>,
    pub sent: Sent,
    /// Why it is no request over the network, or empty.
    pub gone: String,
}

impl<'a> Read<'a> {
    pub(super) fn of(page: &Page<'_>, row: Row<'a>) -> Self {
        let entry = row.entry;
        let (request, response) = (entry.get("request"), entry.get("response"));
        let url = request.get("url").text();
        let parsed = Url::parse(url);
        let (host, scheme) = match &parsed {
            Some(parts) => (parts.host(), parts.scheme.as_str()),
            None => (String::new(), "unreadable"),
        };
        let exporter = page.exporter;
        let times = Times::of(page, &row);
        let sizes = Sizes::of(page, entry);
        let status = response.get("status").number().unwrap_or(0.0) as i64;
        let protocol = protocol(entry, exporter);
        let (initiator, initiator_type) = initiator(entry);
        let method = request.get("method").text().to_uppercase();
        let sent = Sent {
            name: url.to_owned(),
            host,
            kind: kind(entry, url),
            method: if method.is_empty() { "GET".to_owned() } else { method },
            status,
            protocol,
            is_secure: scheme == "https",
            issue_ms: times.issue,
            queued_ms: times.queued,
            send_ms: times.send,
            first_ms: times.first,
            end_ms: times.end,
            tcp_ms: times.tcp,
            tls_ms: times.tls,
            connection: connection(entry, exporter).to_owned(),
            is_new: times.is_new,
            request_bytes: sizes.request,
            response_bytes: sizes.response,
            redirect: parsed.as_ref().and_then(|base| redirect(base, response, status)).unwrap_or_default(),
            initiator: initiator.to_owned(),
            initiator_type: initiator_type.to_owned(),
            is_ahead: false,
            is_pushed: is_pushed(entry, &times, protocol, status, exporter),
            is_sized: is_sized(entry),
            is_unpacked: is_unpacked(page, entry),
            stated: (exporter == Exporter::Farweb).then(|| Stated {
                parents: entry.get("_parents").text().to_owned(),
                dependency: entry.get("_dependency").text().to_owned(),
                server_ms: span(entry.get("_server_ms")),
            }),
        };
        let gone = why_gone(page, entry, &sent, scheme);
        Self { entry, sent, gone }
    }
}

/// True for a pushed response: by its mark, by a wait of nothing after a block, or by Firefox 54's status 0 in no time.
fn is_pushed(entry: &Json<'_>, times: &Times, protocol: Protocol, status: i64, exporter: Exporter) -> bool {
    let is_marked = match &entry.get("_was_pushed").value {
        Value::Number(word) => *word == "1",
        Value::Text(word) => word == "1" || word.eq_ignore_ascii_case("true"),
        value => *value == Value::Bool(true),
    };
    let blocked = span(entry.get("timings").get("blocked"));
    let has_no_wait =
        protocol == Protocol::H2 && times.first - times.send < 0.5 && blocked > 15.0 && !times.is_new;
    let is_of_firefox = exporter == Exporter::Firefox && status == 0 && times.end == times.send;
    is_marked || has_no_wait || is_of_firefox
}

/// Beginnings of `httpVersion` in old files of WebPageTest for HTTP/2 and SPDY: three letters, from the sixth on, of a
/// first header line `:status: 200`, `HTTP/2 200` or `200 OK`, where one of HTTP/1.1 has `1.1`.
const CUT: [&str; 3] = ["us:", "2 ", "k"];

fn protocol(entry: &Json<'_>, exporter: Exporter) -> Protocol {
    let word = first_of([entry.get("_protocol"), entry.get("response").get("httpVersion")]).to_lowercase();
    if exporter == Exporter::WebPageTest && CUT.iter().any(|cut| word.starts_with(cut)) {
        Protocol::H2
    } else if word.starts_with("h3") || word.contains("quic") || word.contains("http/3") {
        Protocol::H3
    } else if word.starts_with("h2") || word.starts_with("spdy") || word.contains("/2") {
        Protocol::H2
    } else {
        Protocol::H1
    }
}

/// The first of two texts that is not empty.
pub(super) fn first_of<'a>([one, other]: [&'a Json<'_>; 2]) -> &'a str {
    if one.text().is_empty() { other.text() } else { one.text() }
}

/// Id of a connection. A port, as Firefox writes it and DevTools since 2023, is none.
fn connection<'a>(entry: &'a Json<'_>, exporter: Exporter) -> &'a str {
    let id = |name: &str| entry.get(name).identifier();
    match exporter {
        Exporter::WebPageTest => id("_socket"),
        Exporter::Firefox => "",
        _ => {
            let found = if id("_connectionId").is_empty() { id("connection") } else { id("_connectionId") };
            if matches!(found, "0" | "80" | "443") { "" } else { found }
        }
    }
}

/// URL and type of what asked for a request: DevTools' object, or the texts of chrome-har and WebPageTest.
fn initiator<'a>(entry: &'a Json<'_>) -> (&'a str, &'a str) {
    let given = entry.get("_initiator");
    if !given.is_table() {
        return (given.text(), entry.get("_initiator_type").text());
    }
    let (mut url, mut stack) = (given.get("url").text(), given.get("stack"));
    while url.is_empty() && stack.is_table() {
        let frames = stack.get("callFrames").list();
        url = frames.iter().map(|frame| frame.get("url").text()).find(|url| !url.is_empty()).unwrap_or("");
        stack = stack.get("parent");
    }
    (url, given.get("type").text())
}

const BY_MIME: [(&str, Kind); 8] = [
    ("text/html", Kind::Html),
    ("text/css", Kind::Css),
    ("javascript", Kind::Script),
    ("ecmascript", Kind::Script),
    ("font", Kind::Font),
    ("image/", Kind::Image),
    ("json", Kind::Json),
    ("xml", Kind::Xml),
];

fn kind(entry: &Json<'_>, url: &str) -> Kind {
    let asked = first_of([entry.get("_request_type"), entry.get("_resourceType")]).to_lowercase();
    let is_options = entry.get("request").get("method").text().eq_ignore_ascii_case("options");
    if asked == "preflight" || is_options {
        return Kind::Preflight;
    }
    if matches!(asked.as_str(), "ping" | "beacon") {
        return Kind::Beacon;
    }
    let content = entry.get("response").get("content");
    let mime = first_of([content.get("mimeType"), entry.get("_contentType")]).to_lowercase();
    let by_mime = BY_MIME.iter().find(|(word, _)| mime.contains(word)).map(|(_, kind)| *kind);
    by_mime.unwrap_or_else(|| kind_by_ending(url))
}

fn kind_by_ending(url: &str) -> Kind {
    let path = url.split('?').next().unwrap_or_default();
    match path.rsplit('.').next().unwrap_or_default().to_lowercase().as_str() {
        "css" => Kind::Css,
        "js" | "mjs" => Kind::Script,
        "woff" | "woff2" => Kind::Font,
        "png" | "gif" | "jpg" | "webp" | "svg" => Kind::Image,
        "html" => Kind::Html,
        _ => Kind::Other,
    }
}

/// Target of a redirect.
fn redirect(base: &Url, response: &Json<'_>, status: i64) -> Option<String> {
    if !(300..400).contains(&status) || status == 304 {
        return None;
    }
    let given = response.get("redirectURL").text();
    let target = if given.is_empty() { response.header("location") } else { given };
    if target.is_empty() { None } else { base.join(target) }
}
