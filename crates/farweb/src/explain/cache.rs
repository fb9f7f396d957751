//! Describes a cache in words.

use serde::Serialize;

use super::figures;
use super::text::Text;
use crate::cache::Admit;
use crate::scenario::{Cache, CacheMode, DivideBy, Scenario};
use crate::units::Bytes;

/// A cache, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CacheReport {
    /// Its node.
    pub node: String,
    /// Role of the node towards packets.
    pub mode: CacheMode,
    /// Its contents, in words.
    pub contents: String,
    /// The same as a paragraph.
    pub text: Text,
}

/// The caches of `scenario`, from the clients on.
pub(super) fn reports(scenario: &Scenario) -> Vec<CacheReport> {
    let at = |node: &String| scenario.cache.iter().find(|cache| cache.node == *node);
    scenario.path.nodes.iter().filter_map(at).map(|cache| report(cache, scenario)).collect()
}

fn report(cache: &Cache, scenario: &Scenario) -> CacheReport {
    let legs_meet = scenario.leg.iter().any(|leg| leg.to == cache.node);
    let (node, mode) = (cache.node.clone(), cache.mode_at(legs_meet));
    let contents = contents(cache);
    let mut text = Text::default();
    text.say(&format!("cache at {node}"));
    let mut line = |label: &str, value: &str| text.row(label, value);
    line("holds", &contents);
    line("a hit", hits_in(mode));
    if let Some(live) = cache.live() {
        if let Some(rules) = admission(live.admit) {
            line("takes in", &rules);
        }
        if let Some(ttl) = live.ttl {
            line(
                "asks again",
                &format!(
                    "{} after it came or was asked about: a round trip, and no body",
                    figures::span(ttl)
                ),
            );
        }
        let waits = "waits for that fetch; objects that the cache would not keep are fetched each time";
        line("a fetch in progress", if cache.coalesce { waits } else { "is fetched once more" });
    }
    CacheReport { node, mode, contents, text }
}

fn contents(cache: &Cache) -> String {
    let Some(live) = cache.live() else {
        return cache.hit_ratio.map_or_else(
            || "as the request table's column source says".to_owned(),
            |share| format!("{} of all client requests, drawn at random", figures::percent(share)),
        );
    };
    let policy = serde_json::to_value(live.policy).expect("a policy is a word");
    let policy = policy.as_str().unwrap_or_default();
    let capacity = figures::bytes(live.capacity.get() as f64);
    let by = match cache.divide_by {
        DivideBy::Object => "object",
        DivideBy::Host => "origin server",
    };
    match cache.siblings {
        1 => format!("{capacity}, {policy}"),
        siblings => format!("{siblings} siblings of {capacity} each, {policy}; divided by {by}"),
    }
}

const fn hits_in(mode: CacheMode) -> &'static str {
    match mode {
        CacheMode::CutThrough => "is sent from here; to anything else the node is a router",
        CacheMode::Split => "is sent from here; anything else is passed on as it is read",
        CacheMode::StoreAndForward => "is sent from here; anything else is passed on when all of it has come",
    }
}

/// Describes the admission rule, if not all objects are admitted.
fn admission(admit: Admit) -> Option<String> {
    let bytes = |size: Bytes| figures::bytes(size.get() as f64);
    let size = match (admit.min, admit.max) {
        (None, None) => None,
        (Some(min), None) => Some(format!("{} or more", bytes(min))),
        (None, Some(max)) => Some(format!("{} or less", bytes(max))),
        (Some(min), Some(max)) => Some(format!("{} to {}", bytes(min), bytes(max))),
    };
    let again = admit.second_hit.then(|| "when asked for a second time".to_owned());
    let chance = (admit.probability < 1.0).then(|| format!("with probability {}", admit.probability));
    let rules: Vec<_> = [size, again, chance].into_iter().flatten().collect();
    (!rules.is_empty()).then(|| rules.join(", "))
}
