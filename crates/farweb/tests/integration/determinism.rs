//! The same scenario and seed give the same rows; a recorder changes none.

use crate::run::{Asked, e3, on_leg, one_link, run};

const LOSSY: &str = r#"
    up = { rate = "2 Mbit/s", delay = "60 ms", queue = "20 packets" }
    down = { rate = "2 Mbit/s", delay = "60 ms", queue = "20 packets", loss = { kind = "bernoulli", probability = 0.02 } }
"#;

fn burst() -> Vec<Asked> {
    (0..60).map(|n| Asked(n * 40_000_000, 300, 2_000 + 1_700 * n, n * 5_000_000)).collect()
}

#[test]
fn one_seed_gives_one_result() {
    let scenario = one_link(LOSSY, "", "[record]\nlinks_every = \"1 s\"\npackets = \"all\"");
    assert_eq!(run(&scenario, 5, burst()).0, run(&scenario, 5, burst()).0);
    assert_ne!(run(&scenario, 5, burst()).0["requests"], run(&scenario, 6, burst()).0["requests"]);
}

#[test]
fn recording_does_not_change_what_is_recorded() {
    let bare = one_link(LOSSY, "", "");
    let bare = run(&bare, 5, burst()).0;
    for points in [r#"["ends"]"#, r#"["link 0"]"#, r#"["ends", "link 0 up", "link 0 down"]"#] {
        let record = format!("[record]\nlinks_every = \"7 ms\"\npackets = \"all\"\npoints = {points}");
        let full = run(&one_link(LOSSY, "", &record), 5, burst()).0;
        assert!(full.contains_key("packets"));
        assert_eq!(bare["requests"], full["requests"]);
        assert_eq!(bare["connections"], full["connections"]);
    }
}

/// A recorded connection has its segments wait for the end of a call; the others put theirs into the link at once.
#[test]
fn segments_that_nobody_watches_go_the_same_way() {
    let recorded = "[record]\npackets = \"all\"";
    for profile in [
        r#"profile = "bsd44-lite", constants = { source_quench = true }"#, // hears of segments that the link refuses
        r#"profile = "linux""#,
    ] {
        for carrier in
            [r#"{ kind = "http/1.0" }"#, r#"{ kind = "http/1.1", per_host = 4 }"#, r#"{ kind = "http/2" }"#]
        {
            let rows = |record| {
                let leg = format!("carrier = {carrier}\ntcp = {{ {profile} }}");
                run(&on_leg(LOSSY, &leg, record), 5, burst()).0
            };
            let (plain, watched) = (rows(""), rows(recorded));
            assert_eq!(plain["requests"], watched["requests"], "{profile} {carrier}");
            assert_eq!(plain["connections"], watched["connections"], "{profile} {carrier}");
        }
    }
}

#[test]
fn a_quiet_path_keeps_its_results_on_other_seeds_up_to_the_tick_phases() {
    let scenario = one_link(&e3(60, 60), "", "");
    let first_byte =
        |seed| run(&scenario, seed, vec![Asked(0, 300, 1000, 0)]).0["requests"]["first_byte_ns"].clone();
    assert_eq!(first_byte(1), first_byte(2));
}
