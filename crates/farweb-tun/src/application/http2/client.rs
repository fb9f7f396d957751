//! A client of HTTP/2: fetches files over one connection, as many at once as the server allows.

use std::collections::BTreeMap;
use std::fs;

use farweb::http::h2::endpoint::Role;

use crate::application::ApplicationReport;
use crate::description::FetchHttp2;
use crate::endpoint::Socket;

use super::session::{Heard, OwnHead, Session};

/// Requests and responses of the client's side of a connection.
#[derive(Debug)]
pub(crate) struct Client {
    fetch: FetchHttp2,
    session: Session,
    asked: usize,
    /// By stream.
    answers: BTreeMap<u32, Answer>,
    finishing: bool,
    closed: bool,
}

/// An answer as far as it has come.
#[derive(Debug, Default)]
struct Answer {
    status: String,
    body: Vec<u8>,
    is_whole: bool,
}

impl Client {
    pub(crate) fn new(fetch: FetchHttp2) -> Self {
        let session = Session::new(Role::Client, &fetch.end.config(Role::Client));
        Self { fetch, session, asked: 0, answers: BTreeMap::new(), finishing: false, closed: false }
    }

    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        if !socket.is_connected() {
            self.closed |= socket.closed().is_some();
            return;
        }
        for heard in self.session.read(socket) {
            self.take(heard);
        }
        self.ask();
        let is_done =
            self.answers.values().filter(|answer| answer.is_whole).count() == self.fetch.paths.len();
        if is_done && !self.finishing {
            self.finishing = true;
            self.session.go_away();
        }
        self.session.write(socket);
        let is_lost = socket.is_at_end() || socket.closed().is_some();
        if is_lost && !is_done {
            self.session.fail("the connection ended before the answers did".to_owned());
        }
        let is_over = is_lost || self.session.has_failed() || self.finishing && self.session.is_written();
        if is_over && !self.closed {
            self.closed = true;
            socket.close();
        }
    }

    /// Begins as many requests as there may be.
    fn ask(&mut self) {
        let open =
            |answers: &BTreeMap<u32, Answer>| answers.values().filter(|answer| !answer.is_whole).count();
        while self.asked < self.fetch.paths.len() && open(&self.answers) < self.session.max_streams() as usize
        {
            let stream = 2 * self.asked as u32 + 1;
            let path = self.fetch.paths[self.asked].clone();
            let head = OwnHead::Get { authority: "farweb.example".to_owned(), path };
            self.session.begin(stream, head, Vec::new());
            self.answers.insert(stream, Answer::default());
            self.asked += 1;
        }
    }

    fn take(&mut self, heard: Heard) {
        let (Heard::Head { stream, ends, .. } | Heard::Data { stream, ends, .. }) = heard;
        let Some(answer) = self.answers.get_mut(&stream) else {
            return self.session.fail(format!("stream {stream} was never opened"));
        };
        match heard {
            Heard::Head { mut fields, .. } => answer.status = fields.remove(":status").unwrap_or_default(),
            Heard::Data { bytes, .. } => answer.body.extend(bytes),
        }
        answer.is_whole = ends;
        if ends {
            let file = self.fetch.save.join((stream / 2).to_string());
            if let Err(problem) = fs::write(&file, &answer.body) {
                self.session.fail(format!("{}: {problem}", file.display()));
            }
        }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.closed
    }

    pub(crate) fn into_report(self) -> ApplicationReport {
        let statuses = self.answers.into_values().map(|answer| answer.status).collect();
        ApplicationReport::Http2Client { statuses, session: self.session.into_report() }
    }
}
