//! The load of a workload against a path, before anything runs: the answer of `farweb check`.

mod answer;
mod bursts;
mod clients;
mod demand;
mod extent;
mod laid;
mod offered;
mod packets;
mod pass;
mod ports;
mod rated;
mod rows;
#[cfg(test)]
mod tests;
mod warnings;

use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::explain::{Line, Report, Row, Warning, report};
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
pub use rows::{Schemes, Sheet};

/// A scenario explained, and the load of its workload held against its path.
#[derive(Debug)]
pub struct Check {
    scenario: Scenario,
    /// The scenario alone.
    report: Report,
    /// Its workload. None without requests.
    demand: Option<Arc<Demand>>,
    extent: Option<Extent>,
    /// The load, once somebody asks for it.
    offered: OnceLock<Result<Offered, Unheld>>,
}

/// Reason why a load is not held against its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unheld {
    NoRequests,
    NoneInTime,
    TooLarge,
    NoRate,
}

impl Unheld {
    const fn words(self) -> &'static str {
        match self {
            Self::NoRequests => "there are no requests yet",
            Self::NoneInTime => "no request starts before run.until",
            Self::TooLarge => "it is too large to be looked at",
            Self::NoRate => "no link has a rate",
        }
    }
}

/// A check in numbers. Most are none without requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures<'a> {
    /// The scenario alone.
    #[serde(flatten)]
    report: &'a Report,
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
    offered: Option<&'a Offered>,
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
    /// When the request table cannot be read, or its rows do not fit the scenario.
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
        demand.iter().try_for_each(|demand| demand.require_fit(scenario, &report))?;
        let extent = demand.as_ref().map(|demand| Extent::of(scenario, &report, demand));
        Ok(Self { scenario: scenario.clone(), report, demand, extent, offered: OnceLock::new() })
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

    /// The numbers.
    #[must_use]
    pub fn figures(&self) -> Figures<'_> {
        let demand = self.demand.as_deref();
        Figures {
            report: &self.report,
            tls: self.schemes(),
            clients: demand.map(|demand| ClientReport::of(&self.scenario, &self.report, demand)),
            tunnels: demand.map_or(0, Demand::opened_tunnels),
            requests_of_several_sizes: demand.map(|demand| demand.of_several_sizes),
            requests_bypassing_caches: demand.map(|demand| demand.bypassing),
            offered: self.offered().ok(),
        }
    }

    /// The words.
    #[must_use]
    pub fn said(&self) -> Said {
        Said {
            answer: self.answer(),
            lines: self.report.text.lines().to_vec(),
            rows: rows::rows(self),
            bypassing: self.demand.as_deref().and_then(warnings::bypassing),
            warnings: self.warnings(),
            sheet: self.offered().ok().map(Offered::sheet),
        }
    }

    /// Warnings about the requests and their load.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        let Some(demand) = self.demand.as_deref() else { return Vec::new() };
        let mut warnings = warnings::of(&self.scenario, &self.report, demand);
        warnings.extend(self.offered().ok().into_iter().flat_map(|load| load.warnings.iter().cloned()));
        warnings
    }

    /// The load against the path, or why it is not held against it.
    fn offered(&self) -> Result<&Offered, Unheld> {
        self.offered.get_or_init(|| self.hold()).as_ref().map_err(|why| *why)
    }

    fn hold(&self) -> Result<Offered, Unheld> {
        let (Some(demand), Some(extent)) = (self.demand.as_deref(), &self.extent) else {
            return Err(Unheld::NoRequests);
        };
        if extent.requests == 0 {
            return Err(Unheld::NoneInTime);
        }
        if !extent.is_allowed() {
            return Err(Unheld::TooLarge);
        }
        Offered::of(&self.scenario, &self.report, demand).ok_or(Unheld::NoRate)
    }

    fn schemes(&self) -> Option<Schemes> {
        self.demand.as_deref().map(Schemes::of)
    }

    /// Least time of a request to the servers, in s.
    fn least_s(&self) -> f64 {
        rows::least_s(&self.report, self.schemes())
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
