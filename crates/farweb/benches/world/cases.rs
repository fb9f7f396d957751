//! The cases: a path, what rides on it, and the requests.

use farweb::scenario::{InputKind, LinkFile, LinkFiles, Scenario, Source};
use farweb::units::Duration;

use crate::requests::{Requests, WEB_MEAN_BYTES, equal, hierarchy, web};

/// An E3 line with a queue of 256 kB, 60 ms each way.
const E3: &str = r#"
    up = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }
    down = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }
"#;
/// A link that takes no time.
const INSTANT: &str = r#"
    up = { rate = "unlimited", delay = "0 ms" }
    down = { rate = "unlimited", delay = "0 ms" }
"#;
/// A link that is full of bulk transfers and loses nothing.
const FAST: &str = r#"
    up = { rate = "100 Mbit/s", delay = "10 ms" }
    down = { rate = "100 Mbit/s", delay = "10 ms" }
"#;
/// A short queue that overflows all the time, and losses of its own.
const LOSSY: &str = r#"
    up = { rate = "20 Mbit/s", delay = "20 ms" }
    [path.link.down]
    rate = "20 Mbit/s"
    delay = "20 ms"
    queue = "50 packets"
    loss = { kind = "bernoulli", probability = 0.005 }
"#;
/// Link behind a queue of this kind, for transfers that would hold four times as much as it carries.
fn queued(kind: &str) -> String {
    let limit = if kind.starts_with("drop-") { ", limit = \"300 packets\"" } else { "" };
    format!(
        "up = {{ rate = \"100 Mbit/s\", delay = \"10 ms\" }}\n\
         down = {{ rate = \"100 Mbit/s\", delay = \"10 ms\", queue = {{ kind = \"{kind}\"{limit} }} }}"
    )
}

/// The link of the case `drop-tail`, downwards with as many opportunities of 1500 B in place of its rate.
const TRACED: &str = r#"
    up = { rate = "100 Mbit/s", delay = "10 ms" }
    down = { trace = "even.trace", delay = "10 ms", queue = { kind = "drop-tail", limit = "300 packets" } }
"#;

/// A link that holds any number of connections up by nothing but its delay.
const WIDE: &str = r#"
    up = { rate = "unlimited", delay = "100 ms" }
    down = { rate = "unlimited", delay = "100 ms" }
"#;

const HTTP_10: &str = r#"carrier = { kind = "http/1.0" }"#;
const MUX: &str = r#"carrier = { kind = "mux", connections = 50 }"#;
const ONE_MUX: &str = r#"carrier = { kind = "mux", connections = 1 }"#;

/// The example of a cache hierarchy: three links and one-way TCP as ns-2 has it.
const HIERARCHY: &str = include_str!("../../../../examples/cache-hierarchy.toml");

/// Window of the profiles in the web cases and in the others: 32767 B is the NZ–US studies' window.
const WEB_BUFFER: &str = "32767 B";
const BULK_BUFFER: &str = "65535 B";

/// The profile `linux` with BBR, under the name `bbr`.
const BBR: &str = r#""linux", constants = { congestion_control = "bbr" }"#;

/// Names of all cases, in the order of their runs.
pub(crate) const NAMES: &[&str] = &[
    "web-link/bsd44-lite",
    "web-link/linux",
    "web-router/bsd44-lite",
    "web-router/linux",
    "bulk/bsd44-lite",
    "bulk/linux",
    "bulk/bbr",
    "mux/bsd44-lite",
    "mux/linux",
    "hierarchy/ns2-reno",
    "queue/bsd44-lite",
    "queue/linux",
    "drop-tail/linux",
    "drop-head/linux",
    "codel/linux",
    "fq-codel/linux",
    "trace/linux",
    "open/bsd44-lite",
    "open/linux",
    "piled/bsd44-lite",
];

/// A scenario and its requests.
pub(crate) struct Case {
    pub(crate) scenario: Scenario,
    pub(crate) requests: Requests,
}

/// The case `name`, or a shortened one for counting its instructions.
///
/// # Panics
/// When there is no such case.
pub(crate) fn case(name: &str, short: bool) -> Case {
    let (kind, profile) = name.split_once('/').unwrap_or((name, ""));
    let full_or = |full: f64, shortened: f64| if short { shortened } else { full };
    let at_rate = |bps: f64| bps / 8.0 / WEB_MEAN_BYTES;
    let (scenario, requests) = match kind {
        "web-link" => (
            scenario(&[E3], &[HTTP_10], profile, WEB_BUFFER, ""),
            web(at_rate(18.8e6), full_or(600.0, 20.0), 1),
        ),
        "web-router" => (
            scenario(&[E3, INSTANT], &[HTTP_10], profile, WEB_BUFFER, ""),
            web(at_rate(18.8e6), full_or(600.0, 20.0), 1),
        ),
        "bulk" => (
            scenario(&[FAST, FAST, FAST], &[HTTP_10], profile, BULK_BUFFER, ""),
            equal(20, full_or(20e6, 2e6) as u64, 0.01, None),
        ),
        "mux" => (
            scenario(&[E3, INSTANT], &[MUX, HTTP_10], profile, WEB_BUFFER, ""),
            web(at_rate(30e6), full_or(300.0, 10.0), 1),
        ),
        "hierarchy" => (parsed(HIERARCHY), hierarchy(full_or(10.0, 1.0) as u64)),
        "queue" => (
            scenario(&[LOSSY], &[HTTP_10], profile, BULK_BUFFER, ""),
            equal(50, full_or(8e6, 500e3) as u64, 0.01, None),
        ),
        "drop-tail" | "drop-head" | "codel" | "fq-codel" => (
            scenario(&[&queued(kind)], &[HTTP_10], profile, BULK_BUFFER, ""),
            equal(20, full_or(20e6, 2e6) as u64, 0.01, None),
        ),
        "trace" => (
            scenario(&[TRACED], &[HTTP_10], profile, BULK_BUFFER, ""),
            equal(20, full_or(20e6, 2e6) as u64, 0.01, None),
        ),
        "open" => (
            scenario(&[WIDE], &[HTTP_10], profile, WEB_BUFFER, "origin = { release = \"delayed\" }"),
            // The last one starts before the first response comes.
            equal(full_or(100_000.0, 4_000.0) as u32, 1_000, 0.5e-3, Some(Duration::from_secs(60))),
        ),
        "piled" => (
            // 16 Mbit/s, over one connection that its window holds to 2.2 Mbit/s: most are on it until the end.
            scenario(&[E3, INSTANT], &[ONE_MUX, HTTP_10], profile, WEB_BUFFER, ""),
            equal(full_or(40_000.0, 5_000.0) as u32, 1_000, 0.5e-3, None),
        ),
        _ => panic!("there is no case {name}; there are {}", NAMES.join(", ")),
    };
    Case { scenario, requests }
}

/// Links in a row, and legs that are as long as each other: one over all, or one for each link.
fn scenario(links: &[&str], carriers: &[&str], profile: &str, buffer: &str, rest: &str) -> Scenario {
    let names: Vec<String> = (0..=links.len()).map(|node| format!("\"node {node}\"")).collect();
    let links: Vec<String> = links.iter().map(|link| format!("[[path.link]]\n{link}")).collect();
    let span = links.len() / carriers.len();
    let profile = if profile == "bbr" { BBR.to_owned() } else { format!("\"{profile}\"") };
    let leg = |(number, carrier): (usize, &&str)| {
        format!(
            "[[leg]]\nfrom = {}\nto = {}\n{carrier}\n\
             tcp = {{ profile = {profile}, mss = \"1460 B\", buffer = \"{buffer}\" }}",
            names[number * span],
            names[(number + 1) * span],
        )
    };
    let legs: Vec<String> = carriers.iter().enumerate().map(leg).collect();
    let text = format!(
        "format = 1\n{rest}\nworkload = {{ requests = \"made by the benchmark\" }}\n[path]\nnodes = [{}]\n{}\n{}",
        names.join(", "),
        links.join("\n"),
        legs.join("\n"),
    );
    parsed(&text)
}

fn parsed(text: &str) -> Scenario {
    // 100 Mbit/s: 25 opportunities in 3 ms.
    let trace: String = (1..=25_000).map(|number| format!("{}\n", (number * 3_u32).div_ceil(25))).collect();
    let trace = LinkFile::of_bytes(InputKind::Trace, "even.trace".to_owned(), trace.into_bytes());
    let mut files = LinkFiles::default();
    files.add(InputKind::Trace, "even.trace".to_owned(), trace.expect("it is a trace"));
    let complete = Source::parse(text, "benchmark.toml", &[]).and_then(|source| source.complete(&files));
    complete.unwrap_or_else(|error| panic!("{error}"))
}
