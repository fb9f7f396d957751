//! Queues that decide as packets are taken, on links: against links that decide at once, and against events.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Codel, CodelVariant, DropHead, DropTail, FqCodel, Pie, Queue, QueueConfig};
use crate::net::tests::{ECT, MARKED, TestPacket, data, link, plain};
use crate::net::{
    Dropped, Enqueued, Jitter, Link, LinkConfig, LinkStats, Outage, OutageMode, QueueCounts, QueueLimit,
    Step, Timeline, Wake,
};
use crate::rng::RandomStreams;
use crate::units::{BitRate, Bytes, Duration, Instant};

pub(super) const fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Arrivals with the number of the packet, drops, and statistics between the cuts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Seen {
    pub(super) arrived: Vec<(Instant, u64)>,
    pub(super) dropped: Vec<(Instant, u64)>,
    pub(super) stats: Vec<LinkStats>,
}

/// Offers packets at their times, and looks at the statistics at the `cuts`. At one instant events come first, then cuts. No
/// packet is ever missing.
pub(super) fn drive(link: &mut Link<TestPacket>, offers: &[(Instant, TestPacket)], cuts: &[Instant]) -> Seen {
    let (mut head, mut next, mut cut) = (None, 0, 0);
    let mut seen = Seen::default();
    while let Some(now) =
        [head, cuts.get(cut).copied(), offers.get(next).map(|offer| offer.0)].into_iter().flatten().min()
    {
        if head == Some(now) {
            let (packet, after) = link.on_event(now);
            head = after;
            seen.arrived.push((now, packet.number));
        } else if cuts.get(cut) == Some(&now) {
            seen.stats.push(link.close_interval(now));
            cut += 1;
        } else {
            match link.enqueue(now, &offers[next].1) {
                Enqueued::Queued { event } | Enqueued::Late { event } => head = event.or(head),
                Enqueued::Dropped { .. } => seen.dropped.push((now, offers[next].1.number)),
            }
            next += 1;
        }
        let told = std::iter::from_fn(|| link.take_dropped());
        seen.dropped.extend(told.map(|Dropped { at, packet, .. }| (at, packet.number)));
        assert_eq!(seen.arrived.len() + seen.dropped.len() + link.packets(), next, "at {now}");
        assert!(head.is_some() || link.packets() == 0, "something waits, and no event is pending");
    }
    let numbers: BTreeSet<u64> =
        seen.arrived.iter().chain(&seen.dropped).map(|(_, number)| *number).collect();
    assert_eq!(numbers.len(), offers.len());
    seen
}

/// Times and sizes of packets. Some come together, some at the end of a transmission at 8 Mbit/s.
pub(super) fn offers() -> impl Strategy<Value = Vec<(Instant, TestPacket)>> {
    let gap = prop_oneof![Just(0), Just(1), Just(1_500_000), 0..4_000_000_u64];
    prop::collection::vec((gap, any::<bool>()), 1..60).prop_map(|gaps| {
        let mut now = Instant::ZERO;
        let offer = |((gap, is_full), number)| {
            now += Duration::from_nanos(gap);
            (now, data(number, if is_full { 1500 } else { 40 }))
        };
        gaps.into_iter().zip(0..).map(offer).collect()
    })
}

fn timelines() -> impl Strategy<Value = Timeline> {
    let ms = |ms| Duration::from_millis(ms);
    let step = (0..20_u64, 1_000_000..10_000_000_u64, 0..9_u64).prop_map(move |(at, rate, delay)| Step {
        at: ms(at),
        rate: BitRate::from_bps(rate),
        delay: Some(ms(delay)),
        loss: None,
    });
    let outage = (0..20_u64, 1..9_u64).prop_map(move |(at, lasts)| Outage {
        at: ms(at),
        lasts: ms(lasts),
        every: Some(ms(31)),
        mode: OutageMode::Hold,
    });
    let jitter = Jitter { uniform: Some(ms(2)), normal: None, correlation: None };
    let wake =
        (0..9_u64, 0..9_u64).prop_map(move |(after, delay)| Wake { after: ms(after), delay: ms(delay) });
    let (jitter, wake) = (prop::option::of(Just(jitter)), prop::option::of(wake));
    (prop::option::of(step), prop::option::of(outage), jitter, wake).prop_map(
        |(step, outage, jitter, wake)| Timeline {
            steps: step.into_iter().collect(),
            outages: outage.into_iter().collect(),
            jitter,
            wake,
            ..Timeline::default()
        },
    )
}

/// A queue that has room for all.
const ROOMY: QueueConfig = QueueConfig::DropHead(DropHead {
    limit: QueueLimit::Bytes(Bytes::new(1 << 40)),
    counts: QueueCounts::Waiting,
});

proptest! {
    #[test]
    fn first_in_first_out_is_the_link_that_decides_at_once(
        offers in offers(),
        cuts in prop::collection::btree_set(0..200_000_000_u64, 0..6),
        delay in prop::sample::select(vec![0, 1, 7, 300]),
        timeline in timelines(),
    ) {
        let cuts: Vec<_> = cuts.into_iter().map(Instant::from_nanos).collect();
        let delay = Duration::from_millis(delay);
        let config = |queue| LinkConfig { queue, delay, timeline: timeline.clone(), ..plain() };
        let at_once = drive(&mut link(&config(QueueConfig::Unlimited)), &offers, &cuts);
        let late = drive(&mut link(&config(ROOMY)), &offers, &cuts);
        prop_assert_eq!(at_once, late);
    }
}

/// Six packets of 1500 B at once, into a link of 12 Mbit/s without delay.
fn six_at_once(queue: DropHead) -> Seen {
    let rate = BitRate::from_bps(12_000_000);
    let config = LinkConfig { rate, delay: Duration::ZERO, queue: QueueConfig::DropHead(queue), ..plain() };
    let offers: Vec<_> = (0..6).map(|number| (Instant::ZERO, data(number, 1500))).collect();
    drive(&mut link(&config), &offers, &[Instant::from_nanos(1), ms(3), ms(9)])
}

#[test]
fn a_packet_too_many_takes_the_oldest_out() {
    let limit = QueueLimit::Packets(3);
    let seen = six_at_once(DropHead { limit, counts: QueueCounts::Waiting });
    assert_eq!(seen.arrived, [(ms(1), 0), (ms(2), 3), (ms(3), 4), (ms(4), 5)]);
    assert_eq!(seen.dropped, [(ms(0), 1), (ms(0), 2)]);
    let [first, second, rest] = seen.stats[..] else { panic!("three intervals") };
    assert_eq!((first.drops_full, first.packets, first.queue_bytes_max), (2, 0, Bytes::new(6000)));
    // 4, 3 and 2 packets for a millisecond each, less a nanosecond, then one.
    assert_eq!((second.packets, second.queue_byte_nanos), (3, 9 * 1500 * 1_000_000 - 6000));
    assert_eq!((rest.packets, rest.queue_byte_nanos), (1, 1500 * 1_000_000));
}

#[test]
fn the_packet_in_transmission_counts_where_all_do_and_stays() {
    let limit = QueueLimit::Bytes(Bytes::new(3000));
    let seen = six_at_once(DropHead { limit, counts: QueueCounts::All });
    assert_eq!(seen.arrived, [(ms(1), 0), (ms(2), 5)]);
    let none = six_at_once(DropHead { limit: QueueLimit::Packets(0), counts: QueueCounts::All });
    assert_eq!(none.arrived, [(ms(1), 0)]);
}

/// A link without delay at 8 Mbit/s by the definition: an event at the end of each transmission, before
/// arrivals at the same instant.
fn by_events(queue: QueueConfig, offers: &[(Instant, TestPacket)]) -> Seen {
    let mut queue = Queue::new(queue, || RandomStreams::new(1).stream("aqm", 0));
    let late = queue.late().unwrap();
    let (mut busy, mut next, mut seen) = (None, 0, Seen::default());
    loop {
        let end = busy.map(|(end, _)| end);
        let Some(now) = [end, offers.get(next).map(|(at, _)| *at)].into_iter().flatten().min() else {
            return seen;
        };
        if end == Some(now) {
            busy = None;
        } else {
            late.join(now, offers[next].1);
            next += 1;
        }
        if busy.is_none()
            && let Some((_, packet)) = late.take(now)
        {
            let end = now + Duration::from_micros(u64::from(packet.bytes));
            seen.arrived.push((end, packet.number));
            busy = Some((end, packet.bytes));
        }
        late.shed(now, busy.map(|(_, bytes)| bytes));
        seen.dropped.extend(late.dropped().drain(..).map(|Dropped { at, packet, .. }| (at, packet.number)));
    }
}

fn codel(target: Duration, limit: QueueLimit, variant: CodelVariant) -> QueueConfig {
    QueueConfig::Codel(Codel { target, interval: Duration::from_millis(9), limit, variant, ecn: true })
}

proptest! {
    #[test]
    fn takes_that_are_made_up_for_are_those_of_events(
        offers in offers(),
        limit in 0..20_u64,
        flows in 1..4_u64,
        variant in prop::sample::select(vec![CodelVariant::Linux, CodelVariant::Rfc8289]),
    ) {
        let limit = QueueLimit::Packets(limit);
        let of_flows = |(now, packet): &(_, TestPacket)| (*now, TestPacket { flow: ECT - packet.number % flows, ..*packet });
        let offers: Vec<_> = offers.iter().map(of_flows).collect();
        for queue in [
            QueueConfig::DropHead(DropHead { limit, counts: QueueCounts::All }),
            codel(Duration::from_millis(3), limit, variant),
            QueueConfig::FqCodel(FqCodel {
                target: Duration::from_millis(3),
                interval: Duration::from_millis(9),
                limit,
                quantum: Bytes::new(1500),
                queues: None,
                variant,
                ecn: true,
            }),
        ] {
            let config = LinkConfig { delay: Duration::ZERO, queue, ..plain() };
            prop_assert_eq!(drive(&mut link(&config), &offers, &[]), by_events(queue, &offers));
        }
    }

    #[test]
    fn codel_that_finds_every_wait_good_is_drop_tail(
        offers in offers(), limit in 0..10_u64, cuts in prop::collection::btree_set(0..200_000_000_u64, 0..6),
    ) {
        let cuts: Vec<_> = cuts.into_iter().map(Instant::from_nanos).collect();
        let limit = QueueLimit::Packets(limit);
        let drop_tail = QueueConfig::DropTail(DropTail { limit, counts: QueueCounts::Waiting });
        let [codel, drop_tail] = [codel(Duration::from_secs(1 << 30), limit, CodelVariant::Linux), drop_tail]
            .map(|queue| drive(&mut link(&LinkConfig { queue, ..plain() }), &offers, &cuts));
        prop_assert_eq!(codel, drop_tail);
    }
}

/// 1500 B every 0.8 ms, for so many seconds.
pub(super) fn overload(seconds: u64) -> Vec<(Instant, TestPacket)> {
    let offer = |number| (Instant::from_nanos(number * 800_000), data(number, 1500));
    (0..seconds * 1250).map(offer).collect()
}

/// Times of CoDel's drops of that, in front of 12 Mbit/s, and the longest wait, both in ms.
fn codel_overload(variant: CodelVariant) -> (Vec<u64>, u64) {
    let [target, interval] = [5, 100].map(Duration::from_millis);
    let queue =
        QueueConfig::Codel(Codel { target, interval, limit: QueueLimit::Packets(1000), variant, ecn: true });
    let rate = BitRate::from_bps(12_000_000);
    let config = LinkConfig { rate, delay: Duration::ZERO, queue, ..plain() };
    let seen = drive(&mut link(&config), &overload(11), &[]);
    // Packets that may be marked are, when others would be dropped.
    let ect: Vec<_> =
        overload(1).iter().map(|(at, packet)| (*at, TestPacket { flow: ECT, ..*packet })).collect();
    let marked = drive(&mut link(&config), &ect, &[]);
    let marks = marked.arrived.iter().filter(|(_, number)| *number >= MARKED);
    let taken = marks.map(|(at, _)| at.as_nanos() / 1_000_000 - 1);
    let dropped = seen.dropped.iter().map(|(at, _)| at.as_nanos() / 1_000_000);
    let [taken, dropped]: [Vec<u64>; 2] = [taken.collect(), dropped.take_while(|at| *at < 700).collect()];
    assert!(dropped.len() > 10 && taken.starts_with(&dropped), "{taken:?} for {dropped:?}");
    let waits = seen.arrived.iter().map(|(at, number)| (at.as_nanos() - number * 800_000) / 1_000_000 - 1);
    let drops = seen.dropped.iter().map(|(at, _)| at.as_nanos() / 1_000_000).filter(|at| *at <= 10_000);
    (drops.collect(), waits.max().unwrap())
}

#[test]
fn codel_drops_an_overload_at_the_times_of_linux_and_of_the_root() {
    let (drops, longest) = codel_overload(CodelVariant::Linux);
    assert_eq!(drops[..14], [126, 226, 276, 333, 382, 426, 466, 504, 539, 572, 603, 633, 662, 690]);
    let by = |drops: &[u64]| [1000, 2000, 5000, 10_000].map(|end| drops.partition_point(|at| *at <= end));
    assert_eq!((by(&drops), longest), ([27, 105, 637, 2475], 491));
    let (drops, longest) = codel_overload(CodelVariant::Rfc8289);
    assert_eq!(drops[..13], [126, 226, 297, 355, 405, 450, 490, 528, 564, 597, 629, 659, 688]);
    assert_eq!((by(&drops), longest), ([26, 102, 630, 2478], 496));
}

#[test]
fn marks_are_made_with_ecn_alone_and_counted() {
    let offers = overload(3).into_iter().map(|(at, packet)| (at, TestPacket { flow: ECT, ..packet }));
    let offers: Vec<_> = offers.collect();
    let [target, interval] = [5, 100].map(Duration::from_millis);
    let [update, burst] = [16, 150].map(Duration::from_millis);
    let (limit, variant) = (QueueLimit::Packets(1000), CodelVariant::Linux);
    let (quantum, queues) = (Bytes::new(1500), None);
    for ecn in [true, false] {
        for queue in [
            QueueConfig::Pie(Pie { target, update, limit, burst, ecn }),
            QueueConfig::Codel(Codel { target, interval, limit, variant, ecn }),
            QueueConfig::FqCodel(FqCodel { target, interval, limit, quantum, queues, variant, ecn }),
        ] {
            let rate = BitRate::from_bps(12_000_000);
            let config = LinkConfig { rate, delay: Duration::ZERO, queue, ..plain() };
            let seen = drive(&mut link(&config), &offers, &[ms(9_000)]);
            let marked = seen.arrived.iter().filter(|(_, number)| *number >= MARKED).count() as u64;
            let stats = seen.stats[0];
            assert_eq!((stats.marks, stats.drops_full), (marked, 0));
            assert_eq!(stats.drops_aqm, seen.dropped.len() as u64);
            assert_eq!((marked > 0, ecn || stats.drops_aqm > 0), (ecn, true));
        }
    }
}
