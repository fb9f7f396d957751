//! The bytes of a capture, plain or gzip, in a window that grows with the largest record and never with the file.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::workload::WorkloadError;

/// Bytes that are read at once. Chosen: some hundred packets.
const CHUNK: usize = 1 << 16;

/// First bytes of a gzip file (RFC 1952, section 2.3.1).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// Bytes of a file, some of them at a time.
pub(super) struct Input {
    name: String,
    source: Box<dyn Read + Send + Sync>,
    window: Vec<u8>,
    /// Place in the window of the first byte that is not taken.
    start: usize,
    /// Bytes of the file that were read, packed as they are there.
    read: Arc<AtomicU64>,
    size: u64,
    packed: bool,
    /// Why no more bytes come, when it is not the end of the file.
    broken: Option<String>,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Input {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path) -> Result<Self, WorkloadError> {
        let name = path.display().to_string();
        let failed = |error: std::io::Error| WorkloadError(format!("{name}: cannot be opened: {error}"));
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        Self::new(name, file, size)
    }

    /// Bytes of `source`, `size` in all, or 0 for unknown.
    pub(super) fn new(
        name: String,
        source: impl Read + Send + Sync + 'static,
        size: u64,
    ) -> Result<Self, WorkloadError> {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { source, read: Arc::clone(&read) };
        let mut input = Self {
            name,
            source: Box::new(counted),
            window: Vec::new(),
            start: 0,
            read,
            size,
            packed: false,
            broken: None,
        };
        if input.has(GZIP.len())? && input.bytes().starts_with(&GZIP) {
            let head = std::io::Cursor::new(std::mem::take(&mut input.window));
            let packed = std::mem::replace(&mut input.source, Box::new(std::io::empty()));
            input.source = Box::new(MultiGzDecoder::new(BufReader::new(head.chain(packed))));
            input.packed = true;
        }
        Ok(input)
    }

    /// True when at least `bytes` bytes are not taken.
    ///
    /// # Errors
    /// When the device fails. Damaged packed data only end.
    pub(super) fn has(&mut self, bytes: usize) -> Result<bool, WorkloadError> {
        while self.window.len() - self.start < bytes {
            self.window.drain(..self.start);
            self.start = 0;
            let filled = self.window.len();
            self.window.resize(filled + CHUNK.max(bytes - filled), 0);
            let read =
                if self.broken.is_some() { Ok(0) } else { self.source.read(&mut self.window[filled..]) };
            self.window.truncate(filled + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if self.packed && error.kind() == ErrorKind::UnexpectedEof => {
                    self.broken = Some("the gzip data ends too early".into());
                }
                Err(error)
                    if self.packed
                        && matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) =>
                {
                    self.broken = Some("the gzip data is damaged".into());
                }
                Err(error) => return Err(WorkloadError(format!("{}: cannot be read: {error}", self.name))),
            }
        }
        Ok(true)
    }

    /// The bytes that are there and not taken.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Takes bytes that are there, and gives them.
    pub(super) fn take(&mut self, bytes: usize) -> &[u8] {
        self.start += bytes;
        &self.window[self.start - bytes..self.start]
    }

    /// Why no more bytes come, when it is not the end of the file.
    pub(super) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Share of the file still to come, 0 to 1, or `None` when its size is unknown.
    pub(super) fn share_left(&self) -> Option<f64> {
        // The place of the window in a packed file is unknown. It is small.
        let window = if self.packed { 0 } else { self.bytes().len() as u64 };
        let done = self.read() - window.min(self.read());
        (self.size > 0).then(|| self.size.saturating_sub(done) as f64 / self.size as f64)
    }

    /// Bytes of the file that were read.
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Name of the file, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// Counts the bytes read from a source.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
