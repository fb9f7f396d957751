//! `docs/scenario.md` agrees with the parser.

use std::collections::BTreeSet;

use crate::scenario::{Scenario, schema};

use super::schema::keys_of;

const GUIDE: &str = include_str!("../../../../../docs/scenario.md");

/// Code blocks of the guide: what stands behind the opening fence, and the text.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    GUIDE
        .split("```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("a fence ends with its line"))
}

fn block(fence: &str) -> &'static str {
    blocks().find(|(found, _)| *found == fence).expect("the guide has the block").1
}

fn parse_example(overrides: &[(String, String)]) -> Scenario {
    Scenario::parse(block("toml"), "cable.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_example_is_a_scenario() {
    let scenario = parse_example(&[]);
    assert_eq!(crate::explain::report(&scenario, None, None).legs[0].connections_to_fill, Some(16));
}

#[test]
fn the_cache_of_the_guide_is_one() {
    let legs = "leg=[{from=\"nz-proxy\",to=\"child\",carrier={kind=\"http/1.0\"}},{from=\"child\",to=\"server\",carrier={kind=\"http/1.0\"}}]";
    let nodes = "path.nodes=[\"nz-proxy\",\"child\",\"server\"]";
    let split =
        |text: &str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap();
    let text = format!("{}\n{}", block("toml"), block("toml cache"));
    let scenario = Scenario::parse(&text, "s.toml", &[split(legs), split(nodes)])
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.cache[0].live().unwrap().capacity.get(), 64_000_000);
}

#[test]
fn values_of_single_keys_are_allowed() {
    let mut count = 0;
    for (fence, value) in blocks() {
        if let Some(key) = fence.strip_prefix("toml override ") {
            parse_example(&[(key.to_owned(), value.to_owned())]);
            count += 1;
        }
    }
    assert_eq!(count, 21);
}

#[test]
fn overrides_on_the_command_line_are_allowed() {
    let commands: Vec<_> = block("console").lines().collect();
    let settings = |command: &str| -> Vec<(String, String)> {
        let values = command.split(" --set ").skip(1).map(|setting| setting.trim_matches('\''));
        let pairs = values.map(|setting| setting.split_once('=').expect("KEY=VALUE"));
        pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
    };
    let run = parse_example(&settings(commands[0]));
    assert_eq!((run.run.seed, crate::explain::report(&run, None, None).legs[0].rtt_ns), (7, 380_000_000));
    assert_ne!(parse_example(&settings(commands[1])), parse_example(&[]));
}

#[test]
fn errors_look_like_this() {
    let error = Scenario::parse(block("toml wrong"), "cable.toml", &[]).unwrap_err();
    assert_eq!(format!("{error}\n").replace(crate::VERSION, "0.1.0"), block("text"));
}

#[test]
fn every_key_is_there() {
    let mut schema = schema();
    // The constants of TCP profiles and the parameters of families stand in the pages of the models.
    let elsewhere = |name: &str| name.ends_with("Constants") || name.ends_with("Parameters");
    schema["$defs"].as_object_mut().unwrap().retain(|name, _| !elsewhere(name));
    let keys: BTreeSet<String> = keys_of(&schema).into_iter().map(|(name, _)| name).collect();
    let missing: Vec<_> = keys
        .iter()
        .filter(|key| !["`", "]"].iter().any(|end| GUIDE.contains(&format!("{key}{end}"))))
        .collect();
    assert_eq!(missing, [""; 0]);
}
