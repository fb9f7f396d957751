//! Treatment of a logged request by a shared cache, by the rules of RFC 9111 as far as the log has the fields.
//!
//! A response is stored when nothing forbids it and its status allows it without more (RFC 9110, section 15.1), or `Cache-Control`
//! says for how long it is fresh. One that must be revalidated before each use (`no-cache`, `max-age=0`) is taken as one that is
//! not stored: the bytes that its revalidations save are left out. Queries and cookies forbid nothing in RFC 9111; many caches
//! pass such requests by, which [`Bypass`] asks for.
//!
//! A response that was given up is not stored: how many bytes were missing, and whether a cache would fetch them (Squid's
//! `quick_abort_min`, nginx for `proxy_cache`), a log does not tell.
//!
//! Leaves out `Vary`, `Pragma`, `Expires`, and the request's `Cache-Control`, absent from logs.
//!
//! Source: RFC 9111, sections 3, 3.3, 3.5, 4.4 and 5.2; RFC 9110, section 15.1.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Serialize;

use super::Entry;
use super::facts::Part;
use super::layout::Layout;
use super::options::one_of;
use super::record::{Record, Text};
use super::rules::is_given_up;
use crate::workload::{Caching, Method, WorkloadError};

/// Least share of requests of a user that is one for all. Chosen: a log-in for some pages names no user on others.
const SHARED_PERCENT: usize = 99;

/// Requests that caches pass by although RFC 9111 lets them store the responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bypass {
    /// Requests with a response that sets a cookie.
    pub set_cookie: bool,
    /// Requests with a cookie.
    pub cookie: bool,
    /// Requests with a query, `cgi-bin` or `.cgi` in the URL.
    pub query: bool,
}

/// Rule that decides about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Nothing forbids to store its response.
    Storable,
    /// A method that changes something.
    UnsafeMethod,
    /// Such a method, answered by an error: nothing has changed.
    UnsafeMethodFailed,
    /// A safe method without a storable response: OPTIONS, TRACE, PROPFIND.
    MethodWithoutCopy,
    /// A tunnel of a proxy.
    Tunnel,
    /// A connection that goes on with another protocol, as a WebSocket.
    Upgrade,
    /// `HEAD`: a copy serves it.
    Head,
    /// 206: a whole copy serves it.
    Partial,
    /// 304: the client has a copy.
    NotModified,
    /// Given up before its end: a whole copy serves it, and its bytes are not the size of its object.
    GivenUp,
    /// A status with responses that are stored only if `Cache-Control` says for how long.
    Status,
    /// `no-store`.
    NoStore,
    /// `private`: for the caches of browsers.
    Private,
    /// To be revalidated before each use.
    NoCache,
    /// The client named a user, and the response is not marked as one for all.
    Authorized,
    /// The response sets a cookie.
    SetCookie,
    /// The request carries a cookie.
    Cookie,
    /// A page that is made for each request.
    Query,
}

/// Requests of a table by the rule that decided about them, and reasons against storing that no rule follows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CachingReport {
    /// Requests and the bytes of their responses, by rule.
    pub caching: BTreeMap<Rule, Part>,
    /// Requests that are taken as storable although they have a query, carry a cookie or are answered by one.
    pub storable_with: BTreeMap<&'static str, u64>,
    /// True if the log has `Cache-Control` of responses.
    pub has_cache_control: bool,
    /// Requests that are answered by an error (4xx, 5xx), whatever a cache does with it.
    pub errors: Part,
}

impl Rule {
    /// Treatment that follows from it.
    pub const fn caching(self) -> Caching {
        match self {
            Self::Storable => Caching::Store,
            Self::UnsafeMethod => Caching::Invalidate,
            Self::Head | Self::Partial | Self::NotModified | Self::GivenUp | Self::Status => Caching::Serve,
            Self::UnsafeMethodFailed
            | Self::MethodWithoutCopy
            | Self::Tunnel
            | Self::Upgrade
            | Self::NoStore
            | Self::Private
            | Self::NoCache
            | Self::Authorized
            | Self::SetCookie
            | Self::Cookie
            | Self::Query => Caching::Bypass,
        }
    }

    /// The rule for a request; the first one that applies, method before response.
    pub(super) fn of(record: &Record<'_>, method: Method, is_dynamic: bool, bypass: Bypass) -> Self {
        let status = record.status.unwrap_or(200);
        let control = Control::of(record.cache_control.as_deref().unwrap_or_default());
        match method.caching() {
            _ if method == Method::Connect => Self::Tunnel,
            Caching::Invalidate if status >= 400 => Self::UnsafeMethodFailed,
            Caching::Invalidate => Self::UnsafeMethod,
            Caching::Bypass => Self::MethodWithoutCopy,
            _ if control.no_store => Self::NoStore,
            _ if control.private => Self::Private,
            _ if control.no_cache => Self::NoCache,
            // A proxy's log has the users of the proxy, who are no matter of the server.
            _ if is_named(&record.user) && record.code.is_none() && !control.public => Self::Authorized,
            _ if bypass.set_cookie && is_named(&record.set_cookie) => Self::SetCookie,
            _ if bypass.cookie && is_named(&record.cookie) => Self::Cookie,
            _ if bypass.query && is_dynamic => Self::Query,
            Caching::Serve => Self::Head,
            Caching::Store if status == 206 => Self::Partial,
            Caching::Store if status == 304 => Self::NotModified,
            Caching::Store if is_given_up(record) => Self::GivenUp,
            Caching::Store if !control.is_explicit && !is_heuristic(status) => Self::Status,
            Caching::Store => Self::Storable,
        }
    }
}

/// The user whom nearly all requests at the `head` of a log name, if there is one: that is a fixed log-in of a proxy before a page
/// for all, and no user's own.
pub(super) fn shared_user(layout: &Layout, head: &[u8]) -> Option<Box<[u8]>> {
    let mut users = Vec::new();
    layout.each_of(head, |record| {
        // Asked for a log-in, a browser repeats its request with one. The users of Squid's codes are its own.
        if record.status != Some(401) && record.code.is_none() {
            users.push(record.user.map(Text::into_owned));
        }
    });
    let user = users.iter().flatten().next()?;
    let same = users.iter().filter(|each| each.as_ref() == Some(user)).count();
    (users.len() > 1 && same * 100 >= users.len() * SHARED_PERCENT).then(|| user.as_slice().into())
}

/// True if a line has a value for a field.
fn is_named(text: &Option<Text<'_>>) -> bool {
    text.as_deref().is_some_and(|text| !text.is_empty())
}

/// Statuses of responses that may be stored without an explicit time (RFC 9110, section 15.1; 206 is [`Rule::Partial`]).
const fn is_heuristic(status: u64) -> bool {
    matches!(status, 200 | 203 | 204 | 300 | 301 | 308 | 404 | 405 | 410 | 414 | 501)
}

/// Directives of a response's `Cache-Control` that matter to a shared cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Control {
    no_store: bool,
    private: bool,
    no_cache: bool,
    /// May be stored although the request was authorized.
    public: bool,
    /// Says for how long it is fresh.
    is_explicit: bool,
}

impl Control {
    fn of(text: &[u8]) -> Self {
        let mut found = Self::default();
        let (mut age, mut shared_age) = (None, None);
        for directive in text.split(|byte| *byte == b',') {
            let mut parts = directive.splitn(2, |byte| *byte == b'=');
            let [name, value] = [parts.next(), parts.next()]
                .map(|part| part.unwrap_or_default().trim_ascii().to_ascii_lowercase());
            let seconds = || std::str::from_utf8(&value).ok()?.trim_matches('"').parse::<u64>().ok();
            match name.as_slice() {
                b"no-store" => found.no_store = true,
                b"private" => found.private = true,
                b"no-cache" => found.no_cache = true,
                b"public" | b"must-revalidate" => found.public = true,
                b"max-age" => age = seconds(),
                b"s-maxage" => {
                    shared_age = seconds();
                    found.public = true;
                }
                _ => {}
            }
        }
        let age = shared_age.or(age);
        found.no_cache |= age == Some(0);
        found.is_explicit = age.is_some() || found.public;
        found
    }
}

impl CachingReport {
    pub(super) fn add(&mut self, record: &Record<'_>, entry: &Entry) {
        self.caching.entry(entry.rule).or_default().add(entry.response_bytes);
        self.has_cache_control |= record.cache_control.is_some();
        if record.status.is_some_and(|status| status >= 400) {
            self.errors.add(entry.response_bytes);
        }
        if entry.rule != Rule::Storable {
            return;
        }
        let with = [
            ("set-cookie", is_named(&record.set_cookie)),
            ("cookie", is_named(&record.cookie)),
            ("query", entry.is_dynamic),
        ];
        for (name, has) in with {
            *self.storable_with.entry(name).or_default() += u64::from(has);
        }
    }
}

impl FromStr for Bypass {
    type Err = WorkloadError;

    /// `set-cookie`, `cookie` and `query`, separated by commas, or nothing.
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        let mut bypass = Self::default();
        let names = [("set-cookie", 0), ("cookie", 1), ("query", 2)];
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match one_of("bypass", word, &names)? {
                0 => bypass.set_cookie = true,
                1 => bypass.cookie = true,
                _ => bypass.query = true,
            }
        }
        Ok(bypass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_in_any_case_and_with_blanks() {
        let of = |text: &str| Control::of(text.as_bytes());
        assert_eq!(of("No-Store"), Control { no_store: true, ..Control::default() });
        assert_eq!(
            of("public, max-age=60"),
            Control { public: true, is_explicit: true, ..Control::default() }
        );
        assert_eq!(
            of("max-age = \"0\""),
            Control { no_cache: true, is_explicit: true, ..Control::default() }
        );
        assert_eq!(
            of("s-maxage=10 ,max-age=0"),
            Control { public: true, is_explicit: true, ..Control::default() },
            "a shared cache goes by its own age"
        );
        assert_eq!(of("max-age=soon, stale-if-error=5"), Control::default());
    }

    #[test]
    fn the_words_of_bypass_are_a_list() {
        assert_eq!("".parse::<Bypass>().unwrap(), Bypass::default());
        let found = "query, set-cookie".parse::<Bypass>().unwrap();
        assert_eq!(found, Bypass { set_cookie: true, cookie: false, query: true });
        assert!("queries".parse::<Bypass>().unwrap_err().to_string().contains("set-cookie, cookie, query"));
    }
}
