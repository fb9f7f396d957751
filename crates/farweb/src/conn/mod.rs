//! Connections: what they carry, what runs at their ends, and the packets between those.
//!
//! A [`Connection`] has two ends, each with a [`Transport`], the stream that its application writes, and a timer. A
//! [`Packet`] knows its connection, so that one look-up finds all that its arrival needs. An [`Exchange`] is a request on one
//! leg, and knows the connections that it rides. Nothing here decides which connection a request gets (`carrier`), what
//! happens to it at a node (`node`), or drives the clock (`world`).

mod application;
mod connection;
mod event;
mod exchange;
mod held;
mod hosts;
mod leg;
mod packet;
mod transport;
mod unacknowledged;

pub(crate) use application::Application;
pub(crate) use connection::{Closing, Connection, ConnectionId, Connections, Content, End, Endpoint};
pub(crate) use event::Event;
pub(crate) use exchange::{CacheAnswer, Exchange, ExchangeId, Exchanges, Releasing, Ride};
pub(crate) use held::{Cause, HeldTimes};
pub(crate) use hosts::Hosts;
pub(crate) use leg::Leg;
pub(crate) use packet::{Extras, Mark, Packet, PacketPath};
pub(crate) use transport::Transport;
pub(crate) use unacknowledged::Response;
