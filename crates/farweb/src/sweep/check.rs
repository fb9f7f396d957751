//! Checks a sweep: its design as a whole, and each level as a value that the scenario could have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::design::{Design, Level, kind, listed};
use super::sample::Ruler;
use crate::scenario::document::{Document, join, segments};
use crate::scenario::{
    DesignKind, Factor, Levels, NamedLevel, Problem, RandomNumbers, SEED_MAX, Scenario, Source, Sweep, read,
};

/// Most runs of a sweep. Chosen: at a tenth of a second each they take more than a day.
const RUNS_MAX: u128 = 1_000_000;

/// The design of the scenario in `source`, once it keeps all rules. Each level is tried alone.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn design_of(source: &Source) -> Result<Option<Design>, Vec<Problem>> {
    let (scenario, document) = (source.scenario(), &source.document);
    let Some(sweep) = &scenario.sweep else { return Ok(None) };
    let bare = document.without("sweep");
    let mut check =
        Check { scenario, sweep, document, bare, tree: scenario.effective(), problems: Vec::new() };
    check.design();
    check.keys();
    for factor in &sweep.factors.0 {
        check.factor(factor);
    }
    if check.problems.is_empty() { Ok(Design::of(scenario)) } else { Err(check.problems) }
}

/// The scenario at a point of the sweep of `document`, without the sweep.
///
/// # Errors
/// Everything wrong with the levels together. Messages name them.
pub(super) fn point(document: &Document, design: &Design, number: usize) -> Result<Source, Vec<Problem>> {
    let levels: Vec<&Level> = design.levels(number).map(|(_, level)| level).collect();
    let varied = vary(&document.without("sweep"), document, &levels).and_then(Source::of);
    varied.map_err(|mut problems| {
        let levels = design.levels_text(number);
        for problem in &mut problems {
            problem.message = format!("{} (at the point {levels})", problem.message);
        }
        problems
    })
}

/// `bare` with what `levels` set. Each value stands where `document` has it.
fn vary(bare: &Document, document: &Document, levels: &[&Level]) -> Result<Document, Vec<Problem>> {
    let mut varied = bare.clone();
    let mut problems = Vec::new();
    for setting in levels.iter().flat_map(|level| &level.set) {
        let place = document.place(&setting.path);
        if let Err(message) = varied.set_value(&setting.key, setting.value.clone(), place.clone()) {
            let (file, key) = (document.file.clone(), setting.key.clone());
            problems.push(Problem { file, place, key, message });
        }
    }
    if problems.is_empty() { Ok(varied) } else { Err(problems) }
}

struct Check<'a> {
    scenario: &'a Scenario,
    sweep: &'a Sweep,
    document: &'a Document,
    /// The document without the sweep.
    bare: Document,
    /// The scenario with its defaults.
    tree: Value,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn report(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(self.document.problem(path, message));
    }

    /// Rules of the design as a whole.
    fn design(&mut self) {
        let sweep = self.sweep;
        let is_hypercube = sweep.design == DesignKind::LatinHypercube;
        match sweep.samples {
            None if is_hypercube => {
                self.report(
                    "sweep.samples",
                    "missing; write the number of points of the Latin hypercube, for example samples = 20",
                );
            }
            Some(samples) if !is_hypercube => {
                let message = format!(
                    "found {samples}; only design = \"latin-hypercube\" has samples, and here it is \"{}\"",
                    sweep.design.name()
                );
                self.report("sweep.samples", message);
            }
            _ => {}
        }
        if is_hypercube && sweep.factors.0.is_empty() {
            self.report("sweep.factors", "there are none; a Latin hypercube needs at least one");
        }
        let points = points(sweep);
        let runs = points.saturating_mul(u128::from(sweep.replications));
        if runs > RUNS_MAX {
            let message = format!(
                "found {runs} runs (points: {points}, replications: {}); a sweep has at most {RUNS_MAX} runs",
                sweep.replications
            );
            self.report("sweep", message);
        }
        let last = self.scenario.run.seed + u64::from(sweep.replications) - 1;
        if sweep.random_numbers == RandomNumbers::Common && last > SEED_MAX {
            let message =
                format!("the last replication would have the seed {last}; a seed is 0 to {SEED_MAX}");
            self.report("run.seed", message);
        }
    }

    /// No key is set by two factors.
    fn keys(&mut self) {
        let factors = &self.sweep.factors.0;
        let mut all = BTreeMap::new();
        for (number, factor) in factors.iter().enumerate() {
            let path = join("sweep.factors", &factor.name);
            let keys: Vec<_> = match &factor.levels {
                Levels::Named(levels) => settings(&path, levels).collect(),
                Levels::List(_) | Levels::Range(_) => vec![(&factor.name, path)],
            };
            for (key, path) in keys {
                if let Ok(segments) = segments(key) {
                    all.entry((segments, number)).or_insert(path);
                }
            }
        }
        // In this order a key comes after those that it lies in.
        let all: Vec<_> = all.into_iter().collect();
        for (index, ((key, factor), path)) in all.iter().enumerate() {
            let mut outer = all[..index].iter().map(|(key, _)| key);
            if let Some((outer, other)) =
                outer.find(|(outer, other)| other != factor && key.starts_with(outer))
            {
                let (other, outer) = (&factors[*other].name, dotted(outer));
                self.report(path, format!("the factor {other} sets {outer} too; each key has one factor"));
            }
        }
    }

    fn factor(&mut self, factor: &Factor) {
        let path = join("sweep.factors", &factor.name);
        let before = self.problems.len();
        if factor.name.trim().is_empty() || factor.name.contains(char::is_control) {
            let message = format!("found {:?}; a factor has a name on one line", factor.name);
            return self.report(&path, message);
        }
        match &factor.levels {
            Levels::Named(levels) => {
                self.name(&path, &factor.name);
                self.labels(&path, levels.iter().map(|level| level.level.to_string()));
                for (key, path) in settings(&path, levels) {
                    if let Some(message) = segments(key).ok().and_then(|key| refused(&key)) {
                        self.report(&path, message);
                    }
                }
            }
            Levels::Range(_) if self.sweep.design != DesignKind::LatinHypercube => {
                let design = self.sweep.design.name();
                let message = format!(
                    "a range needs design = \"latin-hypercube\", and here it is \"{design}\"; write a list of levels"
                );
                self.report(&path, message);
            }
            Levels::Range(_) | Levels::List(_) => {
                match segments(&factor.name).ok().and_then(|key| refused(&key)) {
                    Some(message) => self.report(&path, message),
                    None => self.name(&path, &factor.name),
                }
            }
        }
        if self.problems.len() == before {
            self.levels(&path, factor);
        }
    }

    /// A factor's name is a column. Whoever writes the tables knows the columns beside it.
    fn name(&mut self, path: &str, name: &str) {
        let factors = self.sweep.factors.0.iter();
        if factors.filter(|factor| factor.name.eq_ignore_ascii_case(name)).count() > 1 {
            self.report(path, "another factor has this name, apart from upper and lower case");
        }
    }

    fn labels(&mut self, path: &str, labels: impl Iterator<Item = String>) {
        let mut known = BTreeSet::new();
        for (index, label) in labels.enumerate() {
            if !known.insert(label.clone()) {
                let place = join(&join(path, &index.to_string()), "level");
                self.report(&place, format!("{label:?} is there twice; each level needs a name of its own"));
            }
        }
    }

    /// Every level is right alone, and none is there twice. A range is right at its ends.
    fn levels(&mut self, path: &str, factor: &Factor) {
        let mut found = BTreeSet::new();
        let mut scenarios: BTreeMap<String, String> = BTreeMap::new();
        let before = self.problems.len();
        for level in listed(factor, &self.tree).levels {
            let varied = vary(&self.bare, self.document, &[&level]).and_then(|varied| read(&varied));
            let place = level.set.first().map_or(path, |setting| &setting.path);
            let place = self.document.place(place);
            let mut report = |place, message: String| {
                // A key that does not exist is wrong at every level. Equal problems are reported once.
                if found.insert(message.clone()) {
                    let (file, key) = (self.document.file.clone(), path.to_owned());
                    self.problems.push(Problem { file, place, key, message });
                }
            };
            match varied {
                Err(problems) => {
                    for Problem { key, message, .. } in problems {
                        report(place.clone(), format!("{key}: {message}"));
                    }
                }
                Ok(scenario) => {
                    let meaning = scenario.effective().to_string();
                    let label = level.label;
                    if label.contains(char::is_control) {
                        report(
                            place.clone(),
                            format!("found {label:?}; a level is one line without control characters"),
                        );
                    }
                    if let Some(other) = scenarios.get(&meaning) {
                        report(place, format!("the level {label} is the same as {other}; write each once"));
                    }
                    scenarios.entry(meaning).or_insert(label);
                }
            }
        }
        if let (Levels::Range(range), true) = (&factor.levels, self.problems.len() == before)
            && let Err(message) = Ruler::new(range, kind(factor, &self.tree))
        {
            self.report(path, message);
        }
    }
}

/// Keys that the levels of a factor set, each with where it is set.
fn settings<'l>(path: &str, levels: &'l [NamedLevel]) -> impl Iterator<Item = (&'l String, String)> {
    levels.iter().enumerate().flat_map(move |(index, level)| {
        let set = join(&join(path, &index.to_string()), "set");
        level.set.keys().map(move |key| (key, join(&set, key)))
    })
}

/// Number of points of a design.
fn points(sweep: &Sweep) -> u128 {
    let mut counts =
        sweep.factors.0.iter().filter_map(|factor| factor.levels.count()).map(|count| count as u128);
    match sweep.design {
        DesignKind::FullFactorial => counts.fold(1, u128::saturating_mul),
        DesignKind::OneAtATime => 1 + counts.by_ref().map(|count| count - 1).sum::<u128>(),
        DesignKind::LatinHypercube => u128::from(sweep.samples.unwrap_or(0)),
    }
}

/// Why a sweep cannot vary a key, if it cannot.
fn refused(key: &[String]) -> Option<&'static str> {
    let key: Vec<&str> = key.iter().map(String::as_str).collect();
    match key[..] {
        ["sweep", ..] => Some("a sweep cannot vary itself"),
        ["run"] | ["run", "seed", ..] => {
            Some("the seeds of a sweep come from sweep.replications; vary other keys of run")
        }
        ["name" | "format", ..] => Some("this key changes no result; vary another one"),
        _ => None,
    }
}

fn dotted(segments: &[String]) -> String {
    segments.iter().fold(String::new(), |path, segment| join(&path, segment))
}
