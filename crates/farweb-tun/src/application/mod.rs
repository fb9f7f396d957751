//! Applications: what our end does with a connection.
//!
//! An application is asked to go on whenever something has happened to its connection, and does all that it can.

mod client;
mod script;
mod server;

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
}

/// What an application tells at the end.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApplicationReport {
    /// How each list of steps ended: `done`, or at which step and why not.
    Script(Vec<String>),
    /// Requests that were answered.
    Server(Vec<String>),
    /// Status codes of the answers, and what was wrong if anything was.
    Client { statuses: Vec<u16>, problem: Option<String> },
}

impl Application {
    pub(crate) fn new(description: &description::Application) -> Self {
        match description {
            description::Application::Script(lists) => Self::Script(Script::new(lists)),
            description::Application::HttpServer(folder) => Self::Server(Server::new(folder.clone())),
            description::Application::HttpClient(fetch) => Self::Client(Client::new(fetch.clone())),
        }
    }

    /// Does what can be done now.
    pub(crate) fn advance(&mut self, socket: &mut Socket) {
        match self {
            Self::Script(script) => script.advance(socket),
            Self::Server(server) => server.advance(socket),
            Self::Client(client) => client.advance(socket),
        }
    }

    /// When there is something to do without anything happening to the connection.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        match self {
            Self::Script(script) => script.next_timeout(),
            Self::Server(_) | Self::Client(_) => None,
        }
    }

    /// Whether it wants nothing more.
    pub(crate) fn is_done(&self) -> bool {
        match self {
            Self::Script(script) => script.is_done(),
            Self::Server(server) => server.is_done(),
            Self::Client(client) => client.is_done(),
        }
    }

    pub(crate) fn report(self) -> ApplicationReport {
        match self {
            Self::Script(script) => ApplicationReport::Script(script.outcomes()),
            Self::Server(server) => ApplicationReport::Server(server.into_answered()),
            Self::Client(client) => client.into_report(),
        }
    }
}
