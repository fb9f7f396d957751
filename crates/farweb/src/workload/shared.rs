//! One reader of a table for all of its copies: a row is read and parsed once, and kept until the last copy has had it.
//!
//! Memory: the rows between the first copy and the last one, over the total shift of copies, for a table of any length.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Directory, Request, RequestSource, WorkloadError};

/// One of the readers that share a source. Each gives all of its requests.
#[derive(Debug)]
pub struct Reader<S> {
    shared: Arc<Mutex<Shared<S>>>,
    /// Number of requests that it has given.
    given: u64,
}

#[derive(Debug)]
struct Shared<S> {
    source: S,
    readers: u32,
    /// Requests that some reader has not given yet, each with the number of those.
    kept: VecDeque<(Request, u32)>,
    /// Number of requests that all have given.
    dropped: u64,
}

/// So many readers of `source`, which is read as far as the foremost of them is.
#[must_use]
pub fn shared<S: RequestSource>(source: S, readers: u32) -> Vec<Reader<S>> {
    let shared = Arc::new(Mutex::new(Shared { source, readers, kept: VecDeque::new(), dropped: 0 }));
    (0..readers).map(|_| Reader { shared: Arc::clone(&shared), given: 0 }).collect()
}

impl<S: RequestSource> RequestSource for Reader<S> {
    fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
        let mut guard = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Shared { source, readers, kept, dropped } = &mut *guard;
        let place = (self.given - *dropped) as usize;
        if place == kept.len() {
            let Some(request) = source.next_request(directory)? else { return Ok(None) };
            kept.push_back((request, *readers));
        }
        let (request, left) = &mut kept[place];
        let request = *request;
        *left -= 1;
        if kept.front().is_some_and(|(_, left)| *left == 0) {
            kept.pop_front();
            *dropped += 1;
        }
        self.given += 1;
        Ok(Some(request))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::units::Instant;

    /// Requests with starts of 0, 1, 2 … ns.
    struct Numbered(std::ops::Range<u64>);

    impl RequestSource for Numbered {
        fn next_request(&mut self, directory: &mut Directory) -> Result<Option<Request>, WorkloadError> {
            let host = directory.host("a");
            Ok(self.0.next().map(|number| Request::bare(Instant::from_nanos(number), host)))
        }
    }

    proptest! {
        /// For any order of readers each gives every request in order, and only the rows between them are kept.
        #[test]
        fn every_reader_gives_every_request(rows in 0..30_u64, turns in proptest::collection::vec(0..4_usize, 0..200)) {
            let (mut readers, mut given) = (shared(Numbered(0..rows), 4), [0_u64; 4]);
            let directory = &mut Directory::default();
            for reader in turns {
                let request = readers[reader].next_request(directory).unwrap();
                let expected = (given[reader] < rows).then_some(given[reader]);
                prop_assert_eq!(request.map(|request| request.start.as_nanos()), expected);
                given[reader] += u64::from(expected.is_some());
                let (first, last) = (given.iter().max().unwrap(), given.iter().min().unwrap());
                prop_assert_eq!(readers[0].shared.lock().unwrap().kept.len() as u64, first - last);
            }
        }
    }
}
