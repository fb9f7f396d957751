//! No bulk transfer is faster than the limit that the report on its scenario states, by more than the stated margin.

use farweb::explain::{self, LOSS_MARGIN, LimitedBy};
use farweb::scenario::Scenario;
use proptest::prelude::*;

use crate::run::{Asked, ints, run};

const SEGMENT: u64 = 1460;
const SEGMENTS: u64 = 5_000; // many windows and credits
const EVENTS: f64 = 100.0; // the limit by losses is a mean

/// Limits of a connection.
fn limits() -> impl Strategy<Value = (String, String, String)> {
    let loss = prop_oneof![
        (0.003..0.03_f64).prop_map(|p| format!("{{ kind = \"bernoulli\", probability = {p} }}")),
        (0.005..0.01_f64, 2.0..4.0_f64).prop_map(|(p, mean)| {
            let (into, out) = (p / (1.0 - p) / mean, 1.0 / mean);
            format!("{{ kind = \"gilbert-elliott\", good_to_bad = {into}, bad_to_good = {out} }}")
        }),
    ];
    prop_oneof![
        loss.prop_map(|loss| (
            "{ kind = \"http/1.0\" }".to_owned(),
            "profile = \"linux\"".to_owned(),
            format!(", loss = {loss}")
        )),
        (20_000..60_000_u64).prop_map(|buffer| (
            "{ kind = \"http/1.0\" }".to_owned(),
            format!("profile = \"linux\", buffer = \"{buffer} B\""),
            String::new()
        )),
        (64..1024_u64).prop_map(|kib| (
            "{ kind = \"http/1.0\" }".to_owned(),
            format!(
                "profile = \"linux\", constants = {{ send_buffer_initial = \"16 KiB\", send_buffer_max = \"{kib} KiB\" }}"
            ),
            String::new()
        )),
        Just((
            "{ kind = \"http/2\", preset = \"rfc-default\" }".to_owned(),
            "profile = \"linux\"".to_owned(),
            String::new()
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_run_exceeds_the_limit_of_a_connection(
        (carrier, tcp, loss) in limits(), delay in 20..150_u64, uploads in any::<bool>(), seed in 0..1000_u64
    ) {
        let way = |lossy: bool| {
            format!("{{ rate = \"1 Gbit/s\", delay = \"{delay} ms\"{} }}", if lossy { loss.as_str() } else { "" })
        };
        let text = format!(
            "format = 1\n[path]\nnodes = [\"client\", \"server\"]\n[[path.link]]\nup = {}\ndown = {}\n\
             [[leg]]\nfrom = \"client\"\nto = \"server\"\ncarrier = {carrier}\ntcp = {{ {tcp} }}\n\
             [workload]\nrequests = \"given by the test\"\n[origin]\nrelease = \"at-once\"\n",
            way(uploads), way(!uploads)
        );
        let scenario = Scenario::parse(&text, "test.toml", &[]).expect("it keeps all rules");
        let leg = explain::report(&scenario, None, None).legs.remove(0);
        let limit = if uploads { leg.up.expect("requests go up") } else { leg.least };
        let stated = limit.connection_limit_bps.expect("a round trip takes time");
        let is_loss = limit.limited_by == LimitedBy::Loss;
        let segments = if is_loss { (EVENTS / limit.loss_event_share) as u64 } else { SEGMENTS };
        let bytes = segments * SEGMENT;
        let asked = if uploads { Asked(0, bytes, 500, 0) } else { Asked(0, 300, bytes, 0) };
        let (tables, _) = run(&scenario, seed, vec![asked]);
        let margin = match limit.limited_by {
            LimitedBy::Loss => LOSS_MARGIN,
            LimitedBy::SendBuffer => 1.1,
            LimitedBy::Window | LimitedBy::Credit => 1.0,
        };
        let took = ints(&tables, "requests", "end_ns")[0] as f64 / 1e9;
        let rate = (bytes * 8) as f64 / took;
        prop_assert!(rate <= margin * stated, "{rate} bit/s for {stated}, by {:?}", limit.limited_by);
        if limit.limited_by == LimitedBy::SendBuffer {
            let slow_start = 14.0 * 2e-3 * delay as f64; // round trips, at most
            prop_assert!((bytes * 8) as f64 / (took - slow_start) >= 0.85 * stated, "{rate} bit/s for {stated}");
        }
    }
}
