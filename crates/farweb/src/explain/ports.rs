//! Source ports: how many connections one host can open to one server in a second.
//!
//! The end that closes a connection first keeps its port for a minute (TIME-WAIT). If that is the client end, and one host
//! opens all connections, as a proxy does, its ports towards a server are a limit. Beyond it `connect` fails. The simulation
//! has no ports: the limit is stated, and checked against the requests.
//!
//! Left out: connections that are used again, ports of those that are open, several addresses of a server or a proxy, and
//! `tcp_tw_reuse` of Linux, which takes a port again after a second where both ends have timestamps.
//!
//! Sources: Linux 6.18, `ip_local_port_range` (32768 to 60999) and `TCP_TIMEWAIT_LEN` (60 s); RFC 9293, section 3.4.2.

use crate::scenario::{Carrier, ClientShare, ClosedBy, Leg, Scenario};

/// Ports of a Linux host towards one address and port.
const PORTS: u32 = 60_999 - 32_768 + 1;

/// Seconds that the end that closed first keeps a port.
const TIME_WAIT_S: u32 = 60;

/// Most connections a second that the client end of `leg`, the `index`-th, can open to one server. None if ports do not limit
/// it.
pub(super) fn opens_per_s_max(index: usize, leg: &Leg, scenario: &Scenario) -> Option<f64> {
    let is_one_host = index > 0 || scenario.clients.share == ClientShare::All;
    let closes = matches!(leg.carrier, Carrier::Http10 { closed_by: ClosedBy::Client, .. });
    (is_one_host && closes).then(|| f64::from(PORTS) / f64::from(TIME_WAIT_S))
}

/// The limit in words.
pub(super) fn text(opens_per_s: f64) -> String {
    format!("{PORTS} to a server, {TIME_WAIT_S} s each: {opens_per_s:.0} connections a second")
}
