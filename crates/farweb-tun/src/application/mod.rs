//! Applications: what our end does with a connection.
//!
//! An application is asked to go on whenever something has happened to its connection, and does all that it can.

mod client;
mod http2;
mod script;
mod server;

use std::fs;
use std::path::Path;

use farweb::units::Instant;
use serde::Serialize;

use crate::description;
use crate::endpoint::Socket;

use client::Client;
use script::Script;
use server::Server;

/// The application of a connection.
#[derive(Debug)]
pub(crate) enum Application {
    Script(Script),
    Server(Server),
    Client(Client),
    Http2Server(Box<http2::Server>),
    Http2Client(Box<http2::Client>),
}

/// Report of an application at the end.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApplicationReport {
    /// How each list of steps ended: `done`, or at which step and why not.
    Script(Vec<String>),
    /// Requests that were answered.
    Server(Vec<String>),
    /// Status codes of the answers, and the first problem.
    Client { statuses: Vec<u16>, problem: Option<String> },
    /// Requests that were answered, and the frames.
    Http2Server { answered: Vec<String>, session: http2::SessionReport },
    /// Status codes of the answers, by the order of the requests, and the frames.
    Http2Client { statuses: Vec<String>, session: http2::SessionReport },
}

impl Application {
    pub(crate) fn new(description: &description::Application) -> Self {
        match description {
            description::Application::Script(lists) => Self::Script(Script::new(lists)),
            description::Application::HttpServer(folder) => Self::Server(Server::new(folder.clone())),
            description::Application::HttpClient(fetch) => Self::Client(Client::new(fetch.clone())),
            description::Application::Http2Server(serve) => {
                Self::Http2Server(Box::new(http2::Server::new(serve)))
            }
            description::Application::Http2Client(fetch) => {
                Self::Http2Client(Box::new(http2::Client::new(fetch.clone())))
            }
        }
    }

    /// Does what can be done now.
    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        match self {
            Self::Script(script) => script.advance(socket),
            Self::Server(server) => server.advance(socket),
            Self::Client(client) => client.advance(socket),
            Self::Http2Server(server) => server.advance(socket),
            Self::Http2Client(client) => client.advance(socket),
        }
    }

    /// When there is something to do without anything happening to the connection.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Script(script) => script.next_timeout(),
            Self::Server(_) | Self::Client(_) | Self::Http2Server(_) | Self::Http2Client(_) => None,
        }
    }

    /// True when it wants nothing more.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Script(script) => script.is_done(),
            Self::Server(server) => server.is_done(),
            Self::Client(client) => client.is_done(),
            Self::Http2Server(server) => server.is_done(),
            Self::Http2Client(client) => client.is_done(),
        }
    }

    pub(crate) fn report(self) -> ApplicationReport {
        match self {
            Self::Script(script) => ApplicationReport::Script(script.outcomes()),
            Self::Server(server) => ApplicationReport::Server(server.into_answered()),
            Self::Client(client) => client.into_report(),
            Self::Http2Server(server) => server.into_report(),
            Self::Http2Client(client) => client.into_report(),
        }
    }
}

/// The file that `path` names, when it lies in `folder` itself.
fn read_file(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let name = path.strip_prefix('/')?;
    if name.contains('/') || name.starts_with('.') {
        return None;
    }
    fs::read(folder.join(name)).ok()
}
