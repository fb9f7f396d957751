//! Causes of incomplete responses and times of failure: a path for each cause, under every carrier that has it.

use farweb::record::{Failure, NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;

use crate::run::{Asked, Tables, codes, ints, run};

pub(crate) const EACH: &str = "{ kind = \"http/1.0\" }";
pub(crate) const POOL: &str = "{ kind = \"http/1.1\" }";
const HTTP2: &str = "{ kind = \"http/2\", preset = \"rfc-default\" }";
const CARRIERS: [&str; 4] = [EACH, POOL, "{ kind = \"webmux\" }", HTTP2];
pub(crate) const MUX: &str = "{ kind = \"mux\", connections = 1, overhead = \"none\" }";

/// Constants that give up early.
const IMPATIENT: &str =
    "syn_retries = 2, syn_linear_timeouts = 0, synack_retries = 1, retries_max = 5, orphan_retries = 5";

/// Links of 10 ms each way, with these losses up and down, a leg over each with these carriers, and more.
pub(crate) fn path(losses: &[[&str; 2]], carriers: &[&str], rest: &str) -> Scenario {
    path_with(IMPATIENT, losses, carriers, rest)
}

/// The same with these constants.
fn path_with(constants: &str, losses: &[[&str; 2]], carriers: &[&str], rest: &str) -> Scenario {
    let nodes: Vec<_> = (0..=losses.len()).map(|node| format!("\"node {node}\"")).collect();
    let mut text = format!("format = 1\n[path]\nnodes = [{}]\n", nodes.join(", "));
    for lost in losses {
        let [up, down] = lost.map(|lost| {
            let list = if lost.is_empty() { String::new() } else { format!("\"{lost}\"") };
            format!(
                "{{ rate = \"8 Mbit/s\", delay = \"10 ms\", loss = {{ kind = \"list\", drop = [{list}] }} }}"
            )
        });
        text += &format!("[[path.link]]\nup = {up}\ndown = {down}\n");
    }
    for (leg, carrier) in carriers.iter().enumerate() {
        text += &format!(
            "[[leg]]\nfrom = {}\nto = {}\ncarrier = {carrier}\n\
             tcp = {{ profile = \"linux\", constants = {{ {constants} }} }}\n",
            nodes[leg],
            nodes[leg + 1]
        );
    }
    text += &format!("[workload]\nrequests = \"given by the test\"\n[record]\npackets = \"all\"\n{rest}");
    Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const ONE: Asked = Asked(1_000_000_000, 300, 20_000, 0);

/// Checks that the one request failed for this cause. Gives the seconds from its start.
fn failed_after(tables: &Tables, cause: Failure, what: &str) -> f64 {
    assert_eq!(codes(tables, "requests", "status"), [Status::Failed as i32], "{what}");
    assert_eq!(codes(tables, "requests", "failure"), [cause as i32], "{what}");
    (ints(tables, "requests", "failed_ns")[0] - ints(tables, "requests", "start_ns")[0]) as f64 / 1e9
}

/// Arrival times of packets with these flags.
fn received(tables: &Tables, flag: u8) -> Vec<i64> {
    let (events, flags) = (codes(tables, "packets", "event"), codes(tables, "packets", "flags"));
    let times = ints(tables, "packets", "time_ns");
    let is_it = |row: &usize| events[*row] == 1 && flags[*row] as u8 & flag != 0;
    (0..times.len()).filter(is_it).map(|row| times[row]).collect()
}

/// SYNs at 0, 1 and 3 s, and no answer by 7 s: the client's end closes at that instant.
#[test]
fn a_handshake_times_out_when_no_syn_is_answered() {
    for carrier in CARRIERS {
        let (tables, _) = run(&path(&[["any 1..100000", ""]], &[carrier], ""), 1, vec![ONE]);
        let after = failed_after(&tables, Failure::HandshakeTimedOut, carrier);
        assert!((7.0..7.9).contains(&after), "{carrier}: {after}");
        assert_eq!(ints(&tables, "requests", "failed_ns"), ints(&tables, "connections", "close_ns"));
    }
}

/// The request never arrives. Timeouts from 200 ms on double five times: 12.6 s at least.
#[test]
fn a_client_gives_up_what_nobody_acknowledges() {
    for carrier in CARRIERS {
        let (tables, _) = run(&path(&[["data 1..100000", ""]], &[carrier], ""), 1, vec![ONE]);
        let after = failed_after(&tables, Failure::ClientGaveUp, carrier);
        assert!((12.6..16.0).contains(&after), "{carrier}: {after}");
    }
}

/// Only the beginning of the response arrives.
#[test]
fn a_server_gives_up_what_nobody_acknowledges() {
    for carrier in CARRIERS {
        let (tables, _) = run(&path(&[["", "data 3..100000"]], &[carrier], ""), 1, vec![ONE]);
        let after = failed_after(&tables, Failure::ServerGaveUp, carrier);
        assert!((12.6..16.0).contains(&after), "{carrier}: {after}");
    }
}

/// The way down takes a minute behind the acknowledgement of the request: the server gives up meanwhile, and all that it sent
/// arrives.
#[test]
fn a_response_that_arrives_behind_its_server_s_giving_up_is_done() {
    for carrier in [EACH, POOL, HTTP2] {
        let text = format!(
            "format = 1\n[path]\nnodes = [\"a\", \"b\"]\n[[path.link]]\nup = {{ rate = \"8 Mbit/s\", delay = \"10 ms\" }}\n\
             down = {{ rate = \"8 Mbit/s\", delay = \"10 ms\", steps = [{{ at = \"1.2 s\", delay = \"60 s\" }}] }}\n\
             [[leg]]\nfrom = \"a\"\nto = \"b\"\ncarrier = {carrier}\n\
             tcp = {{ profile = \"linux\", constants = {{ {IMPATIENT} }} }}\n[origin]\nrelease = \"delayed\"\n\
             [workload]\nrequests = \"given by the test\"\n"
        );
        let scenario = Scenario::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
        let (tables, _) = run(&scenario, 1, vec![Asked(1_000_000_000, 300, 10_000, 300_000_000)]);
        assert_eq!(codes(&tables, "requests", "failure"), [NULL_CODE], "{carrier}");
        let end = ints(&tables, "requests", "end_ns")[0];
        assert!((61_300_000_000..61_400_000_000).contains(&end), "{carrier}: {end}");
    }
}

/// The server forgets a connection if its SYN-ACK goes unanswered for 3 s. At the client it is established: it sends its
/// request again until one comes through and is answered by a reset, and the request fails at that instant.
#[test]
fn a_client_is_reset_by_a_server_that_has_forgotten_it() {
    let (tables, _) = run(&path(&[["any 2..9", ""]], &[POOL], ""), 1, vec![ONE]);
    let after = failed_after(&tables, Failure::Reset, POOL);
    assert!(after > 3.0, "{after}");
    let resets = received(&tables, 4);
    assert_eq!(ints(&tables, "requests", "failed_ns"), resets);
}

/// The link to the servers is dead: every request fails when the proxy's end of its connection there closes.
#[test]
fn a_proxy_passes_a_failure_on() {
    for carrier in [EACH, POOL, MUX, CARRIERS[2], CARRIERS[3]] {
        let scenario = path(&[["", ""], ["any 1..100000", ""]], &[carrier, EACH], "");
        let (tables, _) = run(&scenario, 1, vec![ONE]);
        let after = failed_after(&tables, Failure::ProxyLost, carrier);
        assert!((7.0..8.0).contains(&after), "{carrier}: {after}");
        let on_last_leg = ints(&tables, "connections", "leg").iter().position(|leg| *leg == 1);
        let closed = ints(&tables, "connections", "close_ns")[on_last_leg.expect("it was opened")];
        assert_eq!(ints(&tables, "requests", "failed_ns"), [closed], "{carrier}");
    }
}

/// The client has given up in silence, and its server does not know. A server that probes an idle peer after 30 s is
/// answered by a reset of the client's host, and the connection ends.
#[test]
fn keepalive_ends_a_connection_that_is_half_open() {
    for (keepalive, is_over) in [("false", false), ("true", true)] {
        let constants = format!("{IMPATIENT}, keepalive = {keepalive}, keepalive_idle = \"30 s\"");
        let scenario = path_with(&constants, &[["data 1..100000", ""]], &[POOL], "[run]\nuntil = \"1 h\"");
        let (tables, _) = run(&scenario, 1, vec![ONE]);
        failed_after(&tables, Failure::ClientGaveUp, keepalive);
        let closed = ints(&tables, "connections", "close_ns")[0];
        assert_eq!(closed != NULL_INT, is_over, "{closed}");
        if is_over {
            // Its peer was last heard of at 1.03 s. The wheel is late by an eighth at most.
            assert!((31.0..35.5).contains(&(closed as f64 / 1e9)), "{closed}");
        }
    }
}

/// The run ends at 2 s, in the middle of the second request.
#[test]
fn a_run_that_ends_is_the_cause_of_what_it_cuts_off() {
    let scenario = path(&[["", ""]], &[POOL], "[run]\nuntil = \"2 s\"");
    let (tables, _) =
        run(&scenario, 1, vec![Asked(0, 300, 2000, 0), Asked(1_900_000_000, 300, 10_000_000, 0)]);
    assert_eq!(codes(&tables, "requests", "failure"), [NULL_CODE, Failure::RunEnded as i32]);
    assert_eq!(ints(&tables, "requests", "failed_ns"), [NULL_INT, 2_000_000_000]);
}
