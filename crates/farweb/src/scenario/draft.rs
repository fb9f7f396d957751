//! Scenarios to start from, written with comments from choices: kinds of paths, proxies, caches, servers and requests.
//!
//! Figures of the long part are a preset's, with their sources. All other numbers are chosen, and their
//! comments say so.

use serde::Deserialize;

use super::preset::{Preset, PresetName};

mod legs;
mod sweep;
mod texts;
mod whole;

pub use legs::RELAY_TCP;

/// Choices that a scenario is written from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// Name of the file, for the commands in its head.
    pub file: String,
    /// The first of several is simulated, and a sweep compares them.
    pub ways: Vec<Way>,
    /// Disciplines of the long part's queues, where they are not the path's own: a sweep compares several.
    #[serde(default)]
    pub queues: Vec<String>,
    /// A cache in front of the long part.
    #[serde(default)]
    pub cache: Option<Level>,
    /// A cache behind it, which the other asks.
    #[serde(default)]
    pub shield: Option<Level>,
    /// True when the clients are a local network away from the long part.
    #[serde(default)]
    pub is_local: bool,
    /// Connections to the servers.
    pub serving: Serving,
    /// Who shares connections. The default of the format when left out.
    #[serde(default)]
    pub clients: Option<Sharing>,
    /// When servers answer.
    pub release: Release,
    /// The requests.
    pub requests: Asked,
    /// Time from the first request to the last, in s.
    pub span_s: f64,
}

/// A kind of path and the proxies on it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// A preset of a link, or another word for it, which its name is then.
    pub path: String,
    /// Its proxies.
    pub proxy: Proxy,
}

/// Proxies on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Proxy {
    /// None: connections go from end to end.
    None,
    /// One at the far end.
    Split,
    /// One at each end of the long part, with shared connections between them.
    Mux,
    /// Relays of TCP at both ends of the long part.
    Pep,
}

/// A cache.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its size, as a scenario writes it.
    pub capacity: String,
    /// Its replacement policy.
    pub policy: String,
}

/// Connections to the servers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    /// Carrier of requests, as a scenario writes it.
    pub carrier: String,
    /// True when connections are under TLS.
    pub tls: bool,
    /// True when the servers use Nagle's rule.
    pub nagle: bool,
    /// Evidence for these, a sentence each.
    pub reasons: Vec<String>,
}

/// Who shares connections, by the place where a log was written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sharing {
    /// `each` or `all`.
    pub share: String,
    /// The place, as `--seen-at` takes it.
    pub seen_at: String,
    /// A sentence on it.
    pub about: String,
    /// True where some requests are tunnels.
    pub has_tunnels: bool,
}

/// When servers answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// Spread over the recorded time.
    Paced,
    /// Whole, after the recorded wait.
    AfterWait,
    /// Whole, after the recorded time.
    Delayed,
}

/// The requests of a draft.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// The family nzix: ten minutes of the web of 1997.
    Nzix,
    /// A part of ProWGen's requests, to try caches with.
    Prowgen,
    /// 400 pages and pictures of the web, to turn knobs with.
    Web,
    /// A request table.
    Table {
        /// Its path.
        requests: String,
    },
    /// One load of a page by a browser, whose first proxy stands beside it.
    Page {
        /// The requests, as the caller calls them.
        requests: String,
    },
    /// The tables of an imported log.
    Log {
        /// A sentence on the log and the lines left out.
        origin: String,
        /// The request table.
        requests: String,
        /// The host table.
        hosts: String,
    },
}

impl Draft {
    /// The scenario as text.
    ///
    /// # Errors
    /// When there is no way, or a path is no preset of a link.
    pub fn to_toml(&self) -> Result<String, String> {
        let kinds: Vec<&Preset> = self
            .ways
            .iter()
            .map(|way| way.path.parse::<PresetName>().map(PresetName::preset))
            .collect::<Result<_, _>>()?;
        let ways: Vec<(&Way, &Preset)> = self.ways.iter().zip(kinds).collect();
        let first = *ways.first().ok_or("a scenario needs a path")?;
        let drawn = Writer { draft: self, ways, first };
        Ok(drawn.whole())
    }
}

/// A draft with the presets of its paths.
struct Writer<'d> {
    draft: &'d Draft,
    ways: Vec<(&'d Way, &'d Preset)>,
    first: (&'d Way, &'d Preset),
}

#[cfg(test)]
mod tests;
