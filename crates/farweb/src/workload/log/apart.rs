//! Lines without a client's request, and second lines of one, by marks in the log, never by times or addresses alone.
//!
//! | line | mark |
//! |---|---|
//! | asked by another tier | Fastly's `fastly_is_edge` (its `fastly_is_shield` says which POP asked the origin, and counts without the former alone), Front Door's `isReceivedFromClient`, Cloudflare's `ClientRequestSource`, `ParentRayID` and `WorkerSubrequest`, Akamai's `isMidgress`, `%{Varnish:side}x` |
//! | the server's side of a call | Envoy's cluster is `inbound`, and another line has its request id, method and URL: [`calls`](super::calls) |
//! | a health check | the agent of a balancer or an orchestrator that checks its own servers |
//! | the server's own | Apache's internal dummy connection; a client on the loopback interface, where other clients are not |
//!
//! A monitor that asks from outside (`UptimeRobot`, Route 53) is a client: its requests cross the network. Squid's queries between caches
//! are told by their codes ([`squid`](super::squid)). A proxy in front on the same machine makes a client of the loopback interface of
//! every client; where at least half of the first lines have one, they stay, and so does any that names a client in `X-Forwarded-For`.
//!
//! Source: Cloudflare, "`ClientRequestSource` field"; Microsoft, "Monitor metrics and logs in Azure Front Door"; Fastly, "`vcl_log`",
//! shielding considerations; Akamai, `DataStream` 2, midgress traffic; varnishncsa(1); Istio, "Envoy Access Logs"; Apache, wiki,
//! "`InternalDummyConnection`".

use std::borrow::Cow;
use std::net::IpAddr;

use super::Reason;
use super::clients;
use super::layout::Layout;
use super::record::Record;
use super::unread::agent_of;

/// Agents of checks that a balancer or an orchestrator makes of its own servers, by their beginnings.
const CHECKERS: [&[u8]; 8] = [
    b"kube-probe/",
    b"ELB-HealthChecker/",
    b"GoogleHC/",
    b"Envoy/HC",
    b"Consul Health Check",
    b"Edge Health Probe",
    b"HealthCheck/1.0",
    b"Varnish/fastly (healthcheck)",
];

/// Cloudflare's, which begins as agents of browsers do.
const CLOUDFLARES: &[u8] = b"Cloudflare-Healthchecks/";

/// Apache's own connection to a child of its, which wakes it.
const DUMMY: &[u8] = b"(internal dummy connection)";

/// Sources of Cloudflare's field that are clients, by name and number: unknown, eyeball, another zone, a challenge in a browser.
const CLIENTS_OF_CLOUDFLARE: [(&[u8], &[u8]); 4] =
    [(b"unknown", b"0"), (b"eyeball", b"1"), (b"orangeToOrange", b"9"), (b"inBrowserChallenge", b"12")];

/// The value of a flag; `None` if it is none. The side of varnishncsa is one: `c` for a client, `b` for the server behind.
pub(super) fn is_true(text: &[u8]) -> Option<bool> {
    match text.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" | b"c" => Some(true),
        b"false" | b"no" | b"off" | b"b" => Some(false),
        digits if digits.iter().all(u8::is_ascii_digit) => Some(digits.iter().any(|digit| *digit != b'0')),
        _ => None,
    }
}

/// True if a source of Cloudflare's field is no client.
pub(super) fn is_inner_source(text: &[u8]) -> bool {
    let is_it = |(name, number): &(&[u8], &[u8])| text.eq_ignore_ascii_case(name) || text == *number;
    !CLIENTS_OF_CLOUDFLARE.iter().any(is_it)
}

/// True if at least half of the lines at the `head` of a log with a client are from the loopback interface: a proxy in front, on the same
/// machine.
pub(super) fn is_behind_own_proxy(layout: &Layout, head: &[u8], forwarded: bool) -> bool {
    let (mut all, mut own) = (0_u64, 0_u64);
    layout.each_of(head, |mut record| {
        if forwarded {
            clients::take_forwarded(&mut record);
        }
        let agent = agent(&record);
        if record.client.is_some() && !is_check(&agent) && !is_dummy(&record, &agent) {
            all += 1;
            own += u64::from(is_on_loopback(&record));
        }
    });
    own * 2 >= all
}

/// Why a line is no request of a client by itself, if it is none. `behind_own_proxy`: clients of the loopback interface stand for others.
pub(super) fn reason(record: &Record<'_>, behind_own_proxy: bool) -> Option<Reason> {
    if record.inner.is_some_and(|(_, is_inner)| is_inner) {
        return Some(Reason::InnerTier);
    }
    let agent = agent(record);
    if is_check(&agent) {
        Some(Reason::HealthCheck)
    } else if is_dummy(record, &agent) || !behind_own_proxy && is_on_loopback(record) {
        Some(Reason::Loopback)
    } else {
        None
    }
}

/// Agent of a record, with the blanks and signs that W3C logs and JSON write otherwise; empty where the log has none.
fn agent<'r>(record: &'r Record<'_>) -> Cow<'r, [u8]> {
    let text = record.agent.as_deref().or_else(|| agent_of(record.rest)).unwrap_or_default();
    if text.contains(&b' ') || !text.iter().any(|byte| b"+%".contains(byte)) {
        return Cow::Borrowed(text);
    }
    let signs = [("+", " "), ("%20", " "), ("%2F", "/"), ("%28", "("), ("%29", ")"), ("%3B", ";")];
    let text = String::from_utf8_lossy(text).into_owned();
    Cow::Owned(signs.iter().fold(text, |text, (written, sign)| text.replace(written, sign)).into_bytes())
}

/// True for the agent of a check.
fn is_check(agent: &[u8]) -> bool {
    let has = |part: &[u8]| agent.windows(part.len()).any(|window| window == part);
    CHECKERS.iter().any(|name| agent.starts_with(name)) || has(CLOUDFLARES)
}

/// True for Apache's connection to itself: its agent says so, or a line without agents asks for `OPTIONS *` from the loopback interface.
fn is_dummy(record: &Record<'_>, agent: &[u8]) -> bool {
    let asks_for_nothing =
        record.method.as_deref() == Some(b"OPTIONS") && record.url.as_deref() == Some(b"*");
    agent.ends_with(DUMMY) || asks_for_nothing && is_on_loopback(record)
}

/// True if the client of a server's log is on the loopback interface, for itself. A client of a proxy's own machine asks for what lies
/// behind the proxy's link.
fn is_on_loopback(record: &Record<'_>) -> bool {
    let is_of_server = record.code.is_none() && record.cluster.is_none() && record.forwarded.is_none();
    is_of_server && record.client.as_deref().is_some_and(is_loopback)
}

fn is_loopback(client: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(client) else { return false };
    let is_own = |address: IpAddr| match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|address| address.is_loopback())
        }
    };
    text == "localhost" || text == "unix:" || text.parse().is_ok_and(is_own)
}
