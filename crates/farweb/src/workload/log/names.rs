//! Names that formats give to the fields that are of use.
//!
//! Source: Squid 6, `src/format/Token.cc` and `src/cf.data.pre` (`logformat`); nginx 1.27, `ngx_http_log_module` and
//! `ngx_http_upstream_module`; Apache HTTP Server 2.4, `mod_log_config`, `mod_logio`; Varnish 6, varnishncsa(1); W3C working
//! draft "Extended Log File Format" (WD-logfile-960323), Microsoft's list of fields of IIS and Amazon's of CloudFront's
//! standard logs; Caddy 2, `caddyhttp/logging.go`.

use super::record::{Field, Unit};

/// Names, each with its meaning.
pub(super) type Names = [(&'static str, Field)];

/// Codes of Squid's `logformat`, without what stands in braces.
///
/// `<pt` runs from the last byte of the request to the last one of the response, `<tt` from the first connection: no code
/// says when the first byte came (`HierarchyLogEntry::peerResponseTime`).
pub(super) const SQUID: &Names = &[
    ("ts", Field::End),
    ("tl", Field::End),
    ("tg", Field::End),
    ("tr", Field::Elapsed(Unit::Millis)),
    ("<pt", Field::Peer(Unit::Millis)),
    ("<tt", Field::Peer(Unit::Millis)),
    (">a", Field::Client),
    (">A", Field::Client),
    ("Ss", Field::Code),
    ("Hs", Field::Status),
    (">Hs", Field::Status),
    ("<st", Field::Total),
    (">st", Field::Sent),
    ("rm", Field::Method),
    (">rm", Field::Method),
    ("ru", Field::Url),
    (">ru", Field::Url),
    (">rd", Field::Host),
    ("Sh", Field::Hierarchy),
];

/// Variables of nginx, without the `$`.
///
/// Both times of `upstream_` count from when nginx begins to connect to a server.
pub(super) const NGINX: &Names = &[
    ("remote_addr", Field::Client),
    ("time_local", Field::End),
    ("time_iso8601", Field::End),
    ("msec", Field::End),
    ("request", Field::Request),
    ("request_method", Field::Method),
    ("request_uri", Field::Url),
    ("uri", Field::Path),
    ("document_uri", Field::Path),
    ("args", Field::Query),
    ("query_string", Field::Query),
    ("status", Field::Status),
    ("body_bytes_sent", Field::Body),
    ("bytes_sent", Field::Total),
    ("request_length", Field::Sent),
    ("request_time", Field::Elapsed(Unit::Seconds)),
    ("upstream_response_time", Field::Server(Unit::Seconds)),
    ("upstream_header_time", Field::ServerHeader(Unit::Seconds)),
    ("host", Field::Host),
    ("http_host", Field::Host),
    ("server_name", Field::Host),
];

/// Directives of Apache's `LogFormat` and of varnishncsa, with what stands in braces, without `<` and `>`.
///
/// `%^FB` and `%D` count from the same time, that of the request; so do varnishncsa's first byte and its `%D`.
pub(super) const APACHE: &Names = &[
    ("h", Field::Client),
    ("a", Field::Client),
    ("t", Field::Start),
    ("{sec}t", Field::Start),
    ("{msec}t", Field::Start),
    ("{begin:sec}t", Field::Start),
    ("{begin:msec}t", Field::Start),
    ("{end:sec}t", Field::End),
    ("{end:msec}t", Field::End),
    ("r", Field::Request),
    ("s", Field::Status),
    ("b", Field::Body),
    ("B", Field::Body),
    ("O", Field::Total),
    ("I", Field::Sent),
    ("D", Field::Elapsed(Unit::Micros)),
    ("T", Field::Elapsed(Unit::Seconds)),
    ("{s}T", Field::Elapsed(Unit::Seconds)),
    ("{ms}T", Field::Elapsed(Unit::Millis)),
    ("{us}T", Field::Elapsed(Unit::Micros)),
    ("^FB", Field::FirstByte(Unit::Micros)),
    ("{Varnish:time_firstbyte}x", Field::FirstByte(Unit::Seconds)),
    ("m", Field::Method),
    ("U", Field::Path),
    ("q", Field::Query),
    ("v", Field::Host),
    ("V", Field::Host),
    ("{Host}i", Field::Host),
];

/// Fields of the W3C extended format, as IIS, CloudFront and others name them.
///
/// `time-to-first-byte` is CloudFront's, from when its server has the request to when it writes the first byte, as
/// `time-taken` is to the last one; IIS has nothing like it.
pub(super) const W3C: &Names = &[
    ("date", Field::Date),
    ("time", Field::Clock),
    ("c-ip", Field::Client),
    ("cs-method", Field::Method),
    ("cs-uri", Field::Url),
    ("cs-uri-stem", Field::Path),
    ("cs-uri-query", Field::Query),
    ("sc-status", Field::Status),
    ("sc-bytes", Field::Total),
    ("cs-bytes", Field::Sent),
    ("time-taken", Field::Elapsed(Unit::SecondsOrMillis)),
    ("time-to-first-byte", Field::FirstByte(Unit::Seconds)),
    ("x-host-header", Field::Host),
    ("cs-host", Field::Host),
    ("cs(host)", Field::Host),
];

/// Columns of a tab-separated table with a header line; all of them have to be there.
pub(super) const TABLE: &Names = &[
    ("host", Field::Client),
    ("time", Field::Start),
    ("method", Field::Method),
    ("url", Field::Url),
    ("response", Field::Status),
    ("bytes", Field::Body),
];

/// Keys of JSON objects, a point for each level: those of Caddy, and those that people give nginx's variables.
pub(super) const JSON: &Names = &[
    ("ts", Field::End),
    ("msec", Field::End),
    ("time_iso8601", Field::End),
    ("@timestamp", Field::End),
    ("timestamp", Field::End),
    ("time_local", Field::End),
    ("time", Field::End),
    ("request.client_ip", Field::Client),
    ("request.remote_ip", Field::Client),
    ("remote_addr", Field::Client),
    ("remote_ip", Field::Client),
    ("client_ip", Field::Client),
    ("request", Field::Request),
    ("request.method", Field::Method),
    ("request_method", Field::Method),
    ("method", Field::Method),
    ("request.uri", Field::Url),
    ("request_uri", Field::Url),
    ("uri", Field::Url),
    ("url", Field::Url),
    ("request.host", Field::Host),
    ("http_host", Field::Host),
    ("host", Field::Host),
    ("server_name", Field::Host),
    ("status", Field::Status),
    ("size", Field::Body),
    ("body_bytes_sent", Field::Body),
    ("bytes_sent", Field::Total),
    ("request_length", Field::Sent),
    ("duration", Field::Elapsed(Unit::Seconds)),
    ("request_time", Field::Elapsed(Unit::Seconds)),
    ("upstream_response_time", Field::Server(Unit::Seconds)),
    ("upstream_header_time", Field::ServerHeader(Unit::Seconds)),
];

/// Meaning of `name` in `names`.
pub(super) fn field(names: &Names, name: &[u8]) -> Field {
    let found = names.iter().find(|(known, _)| known.as_bytes() == name);
    found.map_or(Field::Ignored, |(_, field)| *field)
}
