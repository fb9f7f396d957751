//! Captures as bytes, by the documents that define them and no crate that reads them.

use std::io::{Cursor, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::workload::WorkloadError;
use crate::workload::probe::capture::Capture;
use crate::workload::probe::input::Input;

pub(super) const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
pub(super) const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 80));
pub(super) const SERVER6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x80));
const CLIENT6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Sequence number of each SYN.
pub(super) const SEQ: u32 = 0xFFFF_FFF0;

pub(super) const LINK_TYPES: [u16; 11] = [0, 1, 9, 12, 14, 101, 104, 108, 113, 228, 276];

#[derive(Debug, Clone, Copy)]
pub(super) struct Packet {
    time_ns: u64,
    port: u16,
    up: bool,
    ipv6: bool,
    flags: u8,
    seq: u32,
    ack: u32,
    window: u16,
    mss: Option<u16>,
    scale: Option<u8>,
    interface: u32,
}

pub(super) const fn syn(port: u16, time_ns: u64) -> Packet {
    let (up, ipv6, flags, window) = (true, false, 0x02, 4096);
    Packet { time_ns, port, up, ipv6, flags, seq: SEQ, ack: 0, window, mss: None, scale: None, interface: 0 }
}

pub(super) const fn answer(port: u16, time_ns: u64) -> Packet {
    let mss = Some(1460);
    Packet { up: false, flags: 0x12, seq: 7, ack: SEQ + 1, window: 8760, mss, ..syn(port, time_ns) }
}

pub(super) const fn ack(port: u16, time_ns: u64) -> Packet {
    Packet { flags: 0x10, seq: SEQ + 1, ack: 8, ..syn(port, time_ns) }
}

pub(super) const fn reset(port: u16, time_ns: u64) -> Packet {
    Packet { flags: 0x14, window: 0, mss: None, ..answer(port, time_ns) }
}

pub(super) fn handshake(port: u16, at_ns: u64, rtt_ns: u64) -> Vec<Packet> {
    vec![syn(port, at_ns), answer(port, at_ns + rtt_ns), ack(port, at_ns + rtt_ns + 1000)]
}

impl Packet {
    pub(super) const fn up(self) -> Self {
        Self { up: true, ..self }
    }
    pub(super) const fn down(self) -> Self {
        Self { up: false, ..self }
    }
    pub(super) const fn window(self, window: u16) -> Self {
        Self { window, ..self }
    }
    pub(super) const fn mss(self, mss: Option<u16>) -> Self {
        Self { mss, ..self }
    }
    pub(super) const fn scale(self, scale: Option<u8>) -> Self {
        Self { scale, ..self }
    }
    pub(super) const fn acknowledging(self, ack: u32) -> Self {
        Self { ack, ..self }
    }
    /// With another sequence number of the client.
    pub(super) const fn seq(self, seq: u32) -> Self {
        if self.up { Self { seq, ..self } } else { Self { ack: seq + 1, ..self } }
    }
    pub(super) const fn at(self, interface: u32) -> Self {
        Self { interface, ..self }
    }
    pub(super) const fn make_ipv6(&mut self) {
        self.ipv6 = true;
    }

    fn tcp(&self) -> Vec<u8> {
        let mut options = Vec::new();
        if let Some(mss) = self.mss {
            options.extend([2, 4]);
            options.extend(mss.to_be_bytes());
        }
        if let Some(shift) = self.scale {
            // Behind an unknown option, and an incomplete one.
            options.extend([253, 5, 1, 2, 3, 1, 3, 3, shift, 1, 1, 1]);
        }
        let ports = if self.up { [self.port, 80] } else { [80, self.port] };
        let mut bytes: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([((20 + options.len()) as u8 / 4) << 4, self.flags]);
        bytes.extend(self.window.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes
    }

    fn ip(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let mut bytes;
        if self.ipv6 {
            let IpAddr::V6(server) = SERVER6 else { unreachable!() };
            let ends = if self.up { [CLIENT6, server] } else { [server, CLIENT6] };
            // Hop-by-hop options stand before the TCP header.
            bytes = vec![0x60, 0, 0, 0, 0, tcp.len() as u8 + 8, 0, 64];
            bytes.extend(ends.iter().flat_map(Ipv6Addr::octets));
            bytes.extend([6, 0, 1, 4, 0, 0, 0, 0]);
        } else {
            let (IpAddr::V4(client), IpAddr::V4(server)) = (CLIENT, SERVER) else { unreachable!() };
            let ends = if self.up { [client, server] } else { [server, client] };
            bytes = vec![0x45, 0, 0, tcp.len() as u8 + 20, 0, 0, 0x40, 0, 64, 6, 0, 0];
            bytes.extend(ends.iter().flat_map(Ipv4Addr::octets));
        }
        bytes.extend(tcp);
        bytes
    }
}

/// Differences among link-layer headers of a type.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ether {
    /// VLAN tags.
    pub(super) tags: usize,
    /// True when a loopback's family is in the other byte order.
    pub(super) swapped: bool,
}

/// How a capture is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    pub(super) link_type: u16,
    pub(super) ether: Ether,
    pub(super) snap: usize,
    pub(super) big_endian: bool,
    pub(super) nanoseconds: bool,
    pub(super) modified: bool,
    pub(super) gzip: bool,
    pub(super) ng: bool,
    pub(super) resolution: Option<u8>,
    pub(super) simple: bool,
    pub(super) interfaces: u32,
}

impl Default for File {
    fn default() -> Self {
        Self {
            link_type: 1,
            ether: Ether::default(),
            snap: 65_535,
            big_endian: false,
            nanoseconds: false,
            modified: false,
            gzip: false,
            ng: false,
            resolution: None,
            simple: false,
            interfaces: 1,
        }
    }
}

impl File {
    /// The capture of some packets.
    pub(super) fn with(&self, packets: &[Packet]) -> Vec<u8> {
        let mut out = if self.ng { self.section() } else { self.header() };
        for packet in packets {
            out.extend(if self.ng { self.block_of(packet) } else { self.record(packet) });
        }
        if !self.gzip {
            return out;
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&out).unwrap();
        encoder.finish().unwrap()
    }

    pub(super) fn long(&self, number: u32) -> [u8; 4] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn short(&self, number: u16) -> [u8; 2] {
        if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn header(&self) -> Vec<u8> {
        let magic = match (self.nanoseconds, self.modified) {
            (true, _) => 0xa1b2_3c4d,
            (_, true) => 0xa1b2_cd34,
            _ => 0xa1b2_c3d4,
        };
        let mut out = self.long(magic).to_vec();
        out.extend([self.short(2), self.short(4)].concat());
        out.extend(
            [self.long(0), self.long(0), self.long(self.snap as u32), self.long(self.link_type.into())]
                .concat(),
        );
        out
    }

    pub(super) fn record(&self, packet: &Packet) -> Vec<u8> {
        let frame = self.frame(packet);
        let kept = &frame[..frame.len().min(self.snap)];
        let fraction = packet.time_ns % 1_000_000_000 / if self.nanoseconds { 1 } else { 1000 };
        let words =
            [(packet.time_ns / 1_000_000_000) as u32, fraction as u32, kept.len() as u32, frame.len() as u32];
        let mut out: Vec<u8> = words.iter().flat_map(|word| self.long(*word)).collect();
        if self.modified {
            out.extend([0; 8]); // index of the interface, protocol, type of the packet
        }
        out.extend(kept);
        out
    }

    fn section(&self) -> Vec<u8> {
        let body = [&self.long(0x1a2b_3c4d)[..], &self.short(1), &self.short(0), &[0xFF; 8]].concat();
        let mut out = self.block(0x0a0d_0d0a, &body);
        for _ in 0..self.interfaces {
            let mut body = [&self.short(self.link_type)[..], &[0; 2], &self.long(self.snap as u32)].concat();
            if let Some(resolution) = self.resolution {
                body.extend([&self.short(9)[..], &self.short(1), &[resolution, 0, 0, 0], &[0; 4]].concat());
            }
            out.extend(self.block(1, &body));
        }
        out.extend(self.block(5, &[0; 12])); // unrequested statistics
        out
    }

    pub(super) fn block_of(&self, packet: &Packet) -> Vec<u8> {
        let frame = self.frame(packet);
        let mut kept = frame[..frame.len().min(self.snap)].to_vec();
        let captured = kept.len() as u32;
        kept.resize(kept.len().next_multiple_of(4), 0);
        if self.simple {
            return self.block(3, &[&self.long(frame.len() as u32)[..], &kept].concat());
        }
        let units = match self.resolution.unwrap_or(6) {
            resolution if resolution & 0x80 != 0 => 1_u128 << (resolution & 0x7F),
            resolution => 10_u128.pow(resolution.into()),
        };
        let time = (u128::from(packet.time_ns) * units / 1_000_000_000) as u64;
        let words = [packet.interface, (time >> 32) as u32, time as u32, captured, frame.len() as u32];
        let mut body: Vec<u8> = words.iter().flat_map(|word| self.long(*word)).collect();
        body.extend(kept);
        self.block(6, &body)
    }

    pub(super) fn block(&self, kind: u32, body: &[u8]) -> Vec<u8> {
        let length = self.long(body.len() as u32 + 12);
        [&self.long(kind)[..], &length, body, &length].concat()
    }

    fn frame(&self, packet: &Packet) -> Vec<u8> {
        let ip = packet.ip();
        let kind: u16 = if packet.ipv6 { 0x86DD } else { 0x0800 };
        let kind = kind.to_be_bytes();
        let family: u32 = if packet.ipv6 { 30 } else { 2 };
        let family = if self.ether.swapped { family.to_be_bytes() } else { family.to_le_bytes() };
        let tags = [0x88, 0xA8, 0, 5, 0x81, 0, 0, 6];
        let head = match self.link_type {
            0 | 108 => family.to_vec(),
            1 => [&[2; 12][..], &tags[8 - 4 * self.ether.tags..], &kind].concat(),
            9 => vec![0xFF, 0x03, 0, if packet.ipv6 { 0x57 } else { 0x21 }],
            104 => [&[0x0F, 0][..], &kind].concat(),
            113 => [&[0; 14][..], &kind].concat(),
            276 => [&kind[..], &[0; 18]].concat(),
            _ => Vec::new(),
        };
        [head, ip].concat()
    }
}

/// A capture that lies in memory.
pub(super) fn opened(bytes: Vec<u8>) -> Result<Capture, WorkloadError> {
    let size = bytes.len() as u64;
    Capture::new(Input::new("capture".into(), Cursor::new(bytes), size)?)
}
