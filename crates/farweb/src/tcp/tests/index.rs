//! The index of the scripts in `docs/models/tcp-scripts.md`, held against the scripts.
//!
//! The line of documentation above a script says where its expectation is written. The index turns that around.

use std::collections::BTreeMap;

/// Scripts of a stack, or of all: their name, their folder, and their subjects with their sources.
type Stack = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

macro_rules! subjects {
    ($stack:literal, $folder:literal: $($subject:literal)+) => {
        ($stack, $folder, &[$(($subject, include_str!(concat!("../../", $folder, "/", $subject, ".rs")))),+])
    };
}

const STACKS: [Stack; 3] = [
    subjects!("shared", "tcp/tests/shared": "closing" "sending"),
    subjects!("bsd", "tcp/bsd/tests": "acknowledging" "closing" "handshake" "limits" "loss" "options" "reassembly" "sending" "timing" "transfer"),
    subjects!("linux", "tcp/linux/tests": "acknowledging" "closing" "ecn" "handshake" "limits" "newreno" "rack" "reassembly" "sack" "sack_recovery" "sending"
        "slow_start" "timeout"),
];

const INDEX: &str = include_str!("../../../../../docs/models/tcp-scripts.md");

/// Names of the scripts of a source, each with the line above it.
fn scripts(source: &str) -> Vec<(&str, &str)> {
    let lines: Vec<&str> = source.lines().collect();
    lines
        .windows(3)
        .filter(|window| window[1] == "#[test]")
        .map(|window| {
            let name = window[2].strip_prefix("fn ").and_then(|rest| rest.strip_suffix("() {"));
            let name = name.unwrap_or_else(|| panic!("no name in {}", window[2]));
            let source = window[0].strip_prefix("/// ").and_then(|rest| rest.strip_suffix('.'));
            (name, source.unwrap_or_else(|| panic!("{name} does not say where it is written")))
        })
        .collect()
}

/// A reference without its note in parentheses.
fn plain(reference: &str) -> &str {
    let reference = reference.trim();
    match reference.rsplit_once(" (") {
        Some((plain, note)) if note.ends_with(')') => plain,
        _ => reference,
    }
}

/// Orders RFCs by number and puts them before everything else.
fn rank(reference: &str) -> (u32, &str) {
    let number = reference.strip_prefix("RFC ").and_then(|rest| rest.split([',', ' ']).next()?.parse().ok());
    (number.unwrap_or(u32::MAX), reference)
}

/// The tables of the index: scripts by subject, and by reference.
fn tables() -> String {
    let mut by_reference: BTreeMap<(u32, &str), Vec<String>> = BTreeMap::new();
    let mut text = "| scripts | subject | number |\n|---|---|---|\n".to_owned();
    let mut total = 0;
    for (stack, folder, subjects) in STACKS {
        for (subject, source) in subjects {
            let scripts = scripts(source);
            let title = source.lines().next().and_then(|line| line.strip_prefix("//! "));
            let title = title.unwrap_or_else(|| panic!("{subject} has no title")).trim_end_matches('.');
            text += &format!("| `{folder}/{subject}.rs` | {title} | {} |\n", scripts.len());
            total += scripts.len();
            for (name, references) in scripts {
                let place = format!("`{stack}::{subject}::{name}`");
                for reference in references.split("; ") {
                    by_reference.entry(rank(plain(reference))).or_default().push(place.clone());
                }
            }
        }
    }
    text += &format!("| | all | {total} |\n\n| written in | scripts |\n|---|---|\n");
    for ((_, reference), places) in by_reference {
        text += &format!("| {reference} | {} |\n", places.join(" "));
    }
    text
}

#[test]
fn the_index_lists_every_script() {
    let tables = tables();
    let start = INDEX.find("| scripts |").expect("the index has tables");
    assert!(
        INDEX[start..] == tables,
        "the tables of docs/models/tcp-scripts.md are not what the scripts say; they are:\n{tables}"
    );
}
