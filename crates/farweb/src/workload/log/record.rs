//! Record of a line: the values of the fields that are of use, whatever the format.

use std::borrow::Cow;
use std::ops::Range;

use super::apart;
use super::captures;
use super::clients;
use super::field::Field;
use super::rules;
use super::secure::{is_port_secure, is_secure};
use super::spans::{AT_ONCE, Spans, Unit, span, spans};
use super::values::{self, wrong};
use super::when::{self, When};

const MILLI: u64 = 1_000_000;

/// Bytes that a line holds, or that were put together from them.
pub(super) type Text<'a> = Cow<'a, [u8]>;

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
                let since = values::span(&text, MILLI).map(when::since_start_by);
                self.set_time(field, since.map_or_else(|| time(&text), Ok)?);
            }
            Field::End => self.set_time(field, time(&text)?),
            Field::EndMillis => {
                let millis = values::number(&text).filter(|millis| *millis < 1000);
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
                let status = values::number(&text).filter(|status| *status < 1000);
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
            Field::Port if values::number(&text).is_none() => return Err(wrong("port", &text, "a number")),
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
    values::bytes(text).ok_or_else(|| wrong("bytes", text, allowed))
}
