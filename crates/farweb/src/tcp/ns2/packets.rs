//! Packets of ns-2 as segments: bytes of each packet, and its size on the wire.
//!
//! Models a data packet of one size with or without headers, and ACKs and SYNs of 40 B. Leaves out headers of other layers.
//!
//! Source: ns-2.35 `tcp/tcp.cc`, `output()`; `tcp/tcp-sink.cc`; `tcl/lib/ns-default.tcl`.

use super::profile::Profile;
use crate::tcp::segment::{Codepoint, FIRST_BYTE, Flags, HEADER_BYTES, ISS, Options, Segment};

/// Size of an ACK and of a SYN, in bytes (`Agent/TCPSink` `packetSize_`, `tcpip_base_hdr_size_`).
const BARE_BYTES: u32 = HEADER_BYTES;

impl Profile {
    /// Size of a packet on the wire, in bytes.
    #[must_use]
    pub fn packet_bytes(&self, segment: &Segment) -> u32 {
        if segment.len == 0 {
            return BARE_BYTES;
        }
        let is_first = segment.seq == FIRST_BYTE && !self.syn;
        if self.headers && !is_first { segment.len + HEADER_BYTES } else { segment.len }
    }

    /// Number of packets that carry `bytes` bytes.
    pub(super) const fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.packet_size.get())
    }

    /// Bytes of data in the first `packets` packets.
    pub(super) fn data_bytes(&self, packets: u64) -> u64 {
        packets.saturating_sub(u64::from(self.syn)) * self.packet_size.get()
    }

    /// First sequence number of packet `number`, right after the packets before it.
    pub(super) fn sequence_number(&self, number: u64) -> u64 {
        if self.syn && number == 0 { ISS } else { FIRST_BYTE + self.data_bytes(number) }
    }

    /// Number of the packet that begins at a sequence number.
    pub(super) fn packet_number(&self, sequence_number: u64) -> u64 {
        if sequence_number == ISS {
            return 0;
        }
        (sequence_number - FIRST_BYTE) / self.packet_size.get() + u64::from(self.syn)
    }

    /// Packet `number` of a sender.
    pub(super) fn packet(&self, number: u64) -> Segment {
        let is_syn = self.syn && number == 0;
        Segment {
            seq: self.sequence_number(number),
            ack: 0,
            len: if is_syn { 0 } else { self.packet_size.get() as u32 },
            window: 0,
            flags: if is_syn { Flags::SYN } else { Flags::NONE },
            ecn: Codepoint::NotEct,
            options: Options::NONE,
        }
    }

    /// The ACK of a sink that expects packet `next`.
    pub(super) fn acknowledgement(&self, next: u64) -> Segment {
        Segment {
            seq: FIRST_BYTE,
            ack: self.sequence_number(next),
            len: 0,
            window: 0,
            flags: Flags::ACK,
            ecn: Codepoint::NotEct,
            options: Options::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const PLAIN: Profile = Profile::ns2_reno();
    const SYN: Profile = Profile { syn: true, ..PLAIN };

    #[test]
    fn a_packet_keeps_its_number_as_a_segment() {
        for profile in [PLAIN, SYN, Profile { packet_size: Bytes::new(1), syn: true, ..PLAIN }] {
            for number in 0..100 {
                let packet = profile.packet(number);
                assert_eq!(profile.packet_number(packet.seq), number);
                assert_eq!(profile.packet_number(profile.acknowledgement(number).ack), number);
                assert_eq!(packet.end(), profile.packet(number + 1).seq);
            }
        }
    }

    #[test]
    fn only_the_first_packet_goes_without_a_header() {
        let sizes = |profile: Profile| [0, 1, 2].map(|number| profile.packet_bytes(&profile.packet(number)));
        assert_eq!(sizes(PLAIN), [512, 552, 552]);
        assert_eq!(sizes(SYN), [40, 552, 552]);
        assert_eq!(sizes(Profile { headers: false, ..PLAIN }), [512, 512, 512]);
        assert_eq!(PLAIN.packet_bytes(&PLAIN.acknowledgement(3)), 40);
    }

    #[test]
    fn the_last_packet_is_counted_whole() {
        assert_eq!([1, 511, 512, 513].map(|bytes| PLAIN.packets(bytes)), [1, 1, 1, 2]);
        assert_eq!((PLAIN.data_bytes(3), SYN.data_bytes(3), SYN.data_bytes(0)), (1536, 1024, 0));
    }
}
