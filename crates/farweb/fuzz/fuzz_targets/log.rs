//! Any bytes as a log of any format, found by itself, named, or described by any format string.

#![no_main]

use arbitrary::Arbitrary;
use farweb::workload::LogFormat;
use farweb_fuzz::{logs, with_file};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Format {
    Auto,
    Known(u8),
    Custom(String),
    Fields(Vec<String>),
}

impl From<Format> for LogFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Auto => Self::Auto,
            Format::Known(number) => {
                let names: Vec<_> = Self::names().collect();
                names[usize::from(number) % names.len()].0.parse().expect("a name is one of a format")
            }
            Format::Custom(text) => Self::Custom(text),
            Format::Fields(pairs) => Self::Fields(pairs),
        }
    }
}

fuzz_target!(|input: (logs::How, Format, &[u8])| {
    let (how, format, bytes) = input;
    // A refused log is refused with a reason. The reader checks all else that must hold.
    let _ = with_file(bytes, ".log", |path| logs::read(path, &format.into(), &how));
});
