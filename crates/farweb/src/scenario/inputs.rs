//! Files that a scenario names: the only list of them. A further kind of file is a variant and a line here.

use super::Scenario;
use crate::net::Direction;

/// Kind of a file that a scenario names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputKind {
    /// A request table.
    Requests,
    /// A host table.
    Hosts,
    /// A schedule of a link.
    Schedule,
    /// A trace of a link.
    Trace,
}

/// A file that a scenario names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Its name in manifests.
    pub name: String,
    /// Key that names it.
    pub key: String,
    /// Its kind.
    pub kind: InputKind,
    /// Its file, with the seed in place of `{seed}`.
    pub file: String,
    /// The link that names it, by its place, and the direction.
    pub link: Option<(usize, Direction)>,
}

impl InputKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Requests, Self::Hosts, Self::Schedule, Self::Trace];

    /// The kind as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Hosts => "hosts",
            Self::Schedule => "schedule",
            Self::Trace => "trace",
        }
    }
}

impl Scenario {
    /// The files that a run with this seed reads.
    #[must_use]
    pub fn inputs(&self, seed: u64) -> Vec<Input> {
        let workload =
            [(InputKind::Requests, &self.workload.requests), (InputKind::Hosts, &self.workload.hosts)];
        let workload = workload.into_iter().map(|(kind, file)| {
            let (name, key) = (kind.word().to_owned(), format!("workload.{}", kind.word()));
            (name, key, kind, file, None)
        });
        let links = self.path.link.iter().enumerate().flat_map(|(index, link)| {
            [Direction::Up, Direction::Down].into_iter().flat_map(move |way| {
                let own = link.towards(way);
                [(InputKind::Schedule, &own.schedule), (InputKind::Trace, &own.trace)].map(|(kind, file)| {
                    let key = format!("path.link.{index}.{}.{}", way.name(), kind.word());
                    (key.clone(), key, kind, file, Some((index, way)))
                })
            })
        });
        let named = workload.chain(links).filter_map(|(name, key, kind, file, link)| {
            let file = file.as_ref()?.replace("{seed}", &seed.to_string());
            Some(Input { name, key, kind, file, link })
        });
        named.collect()
    }
}
