//! Loads a page by runs: issue times, a run, new issue times, until they settle.
//!
//! Each run is right about one more level of the graph at least, since no request depends on a later one: a page of n requests
//! settles within n + 2 runs, to the nanosecond. A dependency on a share of a response is the exception: its time depends on
//! the whole transfer, and the waiting request may compete with it. If runs repeat because of that, the times of transfers are
//! held, and no request depends on a later one any more.

use rustc_hash::FxHashSet;

use super::graph::{Dependency, Edge, Evidence};
use super::recording::Recording;
use crate::record::{Column, NULL_CODE, NULL_INT};
use crate::scenario::Scenario;
use crate::units::words::count;
use crate::workload::{Batch, BatchTable, Begin, Directory, Prepared, Requests, Words, WorkloadError};
use crate::world::World;

/// First guess of the time of a request. Chosen: a round trip over a long path.
const GUESS_NS: i64 = 200_000_000;

/// Events between two looks at the rows. Chosen: rows of some MB at most.
const EVENTS_A_STEP: u64 = 200_000;

const CLIENT: u64 = 1;

/// A request of a page as a run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Host of the connections it uses.
    pub host: String,
    /// Header and body.
    pub request_bytes: u64,
    /// Header and body.
    pub response_bytes: u64,
    /// Time of the server.
    pub server_s: f64,
    /// Its causes.
    pub dependency: Dependency,
    /// True under TLS.
    pub is_secure: bool,
    /// Node that serves it, empty for its server.
    pub source: String,
}

/// A page that was loaded, times in ns since it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// Issue of each request.
    pub issue_ns: Vec<i64>,
    /// First byte of its response.
    pub first_ns: Vec<i64>,
    /// Last byte.
    pub end_ns: Vec<i64>,
    /// How often the page was run until it settled.
    pub runs: usize,
}

/// Why a page is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// Requests fail over the path: so many, of so many.
    #[error("{} of {} requests of the page fail over this path; farweb run shows why", count(*.0 as f64), count(*.1 as f64))]
    Failed(usize, usize),
    /// The issue times do not settle: runs, and ms by which a request still moves.
    #[error("the page does not settle: after {0} runs a request still moves by {1:.1} ms")]
    Unsettled(usize, f64),
    /// The path cannot be run with these requests.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// The requests of a page behind its graph: over HTTP/2 hosts share connections as recorded.
#[must_use]
pub fn asked_of(recording: &Recording, graph: &[Dependency], is_multiplexed: bool) -> Vec<Asked> {
    let of = |(place, sent): (usize, &super::Sent)| Asked {
        host: if is_multiplexed { recording.origins[place].clone() } else { sent.host.clone() },
        request_bytes: sent.request_bytes,
        response_bytes: sent.response_bytes,
        server_s: recording.server_ms[place] / 1000.0,
        dependency: graph[place].clone(),
        is_secure: sent.is_secure,
        source: String::new(),
    };
    recording.sent.iter().enumerate().map(of).collect()
}

/// A later visit to a page: requests of the visit before, which leave a ticket of each host with the client, and the page a pause
/// behind them. Also the number of the former.
#[must_use]
pub fn later_visit(page: &[Asked], pause_ms: f64) -> (Vec<Asked>, usize) {
    let mut all: Vec<Asked> = Vec::new();
    for each in page {
        let is_known = |seen: &Asked| {
            (&seen.host, seen.is_secure, &seen.source) == (&each.host, each.is_secure, &each.source)
        };
        if !all.iter().any(is_known) {
            let dependency = Dependency { edges: Vec::new(), think_ms: 0.0, evidence: Evidence::First };
            let (request_bytes, response_bytes, server_s) = (1, 1, 0.0);
            all.push(Asked { request_bytes, response_bytes, server_s, dependency, ..each.clone() });
        }
    }
    let number = all.len();
    for each in page {
        let Dependency { edges, think_ms, evidence } = &each.dependency;
        let think_ms = think_ms + if edges.is_empty() { pause_ms } else { 0.0 };
        let edges = edges.iter().map(|edge| Edge { parent: edge.parent + number, ..*edge }).collect();
        all.push(Asked { dependency: Dependency { edges, think_ms, evidence: *evidence }, ..each.clone() });
    }
    (all, number)
}

/// Loads a page over the path of `scenario`, whose own requests do not count. Each run draws from `seed`.
///
/// # Errors
/// When a request fails, or the issue times do not settle.
pub fn settle(scenario: &Scenario, page: &[Asked], seed: u64) -> Result<Loaded, SettleError> {
    let (mut issue, mut seen) = (guess(page), FxHashSet::default());
    let mut held: Option<Vec<i64>> = None;
    let (most, mut moved) = (2 * page.len() + 4, 0);
    for runs in 1..=most {
        let (first, end) = run(scenario, page, &issue, seed)?;
        let spans = || end.iter().zip(&first).map(|(end, first)| end - first).collect::<Vec<_>>();
        if held.is_none() && !seen.insert(issue.clone()) {
            held = Some(spans());
        }
        let after = issues(page, &first, &end, held.as_ref().unwrap_or(&spans()));
        if after == issue {
            return Ok(Loaded { issue_ns: issue, first_ns: first, end_ns: end, runs });
        }
        moved = after.iter().zip(&issue).map(|(after, before)| (after - before).abs()).max().unwrap_or(0);
        issue = after;
    }
    Err(SettleError::Unsettled(most, moved as f64 / 1e6))
}

impl Loaded {
    /// The load without its first `number` requests, times since a visit that began at `begin_ns`.
    #[must_use]
    pub fn behind(&self, number: usize, begin_ns: i64) -> Self {
        let [issue_ns, first_ns, end_ns] = [&self.issue_ns, &self.first_ns, &self.end_ns]
            .map(|times| times[number..].iter().map(|time| time - begin_ns).collect());
        Self { issue_ns, first_ns, end_ns, runs: self.runs }
    }

    /// Think on the critical path to the request at `place`, its own included.
    #[must_use]
    pub fn think_ms(&self, graph: &[Dependency], mut place: usize) -> f64 {
        let mut found = 0.0;
        loop {
            found += graph[place].think_ms;
            let later =
                |last: Edge, each: Edge| if self.held_ns(each) > self.held_ns(last) { each } else { last };
            match graph[place].edges.iter().copied().reduce(later) {
                Some(edge) => place = edge.parent,
                None => return found,
            }
        }
    }

    fn held_ns(&self, edge: Edge) -> f64 {
        let [first, end] = [&self.first_ns, &self.end_ns].map(|times| times[edge.parent] as f64);
        edge.share.map_or(self.issue_ns[edge.parent] as f64, |share| first + share * (end - first))
    }
}

fn think_ns(asked: &Asked) -> i64 {
    (asked.dependency.think_ms * 1e6).round_ties_even() as i64
}

fn guess(page: &[Asked]) -> Vec<i64> {
    let mut issue = Vec::with_capacity(page.len());
    for each in page {
        let before = each.dependency.edges.iter().map(|edge| issue[edge.parent] + GUESS_NS).max();
        issue.push(before.unwrap_or(0) + think_ns(each));
    }
    issue
}

/// Issue of each request by first and last bytes of a run, and by how long each response takes in between.
///
/// A request that follows another is issued a nanosecond later: the connection of that is idle by then.
fn issues(page: &[Asked], first: &[i64], end: &[i64], spans: &[i64]) -> Vec<i64> {
    let mut issue = Vec::with_capacity(page.len());
    for each in page {
        let at = |edge: &Edge| match edge.share {
            None => issue[edge.parent],
            Some(1.0) => end[edge.parent],
            Some(share) => first[edge.parent] + (share * spans[edge.parent] as f64).ceil() as i64,
        };
        let held = each.dependency.edges.iter().map(|edge| at(edge) + 1).max().unwrap_or(0).max(0);
        issue.push(held + think_ns(each));
    }
    issue
}

/// First and last byte of each response, with requests issued at these times.
fn run(
    scenario: &Scenario,
    page: &[Asked],
    issue: &[i64],
    seed: u64,
) -> Result<(Vec<i64>, Vec<i64>), SettleError> {
    let mut order: Vec<_> = (0..page.len()).collect();
    order.sort_by_key(|place| issue[*place]);
    let prepared = Prepared::of_table(Box::new(Rows(batch(page, issue, &order))), None, None)?;
    let (mut requests, _) = prepared.laid(&scenario.workload.laying(seed))?;
    let mut world = World::new(scenario, seed, Directory::default());
    let (mut first, mut end) = (vec![NULL_INT; page.len()], vec![NULL_INT; page.len()]);
    loop {
        let is_done = world.advance(&mut *requests, EVENTS_A_STEP)?.done;
        let tables = world.take();
        if let Some((_, columns)) = tables.iter().find(|(table, _)| *table == "requests") {
            let [rows, firsts, ends] = ["request", "first_byte_ns", "end_ns"].map(|name| ints(columns, name));
            for ((row, first_ns), end_ns) in rows.iter().zip(firsts).zip(ends) {
                let place = order[*row as usize];
                (first[place], end[place]) = (*first_ns, *end_ns);
            }
        }
        if is_done {
            break;
        }
    }
    match end.iter().filter(|end| **end == NULL_INT).count() {
        0 => Ok((first, end)),
        failed => Err(SettleError::Failed(failed, page.len())),
    }
}

fn ints<'a>(columns: &'a [(&'static str, Column)], name: &str) -> &'a [i64] {
    match columns.iter().find(|(column, _)| *column == name) {
        Some((_, Column::Int(values))) => values,
        _ => unreachable!("requests have a column {name} of whole numbers"),
    }
}

/// The requests of a run as a table of a batch.
struct Rows(Batch);

impl Begin for Rows {
    fn begin(&self) -> Result<Requests, WorkloadError> {
        let mut batch = Some(self.0.clone());
        Ok(Box::new(BatchTable::new("the page", move || Ok(batch.take()))))
    }
}

fn batch(page: &[Asked], issue: &[i64], order: &[usize]) -> Batch {
    let rows = || order.iter().map(|place| &page[*place]);
    let words = |word: &dyn Fn(&Asked) -> &str| {
        let mut words: Vec<_> = page.iter().map(|each| word(each).to_owned()).collect();
        words.retain(|word| !word.is_empty());
        words.sort_unstable();
        words.dedup();
        let code = |each| words.binary_search_by(|known| known.as_str().cmp(word(each)));
        let codes = rows().map(|each| code(each).map_or(NULL_CODE, |place| place as i32)).collect();
        Words { codes, words }
    };
    let source = words(&|each| &each.source);
    Batch {
        start_s: order.iter().map(|place| issue[*place] as f64 / 1e9).collect(),
        host: words(&|each| &each.host),
        request_bytes: rows().map(|each| each.request_bytes as i64).collect(),
        response_bytes: rows().map(|each| each.response_bytes as i64).collect(),
        server_s: Some(rows().map(|each| each.server_s).collect()),
        tls: Some(rows().map(|each| i8::from(each.is_secure)).collect()),
        client: Some(vec![CLIENT; page.len()]),
        source: (!source.words.is_empty()).then_some(source),
        ..Batch::default()
    }
}
