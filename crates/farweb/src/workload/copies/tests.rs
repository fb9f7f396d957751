use proptest::prelude::*;

use super::*;
use crate::workload::{ClientId, ObjectId};

/// Requests held in memory, all to one host.
#[derive(Debug)]
struct List(std::vec::IntoIter<(u64, bool)>);

impl List {
    fn new(rows: &[(u64, bool)]) -> Self {
        let rows = rows.to_vec();
        Self(rows.into_iter())
    }
}

impl RequestSource for List {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let Some((start, tagged)) = self.0.next() else { return Ok(None) };
        Ok(Some(Request {
            tag: tagged.then(|| directory.tags.symbol("sample")),
            ..Request::bare(Instant::from_nanos(start), directory.host("a"))
        }))
    }
}

/// A load of copies that are shifted and ask the same hosts.
fn shifted(load: u32, offset: u64) -> Load {
    Load { load, offset: Duration::from_nanos(offset), period: None, hosts: CopiesHosts::Same, drawn: None }
}

fn merged(rows: &[(u64, bool)], load: u32, offset: u64) -> Vec<(u64, bool)> {
    let sources = (0..load).map(|_| List::new(rows)).collect();
    let mut copies = shifted(load, offset).of_streams(sources);
    let mut directory = Directory::default();
    let mut all = Vec::new();
    while let Some(request) = copies.next_request(&mut directory).unwrap() {
        all.push((request.start.as_nanos(), request.tag.is_some()));
    }
    assert!(copies.next_request(&mut directory).unwrap().is_none(), "the end stays the end");
    all
}

#[test]
fn copies_are_shifted_and_tagged_once() {
    let rows = [(0, true), (10, false), (10, true)];
    assert_eq!(merged(&rows, 1, 5), rows);
    let three = [
        (0, true),
        (5, false),
        (10, false),
        (10, true),
        (10, false),
        (15, false),
        (15, false),
        (20, false),
        (20, false),
    ];
    assert_eq!(merged(&rows, 3, 5), three);
    assert_eq!(merged(&[], 3, 5), []);
}

#[test]
fn copies_beyond_the_end_of_time_are_an_error() {
    for offset in [1 << 62, u64::MAX] {
        let sources = vec![List::new(&[(1, false)]), List::new(&[(1, false)]), List::new(&[(1, false)])];
        let mut copies = shifted(3, offset).of_streams(sources);
        let error = copies.next_request(&mut Directory::default()).unwrap_err().to_string();
        assert!(error.starts_with("workload.copies_offset: found "), "{error}");
    }
}

#[test]
fn boxed_sources_are_sources() {
    let boxed: Vec<Box<dyn RequestSource>> = vec![Box::new(List::new(&[(1, false)]))];
    let request = shifted(1, 0).of_streams(boxed).next_request(&mut Directory::default());
    assert_eq!(request.unwrap().unwrap().start, Instant::from_nanos(1));
}

/// A table of rows with a day (0: none), a start in ns and a tag or not, all to the host "a", each for the object with
/// its start as id.
fn held(rows: &[(u32, u64, bool)]) -> Arc<MemoryTable> {
    let mut names = Directory::default();
    let host = names.add(Host { key: "a".into(), name: "".into(), buffer: Some(8760), mss: Some(1460) });
    let sample = names.tags.symbol("sample");
    let request = |&(day, start, tagged): &(u32, u64, bool)| Request {
        object: ObjectId::new(start),
        tag: tagged.then_some(sample),
        day: (day > 0).then_some(day),
        ..Request::bare(Instant::from_nanos(start), host)
    };
    Arc::new(MemoryTable::new(rows.iter().map(request).collect(), names))
}

/// Requests of such a table under a load: day, start, true if tagged, and the key of the host.
fn loaded(load: &Load, table: &Arc<MemoryTable>) -> Vec<(u32, u64, bool, String)> {
    let mut copies = load.of_table(table, |rows| rows).unwrap();
    let mut directory = table.names().clone();
    let mut all = Vec::new();
    while let Some(request) = copies.next_request(&mut directory).unwrap() {
        let host = directory.hosts()[request.host].key.to_string();
        all.push((request.day.unwrap_or(0), request.start.as_nanos(), request.tag.is_some(), host));
    }
    assert!(copies.next_request(&mut directory).unwrap().is_none(), "the end stays the end");
    assert_eq!(all.len() as u64, load.requests_of(table));
    all
}

fn days_and_starts(load: &Load, table: &Arc<MemoryTable>) -> Vec<(u32, u64)> {
    loaded(load, table).into_iter().map(|(day, start, ..)| (day, start)).collect()
}

#[test]
fn days_come_first_and_then_copies_of_them() {
    // Days may have any numbers, and rows any order.
    let table = held(&[(7, 30, false), (2, 10, true), (2, 20, true), (4, 10, false)]);
    let load = |load| Load { load, ..shifted(1, 100) };
    assert_eq!(days_and_starts(&load(1), &table), [(2, 10), (2, 20)]);
    assert_eq!(days_and_starts(&load(2), &table), [(2, 10), (4, 10), (2, 20)]);
    assert_eq!(days_and_starts(&load(3), &table), [(2, 10), (4, 10), (2, 20), (7, 30)]);
    let five = [(2, 10), (4, 10), (2, 20), (7, 30), (2, 110), (4, 110), (2, 120)];
    assert_eq!(days_and_starts(&load(5), &table), five);
    let tagged = loaded(&load(5), &table).into_iter().filter(|row| row.2).map(|row| row.1);
    assert_eq!(tagged.collect::<Vec<_>>(), [10, 20], "tags stay in copy 0");
}

/// Of three days, days that run at the same time are drawn with replacement. One drawn again is a copy of itself.
#[test]
fn days_drawn_anew_are_some_of_the_table_and_copies_where_they_come_again() {
    let table = held(&[(1, 1, true), (2, 2, true), (3, 3, true)]);
    let drawn = |seed| {
        let load = Load { load: 3, drawn: Some(RandomStreams::new(seed)), ..shifted(1, 100) };
        days_and_starts(&load, &table)
    };
    let mut times = [0; 3];
    for seed in 0..3000 {
        let mut found = drawn(seed);
        assert_eq!(found, drawn(seed), "the same seed draws the same");
        found.sort_unstable();
        for runs in found.chunk_by(|one, other| one.0 == other.0) {
            times[runs[0].0 as usize - 1] += runs.len();
            let expected = (0..runs.len() as u64).map(|copy| (runs[0].0, u64::from(runs[0].0) + 100 * copy));
            assert!(runs.iter().copied().eq(expected), "{runs:?}");
        }
    }
    // 9,000 draws of three: five standard deviations of the binomial distribution, sqrt(9000 · 2/9) = 45.
    assert!(times.iter().all(|times| times.abs_diff(3000) < 225), "{times:?}");
}

#[test]
fn days_of_a_table_with_one_cannot_be_drawn() {
    let load = Load { drawn: Some(RandomStreams::new(1)), ..shifted(1, 100) };
    let error = load.of_table(&held(&[(0, 1, false)]), |rows| rows).unwrap_err().to_string();
    assert!(error.starts_with("workload.resample: days are to be drawn, and the table has one"), "{error}");
}

#[test]
fn copies_wrap_around_within_the_period() {
    let table = held(&[(0, 0, true), (0, 70, false), (0, 99, false)]);
    let load = |load| Load { period: Some(Duration::from_nanos(100)), ..shifted(load, 30) };
    let starts = |copies| days_and_starts(&load(copies), &table).into_iter().map(|row| row.1);
    assert_eq!(starts(1).collect::<Vec<_>>(), [0, 70, 99]);
    // By 30: 30, 0, 29. By 60: 60, 30, 59. The 30 of copy 1 comes first.
    assert_eq!(starts(3).collect::<Vec<_>>(), [0, 0, 29, 30, 30, 59, 60, 70, 99]);
    // Copy 10 wraps around by 300 ns: not at all.
    assert_eq!(starts(11).filter(|start| *start == 99).count(), 2);
}

#[test]
fn turning_is_exact_however_long_the_offset() {
    let table = held(&[(0, 3, false)]);
    let period = Duration::from_nanos(u64::MAX);
    let load = Load { period: Some(period), ..shifted(3, u64::MAX - 1) };
    assert_eq!(days_and_starts(&load, &table), [(0, 1), (0, 2), (0, 3)]);
}

#[test]
fn a_start_after_the_period_is_an_error() {
    let table = held(&[(0, 99, false), (0, 100, false)]);
    let load = |period| Load { period: Some(Duration::from_nanos(period)), ..shifted(1, 30) };
    let error = load(100).of_table(&table, |rows| rows).unwrap_err().to_string();
    insta::assert_snapshot!(
        error,
        @"workload.period: found 100 ns, but a request starts 100 ns after the beginning; write a longer period, or leave the key out"
    );
    assert!(load(101).of_table(&table, |rows| rows).is_ok());
}

#[test]
fn renamed_hosts_are_one_a_copy_and_advertise_the_same() {
    let table = held(&[(1, 0, false), (1, 1, false), (2, 2, false)]);
    let load = Load { hosts: CopiesHosts::Renamed, ..shifted(4, 10) };
    let hosts: Vec<_> = loaded(&load, &table).into_iter().map(|row| (row.1, row.3)).collect();
    let of = |start, host: &str| (start, host.to_owned());
    assert_eq!(hosts, [of(0, "a"), of(1, "a"), of(2, "a"), of(10, "a~1"), of(11, "a~1"), of(12, "a~1")]);
    let mut directory = table.names().clone();
    directory.add(Host { key: "a~1".into(), name: "".into(), buffer: None, mss: None });
    let mut copies = load.of_table(&table, |rows| rows).unwrap();
    let mut last = None;
    while let Some(request) = copies.next_request(&mut directory).unwrap() {
        last = Some(request.host);
    }
    let last = &directory.hosts()[last.unwrap()];
    assert_eq!(
        (&*last.key, last.buffer, last.mss),
        ("a~1~", Some(8760), Some(1460)),
        "not the one that is there"
    );
}

#[test]
fn copies_ask_for_the_same_objects_unless_their_hosts_are_renamed() {
    let table = held(&[(1, 0, false), (2, 5, false)]);
    let objects = |hosts| {
        let mut copies = Load { hosts, ..shifted(6, 10) }.of_table(&table, |rows| rows).unwrap();
        let mut directory = table.names().clone();
        let mut objects = Vec::new();
        while let Some(request) = copies.next_request(&mut directory).unwrap() {
            objects.push(request.object.unwrap().get());
        }
        objects
    };
    assert_eq!(objects(CopiesHosts::Same), [0, 5, 0, 5, 0, 5]);
    let mut renamed = objects(CopiesHosts::Renamed);
    assert_eq!(renamed[..2], [0, 5], "the days themselves ask for what the table says");
    renamed.sort_unstable();
    renamed.dedup();
    assert_eq!(renamed.len(), 6);
}

#[test]
fn the_clients_of_copies_are_other_people_and_those_of_days_the_same() {
    let mut names = Directory::default();
    let host = names.host("a");
    let request = |day, client| Request {
        day: Some(day),
        client: ClientId::new(client),
        ..Request::bare(Instant::ZERO, host)
    };
    let table = vec![request(1, 7), request(1, 8), request(1, ClientId::NONE), request(2, 7)];
    let table = Arc::new(MemoryTable::new(table, names));
    for hosts in [CopiesHosts::Same, CopiesHosts::Renamed] {
        let mut copies = Load { hosts, ..shifted(5, 10) }.of_table(&table, |rows| rows).unwrap();
        let (mut directory, mut clients) = (table.names().clone(), Vec::new());
        while let Some(request) = copies.next_request(&mut directory).unwrap() {
            clients.push(request.client);
        }
        let [seven, eight] = [7, 8].map(|client| ClientId::new(client).unwrap());
        let of_copy = |number| [seven, eight].map(|client| client.in_copy(number));
        let ([first_7, first_8], [second_7, second_8]) = (of_copy(1), of_copy(2));
        let days = [Some(seven), Some(eight), None, Some(seven)];
        let first = [Some(first_7), Some(first_8), None, Some(first_7)];
        let second = [Some(second_7), Some(second_8), None];
        assert_eq!(clients, [&days[..], &first, &second].concat());
    }
}

#[test]
fn a_table_without_requests_has_no_days() {
    assert_eq!(loaded(&shifted(3, 10), &held(&[])), []);
}

proptest! {
    #[test]
    fn days_and_copies_conserve_requests_and_come_by_start(
        rows in proptest::collection::vec((1..4_u32, 0..600_u64, any::<bool>()), 1..40),
        load in 1..12_u32,
        offset in 0..2000_u64,
        period in proptest::option::of(600..1500_u64),
    ) {
        let table = held(&rows);
        let found = loaded(&Load { period: period.map(Duration::from_nanos), ..shifted(load, offset) }, &table);
        prop_assert!(found.is_sorted_by_key(|row| row.1));
        let days: std::collections::BTreeSet<u32> = rows.iter().map(|row| row.0).collect();
        let mut expected: Vec<(u32, u64, bool)> = Vec::new();
        for (place, day) in days.iter().cycle().take(load as usize).enumerate() {
            let copy = (place / days.len()) as u64;
            let moved = |start: u64| period.map_or(start + copy * offset, |period| (start + copy * offset) % period);
            let of_day = rows.iter().filter(|row| row.0 == *day);
            expected.extend(of_day.map(|row| (row.0, moved(row.1), row.2 && copy == 0)));
        }
        let mut found: Vec<_> = found.into_iter().map(|(day, start, tagged, _)| (day, start, tagged)).collect();
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn copies_conserve_requests_and_come_by_start(
        mut rows in proptest::collection::vec((0..1000_u64, any::<bool>()), 0..30),
        load in 1..6_u32,
        offset in 0..2000_u64,
    ) {
        rows.sort_by_key(|(start, _)| *start);
        let all = merged(&rows, load, offset);
        prop_assert!(all.is_sorted_by_key(|(start, _)| *start));
        let tagged = |rows: &[(u64, bool)]| rows.iter().filter(|(_, tagged)| *tagged).count();
        prop_assert_eq!(tagged(&all), tagged(&rows));
        let mut expected: Vec<u64> =
            (0..u64::from(load)).flat_map(|copy| rows.iter().map(move |row| row.0 + copy * offset)).collect();
        expected.sort_unstable();
        prop_assert_eq!(all.iter().map(|(start, _)| *start).collect::<Vec<_>>(), expected);
    }
}
