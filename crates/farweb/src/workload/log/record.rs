//! Record of a line: the values of the fields that are of use, whatever the format.

use std::borrow::Cow;
use std::ops::Range;

use super::apart;
use super::captures;
use super::clients;
use super::fields::{self, wrong};
use super::rules;
use super::secure::{is_port_secure, is_secure};
use super::when::{self, When};

const MICRO: u64 = 1_000;
const MILLI: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// Bytes that a line holds, or that were put together from them.
pub(super) type Text<'a> = Cow<'a, [u8]>;

/// Unit of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// s
    Seconds,
    /// ms
    Millis,
    /// µs
    Micros,
    /// ns
    Nanos,
    /// Open: s in a log with decimals, else ms: `time-taken`, as different writers of one format have it.
    SecondsOrMillis,
    /// Open: s in a log with decimals, else to be stated.
    SecondsOrUnknown,
    /// Open: any that stands behind it, or to be stated.
    Unknown,
    /// Open: µs unless ms are stated: `%D`, as different writers of one directive have it.
    MicrosOrMillis,
    /// ms in a log without decimals.
    WholeMillis,
    /// Any that stands behind it: nobody has stated another one.
    Unstated,
}

/// Meaning of a field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Nothing that is of use.
    Ignored,
    /// Arrival of the request, since 1970 or since the start of the log.
    Start,
    /// Time since the start of the log, in ms.
    StartMillis,
    /// Its end, when its line is written.
    End,
    /// The day of its end.
    Date,
    /// The time of that day.
    Clock,
    /// Milliseconds of its end within the second, without zeros in front.
    EndMillis,
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
    /// The host that a client asked for, of a log that names another one too.
    AskedHost,
    /// Host and URL with nothing between them: `a.example/x?y`.
    HostUrl,
    /// Values of the servers behind that were asked, with commas between them, of no use.
    Servers,
    /// The line `METHOD URL PROTOCOL`.
    Request,
    Method,
    /// Operation of S3, with its method in its name: `GetObject`.
    Operation,
    Url,
    /// A URL without its query.
    Path,
    Query,
    Status,
    /// Bytes of the response without its header.
    Body,
    /// The same as its header announces it, which a body in chunks does not.
    Announced,
    /// Bytes of the response.
    Total,
    /// Bytes of the request.
    Sent,
    /// Bytes of the request without its header.
    SentBody,
    /// Bytes of the response's header, and of the request's.
    Header,
    SentHeader,
    /// Result code of Squid.
    Code,
    /// Squid's hierarchy code: how it chose whom to ask.
    Hierarchy,
    /// Answer of a cache, in any server's words: `HIT`, `miss`, `TCP_MISS`.
    CacheResult,
    /// The same of a content delivery network, asked by `--keep` alone: all of its answers crossed the way to the clients. Of several fields
    /// the last one counts.
    EdgeResult,
    /// The same of Google Cloud, and who answered: `response_from_cache`.
    Details,
    /// A flag that stands for such a result.
    EdgeIs(&'static str),
    /// Version of HTTP, as in a request line.
    Protocol,
    /// Scheme of the request, or `X-Forwarded-Proto`.
    Scheme,
    /// Version of TLS, or a flag; absent without TLS.
    Tls,
    /// Port of the server.
    Port,
    /// Frontend of HAProxy; a `~` behind its name stands for TLS.
    Frontend,
    /// HAProxy's state at the end of the session: `CD--` where the client gave up.
    Termination,
    /// Headers that HAProxy captured: `{host|agent}`.
    Captures,
    /// `Cache-Control` of the response.
    CacheControl,
    /// `Set-Cookie` of the response.
    SetCookie,
    /// `Cookie` of the request.
    Cookie,
    /// The user that the request names for the server.
    User,
    /// `User-Agent` of the request.
    Agent,
    /// True where the client itself asked the tier that wrote the line: the edge of a CDN, the client's side of a cache.
    Edge,
    /// True where another tier asked, or something inside of the server.
    Inner,
    /// Of a program that writes spans in s, in a format of several.
    InSeconds,
    /// Who asked Cloudflare: `eyeball`, `edgeWorkerFetch` and others, or their numbers.
    Source,
    /// Id of the request whose worker asked, `00` where a client did.
    Parent,
    /// Envoy's name of the servers behind, with the side of the sidecar in front: `inbound|80||`.
    Cluster,
    /// `X-Request-Id`, which sidecars pass on.
    RequestId,
}

impl Field {
    /// Its name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ignored | Self::Servers | Self::InSeconds => "field",
            Self::Start | Self::StartMillis | Self::End | Self::Clock => "time",
            Self::EndMillis => "milliseconds",
            Self::Date => "date",
            Self::Elapsed(_) => "elapsed",
            Self::FirstByte(_) => "first byte",
            Self::Server(_) | Self::ServerHeader(_) | Self::Peer(_) => "server time",
            Self::Client | Self::ClientPort => "client",
            Self::Forwarded => "X-Forwarded-For",
            Self::Host | Self::AskedHost | Self::HostUrl => "host",
            Self::Request => "request",
            Self::Method | Self::Operation => "method",
            Self::Url => "URL",
            Self::Path => "path",
            Self::Query => "query",
            Self::Status => "status",
            Self::Body
            | Self::Announced
            | Self::Total
            | Self::Sent
            | Self::SentBody
            | Self::Header
            | Self::SentHeader => "bytes",
            Self::Code => "code",
            Self::Hierarchy => "hierarchy",
            Self::CacheResult | Self::EdgeResult | Self::Details | Self::EdgeIs(_) => "cache result",
            Self::Protocol => "protocol",
            Self::Scheme => "scheme",
            Self::Tls => "TLS",
            Self::Port => "port",
            Self::Frontend => "frontend",
            Self::Termination => "termination",
            Self::Captures => "captured headers",
            Self::CacheControl => "Cache-Control",
            Self::SetCookie => "Set-Cookie",
            Self::Cookie => "Cookie",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Edge | Self::Inner | Self::Source | Self::Parent => "tier",
            Self::Cluster => "cluster",
            Self::RequestId => "request id",
        }
    }

    /// True if its value is a span, which has a unit.
    pub(super) const fn is_span(self) -> bool {
        matches!(
            self,
            Self::Elapsed(_) | Self::FirstByte(_) | Self::Server(_) | Self::ServerHeader(_) | Self::Peer(_)
        )
    }

    /// True if its value says whether a cache answered.
    pub(super) const fn is_result(self) -> bool {
        matches!(self, Self::Code | Self::CacheResult | Self::EdgeResult | Self::Details | Self::EdgeIs(_))
    }

    /// True if its value may be a list with `, ` and ` : ` between entries: servers that were asked one after the other, proxies that
    /// passed a request on.
    pub(super) const fn is_list(self) -> bool {
        matches!(
            self,
            Self::Ignored
                | Self::Servers
                | Self::Server(_)
                | Self::ServerHeader(_)
                | Self::Client
                | Self::Forwarded
        )
    }

    /// Field of both values where one follows the other with nothing between them.
    pub(super) const fn joined(self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Ignored | Self::Servers, Self::Ignored | Self::Servers) => Some(Self::Servers),
            (Self::Host, Self::Url | Self::Path) | (Self::HostUrl, Self::Query) => Some(Self::HostUrl),
            (Self::Path | Self::Url, Self::Query) => Some(Self::Url),
            (Self::Query, Self::Query) => Some(Self::Query),
            _ => None,
        }
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
    /// Span of the last one, which gave the response; `None` where the log has none of it.
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
    header: Option<u64>,
    sent_header: Option<u64>,
    pub code: Option<Text<'a>>,
    pub hierarchy: Option<Text<'a>>,
    pub cache_result: Option<Text<'a>>,
    pub edge_result: Option<Text<'a>>,
    pub protocol: Option<Text<'a>>,
    /// The client's connection was under TLS. Of several fields one that says so counts: TLS may end before the server.
    pub secure: Option<bool>,
    /// The line has a mark that the client gave up.
    pub given_up: bool,
    /// The last value that says nothing about what its field stands for.
    pub unclear: Option<(Field, Text<'a>)>,
    /// This and the next two are empty where the log has the field and the message did not.
    pub cache_control: Option<Text<'a>>,
    pub set_cookie: Option<Text<'a>>,
    pub cookie: Option<Text<'a>>,
    pub user: Option<Text<'a>>,
    pub agent: Option<Text<'a>>,
    /// True behind a flag of who asked this tier, which counts before other fields; and true if another tier asked, or something inside
    /// of the server. Of several fields one that says so counts.
    pub inner: Option<(bool, bool)>,
    pub cluster: Option<Text<'a>>,
    pub request_id: Option<Text<'a>>,
    /// A span whose unit the format leaves open has decimals, or none.
    pub has_decimals: Option<bool>,
    /// A program wrote it that writes spans in s.
    pub is_in_seconds: bool,
    /// Text behind the last field, where referrer and agent stand there.
    pub rest: &'a [u8],
}

impl<'a> Record<'a> {
    /// Takes the value `text` of `field`. Of several fields for one value the most exact one counts, of texts the first.
    ///
    /// # Errors
    /// The problem with the value.
    pub(super) fn set(&mut self, field: Field, text: Text<'a>) -> Result<(), String> {
        let is_absent = text.is_empty() || &*text == b"-";
        if matches!(field.unit(), Some(Unit::SecondsOrMillis | Unit::SecondsOrUnknown))
            && text.iter().any(u8::is_ascii_digit)
            && &*text != b"-1"
            && !text.last().is_some_and(u8::is_ascii_alphabetic)
        {
            self.has_decimals = self.has_decimals.max(Some(text.contains(&b'.')));
        }
        match field {
            Field::Ignored | Field::Servers => {}
            // Web servers write `-` for a body of no bytes, Squid for no status.
            Field::Body if is_absent => self.body = Some(0),
            Field::Status if is_absent => self.status = Some(0),
            Field::Request if is_absent => self.request = Some(text),
            Field::Tls if is_absent => self.secure = self.secure.max(Some(false)),
            Field::CacheControl if is_absent => first(&mut self.cache_control, Text::default()),
            Field::SetCookie if is_absent => first(&mut self.set_cookie, Text::default()),
            Field::Cookie if is_absent => first(&mut self.cookie, Text::default()),
            _ if is_absent => {}
            Field::Start => self.set_time(field, when::since_start(&text).map_or_else(|| time(&text), Ok)?),
            Field::StartMillis => {
                let since = fields::span(&text, MILLI).map(when::since_start_by);
                self.set_time(field, since.map_or_else(|| time(&text), Ok)?);
            }
            Field::End => self.set_time(field, time(&text)?),
            Field::EndMillis => {
                let millis = fields::number(&text).filter(|millis| *millis < 1000);
                let millis = millis.ok_or_else(|| wrong(field.name(), &text, "a number from 0 to 999"))?;
                if let Some(end) = &mut self.end {
                    end.nanos += (millis * MILLI) as i64;
                    end.whole = false;
                }
            }
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
            // HAProxy answered nothing.
            Field::Status if &*text == b"-1" => self.status = Some(0),
            Field::Status => {
                let status = fields::number(&text).filter(|status| *status < 1000);
                let status = status.ok_or_else(|| wrong("status", &text, "a number of three digits"))?;
                self.status = Some(status);
            }
            Field::Body | Field::Announced => self.body = Some(bytes(&text)?),
            Field::Total => self.total = Some(bytes(&text)?),
            Field::Sent => self.sent = Some(bytes(&text)?).filter(|sent| *sent > 0),
            Field::SentBody => self.sent_body = Some(bytes(&text)?),
            Field::Header => self.header = Some(bytes(&text)?),
            Field::SentHeader => self.sent_header = Some(bytes(&text)?),
            Field::Date => first(&mut self.date, text),
            Field::Clock => first(&mut self.clock, text),
            Field::Client => first(&mut self.client, clients::of_field(text)),
            Field::ClientPort => first(&mut self.client, without_port(text)),
            Field::Forwarded => first(&mut self.forwarded, text),
            Field::Host => first(&mut self.host, text),
            Field::AskedHost => self.host = Some(text),
            Field::HostUrl => {
                let end = text.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(text.len());
                first(&mut self.host, text[..end].to_vec().into());
                let url = if end < text.len() { text[end..].to_vec() } else { b"/".to_vec() };
                first(&mut self.url, url.into());
            }
            Field::Request => first(&mut self.request, text),
            Field::Method if text.iter().any(u8::is_ascii_lowercase) => {
                first(&mut self.method, text.to_ascii_uppercase().into());
            }
            Field::Method => first(&mut self.method, text),
            Field::Operation => first(&mut self.method, method_of_s3(&text).into()),
            Field::Url => first(&mut self.url, text),
            Field::Path => first(&mut self.path, text),
            Field::Query => first(&mut self.query, text),
            Field::Code => first(&mut self.code, text),
            Field::Hierarchy => first(&mut self.hierarchy, text),
            Field::CacheResult => first(&mut self.cache_result, text),
            Field::InSeconds => self.is_in_seconds = true,
            Field::EdgeResult => {
                self.given_up |= matches!(&*text, b"ClientCommError" | b"ClientHungUpRequest");
                self.edge_result = Some(text);
            }
            Field::Details => {
                self.given_up |= text.starts_with(b"client_disconnected");
                if let Some(result) = rules::google(&text) {
                    self.edge_result = Some(Cow::Borrowed(result));
                }
            }
            Field::EdgeIs(result) if apart::is_true(&text) == Some(true) => {
                self.edge_result = Some(Cow::Borrowed(result.as_bytes()));
            }
            Field::EdgeIs(_) => first(&mut self.edge_result, Cow::Borrowed(b"MISS")),
            Field::Protocol => first(&mut self.protocol, text),
            Field::Scheme | Field::Tls => match is_secure(&text) {
                None => self.unclear = Some((field, text)),
                known => self.secure = self.secure.max(known),
            },
            Field::Port if fields::number(&text).is_none() => return Err(wrong("port", &text, "a number")),
            Field::Port => self.secure = self.secure.max(is_port_secure(&text)),
            Field::Frontend => self.secure = self.secure.max(Some(text.ends_with(b"~"))),
            // In capitals the client itself, else its time ran out.
            Field::Termination => self.given_up |= matches!(text.first(), Some(b'C' | b'c')),
            Field::Captures => {
                if let Some(found) = captures::captured(&text) {
                    found.host.into_iter().for_each(|host| first(&mut self.host, host.to_vec().into()));
                    found.agent.into_iter().for_each(|agent| first(&mut self.agent, agent.to_vec().into()));
                    if found.is_unclear {
                        self.unclear = Some((Field::Host, text));
                    }
                }
            }
            Field::CacheControl => first(&mut self.cache_control, text),
            Field::SetCookie => first(&mut self.set_cookie, text),
            Field::Cookie => first(&mut self.cookie, text),
            Field::User if matches!(&*text, b"\"\"" | b"\"-\"") => {}
            Field::User => first(&mut self.user, text),
            Field::Agent => first(&mut self.agent, text),
            Field::Edge => {
                self.inner = self.inner.max(apart::is_true(&text).map(|by_client| (true, !by_client)));
            }
            Field::Inner => self.inner = self.inner.max(apart::is_true(&text).map(|inner| (false, inner))),
            Field::Source => self.inner = self.inner.max(Some((false, apart::is_inner_source(&text)))),
            Field::Parent => {
                self.inner = self.inner.max(Some((false, text.iter().any(|byte| *byte != b'0'))));
            }
            Field::Cluster => first(&mut self.cluster, text),
            Field::RequestId => first(&mut self.request_id, text),
        }
        Ok(())
    }

    /// Takes a start or an end, unless a more exact one is there.
    pub(super) fn set_time(&mut self, field: Field, at: When) {
        let value = if field == Field::End { &mut self.end } else { &mut self.start };
        if value.is_none_or(|before| before.whole) {
            *value = Some(at);
        }
    }

    /// Joins the parts on a line: start and end, date and clock, path and query, header and body.
    ///
    /// # Errors
    /// When it has no time, or a wrong one.
    pub(super) fn complete(mut self) -> Result<Self, String> {
        match (self.start, self.end, &self.date, &self.clock) {
            (None, None, Some(date), Some(clock)) => self.end = Some(time(&[&**date, clock].join(&b' '))?),
            (None, None, None, Some(_)) => return Err("has the time of a day and no date".into()),
            _ => {}
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
        self.divide_request();
        self.total = self.total.or_else(|| Some(self.header?.saturating_add(self.body?)));
        self.sent = self.sent.or_else(|| Some(self.sent_header?.saturating_add(self.sent_body?)));
        if self.at.is_some() { Ok(self) } else { Err("has no time".into()) }
    }

    /// Takes method, URL and protocol from `METHOD URL PROTOCOL`, where they have no fields of their own; the protocol may be missing.
    fn divide_request(&mut self) {
        let Some(request) = &self.request else { return };
        let Some(blank) = request.iter().position(|byte| *byte == b' ') else { return };
        let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
        if !request[0].is_ascii_alphabetic() || !request[..blank].iter().all(is_name) {
            return;
        }
        let end = request.trim_ascii_end().len();
        let begin = end - request[blank..end].trim_ascii_start().len();
        let last = request[begin..end].iter().rposition(|byte| *byte == b' ').map(|last| begin + last);
        let last = last.filter(|last| request[last + 1..].starts_with(b"HTTP/"));
        let url = begin..last.map_or(end, |last| request[..last].trim_ascii_end().len());
        if url.is_empty() {
            return;
        }
        let part = |range: Range<usize>| match request {
            Cow::Borrowed(line) => Cow::Borrowed(&line[range]),
            Cow::Owned(line) => Cow::Owned(line[range].to_vec()),
        };
        first(&mut self.method, part(0..blank));
        first(&mut self.url, part(url));
        if let Some(last) = last {
            first(&mut self.protocol, part(last + 1..end));
        }
    }
}

/// Description of a time, for messages.
const TIMES: &str = "a Unix time since 1990, dd/Mon/yyyy:HH:MM:SS +zzzz or yyyy-mm-ddTHH:MM:SS";

fn first<'a>(value: &mut Option<Text<'a>>, text: Text<'a>) {
    if value.is_none() {
        *value = Some(text);
    }
}

/// The time that `text` writes.
fn time(text: &[u8]) -> Result<When, String> {
    when::parse(text).ok_or_else(|| match when::is_of_numbers_alone(text) {
        true => wrong(
            "time",
            text,
            "a time whose month can be told from its day; say which is which in --log-format: %{%d/%m/%Y:%T %z}t",
        ),
        false => wrong("time", text, TIMES),
    })
}

/// The address of `address:port` or `[address]:port`.
fn without_port(text: Text<'_>) -> Text<'_> {
    let end = text.iter().rposition(|byte| *byte == b':').unwrap_or(text.len());
    let address = &text[..end];
    address.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(address).to_vec().into()
}

/// Method of an operation of S3, by the word that its name begins with.
fn method_of_s3(operation: &[u8]) -> &'static [u8] {
    const METHODS: [(&[u8], &[u8]); 5] = [
        (b"Head", b"HEAD"),
        (b"Put", b"PUT"),
        (b"Copy", b"PUT"),
        (b"Upload", b"PUT"),
        (b"Delete", b"DELETE"),
    ];
    let name = operation.strip_prefix(b"s3.").unwrap_or(operation);
    let is_read = [&b"Get"[..], b"List"].iter().any(|word| name.starts_with(word));
    let found =
        METHODS.iter().find(|(word, _)| name.starts_with(word)).map_or(&b"POST"[..], |(_, method)| method);
    if is_read { b"GET" } else { found }
}

fn bytes(text: &[u8]) -> Result<u64, String> {
    let allowed = if text.starts_with(b"+") { AT_ONCE } else { "a number of bytes from 0 to 2^53, or -" };
    fields::bytes(text).ok_or_else(|| wrong("bytes", text, allowed))
}

/// Description of a span without its unit, for messages.
const UNKNOWN_UNIT: &str = "a span whose unit is known; state it: --elapsed-unit s, ms, us or ns";

/// Description of a span with decimals behind others without, for messages.
const WHOLE: &str = "a whole number of ms as in the lines before; state the unit: --elapsed-unit s or ms";

fn span(name: &str, text: &[u8], unit: Unit) -> Result<u64, String> {
    let has_units = text.last().is_some_and(u8::is_ascii_alphabetic);
    let (unit, called) = match unit {
        Unit::Seconds => (SECOND, "s"),
        Unit::Millis => (MILLI, "ms"),
        Unit::Micros | Unit::MicrosOrMillis => (MICRO, "µs"),
        Unit::Nanos => (1, "ns"),
        Unit::SecondsOrMillis | Unit::SecondsOrUnknown | Unit::Unknown if text.contains(&b'.') => {
            (SECOND, "s")
        }
        Unit::SecondsOrMillis | Unit::SecondsOrUnknown | Unit::Unknown => (MILLI, "ms"),
        // No time at all has any unit.
        Unit::Unstated if has_units || text.iter().all(|byte| b"0.".contains(byte)) => (SECOND, "s"),
        Unit::Unstated => return Err(wrong(name, text, UNKNOWN_UNIT)),
        Unit::WholeMillis if text.contains(&b'.') && !has_units => return Err(wrong(name, text, WHOLE)),
        Unit::WholeMillis => (MILLI, "ms"),
    };
    let nanos = if has_units { with_units(text) } else { fields::span(text, unit) };
    nanos.ok_or_else(|| match text.first() {
        Some(b'+') => wrong(name, text, AT_ONCE),
        _ => wrong(name, text, &format!("a number of {called} from 0 to 30 days")),
    })
}

/// Description of a value of HAProxy with a plus, for messages.
const AT_ONCE: &str = "the whole: HAProxy wrote the line before the response had ended (option logasap)";

/// A span with its units behind its numbers, as Go writes it: `1h2m3.5s`.
fn with_units(text: &[u8]) -> Option<u64> {
    let units: [(&[u8], u64); 8] = [
        (b"ns", 1),
        ("µs".as_bytes(), MICRO),
        ("μs".as_bytes(), MICRO),
        (b"us", MICRO),
        (b"ms", MILLI),
        (b"s", SECOND),
        (b"m", 60 * SECOND),
        (b"h", 3600 * SECOND),
    ];
    let (mut rest, mut sum, mut largest) = (text, 0_u64, u64::MAX);
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let (name, unit) = units.iter().find(|(name, _)| rest[digits..].starts_with(name))?;
        if *unit >= largest {
            return None;
        }
        sum = sum.checked_add(fields::span(&rest[..digits], *unit)?)?;
        (rest, largest) = (&rest[digits + name.len()..], *unit);
    }
    fields::span(sum.to_string().as_bytes(), 1)
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
