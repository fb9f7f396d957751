//! A request of a page as recorded: the normal form of an entry, whatever program wrote it.

/// Bytes of a header that a file does not give: the median of open HARs.
pub(super) const REQUEST_HEADER_BYTES: u64 = 500;
/// As [`REQUEST_HEADER_BYTES`], of a response.
pub(super) const RESPONSE_HEADER_BYTES: u64 = 400;

/// What a response is, by its media type, else by the end of its URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Kind {
    Html,
    Css,
    Script,
    Font,
    Image,
    Json,
    Xml,
    /// A question of CORS, before the request that it is for.
    Preflight,
    /// A ping or beacon, which no page waits for.
    Beacon,
    Other,
}

impl Kind {
    /// The word that tables have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Css => "css",
            Self::Script => "script",
            Self::Font => "font",
            Self::Image => "image",
            Self::Json => "json",
            Self::Xml => "xml",
            Self::Preflight => "preflight",
            Self::Beacon => "beacon",
            Self::Other => "other",
        }
    }
}

/// The version of HTTP that a request rode. SPDY counts as HTTP/2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their names say it")]
pub enum Protocol {
    H1,
    H2,
    H3,
}

impl Protocol {
    /// The word that tables and options have for it: `h1`, `h2` or `h3`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::H1 => "h1",
            Self::H2 => "h2",
            Self::H3 => "h3",
        }
    }
}

/// A request as recorded. Times are in ms since the page began.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// URL.
    pub name: String,
    /// Host of it, in small letters, with its port where it has one.
    pub host: String,
    /// What its response is.
    pub kind: Kind,
    /// HTTP method, in capitals.
    pub method: String,
    /// Status of the response, 0 or below without one.
    pub status: i64,
    /// Version of HTTP.
    pub protocol: Protocol,
    /// True for https.
    pub is_secure: bool,
    /// When the browser wanted it.
    pub issue_ms: f64,
    /// How long the browser then held it back, connections apart.
    pub queued_ms: f64,
    /// When its first byte left.
    pub send_ms: f64,
    /// First byte of the response.
    pub first_ms: f64,
    /// Last byte of it.
    pub end_ms: f64,
    /// TCP handshake, 0 without one.
    pub tcp_ms: f64,
    /// TLS handshake, 0 without one.
    pub tls_ms: f64,
    /// Id of the connection, empty where unknown.
    pub connection: String,
    /// True for the first request of its connection.
    pub is_new: bool,
    /// Header and body.
    pub request_bytes: u64,
    /// Header and body as they were on the wire, at least 1.
    pub response_bytes: u64,
    /// Target of a redirect, or empty.
    pub redirect: String,
    /// URL of the request that caused it, empty where unknown.
    pub initiator: String,
    /// `parser`, `script` or another word of the exporter, or empty.
    pub initiator_type: String,
    /// True for a fetch of a service worker that no request of the page waits for.
    pub is_ahead: bool,
    /// True for a response that the server pushed.
    pub is_pushed: bool,
    /// False where the file has no size of the response.
    pub is_sized: bool,
    /// True where its size is of the unpacked content, and it may have crossed packed.
    pub is_unpacked: bool,
    /// What farweb's own files say beside, `None` in others.
    pub stated: Option<Stated>,
}

/// What farweb's own files say of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated {
    /// Requests that it waited for, as tables of pages name them: `0@end`, `0@18240`.
    pub parents: String,
    /// How that is known.
    pub dependency: String,
    /// Time of the server, in ms.
    pub server_ms: f64,
}

impl Sent {
    /// From its sending to the first byte of the response, in ms.
    #[must_use]
    pub fn wait_ms(&self) -> f64 {
        self.first_ms - self.send_ms
    }

    /// Counts its times from `ms` earlier, and from 0 at least.
    pub(super) fn shift(&mut self, ms: f64) {
        for time in [&mut self.issue_ms, &mut self.send_ms, &mut self.first_ms, &mut self.end_ms] {
            *time = at_least_0(*time + ms);
        }
    }
}

/// `value`, or 0 where it is less. Never -0, which sorts before 0.
pub(super) fn at_least_0(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.0 }
}
