//! Offered loads in closed form, copies, and warnings.

use super::*;

#[test]
fn a_response_has_a_header_a_segment_and_an_acknowledgement_for_two() {
    let check = check([(0.5, 146_000), (1.2, 1461), (90.0, 1460)], &[]);
    let load = check.offered().unwrap();
    let [up, down] = &load.links[..] else { panic!("two directions") };
    let segments = [100.0, 2.0, 1.0];
    assert_eq!(down.second_bps, Some(8.0 * (146_000.0 + 40.0 * segments[0] + OPENING)));
    near(
        down.minute_bps.unwrap(),
        8.0 * (147_461.0 + 40.0 * (segments[0] + segments[1]) + 2.0 * OPENING) / 60.0,
    );
    near(down.mean_bps, 8.0 * (148_921.0 + 40.0 * segments.iter().sum::<f64>() + 3.0 * OPENING) / 89.5);
    assert_eq!(up.second_bps, Some(8.0 * (340.0 + 40.0 * 50.0 + OPENING)));
    assert_eq!((load.requests, load.load, texts(&check).len()), (3, 1.0, 0));
}

#[test]
fn connections_open_where_none_lies_idle_and_tls_opens_with_its_flight() {
    let down = |starts: &[f64], overrides: &[&str]| {
        let check = check(starts.iter().map(|start| (*start, 1460)), overrides);
        let load = last(&check);
        (load.minute_bps.unwrap() * 60.0 / 8.0 - 1500.0 * starts.len() as f64) / OPENING
    };
    let kept = "leg.0.carrier={ kind = \"http/1.1\", idle_timeout = \"15 s\" }";
    near(down(&[0.0, 5.0, 20.0], &[kept]), 1.0);
    near(down(&[0.0, 0.1, 5.0], &[kept]), 2.0);
    near(down(&[0.0, 30.0], &[kept]), 2.0);
    let h2 = "leg.0.carrier={ kind = \"http/2\" }";
    near(down(&[0.0, 0.1, 5.0], &[h2]), 1.0);
    let tls = down(&[0.0], &["leg.0.tls={ version = \"1.3\" }"]);
    let report = check([(0.0, 1)], &["leg.0.tls={ version = \"1.3\" }"]).report;
    let flight = report.legs[0].handshakes.last().unwrap().down.bytes;
    // An ACK of the client's flight and a ticket besides.
    near(tls * OPENING, OPENING + (flight + 40 * (flight.div_ceil(1460) + 2)) as f64);
}

#[test]
fn copies_lie_over_each_other_as_a_run_lays_them() {
    let load = |overrides: &[&str]| {
        check((0..12).map(|n| (10.0 * f64::from(n), 1460)), overrides).offered().unwrap().clone()
    };
    let second =
        |overrides: &[&str]| load(overrides).links[1].second_bps.unwrap() / (8.0 * (1500.0 + OPENING));
    assert_eq!(second(&["workload.load=3", "workload.copies_offset=0 s"]), 3.0);
    assert_eq!(second(&["workload.load=3", "workload.copies_offset=1 s"]), 1.0);
    assert_eq!(second(&["workload.load=3", "workload.copies_offset=5 s", "workload.period=120 s"]), 2.0);
    assert_eq!(second(&["workload.speed=10"]), 1.0);
    assert_eq!(second(&["workload.speed=20"]), 2.0);
    let apart = load(&["workload.load=2", "workload.copies_offset=200 s"]);
    assert_eq!((apart.span_s, apart.requests), (310.0, 24));
    let cut = load(&["run.until=35 s"]);
    near(cut.links[1].mean_bps, 8.0 * 4.0 * (1500.0 + OPENING) / 60.0);
    let rate = load(&["workload.scale=rate", "workload.load=2.5"]);
    assert_eq!((rate.requests, rate.load), (30, 2.5));
    near(rate.links[1].mean_bps, 2.5 * load(&[]).links[1].mean_bps);
}

#[test]
fn days_lie_over_each_other_before_they_come_again() {
    let rows = "0,a,300,1460,2\n0,a,300,1460,9\n5,a,300,1460,9\n";
    let seconds = |load: &str| {
        let check = checked(&format!("{HEAD},day"), rows, &[load, "workload.copies_offset=100 s"]);
        let load = check.offered().unwrap().clone();
        (load.links[1].second_bps.unwrap() / (8.0 * (1500.0 + OPENING)), load.span_s)
    };
    assert_eq!(seconds("workload.load=1"), (1.0, 5.0));
    assert_eq!(seconds("workload.load=2"), (2.0, 5.0));
    assert_eq!(seconds("workload.load=3"), (2.0, 105.0));
}

#[test]
fn more_than_80_percent_in_a_minute_is_warned_of() {
    let limit = 0.8 * 34.368e6 * 60.0 / 8.0;
    let of = |part: f64| check([(0.0, (limit / 1500.0 * 1460.0 * part) as u64), (3600.0, 1000)], &[]);
    assert_eq!(texts(&of(0.99)), [""; 0]);
    let warning = &texts(&of(1.01))[0];
    assert!(
        warning.starts_with("path.link.0.down.rate: the workload offers 27.8 Mbit/s in the busiest minute")
    );
    assert!(warning.contains("80.8 % of 34.4 Mbit/s"), "{warning}");
}

#[test]
fn a_minute_is_held_against_the_rate_that_the_link_has_then() {
    // 12 and then 10 Mbit/s for a minute each, over 30 Mbit/s that fall to 8 in the second one: 19 on average.
    let rows = || {
        (0..120)
            .map(|second| (f64::from(second), 1460 * if second < 60 { 1000 } else { 834 } - OPENING as u64))
    };
    let steady = check(rows(), &[]);
    assert_eq!((texts(&steady).len(), last(&steady).minute_bps), (0, Some(12e6)));
    let keys = ["path.link.0.down.rate=30 Mbit/s", "run.until=120 s"];
    let steps = "path.link.0.down.steps=[{ at = \"60 s\", rate = \"8 Mbit/s\" }]";
    let stepped = check(rows(), &[&keys[..], &[steps]].concat());
    let down = last(&stepped);
    assert_eq!((down.rate_bps, down.minute_rate_bps, down.minute_from_s), (19e6, Some(8e6), Some(60.0)));
    near(down.minute_bps.unwrap(), 10.008e6);
    let says =
        "10.0 Mbit/s in the busiest minute (from 60 s on), 125 % of a mean of 8 Mbit/s (on average 58.4 %)";
    assert!(texts(&stepped)[0].contains(says));
    let silent = "path.link.0.down.outage=[{ at = \"60 s\", lasts = \"60 s\" }]";
    let silent = check(rows(), &[&keys[..], &[silent]].concat());
    assert!(texts(&silent)[0].contains("(from 60 s on), while it carries nothing (on average 74.0 %)"));
}

#[test]
fn copies_within_a_burst_are_warned_of() {
    // Four hours with a burst of ten minutes: 20 copies 37 s apart all burst within twenty minutes.
    let burst = |minute| if (60..70).contains(&minute) { 100_000 } else { 1000 };
    let rows = || (0..240).map(|minute| (60.0 * f64::from(minute), burst(minute)));
    let found = texts(&check(rows(), &["workload.load=20"]));
    assert!(
        found[0].starts_with("workload.copies_offset: 37 s keeps the bursts of 20 copies together"),
        "{found:?}"
    );
    assert!(found[0].contains("period = \"14341 s\" and copies_offset = \"717 s\""));
    let spread = ["workload.load=20", "workload.period=14341 s", "workload.copies_offset=717 s"];
    assert_eq!(texts(&check(rows(), &spread)), [""; 0]);
    assert_eq!(texts(&check(rows(), &[])), [""; 0]);
    let even = (0..240).map(|minute| (60.0 * f64::from(minute), 10_000));
    assert_eq!(texts(&check(even, &["workload.load=20"])), [""; 0]);
}

#[test]
fn copies_that_stretch_a_short_log_are_warned_of() {
    // A minute: the last of 8 copies starts 259 s later, so 8 times the requests take 319 s.
    let of = |more: &[&str]| {
        let check =
            check((0..61).map(|second| (f64::from(second), 1000)), &[&["workload.load=8"], more].concat());
        (check.offered().unwrap().rate_multiple, texts(&check))
    };
    let (multiple, found) = of(&[]);
    near(multiple, 8.0 * 60.0 / 319.0);
    assert!(
        found[0].starts_with(
            "workload.load: 8 is 1.5 times the rate of requests: 8 copies start each 37 s later"
        )
    );
    assert!(found[0].ends_with("write period = \"61 s\" and copies_offset = \"8 s\""));
    assert_eq!(of(&["workload.period=61 s", "workload.copies_offset=8 s"]), (8.0, vec![]));
    let (multiple, found) = of(&["workload.scale=rate"]);
    near(multiple, 8.0 * 60.0 / 97.0);
    assert!(found[0].ends_with("write copies_offset = \"1 s\""));
}

#[test]
fn a_drawn_cache_takes_its_share_off_the_links_behind() {
    let load = check([(0.0, 1460)], &with_cache(DRAWN, &[])).offered().unwrap().clone();
    let down = load.links.iter().skip(1).step_by(2).map(|link| link.second_bps.unwrap() / (1500.0 + OPENING));
    assert_eq!(down.collect::<Vec<_>>(), [8.0, 6.0]);
}

#[test]
fn behind_a_live_cache_load_has_two_bounds() {
    // First requests, POST, requests behind a POST that gave a copy up, and tunnels are no hits of any cache.
    let methods = ["GET a", "GET a", "POST b", "GET b", "POST b", "GET b", "CONNECT c", "HEAD a", "GET a"];
    let rows = methods.iter().enumerate().map(|(second, row)| {
        let (method, object) = row.split_once(' ').unwrap();
        format!("{second},a.example,300,1460,{object},{method}\n")
    });
    let rows: String = rows.collect();
    let bounds = |overrides: &[&str]| {
        let check = checked(&format!("{HEAD},object,method"), &rows, overrides);
        let load = last(&check);
        [load.minute_bps.unwrap(), load.least_minute_bps]
            .map(|bps| (bps * 60.0 / 8.0).round() / (1500.0 + OPENING))
    };
    assert_eq!(bounds(&with_cache(LIVE, &[])), [9.0, 6.0]);
    // Copies ask for the same objects: three are first, three are for no cache in each.
    let copies = ["workload.load=2", "workload.copies_offset=10 s"];
    assert_eq!(bounds(&with_cache(LIVE, &copies)), [18.0, 9.0]);
    let renamed = [copies[0], copies[1], "workload.copies_hosts=renamed"];
    assert_eq!(bounds(&with_cache(LIVE, &renamed)), [18.0, 12.0]);
    // A draw answers a fourth of those that a copy may serve.
    assert_eq!(bounds(&with_cache(DRAWN, &[])), [7.5, 7.5]);
}

#[test]
fn requests_for_objects_with_several_sizes_are_counted_behind_a_live_cache() {
    let rows = ["1000,a", "500,b", "1000,a", "1200,a", "500,b", "300,", "1000,a"];
    let rows: String =
        rows.iter().enumerate().map(|(second, row)| format!("{second},a,300,{row}\n")).collect();
    let of = |cache| checked(&format!("{HEAD},object"), &rows, &with_cache(cache, &[]));
    let live = of(LIVE);
    assert_eq!(live.figures().requests_of_several_sizes, Some(4));
    assert!(texts(&live)[0].starts_with("cache: 4 of 7 requests (57.1 %) are for"));
    assert_eq!((of(DRAWN).figures().requests_of_several_sizes, texts(&of(DRAWN)).len()), (Some(0), 0));
}

#[test]
fn a_tunnel_is_spread_over_its_life_up_to_its_end() {
    // 6 MB over ten minutes: a tenth in each.
    let of = |rows: &str| {
        let check = checked(&format!("{HEAD},method,server_s"), rows, &[]);
        let load = last(&check);
        [load.minute_bps.unwrap() * 60.0, load.mean_bps].map(|bits| bits / 8.0)
    };
    let whole = (6_000_000 + 40 * 6_000_000_u64.div_ceil(1460)) as f64 + OPENING;
    let (few, tunnel) = ("599,a,300,1460,GET,\n", "0,a,300,6000000,CONNECT,");
    near(of(&format!("{tunnel}600\n{few}"))[0], whole * 60.0 / 601.0 + 1500.0 + OPENING);
    near(of(&format!("{tunnel}\n{few}"))[0], whole);
    near(of(&format!("{tunnel}600\n60{}600\n", &tunnel[1..]))[0], 2.0 * whole * 60.0 / 601.0);
    // 15 MB over half a minute go on behind the last request, a second after them.
    let [minute, mean] = of("0,a,300,15000000,CONNECT,30\n1,a,300,1460,GET,\n");
    let whole = (15_000_000 + 40 * 15_000_000_u64.div_ceil(1460)) as f64 + 1500.0 + 2.0 * OPENING;
    near(minute, whole);
    near(mean, whole / 60.0);
}

#[test]
fn requests_count_that_start_before_the_run_ends() {
    // 8 at once in second 2, one in each of the others, half a second on.
    let rows = || {
        let many = std::iter::repeat_n(2.0, 8);
        (0..2).map(|n| f64::from(n) + 0.5).chain(many).chain((2..20).map(|n| f64::from(n) + 0.5))
    };
    let rows = || rows().map(|start| (start, 1000));
    let of = |overrides: &[&str]| check(rows(), overrides).extent.unwrap().requests;
    assert_eq!(of(&["run.until=2 s"]), 10, "those that start with the run's last instant");
    assert_eq!(of(&["run.until=5 s"]), 13);
    assert_eq!(of(&["run.until=5 s", "workload.load=2", "workload.copies_offset=2 s"]), 13 + 11);
    let turned = ["workload.load=2", "workload.copies_offset=18 s", "workload.period=20 s"];
    assert_eq!(of(&[&turned[..], &["run.until=5 s"]].concat()), 13 + 2 + 11);
    assert_eq!(of(&["run.until=2 s", "workload.speed=2"]), 12);
    assert_eq!(of(&["run.until=1 h"]), 28);
    let before = check(rows(), &["run.until=1 ms"]);
    let says = "The load was not held against the path: no request starts before run.until. ";
    assert!(before.said().answer.starts_with(says), "{}", before.said().answer);
}

#[test]
fn acknowledgements_come_no_faster_than_the_link_that_they_are_for() {
    // A tenth of a gigabyte at once over 2 Mbit/s: an ACK of 40 B for each 3000 B, over 400 s.
    let of = |rate: &str| {
        let rates = format!("path.link.0.down.rate={rate}");
        let overrides = ["leg.0.carrier={ kind = \"http/1.1\" }", "path.link.0.up.rate=1 Mbit/s", &rates];
        let check = check([(0.0, 100_000_000), (300.0, 1)], &overrides);
        let up = &check.offered().unwrap().links[0];
        [up.minute_bps.unwrap(), up.mean_bps]
    };
    let about = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} is not {expected}");
    };
    let (pace, request) = (2e6 * 40.0 / 3000.0, 8.0 * 340.0);
    let [minute, mean] = of("2 Mbit/s");
    about(minute, pace + request / 60.0);
    about(mean, pace + 2.0 * request / 300.0);
    let acks = 8.0 * 40.0 * f64::from(100_000_000_u32.div_ceil(1460)) / 2.0;
    about(of("unlimited")[0], acks / 60.0 + request / 60.0);
}

#[test]
fn what_a_run_refuses_is_refused() {
    let of = |rows: &str, overrides: &[&str]| {
        let scenario = cable_with(overrides).unwrap();
        let text = format!("{HEAD}\n{rows}\n").into_bytes();
        let prepared = Prepared::of_bytes("requests.csv".into(), text, None).unwrap();
        Check::of(&scenario, None, &prepared, Imported::default(), None).err().map(|error| error.to_string())
    };
    let period = of("0,a,300,1000\n30,a,300,1000", &["workload.period=20 s"]).unwrap();
    assert!(period.starts_with("workload.period: found 20 s, but a request starts 30 s after"), "{period}");
    let twice = ["workload.period=20 s", "workload.speed=2"];
    assert_eq!(of("0,a,300,1000\n30,a,300,1000", &twice), None);
    let empty = of("0,a,300,1000\n30,a,0,1000", &[]).unwrap();
    assert!(
        empty.starts_with("request table: column request_bytes: found 0 for the request at 30.0"),
        "{empty}"
    );
    assert_eq!(of("0,a,300,1000\n30,a,0,1000", &["run.until=20 s"]), None);
}

#[test]
fn samples_stay_at_a_rate_below_1() {
    // Of 10 requests 4 are tagged, with 4 of 16 parts of the bytes.
    let rows =
        |n| format!("{n},a,300,{},{}\n", if n < 4 { 1460 } else { 2920 }, if n < 4 { "sample" } else { "" });
    let rows: String = (0..10).map(rows).collect();
    let of = |load: &str| {
        let overrides = ["workload.scale=rate", load, "leg.0.carrier={ kind = \"http/1.1\" }"];
        let check = checked(&format!("{HEAD},tag"), &rows, &overrides);
        (check.extent.as_ref().unwrap().requests, last(&check).minute_bps.unwrap() * 60.0 / (8.0 * 1500.0))
    };
    let opening = OPENING / 1500.0; // by the first, a sample
    for (load, requests, segments) in
        [("0.5", 4.0 + 3.0, 4.0 + 6.0 + opening), ("2", 20.0, 32.0 + 2.0 * opening)]
    {
        let (found, bytes) = of(&format!("workload.load={load}"));
        assert_eq!(found as f64, requests);
        near(bytes, segments);
    }
}

#[test]
fn days_count_by_their_own_requests() {
    let rows = "0,a,300,1460,2\n0,a,300,1460,9\n5,a,300,1460,9\n";
    let of = |load: u32| {
        let load = format!("workload.load={load}");
        checked(&format!("{HEAD},day"), rows, &[&load]).extent.unwrap().requests
    };
    assert_eq!([1, 2, 3, 4].map(of), [1, 3, 4, 6]);
}

#[test]
fn ports_of_a_host_are_28_232_towards_a_server_each_for_a_minute_behind_a_close() {
    let warned = |a_second: u32, keys: &[&str]| {
        let hosts = if keys.is_empty() { 2 } else { 1 };
        let rows = (0..60 * a_second)
            .map(|n| format!("{:.6},h{}.example,300,1000\n", f64::from(n) / f64::from(a_second), n % hosts));
        let found = checked(HEAD, &rows.collect::<String>(), &[keys, &["clients.share=all"]].concat());
        texts(&found).into_iter().find(|warning| warning.contains("ports"))
    };
    let closes = "leg.0.carrier={ kind = \"http/1.0\", closed_by = \"client\" }";
    assert_eq!(warned(470, &[closes]), None);
    let warning = warned(471, &[closes]).unwrap();
    assert!(warning.starts_with("leg.0: up to 471 connections a second to h0.example need 28,260 ports"));
    assert_eq!(warned(600, &["leg.0.carrier={ kind = \"http/1.1\" }"]), None);
    assert_eq!(warned(600, &[]), None, "servers close, and there are two");
}
