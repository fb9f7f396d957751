//! Files that links name: a scenario with their content in place of their names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::check;
use super::inputs::{Input, InputKind};
use super::{LinkDirection, LinkRate, Scenario, ScheduleAfter};
use crate::net::{Direction, Opportunities, Timeline, Trace, mean_rates};
use crate::units::{Duration, Instant};
use crate::workload::{Changes, Schedule, WorkloadError, is_trace, trace_of_bytes};

/// The content of a file that a link names.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkFile {
    /// A schedule.
    Schedule(Arc<Schedule>),
    /// A trace.
    Trace(Arc<Opportunities>),
}

/// Files that the links of a scenario name in a run with a seed, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkFiles {
    seed: u64,
    /// By their names in the scenario.
    read: BTreeMap<(InputKind, String), LinkFile>,
}

impl LinkFile {
    /// Reads a file in memory, called `name` in messages.
    ///
    /// # Errors
    /// When it is no such file: names file and line, and what is allowed.
    ///
    /// # Panics
    /// When links name no files of this kind.
    pub fn of_bytes(kind: InputKind, name: String, bytes: Vec<u8>) -> Result<Self, WorkloadError> {
        match kind {
            InputKind::Schedule => {
                Schedule::of_bytes(name, bytes).map(|schedule| Self::Schedule(schedule.into()))
            }
            InputKind::Trace => trace_of_bytes(name, bytes).map(|trace| Self::Trace(trace.into())),
            InputKind::Requests | InputKind::Hosts => panic!("no link names {}", kind.word()),
        }
    }

    /// Reads a file in memory that is of a kind by its first line but for comments: a number begins a trace, names of columns a schedule.
    ///
    /// # Errors
    /// As [`LinkFile::of_bytes`].
    pub fn of_any(name: String, bytes: Vec<u8>) -> Result<Self, WorkloadError> {
        let kind = if is_trace(&name, &bytes)? { InputKind::Trace } else { InputKind::Schedule };
        Self::of_bytes(kind, name, bytes)
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> InputKind {
        match self {
            Self::Schedule(_) => InputKind::Schedule,
            Self::Trace(_) => InputKind::Trace,
        }
    }

    /// Time that it says something about: to its last row, or opportunity.
    #[must_use]
    pub fn length(&self) -> Duration {
        match self {
            Self::Schedule(schedule) => schedule.length(),
            Self::Trace(opportunities) => opportunities.period(),
        }
    }

    /// Mean rates in spans of `every` that lie in its length, one at least, in bit/s. None without a rate. An opportunity
    /// carries a packet of 1500 B.
    #[must_use]
    pub fn rates(&self, every: Duration) -> Option<Vec<f64>> {
        let count = (self.length().as_nanos() / every.as_nanos()).max(1) as usize;
        let (timeline, own) = match self {
            Self::Schedule(schedule) => {
                let Changes { steps, outages, .. } = schedule.changes();
                let own = steps.iter().find_map(|step| step.rate)?;
                (Timeline { steps, outages, ..Timeline::default() }, own)
            }
            Self::Trace(opportunities) => {
                let trace = Trace::of_mahimahi(Arc::clone(opportunities));
                let own = trace.rate();
                (Timeline { trace: Some(trace), ..Timeline::default() }, own)
            }
        };
        Some(mean_rates(&timeline, own, every.min(self.length().max(Duration::from_nanos(1))), count))
    }

    /// Times in which nothing is sent, each with its begin: outages, or those between two opportunities.
    #[must_use]
    pub fn gaps(&self) -> Vec<(Instant, Duration)> {
        match self {
            Self::Schedule(schedule) => {
                let outages = schedule.changes().outages;
                outages.iter().map(|outage| (Instant::ZERO + outage.at, outage.lasts)).collect()
            }
            Self::Trace(opportunities) => opportunities.gaps().collect(),
        }
    }

    /// Least and largest delay of a schedule, and its largest loss, where it sets them.
    #[must_use]
    pub fn extremes(&self) -> (Option<[Duration; 2]>, Option<f64>) {
        let Self::Schedule(schedule) = self else { return (None, None) };
        let steps = schedule.changes().steps;
        let delays = || steps.iter().filter_map(|step| step.delay);
        let loss = steps.iter().filter_map(|step| step.loss).reduce(f64::max);
        (delays().min().zip(delays().max()).map(|(least, most)| [least, most]), loss)
    }

    /// Its rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match self {
            Self::Schedule(schedule) => schedule.rows(),
            Self::Trace(opportunities) => opportunities.times().len() as u64,
        }
    }
}

impl LinkFiles {
    /// No files, for a run with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, read: BTreeMap::new() }
    }

    /// Adds the content of an input.
    pub fn add(&mut self, kind: InputKind, file: String, content: LinkFile) {
        self.read.insert((kind, file), content);
    }

    /// `scenario` with their content.
    ///
    /// # Errors
    /// A file is missing, or makes no sense in the scenario; each with the key that names it.
    pub(super) fn complete(&self, scenario: &Scenario) -> Result<Scenario, Vec<(String, String)>> {
        let (mut complete, mut problems) = (scenario.clone(), Vec::new());
        let named: Vec<(Input, (usize, Direction))> = scenario
            .inputs(self.seed)
            .into_iter()
            .filter_map(|input| Some((input.clone(), input.link?)))
            .collect();
        for (input, (link, way)) in &named {
            let direction = complete.path.link[*link].towards_mut(*way);
            let filled = match self.read.get(&(input.kind, input.file.clone())) {
                Some(LinkFile::Schedule(schedule)) => fill(direction, schedule),
                Some(LinkFile::Trace(opportunities)) => {
                    direction.opportunities = Some(Arc::clone(opportunities));
                    direction.rate = Some(LinkRate(direction.trace().map(|trace| trace.rate())));
                    Ok(())
                }
                None => Err("was not read; farweb check and farweb run do, and a tab of a browser does not"
                    .to_owned()),
            };
            problems.extend(filled.err().map(|why| (input.key.clone(), format!("{}: {why}", input.file))));
        }
        if problems.is_empty() {
            problems = check::problems(&complete);
        }
        for (key, message) in &mut problems {
            blame(key, message, &named);
        }
        problems.dedup();
        if problems.is_empty() { Ok(complete) } else { Err(problems) }
    }
}

impl Scenario {
    /// True when no link names a file that is not read.
    pub(crate) fn is_complete(&self) -> bool {
        let is_read = |direction: &LinkDirection| {
            direction.schedule.is_none() && (direction.trace.is_none() || direction.opportunities.is_some())
        };
        self.path.link.iter().all(|link| is_read(&link.up) && is_read(&link.down))
    }
}

fn fill(direction: &mut LinkDirection, schedule: &Schedule) -> Result<(), String> {
    let changes = match direction.schedule_after {
        ScheduleAfter::Hold => schedule.held(),
        ScheduleAfter::Repeat => schedule.repeated(),
    }?;
    (direction.steps, direction.steps_every) = (changes.steps, changes.every);
    direction.outage.extend(changes.outages);
    (direction.schedule, direction.schedule_after) = (None, ScheduleAfter::Hold);
    Ok(())
}

/// Names the file in a problem with steps and outages that came from it.
fn blame(key: &mut String, message: &mut String, named: &[(Input, (usize, Direction))]) {
    let came_from = |(input, (link, way)): &&(Input, (usize, Direction))| {
        let rest = key.strip_prefix(&format!("path.link.{link}.{}.", way.name()));
        let is_change = rest.is_some_and(|rest| rest.starts_with("steps") || rest.starts_with("outage"));
        is_change && input.kind == InputKind::Schedule
    };
    if let Some((input, _)) = named.iter().find(came_from) {
        (*key, *message) = (input.key.clone(), format!("{}: {message}", input.file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Source;
    use crate::scenario::tests::CABLE;

    const PASS: &str =
        "time_s,rate_mbps,delay_ms,loss,state\n2,4,80,0.1,\n3,0,,,\n5,8,,,\n6,,,,drop\n7,,,,up\n";

    fn source(overrides: &[&str]) -> Source {
        let pair = |text: &&str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        let overrides: Vec<_> = overrides.iter().filter_map(pair).collect();
        Source::parse(CABLE, "cable.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
    }

    fn with_file(content: &str, overrides: &[&str]) -> Result<Scenario, String> {
        let file = LinkFile::of_bytes(InputKind::Schedule, "pass-7.csv".to_owned(), content.into()).unwrap();
        let mut files = LinkFiles::new(7);
        files.add(InputKind::Schedule, "pass-7.csv".to_owned(), file);
        let named = [overrides, &["path.link.0.down.schedule=pass-{seed}.csv"]].concat();
        source(&named).complete(&files).map_err(|error| error.to_string())
    }

    #[test]
    fn a_schedule_is_the_steps_and_outages_that_it_has() {
        let steps =
            "steps=[{at=\"2 s\",rate=\"4 Mbit/s\",delay=\"80 ms\",loss=0.1},{at=\"5 s\",rate=\"8 Mbit/s\"}]";
        let own = "{at=\"20 s\",lasts=\"1 s\"}";
        let once =
            format!("outage=[{own},{{at=\"3 s\",lasts=\"2 s\"}},{{at=\"6 s\",lasts=\"1 s\",mode=\"drop\"}}]");
        let again = "outage=[{at=\"3 s\",lasts=\"2 s\",every=\"7 s\"},{at=\"6 s\",lasts=\"1 s\",every=\"7 s\",mode=\"drop\"}]";
        let down = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().map(|key| format!("path.link.0.down.{key}")).collect();
            source(&keys.iter().map(String::as_str).collect::<Vec<_>>()).into_scenario()
        };
        let held = with_file(PASS, &[&format!("path.link.0.down.outage=[{own}]")]);
        assert_eq!(held, Ok(down(&[steps, &once])));
        let repeated = with_file(PASS, &["path.link.0.down.schedule_after=repeat"]);
        assert_eq!(repeated, Ok(down(&[steps, again, "steps_every=7 s"])));
    }

    #[test]
    fn what_makes_no_sense_in_a_scenario_is_said_at_the_key_that_names_the_file() {
        let key = "--set path.link.0.down.schedule=pass-{seed}.csv: path.link.0.down.schedule: pass-7.csv:";
        let unlimited = ["path.link.0.down.rate=unlimited", "path.link.0.down.queue=9 kB"];
        let handover = [
            "path.link.0.handover={every=\"1 s\",gap=[\"0 s\",\"500 ms\"]}",
            "path.link.0.down.schedule_after=repeat",
        ];
        let cases: [(&str, &[&str], &str); 4] = [
            (PASS, &unlimited, "the link's own rate is unlimited"),
            ("time_s,state\n1,down\n", &[], "nothing is sent from 1 s on"),
            (
                "time_s,state\n0,down\n3,up\n",
                &["path.link.0.down.schedule_after=repeat"],
                "found 3 s for outages of 3 s",
            ),
            (
                "time_s,state\n1,down\n3,up\n",
                &handover,
                "outages that come again, and gaps of handovers, take all",
            ),
        ];
        for (content, overrides, message) in cases {
            let error = with_file(content, overrides).unwrap_err();
            assert!(error.starts_with(key) && error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let named = source(&["path.link.1.up.schedule=pass.csv"]);
        assert!(!named.scenario().is_complete());
        let error = named.complete(&LinkFiles::default()).unwrap_err().to_string();
        assert!(error.contains("path.link.1.up.schedule: pass.csv: was not read"), "{error}");
    }
}
