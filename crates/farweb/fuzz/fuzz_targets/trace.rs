//! Any bytes as a trace of time, object and size a line.

#![no_main]

use farweb::workload::TraceReader;
use farweb_fuzz::{checked, with_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (rows, bytes) = input;
    with_file(bytes, ".trace", |path| {
        let Ok(mut reader) = checked(TraceReader::open(path, 0.01)) else { return };
        while let Ok(batch) = checked(reader.batch(1 + usize::from(rows))) {
            let read = batch.object.len();
            assert!(read <= 1 + usize::from(rows));
            assert!(batch.time.len() == read && batch.bytes.len() == read);
            if read == 0 {
                break;
            }
        }
        let unreadable = reader.unreadable();
        assert!(unreadable.first.len() as u64 == unreadable.count.min(20));
        assert!(unreadable.first.iter().all(|each| !each.why.chars().any(char::is_control)));
    });
});
