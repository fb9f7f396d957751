//! Rules of the workload: tables or a family, and copies that end in time.

use super::Check;
use crate::scenario::{CopiesHosts, Family, HostOr, LoadScale, Scenario, Workload};
use crate::units::Duration;

/// Latest start of a copy of the workload, in nanoseconds. Chosen: half of the longest time. A run has the
/// rest to end.
const COPIES_LAST: u128 = 1 << 63;

impl Check {
    pub(super) fn workload(&mut self, scenario: &Scenario) {
        let workload = &scenario.workload;
        match (&workload.requests, workload.family) {
            (Some(_), Some(_)) => {
                let message =
                    "stands beside requests; write one of the two: a table, or a family that is generated";
                self.report("workload.family", message);
            }
            (None, None) => {
                let message = "missing, and there is no family; write for example requests = \"requests.csv\" or \
                               family = \"nzix\"";
                self.report("workload.requests", message);
            }
            (Some(requests), None) => self.tables(requests, workload),
            (None, Some(family)) => self.family(family, workload),
        }
        if workload.period == Some(Duration::ZERO) {
            self.report("workload.period", "found 0 s; write a time above zero, or leave the key out");
        }
        if workload.scale == LoadScale::Rate && workload.copies_hosts == CopiesHosts::Renamed {
            let message = "a rate has no copies; leave the key out, or write scale = \"copies\"";
            self.report("workload.copies_hosts", message);
        }
        let copies = workload.load().load;
        let last = u128::from(workload.copies_offset.as_nanos()) * u128::from(copies);
        if last >= COPIES_LAST {
            let message =
                format!("{copies} copies, {} apart, would start over 292 years", workload.copies_offset);
            self.report("workload.copies_offset", message);
        }
        self.mss("workload.default_mss", Some(HostOr::Size(workload.default_mss)));
        self.buffer("workload.default_window", Some(HostOr::Size(workload.default_window)));
    }

    fn tables(&mut self, requests: &str, workload: &Workload) {
        if requests.trim().is_empty() {
            self.report("workload.requests", "found an empty name; write the file of the request table");
        }
        if workload.hosts.as_ref().is_some_and(|hosts| hosts.trim().is_empty()) {
            self.report(
                "workload.hosts",
                "found an empty name; write the file of the host table, or leave the key out",
            );
        }
        let set = [("days", workload.days.is_some()), ("parameters", !workload.parameters.is_empty())];
        for (key, _) in set.iter().filter(|(_, is_set)| *is_set) {
            let message = "belongs to a family, and there is none; leave the key out, or write family = \"nzix\" \
                           instead of requests";
            self.report(format!("workload.{key}"), message);
        }
    }

    fn family(&mut self, family: Family, workload: &Workload) {
        if workload.hosts.is_some() {
            self.report("workload.hosts", "a family has hosts of its own; leave the key out");
        }
        if workload.resample.is_some() {
            let message = "each seed of a family makes new requests; leave the key out";
            self.report("workload.resample", message);
        }
        if workload.speed.is_some() {
            let message = "the speed of a family is fixed; leave the key out, and write load for more of it";
            self.report("workload.speed", message);
        }
        if let Err(error) = workload.parameters.check(family) {
            self.report(format!("workload.parameters.{}", error.parameter), error.to_string());
        }
        if workload.days.is_some() && family != Family::Nzix {
            self.report("workload.days", "only traces of the family nzix have days; leave the key out");
        }
        if let (Some(found), Some(least)) = (workload.period, family.period())
            && found < least
            && found > Duration::ZERO
        {
            self.report(
                "workload.period",
                format!("found {found}; a trace of the family is {least} long: write {least} or more"),
            );
        }
    }
}
