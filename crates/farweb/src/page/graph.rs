//! Which request of a page waited for what: rules on initiators and times, and two bounds around them.
//!
//! - [`Rule::Likely`]: the initiator that the file names, and the last script, sheet or document that ended right before the
//!   request if the initiator had ended long before. Without an initiator the latter alone.
//! - [`Rule::Few`]: initiators alone, or else the document. The least moves with round trips.
//! - [`Rule::Many`]: always the last that ended before. The most moves with round trips.

use rustc_hash::FxHashMap;

use super::recording::Recording;
use super::sent::{Kind, Sent, at_least_0};
use super::url::Url;

/// A cause that ended within so long before a request, in ms, may stand behind its initiator.
const HIDDEN_MS: f64 = 50.0;

/// Rule for the causes of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the module says it")]
pub enum Rule {
    Likely,
    Few,
    Many,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Likely, Self::Few, Self::Many];

    /// The word that options have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Likely => "likely",
            Self::Few => "few",
            Self::Many => "many",
        }
    }
}

/// How a dependency is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The first request has none.
    First,
    /// A redirect leads to it.
    Redirect,
    /// A preflight asked for it.
    Preflight,
    /// The file names its initiator.
    Initiator,
    /// Its initiator had ended long before, and something else right before.
    Hidden,
    /// Its time alone.
    Time,
}

impl Evidence {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::First, Self::Redirect, Self::Preflight, Self::Initiator, Self::Hidden, Self::Time];

    /// The word that tables have for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Redirect => "redirect",
            Self::Preflight => "preflight",
            Self::Initiator => "initiator",
            Self::Hidden => "hidden",
            Self::Time => "time",
        }
    }

    /// How sure the dependency is, 0 to 1. Chosen.
    #[must_use]
    pub const fn confidence(self) -> f64 {
        match self {
            Self::First | Self::Redirect | Self::Preflight => 1.0,
            Self::Initiator => 0.9,
            Self::Hidden => 0.6,
            Self::Time => 0.3,
        }
    }
}

/// A point of another request's load that a request waits for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Place of the other request, always an earlier one.
    pub parent: usize,
    /// Share of its response that has to be there, 0 (first byte) to 1 (end). `None` where its issue is enough.
    pub share: Option<f64>,
}

/// When a request is issued: a think time after the last of its edges, or after the page began.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// All have to hold.
    pub edges: Vec<Edge>,
    /// From the last of them to the issue.
    pub think_ms: f64,
    /// How it is known.
    pub evidence: Evidence,
}

/// The dependency of each request of a page, in their order.
#[must_use]
pub fn graph_of(recording: &Recording, rule: Rule) -> Vec<Dependency> {
    let causes = Causes::of(recording, rule);
    (0..recording.sent.len()).map(|place| causes.of_request(place)).collect()
}

/// Candidates for the cause of a request, by URL and by time.
struct Causes<'a> {
    sent: &'a [Sent],
    root: usize,
    rule: Rule,
    hop_of: FxHashMap<usize, usize>,
    by_url: FxHashMap<Key, Vec<usize>>,
    /// Scripts, sheets, documents and hops, by end.
    active: Vec<usize>,
}

impl<'a> Causes<'a> {
    fn of(recording: &'a Recording, rule: Rule) -> Self {
        let sent = &recording.sent[..];
        let mut by_url = FxHashMap::<_, Vec<_>>::default();
        for (place, each) in sent.iter().enumerate() {
            by_url.entry(key(&each.name)).or_default().push(place);
        }
        let mut active: Vec<_> = (0..sent.len()).filter(|place| is_active(&sent[*place])).collect();
        active.sort_by(|a, b| sent[*a].end_ms.total_cmp(&sent[*b].end_ms));
        Self { sent, root: recording.root, rule, hop_of: redirects(sent), by_url, active }
    }

    fn of_request(&self, place: usize) -> Dependency {
        let (edges, evidence) = self.edges(place);
        let held_ms = edges.iter().map(|edge| self.at_ms(*edge)).reduce(f64::max).unwrap_or(0.0);
        Dependency { edges, think_ms: at_least_0(self.sent[place].issue_ms - held_ms), evidence }
    }

    fn edges(&self, place: usize) -> (Vec<Edge>, Evidence) {
        let end = |parent| vec![Edge { parent, share: Some(1.0) }];
        if place == 0 {
            return (Vec::new(), Evidence::First);
        }
        if let Some(stated) = self.stated(place).filter(|_| self.rule == Rule::Likely) {
            return stated;
        }
        if let Some(hop) = self.hop_of.get(&place) {
            return (end(*hop), Evidence::Redirect);
        }
        if let Some(preflight) = self.preflight(place) {
            return (end(preflight), Evidence::Preflight);
        }
        let issue_ms = self.sent[place].issue_ms;
        let last = self.last_active(place);
        let named = if self.rule == Rule::Many { None } else { self.initiator(place) };
        let Some(named) = named else {
            let edges = match last.filter(|_| self.rule != Rule::Few) {
                Some(last) => end(last),
                None => vec![self.anchor(if self.root < place { self.root } else { 0 }, issue_ms)],
            };
            return (edges, Evidence::Time);
        };
        let edge = self.anchor(named, issue_ms);
        let since_ms = |other: usize| issue_ms - self.sent[other].end_ms;
        let is_long_over = edge.share == Some(1.0) && since_ms(named) > HIDDEN_MS;
        match last.filter(|last| self.rule == Rule::Likely && *last != named) {
            Some(last) if is_long_over && since_ms(last) <= HIDDEN_MS => {
                (vec![edge, Edge { parent: last, share: Some(1.0) }], Evidence::Hidden)
            }
            _ => (vec![edge], Evidence::Initiator),
        }
    }

    /// Causes of a request by farweb's own file. `None` where it does not say, or says what cannot be.
    fn stated(&self, place: usize) -> Option<(Vec<Edge>, Evidence)> {
        let stated = self.sent[place].stated.as_ref()?;
        let edge = |word: &str| {
            let (number, part) = word.split_once('@').unwrap_or((word, ""));
            let parent = number.parse::<usize>().ok().filter(|parent| *parent < place)?;
            let share = match part {
                "start" => None,
                "first" => Some(0.0),
                "end" => Some(1.0),
                bytes => Some(bytes.parse::<u64>().ok()? as f64 / self.sent[parent].response_bytes as f64),
            };
            share.is_none_or(|share| share <= 1.0).then_some(Edge { parent, share })
        };
        let edges: Vec<_> = stated.parents.split_whitespace().map(edge).collect::<Option<_>>()?;
        let evidence = Evidence::ALL.into_iter().find(|each| each.word() == stated.dependency)?;
        (!edges.is_empty()).then_some((edges, evidence))
    }

    /// The point of another request that issued a request.
    fn anchor(&self, parent: usize, issue_ms: f64) -> Edge {
        let Sent { first_ms, end_ms, .. } = self.sent[parent];
        let share = if issue_ms >= end_ms {
            Some(1.0)
        } else if issue_ms < first_ms {
            None
        } else {
            Some((issue_ms - first_ms) / (end_ms - first_ms))
        };
        Edge { parent, share }
    }

    /// When an edge held in the recording.
    fn at_ms(&self, edge: Edge) -> f64 {
        let Sent { issue_ms, first_ms, end_ms, .. } = self.sent[edge.parent];
        edge.share.map_or(issue_ms, |share| first_ms + share * (end_ms - first_ms))
    }

    /// The request that the file names as the cause. `None` without a name, or where several could be meant.
    ///
    /// A preflight has the URL of the request behind it in that place.
    fn initiator(&self, place: usize) -> Option<usize> {
        let sent = &self.sent[place];
        if sent.initiator.is_empty() || sent.kind == Kind::Preflight {
            return None;
        }
        let is_meant = |other: &&usize| {
            let other_sent = &self.sent[**other];
            **other < place && other_sent.redirect.is_empty() && other_sent.kind != Kind::Preflight
        };
        let named: Vec<_> = self.by_url.get(&key(&sent.initiator))?.iter().filter(is_meant).collect();
        (named.len() == 1 || sent.initiator_type == "parser").then(|| named.last().map(|last| **last))?
    }

    /// The preflight of a request: the last before it for its URL.
    fn preflight(&self, place: usize) -> Option<usize> {
        let sent = &self.sent[place];
        if sent.kind == Kind::Preflight {
            return None;
        }
        let is_asking = |other: &&usize| **other < place && self.sent[**other].kind == Kind::Preflight;
        let found = *self.by_url[&key(&sent.name)].iter().rfind(is_asking)?;
        (self.sent[found].end_ms <= sent.issue_ms).then_some(found)
    }

    /// The last script, sheet, document or hop that had ended when a request was issued.
    fn last_active(&self, place: usize) -> Option<usize> {
        let issue_ms = self.sent[place].issue_ms;
        let ended = self.active.partition_point(|other| self.sent[*other].end_ms <= issue_ms);
        self.active[..ended].iter().rev().copied().find(|other| *other < place)
    }
}

fn is_active(sent: &Sent) -> bool {
    let Sent { kind, redirect, .. } = sent;
    matches!(kind, Kind::Html | Kind::Css | Kind::Script | Kind::Json | Kind::Xml | Kind::Preflight)
        || !redirect.is_empty()
}

/// The hop before each target of a redirect: the first later request for it, if need be with another query.
fn redirects(sent: &[Sent]) -> FxHashMap<usize, usize> {
    let mut by_target = FxHashMap::<_, Vec<_>>::default();
    let ways = |key: Key| [Key { query: None, ..key.clone() }, key];
    for (place, each) in sent.iter().enumerate() {
        for way in ways(key(&each.name)) {
            by_target.entry(way).or_default().push(place);
        }
    }
    let mut hop_of = FxHashMap::default();
    for (hop, each) in sent.iter().enumerate().filter(|(_, each)| !each.redirect.is_empty()) {
        let [alike, equal] = ways(key(&each.redirect));
        let places = [equal, alike].into_iter().filter_map(|way| by_target.get(&way)).flatten();
        let target = places.copied().find(|place| *place > hop && !hop_of.contains_key(place));
        if let Some(target) = target {
            hop_of.insert(target, hop);
        }
    }
    hop_of
}

/// Scheme, host, path and query of a URL.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    scheme: String,
    authority: String,
    path: String,
    /// `None` for any.
    query: Option<String>,
}

fn key(url: &str) -> Key {
    let Some(Url { scheme, authority, path, query, .. }) = Url::parse(url) else {
        let none = String::new;
        return Key { scheme: url.to_owned(), authority: none(), path: none(), query: Some(none()) };
    };
    let path = if path.is_empty() { "/".to_owned() } else { path };
    Key { scheme, authority, path, query: Some(query) }
}
