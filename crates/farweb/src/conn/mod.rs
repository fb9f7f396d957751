//! Connections: what they carry, what runs at their ends, and the packets between those.
//!
//! A [`Connection`] has two ends, each with a [`Transport`], the [`Session`](crate::session::Session) above it, and a timer. A
//! [`Packet`] knows its connection, so that one look-up finds all that its arrival needs. An [`Exchange`] is a request on one
//! leg, and knows the connections that it rides. Nothing here decides which connection a request gets (`pool`), what
//! happens to it at a node (`node`), or drives the clock (`world`).

mod connection;
mod event;
mod exchange;
mod held;
mod hosts;
mod leg;
mod packet;
mod regulator;
mod relay;
mod sizes;
mod socket;
mod tickets;
mod transport;
mod unacknowledged;

pub(crate) use connection::{Closing, Connection, ConnectionId, Connections, End, Endpoint};
pub(crate) use event::Event;
pub(crate) use exchange::{CacheAnswer, Exchange, Exchanges, Releasing, Ride};
pub(crate) use held::{Cause, HeldTimes};
pub(crate) use hosts::Hosts;
pub(crate) use leg::{Key, Leg, LegConfig, Stretch};
pub(crate) use packet::{Extras, Mark, Packet, PacketPath};
pub(crate) use regulator::{Passed, Regulator};
pub(crate) use relay::{ANSWER_BYTES, CONNECT_BYTES, OPEN_BYTES, Relays, Split};
pub(crate) use sizes::EndSizes;
pub use sizes::HostOr;
pub(crate) use socket::{Place, Way};
pub(crate) use transport::Transport;
pub(crate) use unacknowledged::{Response, Unacknowledged};

pub(crate) use crate::session::ExchangeId;
