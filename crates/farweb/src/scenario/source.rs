//! A scenario with its source, to be read again with other values.

use serde_json::Value;

use super::document::Document;
use super::problem::{Problem, ScenarioError};
use super::{LinkFiles, Scenario, read};

/// Version of the scenario format that this version reads.
const FORMAT: i64 = 1;

/// A checked scenario, with the place of each key.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) document: Document,
    scenario: Scenario,
}

impl Source {
    /// Reads a scenario and checks it. See [`Scenario::parse`].
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        let mut problems = Vec::new();
        let document =
            Document::read(text, file, &mut problems).map_err(|problem| ScenarioError::new(vec![problem]))?;
        Self::read(document, problems, overrides)
    }

    /// Reads what [`Scenario::effective`] has written. `file` is where it stood.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn of_effective(tree: Value, file: &str) -> Result<Self, ScenarioError> {
        Self::read(Document::of_tree(tree, file), Vec::new(), &[])
    }

    /// The same with other values. Overrides as for [`Scenario::parse`].
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Self::read(self.document.clone(), Vec::new(), overrides)
    }

    /// The scenario without its sweep: what a single run simulates.
    #[must_use]
    pub fn without_sweep(&self) -> Self {
        let scenario = Scenario { sweep: None, ..self.scenario.clone() };
        Self { document: self.document.without("sweep"), scenario }
    }

    /// The scenario.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The scenario alone.
    #[must_use]
    pub fn into_scenario(self) -> Scenario {
        self.scenario
    }

    /// The scenario with the content of the files that its links name, ready to simulate.
    ///
    /// # Errors
    /// When a file is missing, or makes no sense in the scenario.
    pub fn complete(&self, files: &LinkFiles) -> Result<Scenario, ScenarioError> {
        files.complete(&self.scenario).map_err(|problems| {
            ScenarioError::new(problems.iter().map(|(key, message)| self.problem(key, message)).collect())
        })
    }

    /// A problem with the value at `key`, at its place.
    #[must_use]
    pub fn problem(&self, key: &str, message: &str) -> Problem {
        self.document.problem(key, message)
    }

    /// The scenario that `document` describes.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub(crate) fn of(document: Document) -> Result<Self, Vec<Problem>> {
        read(&document).map(|scenario| Self { document, scenario })
    }

    fn read(
        mut document: Document,
        mut problems: Vec<Problem>,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        for (key, value) in overrides {
            problems.extend(document.set(key, value).err());
        }
        if let Some(problem) = wrong_format(&document) {
            return Err(ScenarioError::new(vec![problem]));
        }
        match Self::of(document) {
            Ok(source) if problems.is_empty() => Ok(source),
            Ok(_) => Err(ScenarioError::new(problems)),
            Err(more) => Err(ScenarioError::new(problems.into_iter().chain(more).collect())),
        }
    }
}

/// A file of another format is not worth looking into: its keys are others.
fn wrong_format(document: &Document) -> Option<Problem> {
    let format = document.tree.get("format")?.as_i64()?;
    let message = match format {
        FORMAT => return None,
        newer if newer > FORMAT => {
            format!("found {newer}: made for a newer farweb; farweb {} reads format {FORMAT}", crate::VERSION)
        }
        older => format!("found {older}; there is only format {FORMAT}"),
    };
    Some(document.problem("format", message))
}
