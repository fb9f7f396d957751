//! Source ports: whether one host can open as many connections to one server as the requests need.

use rustc_hash::FxHashMap;

use super::demand::{Demand, Slot};
use crate::explain::{LegReport, Report, Warning};
use crate::units::words::count;
use crate::workload::{Directory, HostId};

const MINUTE_S: u64 = 60;

/// Requests of the busiest minute, by start: connections, where each request opens one.
#[derive(Debug, Default)]
pub(super) struct Opens {
    minute: u64,
    counts: FxHashMap<(HostId, u32), u64>,
    /// The host with the most requests in a minute of a day, and these.
    to_host: Option<(String, u64)>,
    /// Requests for all hosts in a minute of a day, the most.
    together: u64,
}

impl Opens {
    /// Counts a request. Starts never decrease.
    pub(super) fn add(&mut self, host: HostId, slot: Slot, directory: &Directory) {
        if slot.second / MINUTE_S != self.minute {
            self.close(directory);
            self.minute = slot.second / MINUTE_S;
        }
        *self.counts.entry((host, slot.day)).or_default() += 1;
    }

    /// Ends a minute.
    pub(super) fn close(&mut self, directory: &Directory) {
        let mut minute: Vec<_> = self.counts.drain().collect();
        minute.sort_unstable();
        let mut of_days = FxHashMap::<u32, u64>::default();
        for ((host, day), requests) in minute {
            let of_day = of_days.entry(day).or_default();
            *of_day += requests;
            self.together = self.together.max(*of_day);
            if self.to_host.as_ref().is_none_or(|(_, most)| requests > *most) {
                self.to_host = Some((directory.hosts()[host].key.to_string(), requests));
            }
        }
    }
}

/// A warning for each leg with too few ports at its client end.
///
/// All connections of a leg that ends at a proxy are to that proxy.
pub(super) fn too_few(report: &Report, demand: &Demand) -> Vec<Warning> {
    let Some(opens) = &demand.opens else { return Vec::new() };
    let workload = &report.workload;
    let times = workload.speed * workload.rate * f64::from(workload.load) / demand.days as f64;
    let warning = |(index, leg): (usize, &LegReport)| {
        let (server, requests) = match &opens.to_host {
            Some((host, requests)) if index + 1 == report.legs.len() => (host, *requests),
            _ => (&leg.to, opens.together),
        };
        let opened = times * requests as f64 / MINUTE_S as f64;
        let limit = leg.opens_per_s_max.filter(|limit| opened > *limit)?;
        let a_minute = MINUTE_S as f64;
        let [opens, needed, ports] =
            [opened, opened * a_minute, limit * a_minute].map(|each| count(each.round_ties_even()));
        let words = format!(
            "up to {opens} connections a second to {server} need {needed} ports, and a Linux host has {ports} for a \
             minute: reuse connections (http/1.1), let the server close (closed_by = \"server\"), or count more addresses"
        );
        Some(Warning::new(format!("leg.{index}"), words))
    };
    report.legs.iter().enumerate().filter_map(warning).collect()
}
