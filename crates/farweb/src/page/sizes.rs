//! Bytes of requests and responses on the wire, as far as a file counts, announces or holds them.

use super::exporters::Exporter;
use super::har::Page;
use super::json::{Json, Value};
use super::sent::{REQUEST_HEADER_BYTES, RESPONSE_HEADER_BYTES};

/// Chosen: servers accept no longer headers, so it is a mistake of the exporter.
const HEADER_MAX: f64 = 16_384.0;

/// Largest body. Chosen: 1 TiB, beyond any.
const BYTES_MAX: f64 = (1_u64 << 40) as f64;

/// Bytes of a request and its response, headers included.
pub(super) struct Sizes {
    pub request: u64,
    pub response: u64,
}

impl Sizes {
    pub(super) fn of(page: &Page<'_>, entry: &Json<'_>) -> Self {
        let (request, response) = (entry.get("request"), entry.get("response"));
        let mut body = body(entry, page.exporter);
        if body == 0.0 && response.get("bodySize").number() != Some(0.0) {
            body = packed(response);
        }
        let most = body_max(entry);
        let transferred = bytes(response.get("_transferSize"));
        let counted = counted(page, entry);
        let whole = if transferred > 0.0 && transferred <= most + HEADER_MAX {
            transferred
        } else if counted > 0.0 {
            counted
        } else {
            // A larger body is of a copy from the cache, or of the target of a redirect.
            body.min(most) + head(response, RESPONSE_HEADER_BYTES)
        };
        let asked = head(request, REQUEST_HEADER_BYTES) + upload(request);
        Self { request: asked.round_ties_even() as u64, response: (whole.round_ties_even() as u64).max(1) }
    }
}

/// Bytes of a header, or the usual ones where the file has none that can be.
fn head(message: &Json<'_>, usual: u64) -> f64 {
    let counted = message.get("headersSize").number();
    counted.filter(|size| *size > 0.0 && *size < HEADER_MAX).unwrap_or(usual as f64)
}

fn bytes(value: &Json<'_>) -> f64 {
    value.number().unwrap_or(0.0).clamp(0.0, BYTES_MAX)
}

/// Bytes that WebPageTest counted of a response, header included. 0: none, or its counts of the page are double.
fn counted(page: &Page<'_>, entry: &Json<'_>) -> f64 {
    if page.counts.twice { 0.0 } else { bytes(entry.get("_bytesIn")) }
}

/// Bytes of the body of a request: as counted, else as announced, else its text, else its parameters as a form.
fn upload(request: &Json<'_>) -> f64 {
    let posted = request.get("postData");
    let in_file = || match &posted.get("text").value {
        Value::Text(text) => text.len(),
        _ => form_length(posted.get("params").list()),
    };
    let known = [bytes(request.get("bodySize")), announced(request).unwrap_or(0.0)];
    known.into_iter().find(|size| *size > 0.0).unwrap_or_else(|| in_file() as f64)
}

/// Length of parameters as `application/x-www-form-urlencoded`.
fn form_length(params: &[Json<'_>]) -> usize {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-~ ".contains(&byte);
    let encoded = |text: &str| text.bytes().map(|byte| if plain(byte) { 1 } else { 3 }).sum::<usize>();
    let pairs =
        params.iter().map(|each| encoded(each.get("name").text()) + 1 + encoded(each.get("value").text()));
    pairs.sum::<usize>() + params.len().saturating_sub(1)
}

/// Bytes of a body that the exporter did not count: of its content, less what compression saved, or as announced.
fn packed(response: &Json<'_>) -> f64 {
    let (content, announced) = (response.get("content"), announced(response));
    if content.get("size").is_null() || content.get("size").number().unwrap_or(0.0) < 0.0 {
        return announced.unwrap_or(0.0);
    }
    let size = (bytes(content.get("size")) - bytes(content.get("compression"))).max(0.0);
    announced.map_or(size, |announced| size.min(announced)) // less came than was announced where it was cut off
}

/// Bytes of a body by its `Content-Length`.
fn announced(message: &Json<'_>) -> Option<f64> {
    let length = super::json::number(message.header("content-length"))?;
    (length >= 0.0).then(|| length.min(BYTES_MAX))
}

/// Most bytes of a body: none where HTTP allows none, and what a redirect announces.
fn body_max(entry: &Json<'_>) -> f64 {
    let response = entry.get("response");
    let is_head = entry.get("request").get("method").text().eq_ignore_ascii_case("head");
    match response.get("status").number().unwrap_or(0.0) as i64 {
        204 | 304 => 0.0,
        _ if is_head => 0.0,
        300..400 => announced(response).unwrap_or(BYTES_MAX),
        _ => BYTES_MAX,
    }
}

/// True where any size of the response is known.
pub(super) fn is_sized(entry: &Json<'_>) -> bool {
    let response = entry.get("response");
    let sizes = [
        entry.get("_bytesIn"),
        entry.get("_objectSize"),
        response.get("_transferSize"),
        response.get("bodySize"),
        response.get("content").get("size"),
    ];
    let is_known = |size: &Json<'_>| !size.is_null() && size.number().unwrap_or(0.0) >= 0.0;
    announced(response).is_some() || sizes.into_iter().any(is_known)
}

/// True where only the size of the content is known, and it may have crossed packed.
pub(super) fn is_unpacked(page: &Page<'_>, entry: &Json<'_>) -> bool {
    let response = entry.get("response");
    let content = response.get("content");
    let known = [
        body(entry, page.exporter),
        counted(page, entry),
        announced(response).unwrap_or(0.0),
        bytes(content.get("compression")),
    ];
    let has_no_content = bytes(content.get("size")) == 0.0 || response.get("bodySize").number() == Some(0.0);
    if has_no_content || known.iter().any(|size| *size > 0.0) {
        return false;
    }
    let encoding = response.header("content-encoding");
    body_max(entry) > 0.0 && (!response.get("headers").holds() || !matches!(encoding, "" | "identity"))
}

/// Bytes of the body on the wire, 0 where unknown. Firefox counts the header in `bodySize`.
fn body(entry: &Json<'_>, exporter: Exporter) -> f64 {
    if let Some(size) = entry.get("_objectSize").number().filter(|size| *size >= 0.0) {
        return size.min(BYTES_MAX);
    }
    let response = entry.get("response");
    let transferred = bytes(response.get("_transferSize"));
    if transferred > 0.0 {
        return transferred;
    }
    let body = bytes(response.get("bodySize"));
    if exporter == Exporter::Firefox && announced(response) != Some(body) {
        return body - body.min(bytes(response.get("headersSize")));
    }
    body
}
