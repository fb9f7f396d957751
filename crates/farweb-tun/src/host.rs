//! Our host: its connections, the listener, and resets for segments of no connection.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::SocketAddrV4;

use farweb::net::PacketKind;
use farweb::rng::{RandomStream, RandomStreams};
use farweb::tcp::{Config, Connection, Flags, HostClock, Output, Random, Segment, reset_for};
use farweb::units::{Bytes, Instant};

use crate::application::Application;
use crate::codec::{self, Addresses, Numbering, WirePacket};
use crate::description::Talk;
use crate::endpoint::{Endpoint, EndpointReport};
use crate::path::kind_of;

/// A packet that leaves our host.
#[derive(Debug)]
pub(crate) struct Departure {
    pub(crate) bytes: Vec<u8>,
    pub(crate) flow: u64,
    pub(crate) kind: PacketKind,
}

/// The host on our side of the path.
#[derive(Debug)]
pub(crate) struct Host {
    talk: Talk,
    config: Config,
    clock: HostClock,
    random: RandomStream,
    /// By the address of the peer and ours, as packets that arrive have them.
    connections: BTreeMap<Addresses, Endpoint>,
    /// Connections that are over, their addresses in use again.
    past: Vec<Endpoint>,
    identification: u16,
    departures: Vec<Departure>,
}

impl Host {
    /// A host without connections.
    ///
    /// # Errors
    /// When a constant is not one of the profile's, or out of range.
    pub(crate) fn new(talk: &Talk) -> io::Result<Self> {
        let streams = RandomStreams::new(talk.seed);
        let tcp = &talk.tcp;
        let invalid = |problem: String| io::Error::new(ErrorKind::InvalidInput, problem);
        let profile =
            tcp.profile.profile().with(&tcp.constants).map_err(|problem| invalid(problem.to_string()))?;
        profile.check().map_err(|problem| invalid(problem.to_string()))?;
        let buffer = tcp.buffer.map(Bytes::get);
        Ok(Self {
            clock: profile.host_clock(&mut streams.stream("clock", 0)),
            config: Config {
                profile,
                mss: u16::try_from(tcp.mss.get()).unwrap_or(u16::MAX),
                send_buffer: buffer,
                receive_buffer: buffer,
                random: Random { streams, index: 0 },
            },
            talk: talk.clone(),
            random: streams.stream("numbers", 0),
            connections: BTreeMap::new(),
            past: Vec::new(),
            identification: 0,
            departures: Vec::new(),
        })
    }

    /// Opens a connection to `to`.
    pub(crate) fn connect(&mut self, now: Instant, to: SocketAddrV4) {
        let addresses = Addresses { from: self.talk.address, to };
        let mut output = Output::default();
        let tcp = Connection::connect(now, &self.config, self.clock, &mut output);
        // The number of the peer's SYN is learnt from it.
        self.open(now, addresses, 0, tcp, output, None);
    }

    /// A packet arrived at our end of the path.
    pub(crate) fn on_packet(&mut self, now: Instant, packet: &WirePacket<'_>) {
        let back = packet.addresses.reversed();
        let opens = packet.flags.contains(Flags::SYN) && !packet.flags.intersects(Flags::ACK | Flags::RST);
        if opens && self.connections.get(&back).is_some_and(Endpoint::is_over) {
            self.past.extend(self.connections.remove(&back));
        }
        if let Some(endpoint) = self.connections.get_mut(&back) {
            endpoint.on_packet(now, packet);
            self.collect(back);
        } else if opens && self.is_listening(packet.addresses.to) {
            self.accept(now, packet);
        } else {
            self.refuse(packet);
        }
    }

    fn is_listening(&self, address: SocketAddrV4) -> bool {
        self.talk.connect.is_none() && address == self.talk.address
    }

    fn accept(&mut self, now: Instant, packet: &WirePacket<'_>) {
        let theirs = packet.sequence_number();
        let Some(syn) = packet.segment(Numbering { ours: 0, theirs }, 0, 0) else { return };
        let mut output = Output::default();
        let tcp = Connection::accept(now, &self.config, self.clock, &syn, &mut output);
        self.open(now, packet.addresses.reversed(), theirs, tcp, output, Some(&syn));
    }

    fn open(
        &mut self,
        now: Instant,
        addresses: Addresses,
        theirs: u32,
        tcp: Connection,
        output: Output,
        syn: Option<&Segment>,
    ) {
        let random = self.random.below(1 << 32) as u32;
        let numbering = Numbering { ours: self.talk.first_number.unwrap_or(random), theirs };
        let application = Application::new(&self.talk.application);
        let mut endpoint = Endpoint::new(addresses, numbering, tcp, output, application);
        syn.into_iter().for_each(|syn| endpoint.note_first_syn(syn));
        endpoint.settle(now);
        self.connections.insert(addresses, endpoint);
        self.collect(addresses);
    }

    /// Answers a segment that belongs to no connection, in the numbers of the wire.
    fn refuse(&mut self, packet: &WirePacket<'_>) {
        let wire = Numbering { ours: 0, theirs: 0 };
        let half = 1 << 31;
        let Some(reset) = packet.segment(wire, half, half).and_then(|segment| reset_for(&segment.plain()))
        else {
            return;
        };
        self.depart(packet.addresses.reversed(), wire, &reset.segment(), &[]);
    }

    /// When something next happens here without a packet.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.connections.values().filter_map(Endpoint::next_timeout).min()
    }

    /// Time has come to what [`next_timeout`](Self::next_timeout) said.
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        let due = |endpoint: &Endpoint| endpoint.next_timeout().is_some_and(|due| due <= now);
        let all: Vec<_> =
            self.connections.iter().filter(|(_, endpoint)| due(endpoint)).map(|(key, _)| *key).collect();
        for key in all {
            self.connections.get_mut(&key).expect("listed above").on_timeout(now);
            self.collect(key);
        }
    }

    /// Packets that left since the last call.
    pub(crate) fn take_departures(&mut self) -> Vec<Departure> {
        std::mem::take(&mut self.departures)
    }

    /// True when every connection is over.
    pub(crate) fn is_quiet(&self) -> bool {
        self.connections.values().all(Endpoint::is_over)
    }

    pub(crate) fn report(self) -> Vec<EndpointReport> {
        self.past.into_iter().chain(self.connections.into_values()).map(Endpoint::report).collect()
    }

    /// Makes packets of the segments that a connection has put out.
    fn collect(&mut self, key: Addresses) {
        let endpoint = self.connections.get_mut(&key).expect("a connection of ours");
        for (segment, payload, numbering) in endpoint.take_segments() {
            self.depart(key, numbering, &segment, &payload);
        }
    }

    fn depart(&mut self, addresses: Addresses, numbering: Numbering, segment: &Segment, payload: &[u8]) {
        self.identification = self.identification.wrapping_add(1);
        let bytes = codec::packet(addresses, self.identification, numbering, segment, payload);
        self.departures.push(Departure {
            bytes,
            flow: addresses.flow(),
            kind: kind_of(segment.flags, payload.len()),
        });
    }
}
