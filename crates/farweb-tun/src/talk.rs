//! A talk: our host, the path and the TUN device on one real clock.
//!
//! Events happen at their planned time, even when this process gets to them a little later, so lateness does not add up.
//! Only packets from and to the kernel have the time when they really came or went.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;

use farweb::rng::RandomStreams;
use farweb::units::Instant;
use serde::Serialize;

use crate::capture::Capture;
use crate::clock::Clock;
use crate::codec::{Undecodable, WirePacket};
use crate::description;
use crate::endpoint::EndpointReport;
use crate::host::{Departure, Host};
use crate::path::{Direction, DirectionReport, kind_of};
use crate::tun::Tun;

/// Longest packet of IPv4.
const PACKET_BYTES_MAX: usize = 65535;

/// A talk that is going on.
struct Talk {
    clock: Clock,
    tun: Tun,
    host: Host,
    to_kernel: Direction,
    to_farweb: Direction,
    captures: Option<Captures>,
    undecodable: Vec<String>,
}

/// Events as each end sees them.
struct Captures {
    kernel: Capture,
    farweb: Capture,
}

/// Report of a talk at its end.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Connections of our host, by the address of the peer.
    connections: Vec<EndpointReport>,
    up: DirectionReport,
    down: DirectionReport,
    /// Problems with packets of the kernel that could not be read.
    undecodable: Vec<String>,
    /// True when the deadline came first.
    late: bool,
}

/// Talks until `until` has ended and all is quiet, or until the deadline. Calls `ready` when packets are taken.
pub(crate) fn run(
    description: &description::Talk,
    mut until: impl Read + AsFd,
    ready: impl FnOnce() -> io::Result<()>,
) -> io::Result<Report> {
    let mut talk = Talk::new(description)?;
    ready()?;
    let deadline = Instant::ZERO + description.deadline;
    if let Some(to) = description.connect {
        let now = talk.clock.now();
        talk.host.connect(now, to);
        talk.depart(now)?;
    }
    let mut open = true;
    while talk.clock.now() < deadline && (open || !talk.is_quiet()) {
        let now = talk.clock.now();
        talk.run_until(now)?;
        talk.receive(now)?;
        let next = talk.next_due().map_or(deadline, |due| due.min(deadline));
        if open {
            let [_, ended] = talk.clock.wait(next, [talk.tun.as_fd(), until.as_fd()])?;
            open = !(ended && until.read(&mut [0; 64])? == 0);
        } else {
            talk.clock.wait(next, [talk.tun.as_fd()])?;
        }
    }
    talk.finish(description.connect.is_some())
}

impl Talk {
    fn new(description: &description::Talk) -> io::Result<Self> {
        let clock = Clock::start();
        let streams = RandomStreams::new(description.seed);
        let [up, down] = [(&description.up, 0), (&description.down, 1)]
            .map(|(way, index)| Direction::new(way, &streams.stream("loss", index)));
        let is_client = description.connect.is_some();
        let (to_kernel, to_farweb) = if is_client { (up, down) } else { (down, up) };
        let captures = match &description.captures {
            Some(folder) => {
                fs::create_dir_all(folder)?;
                let snapshot = u32::try_from(description.snapshot.get()).unwrap_or(u32::MAX);
                let create = |name| Capture::create(&folder.join(name), clock.epoch(), snapshot);
                Some(Captures { kernel: create("kernel.pcap")?, farweb: create("farweb.pcap")? })
            }
            None => None,
        };
        Ok(Self {
            clock,
            tun: Tun::attach(&description.device)?,
            host: Host::new(description)?,
            to_kernel,
            to_farweb,
            captures,
            undecodable: Vec::new(),
        })
    }

    /// Runs all events due until `now`, in the order of time.
    fn run_until(&mut self, now: Instant) -> io::Result<()> {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            if self.to_farweb.next_arrival() == Some(due) {
                for packet in self.to_farweb.take_arrived(due) {
                    self.deliver_to_farweb(due, &packet.bytes)?;
                }
            } else if self.to_kernel.next_arrival() == Some(due) {
                for packet in self.to_kernel.take_arrived(due) {
                    self.deliver_to_kernel(&packet.bytes)?;
                }
            } else {
                self.host.on_timeout(due);
            }
            self.depart(due)?;
        }
        Ok(())
    }

    fn deliver_to_farweb(&mut self, now: Instant, bytes: &[u8]) -> io::Result<()> {
        if let Some(captures) = &mut self.captures {
            captures.farweb.packet(now, bytes)?;
        }
        let packet = WirePacket::parse(bytes).expect("parsed when it came");
        self.host.on_packet(now, &packet);
        Ok(())
    }

    fn deliver_to_kernel(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(captures) = &mut self.captures {
            captures.kernel.packet(self.clock.now(), bytes)?;
        }
        self.tun.send(bytes)
    }

    /// Puts what our host has sent on its way.
    fn depart(&mut self, now: Instant) -> io::Result<()> {
        for Departure { bytes, flow, kind } in self.host.take_departures() {
            if let Some(captures) = &mut self.captures {
                captures.farweb.packet(now, &bytes)?;
            }
            self.to_kernel.enqueue(now, bytes, flow, kind);
        }
        Ok(())
    }

    /// Takes what the kernel has sent.
    fn receive(&mut self, now: Instant) -> io::Result<()> {
        let mut buffer = [0; PACKET_BYTES_MAX];
        while let Some(bytes) = self.tun.receive(&mut buffer)? {
            match WirePacket::parse(bytes) {
                Ok(packet) => {
                    let flow = packet.addresses.reversed().flow();
                    let kind = kind_of(packet.flags, packet.payload().len());
                    if let Some(captures) = &mut self.captures {
                        captures.kernel.packet(now, bytes)?;
                    }
                    self.to_farweb.enqueue(now, bytes.to_vec(), flow, kind);
                }
                Err(Undecodable::Foreign) => {}
                Err(problem) => self.undecodable.push(problem.to_string()),
            }
        }
        Ok(())
    }

    fn next_due(&self) -> Option<Instant> {
        [self.to_farweb.next_arrival(), self.to_kernel.next_arrival(), self.host.next_timeout()]
            .into_iter()
            .flatten()
            .min()
    }

    fn is_quiet(&self) -> bool {
        self.host.is_quiet() && self.to_farweb.is_empty() && self.to_kernel.is_empty()
    }

    fn finish(self, is_client: bool) -> io::Result<Report> {
        let late = !self.is_quiet();
        if let Some(Captures { kernel, farweb }) = self.captures {
            kernel.finish()?;
            farweb.finish()?;
        }
        let (to_kernel, to_farweb) = (self.to_kernel.report, self.to_farweb.report);
        let (up, down) = if is_client { (to_kernel, to_farweb) } else { (to_farweb, to_kernel) };
        Ok(Report { connections: self.host.report(), up, down, undecodable: self.undecodable, late })
    }
}
