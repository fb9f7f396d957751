//! Method of a request, and its treatment by caches.
//!
//! Models a shared cache of RFC 9111: requests that a copy may serve, responses that it stores, requests that pass by or make it give
//! up a copy. A request table can say it for each request. Otherwise the method decides. Leaves out `Vary`, and every header
//! that no table has.
//!
//! Source: RFC 9110, sections 9.2.1 and 9.3 (safe methods, and which of their responses can be stored); RFC 9111, sections 3 and
//! 4.4.

use serde::{Deserialize, Serialize};

/// Method of a request. A closed list, since a client can send any word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    #[default]
    /// Asks for an object.
    Get,
    /// Asks for the header alone.
    Head,
    /// Sends a body that changes something.
    Post,
    /// Replaces an object.
    Put,
    /// Deletes one.
    Delete,
    /// Opens a tunnel.
    Connect,
    /// Asks for a server's abilities.
    Options,
    /// Asks for the request itself, as the server got it.
    Trace,
    /// Changes a part of an object.
    Patch,
    /// Asks for the properties of an object (RFC 4918).
    Propfind,
    /// Any other word.
    #[serde(rename = "other")]
    Other,
    /// The line of a log does not say.
    #[serde(rename = "unknown")]
    Unknown,
}

/// Treatment of a request by the caches that it reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caching {
    /// A fresh copy serves it. Without one, its response is stored.
    #[default]
    Store,
    /// A fresh copy serves it, with a response of the size in the table. Without one, it goes on and its response is not stored.
    Serve,
    /// It goes on, and its response is not stored.
    Bypass,
    /// It goes on, and copies of its object are given up once its response is whole.
    Invalidate,
}

impl Method {
    /// All of a request table, by their words.
    pub const WORDS: [(&str, Self); 11] = [
        ("GET", Self::Get),
        ("HEAD", Self::Head),
        ("POST", Self::Post),
        ("PUT", Self::Put),
        ("DELETE", Self::Delete),
        ("CONNECT", Self::Connect),
        ("OPTIONS", Self::Options),
        ("TRACE", Self::Trace),
        ("PATCH", Self::Patch),
        ("PROPFIND", Self::Propfind),
        ("other", Self::Other),
    ];

    /// The method of this word, in upper case as RFC 9110 has it.
    #[must_use]
    pub fn of(word: &[u8]) -> Self {
        let known = Self::WORDS.iter().find(|(name, _)| name.as_bytes() == word);
        known.map_or(Self::Other, |(_, method)| *method)
    }

    /// Its word, "GET" where it is not known.
    #[must_use]
    pub fn word(self) -> &'static str {
        let known = Self::WORDS.iter().find(|(_, method)| *method == self);
        known.map_or("GET", |(name, _)| *name)
    }

    /// Treatment of a request by its method alone: RFC 9111, section 4.4, counts unknown methods among those that
    /// change something.
    #[must_use]
    pub const fn caching(self) -> Caching {
        match self {
            Self::Get | Self::Unknown => Caching::Store,
            Self::Head => Caching::Serve,
            Self::Options | Self::Trace | Self::Connect | Self::Propfind => Caching::Bypass,
            Self::Post | Self::Put | Self::Delete | Self::Patch | Self::Other => Caching::Invalidate,
        }
    }
}

impl Caching {
    /// The words of a request table.
    pub const WORDS: [(&str, Self); 4] = [
        ("store", Self::Store),
        ("serve", Self::Serve),
        ("bypass", Self::Bypass),
        ("invalidate", Self::Invalidate),
    ];

    /// The treatment of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|(_, caching)| *caching)
    }

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// True if a copy may serve it.
    #[must_use]
    pub const fn may_be_served(self) -> bool {
        matches!(self, Self::Store | Self::Serve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for (name, caching) in Caching::WORDS {
            assert_eq!((Caching::of(name), caching.word()), (Some(caching), name));
        }
        for (name, method) in Method::WORDS {
            assert_eq!((Method::of(name.as_bytes()), method.word()), (method, name));
        }
        assert_eq!((Caching::of("Store"), Method::of(b"get")), (None, Method::Other));
    }

    #[test]
    fn safe_methods_leave_copies_as_they_are_and_others_do_not() {
        let of = |caching| {
            let those = Method::WORDS.iter().filter(|(_, method)| method.caching() == caching);
            those.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        assert_eq!(of(Caching::Store), ["GET"]);
        assert_eq!(of(Caching::Serve), ["HEAD"]);
        assert_eq!(of(Caching::Bypass), ["CONNECT", "OPTIONS", "TRACE", "PROPFIND"]);
        assert_eq!(of(Caching::Invalidate), ["POST", "PUT", "DELETE", "PATCH", "other"]);
        assert_eq!(Method::of(b"PURGE").caching(), Caching::Invalidate);
    }
}
