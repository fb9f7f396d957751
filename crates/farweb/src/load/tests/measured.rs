//! Estimates beside runs.

use super::*;
use crate::scenario::Scenario;
use crate::units::Instant;
use crate::world::World;

/// Packets over links and bytes up and down on the first link, by the estimate and in a run.
fn beside(scenario: &Scenario, table: &str) -> [[f64; 2]; 3] {
    let prepared = Prepared::of_bytes("requests.csv".into(), table.as_bytes().to_vec(), None).unwrap();
    let check = Check::of(scenario, None, &prepared, Imported::default(), None).unwrap();
    let (mut requests, _) = prepared.laid(&scenario.workload.laying(1)).unwrap();
    let mut world = World::new(scenario, 1, crate::workload::Directory::default());
    while !world.advance(&mut *requests, u64::MAX).unwrap().done {}
    let totals = world.link_totals();
    let demand = check.demand.as_deref().unwrap();
    let links = crate::load::rated::rated_links(scenario, &check.report);
    let bytes = |place: usize| [links[place].total(demand), totals[place].stats.bytes.get() as f64];
    let _ = Instant::ZERO;
    [
        [check.extent.as_ref().unwrap().packet_hops as f64, world.progress().packet_hops as f64],
        bytes(0),
        bytes(1),
    ]
}

#[test]
fn scratch() {
    // 300 requests in a minute, sizes from 500 B to 1 MB, server times 0 to 2 s.
    let mut table = "start_s,host,request_bytes,response_bytes,server_s,wait_s,client\n".to_owned();
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for n in 0..300 {
        let bytes = (500.0 * (2000.0_f64).powf(next() * next())) as u64;
        let server = 2.0 * next() * next();
        table += &format!(
            "{:.3},h{}.example,{},{bytes},{:.3},{:.3},c{}\n",
            f64::from(n) / 5.0,
            (next() * 5.0) as u32,
            300 + (next() * 300.0) as u32,
            server,
            server * next(),
            (next() * 20.0) as u32
        );
    }
    let linux = "leg.0.tcp={ profile = \"linux\" }";
    let http11 = "leg.0.carrier={ kind = \"http/1.1\" }";
    let http2 = "leg.0.carrier={ kind = \"http/2\" }";
    let tls = "leg.0.tls={ version = \"1.3\" }";
    let release = ["at-once", "delayed", "after-wait", "paced"].map(|word| format!("origin.release={word}"));
    let nodes = "path.nodes=[\"a\", \"m\", \"b\"]";
    for (name, keys) in [
        ("http/1.0 bsd", vec![]),
        ("http/1.0 linux", vec![linux]),
        ("http/1.0 linux tls", vec![linux, tls]),
        ("http/1.1 bsd", vec![http11]),
        ("http/1.1 linux", vec![linux, http11]),
        ("http/1.1 linux tls", vec![linux, http11, tls]),
        ("mux 8 bsd", vec!["leg.0.carrier={ kind = \"mux\", connections = 8 }"]),
        ("mux 8 linux", vec![linux, "leg.0.carrier={ kind = \"mux\", connections = 8 }"]),
        ("webmux linux", vec![linux, "leg.0.carrier={ kind = \"webmux\" }"]),
        ("http/2 linux tls", vec![linux, http2, tls]),
        (
            "http/2 linux tls nginx",
            vec![linux, "leg.0.carrier={ kind = \"http/2\", server = { preset = \"nginx\" } }", tls],
        ),
        (
            "pep linux http/1.1 tls",
            vec![
                nodes,
                "leg.0.from=a",
                "leg.0.to=b",
                "path.link.1.up.rate=34.368 Mbit/s",
                "path.link.1.down.rate=34.368 Mbit/s",
                "path.link.1.up.delay=10 ms",
                "path.link.1.down.delay=10 ms",
                linux,
                http11,
                tls,
                "leg.0.split=[{ at = \"m\" }]",
            ],
        ),
    ] {
        for release in &release {
            let keys: Vec<&str> = keys.iter().copied().chain([release.as_str()]).collect();
            let scenario = match crate::scenario::tests::cable_with(&keys) {
                Ok(scenario) => scenario,
                Err(error) => {
                    println!("{name}: {error}");
                    continue;
                }
            };
            let found = beside(&scenario, &table);
            let part = |[a, b]: [f64; 2]| format!("{:+6.1} %", 100.0 * (a / b - 1.0));
            println!(
                "{name:24} {:26} hops {} up {} down {}   {:.0}",
                release,
                part(found[0]),
                part(found[1]),
                part(found[2]),
                found[0][1]
            );
        }
    }
}
