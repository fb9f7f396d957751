//! Any text packed by gzip, in members, whole or damaged: whole it reads as the plain text does.

#![no_main]

use std::io::Write;

use arbitrary::Arbitrary;
use farweb::workload::LogFormat;
use farweb_fuzz::{logs, with_file};
use flate2::{Compression, write::GzEncoder};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    how: logs::How,
    squid: bool,
    level: u8,
    /// Bytes that change, from the start of the packed file: distance to the last one, and the amount added.
    damage: Vec<(u16, u8)>,
    /// Bytes cut off at the end.
    cut: Option<u16>,
    /// True when the text is packed twice.
    twice: bool,
    members: Vec<&'a [u8]>,
}

fn packed(text: &[u8], level: u8) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(u32::from(level % 10)));
    encoder.write_all(text).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

fuzz_target!(|input: Input| {
    let format = if input.squid { LogFormat::SQUID } else { LogFormat::CLF };
    let read = |bytes: &[u8]| with_file(bytes, ".log", |path| logs::read(path, &format, &input.how));
    let mut file: Vec<u8> = input.members.iter().flat_map(|member| packed(member, input.level)).collect();
    let mut place = 0;
    for (distance, change) in &input.damage {
        place += usize::from(*distance);
        if let Some(byte) = file.get_mut(place) {
            *byte = byte.wrapping_add(*change);
        }
    }
    file.truncate(file.len() - usize::from(input.cut.unwrap_or(0)).min(file.len()));
    let whole = input.damage.is_empty() && input.cut.is_none();
    let plain = input.members.concat();
    if input.twice {
        let result = read(&packed(&file, input.level));
        assert!(result.is_err() || !whole || input.members.is_empty(), "a file packed twice is no log");
    } else if whole && !input.members.is_empty() && !plain.starts_with(b"\x1F\x8B") {
        // Messages name the file, and its name changes each time. Starts are never NaN, so equal is equal.
        let shown = |result: Result<_, _>| result.map(|read| format!("{read:?}")).map_err(drop);
        assert_eq!(shown(read(&file)), shown(read(&plain)));
    } else {
        let _ = read(&file);
    }
});
