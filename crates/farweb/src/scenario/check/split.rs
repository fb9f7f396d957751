//! Rules of splits: where in a leg they stand, and what a split leg can have.

use super::Check;
use crate::scenario::{Carrier, Leg, Scenario, Split, SplitOpen};
use crate::tcp::ProfileName;

impl Check {
    /// Checks the splits of a leg between the nodes `from` and `to` of the path.
    pub(super) fn splits(&mut self, key: &str, leg: &Leg, ends: (usize, usize), scenario: &Scenario) {
        let mut last = ends.0;
        for (index, split) in leg.split.iter().enumerate() {
            let own = format!("{key}.split.{index}");
            match place(split, ends, last, &scenario.path.nodes) {
                Ok(place) => last = place,
                Err(message) => self.report(format!("{own}.at"), message),
            }
            if let Some(tcp) = &split.tcp {
                self.tcp(&format!("{own}.tcp"), tcp);
                if tcp.profile == ProfileName::Ns2Reno {
                    let message = "found \"ns2-reno\", which has no connections; write \"linux\", or another profile that has";
                    self.report(format!("{own}.tcp.profile"), message);
                }
            }
            if split.open == SplitOpen::Ready && index + 1 == leg.split.len() {
                let message = format!(
                    "found \"ready\", and no split is behind {}: a stretch that stands is between two; write \"each\", or another \
                     [[leg.split]] behind it",
                    split.at
                );
                self.report(format!("{own}.open"), message);
            }
        }
        if !leg.split.is_empty() && matches!(leg.carrier, Carrier::WebMux { .. } | Carrier::Transfer {}) {
            let message =
                "a leg with splits has the carrier \"http/1.0\", \"http/1.1\", \"http/2\" or \"mux\"";
            self.report(format!("{key}.carrier.kind"), message);
        }
        for (index, cache) in scenario.cache.iter().enumerate().filter(|_| !leg.split.is_empty()) {
            let place = scenario.path.nodes.iter().position(|node| *node == cache.node);
            if place.is_some_and(|place| ends.0 < place && place < ends.1) {
                let message = format!(
                    "{} is inside {key}, which has splits; end a leg there, so that the node is a proxy, or leave the splits out",
                    cache.node
                );
                self.report(format!("cache.{index}.node"), message);
            }
        }
    }
}

/// Place on the path of a split that stands behind the node `last`, or why it cannot stand where it says.
fn place(split: &Split, (from, to): (usize, usize), last: usize, nodes: &[String]) -> Result<usize, String> {
    let at = &split.at;
    let between = nodes.get(from + 1..to).filter(|between| !between.is_empty());
    let allowed = between.map_or("none is".to_owned(), |between| format!("these are {}", between.join(", ")));
    match nodes.iter().position(|node| node == at) {
        Some(place) if from < place && place < to && place > last => Ok(place),
        Some(place) if from < place && place < to => {
            let why = if place == last { "has a split already" } else { "is before the split above it" };
            Err(format!("{at} {why}; write each node once, in the order of path.nodes"))
        }
        _ => Err(format!("{at:?} is not a node between {} and {}; {allowed}", nodes[from], nodes[to])),
    }
}
