//! The design of a sweep: its points, the scenario at each, and the seeds of its runs.

mod check;
mod design;
mod sample;
#[cfg(test)]
mod tests;

pub use design::{Design, DesignFactor, Level};

use crate::scenario::{Scenario, ScenarioError, Source};

/// A checked scenario, and the design of its sweep if it has one.
#[derive(Debug, Clone)]
pub struct Planned {
    source: Source,
    design: Option<Design>,
}

impl Planned {
    /// Reads a scenario and checks it, each level of its sweep like an override. See [`Scenario::parse`].
    ///
    /// # Errors
    /// Everything wrong, with its place. Levels once there is nothing else.
    pub fn parse(text: &str, file: &str, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        Source::parse(text, file, overrides).and_then(Self::of)
    }

    /// The scenario with the design of its sweep.
    ///
    /// # Errors
    /// Everything that is wrong with the sweep.
    pub fn of(source: Source) -> Result<Self, ScenarioError> {
        let design = check::design_of(&source).map_err(ScenarioError::new)?;
        Ok(Self { source, design })
    }

    /// The same with other values. Overrides as for [`Scenario::parse`].
    ///
    /// # Errors
    /// Everything that is wrong, with its place.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Self, ScenarioError> {
        self.source.with(overrides).and_then(Self::of)
    }

    /// The scenario without its sweep: what a single run simulates.
    #[must_use]
    pub fn without_sweep(&self) -> Self {
        Self { source: self.source.without_sweep(), design: None }
    }

    /// The scenario at a point of its sweep: with the levels of the point set, and without the sweep.
    ///
    /// # Errors
    /// When levels that are right alone make no sense together. The messages name the levels.
    ///
    /// # Panics
    /// When there is no such point.
    pub fn point(&self, number: usize) -> Result<Self, ScenarioError> {
        let design = self.design.as_ref().expect("only a sweep has points");
        let source = check::point(&self.source.document, design, number).map_err(ScenarioError::new)?;
        Ok(Self { source, design: None })
    }

    /// The scenario with the places of its keys.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The scenario.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        self.source.scenario()
    }

    /// The design of its sweep, if it has one.
    #[must_use]
    pub const fn design(&self) -> Option<&Design> {
        self.design.as_ref()
    }
}
