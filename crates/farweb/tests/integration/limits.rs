//! Bulk transfers go at the least limit that the report on their scenario states, and none is faster.

use farweb::explain;
use farweb::scenario::Scenario;
use proptest::prelude::*;

use crate::run::{Asked, ints, on_leg, run};

const SEGMENTS: f64 = 3_000.0; // many windows and credits
const EVENTS: f64 = 2_500.0; // the rate over losses is a mean
const TENTH: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// A leg: carrier, TCP, and the share of packets that its link loses.
fn legs() -> impl Strategy<Value = (String, String, f64)> {
    let carrier = prop_oneof![
        Just("{ kind = \"http/1.0\" }".to_owned()),
        Just("{ kind = \"http/2\", preset = \"rfc-default\" }".to_owned()),
        (60..600_u64).prop_map(|kib| format!(
            "{{ kind = \"http/2\", preset = \"chrome\", session_credit = \"{kib} KiB\" }}"
        )),
    ];
    let constants = prop_oneof![
        Just(String::new()),
        Just("congestion_control = \"reno\"".to_owned()),
        (64..1024_u64)
            .prop_map(|kib| format!("send_buffer_initial = \"16 KiB\", send_buffer_max = \"{kib} KiB\"")),
    ];
    let linux =
        (constants, prop_oneof![Just(String::new()), window(12_000)]).prop_map(|(constants, buffer)| {
            format!("profile = \"linux\", constants = {{ {constants} }}{buffer}")
        });
    // Over losses timeouts decide about smaller ones.
    let bsd = window(24_000).prop_map(|buffer| format!("profile = \"bsd44-lite\"{buffer}"));
    let probability = prop_oneof![Just(0.0), 0.004..0.015_f64];
    (carrier, prop_oneof![3 => linux, 1 => bsd], probability)
}

/// A window that is set, of so many bytes at least.
fn window(least: u64) -> impl Strategy<Value = String> {
    (least..120_000).prop_map(|bytes| format!(", buffer = \"{bytes} B\""))
}

/// Rate of a long transfer behind its beginning, in segments a second.
fn steady(scenario: &Scenario, seed: u64, segments: u64, payload: u64, uploads: bool) -> f64 {
    let took = |segments: u64| {
        let bytes = segments * payload;
        let asked = if uploads { Asked(0, bytes, 500, 0) } else { Asked(0, 300, bytes, 0) };
        ints(&run(scenario, seed, vec![asked]).0, "requests", "end_ns")[0]
    };
    let first = segments / 5;
    (segments - first) as f64 * 1e9 / (took(segments) - took(first)) as f64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_run_goes_at_the_least_limit_that_is_said(
        (carrier, tcp, lost) in legs(), delay in 10..120_u64, rate in prop_oneof![Just(1000_u64), 2..30_u64],
        uploads in any::<bool>(), seed in 0..1000_u64
    ) {
        let way = |is_lossy: bool| {
            let loss = format!(", loss = {{ kind = \"bernoulli\", probability = {lost} }}");
            let loss = if is_lossy && lost > 0.0 { loss } else { String::new() };
            format!("{{ rate = \"{rate} Mbit/s\", delay = \"{delay} ms\"{loss} }}")
        };
        let link = format!("up = {}\ndown = {}", way(uploads), way(!uploads));
        let leg = format!("carrier = {carrier}\ntcp = {{ {tcp} }}");
        let scenario = on_leg(&link, &leg, "[origin]\nrelease = \"at-once\"\n");
        let leg = explain::report(&scenario, None, None).legs.remove(0);
        let (limit, payload) = (if uploads { leg.up.expect("requests go up") } else { leg.least }, leg.limit.payload_bytes);
        let connection = limit.connection_limit_bps.expect("a round trip takes time");
        let stated = connection.min(limit.session_limit_bps.unwrap_or(f64::INFINITY)).min(rate as f64 * 1e6);
        let packet_bits = (leg.limit.mss_bytes + 40) as f64 * 8.0;
        let flight = stated * 2e-3 * delay as f64 / packet_bits;
        prop_assume!(flight < 3_000.0); // others take long to begin
        let events = if lost > 0.0 { EVENTS / lost } else { 0.0 };
        let segments = events.max(15.0 * flight).max(SEGMENTS) as u64;
        let found = steady(&scenario, seed, segments, payload, uploads) * packet_bits;
        let ratio = found / stated;
        prop_assert!(TENTH.contains(&ratio), "{ratio:.2} of {stated:.0} bit/s, by {:?}: {limit:?}", limit.limited_by);
    }
}
