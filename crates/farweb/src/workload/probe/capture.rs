//! The packets of a capture, one after the other: pcap in both byte orders, with times in µs or ns and in the format of
//! Kuznetzov's patched libpcap, and pcapng with any sections and interfaces. Either may be packed by gzip.
//!
//! Damage loses as little as possible: a block of a pcapng file that contradicts itself is skipped, since its length
//! leads to the next one. If the length itself is nonsense, and in pcap, which has no marks of packets, the rest of the
//! file is lost. A file with an incomplete last record, as from a killed `tcpdump`, ends before it.
//!
//! Left out: the offset of an interface (`if_tsoffset`), since only differences of times are used, and packets of the
//! block types that the format calls obsolete.
//!
//! Source: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng, read by the crate `pcap-parser`.

use std::path::Path;

use pcap_parser::{
    Block, EPB_MAGIC, IDB_MAGIC, PcapHeader, SPB_MAGIC, parse_block_be, parse_block_le, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

use super::input::Input;
use crate::workload::WorkloadError;

/// Longest packet, in bytes (libpcap: `MAXIMUM_SNAPLEN`).
const PACKET_BYTES_MAX: usize = 262_144;

/// Longest block, in bytes. Chosen: as Wireshark has it (`MAX_BLOCK_SIZE` in `wiretap/pcapng.c`), 16 MiB.
const BLOCK_BYTES_MAX: usize = 16 << 20;

/// Most interfaces of a section. Chosen: far more than any machine has.
const INTERFACES_MAX: usize = 65_536;

/// Bytes of the header of a pcap file.
const HEADER_BYTES: usize = 24;

/// Type of a section header block, the same in both byte orders.
const SECTION: u32 = pcap_parser::SHB_MAGIC;

/// Marks the byte order of a section.
const BYTE_ORDER: u32 = pcap_parser::BOM_MAGIC;

/// A packet as it was captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    /// The interface that saw it, 0 in pcap.
    pub(super) interface: u32,
    /// Type of its first header (tcpdump.org's list of link-layer header types).
    pub(super) link_type: u16,
    /// Time of capture, in ns since an origin shared by all packets of an interface. `None`: not in the file.
    pub(super) time_ns: Option<u64>,
    /// Captured bytes.
    pub(super) data: &'a [u8],
    /// True when there was more of it.
    pub(super) cut: bool,
}

/// Next item of a capture.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A packet.
    Packet(Packet<'a>),
    /// A packet or block that cannot be read, and why. It may be followed by others.
    Damaged(String),
    /// The rest of the file cannot be read, and why.
    Lost(String),
    /// The last record is not whole, and why.
    CutOff(String),
    /// The end.
    End,
}

/// An interface of a section of a pcapng file.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: u16,
    /// Units of time a second.
    resolution: u64,
    /// Bytes kept of a packet, 0 for all.
    snap: u32,
}

#[derive(Debug)]
enum Format {
    Pcap { header: PcapHeader },
    Pcapng { big_endian: bool, interfaces: Vec<Interface> },
}

/// Reads a capture.
#[derive(Debug)]
pub(super) struct Capture {
    input: Input,
    format: Format,
    ended: bool,
    /// Packets so far, damaged ones included.
    packets: u64,
}

impl Capture {
    /// Opens the capture at `path`.
    ///
    /// # Errors
    /// When it cannot be read or is no capture.
    pub(super) fn open(path: &Path) -> Result<Self, WorkloadError> {
        Self::new(Input::open(path)?)
    }

    pub(super) fn new(mut input: Input) -> Result<Self, WorkloadError> {
        if input.has(4)? && input.bytes().starts_with(&SECTION.to_le_bytes()) {
            let format = Format::Pcapng { big_endian: false, interfaces: Vec::new() };
            return Ok(Self { input, format, ended: false, packets: 0 });
        }
        if input.has(HEADER_BYTES)?
            && let Ok((_, header)) = parse_pcap_header(input.bytes())
        {
            input.take(HEADER_BYTES);
            return Ok(Self { input, format: Format::Pcap { header }, ended: false, packets: 0 });
        }
        let found = match (input.broken(), input.bytes()) {
            (Some(why), _) => why.to_owned(),
            (None, []) => "it is empty".to_owned(),
            (None, bytes) => {
                let first: Vec<_> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
                format!("it begins with {}", first.join(" "))
            }
        };
        Err(WorkloadError(format!(
            "{}: is not a capture (pcap or pcapng, plain or gzip): {found}",
            input.name()
        )))
    }

    /// Next item. Only [`Next::End`] behind the end of the file, or of its readable part.
    ///
    /// # Errors
    /// When the device fails.
    pub(super) fn next(&mut self) -> Result<Next<'_>, WorkloadError> {
        if self.ended {
            return Ok(Next::End);
        }
        let Self { input, format, ended, packets } = self;
        let next = match format {
            Format::Pcap { header } => record(input, header),
            Format::Pcapng { big_endian, interfaces } => block(input, big_endian, interfaces),
        }?;
        match next {
            Next::Packet(_) | Next::Damaged(_) => *packets += 1,
            Next::Lost(_) | Next::CutOff(_) | Next::End => *ended = true,
        }
        Ok(next)
    }

    /// Packets so far, damaged ones included: the number of the last one, as Wireshark counts.
    pub(super) const fn packets(&self) -> u64 {
        self.packets
    }

    pub(super) const fn input(&self) -> &Input {
        &self.input
    }
}

/// End of a file that lacks some of the `needed` bytes to come.
fn end(input: &Input, needed: &str) -> Next<'static> {
    match (input.broken(), input.bytes().len()) {
        (None, 0) => Next::End,
        (None, _) => Next::CutOff(format!("the file is cut off within {needed}")),
        (Some(why), _) => Next::Lost(why.to_owned()),
    }
}

fn record<'a>(input: &'a mut Input, header: &PcapHeader) -> Result<Next<'a>, WorkloadError> {
    let (fixed, parse): (usize, fn(_) -> _) = match header {
        header if header.is_modified_format() => (24, parse_pcap_frame_modified),
        header if header.is_bigendian() => (16, parse_pcap_frame_be),
        _ => (16, parse_pcap_frame),
    };
    if !input.has(fixed)? {
        return Ok(end(input, "a packet"));
    }
    let length = [0, 1, 2, 3].map(|at| input.bytes()[8 + at]);
    let length = if header.is_bigendian() { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
    if length as usize > PACKET_BYTES_MAX {
        return Ok(Next::Lost(format!(
            "a packet of {length} B, and none has more than {PACKET_BYTES_MAX} B"
        )));
    }
    if !input.has(fixed + length as usize)? {
        return Ok(end(input, "a packet"));
    }
    let Ok((_, frame)) = parse(input.take(fixed + length as usize)) else {
        return Ok(Next::Damaged("its record contradicts itself".into()));
    };
    let fraction = u64::from(frame.ts_usec) * if header.is_nanosecond_precision() { 1 } else { 1000 };
    Ok(Next::Packet(Packet {
        interface: 0,
        // The upper half is the length of a checksum behind each packet.
        link_type: header.network.0 as u16,
        time_ns: Some(u64::from(frame.ts_sec) * 1_000_000_000 + fraction),
        data: frame.data,
        cut: frame.caplen < frame.origlen,
    }))
}

/// The next packet of a pcapng file. Other blocks on the way are taken note of.
fn block<'a>(
    input: &'a mut Input,
    big_endian: &mut bool,
    interfaces: &mut Vec<Interface>,
) -> Result<Next<'a>, WorkloadError> {
    loop {
        if !input.has(12)? {
            return Ok(end(input, "a block"));
        }
        let word = |at: usize| [0, 1, 2, 3].map(|offset| input.bytes()[at + offset]);
        let is_section = word(0) == SECTION.to_le_bytes();
        if is_section {
            *big_endian = word(8) == BYTE_ORDER.to_be_bytes();
        }
        let number: fn([u8; 4]) -> u32 = if *big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let (kind, length) = (number(word(0)), number(word(4)) as usize);
        if length < 12 || length % 4 != 0 || length > BLOCK_BYTES_MAX {
            return Ok(Next::Lost(format!("a block of {length} B, and no block has that length")));
        }
        if !input.has(length)? {
            return Ok(end(input, "a block"));
        }
        let parse = if *big_endian { parse_block_be } else { parse_block_le };
        if matches!(kind, EPB_MAGIC | SPB_MAGIC) {
            return Ok(match parse(input.take(length)) {
                Ok((_, block)) => packet(&block, interfaces),
                Err(_) => Next::Damaged("its block contradicts itself".into()),
            });
        }
        match parse(input.take(length)) {
            Ok((_, Block::SectionHeader(_))) => interfaces.clear(),
            Ok((_, Block::InterfaceDescription(found))) if interfaces.len() < INTERFACES_MAX => {
                interfaces.push(Interface {
                    link_type: found.linktype.0 as u16,
                    resolution: resolution(found.if_tsresol),
                    snap: found.snaplen,
                });
            }
            Err(_) if is_section || kind == IDB_MAGIC => {
                return Ok(Next::Lost(
                    "the block that says how to read the next ones contradicts itself".into(),
                ));
            }
            // Names, statistics, secrets, and what others made up.
            Ok(_) | Err(_) => {}
        }
    }
}

/// The packet of a block. The blocks have been parsed from their own slice, which they fill.
fn packet<'a>(block: &Block<'a>, interfaces: &[Interface]) -> Next<'a> {
    let (number, length) = match block {
        Block::EnhancedPacket(block) => (block.if_id, block.origlen),
        Block::SimplePacket(block) => (0, block.origlen),
        _ => return Next::Damaged("its block contradicts itself".into()),
    };
    let Some(interface) = interfaces.get(number as usize) else {
        return Next::Damaged(format!("it names interface {number}, and there are {}", interfaces.len()));
    };
    let (data, time_ns) = match block {
        Block::EnhancedPacket(block) => {
            let units = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
            let time_ns = u128::from(units) * 1_000_000_000 / u128::from(interface.resolution);
            // The parser has seen that so much is there, with its padding.
            (&block.data[..block.caplen as usize], u64::try_from(time_ns).ok())
        }
        Block::SimplePacket(block) => {
            // It is padded, and cut at the snap length without saying so.
            let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
            (&block.data[..block.data.len().min(length.min(snap) as usize)], None)
        }
        _ => (&[][..], None),
    };
    Next::Packet(Packet {
        interface: number,
        link_type: interface.link_type,
        time_ns,
        data,
        cut: data.len() < length as usize,
    })
}

/// Units of time a second, from the option `if_tsresol`: a power of ten, or of two when its highest bit is set.
fn resolution(option: u8) -> u64 {
    let exponent = u32::from(option & 0x7F);
    let units = if option & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) };
    // A resolution finer than any clock has no meaning. Microseconds are the default of the format.
    units.unwrap_or(1_000_000)
}
