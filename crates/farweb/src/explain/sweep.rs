//! Summary of a sweep: its points, runs and factors.

use serde::Serialize;

use super::text::Text;
use crate::scenario::{DesignKind, RandomNumbers};
use crate::sweep::{Design, DesignFactor};

/// Longest name of a factor that is shown, in columns, and longest list of its levels. Chosen: with the margin they make
/// a line of 100.
const LONGEST_NAME: usize = 34;
const LONGEST_LEVELS: usize = 62;

/// Summary of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepReport {
    /// Its design: how the points were chosen.
    pub design: DesignKind,
    /// Combinations of levels.
    pub points: usize,
    /// Runs a point.
    pub replications: u32,
    /// Runs in all.
    pub runs: u64,
    /// Factors, in the order of the scenario.
    pub factors: Vec<FactorReport>,
    /// A line, and one for each factor.
    pub text: Text,
}

/// A factor, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FactorReport {
    /// A dotted key, or the name of several keys.
    pub name: String,
    /// Names of its levels.
    pub levels: Vec<String>,
}

/// Summary of the sweep with this design.
pub(super) fn sweep_report(design: &Design) -> SweepReport {
    let factor = |factor: &DesignFactor| FactorReport {
        name: factor.name.clone(),
        levels: factor.levels.iter().map(|level| level.label.clone()).collect(),
    };
    let mut report = SweepReport {
        design: design.kind,
        points: design.points.len(),
        replications: design.replications,
        runs: design.runs(),
        factors: design.factors.iter().map(factor).collect(),
        text: Text::default(),
    };
    report.text = text(&report, design.random_numbers);
    report
}

fn text(report: &SweepReport, random_numbers: RandomNumbers) -> Text {
    let which = match random_numbers {
        RandomNumbers::Common => "the same at each point",
        RandomNumbers::Independent => "others at each point",
    };
    let mut text = Text::default();
    text.say(&format!(
        "sweep: {}, {} × {}, {which}: {}",
        report.design.name(),
        count(report.points as u64, "point"),
        count(u64::from(report.replications), "seed"),
        count(report.runs, "run"),
    ));
    for factor in &report.factors {
        let levels = fitted(&factor.levels.join(", "), LONGEST_LEVELS, factor.levels.len());
        text.row(&fitted(&factor.name, LONGEST_NAME, 1), levels);
    }
    text.say("  a single run ignores the sweep");
    text
}

/// `text` on one line of at most `most` columns. Shortened, it ends with the `number` of its things.
fn fitted(text: &str, most: usize, number: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let end = if number == 1 { "…".to_owned() } else { format!("… ({number})") };
    text.chars().take(most - end.chars().count()).collect::<String>() + &end
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
