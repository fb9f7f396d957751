//! Reports on paths with figures known by hand.

use super::limit::LimitedBy;
use super::{Line, Report, Row, Warning};
use crate::scenario::tests::{CABLE, cable_with};
use crate::scenario::{InputKind, LinkFile, LinkFiles, Source};
use crate::workload::{Directory, Host};

fn report(overrides: &[&str]) -> Report {
    super::report(&cable_with(overrides).unwrap(), None, None)
}

fn with_trace(text: &str, overrides: &[&str]) -> Report {
    let mut files = LinkFiles::default();
    let trace = LinkFile::of_bytes(InputKind::Trace, "down.trace".to_owned(), text.into()).unwrap();
    files.add(InputKind::Trace, "down.trace".to_owned(), trace);
    let pair = |text: &&str| text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    let overrides: Vec<_> = overrides.iter().filter_map(pair).collect();
    let source = Source::parse(CABLE, "cable.toml", &overrides).unwrap();
    super::report(&source.complete(&files).unwrap(), None, None)
}

fn host(key: &str, mss: Option<u16>, buffer: Option<u64>) -> Host {
    Host { key: key.into(), name: "".into(), buffer, mss }
}

/// Warnings as lines.
fn warned(report: &Report) -> Vec<String> {
    report.warnings.iter().map(Warning::to_string).collect()
}

#[test]
fn the_cable_carries_22_segments_a_round_trip() {
    let report = report(&[]);
    let leg = &report.legs[0];
    assert_eq!(leg.rtt_ns, 120_000_000);
    // 34.368 Mbit/s for 120 ms.
    assert_eq!(leg.bdp_bytes, Some(515_520));
    // 1500 B at 34.368 Mbit/s, rounded up.
    assert_eq!(leg.limit.segment_ns, 349_163);
    assert_eq!((leg.limit.mss_bytes, leg.limit.window_bytes, leg.limit.window_segments), (1460, 32_767, 22));
    let by_hand = 22.0 * 12_000.0 / 0.120_349_163;
    assert!((leg.limit.window_limit_bps.unwrap() - by_hand).abs() < 1e-3);
    // 34.368 / 2.1936 is 15.7.
    assert_eq!(leg.connections_to_fill, Some(16));
    assert_eq!(warned(&report), [""; 0]);
    insta::assert_snapshot!(report.text);
}

#[test]
fn a_text_knows_its_rows_and_is_one_text_in_json() {
    let report = report(&[]);
    let rows = report.text.lines().iter().filter_map(|line| match line {
        Line::Row(Row(label, words)) => Some((label.as_str(), words.as_str())),
        Line::Words(_) => None,
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.contains(&("connections to fill down", "16")), "a label as wide as its column");
    assert_eq!(report.text.lines()[0], Line::Words("cable".to_owned()));
    let text = report.text.to_string();
    assert!(text.contains("\n  bottleneck               up 34.4 Mbit/s, down 34.4 Mbit/s\n"), "{text}");
    assert_eq!(serde_json::to_value(&report.text).unwrap(), text);
}

#[test]
fn tls_inside_tunnels_has_a_line() {
    let text = |tls: &str| report(&[&format!("clients.tunnels.tls={tls}")]).legs[0].text.to_string();
    assert!(
        text("{}").contains("\n  TLS inside tunnels       1.3: a round trip of the path behind CONNECT\n")
    );
    assert!(!text("none").contains("tunnels"));
}

#[test]
fn the_asymmetric_satellite_needs_50_connections() {
    let report = report(&["path.link.0.down.delay=320 ms"]);
    let leg = &report.legs[0];
    assert_eq!(leg.rtt_ns, 380_000_000);
    assert_eq!(leg.bdp_bytes, Some(1_632_480));
    let by_hand = 22.0 * 12_000.0 / 0.380_349_163;
    assert!((leg.limit.window_limit_bps.unwrap() - by_hand).abs() < 1e-3);
    // 34.368 / 0.6941 is 49.5.
    assert_eq!(leg.connections_to_fill, Some(50));
    insta::assert_snapshot!(report.text);
}

#[test]
fn each_leg_is_described_with_its_carrier() {
    let legs = r#"leg=[{from="nz-proxy",to="us-router",carrier={kind="mux",connections=50}},{from="us-router",to="server",carrier={kind="http/1.1",per_host=4,total=100}}]"#;
    let report = report(&[legs, "path.link.0.down.delay=320 ms"]);
    let (near, far) = (&report.legs[0], &report.legs[1]);
    assert_eq!((near.connections, far.connections), (Some(50), Some(100)));
    assert_eq!(near.connections_limit_bps, near.limit.window_limit_bps.map(|limit| 50.0 * limit));
    assert_eq!(far.connections_limit_bps, None, "a round trip takes no time");
    insta::assert_snapshot!(report.text);
}

#[test]
fn sessions_and_programs_are_described() {
    let report = report(&[
        "leg.0.carrier={kind=\"webmux\",credit=\"4000 B\"}",
        "leg.0.application={wake=\"1600 us\",write=\"4096 B\",head=\"250 B\"}",
    ]);
    let text = report.legs[0].text.to_string();
    for line in [
        "connections              one to each host, opened by its first request and kept",
        "sessions                 a request each; credit 4000 B each way, fragments of 512 B",
        "buffers                  write 8192 B, read 4096 B; layout of 1996",
        // Five of eight fragments of 512 B are granted at once.
        "a session can carry      at most 175 kbit/s with headers: 2560 of 4096 B of credit per (120 ms + 0.238 ms)",
        "programs wake            after 1.6 ms",
        "programs write           head of 250 B by itself; at most 4096 B at once",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn http2_by_itself_names_its_presets_and_their_sources() {
    let text = report(&["leg.0.carrier={kind=\"http/2\"}"]).legs[0].text.to_string();
    for line in [
        "client end               Chrome, net/spdy/spdy_session.h (preset \"chrome\", default)",
        "server end               nginx 1.22, uploads buffered, ngx_http_v2.c (preset \"nginx\", default)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let named = report(&["leg.0.carrier={kind=\"http/2\",preset=\"go\"}"]).legs[0].text.to_string();
    assert!(
        named.contains("client end               Go's net/http2, transport.go and server.go (preset \"go\")"),
        "{named}"
    );
}

#[test]
fn the_limit_of_a_connection_is_said_once() {
    let split = r#"leg=[{from="nz-proxy",to="us-router",carrier={kind="mux",connections=5}},{from="us-router",to="server",carrier={kind="http/1.0"}}]"#;
    for carrier in ["leg.0.carrier={kind=\"http/1.1\"}", "leg.0.carrier={kind=\"http/2\"}", split] {
        let report = report(&[carrier]);
        let leg = &report.legs[0];
        let said = leg.least.connection_limit_text.as_ref().unwrap();
        assert_eq!(said, "2.19 Mbit/s with headers = 22 × 1500 B per (120 ms + 0.349 ms)", "{carrier}");
        assert!(leg.text.to_string().contains(&format!("a connection can carry   {said}")), "{}", leg.text);
    }
}

#[test]
fn a_long_path_goes_on_in_a_second_row() {
    let link = r#"{up={rate="2 Mbit/s",delay="5 ms",queue="50 packets"},down={rate="8 Mbit/s",delay="5 ms",loss={kind="bernoulli",probability=0.001}}}"#;
    let links = format!("path.link=[{}]", [link; 4].join(","));
    let nodes =
        r#"path.nodes=["home", "exchange", "a-backbone-router-with-a-very-long-name", "edge", "origin"]"#;
    insta::assert_snapshot!(report(&[nodes, &links, "leg.0.from=home", "leg.0.to=origin"]).text);
}

#[test]
fn buffers_are_rounded_up_to_segments_and_lower_the_mss() {
    let window = |overrides: &[&str]| {
        let limit = report(overrides).legs[0].limit;
        (limit.mss_bytes, limit.window_bytes, limit.window_segments)
    };
    assert_eq!(window(&["leg.0.tcp.buffer=8192 B"]), (1460, 8760, 6));
    assert_eq!(window(&["leg.0.tcp.buffer=1000 B"]), (1000, 1000, 1));
    assert_eq!(window(&["leg.0.tcp.from.buffer=1000 B"]), (1000, 1000, 1));
    assert_eq!(window(&["leg.0.tcp.to.mss=536 B"]), (536, 32_767, 61));
    assert_eq!(window(&["leg.0.tcp.from.buffer=4096 B"]), (1460, 4380, 3));
    assert_eq!(window(&["leg.0.tcp.buffer=1 MB"]), (1460, 65_535, 44));
    // A segment with timestamps carries 1448 B, 90.5 of them in the window, which is scaled. Others begin with whole MSSs.
    let linux = |bytes: u64| window(&[&format!("leg.0.tcp={{profile=\"linux\",buffer=\"{bytes} B\"}}")]);
    assert_eq!(linux(131_072), (1460, 131_072, 90));
    assert_eq!([linux(5792), linux(5840), linux(7287)], [(1460, 4380, 3), (1460, 5840, 4), (1460, 5840, 4)]);
    assert_eq!(linux(7240), (1460, 5840, 4), "five of 1448 B, but not of 1460 B");
    let scaled = ["leg.0.tcp.buffer=1 MB", "leg.0.tcp.constants.window_scaling=true"];
    assert_eq!(window(&scaled), (1460, 1_000_000, 684));
    assert_eq!(warned(&report(&scaled)), [""; 0]);
}

#[test]
fn nothing_is_limited_where_nothing_takes_time() {
    let free = "path.link=[{up={rate=\"unlimited\",delay=\"0 s\"},down={rate=\"unlimited\",delay=\"0 s\"}}]";
    let report = report(&[free, "path.nodes=[\"nz-proxy\",\"server\"]"]);
    let leg = &report.legs[0];
    assert_eq!((leg.bdp_bytes, leg.limit.window_limit_bps, leg.connections_to_fill), (None, None, None));
    assert_eq!(leg.bottleneck_down_bps, None);
    assert!(warned(&report)[0].starts_with("path.link: every rate is unlimited"));
}

#[test]
fn a_host_table_spreads_the_limit() {
    let mut hosts = Directory::default();
    hosts.add(host("fast", Some(1460), Some(32_767)));
    hosts.add(host("slow", Some(512), Some(4096)));
    hosts.add(host("bare", None, None));
    let scenario =
        cable_with(&["leg.0.tcp.to={mss=\"host\",buffer=\"host\"}", "workload.default_mss=536 B"]).unwrap();
    let report = super::report(&scenario, None, Some(&hosts));
    let spread = report.legs[0].hosts.clone().unwrap();
    assert_eq!(spread.hosts, 3);
    // 8 segments of 552 B a round trip, 60 of 61 segments of 576 B, 22 segments of 1500 B.
    let by_hand = |segments: f64, packet: f64| {
        let segment_ns = (packet * 8e9 / 34_368_000.0).ceil();
        segments * packet * 8.0 / (0.12 + segment_ns / 1e9)
    };
    assert!((spread.window_limit_bps_min - by_hand(8.0, 552.0)).abs() < 1e-3);
    assert!((spread.window_limit_bps_median - by_hand(22.0, 1500.0)).abs() < 1e-3);
    assert!((spread.window_limit_bps_max - by_hand(60.0, 576.0)).abs() < 1e-3);
    assert_eq!(
        warned(&report),
        [
            "workload.hosts: 1 of 3 hosts have no MSS: they get workload.default_mss (536 B)",
            "workload.hosts: 1 of 3 hosts have no window: they get workload.default_window (32767 B)",
        ]
    );
    assert!(
        report.text.to_string().contains("min 294 kbit/s, median 2.19 Mbit/s, max 2.3 Mbit/s; 3 hosts"),
        "{}",
        report.text
    );
}

/// Overrides of the cable and the one warning that they bring.
#[rustfmt::skip]
const WARNINGS: &[(&[&str], &str)] = &[
    (&["leg.0.tcp.mss=host"], "leg.0.tcp.mss: \"host\", but there is no workload.hosts: all have workload.default_mss (1460 B)"),
    (&["leg.0.tcp.to.buffer=host"], "leg.0.tcp.buffer: \"host\", but there is no workload.hosts: all have workload.default_window (32767 B)"),
    (&["path.link.0.down.queue=1499 B"], "path.link.0.down.queue: 1.5 kB is less than one packet of 1500 B: such packets never pass"),
    (&["path.link.0.down.queue=1499 B", "path.link.0.down.queue_counts=waiting"], "path.link.0.down.queue: 1.5 kB is less than one packet of 1500 B: such packets never wait"),
    (&["path.link.0.down.loss={kind=\"bernoulli\",probability=1}"], "path.link.0.down.loss: every packet is lost, so that no request over it ends"),
    // With timestamps an acknowledgement takes 52 B. Without, above, 40 B.
    (&["leg.0.tcp.profile=linux", "path.link.0.up.rate=550 kbit/s"], "path.link.0.up.rate: ACKs for a full link of 34.4 Mbit/s down need 596 kbit/s, more than the 550 kbit/s up"),
    (&["path.link.0.down.queue=10 ms"], "path.link.0.down.queue: 10 ms (43 kB) is 8.33 % of what the path holds (516 kB): bursts will lose packets"),
    (&["path.link.0.up.queue=34 packets"], "path.link.0.up.queue: 34 packets is 9.89 % of what the path holds (516 kB): bursts will lose packets"),
    (&["leg.0.tcp.buffer=64 KiB"], "leg.0.tcp.buffer: 65536 B, but at most 65535 B are in flight without leg.0.tcp.constants.window_scaling"),
    (&["leg.0.tcp.from.buffer=1000 B"], "leg.0.tcp.from.buffer: 1000 B is less than the MSS of 1460 B: segments have 1000 B at most"),
    (&["run.until=60 s", "run.warmup=1 min"], "run.warmup: 60 s is not before run.until (60 s): summaries have no requests"),
    (&["record.points=[\"link 0\"]"], "record.points: has no effect, as record.packets is \"none\""),
    (&["path.link.0.up.delay=0 ms"], "path.link.0.up.delay: 0 ms on a link with a rate: it adds its transmission time only"),
    (&["path.link.1.up.queue=9 kB"], "path.link.1.up.queue: the rate is unlimited, so no packet ever waits in this queue"),
    (&["path.link.1.up.rate=1 Gbit/s", "path.link.1.up.delay=1 ms", "path.link.1.down.rate=1 Gbit/s", "path.link.1.down.delay=1 ms", "path.link.1.up.queue={kind=\"pie\",limit=\"20 MB\"}"], "path.link.1.up.queue: packets queue at link 0, which has 34.4 Mbit/s: none wait here"),
    (&["path.link.1.up.rate=1 Gbit/s", "path.link.1.up.delay=1 ms", "path.link.1.down.rate=1 Gbit/s", "path.link.1.down.delay=1 ms", "path.link.1.down.queue=fq-codel"], "path.link.1.down.queue: packets queue at link 0, which has 34.4 Mbit/s: bursts alone wait here"),
    (&["path.link.1.down.rate=1 Gbit/s", "path.link.1.down.delay=1 ms"], "path.link.1: one direction has a rate, the other is unlimited"),
    (&["leg.0.tcp.constants.nagle=true", "leg.0.tls={version=\"1.3\"}"], "leg.0.tcp.constants.nagle: true, but both ends of TLS switch Nagle's rule off, as OpenSSL's clients and nginx do"),
    (&["sweep.factors={\"path.link.0.up.rate\"=[\"1 Mbit/s\"]}", "path.link.0.up.steps=[{at=\"9 s\",rate=\"2 Mbit/s\"}]"], "sweep.factors.\"path.link.0.up.rate\": path.link.0.up.steps set it anew, whatever the level"),
    (&["path.link.0.up.rate=128 kbit/s"], "path.link.0.up.rate: ACKs for a full link of 34.4 Mbit/s down need 458 kbit/s, more than the 128 kbit/s up"),
];

#[test]
fn figures_of_a_link_that_changes_are_of_its_mean_rate_and_least_delay() {
    let steps = "path.link.0.down.steps=[{at=\"60 s\",rate=\"8 Mbit/s\"},{at=\"120 s\",rate=\"30 Mbit/s\",delay=\"20 ms\"}]";
    let report = report(&["path.link.0.down.rate=30 Mbit/s", "run.until=120 s", steps]);
    let down = &report.links[0].down;
    assert_eq!(
        [down.rate_bps_min, down.rate_bps_mean, down.rate_bps_max],
        [8_000_000, 19_000_000, 30_000_000].map(Some)
    );
    assert_eq!((report.legs[0].bottleneck_down_bps, report.legs[0].rtt_ns), (Some(19_000_000), 80_000_000));
    assert_eq!(report.legs[0].bdp_bytes, Some(19_000_000 / 8 * 80 / 1000));
    for said in ["8 Mbit/s to 30 Mbit/s, mean 19 Mbit/s", "rates here are means over time, delays the least"]
    {
        assert!(report.text.to_string().contains(said), "{}", report.text);
    }
}

#[test]
fn a_schedule_that_is_not_read_is_named() {
    let report = report(&["path.link.0.down.schedule=passes/2026-11-29T12-00-00-down.csv"]);
    assert_eq!(report.links[0].down.changes, ["schedule passes/2026-11-29T12-00-00-do…"]);
}

#[test]
fn a_trace_says_its_rates_and_its_longest_gap() {
    let down = "path.link.0.down={trace=\"down.trace\",delay=\"60 ms\",queue=\"100 ms\"}";
    let of = |overrides: &[&str]| {
        // Two opportunities a ms, but none from 200 ms to 300 ms, and one a ms in the last tenth of a second.
        let times = (2..2000).filter(|half| !(400..600).contains(half) && (*half < 1800 || half % 2 == 0));
        let text: String = times.map(|half| format!("{}\n", half / 2)).collect();
        with_trace(&format!("{text}1000\n"), &[&[down], overrides].concat())
    };
    let report = of(&["clients.give_up=90 ms", "run.until=2 s", "path.link.0.down.trace_repeat=false"]);
    let way = &report.links[0].down;
    assert_eq!([way.rate_bps_min, way.rate_bps_max], [240_000, 24_000_000].map(Some));
    assert_eq!(way.changes, ["240 kbit/s to 24 Mbit/s in 95 % of 100 ms, 1 s, longest gap 101 ms"]);
    assert_eq!(way.queue_bytes, Some(way.rate_bps_mean.unwrap() / 80));
    let warns = |text: &str| warned(&report).iter().any(|warning| warning == text);
    assert!(warns(
        "path.link.0.down.trace_repeat: the run ends with the trace after 1 s at most, whatever is open then"
    ));
    assert!(warns(
        "path.link.0.down.trace: its longest gap is 101 ms, and clients give up after 90 ms (clients.give_up)"
    ));
    assert_eq!(warned(&of(&["clients.give_up=200 ms", "run.until=2 s"])), [""; 0]);
    let unread = super::report(&cable_with(&[down]).unwrap(), None, None);
    assert_eq!((&*unread.links[0].down.rate, unread.warnings), ("by down.trace", vec![]));
}

#[test]
fn a_fade_says_its_least_rate_and_how_long_it_lasts() {
    let said = |depth: &str| {
        let held = format!("{{at=\"80 s\",depth=\"{depth}\"}},{{at=\"120 s\",depth=\"{depth}\"}}");
        let clear = |at: &str| format!("{{at=\"{at}\",depth=\"0 dB\"}}");
        let rain = format!("attenuation=[{},{held},{}]", clear("60 s"), clear("140 s"));
        let fade = format!("path.link.0.down.fade={{clear=\"12 dB\",margin=\"0.5 dB\",{rain}}}");
        report(&[&fade]).links[0].down.changes.last().unwrap().clone()
    };
    assert_eq!(said("0 dB"), "fade without effect");
    assert_eq!(said("3 dB"), "fade for 73.7 s from 63.9 s on, 24.2 Mbit/s at least");
    let deep = "fade for 79.2 s from 60.6 s on, 5.32 Mbit/s at least, silent for 51.7 s, losing for 3.84 s";
    assert_eq!(said("20 dB"), deep);
}

#[test]
fn a_link_says_what_a_first_packet_after_a_silence_waits_for() {
    let of = |key: &str, table: &str| {
        let report = report(&[&format!("path.link.0.up.{key}={table}")]);
        (report.links[0].up.changes.join(", "), report.text.to_string())
    };
    let (drawn, text) = of("dama", "{}");
    assert_eq!(drawn, "DAMA, 760 ms to a grant");
    let said = "after a silence          1500 B wait 760 ms on average for a grant of link 0 up (DAMA)";
    assert!(text.contains(said), "{text}");
    let (drawn, text) = of("dama", "{cra=\"50 kbit/s\",max=\"1 Mbit/s\"}");
    assert_eq!(drawn, "DAMA, 760 ms to a grant, 50 kbit/s unasked, 1 Mbit/s at most");
    let said = "1500 B wait 250 ms on average for a grant of link 0 up (DAMA, 50 kbit/s unasked)";
    assert!(text.contains(said) && text.contains("up 1 Mbit/s, down"), "{text}");
    let (drawn, text) = of("wake", "{after=\"10 s\",delay=\"80 ms\"}");
    assert_eq!(drawn, "wakes in 80 ms after 10 s");
    assert!(text.contains("a packet waits 80 ms until link 0 up wakes, 10 s after the last one"), "{text}");
    assert!(!report(&[]).text.to_string().contains("after a silence"));
}

#[test]
fn losses_of_steps_limit_a_connection_as_they_stay() {
    let share = |overrides: &[&str]| (report(overrides).legs[0].least.loss_share * 1e6).round();
    let steps = "path.link.0.down.steps=[{at=\"60 s\",loss=\"0.5 %\"}]";
    assert_eq!(share(&[steps]), 5000.0);
    assert_eq!(share(&[steps, "path.link.0.down.steps_every=120 s"]), 0.0);
    let twice = "path.link.0.down.steps=[{at=\"0 s\",loss=\"1 %\"},{at=\"60 s\",loss=\"0.5 %\"}]";
    assert_eq!(share(&[twice, "path.link.0.down.steps_every=120 s"]), 5000.0);
}

#[test]
fn losses_of_handovers_are_shown() {
    let handover =
        "path.link.0.handover={every=\"15 s\",gap=[\"100 ms\",\"100 ms\"],loss=1,loss_for=\"300 ms\"}";
    let text = report(&[handover]).text.to_string();
    assert!(text.contains("handover every 15 s, gap 100 ms, loss 100 % for 300 ms"), "{text}");
}

#[test]
fn outages_count_for_the_mean_rate() {
    let outage = "path.link.0.down.outage=[{at=\"2 s\",lasts=\"1 s\",every=\"10 s\"}]";
    let report = report(&["path.link.0.down.rate=10 Mbit/s", outage]);
    let down = &report.links[0].down;
    assert_eq!((down.rate_bps_min, down.rate_bps_mean), (Some(10_000_000), Some(9_000_000)));
    assert!(report.text.to_string().contains("outage 1 s every 10 s"), "{}", report.text);
}

#[test]
fn each_warning_names_its_key() {
    for (overrides, warning) in WARNINGS {
        assert_eq!(warned(&report(overrides)), [*warning]);
    }
}

#[test]
fn outages_that_drop_may_meet_the_timeouts_of_an_agent() {
    let transfer = ["leg.0.carrier={kind=\"transfer\"}", "leg.0.tcp={profile=\"ns2-reno\"}"];
    let outage = |mode: &str| {
        format!("path.link.0.up.outage=[{{at=\"1 s\",lasts=\"1 s\",every=\"6 s\",mode=\"{mode}\"}}]")
    };
    let warns = |mode: &str| warned(&report(&[transfer[0], transfer[1], &outage(mode)]));
    assert!(
        warns("drop")
            .iter()
            .any(|warning| warning.starts_with("leg.0.tcp.profile: the timeouts of an agent"))
    );
    assert!(!warns("hold").iter().any(|warning| warning.starts_with("leg.0.tcp.profile")));
}

#[test]
fn a_queue_in_time_is_that_of_the_rate_at_the_start() {
    let faster = r#"path.link.0.down.steps=[{at="9 s",rate="40 Mbit/s"}]"#;
    let report = report(&["path.link.0.down.queue=250 ms", "path.link.0.down.rate=20 Mbit/s", faster]);
    let down = &report.links[0].down;
    assert_eq!((down.queue.as_str(), down.queue_bytes), ("250 ms (625 kB)", Some(625_000)));
    assert!(report.text.to_string().contains("queue 250 ms (625 kB)"), "{}", report.text);
}

#[test]
fn a_discipline_is_said_with_its_times_and_limit() {
    for (queue, said) in [
        ("pie", "pie 15 ms, 1000 packets"),
        ("codel", "codel 5 ms / 100 ms, 1000 packets"),
        ("{kind=\"fq-codel\",limit=\"2 MB\"}", "fq-codel 5 ms / 100 ms, 2 MB"),
        ("{kind=\"drop-head\",limit=\"250 ms\",counts=\"waiting\"}", "drop-head 250 ms (1.07 MB) waiting"),
        ("drop-tail", "unlimited"),
    ] {
        let report = report(&[&format!("path.link.0.down.queue={queue}")]);
        assert!(report.text.to_string().contains(&format!("queue {said}\n")), "{said}: {}", report.text);
    }
}

#[test]
fn a_queue_of_a_tenth_is_large_enough() {
    // 35 packets of 1500 B are 10.2 % of 515,520 B.
    assert_eq!(warned(&report(&["path.link.0.up.queue=35 packets"])), [""; 0]);
}

#[test]
fn each_cache_is_described_with_what_it_holds() {
    let legs = r#"leg=[{from="nz-proxy",to="us-router",carrier={kind="http/1.1"}},{from="us-router",to="server",carrier={kind="http/1.0"}}]"#;
    let cache = r#"cache=[{node="us-router",policy="gdsf",capacity="64 MB",ttl="1 h",siblings=4,admit={max="1 MB",second_hit=true}}]"#;
    let live = report(&[legs, cache]);
    insta::assert_snapshot!(live.caches[0].text);
    assert!(live.text.to_string().contains(&live.caches[0].text.to_string()));
    let drawn = report(&["cache=[{node=\"us-router\",hit_ratio=0.4}]"]);
    insta::assert_snapshot!(drawn.caches[0].text);
}

/// A leg over a path with 120 ms there and back, 34 Mbit/s.
fn least(overrides: &[&str]) -> super::ConnectionLimit {
    report(overrides).legs[0].least.clone()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("there is a limit");
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} for {expected}");
}

#[test]
fn the_limit_of_a_connection_is_the_least_of_window_credit_and_losses() {
    let linux = "leg.0.tcp={profile=\"linux\"}";
    let rfc = "leg.0.carrier={kind=\"http/2\",preset=\"rfc-default\"}";
    let on_wire = 1500.0 / 1448.0 * 8.0 / 0.12;
    let of_credit = least(&[linux, rfc]);
    assert_eq!(of_credit.limited_by, LimitedBy::Credit);
    // It is granted by halves: the first one has to come before the second is sent.
    let halves =
        |bytes: f64, lack: f64| bytes * on_wire * 0.12 / (0.12 + (8e9 * lack / 34.368e6).ceil() / 1e9);
    near(of_credit.connection_limit_bps, halves(65_534.0, 32_766.0));
    near(of_credit.session_limit_bps, halves(65_534.0, 32_766.0));
    let of_session = least(&[
        linux,
        "leg.0.carrier={kind=\"http/2\",preset=\"rfc-default\",session_credit=\"30000 B\",connection_credit=\"1 MiB\"}",
    ]);
    near(of_session.session_limit_bps, halves(30_000.0, 15_000.0));
    near(of_session.connection_limit_bps, f64::from(1 << 20) * on_wire); // more than the line
    let of_window = least(&[linux, "leg.0.carrier={kind=\"http/2\"}", "leg.0.tcp.buffer=\"64 kB\""]);
    assert_eq!(of_window.limited_by, LimitedBy::Window, "Chrome grants more");
    assert_eq!(least(&[linux]).credit_bytes, None);
    let growing = least(&[linux, "leg.0.carrier={kind=\"http/2\",preset=\"grpc\"}"]);
    assert_ne!(growing.limited_by, LimitedBy::Credit, "its credits grow with the path");
}

/// Reno's mean window is Mathis' square root where none of its ends matters. CUBIC's is larger over a long path with few losses.
#[test]
fn losses_limit_a_connection_as_mathis_has_it() {
    let reno = "leg.0.tcp={profile=\"linux\",constants={congestion_control=\"reno\"}}";
    let lossy = |tcp: &str, probability: f64| {
        let loss = format!("path.link.0.down.loss={{kind=\"bernoulli\",probability={probability}}}");
        least(&[tcp, "path.link.0.down.rate=10 Gbit/s", &loss])
    };
    let found = lossy(reno, 0.0005);
    assert_eq!(found.limited_by, LimitedBy::Loss);
    near(Some(found.loss_share), 0.0005);
    let mathis = (3.0_f64 / 2.0 / 0.0005).sqrt() * 12_000.0 / 0.12;
    // Losses at random leave some 7 % more than evenly spaced ones (Ott, Kemperman and Mathis 1996: 1.309 for 1.225).
    let ratio = found.loss_limit_bps.unwrap() / mathis;
    assert!((1.0..1.1).contains(&ratio), "{ratio}");
    let [cubic, reno] =
        ["leg.0.tcp={profile=\"linux\"}", reno].map(|tcp| lossy(tcp, 0.0001).loss_limit_bps.unwrap());
    assert!(cubic > 1.2 * reno, "{cubic} {reno}");
    let bursts =
        "path.link.0.down.loss={kind=\"gilbert-elliott\",good_to_bad=0.01,bad_to_good=0.09,loss_bad=0.5}";
    let share = least(&["leg.0.tcp={profile=\"linux\"}", bursts]).loss_share;
    assert!((share - 0.05).abs() < 1e-12, "{share}");
}

/// A window smaller than losses would leave is the limit, less their part: W / (1 + p·W²/8) segments of Reno,
/// at most.
#[test]
fn losses_below_a_window_take_their_part_of_it() {
    let reno = "leg.0.tcp={profile=\"linux\",buffer=\"30 kB\",constants={congestion_control=\"reno\"}}";
    let loss = "path.link.0.down.loss={kind=\"bernoulli\",probability=0.001}";
    let (free, found) = (least(&[reno]), least(&[reno, loss]));
    assert_eq!(found.limited_by, LimitedBy::Window);
    let part = found.connection_limit_bps.unwrap() / free.connection_limit_bps.unwrap();
    let expected = 1.0 / (1.0 + 0.001 * 20.0 * 20.0 / 8.0);
    assert!((part / expected - 1.0).abs() < 0.05, "{part} for {expected}");
    assert_eq!(
        found.connection_limit_text.unwrap().split_once(':').unwrap().1,
        " 20 × 1500 B per (120 ms + 0.349 ms)"
    );
    assert_eq!(found.loss_limit_text.unwrap(), "0.1 % of the packets, which the limit counts");
}

/// BBR sends at the rate that it measures, up to a share of losses that it takes for a policer's: a limit without an estimate.
#[test]
fn losses_set_bbr_no_limit_until_they_pass_for_a_policers() {
    let bbr = "leg.0.tcp={profile=\"linux\",constants={congestion_control=\"bbr\"}}";
    let loss = |way, share| format!("path.link.0.{way}.loss={{kind=\"bernoulli\",probability={share}}}");
    for way in ["down", "up"] {
        let of = |share| {
            let found = report(&[bbr, &loss(way, share)]);
            let warned = warned(&found).iter().any(|text| text.starts_with("leg.0.tcp: BBR takes"));
            let leg = found.legs[0].clone();
            (if way == "up" { leg.up.unwrap() } else { leg.least }, leg.text.to_string(), warned)
        };
        let (found, text, warned) = of("0.1");
        assert_eq!((found.limited_by, found.loss_limit_bps, warned), (LimitedBy::SendBuffer, None, false));
        assert!(found.loss_limit_text.is_some_and(|text| text.starts_with("no limit: BBR")));
        assert!(text.contains(&format!("losses {way:<17} no limit: BBR")), "{text}");
        let (found, _, warned) = of("0.2");
        assert_eq!((found.limited_by, found.connection_limit_bps, warned), (LimitedBy::Loss, None, true));
        assert!(found.loss_limit_text.is_some_and(|text| text.starts_with("a limit without an estimate")));
    }
    assert_eq!(least(&[bbr]).loss_limit_text, None);
    assert_eq!(least(&["leg.0.tcp={profile=\"linux\"}", &loss("down", "0.01")]).loss_limit_text, None);
}

/// A burst is one loss event: bursts of ten at 1 % equal random losses of 0.1 %.
#[test]
fn losses_in_bursts_count_as_events() {
    let linux = "leg.0.tcp={profile=\"linux\"}";
    let lossy = |loss: &str| least(&[linux, &format!("path.link.0.down.loss={{{loss}}}")]);
    let bursts = lossy("kind=\"gilbert-elliott\",good_to_bad=0.0010101,bad_to_good=0.1");
    assert!((bursts.loss_share - 0.01).abs() < 1e-6, "{}", bursts.loss_share);
    assert!((bursts.loss_event_share / 0.001 - 1.0).abs() < 0.05, "{}", bursts.loss_event_share);
    let single = lossy("kind=\"bernoulli\",probability=0.001").loss_limit_bps.unwrap();
    assert!((bursts.loss_limit_bps.unwrap() / single - 1.0).abs() < 0.05, "{bursts:?}, {single}");
    assert_eq!(
        bursts.connection_limit_text.unwrap().split_once("headers: ").unwrap().1,
        "1 % lost, 0.101 % begin a burst"
    );
    // States that change with each packet are losses at random.
    let mixed = lossy("kind=\"gilbert-elliott\",good_to_bad=0.01,bad_to_good=0.99");
    assert!((mixed.loss_event_share / 0.01 - 1.0).abs() < 0.02, "{}", mixed.loss_event_share);
    // A bad state that never ends has as many events as its losses are windows apart.
    let lasting = lossy("kind=\"gilbert-elliott\",good_to_bad=0.1,bad_to_good=0.000001,loss_bad=0.001");
    assert!((lasting.loss_event_share / 0.001 - 1.0).abs() < 0.1, "{}", lasting.loss_event_share);
}

/// Two thirds of what the memory holds: 256 KiB has 115 segments of 1448 B with 832 B each besides.
#[test]
fn a_small_send_buffer_limits_and_is_named() {
    let small =
        r#"leg.0.tcp={profile="linux",constants={send_buffer_initial="16 KiB",send_buffer_max="256 KiB"}}"#;
    let least = report(&[small]).legs[0].least.clone();
    assert_eq!(least.limited_by, LimitedBy::SendBuffer);
    near(least.connection_limit_bps, 76.0 * 1500.0 * 8.0 / 0.120_349_163);
}

/// A request body goes by the credit that servers grant, and by losses on the way up.
#[test]
fn uploads_have_a_limit_of_their_own() {
    let linux = "leg.0.tcp={profile=\"linux\"}";
    let carrier =
        "leg.0.carrier={kind=\"http/2\",client={preset=\"curl-8\"},server={preset=\"rfc-default\"}}";
    let leg = report(&[linux, carrier]).legs[0].clone();
    let up = leg.up.unwrap();
    assert_eq!((leg.least.limited_by, up.limited_by), (LimitedBy::SendBuffer, LimitedBy::Credit));
    near(up.connection_limit_bps, 65_534.0 * 1500.0 / 1448.0 * 8.0 / 0.127_627_095);
    for line in [
        "a connection can carry   down about 978 Mbit/s with headers: its send buffer lets 9811 × 1500 B go per 120 ms",
        "a connection can carry   up at most 4.26 Mbit/s with headers: 65535 B of credit per (120 ms + 7.63 ms)",
        "a session can carry      up 4.26 Mbit/s with headers, as the connection",
    ] {
        assert!(leg.text.to_string().contains(line), "{line}\n{}", leg.text);
    }
    let lossy = report(&[linux, "path.link.0.up.loss={kind=\"bernoulli\",probability=0.01}"]);
    let leg = &lossy.legs[0];
    assert_eq!((leg.least.loss_share, leg.up.as_ref().unwrap().limited_by), (0.0, LimitedBy::Loss));
    let transfer = ["leg.0.carrier={kind=\"transfer\"}", "leg.0.tcp={profile=\"ns2-reno\"}"];
    assert_eq!(report(&transfer).legs[0].up, None);
}

#[test]
fn handshakes_are_described_by_their_parts() {
    let linux = "leg.0.tcp={profile=\"linux\"}";
    let parts =
        "leg.0.tls={start=\"resumed\",certificates=\"ml-dsa-65\",scts=2,ocsp=true,compression=\"90 %\"}";
    let report = report(&[linux, parts]);
    for handshake in &report.legs[0].handshakes {
        for flight in [&handshake.up, &handshake.down] {
            assert_eq!(flight.parts.iter().map(|part| part.bytes).sum::<i64>(), flight.bytes as i64);
        }
    }
    insta::assert_snapshot!(report.legs[0].text);
}

#[test]
fn a_flight_beyond_the_first_window_is_said_so() {
    let sentence = |flight: &str| {
        let tls = format!("leg.0.tls={{{flight}}}");
        let text = report(&["leg.0.tcp={profile=\"linux\"}", &tls]).legs[0].text.to_string();
        let (_, sentence) = text.split_once("\n  the server's flight of ")?;
        sentence.split_once("\n  round trip ").map(|(sentence, _)| sentence.replace("\n ", ""))
    };
    assert_eq!(sentence("server_flight=\"14480 B\""), None);
    assert_eq!(
        sentence("server_flight=\"17300 B\"").unwrap(),
        "17.3 kB needs 2 flights from its first window (14480 B) on: each full handshake takes one round trip more"
    );
    // Three certificates of 8.3 kB and a signature of 7.9 kB.
    assert_eq!(
        sentence("certificates=\"slh-dsa-128s\",intermediates=2").unwrap(),
        "34.4 kB needs 2 flights from its first window (14480 B) on: each full handshake takes one round trip more"
    );
    assert_eq!(
        sentence("start=\"resumed\",server_flight=\"50 kB\"").unwrap().split_once(": ").unwrap().1,
        "each full handshake takes 2 round trips more the server's flight of 50 kB needs 3 flights from its first window \
         (14480 B) on: each resumed handshake takes 2 round trips more"
    );
}

#[test]
fn a_leg_says_who_asks_for_ecn_and_what_marks() {
    let with = |more: &[&str]| {
        let cable = ["leg.0.tcp.profile=linux", "path.link.0.down.queue={kind=\"codel\",ecn=true}"];
        report(&[&cable[..], more].concat())
    };
    let asked = with(&["leg.0.tcp.constants.ecn=request"]);
    assert_eq!(asked.legs[0].ecn.as_deref(), Some("both ends ask; link 0 down (codel)"));
    assert!(
        asked.text.to_string().contains("\n  ECN                      both ends ask; link 0 down (codel)\n"),
        "{}",
        asked.text
    );
    assert_eq!(warned(&asked), [""; 0]);
    let unmarked = with(&["leg.0.tcp.constants.ecn=request", "path.link.0.down.queue=pie"]);
    assert_eq!(unmarked.legs[0].ecn.as_deref(), Some("both ends ask; no link marks"));
    let listed = r#"path.link.0.up.loss={kind="list",mark=["data 8"]}"#;
    let accepted = with(&["leg.0.tcp.constants.ecn=accept", listed]);
    assert_eq!(accepted.legs[0].ecn, None);
    let in_place = "no end asks for ECN here, so that packets are dropped in place of marks";
    assert_eq!(
        warned(&accepted),
        [
            "leg.0.tcp.constants.ecn: neither end asks where both only \"accept\"; \"request\" asks"
                .to_owned(),
            format!("path.link.0.up.loss.mark: {in_place}"),
            format!("path.link.0.down.queue.ecn: {in_place}"),
        ]
    );
}
