use proptest::prelude::*;

use super::*;
use crate::units::Instant;
use crate::workload::ClientId;

/// Rows in memory: start in ns, size, true if measured.
struct Rows(std::vec::IntoIter<(u64, u64, bool)>);

impl RequestSource for Rows {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        Ok(self.0.next().map(|(start, bytes, is_measured)| Request {
            response_bytes: bytes,
            tag: Some(directory.tags.symbol(if is_measured { "sample" } else { "other" })),
            ..Request::bare(Instant::from_nanos(start), directory.host("a"))
        }))
    }
}

const SECOND: u64 = 1_000_000_000;

/// Requests of rows at a load, by start, size and true if measured, and the most repeats that waited at a
/// time.
fn at_rate(rows: &[(u64, u64, bool)], load: f64, window: u64, seed: u64) -> (Vec<(u64, u64, bool)>, usize) {
    let (mut directory, mut found, mut waiting) = (Directory::default(), Vec::new(), 0);
    let rows = rows.to_vec();
    let mut source =
        AtRate::new(Rows(rows.into_iter()), load, Duration::from_nanos(window), RandomStreams::new(seed));
    while let Some(request) = source.next_request(&mut directory).unwrap() {
        let tag = request.tag.map(|tag| &*directory.tags.words()[tag]);
        found.push((request.start.as_nanos(), request.response_bytes, tag == Some("sample")));
        waiting = waiting.max(source.0.waiting());
    }
    assert!(source.next_request(&mut directory).unwrap().is_none(), "the end stays the end");
    (found, waiting)
}

/// A request each 10 ms, of different sizes.
fn steady(count: u64) -> Vec<(u64, u64, bool)> {
    (0..count).map(|row| (row * SECOND / 100, 1 + row % 97, false)).collect()
}

#[test]
fn whole_loads_repeat_every_request_so_often() {
    let rows = steady(500);
    assert_eq!(at_rate(&rows, 1.0, 37 * SECOND, 1).0, rows);
    let (thrice, _) = at_rate(&rows, 3.0, 0, 1);
    let expected: Vec<_> = rows.iter().flat_map(|row| [*row; 3]).collect();
    assert_eq!(thrice, expected, "at the same instant where there is no window");
}

/// 20,000 rows: five standard deviations of the binomial distribution on either side.
#[test]
fn fractions_are_kept_in_their_share() {
    for (load, share) in [(0.1, 0.1_f64), (0.5, 0.5), (2.25, 0.25)] {
        let (found, _) = at_rate(&steady(20_000), load, SECOND, 7);
        let off = found.len() as f64 - 20_000.0 * load;
        assert!(off.abs() < 5.0 * (20_000.0 * share * (1.0 - share)).sqrt(), "load {load}: {off} off");
        assert!(off != 0.0, "drawn, not counted off");
    }
}

/// A rate that doubles in the middle still does, at three and a half times the load.
#[test]
fn the_shape_of_the_day_stays() {
    let slow = (0..10_000).map(|row| (row * SECOND / 100, 1, false));
    let rows: Vec<_> =
        slow.chain((0..20_000).map(|row| (100 * SECOND + row * SECOND / 200, 1, false))).collect();
    let (found, _) = at_rate(&rows, 3.5, 5 * SECOND, 3);
    let between = |from: u64, to: u64| {
        found.iter().filter(|(start, ..)| (from * SECOND..to * SECOND).contains(start)).count() as f64
    };
    // Away from the beginning, the middle and the end by the window.
    let (before, after) = (between(10, 90), between(110, 190));
    assert!((after / before - 2.0).abs() < 0.03, "{before} and {after}");
    assert!((before / (80.0 * 100.0 * 3.5) - 1.0).abs() < 0.02, "{before}");
}

#[test]
fn memory_is_that_of_a_window() {
    // 100 a second, four repeats of each, on average half a window's waiting.
    let (found, waiting) = at_rate(&steady(20_000), 5.0, 2 * SECOND, 1);
    assert_eq!(found.len(), 100_000);
    assert!((300..=800).contains(&waiting), "{waiting}");
}

/// Two clients ask three times each, at four times their rate.
#[test]
fn repeats_are_of_other_clients_the_same_for_all_requests_of_one() {
    struct Asked(std::ops::Range<u64>);
    impl RequestSource for Asked {
        fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            Ok(self.0.next().map(|row| Request {
                response_bytes: row + 1,
                client: ClientId::new(row % 2),
                ..Request::bare(Instant::from_nanos(row * SECOND), directory.host("a"))
            }))
        }
    }
    let mut source = AtRate::new(Asked(0..6), 4.0, Duration::ZERO, RandomStreams::new(1));
    let (mut directory, mut rows) = (Directory::default(), vec![Vec::new(); 6]);
    while let Some(request) = source.next_request(&mut directory).unwrap() {
        rows[request.response_bytes as usize - 1].push(request.client.unwrap());
    }
    for (row, mut clients) in rows.into_iter().enumerate() {
        let own = ClientId::new(row as u64 % 2).unwrap();
        let mut expected = vec![own, own.in_copy(1), own.in_copy(2), own.in_copy(3)];
        expected.sort_unstable();
        clients.sort_unstable();
        assert_eq!(clients, expected);
    }
}

#[test]
fn a_repeat_that_no_result_could_hold_is_an_error() {
    let rows = Rows(vec![(i64::MAX as u64, 1, false)].into_iter());
    let mut source = AtRate::new(rows, 50.0, Duration::from_secs(37), RandomStreams::new(1));
    let error = source.next_request(&mut Directory::default()).unwrap_err().to_string();
    assert_eq!(
        error,
        "workload.copies_offset: found 37 s; a repeat of a request then starts after 292 years"
    );
}

proptest! {
    #[test]
    fn requests_come_in_order_and_measured_ones_once(
        mut rows in prop::collection::vec((0..100 * SECOND, 1..1000_u64, any::<bool>()), 0..200),
        load in 0.001..6.0_f64,
        more in 0.0..2.0_f64,
        window in 0..10 * SECOND,
        seed in any::<u64>(),
    ) {
        rows.sort_by_key(|row| row.0);
        let (found, _) = at_rate(&rows, load, window, seed);
        prop_assert!(found.is_sorted_by_key(|row| row.0));
        let measured = |rows: &[(u64, u64, bool)]| rows.iter().filter(|row| row.2).copied().collect::<Vec<_>>();
        prop_assert_eq!(measured(&found), measured(&rows));
        for (start, bytes, _) in &found {
            let of_row = |row: &&(u64, u64, bool)| row.1 == *bytes && row.0 <= *start && start - row.0 < window.max(1);
            prop_assert!(rows.iter().any(|row| of_row(&row)), "each is that of a row, up to a window later");
        }
        let others = found.len() - measured(&rows).len();
        prop_assert!(others as f64 <= rows.len() as f64 * load.ceil());
        prop_assert_eq!(&at_rate(&rows, load, window, seed).0, &found, "the same seed draws the same");
        let (denser, _) = at_rate(&rows, load + more, window, seed);
        let mut left = denser.clone();
        left.sort_unstable();
        for row in &found {
            let place = left.binary_search(row);
            prop_assert!(place.is_ok(), "a smaller load has a part of the requests of a larger one");
            left.remove(place.unwrap());
        }
    }
}
