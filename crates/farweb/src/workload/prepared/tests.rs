use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::workload::{Batch, BatchTable, Words};

/// A table in a batch, and how often it has begun.
struct Table {
    batch: Batch,
    begun: Arc<AtomicUsize>,
}

impl Begin for Table {
    fn begin(&self) -> Result<Requests, WorkloadError> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let mut left = Some(self.batch.clone());
        Ok(Box::new(BatchTable::new("t", move || Ok(left.take()))))
    }
}

/// Requests at these seconds, on these days, of one client, and a count of how often they have begun.
fn table(rows: &[(f64, Option<i64>)]) -> (Prepared, Arc<AtomicUsize>) {
    let count = rows.len();
    let batch = Batch {
        start_s: rows.iter().map(|row| row.0).collect(),
        host: Words { codes: vec![0; count], words: vec!["a".into()] },
        request_bytes: vec![1; count],
        response_bytes: vec![1; count],
        day: rows[0].1.map(|_| rows.iter().filter_map(|row| row.1).collect()),
        client: Some(vec![7; count]),
        ..Batch::default()
    };
    let begun = Arc::new(AtomicUsize::new(0));
    let table = Table { batch, begun: Arc::clone(&begun) };
    (Prepared::of_table(Box::new(table), Some(count as u64), None).unwrap(), begun)
}

fn load(load: u32) -> Laying {
    let offset = Duration::from_secs(10);
    Laying {
        load: Load { load, offset, period: None, hosts: CopiesHosts::Same, drawn: None },
        speed: None,
        rate: None,
        doubles: None,
        streams: RandomStreams::new(1),
    }
}

fn starts(mut requests: Requests) -> Vec<f64> {
    let mut directory = Directory::default();
    let next = || requests.next_request(&mut directory).unwrap();
    std::iter::from_fn(next).map(|request| request.start.as_secs_f64()).collect()
}

/// Starts of the requests of a run, and their number as it was said before.
fn laid(prepared: &Prepared, laying: &Laying) -> (Vec<f64>, Option<u64>) {
    let (requests, total) = prepared.laid(laying).unwrap();
    (starts(requests), total)
}

const THREE: [(f64, Option<i64>); 3] = [(0.0, None), (1.0, None), (4.0, None)];

#[test]
fn rows_are_read_once_for_all_copies() {
    let (prepared, begun) = table(&THREE);
    assert_eq!(begun.load(Ordering::Relaxed), 1, "for the first row, which may have a day");
    assert_eq!(laid(&prepared, &load(2)), (vec![0.0, 1.0, 4.0, 10.0, 11.0, 14.0], Some(6)));
    assert_eq!(begun.load(Ordering::Relaxed), 2);
    assert_eq!(starts(prepared.all().unwrap()), [0.0, 1.0, 4.0]);
}

#[test]
fn speed_divides_the_starts() {
    let at_speed = Laying { speed: Some(2.0), ..load(1) };
    assert_eq!(laid(&table(&THREE).0, &at_speed), (vec![0.0, 0.5, 2.0], Some(3)));
}

#[test]
fn days_run_at_the_same_time() {
    let days = table(&[(0.0, Some(3)), (1.0, Some(5)), (4.0, Some(3))]).0;
    assert_eq!(laid(&days, &load(1)), (vec![0.0, 4.0], Some(2)));
    assert_eq!(laid(&days, &load(3)), (vec![0.0, 1.0, 4.0, 10.0, 14.0], Some(5)));
}

#[test]
fn a_period_turns_copies_around() {
    let mut turned = load(2);
    turned.load.period = Some(Duration::from_secs(12));
    assert_eq!(laid(&table(&THREE).0, &turned), (vec![0.0, 1.0, 2.0, 4.0, 10.0, 11.0], Some(6)));
}

#[test]
fn what_is_drawn_has_no_number_before() {
    let (repeated, total) = laid(&table(&THREE).0, &Laying { rate: Some((2.0, Duration::ZERO)), ..load(1) });
    assert_eq!((repeated, total), (vec![0.0, 0.0, 1.0, 1.0, 4.0, 4.0], None));
    let doubles = Some(Duration::ZERO);
    let totals = (1..9).map(|seed| {
        let drawn = Laying { doubles, streams: RandomStreams::new(seed), ..load(1) };
        let (found, total) = laid(&table(&THREE).0, &drawn);
        assert_eq!((found.len() % 3, total), (0, None), "the client comes whole");
        found.len()
    });
    assert_eq!(totals.collect::<std::collections::BTreeSet<_>>().len(), 3);
}

#[test]
fn days_are_drawn_of_several() {
    let mut drawn = load(2);
    drawn.load.drawn = Some(RandomStreams::new(1));
    let Err(error) = table(&THREE).0.laid(&drawn) else { panic!("one day is none to draw from") };
    assert!(error.to_string().starts_with("workload.resample: days are to be drawn"), "{error}");
    let days = table(&[(0.0, Some(1)), (1.0, Some(2))]).0;
    assert_eq!(laid(&days, &drawn).1, Some(2));
}

#[test]
fn a_generated_trace_is_begun_anew() {
    let (days, _) = table(&[(0.0, Some(1)), (1.0, Some(2)), (4.0, Some(1))]);
    let memory = MemoryTable::read(&mut days.all().unwrap()).unwrap();
    let generated = Prepared::of_days(memory);
    assert_eq!((generated.count(), generated.hosts().map(|hosts| hosts.hosts().len())), (Some(3), Some(1)));
    assert_eq!(starts(generated.all().unwrap()), [0.0, 1.0, 4.0], "all days");
    assert_eq!(laid(&generated, &load(1)), (vec![0.0, 4.0], Some(2)));
    let parameters = prowgen::Parameters { requests: 40, ..prowgen::Parameters::default() };
    let trace = Prepared::of_trace(prowgen::Trace::new(&parameters, 1));
    let (once, total) = laid(&trace, &load(1));
    assert_eq!((once.len(), total), (40, Some(40)));
    assert_eq!(starts(trace.all().unwrap()), once);
    assert_eq!(laid(&trace, &load(2)).1, Some(80));
}
