//! Every rule of a sweep, broken once.

use super::HYPERCUBE;
use crate::scenario::Problem;
use crate::scenario::tests::{CABLE, cable_with};
use crate::sweep::Planned;

/// Sweeps that are wrong: the lines that stand below the cable, the key that is named, and the beginning of the message.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &str)] = &[
    ("[sweep]\ndesign = \"full\"", "sweep.design", "found \"full\"; it is one of \"full-factorial\", \"one-at-a-time\", \"latin-hypercube\" (did you mean full-factorial?)"),
    ("[sweep]\nreplications = 0", "sweep.replications", "found 0; it is 1 to"),
    ("[sweep]\nrandom_numbers = \"commn\"", "sweep.random_numbers", "found \"commn\"; it is one of \"common\", \"independent\" (did you mean common?)"),
    ("[sweep]\nsamples = 4", "sweep.samples", "found 4; only design = \"latin-hypercube\" has samples, and here it is \"full-factorial\""),
    ("[sweep]\ndesign = \"latin-hypercube\"\nfactors = { \"workload.load\" = [1] }", "sweep.samples", "missing; write the number of points of the Latin hypercube, for example samples = 20"),
    ("[sweep]\ndesign = \"latin-hypercube\"\nsamples = 2", "sweep.factors", "there are none; a Latin hypercube needs at least one"),
    ("[sweep]\nreplications = 1000001", "sweep", "found 1000001 runs (points: 1, replications: 1000001); a sweep has at most 1000000 runs"),
    ("[sweep.factors]\nworkload.load = [1, 2]", "sweep.factors.workload", "found a table; write a dotted key in quotes: \"workload.load\" = [1, 2]"),
    ("[sweep.factors]\n\"workload.load\" = 3", "sweep.factors.\"workload.load\"", "found the number 3; write a list of levels, such as [1, 2, 4], or a range"),
    ("[sweep.factors]\n\"workload.load\" = []", "sweep.factors.\"workload.load\"", "there are no levels; write at least one"),
    ("[sweep.factors]\n\"workload.load\" = [1, 2, 1]", "sweep.factors.\"workload.load\"", "the level 1 is the same as 1; write each once"),
    ("[sweep.factors]\n\"run.until\" = [\"1 s\", \"1000 ms\"]", "sweep.factors.\"run.until\"", "the level 1000 ms is the same as 1 s; write each once"),
    ("[sweep.factors]\n\"run.seed\" = [1, 2]", "sweep.factors.\"run.seed\"", "the seeds of a sweep come from sweep.replications"),
    ("[sweep.factors]\n\"run\" = [{ seed = 1 }]", "sweep.factors.run", "the seeds of a sweep come from sweep.replications"),
    ("[sweep.factors]\n\"name\" = [\"a\", \"b\"]", "sweep.factors.name", "this key changes no result"),
    ("[sweep.factors]\n\"sweep.samples\" = [1, 2]", "sweep.factors.\"sweep.samples\"", "a sweep cannot vary itself"),
    ("[sweep.factors]\n\"leg.0.tcp\" = [{ mss = \"99 B\" }]\n\"leg.0.tcp.mss\" = [\"536 B\"]", "sweep.factors.\"leg.0.tcp.mss\"", "the factor leg.0.tcp sets leg.0.tcp too; each key has one factor"),
    ("[sweep.factors]\n\"workload.load\" = { from = 1, to = 2 }", "sweep.factors.\"workload.load\"", "a range needs design = \"latin-hypercube\", and here it is \"full-factorial\"; write a list of levels"),
    ("[sweep.factors]\ncircuit = [{ set = { \"workload.load\" = 2 } }]", "sweep.factors.circuit.0.level", "missing; write for example level = \"cable\""),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", sett = { \"workload.load\" = 2 }, set = { \"workload.load\" = 1 } }]", "sweep.factors.circuit.0.sett", "unknown key; the keys here are level, set (did you mean set?)"),
    ("[sweep.factors]\ncircuit = [{ level = true, set = { \"workload.load\" = 2 } }]", "sweep.factors.circuit.0.level", "found true; write text or a number"),
    ("[sweep.factors]\ncircuit = [{ level = \" \", set = { \"workload.load\" = 2 } }]", "sweep.factors.circuit.0.level", "found an empty name; a level needs one"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\\nb\", set = { \"workload.load\" = 2 } }]", "sweep.factors.circuit.0.level", "found \"a\\nb\"; a name is one line"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = 3 }]", "sweep.factors.circuit.0.set", "found the number 3; write a table"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { workload.load = 3 } }]", "sweep.factors.circuit.0.set", "found a table; write the whole dotted key in quotes, such as \"workload.load\""),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { \"workload.load\" = 3 } }, 4]", "sweep.factors.circuit.1", "found the number 4; write a table"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { \"workload.load\" = 3 } }, { level = \"a\", set = { \"workload.load\" = 4 } }]", "sweep.factors.circuit.1.level", "\"a\" is there twice; each level needs a name of its own"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { \"workload.load\" = 3 } }, { level = \"b\", set = { \"workload.load\" = 3 } }]", "sweep.factors.circuit", "the level b is the same as a; write each once"),
    ("[sweep.factors]\n\"run.until\" = [\"1 s\"]\ncircuit = [{ level = \"a\" }, { level = \"b\", set = { \"run.until\" = \"2 s\" } }]", "sweep.factors.circuit.1.set.\"run.until\"", "the factor run.until sets run.until too"),
    ("[sweep.factors]\n\"leg.0.tls\" = [\"off\"]", "sweep.factors.\"leg.0.tls\"", "leg.0.tls: found the text \"off\"; write a table, or \"none\""),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { \"workload.lod\" = 3 } }]", "sweep.factors.circuit", "workload.lod: unknown key; the keys here are requests"),
    ("[sweep.factors]\ncircuit = [{ level = \"a\", set = { \"run.seed\" = 3 } }]", "sweep.factors.circuit.0.set.\"run.seed\"", "the seeds of a sweep come from"),
    ("[sweep.factors]\n\"workload.requests\" = [\"a\\nb\", \"c\"]", "sweep.factors.\"workload.requests\"", "found \"a\\nb\"; a level is one line"),
    ("[sweep.factors]\n\"run.\\tuntil\" = [\"1 s\", \"2 s\"]", "sweep.factors.\"run.\\tuntil\"", "found \"run.\\tuntil\"; a factor has a name on one line"),
    ("[sweep.factors]\n\"\" = [{ level = \"a\", set = { \"workload.load\" = 3 } }]", "sweep.factors.\"\"", "found \"\"; a factor has a name on one line"),
];

/// Ranges that are wrong, and the beginning of the message.
#[rustfmt::skip]
const WRONG_RANGES: &[(&str, &str, &str)] = &[
    ("\"workload.load\" = { from = 1 }", "sweep.factors.\"workload.load\".to", "missing; write for example to = \"600 ms\""),
    ("\"workload.load\" = { from = 1, too = 2, to = 3 }", "sweep.factors.\"workload.load\".too", "unknown key; the keys here are from, to, scale (did you mean to?)"),
    ("\"workload.load\" = { from = 1, to = [3] }", "sweep.factors.\"workload.load\".to", "found a list; write text or a number"),
    ("\"workload.load\" = { from = 1, to = 3, scale = \"lag\" }", "sweep.factors.\"workload.load\".scale", "found \"lag\"; it is one of \"linear\", \"log\" (did you mean log?)"),
    ("\"workload.load\" = { from = 1, to = 3, scale = 10 }", "sweep.factors.\"workload.load\".scale", "found the number 10; write one of"),
    ("\"workload.load\" = { from = 3, to = 3 }", "sweep.factors.\"workload.load\"", "the level 3 is the same as 3"),
    ("\"workload.load\" = { from = 4, to = 3 }", "sweep.factors.\"workload.load\"", "found 4 to 3; a range ends above its beginning"),
    ("\"workload.load\" = { from = 0, to = 3 }", "sweep.factors.\"workload.load\"", "workload.load: found 0; it is 1 to"),
    ("\"workload.load\" = { from = 1.5, to = 3 }", "sweep.factors.\"workload.load\"", "workload.load: found the number 1.5; write a whole number"),
    ("\"origin.release\" = { from = \"paced\", to = \"at-once\" }", "sweep.factors.\"origin.release\"", "the key takes neither numbers nor quantities; write a list of levels"),
    ("\"leg.0.tcp.mss\" = { from = \"99 B\", to = \"host\" }", "sweep.factors.\"leg.0.tcp.mss\"", "found \"host\"; a range goes from a number or quantity to another"),
    ("\"path.link.0.up.queue\" = { from = \"9 packets\", to = \"9 kB\" }", "sweep.factors.\"path.link.0.up.queue\"", "found \"9 packets\" to \"9 kB\"; both ends of a range have the same unit"),
    ("\"path.link.0.up.delay\" = { from = \"0 ms\", to = \"9 ms\", scale = \"log\" }", "sweep.factors.\"path.link.0.up.delay\"", "found \"0 ms\" to \"9 ms\"; a range on a logarithmic scale begins above 0"),
    ("\"run.until\" = { from = \"1 h\", to = \"9999 h\" }", "sweep.factors.\"run.until\"", "found \"1 h\" to \"9999 h\"; a range ends at 2^53 of the smallest unit at most"),
];

fn problems(sweep: &str) -> Vec<Problem> {
    Planned::parse(&format!("{CABLE}{sweep}\n"), "s.toml", &[]).expect_err(sweep).problems
}

#[test]
fn what_is_no_sweep_is_reported_at_its_key() {
    let ranges =
        WRONG_RANGES.iter().map(|(range, key, message)| (format!("{HYPERCUBE}{range}"), key, message));
    let others = WRONG.iter().map(|(sweep, key, message)| ((*sweep).to_owned(), key, message));
    for (sweep, key, message) in others.chain(ranges) {
        let problems = problems(&sweep);
        assert_eq!(problems.len(), 1, "{sweep}: {problems:?}");
        assert_eq!(problems[0].key, *key, "{problems:?}");
        assert!(problems[0].message.starts_with(message), "{}", problems[0]);
    }
}

#[test]
fn a_wrong_level_is_reported_with_its_line() {
    let sweep = "[sweep.factors]\n\"leg.0.tcp.mss\" = [\n  \"1460 B\",\n  \"16 B\",\n]\n";
    let first = CABLE.lines().count();
    let problem = problems(sweep)[0].to_string();
    assert!(
        problem.starts_with(&format!(
            "s.toml:{}: sweep.factors.\"leg.0.tcp.mss\": leg.0.tcp.mss: found 16 B",
            first + 4
        )),
        "{problem}"
    );
}

#[test]
fn a_sweep_of_more_than_a_million_runs_is_refused_before_it_is_laid_out() {
    let levels = (1..=100).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let ticks = (1..=100).map(|level| format!("\"{level} s\"")).collect::<Vec<_>>().join(", ");
    let keys = ["workload.copies_offset", "run.until", "path.link.0.up.delay", "path.link.0.down.delay"];
    let factors: Vec<_> = keys.iter().map(|key| format!("\"{key}\" = [{ticks}]\n")).collect();
    let sweep = format!("[sweep]\n[sweep.factors]\n\"workload.load\" = [{levels}]\n{}", factors.concat());
    let found = problems(&sweep);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "found 10000000000 runs (points: 10000000000, replications: 1); a sweep has at most 1000000 runs"
    );
}

#[test]
fn the_last_seed_of_common_random_numbers_is_a_seed() {
    let last = ["run.seed=9007199254740990", "sweep.replications=3"];
    assert!(cable_with(&last).is_ok());
    let beyond = cable_with(&["run.seed=9007199254740990", "sweep.replications=4"]).unwrap_err();
    assert!(
        beyond.problems[0].message.starts_with("the last replication would have the seed 9007199254740993"),
        "{beyond}"
    );
}
