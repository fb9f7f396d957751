//! Packets: segments on their way, and how they are packed for it.
//!
//! Models an IP packet by its size, its connection and its direction. The header of a packet carries no addresses, since
//! the path is a chain. Leaves out fragments, and anything that IP adds to the size beyond its header of 20 B.
//!
//! Links hold many packets at once, so a packet takes 56 B: with its time of departure, one line of a cache. Rare options lie
//! beside the links in [`Extras`]. The [`Body`] is for the ends. Links and world look at the rest only.

use std::num::NonZeroU32;

use crate::net::{self, PacketKind, Path};
use crate::tcp::{Codepoint, Flags, Options, Plain, Segment};

use super::{ConnectionId, End};

/// A path that carries these packets.
pub(crate) type PacketPath = Path<Packet>;

/// Packet on its way to one end of a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) connection: ConnectionId,
    body: Body,
    number: u32,
    again: bool,
    recorded: bool,
    pub(crate) toward: End,
    /// Node at the end of the leg, in the direction of the packet.
    pub(crate) destination: u8,
}

/// Knowledge of its sender, for the rows of a recorded packet wherever it is seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// Its number among the packets that the sender has sent on the connection, modulo 2^32.
    pub(crate) number: u32,
    /// Repeats a sequence number that was sent before. Known only where packets are recorded.
    pub(crate) again: bool,
    /// True when it is recorded.
    pub(crate) recorded: bool,
}

/// A segment.
#[derive(Debug, Clone, Copy)]
struct Body {
    plain: Plain,
    /// Size on the wire.
    bytes: u32,
    /// Its options, where it has others than timestamps.
    extra: Option<ExtraId>,
}

/// A place in [`Extras`], counted from 1.
type ExtraId = NonZeroU32;

/// Rare options of packets under way: a SYN's, and SACK blocks.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    options: Vec<Options>,
    free: Vec<ExtraId>,
}

impl Packet {
    /// Packs `segment`, of `bytes` on the wire, for its way to the end `toward` of `connection`, which is at `destination`.
    #[inline(always)]
    pub(crate) fn new(
        connection: ConnectionId,
        toward: End,
        destination: u8,
        segment: &Segment,
        bytes: u32,
        mark: Mark,
        extras: &mut Extras,
    ) -> Self {
        let options = &segment.options;
        let extra = (!options.are_common()).then(|| extras.put(options));
        let body = Body { plain: segment.plain(), bytes, extra };
        let Mark { number, again, recorded } = mark;
        Self { connection, body, number, again, recorded, toward, destination }
    }

    /// Packs an unrecorded segment without rare options, `number` of its sender.
    #[inline(always)]
    pub(crate) fn plain(
        connection: ConnectionId,
        toward: End,
        destination: u8,
        plain: Plain,
        number: u32,
    ) -> Self {
        let body = Body { plain, bytes: plain.packet_bytes(), extra: None };
        Self { connection, body, number, again: false, recorded: false, toward, destination }
    }

    /// The segment that it carries, where that has no rare options.
    #[inline]
    pub(crate) const fn as_plain(&self) -> Option<&Plain> {
        if self.body.extra.is_none() { Some(&self.body.plain) } else { None }
    }

    /// The segment that it carries.
    #[inline]
    pub(crate) fn segment(&self, extras: &Extras) -> Segment {
        let mut segment = self.body.plain.segment();
        if let Some(place) = self.body.extra {
            segment.options = extras.options[place.get() as usize - 1];
        }
        segment
    }

    /// Mark of its sender.
    #[inline]
    pub(crate) const fn mark(&self) -> Mark {
        Mark { number: self.number, again: self.again, recorded: self.recorded }
    }

    /// Its way is over: its options need no place any more.
    #[inline]
    pub(crate) fn leave(&self, extras: &mut Extras) {
        if let Some(place) = self.body.extra {
            extras.free.push(place);
        }
    }
}

impl net::Packet for Packet {
    #[inline]
    fn bytes(&self) -> u32 {
        self.body.bytes
    }

    fn flow(&self) -> u64 {
        self.connection.to_u64()
    }

    fn kind(&self) -> PacketKind {
        let flags = self.body.plain.flags;
        match () {
            () if flags.contains(Flags::RST) => PacketKind::Reset,
            () if flags.contains(Flags::SYN | Flags::ACK) => PacketKind::SynAck,
            () if flags.contains(Flags::SYN) => PacketKind::Syn,
            () if self.body.plain.len > 0 => PacketKind::Data,
            () if flags.contains(Flags::FIN) => PacketKind::Fin,
            () => PacketKind::Ack,
        }
    }

    fn set_ce(&mut self) -> bool {
        let plain = &mut self.body.plain;
        let is_ect = plain.ecn() != Codepoint::NotEct;
        if is_ect {
            plain.set_ecn(Codepoint::Ce);
        }
        is_ect
    }
}

impl Mark {
    /// The mark of a packet without a record.
    #[inline]
    pub(crate) const fn unrecorded(number: u32) -> Self {
        Self { number, again: false, recorded: false }
    }
}

impl Extras {
    #[cold]
    fn put(&mut self, options: &Options) -> ExtraId {
        if let Some(place) = self.free.pop() {
            self.options[place.get() as usize - 1] = *options;
            return place;
        }
        self.options.push(*options);
        let count = u32::try_from(self.options.len()).expect("fewer than 2^32 packets at once");
        ExtraId::new(count).expect("one at least")
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU16;

    use proptest::prelude::*;

    use super::*;
    use crate::id::Slab;
    use crate::tcp::{SackBlocks, Timestamps};

    fn segments() -> impl Strategy<Value = Segment> {
        let options = (
            any::<Option<NonZeroU16>>(),
            proptest::option::of(0..15_u8),
            proptest::option::of((any::<u32>(), any::<u32>())),
            any::<bool>(),
            prop::collection::vec((0..1000_u64, 1..1000_u64), 0..5),
        );
        (any::<u32>(), any::<u32>(), 0..65_536_u32, any::<u16>(), (0..256_usize, 0..4_usize), options)
            .prop_map(
                |(
                    seq,
                    ack,
                    len,
                    window,
                    (flags, ecn),
                    (mss, window_scale, stamps, sack_permitted, blocks),
                )| {
                    let ack = u64::from(ack);
                    let blocks = blocks.into_iter().map(|(start, len)| ack + start..ack + start + len);
                    Segment {
                        seq: u64::from(seq),
                        ack,
                        len,
                        window,
                        flags: Flags::all().nth(flags).expect("one of 256"),
                        ecn: Codepoint::ALL[ecn],
                        options: Options {
                            mss,
                            window_scale,
                            timestamps: stamps.map(|(value, echo)| Timestamps { value, echo }),
                            sack_permitted,
                            sack: SackBlocks::new(ack, blocks),
                        },
                    }
                },
            )
    }

    #[test]
    fn a_packet_and_its_departure_take_a_line_of_a_cache() {
        assert!(size_of::<Packet>() <= 56, "{} B", size_of::<Packet>());
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out(segments in prop::collection::vec(segments(), 1..20)) {
            let connection = Slab::new().insert(());
            let mut extras = Extras::default();
            for _ in 0..2 {
                let pack = |segment: &Segment| {
                    let mark = Mark::unrecorded(0);
                    Packet::new(connection, End::Server, 1, segment, segment.packet_bytes(), mark, &mut extras)
                };
                let packets: Vec<_> = segments.iter().map(pack).collect();
                let unpacked: Vec<_> = packets.iter().map(|packet| packet.segment(&extras)).collect();
                prop_assert_eq!(&unpacked, &segments);
                packets.iter().for_each(|packet| packet.leave(&mut extras));
            }
            let with_extra = segments.iter().filter(|segment| !segment.options.are_common()).count();
            prop_assert_eq!(extras.options.len(), with_extra, "places are used again");
        }
    }
}
