//! Squid's native `access.log`.
//!
//! A line is `time elapsed client code/status bytes method URL ident hierarchy/host type`, its fields apart by one or
//! more blanks; the type may be missing, and headers may follow (`log_mime_hdrs`). In Squid 1.0 the fourth field is
//! `code/status/hierarchy` and there is no ninth. `time` is the Unix time of the *end* of the request with ms,
//! `elapsed` is in ms, `bytes` is what the client got, headers included.
//!
//! What a result code means is read from its parts, so that the codes of Squid 1 to 6 are known alike:
//! `TCP_REFRESH_HIT` and `TCP_REFRESH_UNMODIFIED` are the same thing under two names.
//!
//! Source: Squid, `src/access_log.c` of version 2, `src/LogTags.cc` of version 6; D. Wessels, "Squid: The Definitive
//! Guide", section 13.2.

use std::borrow::Cow;

use super::fields::{self, wrong};
use super::{Entry, Keep, LOG_HEADER_BYTES, LogOptions, Reason, ServerTime, Verdict};
use crate::units::Duration;

/// Longest elapsed time, in ms: 30 days. Chosen: a longer one is a clock that was set.
const ELAPSED_MS_MAX: u64 = 30 * 24 * 3600 * 1000;

/// Fields that are looked at.
const FIELDS: usize = 9;

/// A line, split and its numbers read.
struct Record<'a> {
    end: i64,
    elapsed_ms: u64,
    code: &'a [u8],
    status: u64,
    bytes: u64,
    method: &'a [u8],
    url: &'a [u8],
    hierarchy: &'a [u8],
}

/// Where an answer came from.
enum Outcome {
    Hit,
    Revalidation,
    Miss,
    Proxy,
}

/// What `line` says.
///
/// # Errors
/// Why it is no line of such a log.
pub(super) fn parse<'a>(line: &'a [u8], options: &LogOptions) -> Result<Verdict<'a>, String> {
    let record = split(line)?;
    if let Some(reason) = unanswered(&record) {
        return Ok(Verdict::Dropped(reason));
    }
    let tunnel = record.method == b"CONNECT" || contains(record.code, b"TUNNEL");
    if tunnel && !options.tunnels {
        return Ok(Verdict::Dropped(Reason::ConnectTunnel));
    }
    if !(200..400).contains(&record.status) {
        return Ok(Verdict::Dropped(Reason::NotSuccessful));
    }
    if record.bytes == 0 {
        return Ok(Verdict::Dropped(Reason::ZeroBytes));
    }
    let outcome = if tunnel { Outcome::Miss } else { outcome(&record)? };
    let reason = match (&outcome, options.keep) {
        (_, Keep::All) | (Outcome::Miss, _) | (Outcome::Revalidation, Keep::Crossed) => None,
        (Outcome::Hit, _) => Some(Reason::Hit),
        (Outcome::Revalidation, _) => Some(Reason::Revalidation),
        (Outcome::Proxy, _) => Some(Reason::AnsweredByProxy),
    };
    let beside = contains(record.hierarchy, b"SIBLING_HIT") && options.keep != Keep::All;
    if let Some(reason) = reason.or(beside.then_some(Reason::SiblingHit)) {
        return Ok(Verdict::Dropped(reason));
    }
    let header_only = matches!(outcome, Outcome::Revalidation) && options.keep != Keep::All;
    entry(&record, tunnel, header_only, options).map(Verdict::Request)
}

fn entry<'a>(
    record: &Record<'a>,
    tunnel: bool,
    header_only: bool,
    options: &LogOptions,
) -> Result<Entry<'a>, String> {
    let parts = if tunnel {
        fields::host(record.url).map(|host| (host, record.url))
    } else {
        fields::host_and_path(record.url)
    };
    let (host, path) = parts.ok_or_else(|| wrong("URL", record.url, "one with a host"))?;
    let estimate = || fields::request_bytes(record.method, path, host);
    let elapsed = Duration::from_millis(record.elapsed_ms);
    // A tunnel's time is how long it was open: mostly the user thinking.
    let known = options.server_time == ServerTime::Elapsed && !tunnel;
    let server =
        known.then(|| Duration::from_nanos(elapsed.as_nanos().saturating_sub(options.rtt.as_nanos())));
    // What the client got was the cache's copy; a 304 to the client had no body in the first place.
    let crossed = if header_only && record.status != 304 { LOG_HEADER_BYTES } else { u64::MAX };
    Ok(Entry {
        start: record.end - elapsed.as_nanos() as i64,
        host: lower_case(host),
        url: record.url,
        request_bytes: options.request_bytes.unwrap_or_else(estimate),
        response_bytes: record.bytes.min(crossed),
        server,
    })
}

/// A host, which is ASCII, in lower case.
fn lower_case(host: &[u8]) -> Cow<'_, str> {
    let text = std::str::from_utf8(host).expect("a host is checked to be ASCII");
    if host.iter().any(u8::is_ascii_uppercase) { text.to_ascii_lowercase().into() } else { text.into() }
}

fn split(line: &[u8]) -> Result<Record<'_>, String> {
    let mut fields = [&line[..0]; FIELDS];
    let mut count = 0;
    for field in line.split(|byte| *byte == b' ').filter(|field| !field.is_empty()).take(FIELDS) {
        fields[count] = field;
        count += 1;
    }
    let [time, elapsed, _, code, bytes, method, url, _, hierarchy] = fields;
    if count < 7 {
        return Err(format!("has {count} of the 9 or 10 fields of a Squid line"));
    }
    let end = fields::unix_time(time).ok_or_else(|| wrong("time", time, "a Unix time since 1990"))?;
    let elapsed_ms = fields::number(elapsed)
        .filter(|ms| *ms <= ELAPSED_MS_MAX)
        .ok_or_else(|| wrong("elapsed", elapsed, "a number of ms from 0 to 30 days"))?;
    let (code, status, first) = result(code)?;
    let bytes =
        fields::bytes(bytes).ok_or_else(|| wrong("bytes", bytes, "a number of bytes from 0 to 2^53"))?;
    let hierarchy = match first {
        Some(hierarchy) => hierarchy,
        None if count < FIELDS => {
            return Err(format!("has {count} of the 9 or 10 fields of a Squid line"));
        }
        None if is_hierarchy(hierarchy) => hierarchy,
        None => return Err(wrong("hierarchy/host", hierarchy, "such a pair (a URL with blanks?)")),
    };
    Ok(Record { end, elapsed_ms, code, status, bytes, method, url, hierarchy })
}

/// Whether `field` is `HIERARCHY/host`, which a URL with blanks pushes out of its place.
fn is_hierarchy(field: &[u8]) -> bool {
    let slash = field.iter().position(|byte| *byte == b'/').unwrap_or(0);
    slash > 0 && field[..slash].iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
}

/// Code, status and, in Squid 1.0, hierarchy.
type ResultField<'a> = (&'a [u8], u64, Option<&'a [u8]>);

/// Code and status of `code/status`, and the hierarchy when it follows after another slash.
fn result(field: &[u8]) -> Result<ResultField<'_>, String> {
    let mut parts = field.splitn(3, |byte| *byte == b'/');
    let (code, status) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let status = match status {
        b"-" => Some(0),
        digits => fields::number(digits).filter(|status| *status < 1000),
    };
    let sound = !code.is_empty() && code.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    match status.filter(|_| sound) {
        Some(status) => Ok((code, status, parts.next())),
        None => Err(wrong("code/status", field, "a result code and a status")),
    }
}

/// Why no server was to answer, or nobody waited for its answer.
fn unanswered(record: &Record<'_>) -> Option<Reason> {
    let code = record.code;
    if code.starts_with(b"UDP_") || record.method.starts_with(b"ICP_") || record.method.starts_with(b"HTCP_")
    {
        Some(Reason::Icp)
    } else if contains(code, b"DENIED") {
        Some(Reason::Denied)
    } else if record.status == 0
        || [&b"_ABORTED"[..], b"_ABORT", b"_TIMEDOUT", b"_TIMEOUT"].iter().any(|end| code.ends_with(end))
    {
        Some(Reason::Aborted)
    } else if code.starts_with(b"ERR_") || code.starts_with(b"NONE") || code == b"TAG_NONE" {
        Some(Reason::Error)
    } else {
        None
    }
}

/// Where the answer came from, by the parts of the result code.
fn outcome(record: &Record<'_>) -> Result<Outcome, String> {
    let code = record.code;
    let nobody = record.hierarchy.strip_prefix(b"HIER_").unwrap_or(record.hierarchy).starts_with(b"NONE");
    let has = |part: &[u8]| contains(code, part);
    if code == b"TCP_MISS" || has(b"CLIENT_REFRESH") {
        return Ok(if nobody { Outcome::Proxy } else { Outcome::Miss });
    }
    // A revalidation that failed left the cache with its own copy.
    if has(b"REF_FAIL") || has(b"REFRESH_FAIL") {
        return Ok(Outcome::Hit);
    }
    if has(b"REFRESH") {
        let fetched = has(b"MISS") || (has(b"MODIFIED") && !has(b"UNMODIFIED"));
        return Ok(if fetched { Outcome::Miss } else { Outcome::Revalidation });
    }
    if has(b"HIT") || has(b"_MEM") {
        return Ok(Outcome::Hit);
    }
    if has(b"REDIRECT") {
        return Ok(Outcome::Proxy);
    }
    if has(b"MISS") || has(b"SWAPFAIL") {
        return Ok(if nobody { Outcome::Proxy } else { Outcome::Miss });
    }
    Err(wrong("code/status", code, "a result code of Squid 1 to 6"))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
