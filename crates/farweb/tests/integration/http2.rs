//! HTTP/2 and TLS on idle paths, against what can be worked out by hand.

use farweb::record::NULL_INT;
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, ints, run};

/// Runs requests over one leg between two nodes, on an inner leg with another behind it that takes no time.
fn ask(link: &str, carrier: &str, tls: &str, is_inner: bool, requests: Vec<Asked>) -> Tables {
    ask_with(link, carrier, "profile = \"linux\"", tls, is_inner, requests)
}

/// An initial window that holds nothing back.
const WIDE: &str = "profile = \"linux\", buffer = \"16 MB\", constants = { initial_cwnd_segments = 10000 }";

fn ask_with(link: &str, carrier: &str, tcp: &str, tls: &str, is_inner: bool, requests: Vec<Asked>) -> Tables {
    let tls = if tls.is_empty() { String::new() } else { format!("tls = {tls}") };
    let (nodes, behind) = match is_inner {
        false => ("", ""),
        true => (
            ", \"origin\"",
            "[[path.link]]\nup = { rate = \"unlimited\", delay = \"0 ms\" }\ndown = { rate = \"unlimited\", delay = \"0 ms\" }\n\
             [[leg]]\nfrom = \"server\"\nto = \"origin\"\ncarrier = { kind = \"http/1.1\" }\ntcp = { profile = \"linux\" }\n",
        ),
    };
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"{nodes}]\n[[path.link]]\n{link}\n[[leg]]\nfrom = \"client\"\n\
         to = \"server\"\ncarrier = {carrier}\ntcp = {{ {tcp} }}\n{tls}\n{behind}[workload]\n\
         requests = \"given by the test\"\n[record]\nexchanges = true\n"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, 1, requests).0
}

/// A link without a rate, 10 ms each way.
const IDLE: &str =
    "up = { rate = \"unlimited\", delay = \"10 ms\" }\ndown = { rate = \"unlimited\", delay = \"10 ms\" }";
const ROUND_TRIP_NS: i64 = 20_000_000;

fn in_round_trips(tables: &Tables, column: &str) -> Vec<i64> {
    let times = ints(tables, "requests", column);
    assert!(times.iter().all(|time| time % ROUND_TRIP_NS == 0), "{times:?}");
    times.iter().map(|time| time / ROUND_TRIP_NS).collect()
}

#[test]
fn a_start_takes_its_round_trips_and_a_response_one_more() {
    let cases = [
        ("", 1),
        ("{ version = \"1.3\" }", 2),
        ("{ version = \"1.3\", start = \"resumed\" }", 2),
        ("{ version = \"1.3\", start = \"0-rtt\" }", 1),
        ("{ version = \"1.2\" }", 3),
        ("{ version = \"1.2\", start = \"resumed\" }", 2),
    ];
    let carriers = [
        "{ kind = \"http/1.0\" }",
        "{ kind = \"http/1.1\" }",
        "{ kind = \"http/2\", preset = \"rfc-default\" }",
    ];
    for (tls, connected) in cases {
        for carrier in carriers {
            let tables = ask(IDLE, carrier, tls, false, vec![Asked(0, 300, 1000, 0)]);
            let (connect, end) = (in_round_trips(&tables, "connect_ns"), in_round_trips(&tables, "end_ns"));
            assert_eq!((connect, end), (vec![connected], vec![connected + 1]), "{tls} {carrier}");
        }
    }
}

#[test]
fn a_full_record_waits_for_a_second_round() {
    // Twelve segments do not fit an initial window of ten. The bytes before them could be read.
    let first_byte = |tls: &str| {
        let tables = ask(IDLE, "{ kind = \"http/1.1\" }", tls, false, vec![Asked(0, 300, 100_000, 0)]);
        in_round_trips(&tables, "first_byte_ns")
    };
    assert_eq!(first_byte(""), [2]);
    assert_eq!(first_byte("{ version = \"1.3\", start = \"resumed\" }"), [4]);
    assert_eq!(first_byte("{ version = \"1.3\", start = \"resumed\", small_record = \"1400 B\" }"), [3]);
}

#[test]
fn streams_beyond_the_limit_wait_or_get_another_connection() {
    let three = || vec![Asked(0, 300, 1000, 0); 3];
    let carrier = |connections| {
        format!(
            "{{ kind = \"http/2\", preset = \"rfc-default\", server = {{ session_limit = 1 }}, connections = {connections} }}"
        )
    };
    // Before the server has said so, its client takes a hundred to be allowed.
    let tables = ask(IDLE, &carrier(1), "", false, three());
    assert_eq!(in_round_trips(&tables, "end_ns"), [2, 2, 2]);
    let late = || (0..3).map(|_| Asked(100_000_000, 300, 1000, 0));
    let first = std::iter::once(Asked(0, 300, 1000, 0));
    let tables = ask(IDLE, &carrier(1), "", false, first.clone().chain(late()).collect());
    assert_eq!(in_round_trips(&tables, "end_ns"), [2, 6, 7, 8], "one after the other");
    let tables = ask(IDLE, &carrier(3), "", false, first.chain(late()).collect());
    assert_eq!(in_round_trips(&tables, "end_ns"), [2, 6, 7, 7], "two of them on another connection");
    assert_eq!(ints(&tables, "connections", "requests"), [2, 2], "of which nothing is known yet");
}

/// A credit W of 65,535 B on a link without a rate: all bytes of a round trip arrive at once.
///
/// All of W comes back each round trip although frames of 16,384 B make halves. gRPC sends a PING with the first of it. The
/// answer finds W and makes it 2W. The new part leaves ahead of the next PING, and its data arrives ahead of the answer.
/// From then on a probe covers a credit and its growth over the one before, and doubles it every round trip: 1, 1, 2, 4, 8.
/// .NET sees a round trip when the first frame comes, and none between it and the next two: each of those doubles the
/// credit, to 4W.
#[test]
fn a_credit_grows_as_its_program_measures_the_path() {
    let trips = |preset: &str, credits: u64| {
        let carrier = format!(
            "{{ kind = \"http/2\", preset = \"rfc-default\", client = {{ preset = \"{preset}\" }}, response_text = \"0 B\" }}"
        );
        let tables = ask_with(IDLE, &carrier, WIDE, "", false, vec![Asked(0, 300, credits * 65_535, 0)]);
        in_round_trips(&tables, "end_ns")[0]
    };
    let of = |preset| [1, 3, 7, 11].map(|credits| trips(preset, credits));
    assert_eq!(of("rfc-default"), [2, 4, 8, 12]);
    assert_eq!(of("grpc"), [2, 4, 5, 6]);
    assert_eq!(of("dotnet"), [2, 3, 4, 4]);
}

#[test]
fn a_request_without_an_answer_is_sent_again_when_its_connection_is_lost() {
    // Of each connection only the preface with a request and an ACK of settings get up: the second request waits until TCP gives up.
    let link = "up = { rate = \"unlimited\", delay = \"10 ms\", loss = { kind = \"list\", drop = [\"data 3..1000\"] } }\n\
                down = { rate = \"unlimited\", delay = \"10 ms\" }";
    let ask = |first, second| {
        let asked = vec![Asked(0, 300, first, 0), Asked(5_000_000_000, 300, second, 0)];
        let tables = ask(link, "{ kind = \"http/2\", preset = \"rfc-default\" }", "", false, asked);
        let status: Vec<_> = ints(&tables, "requests", "end_ns").iter().map(|end| *end != NULL_INT).collect();
        (
            status,
            ints(&tables, "exchanges", "resent").to_vec(),
            ints(&tables, "connections", "requests").len(),
        )
    };
    assert_eq!(
        ask(1000, 1000),
        (vec![true, true], vec![0, 1], 2),
        "the new connection has two packets again"
    );
    let failed = (vec![false, false], vec![0, 0], 1);
    assert_eq!(
        ask(1_000_000, 1000),
        failed,
        "a connection that has brought nothing whole is no reason to go on"
    );
}

#[test]
fn credit_limits_a_connection_and_several_of_them_add_up() {
    let link = "up = { rate = \"34.368 Mbit/s\", delay = \"60 ms\" }\ndown = { rate = \"34.368 Mbit/s\", delay = \"60 ms\" }";
    let seconds = |connections: u64| {
        let carrier = format!(
            "{{ kind = \"http/2\", preset = \"rfc-default\", connections = {connections}, open_rule = \"fixed\", assign = \"least-sessions\" }}"
        );
        let tables = ask(link, &carrier, "", true, vec![Asked(1_000_000_000, 300, 2_000_000, 0); 8]);
        *ints(&tables, "requests", "end_ns").iter().max().expect("a request") as f64 / 1e9 - 1.0
    };
    // One connection has no more than its credit a round trip, whatever is on it: 244 of them for 16 MB.
    let one = seconds(1);
    assert!(one > 16e6 / 65_535.0 * 0.12, "{one}");
    let [two, four, eight] = [2, 4, 8].map(seconds);
    for (connections, time) in [(2.0, two), (4.0, four), (8.0, eight)] {
        let speedup = one / time;
        assert!(
            (speedup / connections - 1.0).abs() < 0.1,
            "{connections} connections: {speedup} times as fast"
        );
    }
}
