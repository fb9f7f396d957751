//! Links: one direction each, with rate, propagation delay, queue limit and losses.
//!
//! Nothing here knows TCP: a link carries anything that is a [`Packet`].

mod config;
mod link;
mod listed;
mod loss;
mod path;
mod queue;
mod sojourn;
mod stats;
#[cfg(test)]
mod tests;
mod timeline;
mod transmitter;

use crate::units::Instant;

pub use config::{CountedOver, LinkConfig, Loss, QueueCounts, QueueLimit};
pub use link::{Carried, Link};
pub use listed::{ListedPackets, ListedPacketsError};
pub use path::{Direction, LinkId, LinkTotals, Path};
pub use queue::{Codel, CodelVariant, DropHead, DropTail, Dropped, FqCodel, Pie, QueueConfig};
pub use sojourn::Waits;
pub use stats::LinkStats;
pub use timeline::{
    Attenuation, Dama, DamaKind, Fade, Grants, Handover, Jitter, Opportunities, Outage, OutageMode,
    PERIOD_MIN, Phase, Piece, Rates, Shift, Step, Timeline, Trace, Variation, WINDOW_MS, Wake, mean_rates,
};

/// Properties of a packet that a link needs.
pub trait Packet: Clone {
    /// Size of the IP packet, in bytes.
    fn bytes(&self) -> u32;
    /// The connection that it belongs to: a number that no two connections of a run share.
    fn flow(&self) -> u64;
    /// Its kind, for losses by list.
    fn kind(&self) -> PacketKind;
    /// Marks it: congestion experienced (RFC 3168). False where its sender takes no marks, so that it is dropped in place of that.
    fn set_ce(&mut self) -> bool {
        false
    }
}

/// Kind of a packet, for losses by list. Each packet has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PacketKind {
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// With payload, with FIN or without.
    Data,
    /// FIN without payload.
    Fin,
    /// Neither payload, SYN, FIN nor RST.
    Ack,
    /// RST.
    Reset,
}

impl PacketKind {
    /// Number of kinds.
    const COUNT: usize = 6;
}

/// Fate of a packet that reached a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// The link carries it.
    Queued {
        /// When the owner must call [`Link::on_event`]: the arrival of the packet if it is now the head of the link.
        /// `None` when others are ahead of it: their event is pending already.
        event: Option<Instant>,
    },
    /// A link has it whose queue decides later, and which may have dropped it or others: [`Link::take_dropped`] tells.
    Late {
        /// As above.
        event: Option<Instant>,
    },
    /// It is gone.
    Dropped {
        /// Why.
        reason: DropReason,
    },
}

/// Why a link dropped a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    Full,
    /// Active queue management chose it, to keep the queue short.
    Aqm,
    /// The loss process chose it.
    Loss,
}
