//! Warnings about the requests of a workload in its scenario.

use super::clients::nobody_named;
use super::demand::Demand;
use super::ports::too_few;
use crate::explain::{Report, Warning};
use crate::scenario::Scenario;
use crate::units::words::{count, plural, share};

/// All of them.
pub(super) fn of(scenario: &Scenario, report: &Report, demand: &Demand) -> Vec<Warning> {
    let mut warnings: Vec<_> = several_sizes(demand).into_iter().collect();
    warnings.extend(nobody_named(scenario, report, demand));
    warnings.extend(tunnels_without_tls(scenario, demand));
    warnings.extend(too_few(report, demand));
    warnings
}

/// Requests that live caches never serve, with the share of hits that they leave. None where there are none.
pub(super) fn bypassing(demand: &Demand) -> Option<String> {
    let part = demand.bypassing as f64 / demand.requests as f64;
    let text = || {
        format!(
            "{} ({}) are not cacheable, by their methods or the column caching: at most {} of the requests can be hits",
            plural(demand.bypassing, "request"),
            share(part),
            share(1.0 - part)
        )
    };
    (demand.bypassing > 0).then(text)
}

/// Objects that change size behind live caches.
fn several_sizes(demand: &Demand) -> Option<Warning> {
    let several = demand.of_several_sizes;
    let [part, all] = [several, demand.requests].map(|requests| count(requests as f64));
    let words = format!(
        "{part} of {all} requests ({}) are for objects whose size changes; changed = \"serve\", the default, serves them \
         with the copy held while it is fresh, and \"fetch\" makes each change a miss: the truth lies between",
        share(several as f64 / demand.requests as f64)
    );
    (several > 0).then(|| Warning::new("cache", words))
}

/// Tunnels without their handshakes.
fn tunnels_without_tls(scenario: &Scenario, demand: &Demand) -> Option<Warning> {
    let words = format!(
        "{} (CONNECT) with {} of the bytes of responses come without the round trips of TLS inside, too early; write tls = \
         {{ version = \"1.3\" }} under [clients.tunnels]",
        plural(demand.tunnels, "tunnel"),
        share(demand.tunnel_bytes as f64 / demand.response_bytes.max(1) as f64)
    );
    let is_without = demand.opened_tunnels() > 0 && scenario.clients.tunnels.tls.is_none();
    is_without.then(|| Warning::new("clients.tunnels", words))
}
