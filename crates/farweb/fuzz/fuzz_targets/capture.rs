//! Any bytes as a capture. The first byte says how much may be unreadable, and how many packets are looked at in one go,
//! which must not matter.

#![no_main]

use farweb_fuzz::{captures, with_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (how, bytes) = input;
    let max_unreadable = f64::from(how >> 6) / 3.0;
    with_file(bytes, ".pcap", |path| {
        let some = captures::read(path, max_unreadable, u64::from(how & 0x3F) + 1);
        let all = captures::read(path, max_unreadable, u64::MAX);
        assert_eq!(some.map_err(drop), all.map_err(drop));
    });
});
