//! Request tables in memory.

use farweb::scenario::Scenario;
use farweb::workload::{Prepared, hosts_of_bytes};
use wasm_bindgen::prelude::*;

/// The tables that scenarios may name: one of requests and its hosts, or none.
#[wasm_bindgen]
pub struct Tables(Option<Prepared>);

#[wasm_bindgen]
impl Tables {
    /// Reads a request table in text, plain or packed, called `name` in messages, and its host table if there is one.
    ///
    /// # Errors
    /// What is wrong with a row, and where.
    #[wasm_bindgen(constructor)]
    pub fn new(
        name: String,
        requests: Vec<u8>,
        hosts_name: String,
        hosts: Option<Vec<u8>>,
    ) -> Result<Self, JsError> {
        let hosts = hosts.map(|hosts| hosts_of_bytes(hosts_name, hosts)).transpose()?;
        Ok(Self(Some(Prepared::of_bytes(name, requests, hosts)?)))
    }

    /// No table.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }
}

impl Tables {
    /// Gives `take` the requests of a scenario: those of its family, or of the table.
    pub(crate) fn of<T>(&self, scenario: &Scenario, take: impl FnOnce(Option<&Prepared>) -> T) -> T {
        let family = scenario.workload.generated(scenario.run.seed);
        take(family.as_ref().or(self.0.as_ref()))
    }
}
