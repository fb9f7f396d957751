//! The load of a workload against a path, before anything runs: the answer of `farweb check`.

mod answer;
mod bursts;
mod clients;
mod demand;
mod extent;
mod laid;
mod offered;
mod pass;
mod ports;
pub mod quantities;
mod rated;
mod rows;
#[cfg(test)]
mod tests;
mod warnings;

use std::sync::Arc;

use serde::Serialize;

use crate::explain::{Line, Report, report};
use crate::scenario::Scenario;
use crate::sweep::Design;
use crate::workload::{Prepared, WorkloadError};
pub use answer::{PointLoad, PointReport};
pub use clients::{ClientReport, whose};
use demand::Demand;
pub use demand::Imported;
pub use extent::{Extent, ExtentReport, Large};
pub use offered::{Offered, OfferedLoad};
pub use rated::Way;
pub use rows::{Row, Schemes, Sheet};

/// A setting that is allowed but may be a mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// Its key.
    pub key: String,
    /// Why.
    pub words: String,
}

impl Warning {
    fn new(key: impl Into<String>, words: impl Into<String>) -> Self {
        Self { key: key.into(), words: words.into() }
    }
}

/// A scenario explained, and the load of its workload held against its path.
#[derive(Debug, Serialize)]
pub struct Check {
    /// The scenario alone.
    #[serde(flatten)]
    pub report: Report,
    /// Its workload. None without requests, and so are most of the others.
    #[serde(skip)]
    demand: Option<Arc<Demand>>,
    /// Requests by scheme.
    tls: Option<Schemes>,
    clients: Option<ClientReport>,
    /// Requests that open a tunnel.
    tunnels: u64,
    /// Requests for objects that change size, behind a live cache.
    requests_of_several_sizes: Option<u64>,
    /// Requests that no copy may serve, behind a live cache.
    requests_bypassing_caches: Option<u64>,
    /// None without a link that has a rate too, and with too many requests to lay out.
    offered: Option<Offered>,
    #[serde(skip)]
    extent: Option<Extent>,
    /// Warnings about the requests and their load.
    #[serde(skip)]
    warnings: Vec<Warning>,
}

/// A check in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Said {
    /// A sentence: whether the path can carry the load, and the least time of a request.
    pub answer: String,
    /// The path drawn, and a paragraph a leg.
    pub lines: Vec<Line>,
    /// Facts about the path, the requests and each leg.
    pub rows: Vec<Row>,
    /// Requests that live caches never serve.
    pub bypassing: Option<String>,
    /// Warnings about the requests and their load.
    pub warnings: Vec<Warning>,
    /// The load of each link.
    pub sheet: Option<Sheet>,
}

/// The answer of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swept {
    /// A sentence: at how many points the path can carry the load, which is the worst, and how full its fullest link is.
    pub answer: String,
    /// Warnings about the load of the worst point.
    pub warnings: Vec<Warning>,
    /// Figures of each point.
    pub points: Vec<PointReport>,
}

impl Check {
    /// Explains `scenario`, with the requests in `prepared`. They are not read again where `known`, of the same requests, has
    /// looked at all that is needed.
    ///
    /// # Errors
    /// When the request table cannot be read.
    pub fn of(
        scenario: &Scenario,
        design: Option<&Design>,
        prepared: &Prepared,
        imported: Imported,
        known: Option<&Self>,
    ) -> Result<Self, WorkloadError> {
        let report = report(scenario, design, prepared.hosts());
        let known = known.and_then(|known| known.demand.clone());
        let demand = match known.filter(|demand| demand.covers(scenario, &report)) {
            Some(demand) => Some(demand),
            None => Demand::read(scenario, &report, prepared, imported)?.map(Arc::new),
        };
        let extent = demand.as_ref().map(|demand| Extent::of(scenario, &report, demand));
        let held = demand.as_ref().filter(|_| extent.as_ref().is_some_and(Extent::is_allowed));
        let offered = held.and_then(|demand| Offered::of(scenario, &report, demand));
        let mut warnings =
            demand.as_ref().map(|demand| warnings::of(scenario, &report, demand)).unwrap_or_default();
        warnings.extend(offered.iter().flat_map(|load| load.warnings.iter().cloned()));
        Ok(Self {
            tls: demand.as_deref().map(Schemes::of),
            clients: demand.as_ref().map(|demand| ClientReport::of(scenario, &report, demand)),
            tunnels: demand.as_ref().map_or(0, |demand| demand.opened_tunnels()),
            requests_of_several_sizes: demand.as_ref().map(|demand| demand.of_several_sizes),
            requests_bypassing_caches: demand.as_ref().map(|demand| demand.bypassing),
            report,
            demand,
            offered,
            extent,
            warnings,
        })
    }

    /// The estimated size of the run. None without requests.
    #[must_use]
    pub const fn extent(&self) -> Option<&Extent> {
        self.extent.as_ref()
    }

    /// A sentence: whether the path can carry the load, and the least time of a request.
    #[must_use]
    pub fn answer(&self) -> String {
        answer::of(self)
    }

    /// Warnings about the requests and their load.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The same in words.
    #[must_use]
    pub fn said(&self, scenario: &Scenario) -> Said {
        Said {
            answer: self.answer(),
            lines: self.report.text.lines().to_vec(),
            rows: rows::rows(scenario, self),
            bypassing: self.demand.as_deref().and_then(warnings::bypassing),
            warnings: self.warnings.clone(),
            sheet: self.offered.as_ref().map(Offered::sheet),
        }
    }

    /// Least time of a request to the servers, in s.
    fn least_s(&self) -> f64 {
        rows::least_s(&self.report, self.tls)
    }
}

impl Swept {
    /// The answer of a sweep with so many points, at least one of them looked at.
    #[must_use]
    pub fn of(points: &[PointLoad<'_>], number: usize) -> Self {
        Self {
            answer: answer::of_points(points, number),
            warnings: answer::warnings_of_points(points),
            points: points.iter().map(PointLoad::report).collect(),
        }
    }
}
