//! Any bytes as a schedule of a link. The first byte chooses the ending of the file's name.

#![no_main]

use farweb::workload::{Changes, Schedule};
use farweb_fuzz::{checked, tables};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let (ending, bytes) = input;
    let suffix = tables::SUFFIXES[usize::from(ending) % tables::SUFFIXES.len()];
    let read = Schedule::of_bytes(format!("schedule{suffix}"), bytes.to_vec());
    if let Ok(schedule) = checked(read) {
        assert!(schedule.rows() > 0);
        [schedule.held(), schedule.repeated()].iter().flatten().for_each(check);
    }
});

/// Panics unless steps follow one another and change something, and outages end in time.
fn check(changes: &Changes) {
    let steps = &changes.steps;
    assert!(steps.windows(2).all(|pair| pair[0].at < pair[1].at));
    assert!(steps.iter().all(|step| (step.rate, step.delay, step.loss) != (None, None, None)));
    assert!(steps.last().is_none_or(|last| changes.every.is_none_or(|every| last.at < every)));
    for outage in &changes.outages {
        assert!(outage.lasts.as_nanos() > 0);
        assert!(steps.is_empty() || outage.every == changes.every);
        assert!(outage.every.is_none_or(|every| outage.at + outage.lasts <= every));
    }
}
