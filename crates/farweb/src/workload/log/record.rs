//! Record of a line: the values of the fields that are of use, whatever the format.

use std::borrow::Cow;

use super::fields::{self, wrong};
use super::when::{self, When};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Bytes that a line holds, or that were put together from them.
pub(super) type Text<'a> = Cow<'a, [u8]>;

/// Unit of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
    Micros,
    Nanos,
    /// Seconds when it has decimals, else ms: `time-taken`, as different writers of one format have it.
    SecondsOrMillis,
}

/// Meaning of a field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Nothing that is of use.
    Ignored,
    /// Time at which the request came.
    Start,
    /// Time at which it ended, when its line is written.
    End,
    /// The day on which it ended.
    Date,
    /// The time of that day.
    Clock,
    /// Time from start to end.
    Elapsed(Unit),
    /// Time from start to the first byte of the response.
    FirstByte(Unit),
    /// Time that the origin behind a server took, without any path.
    Server(Unit),
    /// Part of that time before the header of the response.
    ServerHeader(Unit),
    /// Time that the origin took with the path between it and a proxy, to the last byte.
    Peer(Unit),
    Client,
    /// The client with its port behind a colon.
    ClientPort,
    /// `X-Forwarded-For`: addresses of the client and of the proxies that passed the request on.
    Forwarded,
    Host,
    /// The line `METHOD URL PROTOCOL`.
    Request,
    Method,
    Url,
    /// A URL without its query.
    Path,
    Query,
    Status,
    /// Bytes of the response without its header.
    Body,
    /// Bytes of the response.
    Total,
    /// Bytes of the request.
    Sent,
    /// Bytes of the request without its header.
    SentBody,
    /// Result code of Squid.
    Code,
    /// Squid's hierarchy code: how it chose whom to ask.
    Hierarchy,
    /// Version of HTTP, as in a request line.
    Protocol,
    /// Scheme of the request, or `X-Forwarded-Proto`.
    Scheme,
    /// Version of TLS or `on`; absent without TLS.
    Tls,
    /// Port of the server.
    Port,
    /// Frontend of HAProxy, whose name has a `~` behind it where the connection is under TLS.
    Frontend,
    /// `Cache-Control` of the response.
    CacheControl,
    /// `Set-Cookie` of the response.
    SetCookie,
    /// `Cookie` of the request.
    Cookie,
    /// The user that the request names for the server.
    User,
}

impl Field {
    /// Its name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ignored => "field",
            Self::Start | Self::End | Self::Clock => "time",
            Self::Date => "date",
            Self::Elapsed(_) => "elapsed",
            Self::FirstByte(_) => "first byte",
            Self::Server(_) | Self::ServerHeader(_) | Self::Peer(_) => "server time",
            Self::Client | Self::ClientPort => "client",
            Self::Forwarded => "X-Forwarded-For",
            Self::Host => "host",
            Self::Request => "request",
            Self::Method => "method",
            Self::Url => "URL",
            Self::Path => "path",
            Self::Query => "query",
            Self::Status => "status",
            Self::Body | Self::Total | Self::Sent | Self::SentBody => "bytes",
            Self::Code => "code",
            Self::Hierarchy => "hierarchy",
            Self::Protocol => "protocol",
            Self::Scheme => "scheme",
            Self::Tls => "TLS",
            Self::Port => "port",
            Self::Frontend => "frontend",
            Self::CacheControl => "Cache-Control",
            Self::SetCookie => "Set-Cookie",
            Self::Cookie => "Cookie",
            Self::User => "user",
        }
    }

    /// True if its value is a span, which has a unit.
    pub(super) const fn is_span(self) -> bool {
        matches!(
            self,
            Self::Elapsed(_) | Self::FirstByte(_) | Self::Server(_) | Self::ServerHeader(_) | Self::Peer(_)
        )
    }

    /// True when its value begins with a digit, or is `-`.
    pub(super) const fn is_number(self) -> bool {
        matches!(
            self,
            Self::Status | Self::Body | Self::Total | Self::Sent | Self::Elapsed(_) | Self::FirstByte(_)
        )
    }
}

/// Spans of the servers behind one that were asked one after the other, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spans {
    pub sum: u64,
    /// That of the last one, whose response is the response; `None` where the log has none of it.
    pub last: Option<u64>,
}

/// The values of a line; `None` and empty ones are absent.
#[derive(Debug, Default)]
pub(super) struct Record<'a> {
    start: Option<When>,
    end: Option<When>,
    /// The more exact of both.
    pub at: Option<When>,
    /// True when `at` is the end of the request.
    pub at_end: bool,
    date: Option<Text<'a>>,
    clock: Option<Text<'a>>,
    /// In ns, as the other spans.
    pub elapsed: Option<u64>,
    pub first_byte: Option<u64>,
    pub server: Option<Spans>,
    pub server_header: Option<Spans>,
    pub peer: Option<u64>,
    pub client: Option<Text<'a>>,
    pub forwarded: Option<Text<'a>>,
    pub host: Option<Text<'a>>,
    pub request: Option<Text<'a>>,
    pub method: Option<Text<'a>>,
    pub url: Option<Text<'a>>,
    path: Option<Text<'a>>,
    query: Option<Text<'a>>,
    pub status: Option<u64>,
    pub body: Option<u64>,
    pub total: Option<u64>,
    pub sent: Option<u64>,
    pub sent_body: Option<u64>,
    pub code: Option<Text<'a>>,
    pub hierarchy: Option<Text<'a>>,
    pub protocol: Option<Text<'a>>,
    /// The client's connection was under TLS. Of several fields one that says so counts: TLS may end before the server.
    pub secure: Option<bool>,
    /// This and the next two are empty where the log has the field and the message did not.
    pub cache_control: Option<Text<'a>>,
    pub set_cookie: Option<Text<'a>>,
    pub cookie: Option<Text<'a>>,
    pub user: Option<Text<'a>>,
}

impl<'a> Record<'a> {
    /// Takes the value `text` of `field`. Of several fields for one value the most exact one counts, of texts the first.
    ///
    /// # Errors
    /// The problem with the value.
    pub(super) fn set(&mut self, field: Field, text: Text<'a>) -> Result<(), String> {
        let is_absent = text.is_empty() || &*text == b"-";
        match field {
            Field::Ignored => {}
            // Web servers write `-` for a body of no bytes, Squid for no status.
            Field::Body if is_absent => self.body = Some(0),
            Field::Status if is_absent => self.status = Some(0),
            Field::Request if is_absent => self.request = Some(text),
            Field::Tls => self.secure = self.secure.max(Some(!is_absent && !is_off(&text))),
            Field::CacheControl if is_absent => first(&mut self.cache_control, Text::default()),
            Field::SetCookie if is_absent => first(&mut self.set_cookie, Text::default()),
            Field::Cookie if is_absent => first(&mut self.cookie, Text::default()),
            _ if is_absent => {}
            Field::Start => finest(&mut self.start, &text)?,
            Field::End => finest(&mut self.end, &text)?,
            // Load balancers write it for a time that did not come to be.
            _ if field.is_span() && &*text == b"-1" => {}
            Field::Elapsed(unit) => self.elapsed = self.elapsed.max(Some(span("elapsed", &text, unit)?)),
            Field::FirstByte(unit) => {
                self.first_byte = self.first_byte.max(Some(span("first byte", &text, unit)?));
            }
            Field::Server(unit) => self.server = self.server.max(spans(&text, unit)?),
            Field::ServerHeader(unit) => self.server_header = self.server_header.max(spans(&text, unit)?),
            Field::Peer(unit) => {
                let peer = span("server time", &text, unit)?;
                self.peer = Some(self.peer.map_or(peer, |before| before.min(peer)));
            }
            Field::Status => {
                let status = fields::number(&text).filter(|status| *status < 1000);
                let status = status.ok_or_else(|| wrong("status", &text, "a number of three digits"))?;
                self.status = Some(status);
            }
            Field::Body => self.body = Some(bytes(&text)?),
            Field::Total => self.total = Some(bytes(&text)?),
            Field::Sent => self.sent = Some(bytes(&text)?).filter(|sent| *sent > 0),
            Field::SentBody => self.sent_body = Some(bytes(&text)?),
            Field::Date => first(&mut self.date, text),
            Field::Clock => first(&mut self.clock, text),
            Field::Client => first(&mut self.client, text),
            Field::ClientPort => first(&mut self.client, without_port(text)),
            Field::Forwarded => first(&mut self.forwarded, text),
            Field::Host => first(&mut self.host, text),
            Field::Request => first(&mut self.request, text),
            Field::Method => first(&mut self.method, text),
            Field::Url => first(&mut self.url, text),
            Field::Path => first(&mut self.path, text),
            Field::Query => first(&mut self.query, text),
            Field::Code => first(&mut self.code, text),
            Field::Hierarchy => first(&mut self.hierarchy, text),
            Field::Protocol => first(&mut self.protocol, text),
            Field::Scheme => self.secure = self.secure.max(is_secure(&text)),
            Field::Port => self.secure = self.secure.max(is_port_secure(&text)),
            Field::Frontend => self.secure = self.secure.max(Some(text.ends_with(b"~"))),
            Field::CacheControl => first(&mut self.cache_control, text),
            Field::SetCookie => first(&mut self.set_cookie, text),
            Field::Cookie => first(&mut self.cookie, text),
            Field::User => first(&mut self.user, text),
        }
        Ok(())
    }

    /// Puts together what a line has in parts: start and end, date and clock, path and query.
    ///
    /// # Errors
    /// When it has no time, or a wrong one.
    pub(super) fn complete(mut self) -> Result<Self, String> {
        if let (None, None, Some(date), Some(clock)) = (self.start, self.end, &self.date, &self.clock) {
            let text = [&**date, clock].join(&b' ');
            self.end = Some(when::parse(&text).ok_or_else(|| wrong("date and time", &text, TIMES))?);
        }
        self.at_end = self.start.is_none_or(|start| start.whole && self.end.is_some_and(|end| !end.whole));
        self.at = if self.at_end { self.end } else { self.start };
        if let (Some(start), Some(end), None) = (self.start, self.end, self.elapsed)
            && !start.whole
            && !end.whole
        {
            self.elapsed = u64::try_from(end.nanos - start.nanos).ok();
        }
        if self.url.is_none()
            && let Some(path) = self.path.take()
        {
            self.url = Some(match self.query.take() {
                Some(query) => [&*path, query.strip_prefix(b"?").unwrap_or(&query)].join(&b'?').into(),
                None => path,
            });
        }
        if self.at.is_some() { Ok(self) } else { Err("has no time".into()) }
    }
}

/// Description of a time, for messages.
const TIMES: &str = "a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS";

fn first<'a>(value: &mut Option<Text<'a>>, text: Text<'a>) {
    if value.is_none() {
        *value = Some(text);
    }
}

/// Takes a time unless a more exact one is there.
fn finest(value: &mut Option<When>, text: &[u8]) -> Result<(), String> {
    let at = when::parse(text).ok_or_else(|| wrong("time", text, TIMES))?;
    if value.is_none_or(|before| before.whole) {
        *value = Some(at);
    }
    Ok(())
}

/// The address of `address:port` or `[address]:port`.
fn without_port(text: Text<'_>) -> Text<'_> {
    let end = text.iter().rposition(|byte| *byte == b':').unwrap_or(text.len());
    let address = &text[..end];
    address.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(address).to_vec().into()
}

/// True if a field of TLS says that there is none.
fn is_off(text: &[u8]) -> bool {
    [&b"off"[..], b"none", b"false", b"0"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// True for a scheme under TLS; of a list, as proxies make of `X-Forwarded-Proto`, the first one is the client's.
fn is_secure(text: &[u8]) -> Option<bool> {
    let scheme = text.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
    match scheme.to_ascii_lowercase().as_slice() {
        b"https" | b"wss" | b"h2" | b"grpcs" => Some(true),
        b"http" | b"ws" => Some(false),
        _ => None,
    }
}

/// TLS or not by a server's port; any other port than these two says nothing.
const fn is_port_secure(text: &[u8]) -> Option<bool> {
    match text {
        b"443" => Some(true),
        b"80" => Some(false),
        _ => None,
    }
}

fn bytes(text: &[u8]) -> Result<u64, String> {
    fields::bytes(text).ok_or_else(|| wrong("bytes", text, "a number of bytes from 0 to 2^53, or -"))
}

fn span(name: &str, text: &[u8], unit: Unit) -> Result<u64, String> {
    let (text, unit) = with_unit(text, unit);
    let (unit, called) = match unit {
        Unit::Seconds => (SECOND, "s"),
        Unit::Millis => (MILLI, "ms"),
        Unit::Micros => (MICRO, "µs"),
        Unit::Nanos => (1, "ns"),
        Unit::SecondsOrMillis if text.contains(&b'.') => (SECOND, "s"),
        Unit::SecondsOrMillis => (MILLI, "ms"),
    };
    fields::span(text, unit)
        .ok_or_else(|| wrong(name, text, &format!("a number of {called} from 0 to 30 days")))
}

/// A span without the unit that is written behind it, and that unit, which goes before the one of its field.
fn with_unit(text: &[u8], unit: Unit) -> (&[u8], Unit) {
    let units: [(&[u8], Unit); 5] = [
        (b"ns", Unit::Nanos),
        ("µs".as_bytes(), Unit::Micros),
        (b"us", Unit::Micros),
        (b"ms", Unit::Millis),
        (b"s", Unit::Seconds),
    ];
    let found = units.iter().find_map(|(name, unit)| text.strip_suffix(*name).map(|rest| (rest, *unit)));
    found.unwrap_or((text, unit))
}

/// Spans with `, ` and ` : ` between them, one for each server that was asked; `None` when there is none.
fn spans(text: &[u8], unit: Unit) -> Result<Option<Spans>, String> {
    let mut all: Option<Spans> = None;
    for part in text.split(|byte| matches!(byte, b',' | b':')).map(<[u8]>::trim_ascii) {
        let is_absent = part == b"-" || part.is_empty();
        let last = if is_absent { None } else { Some(span("server time", part, unit)?) };
        let before = all.map(|spans| spans.sum);
        all = match (before, last) {
            (None, None) => None,
            _ => Some(Spans { sum: before.unwrap_or(0).saturating_add(last.unwrap_or(0)), last }),
        };
    }
    Ok(all)
}
