//! The measured interval: where it begins and ends, and what the links did in it, to the nanosecond.

use farweb::units::{BitRate, Bytes, Duration, Instant};
use farweb::world::{Direction, LinkTotals, Measured, World};

use crate::run::{Asked, Listed, e3, ints, one_link, run};

const MS: u64 = 1_000_000;

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> u64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos()
}

/// Time when the link begins to send the only segment of the response to a request of 300 B at 0.
fn answered() -> u64 {
    60 * MS + ser(44) + 60 * MS + ser(44) + 60 * MS + ser(40 + 340)
}

/// The measured interval of a run with these keys of `[run]`, and the end of the run. Requests with responses of 1460 B
/// start at `starts`.
fn measured(run: &str, starts: &[u64]) -> (Measured, Instant) {
    let rest = format!("[origin]\nrelease = \"at-once\"\n[run]\n{run}");
    let scenario = one_link(&e3(60, 60), "", &rest);
    let mut world = World::new(&scenario, 1, farweb::workload::Directory::default());
    let requests: Vec<Asked> = starts.iter().map(|start| Asked(*start, 300, 1460, 0)).collect();
    let progress = world.advance(&mut Listed(requests.into_iter()), u64::MAX).unwrap();
    assert!(progress.done);
    (world.measured(), progress.now)
}

fn interval(run: &str, starts: &[u64]) -> (u64, u64) {
    let (measured, end) = measured(run, starts);
    for link in &measured.links {
        assert_eq!((link.stats.from, link.stats.to), (measured.from, measured.to));
    }
    let to = if measured.to == end { u64::MAX } else { measured.to.as_nanos() };
    (measured.from.as_nanos(), to)
}

fn down(measured: &Measured) -> &LinkTotals {
    let way = &measured.links[1];
    assert_eq!((way.link, way.direction), (0, Direction::Down));
    way
}

const TO_THE_END: u64 = u64::MAX;

#[test]
fn it_goes_from_the_warm_up_to_the_last_start() {
    let starts = [0, 500 * MS, 700 * MS, 900 * MS];
    assert_eq!(interval("", &starts), (0, 900 * MS));
    assert_eq!(interval("warmup = \"600 ms\"", &starts), (600 * MS, 900 * MS));
    // A start at the end of the warm-up is in it.
    assert_eq!(interval("warmup = \"700 ms\"", &starts), (700 * MS, 900 * MS));
    assert_eq!(interval("warmup = \"600 ms\"\nmeasure = \"whole\"", &starts), (600 * MS, TO_THE_END));
}

#[test]
fn without_arrivals_it_goes_to_the_end_of_the_run() {
    assert_eq!(interval("", &[0]), (0, TO_THE_END));
    assert_eq!(interval("", &[500 * MS]), (0, TO_THE_END));
    assert_eq!(interval("", &[500 * MS, 500 * MS]), (0, TO_THE_END));
    assert_eq!(interval("warmup = \"600 ms\"", &[0, 700 * MS]), (600 * MS, TO_THE_END));
    // After the last start, and before the end.
    assert_eq!(interval("warmup = \"200 ms\"", &[0, 100 * MS]), (200 * MS, TO_THE_END));
}

#[test]
fn a_run_that_ends_within_the_warm_up_is_measured_whole() {
    assert_eq!(interval("warmup = \"1 h\"", &[0, 100 * MS]), (0, TO_THE_END));
    assert_eq!(interval("until = \"2 s\"\nwarmup = \"2 s\"", &[0, 100 * MS]), (0, TO_THE_END));
    let (none, _) = measured("warmup = \"1 h\"", &[]);
    assert_eq!((none.from, none.to), (Instant::ZERO, Instant::ZERO));
}

#[test]
fn a_run_that_is_cut_off_is_measured_to_its_end() {
    assert_eq!(interval("until = \"2 s\"", &[0, 100 * MS, 5_000 * MS]), (0, TO_THE_END));
    // Nothing happens between the last event and the end, the end of the warm-up included.
    let (quiet, _) = measured("until = \"900 s\"\nwarmup = \"600 s\"", &[0, 100 * MS]);
    assert_eq!(
        (quiet.from, quiet.to),
        (Instant::from_nanos(600_000 * MS), Instant::from_nanos(900_000 * MS))
    );
    assert!(
        quiet.links.iter().all(|link| link.stats.bytes == Bytes::ZERO && link.stats.busy == Duration::ZERO)
    );
}

#[test]
fn a_packet_in_transmission_counts_for_the_time_that_lies_in_the_interval() {
    // The warm-up ends 100 µs into the segment, and the last request starts 200 ns before its end: its FIN waits behind it.
    let (begin, end) = (answered() + 100_000, answered() + ser(1500) - 200);
    let second = answered() + 150_000;
    let (inside, _) = measured(&format!("warmup = \"{begin} ns\""), &[0, second, end]);
    assert_eq!((inside.from.as_nanos(), inside.to.as_nanos()), (begin, end));
    let stats = down(&inside).stats;
    assert_eq!((stats.busy.as_nanos(), stats.packets, stats.busy_share()), (end - begin, 0, 1.0));
    let held = stats.queue_bytes_max.get();
    assert!(held >= 1500, "{held} B");
    assert_eq!(stats.queue_byte_nanos, u128::from(held) * u128::from(end - begin));

    // Two nanoseconds after the end of the segment it has been carried. What waited behind it is on the wire.
    let late = answered() + ser(1500) + 2;
    let (past, _) = measured(&format!("warmup = \"{begin} ns\""), &[0, second, late]);
    let stats = down(&past).stats;
    assert_eq!((stats.packets, stats.bytes), (1, Bytes::new(1500)));
    let behind = held - 1500;
    let busy = if behind == 0 { late - 2 - begin } else { late - begin };
    assert_eq!(stats.busy.as_nanos(), busy);
    assert_eq!(
        stats.queue_byte_nanos,
        u128::from(held) * u128::from(late - 2 - begin) + u128::from(behind) * 2
    );
}

#[test]
fn an_idle_link_before_the_first_answer_is_idle() {
    // Nothing but the SYN|ACK, 44 B, has come down when the second request starts.
    let last = 120 * MS + 2 * ser(44);
    let (before, _) = measured("", &[0, last]);
    let stats = down(&before).stats;
    assert_eq!((stats.bytes, stats.busy.as_nanos()), (Bytes::new(44), ser(44)));
    assert_eq!(stats.queue_byte_nanos, 44 * u128::from(ser(44)));
    assert_eq!(stats.queue_bytes_mean(), 44.0 * ser(44) as f64 / last as f64);
}

/// Requests that start, pass a path without any delay and end at the very end of a recording interval belong to that interval.
#[test]
fn what_happens_at_the_end_of_an_interval_belongs_to_it() {
    let link =
        "up = { rate = \"unlimited\", delay = \"0 ms\" }\ndown = { rate = \"unlimited\", delay = \"0 ms\" }";
    let rest = "[run]\nuntil = \"2 s\"\n[record]\nlinks_every = \"1 s\"";
    let requests = [500 * MS, 1000 * MS, 2000 * MS].map(|start| Asked(start, 300, 1460, 0));
    let (tables, _) = run(&one_link(link, "", rest), 1, requests.to_vec());
    assert_eq!(ints(&tables, "links", "time_ns"), [1, 1, 2, 2].map(|second| second * 1_000_000_000));
    for (column, direction) in [("segments_up", 0), ("segments_down", 1)] {
        let sent = ints(&tables, "connections", column)[0];
        let passed: Vec<_> =
            ints(&tables, "links", "packets").iter().skip(direction).step_by(2).copied().collect();
        assert_eq!(passed, [2 * sent, sent], "{column}");
    }
    assert_eq!(ints(&tables, "legs", "open_max"), [1, 1]);
}
