//! Any bytes as an `access.log` of Squid, read in any of the ways that there are.

#![no_main]

use farweb::workload::LogFormat;
use farweb_fuzz::{logs, with_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (logs::How, &[u8])| {
    let (how, bytes) = input;
    // A refused log is refused with a reason. The reader checks all else that must hold.
    let _ = with_file(bytes, ".log", |path| logs::read(path, &LogFormat::SQUID, &how));
});
