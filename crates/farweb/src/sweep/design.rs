//! The design of a sweep, spelled out: every level of every factor, the points, and the seeds of runs.

use std::fmt::Write;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::sample::{Ruler, positions};
use crate::rng::RandomStreams;
use crate::scenario::document::{join, segments};
use crate::scenario::key::Kind;
use crate::scenario::{
    DesignKind, Factor, Label, Levels, NamedLevel, RandomNumbers, Range, SEED_MAX, Scenario, Sweep,
};

/// A design: factors with their levels, and the points that are run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Design {
    /// Kind of the design: how the points were chosen.
    pub kind: DesignKind,
    /// Runs a point.
    pub replications: u32,
    /// Rule for their seeds.
    pub random_numbers: RandomNumbers,
    /// Factors in the order of the scenario.
    pub factors: Vec<DesignFactor>,
    /// Number of the level in each factor, for each point.
    pub points: Vec<Vec<u32>>,
    #[serde(skip)]
    seed: u64,
}

/// A factor with all its levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DesignFactor {
    /// A dotted key, or the name of several keys.
    pub name: String,
    /// Unit of the levels' numbers: `s`, `B`, `bit/s`, `packets`, or nothing.
    pub unit: &'static str,
    /// Levels in the order of the scenario. Those drawn from a range in ascending order.
    pub levels: Vec<Level>,
}

/// A level of a factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// Its label.
    pub label: String,
    /// Its value in results: text, a number, or true or false, of the same type for all levels of a factor.
    pub value: Value,
    /// Its place on an axis, in the unit of the factor.
    pub number: Option<f64>,
    /// Keys that it sets.
    #[serde(skip)]
    pub(super) set: Vec<Setting>,
}

/// A key and the value that a level gives it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: Value,
    /// Place of the factor: a dotted path into the scenario.
    pub(super) path: String,
}

impl Design {
    /// The design of the table `sweep`, its ranges sampled as a Latin hypercube. `None` without the table.
    ///
    /// # Panics
    /// When a range has no order, which [`super::Planned`] makes sure of.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Option<Self> {
        let sweep = scenario.sweep.as_ref()?;
        let tree = scenario.effective();
        let drawn: Vec<(DesignFactor, Vec<u32>)> =
            sweep.factors.0.iter().map(|factor| expand(factor, sweep, &tree, scenario.run.seed)).collect();
        let counts: Vec<u32> = drawn.iter().map(|(factor, _)| factor.levels.len() as u32).collect();
        let points = match sweep.design {
            DesignKind::FullFactorial => full_factorial(&counts),
            DesignKind::OneAtATime => one_at_a_time(&counts),
            DesignKind::LatinHypercube => (0..sweep.samples.unwrap_or(0) as usize)
                .map(|sample| drawn.iter().map(|(_, samples)| samples[sample]).collect())
                .collect(),
        };
        Some(Self {
            kind: sweep.design,
            replications: sweep.replications,
            random_numbers: sweep.random_numbers,
            factors: drawn.into_iter().map(|(factor, _)| factor).collect(),
            points,
            seed: scenario.run.seed,
        })
    }

    /// Runs in all.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.points.len() as u64 * u64::from(self.replications)
    }

    /// The seed of a run. Replications count from 0.
    ///
    /// With independent random numbers it depends on `run.seed`, the levels of the point and the replication, and not on the
    /// number of the point: more levels or replications leave the seeds of the others alone.
    ///
    /// # Panics
    /// When there is no such point.
    #[must_use]
    pub fn seed(&self, point: usize, replication: u32) -> u64 {
        match self.random_numbers {
            RandomNumbers::Common => self.seed + u64::from(replication),
            RandomNumbers::Independent => {
                let name = format!("independent run at {}", self.levels_text(point));
                RandomStreams::new(self.seed).stream(&name, u64::from(replication)).below(SEED_MAX)
            }
        }
    }

    /// The levels of a point, such as `workload.load = 8, circuit = satellite`.
    pub(super) fn levels_text(&self, point: usize) -> String {
        let mut text = String::new();
        for (factor, level) in self.levels(point) {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{} = {}", factor.name, level.label);
        }
        text
    }

    /// The level of each factor at a point.
    pub(super) fn levels(&self, point: usize) -> impl Iterator<Item = (&DesignFactor, &Level)> {
        let indexes = self.points[point].iter();
        self.factors.iter().zip(indexes).map(|(factor, index)| (factor, &factor.levels[*index as usize]))
    }
}

/// Every combination of as many levels as `counts` says. The last factor varies fastest.
fn full_factorial(counts: &[u32]) -> Vec<Vec<u32>> {
    counts.iter().fold(vec![Vec::new()], |points, count| {
        let with = |point: &Vec<u32>, level| point.iter().copied().chain([level]).collect();
        points.iter().flat_map(|point| (0..*count).map(move |level| with(point, level))).collect()
    })
}

/// The first level of every factor, then each other level of each factor alone.
fn one_at_a_time(counts: &[u32]) -> Vec<Vec<u32>> {
    let base = vec![0; counts.len()];
    let others =
        counts.iter().enumerate().flat_map(|(factor, count)| (1..*count).map(move |level| (factor, level)));
    let moved = others.map(|(factor, level)| {
        let mut point = base.clone();
        point[factor] = level;
        point
    });
    std::iter::once(base.clone()).chain(moved).collect()
}

/// The levels of `factor`, and for a Latin hypercube which of them each sample has.
fn expand(factor: &Factor, sweep: &Sweep, tree: &Value, seed: u64) -> (DesignFactor, Vec<u32>) {
    let samples = sweep.samples.filter(|_| sweep.design == DesignKind::LatinHypercube).unwrap_or(0);
    // By name: one more factor does not move the samples of the others.
    let mut random = RandomStreams::new(seed).stream(&format!("latin hypercube of {}", factor.name), 0);
    let positions = positions(samples, &mut random);
    if let Levels::Range(range) = &factor.levels {
        return draw(factor, range, tree, &positions);
    }
    let factor = listed(factor, tree);
    let count = factor.levels.len();
    let nearest = |position: &f64| ((position * count as f64) as u32).min(count as u32 - 1);
    let chosen = positions.iter().map(nearest).collect();
    (factor, chosen)
}

/// A factor with levels drawn from a range.
fn draw(factor: &Factor, range: &Range, tree: &Value, positions: &[f64]) -> (DesignFactor, Vec<u32>) {
    let kind = kind(factor, tree);
    let ruler = Ruler::new(range, kind).expect("the reading of a scenario has checked its ranges");
    let values: Vec<Value> =
        positions.iter().map(|position| ruler.value(*position, positions.len() as u32)).collect();
    let number = |value: &Value| number(kind, value).map_or(0.0, |(number, _)| number);
    let mut sorted = values.clone();
    sorted.sort_by(|one, other| number(one).total_cmp(&number(other)));
    sorted.dedup();
    let path = join("sweep.factors", &factor.name);
    let place = |value: &Value| sorted.partition_point(|known| number(known) < number(value)) as u32;
    let chosen = values.iter().map(place).collect();
    (of_values(factor, kind, &sorted, |_| path.clone()), chosen)
}

/// A factor with its levels written out, a range by its ends.
pub(super) fn listed(factor: &Factor, tree: &Value) -> DesignFactor {
    let path = join("sweep.factors", &factor.name);
    match &factor.levels {
        Levels::Named(levels) => of_names(factor, &path, levels),
        Levels::List(values) => {
            of_values(factor, kind(factor, tree), values, |index| join(&path, &index.to_string()))
        }
        Levels::Range(range) => {
            let ends = [range.from.clone(), range.to.clone()];
            of_values(factor, kind(factor, tree), &ends, |index| join(&path, ["from", "to"][index]))
        }
    }
}

pub(super) fn kind(factor: &Factor, tree: &Value) -> Kind {
    segments(&factor.name).map_or(Kind::Other, |key| Kind::of(tree, &key))
}

/// The levels of a key. `path` says where each is written.
fn of_values(factor: &Factor, kind: Kind, values: &[Value], path: impl Fn(usize) -> String) -> DesignFactor {
    let numbers: Vec<Option<(f64, &'static str)>> = values.iter().map(|value| number(kind, value)).collect();
    let mut units = numbers.iter().flatten().map(|(_, unit)| *unit);
    let unit = units.next().unwrap_or("");
    let has_one_axis = units.all(|other| other == unit);
    let columns = column(values);
    let level = |index: usize| Level {
        label: label(&values[index]),
        value: columns[index].clone(),
        number: numbers[index].filter(|_| has_one_axis).map(|(number, _)| number),
        set: vec![Setting { key: factor.name.clone(), value: values[index].clone(), path: path(index) }],
    };
    DesignFactor {
        name: factor.name.clone(),
        unit: if has_one_axis { unit } else { "" },
        levels: (0..values.len()).map(level).collect(),
    }
}

/// The levels of several keys that change together.
fn of_names(factor: &Factor, path: &str, levels: &[NamedLevel]) -> DesignFactor {
    let name = |level: &NamedLevel| match &level.level {
        Label::Text(text) => Value::String(text.clone()),
        Label::Number(number) => Value::Number(number.clone()),
    };
    let names: Vec<Value> = levels.iter().map(name).collect();
    let is_axis = names.iter().all(Value::is_number);
    let level = |((index, level), column): ((usize, &NamedLevel), Value)| {
        let path = join(&join(path, &index.to_string()), "set");
        let setting = |(key, value): (&String, &Value)| Setting {
            key: key.clone(),
            value: value.clone(),
            path: join(&path, key),
        };
        Level {
            label: level.level.to_string(),
            number: column.as_f64().filter(|_| is_axis),
            value: column,
            set: level.set.iter().map(setting).collect(),
        }
    };
    let levels = levels.iter().enumerate().zip(column(&names)).map(level).collect();
    DesignFactor { name: factor.name.clone(), unit: "", levels }
}

/// The place of a value on an axis, and the unit of it.
pub(super) fn number(kind: Kind, value: &Value) -> Option<(f64, &'static str)> {
    match value {
        Value::Number(number) => Some((number.as_f64()?, "")),
        Value::String(text) => kind.amount(text).map(|amount| (amount.number(), amount.unit)),
        _ => None,
    }
}

/// `values` as values of one type: what all are, or floats, or text.
fn column(values: &[Value]) -> Vec<Value> {
    let all = |is: fn(&Value) -> bool| values.iter().all(is);
    if all(Value::is_i64) || all(Value::is_boolean) || all(Value::is_string) {
        return values.to_vec();
    }
    if all(Value::is_number) {
        let float =
            |value: &Value| value.as_f64().and_then(Number::from_f64).map_or(Value::Null, Value::Number);
        return values.iter().map(float).collect();
    }
    values.iter().map(|value| label(value).into()).collect()
}

/// A value as it is called: text without quotes, anything else as TOML has it on a line.
fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| toml(value), str::to_owned)
}

fn toml(value: &Value) -> String {
    let entry = |(key, value): (&String, &Value)| format!("{} = {}", join("", key), toml(value));
    match value {
        Value::Object(table) if table.is_empty() => "{}".to_owned(),
        Value::Object(table) => format!("{{ {} }}", list(table, entry)),
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn list(table: &Map<String, Value>, entry: impl Fn((&String, &Value)) -> String) -> String {
    table.iter().map(entry).collect::<Vec<_>>().join(", ")
}
