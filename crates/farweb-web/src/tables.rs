//! Request tables in memory.

use std::cell::RefCell;

use farweb::scenario::{Scenario, Workload};
use farweb::workload::{Prepared, hosts_of_bytes};
use wasm_bindgen::prelude::*;

/// The tables that scenarios may name: one of requests and its hosts, or none.
#[wasm_bindgen]
pub struct Tables {
    given: Option<Prepared>,
    /// Requests generated last, with their workload and seed: a check and its run ask for the same.
    drawn: RefCell<Option<(Workload, u64, Prepared)>>,
}

#[wasm_bindgen]
impl Tables {
    /// Reads a request table in text, plain or packed, called `name` in messages, and its host table if there is one.
    ///
    /// # Errors
    /// The place of a bad row, and the fault in it.
    #[wasm_bindgen(constructor)]
    pub fn new(
        name: String,
        requests: Vec<u8>,
        hosts_name: String,
        hosts: Option<Vec<u8>>,
    ) -> Result<Self, JsError> {
        let hosts = hosts.map(|hosts| hosts_of_bytes(hosts_name, hosts)).transpose()?;
        Ok(Self { given: Some(Prepared::of_bytes(name, requests, hosts)?), ..Self::none() })
    }

    /// No table.
    #[must_use]
    pub fn none() -> Self {
        Self { given: None, drawn: RefCell::new(None) }
    }
}

impl Tables {
    /// Gives `take` the requests of a scenario, from its family or the table.
    pub(crate) fn of<T>(&self, scenario: &Scenario, take: impl FnOnce(Option<&Prepared>) -> T) -> T {
        let (workload, seed) = (&scenario.workload, scenario.run.seed);
        let mut drawn = self.drawn.borrow_mut();
        if !drawn.as_ref().is_some_and(|(of, by, _)| (of, *by) == (workload, seed)) {
            *drawn = workload.generated(seed).map(|family| (workload.clone(), seed, family));
        }
        let family = drawn.as_ref().map(|(.., family)| family);
        take(family.or(self.given.as_ref()))
    }
}
