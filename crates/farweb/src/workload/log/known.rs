//! Formats that have a name: each is a row of format strings, of columns, or of keys of JSON.
//!
//! Source: the documentation of each, as `docs/log-formats.md` names it.

use super::field::Field;
use super::names::JSON;
use super::spans::Unit;

/// A format with a name.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    pub(super) name: &'static str,
    /// Server that writes it; `None`: several do.
    pub(super) software: Option<&'static str>,
    pub(super) lines: Shape,
    /// Looked for in a log without a given format; lines of the others look like lines of one that is.
    pub(super) is_found: bool,
}

/// Form of the lines of a format.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Format strings; the first that fits counts.
    Text(&'static [&'static str]),
    /// The same, or a tab-separated table with a header line.
    TextOrTable(&'static [&'static str]),
    /// Columns that the last header line names; before one these.
    Columns(&'static str),
    /// JSON objects that may have these keys.
    Json(&'static [(&'static str, Field)]),
    /// The same. An object without a URL or a size is none of this format.
    JsonOnly(&'static [(&'static str, Field)]),
    /// The same, and none without the first key.
    JsonWith(&'static str, &'static [(&'static str, Field)]),
}

impl Known {
    /// Sizes of responses are without headers.
    pub(super) fn has_body_sizes(&self) -> bool {
        match self.lines {
            Shape::Text(texts) | Shape::TextOrTable(texts) => {
                let has = |field: &str| texts.iter().all(|text| text.contains(field));
                has("%b") || has("{body}")
            }
            Shape::Columns(_) => false,
            Shape::Json(keys) | Shape::JsonOnly(keys) | Shape::JsonWith(_, keys) => {
                keys.iter().any(|(_, field)| *field == Field::Body)
            }
        }
    }
}

const fn row(name: &'static str, software: Option<&'static str>, lines: Shape) -> Known {
    Known { name, software, lines, is_found: true }
}

const fn alias(name: &'static str, software: Option<&'static str>, lines: Shape) -> Known {
    Known { name, software, lines, is_found: false }
}

/// Native `access.log` of Squid, versions 1.1 to 6, and of version 1.0.
pub(super) const SQUID: &Known = &row(
    "squid",
    Some("Squid"),
    Shape::Text(&[
        "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/",
        "%ts.%03tu %6tr %>a %Ss/%03>Hs/%Sh %<st %rm %ru",
    ]),
);

/// Squid's `combined` and `common`; the second reads lines of the first as well, with a header in the place of the result code.
pub(super) const SQUID_COMMON: &Known = &row(
    "squid-common",
    Some("Squid"),
    Shape::Text(&[
        "%>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st \"%{Referer}>h\" \"%{User-Agent}>h\" %Ss:%Sh",
        "%>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st %Ss:%Sh",
    ]),
);

/// Common log format; the combined one has two fields more, which are of no use. Gerrit has a thread behind the client, Ingress of
/// Kubernetes before 0.26 the client once more.
const COMMON: Shape = Shape::TextOrTable(&[
    "%h %l %u %t \"%r\" %>s %b",
    "%h [%{thread}x] %l %u %t \"%r\" %>s %b",
    "%h - [%{client}x] - %u %t \"%r\" %>s %b",
]);

pub(super) const CLF: &Known = &row("clf", None, COMMON);

/// The same with the virtual host in front: `vhost_combined` of Apache, and without a port.
pub(super) const VHOST_COMBINED: &Known = &row(
    "vhost-combined",
    None,
    Shape::Text(&["%v:%p %h %l %u %t \"%r\" %>s %O", "%v %h %l %u %t \"%r\" %>s %b"]),
);

pub(super) const W3C: &Known = &row("w3c", None, Shape::Columns(""));

pub(super) const JSON_LINES: &Known = &row("json", None, Shape::Json(JSON));

/// The same as keys of JSON objects.
const CLOUDFRONT_KEYS: &[(&str, Field)] = &[
    ("timestamp(ms)", Field::End),
    ("date", Field::Date),
    ("time", Field::Clock),
    ("c-ip", Field::Client),
    ("cs-method", Field::Method),
    ("cs-uri-stem", Field::Path),
    ("cs-uri-query", Field::Query),
    ("sc-status", Field::Status),
    ("sc-bytes", Field::Total),
    ("cs-bytes", Field::Sent),
    ("time-taken", Field::Elapsed(Unit::Seconds)),
    ("time-to-first-byte", Field::FirstByte(Unit::Seconds)),
    ("x-edge-result-type", Field::EdgeResult),
    ("x-edge-response-result-type", Field::EdgeResult),
    ("x-edge-detailed-result-type", Field::EdgeResult),
    ("x-host-header", Field::AskedHost),
    ("cs(Host)", Field::Host),
    ("x-forwarded-for", Field::Forwarded),
    ("cs-protocol-version", Field::Protocol),
    ("cs-protocol", Field::Scheme),
    ("ssl-protocol", Field::Tls),
    ("cs(Cookie)", Field::Cookie),
    ("cs(User-Agent)", Field::Agent),
];

/// Keys of Fastly's templates with times, as its guides to Splunk, S3 and others have them; `request` is the method.
const FASTLY_TIMING_KEYS: &[(&str, Field)] = &[
    ("time_start", Field::Start),
    ("timestamp", Field::Start),
    ("time_end", Field::End),
    ("time_elapsed", Field::Elapsed(Unit::Micros)),
    ("client_ip", Field::Client),
    ("request", Field::Method),
    ("request_method", Field::Method),
    ("host", Field::Host),
    ("url", Field::Url),
    ("protocol", Field::Protocol),
    ("is_tls", Field::Tls),
    ("tls_client_protocol", Field::Tls),
    ("status", Field::Status),
    ("req_header_size", Field::SentHeader),
    ("req_body_size", Field::SentBody),
    ("resp_header_size", Field::Header),
    ("resp_body_size", Field::Body),
    ("request_user_agent", Field::Agent),
    ("cache_status", Field::EdgeResult),
    ("fastly_is_edge", Field::Edge),
    ("is_edge", Field::Edge),
    ("is_shield", Field::Inner),
    ("fastly_is_shield", Field::Inner),
];

/// Keys of Envoy's log as Istio, Contour and Envoy Gateway write it as JSON.
const ENVOY_KEYS: &[(&str, Field)] = &[
    ("start_time", Field::Start),
    ("@timestamp", Field::Start),
    ("duration", Field::Elapsed(Unit::Millis)),
    ("upstream_service_time", Field::ServerHeader(Unit::Millis)),
    ("x-envoy-upstream-service-time", Field::ServerHeader(Unit::Millis)),
    ("downstream_remote_address", Field::ClientPort),
    ("x_forwarded_for", Field::Forwarded),
    ("x-forwarded-for", Field::Forwarded),
    ("authority", Field::Host),
    (":authority", Field::Host),
    ("method", Field::Method),
    ("path", Field::Url),
    ("x-envoy-origin-path", Field::Url),
    ("protocol", Field::Protocol),
    ("response_code", Field::Status),
    ("bytes_received", Field::SentBody),
    ("bytes_sent", Field::Body),
    ("user_agent", Field::Agent),
    ("user-agent", Field::Agent),
    ("request_id", Field::RequestId),
    ("x-request-id", Field::RequestId),
    ("upstream_cluster", Field::Cluster),
];

/// Keys of MinIO's audit log; a line is written at the end.
const MINIO_KEYS: &[(&str, Field)] = &[
    ("time", Field::End),
    ("api.timeToResponse", Field::Elapsed(Unit::Nanos)),
    ("api.timeToFirstByte", Field::FirstByte(Unit::Nanos)),
    ("remotehost", Field::Client),
    ("requestHost", Field::Host),
    ("api.name", Field::Operation),
    ("requestPath", Field::Url),
    ("api.statusCode", Field::Status),
    ("api.rx", Field::SentBody),
    ("api.tx", Field::Body),
    ("api.txHeaders", Field::Header),
    ("userAgent", Field::Agent),
];

/// Keys of `mc admin trace --json`.
const MINIO_TRACE_KEYS: &[(&str, Field)] = &[
    ("time", Field::Start),
    ("duration", Field::Elapsed(Unit::Nanos)),
    ("timeToFirstByte", Field::FirstByte(Unit::Nanos)),
    ("callStats.duration", Field::Elapsed(Unit::Nanos)),
    ("callStats.timeToFirstByte", Field::FirstByte(Unit::Nanos)),
    ("client", Field::Client),
    ("host", Field::Host),
    ("api", Field::Operation),
    ("path", Field::Path),
    ("query", Field::Query),
    ("statusCode", Field::Status),
    ("callStats.rx", Field::SentBody),
    ("callStats.tx", Field::Body),
];

/// Keys of the logger of echo, a framework of Go.
const ECHO_KEYS: &[(&str, Field)] = &[
    ("time", Field::End),
    ("latency", Field::Elapsed(Unit::Nanos)),
    ("latency_human", Field::Elapsed(Unit::Unknown)),
    ("remote_ip", Field::Client),
    ("host", Field::Host),
    ("method", Field::Method),
    ("uri", Field::Url),
    ("status", Field::Status),
    ("bytes_in", Field::SentBody),
    ("bytes_out", Field::Body),
    ("user_agent", Field::Agent),
];

/// Columns of CloudFront's standard logs, for lines that have lost their header.
const CLOUDFRONT: &str = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) \
    cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken \
    x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port \
    time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end";

/// All of them, in the order of naming. Those with more signs of their own are tried before others.
pub(super) const KNOWN: &[&Known] = &[
    SQUID,
    SQUID_COMMON,
    &row(
        "haproxy",
        Some("HAProxy"),
        Shape::Text(&[
            "{client:port} [{start}] {tls:frontend} {}/{} {}/{}/{}/{wait:ms}/{elapsed:ms} {status} {bytes} {} {} \
                       {termination} {}/{}/{}/{}/{} {}/{} {captures}\"{request}\"",
        ]),
    ),
    &row(
        "alb",
        Some("AWS application load balancer"),
        Shape::Text(&[
            "{scheme} {end} {} {client:port} {} {} {wait:s} {} {status} {} {request_bytes} {bytes} \"{request}\" \"{agent}\" {} {} {} \
             \"{}\" \"{}\" \"{}\" {} {start}",
        ]),
    ),
    &row(
        "elb",
        Some("AWS classic load balancer"),
        Shape::Text(&[
            "{start} {} {client:port} {} {} {wait:s} {} {status} {} {request_body} {body} \"{request}\" \"{agent}\" {} {tls}",
            "{start} {} {client:port} {} {} {wait:s} {} {status} {} {request_body} {body} \"{request}\"",
        ]),
    ),
    &row(
        "s3",
        Some("Amazon S3"),
        Shape::Text(&[
            "{} {} [{start}] {client} {} {} {} {} \"{request}\" {status} {} {body} {} {elapsed:ms} {first_byte:ms} \"{}\" \"{agent}\" {} {} \
             {} {} {} {host} {tls}",
            "{} {} [{start}] {client} {} {} {} {} \"{request}\" {status} {} {body} {} {elapsed:ms} {first_byte:ms} \"{}\"",
            // What follows from a request of another line, such as a batch delete, has none of its own, and no quotes.
            "{} {} [{start}] {client} {} {} {} {} {request} {status} {} {body}",
        ]),
    ),
    &row(
        "envoy",
        Some("Envoy"),
        Shape::Text(&[
            "[{start}] \"{request}\" {status} {} {request_body} {body} {elapsed:ms} {wait:ms} \"{forwarded}\" \"{agent}\" \"{}\" \"{host}\" \
             \"{}\"",
            // Istio has three fields more behind the flags (two before version 1.9), and the servers behind.
            "[{start}] \"{request}\" {status} {} {} {} \"{}\" {request_body} {body} {elapsed:ms} {wait:ms} \"{forwarded}\" \
             \"{agent}\" \"{request_id}\" \"{host}\" \"{}\" {cluster} ",
            "[{start}] \"{request}\" {status} {} \"{}\" \"{}\" {request_body} {body} {elapsed:ms} {wait:ms} \"{forwarded}\" \
             \"{agent}\" \"{request_id}\" \"{host}\" \"{}\" {cluster} ",
            "[{start}] \"{request}\" {status} {} {} {} \"{}\" {request_body} {body} {elapsed:ms} {wait:ms} \"{forwarded}\" \
             \"{agent}\" \"{}\" \"{host}\" \"{}\"",
        ]),
    ),
    &row(
        "traefik",
        Some("Traefik"),
        Shape::Text(&[
            "{client} - {} [{start}] \"{request}\" {status} {body} \"{}\" \"{agent}\" {} \"{}\" \"{}\" {elapsed:ms}ms",
        ]),
    ),
    &row(
        "traefik-json",
        Some("Traefik"),
        Shape::JsonOnly(&[
            ("StartUTC", Field::Start),
            ("StartLocal", Field::Start),
            ("time", Field::End),
            ("Duration", Field::Elapsed(Unit::Nanos)),
            ("OriginDuration", Field::Server(Unit::Nanos)),
            ("ClientHost", Field::Client),
            ("RequestHost", Field::Host),
            ("RequestMethod", Field::Method),
            ("RequestPath", Field::Url),
            ("RequestProtocol", Field::Protocol),
            ("RequestScheme", Field::Scheme),
            ("RequestContentSize", Field::SentBody),
            ("DownstreamStatus", Field::Status),
            ("DownstreamContentSize", Field::Body),
            ("TLSVersion", Field::Tls),
            ("downstream_Cache-Control", Field::CacheControl),
            ("downstream_Set-Cookie", Field::SetCookie),
            ("request_Cookie", Field::Cookie),
            ("request_X-Forwarded-For", Field::Forwarded),
            ("request_User-Agent", Field::Agent),
        ]),
    ),
    &row(
        "cloudflare",
        Some("Cloudflare"),
        Shape::JsonOnly(&[
            ("EdgeStartTimestamp", Field::Start),
            ("EdgeEndTimestamp", Field::End),
            ("EdgeTimeToFirstByteMs", Field::FirstByte(Unit::Millis)),
            ("OriginResponseDurationMs", Field::Server(Unit::Millis)),
            ("OriginResponseHeaderReceiveDurationMs", Field::ServerHeader(Unit::Millis)),
            ("ClientIP", Field::Client),
            ("ClientRequestHost", Field::Host),
            ("ClientRequestMethod", Field::Method),
            ("ClientRequestURI", Field::Url),
            ("ClientRequestPath", Field::Path),
            ("ClientRequestProtocol", Field::Protocol),
            ("ClientRequestScheme", Field::Scheme),
            ("ClientRequestBytes", Field::Sent),
            ("EdgeResponseStatus", Field::Status),
            ("EdgeResponseBytes", Field::Total),
            ("ResponseHeaders.cache-control", Field::CacheControl),
            ("ResponseHeaders.set-cookie", Field::SetCookie),
            ("ClientRequestUserAgent", Field::Agent),
            ("ClientRequestSource", Field::Source),
            ("ParentRayID", Field::Parent),
            ("WorkerSubrequest", Field::Inner),
            ("CacheCacheStatus", Field::EdgeResult),
        ]),
    ),
    &row(
        "gcp",
        Some("Google Cloud load balancer"),
        Shape::JsonOnly(&[
            ("timestamp", Field::Start),
            ("httpRequest.latency", Field::Elapsed(Unit::Seconds)),
            ("httpRequest.remoteIp", Field::Client),
            ("httpRequest.requestMethod", Field::Method),
            ("httpRequest.requestUrl", Field::Url),
            ("httpRequest.protocol", Field::Protocol),
            ("httpRequest.requestSize", Field::Sent),
            ("httpRequest.status", Field::Status),
            ("httpRequest.responseSize", Field::Total),
            ("httpRequest.userAgent", Field::Agent),
            ("httpRequest.cacheLookup", Field::EdgeIs("MISS")),
            ("httpRequest.cacheHit", Field::EdgeIs("HIT")),
            ("httpRequest.cacheValidatedWithOriginServer", Field::EdgeIs("REVALIDATED")),
            ("jsonPayload.statusDetails", Field::Details),
        ]),
    ),
    &row(
        "azure",
        Some("Azure Front Door or Application Gateway"),
        Shape::JsonOnly(&[
            ("time", Field::End),
            ("timeStamp", Field::End),
            ("properties.timeTaken", Field::Elapsed(Unit::SecondsOrMillis)),
            ("properties.timeToFirstByte", Field::FirstByte(Unit::Seconds)),
            ("properties.serverResponseLatency", Field::Server(Unit::Seconds)),
            ("properties.clientIp", Field::Client),
            ("properties.clientIP", Field::Client),
            ("properties.originalHost", Field::Host),
            ("properties.hostName", Field::Host),
            ("properties.host", Field::Host),
            ("properties.httpMethod", Field::Method),
            ("properties.requestUri", Field::Url),
            ("properties.httpVersion", Field::Protocol),
            ("properties.requestProtocol", Field::Scheme),
            ("properties.securityProtocol", Field::Tls),
            ("properties.sslEnabled", Field::Tls),
            ("properties.requestBytes", Field::Sent),
            ("properties.receivedBytes", Field::Sent),
            ("properties.httpStatusCode", Field::Status),
            ("properties.httpStatus", Field::Status),
            ("properties.responseBytes", Field::Total),
            ("properties.sentBytes", Field::Total),
            ("properties.userAgent", Field::Agent),
            ("properties.isReceivedFromClient", Field::Edge),
            // Of Front Door, and of Application Gateway v2.
            ("properties.trackingReference", Field::InSeconds),
            ("properties.transactionId", Field::InSeconds),
            ("properties.serverRouted", Field::InSeconds),
            ("properties.serverStatus", Field::InSeconds),
            ("properties.serverResponseLatency", Field::InSeconds),
            ("properties.originalRequestUriWithArgs", Field::InSeconds),
            ("properties.WAFEvaluationTime", Field::InSeconds),
            ("properties.cacheStatus", Field::EdgeResult),
        ]),
    ),
    &row(
        "akamai",
        Some("Akamai"),
        Shape::JsonOnly(&[
            ("reqTimeSec", Field::Start),
            ("turnAroundTimeMSec", Field::ServerHeader(Unit::Millis)),
            ("cliIP", Field::Client),
            ("reqHost", Field::Host),
            ("reqMethod", Field::Method),
            ("reqPath", Field::Path),
            ("queryStr", Field::Query),
            ("proto", Field::Scheme),
            ("proto", Field::Protocol),
            ("tlsVersion", Field::Tls),
            ("xForwardedFor", Field::Forwarded),
            ("cookie", Field::Cookie),
            ("statusCode", Field::Status),
            // `totalBytes` counts headers of TCP and IP as well.
            ("bytes", Field::Body),
            ("UA", Field::Agent),
            // 1 of an edge that asks another one, 2 of a parent.
            ("isMidgress", Field::Inner),
            ("cacheStatus", Field::EdgeIs("HIT")),
        ]),
    ),
    &row(
        "fastly",
        Some("Fastly"),
        Shape::JsonOnly(&[
            ("timestamp", Field::Start),
            ("client_ip", Field::Client),
            ("host", Field::Host),
            ("request_method", Field::Method),
            ("url", Field::Url),
            ("request_protocol", Field::Protocol),
            ("response_status", Field::Status),
            ("response_body_size", Field::Body),
            ("request_user_agent", Field::Agent),
            ("fastly_is_edge", Field::Edge),
            ("is_edge", Field::Edge),
            ("is_shield", Field::Inner),
            ("fastly_is_shield", Field::Inner),
            ("response_state", Field::EdgeResult),
            ("cache_status", Field::EdgeResult),
        ]),
    ),
    &row("fastly-timing", Some("Fastly"), Shape::JsonWith("time_elapsed", FASTLY_TIMING_KEYS)),
    &row("envoy-json", Some("Envoy"), Shape::JsonWith("response_flags", ENVOY_KEYS)),
    &row("minio", Some("MinIO"), Shape::JsonWith("api.name", MINIO_KEYS)),
    &row("minio-trace", Some("MinIO"), Shape::JsonWith("callStats", MINIO_TRACE_KEYS)),
    &row("echo", Some("echo"), Shape::JsonWith("latency_human", ECHO_KEYS)),
    &row("cloudfront-json", Some("CloudFront"), Shape::JsonOnly(CLOUDFRONT_KEYS)),
    JSON_LINES,
    W3C,
    VHOST_COMBINED,
    CLF,
    &alias("combined", None, COMMON),
    &alias("apache", Some("Apache"), COMMON),
    &alias("nginx", Some("nginx"), COMMON),
    &alias("varnish", Some("Varnish"), COMMON),
    &alias("lighttpd", Some("lighttpd"), Shape::Text(&["%h %V %u %t \"%r\" %>s %b"])),
    &alias("caddy", Some("Caddy"), Shape::JsonOnly(JSON)),
    &alias("iis", Some("IIS"), Shape::Columns("")),
    &alias("cloudfront", Some("CloudFront"), Shape::Columns(CLOUDFRONT)),
];
