//! Any text as a scenario: an error with its place, or a scenario that its effective values describe as well.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| farweb_fuzz::scenarios::read(text, &[]));
