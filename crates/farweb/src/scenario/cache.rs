//! Caches at nodes of the path: the keys of a `[[cache]]` table, as types, and the rules for them.

use serde::{Deserialize, Serialize};

use super::Scenario;
use crate::cache::{Admit, CacheConfig, Changed, Policy};
use crate::node::{CacheMode, DivideBy};
use crate::units::{Bytes, Duration, Share};

/// Most siblings at a node. Chosen: more than any cluster behind one address.
#[cfg(test)] // only the schema asks
const SIBLINGS_MAX: u32 = 1000;

/// Most that a sum of shares may exceed 1 by rounding.
const SHARE_TOLERANCE: f64 = 1e-9;

/// A cache at a node between the clients and the origin servers. Whether a request is a hit follows from one of three: the
/// contents under a policy and a capacity; a draw with the probability `hit_ratio`; or, with neither, the request table's column
/// `source`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Name of the node that the cache is at.
    #[cfg_attr(test, schemars(example = &"proxy"))]
    pub node: String,
    /// Role of the node towards packets; left out, "cut-through" inside a leg and "split" where two legs meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CacheMode>,
    /// Share of all client requests that the cache serves, 0 to 1, drawn at random; shares of several caches add up to 1 at most.
    #[cfg_attr(test, schemars(with = "Share", range(min = 0, max = 1)))]
    #[serde(default, deserialize_with = "Share::deserialize_some", skip_serializing_if = "Option::is_none")]
    pub hit_ratio: Option<f64>,
    /// Replacement policy of a live cache: which objects it gives up when a new one needs their room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// Capacity of a live cache in bytes; of each of its siblings, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Admission: which objects a live cache takes in.
    #[serde(default, skip_serializing_if = "Admit::is_all")]
    pub admit: Admit,
    /// Time for which an object is fresh; a later request first makes a conditional one. For ever when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Duration>,
    /// Treatment of a request with another size than the fresh copy held or the fetch under way.
    #[serde(default)]
    pub changed: Changed,
    /// True when requests for an object that is being fetched wait for that fetch; else each fetches for itself.
    #[serde(default = "yes")]
    pub coalesce: bool,
    /// Number of sibling caches that share the node, each with a part of the objects.
    #[cfg_attr(test, schemars(range(min = 1, max = SIBLINGS_MAX)))]
    #[serde(default = "one")]
    pub siblings: u32,
    /// Key that divides objects among siblings.
    #[serde(default)]
    pub divide_by: DivideBy,
}

const fn yes() -> bool {
    true
}

const fn one() -> u32 {
    1
}

impl Cache {
    /// Configuration of the live cache, or of each of its siblings. `None` where hits are drawn or listed.
    ///
    /// # Panics
    /// When there is a policy and no capacity, which the check of a scenario makes sure of.
    #[must_use]
    pub fn live(&self) -> Option<CacheConfig> {
        let policy = self.policy?;
        let capacity = self.capacity.expect("a checked cache with a policy has a capacity");
        Some(CacheConfig { policy, capacity, admit: self.admit, ttl: self.ttl, changed: self.changed })
    }

    /// The mode of this cache where it stands: where two legs meet, or inside a leg.
    #[must_use]
    pub fn mode_at(&self, legs_meet: bool) -> CacheMode {
        self.mode.unwrap_or(if legs_meet { CacheMode::Split } else { CacheMode::CutThrough })
    }
}

/// Problems of the caches of `scenario`, each a dotted key and its fault.
pub(super) fn problems(scenario: &Scenario) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for (index, cache) in scenario.cache.iter().enumerate() {
        let key = |name: &str| format!("cache.{index}.{name}");
        if let Some(message) = wrong_place(scenario, index) {
            problems.push((key("node"), message));
        } else if let Some(message) = wrong_mode(scenario, cache) {
            problems.push((key("mode"), message));
        }
        problems.extend(wrong_contents(scenario, cache).map(|(name, message)| (key(name), message)));
        if let Some(share) = cache.hit_ratio.filter(|share| !(0.0..=1.0).contains(share)) {
            problems.push((key("hit_ratio"), format!("found {share}; a share is 0 to 1")));
        }
    }
    let drawn: f64 = scenario.cache.iter().filter_map(|cache| cache.hit_ratio).sum();
    if problems.is_empty() && drawn > 1.0 + SHARE_TOLERANCE {
        let last = scenario.cache.iter().rposition(|cache| cache.hit_ratio.is_some()).unwrap_or_default();
        let message = format!("shares of all client requests add up to {drawn}; together they are at most 1");
        problems.push((format!("cache.{last}.hit_ratio"), message));
    }
    problems
}

/// Problem with the node of a cache.
fn wrong_place(scenario: &Scenario, index: usize) -> Option<String> {
    let (nodes, node) = (&scenario.path.nodes, &scenario.cache[index].node);
    let Some(place) = nodes.iter().position(|other| other == node) else {
        return Some(format!("{node:?} is not a node; the nodes are {}", nodes.join(", ")));
    };
    if scenario.cache[..index].iter().any(|other| other.node == *node) {
        return Some(format!("{node} has a cache already; a node has one"));
    }
    if place == 0 {
        return Some(format!(
            "requests start at {node}, and a cache is behind that; put a node for the cache between {node} and the servers"
        ));
    }
    (place + 1 == nodes.len()).then(|| {
        format!("{node} is where the origin servers are, which hold everything; name a node before it")
    })
}

/// Problem with the mode of a cache at a node between the first and the last.
fn wrong_mode(scenario: &Scenario, cache: &Cache) -> Option<String> {
    let node = &cache.node;
    let legs_meet = scenario.leg.iter().any(|leg| leg.to == *node);
    let is_inside = cache.mode_at(legs_meet) == CacheMode::CutThrough;
    if is_inside && legs_meet {
        return Some(format!(
            "found \"cut-through\", which is for a node inside a leg, and legs meet at {node}; write mode = \"split\" or \
             \"store-and-forward\""
        ));
    }
    if !is_inside && !legs_meet {
        return Some(format!(
            "no leg ends at {node}; write mode = \"cut-through\", or two legs that meet there"
        ));
    }
    let place = |name: &str| scenario.path.nodes.iter().position(|other| other == name);
    let around =
        scenario.leg.iter().find(|leg| place(&leg.from) < place(node) && place(node) < place(&leg.to));
    around.filter(|leg| is_inside && leg.carrier.connection_use().standing).map(|_| {
        format!(
            "a leg with caches inside opens its connections for requests, and the carrier's always stand; end a leg at {node} \
             for mode = \"split\""
        )
    })
}

/// Problem of the keys for the contents of a cache: a key and its fault.
fn wrong_contents(scenario: &Scenario, cache: &Cache) -> Option<(&'static str, String)> {
    let Some(policy) = cache.policy else {
        let set = [
            ("capacity", cache.capacity.is_some()),
            ("admit", !cache.admit.is_all()),
            ("ttl", cache.ttl.is_some()),
            ("changed", cache.changed != Changed::default()),
            ("coalesce", !cache.coalesce),
            ("siblings", cache.siblings != 1),
            ("divide_by", cache.divide_by != DivideBy::default()),
        ];
        let (name, _) = set.into_iter().find(|(_, is_set)| *is_set)?;
        return Some((
            name,
            "belongs to a live cache; write a policy beside it, such as policy = \"lru\"".to_owned(),
        ));
    };
    if cache.hit_ratio.is_some() {
        return Some(("hit_ratio", "stands beside a policy; write one of the two".to_owned()));
    }
    if policy.needs_the_future() {
        let message = "found \"belady\", which knows the future: a bound for farweb workload cache; write a policy that does not";
        return Some(("policy", message.to_owned()));
    }
    match cache.capacity {
        None => return Some(("capacity", "missing; write for example capacity = \"10 MB\"".to_owned())),
        Some(Bytes::ZERO) => return Some(("capacity", "found 0 B; write a size above zero".to_owned())),
        Some(_) => {}
    }
    if let Err(message) = cache.admit.check() {
        return Some(("admit", message));
    }
    let legs_meet = scenario.leg.iter().any(|leg| leg.to == cache.node);
    let is_inside = cache.mode_at(legs_meet) == CacheMode::CutThrough;
    match cache.ttl {
        Some(Duration::ZERO) => {
            Some(("ttl", "found 0 s; write 1 ns for copies that are never fresh; without the key all are fresh for ever".to_owned()))
        }
        Some(_) if is_inside => {
            Some(("ttl", "a cache inside a leg makes no conditional requests; end a leg at the node, or leave the key out".to_owned()))
        }
        _ if scenario.workload.family.is_some_and(|family| !family.has_objects()) => Some((
            "policy",
            "the requests of the family have no objects that a cache could hold; write family = \"prowgen\", a request \
             table with the column object, or hit_ratio"
                .to_owned(),
        )),
        _ => None,
    }
}
