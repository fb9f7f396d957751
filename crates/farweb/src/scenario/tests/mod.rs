//! Scenarios that are wrong in every way, and those that are right.

mod guide;
mod properties;
mod rules;
pub(super) mod schema;

use super::*;
use crate::sweep::Planned;
use crate::units::{Bytes, Duration};

/// The cable from New Zealand to the United States, without proxy there.
pub(crate) const CABLE: &str = r#"
format = 1
name = "cable"

[path]
nodes = ["nz-proxy", "us-router", "server"]

[[path.link]]
up   = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }
down = { rate = "34.368 Mbit/s", delay = "60 ms", queue = "256000 B" }

[[path.link]]
up   = { rate = "unlimited", delay = "0 ms" }
down = { rate = "unlimited", delay = "0 ms" }

[[leg]]
from = "nz-proxy"
to = "server"
carrier = { kind = "http/1.0" }

[workload]
requests = "requests.csv"
"#;

const EVERY_KEY_WRONG: &str = r#"formt = 2
name = 7
[path]
nodes = ["a", 3]
[[path.link]]
up = { rate = "34 mbps", delay = 60, queue = "lots", queue_counts = "everything", loss = { kind = "bernouli" } }
down = { rat = "1 Mbit/s", delay = 1979-05-27, queue = 100, loss = { kind = "list" } }
[[path.link]]
up = { rate = "0 bit/s", delay = "60", loss = "heavy" }
down = { rate = "1 Mbit/s", delay = "60 m", loss = { kind = "bernoulli", probability = "often" } }
[[path.link]]
up = "fast"
[[leg]]
from = 1
to = "b"
carrier = { kind = "http/3" }
tcp = { profile = "linx", mss = "1460", bufer = "1 B", from = { mss = "2 hosts" }, constants = 3 }
[[leg]]
from = "a"
to = "b"
carrier = "http/1.0"
tcp = { profile = "bsd44", to = { bufer = "1 B" } }
[[leg]]
from = "a"
carrier = {}
[[cache]]
nod = "a"
mode = "splitt"
hit_ratio = "40 %"
[workload]
load = 0
hosts = true
copies_offset = "-3 s"
default_mss = 536
default_window = "all"
[origin]
release = "slow"
delay = "1 s"
[run]
seed = -1
until = "finished"
warmup = inf
[record]
connections = "yes"
packets = "al"
points = "link 0"
links_every = []
[sweep]
replications = 1.5
factors = [1]
"#;

/// The asymmetric satellite study with a proxy in the United States, which needs a carrier between proxies.
const TWO_PROXIES: &str = r#"
format = 1
[path]
nodes = ["nz-proxy", "us-proxy", "server"]
[[path.link]]
up   = { rate = "34.368 Mbit/s", delay = "60 ms",  queue = "256000 B" }
down = { rate = "34.368 Mbit/s", delay = "320 ms", queue = "256000 B" }
[[path.link]]
up   = { rate = "unlimited", delay = "0 ms" }
down = { rate = "unlimited", delay = "0 ms" }
[[leg]]
from = "nz-proxy"
to = "us-proxy"
carrier = { kind = "mux", connections = 50, overhead = "20 B", assign = "least-outstanding" }
tcp = { profile = "bsd44-lite", mss = "1460 B", buffer = "32767 B" }
[[leg]]
from = "us-proxy"
to = "server"
carrier = { kind = "http/1.0" }
tcp = { profile = "bsd44-lite", mss = "host", buffer = "host" }
[workload]
requests = "nzix-requests.parquet"
hosts = "nzix-hosts.tsv"
[sweep.factors]
"leg.0.carrier.connections" = [1, 5]
"#;

/// The cable with overrides such as `"leg.0.tcp.buffer=65535 B"`.
pub(crate) fn cable_with(overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let split = |text: &&str| {
        let (key, value) = text.split_once('=').expect("KEY=VALUE");
        (key.to_owned(), value.to_owned())
    };
    let overrides: Vec<_> = overrides.iter().map(split).collect();
    Planned::parse(CABLE, "cable.toml", &overrides).map(|planned| planned.scenario().clone())
}

fn lines(overrides: &[&str]) -> Vec<String> {
    cable_with(overrides).unwrap_err().problems.iter().map(Problem::to_string).collect()
}

fn parse_error(text: &str) -> String {
    Scenario::parse(text, "s.toml", &[]).unwrap_err().to_string()
}

#[test]
fn every_problem_is_reported_with_its_place() {
    insta::assert_snapshot!(parse_error(EVERY_KEY_WRONG));
}

#[test]
fn defaults_are_spelled_out() {
    let scenario = cable_with(&[]).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&scenario.effective()).unwrap());
}

#[test]
fn names_of_other_tools_are_answered_wherever_they_stand() {
    let found = lines(&[
        "leg.0.carrier.kind=http/3",
        "leg.0.tcp.vegas=true",
        "leg.0.tcp.window=64 kB",
        "path.link.0.down.latency=5 ms",
        "path.link.0.down.limit=1000",
        "path.link.0.down.queue=fq_codel",
        "path.link.0.up.queue=cake",
        "path.link.1.up.queue=drop-head",
    ]);
    let said = [
        "\"transfer\" (farweb does not model QUIC and HTTP/3; http/2 with tls.start = \"0-rtt\" comes nearest: docs/not.md)",
        "constants (farweb does not model this congestion control; cubic, reno and bbr (version 1) are there, beside the profile \
         \"linux\": docs/not.md)",
        "constants (here it is tcp.buffer)",
        "unknown key (here it is queue, which counts the packets that wait; netem's limit counts those in its delay too: write rate, \
         limit / delay at most, such as 120 Mbit/s for 1000 packets of 1500 B in 100 ms); farweb schema scenario lists the 20 keys here",
        "unknown key (here it is delay = \"300 ms\" of each direction of a link); farweb schema scenario lists the 20 keys here",
        "or write one of \"drop-tail\", \"codel\", \"fq-codel\", \"pie\" (did you mean fq-codel?)",
        "path.link.1.up.queue: found \"drop-head\", which needs a limit; write queue = { kind = \"drop-head\", limit = \"50 ms\" }",
        "(farweb does not model this queue; queue = \"fq-codel\", \"codel\", \"pie\", drop-head and drop-tail are there: docs/not.md)",
    ];
    for end in said {
        assert!(found.iter().any(|line| line.ends_with(end)), "{end}\n{}", found.join("\n"));
    }
}

#[test]
fn legs_have_carriers_of_their_own() {
    let scenario = Scenario::parse(TWO_PROXIES, "s.toml", &[]).unwrap();
    let (assign, ties) = (Assign::LeastOutstanding, Ties::First);
    let overhead = Overhead::PerSegment(Bytes::new(20));
    assert_eq!(scenario.leg[0].carrier, Carrier::Mux { connections: 50, overhead, assign, ties });
    assert_eq!(scenario.leg[1].carrier, Carrier::Http10 { closed_by: ClosedBy::Server });
    let kinds = [("leg.1.carrier".to_owned(), "{ kind = \"http/1.1\", per_host = 4 }".to_owned())];
    let scenario = Scenario::parse(TWO_PROXIES, "s.toml", &kinds).unwrap();
    let idle_timeout = Duration::from_secs(15);
    let carrier = Carrier::Http11 {
        idle_timeout,
        closed_by: ClosedBy::Client,
        per_host: Some(4),
        total: None,
        per_connection: None,
    };
    assert_eq!(scenario.leg[1].carrier, carrier);
}

#[test]
fn another_format_is_the_only_problem_reported() {
    let newer = lines(&["format=2", "name=3"]);
    assert_eq!(newer.len(), 1);
    assert!(newer[0].contains("format: found 2: made for a newer farweb"), "{newer:?}");
    assert!(lines(&["format=0"])[0].ends_with("format: found 0; there is only format 1"));
}

#[test]
fn overrides_are_toml_or_bare_text_and_need_no_key_in_the_file() {
    let scenario = cable_with(&[
        "leg.0.tcp.buffer=\"65535 B\"",
        "path.link.0.down.delay=320 ms",
        "path.link.1.up.queue=10 packets",
        "leg.0.tcp.to.mss=host",
        "run.seed=7",
        "name=2001-09-01",
        "path.nodes=[\"a\", \"b\", \"c\"]",
        "leg.0.from=a",
        "leg.0.to=c",
        "sweep.factors.\"workload.load\"=[1, 2]",
        "path.link.0.up.loss={ kind = \"bernoulli\", probability = 0.5 }",
    ])
    .unwrap();
    assert_eq!(scenario.leg[0].tcp.buffer, Some(HostOr::Size(Bytes::new(65_535))));
    assert_eq!(scenario.leg[0].tcp.to.unwrap().mss, Some(HostOr::Host));
    assert_eq!(scenario.path.link[0].down.delay, Duration::from_millis(320));
    assert_eq!(scenario.path.link[1].up.queue, Some(Queue::Limit(QueueLimit::Packets(10))));
    assert_eq!(scenario.path.link[0].up.loss, Loss::Bernoulli { probability: 0.5 });
    assert_eq!((scenario.run.seed, scenario.name.as_str()), (7, "2001-09-01"));
    assert_eq!(scenario.path.nodes, ["a", "b", "c"]);
    let factor = Factor { name: "workload.load".to_owned(), levels: Levels::List(vec![1.into(), 2.into()]) };
    assert_eq!(scenario.sweep.unwrap().factors, Factors(vec![factor]));
}

#[test]
fn a_problem_within_the_value_of_an_override_stands_there() {
    let given = "path.link.0.up={ rate = \"fast\", delay = \"1 ms\" }";
    let found = lines(&[given]);
    assert!(
        found[0].starts_with(&format!("--set {given}: path.link.0.up.rate: \"fast\" does not")),
        "{found:?}"
    );
}

#[test]
fn later_overrides_win() {
    assert_eq!(cable_with(&["workload.load=2", "workload.load=3"]).unwrap().workload.load.get(), 3.0);
}

#[test]
fn overrides_that_reach_nothing_are_problems() {
    let cases = [
        ("leg.1.from=x", "leg has one entry, leg.0"),
        ("path.link.2.up=x", "path.link has 2 entries, path.link.0 to path.link.1"),
        ("leg.first.from=x", "leg is a list; write a number after it, not first"),
        ("name.first=x", "name is a value, not a table; it has no key first"),
        ("leg..from=x", "\"leg..from\" is not a dotted key; write one like \"leg.0.tcp.buffer\""),
        ("run.until=\"60 s", "\"\"60 s\" is not TOML"),
        (
            "leg.0.tcp.bufer=1 B",
            "unknown key; the keys here are profile, mss, buffer, from, to, constants (did you mean buffer?)",
        ),
        ("workload.load=four", "found the text \"four\"; write a whole number"),
    ];
    for (given, message) in cases {
        let key = given.split_once('=').unwrap().0;
        assert_eq!(lines(&[given]), [format!("--set {given}: {key}: {message}")]);
    }
    let deep = ["a"; 33].join(".");
    assert!(lines(&[&format!("{deep}=1")])[0].ends_with("33 parts; a key has at most 32"));
}

#[test]
fn places_count_lines_and_characters() {
    let place = |text: &str| Scenario::parse(text, "s.toml", &[]).unwrap_err().problems[0].place.clone();
    let at = |line, column| Place::File { line, column };
    assert_eq!(place("format = 1\nname = \"é\" x"), at(2, 12));
    assert_eq!(place(&CABLE.replace("name = \"cable\"", "é.name = 1").replace('\n', "\r\n")), at(3, 1));
    let inline = CABLE.replacen("delay = \"60 ms\"", "delay = 60", 1);
    assert_eq!(place(&inline), at(9, 34));
}

#[test]
fn what_is_no_toml_is_reported_with_line_and_column() {
    assert!(parse_error("format = 1\nname = = 2").starts_with("s.toml:2:8: not TOML: "));
    assert!(parse_error("PAR\u{0}\u{1}").starts_with("s.toml:1:4: not TOML: binary data"));
    assert!(parse_error("format = 1\nformat = 1").starts_with("s.toml:2:1: not TOML: duplicate key"));
    assert!(parse_error("").contains("s.toml:1: format: missing; write for example format = 1"));
}

#[test]
fn text_that_is_far_too_long_or_too_deep_is_an_error() {
    let long = format!("name = \"{}\"", "x".repeat(10_000_000));
    assert!(
        parse_error(&long).starts_with("s.toml:1:1: 10000009 bytes of text; a scenario has at most 1000000")
    );
    let keys = ["a"; 79].join(".");
    for deep in [
        format!("name = {}1{}", "[".repeat(400_000), "]".repeat(400_000)),
        format!("name = {}", "{ a = ".repeat(100_000)),
        format!("[{}]", ["a"; 300_000].join(".")),
        format!("{} = 1", ["a"; 300_000].join(".")),
        format!("{}{} = 1{}", format!("{keys} = {{ ").repeat(79), keys, " }".repeat(79)),
        format!("name = {}1{}", "[".repeat(60), "]".repeat(60)),
    ] {
        assert!(Scenario::parse(&deep, "s.toml", &[]).is_err());
    }
    assert!(
        parse_error("[a]\nb = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]")
            .contains("nested more than 32 deep")
    );
}
