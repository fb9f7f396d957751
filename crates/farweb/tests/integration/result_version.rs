//! Runs of one result version give the same rows: digests of small worlds, kept beside the version.

use std::fmt::Write;

use farweb::RESULT_VERSION;
use farweb::record::Column;
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, run};

const SCENARIO: &str = r#"
    format = 1
    [path]
    nodes = ["client", "router", "server"]
    [[path.link]]
    up = { rate = "2 Mbit/s", delay = "40 ms", queue = "30 packets" }
    down = { rate = "4 Mbit/s", delay = "60 ms", queue = "16 kB" }
    [[path.link]]
    up = { rate = "unlimited", delay = "1 ms" }
    down = { rate = "10 Mbit/s", delay = "1 ms", loss = { kind = "gilbert-elliott", good_to_bad = 0.01, bad_to_good = 0.4 } }
    [[leg]]
    from = "client"
    to = "server"
    carrier = { kind = "http/1.0" }
    [workload]
    requests = "given by the test"
    [run]
    warmup = "1 s"
    [record]
    links_every = "500 ms"
    packets = "all"
    points = ["ends", "link 0"]
"#;

/// The columns that identify a result version. Others may come without a new result version.
const COLUMNS: &[(&str, &[&str])] = &[
    (
        "requests",
        &[
            "start_ns",
            "connect_ns",
            "first_byte_ns",
            "end_ns",
            "acked_ns",
            "response_bytes",
            "retransmits",
            "timeouts",
        ],
    ),
    ("connections", &["open_ns", "close_ns", "bytes_up", "bytes_down", "segments_up", "segments_down"]),
    ("links", &["time_ns", "bytes", "packets", "drops", "queue_bytes_mean", "queue_bytes_max", "busy"]),
    ("packets", &["time_ns", "seq", "ack", "payload_bytes", "window_bytes"]),
];

/// FNV-1a (RFC 9923) over the values of a column.
fn digest(mut hash: u64, column: &Column) -> u64 {
    let mut add = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    match column {
        Column::Int(values) => values.iter().for_each(|value| add(*value as u64)),
        Column::Float(values) => values.iter().for_each(|value| add(value.to_bits())),
        other => panic!("{other:?} is of a type that no column of a digest has"),
    }
    hash
}

fn digests(tables: &Tables) -> String {
    let mut text = String::new();
    for (table, columns) in COLUMNS {
        let Some(rows) = tables.get(table) else { continue };
        let hash = columns.iter().fold(0xcbf2_9ce4_8422_2325, |hash, column| digest(hash, &rows[column]));
        let _ = write!(text, " {table} {hash:016x}");
    }
    text
}

#[test]
fn rows_are_those_of_the_result_version() {
    let mut found = format!("result version {RESULT_VERSION}\n");
    for (carrier, profile, request_bytes) in [
        ("http/1.0", "bsd44-lite", 300),
        ("http/1.0", "linux", 300),
        ("http/1.0", "linux-classic", 300),
        ("transfer", "ns2-reno", 0),
    ] {
        let keys = [("leg.0.carrier.kind", carrier), ("leg.0.tcp.profile", profile)];
        let keys = keys.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let scenario =
            Scenario::parse(SCENARIO, "test.toml", &keys).unwrap_or_else(|error| panic!("{error}"));
        let requests =
            (0..40).map(|n| Asked(n * 60_000_000, request_bytes, 1_000 + 2_300 * n, n * 3_000_000));
        let (tables, _) = run(&scenario, 7, requests.collect());
        let _ = writeln!(found, "{profile}:{}", digests(&tables));
    }
    let kept = include_str!("../data/result_version.txt");
    assert_eq!(
        found, kept,
        "\nEqual scenarios and seeds give other rows than before. If that is meant, raise RESULT_VERSION in src/lib.rs, so \
         that sweeps do not mix them with older ones, say what changed in the commit, after a release in CHANGELOG.md too, and write \
         the left side of this comparison to tests/data/result_version.txt. If it is not meant, it is a bug.\n\n{found}"
    );
}
