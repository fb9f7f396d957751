//! Any bytes as a log of any format, found by itself, named, or described by any format string.

#![no_main]

use arbitrary::Arbitrary;
use farweb::workload::LogFormat;
use farweb_fuzz::{logs, with_file};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Format {
    Auto,
    SquidCommon,
    VhostCombined,
    W3c,
    Json,
    Custom(String),
}

impl From<Format> for LogFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Auto => Self::Auto,
            Format::SquidCommon => Self::SquidCommon,
            Format::VhostCombined => Self::VhostCombined,
            Format::W3c => Self::W3c,
            Format::Json => Self::Json,
            Format::Custom(text) => Self::Custom(text),
        }
    }
}

fuzz_target!(|input: (logs::How, Format, &[u8])| {
    let (how, format, bytes) = input;
    // A log that is refused is refused with a reason; what else must hold is checked as it is read.
    let _ = with_file(bytes, ".log", |path| logs::read(path, &format.into(), &how));
});
