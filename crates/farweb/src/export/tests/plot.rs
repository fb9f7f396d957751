//! Time–sequence plots as text.

use super::*;

/// A plot of the data down to the client of the first leg, without its title.
fn plot(rows: &[Seen]) -> String {
    drawn(false, rows)
}

fn drawn(up: bool, rows: &[Seen]) -> String {
    let mut plot = Xplot::new(route(), Point::End(0), 0, up);
    let mut out = String::new();
    plot.add(&packets(rows), &mut out).unwrap();
    out
}

const MS: i64 = 1_000_000;

#[test]
fn a_plot_has_a_title_and_an_end() {
    let plot = Xplot::new(route(), Point::End(0), 7, false);
    let mut out = String::new();
    plot.start(0, &mut out).unwrap();
    plot.finish(&mut out);
    assert_eq!(
        out,
        "timeval signed\ntitle\nproxy_==>_clients (time sequence graph), connection 7 at clients\n\
         xlabel\ntime\nylabel\nsequence offset\ngo\n"
    );
}

#[test]
fn segments_are_lines_between_arrows() {
    let rows = [
        received(segment(ACK, 1, 1, 1000)).at(1_234_567_899),
        received(segment(ACK | Flags::PSH, 1001, 1, 500)).at(1_300 * MS),
        Seen { again: true, ..received(segment(ACK, 1, 1, 1000)).at(1_400 * MS) },
    ];
    assert_eq!(
        plot(&rows).lines().collect::<Vec<_>>(),
        [
            "white",
            "darrow 1.234567 1",
            "uarrow 1.234567 1001",
            "line 1.234567 1 1.234567 1001",
            "darrow 1.300000 1001",
            "diamond 1.300000 1501",
            "dot 1.300000 1501",
            "line 1.300000 1001 1.300000 1501",
            "red",
            "atext 1.400000 1001",
            "R",
            "darrow 1.400000 1",
            "uarrow 1.400000 1001",
            "line 1.400000 1 1.400000 1001",
        ]
    );
}

#[test]
fn syn_and_fin_are_named() {
    let rows = [
        sent(segment(SYN, 0, 0, 0)).at(0),
        received(segment(SYN | ACK, 0, 1, 0)).at(MS),
        received(segment(Flags::FIN | ACK, 1, 1, 100)).at(2 * MS),
        Seen { again: true, ..received(segment(Flags::FIN | ACK, 101, 1, 0)).at(3 * MS) },
    ];
    assert_eq!(
        plot(&rows).lines().collect::<Vec<_>>(),
        [
            "green",
            "dot 0.000000 0",
            "orange",
            "diamond 0.001000 0",
            "atext 0.001000 1",
            "SYN",
            "uarrow 0.001000 1",
            "line 0.001000 0 0.001000 1",
            "white",
            "darrow 0.002000 1",
            "line 0.002000 1 0.002000 101",
            "orange",
            "line 0.002000 101 0.002000 102",
            "box 0.002000 102",
            "atext 0.002000 102",
            "FIN",
            "red",
            "darrow 0.003000 101",
            "line 0.003000 101 0.003000 102",
            "box 0.003000 102",
            "atext 0.003000 102",
            "R FIN",
        ]
    );
}

#[test]
fn acknowledgements_and_windows_are_stairs_with_ticks() {
    let rows = [
        sent(segment(ACK, 1, 1, 0)).at(0),
        sent(segment(ACK, 1, 1001, 0)).at(MS),
        sent(segment(ACK, 1, 1001, 0)).at(2 * MS),
    ];
    assert_eq!(
        plot(&rows).lines().collect::<Vec<_>>(),
        [
            "green",
            "line 0.000000 1 0.001000 1",
            "line 0.001000 1 0.001000 1001",
            "yellow",
            "line 0.000000 8001 0.001000 8001",
            "line 0.001000 8001 0.001000 9001",
            "green",
            "line 0.001000 1001 0.002000 1001",
            "dtick 0.002000 1001",
            "yellow",
            "line 0.001000 9001 0.002000 9001",
            "utick 0.002000 9001",
        ]
    );
    let repeated: Vec<_> = (0..6).map(|n| sent(segment(ACK, 1, 1001, 0)).at(n * MS)).collect();
    let text = plot(&repeated);
    assert_eq!(text.matches("\n3\n").count(), 1);
    assert!(text.contains("atext 0.003000 1001\n3\n"), "{text}");
}

#[test]
fn a_closed_window_and_a_probe_into_it_are_marked() {
    let closed = Segment { window: 0, ..segment(ACK, 1, 1001, 0) };
    let probe = Seen { again: true, ..received(segment(ACK, 1001, 1, 1)).at(5 * MS) };
    let text = plot(&[sent(segment(ACK, 1, 1, 0)).at(0), sent(closed).at(MS), probe]);
    assert!(text.contains("magenta\natext 0.001000 1001\nZ\n"), "{text}");
    assert!(text.contains("orange\nbtext 0.005000 1002\nP\n"), "{text}");
    assert!(!text.contains("\nR\n"), "a probe is no retransmission");
}

#[test]
fn agents_without_windows_have_no_window_line() {
    let closed = |ack, ms| sent(Segment { window: 0, ..segment(ACK, 1, ack, 0) }).at(ms * MS);
    let data = received(segment(Flags::NONE, 1001, 0, 512)).at(3 * MS);
    let text = plot(&[closed(1, 1), closed(513, 2), data]);
    assert!(!text.contains("yellow") && !text.contains("\nZ\n") && !text.contains("\nP\n"), "{text}");
    assert!(text.contains("line 0.002000 1 0.002000 513"), "{text}");
}

#[test]
fn sack_blocks_are_purple_and_numbered() {
    let rows = [sent(with_sack(segment(ACK, 1, 1001, 0), &[(3001, 4001), (2001, 2501)])).at(MS)];
    assert_eq!(
        plot(&rows).lines().collect::<Vec<_>>(),
        [
            "purple",
            "line 0.001000 3001 0.001000 4001",
            "htick 0.001000 3001",
            "htick 0.001000 4001",
            "rtext 0.001000 4001",
            "1",
            "line 0.001000 2001 0.001000 2501",
            "htick 0.001000 2001",
            "htick 0.001000 2501",
            "rtext 0.001000 2501",
            "2",
            "atext 0.001000 4001",
            "S",
        ]
    );
    let single = plot(&[sent(with_sack(segment(ACK, 1, 1001, 0), &[(3001, 4001)]))]);
    assert!(!single.contains("rtext") && single.ends_with("\nS\n"), "{single}");
}

#[test]
fn resets_are_drawn_in_both_directions() {
    let out = received(segment(Flags::RST, 5, 0, 0)).at(MS);
    let back = sent(segment(Flags::RST | ACK, 1, 5, 0)).at(2 * MS);
    assert_eq!(
        plot(&[out, back]).lines().collect::<Vec<_>>(),
        [
            "white",
            "darrow 0.001000 5",
            "uarrow 0.001000 5",
            "magenta",
            "atext 0.001000 5",
            "RST_OUT",
            "atext 0.002000 5",
            "RST_IN",
        ]
    );
}

#[test]
fn colours_hold_from_one_batch_of_rows_to_the_next() {
    let rows = [received(segment(ACK, 1, 1, 10)), received(segment(ACK, 11, 1, 10)).at(MS)];
    let mut whole = Xplot::new(route(), Point::End(0), 0, false);
    let (mut parts, mut out) = (String::new(), String::new());
    for row in rows {
        whole.add(&packets(&[row]), &mut parts).unwrap();
    }
    Xplot::new(route(), Point::End(0), 0, false).add(&packets(&rows), &mut out).unwrap();
    assert_eq!(parts, out);
    assert_eq!(whole.packets(), 2);
}

#[test]
fn other_connections_points_and_drops_are_left_out() {
    let row = received(segment(ACK, 1, 1, 10));
    let rows = [
        Seen { connection: 1, ..row },
        Seen { point: Point::Link(0), event: PacketEvent::Pass, ..row },
        Seen { point: Point::Link(0), event: PacketEvent::Drop, ..row },
    ];
    assert_eq!(plot(&rows), "");
    assert_eq!(drawn(true, &[sent(segment(ACK, 1, 1, 10))]), plot(&[row]), "either way looks alike");
}

/// Of the client's data: its own rows give its credit, until none limits it any more.
#[test]
fn the_credit_of_the_sender_is_a_stair() {
    let credit = |seen: Seen, at, limit| Seen { credit_limit: limit, ..seen.at(at * MS) };
    let rows = [
        credit(sent(segment(ACK, 1, 1, 100)), 1, Some(301)),
        credit(received(segment(ACK, 1, 101, 8)), 2, Some(301)),
        credit(sent(segment(ACK, 101, 9, 100)), 3, Some(601)),
        credit(received(segment(ACK, 9, 201, 8)), 4, None),
        credit(sent(segment(ACK, 201, 17, 100)), 5, None),
    ];
    let up = drawn(true, &rows);
    let steps = [
        "blue\nline 0.001000 301 0.002000 301\n",
        "blue\nline 0.002000 301 0.003000 301\nline 0.003000 301 0.003000 601\n",
        "blue\nline 0.003000 601 0.004000 601\n",
    ];
    assert!(steps.iter().all(|step| up.contains(step)), "{up}");
    assert_eq!(up.matches("blue").count(), 3, "{up}");
    assert!(!drawn(false, &rows).contains("blue"), "who gets the data has no credit for them");
}
