//! Schedules of links: rate, delay, loss and state by time.
//!
//! [`SCHEDULE`] lists the columns. A header line names those that are there. An empty cell leaves its value
//! as it was. A rate of 0 is the state `down` until a row with another rate.
//!
//! A schedule becomes steps and outages of a link, as a scenario has them.
//!
//! Leaves out values that change linearly between rows.
//!
//! Source: chosen.

use std::io::Cursor;

use super::text::{Layout, TextTable};
use super::{cell, optional, place, quoted};
use crate::net::{Outage, OutageMode, Step};
use crate::schema::{ColumnSpec, ColumnType as Type, TableSpec};
use crate::units::{BitRate, Duration};
use crate::workload::WorkloadError;
use crate::workload::lines::Lines;

const TIME: usize = 0;
const RATE: usize = 1;
const DELAY: usize = 2;
const LOSS: usize = 3;
const STATE: usize = 4;

pub(super) const SCHEDULE: TableSpec = TableSpec {
    name: "schedule",
    description: "A schedule of a link: one row a change, by time. Nullable columns may be left out.",
    columns: &[
        ColumnSpec::required(
            "time_s",
            Type::Float64,
            "s",
            "When the values of the row begin, from the start of the run.",
        ),
        ColumnSpec::optional(
            "rate_mbps",
            Type::Float64,
            "Mbit/s",
            "Rate of the link, 0 where it sends nothing; null: as before.",
        ),
        ColumnSpec::optional(
            "delay_ms",
            Type::Float64,
            "ms",
            "Propagation delay, at most 24 h; null: as before.",
        ),
        ColumnSpec::optional(
            "loss",
            Type::Float64,
            "1",
            "Probability that a packet is lost, 0 to 1; null: as before.",
        ),
        ColumnSpec::optional(
            "state",
            Type::String,
            "",
            "`up`; `down`: nothing is sent and packets wait; `drop`: they are lost; null: as before.",
        ),
    ],
};

const LAYOUT: Layout = Layout { what: "schedule", table: SCHEDULE, headless: 0, is_header: |_| true };

const RATE_ALLOWED: &str =
    "a rate in Mbit/s from 0.000001 to 1000000 without a unit, 0 to send nothing, or nothing to keep it";
const DELAY_ALLOWED: &str = "a delay in ms from 0 to 86400000 without a unit, or nothing to keep it";
const LOSS_ALLOWED: &str = "a probability from 0 to 1, or nothing to keep it";
const STATE_ALLOWED: &str = "up, down or drop, or nothing to keep it";

/// Most rows. Chosen: a row every 100 ms for a day.
const ROWS_MAX: usize = 1_000_000;

/// Most outages. Chosen: one every 15 s for a day, and each change looks at all of them.
const OUTAGES_MAX: usize = 10_000;

/// A schedule of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schedule {
    steps: Vec<Step>,
    outages: Vec<Outage>,
    /// The outage that goes on at the last row.
    open: Option<(Duration, OutageMode)>,
    last: Duration,
    rows: u64,
}

/// Steps and outages of a link.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    /// Steps, by time.
    pub steps: Vec<Step>,
    /// Period after which the steps come again.
    pub every: Option<Duration>,
    /// Outages.
    pub outages: Vec<Outage>,
}

impl Schedule {
    /// Reads a schedule in memory, called `name` in messages: .csv, .tsv, or separated by blanks, plain or packed.
    ///
    /// # Errors
    /// When it is no text, has no row, or a row has a value that is not allowed: names file, line, column, the value found
    /// and those allowed.
    pub fn of_bytes(name: String, bytes: Vec<u8>) -> Result<Self, WorkloadError> {
        let mut table = TextTable::new(Lines::new(name, Cursor::new(bytes))?, &LAYOUT)?;
        let (mut schedule, mut is_zero, mut state) = (Self::default(), false, None);
        while table.next_row()? {
            let at = schedule.time(&table)?;
            let rate = optional(&table, RATE, rate, RATE_ALLOWED)?;
            let delay = optional(&table, DELAY, delay, DELAY_ALLOWED)?;
            let loss = optional(&table, LOSS, share, LOSS_ALLOWED)?;
            is_zero = rate.map_or(is_zero, |rate| rate.is_none());
            state = optional(&table, STATE, mode, STATE_ALLOWED)?.unwrap_or(state);
            schedule.enter(at, state.or(is_zero.then_some(OutageMode::Hold)));
            let rate = rate.flatten();
            if (rate, delay, loss) != (None, None, None) {
                schedule.steps.push(Step { at, rate, delay, loss });
            }
            schedule.rows += 1;
            if schedule.rows > ROWS_MAX as u64 {
                return Err(table
                    .place()
                    .problem(format!("is one row too many; a schedule has at most {ROWS_MAX}")));
            }
            if schedule.outages.len() > OUTAGES_MAX {
                let why = format!("ends one outage too many; a schedule has at most {OUTAGES_MAX}");
                return Err(table.place().problem(why));
            }
        }
        if schedule.rows == 0 {
            return Err(WorkloadError(format!("{}: has no rows; a schedule has one at least", table.name())));
        }
        if schedule.is_silent() {
            return Err(table.place().problem(
                "nothing is sent at any time; write a row with a rate above 0 and the state up".to_owned(),
            ));
        }
        Ok(schedule)
    }

    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Time of its last row.
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.last
    }

    /// Changes up to its last row.
    #[must_use]
    pub fn changes(&self) -> Changes {
        let end = self.last;
        let open = self.open.filter(|(at, _)| *at < end);
        let open = open.map(|(at, mode)| Outage { at, lasts: end - at, every: None, mode });
        let outages = self.outages.iter().copied().chain(open).collect();
        Changes { steps: self.steps.clone(), every: None, outages }
    }

    /// Changes of a link that keeps the last values.
    ///
    /// # Errors
    /// When it sends nothing any more behind the last row.
    pub fn held(&self) -> Result<Changes, String> {
        if let Some((at, _)) = self.open {
            let at = at.as_secs_f64();
            return Err(format!(
                "nothing is sent from {at} s on; end it with a row of state up and a rate above 0"
            ));
        }
        Ok(self.changes())
    }

    /// Changes of a link when all rows but the last come again from the time of the last one on.
    ///
    /// # Errors
    /// When the last row has the time 0.
    pub fn repeated(&self) -> Result<Changes, String> {
        let every = self.last;
        if every == Duration::ZERO {
            return Err(
                "the time of the last row is the period, and it is 0 s; end it with a later row".to_owned()
            );
        }
        let Changes { mut steps, mut outages, .. } = self.changes();
        steps.retain(|step| step.at < every);
        outages.iter_mut().for_each(|outage| outage.every = Some(every));
        let every = (!steps.is_empty()).then_some(every);
        Ok(Changes { steps, every, outages })
    }

    fn time(&mut self, table: &TextTable) -> Result<Duration, WorkloadError> {
        let at = cell(table, TIME, place::server, place::START_ALLOWED)?;
        if self.rows > 0 && at <= self.last {
            let (found, before) = (table.get(TIME).unwrap_or_default(), self.last.as_secs_f64());
            let allowed = format!("a time after that of the row before, {before} s");
            return Err(table.place().wrong("time_s", quoted(found.as_bytes()), &allowed));
        }
        self.last = at;
        Ok(at)
    }

    /// True where outages last from the start to the end.
    fn is_silent(&self) -> bool {
        let from_start = |at, outage: &Outage| (outage.at == at).then(|| at + outage.lasts);
        let end = self.outages.iter().try_fold(Duration::ZERO, from_start);
        self.open.is_some_and(|(at, _)| Some(at) == end)
    }

    /// From `at` on there is an outage of this mode, or none.
    fn enter(&mut self, at: Duration, mode: Option<OutageMode>) {
        if self.open.map(|(_, mode)| mode) == mode {
            return;
        }
        if let Some((begin, mode)) = self.open {
            self.outages.push(Outage { at: begin, lasts: at - begin, every: None, mode });
        }
        self.open = mode.map(|mode| (at, mode));
    }
}

/// A rate. `Some(None)` is 0, and one that rounds to 0 is none.
fn rate(mbps: f64) -> Option<Option<BitRate>> {
    let rate = (0.0..=1e6).contains(&mbps).then(|| BitRate::from_bps((mbps * 1e6).round() as u64))?;
    (rate.is_some() || mbps == 0.0).then_some(rate)
}

fn delay(ms: f64) -> Option<Duration> {
    if ms <= 86_400_000.0 { Duration::from_secs_f64(ms / 1e3) } else { None }
}

fn share(share: f64) -> Option<f64> {
    (0.0..=1.0).contains(&share).then_some(share)
}

/// A state. `Some(None)` is `up`.
#[expect(clippy::needless_pass_by_value, reason = "as a parsed number is passed")]
fn mode(word: String) -> Option<Option<OutageMode>> {
    match &*word {
        "up" => Some(None),
        "down" => Some(Some(OutageMode::Hold)),
        "drop" => Some(Some(OutageMode::Drop)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Schedule, String> {
        Schedule::of_bytes("pass.csv".to_owned(), text.as_bytes().to_vec()).map_err(|error| error.to_string())
    }

    fn step(at_ms: u64, mbps: Option<u64>, delay_ms: Option<u64>, loss: Option<f64>) -> Step {
        let rate = mbps.and_then(|mbps| BitRate::from_bps(mbps * 1_000_000));
        Step { at: Duration::from_millis(at_ms), rate, delay: delay_ms.map(Duration::from_millis), loss }
    }

    fn outage(at_ms: u64, lasts_ms: u64, every_ms: Option<u64>, mode: OutageMode) -> Outage {
        let [at, lasts] = [at_ms, lasts_ms].map(Duration::from_millis);
        Outage { at, lasts, every: every_ms.map(Duration::from_millis), mode }
    }

    const PASS: &str =
        "time_s,rate_mbps,delay_ms,loss,state\n0,10,,,\n1.5,0,,,\n2,,20,0.5,\n3,8,,,\n4,,,,drop\n5,4,,,up\n";

    #[test]
    fn rows_become_steps_and_outages() {
        let schedule = read(PASS).unwrap();
        let steps = [
            step(0, Some(10), None, None),
            step(2_000, None, Some(20), Some(0.5)),
            step(3_000, Some(8), None, None),
            step(5_000, Some(4), None, None),
        ];
        let outages =
            [outage(1_500, 1_500, None, OutageMode::Hold), outage(4_000, 1_000, None, OutageMode::Drop)];
        assert_eq!(
            schedule.held().unwrap(),
            Changes { steps: steps.to_vec(), every: None, outages: outages.to_vec() }
        );
        assert_eq!(schedule.rows(), 6);
    }

    #[test]
    fn the_last_row_ends_the_period_of_one_that_repeats() {
        let changes = read(PASS).unwrap().repeated().unwrap();
        assert_eq!((changes.every, changes.steps.len()), (Some(Duration::from_secs(5)), 3));
        assert_eq!(changes.outages[1], outage(4_000, 1_000, Some(5_000), OutageMode::Drop));
        let down = read("time_s,state\n1,down\n4,\n").unwrap();
        assert_eq!(down.repeated().unwrap().outages, [outage(1_000, 3_000, Some(4_000), OutageMode::Hold)]);
        assert_eq!(down.repeated().unwrap().every, None, "without steps nothing repeats but outages");
        assert!(down.held().unwrap_err().starts_with("nothing is sent from 1 s on"));
        assert!(read("time_s,loss\n0,1\n").unwrap().repeated().unwrap_err().contains("it is 0 s"));
    }

    #[test]
    fn a_rate_of_0_lasts_to_the_next_rate_and_a_state_to_the_next_state() {
        let changes =
            read("time_s,rate_mbps,state\n1,0,\n2,,up\n3,5,down\n4,6,\n5,,up\n").unwrap().held().unwrap();
        assert_eq!(changes.outages, [outage(1_000, 4_000, None, OutageMode::Hold)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_what_is_allowed() {
        let times = "time_s,loss\n1,0\n1,0\n";
        for (text, message) in [
            ("", "pass.csv: is empty; a schedule has the columns time_s, rate_mbps, delay_ms, loss, state"),
            ("time_s,loss\n", "pass.csv: has no rows; a schedule has one at least"),
            ("0,10\n", "pass.csv:1: unknown column \"0\"; a schedule has the columns time_s, rate_mbps"),
            ("time_s,rate\n", "pass.csv:1: unknown column \"rate\" (did you mean rate_mbps?); a schedule"),
            ("loss\n0\n", "pass.csv:1: column time_s is missing; a schedule needs time_s"),
            (times, "pass.csv:3: column time_s: found \"1\"; write a time after that of the row before, 1 s"),
            ("time_s,loss\n-1,0\n", "pass.csv:2: column time_s: found \"-1\"; write seconds from 0 to 9e9"),
            ("time_s,loss\n,0\n", "pass.csv:2: column time_s: found nothing; write seconds"),
            (
                "time_s,rate_mbps\n0,-1\n",
                "pass.csv:2: column rate_mbps: found \"-1\"; write a rate in Mbit/s",
            ),
            (
                "time_s,rate_mbps\n0,NaN\n",
                "pass.csv:2: column rate_mbps: found \"NaN\"; write a rate in Mbit/s",
            ),
            (
                "time_s,rate_mbps\n0,8 Mbit/s\n",
                "found \"8 Mbit/s\"; write a rate in Mbit/s from 0.000001 to 1000000 without a unit",
            ),
            (
                "time_s,delay_ms\n0,1e9\n",
                "column delay_ms: found \"1e9\"; write a delay in ms from 0 to 86400000",
            ),
            (
                "time_s,rate_mbps\n0,1e-7\n",
                "pass.csv:2: column rate_mbps: found \"1e-7\"; write a rate in Mbit/s",
            ),
            ("time_s,rate_mbps\n0,0\n", "pass.csv:2: nothing is sent at any time; write a row with a rate"),
            ("time_s,rate_mbps\n0,0\n1,0\n", "pass.csv:3: nothing is sent at any time; write a row"),
            ("time_s,state\n0,down\n1,drop\n", "pass.csv:3: nothing is sent at any time; write a row"),
            ("time_s,loss\n0,2\n", "column loss: found \"2\"; write a probability from 0 to 1"),
            ("time_s,state\n0,off\n", "column state: found \"off\"; write up, down or drop"),
            ("time_s,loss\n0,0,0\n", "pass.csv:2: has 3 fields where the header line has 2"),
            ("time_s,loss\n0\n", "pass.csv:2: has 1 field where the header line has 2"),
            ("\0\x01\x02", "pass.csv: is not text but binary data"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(message), "{found}");
        }
    }
}
