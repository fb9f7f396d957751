//! Any bytes as frames of HTTP/2: a decoded frame encodes to as many bytes, which decode to the same frame.

#![no_main]

use farweb::http::h2::frame::Frame;
use libfuzzer_sys::fuzz_target;

/// Largest payload that a setting can allow.
const MAX_FRAME: u32 = (1 << 24) - 1;

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    while let Ok(Some((frame, taken))) = Frame::decode(rest, MAX_FRAME) {
        let mut again = Vec::new();
        frame.encode(&mut again);
        assert_eq!(again.len(), taken, "{frame:?}");
        assert_eq!(Frame::decode(&again, MAX_FRAME), Ok(Some((frame, taken))));
        assert_eq!(Frame::decode(&again[..taken - 1], MAX_FRAME), Ok(None));
        rest = &rest[taken..];
    }
});
