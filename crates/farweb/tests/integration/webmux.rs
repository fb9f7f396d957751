//! W3C MUX on a long path, to the nanosecond, and the time that programs take to wake.

use farweb::record::{NULL_INT, PacketEvent};
use farweb::scenario::Scenario;
use farweb::tcp::Flags;
use farweb::units::{BitRate, Bytes};

use crate::run::{Asked, Tables, codes, e3, ints, one_link, run};

const MS: i64 = 1_000_000;
const DELAY: i64 = 60 * MS;

/// Time of `bytes` bytes, sent without a gap, on an E3 link.
fn ser(bytes: u64) -> i64 {
    BitRate::from_bps(34_368_000).unwrap().time_to_send(Bytes::new(bytes)).as_nanos() as i64
}

/// A client and a server with a carrier over an E3 link of 60 ms each way. TCP acknowledges and sends at once.
fn over(carrier: &str, application: &str) -> Scenario {
    let text = over_text(carrier, application);
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn over_text(carrier: &str, application: &str) -> String {
    format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\n{}\n[[leg]]\nfrom = \"client\"\nto = \"server\"\n\
         carrier = {{ {carrier} }}\napplication = {{ {application} }}\n\
         tcp = {{ constants = {{ delayed_ack = false, nagle = false }} }}\n\
         [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"at-once\"\n",
        e3(60, 60)
    )
}

/// When the first byte of a request of 300 B comes to the server: SYN and one fragment, behind the ACK of the handshake.
fn requested() -> i64 {
    2 * (ser(44) + DELAY) + ser(40 + 40 + 8 + 4 + 300) + DELAY
}

#[test]
fn a_session_costs_no_round_trip_and_twelve_bytes() {
    let (tables, _) = run(&over("kind = \"webmux\"", ""), 1, vec![Asked(0, 300, 1000, 0)]);
    // Two fragments and the FIN of the session, behind the ACK of the request.
    let end = requested() + ser(40 + 40 + 4 + 512 + 4 + 488 + 4) + DELAY;
    assert_eq!(ints(&tables, "requests", "end_ns"), [end]);
    let up = 2 * 40 + 44 + 40 + 312 + 2 * 40 + 40 + 4 + 2 * 40;
    let measured = ints(&tables, "connections", "bytes_up")[0];
    assert!((measured - up).abs() <= 80, "{measured} B up, {up} B with two ACKs more or less of the close");
}

/// A credit of two fragments that fill a segment each: both are read before more than half is used up, and all of the credit
/// comes back at once, behind the ACK of the second segment.
#[test]
fn a_session_sends_its_credit_once_a_round_trip() {
    let carrier = "kind = \"webmux\", credit = \"2912 B\", fragment = \"1456 B\"";
    for (layout, grant) in [("1996", 8), ("1998", 4)] {
        for rounds in [1, 2, 3, 10] {
            let scenario = over(&format!("{carrier}, layout = \"{layout}\""), "");
            let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, rounds as u64 * 2912, 0)]);
            let sent = ser(40 + 2 * 1500) + DELAY;
            let granted = ser(40 + 40 + grant) + DELAY;
            let end = requested() + (rounds - 1) * (sent + granted) + sent;
            assert_eq!(ints(&tables, "requests", "end_ns"), [end], "{rounds} rounds, layout of {layout}");
        }
    }
}

/// Nagle's rule holds the empty fragment behind a chunk of whole ones, and the FIN, until the response is acknowledged: its
/// last byte is sent before.
#[test]
fn what_follows_a_response_is_none_of_it() {
    let tcp = "tcp = { profile = \"solaris-2.5\" }";
    let leg = |text: &str| text.replace("tcp = { constants = { delayed_ack = false, nagle = false } }", tcp);
    let text =
        leg(&over_text("kind = \"webmux\", write_buffer = \"512 B\"", "")) + "[record]\nexchanges = true\n";
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap();
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 1024, 0)]);
    let of = |column| ints(&tables, "exchanges", column)[0];
    assert!(
        of("sent_last_ns") + DELAY < of("end_ns"),
        "sent at {}, read at {}",
        of("sent_last_ns"),
        of("end_ns")
    );
}

/// A credit of two fragments, each with a header of 4 B in the stream: each grant allows 2920 B more. Once the whole
/// response is in the stream, credit no longer limits it.
#[test]
fn recorded_packets_show_how_far_the_credit_goes() {
    let carrier = "kind = \"webmux\", credit = \"2912 B\", fragment = \"1456 B\", layout = \"1998\"";
    let keys = [("record.packets".to_owned(), "all".to_owned())];
    let scenario = Scenario::parse(&over_text(carrier, ""), "test.toml", &keys).unwrap();
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 3 * 2912, 0)]);
    let limits = ints(&tables, "packets", "credit_limit");
    let mut reached: Vec<_> = limits.iter().copied().filter(|limit| *limit != NULL_INT).collect();
    assert!(reached.is_sorted(), "the limit never goes back: {reached:?}");
    reached.dedup();
    assert_eq!(reached, [1 + 2912, 1 + 2920, 1 + 2 * 2920]);
    let ends = ints(&tables, "packets", "seq").iter().zip(ints(&tables, "packets", "payload_bytes"));
    let down = codes(&tables, "packets", "direction").iter().zip(codes(&tables, "packets", "event"));
    for (((seq, bytes), (direction, event)), limit) in ends.zip(down).zip(limits) {
        assert!(*limit == NULL_INT || (*direction, *event) != (1, 0) || seq + bytes <= *limit);
    }
}

/// A request and a response of a byte each over a link that loses these packets of the client.
fn with_losses(carrier: &str, drop: &str) -> Tables {
    let loss = format!("ms\", loss = {{ kind = \"list\", drop = [\"{drop}\"] }}");
    let text = over_text(carrier, "").replacen("ms\"", &loss, 1);
    let text = text.replace("constants = { delayed_ack = false, nagle = false }", "profile = \"linux\"");
    let keys = [("record.packets".to_owned(), "all".to_owned())];
    let scenario = Scenario::parse(&text, "test.toml", &keys).unwrap_or_else(|error| panic!("{error}"));
    let (tables, progress) = run(&scenario, 1, vec![Asked(0, 1, 1, 0)]);
    assert_eq!((progress.requests_finished, progress.requests_failed), (1, 0));
    tables
}

/// Sequence numbers and payload of the client's packets with a flag and this fate.
fn up(tables: &Tables, event: PacketEvent, flag: Flags) -> Vec<(i64, i64)> {
    let number = |name, row: usize| ints(tables, "packets", name)[row];
    let word = |name, row: usize| codes(tables, "packets", name)[row];
    (0..ints(tables, "packets", "seq").len())
        .filter(|row| (word("event", *row), word("direction", *row)) == (event as i32, 0))
        .filter(|row| word("flags", *row) & i32::from(flag.bits()) != 0)
        .map(|row| (number("seq", row), number("payload_bytes", row)))
        .collect()
}

/// By Nagle's rule the server's grant for the request waits for an ACK, and arrives after the client has closed its socket.
/// The client's TCP resets the connection: its own grant, lost once, and the FIN of the session are never read.
#[test]
fn frames_behind_the_last_response_may_be_lost_with_the_connection() {
    let tables = with_losses("kind = \"webmux\", credit = \"1 B\"", "data 2");
    assert_eq!(up(&tables, PacketEvent::Drop, Flags::ACK), [(17, 8)], "the grant");
    assert_eq!(up(&tables, PacketEvent::Send, Flags::FIN), [(25, 4)], "the FIN of the session");
    assert_eq!(up(&tables, PacketEvent::Receive, Flags::RST), [(17, 0), (17, 0)]);
    let seqs = ints(&tables, "frames", "seq").iter().zip(codes(&tables, "frames", "direction"));
    let frames: Vec<_> = seqs.filter(|(_, direction)| **direction == 0).map(|(seq, _)| *seq).collect();
    assert_eq!(frames, [1, 9, 17, 25], "SYN, the request, a grant, FIN");
}

/// All copies of the segment with the FIN of the session are lost, until the client's TCP gives the closed connection up.
#[test]
fn the_end_of_a_session_may_be_given_up_with_the_connection() {
    let tables = with_losses("kind = \"webmux\"", "data 2..40");
    let lost = up(&tables, PacketEvent::Drop, Flags::ACK);
    assert!((5..20).contains(&lost.len()) && lost.iter().all(|segment| *segment == (17, 4)), "{lost:?}");
    assert_eq!(up(&tables, PacketEvent::Send, Flags::RST), []);
    assert_eq!(ints(&tables, "connections", "close_ns"), [NULL_INT]);
}

/// Two requests at once share one connection, a fragment each in turn: both end with the last fragments.
#[test]
fn sessions_share_a_connection_fragment_by_fragment() {
    let requests = vec![Asked(0, 300, 2 * 512, 0), Asked(0, 300, 2 * 512, 0)];
    let (tables, _) = run(&over("kind = \"webmux\"", ""), 1, requests);
    assert_eq!(ints(&tables, "connections", "requests_max"), [2]);
    let ends = ints(&tables, "requests", "end_ns");
    // The first response is whole before the second request is read, so only their requests share a segment.
    assert!(ends[0] < ends[1] && ends[1] - ends[0] <= ser(1500), "{ends:?}");
}

/// More requests than there are sessions wait, and all are answered.
#[test]
fn requests_wait_for_one_of_127_sessions() {
    let requests = vec![Asked(0, 300, 600, 0); 200];
    let (tables, progress) = run(&over("kind = \"webmux\"", ""), 1, requests);
    assert_eq!((progress.requests_finished, progress.requests_failed), (200, 0));
    assert_eq!(ints(&tables, "connections", "requests_max"), [127]);
}

/// The program at each end takes its time: the server before it reads the request, the client before it reads the response. The
/// ACK of the request, which stands before the response of a program that is awake, has left meanwhile.
#[test]
fn programs_take_time_to_wake() {
    for carrier in ["http/1.0", "http/1.1", "webmux"] {
        let end = |application| {
            let scenario = over(&format!("kind = \"{carrier}\""), application);
            let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 1000, 0)]);
            ints(&tables, "requests", "end_ns")[0]
        };
        assert_eq!(end("wake = \"5 ms\"") - end(""), 2 * 5 * MS - ser(40), "{carrier}");
    }
}

/// A program that writes a head and then pieces sends segments that end with them, where its TCP does not join writes.
#[test]
fn pieces_are_segments_where_writes_are_not_joined() {
    let segments = |leg: &str| {
        let keys = "application = { write = \"4096 B\", head = \"250 B\" }";
        let rest = "[origin]\nrelease = \"at-once\"\n[record]\npackets = \"all\"";
        let scenario = one_link(&e3(60, 60), &format!("{leg}\n{keys}"), rest);
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 250 + 2 * 4096, 0)]);
        let packets = |column| ints(&tables, "packets", column).iter().copied();
        let mut sizes: Vec<_> =
            packets("seq").zip(packets("payload_bytes")).filter(|(_, bytes)| *bytes > 300).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>()
    };
    let solaris = segments("tcp = { profile = \"solaris-2.5\" }");
    assert_eq!(solaris, [1460, 1460, 1176, 1460, 1460, 1176], "behind the head");
}
