//! Load: copies of a request table that run at the same time.
//!
//! Copy k starts k offsets after copy 0 and is the same otherwise, but for its tags: they stay in copy 0 only, so that the
//! sample requests are measured once, whatever the load. A copy may run into the next day of another; nothing wraps around.
//! Source: Pearson, Cleary, McGregor scale load by merging days of the log; shifted copies continue beyond the days there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Directory, Request, RequestSource, WorkloadError};
use crate::units::{Duration, Instant};

/// Copies of a request table merged by start time; equal starts come by copy. Memory is that of the open copies.
#[derive(Debug)]
pub struct Copies<S> {
    copies: Vec<Copy<S>>,
    /// Copies whose `head` is still to come, earliest first.
    queue: BinaryHeap<Reverse<(Instant, usize)>>,
    started: bool,
}

#[derive(Debug)]
struct Copy<S> {
    source: S,
    shift: Duration,
    head: Option<Request>,
}

impl<S: RequestSource> Copies<S> {
    /// `load` copies, `offset` apart, each read from a source of its own that `open` opens.
    ///
    /// # Errors
    /// When `load` is 0, the last copy would start after 292 years, or a source cannot be opened.
    pub fn new(
        load: u32,
        offset: Duration,
        mut open: impl FnMut() -> Result<S, WorkloadError>,
    ) -> Result<Self, WorkloadError> {
        if load == 0 {
            return Err(WorkloadError("workload.load: found 0; write at least 1 copy".into()));
        }
        let shift_max = u128::from(offset.as_nanos()) * u128::from(load - 1);
        if shift_max > u128::from(LATEST.as_nanos()) {
            return Err(WorkloadError(format!(
                "workload.copies_offset: found {offset}; {load} copies that far apart take more than 292 years"
            )));
        }
        let mut copies = Vec::new();
        for copy in 0..u64::from(load) {
            copies.push(Copy { source: open()?, shift: offset * copy, head: None });
        }
        Ok(Self { copies, queue: BinaryHeap::new(), started: false })
    }

    /// Reads the next request of copy `index` and puts the copy into the queue.
    fn advance(&mut self, index: usize, directory: &mut Directory) -> Result<(), WorkloadError> {
        let copy = &mut self.copies[index];
        copy.head = copy.source.next_request(directory)?;
        let Some(head) = &mut copy.head else { return Ok(()) };
        head.start += copy.shift;
        if head.start > LATEST {
            return Err(WorkloadError(format!(
                "copy {index} of the request table: starts at {}; a start must lie before 292 years",
                head.start
            )));
        }
        if index > 0 {
            head.tag = None;
        }
        self.queue.push(Reverse((head.start, index)));
        Ok(())
    }
}

/// Latest start: results hold times as int64 ns.
const LATEST: Instant = Instant::from_nanos(i64::MAX as u64);

impl<S: RequestSource> RequestSource for Copies<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        if !self.started {
            self.started = true;
            for index in 0..self.copies.len() {
                self.advance(index, directory)?;
            }
        }
        let Some(Reverse((_, index))) = self.queue.pop() else { return Ok(None) };
        let request = self.copies[index].head.take();
        self.advance(index, directory)?;
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
                start: Instant::from_nanos(start),
                host: directory.host("a"),
                request_bytes: 1,
                response_bytes: 1,
                server: None,
                source: None,
                tag: tagged.then(|| directory.tags.symbol("sample")),
            }))
        }
    }

    fn merged(rows: &[(u64, bool)], load: u32, offset: u64) -> Vec<(u64, bool)> {
        let mut copies = Copies::new(load, Duration::from_nanos(offset), || Ok(List::new(rows))).unwrap();
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
    fn a_load_that_cannot_be_is_an_error() {
        let none = || Ok(List::new(&[]));
        let message = |load, offset| Copies::new(load, offset, none).unwrap_err().to_string();
        assert_eq!(message(0, Duration::ZERO), "workload.load: found 0; write at least 1 copy");
        assert_eq!(
            message(3, Duration::from_secs(5_000_000_000)),
            "workload.copies_offset: found 5000000000 s; 3 copies that far apart take more than 292 years"
        );
        let late = || Ok(List::new(&[(1 << 62, false)]));
        let mut copies = Copies::new(3, Duration::from_nanos(1 << 61), late).unwrap();
        let error = copies.next_request(&mut Directory::default()).unwrap_err().to_string();
        assert!(error.starts_with("copy 2 of the request table: starts at "), "{error}");
    }

    proptest! {
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
                (0..u64::from(load)).flat_map(|copy| rows.iter().map(move |(start, _)| start + copy * offset)).collect();
            expected.sort_unstable();
            prop_assert_eq!(all.iter().map(|(start, _)| *start).collect::<Vec<_>>(), expected);
        }
    }
}
