//! Capacity on demand against closed forms, and against a terminal that knows all packets beforehand.

use proptest::prelude::*;

use super::*;
use crate::net::tests::{any_config, at, data, drive, link, plain};
use crate::net::{Enqueued, LinkConfig, Timeline};
use crate::rng::RandomStreams;

const MS: Duration = Duration::from_millis(1);

/// Of the plan of a consumer's terminal: 100 ms, 100 ms, 660 ms.
const PLAIN: Dama = Dama {
    frame: Duration::from_millis(100),
    request_every: Duration::from_millis(100),
    grant_after: Duration::from_millis(660),
    cra: None,
    max: None,
    kind: DamaKind::RateAndVolume,
};

fn bps(bps: u64) -> Option<BitRate> {
    BitRate::from_bps(bps)
}

/// At 8 Mbit/s, a byte a microsecond.
fn terminal(dama: Dama, seed: u64) -> Terminal {
    Terminal::new(dama, bps(8_000_000).unwrap(), RandomStreams::new(seed).stream("dama", 0))
}

/// The same with requests and frames at given times.
fn in_phase(dama: Dama, request: Duration, frame: Duration) -> Terminal {
    let [next_request, next_frame] = [request, frame].map(|phase| Instant::ZERO + phase);
    Terminal { next_request, next_frame, ..terminal(dama, 1) }
}

fn ms(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

#[test]
fn a_first_packet_waits_for_a_request_the_hub_and_a_frame() {
    // Asked for at 30 ms, granted from 690 ms on, sent in the frame of 750 ms: 1500 B in 1.5 ms.
    let mut line = in_phase(PLAIN, MS * 30, MS * 50);
    assert_eq!(line.send(ms(10), 1500), [ms(750), at(751_500_000)]);
    // A packet that joins as the terminal asks is too late for that.
    let mut line = in_phase(PLAIN, MS * 30, MS * 50);
    assert_eq!(line.send(ms(30), 1500), [ms(850), at(851_500_000)]);
}

#[test]
fn at_an_instant_a_terminal_asks_then_a_request_acts_then_a_frame_begins() {
    // Asked for at 30 ms, granted in the frame of 630 ms.
    let mut line = in_phase(Dama { grant_after: MS * 600, ..PLAIN }, MS * 30, MS * 30);
    assert_eq!(line.send(ms(10), 1500), [ms(630), at(631_500_000)]);
    // Without a hub's time, in the frame that begins as it is asked for.
    let at_once = Dama { grant_after: Duration::ZERO, kind: DamaKind::Volume, ..PLAIN };
    let mut line = in_phase(at_once, MS * 30, MS * 30);
    assert_eq!(line.send(ms(10), 1500), [ms(30), at(31_500_000)]);
    assert_eq!(line.grants_until(ms(500)), Grants { bytes: 1500, unused: 0 });
}

#[test]
fn a_first_packet_waits_760_ms_in_the_mean_over_phases() {
    let waits = (0..20_000).map(|seed| terminal(PLAIN, seed).send(ms(5_000), 1500)[0] - ms(5_000));
    let mean = waits.map(Duration::as_secs_f64).sum::<f64>() / 20_000.0;
    // A deviation of 41 ms, by two uniform times of 100 ms.
    assert!((mean - 0.760).abs() < 4.0 * 0.041 / 20_000_f64.sqrt(), "{mean}");
    assert_eq!(PLAIN.mean_wait(Bytes::new(1500)), MS * 760);
}

#[test]
fn requests_and_frames_have_a_phase_each() {
    let dama = Dama { frame: MS * 10, ..PLAIN };
    let lines: Vec<_> = (0..1000).map(|seed| terminal(dama, seed)).collect();
    let latest = |phase: fn(&Terminal) -> Instant| lines.iter().map(phase).max().unwrap();
    assert!((ms(99)..ms(100)).contains(&latest(|line| line.next_request)));
    assert!((at(9_900_000)..ms(10)).contains(&latest(|line| line.next_frame)));
}

#[test]
fn a_constant_rate_takes_what_it_can_before_a_grant_comes() {
    // 50 kbit/s are 625 B a frame: 1500 B leave in the third.
    let dama = Dama { cra: bps(50_000), ..PLAIN };
    let mut line = in_phase(dama, MS * 30, MS * 50);
    assert_eq!(line.send(ms(10), 1500), [ms(50), at(250_250_000)]);
    assert_eq!(line.send(ms(10), 375), [at(250_250_000), at(250_625_000)]);
    assert_eq!(
        [1500, 625, 40].map(|bytes| dama.mean_wait(Bytes::new(bytes))),
        [250, 50, 50].map(|wait| MS * wait)
    );
    // 60 kB would take 96 frames.
    assert_eq!(dama.mean_wait(Bytes::new(60_000)), MS * 760);
    let mut line = in_phase(dama, MS * 30, MS * 50);
    assert_eq!(line.send(ms(10), 60_000)[1], ms(750) + Duration::from_micros(60_000 - 7 * 625));
}

#[test]
fn a_steady_load_below_the_most_waits_for_a_request_and_a_frame_at_the_longest() {
    let mut line = in_phase(PLAIN, MS * 30, MS * 50);
    let waits: Vec<_> =
        (0..400).map(|place| line.send(ms(5 + 20 * place), 1000)[0] - ms(5 + 20 * place)).collect();
    assert_eq!(waits[0], MS * 745);
    // Two waits on, the first packets have left by their volume, and those behind leave by their rate: with the next frame, or the
    // one behind it where a packet joins between a request and a frame.
    assert_eq!(waits[80..].iter().max(), Some(&(MS * 105)));
    let grants = line.grants_until(ms(8_000));
    // All that joined before the frame of 7.95 s, but for the one that waits for the next.
    assert_eq!(grants.bytes - grants.unused, 397_000);
    // By volume alone each waits for a request of its own.
    let mut line = in_phase(Dama { kind: DamaKind::Volume, ..PLAIN }, MS * 30, MS * 50);
    let waits = (0..400).map(|place| line.send(ms(5 + 20 * place), 1000)[0] - ms(5 + 20 * place));
    assert_eq!(waits.min(), Some(MS * 726));
}

#[test]
fn no_frame_has_more_than_the_most() {
    // 800 kbit/s are 10 kB a frame, which take 10 ms of it.
    let mut line = in_phase(Dama { max: bps(800_000), ..PLAIN }, MS * 30, MS * 50);
    let sent: Vec<_> = (0..30).map(|_| line.send(ms(10), 1000)).collect();
    assert_eq!([sent[0][0], sent[9][1], sent[10][0], sent[29][1]], [ms(750), ms(760), ms(850), ms(960)]);
    // A packet goes on in the next frame.
    let mut line = in_phase(Dama { max: bps(40_000), ..PLAIN }, MS * 30, MS * 50);
    assert_eq!(line.send(ms(10), 1200), [ms(750), at(950_200_000)]);
}

#[test]
fn what_is_granted_and_not_used_is_lost() {
    let mut line = in_phase(Dama { kind: DamaKind::Volume, ..PLAIN }, MS * 30, MS * 50);
    line.send(ms(10), 1500);
    assert_eq!(line.grants_until(ms(5_000)), Grants { bytes: 1500, unused: 0 });
    // A rate is granted for the packets that are expected to follow.
    let mut line = in_phase(PLAIN, MS * 30, MS * 50);
    line.send(ms(10), 1500);
    assert_eq!(line.grants_until(ms(749)), Grants::default());
    assert_eq!(line.grants_until(ms(5_000)), Grants { bytes: 3000, unused: 1500 });
    // An idle terminal is granted 625 B a frame, 50 times by 4.95 s.
    let mut line = in_phase(Dama { cra: bps(50_000), ..PLAIN }, MS * 30, MS * 50);
    assert_eq!(line.grants_until(ms(4_950)), Grants { bytes: 50 * 625, unused: 50 * 625 });
}

#[test]
fn a_link_tells_grants_by_interval_and_waits_up_to_them() {
    let timeline = Timeline { dama: Some(PLAIN), ..Timeline::default() };
    let mut line = link(&LinkConfig { timeline, ..plain() });
    line.measure_waits();
    let Enqueued::Queued { event: Some(arrival) } = line.enqueue(ms(200), &data(0, 1500)) else {
        panic!("it waits")
    };
    let sent = arrival - at(0);
    let begin = |less: u64| at(sent.as_nanos() - 2_500_000 - less); // a millisecond of delay, 1.5 to send it
    assert!((ms(860)..=ms(1_060)).contains(&begin(0)), "{arrival}");
    let before = line.close_interval(begin(1));
    assert_eq!((before.grants, before.waits), (Some(Grants::default()), None));
    let then = line.close_interval(ms(2_000));
    assert_eq!(then.grants, Some(Grants { bytes: 3000, unused: 1500 }));
    assert_eq!(then.waits.map(|waits| waits.longest), Some(begin(0) - ms(200)));
    assert_eq!(line.totals(ms(2_000)).grants, then.grants);
    assert_eq!(link(&plain()).totals(ms(2_000)).grants, None);
}

/// A terminal that knows all packets, and goes from one time to the next: departures, and grants.
fn with_full_knowledge(line: &Terminal, packets: &[(Instant, u32)]) -> (Vec<Instant>, Grants) {
    let dama = line.dama;
    let bytes_in = |rate: Option<BitRate>, span| rate.map_or(0, |rate| rate.data_in(span).get());
    let (mut request, mut frame) = (line.next_request, line.next_frame);
    let mut requests: Vec<(Instant, u64, u64)> = Vec::new();
    let (mut waiting, mut ahead): (VecDeque<(usize, u64)>, _) =
        (VecDeque::new(), packets.iter().enumerate().peekable());
    let (mut came, mut departures, mut grants) = (0, vec![Instant::ZERO; packets.len()], Grants::default());
    let mut all_given = 0;
    // Bytes of a frame at `at` granted by rate, and those granted by volume and still to be given.
    let granted = |at: Instant, requests: &[(Instant, u64, u64)], given: u64| {
        let mut acting = requests.iter().filter(|(acts, ..)| *acts <= at);
        let volume: u64 = acting.clone().map(|(_, _, volume)| volume).sum();
        let rate = acting.next_back().map_or(0, |(_, rate, _)| *rate);
        let by_rate = (rate * dama.frame.as_nanos()).div_ceil(dama.request_every.as_nanos());
        let unasked = (line.constant + by_rate).min(line.most);
        (unasked, (volume - given).min(line.most - unasked))
    };
    while departures.contains(&Instant::ZERO) {
        let next = ahead.peek().map(|(_, (joins, _))| *joins);
        let held: u64 = waiting.iter().map(|(_, bytes)| bytes).sum();
        if request <= frame && next.is_none_or(|next| request <= next) {
            let acts = request + dama.grant_after;
            let known = if frame < acts { granted(frame, &requests, all_given).0 } else { line.constant };
            let asked: u64 = requests.iter().map(|(_, _, volume)| volume).sum::<u64>() - all_given;
            let volume = held.saturating_sub(asked + known);
            let rate = u64::saturating_sub(came, bytes_in(dama.cra, dama.request_every));
            requests.push((acts, if dama.kind == DamaKind::Volume { 0 } else { rate }, volume));
            (came, request) = (0, request + dama.request_every);
        } else if next.is_none_or(|next| frame <= next) {
            let (unasked, volume) = granted(frame, &requests, all_given);
            all_given += volume;
            let (mut left, mut sent) = (unasked + volume, 0);
            while let (Some((number, bytes)), true) = (waiting.front_mut(), left > 0) {
                let taken = left.min(*bytes);
                (left, sent, *bytes) = (left - taken, sent + taken, *bytes - taken);
                if *bytes == 0 {
                    departures[*number] = frame + line.rate.time_to_send(Bytes::new(sent));
                    waiting.pop_front();
                }
            }
            grants = grants.joined(Grants { bytes: unasked + volume, unused: left });
            frame += dama.frame;
        } else {
            let (number, (_, bytes)) = ahead.next().expect("a packet");
            waiting.push_back((number, u64::from(*bytes)));
            came += u64::from(*bytes);
        }
    }
    (departures, grants)
}

fn any_dama() -> impl Strategy<Value = Dama> {
    let span = |least: u64| (least..300).prop_map(|units| Duration::from_micros(100 * units));
    let kind = prop_oneof![Just(DamaKind::RateAndVolume), Just(DamaKind::Volume)];
    let cra = prop::option::of(1000..2_000_000_u64);
    let max = prop::option::of(2_000_000..8_000_000_u64);
    (span(10), span(10), prop_oneof![span(0), span(200)], cra, max, kind).prop_map(
        |(frame, request_every, grant_after, cra, max, kind)| Dama {
            frame,
            request_every,
            grant_after,
            cra: cra.and_then(bps),
            max: max.and_then(bps),
            kind,
        },
    )
}

proptest! {
    #[test]
    fn a_departure_is_known_as_a_packet_joins(
        dama in any_dama(),
        seed in any::<u64>(),
        packets in prop::collection::vec((prop_oneof![Just(0), 0..9_000_000_u64, 0..90_000_000_u64], 1..9000_u32), 1..40),
    ) {
        let mut now = Instant::ZERO;
        let packets: Vec<_> = packets.into_iter().map(|(gap, bytes)| {
            now += Duration::from_nanos(gap);
            (now, bytes)
        }).collect();
        let mut line = terminal(dama, seed);
        let (expected, grants) = with_full_knowledge(&line, &packets);
        let found: Vec<_> = packets.iter().map(|(joins, bytes)| line.send(*joins, *bytes)[1]).collect();
        prop_assert_eq!(&found, &expected);
        // The last frame of both carries the last packet.
        let begins = line.next_frame + dama.frame * (line.placed.len() as u64 - 1);
        prop_assert_eq!(line.grants_until(begins), grants);
    }

    #[test]
    fn a_link_with_dama_keeps_order_and_every_packet(
        config in any_config(),
        dama in any_dama(),
        offers in prop::collection::vec((0..2_000_000_u64, 1..1501_u32), 0..200),
    ) {
        let timeline = Timeline { dama: Some(dama), ..Timeline::default() };
        let rate = bps(8_000_000);
        let (arrived, dropped, totals) = drive(&LinkConfig { rate, timeline, ..config }, &offers);
        prop_assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        prop_assert_eq!(arrived.len() + dropped.len(), offers.len());
        prop_assert_eq!((totals.packets, totals.drops()), (arrived.len() as u64, dropped.len() as u64));
        let sent = arrived.iter().map(|(_, number)| u64::from(offers[*number as usize].1)).sum::<u64>();
        prop_assert_eq!(totals.grants.map(|grants| grants.bytes - grants.unused), Some(sent));
    }
}
