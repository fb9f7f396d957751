//! Any text as a quantity, a word or a name: a value read prints to a text that reads as the same value.

#![no_main]

use std::fmt::Debug;
use std::str::FromStr;

use farweb::net::ListedPackets;
use farweb::scenario::{HostOr, LinkRate, QueueLimit, Until};
use farweb::units::{BitRate, Bytes, Duration};
use farweb::workload::{Keep, LogFormat, ServerTime};
use libfuzzer_sys::fuzz_target;

fn reads_back<T: FromStr<Err: Debug> + Debug + PartialEq>(text: &str, print: impl Fn(&T) -> String) {
    if let Ok(value) = text.parse::<T>() {
        let printed = print(&value);
        assert_eq!(printed.parse::<T>().as_ref().ok(), Some(&value), "{text:?} prints as {printed:?}");
    }
}

/// As a scenario has it: JSON text without its quotes.
fn in_a_scenario<T: serde::Serialize>(value: &T) -> String {
    let json = serde_json::to_value(value).expect("a quantity is plain data");
    json.as_str().expect("a quantity is a text").to_owned()
}

fuzz_target!(|text: &str| {
    reads_back::<Duration>(text, ToString::to_string);
    reads_back::<Bytes>(text, ToString::to_string);
    reads_back::<BitRate>(text, ToString::to_string);
    reads_back::<ListedPackets>(text, ToString::to_string);
    reads_back::<QueueLimit>(text, in_a_scenario);
    reads_back::<LinkRate>(text, in_a_scenario);
    reads_back::<HostOr>(text, in_a_scenario);
    reads_back::<Until>(text, in_a_scenario);
    let words =
        [text.parse::<LogFormat>().is_ok(), text.parse::<Keep>().is_ok(), text.parse::<ServerTime>().is_ok()];
    assert!(words.iter().filter(|known| **known).count() <= 1, "{text:?} is a word of two lists");
});
