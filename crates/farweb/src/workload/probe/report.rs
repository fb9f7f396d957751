//! Report on the packets and connections of captures: how many were of use, and why others were not.

use std::collections::BTreeMap;

use serde::Serialize;

/// Most unreadable packets that are kept for the report.
const EXAMPLES_MAX: usize = 20;

/// Why a packet that could be read is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skipped {
    /// Not IP: ARP, IPX, spanning tree.
    NotIp,
    /// IP, and not TCP.
    NotTcp,
    /// A fragment.
    Fragment,
    /// Too few of its bytes were captured to have its TCP header.
    CutShort,
    /// A packet of an interface of an unknown kind.
    LinkType,
}

/// A packet that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadablePacket {
    /// The capture.
    pub file: String,
    /// Its number in the file, from 1.
    pub packet: u64,
    /// The problem with it.
    pub why: String,
}

/// Counts of captures so far: `packets = tcp + sum of skipped + unreadable_packets`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProbeReport {
    /// Packets.
    pub packets: u64,
    /// Packets with an inspected TCP header.
    pub tcp: u64,
    /// Packets that were not, by reason.
    pub skipped: BTreeMap<Skipped, u64>,
    /// Packets that could not be read.
    pub unreadable_packets: u64,
    /// The first 20 of them.
    pub unreadable: Vec<UnreadablePacket>,
    /// Captures that end before their end, and why.
    pub cut_off: Vec<String>,
    /// Connections that began.
    pub connections: u64,
    /// Connections with a captured SYN|ACK.
    pub answered: u64,
    /// Answered ones without their SYN: the capture began later.
    pub without_syn: u64,
    /// Connections that a reset answered.
    pub refused: u64,
    /// Connections that nothing answered.
    pub unanswered: u64,
    /// Answered ones that the client never acknowledged.
    pub half_open: u64,
    /// Connections with a retransmitted SYN before an answer: they have no round-trip time, since the answer may belong
    /// to either.
    pub retransmitted: u64,
    /// Answered ones with options cut before a possible MSS.
    pub options_cut: u64,
    /// Round-trip times that were taken.
    pub rtt_samples: u64,
}

impl ProbeReport {
    pub(super) fn skip(&mut self, reason: Skipped) {
        *self.skipped.entry(reason).or_default() += 1;
    }

    pub(super) fn unreadable(&mut self, file: &str, packet: u64, why: String) {
        self.unreadable_packets += 1;
        if self.unreadable.len() < EXAMPLES_MAX {
            self.unreadable.push(UnreadablePacket { file: file.to_owned(), packet, why });
        }
    }
}
