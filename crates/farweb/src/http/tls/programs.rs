//! Programs by the records that they send at the start of a connection.
//!
//! Models sizes and counts. A program that sends in another way once it knows the window of its TCP (h2o over long
//! paths) is left out.
//!
//! Sources: Go 1.26, `crypto/tls/conn.go` (`maxPayloadSizeForWrite`); Cloudflare's patch of nginx for dynamic records
//! (`ssl_dyn_rec_size_lo`, `_hi`, `_threshold`, `_timeout`); h2o, `lib/common/socket.c`; Apache, `h2_c1_io.c` (same
//! numbers as nghttpx); nginx, `ngx_event_openssl.h` (`ssl_buffer_size`); BoringSSL, `ssl.h`
//! (`SSL_set_max_send_fragment`).

use std::fmt;
use std::str::FromStr;

use super::records::{Ramp, Small};
use crate::units::{Bytes, Duration, QuantityError, as_text};

/// Records at the start of a connection, as a scenario says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmallRecord {
    /// Of a size.
    Size(Bytes),
    /// As a program sends them.
    Of(Writer),
}

/// A program that puts bytes into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// `crypto/tls`: the nth record has n times what fits 1,208 B on the wire, until 128 KiB have gone.
    Go,
    /// nginx with Cloudflare's patch: 40 records of 1,369 B, 40 of 4,229 B, and again after a second.
    Cloudflare,
    /// 1,400 B until 64 KiB have gone, and again after a second.
    H2o,
    /// mod_http2 and nghttpx: 1,300 B until 1 MiB has gone, and again after a second.
    Apache,
    /// Full records from the first on.
    Nginx,
    /// Full records from the first on.
    BoringSsl,
}

impl SmallRecord {
    /// The size, where one is given.
    #[must_use]
    pub const fn size(self) -> Option<Bytes> {
        match self {
            Self::Size(size) => Some(size),
            Self::Of(_) => None,
        }
    }
}

impl Writer {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Go, Self::Cloudflare, Self::H2o, Self::Apache, Self::Nginx, Self::BoringSsl];

    const fn name(self) -> &'static str {
        match self {
            Self::Go => "go",
            Self::Cloudflare => "cloudflare",
            Self::H2o => "h2o",
            Self::Apache => "apache",
            Self::Nginx => "nginx",
            Self::BoringSsl => "boringssl",
        }
    }

    /// Its records at the start of a connection. None where they are full at once.
    #[must_use]
    pub const fn small(self) -> Option<Small> {
        const SECOND: Option<Duration> = Some(Duration::from_secs(1));
        let (ramp, after_pause) = match self {
            Self::Go => (Ramp::Growing { first: 1208, wire: 128 << 10 }, None),
            Self::Cloudflare => (Ramp::Steps { sizes: [1369, 4229], records: 40 }, SECOND),
            Self::H2o => (Ramp::Until { size: 1400, bytes: 64 << 10 }, SECOND),
            Self::Apache => (Ramp::Until { size: 1300, bytes: 1 << 20 }, SECOND),
            Self::Nginx | Self::BoringSsl => return None,
        };
        Some(Small { ramp, after_pause })
    }
}

impl FromStr for SmallRecord {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        match Writer::ALL.into_iter().find(|writer| writer.name() == text) {
            Some(writer) => Ok(Self::Of(writer)),
            None => text.parse().map(Self::Size),
        }
    }
}

impl fmt::Display for SmallRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(size) => write!(f, "{size}"),
            Self::Of(writer) => f.write_str(writer.name()),
        }
    }
}

as_text!(SmallRecord, "SmallRecord", {
    "type": "string",
    "format": <Bytes as crate::units::Quantity>::KIND,
    "x-words": Writer::ALL.map(Writer::name),
    "examples": ["1400 B", "go"]
});
