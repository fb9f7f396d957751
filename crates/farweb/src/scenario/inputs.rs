//! Files that a scenario names: the only list of them. A further kind of file is a variant and a line here.

use super::Scenario;

/// Kind of a file that a scenario names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A request table.
    Requests,
    /// A host table.
    Hosts,
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
}

impl InputKind {
    /// The kind as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Hosts => "hosts",
        }
    }
}

impl Scenario {
    /// The files that a run with this seed reads.
    #[must_use]
    pub fn inputs(&self, seed: u64) -> Vec<Input> {
        let tables =
            [(InputKind::Requests, &self.workload.requests), (InputKind::Hosts, &self.workload.hosts)];
        let named = tables.into_iter().filter_map(|(kind, file)| file.as_ref().map(|file| (kind, file)));
        named
            .map(|(kind, file)| Input {
                name: kind.word().to_owned(),
                key: format!("workload.{}", kind.word()),
                kind,
                file: file.replace("{seed}", &seed.to_string()),
            })
            .collect()
    }
}
