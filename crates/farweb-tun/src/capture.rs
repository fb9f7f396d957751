//! Captures: the head of every packet that passes a point, as a file that tcpdump, Wireshark and tcptrace read.
//!
//! Packets are raw IP (link type 101), their length is kept, times are the path's, to the nanosecond.
//!
//! Source: the pcap file format as the IETF draft draft-ietf-opsawg-pcap has it; link types of tcpdump.org.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use farweb::units::Instant;

/// Marks a file with times in nanoseconds.
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Packets begin with their IP header (`LINKTYPE_RAW`).
const LINK_TYPE_RAW: u32 = 101;
const NANOSECONDS: u64 = 1_000_000_000;

/// A capture file that is being written.
#[derive(Debug)]
pub(crate) struct Capture<W = BufWriter<File>> {
    writer: W,
    /// Time of [`Instant::ZERO`], in nanoseconds since 1970.
    epoch: u64,
    /// Bytes of a packet that are kept.
    snapshot: u32,
}

impl Capture {
    /// Creates the file `path`, for up to `snapshot` bytes of each packet. `epoch` is the time of [`Instant::ZERO`], in nanoseconds
    /// since 1970.
    pub(crate) fn create(path: &Path, epoch: u64, snapshot: u32) -> io::Result<Self> {
        Self::new(BufWriter::new(File::create(path)?), epoch, snapshot)
    }
}

impl<W: Write> Capture<W> {
    fn new(mut writer: W, epoch: u64, snapshot: u32) -> io::Result<Self> {
        let version = 2_u32 | 4 << 16;
        for word in [MAGIC_NANOSECONDS, version, 0, 0, snapshot, LINK_TYPE_RAW] {
            writer.write_all(&word.to_le_bytes())?;
        }
        Ok(Self { writer, epoch, snapshot })
    }

    /// Writes a packet that passed at `now`.
    pub(crate) fn packet(&mut self, now: Instant, packet: &[u8]) -> io::Result<()> {
        let time = self.epoch + now.as_nanos();
        let len = packet.len() as u32;
        let kept = len.min(self.snapshot);
        for word in [(time / NANOSECONDS) as u32, (time % NANOSECONDS) as u32, kept, len] {
            self.writer.write_all(&word.to_le_bytes())?;
        }
        self.writer.write_all(&packet[..kept as usize])
    }

    /// Flushes the buffer to the file.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_a_header_and_a_record_for_each_packet() {
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file, 1_000_000_007 * NANOSECONDS + 999_999_999, 160).unwrap();
        capture.packet(Instant::from_nanos(2), &[0x45, 0, 0]).unwrap();
        capture.packet(Instant::from_nanos(3), &[7; 1500]).unwrap();
        capture.finish().unwrap();
        let words: Vec<u32> =
            file[..40].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(words, [0xa1b2_3c4d, 0x0004_0002, 0, 0, 160, 101, 1_000_000_008, 1, 3, 3]);
        assert_eq!(file[40..43], [0x45, 0, 0]);
        assert_eq!(file[51..59], [160, 0, 0, 0, 0xdc, 5, 0, 0]);
        assert_eq!(file[59..], [7; 160]);
    }
}
