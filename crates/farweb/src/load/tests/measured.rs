//! Estimates beside runs.

use super::*;
use crate::scenario::Scenario;
use crate::sweep::Planned;
use crate::workload::Directory;
use crate::world::World;

/// Packets over links, and bytes up and down on the first link: the estimate over those of a run.
fn beside(scenario: &Scenario, table: &str) -> [f64; 3] {
    let prepared = Prepared::of_bytes("requests.csv".into(), table.as_bytes().to_vec(), None).unwrap();
    let check = Check::of(scenario, None, &prepared, Imported::default(), None).unwrap();
    let (mut requests, _) = prepared.laid(&scenario.workload.laying(1)).unwrap();
    let mut world = World::new(scenario, 1, Directory::default());
    while !world.advance(&mut *requests, u64::MAX).unwrap().done {}
    let totals = world.link_totals();
    let links = crate::load::rated::rated_links(scenario, &check.report);
    let bytes = |place: usize| {
        links[place].total(check.demand.as_deref().unwrap()) / totals[place].stats.bytes.get() as f64
    };
    let hops = check.extent.as_ref().unwrap().packet_hops as f64 / world.progress().packet_hops as f64;
    [hops, bytes(0), bytes(1)]
}

/// A line of 20 Mbit/s and 60 ms each way, and a short one behind it.
fn path(legs: &str, release: &str) -> Scenario {
    let link = |rate, delay| {
        let way = format!("{{ rate = \"{rate} Mbit/s\", delay = \"{delay} ms\" }}");
        format!("[[path.link]]\nup = {way}\ndown = {way}\n")
    };
    let text = format!(
        "format = 1\nname = \"beside\"\n[path]\nnodes = [\"a\", \"m\", \"b\"]\n{}{}{legs}\n[workload]\n\
         requests = \"r.csv\"\n[origin]\nrelease = \"{release}\"\n",
        link(20, 60),
        link(100, 5)
    );
    Planned::parse(&text, "s.toml", &[]).unwrap_or_else(|error| panic!("{error}")).scenario().clone()
}

fn leg(from: &str, to: &str, carrier: &str, more: &str) -> String {
    format!("[[leg]]\nfrom = \"{from}\"\nto = \"{to}\"\ncarrier = {{ kind = {carrier} }}\n{more}\n")
}

/// 300 requests of 20 clients in a minute for 500 B to 1 MB, which servers take 0 to 2 s for.
fn requests() -> String {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut table = "start_s,host,request_bytes,response_bytes,server_s,wait_s,client\n".to_owned();
    for number in 0..300 {
        let bytes = (500.0 * libm::pow(2000.0, next() * next())) as u64;
        let server = 2.0 * next() * next();
        let [wait, host, request] = [next() * server, (next() * 5.0).floor(), (next() * 300.0).floor()];
        let (start, client) = (f64::from(number) / 5.0, (next() * 20.0).floor());
        let sizes = format!("{},{bytes},{server:.3},{wait:.3}", 300.0 + request);
        table += &format!("{start:.1},h{host}.example,{sizes},c{client}\n");
    }
    table
}

#[test]
fn packets_and_bytes_are_within_a_fifth_of_a_run() {
    let linux = "tcp = { profile = \"linux\" }";
    let tls = &format!("{linux}\ntls = {{ version = \"1.3\" }}");
    let pep = &format!("{tls}\n[[leg.split]]\nat = \"m\"\n");
    let second = leg("m", "b", "\"http/1.1\"", linux);
    let table = requests();
    for (name, legs) in [
        ("http/1.0 bsd", leg("a", "b", "\"http/1.0\"", "")),
        ("http/1.0", leg("a", "b", "\"http/1.0\"", linux)),
        ("http/1.0 tls", leg("a", "b", "\"http/1.0\"", tls)),
        ("http/1.1 bsd", leg("a", "b", "\"http/1.1\"", "")),
        ("http/1.1", leg("a", "b", "\"http/1.1\"", linux)),
        ("http/1.1 tls", leg("a", "b", "\"http/1.1\"", tls)),
        ("mux bsd", leg("a", "m", "\"mux\", connections = 8", "") + &second),
        ("mux", leg("a", "m", "\"mux\", connections = 8", linux) + &second),
        ("webmux", leg("a", "b", "\"webmux\"", linux)),
        ("http/2", leg("a", "b", "\"http/2\"", tls)),
        ("pep", leg("a", "b", "\"http/1.1\"", pep)),
        ("proxy", leg("a", "m", "\"http/1.1\"", linux) + &second),
    ] {
        for release in ["at-once", "delayed", "after-wait", "paced"] {
            let found = beside(&path(&legs, release), &table);
            assert!(found.iter().all(|part| (0.8..1.2).contains(part)), "{name} {release}: {found:?}");
        }
    }
}

#[test]
fn acks_of_one_response_are_within_a_tenth_of_a_run() {
    for more in ["", ", buffer = \"256000 B\""] {
        for tls in ["", "tls = { version = \"1.3\" }"] {
            let linux = format!("tcp = {{ profile = \"linux\"{more} }}\n{tls}");
            let scenario = path(&leg("a", "b", "\"http/1.0\"", &linux), "at-once");
            for segments in [1, 10, 40, 200, 1000, 4000, 16_000] {
                let table = format!("start_s,host,request_bytes,response_bytes\n0,a,300,{}", segments * 1448);
                let found = beside(&scenario, &table);
                let is_near = (0.9..1.1).contains(&found[0]) && (0.85..1.1).contains(&found[1]);
                assert!(is_near, "{segments} {linux}: {found:?}");
            }
        }
    }
}
