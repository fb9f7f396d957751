//! Lines of a text file that may hold anything: plain or packed, of bounded length, in constant memory.
//!
//! Files other than text (Parquet, another compression, a capture, UTF-16) are refused at once, by name. A line longer
//! than [`LINE_BYTES_MAX`] is never held whole.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use super::WorkloadError;
use super::packed::{Source, peek, reason, unpacked};

/// Longest line, in bytes. Chosen: a hundred times the longest URL that Squid takes (8 KiB, `MAX_URL` in
/// `src/defines.h`).
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;

/// Bytes that are looked at to distinguish text from other data. Chosen: random data is then refused all but certainly.
const HEAD_BYTES: usize = 512;

/// Bytes of a file that are kept to recognise the format of its lines. Chosen: some hundreds of lines.
const KEPT_BYTES: usize = 1 << 16;

/// First bytes of other kinds of files.
const MAGICS: &[(&[u8], &str)] = &[
    (b"PAR1", "a Parquet file; give it a name that ends in .parquet"),
    (b"ARROW1", "an Arrow IPC file"),
    (b"PK\x03\x04", "a zip archive"),
    (b"BZh", "a bzip2 file; unpack it, or compress it with gzip, xz or zstd"),
    (b"\x1F\x8B", "a gzip file inside a packed file"),
    (b"\xFD7zXZ", "an xz file inside a packed file"),
    (b"\x28\xB5\x2F\xFD", "a Zstandard file inside a packed file"),
    (b"\xFF\xFE", "UTF-16 text; save it as UTF-8"),
    (b"\xFE\xFF", "UTF-16 text; save it as UTF-8"),
    (b"\xD4\xC3\xB2\xA1", "a packet capture"),
    (b"\x0A\x0D\x0D\x0A", "a packet capture"),
    (b"\x89PNG", "a PNG image"),
    (b"%PDF", "a PDF document"),
];

/// Lines of one file, one after the other.
pub(super) struct Lines {
    name: String,
    head: Vec<u8>,
    packing: Option<&'static str>,
    reader: BufReader<Source>,
    line: Vec<u8>,
    number: u64,
    /// Byte that ends lines: a CR where the beginning has no LF.
    end: u8,
}

/// A line without its end (LF, CR LF, or CR alone in a file that has no LF).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// The whole line.
    Whole(&'a [u8]),
    /// The start of a line longer than [`LINE_BYTES_MAX`]. The rest has been passed over.
    TooLong(&'a [u8]),
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("name", &self.name)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Lines {
    /// Opens the file at `path`. `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, WorkloadError> {
        if path == Path::new("-") {
            return Self::new("standard input".into(), std::io::stdin());
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(name, file),
            Err(error) => Err(WorkloadError(format!("{name}: cannot be opened: {error}"))),
        }
    }

    /// Lines of `source`, called `name` in messages.
    pub(super) fn new(
        name: String,
        source: impl Read + Send + Sync + 'static,
    ) -> Result<Self, WorkloadError> {
        let mut packing = None;
        let open = || -> std::io::Result<_> {
            let (name, plain) = unpacked(Box::new(source))?;
            packing = name;
            peek(plain, KEPT_BYTES)
        };
        let (mut head, rest) = open()
            .map_err(|error| WorkloadError(format!("{name}: cannot be read: {}", reason(&error, packing))))?;
        if let Some(what) = not_text(&head[..head.len().min(HEAD_BYTES)]) {
            return Err(WorkloadError(format!("{name}: is not text but {what}")));
        }
        if head.starts_with(b"\xEF\xBB\xBF") {
            head.drain(..3);
        }
        let all = Box::new(Cursor::new(head.clone()).chain(rest)) as Source;
        let reader = BufReader::with_capacity(1 << 16, all);
        let end = if !head.contains(&b'\n') && head.contains(&b'\r') { b'\r' } else { b'\n' };
        head.iter_mut().filter(|byte| **byte == end).for_each(|byte| *byte = b'\n');
        Ok(Self { name, head, packing, reader, line: Vec::new(), number: 0, end })
    }

    /// The beginning of the text, up to 64 KiB, whole lines only where there are more.
    pub(super) fn head(&self) -> &[u8] {
        let whole = self.head.iter().rposition(|byte| *byte == b'\n').map_or(self.head.len(), |end| end + 1);
        if self.head.len() < KEPT_BYTES { &self.head } else { &self.head[..whole] }
    }

    /// The next line. `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, WorkloadError> {
        self.line.clear();
        let limit = LINE_BYTES_MAX as u64 + 1;
        self.number += 1;
        let read = self.reader.by_ref().take(limit).read_until(self.end, &mut self.line);
        if read.map_err(|error| self.failed(&error))? == 0 {
            self.number -= 1;
            return Ok(None);
        }
        if self.line.last() == Some(&self.end) {
            self.line.pop();
            if self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
        } else if self.line.len() as u64 == limit {
            self.reader.skip_until(self.end).map_err(|error| self.failed(&error))?;
            return Ok(Some(Line::TooLong(&self.line)));
        }
        Ok(Some(Line::Whole(&self.line)))
    }

    /// Number of the line that was read last, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Name of the file, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn failed(&self, error: &std::io::Error) -> WorkloadError {
        WorkloadError(format!(
            "{}:{}: cannot be read: {}",
            self.name,
            self.number,
            reason(error, self.packing)
        ))
    }
}

/// Name of the kind of file that `head` is from, if it is no text.
fn not_text(head: &[u8]) -> Option<String> {
    if let Some((_, what)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Some((*what).into());
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive; unpack it".into());
    }
    let are_zero = |from: usize| head.len() > 2 && head.iter().skip(from).step_by(2).all(|byte| *byte == 0);
    if are_zero(0) != are_zero(1) {
        return Some("UTF-16 text; save it as UTF-8".into());
    }
    let is_control = |byte: u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let controls = head.iter().filter(|byte| is_control(**byte)).count();
    let first = head.iter().position(|byte| is_control(*byte))?;
    // Old logs hold a stray control character in a URL. A twentieth of all bytes is no text, and NUL never is.
    let binary = head.contains(&0) || controls * 20 > head.len();
    let first = if head.contains(&0) { head.iter().position(|byte| *byte == 0)? } else { first };
    binary.then(|| format!("binary data (byte {:#04x} at offset {first})", head[first]))
}

/// `text` in quotes as an error message shows it: at most 60 characters, control characters spelled out.
pub(super) fn quoted(text: &[u8]) -> String {
    clipped(text, 60)
}

/// `text` in quotes, at most `length` characters long, control characters spelled out.
pub(super) fn clipped(text: &[u8], length: usize) -> String {
    // No more than 4 bytes a character are read: a long line costs nothing.
    let head = String::from_utf8_lossy(&text[..text.len().min(4 * length)]);
    let clip: String = head.chars().take(length).collect();
    let more = if clip.len() < head.len() || head.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", clip.escape_debug())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines_of(bytes: &[u8]) -> Result<Vec<String>, WorkloadError> {
        let mut lines = Lines::new("log".into(), Cursor::new(bytes.to_vec()))?;
        let mut all = Vec::new();
        while let Some(line) = lines.next()? {
            match line {
                Line::Whole(line) => all.push(String::from_utf8_lossy(line).into_owned()),
                Line::TooLong(line) => all.push(format!("too long: {}", line.len())),
            }
        }
        Ok(all)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn line_ends_and_byte_order_mark_are_taken_off() {
        assert_eq!(lines_of(b"\xEF\xBB\xBFa\r\nb\n\nc").unwrap(), ["a", "b", "", "c"]);
        assert!(lines_of(b"").unwrap().is_empty());
    }

    #[test]
    fn gzip_is_known_by_its_first_bytes() {
        let mut members = gzip(b"one\ntwo\n");
        members.extend(gzip(b"three\n"));
        assert_eq!(lines_of(&members).unwrap(), ["one", "two", "three"]);
    }

    #[test]
    fn truncated_and_damaged_gzip_is_an_error() {
        // Numbers that compress to several blocks: some lines come before the cut.
        let text: String = (0..20_000_u64).map(|n| format!("{}\n", n * n * 2_654_435_761)).collect();
        let packed = gzip(text.as_bytes());
        let cut = lines_of(&packed[..packed.len() / 2]).unwrap_err().to_string();
        assert!(cut.starts_with("log:"), "{cut}");
        assert!(cut.ends_with("cannot be read: the gzip data ends too early: the file was cut off"), "{cut}");
        assert!(lines_of(&packed[..5]).unwrap_err().to_string().contains("cut off"));
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 64].fill(0xA5);
        assert!(lines_of(&damaged).unwrap_err().to_string().contains("damaged"));
    }

    #[test]
    fn other_files_are_refused_by_what_they_are() {
        let message = |bytes: &[u8]| lines_of(bytes).unwrap_err().to_string();
        assert_eq!(
            message(b"PAR1\x15\x04"),
            "log: is not text but a Parquet file; give it a name that ends in .parquet"
        );
        assert_eq!(message(&gzip(&gzip(b"a\n"))), "log: is not text but a gzip file inside a packed file");
        for wide in [&b"\xFF\xFEa\0"[..], b"a\0b\0", b"\0a\0b"] {
            assert_eq!(message(wide), "log: is not text but UTF-16 text; save it as UTF-8");
        }
        let tar = [&b"access.log\0"[..], &[b'0'; 246], b"ustar\0"].concat();
        assert_eq!(message(&gzip(&tar)), "log: is not text but a tar archive; unpack it");
        assert_eq!(message(b"abc\0def"), "log: is not text but binary data (byte 0x00 at offset 3)");
        assert_eq!(message(b"\x01\x02abc"), "log: is not text but binary data (byte 0x01 at offset 0)");
        let stray = [b"GET /\x16 ".as_slice(), &[b'a'; 100]].concat();
        assert!(lines_of(&stray).is_ok(), "a stray control character is no reason to refuse a log");
    }

    #[test]
    fn a_line_of_100_mb_is_passed_over_and_not_held() {
        let long = std::io::repeat(b'x').take(100_000_000).chain(&b"\nshort\n"[..]);
        let mut lines = Lines::new("log".into(), long).unwrap();
        assert!(
            matches!(lines.next().unwrap(), Some(Line::TooLong(start)) if start.len() == LINE_BYTES_MAX + 1)
        );
        assert!(lines.line.capacity() <= 2 * LINE_BYTES_MAX + 2);
        assert_eq!(lines.next().unwrap(), Some(Line::Whole(b"short")));
        assert_eq!(lines.number(), 2);
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn the_longest_line_is_whole() {
        let mut bytes = vec![b'x'; LINE_BYTES_MAX];
        bytes.extend(b"\ny");
        assert_eq!(lines_of(&bytes).unwrap(), ["x".repeat(LINE_BYTES_MAX).as_str(), "y"]);
    }

    #[test]
    fn long_text_is_clipped_in_messages() {
        assert_eq!(quoted(b"a\tb"), "\"a\\tb\"");
        assert_eq!(quoted(&[b'x'; 61]), format!("\"{}…\"", "x".repeat(60)));
        assert_eq!(quoted(&[b'x'; 60]), format!("\"{}\"", "x".repeat(60)));
    }
}
