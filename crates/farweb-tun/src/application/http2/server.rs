//! A server of HTTP/2: answers a request with the file of a folder that it names, and a request with data with that data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use farweb::http::h2::endpoint::Role;

use crate::application::{ApplicationReport, read_file};
use crate::description::ServeHttp2;
use crate::endpoint::Socket;

use super::session::{Heard, OwnHead, Session};

/// The server's side of a connection.
#[derive(Debug)]
pub(crate) struct Server {
    folder: PathBuf,
    session: Session,
    /// Requests with data still to come, by stream.
    requests: BTreeMap<u32, Request>,
    answered: Vec<String>,
    closed: bool,
}

/// A request as far as it has come.
#[derive(Debug)]
struct Request {
    method: String,
    path: String,
    body: Vec<u8>,
}

impl Server {
    pub(crate) fn new(serve: &ServeHttp2) -> Self {
        Self {
            folder: serve.folder.clone(),
            session: Session::new(Role::Server, &serve.end.config(Role::Server)),
            requests: BTreeMap::new(),
            answered: Vec::new(),
            closed: false,
        }
    }

    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        for heard in self.session.read(socket) {
            self.take(heard);
        }
        if socket.is_connected() {
            self.session.write(socket);
        }
        let is_over = socket.is_at_end() || self.session.has_failed();
        if is_over && !self.closed {
            self.closed = true;
            socket.close();
        }
        self.closed |= socket.closed().is_some();
    }

    fn take(&mut self, heard: Heard) {
        let (Heard::Head { stream, ends, .. } | Heard::Data { stream, ends, .. }) = heard;
        match heard {
            Heard::Head { mut fields, .. } => {
                let mut field = |name| fields.remove(name).unwrap_or_default();
                let (method, path) = (field(":method"), field(":path"));
                self.requests.insert(stream, Request { method, path, body: Vec::new() });
            }
            Heard::Data { bytes, .. } => match self.requests.get_mut(&stream) {
                Some(request) => request.body.extend(bytes),
                None => self.session.fail(format!("data on stream {stream}, which asks for nothing")),
            },
        }
        if ends && let Some(request) = self.requests.remove(&stream) {
            self.answer(stream, request);
        }
    }

    fn answer(&mut self, stream: u32, Request { method, path, body }: Request) {
        self.answered.push(format!("{method} {path}"));
        let found = if body.is_empty() { read_file(&self.folder, &path) } else { Some(body) };
        let head = OwnHead::Answer { is_found: found.is_some() };
        self.session.begin(stream, head, found.unwrap_or_default());
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.closed
    }

    pub(crate) fn into_report(self) -> ApplicationReport {
        ApplicationReport::Http2Server { answered: self.answered, session: self.session.into_report() }
    }
}
