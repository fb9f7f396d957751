//! Any bytes as a HAR.

#![no_main]

use farweb::page::har_of_bytes;
use farweb_fuzz::checked;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(pages) = checked(har_of_bytes("page.har", bytes.to_vec())) else { return };
    for page in pages.into_iter().filter_map(|page| checked(page).ok()) {
        let number = page.sent.len();
        assert!(page.root < number);
        assert_eq!([page.server_ms.len(), page.origins.len(), page.gates.len()], [number; 3]);
        assert!(page.sent.is_sorted_by(|one, other| one.issue_ms <= other.issue_ms));
        assert!(page.sent.iter().all(|sent| sent.issue_ms >= 0.0 && sent.response_bytes > 0));
        assert!(page.load_ms.is_finite() && page.rate_bps.is_finite() && page.tail_ms() >= 0.0);
    }
});
