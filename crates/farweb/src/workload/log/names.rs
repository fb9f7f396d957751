//! Names that formats give to the fields that are of use.
//!
//! Source: Squid 6, `src/format/Token.cc` and `src/cf.data.pre` (`logformat`); nginx 1.27, `ngx_http_log_module` and
//! `ngx_http_upstream_module`; Apache HTTP Server 2.4, `mod_log_config`, `mod_logio`; Varnish 6, varnishncsa(1); W3C working
//! draft "Extended Log File Format" (WD-logfile-960323), Microsoft's list of fields of IIS and Amazon's of CloudFront's
//! standard logs; Caddy 2, `caddyhttp/logging.go`.

use super::field::Field;
use super::spans::Unit;
use crate::workload::table::near;

/// Names, each with its meaning.
pub(super) type Names = [(&'static str, Field)];

/// Codes of Squid's `logformat`, with the part in braces only where it names a header.
///
/// `<pt` runs from the last byte of the request to the last one of the response, `<tt` from the first connection: no code
/// says when the first byte came (`HierarchyLogEntry::peerResponseTime`).
pub(super) const SQUID: &Names = &[
    ("ts", Field::End),
    ("tS", Field::Start),
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
    ("{X-Forwarded-For}>h", Field::Forwarded),
    ("rv", Field::Protocol),
    (">rv", Field::Protocol),
    (">rs", Field::Scheme),
    ("{X-Forwarded-Proto}>h", Field::Scheme),
    ("{Cache-Control}<h", Field::CacheControl),
    ("{Set-Cookie}<h", Field::SetCookie),
    ("{Cookie}>h", Field::Cookie),
    ("{User-Agent}>h", Field::Agent),
];

/// Variables of nginx, without the `$`.
///
/// Both times of `upstream_` count from when nginx begins to connect to a server.
pub(super) const NGINX: &Names = &[
    ("remote_addr", Field::Client),
    ("time_local", Field::End),
    ("time_iso8601", Field::End),
    ("msec", Field::End),
    ("remote_user", Field::User),
    ("request", Field::Request),
    ("request_method", Field::Method),
    ("request_uri", Field::Url),
    ("uri", Field::Path),
    ("document_uri", Field::Path),
    ("args", Field::Query),
    ("query_string", Field::Query),
    // A question mark where a query follows.
    ("is_args", Field::Query),
    ("status", Field::Status),
    ("body_bytes_sent", Field::Body),
    ("bytes_sent", Field::Total),
    ("request_length", Field::Sent),
    ("request_time", Field::Elapsed(Unit::Seconds)),
    ("upstream_response_time", Field::Server(Unit::Seconds)),
    ("upstream_header_time", Field::ServerHeader(Unit::Seconds)),
    ("upstream_cache_status", Field::CacheResult),
    ("host", Field::Host),
    ("http_host", Field::Host),
    ("server_name", Field::Host),
    ("http_x_forwarded_for", Field::Forwarded),
    // The same with the client of the connection behind it.
    ("proxy_add_x_forwarded_for", Field::Forwarded),
    ("server_protocol", Field::Protocol),
    ("scheme", Field::Scheme),
    ("http_x_forwarded_proto", Field::Scheme),
    ("https", Field::Tls),
    ("ssl_protocol", Field::Tls),
    ("server_port", Field::Port),
    ("sent_http_cache_control", Field::CacheControl),
    ("upstream_http_cache_control", Field::CacheControl),
    ("sent_http_set_cookie", Field::SetCookie),
    ("upstream_http_set_cookie", Field::SetCookie),
    ("http_cookie", Field::Cookie),
    ("http_user_agent", Field::Agent),
];

/// Directives of Apache's `LogFormat` and of varnishncsa, with the part in braces, without `<` and `>`.
///
/// `%^FB` and `%D` count from the same time, the request's; so do varnishncsa's first byte and its `%D`.
pub(super) const APACHE: &Names = &[
    ("h", Field::Client),
    ("a", Field::Client),
    // Of the connection, and in Jetty.
    ("{c}a", Field::Client),
    ("{c}h", Field::Client),
    ("{client}a", Field::Client),
    ("t", Field::Start),
    ("u", Field::User),
    ("r", Field::Request),
    ("s", Field::Status),
    ("b", Field::Body),
    ("B", Field::Body),
    ("O", Field::Total),
    ("I", Field::Sent),
    ("D", Field::Elapsed(Unit::MicrosOrMillis)),
    ("T", Field::Elapsed(Unit::Seconds)),
    ("{s}T", Field::Elapsed(Unit::Seconds)),
    ("{ms}T", Field::Elapsed(Unit::Millis)),
    ("{us}T", Field::Elapsed(Unit::Micros)),
    ("^FB", Field::FirstByte(Unit::Micros)),
    ("{Varnish:time_firstbyte}x", Field::FirstByte(Unit::Seconds)),
    ("{Varnish:handling}x", Field::CacheResult),
    ("{Varnish:hitmiss}x", Field::CacheResult),
    // `c` for a client, `b` for the server behind (varnishncsa -b -c).
    ("{Varnish:side}x", Field::Edge),
    // Of H2O.
    ("{duration}x", Field::Elapsed(Unit::Seconds)),
    ("m", Field::Method),
    ("U", Field::Path),
    ("q", Field::Query),
    ("v", Field::Host),
    ("V", Field::Host),
    ("{Host}i", Field::Host),
    ("{X-Forwarded-For}i", Field::Forwarded),
    ("H", Field::Protocol),
    ("{X-Forwarded-Proto}i", Field::Scheme),
    ("{SSL_PROTOCOL}x", Field::Tls),
    ("p", Field::Port),
    ("{Cache-Control}o", Field::CacheControl),
    ("{Set-Cookie}o", Field::SetCookie),
    ("{Cookie}i", Field::Cookie),
    ("{User-Agent}i", Field::Agent),
];

/// Variables of HAProxy's `log-format`, and samples that stand for some of them.
///
/// `%Ta` is the time of one request; `%Tt` also has the idle time before it.
pub(super) const HAPROXY: &Names = &[
    ("ci", Field::Client),
    ("[src]", Field::Client),
    ("t", Field::Start),
    ("tr", Field::Start),
    ("T", Field::Start),
    ("Tl", Field::Start),
    ("trg", Field::Start),
    ("trl", Field::Start),
    ("Ts", Field::Start),
    ("Ta", Field::Elapsed(Unit::Millis)),
    ("Tr", Field::ServerHeader(Unit::Millis)),
    ("r", Field::Request),
    ("HM", Field::Method),
    ("[method]", Field::Method),
    ("[capture.req.method]", Field::Method),
    ("HU", Field::Url),
    ("[url]", Field::Url),
    ("[capture.req.uri]", Field::Url),
    ("HP", Field::Path),
    ("[path]", Field::Path),
    ("HQ", Field::Query),
    ("HV", Field::Protocol),
    ("[req.hdr(host)]", Field::Host),
    ("[hdr(host)]", Field::Host),
    ("ST", Field::Status),
    ("[status]", Field::Status),
    ("B", Field::Total),
    ("U", Field::Sent),
    ("ft", Field::Frontend),
    ("ts", Field::Termination),
    ("tsc", Field::Termination),
    ("hr", Field::Captures),
    ("sslv", Field::Tls),
    ("[req.hdr(user-agent)]", Field::Agent),
    ("[hdr(user-agent)]", Field::Agent),
];

/// Operators of Envoy's access log.
pub(super) const ENVOY: &Names = &[
    ("START_TIME", Field::Start),
    ("DURATION", Field::Elapsed(Unit::Millis)),
    ("RESPONSE_DURATION", Field::FirstByte(Unit::Millis)),
    ("RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)", Field::ServerHeader(Unit::Millis)),
    ("DOWNSTREAM_REMOTE_ADDRESS", Field::ClientPort),
    ("DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT", Field::Client),
    ("REQ(X-FORWARDED-FOR)", Field::Forwarded),
    ("REQ(:METHOD)", Field::Method),
    ("REQ(:PATH)", Field::Url),
    ("REQ(X-ENVOY-ORIGINAL-PATH?:PATH)", Field::Url),
    ("REQ(:AUTHORITY)", Field::Host),
    ("REQ(:SCHEME)", Field::Scheme),
    ("PROTOCOL", Field::Protocol),
    ("DOWNSTREAM_TLS_VERSION", Field::Tls),
    ("RESPONSE_CODE", Field::Status),
    ("BYTES_RECEIVED", Field::SentBody),
    ("BYTES_SENT", Field::Body),
    ("RESP(CACHE-CONTROL)", Field::CacheControl),
    ("RESP(SET-COOKIE)", Field::SetCookie),
    ("REQ(COOKIE)", Field::Cookie),
    ("REQ(USER-AGENT)", Field::Agent),
    ("REQ(X-REQUEST-ID)", Field::RequestId),
    ("UPSTREAM_CLUSTER", Field::Cluster),
    ("UPSTREAM_CLUSTER_RAW", Field::Cluster),
];

/// Tokens of morgan.
///
/// `:response-time` runs from the request to the header of the response, in ms.
pub(super) const MORGAN: &Names = &[
    ("date", Field::End),
    ("response-time", Field::ServerHeader(Unit::Millis)),
    ("total-time", Field::Elapsed(Unit::Millis)),
    ("remote-addr", Field::Client),
    ("remote-user", Field::User),
    ("method", Field::Method),
    ("url", Field::Url),
    ("http-version", Field::Protocol),
    ("status", Field::Status),
    ("res[content-length]", Field::Announced),
    ("res[cache-control]", Field::CacheControl),
    ("res[set-cookie]", Field::SetCookie),
    ("req[host]", Field::Host),
    ("req[x-forwarded-for]", Field::Forwarded),
    ("req[x-forwarded-proto]", Field::Scheme),
    ("req[cookie]", Field::Cookie),
    ("user-agent", Field::Agent),
];

/// Fields of the W3C extended format, as IIS, CloudFront and others name them.
///
/// `time-to-first-byte` is CloudFront's, from when its server has the request to when it writes the first byte, as
/// `time-taken` is to the last one; IIS has nothing like it.
pub(super) const W3C: &Names = &[
    ("date", Field::Date),
    ("time", Field::Clock),
    ("timestamp", Field::End),
    ("timestamp(ms)", Field::End),
    ("c-ip", Field::Client),
    ("cs-username", Field::User),
    ("cs-method", Field::Method),
    ("cs-uri", Field::Url),
    ("cs-uri-stem", Field::Path),
    ("cs-uri-path", Field::Path),
    ("cs-uri-query", Field::Query),
    ("sc-status", Field::Status),
    ("sc-bytes", Field::Total),
    ("bytes", Field::Total),
    ("cs-bytes", Field::Sent),
    ("time-taken", Field::Elapsed(Unit::SecondsOrMillis)),
    ("time-to-first-byte", Field::FirstByte(Unit::Seconds)),
    ("x-edge-location", Field::InSeconds),
    ("x-edge-result-type", Field::EdgeResult),
    ("x-edge-response-result-type", Field::EdgeResult),
    ("x-edge-detailed-result-type", Field::EdgeResult),
    ("x-host-header", Field::AskedHost),
    ("cs-host", Field::Host),
    ("cs(host)", Field::Host),
    ("x-forwarded-for", Field::Forwarded),
    ("cs(x-forwarded-for)", Field::Forwarded),
    ("cs-version", Field::Protocol),
    ("cs-protocol-version", Field::Protocol),
    ("cs-protocol", Field::Scheme),
    ("cs-uri-scheme", Field::Scheme),
    ("cs(x-forwarded-proto)", Field::Scheme),
    ("ssl-protocol", Field::Tls),
    ("s-port", Field::Port),
    ("sc(cache-control)", Field::CacheControl),
    ("sc(set-cookie)", Field::SetCookie),
    ("cs(cookie)", Field::Cookie),
    ("cs(user-agent)", Field::Agent),
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

/// Keys of JSON objects, a point for each level: keys of Caddy and of GitLab's Workhorse, and usual ones for nginx's variables.
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
    ("request.headers.X-Forwarded-For", Field::Forwarded),
    ("http_x_forwarded_for", Field::Forwarded),
    ("x_forwarded_for", Field::Forwarded),
    ("request", Field::Request),
    ("request.method", Field::Method),
    ("request_method", Field::Method),
    ("method", Field::Method),
    ("request.uri", Field::Url),
    ("request_uri", Field::Url),
    ("uri", Field::Url),
    ("url", Field::Url),
    ("path", Field::Path),
    ("query", Field::Query),
    ("request.host", Field::Host),
    ("http_host", Field::Host),
    ("host", Field::Host),
    ("server_name", Field::Host),
    ("status", Field::Status),
    ("size", Field::Body),
    ("body_bytes_sent", Field::Body),
    ("written_bytes", Field::Body),
    ("bytes", Field::Body),
    ("bytes_sent", Field::Total),
    ("request_length", Field::Sent),
    // Caddy has s, and others have ms or ns.
    (DURATION, Field::Elapsed(Unit::Unknown)),
    ("latency", Field::Elapsed(Unit::Unknown)),
    ("elapsed", Field::Elapsed(Unit::Unknown)),
    ("response_time", Field::Elapsed(Unit::Unknown)),
    ("duration_ms", Field::Elapsed(Unit::Millis)),
    ("latency_ms", Field::Elapsed(Unit::Millis)),
    ("elapsed_ms", Field::Elapsed(Unit::Millis)),
    ("response_time_ms", Field::Elapsed(Unit::Millis)),
    ("ttfb_ms", Field::FirstByte(Unit::Millis)),
    // nginx has three decimals.
    ("request_time", Field::Elapsed(Unit::SecondsOrUnknown)),
    ("upstream_response_time", Field::Server(Unit::SecondsOrUnknown)),
    ("upstream_header_time", Field::ServerHeader(Unit::SecondsOrUnknown)),
    ("upstream_cache_status", Field::CacheResult),
    ("cache_status", Field::EdgeResult),
    ("response_state", Field::EdgeResult),
    ("request.proto", Field::Protocol),
    ("server_protocol", Field::Protocol),
    ("protocol", Field::Protocol),
    ("scheme", Field::Scheme),
    ("http_x_forwarded_proto", Field::Scheme),
    ("request.headers.X-Forwarded-Proto", Field::Scheme),
    ("request.tls", Field::Tls),
    ("https", Field::Tls),
    ("ssl_protocol", Field::Tls),
    ("server_port", Field::Port),
    ("resp_headers.Cache-Control", Field::CacheControl),
    ("sent_http_cache_control", Field::CacheControl),
    ("resp_headers.Set-Cookie", Field::SetCookie),
    ("sent_http_set_cookie", Field::SetCookie),
    ("request.headers.Cookie", Field::Cookie),
    ("http_cookie", Field::Cookie),
    ("request.headers.User-Agent", Field::Agent),
    ("http_user_agent", Field::Agent),
    ("user_agent", Field::Agent),
    ("agent", Field::Agent),
    ("fastly_is_edge", Field::Edge),
    ("is_edge", Field::Edge),
    ("is_shield", Field::Inner),
    ("fastly_is_shield", Field::Inner),
];

/// Key of a span that programs write in different units; `CADDYS` is there in a line of Caddy's, where it is in s.
pub(super) const DURATION: &str = "duration";
pub(super) const CADDYS: &str = "request.uri";
pub(super) const CADDYS_TLS: &str = "request.tls";

/// Programs that write these keys of JSON into every line.
pub(super) const JSON_SOFTWARE: &[(&str, &str)] =
    &[("request.remote_ip", "Caddy"), ("body_bytes_sent", "nginx"), ("request_uri", "nginx")];

/// Meaning of a name of farweb's own.
pub(super) enum Own {
    Field(Field),
    /// A span, with its unit behind the name.
    Span(fn(Unit) -> Field),
}

/// Names of farweb's own, for lines that no other names describe: `{name}` in a format string, `name=KEY` for JSON.
pub(super) const OWN: &[(&str, Own)] = &[
    ("start", Own::Field(Field::Start)),
    ("start:ms", Own::Field(Field::StartMillis)),
    ("end", Own::Field(Field::End)),
    ("date", Own::Field(Field::Date)),
    ("time", Own::Field(Field::Clock)),
    ("elapsed", Own::Span(Field::Elapsed)),
    ("first_byte", Own::Span(Field::FirstByte)),
    ("server", Own::Span(Field::Server)),
    ("wait", Own::Span(Field::ServerHeader)),
    ("client", Own::Field(Field::Client)),
    ("client:port", Own::Field(Field::ClientPort)),
    ("forwarded", Own::Field(Field::Forwarded)),
    ("host", Own::Field(Field::Host)),
    ("request", Own::Field(Field::Request)),
    ("method", Own::Field(Field::Method)),
    ("url", Own::Field(Field::Url)),
    ("path", Own::Field(Field::Path)),
    ("query", Own::Field(Field::Query)),
    ("protocol", Own::Field(Field::Protocol)),
    ("scheme", Own::Field(Field::Scheme)),
    ("tls", Own::Field(Field::Tls)),
    ("tls:frontend", Own::Field(Field::Frontend)),
    ("termination", Own::Field(Field::Termination)),
    ("captures", Own::Field(Field::Captures)),
    ("port", Own::Field(Field::Port)),
    ("status", Own::Field(Field::Status)),
    ("result", Own::Field(Field::CacheResult)),
    ("bytes", Own::Field(Field::Total)),
    ("body", Own::Field(Field::Body)),
    ("request_bytes", Own::Field(Field::Sent)),
    ("request_body", Own::Field(Field::SentBody)),
    ("cache_control", Own::Field(Field::CacheControl)),
    ("set_cookie", Own::Field(Field::SetCookie)),
    ("cookie", Own::Field(Field::Cookie)),
    ("agent", Own::Field(Field::Agent)),
    ("edge", Own::Field(Field::Edge)),
    ("inner", Own::Field(Field::Inner)),
    ("cluster", Own::Field(Field::Cluster)),
    ("request_id", Own::Field(Field::RequestId)),
];

/// Units of spans.
pub(super) const UNITS: &[(&str, Unit)] =
    &[("s", Unit::Seconds), ("ms", Unit::Millis), ("us", Unit::Micros), ("ns", Unit::Nanos)];

/// Meaning of a name of farweb's own, with the unit of a span behind a colon, s where there is none.
///
/// # Errors
/// When there is no such name or unit; says which there are.
pub(super) fn own(name: &str) -> Result<Field, String> {
    let known = |name: &str| OWN.iter().find(|(known, _)| *known == name).map(|(_, own)| own);
    let (base, unit) = name.split_once(':').unwrap_or((name, "s"));
    match (known(name), known(base)) {
        (Some(Own::Field(field)), _) => Ok(*field),
        (_, Some(Own::Span(span))) => match UNITS.iter().find(|(known, _)| *known == unit) {
            Some((_, unit)) => Ok(span(*unit)),
            None => Err(format!("{base}: found the unit \"{unit}\"; write one of: s, ms, us, ns")),
        },
        (_, Some(Own::Field(_))) => Err(format!("{base}: found \"{name}\"; only spans have a unit")),
        (_, None) => {
            let names: Vec<_> =
                OWN.iter().map(|(name, _)| *name).filter(|name| !name.contains(':')).collect();
            let near = near(base, &names);
            Err(format!("unknown field \"{base}\"{near}; the fields are {}", names.join(", ")))
        }
    }
}

/// Needs of a line, each with the fields that meet it.
pub(super) const NEEDED: [(&str, &[Field]); 3] = [
    ("when a request was", &[Field::Start, Field::StartMillis, Field::End, Field::Clock]),
    ("what was asked for", &[Field::Request, Field::Url, Field::HostUrl, Field::Path]),
    ("how large a response is", &[Field::Body, Field::Announced, Field::Total]),
];

/// Meaning of `name` in `names`; names of headers, in braces, are written in any case.
pub(super) fn field(names: &Names, name: &[u8]) -> Field {
    let is_header = name.starts_with(b"{");
    let is_it =
        |known: &str| known.as_bytes() == name || is_header && known.as_bytes().eq_ignore_ascii_case(name);
    let found = names.iter().find(|(known, _)| is_it(known));
    found.map_or(Field::Ignored, |(_, field)| *field)
}
