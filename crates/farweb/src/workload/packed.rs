//! Unpacks gzip, xz and Zstandard as a stream, in bounded memory: each is known by its first bytes, not by its name.
//!
//! A file may have several members, streams or frames. A file with a window above [`WINDOW_BYTES_MAX`] is refused: a
//! small file that unpacks to a large one costs only time.

use std::io::{BufRead, BufReader, Cursor, Error, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::WorkloadError;

/// A byte stream that a Python object may own.
pub(super) type Source = Box<dyn Read + Send + Sync>;

/// Largest window, in bytes: twice the 64 MiB of `xz -9`, and the default maximum of `zstd` (`--long` up to
/// 27).
const WINDOW_BYTES_MAX: u64 = 1 << 27;

/// Bytes that are looked at to see the packing.
const HEAD_BYTES: usize = 8;

const GZIP: &[u8] = b"\x1F\x8B";
const XZ: &[u8] = b"\xFD7zXZ\x00";
const ZSTD: &[u8] = b"\x28\xB5\x2F\xFD";

/// Unpacks `source` if its beginning is a packed file's, and names the packing.
pub(super) fn unpacked(source: Source) -> std::io::Result<(Option<&'static str>, Source)> {
    let (head, rest) = peek(source, HEAD_BYTES)?;
    let packed = BufReader::new(Box::new(Cursor::new(head.clone()).chain(rest)) as Source);
    Ok(if head.starts_with(GZIP) {
        (Some("gzip"), Box::new(MultiGzDecoder::new(packed)))
    } else if head.starts_with(XZ) {
        let most_kib = (WINDOW_BYTES_MAX >> 10) as u32;
        (Some("xz"), Box::new(XzReader::new_mem_limit(packed, true, most_kib)))
    } else if head.starts_with(ZSTD) {
        (Some("Zstandard"), Box::new(Frames { packed, decoder: decoder(), within: false }))
    } else {
        (None, Box::new(packed))
    })
}

/// The first `most` bytes of `source`, unpacked.
///
/// # Errors
/// It cannot be read, or is damaged.
pub(crate) fn beginning(
    name: &str,
    source: impl Read + Send + Sync + 'static,
    most: u64,
) -> Result<Vec<u8>, WorkloadError> {
    let mut packing = None;
    let mut content = Vec::new();
    let read = || -> std::io::Result<usize> {
        let (found, plain) = unpacked(Box::new(source))?;
        packing = found;
        plain.take(most).read_to_end(&mut content)
    };
    match read() {
        Ok(_) => Ok(content),
        Err(error) => Err(WorkloadError(format!("{name}: cannot be read: {}", reason(&error, packing)))),
    }
}

/// Takes the first `bytes` from `source`.
pub(super) fn peek(mut source: Source, bytes: usize) -> std::io::Result<(Vec<u8>, Source)> {
    let mut head = Vec::new();
    source.by_ref().take(bytes as u64).read_to_end(&mut head)?;
    Ok((head, source))
}

/// Why reading failed, in words that fit a packed file.
pub(super) fn reason(error: &std::io::Error, packing: Option<&str>) -> String {
    match (packing, error.kind()) {
        (Some(packing), ErrorKind::UnexpectedEof) => {
            format!("the {packing} data ends too early: the file was cut off")
        }
        (Some(packing), ErrorKind::OutOfMemory) => {
            format!("the {packing} data needs more than 128 MiB of memory; pack it with a smaller window")
        }
        (Some(packing), ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other) => {
            format!("the {packing} data is damaged: {error}")
        }
        _ => error.to_string(),
    }
}

/// Frames of Zstandard, one after the other.
struct Frames {
    packed: BufReader<Source>,
    decoder: FrameDecoder,
    /// True when a frame has begun and not been checked.
    within: bool,
}

fn decoder() -> FrameDecoder {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_BYTES_MAX);
    decoder
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if !self.decoder.is_finished() {
                let step = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.packed, step).map_err(damaged)?;
            } else if !self.next_frame()? {
                return Ok(0);
            }
        }
    }
}

impl Frames {
    /// Begins the next frame. True if there is one.
    fn next_frame(&mut self) -> Result<bool, Error> {
        let expected = self.decoder.get_checksum_from_data();
        if std::mem::take(&mut self.within)
            && expected.is_some()
            && expected != self.decoder.get_calculated_checksum()
        {
            return Err(Error::new(ErrorKind::InvalidData, "a checksum is wrong"));
        }
        while !self.packed.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.packed) {
                Ok(()) => {
                    self.within = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    std::io::copy(&mut self.packed.by_ref().take(u64::from(length)), &mut std::io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
        Ok(false)
    }
}

/// Error for a damaged frame, which distinguishes a file that was cut off.
fn damaged(error: FrameDecoderError) -> Error {
    let text = error.to_string();
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(each) = cause {
        if each.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::UnexpectedEof) {
            return Error::new(ErrorKind::UnexpectedEof, text);
        }
        cause = each.source();
    }
    Error::new(ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    /// Output of Python's `lzma.compress` for "one\ntwo\n" and of "three\n", with a check by CRC-32.
    const ONE_TWO: &[u8] = b"\xFD7zXZ\x00\x00\x01\x69\x22\xDE\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2F\xE5\xA3\x01\x00\x07\x6F\x6E\x65\x0A\x74\x77\x6F\x0A\x00\xE6\x0B\xBA\x12\x00\x01\x1C\x08\x44\x60\x2A\xC8\x90\x42\x99\x0D\x01\x00\x00\x00\x00\x01\x59\x5A";
    const THREE: &[u8] = b"\xFD7zXZ\x00\x00\x01\x69\x22\xDE\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2F\xE5\xA3\x01\x00\x05\x74\x68\x72\x65\x65\x0A\x00\x00\x00\xD8\xC5\x46\xFF\x00\x01\x1A\x06\xC5\xEA\xC8\x79\x90\x42\x99\x0D\x01\x00\x00\x00\x00\x01\x59\x5A";
    /// The same of "a\n" with a dictionary of 256 MiB.
    const WIDE: &[u8] = b"\xFD7zXZ\x00\x00\x01\x69\x22\xDE\x36\x02\x00\x21\x01\x20\x00\x00\x00\x09\x88\xA5\x76\x01\x00\x01\x61\x0A\x00\x00\x00\x07\xA1\xEA\xDD\x00\x01\x16\x02\xD0\x61\x10\xD2\x90\x42\x99\x0D\x01\x00\x00\x00\x00\x01\x59\x5A";

    fn read(bytes: &[u8]) -> Result<Vec<u8>, ErrorKind> {
        let (_, mut source) = unpacked(Box::new(Cursor::new(bytes.to_vec()))).unwrap();
        let mut all = Vec::new();
        source.read_to_end(&mut all).map(|_| all).map_err(|error| error.kind())
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn several_streams_and_frames_are_one_text() {
        let all = b"one\ntwo\nthree\n";
        assert_eq!(read(&[ONE_TWO, THREE].concat()).unwrap(), all);
        let skippable = b"\x50\x2A\x4D\x18\x03\x00\x00\x00abc".to_vec();
        let frames = [zstd(b"one\ntwo\n"), skippable, zstd(b""), zstd(b"three\n")].concat();
        assert_eq!(read(&frames).unwrap(), all);
        assert_eq!(read(b"plain").unwrap(), b"plain");
    }

    #[test]
    fn what_was_cut_off_or_damaged_is_an_error() {
        let text: Vec<u8> =
            (0..30_000_u64).flat_map(|n| (n * n * 2_654_435_761).to_string().into_bytes()).collect();
        let packed = zstd(&text);
        assert_eq!(read(&packed).unwrap(), text);
        assert_eq!(read(&packed[..packed.len() / 2]), Err(ErrorKind::UnexpectedEof));
        let mut damaged = packed.clone();
        damaged[packed.len() / 2..][..64].fill(0xA5);
        assert!(read(&damaged).is_err());
        let mut wrong_sum = zstd(b"one\n");
        *wrong_sum.last_mut().unwrap() ^= 1;
        assert_eq!(read(&wrong_sum), Err(ErrorKind::InvalidData));
        assert_eq!(read(&ONE_TWO[..40]), Err(ErrorKind::UnexpectedEof));
        let mut damaged = ONE_TWO.to_vec();
        damaged[28] ^= 1;
        assert_eq!(read(&damaged), Err(ErrorKind::InvalidData));
    }

    #[test]
    fn a_window_that_takes_too_much_memory_is_refused() {
        assert_eq!(read(WIDE), Err(ErrorKind::OutOfMemory));
        // The header of a frame with a window of 2^31 bytes (RFC 8878, 3.1.1.1.2).
        let wide = [ZSTD, &[0x00, 21 << 3, 0x01, 0x00, 0x00]].concat();
        assert!(read(&wide).is_err());
    }
}
