//! Designs that can be written out by hand, and sweeps that are wrong in every way.

mod wrong;

use serde_json::{Value, json};

use crate::scenario::tests::{CABLE, cable_with};
use crate::scenario::{Queue, QueueLimit};
use crate::sweep::{Design, Planned};
use crate::units::Duration;

/// The cable with a sweep.
fn source(sweep: &str) -> Planned {
    Planned::parse(&format!("{CABLE}{sweep}"), "cable.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn design(sweep: &str) -> Design {
    source(sweep).design().expect("a sweep").clone()
}

/// Label, value and number.
type Level = (String, Value, Option<f64>);

/// Each level of the first factor of `sweep`, and its unit.
fn levels(sweep: &str) -> (Vec<Level>, &'static str) {
    let design = design(sweep);
    let factor = &design.factors[0];
    let level = |level: &super::Level| (level.label.clone(), level.value.clone(), level.number);
    (factor.levels.iter().map(level).collect(), factor.unit)
}

const CIRCUIT: &str = r#"
[[sweep.factors.circuit]]
level = "cable"
set = { "path.link.0.up.delay" = "60 ms", "path.link.0.down.delay" = "60 ms" }
[[sweep.factors.circuit]]
level = "satellite"
set = { "path.link.0.down.delay" = "320 ms", "path.link.0.up.delay" = "250 ms" }
"#;

#[test]
fn a_full_factorial_has_every_combination_and_the_last_factor_varies_fastest() {
    let sweep =
        format!("[sweep]\nreplications = 5\n[sweep.factors]\n\"workload.load\" = [4, 1, 2]\n{CIRCUIT}");
    let found = serde_json::to_value(design(&sweep)).unwrap();
    let level =
        |label: &str, value: Value, number: Value| json!({"label": label, "value": value, "number": number});
    assert_eq!(
        found,
        json!({
            "kind": "full-factorial",
            "replications": 5,
            "random_numbers": "common",
            "factors": [
                {
                    "name": "workload.load",
                    "unit": "",
                    "levels": [
                        level("4", 4.into(), 4.0.into()), level("1", 1.into(), 1.0.into()), level("2", 2.into(), 2.0.into())
                    ],
                },
                {
                    "name": "circuit",
                    "unit": "",
                    "levels": [
                        level("cable", "cable".into(), Value::Null), level("satellite", "satellite".into(), Value::Null)
                    ],
                },
            ],
            "points": [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]],
        })
    );
    assert_eq!(design(&sweep).runs(), 30);
}

#[test]
fn a_level_leaves_what_it_does_not_set_as_the_scenario_has_it() {
    let sweep = r#"
        [[sweep.factors.change]]
        level = "as it is"
        [[sweep.factors.change]]
        level = "without TLS"
        set = { "leg.0.tls" = "none" }
        [[sweep.factors.change]]
        level = "TLS 1.3"
        set = { "leg.0.tls.version" = "1.3" }
        [[sweep.factors.change]]
        level = "more buffer"
        set = { "leg.0.tcp.buffer" = "1 MB" }
    "#;
    let tls = format!("{CABLE}{sweep}").replace("[[leg]]", "[[leg]]\ntls = { version = \"1.2\" }");
    let source = Planned::parse(&tls, "cable.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let points = [0, 1, 2, 3].map(|number| source.point(number).unwrap().scenario().leg[0].clone());
    let has_tls = points.each_ref().map(|leg| leg.tls.is_some());
    assert_eq!(has_tls, [true, false, true, true]);
    assert_ne!(points[0].tls, points[2].tls);
    let has_same_tcp = points.each_ref().map(|leg| leg.tcp == points[0].tcp);
    assert_eq!(has_same_tcp, [true, true, true, false]);
}

#[test]
fn factors_keep_the_order_of_the_file() {
    let sweep = format!("[sweep.factors]\n\"workload.load\" = [1]\n{CIRCUIT}[sweep.factors.\"run.until\"]\n");
    let sweep = sweep.replace("[sweep.factors.\"run.until\"]\n", "[record]\nlinks_every = \"1 s\"\n");
    let names =
        |sweep: &str| design(sweep).factors.iter().map(|factor| factor.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&sweep), ["workload.load", "circuit"]);
    let reversed = "[sweep.factors]\n\"workload.load\" = [1]\n\"run.until\" = [\"9 s\"]\n\"leg.0.tcp.mss\" = [\"99 B\"]\n";
    assert_eq!(names(reversed), ["workload.load", "run.until", "leg.0.tcp.mss"]);
}

#[test]
fn one_at_a_time_is_the_base_and_each_other_level_alone() {
    let sweep = format!(
        "[sweep]\ndesign = \"one-at-a-time\"\n[sweep.factors]\n\"workload.load\" = [1, 2, 4]\n{CIRCUIT}"
    );
    assert_eq!(design(&sweep).points, [[0, 0], [1, 0], [2, 0], [0, 1]]);
}

#[test]
fn without_factors_the_scenario_itself_is_the_only_point() {
    let source = source("[sweep]\nreplications = 3\n");
    assert_eq!(source.design().unwrap().points, [[0_u32; 0]]);
    assert_eq!(source.point(0).unwrap().scenario(), &cable_with(&[]).unwrap());
}

#[test]
fn levels_have_numbers_in_the_unit_of_their_key() {
    let of = |factor: &str| levels(&format!("[sweep.factors]\n{factor}\n"));
    let level = |label: &str, number: Option<f64>| (label.to_owned(), json!(label), number);
    let cases = [
        (
            "\"path.link.0.up.delay\" = [\"60 ms\", \"0.5 s\"]",
            "s",
            vec![level("60 ms", Some(0.06)), level("0.5 s", Some(0.5))],
        ),
        (
            "\"leg.0.tcp.buffer\" = [\"8 KiB\", \"host\"]",
            "B",
            vec![level("8 KiB", Some(8192.0)), level("host", None)],
        ),
        (
            "\"path.link.0.down.rate\" = [\"2 Mbit/s\", \"unlimited\"]",
            "bit/s",
            vec![level("2 Mbit/s", Some(2e6)), level("unlimited", None)],
        ),
        ("\"path.link.0.up.queue\" = [\"5 packets\"]", "packets", vec![level("5 packets", Some(5.0))]),
        ("\"path.link.0.up.queue\" = [\"5 kB\"]", "B", vec![level("5 kB", Some(5000.0))]),
        ("\"path.link.0.up.queue\" = [\"250 ms\"]", "s", vec![level("250 ms", Some(0.25))]),
        (
            "\"path.link.0.up.queue\" = [\"5 kB\", \"5 packets\"]",
            "",
            vec![level("5 kB", None), level("5 packets", None)],
        ),
        (
            "\"origin.release\" = [\"paced\", \"at-once\"]",
            "",
            vec![level("paced", None), level("at-once", None)],
        ),
        ("\"leg.0.tcp.constants.slow_tick\" = [\"500 ms\"]", "s", vec![level("500 ms", Some(0.5))]),
    ];
    for (factor, unit, wanted) in cases {
        assert_eq!(of(factor), (wanted, unit), "{factor}");
    }
    let losses =
        "\"path.link.0.up.loss\" = [{ kind = \"none\" }, { kind = \"bernoulli\", probability = 0.5 }]";
    let bernoulli = "{ kind = \"bernoulli\", probability = 0.5 }";
    assert_eq!(of(losses), (vec![level("{ kind = \"none\" }", None), level(bernoulli, None)], ""));
    assert_eq!(
        of("\"record.connections\" = [true, false]").0,
        [("true".to_owned(), json!(true), None), ("false".to_owned(), json!(false), None)]
    );
}

#[test]
fn numbers_of_two_types_are_one_column_of_floats() {
    let lossy =
        CABLE.replacen("queue = \"256000 B\"", "loss = { kind = \"bernoulli\", probability = 0.5 }", 1);
    let sweep = "[sweep.factors]\n\"path.link.0.up.loss.probability\" = [0, 0.25]\n";
    let source = Planned::parse(&format!("{lossy}{sweep}"), "s.toml", &[]).unwrap();
    let levels = &source.design().unwrap().factors[0].levels;
    assert_eq!(levels.iter().map(|level| level.value.clone()).collect::<Vec<_>>(), [json!(0.0), json!(0.25)]);
    assert_eq!(levels.iter().map(|level| level.number).collect::<Vec<_>>(), [Some(0.0), Some(0.25)]);
    assert_eq!(levels[0].label, "0");
}

#[test]
fn named_levels_have_numbers_when_all_their_names_are_numbers() {
    let named = |first: &str| {
        format!(
            "[sweep.factors]\nsize = [{{ level = {first}, set = {{ \"workload.load\" = 2 }} }}, {{ level = 20, set = {{ \"workload.load\" = 3 }} }}]\n"
        )
    };
    let numbers = |sweep: &str| levels(sweep).0.into_iter().map(|(_, _, number)| number).collect::<Vec<_>>();
    assert_eq!(numbers(&named("10")), [Some(10.0), Some(20.0)]);
    assert_eq!(numbers(&named("\"10\"")), [None, None]);
    // One type: text.
    assert_eq!(levels(&named("\"10\"")).0[1].1, json!("20"));
}

#[test]
fn a_point_has_its_levels_and_no_sweep() {
    let sweep =
        format!("[sweep.factors]\n\"path.link.0.up.queue\" = [\"5 packets\", \"6 packets\"]\n{CIRCUIT}");
    let source = source(&sweep);
    let point = source.point(3).unwrap();
    let link = &point.scenario().path.link[0];
    assert_eq!(link.up.queue, Some(Queue::Limit(QueueLimit::Packets(6))));
    assert_eq!((link.up.delay, link.down.delay), (Duration::from_millis(250), Duration::from_millis(320)));
    assert_eq!((point.scenario().sweep.as_ref(), point.design()), (None, None));
    let settings =
        ["path.link.0.up.queue=6 packets", "path.link.0.up.delay=250 ms", "path.link.0.down.delay=320 ms"];
    assert_eq!(point.scenario(), &cable_with(&settings).unwrap());
    // A key set afterwards stands instead of the levels.
    let changed = point.with(&[("path.link.0.up.delay".to_owned(), "1 ms".to_owned())]).unwrap();
    assert_eq!(changed.scenario().path.link[0].up.delay, Duration::from_millis(1));
    assert_eq!(changed.scenario().path.link[0].down.delay, Duration::from_millis(320));
    assert_eq!(source.without_sweep().scenario(), &cable_with(&[]).unwrap());
}

#[test]
fn levels_that_are_right_alone_may_be_wrong_together() {
    let sweep = r#"
[sweep.factors]
"path.link.0.up.queue" = ["9 kB", "0 B"]
"path.link.0.up.queue_counts" = ["waiting", "all"]
"#;
    let waiting = CABLE.replacen("queue = \"256000 B\" }", "queue_counts = \"waiting\" }", 1);
    let source = Planned::parse(&format!("{waiting}{sweep}"), "s.toml", &[]).unwrap();
    assert!(source.point(2).is_ok());
    assert_eq!(
        source.point(3).unwrap_err().to_string(),
        "s.toml:25: path.link.0.up.queue: found 0 B; the limit counts the packet in transmission, so nothing would pass; \
         leave the key out for no limit (at the point path.link.0.up.queue = 0 B, path.link.0.up.queue_counts = all)\n\
         1 problem in the scenario"
    );
}

#[test]
fn common_random_numbers_are_those_of_the_replication() {
    let design = design("[sweep]\nreplications = 3\n[sweep.factors]\n\"workload.load\" = [1, 2]\n");
    let seeds = |point| (0..3).map(|replication| design.seed(point, replication)).collect::<Vec<_>>();
    assert_eq!((seeds(0), seeds(1)), (vec![1, 2, 3], vec![1, 2, 3]));
}

#[test]
fn independent_seeds_differ_and_stay_when_the_design_grows() {
    let seeds = |levels: &str, replications: u32| {
        let design = design(&format!(
            "[sweep]\nreplications = {replications}\nrandom_numbers = \"independent\"\n[sweep.factors]\n\"workload.load\" = {levels}\n"
        ));
        (0..design.points.len())
            .flat_map(|point| (0..2).map(move |replication| (point, replication)))
            .map(|(point, replication)| design.seed(point, replication))
            .collect::<Vec<_>>()
    };
    let few = seeds("[1, 4]", 2);
    let more = seeds("[1, 2, 4]", 7);
    assert_eq!((&few[..2], &few[2..]), (&more[..2], &more[4..]));
    let mut different = more;
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 6);
    assert!(different.iter().all(|seed| *seed < 1 << 53));
}

const HYPERCUBE: &str = "[sweep]\ndesign = \"latin-hypercube\"\nsamples = 10\n[sweep.factors]\n";

#[test]
fn drawn_levels_are_short_texts_in_ascending_order() {
    let sweep = format!(
        "{HYPERCUBE}\"path.link.0.down.delay\" = {{ from = \"10 ms\", to = \"2 s\", scale = \"log\" }}\n\
         \"path.link.0.up.queue\" = {{ from = \"5 packets\", to = \"9 packets\" }}\n\"workload.load\" = {{ from = 1, to = 100 }}\n"
    );
    let design = design(&sweep);
    let labels = |factor: usize| {
        design.factors[factor].levels.iter().map(|level| level.label.as_str()).collect::<Vec<_>>()
    };
    insta::assert_snapshot!(format!("{}\n{}\n{}", labels(0).join(", "), labels(1).join(", "), labels(2).join(", ")), @"
    15.25 ms, 23.93 ms, 33.36 ms, 60.81 ms, 104.7 ms, 217.8 ms, 287.8 ms, 593.2 ms, 852.5 ms, 1.221 s
    5 packets, 6 packets, 7 packets, 8 packets, 9 packets
    7, 17, 24, 37, 50, 57, 63, 74, 84, 97
    ");
    for factor in &design.factors {
        let numbers: Vec<f64> = factor.levels.iter().map(|level| level.number.unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    }
    // Ten samples of five whole numbers: each twice.
    let mut packets = [0; 5];
    design.points.iter().for_each(|point| packets[point[1] as usize] += 1);
    assert_eq!(packets, [2; 5]);
}

#[test]
fn a_queue_in_time_is_drawn_as_a_time() {
    let range = "\"path.link.0.up.queue\" = { from = \"50 ms\", to = \"2 s\" }";
    let levels = &design(&format!("{HYPERCUBE}{range}\n")).factors[0].levels;
    assert!(
        levels.iter().all(|level| level.label.ends_with("ms") || level.label.ends_with(" s")),
        "{levels:?}"
    );
    assert!(levels[0].number.unwrap() >= 0.05 && levels[9].number.unwrap() <= 2.0, "{levels:?}");
}

#[test]
fn one_more_factor_leaves_the_samples_of_the_others_alone() {
    let delays = |more: &str| {
        let source = source(&format!(
            "{HYPERCUBE}{more}\"path.link.0.down.delay\" = {{ from = \"10 ms\", to = \"2 s\" }}\n"
        ));
        (0..10)
            .map(|point| source.point(point).unwrap().scenario().path.link[0].down.delay)
            .collect::<Vec<_>>()
    };
    assert_eq!(delays(""), delays("\"workload.load\" = [1, 2]\n"));
}

#[test]
fn a_range_too_narrow_for_short_texts_has_longer_ones() {
    let sweep =
        format!("{HYPERCUBE}\"path.link.0.down.delay\" = {{ from = \"1.0000 s\", to = \"1.0001 s\" }}\n");
    let (levels, _) = levels(&sweep);
    assert_eq!(levels.len(), 10);
    for (stratum, (_, _, number)) in levels.iter().enumerate() {
        let nanos = (number.unwrap() * 1e9).round() as usize - 1_000_000_000;
        assert_eq!(nanos.min(99_999) / 10_000, stratum, "{levels:?}");
    }
}

#[test]
fn lists_in_a_latin_hypercube_have_each_level_equally_often() {
    let sweep = format!("{HYPERCUBE}\"workload.load\" = [1, 2, 3, 4, 5]\n");
    let mut counts = [0; 5];
    design(&sweep).points.iter().for_each(|point| counts[point[0] as usize] += 1);
    assert_eq!(counts, [2; 5]);
}

#[test]
fn factors_may_come_from_overrides() {
    let scenario = cable_with(&["sweep.factors.\"workload.load\"=[1, 2]", "sweep.replications=2"]).unwrap();
    assert_eq!(Design::of(&scenario).unwrap().runs(), 4);
}

#[test]
fn the_report_gives_the_design_in_a_line_and_a_line_a_factor() {
    let sweep =
        format!("[sweep]\nreplications = 5\n[sweep.factors]\n\"workload.load\" = [1, 2, 4]\n{CIRCUIT}");
    let report = crate::explain::report(source(&sweep).scenario(), source(&sweep).design(), None);
    let sweep = report.sweep.unwrap();
    assert!(report.text.to_string().ends_with(&sweep.text.to_string()));
    insta::assert_snapshot!(sweep.text, @"
    sweep: full-factorial, 6 points × 5 seeds, the same at each point: 30 runs
      workload.load            1, 2, 4
      circuit                  cable, satellite
      a single run ignores the sweep
    ");
    assert_eq!(report.warnings, []);
}
