//! The same scenario and seed give the same rows. A recorder changes none.

use farweb::record::Column;
use farweb::workload::Directory;
use farweb::world::World;

use crate::run::{Asked, DISCIPLINES, Listed, Tables, codes, e3, ints, on_leg, one_link, run};

const LOSSY: &str = r#"
    up = { rate = "2 Mbit/s", delay = "60 ms", queue = "20 packets" }
    down = { rate = "2 Mbit/s", delay = "60 ms", queue = "20 packets", loss = { kind = "bernoulli", probability = 0.02 } }
"#;

/// The same link in front of each kind of queue.
fn links() -> impl Iterator<Item = String> {
    DISCIPLINES.iter().map(|queue| LOSSY.replace("\"20 packets\"", queue)).chain([LOSSY.to_owned()])
}

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
    for link in links() {
        let bare = run(&one_link(&link, "", ""), 5, burst()).0;
        for points in [r#"["ends"]"#, r#"["link 0"]"#, r#"["ends", "link 0 up", "link 0 down"]"#] {
            let record = format!("[record]\nlinks_every = \"7 ms\"\npackets = \"all\"\npoints = {points}");
            let full = run(&one_link(&link, "", &record), 5, burst()).0;
            assert!(full.contains_key("packets"));
            assert_eq!(bare["requests"], full["requests"], "{link}");
            assert_eq!(bare["connections"], full["connections"], "{link}");
        }
    }
}

/// Rows of packets stand in the order of time, also rows of drops that a queue is found to have made later. A link counts as
/// many, and a run that ends in the middle has all of them.
#[test]
fn rows_of_packets_are_the_same_however_often_they_are_taken() {
    const DROP: i32 = 2;
    for (link, until) in links().flat_map(|link| [(link.clone(), "done"), (link, "2 s")]) {
        let record = format!(
            "[run]\nuntil = \"{until}\"\n[record]\nlinks_every = \"7 ms\"\npackets = \"all\"\npoints = [\"ends\", \"link 0\"]"
        );
        let scenario = one_link(&link, "", &record);
        let whole = run(&scenario, 5, burst()).0;
        let times = ints(&whole, "packets", "time_ns");
        assert!(times.is_sorted());
        let dropped = codes(&whole, "packets", "event").iter().filter(|event| **event == DROP).count() as i64;
        assert_eq!(dropped, ints(&whole, "links", "drops").iter().sum::<i64>(), "{link}");
        let mut world = World::new(&scenario, 5, Directory::default());
        let mut source = Listed(burst().into_iter());
        let mut pieces = Vec::new();
        while !world.advance(&mut source, 7).unwrap().done {
            pieces.extend(times_of(world.take()));
        }
        pieces.extend(times_of(world.take()));
        assert_eq!(pieces, times, "{link}");
    }
}

fn times_of(tables: Vec<(&'static str, Vec<(&'static str, Column)>)>) -> Vec<i64> {
    let tables: Tables =
        tables.into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect();
    if tables.contains_key("packets") { ints(&tables, "packets", "time_ns").to_vec() } else { Vec::new() }
}

/// A recorded connection has its segments wait for the end of a call. The others put theirs into the link at once.
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
