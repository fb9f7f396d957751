//! Facts of a log: scheme, HTTP version and method of its requests, and its tunnels, also of requests that the table leaves out, and
//! the versions in the table.
//!
//! Every readable line that is a request of HTTP counts, with the bytes that it logs: of the response, with or without its header
//! as the log has it, and of the request where it has them. The length of a body that was not sent, as beside HEAD, does not count.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Reason;
use super::record::Record;
use super::rules::{has_body, is_tunnel};
use crate::workload::Method;

/// Scheme of a request, as its client asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// Under TLS: an absolute URL, a field of the line, port 443 or a CONNECT tunnel says so, unless its port is one without.
    Https,
    /// The line does not say.
    Unknown,
}

/// Version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Version {
    #[serde(rename = "1.0")]
    Http10,
    #[serde(rename = "1.1")]
    Http11,
    #[serde(rename = "2")]
    Http2,
    #[serde(rename = "3")]
    Http3,
    /// The line does not say, or names another one.
    #[serde(rename = "unknown")]
    Unknown,
}

/// Some requests of a log and the bytes that it logs for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Part {
    pub requests: u64,
    pub bytes: u64,
}

/// Facts of the lines of a log so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Facts {
    /// Server that wrote the log, where the log or its format names it.
    pub software: Option<String>,
    /// Requests by scheme.
    pub schemes: BTreeMap<Scheme, Part>,
    /// Requests by version of HTTP.
    pub http_versions: BTreeMap<Version, Part>,
    /// The same of the requests in the table.
    pub table_http_versions: BTreeMap<Version, Part>,
    /// Requests by method.
    pub methods: BTreeMap<Method, Part>,
    /// Tunnels, kept or not.
    pub tunnels: Part,
    /// Bytes of all requests, as logged.
    pub bytes_logged: u64,
    /// Part of these that the table leaves out, by reason.
    pub dropped_bytes: BTreeMap<Reason, u64>,
}

impl Part {
    pub(super) const fn add(&mut self, bytes: u64) {
        self.requests += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

impl Facts {
    /// Counts a line that could be read; `dropped` is why the table leaves it out, if it does.
    pub(super) fn add(&mut self, record: &Record<'_>, dropped: Option<Reason>) {
        if dropped.is_some_and(Reason::is_no_request) {
            return;
        }
        let sent = record.sent.or(record.sent_body).unwrap_or(0);
        let body = record.body.filter(|_| has_body(record));
        let bytes = record.total.or(body).unwrap_or(0).saturating_add(sent);
        let method = record.method.as_deref().map_or(Method::Unknown, Method::of);
        let tunnel = is_tunnel(record);
        let scheme = Scheme::of(tunnel, record.url.as_deref(), record.secure);
        self.schemes.entry(scheme).or_default().add(bytes);
        let version = record.protocol.as_deref().map_or(Version::Unknown, Version::of);
        self.http_versions.entry(version).or_default().add(bytes);
        self.methods.entry(method).or_default().add(bytes);
        if tunnel {
            self.tunnels.add(bytes);
        }
        self.bytes_logged = self.bytes_logged.saturating_add(bytes);
        match dropped {
            None => self.table_http_versions.entry(version).or_default().add(bytes),
            Some(reason) => {
                let sum = self.dropped_bytes.entry(reason).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
    }
}

/// Ports whose tunnels carry no TLS: FTP, SSH, telnet, mail and proxies by IANA's registry of port numbers, and test servers. Chosen:
/// tunnels to all others carry TLS.
const CLEAR_PORTS: [&[u8]; 16] = [
    b"21", b"22", b"23", b"25", b"80", b"81", b"110", b"143", b"1935", b"3128", b"5222", b"8000", b"8008",
    b"8080", b"8081", b"8888",
];

impl Scheme {
    /// The scheme of a tunnel by its port, of an absolute URL, else as the line's fields say.
    pub(super) fn of(tunnel: bool, url: Option<&[u8]>, secure: Option<bool>) -> Self {
        // A WebSocket has a URL, also where a CONNECT opens it (RFC 8441).
        if tunnel && url.is_none_or(|url| !url.contains(&b'/')) {
            let port = url.and_then(|url| url.rsplit(|byte| *byte == b':').next());
            let is_clear = port.is_some_and(|port| CLEAR_PORTS.contains(&port));
            return if is_clear { Self::Http } else { Self::Https };
        }
        let begins = |text: &[u8]| {
            url.and_then(|url| url.get(..text.len())).is_some_and(|it| it.eq_ignore_ascii_case(text))
        };
        if begins(b"https://") || begins(b"wss://") {
            return Self::Https;
        }
        match secure.or(begins(b"http://").then_some(false)) {
            Some(true) => Self::Https,
            Some(false) => Self::Http,
            None => Self::Unknown,
        }
    }

    /// True under TLS; `None` where that is not known.
    pub(super) const fn tls(self) -> Option<bool> {
        match self {
            Self::Http => Some(false),
            Self::Https => Some(true),
            Self::Unknown => None,
        }
    }
}

impl Version {
    /// `HTTP/1.1`, `1.1`, `HTTP/2.0`, `h2` and their like.
    fn of(text: &[u8]) -> Self {
        let prefixes: [&[u8]; 4] = [b"HTTP/", b"http/", b"h", b"H"];
        let number = prefixes.iter().find_map(|prefix| text.strip_prefix(*prefix)).unwrap_or(text);
        match number {
            b"1.0" => Self::Http10,
            b"1.1" => Self::Http11,
            b"2" | b"2.0" | b"2c" => Self::Http2,
            b"3" | b"3.0" => Self::Http3,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_request_lines_and_of_fields() {
        let versions =
            |texts: &[&str]| texts.iter().map(|text| Version::of(text.as_bytes())).collect::<Vec<_>>();
        assert_eq!(versions(&["HTTP/1.0", "1.0", "http/1.0"]), [Version::Http10; 3]);
        assert_eq!(versions(&["HTTP/1.1", "1.1"]), [Version::Http11; 2]);
        assert_eq!(versions(&["HTTP/2.0", "HTTP/2", "h2", "h2c", "2.0"]), [Version::Http2; 5]);
        assert_eq!(versions(&["HTTP/3.0", "HTTP/3", "h3"]), [Version::Http3; 3]);
        assert_eq!(versions(&["HTTP/0.9", "", "HTTP/1.10", "spdy/3.1"]), [Version::Unknown; 4]);
    }

    #[test]
    fn an_absolute_url_says_the_scheme_and_tls_of_the_connection_goes_before_http() {
        let of = |url: &str, secure| Scheme::of(false, Some(url.as_bytes()), secure);
        assert_eq!(of("https://a.example/", None), Scheme::Https);
        assert_eq!(of("HTTP://a.example/", None), Scheme::Http);
        assert_eq!(of("/x", None), Scheme::Unknown);
        assert_eq!(of("/x", Some(true)), Scheme::Https);
        assert_eq!(of("/x", Some(false)), Scheme::Http);
        assert_eq!(of("ftp://a.example/", None), Scheme::Unknown);
        assert_eq!(Scheme::of(false, None, None), Scheme::Unknown);
    }

    #[test]
    fn a_tunnel_has_tls_inside_unless_its_port_is_one_without() {
        let of = |authority: &str| Scheme::of(true, Some(authority.as_bytes()), None).tls();
        for (authority, tls) in [
            ("a.example:443", true),
            ("a.example:8443", true),
            ("[2001:db8::1]:443", true),
            ("a.example", true),
            ("a.example:80", false),
            ("a.example:8080", false),
            ("[2001:db8::1]:22", false),
        ] {
            assert_eq!(of(authority), Some(tls), "{authority}");
        }
    }
}
