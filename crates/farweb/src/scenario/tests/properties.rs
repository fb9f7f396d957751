//! Properties of every scenario, and of every text that is none.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;

use super::CABLE;
use crate::http::credit::Window;
use crate::http::h2::endpoint::Role;
use crate::http::tls::{SmallRecord, Start, Version, Writer};
use crate::scenario::*;
use crate::sweep::{Design, Planned};
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
        (1..1_u64 << 40).prop_map(|bytes| Some(Queue::Limit(QueueLimit::Bytes(Bytes::new(bytes))))),
        (1..1_u64 << 40).prop_map(|packets| Some(Queue::Limit(QueueLimit::Packets(packets)))),
        Just(Some(Queue::Limit(QueueLimit::Time(Duration::from_secs(2))))),
        prop::sample::select(Queue::KINDS)
            .prop_map(|kind| Some(serde_json::from_value(kind.into()).unwrap())),
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
            let is_timed = |queue: &Queue| matches!(queue.limit(), Some(QueueLimit::Time(_)));
            let queue = queue.filter(|queue| rate.0.is_some() || !is_timed(queue));
            let is_table = matches!(queue, Some(Queue::Table(_)));
            let queue_counts = if is_table { QueueCounts::All } else { queue_counts };
            LinkDirection {
                rate: Some(rate),
                delay,
                queue,
                queue_counts,
                loss,
                steps: vec![],
                steps_every: None,
                schedule: None,
                schedule_after: ScheduleAfter::Hold,
                trace: None,
                trace_bytes: Bytes::new(1504),
                trace_overhead: Bytes::new(4),
                trace_repeat: true,
                trace_offset: Phase::At(Duration::ZERO),
                opportunities: None,
                fade: None,
                outage: vec![],
                variation: rate.0.map(|_| Variation {
                    sigma: 0.13,
                    every: Duration::from_millis(100),
                    correlation: 0.79,
                }),
                jitter: Some(Jitter {
                    uniform: None,
                    normal: Some(Duration::from_nanos(1)),
                    correlation: Some(0.5),
                }),
                dama: None,
                wake: rate
                    .0
                    .map(|_| Wake { after: Duration::from_secs(10), delay: Duration::from_millis(80) }),
            }
        },
    )
}

fn handover() -> Handover {
    Handover {
        every: Duration::from_secs(15),
        phase: Phase::At(Duration::from_secs(12)),
        gap: [59, 135].map(Duration::from_millis),
        rate: [0.75, 1.25],
        delay: [0, 2_000_000].map(Shift::from_nanos),
        loss: 0.5,
        loss_for: Duration::from_millis(75),
    }
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

/// A carrier of the last leg.
fn carrier() -> BoxedStrategy<Carrier> {
    let ends = prop_oneof![Just(ClosedBy::Client), Just(ClosedBy::Server)];
    let limit = || prop::option::of(1..1000_u32);
    let http11 = (1..1_u64 << 60, ends, limit(), limit(), limit()).prop_map(
        |(idle, closed_by, per_host, total, per_connection)| Carrier::Http11 {
            idle_timeout: Duration::from_nanos(idle),
            closed_by,
            per_host,
            total,
            per_connection,
        },
    );
    let bytes = || (8..=262_143_u64).prop_map(Bytes::new);
    let layout = prop_oneof![Just(Layout::Y1996), Just(Layout::Y1998)];
    let webmux = (bytes(), bytes(), bytes(), bytes(), layout).prop_map(
        |(credit, write_buffer, read_buffer, fragment, layout)| Carrier::WebMux {
            credit,
            write_buffer,
            read_buffer,
            fragment,
            layout,
        },
    );
    let http10 = prop_oneof![Just(ClosedBy::Client), Just(ClosedBy::Server)]
        .prop_map(|closed_by| Carrier::Http10 { closed_by });
    prop_oneof![http10, http11, webmux, http2(OpenRule::AtSessionLimit)].boxed()
}

fn http2_end() -> BoxedStrategy<Http2End> {
    let size = |low: u64, high: u64| prop::option::of((low..=high).prop_map(Bytes::new));
    let preset = prop::sample::select(vec![
        Preset::RfcDefault,
        Preset::Nginx,
        Preset::Curl8,
        Preset::Envoy2026,
        Preset::Grpc,
    ]);
    let share = (any::<bool>(), 1..=1000_u32, any::<bool>()).prop_map(|(remaining, one_in, strict)| {
        let of = if remaining { GrantOf::Remaining } else { GrantOf::Initial };
        Grant::Share { of, one_in, strict }
    });
    let bytes = (0..1_u64 << 40).prop_map(|bytes| Grant::Bytes { bytes: Bytes::new(bytes) });
    let grant = prop_oneof![share, bytes, Just(Grant::Each {})];
    let credits = (size(0, 1 << 30), size(0, 1 << 30), size(65_535, 1 << 30));
    let growth =
        prop::sample::select(vec![Growth::None, Growth::BdpGrpc, Growth::BdpHyper, Growth::DrainEighth]);
    let turns = prop_oneof![Just(Turns::RoundRobin), Just(Turns::InOrder), Just(Turns::Urgency)];
    (
        prop::option::of(preset),
        credits,
        prop::option::of(grant),
        (size(1, 16_384), size(1, 16_384), prop::option::of(turns)),
        (prop::option::of(any::<bool>()), prop::option::of(growth), prop::option::of(1..1_u64 << 40)),
    )
        .prop_map(
            |(
                preset,
                (session_credit, session_credit_raised, connection_credit),
                grant,
                (fragment, header_first, schedule),
                (nodelay, tuning, timer),
            )| {
                Http2End {
                    preset,
                    session_credit,
                    session_credit_raised,
                    connection_credit,
                    grant,
                    grant_timer: timer.map(Duration::from_nanos),
                    tuning,
                    fragment,
                    header_first,
                    schedule,
                    nodelay,
                    ..Http2End::default()
                }
            },
        )
        .boxed()
}

fn http2(open_rule: OpenRule) -> BoxedStrategy<Carrier> {
    let sizes = (1..1_u64 << 60, 0..1_u64 << 40, 0..1_u64 << 40);
    (http2_end(), http2_end(), http2_end(), 1..=1000_u32, sizes)
        .prop_map(move |(both, client, server, connections, (idle, request, response))| {
            Carrier::Http2(Box::new(with_growth_that_goes(Http2 {
                both,
                client,
                server,
                connections,
                open_rule,
                assign: AssignStream::LeastSessions,
                idle_timeout: Duration::from_nanos(idle),
                request_text: Bytes::new(request),
                response_text: Bytes::new(response),
            })))
        })
        .boxed()
}

/// Without growth where a credit is raised as well. Otherwise with room for it.
fn with_growth_that_goes(mut http2: Http2) -> Http2 {
    let credits = |http2: &Http2| [Role::Client, Role::Server].map(|role| http2.config(role).credit);
    if credits(&http2).iter().any(|credit| credit.tuning.is_some() && credit.raised.is_some()) {
        for end in [&mut http2.both, &mut http2.client, &mut http2.server] {
            end.tuning = Some(Growth::None);
        }
    }
    let grows = credits(&http2).iter().any(|credit| credit.tuning.is_some());
    http2.both.credit_max = grows.then_some(Bytes::new(Window::MAX));
    http2
}

fn tls() -> BoxedStrategy<Tls> {
    let version = prop_oneof![Just((Version::V12, Start::Resumed)), Just((Version::V13, Start::EarlyData))];
    let small = prop_oneof![
        (1..=16_384_u64).prop_map(|size| SmallRecord::Size(Bytes::new(size))),
        prop::sample::select(Writer::ALL.to_vec()).prop_map(SmallRecord::Of)
    ];
    (version, 1..=16_384_u64, prop::option::of(small), prop::option::of(1..=16_384_u64))
        .prop_map(|((version, start), record, small_record, hello)| Tls {
            version,
            start,
            record: Bytes::new(record),
            small_record,
            client_hello: hello.map(Bytes::new),
            ..Tls::default()
        })
        .boxed()
}

/// TLS inside tunnels, without records of its own.
fn handshake() -> impl Strategy<Value = Tls> {
    tls().prop_map(|tls| Tls { record: Tls::default().record, small_record: None, ..tls })
}

fn application() -> impl Strategy<Value = Application> {
    let write = prop::option::of((1..1_u64 << 40).prop_map(Bytes::new));
    (0..1_u64 << 40, write, 0..1_u64 << 40).prop_map(|(wake, write, head)| Application {
        wake: Duration::from_nanos(wake),
        write,
        head: Bytes::new(head),
    })
}

/// A carrier between two proxies.
fn inner_carrier() -> BoxedStrategy<Carrier> {
    let overhead = prop_oneof![
        Just(Overhead::None),
        (0..65_536_u64).prop_map(|bytes| Overhead::PerSegment(Bytes::new(bytes))),
        (0..=1_000_000_u32).prop_map(Overhead::Share)
    ];
    let assign = prop_oneof![Just(Assign::LeastOutstanding), Just(Assign::RoundRobin)];
    let ties = prop_oneof![Just(Ties::First), Just(Ties::Next)];
    let mux = (1..=1000_u32, overhead, assign, ties).prop_map(|(connections, overhead, assign, ties)| {
        Carrier::Mux { connections, overhead, assign, ties }
    });
    prop_oneof![carrier(), mux, http2(OpenRule::Fixed)].boxed()
}

/// The ends, or the only link that every path has.
fn point() -> impl Strategy<Value = CapturePoint> {
    let ways = prop_oneof![Just((true, true)), Just((true, false)), Just((false, true))];
    prop_oneof![
        Just(CapturePoint::Ends),
        ways.prop_map(|(up, down)| CapturePoint::Link { link: 0, up, down })
    ]
}

/// Different levels of `workload.load`, of a delay in ms, and of two keys that change together, as ranges where they may be.
fn factors(is_hypercube: bool) -> impl Strategy<Value = Factors> {
    let numbers = |levels: &BTreeSet<u32>| Levels::List(levels.iter().map(|level| (*level).into()).collect());
    let load = prop::collection::btree_set(1..1000_u32, 1..6).prop_map(move |levels| numbers(&levels));
    let loads = (1..1000_u32, 1..1000_u32, prop_oneof![Just(Scale::Linear), Just(Scale::Log)]).prop_map(
        |(from, more, scale)| Levels::Range(Range { from: from.into(), to: (from + more).into(), scale }),
    );
    let load = prop_oneof![load.boxed(), if is_hypercube { loads.boxed() } else { load_alone() }];
    let texts = |levels: BTreeSet<u32>| levels.iter().map(|level| format!("{level} ms").into()).collect();
    let delay =
        prop::collection::btree_set(1..1000_u32, 1..4).prop_map(move |levels| Levels::List(texts(levels)));
    let named = |levels: BTreeSet<u32>| {
        let set = |level: u32| {
            let entry = |key: &str| (key.to_owned(), format!("{level} B").into());
            [entry("workload.default_mss"), entry("workload.default_window")].into_iter().collect()
        };
        let level = |level: u32| NamedLevel { level: Label::Text(format!("{level} é")), set: set(level) };
        Levels::Named(levels.into_iter().map(level).collect())
    };
    let named = prop::collection::btree_set(100..200_u32, 1..4).prop_map(named);
    let factor = |name: &str, levels| Factor { name: name.to_owned(), levels };
    (load, prop::option::of(delay), prop::option::of(named)).prop_map(move |(load, delay, named)| {
        let delay = delay.map(|levels| factor("path.link.0.up.delay", levels));
        let named = named.map(|levels| factor("servers", levels));
        Factors(delay.into_iter().chain([factor("workload.load", load)]).chain(named).collect())
    })
}

fn load_alone() -> BoxedStrategy<Levels> {
    Just(Levels::List(vec![7.into()])).boxed()
}

fn sweep() -> impl Strategy<Value = Sweep> {
    let kinds = prop_oneof![
        Just(DesignKind::FullFactorial),
        Just(DesignKind::OneAtATime),
        Just(DesignKind::LatinHypercube)
    ];
    let numbers = prop_oneof![Just(RandomNumbers::Common), Just(RandomNumbers::Independent)];
    (kinds, 1..9_u32, numbers, 1..30_u32).prop_flat_map(|(design, replications, random_numbers, samples)| {
        let is_hypercube = design == DesignKind::LatinHypercube;
        factors(is_hypercube).prop_map(move |factors| {
            let samples = is_hypercube.then_some(samples);
            Sweep { design, replications, random_numbers, samples, factors }
        })
    })
}

prop_compose! {
    fn workload()(
        (load, offset) in (1..1000_u32, 0..1_u64 << 50),
        family in prop::option::of((prop::option::of(1..40_u32), prop::option::of(1..100_u32))),
        period in prop::option::of(600..1_u64 << 30),
        copies_hosts in prop_oneof![Just(CopiesHosts::Same), Just(CopiesHosts::Renamed)],
        rate in prop::option::of(0.001..1e6),
        speed in prop::option::of(0.001..1e6),
        resample in prop::option::of(prop_oneof![Just(Resample::Clients), Just(Resample::Days)]),
    ) -> Workload {
        let (load, scale) = rate.map_or((f64::from(load), LoadScale::Copies), |rate| (rate, LoadScale::Rate));
        let parameters = family.and_then(|(_, parameter)| parameter).map(|day_requests| {
            FamilyParameters::new(serde_json::Map::from_iter([("day_requests".into(), day_requests.into())]))
        });
        Workload {
            requests: family.is_none().then(|| "requests.csv".to_owned()),
            hosts: None,
            family: family.map(|_| Family::Nzix),
            days: family.and_then(|(days, _)| days),
            parameters: parameters.unwrap_or_default(),
            speed: speed.filter(|_| family.is_none()),
            load: LoadLevel::new(load),
            scale,
            resample: resample.filter(|_| family.is_none()),
            copies_offset: Duration::from_nanos(offset),
            period: period.map(Duration::from_secs),
            copies_hosts: if scale == LoadScale::Rate { CopiesHosts::Same } else { copies_hosts },
            default_mss: Bytes::new(536),
            default_window: Bytes::new(8192),
        }
    }
}

prop_compose! {
    fn scenario()(
        name in "[ -~é]{0,20}",
        links in prop::collection::vec((direction(), direction()), 1..5),
        tcp in tcp(),
        (carrier, inner) in (carrier(), prop::option::of(inner_carrier())),
        application in application(),
        release in prop_oneof![
            Just(Release::AtOnce),
            Just(Release::AfterWait),
            Just(Release::Delayed),
            Just(Release::Paced)
        ],
        (give_up, share) in (
            prop::option::of(1..1_u64 << 46),
            prop_oneof![Just(ClientShare::Each), Just(ClientShare::All)],
        ),
        workload in workload(),
        seed in 0..1_u64 << 52,
        measure in prop_oneof![Just(Measure::Arrivals), Just(Measure::Whole)],
        (until, warmup, every) in (prop::option::of(1..1_u64 << 60), 0..1_u64 << 60, prop::option::of(1..1_u64 << 50)),
        (connections, exchanges) in any::<(bool, bool)>(),
        packets in prop_oneof![Just(Packets::None), Just(Packets::Sample), Just(Packets::All)],
        points in prop::collection::vec(point(), 1..4),
        (sweep, tls, tunnels) in (prop::option::of(sweep()), prop::option::of(tls()), prop::option::of(handshake())),
    ) -> Scenario {
        let nodes: Vec<String> = (0..=links.len()).map(|index| format!("node {index}")).collect();
        let leg = |from: usize, to: usize, carrier: Carrier, tcp| {
            let application = match carrier {
                Carrier::Http2(_) => Application { wake: application.wake, ..Application::default() },
                _ => application,
            };
            Leg { from: nodes[from].clone(), to: nodes[to].clone(), carrier, tcp, tls: tls.clone(), application, split: vec![] }
        };
        let last = links.len();
        let legs = match inner {
            Some(inner) if last > 1 => vec![leg(0, 1, inner, Tcp::default()), leg(1, last, carrier, tcp)],
            _ => vec![leg(0, last, carrier, tcp)],
        };
        Scenario {
            format: 1,
            name,
            leg: legs,
            path: Path { nodes, link: links.into_iter().map(|(up, down)| Link { preset: None, up, down, handover: Some(handover()) }).collect() },
            cache: Vec::new(),
            origin: Origin { release },
            clients: Clients { give_up: give_up.map(Duration::from_nanos), share, tunnels: Tunnels { tls: tunnels } },
            workload,
            run: Run {
                seed,
                until: until.map_or(Until::Done, |nanos| Until::Time(Duration::from_nanos(nanos))),
                warmup: Duration::from_nanos(warmup),
                measure,
            },
            record: Record { links_every: every.map(Duration::from_nanos), sojourn: exchanges, connections, exchanges, packets, points },
            sweep,
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
    fn a_full_factorial_has_each_combination_once_and_each_point_its_levels(scenario in scenario()) {
        let text = document_of(&scenario.effective());
        let source = Planned::parse(&text, "s.toml", &[]).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let Some(design) = source.design() else { return Ok(()) };
        let counts = design.factors.iter().map(|factor| factor.levels.len());
        let different: BTreeSet<_> = design.points.iter().collect();
        match design.kind {
            DesignKind::FullFactorial => prop_assert_eq!(different.len(), counts.product::<usize>()),
            DesignKind::OneAtATime => prop_assert_eq!(different.len(), 1 + counts.map(|count| count - 1).sum::<usize>()),
            DesignKind::LatinHypercube => {}
        }
        prop_assert!(design.kind == DesignKind::LatinHypercube || different.len() == design.points.len());
        let load = design.factors.iter().position(|factor| factor.name == "workload.load").expect("there is a load");
        for (number, point) in design.points.iter().enumerate().take(20) {
            let varied = source.point(number).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let level = &design.factors[load].levels[point[load] as usize];
            prop_assert_eq!(varied.scenario().effective()["workload"]["load"].as_f64(), level.value.as_f64());
            prop_assert_eq!(varied.scenario().sweep.as_ref(), None);
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_sample_in_each_stratum(
        samples in 1..200_u32, seed in 0..1_u64 << 50, from in 1..1_u64 << 30, more in 1_000_000..1_u64 << 40, log in any::<bool>(),
    ) {
        let scale = if log { "log" } else { "linear" };
        let overrides = [
            ("run.seed", seed.to_string()),
            ("sweep.design", "latin-hypercube".to_owned()),
            ("sweep.samples", samples.to_string()),
            ("sweep.factors.\"run.until\"", format!("{{ from = \"{from} ns\", to = \"{} ns\", scale = \"{scale}\" }}", from + more)),
        ];
        let overrides = overrides.map(|(key, value)| (key.to_owned(), value));
        let source = Planned::parse(CABLE, "s.toml", &overrides).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let mut strata = BTreeSet::new();
        for number in 0..samples as usize {
            let point = source.point(number).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let Until::Time(drawn) = point.scenario().run.until else { unreachable!("a time was drawn") };
            let (low, high, x) = (from as f64, (from + more) as f64, drawn.as_nanos() as f64);
            prop_assert!((low..=high).contains(&x));
            let part = if log { libm::log(x / low) / libm::log(high / low) } else { (x - low) / (high - low) };
            // A sample at the very edge may fall on either side of it.
            let part = part * f64::from(samples);
            let edge = (part - part.round()).abs() < 1e-6;
            strata.insert(if edge { u64::MAX - number as u64 } else { part as u64 });
        }
        prop_assert_eq!(strata.len(), samples as usize);
    }

    #[test]
    fn any_scenario_has_a_report_of_100_columns(scenario in scenario()) {
        let text = crate::explain::report(&scenario, Design::of(&scenario).as_ref(), None).text.to_string();
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        prop_assert!(widest <= 100, "{widest} columns:\n{text}");
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".*", key in ".*", value in ".*") {
        let _ = Planned::parse(&text, "s.toml", &[]);
        let _ = Planned::parse(CABLE, "s.toml", &[(key, value)]);
    }

    #[test]
    fn a_damaged_scenario_never_panics(at in 0..CABLE.len(), length in 0..40_usize, patch in "[\\[\\]{}=.\"a-z0-9 \n]{0,8}") {
        let end = (at + length).min(CABLE.len());
        let text = format!("{}{patch}{}", &CABLE[..at], &CABLE[end..]);
        if let Ok(planned) = Planned::parse(&text, "s.toml", &[]) {
            let _ = crate::explain::report(planned.scenario(), planned.design(), None);
        }
    }

    #[test]
    fn any_value_at_any_key_never_panics(
        key in prop::sample::select(vec!["path", "path.nodes", "path.link.0.up", "leg", "leg.0", "leg.0.tcp", "leg.0.tcp.from",
            "workload", "run", "record", "sweep", "sweep.factors", "sweep.factors.circuit", "sweep.factors.\"workload.load\"", "sweep.samples", "origin", "path.link.0.down.loss"]),
        value in prop::sample::select(vec!["1", "-1", "1.5", "true", "[]", "{}", "[[]]", "[{}]", "\"\"", "{kind=\"list\"}", "[{level=1,set={}}]", "[{level=1,set={\"run.until\"=\"1 s\"}}]", "{from=1,to=2}", "{\"workload.load\"=[1,2]}", "[1,\"a\"]", "nan"]),
    ) {
        let _ = Planned::parse(CABLE, "s.toml", &[(key.to_owned(), value.to_owned())]);
    }
}
