//! Load: copies of a request table that run at the same time.
//!
//! Copy k starts k offsets after copy 0 and is the same otherwise, but for its tags: they stay in copy 0 only, so
//! that the sample requests are measured once, whatever the load. A copy may run into the next day of another;
//! nothing wraps around.
//!
//! Source: the NZ–US study ("Improving the performance of HTTP over high bandwidth-delay product circuits", CNDS
//! 2001) merges the same minutes of successive days, and beyond that copies, each offset in time against
//! self-correlation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Directory, Request, RequestSource, WorkloadError};
use crate::units::{Duration, Instant};

/// Copies of a request table merged by start time; equal starts come by copy. Memory is that of the open copies.
#[derive(Debug)]
pub struct Copies<S> {
    copies: Vec<Copy<S>>,
    offset: Duration,
    /// Copies whose `head` is still to come, earliest first.
    queue: BinaryHeap<Reverse<(Instant, usize)>>,
    started: bool,
}

#[derive(Debug)]
struct Copy<S> {
    source: S,
    head: Option<Request>,
}

impl<S: RequestSource> Copies<S> {
    /// The requests of `sources`, each a copy of the same table read from its start, every one `offset` after the one
    /// before.
    #[must_use]
    pub fn new(sources: Vec<S>, offset: Duration) -> Self {
        let copies = sources.into_iter().map(|source| Copy { source, head: None }).collect();
        Self { copies, offset, queue: BinaryHeap::new(), started: false }
    }

    /// Reads the next request of copy `index` and puts the copy into the queue.
    fn advance(&mut self, index: usize, directory: &mut Directory) -> Result<(), WorkloadError> {
        let copy = &mut self.copies[index];
        copy.head = copy.source.next_request(directory)?;
        let Some(head) = &mut copy.head else { return Ok(()) };
        let shift = u128::from(self.offset.as_nanos()) * index as u128;
        let start = u64::try_from(shift + u128::from(head.start.as_nanos())).unwrap_or(u64::MAX);
        if start > LATEST {
            return Err(WorkloadError(format!(
                "workload.copies_offset: found {}; a request of copy {index} then starts after 292 years",
                self.offset
            )));
        }
        head.start = Instant::from_nanos(start);
        if index > 0 {
            head.tag = None;
        }
        self.queue.push(Reverse((head.start, index)));
        Ok(())
    }
}

/// Latest start, in ns: results hold times as int64.
const LATEST: u64 = i64::MAX as u64;

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
        let sources = (0..load).map(|_| List::new(rows)).collect();
        let mut copies = Copies::new(sources, Duration::from_nanos(offset));
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
            let mut copies = Copies::new(sources, Duration::from_nanos(offset));
            let error = copies.next_request(&mut Directory::default()).unwrap_err().to_string();
            assert!(error.starts_with("workload.copies_offset: found "), "{error}");
        }
    }

    #[test]
    fn boxed_sources_are_sources() {
        let boxed: Vec<Box<dyn RequestSource>> = vec![Box::new(List::new(&[(1, false)]))];
        let request = Copies::new(boxed, Duration::ZERO).next_request(&mut Directory::default());
        assert_eq!(request.unwrap().unwrap().start, Instant::from_nanos(1));
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
                (0..u64::from(load)).flat_map(|copy| rows.iter().map(move |row| row.0 + copy * offset)).collect();
            expected.sort_unstable();
            prop_assert_eq!(all.iter().map(|(start, _)| *start).collect::<Vec<_>>(), expected);
        }
    }
}
