//! Links against values worked out by hand.

use proptest::prelude::*;

use super::*;
use crate::rng::RandomStreams;
use crate::units::{BitRate, Bytes, Duration};

/// A packet with a number, to follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TestPacket {
    pub(super) flow: u64,
    pub(super) kind: PacketKind,
    pub(super) bytes: u32,
    pub(super) number: u64,
}

impl Packet for TestPacket {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn kind(&self) -> PacketKind {
        self.kind
    }
    fn set_ce(&mut self) -> bool {
        let is_ect = self.flow == ECT;
        self.number += if is_ect { MARKED } else { 0 };
        is_ect
    }
}

/// The flow whose packets are ECT. A mark adds to their number.
pub(super) const ECT: u64 = 1000;
pub(super) const MARKED: u64 = 1 << 32;

pub(super) const fn data(number: u64, bytes: u32) -> TestPacket {
    TestPacket { flow: 1, kind: PacketKind::Data, bytes, number }
}

pub(super) const fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// 8 Mbit/s, so that a byte takes 1 µs, 1 ms delay, no limit, no loss.
pub(super) fn plain() -> LinkConfig {
    LinkConfig {
        rate: BitRate::from_bps(8_000_000),
        delay: Duration::from_millis(1),
        queue: QueueConfig::Unlimited,
        loss: Loss::None,
        timeline: Timeline::default(),
    }
}

fn limited(limit: QueueLimit) -> QueueConfig {
    QueueConfig::DropTail(DropTail { limit, counts: QueueCounts::All })
}

pub(super) fn link(config: &LinkConfig) -> Link<TestPacket> {
    Link::new(config, |purpose| RandomStreams::new(1).stream(purpose, 0))
}

/// Takes everything off the link: when each packet arrives, and its number.
fn arrivals(link: &mut Link<TestPacket>, head: Option<Instant>) -> Vec<(Instant, u64)> {
    let mut arrived = Vec::new();
    let mut next = head;
    while let Some(now) = next {
        let (packet, after) = link.on_event(now);
        arrived.push((now, packet.number));
        next = after;
    }
    arrived
}

/// Offers packets of `sizes` at `now`. Returns which were accepted.
pub(super) fn offer(link: &mut Link<TestPacket>, now: Instant, sizes: &[u32]) -> Vec<bool> {
    let offered = sizes.iter().zip(0..);
    offered
        .map(|(bytes, number)| matches!(link.enqueue(now, &data(number, *bytes)), Enqueued::Queued { .. }))
        .collect()
}

#[test]
fn an_idle_link_takes_size_over_rate_plus_delay() {
    // E3 and 60 ms: 1500 B take 349 162.01… ns.
    let config =
        LinkConfig { rate: BitRate::from_bps(34_368_000), delay: Duration::from_millis(60), ..plain() };
    let mut link = link(&config);
    assert_eq!(link.enqueue(at(5), &data(0, 1500)), Enqueued::Queued { event: Some(at(60_349_163 + 5)) });
}

#[test]
fn only_the_head_of_the_link_is_announced() {
    let mut link = link(&plain());
    assert_eq!(link.enqueue(at(0), &data(0, 100)), Enqueued::Queued { event: Some(at(1_100_000)) });
    assert_eq!(link.enqueue(at(0), &data(1, 100)), Enqueued::Queued { event: None });
    // The first has left the transmitter but not arrived: the link is not empty.
    assert_eq!(link.enqueue(at(500_000), &data(2, 100)), Enqueued::Queued { event: None });
    let order = arrivals(&mut link, Some(at(1_100_000)));
    assert_eq!(order, [(at(1_100_000), 0), (at(1_200_000), 1), (at(1_600_000), 2)]);
    assert_eq!(link.enqueue(at(1_600_000), &data(3, 100)), Enqueued::Queued { event: Some(at(2_700_000)) });
}

#[test]
fn without_a_rate_packets_of_one_instant_arrive_at_one_instant_in_order() {
    // The limit has no effect: nothing waits.
    let config = LinkConfig { rate: None, queue: limited(QueueLimit::Bytes(Bytes::new(100))), ..plain() };
    let mut link = link(&config);
    assert_eq!(offer(&mut link, at(7), &[1500, 40, 1500]), [true; 3]);
    let order = arrivals(&mut link, Some(at(1_000_007)));
    assert_eq!(order, [(at(1_000_007), 0), (at(1_000_007), 1), (at(1_000_007), 2)]);
    let totals = link.totals(at(2_000_000));
    assert_eq!((totals.packets, totals.bytes, totals.drops()), (3, Bytes::new(3040), 0));
    assert_eq!((totals.busy, totals.queue_byte_nanos), (Duration::ZERO, 0));
    assert_eq!(totals.queue_bytes_max, Bytes::ZERO);
}

#[test]
fn a_lost_packet_takes_neither_time_nor_room() {
    let loss =
        Loss::List { drop: vec!["data 2".parse().unwrap()], mark: vec![], of: CountedOver::Connection };
    let mut link = link(&LinkConfig { queue: limited(QueueLimit::Packets(2)), loss, ..plain() });
    let _ = link.enqueue(at(0), &data(0, 100));
    let lost = data(1, 100);
    assert_eq!(link.enqueue(at(0), &lost), Enqueued::Dropped { reason: DropReason::Loss });
    assert_eq!(link.enqueue(at(0), &data(2, 100)), Enqueued::Queued { event: None });
    let refused = data(3, 100);
    assert_eq!(link.enqueue(at(0), &refused), Enqueued::Dropped { reason: DropReason::Full });
    assert_eq!(arrivals(&mut link, Some(at(1_100_000))), [(at(1_100_000), 0), (at(1_200_000), 2)]);
    let totals = link.totals(at(2_000_000));
    assert_eq!((totals.drops_loss, totals.drops_full, totals.drops()), (1, 1, 2));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "an arrival at the wrong time")]
fn an_arrival_at_the_wrong_time_is_a_bug() {
    let mut link = link(&plain());
    let _ = link.enqueue(at(0), &data(0, 100));
    link.on_event(at(1_100_001));
}

/// 100 B and 300 B at 0, 100 B at 1000 µs. A byte takes 1 µs.
///
/// | µs | in the queue |
/// |---|---|
/// | 0–100 | 400 B |
/// | 100–400 | 300 B |
/// | 400–1000 | – |
/// | 1000–1100 | 100 B |
fn known_pattern() -> Link<TestPacket> {
    let mut link = link(&plain());
    offer(&mut link, at(0), &[100, 300]);
    link
}

#[test]
fn busy_share_and_mean_queue_of_a_known_pattern() {
    let mut link = known_pattern();
    let _ = link.enqueue(at(1_000_000), &data(2, 100));
    let totals = link.totals(at(2_000_000));
    assert_eq!((totals.from, totals.to), (at(0), at(2_000_000)));
    assert_eq!((totals.packets, totals.bytes), (3, Bytes::new(500)));
    assert_eq!(totals.busy, Duration::from_micros(500));
    assert_eq!(totals.queue_byte_nanos, (400 * 100 + 300 * 300 + 100 * 100) * 1000);
    assert_eq!(totals.queue_bytes_max, Bytes::new(400));
    assert_eq!((totals.busy_share(), totals.queue_bytes_mean()), (0.25, 70.0));
}

#[test]
fn an_interval_has_what_happened_in_it_however_late_it_is_closed() {
    let mut link = known_pattern();
    let first = link.close_interval(at(50_000));
    assert_eq!(
        (first.packets, first.busy, first.queue_byte_nanos),
        (0, Duration::from_micros(50), 400 * 50_000)
    );
    // Ends at the very departure of the first packet, which belongs to it.
    let second = link.close_interval(at(100_000));
    assert_eq!((second.from, second.packets, second.bytes), (at(50_000), 1, Bytes::new(100)));
    assert_eq!((second.busy_share(), second.queue_bytes_mean()), (1.0, 400.0));
    let third = link.close_interval(at(600_000));
    assert_eq!((third.packets, third.busy), (1, Duration::from_micros(300)));
    assert_eq!(third.queue_bytes_max, Bytes::new(300));
    assert_eq!((third.busy_share(), third.queue_bytes_mean()), (0.6, 180.0));
    let empty = link.close_interval(at(600_000));
    assert_eq!((empty.busy_share(), empty.queue_bytes_mean()), (0.0, 0.0));
    assert_eq!(link.totals(at(600_000)), known_pattern().totals(at(600_000)));
}

/// M/D/1 at load 0.7: the mean number in the system is ρ + ρ²/(2(1 − ρ)) (Pollaczek–Khinchine).
#[test]
fn the_mean_queue_of_poisson_arrivals_is_that_of_m_d_1() {
    const SERVICE_NANOS: f64 = 100_000.0;
    const INTERVALS: u64 = 200;
    let load = 0.7;
    let mut link = link(&plain());
    let mut random = RandomStreams::new(2).stream("arrivals", 0);
    let mut means = Vec::new();
    let (mut clock, mut due) = (0.0, None);
    for interval in 1..=INTERVALS {
        let end = interval as f64 * 10_000.0 * SERVICE_NANOS;
        while clock < end {
            let now = at(clock as u64);
            while let Some(time) = due.filter(|time| *time <= now) {
                due = link.on_event(time).1;
            }
            let Enqueued::Queued { event } = link.enqueue(now, &data(0, 100)) else { panic!("no limit") };
            due = due.or(event);
            clock -= libm::log(1.0 - random.uniform()) * SERVICE_NANOS / load;
        }
        means.push(link.close_interval(at(end as u64)).queue_bytes_mean() / 100.0);
    }
    // The first interval starts empty. The others are long against the correlation time of some 30 services.
    let steady = &means[1..];
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    let variance = steady.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (steady.len() - 1) as f64;
    let standard_error = (variance / steady.len() as f64).sqrt();
    let expected = load + load * load / (2.0 * (1.0 - load));
    assert!(standard_error < 0.02 * expected, "too few intervals: {standard_error}");
    assert!((mean - expected).abs() < 3.0 * standard_error, "{mean} ± {standard_error}, not {expected}");
}

/// Outcome of a series of offers to a link: arrivals with their numbers, numbers dropped, totals.
type History = (Vec<(Instant, u64)>, Vec<u64>, LinkStats);

/// Offers packets with the given gaps (ns) and sizes, and takes each arrival when it is due.
pub(super) fn drive(config: &LinkConfig, offers: &[(u64, u32)]) -> History {
    let mut link = link(config);
    let (mut now, mut due) = (Instant::ZERO, None);
    let (mut arrived, mut dropped) = (Vec::new(), Vec::new());
    for ((gap, bytes), number) in offers.iter().zip(0..) {
        now += Duration::from_nanos(*gap);
        while let Some(time) = due.filter(|time| *time <= now) {
            let (packet, next) = link.on_event(time);
            arrived.push((time, packet.number));
            due = next;
        }
        match link.enqueue(now, &data(number, *bytes)) {
            Enqueued::Queued { event: Some(head) } => {
                assert_eq!(due, None, "one pending event");
                due = Some(head);
            }
            Enqueued::Late { .. } => panic!("it decides at once"),
            Enqueued::Queued { event: None } => assert!(due.is_some(), "a link with packets has an event"),
            Enqueued::Dropped { .. } => dropped.push(number),
        }
        assert_eq!(arrived.len() + dropped.len() + link.packets(), number as usize + 1);
    }
    arrived.extend(arrivals(&mut link, due));
    let end = arrived.last().map_or(now, |(time, _)| now.max(*time));
    (arrived, dropped, link.totals(end))
}

pub(super) fn any_config() -> impl Strategy<Value = LinkConfig> {
    let limit = prop_oneof![
        (0..10_000_u64).prop_map(|bytes| QueueLimit::Bytes(Bytes::new(bytes))),
        (0..10_u64).prop_map(QueueLimit::Packets),
    ];
    let counts = prop_oneof![Just(QueueCounts::All), Just(QueueCounts::Waiting)];
    let drop_tail =
        (limit, counts).prop_map(|(limit, counts)| QueueConfig::DropTail(DropTail { limit, counts }));
    let queue = prop_oneof![1 => Just(QueueConfig::Unlimited), 2 => drop_tail];
    let loss = prop_oneof![
        Just(Loss::None),
        Just(Loss::List {
            drop: vec!["data 2..4".parse().unwrap(), "any 9".parse().unwrap()],
            mark: vec![],
            of: CountedOver::Connection
        }),
        (0.0..=1.0).prop_map(|probability| Loss::Bernoulli { probability }),
        (0.0..=1.0).prop_map(|bad_to_good| Loss::GilbertElliott {
            good_to_bad: 0.2,
            bad_to_good,
            loss_good: 0.01,
            loss_bad: 0.9
        }),
    ];
    let rate =
        prop_oneof![1 => Just(None), 4 => (1_000_000..100_000_000_000_u64).prop_map(BitRate::from_bps)];
    let delay = prop_oneof![1 => Just(0), 4 => 0..5_000_000_u64];
    (rate, delay, queue, loss).prop_map(|(rate, delay, queue, loss)| LinkConfig {
        rate,
        delay: Duration::from_nanos(delay),
        queue,
        loss,
        timeline: Timeline::default(),
    })
}

#[test]
fn a_packet_is_marked_by_list_or_dropped_where_it_is_not_ect() {
    let loss =
        Loss::List { drop: vec![], mark: vec!["data 2".parse().unwrap()], of: CountedOver::Connection };
    let mut link = link(&LinkConfig { loss, ..plain() });
    for number in 0..3 {
        let ect = TestPacket { flow: ECT, ..data(number, 1000) };
        assert!(matches!(link.enqueue(at(0), &ect), Enqueued::Queued { .. }));
    }
    assert!(matches!(link.enqueue(at(0), &data(3, 1000)), Enqueued::Queued { .. }));
    let refused = Enqueued::Dropped { reason: DropReason::Loss };
    assert_eq!(link.enqueue(at(0), &data(4, 1000)), refused);
    let numbers: Vec<_> =
        arrivals(&mut link, Some(at(2_000_000))).iter().map(|(_, number)| *number).collect();
    assert_eq!(numbers, [0, 1 + MARKED, 2, 3]);
    let totals = link.totals(at(9_000_000));
    assert_eq!((totals.marks, totals.drops(), totals.packets), (1, 1, 4));
}

#[test]
fn a_packet_that_is_to_be_marked_may_be_dropped() {
    let dropped = |flow, limit| {
        let mark = vec!["data 2".parse().unwrap()];
        let loss = Loss::List { drop: vec![], mark, of: CountedOver::Link };
        let mut link = link(&LinkConfig { loss, queue: limited(QueueLimit::Packets(limit)), ..plain() });
        for number in 0..2 {
            let _ = link.enqueue(at(0), &TestPacket { flow, ..data(number, 1000) });
        }
        let totals = link.totals(at(10_000_000));
        (totals.marks, totals.drops_full, totals.drops_loss)
    };
    assert_eq!(dropped(ECT, 2), (1, 0, 0));
    assert_eq!(dropped(ECT, 1), (0, 1, 0));
    assert_eq!(dropped(1, 2), (0, 0, 1));
}

proptest! {
    #[test]
    fn packets_arrive_in_order_or_are_dropped_and_none_is_lost_from_sight(
        config in any_config(),
        offers in prop::collection::vec((0..200_000_u64, 0..1501_u32), 0..200),
    ) {
        let (arrived, dropped, totals) = drive(&config, &offers);
        prop_assert!(arrived.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
        let mut numbers: Vec<_> = arrived.iter().map(|(_, number)| *number).chain(dropped.iter().copied()).collect();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..offers.len() as u64).collect::<Vec<_>>());
        let bytes: u64 = arrived.iter().map(|(_, number)| u64::from(offers[*number as usize].1)).sum();
        prop_assert_eq!((totals.bytes, totals.packets), (Bytes::new(bytes), arrived.len() as u64));
        prop_assert_eq!(totals.drops(), dropped.len() as u64);
    }

    #[test]
    fn intervals_add_up_to_the_totals(
        config in any_config(),
        offers in prop::collection::vec((0..200_000_u64, 0..1501_u32, any::<bool>()), 0..100),
    ) {
        let mut cut = link(&config);
        let mut whole = cut.clone();
        let (mut now, mut intervals) = (Instant::ZERO, Vec::new());
        for (gap, bytes, close) in &offers {
            now += Duration::from_nanos(*gap);
            if *close {
                intervals.push(cut.close_interval(now));
            }
            prop_assert_eq!(cut.enqueue(now, &data(0, *bytes)), whole.enqueue(now, &data(0, *bytes)));
        }
        now += Duration::from_millis(20);
        intervals.push(cut.close_interval(now));
        let totals = whole.totals(now);
        prop_assert_eq!(cut.totals(now), totals);
        prop_assert_eq!(intervals.iter().map(|x| x.queue_byte_nanos).sum::<u128>(), totals.queue_byte_nanos);
        prop_assert_eq!(intervals.iter().map(|x| x.busy).sum::<Duration>(), totals.busy);
        prop_assert_eq!(intervals.iter().map(|x| x.packets).sum::<u64>(), totals.packets);
        prop_assert_eq!(intervals.iter().map(|x| x.queue_bytes_max).max(), Some(totals.queue_bytes_max));
        prop_assert!(intervals.windows(2).all(|pair| pair[0].to == pair[1].from));
    }

    #[test]
    fn the_same_stream_gives_the_same_history(
        config in any_config(),
        offers in prop::collection::vec((0..200_000_u64, 0..1501_u32), 0..100),
    ) {
        prop_assert_eq!(drive(&config, &offers), drive(&config, &offers));
    }
}
