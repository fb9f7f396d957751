//! Any overrides of a scenario that is right, at keys that exist, nearly exist or do not.

#![no_main]

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use farweb::scenario::Scenario;
use farweb_fuzz::scenarios;
use libfuzzer_sys::fuzz_target;

/// Every key that the example has a value for.
static KEYS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let example = Scenario::parse(scenarios::EXAMPLE, "cable.toml", &[]).expect("the example is right");
    scenarios::keys(&example.effective())
});

/// Values of all the kinds that scenarios have.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "3",
    "1.5",
    "nan",
    "1e308",
    "9007199254740993",
    "true",
    "\"\"",
    "unlimited",
    "host",
    "done",
    "0 ms",
    "60 ms",
    "1 ns",
    "292 years",
    "100000 h",
    "31 B",
    "32 B",
    "65495 B",
    "1460 B",
    "1 GiB",
    "1 bit/s",
    "9 Gbit/s",
    "1 packets",
    "0 packets",
    "sample",
    "nzix",
    "prowgen",
    "waiting",
    "[]",
    "{}",
    "[1, 2]",
    "[[1], [2]]",
    "[\"1 B\"]",
    "[{}]",
    "{ kind = \"http/1.0\" }",
    "{ kind = \"none\" }",
    "{ kind = \"bernoulli\", probability = 0.5 }",
    "{ kind = \"list\", drop = [\"data 8\", \"any 1..4294967295\"] }",
    "{ kind = \"gilbert-elliott\", good_to_bad = 1, bad_to_good = 0 }",
    "{ mss = \"1460 B\" }",
    "{ buffer = \"host\" }",
    "{ replications = 3, factors = { \"workload.load\" = [1, 2] } }",
    "{ design = \"latin-hypercube\", samples = 5, factors = { \"run.until\" = { from = \"1 s\", to = \"1 h\", scale = \"log\" } } }",
    "{ from = \"1 s\", to = \"9 s\" }",
    "[{ level = \"a\", set = { \"workload.load\" = 2 } }, { level = 3, set = { \"workload.load\" = 3 } }]",
    "\"one-at-a-time\"",
    "{ \"leg.0.tcp.mss\" = [\"536 B\", \"host\"] }",
];

/// Keys that the example does not set.
const MORE_KEYS: &[&str] = &[
    "sweep",
    "sweep.factors",
    "sweep.replications",
    "sweep.design",
    "sweep.samples",
    "sweep.factors.circuit",
    "sweep.factors.\"run.until\"",
    "sweep.factors.\"run.seed\"",
    "path.link.0.down.loss",
    "path.link.0.up.queue_counts",
    "leg.0.tcp.to",
    "leg.0.tcp.to.mss",
    "leg.0.tcp.constants.timestamps",
    "leg.0.tcp.constants.initial_cwnd_segments",
    "record.links_every",
    "workload.copies_offset",
    "workload.speed",
    "workload.family",
    "workload.period",
    "workload.parameters",
    "workload.parameters.us_rate",
    "leg.1",
    "path.nodes.2",
];

#[derive(Debug)]
struct Overrides(Vec<(String, String)>);

impl<'a> Arbitrary<'a> for Overrides {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let mut all = Vec::new();
        while all.len() < 8 && !u.is_empty() {
            let key = match u.int_in_range(0..=3)? {
                0 | 1 => u.choose(&KEYS)?.clone(),
                2 => (*u.choose(MORE_KEYS)?).to_owned(),
                _ => u.arbitrary()?,
            };
            let value = if u.ratio(3, 4)? { (*u.choose(VALUES)?).to_owned() } else { u.arbitrary()? };
            all.push((key, value));
        }
        Ok(Self(all))
    }
}

fuzz_target!(|overrides: Overrides| scenarios::read(scenarios::EXAMPLE, &overrides.0));
