//! Links: one direction each, with rate, propagation delay, queue limit and losses.
//!
//! Nothing here knows TCP: a link carries anything that is a [`Packet`].

/// What a link needs to know of a packet.
pub trait Packet {
    /// Size of the IP packet, in bytes.
    fn bytes(&self) -> u32;
    /// The connection that it belongs to: a number that no two connections of a run share.
    fn flow(&self) -> u64;
    /// What it is, for losses by list.
    fn kind(&self) -> PacketKind;
}

/// What a packet is, for losses by list; each packet is exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// With payload, whether FIN is set or not.
    Data,
    /// FIN without payload.
    Fin,
    /// Neither payload, SYN, FIN nor RST.
    Ack,
    /// RST.
    Reset,
}
