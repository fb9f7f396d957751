//! Host tables from captures: what servers advertise, and how far away they are, as their handshakes show it.
//!
//! Of each server that answered with a SYN|ACK:
//!
//! * MSS: the option of the SYN|ACK. A host without one is *silent*, and its value is the caller's choice.
//! * Window: the field of the SYN|ACK, the receiver's first window. If both ends scale (RFC 7323) that unscaled field
//!   stops at 64 KiB, and the window is the largest window that the server advertised in the connection, the SYN|ACK's
//!   included. A short connection shows less than a long one, since Linux opens its window as data come.
//! * Round-trip time: from the SYN to the SYN|ACK at the place of capture: none next to the server. A retransmitted SYN
//!   gives none, since either may have been answered (Karn's rule; RFC 6298, section 3). The same SYN within 10 ms was
//!   captured twice, as on mirrored ports.
//!
//! A connection counts once for each interface of a capture that saw it. It is followed until the server's FIN, a
//! reset, or five minutes without a packet. The end of a file ends it too. Memory holds open connections and servers,
//! not the capture.
//!
//! Every packet is accounted for in the [`ProbeReport`]. Too many unreadable ones are an error, and so is too large a
//! part of a file behind damage: it is no capture then.
//!
//! Left out: answers of a proxy or a load balancer in a server's stead, and SYN cookies, which may hide options.
//!
//! Source: the NZ–US study took its host file so, with tcpdump ("Improving the performance of HTTP over high bandwidth-delay
//! product circuits", CNDS 2001, section on the simulation's input).

mod capture;
mod connections;
mod headers;
mod input;
mod report;
mod servers;

#[cfg(test)]
mod tests;

pub use report::{ProbeReport, Skipped, UnreadablePacket};
pub use servers::ProbedHost;

use std::net::IpAddr;
use std::path::Path;

use super::WorkloadError;
use capture::{Capture, Next};
use connections::Connections;
use headers::Without;
use servers::Servers;

/// Packets before too many unreadable ones can end a capture.
const EARLY_PACKETS: u64 = 1000;

/// Looks through captures for servers.
#[derive(Debug)]
pub struct Probe {
    max_unreadable: f64,
    servers: Servers,
    connections: Connections,
    report: ProbeReport,
    /// The capture that is being read, with its packets that could not be.
    capture: Option<(Capture, u64)>,
}

impl Probe {
    /// A probe that has seen nothing.
    ///
    /// `max_unreadable`: share of the packets of a capture that may be unreadable, and of its bytes that may lie behind
    /// damage, 0 to 1.
    ///
    /// # Errors
    /// When it is no share.
    pub fn new(max_unreadable: f64) -> Result<Self, WorkloadError> {
        if !(0.0..=1.0).contains(&max_unreadable) {
            return Err(WorkloadError(format!(
                "--max-unreadable: found {max_unreadable}; write a share from 0 to 1"
            )));
        }
        Ok(Self {
            max_unreadable,
            servers: Servers::default(),
            connections: Connections::default(),
            report: ProbeReport::default(),
            capture: None,
        })
    }

    /// Begins a capture: pcap or pcapng, plain or gzip.
    ///
    /// # Errors
    /// When the file cannot be read or is no capture.
    pub fn open(&mut self, path: &Path) -> Result<(), WorkloadError> {
        self.begin(Capture::open(path)?);
        Ok(())
    }

    fn begin(&mut self, capture: Capture) {
        self.connections.finish(&mut self.servers, &mut self.report);
        self.capture = Some((capture, 0));
    }

    /// Looks at up to `packets` packets of the capture. True if more follow.
    ///
    /// # Errors
    /// When the device fails, or more is unreadable than is allowed.
    pub fn advance(&mut self, packets: u64) -> Result<bool, WorkloadError> {
        let Self { max_unreadable, servers, connections, report, capture: open } = self;
        let Some((capture, unreadable)) = open else { return Ok(false) };
        for _ in 0..packets {
            let number = capture.packets() + 1;
            let why = match capture.next()? {
                Next::Packet(packet) => {
                    report.packets += 1;
                    match headers::read(&packet) {
                        Ok(header) => {
                            report.tcp += 1;
                            connections.on_packet(packet.interface, packet.time_ns, &header, servers, report);
                            continue;
                        }
                        Err(Without::Skipped(reason)) => {
                            report.skip(reason);
                            continue;
                        }
                        Err(Without::Malformed(why)) => why,
                    }
                }
                Next::Damaged(why) => {
                    report.packets += 1;
                    why
                }
                Next::CutOff(why) => {
                    report.cut_off.push(format!(
                        "{}: {why} after packet {}",
                        capture.input().name(),
                        number - 1
                    ));
                    continue;
                }
                Next::Lost(why) => {
                    lost(capture, &why, *max_unreadable, report)?;
                    continue;
                }
                Next::End => {
                    check(capture, *unreadable, *max_unreadable, report)?;
                    connections.finish(servers, report);
                    *open = None;
                    return Ok(false);
                }
            };
            report.unreadable(capture.input().name(), number, why);
            *unreadable += 1;
            if number == EARLY_PACKETS {
                check(capture, *unreadable, *max_unreadable, report)?;
            }
        }
        Ok(true)
    }

    /// The hosts that were seen, by name, those without one behind them by address. `names` gives addresses their
    /// names. With `only_named` others are left out.
    #[must_use]
    pub fn hosts(&self, names: &[(IpAddr, String)], only_named: bool) -> Vec<ProbedHost> {
        self.servers.hosts(names, only_named)
    }

    /// Report on packets and connections so far. Those under way count when they have ended.
    #[must_use]
    pub const fn report(&self) -> &ProbeReport {
        &self.report
    }

    /// Bytes of the capture that were read, as they are in the file.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.capture.as_ref().map_or(0, |(capture, _)| capture.input().read())
    }
}

/// Checks that few enough packets of a capture were unreadable.
fn check(
    capture: &Capture,
    unreadable: u64,
    max_unreadable: f64,
    report: &ProbeReport,
) -> Result<(), WorkloadError> {
    let (name, packets) = (capture.input().name(), capture.packets());
    if unreadable as f64 <= max_unreadable * packets as f64 {
        return Ok(());
    }
    let first = report.unreadable.iter().find(|packet| packet.file == name);
    let example = first.map_or_else(String::new, |first| format!("; packet {}: {}", first.packet, first.why));
    Err(WorkloadError(format!(
        "{name}: {unreadable} of {packets} packets are unreadable, more than --max-unreadable {max_unreadable} allows{example}"
    )))
}

/// Takes down that the rest of a capture is lost, when it is small enough.
fn lost(
    capture: &Capture,
    why: &str,
    max_unreadable: f64,
    report: &mut ProbeReport,
) -> Result<(), WorkloadError> {
    let (name, number) = (capture.input().name(), capture.packets() + 1);
    let share = capture.input().share_left();
    let rest = share.map_or_else(String::new, |share| format!(", {:.1} % of the file", 100.0 * share));
    let text = format!("{name}: damaged at packet {number}: {why}; what follows is lost{rest}");
    if share.is_none_or(|share| share > max_unreadable) {
        return Err(WorkloadError(format!("{text}, more than --max-unreadable {max_unreadable} allows")));
    }
    report.cut_off.push(text);
    Ok(())
}
