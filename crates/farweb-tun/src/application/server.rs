//! A server of HTTP/1.0 and HTTP/1.1: answers GET and HEAD with the files of a folder.
//!
//! Connections persist as RFC 9112, section 9.3 has it: by default with HTTP/1.1, on demand with HTTP/1.0. Leaves out
//! request bodies, ranges, and everything else that `curl` does not need to fetch a file.

use std::collections::VecDeque;
use std::path::PathBuf;

use crate::endpoint::Socket;

use super::read_file;

/// Header fields that a request may have. `curl` sends three.
const FIELDS_MAX: usize = 64;

/// The server's side of a connection.
#[derive(Debug)]
pub(crate) struct Server {
    folder: PathBuf,
    received: Vec<u8>,
    to_write: VecDeque<u8>,
    answered: Vec<String>,
    /// No request is read any more, and the connection is closed when all is written.
    finishing: bool,
    closed: bool,
}

/// The parts of a request that decide about its response.
struct Request {
    method: String,
    path: String,
    persistent: bool,
}

impl Server {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            received: Vec::new(),
            to_write: VecDeque::new(),
            answered: Vec::new(),
            finishing: false,
            closed: false,
        }
    }

    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        self.received.extend(socket.read(u64::MAX));
        while !self.finishing
            && let Some((request, len)) = parse(&self.received)
        {
            self.received.drain(..len);
            self.answer(request);
        }
        self.finishing |= socket.is_at_end();
        let written = socket.write(self.to_write.make_contiguous());
        self.to_write.drain(..written);
        if self.finishing && self.to_write.is_empty() && !self.closed && socket.is_connected() {
            self.closed = true;
            socket.close();
        }
        self.closed |= socket.closed().is_some();
    }

    fn answer(&mut self, request: Option<Request>) {
        let Some(Request { method, path, persistent }) = request else {
            self.finishing = true;
            return self.respond("400 Bad Request", b"not a request\n", false, true);
        };
        self.finishing = !persistent;
        self.answered.push(format!("{method} {path}"));
        let with_body = method != "HEAD";
        match read_file(&self.folder, &path) {
            _ if method != "GET" && method != "HEAD" => {
                self.respond("501 Not Implemented", b"only GET and HEAD\n", persistent, with_body);
            }
            Some(body) => self.respond("200 OK", &body, persistent, with_body),
            None => self.respond("404 Not Found", b"no such file\n", persistent, with_body),
        }
    }

    fn respond(&mut self, status: &str, body: &[u8], persistent: bool, with_body: bool) {
        let connection = if persistent { "keep-alive" } else { "close" };
        let head = format!(
            "HTTP/1.1 {status}\r\nServer: farweb\r\nContent-Type: application/octet-stream\r\n\
             Content-Length: {}\r\nConnection: {connection}\r\n\r\n",
            body.len()
        );
        self.to_write.extend(head.as_bytes());
        if with_body {
            self.to_write.extend(body);
        }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.closed
    }

    /// Requests that were answered, as `GET /file`.
    pub(crate) fn into_answered(self) -> Vec<String> {
        self.answered
    }
}

/// The request at the beginning of `received`, if it is whole, and its length. The request is `None` if it is none.
fn parse(received: &[u8]) -> Option<(Option<Request>, usize)> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(received) {
        Ok(httparse::Status::Partial) => None,
        Ok(httparse::Status::Complete(len)) => {
            let wish = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case("connection"));
            let wish = wish.map(|field| field.value.to_ascii_lowercase());
            let persistent = match request.version {
                Some(1) => wish.as_deref() != Some(b"close"),
                _ => wish.as_deref() == Some(b"keep-alive"),
            };
            let method = request.method.unwrap_or_default().to_owned();
            let path = request.path.unwrap_or_default().to_owned();
            Some((Some(Request { method, path, persistent }), len))
        }
        Err(_) => Some((None, received.len())),
    }
}
