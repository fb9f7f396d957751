//! Any bytes as a trace of a link.

#![no_main]

use farweb::units::Duration;
use farweb::workload::{is_trace, trace_of_bytes};
use farweb_fuzz::checked;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(read) = checked(trace_of_bytes("down.trace".to_owned(), bytes.to_vec())) else { return };
    assert_eq!(is_trace("down.trace", bytes).ok(), Some(true));
    assert!(read.times().is_sorted() && read.period().as_nanos() > 0);
    let total: u64 = read.gaps().map(|(_, gap)| gap.as_nanos()).sum();
    assert!(total <= read.period().as_nanos(), "gaps fill the period at most");
    assert!(read.longest_gap() <= read.period());
    // Ten windows a second, for up to 50 days.
    if read.period() < Duration::from_secs(3600) {
        let counted: u64 = read.windows().into_iter().map(u64::from).sum();
        assert!(counted <= read.times().len() as u64);
    }
});
