//! Rules for Squid, a proxy with a cache: which requests crossed its link, by result codes and hierarchies.
//!
//! A line of its native log is `time elapsed client code/status bytes method URL ident hierarchy/host type`, its fields
//! apart by one or more blanks. The type may be missing, and headers may follow (`log_mime_hdrs`). In Squid 1.0 the
//! fourth field is `code/status/hierarchy` and there is no ninth. `time` is the Unix time of the *end* of the request
//! with ms, `elapsed` is in ms, `bytes` is the client's, headers included. An error page of the server behind crossed
//! the link as any answer did; a 502 to 504 of Squid itself after asking a server looks the same, and counts as the
//! server's.
//!
//! The meaning of a result code follows from its parts: the codes of Squid 1 to 6 are read alike:
//! `TCP_REFRESH_HIT` and `TCP_REFRESH_UNMODIFIED` are the same thing under two names.
//!
//! Source: Squid, `src/access_log.c` of version 2, `src/LogTags.cc` of version 6; D. Wessels, "Squid: The Definitive
//! Guide", section 13.2.

use super::record::Record;
use super::rules::{Answer, is_given_up, is_silent};
use super::values::wrong;
use super::{Keep, LOG_HEADER_BYTES, LogOptions, Reason};

/// Source of an answer.
enum Outcome {
    Hit,
    Revalidation,
    Miss,
    Proxy,
}

/// Bytes that crossed the link of a proxy with the result code `code`, at least 1, or the reason why the request is dropped.
///
/// # Errors
/// When there is no such code or hierarchy.
pub(super) fn crossed(
    code: &[u8],
    record: &Record<'_>,
    tunnel: bool,
    options: &LogOptions,
) -> Result<Result<u64, Reason>, String> {
    let hierarchy = record.hierarchy.as_deref().unwrap_or_default();
    let is_word = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    if !is_word(code) {
        return Err(wrong("code", code, "a result code of Squid 1 to 6"));
    }
    // A URL with blanks pushes it out of its place.
    if !is_word(hierarchy) {
        return Err(wrong("hierarchy", hierarchy, "such a word (a URL with blanks?)"));
    }
    let status = record.status.unwrap_or(0);
    if let Some(reason) = unanswered(code, record) {
        return Ok(Err(reason));
    }
    if tunnel && !options.tunnels {
        return Ok(Err(Reason::ConnectTunnel));
    }
    if !options.errors && !(200..400).contains(&status) {
        return Ok(Err(Reason::NotSuccessful));
    }
    let bytes = match record.total.or(record.body).or(options.assume_bytes) {
        None => return Ok(Err(Reason::NoSize)),
        Some(0) => return Ok(Err(Reason::ZeroBytes)),
        Some(bytes) => bytes,
    };
    let outcome = if tunnel { Outcome::Miss } else { outcome(code, hierarchy)? };
    let reason = match (&outcome, options.keep()) {
        (_, Keep::All | Keep::Lines) | (Outcome::Miss, _) | (Outcome::Revalidation, Keep::Crossed) => None,
        (Outcome::Hit, _) => Some(Reason::Hit),
        (Outcome::Revalidation, _) => Some(Reason::Revalidation),
        (Outcome::Proxy, _) => Some(Reason::AnsweredByProxy),
    };
    let beside = contains(hierarchy, b"SIBLING_HIT") && !options.keep().has_hits();
    if let Some(reason) = reason.or(beside.then_some(Reason::SiblingHit)) {
        return Ok(Err(reason));
    }
    // The client got the cache's copy. A 304 to the client had no body in the first place.
    let header_only = matches!(outcome, Outcome::Revalidation) && !options.keep().has_hits() && status != 304;
    let most = if header_only { LOG_HEADER_BYTES } else { u64::MAX };
    Ok(Ok(bytes.min(most)))
}

/// Reason why no server was asked, or its answer was not waited for.
fn unanswered(code: &[u8], record: &Record<'_>) -> Option<Reason> {
    let method = record.method.as_deref().unwrap_or_default();
    if code.starts_with(b"UDP_") || method.starts_with(b"ICP_") || method.starts_with(b"HTCP_") {
        Some(Reason::Icp)
    } else if contains(code, b"DENIED") {
        Some(Reason::Denied)
    } else if is_given_up(record) && is_silent(record) {
        Some(Reason::Aborted)
    } else if code.starts_with(b"ERR_") && code != ABORTED_OF_ATS
        || code.starts_with(b"NONE")
        || code == b"TAG_NONE"
    {
        Some(Reason::Error)
    } else {
        None
    }
}

/// Code of Apache Traffic Server for a client that gave up.
const ABORTED_OF_ATS: &[u8] = b"ERR_CLIENT_ABORT";

/// True for a code of a request that its client, or the proxy that waited for a server, gave up.
pub(super) fn is_given_up_code(code: &[u8]) -> bool {
    without_end(code) != code
}

/// A code without the mark that the request was given up.
fn without_end(code: &[u8]) -> &[u8] {
    let ends: [&[u8]; 4] = [b"_ABORTED", b"_ABORT", b"_TIMEDOUT", b"_TIMEOUT"];
    ends.iter().find_map(|end| code.strip_suffix(*end)).unwrap_or(code)
}

/// True for the result code of a tunnel.
pub(super) fn is_tunnel_code(code: &[u8]) -> bool {
    contains(code, b"TUNNEL")
}

/// A cache's result by its result code, where nothing else of Squid is logged.
///
/// # Errors
/// When there is no such code.
pub(super) fn answered(code: &[u8]) -> Result<Option<Answer>, String> {
    let code = code.split(|byte| *byte == b'/').next().unwrap_or_default();
    if [&b"ERR_"[..], b"UDP_"].iter().any(|prefix| code.starts_with(prefix)) {
        return Ok(None);
    }
    Ok(match outcome(code, b"")? {
        Outcome::Hit => Some(Answer::Cached),
        Outcome::Revalidation => Some(Answer::Revalidated),
        Outcome::Proxy => Some(Answer::Own),
        Outcome::Miss => None,
    })
}

/// Source of the answer, by the parts of the result code.
fn outcome(code: &[u8], hierarchy: &[u8]) -> Result<Outcome, String> {
    let no_server = hierarchy.strip_prefix(b"HIER_").unwrap_or(hierarchy).starts_with(b"NONE");
    let has = |part: &[u8]| contains(code, part);
    if matches!(without_end(code), b"TCP_MISS" | b"TCP" | b"ERR_CLIENT") || has(b"CLIENT_REFRESH") {
        return Ok(if no_server { Outcome::Proxy } else { Outcome::Miss });
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
    if has(b"MISS") || has(b"SWAPFAIL") || is_tunnel_code(code) {
        return Ok(if no_server { Outcome::Proxy } else { Outcome::Miss });
    }
    Err(wrong("code", code, "a result code of Squid 1 to 6"))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
