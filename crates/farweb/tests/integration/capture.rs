//! Where packets are seen: at ends and on links, each once, in the order of time.

use std::collections::BTreeMap;

use farweb::record::{Column, NULL_INT, PacketEvent};
use farweb::workload::Directory;
use farweb::world::World;

use crate::run::{Asked, Listed, Tables, codes, e3, ints, one_link, run};

/// Packets lost by the link, and others by its queue.
const LOSSY: &str = r#"
    up = { rate = "2 Mbit/s", delay = "60 ms", queue = "20 packets" }
    down = { rate = "2 Mbit/s", delay = "60 ms", queue = "12 packets", loss = { kind = "bernoulli", probability = 0.02 } }
"#;

fn burst() -> Vec<Asked> {
    (0..40).map(|n| Asked(n * 40_000_000, 300, 2_000 + 1_700 * n, n * 5_000_000)).collect()
}

/// Number of rows in the packet table by (event, direction).
fn counts(tables: &Tables) -> BTreeMap<(i32, i32), usize> {
    let mut counts = BTreeMap::new();
    let events = codes(tables, "packets", "event").iter().zip(codes(tables, "packets", "direction"));
    for (event, direction) in events {
        *counts.entry((*event, *direction)).or_default() += 1;
    }
    counts
}

/// At 34.368 Mbit/s 44 bytes, a SYN with its MSS, take 10243 ns, 40 bytes 9311 ns, rounded up. One way takes 60 ms on top.
#[test]
fn a_tap_sees_packets_at_the_end_nearer_to_the_clients() {
    let scenario = one_link(&e3(60, 60), "", "[record]\npackets = \"all\"\npoints = [\"link 0\"]");
    let (tables, _) = run(&scenario, 1, vec![Asked(5, 300, 1000, 0)]);
    let times = ints(&tables, "packets", "time_ns");
    let (bytes_44, bytes_40, way) = (10_243, 9_311, 60_000_000);
    let syn_ack = 5 + 2 * (bytes_44 + way);
    // The ACK of the SYN|ACK is sent as that arrives.
    assert_eq!(times[..3], [5 + bytes_44, syn_ack, syn_ack + bytes_40]);
    assert!(codes(&tables, "packets", "event").iter().all(|event| *event == PacketEvent::Pass as i32));
    assert!(ints(&tables, "packets", "link").iter().all(|link| *link == 0));
    assert!(codes(&tables, "packets", "node").iter().all(|node| *node == 0));
}

/// The link's one delay lies between the two times. A tap's own time is the one at the end nearer to the clients.
#[test]
fn a_tap_knows_when_a_packet_left_and_when_it_arrives() {
    let scenario = one_link(LOSSY, "", "[record]\npackets = \"all\"\npoints = [\"ends\", \"link 0\"]");
    let (tables, _) = run(&scenario, 4, burst());
    let column = |name| ints(&tables, "packets", name);
    let (time, left, arrived) = (column("time_ns"), column("left_ns"), column("arrived_ns"));
    let (events, directions) = (codes(&tables, "packets", "event"), codes(&tables, "packets", "direction"));
    let mut received = BTreeMap::new();
    for row in 0..events.len() {
        let key = (column("connection")[row], directions[row], column("packet")[row]);
        if events[row] == PacketEvent::Receive as i32 {
            received.insert(key, time[row]);
        }
    }
    for row in 0..events.len() {
        if events[row] != PacketEvent::Pass as i32 {
            assert_eq!((left[row], arrived[row]), (NULL_INT, NULL_INT));
            continue;
        }
        assert_eq!(arrived[row] - left[row], 60_000_000);
        assert_eq!(time[row], if directions[row] == 0 { left[row] } else { arrived[row] });
        let key = (column("connection")[row], directions[row], column("packet")[row]);
        assert_eq!(received[&key], arrived[row]);
    }
}

#[test]
fn every_packet_passes_or_is_dropped_and_arrives_if_it_passes() {
    let scenario = one_link(LOSSY, "", "[record]\npackets = \"all\"\npoints = [\"ends\", \"link 0\"]");
    let (tables, _) = run(&scenario, 4, burst());
    let counts = counts(&tables);
    let count = |event: PacketEvent, direction| counts.get(&(event as i32, direction)).copied().unwrap_or(0);
    assert!(count(PacketEvent::Drop, 1) > 20);
    for direction in [0, 1] {
        assert!(count(PacketEvent::Send, direction) > 100);
        assert_eq!(
            count(PacketEvent::Send, direction),
            count(PacketEvent::Pass, direction) + count(PacketEvent::Drop, direction)
        );
        assert_eq!(count(PacketEvent::Receive, direction), count(PacketEvent::Pass, direction));
    }
}

/// The same packet has the same number, header and mark at every point.
#[test]
fn a_packet_is_known_again_by_its_number() {
    let scenario = one_link(LOSSY, "", "[record]\npackets = \"all\"\npoints = [\"ends\", \"link 0\"]");
    let (tables, _) = run(&scenario, 4, burst());
    let column = |name| ints(&tables, "packets", name);
    let Column::Bool(again) = &tables["packets"]["retransmission"] else { panic!("truth values") };
    let directions = codes(&tables, "packets", "direction");
    let events = codes(&tables, "packets", "event");
    let mut sent = BTreeMap::new();
    for row in 0..directions.len() {
        let key = (column("connection")[row], directions[row], column("packet")[row]);
        let what = (column("seq")[row], column("ack")[row], column("payload_bytes")[row], again[row]);
        if events[row] == PacketEvent::Send as i32 {
            assert_eq!(sent.insert(key, what), None, "a number is given once");
        } else {
            assert_eq!(sent[&key], what);
        }
    }
    assert!(again.iter().any(|again| *again));
}

#[test]
fn one_direction_of_a_link_is_a_point() {
    let scenario = one_link(LOSSY, "", "[record]\npackets = \"all\"\npoints = [\"link 0 down\"]");
    let (tables, _) = run(&scenario, 4, burst());
    let seen: Vec<_> =
        counts(&tables).into_keys().filter(|(event, _)| *event != PacketEvent::Drop as i32).collect();
    assert_eq!(seen, [(PacketEvent::Pass as i32, 1)]);
}

/// Rows of packets on their way to a tap wait inside. How often rows are taken must not show.
#[test]
fn rows_stand_in_the_order_of_time_however_they_are_taken() {
    let rest = "[record]\npackets = \"all\"\npoints = [\"ends\", \"link 0\"]";
    let scenario = one_link(LOSSY, "", rest);
    let (whole, _) = run(&scenario, 4, burst());
    let times = ints(&whole, "packets", "time_ns");
    assert!(times.is_sorted());

    let mut world = World::new(&scenario, 4, Directory::default());
    let mut source = Listed(burst().into_iter());
    let (mut taken, mut done) = (Vec::new(), false);
    while !done {
        done = world.advance(&mut source, 3).expect("a list can be read").done;
        for (table, columns) in world.take() {
            if table == "packets" {
                let time = columns.iter().find(|(name, _)| *name == "time_ns").expect("declared");
                let Column::Int(times) = &time.1 else { panic!("whole numbers") };
                taken.extend_from_slice(times);
            }
        }
    }
    assert_eq!(taken, times);
}

#[test]
fn a_run_that_is_cut_off_has_no_row_after_its_end() {
    let rest = "[run]\nuntil = \"1 s\"\n[record]\npackets = \"all\"\npoints = [\"link 0\"]";
    let (tables, _) = run(&one_link(LOSSY, "", rest), 4, burst());
    let last = ints(&tables, "packets", "time_ns").last().copied();
    assert!(last.is_some_and(|last| (900_000_000..=1_000_000_000).contains(&last)), "{last:?}");
}

#[test]
fn headers_are_recorded_as_they_go_over_the_wire() {
    let constants =
        "tcp = { buffer = \"200000 B\", constants = { window_scaling = true, timestamps = true } }";
    let rest = "[record]\npackets = \"all\"";
    let (tables, _) = run(&one_link(&e3(60, 60), constants, rest), 1, vec![Asked(0, 300, 20_000, 0)]);
    let column = |name| ints(&tables, "packets", name);
    assert_eq!((column("mss_bytes")[0], column("window_scale")[0]), (1460, 2));
    let (shifted, field) = (column("window_bytes"), column("window_field"));
    assert_eq!(shifted[0], field[0], "the window of a SYN is not scaled");
    let last = shifted.len() - 1;
    assert_eq!(shifted[last], field[last] << 2);
    assert_eq!(column("mss_bytes")[last], NULL_INT);
    assert!(column("timestamp").iter().all(|ticks| *ticks != NULL_INT));
    assert!(column("timestamp_echo")[last] > 0);
}
