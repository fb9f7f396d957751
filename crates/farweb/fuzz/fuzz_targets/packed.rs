//! Any bytes as a file packed by gzip, xz or Zstandard: a file that begins as one of them, and goes on in any way.

#![no_main]

use farweb::workload::TraceReader;
use farweb_fuzz::{checked, with_file};
use libfuzzer_sys::fuzz_target;

const BEGINNINGS: [&[u8]; 3] = [b"\x1F\x8B\x08", b"\xFD7zXZ\x00", b"\x28\xB5\x2F\xFD"];

fuzz_target!(|input: (u8, &[u8])| {
    let (packing, bytes) = input;
    let file = match BEGINNINGS.get(usize::from(packing % 4)) {
        Some(beginning) => [beginning, bytes].concat(),
        None => bytes.to_vec(),
    };
    let _ = with_file(&file, ".log", |path| -> Result<(), _> {
        let mut reader = checked(TraceReader::open(path, 1.0))?;
        while !checked(reader.batch(1000))?.object.is_empty() {}
        Ok::<(), farweb::workload::WorkloadError>(())
    });
});
