//! Presets: programs that speak HTTP/2, by the credits that they give and grant, and the frames that they send.
//!
//! Models each with its defaults, by its source or its documentation. Leaves out HAProxy, which shares buffers among
//! its streams, grants for messages larger than gRPC's credit, and buffers between the legs of a proxy. The client's
//! credits and the server's frames limit a download.
//!
//! Source: each preset's line, read in November 2026.

use serde::{Deserialize, Serialize};

use crate::http::credit::{GrantRule, ShareOf, Window};
use crate::units::Duration;

use super::endpoint::{Config, Role};
use super::hpack::BlockBytes;
use super::receiver::{Counts, Credit, RaiseAt};
use super::sender::Schedule;
use super::settings::Settings;
use super::tuning::{CREDIT_MAX, Tuning, TuningRule};

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// 65535 B for each stream and for the connection, returned at half; frames of 16384 B in turn (RFC 9113, section 6.5.2).
    #[default]
    RfcDefault,
    /// nghttp2 1.52, with nghttp, nghttpd and the clients' side of nghttpx: as rfc-default, 100 streams (`nghttp2_helper.c`).
    Nghttp2,
    /// nginx 1.22: frames of 8192 B, one response after another; without TLS small segments wait, as sendfile has them
    /// (`ngx_http_v2_filter_module.c`, `ngx_linux_sendfile_chain.c`); uploads 65536 B, then 2^31 - 1 B, as with
    /// `proxy_request_buffering on`.
    Nginx,
    /// nginx with `proxy_request_buffering off`: uploads keep 65536 B, `http2_body_preread_size` (`ngx_http_v2.c`).
    NginxUnbuffered,
    /// Apache Traffic Server 9, window policy 0: 65535 B, granted below 16384 B (`Http2ConnectionState.cc`).
    Ats,
    /// Chrome: 6 MiB a stream, 15 MiB a connection, granted above half or 5 s after the last grant; frames of 16375 B
    /// (`net/spdy/spdy_session.h`, `spdy_session.cc`).
    Chrome,
    /// Firefox: 131072 B a stream, raised to 12 MiB behind the request; 12 MiB a connection; granted from 4 MiB on, or where 96 KiB
    /// are left (`Http2Session.cpp`, `network.http.http2.pull-allowance`).
    Firefox,
    /// curl 8: 65536 B a stream, raised to 10 MiB with the response's header; 1000 MiB a connection (`lib/http2.c`).
    #[serde(rename = "curl-8")]
    Curl8,
    /// Go's net/http2: whole frames, granted from 4096 B on; client 4 MiB and 1 GiB, server 1 MiB and 250 streams, one response
    /// after another (`flow.go`, `transport.go`, `server.go`).
    Go,
    /// hyper 1 with h2 0.4: whole frames, granted at half of the rest; client 2 MiB and 5 MiB, server 1 MiB and 200
    /// streams (`proto/h2`, `flow_control.rs`).
    Hyper,
    /// hyper with an adaptive window: 65535 B both, which grow with the measured path to 16 MiB (`proto/h2/ping.rs`).
    HyperAdaptive,
    /// gRPC for Go: whole frames, granted at a quarter of 65535 B, which grow with the measured path to 16 MiB
    /// (`internal/transport/bdp_estimator.go`, `flowcontrol.go`).
    Grpc,
    /// .NET: whole frames, granted at an eighth; client 65535 B a stream, which grow with the measured path to 16 MiB, and 64 MiB a
    /// connection (`Http2StreamWindowManager.cs`); server Kestrel, 768 KiB and 1 MiB, granted at half, 100 streams (`Http2Limits.cs`).
    Dotnet,
    /// Jetty 12: granted above half; client 8 MiB and 16 MiB, server 512 KiB and 1 MiB, 128 streams.
    Jetty,
    /// Node from July 2026: 4 MiB and 32 MiB (nodejs/node#64623).
    #[serde(rename = "node-2026")]
    Node2026,
    /// Envoy 1.36: 16 MiB and 24 MiB, 1024 streams (`changelogs/1.36.0.yaml`).
    #[serde(rename = "envoy-2026")]
    Envoy2026,
}

const MIB: u64 = 1 << 20;

/// nghttp2, `NGHTTP2_DATA_PAYLOADLEN`.
const FRAGMENT: u64 = 16_384;

/// Header blocks of requests and of responses. Chosen: the middle of the range that browsers' and servers' fields have (RFC 7541,
/// appendix C, for the coding).
const REQUEST_BLOCKS: BlockBytes = BlockBytes { first: 120, repeat: 40 };
const RESPONSE_BLOCKS: BlockBytes = BlockBytes { first: 150, repeat: 70 };

impl Preset {
    /// The program, and where its settings stand.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::RfcDefault => "RFC 9113, section 6.5.2",
            Self::Nghttp2 => "nghttp2 1.52, nghttp2_helper.c",
            Self::Nginx => "nginx 1.22, uploads buffered, ngx_http_v2.c",
            Self::NginxUnbuffered => "nginx 1.22, uploads unbuffered, ngx_http_v2.c",
            Self::Ats => "Apache Traffic Server 9, Http2ConnectionState.cc",
            Self::Chrome => "Chrome, net/spdy/spdy_session.h",
            Self::Firefox => "Firefox, Http2Session.cpp",
            Self::Curl8 => "curl 8, lib/http2.c",
            Self::Go => "Go's net/http2, transport.go and server.go",
            Self::Hyper => "hyper 1 with h2 0.4, proto/h2",
            Self::HyperAdaptive => "hyper with an adaptive window, proto/h2/ping.rs",
            Self::Grpc => "gRPC for Go, internal/transport",
            Self::Dotnet => ".NET, Http2StreamWindowManager.cs and Http2Limits.cs",
            Self::Jetty => "Jetty 12",
            Self::Node2026 => "Node from July 2026, nodejs/node#64623",
            Self::Envoy2026 => "Envoy 1.36, changelogs/1.36.0.yaml",
        }
    }

    /// An end that does as the program does.
    #[must_use]
    pub const fn config(self, role: Role) -> Config {
        let blocks = match role {
            Role::Client => REQUEST_BLOCKS,
            Role::Server => RESPONSE_BLOCKS,
        };
        Config {
            credit: self.credit(role),
            max_streams: self.max_streams(role),
            max_frame: match (self, role) {
                (Self::Nginx | Self::NginxUnbuffered, Role::Server) => (1 << 24) - 1,
                _ => Settings::DEFAULT.max_frame,
            },
            fragment: match self {
                Self::Nginx | Self::NginxUnbuffered => 8192,
                Self::Chrome => FRAGMENT - 9,
                _ => FRAGMENT,
            },
            schedule: match self {
                Self::Nginx | Self::NginxUnbuffered | Self::Curl8 => Schedule::InOrder,
                Self::Chrome | Self::Go => Schedule::Urgency,
                _ => Schedule::RoundRobin,
            },
            blocks,
        }
    }

    /// True when small segments wait for nothing (`TCP_NODELAY`).
    #[must_use]
    pub const fn is_nodelay(self, role: Role, has_tls: bool) -> bool {
        !(self.is_nginx() && matches!(role, Role::Server)) || has_tls
    }

    /// True when a server sends its settings when it accepts a connection, and not only when it reads the first bytes of the client:
    /// nginx without TLS looks at a connection no sooner (`ngx_http_init_connection()`, `ngx_http_v2_init()`).
    #[must_use]
    pub const fn speaks_first(self, has_tls: bool) -> bool {
        !self.is_nginx() || has_tls
    }

    /// True when a header block is written by itself, before the data: nginx hands them to different system calls
    /// (`ngx_http_v2_filter_send()` after each).
    #[must_use]
    pub const fn writes_heads_apart(self, role: Role) -> bool {
        self.is_nginx() && matches!(role, Role::Server)
    }

    const fn is_nginx(self) -> bool {
        matches!(self, Self::Nginx | Self::NginxUnbuffered)
    }

    const fn credit(self, role: Role) -> Credit {
        let eighth = GrantRule::Share { of: ShareOf::Initial, millionths: 125_000, strict: false };
        let quarter = GrantRule::Share { of: ShareOf::Initial, millionths: 250_000, strict: false };
        let far_apart = GrantRule::BytesOrBelow { bytes: 4 * MIB, below: 96 << 10 };
        let above_half = GrantRule::Share { of: ShareOf::Initial, millionths: 500_000, strict: true };
        let half_of_rest = GrantRule::Share { of: ShareOf::Remaining, millionths: 500_000, strict: false };
        let half = GrantRule::HALF;
        let is_client = matches!(role, Role::Client);
        let (stream, connection, rule) = match self {
            Self::RfcDefault | Self::Nghttp2 => (65_535, 65_535, half),
            Self::Nginx | Self::NginxUnbuffered => (65_536, Window::MAX, GrantRule::Below(Window::MAX / 4)),
            Self::Ats => (65_535, 65_535, GrantRule::Below(16_384)),
            Self::Chrome => (6 * MIB, 15 * MIB, above_half),
            Self::Curl8 => (65_536, 1000 * MIB, half),
            Self::Go if is_client => (4 * MIB, 1024 * MIB + 65_535, GrantRule::Bytes(4096)),
            Self::Go => (MIB, MIB, GrantRule::Bytes(4096)),
            Self::Hyper if is_client => (2 * MIB, 5 * MIB, half_of_rest),
            Self::Hyper => (MIB, MIB, half_of_rest),
            Self::HyperAdaptive => (65_535, 65_535, half_of_rest),
            Self::Firefox => (131_072, 12 * MIB, far_apart),
            Self::Grpc => (65_535, 65_535, quarter),
            Self::Dotnet if is_client => (65_535, 64 * MIB, eighth),
            Self::Dotnet => (768 << 10, MIB, half),
            Self::Jetty if is_client => (8 * MIB, 16 * MIB, above_half),
            Self::Jetty => (MIB / 2, MIB, above_half),
            Self::Node2026 => (4 * MIB, 32 * MIB, half),
            Self::Envoy2026 => (16 * MIB, 24 * MIB, half),
        };
        let raised = match self {
            Self::Nginx => Some((Window::MAX, RaiseAt::FirstData)),
            Self::Curl8 => Some((10 * MIB, RaiseAt::Headers)),
            Self::Firefox => Some((12 * MIB, RaiseAt::Request)),
            _ => None,
        };
        let is_h2 = matches!(self, Self::Hyper | Self::HyperAdaptive);
        let counts = match self {
            Self::Go | Self::Grpc | Self::Dotnet => Counts::Frames,
            _ if is_h2 => Counts::Frames,
            _ => Counts::Bytes,
        };
        let timer = match self {
            Self::Chrome => Some(Duration::from_secs(5)),
            _ => None,
        };
        let grows = match self {
            Self::HyperAdaptive => Some(TuningRule::BdpHyper),
            Self::Grpc => Some(TuningRule::BdpGrpc),
            Self::Dotnet if is_client => Some(TuningRule::DrainEighth),
            _ => None,
        };
        let tuning = match grows {
            Some(rule) => Some(Tuning { rule, max: CREDIT_MAX }),
            None => None,
        };
        Credit { stream, raised, connection, rule, timer, counts, on_arrival: is_h2, tuning }
    }

    const fn max_streams(self, role: Role) -> Option<u32> {
        match (self, role) {
            (Self::Nghttp2 | Self::Ats, _) => Some(100),
            (Self::Dotnet, Role::Server) => Some(100),
            (Self::Nginx | Self::NginxUnbuffered | Self::Jetty, Role::Server) => Some(128),
            (Self::Go, Role::Server) => Some(250),
            (Self::Hyper | Self::HyperAdaptive, Role::Server) => Some(200),
            (Self::Envoy2026, _) => Some(1024),
            _ => None,
        }
    }
}
