//! Pages as tables and JSON have them: a row a request with its dependency, a row a host, and counts of both.

use serde::Serialize;

use super::graph::{Dependency, Edge, Rule, graph_of};
use super::recording::{Facts, Recording, as_table};
use super::sent::Sent;

/// A request of a page as a table has it, times in s.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    page: &'a str,
    object: usize,
    host: &'a str,
    method: &'a str,
    request_bytes: u64,
    response_bytes: u64,
    server_s: f64,
    parents: String,
    think_s: f64,
    gates: Option<&'static str>,
    id: &'a str,
    tail_s: Option<f64>,
    dom_tail_s: Option<f64>,
    name: &'a str,
    kind: &'static str,
    dependency: &'static str,
    confidence: f64,
    recorded_issue_s: f64,
    recorded_send_s: f64,
    recorded_first_s: f64,
    recorded_end_s: f64,
    recorded_protocol: &'static str,
}

/// What a page holds, by protocol, kind of dependency and host.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    #[serde(flatten)]
    facts: Facts<'a>,
    url: &'a str,
    exporter: &'a str,
    browser: &'a str,
    recorded_rate_bps: f64,
    /// How sure dependencies are on average, 0 to 1.
    confidence: f64,
    #[serde(serialize_with = "as_table")]
    protocols: Vec<(&'static str, u64)>,
    #[serde(serialize_with = "as_table")]
    dependencies: Vec<(&'static str, u64)>,
    /// The one with most bytes first.
    hosts: Vec<OfHost<'a>>,
}

/// Requests of a page to a host.
#[derive(Debug, Serialize)]
struct OfHost<'a> {
    host: &'a str,
    requests: usize,
    response_bytes: u64,
    rtt_s: f64,
    confidence: f64,
}

impl Recording {
    /// The requests of the page, called `page`, as a table has them.
    #[must_use]
    pub fn rows<'a>(&'a self, page: &'a str) -> Vec<Row<'a>> {
        let graph = graph_of(self, Rule::Likely);
        let row = |(place, (sent, dependency)): (usize, (&'a Sent, &Dependency))| Row {
            page,
            object: place,
            host: &sent.host,
            method: &sent.method,
            request_bytes: sent.request_bytes,
            response_bytes: sent.response_bytes,
            server_s: self.server_ms[place] / 1e3,
            parents: dependency.edges.iter().map(|edge| self.anchor(*edge)).collect::<Vec<_>>().join(" "),
            think_s: dependency.think_ms / 1e3,
            gates: self.gates[place].then_some("load"),
            id: &sent.name,
            tail_s: (place == 0).then(|| self.tail_ms() / 1e3),
            dom_tail_s: if place == 0 { self.dom_tail_s() } else { None },
            name: &sent.name,
            kind: sent.kind.word(),
            dependency: dependency.evidence.word(),
            confidence: dependency.evidence.confidence(),
            recorded_issue_s: sent.issue_ms / 1e3,
            recorded_send_s: sent.send_ms / 1e3,
            recorded_first_s: sent.first_ms / 1e3,
            recorded_end_s: sent.end_ms / 1e3,
            recorded_protocol: sent.protocol.word(),
        };
        self.sent.iter().zip(&graph).enumerate().map(row).collect()
    }

    /// Facts of the page with counts, called `page`.
    #[must_use]
    pub fn listed<'a>(&'a self, page: &'a str) -> Listed<'a> {
        let (graph, mut facts) = (graph_of(self, Rule::Likely), self.facts());
        facts.page = page;
        Listed {
            facts,
            url: &self.url,
            exporter: &self.exporter,
            browser: &self.browser,
            recorded_rate_bps: self.rate_bps,
            confidence: mean_confidence(&graph),
            protocols: counted(self.sent.iter().map(|sent| sent.protocol.word())),
            dependencies: counted(graph.iter().map(|dependency| dependency.evidence.word())),
            hosts: self.of_hosts(&graph),
        }
    }

    fn of_hosts<'a>(&'a self, graph: &[Dependency]) -> Vec<OfHost<'a>> {
        let of_host = |(host, rtt_ms): &'a (String, f64)| {
            let those = || self.sent.iter().zip(graph).filter(|(sent, _)| sent.host == *host);
            OfHost {
                host,
                requests: those().count(),
                response_bytes: those().map(|(sent, _)| sent.response_bytes).sum(),
                rtt_s: rtt_ms / 1e3,
                confidence: mean_confidence(those().map(|(_, dependency)| dependency)),
            }
        };
        let mut hosts: Vec<_> = self.rtt_ms.iter().map(of_host).collect();
        hosts.sort_by(|one, other| {
            other.response_bytes.cmp(&one.response_bytes).then_with(|| one.host.cmp(other.host))
        });
        hosts
    }

    /// An edge as a table has it: `0@end`, `0@start`, `0@first`, or bytes of the response, `0@18240`.
    fn anchor(&self, Edge { parent, share }: Edge) -> String {
        let at = match share {
            None => "start".into(),
            Some(1.0..) => "end".into(),
            Some(share) => {
                let bytes = (share * self.sent[parent].response_bytes as f64).round_ties_even();
                if bytes > 1.0 { bytes.to_string() } else { "first".into() }
            }
        };
        format!("{parent}@{at}")
    }

    /// From the last end before `DOMContentLoaded` to that, in s.
    fn dom_tail_s(&self) -> Option<f64> {
        let dom_ms = self.dom_ms?;
        let ends = self.sent.iter().map(|sent| sent.end_ms).filter(|end_ms| *end_ms <= dom_ms);
        Some((dom_ms - ends.reduce(f64::max)?) / 1e3)
    }
}

fn mean_confidence<'a>(graph: impl IntoIterator<Item = &'a Dependency>) -> f64 {
    let (sum, number) = graph
        .into_iter()
        .fold((0.0, 0.0), |(sum, number), dependency| (sum + dependency.evidence.confidence(), number + 1.0));
    sum / number
}

/// How often each word comes, in the order of their first times.
fn counted(words: impl Iterator<Item = &'static str>) -> Vec<(&'static str, u64)> {
    let mut counts: Vec<(&str, u64)> = Vec::new();
    for word in words {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, number)) => *number += 1,
            None => counts.push((word, 1)),
        }
    }
    counts
}
