//! Rows that no recorder writes: each is an error, none a panic.

use super::*;

fn error(change: impl FnOnce(&mut Packets)) -> String {
    let mut rows = packets(&[sent(segment(ACK, 1, 1, 10))]);
    change(&mut rows);
    let mut out = Vec::new();
    let capture = Pcapng::new(route(), vec![Point::End(0)], Payload::Whole).add(&rows, &mut out);
    let plot = Xplot::new(route(), Point::End(0), 0, true).add(&rows, &mut String::new());
    let message = capture.expect_err("a wrong row").to_string();
    if let Err(error) = plot {
        assert_eq!(error.to_string(), message);
    }
    message
}

#[test]
fn a_value_that_no_packet_has_is_named() {
    type Change = fn(&mut Packets);
    let cases: [(Change, &str); 12] = [
        (|rows| rows.time_ns[0] = -1, "column time_ns: found -1; nothing recorded has that value"),
        (|rows| rows.seq[0] = NULL_INT, "column seq: found nothing;"),
        (|rows| rows.window_field[0] = 65_536, "column window_field: found 65536;"),
        (
            |rows| rows.payload_bytes[0] = 65_496,
            "column payload_bytes: found 65496; an IPv4 packet has at most",
        ),
        (
            |rows| rows.payload_bytes[0] = 1 << 31,
            "column payload_bytes: found 2147483648; an IPv4 packet has",
        ),
        (|rows| rows.mss_bytes[0] = 70_000, "column mss_bytes: found 70000;"),
        (|rows| rows.timestamp[0] = 5, "column timestamp_echo: found nothing;"),
        (|rows| rows.leg[0] = 2, "column leg: found 2; the scenario has no leg of that number"),
        (|rows| rows.node.words[0] = "moon".to_owned(), "column node: found \"moon\"; that is not a word"),
        (|rows| rows.flags.codes[0] = 256, "column flags: found nothing; everything recorded has a value"),
        (|rows| rows.event.codes[0] = -1, "column event: found nothing;"),
        (|rows| rows.sack.clear(), "column sack: found 0 values; every column has as many as time_ns"),
    ];
    for (change, message) in cases {
        let found = error(change);
        assert!(found.starts_with(message), "{found}");
    }
}

#[test]
fn too_many_options_for_a_header_are_an_error() {
    let found = error(|rows| {
        rows.sack[0] = [(1, 2), (3, 4), (5, 6), (7, 8)].into_iter().collect();
        (rows.timestamp[0], rows.timestamp_echo[0]) = (1, 1);
    });
    assert!(found.contains("a TCP header has at most 40 B of them"), "{found}");
}

#[test]
fn a_leg_joins_two_nodes() {
    let nodes = || vec!["a".to_owned(), "b".to_owned()];
    assert!(Route::new(nodes(), vec![(0, 1)]).is_ok());
    for leg in [(0, 2), (1, 1), (1, 0)] {
        assert!(Route::new(nodes(), vec![leg]).is_err(), "{leg:?}");
    }
}
