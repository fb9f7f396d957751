//! What holds for every scenario, and for every text that is none.

use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;

use super::CABLE;
use crate::scenario::*;
use crate::tcp::{Overrides, ProfileName};
use crate::units::{BitRate, Bytes, Duration};

/// A value as TOML on one line.
fn to_toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let entries = table.iter().map(|(key, value)| format!("{key:?} = {}", to_toml(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn document_of(effective: &Value) -> String {
    let mut text = String::new();
    for (key, value) in effective.as_object().expect("a scenario is a table") {
        let _ = writeln!(text, "{key} = {}", to_toml(value));
    }
    text
}

fn direction() -> impl Strategy<Value = LinkDirection> {
    let queue = prop_oneof![
        Just(None),
        (1..1_u64 << 40).prop_map(|bytes| Some(QueueLimit::Bytes(Bytes::new(bytes)))),
        (1..1_u64 << 40).prop_map(|packets| Some(QueueLimit::Packets(packets))),
    ];
    let loss = prop_oneof![
        Just(Loss::None),
        (0.0..=1.0).prop_map(|probability| Loss::Bernoulli { probability }),
        (0.0..=1.0, 0.0..=1.0, 0.0..=1.0, 0.0..=1.0).prop_map(
            |(good_to_bad, bad_to_good, loss_good, loss_bad)| {
                Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }
            }
        ),
    ];
    let counts = prop_oneof![Just(QueueCounts::All), Just(QueueCounts::Waiting)];
    (0..1_u64 << 40, 0..1_u64 << 40, queue, counts, loss).prop_map(
        |(rate, delay, queue, queue_counts, loss)| {
            let (rate, delay) = (LinkRate(BitRate::from_bps(rate)), Duration::from_nanos(delay));
            LinkDirection { rate, delay, queue, queue_counts, loss }
        },
    )
}

fn size_or_host(least: u64, most: u64) -> impl Strategy<Value = HostOr> {
    prop_oneof![Just(HostOr::Host), (least..=most).prop_map(|bytes| HostOr::Size(Bytes::new(bytes)))]
}

fn tcp() -> impl Strategy<Value = Tcp> {
    let end = || {
        prop::option::of(
            (prop::option::of(size_or_host(32, 65_495)), prop::option::of(size_or_host(32, 1 << 40)))
                .prop_map(|(mss, buffer)| TcpEnd { mss, buffer }),
        )
    };
    (size_or_host(32, 65_495), prop::option::of(size_or_host(32, 1 << 40)), end(), end()).prop_map(
        |(mss, buffer, from, to)| Tcp {
            profile: ProfileName::default(),
            mss,
            buffer,
            from,
            to,
            constants: Overrides::default(),
        },
    )
}

/// The ends, or the only link that every path has.
fn point() -> impl Strategy<Value = CapturePoint> {
    let ways = prop_oneof![Just((true, true)), Just((true, false)), Just((false, true))];
    prop_oneof![
        Just(CapturePoint::Ends),
        ways.prop_map(|(up, down)| CapturePoint::Link { link: 0, up, down })
    ]
}

prop_compose! {
    fn scenario()(
        name in "[ -~é]{0,20}",
        links in prop::collection::vec((direction(), direction()), 1..5),
        tcp in tcp(),
        release in prop_oneof![Just(Release::AtOnce), Just(Release::Delayed), Just(Release::Paced)],
        (load, offset, seed) in (1..1000_u32, 0..1_u64 << 50, 0..=1_u64 << 53),
        (until, warmup, every) in (prop::option::of(1..1_u64 << 60), 0..1_u64 << 60, prop::option::of(1..1_u64 << 50)),
        (connections, packets) in (any::<bool>(), prop_oneof![Just(Packets::None), Just(Packets::Sample), Just(Packets::All)]),
        points in prop::collection::vec(point(), 1..4),
        replications in prop::option::of(1..9_u32),
    ) -> Scenario {
        let nodes: Vec<String> = (0..=links.len()).map(|index| format!("node {index}")).collect();
        let carrier = Carrier::Http10 {};
        let factors = [("workload.load".to_owned(), vec![1.into(), 2.into()])];
        Scenario {
            format: 1,
            name,
            leg: vec![Leg { from: nodes[0].clone(), to: nodes[links.len()].clone(), carrier, tcp }],
            path: Path { nodes, link: links.into_iter().map(|(up, down)| LinkPair { up, down }).collect() },
            origin: Origin { release },
            workload: Workload {
                requests: "requests.csv".to_owned(),
                hosts: None,
                load,
                copies_offset: Duration::from_nanos(offset),
                default_mss: Bytes::new(536),
                default_window: Bytes::new(8192),
            },
            run: Run {
                seed,
                until: until.map_or(Until::Done, |nanos| Until::Time(Duration::from_nanos(nanos))),
                warmup: Duration::from_nanos(warmup),
            },
            record: Record { links_every: every.map(Duration::from_nanos), connections, packets, points },
            sweep: replications.map(|replications| Sweep { replications, factors: factors.into() }),
        }
    }
}

proptest! {
    #[test]
    fn what_is_effective_parses_to_an_equal_scenario(scenario in scenario()) {
        let text = document_of(&scenario.effective());
        let parsed = Scenario::parse(&text, "s.toml", &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&parsed, &scenario);
        prop_assert_eq!(parsed.effective(), scenario.effective());
    }

    #[test]
    fn any_scenario_has_a_report_of_100_columns(scenario in scenario()) {
        let text = scenario.report(None).text;
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        prop_assert!(widest <= 100, "{widest} columns:\n{text}");
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".*", key in ".*", value in ".*") {
        let _ = Scenario::parse(&text, "s.toml", &[]);
        let _ = Scenario::parse(CABLE, "s.toml", &[(key, value)]);
    }

    #[test]
    fn a_damaged_scenario_never_panics(at in 0..CABLE.len(), length in 0..40_usize, patch in "[\\[\\]{}=.\"a-z0-9 \n]{0,8}") {
        let end = (at + length).min(CABLE.len());
        let text = format!("{}{patch}{}", &CABLE[..at], &CABLE[end..]);
        if let Ok(scenario) = Scenario::parse(&text, "s.toml", &[]) {
            let _ = scenario.report(None);
        }
    }

    #[test]
    fn any_value_at_any_key_never_panics(
        key in prop::sample::select(vec!["path", "path.nodes", "path.link.0.up", "leg", "leg.0", "leg.0.tcp", "leg.0.tcp.from",
            "workload", "run", "record", "sweep", "sweep.factors", "origin", "path.link.0.down.loss"]),
        value in prop::sample::select(vec!["1", "-1", "1.5", "true", "[]", "{}", "[[]]", "[{}]", "\"\"", "{kind=\"list\"}", "[1,\"a\"]", "nan"]),
    ) {
        let _ = Scenario::parse(CABLE, "s.toml", &[(key.to_owned(), value.to_owned())]);
    }
}
