//! Meanings of the fields of a line.

use super::spans::Unit;

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
