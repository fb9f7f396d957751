//! A client of HTTP/1.0 and HTTP/1.1: fetches files one after the other over one connection.
//!
//! A body ends after `Content-Length` bytes or, without that field, with the stream (RFC 9112, section 6.3). Leaves out
//! transfer codings: a server does not use them for a file.

use std::fs;

use crate::description::Fetch;
use crate::endpoint::Socket;

use super::ApplicationReport;

/// Header fields that an answer may have. Nginx sends some ten.
const FIELDS_MAX: usize = 64;

/// The client's side of a connection.
#[derive(Debug)]
pub(crate) struct Client {
    fetch: Fetch,
    to_write: Vec<u8>,
    /// Requests that were sent, or are being sent.
    asked: usize,
    received: Vec<u8>,
    statuses: Vec<u16>,
    problem: Option<String>,
    closed: bool,
}

/// The head of an answer.
struct Head {
    status: u16,
    len: usize,
    body: Option<usize>,
}

impl Client {
    pub(crate) const fn new(fetch: Fetch) -> Self {
        Self {
            fetch,
            to_write: Vec::new(),
            asked: 0,
            received: Vec::new(),
            statuses: Vec::new(),
            problem: None,
            closed: false,
        }
    }

    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        if !socket.is_connected() {
            self.closed |= socket.closed().is_some();
            return;
        }
        self.received.extend(socket.read(u64::MAX));
        if let Err(problem) = self.take_answers(socket.is_at_end()) {
            self.problem.get_or_insert(problem);
        }
        let finished = self.statuses.len() == self.fetch.paths.len();
        let over = finished || self.problem.is_some() || socket.is_at_end() || socket.closed().is_some();
        if !over {
            self.ask(socket);
        } else if !self.closed {
            self.closed = true;
            socket.close();
        }
    }

    /// Sends the next request when the one before is answered.
    fn ask(&mut self, socket: &mut Socket) {
        if self.asked == self.statuses.len() {
            let path = &self.fetch.paths[self.asked];
            let keep = if self.fetch.version == "1.0" { "Connection: keep-alive\r\n" } else { "" };
            let request =
                format!("GET {path} HTTP/{}\r\nHost: farweb.example\r\n{keep}\r\n", self.fetch.version);
            self.to_write.extend(request.as_bytes());
            self.asked += 1;
        }
        let written = socket.write(&self.to_write);
        self.to_write.drain(..written);
    }

    /// Takes answers that are whole. `ended` says that nothing more comes.
    fn take_answers(&mut self, ended: bool) -> Result<(), String> {
        while let Some(head) = head_of(&self.received)? {
            let rest = self.received.len() - head.len;
            let body = match head.body {
                Some(body) if body <= rest => body,
                Some(body) if ended => return Err(format!("a body of {body} B ended after {rest} B")),
                None if ended => rest,
                _ => return Ok(()),
            };
            let file = self.fetch.save.join(self.statuses.len().to_string());
            let bytes = &self.received[head.len..head.len + body];
            fs::write(&file, bytes).map_err(|problem| format!("{}: {problem}", file.display()))?;
            self.received.drain(..head.len + body);
            self.statuses.push(head.status);
        }
        Ok(())
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.closed
    }

    pub(crate) fn into_report(self) -> ApplicationReport {
        ApplicationReport::Client { statuses: self.statuses, problem: self.problem }
    }
}

/// The head at the beginning of `received`, if it is whole.
fn head_of(received: &[u8]) -> Result<Option<Head>, String> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut response = httparse::Response::new(&mut fields);
    if received.is_empty() {
        return Ok(None);
    }
    let httparse::Status::Complete(len) = response.parse(received).map_err(|problem| problem.to_string())?
    else {
        return Ok(None);
    };
    let length = response.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
    let body = match length {
        Some(field) => {
            let text = String::from_utf8_lossy(field.value);
            Some(text.trim().parse().map_err(|_| format!("Content-Length: {text}"))?)
        }
        None => None,
    };
    Ok(Some(Head { status: response.code.unwrap_or_default(), len, body }))
}
