//! Clients that give up: when, to the nanosecond, and their packets on the wire from then on.

use farweb::record::{Failure, NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;

use crate::failures::{EACH, MUX, POOL, path};
use crate::run::{Asked, Tables, codes, ints, run};

const SECOND: i64 = 1_000_000_000;
/// Codes of the column `event`.
const SEND: i32 = 0;
const RECEIVE: i32 = 1;
/// Bits of the column `flags`.
const FIN: i32 = 1;
const RST: i32 = 4;

/// When packets with this flag went up on a leg.
fn went_up(tables: &Tables, leg: i64, flag: i32) -> Vec<i64> {
    let [events, flags, directions] =
        ["event", "flags", "direction"].map(|column| codes(tables, "packets", column));
    let [times, legs] = ["time_ns", "leg"].map(|column| ints(tables, "packets", column));
    let is_it = |row: &usize| {
        events[*row] == SEND && directions[*row] == 0 && legs[*row] == leg && flags[*row] & flag != 0
    };
    (0..times.len()).filter(is_it).map(|row| times[row]).collect()
}

fn assert_gave_up(tables: &Tables, after: i64, what: &str) {
    let [starts, failed] = ["start_ns", "failed_ns"].map(|column| ints(tables, "requests", column));
    for row in 0..starts.len() {
        assert_eq!(codes(tables, "requests", "status")[row], Status::Failed as i32, "{what}");
        assert_eq!(codes(tables, "requests", "failure")[row], Failure::ClientGaveUp as i32, "{what}");
        assert_eq!(failed[row] - starts[row], after, "{what}");
    }
}

/// A FIN at the second, and a reset for the next segment that comes, which ends the server's side: 40 us at 8 Mbit/s and 10 ms later.
#[test]
fn an_http1_client_closes_its_connection_as_a_socket_is_closed() {
    for carrier in [EACH, POOL] {
        let scenario = path(&[["", ""]], &[carrier], "[clients]\ngive_up = \"1 s\"");
        let (tables, _) = run(&scenario, 1, vec![Asked(500_000_000, 300, 20_000_000, 0)]);
        assert_gave_up(&tables, SECOND, carrier);
        let closed = 1_500_000_000;
        assert_eq!(went_up(&tables, 0, FIN), [closed], "{carrier}");
        let [events, directions] = ["event", "direction"].map(|column| codes(&tables, "packets", column));
        let times = ints(&tables, "packets", "time_ns");
        let next = (0..times.len())
            .find(|row| events[*row] == RECEIVE && directions[*row] == 1 && times[*row] >= closed)
            .map(|row| times[row]);
        let reset = went_up(&tables, 0, RST)[0];
        assert_eq!(Some(reset), next, "{carrier}");
        assert_eq!(ints(&tables, "connections", "close_ns"), [reset + 40_000 + 10_000_000], "{carrier}");
    }
}

/// Only one connection is allowed: the second and the third wait for it as long as the first one has it.
#[test]
fn a_request_that_waits_for_a_connection_is_given_up_too() {
    let carrier = "{ kind = \"http/1.1\", total = 1 }";
    let scenario = path(&[["", ""]], &[carrier], "[clients]\ngive_up = \"1 s\"");
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 20_000_000, 0); 3]);
    assert_gave_up(&tables, SECOND, carrier);
    assert_eq!(ints(&tables, "requests", "connect_ns")[1..], [NULL_INT; 2]);
}

/// The second request goes over the connection of the first one, which was given up.
#[test]
fn what_is_shared_goes_on() {
    let shared = [
        "{ kind = \"webmux\" }",
        "{ kind = \"http/2\", preset = \"rfc-default\", server = { preset = \"nginx\" } }",
    ];
    for (carriers, legs) in [(vec![shared[0]], 1), (vec![shared[1]], 1), (vec![MUX, EACH], 2)] {
        let scenario = path(&vec![["", ""]; legs], &carriers, "[clients]\ngive_up = \"1 s\"");
        let asked = vec![Asked(0, 300, 20_000_000, 0), Asked(2 * SECOND as u64, 300, 1000, 0)];
        let (tables, _) = run(&scenario, 1, asked);
        assert_eq!(
            codes(&tables, "requests", "failure"),
            [Failure::ClientGaveUp as i32, NULL_CODE],
            "{carriers:?}"
        );
        assert_eq!(ints(&tables, "requests", "failed_ns"), [SECOND, NULL_INT], "{carriers:?}");
        let connections = ints(&tables, "requests", "connection");
        assert_eq!(connections[0], connections[1], "{carriers:?}");
        // A mux goes on sending its queue without a reader, until the credit is used up.
        let got = ints(&tables, "connections", "bytes_down")[connections[0] as usize];
        assert!(legs == 2 || got < 2_000_000, "{carriers:?}: {got}");
    }
}

/// The proxy's connection to the server is closed at the same instant.
#[test]
fn a_proxy_does_not_go_on_for_a_client_that_has_given_up() {
    for carrier in [EACH, POOL, MUX] {
        let scenario = path(&[["", ""], ["", ""]], &[carrier, EACH], "[clients]\ngive_up = \"1 s\"");
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 20_000_000, 0)]);
        assert_gave_up(&tables, SECOND, carrier);
        assert_eq!(went_up(&tables, 1, FIN), [SECOND], "{carrier}");
    }
}

/// The server gives up in silence after some 13 s. Its client closes when it has waited a minute, and the server's host answers with a
/// reset: the way there and back, and 40 B each way.
#[test]
fn a_client_that_hears_nothing_closes_when_it_gives_up() {
    for carrier in [EACH, POOL] {
        let scenario = path(&[["", "data 3..100000"]], &[carrier], "[clients]\ngive_up = \"1 min\"");
        let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 20_000, 0)]);
        assert_eq!(codes(&tables, "requests", "failure"), [Failure::ServerGaveUp as i32], "{carrier}");
        let failed = ints(&tables, "requests", "failed_ns")[0];
        assert!(failed < 20 * SECOND, "{carrier}: {failed}");
        assert_eq!(went_up(&tables, 0, FIN), [60 * SECOND], "{carrier}");
        let there_and_back = 2 * 10_000_000;
        let closed = ints(&tables, "connections", "close_ns")[0];
        let on_the_wire = closed - 60 * SECOND - there_and_back;
        assert!(
            (80_000..=104_000).contains(&on_the_wire),
            "{carrier}: {on_the_wire} ns for a FIN and a reset"
        );
    }
}

/// A minute's patience changes nothing for shorter requests.
#[test]
fn patience_changes_nothing_for_what_ends_in_time() {
    let asked = || (0..20).map(|n| Asked(n * 100_000_000, 300, 5_000 * (n + 1), 0)).collect();
    let lossy = [["data 2", "data 5..7"]];
    for carrier in [EACH, POOL] {
        let (plain, before) = run(&path(&lossy, &[carrier], ""), 1, asked());
        let (patient, after) = run(&path(&lossy, &[carrier], "[clients]\ngive_up = \"1 min\""), 1, asked());
        assert_eq!(plain, patient, "{carrier}");
        assert_eq!(before.packet_hops, after.packet_hops);
    }
}

/// The request arrives after its client has given up, in 25 ms, and the FIN behind it is lost: the server
/// waits for its program and releases three segments within 24 ms, before the first one is answered by a
/// reset. The times that held it add up.
#[test]
fn the_times_of_a_response_that_was_given_up_add_up() {
    let held = ["cwnd", "pacing", "window", "nagle", "recovery", "handshake", "credit", "application"];
    let rest = "exchanges = true\n[origin]\nrelease = \"paced\"\n[clients]\ngive_up = \"25 ms\"";
    let scenario = path(&[["fin 1", ""]], &[EACH], rest);
    let (tables, _) = run(&scenario, 1, vec![Asked(0, 300, 3_000, 24_000_000)]);
    assert_gave_up(&tables, 25_000_000, EACH);
    let of = |name: &str| ints(&tables, "exchanges", &format!("{name}_ns"))[0];
    let taken = of("sent_last") - of("ready_first");
    assert_eq!((held.map(of).iter().sum::<i64>(), taken), (taken, 16_000_000));
}

/// A transfer cannot be stopped: it goes on to its end, and its request has failed when its client gave up.
#[test]
fn a_transfer_that_was_given_up_has_failed() {
    let link =
        "up = { rate = \"unlimited\", delay = \"0 ms\" }\ndown = { rate = \"128 kbit/s\", delay = \"0 ms\" }";
    let text = format!(
        "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\n{link}\n[[leg]]\nfrom = \"client\"\nto = \"server\"\n\
         carrier = {{ kind = \"transfer\" }}\ntcp = {{ profile = \"ns2-reno\" }}\n[clients]\ngive_up = \"400 ms\"\n\
         [workload]\nrequests = \"given by the test\"\n"
    );
    let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let (tables, progress) = run(&scenario, 1, vec![Asked(0, 0, 10_000, 0)]);
    assert_gave_up(&tables, 400_000_000, "transfer");
    assert_eq!((progress.requests_finished, progress.requests_failed), (0, 1));
    assert!(progress.now.as_nanos() > 600_000_000, "all of it was sent");
}
