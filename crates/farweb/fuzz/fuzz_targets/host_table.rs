//! Any bytes as a host table. The first byte chooses the ending of the file's name.

#![no_main]

use farweb_fuzz::{tables, with_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (ending, bytes) = input;
    let suffix = tables::SUFFIXES[usize::from(ending) % tables::SUFFIXES.len()];
    with_file(bytes, suffix, tables::read_hosts);
});
