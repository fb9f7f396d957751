//! Properties of transfers under random losses, sizes and constants.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::Profile;
use super::wire::*;
use crate::units::Bytes;

prop_compose! {
    /// Any constants that a transfer of this length ends with in an hour.
    fn profile()(
        switches in prop::collection::vec(any::<bool>(), 13),
        (window, initial, burst_max) in (1..40_u32, 1..6_u32, 0..5_u32),
        (tick, overhead) in (1..200_u64, 0..3_u64),
        packet_size in 1..2000_u64,
    ) -> Profile {
        Profile {
            packet_size: Bytes::new(packet_size),
            window,
            initial_cwnd_segments: initial,
            burst_max,
            tick: ms(tick),
            overhead: ms(overhead),
            headers: switches[0],
            syn: switches[1],
            delay_growth: switches[2],
            slow_start_restart: switches[3],
            rfc2988: switches[4],
            timer_after_rtt: switches[5],
            limited_transmit: switches[6],
            bug_fix: switches[7],
            bug_fix_start: switches[8],
            exit_fast_retransmit: switches[9],
            precise_halving: switches[10],
            delayed_ack: switches[11],
            immediate_ack_of_first: switches[12],
            ..RENO
        }
    }
}

proptest! {
    #[test]
    fn every_packet_arrives_in_the_end(
        profile in profile(),
        packets in 1..200_u64,
        lost_packets in prop::collection::btree_set(0..260_usize, 0..30),
        lost_acks in prop::collection::btree_set(0..260_usize, 0..30),
        phase in 0..1000_u64,
    ) {
        prop_assert_eq!(profile.check(), Ok(()));
        let mut wire = Wire::ethernet(20).losing(lost_packets);
        wire.lost_acks = lost_acks;
        let record = wire.transfer(&profile, packets, ms(phase).mul_div(profile.tick.as_nanos(), 1_000_000_000));
        let total = packets + u64::from(profile.syn);
        prop_assert_eq!(record.sink.received(), packets * profile.packet_size.get());
        prop_assert_eq!(record.sender.bytes_acknowledged(), packets * profile.packet_size.get());
        prop_assert!(record.delivered <= record.acked);
        // Only existing packets are sent, each at least once, and repeated ones are counted.
        let numbers: BTreeSet<u64> = record.sent.iter().map(|(_, number)| *number).collect();
        prop_assert!(numbers.iter().copied().eq(0..total));
        prop_assert_eq!(record.sender.retransmits(), record.sent.len() as u64 - total);
        // ACKs never go back, and acknowledge only packets already sent.
        prop_assert!(record.acks.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        prop_assert!(record.acks.iter().all(|(_, number)| *number <= total));
    }

    #[test]
    fn without_loss_nothing_is_sent_twice(profile in profile(), packets in 1..200_u64) {
        let profile = Profile { rto_min: ms(1000), ..profile };
        let record = Wire::ethernet(1).transfer(&profile, packets, ms(0));
        prop_assert_eq!((record.sender.retransmits(), record.sender.timeouts()), (0, 0));
    }
}
