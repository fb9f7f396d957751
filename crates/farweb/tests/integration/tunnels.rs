//! Tunnels with TLS inside: round trips through proxies to the nanosecond, and endings over every carrier.

use farweb::record::{NULL_CODE, NULL_INT, Status};
use farweb::scenario::Scenario;
use farweb::units::{Duration, Instant};
use farweb::workload::{Caching, Directory, Method, OriginTime, Request, RequestSource, WorkloadError};
use farweb::world::World;

use crate::run::{Tables, codes, ints};

const MS: i64 = 1_000_000;

/// Start of a tunnel: connections that stand between proxies are open by then.
const START: i64 = 1000 * MS;

/// A tunnel's request and response, in bytes, and its server's time, in ms.
#[derive(Clone, Copy)]
struct Ask(u64, u64, u64);

struct Asks<'a>(std::slice::Iter<'a, Ask>);

impl RequestSource for Asks<'_> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|&Ask(request_bytes, response_bytes, server)| Request {
            start: Instant::from_nanos(START as u64),
            host: directory.host("server.example"),
            request_bytes,
            response_bytes,
            server: OriginTime::new(Duration::from_millis(server)),
            object: None,
            source: None,
            tag: None,
            day: None,
            client: None,
            method: Method::Connect,
            caching: Caching::Bypass,
            tls: None,
        }))
    }
}

/// Legs one behind the other, each over a link without a rate and with such a round trip, in ms. Linux at both ends of all.
fn path(legs: &[(i64, &str)], rest: &str) -> Scenario {
    path_with(legs, rest, &[])
}

/// The same with other values, by key.
fn path_with(legs: &[(i64, &str)], rest: &str, overrides: &[(String, String)]) -> Scenario {
    let name = |place: usize| if place == legs.len() { "server".to_owned() } else { format!("node{place}") };
    let names: Vec<_> = (0..=legs.len()).map(|place| format!("\"{}\"", name(place))).collect();
    let mut text = format!("format = 1\n[path]\nnodes = [{}]\n", names.join(", "));
    for (place, (trip, keys)) in legs.iter().enumerate() {
        let way = format!("{{ rate = \"unlimited\", delay = \"{} ms\" }}", trip / 2);
        text += &format!("[[path.link]]\nup = {way}\ndown = {way}\n");
        text += &format!("[[leg]]\nfrom = \"{}\"\nto = \"{}\"\n{keys}\n", name(place), name(place + 1));
        text += "tcp = { profile = \"linux\", constants = { nagle = false } }\n";
    }
    text += &format!(
        "[workload]\nrequests = \"given by the test\"\n[record]\nexchanges = true\nconnections = true\n{rest}"
    );
    Scenario::parse(&text, "test.toml", overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario, asks: &[Ask]) -> Tables {
    let mut world = World::new(scenario, 1, Directory::default());
    let progress = world.advance(&mut Asks(asks.iter()), u64::MAX).expect("a list can be read");
    assert!(progress.done);
    world.take().into_iter().map(|(table, columns)| (table, columns.into_iter().collect())).collect()
}

fn tls(version: &str) -> String {
    format!("[clients.tunnels]\ntls = {{ version = \"{version}\" }}\n")
}

const EACH: &str = "carrier = { kind = \"http/1.0\" }";
const REUSE: &str = "carrier = { kind = \"http/1.1\" }";
const MUX: &str = "carrier = { kind = \"mux\", connections = 2, overhead = \"none\" }";
const HTTP2: &str = "carrier = { kind = \"http/2\", preset = \"chrome\" }";
const WEBMUX: &str = "carrier = { kind = \"webmux\" }";

/// A tunnel that fits all windows and waits for round trips only.
const TUNNEL: Ask = Ask(2500, 9000, 0);

/// Time to the first byte of a tunnel, in ms.
fn first_byte(legs: &[(i64, &str)], rest: &str) -> i64 {
    let tables = run(&path(legs, rest), &[TUNNEL]);
    let taken = ints(&tables, "requests", "first_byte_ns")[0] - START;
    assert_eq!(ints(&tables, "requests", "end_ns")[0] - START, taken, "all of it comes at once");
    assert_eq!(taken % MS, 0);
    taken / MS
}

/// The value in `column` of the row of the only request on a leg.
fn on_leg(tables: &Tables, leg: i64, column: &str) -> i64 {
    let row = ints(tables, "exchanges", "leg").iter().position(|found| *found == leg).expect("a row a leg");
    ints(tables, "exchanges", column)[row]
}

#[test]
fn a_tunnel_through_a_proxy_takes_its_handshake_over_the_whole_way() {
    let (near, far) = (600, 20);
    for carrier in [EACH, REUSE] {
        let through = |rest: &str| first_byte(&[(near, carrier), (far, carrier)], rest);
        assert_eq!(through(""), 2 * near + 2 * far);
        assert_eq!(through(&tls("1.3")), 4 * near + 3 * far);
        assert_eq!(through(&tls("1.2")), 5 * near + 4 * far);
        let early = "[clients.tunnels]\ntls = { start = \"0-rtt\" }\n";
        assert_eq!(through(early), 3 * near + 2 * far);
    }
}

#[test]
fn a_tunnel_through_two_proxies_with_a_mux_shakes_hands_on_no_middle_leg() {
    let (near, middle, far) = (4, 600, 20);
    let through = |rest: &str| first_byte(&[(near, REUSE), (middle, MUX), (far, REUSE)], rest);
    assert_eq!(through(""), 2 * near + middle + 2 * far);
    assert_eq!(through(&tls("1.3")), 4 * near + 3 * middle + 3 * far);
    assert_eq!(through(&tls("1.2")), 5 * near + 4 * middle + 4 * far);
}

/// No proxy answers the CONNECT.
#[test]
fn a_tunnel_without_a_proxy_is_a_connection_with_tls() {
    assert_eq!(first_byte(&[(600, REUSE)], &tls("1.3")), 3 * 600);
}

/// TLS of a leg belongs to its proxy. On the last leg of a tunnel it is the TLS inside.
#[test]
fn tls_of_the_last_leg_is_left_out_for_tunnels() {
    let (near, far) = (600, 20);
    for carrier in [EACH, REUSE, HTTP2] {
        let with = format!("{carrier}\ntls = {{ version = \"1.3\" }}");
        let scenario = path(&[(near, &with), (far, &with)], &tls("1.3"));
        let tables = run(&scenario, &[TUNNEL]);
        assert_eq!(
            ints(&tables, "requests", "first_byte_ns"),
            [START + (5 * near + 3 * far) * MS],
            "{carrier}"
        );
        let handshakes = codes(&tables, "connections", "handshake");
        assert_eq!(handshakes.iter().filter(|code| **code == NULL_CODE).count(), 1, "{carrier}");
    }
}

#[test]
fn steps_of_a_tunnel_are_of_its_last_turn() {
    let (near, far) = (600, 20);
    let tables = run(&path(&[(near, REUSE), (far, REUSE)], &tls("1.3")), &[Ask(2500, 9000, 70)]);
    let at = |leg, column: &str| (on_leg(&tables, leg, column) - START) * 2 / MS;
    let half = |near_halves: i64, far_halves: i64| near_halves * near + far_halves * far;
    assert_eq!(at(0, "connect_ns"), half(2, 0));
    // The proxy begins with the CONNECT, and answers it when its connection stands.
    assert_eq!([at(1, "start_ns"), at(1, "connect_ns")], [half(3, 0), half(3, 2)]);
    assert_eq!([at(0, "tunnel_ready_ns"), at(1, "tunnel_ready_ns")], [half(6, 4), half(5, 4)]);
    assert_eq!([at(0, "requested_ns"), at(1, "requested_ns")], [half(7, 4), half(7, 5)]);
    // Four segments and a bit of 4.4 kB, over 70 ms.
    let first = on_leg(&tables, 1, "ready_first_ns") - on_leg(&tables, 1, "requested_ns");
    let last = on_leg(&tables, 1, "ready_last_ns") - on_leg(&tables, 1, "requested_ns");
    assert_eq!(([first, last], first > 0), ([70 * MS / 4, 70 * MS], true));
    assert_eq!(on_leg(&tables, 0, "end_ns") - START, (4 * near + 3 * far + 70) * MS);
    assert_eq!(on_leg(&tables, 0, "first_byte_ns"), on_leg(&tables, 0, "end_ns") - 70 * MS * 3 / 4);
}

/// Payload of all segments of the first leg, upwards and downwards.
fn payload(tables: &Tables) -> [i64; 2] {
    let row = ints(tables, "connections", "leg").iter().position(|leg| *leg == 0).unwrap();
    [("bytes_up", "segments_up"), ("bytes_down", "segments_down")].map(|(bytes, segments)| {
        let of = |column| ints(tables, "connections", column)[row];
        of(bytes) - 52 * of(segments) - 8 // A SYN has 60 B.
    })
}

#[test]
fn bytes_of_a_tunnel_are_those_of_the_table() {
    for (request, response) in [(2500, 90_000), (400, 1000), (3, 3), (2, 90_000), (1, 1)] {
        for rest in [String::new(), tls("1.3")] {
            let tables = run(&path(&[(60, REUSE), (20, REUSE)], &rest), &[Ask(request, response, 0)]);
            assert_eq!(payload(&tables), [request as i64, response as i64]);
        }
    }
    let few = |request| run(&path(&[(60, REUSE), (20, REUSE)], &tls("1.3")), &[Ask(request, 900, 0)]);
    assert_eq!(on_leg(&few(2), 0, "tunnel_ready_ns"), NULL_INT, "less than a byte a turn");
    assert_ne!(on_leg(&few(3), 0, "tunnel_ready_ns"), NULL_INT);
}

/// Clients that give up at any time in the life of tunnels of many sizes, and the same ones when they do not.
#[test]
fn tunnels_end_over_every_carrier() {
    let asks = [Ask(400, 39, 0), Ask(2500, 90_000, 30), Ask(3, 3, 0), Ask(1, 1, 0), Ask(9000, 20_000, 0)];
    let cache =
        "[[cache]]\nnode = \"node1\"\nmode = \"store-and-forward\"\npolicy = \"lru\"\ncapacity = \"1 MB\"\n";
    let inner = [EACH, REUSE, MUX, HTTP2, WEBMUX];
    for (first, middle) in inner.iter().flat_map(|first| inner.map(|middle| (*first, middle))) {
        for last in [EACH, REUSE, HTTP2, WEBMUX] {
            let run = |rest: &str| {
                let rest = format!("{}{rest}{cache}", tls("1.2"));
                run(&path(&[(4, first), (60, middle), (20, last)], &rest), &asks)
            };
            let whole = run("");
            assert_eq!(
                codes(&whole, "requests", "status"),
                [Status::Done as i32; 5],
                "{first} {middle} {last}"
            );
            let length = *ints(&whole, "requests", "end_ns").iter().max().unwrap() - START;
            for part in 1..8 {
                let given_up = run(&format!("[clients]\ngive_up = \"{} ms\"\n", length * part / 8 / MS + 1));
                assert_eq!(codes(&given_up, "requests", "status").len(), 5);
            }
        }
    }
}

/// The path to the server carries nothing for a time, from any turn on, longer than its TCP waits.
#[test]
fn a_tunnel_whose_server_is_lost_fails() {
    for (first, last) in [(REUSE, REUSE), (EACH, EACH), (MUX, HTTP2), (HTTP2, HTTP2), (WEBMUX, WEBMUX)] {
        for lost in 1..6 {
            let drop: Vec<_> = (lost..lost + 60).map(|packet| format!("\"any {packet}\"")).collect();
            let loss = format!("{{ kind = \"list\", drop = [{}] }}", drop.join(", "));
            let overrides = [("path.link.1.up.loss".to_owned(), loss)];
            let scenario = path_with(&[(20, first), (20, last)], &tls("1.3"), &overrides);
            let tables = run(&scenario, &[TUNNEL]);
            assert_eq!(
                codes(&tables, "requests", "status"),
                [Status::Failed as i32],
                "{first} {last} {lost}"
            );
        }
    }
}

/// What goes through a tunnel comes over its life, also where other responses come at once behind their wait.
#[test]
fn a_tunnel_is_paced_by_its_recorded_life() {
    for release in ["paced", "after-wait", "at-once", "delayed"] {
        let scenario = path(&[(100, EACH)], &format!("[origin]\nrelease = \"{release}\"\n"));
        let tables = run(&scenario, &[Ask(500, 146_000, 60_000)]);
        let end = ints(&tables, "requests", "end_ns")[0] - START;
        assert!((60_000 * MS..61_000 * MS).contains(&end), "{release}: {end}");
    }
}
