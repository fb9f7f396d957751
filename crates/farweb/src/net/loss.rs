//! Loss processes: which packets are lost although the queue has room.
//!
//! A packet is lost as it reaches the link: it takes no time of the transmitter and no place in the queue. There are four
//! processes: none, a list, Bernoulli and Gilbert–Elliott. A list ("the 8th data packet of each connection", or of all) is for
//! experiments that must hit one packet. Bernoulli loses each packet alone, Gilbert–Elliott in bursts. A list marks packets
//! too, as a router with ECN does before its queue is full.
//!
//! Left out: losses that depend on the size of a packet (bit errors), and corrupted packets that still arrive.
//!
//! Sources: E. N. Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 39(5), 1960; E. O.
//! Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels", Bell System Technical Journal 42(5), 1963.

use rustc_hash::FxHashMap;

use super::config::{CountedOver, Loss};
use super::listed::ListedPackets;
use super::timeline::Cursor;
use super::{Packet, PacketKind};
use crate::rng::RandomStream;
use crate::units::Instant;

/// Fate of a packet that a loss process chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hit {
    Lost,
    Marked,
}

/// The state of a [`Loss`] on one link direction.
#[derive(Debug, Clone)]
pub(super) enum LossProcess {
    None,
    List(ListLoss),
    Bernoulli { probability: f64, random: RandomStream },
    GilbertElliott(GilbertElliott),
    Changing(Box<Changing>),
}

/// The losses of a link that changes: its own process where steps set none.
#[derive(Debug, Clone)]
pub(super) struct Changing {
    own: LossProcess,
    changes: Cursor,
    random: RandomStream,
}

impl LossProcess {
    /// A process at its start that draws from `random`.
    ///
    /// # Panics
    /// When a probability is not in 0 to 1.
    pub(super) fn new(loss: &Loss, random: RandomStream) -> Self {
        let checked = |probability: f64| {
            assert!((0.0..=1.0).contains(&probability), "a loss process with the probability {probability}");
            probability
        };
        match *loss {
            Loss::None => Self::None,
            Loss::List { ref drop, ref mark, of } => {
                Self::List(ListLoss::new(drop.clone(), mark.clone(), of))
            }
            Loss::Bernoulli { probability } => Self::Bernoulli { probability: checked(probability), random },
            Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                Self::GilbertElliott(GilbertElliott {
                    good_to_bad: checked(good_to_bad),
                    bad_to_good: checked(bad_to_good),
                    loss_good: checked(loss_good),
                    loss_bad: checked(loss_bad),
                    bad: false,
                    random,
                })
            }
        }
    }

    /// The same on a link that changes. Steps that set a probability draw from `random`.
    pub(super) fn changing(self, changes: Cursor, random: RandomStream) -> Self {
        Self::Changing(Box::new(Changing { own: self, changes, random }))
    }

    /// True when it chooses no packet.
    pub(super) const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Chooses `packet`, which reaches the link at `now`, or not.
    #[inline]
    pub(super) fn hit<P: Packet>(&mut self, now: Instant, packet: &P) -> Option<Hit> {
        let is_lost = match self {
            Self::None => false,
            Self::Bernoulli { probability, random } => random.happens(*probability),
            Self::GilbertElliott(process) => process.loses(),
            Self::List(_) | Self::Changing(_) => return self.hit_by_list_or_time(now, packet),
        };
        is_lost.then_some(Hit::Lost)
    }

    /// The same out of line, for the processes that need more registers.
    #[inline(never)]
    fn hit_by_list_or_time<P: Packet>(&mut self, now: Instant, packet: &P) -> Option<Hit> {
        match self {
            Self::List(list) => list.hit(packet.flow(), packet.kind()),
            Self::Changing(link) => match link.changes.at(now).0.loss {
                None => link.own.hit(now, packet),
                Some(probability) => link.random.happens(probability).then_some(Hit::Lost),
            },
            _ => None,
        }
    }

    /// Forgets a connection.
    pub(super) fn forget(&mut self, flow: u64) {
        match self {
            Self::List(list) => {
                list.counters.remove(&flow);
            }
            Self::Changing(link) => link.own.forget(flow),
            _ => {}
        }
    }
}

/// Loss by list: how many packets of each kind every connection, or the link, has had so far.
#[derive(Debug, Clone)]
pub(super) struct ListLoss {
    drop: Vec<ListedPackets>,
    mark: Vec<ListedPackets>,
    of: CountedOver,
    /// By connection.
    counters: FxHashMap<u64, Counters>,
    of_link: Counters,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    of_kind: [u32; PacketKind::COUNT],
    of_any: u32,
}

impl ListLoss {
    fn new(drop: Vec<ListedPackets>, mark: Vec<ListedPackets>, of: CountedOver) -> Self {
        Self { drop, mark, of, counters: FxHashMap::default(), of_link: Counters::default() }
    }

    /// A packet of both lists is lost.
    fn hit(&mut self, flow: u64, kind: PacketKind) -> Option<Hit> {
        let counters = match self.of {
            CountedOver::Connection => self.counters.entry(flow).or_default(),
            CountedOver::Link => &mut self.of_link,
        };
        let of_kind = &mut counters.of_kind[kind as usize];
        *of_kind = of_kind.saturating_add(1);
        counters.of_any = counters.of_any.saturating_add(1);
        let is_in = |list: &[ListedPackets]| {
            list.iter().any(|listed| match listed.kind() {
                None => listed.contains(counters.of_any),
                Some(listed_kind) => listed_kind == kind && listed.contains(counters.of_kind[kind as usize]),
            })
        };
        match () {
            () if is_in(&self.drop) => Some(Hit::Lost),
            () if is_in(&self.mark) => Some(Hit::Marked),
            () => None,
        }
    }
}

/// Loss in bursts: a state that may change before each packet, and a loss probability for each state.
///
/// In the long run a share `good_to_bad / (good_to_bad + bad_to_good)` of the packets meets the bad state, and a stay
/// in it lasts `1 / bad_to_good` packets in the mean. Starts in the good state.
#[derive(Debug, Clone)]
pub(super) struct GilbertElliott {
    good_to_bad: f64,
    bad_to_good: f64,
    loss_good: f64,
    loss_bad: f64,
    bad: bool,
    random: RandomStream,
}

impl GilbertElliott {
    fn loses(&mut self) -> bool {
        let leaves = if self.bad { self.bad_to_good } else { self.good_to_bad };
        self.bad ^= self.random.happens(leaves);
        self.random.happens(if self.bad { self.loss_bad } else { self.loss_good })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::tests::TestPacket;
    use crate::rng::RandomStreams;

    fn process(loss: &Loss) -> LossProcess {
        LossProcess::new(loss, RandomStreams::new(1).stream("loss", 0))
    }

    fn list(drop: &[&str]) -> LossProcess {
        process(&counted(drop, CountedOver::Connection))
    }

    fn counted(drop: &[&str], of: CountedOver) -> Loss {
        Loss::List { drop: listed(drop), mark: vec![], of }
    }

    fn listed(texts: &[&str]) -> Vec<ListedPackets> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn loses<P: Packet>(process: &mut LossProcess, packet: &P) -> bool {
        process.hit(Instant::ZERO, packet) == Some(Hit::Lost)
    }

    fn packet(flow: u64, kind: PacketKind) -> TestPacket {
        TestPacket { flow, kind, bytes: 1500, number: 0 }
    }

    #[test]
    fn a_list_of_the_link_counts_all_connections() {
        let mut process = process(&counted(&["data 3", "any 5"], CountedOver::Link));
        let mut lost = |flow, kind| loses(&mut process, &packet(flow, kind));
        let kinds = [PacketKind::Data, PacketKind::Ack, PacketKind::Data, PacketKind::Data, PacketKind::Ack];
        let found: Vec<bool> = (0..).zip(kinds).map(|(flow, kind)| lost(flow, kind)).collect();
        assert_eq!(found, [false, false, false, true, true]);
        assert!(!lost(0, PacketKind::Data), "each once");
    }

    #[test]
    fn a_list_hits_the_nth_packet_of_its_kind_in_each_connection() {
        use PacketKind::{Ack, Data, Fin, Syn, SynAck};
        let sent = [Syn, SynAck, Ack, Data, Data, Ack, Data, Data, Ack, Fin];
        let lost = |drop: &[&str]| -> Vec<usize> {
            let mut process = list(drop);
            // Another connection in between does not move the count.
            let lost: Vec<_> = sent
                .iter()
                .map(|kind| (loses(&mut process, &packet(1, *kind)), loses(&mut process, &packet(2, *kind))))
                .collect();
            assert!(lost.iter().all(|(first, second)| first == second));
            (1..=sent.len()).filter(|number| lost[number - 1].0).collect()
        };
        assert_eq!(lost(&["data 3"]), [7]);
        assert_eq!(lost(&["data 2..3"]), [5, 7]);
        assert_eq!(lost(&["syn 1", "synack 1", "fin 1"]), [1, 2, 10]);
        assert_eq!(lost(&["ack 2", "ack 3"]), [6, 9]);
        assert_eq!(lost(&["any 4", "data 1"]), [4]);
        assert_eq!(lost(&["data 5", "syn 2", "rst 1", "any 11"]), [] as [usize; 0]);
    }

    #[test]
    fn a_forgotten_connection_takes_no_memory_and_starts_afresh() {
        let mut process = list(&["data 1"]);
        assert!(loses(&mut process, &packet(7, PacketKind::Data)));
        assert!(!loses(&mut process, &packet(7, PacketKind::Data)));
        process.forget(7);
        let LossProcess::List(ref state) = process else { panic!("a list") };
        assert!(state.counters.is_empty());
        assert!(loses(&mut process, &packet(7, PacketKind::Data)));
    }

    #[test]
    fn marks_and_drops_of_a_list_count_the_same_packets() {
        let (drop, mark) = (listed(&["data 2..3"]), listed(&["data 1", "data 3", "any 5"]));
        let mut process = process(&Loss::List { drop, mark, of: CountedOver::Connection });
        let kinds = [PacketKind::Data, PacketKind::Data, PacketKind::Ack, PacketKind::Data, PacketKind::Data];
        let hits = kinds.map(|kind| process.hit(Instant::ZERO, &packet(1, kind)));
        assert_eq!(hits, [Some(Hit::Marked), Some(Hit::Lost), None, Some(Hit::Lost), Some(Hit::Marked)]);
    }

    /// Draws the fate of `count` packets, true for a loss.
    fn draw(loss: &Loss, count: usize) -> Vec<bool> {
        let mut process = process(loss);
        (0..count).map(|_| loses(&mut process, &packet(1, PacketKind::Data))).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let (count, probability) = (1_000_000, 0.02);
        let lost = draw(&Loss::Bernoulli { probability }, count);
        let standard_error = (probability * (1.0 - probability) / count as f64).sqrt();
        assert!((share(&lost) - probability).abs() < 4.0 * standard_error, "{}", share(&lost));
        // Alone: what follows a loss is lost no more often than any other packet.
        let after_loss: Vec<_> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
        let standard_error = (probability * (1.0 - probability) / after_loss.len() as f64).sqrt();
        assert!((share(&after_loss) - probability).abs() < 4.0 * standard_error, "{}", share(&after_loss));
    }

    #[test]
    fn certain_and_impossible_losses_are_exact() {
        assert!(draw(&Loss::Bernoulli { probability: 0.0 }, 10_000).iter().all(|lost| !lost));
        assert!(draw(&Loss::Bernoulli { probability: 1.0 }, 10_000).iter().all(|lost| *lost));
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_rate_and_burst_length() {
        let (good_to_bad, bad_to_good) = (0.01, 0.25);
        let loss = Loss::GilbertElliott { good_to_bad, bad_to_good, loss_good: 0.0, loss_bad: 1.0 };
        let count = 1_000_000;
        let lost = draw(&loss, count);

        let expected = good_to_bad / (good_to_bad + bad_to_good);
        // Correlation of successive states: 1 - (good_to_bad + bad_to_good), so the mean of n packets has (1 + c) /
        // (1 - c) times the variance of independent ones.
        let correlation = 1.0 - good_to_bad - bad_to_good;
        let variance = expected * (1.0 - expected) * (1.0 + correlation) / (1.0 - correlation);
        assert!((share(&lost) - expected).abs() < 4.0 * (variance / count as f64).sqrt(), "{}", share(&lost));

        let bursts: Vec<_> = lost.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect();
        let mean = bursts.iter().sum::<usize>() as f64 / bursts.len() as f64;
        let deviation = (1.0 - bad_to_good).sqrt() / bad_to_good;
        assert!((mean - 1.0 / bad_to_good).abs() < 4.0 * deviation / (bursts.len() as f64).sqrt(), "{mean}");
    }

    #[test]
    fn gilbert_elliott_loses_by_state() {
        let loss =
            Loss::GilbertElliott { good_to_bad: 0.1, bad_to_good: 0.1, loss_good: 0.01, loss_bad: 0.3 };
        // Half the packets meet each state. 4 standard errors of 10^6 packets with correlation 0.8 stay below 0.003.
        assert!((share(&draw(&loss, 1_000_000)) - 0.155).abs() < 0.003);
        let never_bad =
            Loss::GilbertElliott { good_to_bad: 0.0, bad_to_good: 0.5, loss_good: 0.0, loss_bad: 1.0 };
        assert!(draw(&never_bad, 10_000).iter().all(|lost| !lost));
    }

    #[test]
    #[should_panic(expected = "the probability 1.5")]
    fn a_probability_above_one_is_refused() {
        process(&Loss::Bernoulli { probability: 1.5 });
    }
}
