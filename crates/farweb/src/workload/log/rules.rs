//! Rules by which a line gives a request or none: rules of a web server's log, and rules that all logs share.
//!
//! Everything that a server answered crossed its link, an error page as well as any other; of an answer without a body, such as a 304, a
//! header did. Only a log that counts headers can say that nothing was sent. A request that its client gave up brought the bytes that are
//! logged for it; one that brought none is left out.

use std::borrow::Cow;

use super::caching::Rule;
use super::facts::Scheme;
use super::record::Record;
use super::values::{self, wrong};
use super::{
    BYTES_MAX, Entry, Keep, LOG_HEADER_BYTES, LogOptions, Reason, ServerTime, Verdict, select, squid,
};
use crate::units::Duration;
use crate::workload::{Method, ObjectId, OriginTime};

/// The request that a line gives, or the reason for none: it was not asked for, is set `apart`, or was not answered.
///
/// # Errors
/// The value that is missing or wrong.
pub(super) fn verdict(
    record: &Record<'_>,
    options: &LogOptions,
    apart: impl FnOnce() -> Option<Reason>,
) -> Result<Verdict, String> {
    let at = record.at.ok_or("has no time")?;
    let elapsed = record.elapsed.unwrap_or(0);
    let before = if record.at_end { elapsed as i64 } else { 0 };
    if let Some(reason) = select::unwanted(record, at.nanos - before, options) {
        return Ok(Verdict::Dropped(reason));
    }
    if let Some(reason) = apart() {
        return Ok(Verdict::Dropped(reason));
    }
    if is_no_exchange(record) {
        return Ok(Verdict::Dropped(Reason::NoRequest));
    }
    let url = asked(record);
    let tunnel = is_tunnel(record);
    let crossed = match &record.code {
        Some(code) => squid::crossed(code, record, tunnel, options)?,
        None if url.clone()?.is_none() => Err(Reason::NoRequest),
        None => crossed(record, tunnel, options)?,
    };
    let response_bytes = match crossed {
        Ok(bytes) => bytes,
        Err(reason) => return Ok(Verdict::Dropped(reason)),
    };
    let Some(url) = url? else { return Ok(Verdict::Dropped(Reason::NoRequest)) };
    let method = record.method.as_deref().unwrap_or(b"GET");
    let is_dynamic = values::is_dynamic(url);
    if is_dynamic && !options.dynamic {
        return Ok(Verdict::Dropped(Reason::DynamicPage));
    }
    // Only CONNECT asks for a host and a port. An upgrade has a URL, and so has a CONNECT that opens a WebSocket (RFC
    // 8441).
    let is_authority = method == b"CONNECT" && !url.contains(&b'/');
    let absolute = match is_authority {
        true => values::host(url).map(|host| (host, &*url)),
        false => values::host_and_path(url),
    };
    if absolute.is_none() && record.code.is_some() {
        return Err(wrong("URL", url, "one with a host"));
    }
    let named = record.host.as_deref().and_then(values::host);
    let host: Cow<'_, str> = match (absolute, named) {
        (Some((host, _)), _) | (None, Some(host)) => Cow::Owned(lower_case(host)),
        (None, None) => Cow::Owned(options.server_name.clone()),
    };
    if select::is_host_left_out(&host, options) {
        return Ok(Verdict::Dropped(Reason::NotSampled));
    }
    let path = absolute.map_or(url, |(_, path)| path);
    let body = record.sent_body.unwrap_or(0);
    let estimate = || values::request_bytes(method, path, host.as_bytes()) + body;
    let known = match Method::of(method) {
        _ if tunnel => Method::Connect,
        Method::Connect => Method::Other, // a refused one
        method => method,
    };
    let tls = Scheme::of(tunnel, Some(url), record.secure).tls();
    let scheme: &[u8] = if tls == Some(true) { b"https://" } else { b"http://" };
    // One path is another object on another host, and by another scheme (RFC 9111, section 2).
    let object = match (absolute, named) {
        (None, Some(host)) => ObjectId::of_bytes(&[scheme, host, url].concat()),
        (None, None) if tls == Some(true) => ObjectId::of_bytes(&[scheme, url].concat()),
        _ => ObjectId::of_bytes(url),
    };
    Ok(Verdict::Request(Entry {
        at: at.nanos,
        whole: at.whole,
        before,
        request_bytes: options.request_bytes.or(record.sent).unwrap_or_else(estimate).min(BYTES_MAX),
        response_bytes,
        server: match (tunnel, is_authority) {
            (true, true) => OriginTime::NONE,
            (true, false) => life(record, options),
            (false, _) => server(record, options),
        },
        object,
        client: record.client.as_deref().map(Box::from),
        method: known,
        rule: match (tunnel, is_authority) {
            (true, false) => Rule::Upgrade,
            _ => Rule::of(record, known, is_dynamic, options.bypass),
        },
        tls,
        is_dynamic,
        host: host.into_owned(),
        first: None,
    }))
}

/// Bytes that crossed the link of a web server, at least 1, or the reason why the request is dropped.
///
/// # Errors
/// When a cache's answer has no known name.
fn crossed(record: &Record<'_>, tunnel: bool, options: &LogOptions) -> Result<Result<u64, Reason>, String> {
    let status = record.status.unwrap_or(200);
    let has_body = has_body(record);
    let body = record.body.map(|body| LOG_HEADER_BYTES + if has_body { body } else { 0 });
    let bytes = record.total.or(body);
    let cached = answer(record, options)?.filter(|_| !options.keep().has_hits());
    Ok(if is_given_up(record) && is_silent(record) {
        Err(Reason::Aborted)
    } else if tunnel && !options.tunnels {
        Err(Reason::ConnectTunnel)
    } else if !options.errors && !(200..400).contains(&status) {
        Err(Reason::NotSuccessful)
    } else if bytes == Some(0) && has_body {
        Err(Reason::ZeroBytes)
    } else {
        match (bytes, cached) {
            (None, _) => match options.assume_bytes {
                Some(_) if !has_body => Ok(LOG_HEADER_BYTES),
                Some(assumed) => Ok(assumed),
                None => Err(Reason::NoSize),
            },
            (_, Some(Answer::Cached)) => Err(Reason::Hit),
            (_, Some(Answer::Own)) => Err(Reason::AnsweredByProxy),
            (_, Some(Answer::Revalidated)) if options.keep() == Keep::Misses => Err(Reason::Revalidation),
            // The client got the cache's copy. A 304 to the client had no body in the first place.
            (Some(bytes), Some(Answer::Revalidated)) if status != 304 => Ok(bytes.min(LOG_HEADER_BYTES)),
            (Some(0), _) => Ok(LOG_HEADER_BYTES),
            (Some(bytes), _) => Ok(bytes),
        }
    })
}

/// Answer of a cache, without the server behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Cached,
    Revalidated,
    /// Its own: a redirection, a refusal, a page that it made.
    Own,
}

/// A cache's result, or `None` if the server behind it answered, or the line names no cache.
///
/// Words of nginx, of content delivery networks and of Varnish, whatever their case, with anything behind the
/// first word: `HIT-CLUSTER`. An error that the cache made of a failing server counts as the server's.
///
/// # Errors
/// When the word is none of them.
fn answer(record: &Record<'_>, options: &LogOptions) -> Result<Option<Answer>, String> {
    let of_edge = record.edge_result.as_deref().filter(|_| options.keep.is_some());
    let Some(text) = record.cache_result.as_deref().or(of_edge) else { return Ok(None) };
    let word = text.to_ascii_uppercase();
    if [&b"TCP_"[..], b"ERR_", b"UDP_"].iter().any(|prefix| word.starts_with(prefix)) {
        return squid::answered(&word);
    }
    let is_pass =
        word.starts_with(b"HIT-FOR") || word.starts_with(b"HITPASS") || word.starts_with(b"HITMISS");
    let parts: Vec<_> = word.split(|byte| !byte.is_ascii_alphanumeric()).collect();
    Ok(match &parts[..] {
        [.., b"REFRESH"] if parts.len() > 1 => Some(Answer::Revalidated),
        [_, b"SYNTH", ..] => Some(Answer::Own),
        [b"HIT" | b"HITS", ..] if is_pass => None,
        [
            b"HIT" | b"HITS" | b"STALE" | b"UPDATING" | b"ORIGINSHIELDHIT" | b"MEM" | b"HITSTALE" | b"BG",
            ..,
        ]
        | [b"REMOTE" | b"STREAM", b"HIT"] => Some(Answer::Cached),
        [b"REVALIDATED" | b"REFRESHHIT" | b"REFRESH", ..] => Some(Answer::Revalidated),
        [b"NONE" | b"UNKNOWN" | b"REDIRECT" | b"SYNTH" | b"CONSTRUCTED", ..]
        | [b"N", b"A"]
        | [b"LIMITEXCEEDED" | b"CAPACITYEXCEEDED" | b"CLIENTGEOBLOCKED" | b"CLIENTHUNGUPREQUEST"] => {
            Some(Answer::Own)
        }
        [own] if own.starts_with(b"INVALIDREQUEST") || own.ends_with(b"GENERATEDRESPONSE") => {
            Some(Answer::Own)
        }
        [b"MISS" | b"EXPIRED" | b"BYPASS" | b"DYNAMIC" | b"PASS" | b"PIPE" | b"SCARCE" | b"ERROR", ..]
        | [b"HITPASS" | b"HITMISS" | b"HFP" | b"HFM" | b"IGNORED" | b"DEFERRED", ..]
        | [b"PARTIAL", b"HIT"]
        | [b"CACHE", b"NOCONFIG"]
        | [b"CONFIG", b"NOCACHE"]
        | [b"PRIVATE", b"NOSTORE"] => None,
        // Errors of CloudFront by their cause.
        [error] if error.ends_with(b"ERROR") || *error == b"ABORTEDORIGIN" => None,
        _ => return Err(wrong("cache result", text, "a word like HIT, MISS, STALE or TCP_HIT")),
    })
}

/// The result that `statusDetails` of Google Cloud stands for. `None`: it says nothing of who answered.
///
/// Source: Google Cloud, "Global external Application Load Balancer logging and monitoring", statusDetails.
pub(super) fn google(details: &[u8]) -> Option<&'static [u8]> {
    const OWN: [&[u8]; 8] = [
        b"denied_by_",
        b"redirected_by_",
        b"throttled_by_",
        b"handled_by_",
        b"direct_response",
        b"headers_too_long",
        b"uri_too_long",
        b"request_loop_detected",
    ];
    const OF_SERVERS: [&[u8]; 3] = [b"response_sent_by_backend", b"backend_", b"failed_to_"];
    let begins = |words: &[&[u8]]| words.iter().any(|word| details.starts_with(word));
    match details {
        b"response_from_cache" => Some(b"HIT"),
        b"response_from_cache_validated" => Some(b"REVALIDATED"),
        _ if begins(&OF_SERVERS) => Some(b"MISS"),
        _ => begins(&OWN).then_some(b"SYNTH"),
    }
}

/// True for a request whose client did not wait for the whole response: no status, nginx's 499, 460 of a load balancer of AWS, or a mark
/// of its own in the log.
pub(super) fn is_given_up(record: &Record<'_>) -> bool {
    let of_squid = || record.code.as_deref().is_some_and(squid::is_given_up_code);
    record.given_up || matches!(record.status, Some(0 | 460 | 499)) || of_squid()
}

/// True where no byte of a response is logged.
pub(super) fn is_silent(record: &Record<'_>) -> bool {
    record.total.or(record.body).unwrap_or(0) == 0
}

/// True for an answer in place of one that did not come in time, of the server behind or of the client.
pub(super) fn is_time_out(record: &Record<'_>) -> bool {
    matches!(record.status, Some(408 | 502..=504))
}

/// True if a body may have been sent: some servers log the length of one that was not.
pub(super) fn has_body(record: &Record<'_>) -> bool {
    record.method.as_deref() != Some(b"HEAD") && !matches!(record.status, Some(204 | 304))
}

/// True if a request opened a tunnel: CONNECT, or a change to another protocol. A refused CONNECT is answered with a page.
pub(super) fn is_tunnel(record: &Record<'_>) -> bool {
    let status = record.status.unwrap_or(200);
    let is_connect = record.method.as_deref() == Some(b"CONNECT");
    match record.code.as_deref() {
        // One that its client left early has status 0.
        Some(code) => status == 101 || (is_connect || squid::is_tunnel_code(code)) && status < 400,
        None => status == 101 || is_connect && (200..300).contains(&status),
    }
}

/// The URL; `None` without a request, or where an error answered something else than HTTP.
///
/// # Errors
/// The request line, where it is none.
fn asked<'r>(record: &'r Record<'_>) -> Result<Option<&'r [u8]>, String> {
    match (&record.url, &record.request) {
        (Some(url), _) => Ok(Some(url)),
        (None, Some(request)) if has_request(record) && (1..400).contains(&record.status.unwrap_or(200)) => {
            Err(wrong("request", request, "a method and a URL"))
        }
        _ => Ok(None),
    }
}

/// True for a line with neither a request nor an answer: a message, or what a server did by itself.
fn is_no_exchange(record: &Record<'_>) -> bool {
    !has_request(record) && record.url.is_none() && record.code.is_none() && record.status.unwrap_or(0) == 0
}

/// True if a line has a request line, be it a wrong one.
fn has_request(record: &Record<'_>) -> bool {
    record.request.as_deref().is_some_and(|request| !matches!(request, b"" | b"-"))
}

/// Life of an upgraded connection, over which its bytes come. `CONNECT` at a proxy has none: its elapsed time is mostly a user reading.
fn life(record: &Record<'_>, options: &LogOptions) -> OriginTime {
    let life = record.elapsed.filter(|_| options.server_time == ServerTime::Elapsed);
    let less = |nanos: u64| Duration::from_nanos(nanos.saturating_sub(options.rtt.as_nanos()));
    let time = life.map(|nanos| OriginTime::new(less(nanos)));
    time.and_then(|time| time.with_wait(Duration::ZERO)).unwrap_or(OriginTime::NONE)
}

/// Time of the origin and its wait for the first byte, as far as the log has them: a server's time of servers behind it
/// as it is, other times less the round trip in them.
///
/// Of several servers behind, the last one's response counts, and the others' time is part of its wait. If only their
/// waits are logged, these stand for their times. A wait beyond the whole, possible when only the whole is rounded to
/// seconds, ends with it. The page of a time-out is there when the wait is over.
fn server(record: &Record<'_>, options: &LogOptions) -> OriginTime {
    if options.server_time == ServerTime::None {
        return OriginTime::NONE;
    }
    let less = |nanos: u64| nanos.saturating_sub(options.rtt.as_nanos());
    let (whole, wait) = match (record.server, record.server_header) {
        (Some(server), header) => {
            let last = header.and_then(|header| header.last).zip(server.last);
            (Some(server.sum), last.map(|(header, whole)| server.sum - whole + header))
        }
        (None, Some(header)) => (Some(header.sum), header.last.map(|_| header.sum)),
        (None, None) => (record.peer.or(record.elapsed).map(less), record.first_byte.map(less)),
    };
    let Some(whole) = whole else { return OriginTime::NONE };
    let time = OriginTime::new(Duration::from_nanos(whole));
    let wait =
        wait.or(is_time_out(record).then_some(whole)).map(|wait| Duration::from_nanos(wait.min(whole)));
    wait.map_or(time, |wait| time.with_wait(wait).expect("it ends with the whole"))
}

/// A host, which is ASCII, in lower case.
fn lower_case(host: &[u8]) -> String {
    std::str::from_utf8(host).expect("a host is checked to be ASCII").to_ascii_lowercase()
}
