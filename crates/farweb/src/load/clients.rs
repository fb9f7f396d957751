//! Clients of a workload: who asks, and over which connections.

use serde::Serialize;

use super::demand::Demand;
use crate::explain::{Report, Warning};
use crate::scenario::{ClientShare, Scenario};
use crate::units::words::plural;

/// Clients, in numbers and in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientReport {
    /// Clients that ask.
    pub clients: u64,
    /// Requests that name no client.
    pub requests_without: u64,
    /// The same, and whose connections they use.
    pub text: String,
}

impl ClientReport {
    pub(super) fn of(scenario: &Scenario, report: &Report, demand: &Demand) -> Self {
        let uses = report.legs[0].connection_use;
        let &Demand { clients, without_client, .. } = demand;
        let text = match (clients, without_client) {
            (0, _) if uses.reused => "no request names its client; all share connections".to_owned(),
            (0, _) => "no request names its client".to_owned(),
            (_, without) => {
                let named = format!(
                    "{}, {}",
                    plural(clients, "client"),
                    whose(scenario.clients.share, uses.standing)
                );
                let others = format!("; {} of unknown clients share others", plural(without, "request"));
                if without == 0 { named } else { named + &others }
            }
        };
        Self { clients, requests_without: without_client, text }
    }
}

/// The owner of the connections that requests use. They are `standing` where they are opened once, between two proxies.
#[must_use]
pub const fn whose(share: ClientShare, standing: bool) -> &'static str {
    match share {
        _ if standing => "over connections between two proxies",
        ClientShare::Each => "each with its own connections",
        ClientShare::All => "all through one place",
    }
}

/// A warning about a table without clients where connections are kept.
pub(super) fn nobody_named(scenario: &Scenario, report: &Report, demand: &Demand) -> Option<Warning> {
    let uses = report.legs[0].connection_use;
    let is_said = scenario.clients.share == ClientShare::All || uses.standing;
    let is_unknown = demand.clients == 0 && scenario.workload.requests.is_some();
    let words = "the request table names no client (column client), so that all requests share the connections of one, as \
                 behind a proxy; write share = \"all\" under [clients] if that is so";
    (is_unknown && uses.reused && !is_said).then(|| Warning::new("clients.share", words))
}
