//! Sentences about loads, and the least time of a request.

use super::*;
use crate::explain::Row;
use crate::load::{PointLoad, Swept};
use crate::units::words::share;

/// A response of 1340 B in each of 60 seconds, 1500 B with headers and the packets that open and close: 12 kbit/s.
fn steady(overrides: &[&str]) -> Check {
    checked(HEAD, &lines((0..61).map(|second| (f64::from(second), 1340))), overrides)
}

fn answer(overrides: &[&str]) -> String {
    let check = steady(overrides);
    check.said().answer
}

const LEAST: &str = "No request can take less than 240 ms.";

#[test]
fn an_answer_says_whether_the_path_can_carry_the_load() {
    let of = |rate: &str| answer(&[&format!("path.link.0.down.rate={rate} kbit/s")]);
    let fullest = "its fullest link, us-router to nz-proxy, is";
    let when = "in the busiest minute (from 0 s on)";
    for (rate, busy) in [("24", "50 %"), ("15", "80 %")] {
        let says = format!(
            "The path carries this load: {fullest} {busy} busy {when}, {busy} in the busiest second. {LEAST}"
        );
        assert_eq!(of(rate), says);
    }
    let full = format!(
        "{fullest} 85.7 % busy {when}, 85.7 % in the busiest second. Latencies are mostly queueing. {LEAST}"
    );
    assert_eq!(of("14"), format!("Nearly full: {full}"));
    let part = format!(
        "150 % of 8 kbit/s from us-router to nz-proxy {when}; queues grow. Raise the rate or lower workload.load."
    );
    assert_eq!(of("8"), format!("Overloaded: {part}"));
    let free = answer(&["path.link.0.down.rate=unlimited", "path.link.0.up.rate=unlimited"]);
    assert!(free.starts_with("The load was not held against the path: no link has a rate."), "{free}");
    let outage = "path.link.0.down.outage=[{ at = \"0 s\", lasts = \"300 s\" }]";
    let silent = answer(&["run.until=300 s", outage]);
    assert!(
        silent.starts_with("Overloaded: us-router to nz-proxy carries nothing in the busiest minute"),
        "{silent}"
    );
}

#[test]
fn a_second_that_asks_for_more_than_the_rate_is_not_busier_than_busy() {
    // 15 kB and headers at once, over 3 kB/s.
    let rows = (0..61).map(|second| (f64::from(second), if second == 0 { 15_000 } else { 1340 }));
    let check = checked(HEAD, &lines(rows), &["path.link.0.down.rate=24 kbit/s"]);
    let offers = 8.0 * (15_000.0 + 40.0 * 11.0 + OPENING) / 24_000.0;
    let says = format!("(from 0 s on); the busiest second offers {} of its rate. ", share(offers));
    assert!(check.said().answer.contains(&says));
}

#[test]
fn an_answer_behind_a_live_cache_is_sure_or_says_that_the_cache_decides() {
    // 60 objects, each asked for twice, in a minute: 14 kbit/s of first requests, 28 kbit/s in all.
    let bytes = 14_000 * 60 / 8 / 60 - 40 * 2 - OPENING as u64;
    let rows = (0..120).map(|n| format!("{},a,300,{bytes},{}\n", f64::from(n) / 2.0, n / 2));
    let rows: String = rows.collect();
    let name = "server to us-router";
    for (rate, says) in [
        (
            "10",
            format!(
                "Overloaded: at least 140 % of 10 kbit/s from {name} in the busiest minute (from 0 s on), "
            ),
        ),
        (
            "16",
            format!("Nearly full: its fullest link, {name}, is 87.5 % to 175 % busy in the busiest minute "),
        ),
        (
            "30",
            format!(
                "The cache decides whether the path carries this load: its fullest link, {name}, is 46.7 % "
            ),
        ),
        (
            "70",
            format!(
                "The path carries this load: its fullest link, {name}, is at most 40 % busy in the busiest"
            ),
        ),
    ] {
        let rate = format!("path.link.1.down.rate={rate} kbit/s");
        let overrides = with_cache(LIVE, &[&rate]);
        let check = checked(&format!("{HEAD},object"), &rows, &overrides);
        let said = check.said();
        assert!(said.answer.starts_with(&says), "{}", said.answer);
        let is_sure = says.starts_with("Over") || says.starts_with("Near");
        let warned = said.warnings.iter().any(|each| each.words.contains("no cache answers takes at least"));
        assert_eq!(warned, is_sure, "{rate}");
    }
}

#[test]
fn the_answer_of_a_sweep_names_the_worst_point() {
    let of = |rates: &[u32], number: usize| {
        let key = |rate: &u32| format!("path.link.0.down.rate={rate} kbit/s");
        let checks: Vec<_> = rates.iter().map(|rate| steady(&[&key(rate)])).collect();
        let names: Vec<_> = rates.iter().map(|rate| format!("rate {rate}")).collect();
        let points: Vec<_> =
            names.iter().zip(&checks).map(|(name, check)| PointLoad { name, check }).collect();
        Swept::of(&points, number)
    };
    let fullest = "its fullest link, us-router to nz-proxy, is";
    let when = "in the busiest minute (from 0 s on)";
    let carried = of(&[24, 30], 2);
    let says = format!(
        "The path carries the load of all 2 points: {fullest} 50 % busy {when}, 50 % in the busiest second, at rate 24. {LEAST}"
    );
    assert_eq!((carried.answer, carried.warnings.len()), (says, 0));
    let over = of(&[24, 8, 6], 3);
    let says = format!(
        "Overloaded at 2 of 3 points, first at rate 8, worst at rate 6: 200 % of 6 kbit/s from us-router to nz-proxy {when}; queues grow. Raise the rate or lower workload.load."
    );
    assert_eq!(over.answer, says);
    assert!(over.warnings[0].words.ends_with(" (at rate 6)"), "{:?}", over.warnings);
    let full = of(&[14, 24], 30).answer;
    assert!(
        full.starts_with(&format!(
            "Nearly full at 1 of 2 points looked at, of 30, worst at rate 14: {fullest} 85.7 %"
        )),
        "{full}"
    );
}

#[test]
fn the_least_time_of_a_request_is_in_round_trips() {
    // The handshake and the request, the request alone, a handshake of TLS as well, and a tunnel, which does without it.
    let tls = "leg.0.tls={ version = \"1.3\" }";
    for (overrides, least) in [
        (&[][..], "240 ms"),
        (&["leg.0.carrier={ kind = \"http/1.1\" }"][..], "120 ms"),
        (&[tls][..], "360 ms"),
        (&[tls, "clients.tunnels={ tls = {} }"][..], "240 ms"),
    ] {
        let says = format!("No request can take less than {least}.");
        assert!(answer(overrides).ends_with(&says), "{overrides:?}");
    }
    let behind = with_cache(DRAWN, &[]);
    assert!(answer(&behind).ends_with("No request to the servers can take less than 240 ms."));
}

fn rows(overrides: &[&str]) -> Vec<(String, String)> {
    let check = steady(overrides);
    check.said().rows.into_iter().map(|Row(label, words)| (label, words)).collect()
}

fn limits(overrides: &[&str], label: &str) -> Vec<String> {
    rows(overrides).into_iter().filter(|(name, _)| name == label).map(|(_, words)| words).collect()
}

const LINUX: &str = "leg.0.tcp={ profile = \"linux\" }";

#[test]
fn a_scenario_that_asks_for_ecn_says_which_links_mark() {
    let ecn = "leg.0.tcp={ profile = \"linux\", constants = { ecn = \"request\" } }";
    let found = limits(&[ecn, "path.link.0.up.queue=fq-codel"], "ECN");
    assert_eq!(found, ["both ends ask; link 0 up (fq-codel)"]);
}

#[test]
fn uploads_have_a_limit_of_their_own() {
    // By the credit that the server grants in 120 ms: of 65,536 B 4.53 Mbit/s of packets, by halves 7.6 ms later.
    let of = |server: &str| {
        let carrier = format!("leg.0.carrier={{ kind = \"http/2\", server = {{ preset = \"{server}\" }} }}");
        limits(&[LINUX, &carrier], "limit up")
    };
    let credit = |rate: &str| [format!("{rate} Mbit/s an upload, of 34.4 Mbit/s (credit of the carrier)")];
    assert_eq!(of("rfc-default"), credit("4.26"), "of the connection, by halves");
    assert_eq!(of("nginx-unbuffered"), credit("4.53"), "of the stream, as it is read");
    assert_eq!(of("nginx"), [""; 0]);
}

#[test]
fn losses_limit_cubic_and_not_bbr() {
    let of = |control: &str, way: &str, share: f64, label: &str| {
        let loss = format!("path.link.0.{way}.loss={{ kind = \"bernoulli\", probability = {share} }}");
        let tcp = format!(
            "leg.0.tcp={{ profile = \"linux\", constants = {{ congestion_control = \"{control}\" }} }}"
        );
        limits(&[&loss, &tcp], label).pop().unwrap_or_default()
    };
    assert!(of("cubic", "down", 0.01, "limit").ends_with("(losses); 31 fill it"));
    assert_eq!(of("cubic", "down", 0.01, "losses"), "");
    let none = of("bbr", "down", 0.01, "losses");
    assert!(none.starts_with("no limit: BBR sends at the rate that it measures"));
    assert!(!of("bbr", "down", 0.01, "limit").contains("losses"));
    assert_eq!((of("bbr", "up", 0.01, "losses"), of("bbr", "up", 0.01, "losses up")), (String::new(), none));
    let many = "a limit without an estimate: BBR takes 20 % lost for a policer's losses";
    assert_eq!(
        (of("bbr", "down", 0.2, "losses").as_str(), of("bbr", "down", 0.2, "limit").as_str()),
        (many, "")
    );
}

#[test]
fn a_credit_of_a_session_limits_a_response() {
    // More than half of 4096 B, in fragments, and of 65,535 B in 120 ms, with 1500 B on the wire for 1448 B.
    let credit = "client = { session_credit = \"65535 B\", connection_credit = \"15 MB\" }";
    for (carrier, limit) in [
        ("kind = \"webmux\"".to_owned(), "176 kbit/s a response, of 34.4 Mbit/s (credit of the carrier)"),
        (
            format!("kind = \"http/2\", {credit}"),
            "2.26 Mbit/s a response, of 34.4 Mbit/s (credit of the carrier)",
        ),
        ("kind = \"http/1.1\"".to_owned(), "none: a connection can carry 978 Mbit/s"),
    ] {
        assert_eq!(limits(&[LINUX, &format!("leg.0.carrier={{ {carrier} }}")], "limit"), [limit]);
    }
}
