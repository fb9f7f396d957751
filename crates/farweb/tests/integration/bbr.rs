//! BBR and pacing in whole runs, against closed forms and a sketch of the same rules in another language.

use farweb::record::{NULL_CODE, NULL_INT};

use crate::run::{Asked, Tables, codes, floats, ints, on_leg, run};

/// IP bytes of a full segment.
const PACKET: f64 = 1500.0;
const MS: f64 = 1e6;

/// Requests over a link of `mbps` and `delay_ms` each way, with these keys of the way down and these constants: the tables.
fn transfer(
    delay_ms: u64,
    mbps: u64,
    down: &str,
    carrier: &str,
    constants: &str,
    asked: Vec<Asked>,
) -> Tables {
    let way = |keys: &str| format!("{{ rate = \"{mbps} Mbit/s\", delay = \"{delay_ms} ms\"{keys} }}");
    let leg = format!(
        "carrier = {{ kind = \"{carrier}\" }}\ntcp = {{ profile = \"linux\", constants = {{ {constants} }} }}"
    );
    let rest = "[record]\nexchanges = true\nlinks_every = \"10 s\"\n[origin]\nrelease = \"delayed\"";
    run(&on_leg(&format!("up = {}\ndown = {}", way(""), way(down)), &leg, rest), 1, asked).0
}

/// One response of `bytes` by BBR.
fn one(delay_ms: u64, mbps: u64, bytes: u64) -> Tables {
    transfer(delay_ms, mbps, "", "http/1.0", BBR, vec![Asked(0, 300, bytes, 0)])
}

const BBR: &str = "congestion_control = \"bbr\"";

/// End of each request, in ms.
fn ends_ms(tables: &Tables) -> Vec<f64> {
    ints(tables, "requests", "end_ns").iter().map(|end| *end as f64 / MS).collect()
}

/// STARTUP fills a window of 2.8867 times the path and three bursts, rounded up to an even number.
#[test]
fn startup_builds_the_queue_that_its_gain_allows() {
    for (delay_ms, mbps, bytes, burst) in
        [(10, 5, 1_000_000, 2.0), (25, 20, 2_000_000, 4.0), (25, 50, 8_000_000, 11.0)]
    {
        let tables = one(delay_ms, mbps, bytes);
        let packet_ms = PACKET * 8.0 / (mbps as f64 * 1000.0);
        let path = (2.0 * delay_ms as f64 + packet_ms) / packet_ms;
        let even = 2.0 * (((739.0 / 256.0 * path).ceil() + 3.0 * burst) / 2.0).ceil();
        let most = ints(&tables, "links", "queue_bytes_max").iter().max().expect("an interval");
        let most = *most as f64 / PACKET;
        assert!((most - (even - path)).abs() <= 2.0, "{mbps} Mbit/s: {most}, and {} expected", even - path);
        assert_eq!(ints(&tables, "connections", "retransmits"), [0]);
    }
}

/// Ticks of the receiver's delayed ACKs move a long way's by a thousandth.
#[test]
fn transfers_take_the_times_of_the_sketch() {
    for (delay_ms, mbps, bytes, expected) in [
        (10, 5, 1_000_000, 1698.5),
        (25, 20, 2_000_000, 1059.6),
        (25, 20, 20_000_000, 8524.5),
        (100, 50, 20_000_000, 4891.0),
        (300, 20, 40_000_000, 22_720.0), // PROBE_RTT after 10 s, in STARTUP
    ] {
        let took = ends_ms(&one(delay_ms, mbps, bytes))[0];
        assert!((took / expected - 1.0).abs() < 0.001, "{delay_ms} ms, {mbps} Mbit/s: {took} ms");
    }
}

/// Ten full segments at 10 Mbit/s behind two round trips of 100 ms.
#[test]
fn ten_segments_are_not_paced() {
    let took = ends_ms(&one(50, 10, 14_480))[0];
    assert!((took - 212.7).abs() < 0.5, "{took}");
}

/// A lone flow fills the path and keeps no more than its bursts in the queue.
#[test]
fn a_long_flow_fills_the_link_and_leaves_its_queue_short() {
    let tables = one(25, 20, 40_000_000);
    let busy = floats(&tables, "links", "busy")[1]; // down, the first 10 s
    assert!(busy > 0.97, "{busy}");
    let queues = floats(&tables, "links", "queue_bytes_mean");
    let later = queues[3] / PACKET;
    assert!((5.0..30.0).contains(&later), "{later} packets from 10 s on");
}

/// 2.8867 times the path takes ⌈log₂(83 / 10)⌉ rounds to fill, and three more to be found. Then a look at the path every 10 s.
#[test]
fn connections_say_how_long_bbr_was_in_which_state() {
    let tables = one(25, 20, 40_000_000);
    let of = |column: &str| ints(&tables, "connections", column)[0] as f64 / MS;
    let [startup, drain, probe_bw, probe_rtt] =
        ["startup", "drain", "probe_bw", "probe_rtt"].map(|state| of(&format!("bbr_{state}_ns")));
    let life = of("close_ns") - of("open_ns") - 50.0; // established half a round trip after the SYN-ACK
    assert!((startup + drain + probe_bw + probe_rtt - life).abs() < 60.0, "{life}");
    assert!((700.0..850.0).contains(&startup), "{startup}");
    assert!((100.0..200.0).contains(&drain), "{drain}");
    assert!((200.0..350.0).contains(&probe_rtt), "{probe_rtt}");
    assert!((of("bbr_min_rtt_ns") - 50.6).abs() < 0.3, "{}", of("bbr_min_rtt_ns"));
    let rate = ints(&tables, "connections", "bbr_rate_bps")[0] as f64;
    assert!((rate / (20e6 * 1448.0 / 1500.0) - 1.0).abs() < 0.01, "{rate}");
    let cubic = transfer(25, 20, "", "http/1.0", "", vec![Asked(0, 300, 1000, 0)]);
    assert_eq!(ints(&cubic, "connections", "bbr_rate_bps"), [NULL_INT]);
}

/// PROBE_BW goes on at its rate after 12 s without requests. CUBIC starts with ten segments again.
#[test]
fn a_pause_costs_bbr_no_start() {
    let asked = || vec![Asked(0, 300, 2_000_000, 0), Asked(14_000_000_000, 300, 2_000_000, 0)];
    let second = |constants| {
        let tables = transfer(25, 20, "", "http/1.1", constants, asked());
        assert_eq!(ints(&tables, "connections", "requests"), [2]);
        ends_ms(&tables)[1] - 14_000.0
    };
    // A round trip and 1,382 packets of 0.6 ms, a hundredth slower.
    let (bbr, cubic) = (second(BBR), second(""));
    assert!((bbr / (50.0 + 1382.0 * 0.6 / 0.99) - 1.0).abs() < 0.02, "{bbr}");
    assert!(cubic > 1.1 * bbr, "{cubic}");
}

#[test]
fn losses_do_not_slow_bbr() {
    let lost = |share| format!(", loss = {{ kind = \"bernoulli\", probability = {share} }}");
    let rate = |share: f64| {
        let tables = transfer(25, 20, &lost(share), "http/1.0", BBR, vec![Asked(0, 300, 20_000_000, 0)]);
        20.0 * 8.0 / (ends_ms(&tables)[0] / 1000.0) / (20.0 * 1448.0 / 1500.0)
    };
    for (share, least) in [(0.01, 0.93), (0.05, 0.9), (0.1, 0.85)] {
        assert!(rate(share) > least, "{share}: {}", rate(share));
    }
}

#[test]
fn flows_of_one_path_share_it() {
    let asked = (0..3).map(|flow| Asked(flow * 20_000, 300, 8_000_000, 0)).collect();
    let ends = ends_ms(&transfer(25, 20, "", "http/1.0", BBR, asked));
    let last = ends.iter().copied().fold(0.0, f64::max);
    assert!(last < 1.06 * (24e6 / 1448.0 * 0.6 + 100.0), "{ends:?}: the link is full");
    assert!(ends.iter().all(|end| *end > 0.6 * last), "{ends:?}");
}

/// `auto` is `none` for CUBIC, row for row. `internal` spreads a round over its round trip: twice the window in each.
#[test]
fn cubic_paces_where_it_is_told_to() {
    let tables = |constants| transfer(50, 100, "", "http/1.0", constants, vec![Asked(0, 300, 300_000, 0)]);
    let [auto, none, internal] = ["", "pacing = \"none\"", "pacing = \"internal\""].map(tables);
    assert_eq!(auto, none);
    let held = |tables: &Tables| ints(tables, "connections", "held_pacing_ns")[0] as f64 / MS;
    assert_eq!(held(&auto), 0.0);
    // 208 segments in rounds of 10, 20, 40 and 80, and some more: half a round trip in each but the first.
    assert!((130.0..220.0).contains(&held(&internal)), "{}", held(&internal));
    let longer = ends_ms(&internal)[0] - ends_ms(&auto)[0];
    assert!((0.0..60.0).contains(&longer), "{longer}");
    assert_eq!(ints(&internal, "connections", "retransmits"), [0]);
}

/// Each end of a connection draws from a stream of its own: flows that begin together do not probe together.
#[test]
fn the_phase_of_the_cycle_is_drawn_by_seed_and_connection() {
    let end = |seed| {
        let way = "{ rate = \"20 Mbit/s\", delay = \"25 ms\" }";
        let leg = format!(
            "carrier = {{ kind = \"http/1.0\" }}\ntcp = {{ profile = \"linux\", constants = {{ {BBR} }} }}"
        );
        let link = format!("up = {way}\ndown = {way}");
        let scenario = on_leg(&link, &leg, "[origin]\nrelease = \"delayed\"");
        ends_ms(&run(&scenario, seed, vec![Asked(0, 300, 5_000_000, 0)]).0)[0]
    };
    let ends: Vec<f64> = (1..=8).map(end).collect();
    assert_eq!(end(1), ends[0]);
    let (low, high) =
        ends.iter().fold((f64::MAX, 0.0_f64), |(low, high), end| (low.min(*end), high.max(*end)));
    assert!(high > low && high - low < 10.0, "{ends:?}");
}

/// Ten segments in a round trip of 100 ms, times 739/256 and 0.99, are the first pace. The states follow one another.
#[test]
fn packets_have_the_pace_and_the_state_of_their_sender() {
    let link = r#"{ rate = "100 Mbit/s", delay = "50 ms" }"#;
    let leg = format!(
        "carrier = {{ kind = \"http/1.0\" }}\ntcp = {{ profile = \"linux\", constants = {{ {BBR} }} }}"
    );
    let asked = vec![Asked(0, 300, 20_000_000, 0)];
    let rest = "[record]\npackets = \"all\"";
    let tables = run(&on_leg(&format!("up = {link}\ndown = {link}"), &leg, rest), 1, asked).0;
    let sent = |row: &usize| {
        codes(&tables, "packets", "event")[*row] == 0 && codes(&tables, "packets", "direction")[*row] == 1
    };
    let [pace, states] = ["pace_bps", "bbr_state"].map(|column| {
        let all: Vec<i64> = if column == "pace_bps" {
            ints(&tables, "packets", column).to_vec()
        } else {
            codes(&tables, "packets", column).iter().map(|code| i64::from(*code)).collect()
        };
        (0..all.len()).filter(sent).map(|row| all[row]).collect::<Vec<_>>()
    });
    assert_eq!((pace[0], states[0]), (NULL_INT, i64::from(NULL_CODE)), "a SYN-ACK");
    let first = 10.0 * 1448.0 * 8.0 / 0.1 * 739.0 / 256.0 * 0.99;
    assert!((pace[1] as f64 / first - 1.0).abs() < 0.001, "{}", pace[1]);
    let mut in_turn = states[1..].to_vec();
    in_turn.dedup();
    assert_eq!(in_turn, [0, 1, 2], "STARTUP, DRAIN, PROBE_BW");
}
