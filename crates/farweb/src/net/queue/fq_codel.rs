//! FQ-CoDel: a queue for each flow, served in turns of a quantum of bytes, each under CoDel (RFC 8290).
//!
//! A flow with a packet is on one of two lists. One that was empty joins the new list with a quantum to
//! spend. New flows go before old ones. A flow that has spent its bytes goes to the end of the old list with
//! another quantum. One that is found empty leaves, from the new list by way of the old one. CoDel takes a
//! packet as good where a full packet at most is left *in all queues*. Beyond the limit the queue with the
//! most bytes loses half of them from its head, 64 packets at most, and CoDel counts them.
//!
//! A flow is a connection, or all those that a hash with the run's seed puts into one of so many queues, as Linux does with
//! 1024. CoDel's state of a flow stays while its connection does.
//!
//! Left out: a limit of memory.
//!
//! Source: RFC 8290; Linux 6.18, `net/sched/sch_fq_codel.c`.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::id::{Slab, SlabId};
use crate::net::config::QueueLimit;
use crate::net::{DropReason, Packet};
use crate::rng::RandomStream;
use crate::units::{Bytes, Duration, Instant};

use super::codel::{CodelVariant, Control, Law};
use super::late::{Account, Fifo};

/// Parameters of FQ-CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FqCodel {
    /// Wait that is good.
    pub target: Duration,
    /// Time above it before the first drop of a flow.
    pub interval: Duration,
    /// Most that waits in all queues, the packet in transmission left out.
    pub limit: QueueLimit,
    /// Bytes of a turn.
    pub quantum: Bytes,
    /// Queues that connections share by a hash. `None` gives each connection one.
    pub queues: Option<u32>,
    /// Clock and root of CoDel.
    pub variant: CodelVariant,
    /// True when CoDel marks packets whose senders take marks.
    pub ecn: bool,
}

/// Most packets that one overflow drops.
const BATCH: u32 = 64;

/// Packets of a flow that wait, and its turn.
#[derive(Debug, Clone)]
struct Flow<P> {
    waiting: Fifo<P>,
    bytes: u64,
    /// Bytes left of its turn, which its last packet may exceed.
    credit: i64,
    is_listed: bool,
    control: Control,
}

/// The queues of all flows.
#[derive(Debug, Clone)]
pub(super) struct Queues<P> {
    config: FqCodel,
    law: Law,
    /// Of the hash.
    seed: u64,
    flows: Slab<Flow<P>>,
    /// By connection, or by the hash of it.
    of: FxHashMap<u64, SlabId>,
    new: VecDeque<SlabId>,
    old: VecDeque<SlabId>,
}

impl<P> Flow<P> {
    const fn new() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, credit: 0, is_listed: false, control: Control::new() }
    }
}

impl<P: Packet> Queues<P> {
    pub(super) fn new(config: FqCodel, mut random: RandomStream) -> Self {
        Self {
            config,
            law: Law::new(config.target, config.interval, config.variant, config.ecn),
            seed: random.below(u64::MAX),
            flows: Slab::new(),
            of: FxHashMap::default(),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    pub(super) fn join(&mut self, now: Instant, packet: P) {
        let key = self
            .config
            .queues
            .map_or(packet.flow(), |queues| mixed(packet.flow() ^ self.seed) % u64::from(queues));
        let Self { flows, of, .. } = self;
        let id = *of.entry(key).or_insert_with(|| flows.insert(Flow::new()));
        let flow = flows.get_mut(id).expect("a flow stays while its connection does");
        flow.bytes += u64::from(packet.bytes());
        flow.waiting.push_back((now, packet));
        if !flow.is_listed {
            flow.is_listed = true;
            flow.credit = self.config.quantum.get() as i64;
            self.new.push_back(id);
        }
    }

    /// Where all queues together are too long, drops half of the fattest.
    pub(super) fn shed(&mut self, now: Instant, account: &mut Account<P>) {
        while !self.config.limit.holds(account.packets, account.bytes) {
            let fatter = |one: (SlabId, u64), other: (SlabId, u64)| if other.1 > one.1 { other } else { one };
            let fattest = self.flows.iter().map(|(id, flow)| (id, flow.bytes)).reduce(fatter);
            let Some((fattest, 1..)) = fattest else { return };
            self.halve(now, fattest, account);
        }
    }

    fn halve(&mut self, now: Instant, fattest: SlabId, account: &mut Account<P>) {
        let flow = self.flows.get_mut(fattest).expect("it is one of them");
        let (bytes, mut drops) = (flow.bytes, 0);
        while drops < BATCH
            && bytes - flow.bytes < bytes / 2
            && let Some((_, packet)) = account.pop(now, &mut flow.waiting)
        {
            flow.bytes -= u64::from(packet.bytes());
            account.drop(now, DropReason::Full, packet);
            drops += 1;
        }
        flow.control.raise(drops);
    }

    pub(super) fn take(&mut self, now: Instant, account: &mut Account<P>) -> Option<(Instant, P)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let id = *list.front()?;
            let Some(flow) = self.flows.get_mut(id) else {
                list.pop_front();
                continue;
            };
            if flow.credit <= 0 {
                flow.credit += self.config.quantum.get() as i64;
                list.pop_front();
                self.old.push_back(id);
                continue;
            }
            let before = account.bytes;
            let taken = flow.control.take(&self.law, now, &mut flow.waiting, account);
            flow.bytes -= before - account.bytes;
            if let Some((joined, packet)) = taken {
                flow.credit -= i64::from(packet.bytes());
                return Some((joined, packet));
            }
            list.pop_front();
            flow.is_listed = is_new && !self.old.is_empty();
            if flow.is_listed {
                self.old.push_back(id);
            }
        }
    }

    /// True while a flow is on a list.
    pub(super) fn has_work(&self) -> bool {
        !(self.new.is_empty() && self.old.is_empty())
    }

    /// A connection has ended, without a packet here.
    pub(super) fn forget(&mut self, flow: u64) {
        if self.config.queues.is_none()
            && let Some(id) = self.of.remove(&flow)
        {
            self.flows.remove(id);
        }
    }
}

/// A number whose bits all depend on all of `number`'s: the last step of SplitMix64.
const fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::queue::late::{Discipline, Late};
    use crate::net::queue::tests::{Seen, drive, ms, offers, overload};
    use crate::net::queue::{Codel, QueueConfig};
    use crate::net::tests::{TestPacket, link, plain};
    use crate::net::{LinkConfig, PacketKind};
    use crate::rng::RandomStreams;
    use crate::units::BitRate;
    use proptest::prelude::*;

    /// CoDel that finds every wait good.
    const FAIR: FqCodel = FqCodel {
        target: Duration::from_secs(1 << 20),
        interval: Duration::from_millis(100),
        limit: QueueLimit::Packets(10_240),
        quantum: Bytes::new(1500),
        queues: None,
        variant: CodelVariant::Linux,
        ecn: false,
    };

    const fn of_flow(flow: u64, number: u64, bytes: u32) -> TestPacket {
        TestPacket { flow, kind: PacketKind::Data, bytes, number }
    }

    /// A link of 12 Mbit/s without delay: a full packet a millisecond.
    fn behind(config: FqCodel, offers: &[(Instant, TestPacket)]) -> Seen {
        let queue = QueueConfig::FqCodel(config);
        let rate = BitRate::from_bps(12_000_000);
        drive(&mut link(&LinkConfig { rate, delay: Duration::ZERO, queue, ..plain() }), offers, &[])
    }

    fn order(seen: &Seen) -> Vec<u64> {
        seen.arrived.iter().map(|(_, number)| *number).collect()
    }

    #[test]
    fn full_packets_of_two_flows_alternate_by_the_quantum_of_their_size() {
        let at_once = |flow, numbers: std::ops::Range<u64>| {
            numbers.map(move |number| (ms(0), of_flow(flow, number, 1500)))
        };
        let offers: Vec<_> = at_once(1, 0..5).chain(at_once(2, 10..15)).collect();
        // The first leaves as it comes, and spends the first turn of its flow.
        assert_eq!(order(&behind(FAIR, &offers)), [0, 10, 1, 11, 2, 12, 3, 13, 4, 14]);
        // Of a quantum of 1514 B 14 are left, which let a second packet go in the first turn.
        let ethernet = FqCodel { quantum: Bytes::new(1514), ..FAIR };
        assert_eq!(order(&behind(ethernet, &offers)), [0, 1, 10, 11, 2, 12, 3, 13, 4, 14]);
    }

    #[test]
    fn a_packet_of_an_idle_flow_waits_for_the_one_being_sent() {
        let bulk = (0..20).map(|number| (ms(0), of_flow(1, number, 1500)));
        let mut offers: Vec<_> = bulk.collect();
        offers.push((Instant::from_nanos(5_500_000), of_flow(2, 99, 40)));
        assert_eq!(order(&behind(FAIR, &offers))[5..8], [5, 99, 6]);
    }

    #[test]
    fn an_overflow_takes_half_of_the_fattest_queue_from_its_head() {
        let limit = QueueLimit::Packets(10);
        let thin = (0..3).map(|number| (ms(0), of_flow(2, 100 + number, 40)));
        let fat = (0..10).map(|number| (ms(0), of_flow(1, number, 1500)));
        let offers: Vec<_> = thin.chain(fat).collect();
        let seen = behind(FqCodel { limit, ..FAIR }, &offers);
        // Two thin packets and eight fat ones wait. The ninth is one too many: five of 13,500 B are over
        // half.
        assert_eq!(seen.dropped, [0, 1, 2, 3, 4].map(|number| (ms(0), number)));
        assert_eq!(order(&seen), [100, 101, 102, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn an_overflow_takes_64_packets_at_most_and_of_equal_queues_from_the_first() {
        let at_once = |flow, numbers: std::ops::Range<u64>| {
            numbers.map(move |number| (ms(0), of_flow(flow, number, 1500)))
        };
        let lost = |limit, offers: Vec<_>| {
            let limit = QueueLimit::Packets(limit);
            let seen = behind(FqCodel { limit, ..FAIR }, &offers);
            seen.dropped.into_iter().map(|(_, number)| number).collect::<Vec<_>>()
        };
        // 131 wait, one too many. Half would be 66.
        assert_eq!(lost(130, at_once(1, 0..132).collect()), (1..65).collect::<Vec<_>>());
        // Two of each wait, the fourth is one too many.
        assert_eq!(lost(3, at_once(1, 0..3).chain(at_once(2, 10..12)).collect()), [1]);
    }

    #[test]
    fn a_new_flow_goes_before_old_ones_once_and_has_one_quantum() {
        let bulk = |flow| {
            let numbers = (0..4).map(move |number| number + 20 * (flow - 1));
            numbers.map(move |number| (ms(0), of_flow(flow, number, 1500)))
        };
        let thin = [(3_500_000, 99), (4_500_000, 98)];
        let thin = thin.map(|(at, number)| (Instant::from_nanos(at), of_flow(9, number, 40)));
        let offers: Vec<_> = bulk(1).chain(bulk(2)).chain(bulk(3)).chain(thin).collect();
        // 99 comes while 1 is sent, and goes before 21. As 98 comes, its flow waits its turn behind the others.
        assert_eq!(order(&behind(FAIR, &offers))[..9], [0, 20, 40, 1, 99, 21, 41, 98, 2]);
        // What a flow had left of its turn is gone when it comes again.
        let again = [(2, 10), (1, 1), (1, 2), (2, 11), (2, 12)];
        let again = again.map(|(flow, number)| (ms(10), of_flow(flow, number, 300)));
        let offers: Vec<_> = [(ms(0), of_flow(1, 0, 100))].into_iter().chain(again).collect();
        let quantum = Bytes::new(300);
        assert_eq!(order(&behind(FqCodel { quantum, ..FAIR }, &offers)), [0, 10, 1, 11, 2, 12]);
    }

    #[test]
    fn codel_counts_the_drops_of_an_overflow() {
        let (limit, variant) = (QueueLimit::Packets(40), CodelVariant::Rfc8289);
        let config = FqCodel { target: Duration::from_millis(5), limit, variant, ..FAIR };
        // 41 of 42 at once wait: 21 are over half. The other 20 stay, as a packet comes for each that leaves.
        let burst = (0..42).map(|number| (ms(0), of_flow(1, number, 1500)));
        let steady = (1..200).map(|time| (ms(time), of_flow(1, 41 + time, 1500)));
        let seen = behind(config, &burst.chain(steady).collect::<Vec<_>>());
        // Above the target from 5 ms on, dropping begins behind 105 ms. 100 ms / √21 later comes the next
        // drop.
        let at: Vec<_> = seen.dropped.iter().map(|(at, _)| *at).skip_while(|at| *at == ms(0)).collect();
        assert_eq!((seen.dropped.len() - at.len(), &at[..2]), (21, &[ms(106), ms(128)][..]));
    }

    #[test]
    fn a_thin_flow_loses_packets_where_others_hold_bytes() {
        let busy = FqCodel { target: Duration::from_millis(5), ..FAIR };
        // The flow has a packet of 1000 B every 2.5 ms, its half of the link would carry one every 1.33 ms.
        let thin = (0..2000)
            .map(|number| (Instant::from_nanos(number * 2_500_000), of_flow(2, 10_000 + number, 1000)));
        let mut offers: Vec<_> = overload(5).into_iter().chain(thin).collect();
        offers.sort_by_key(|(at, packet)| (*at, packet.number));
        let seen = behind(busy, &offers);
        assert!(seen.dropped.iter().all(|(_, number)| *number < 10_000), "its waits are below the target");
        let delays = seen.arrived.iter().filter(|(_, number)| *number >= 10_000);
        let longest = delays.map(|(at, number)| at.as_nanos() - (number - 10_000) * 2_500_000).max();
        // The packet in transmission, one of the other flow, itself.
        assert!(longest.unwrap() < 3_000_000, "{longest:?}");
    }

    #[test]
    fn connections_share_so_many_queues_by_a_hash() {
        let offers: Vec<_> = (0..40).map(|number| (ms(0), of_flow(number % 4, number, 1500))).collect();
        let one = behind(FqCodel { queues: Some(1), ..FAIR }, &offers);
        assert_eq!(order(&one), (0..40).collect::<Vec<_>>());
        assert_eq!(behind(FqCodel { queues: Some(1 << 16), ..FAIR }, &offers), behind(FAIR, &offers));
    }

    #[test]
    fn a_flow_that_has_ended_is_forgotten() {
        let queues = Queues::new(FAIR, RandomStreams::new(1).stream("aqm", 0));
        let mut late = Late::new(Discipline::FqCodel(queues));
        for flow in 0..1000 {
            late.join(ms(flow), of_flow(flow, flow, 1500));
            assert_eq!(late.take(ms(flow)).unwrap().1.number, flow);
            late.forget(flow);
        }
        let Discipline::FqCodel(queues) = &late.discipline else { panic!("it is one") };
        assert_eq!((queues.flows.len(), queues.of.len()), (0, 0));
    }

    proptest! {
        #[test]
        fn one_flow_is_under_codel(offers in offers(), limit in 20..60_u64) {
            let [target, interval] = [3, 9].map(Duration::from_millis);
            let (limit, variant) = (QueueLimit::Packets(limit), CodelVariant::Linux);
            let alone = QueueConfig::Codel(Codel { target, interval, limit, variant, ecn: false });
            let fair = QueueConfig::FqCodel(FqCodel { target, interval, limit, ..FAIR });
            let [alone, fair] =
                [alone, fair].map(|queue| drive(&mut link(&LinkConfig { queue, ..plain() }), &offers, &[ms(40)]));
            prop_assume!(alone.stats[0].drops_full == 0);
            prop_assert_eq!(alone, fair);
        }

        /// While both have packets waiting.
        #[test]
        fn two_flows_are_served_alike(
            sizes in prop::collection::vec(prop::sample::select(vec![40, 576, 1500]), 120),
            quantum in prop::sample::select(vec![300, 1500, 3000]),
        ) {
            let offer = |(bytes, number): (&u32, u64)| (ms(0), of_flow(number % 2, number, *bytes));
            let offers: Vec<_> = sizes.iter().zip(0..).map(offer).collect();
            let seen = behind(FqCodel { quantum: Bytes::new(quantum), ..FAIR }, &offers);
            let mut left = [60; 2];
            let mut served = vec![[0_i64; 2]];
            for (_, number) in &seen.arrived {
                let flow = (number % 2) as usize;
                left[flow] -= 1;
                let mut sum = *served.last().unwrap();
                sum[flow] += i64::from(sizes[*number as usize]);
                served.push(sum);
                if left[flow] == 0 {
                    break;
                }
            }
            let ahead: Vec<_> = served.iter().map(|[one, other]| one - other).collect();
            let spread = ahead.iter().max().unwrap() - ahead.iter().min().unwrap();
            prop_assert!(spread <= 3 * quantum as i64 + 2 * 1500, "{spread}");
        }
    }
}
