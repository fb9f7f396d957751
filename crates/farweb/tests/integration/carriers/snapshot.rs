//! A small run through a mux, as a table that a person can follow.

use std::fmt::Write;

use farweb::record::NULL_INT;
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, codes, ints, run};

/// At 8 Mbit/s a byte takes a microsecond. The mux has full segments of 1040 B, so 1.04 ms, and 100 ms each way. The servers are
/// 10 ms behind the proxy.
const SCENARIO: &str = r#"
    format = 1
    [path]
    nodes = ["client", "proxy", "servers"]
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "100 ms" }
    down = { rate = "8 Mbit/s", delay = "100 ms" }
    [[path.link]]
    up = { rate = "8 Mbit/s", delay = "10 ms" }
    down = { rate = "8 Mbit/s", delay = "10 ms" }
    [[leg]]
    from = "client"
    to = "proxy"
    carrier = { kind = "mux", connections = 2, overhead = "20 B" }
    tcp = { mss = "1000 B", constants = { delayed_ack = false, initial_cwnd_segments = 4 } }
    [[leg]]
    from = "proxy"
    to = "servers"
    carrier = { kind = "http/1.0" }
    tcp = { mss = "1000 B", constants = { delayed_ack = false, initial_cwnd_segments = 4 } }
    [origin]
    release = "at-once"
    [workload]
    requests = "given by the test"
    [record]
    exchanges = true
    packets = "all"
"#;

fn millis(nanos: i64) -> String {
    if nanos == NULL_INT { "-".to_owned() } else { format!("{:.3}", nanos as f64 / 1e6) }
}

/// Segments with payload on the first leg: time sent, time received, contents.
fn segments(tables: &Tables) -> String {
    let column = |name| ints(tables, "packets", name);
    let word = |name| codes(tables, "packets", name);
    let rows = || {
        (0..column("seq").len()).filter(|row| column("leg")[*row] == 0 && column("payload_bytes")[*row] > 0)
    };
    let mut text = "connection          sent      arrives  bytes of its stream\n".to_owned();
    for sent in rows().filter(|row| word("event")[*row] == 0) {
        let key = |row: usize| (column("connection")[row], word("direction")[row], column("packet")[row]);
        let received = rows().find(|row| word("event")[*row] == 1 && key(*row) == key(sent)).unwrap();
        let way = if word("direction")[sent] == 0 { "up" } else { "down" };
        let (first, behind) =
            (column("seq")[sent] - 1, column("seq")[sent] - 1 + column("payload_bytes")[sent]);
        writeln!(
            text,
            "{} {way:<4} {:>16} {:>12}  {first}..{behind}",
            column("connection")[sent],
            millis(column("time_ns")[sent]),
            millis(column("time_ns")[received]),
        )
        .unwrap();
    }
    text
}

/// The exchanges of the first leg, by request.
fn exchanges(tables: &Tables) -> String {
    let column = |name| ints(tables, "exchanges", name);
    let columns = ["start_ns", "requested_ns", "ready_first_ns", "ready_last_ns", "first_byte_ns", "end_ns"];
    let mut text = format!(
        "request up down{}\n",
        columns.map(|name| format!("{:>15}", name.trim_end_matches("_ns"))).concat()
    );
    let mut rows: Vec<_> = (0..column("leg").len()).filter(|row| column("leg")[*row] == 0).collect();
    rows.sort_by_key(|row| column("request")[*row]);
    for row in rows {
        let times = columns.map(|name| format!("{:>15}", millis(column(name)[row]))).concat();
        let (up, down) = (column("connection_up")[row], column("connection_down")[row]);
        writeln!(text, "{:>7} {up:>2} {down:>4}{times}", column("request")[row]).unwrap();
    }
    text
}

/// Three requests, a millisecond apart, when both connections are open. To follow:
///
/// - The first two go up one connection each. The third finds 300 B outstanding on both and takes the lower number. Nagle's
///   rule holds it there until the first is acknowledged, at 1000 + 100.34 + 100.04 ms.
/// - The first response is at the proxy after a handshake (2 x 10.044 ms), request and ACK (10.38 ms), ACK and segment
///   (11.08 ms), and takes connection 0. The proxy adds 20 B of framing to each segment of 1000 B, and holds the bytes
///   that do not fill a segment.
/// - The second finds 4080 B outstanding there and takes connection 1. So does the third, which finds 2040 B on it and 4080 B
///   on the other, as the acknowledgements are still on their way.
#[test]
fn three_requests_share_two_connections() {
    let scenario = Scenario::parse(SCENARIO, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let second = 1_000_000_000;
    let asked = vec![
        Asked(second, 300, 4000, 0),
        Asked(second + 1_000_000, 300, 2000, 0),
        Asked(second + 2_000_000, 300, 2000, 0),
    ];
    let (tables, _) = run(&scenario, 1, asked);
    insta::assert_snapshot!(format!("{}\n{}", exchanges(&tables), segments(&tables)), @"
    request up down          start      requested    ready_first     ready_last     first_byte            end
          0  0    0       1000.000       1100.340       1141.888       1145.008       1242.928       1400.820
          1  1    1       1001.000       1101.340       1146.128       1147.168       1247.168       1443.308
          2  0    1       1002.000       1300.720       1342.268       1343.308       1443.308       1644.488

    connection          sent      arrives  bytes of its stream
    0 up           1000.000     1100.340  0..300
    1 up           1001.000     1101.340  0..300
    0 down         1141.888     1242.928  0..1000
    0 down         1141.888     1242.988  1000..1020
    0 down         1142.928     1244.028  1020..2020
    0 down         1143.968     1245.068  2020..3020
    0 down         1145.008     1246.108  3020..4020
    1 down         1146.128     1247.168  0..1000
    1 down         1146.128     1247.228  1000..1020
    1 down         1147.168     1248.268  1020..2020
    0 up           1200.380     1300.720  300..600
    0 down         1300.720     1400.820  4020..4080
    1 down         1342.268     1443.308  2020..3020
    1 down         1343.308     1444.348  3020..4020
    1 down         1544.388     1644.488  4020..4080
    ");
}
