//! Rules of a scenario beyond its shape, a file for each subject.

mod dama;
mod http2;
mod leg;
mod path;
mod queue;
mod split;
mod workload;

use super::{CapturePoint, Scenario, Until, cache};
use crate::units::Duration;

/// Longest propagation delay. Chosen: light takes less to Neptune and back, and sums of delays stay far below 584 years.
const DELAY_MAX: Duration = Duration::from_secs(24 * 3_600);

/// Longest time that a client waits. Chosen: as the longest delay.
const WAIT_MAX: Duration = DELAY_MAX;

/// Every broken rule of `scenario`, each a dotted key and its fault.
pub(super) fn problems(scenario: &Scenario) -> Vec<(String, String)> {
    let mut check = Check { problems: Vec::new() };
    check.one_line("name", &scenario.name);
    check.path(scenario);
    check.legs(scenario);
    check.problems.extend(cache::problems(scenario));
    check.clients(scenario);
    check.workload(scenario);
    check.run(scenario);
    check.record(scenario);
    check.problems
}

struct Check {
    problems: Vec<(String, String)>,
}

impl Check {
    fn report(&mut self, key: impl Into<String>, message: impl Into<String>) {
        self.problems.push((key.into(), message.into()));
    }

    /// Names stand in reports, tables and figures, a line each.
    fn one_line(&mut self, key: &str, name: &str) {
        if name.contains(char::is_control) {
            self.report(key, format!("found {name:?}; a name is one line without control characters"));
        }
    }

    /// Name of a file that a link reads.
    fn file(&mut self, key: &str, file: &str) {
        if file.trim().is_empty() {
            self.report(key, "found an empty name; write that of a file, or leave the key out");
        }
        self.one_line(key, file);
    }

    fn clients(&mut self, scenario: &Scenario) {
        let clients = &scenario.clients;
        if clients.give_up == Some(Duration::ZERO) {
            let message =
                "found 0 s; write a duration above zero, or leave the key out for no client timeout";
            self.report("clients.give_up", message);
        }
        if let Some(wait) = clients.give_up.filter(|wait| *wait > WAIT_MAX) {
            self.report("clients.give_up", format!("found {wait}; it is at most 24 h"));
        }
        self.tunnels(scenario);
    }

    fn run(&mut self, scenario: &Scenario) {
        if scenario.run.until == Until::Time(Duration::ZERO) {
            self.report("run.until", "found 0 s; write a duration above zero, or \"done\"");
        }
    }

    fn record(&mut self, scenario: &Scenario) {
        let record = &scenario.record;
        if record.links_every == Some(Duration::ZERO) {
            self.report(
                "record.links_every",
                "found 0 s; write an interval above zero, or leave the key out",
            );
        }
        if record.points.is_empty() {
            let message = "found an empty list; write where packets are seen, such as \"ends\" or \"link 0\"";
            self.report("record.points", message);
        }
        let links = scenario.path.link.len();
        for (index, point) in record.points.iter().enumerate() {
            if let CapturePoint::Link { link, .. } = point
                && *link as usize >= links
            {
                let there_are = match links {
                    1 => "the path has only link 0".to_owned(),
                    links => format!("the path has links 0 to {}", links.saturating_sub(1)),
                };
                self.report(
                    format!("record.points.{index}"),
                    format!("there is no link {link}; {there_are}"),
                );
            }
        }
    }
}

/// "1 node", "3 nodes".
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
