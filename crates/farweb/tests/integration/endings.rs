//! Ends of requests and runs: all done, cut off, refused by a dead link. Nothing is lost on the way.

use farweb::record::{Failure, Status};

use crate::run::{Asked, codes, e3, ints, one_link, run};

const SECOND: i64 = 1_000_000_000;

#[test]
fn a_run_ends_when_all_is_answered_and_not_after_time_wait() {
    let scenario = one_link(&e3(60, 60), "", "");
    let (tables, progress) =
        run(&scenario, 1, vec![Asked(0, 300, 5000, 0), Asked(SECOND as u64, 300, 5000, 0)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32; 2]);
    assert!(progress.now.as_secs_f64() < 3.0, "it took {}", progress.now);
    assert!(ints(&tables, "connections", "close_ns").iter().all(|closed| *closed > 0));
}

#[test]
fn a_run_that_is_cut_off_says_what_is_unfinished() {
    let scenario = one_link(&e3(60, 60), "", "[run]\nuntil = \"2 s\"");
    let (tables, progress) =
        run(&scenario, 1, vec![Asked(0, 300, 5000, 0), Asked(SECOND as u64, 300, 50_000_000, 0)]);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32, Status::Unfinished as i32]);
    assert_eq!(progress.now.as_nanos() as i64, 2 * SECOND);
    let nulls = ints(&tables, "requests", "end_ns").iter().filter(|end| **end == i64::MIN).count();
    assert_eq!(nulls, 1);
}

/// SYNs at 0, 5.5 to 6 and 29.5 to 30 s, then the connection timer: 75 s less up to a tick.
#[test]
fn a_dead_link_fails_the_request_after_the_connection_timer() {
    let dead = r#"
        up = { rate = "1 Mbit/s", delay = "60 ms", loss = { kind = "bernoulli", probability = 1.0 } }
        down = { rate = "1 Mbit/s", delay = "60 ms" }
    "#;
    for seed in 0..20 {
        let scenario = one_link(dead, "", "[record]\npackets = \"all\"");
        let (tables, progress) = run(&scenario, seed, vec![Asked(0, 300, 5000, 0)]);
        assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32]);
        assert!((74.5..=75.0).contains(&progress.now.as_secs_f64()), "failed at {}", progress.now);
        let sends: Vec<_> =
            ints(&tables, "packets", "time_ns").iter().step_by(2).map(|at| *at as f64 / 1e9).collect();
        assert_eq!((sends.len(), sends[0]), (3, 0.0));
        assert!((5.5..=6.0).contains(&sends[1]) && (29.5..=30.0).contains(&sends[2]), "SYNs at {sends:?}");
    }
}

/// The second segment of the response never arrives. Its server has closed and sends it again eight times, the last time 255
/// timeouts after the first. 256 later it gives up without a word (`tcp_orphan_retries`). The client waits on, but the request
/// has failed, however long the run is.
#[test]
fn a_server_that_gives_up_in_silence_leaves_its_client_waiting() {
    let link = r#"
        up = { rate = "unlimited", delay = "1 ms" }
        down = { rate = "unlimited", delay = "1 ms", loss = { kind = "list", drop = ["data 2..100"] } }
    "#;
    let tcp = "tcp = { profile = \"linux-classic\" }";
    for until in ["done", "1 h"] {
        let rest = format!("[run]\nuntil = \"{until}\"\n[record]\npackets = \"all\"");
        let (tables, progress) = run(&one_link(link, tcp, &rest), 1, vec![Asked(0, 300, 2000, 0)]);
        assert_eq!(codes(&tables, "requests", "status"), [Status::Failed as i32]);
        assert_eq!(
            codes(&tables, "requests", "failure"),
            [Failure::ServerGaveUp as i32],
            "what the client never learns"
        );
        assert_eq!(ints(&tables, "connections", "retransmits"), [8]);
        // The timeout is at least 200 ms, and its timer is late by less than an eighth.
        let last = *ints(&tables, "packets", "time_ns").last().expect("packets are recorded") as f64 / 1e9;
        assert!((51.0..57.4).contains(&last), "last sent at {last} s");
        let given_up = ints(&tables, "requests", "failed_ns")[0] as f64 / 1e9;
        assert!((102.2..115.0).contains(&given_up), "given up at {given_up} s");
        if until == "done" {
            assert_eq!(progress.now.as_secs_f64(), given_up);
        }
    }
}

/// Packets sent at both ends = carried + dropped, on a link that loses some and overflows.
#[test]
fn every_packet_is_carried_or_dropped() {
    let tight = r#"
        up = { rate = "2 Mbit/s", delay = "30 ms", queue = "6 packets", loss = { kind = "bernoulli", probability = 0.01 } }
        down = { rate = "2 Mbit/s", delay = "30 ms", queue = "9000 B", loss = { kind = "gilbert-elliott", good_to_bad = 0.01, bad_to_good = 0.3 } }
    "#;
    let scenario = one_link(tight, "", "[record]\nlinks_every = \"1 s\"");
    let requests: Vec<_> = (0..200).map(|n| Asked(n * 50_000_000, 300, 500 + 311 * n, 0)).collect();
    let (tables, _) = run(&scenario, 3, requests);
    assert_eq!(codes(&tables, "requests", "status"), [Status::Done as i32; 200]);
    let sum = |values: Vec<i64>| values.iter().sum::<i64>();
    for (direction, sent) in [(0, "segments_up"), (1, "segments_down")] {
        let of_direction = |column| {
            let rows = ints(&tables, "links", column).iter().zip(codes(&tables, "links", "direction"));
            sum(rows.filter(|(_, code)| **code == direction).map(|(value, _)| *value).collect())
        };
        assert!(of_direction("drops") > 0);
        assert_eq!(
            sum(ints(&tables, "connections", sent).to_vec()),
            of_direction("packets") + of_direction("drops")
        );
    }
}
