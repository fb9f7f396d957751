//! The finite LRU stack of ProWGen: recent documents are requested again.
//!
//! The stack holds up to a number of documents, the one asked for last on top. It owns a part of all requests: in the mode
//! `static` its position j, from the top, owns the requests of the j-th most popular document, whatever lies there. In the
//! mode `dynamic` each document on the stack owns its own. A request that falls into this part is for the document there.
//!
//! Positions are places in a row that only grows at its end: the top is the last one taken. Going to the top leaves a
//! gap, and a full row closes its gaps. A Fenwick tree over the row finds the document that owns a request, so a
//! request costs O(log size), with closing the gaps spread over their causes. In the dynamic mode masses may be
//! cumulated from either end.
//!
//! Source: Busari, Williamson, "ProWGen: a synthetic workload generation tool for simulation evaluation of web proxy caches"
//! (Computer Networks 38(6), 2002); the program of 2000, `stack.cc`.

use super::parameters::StackMode;
use crate::workload::fenwick::Fenwick;

/// A place in the row. Its mass is 0 when it is a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    document: u32,
    mass: u32,
}

const GAP: Place = Place { document: 0, mass: 0 };

#[derive(Debug)]
pub(super) struct Stack {
    /// Most documents on it.
    size: usize,
    /// Documents on it.
    held: usize,
    /// From the bottom to the top, with gaps.
    row: Vec<Place>,
    masses: Fenwick,
    /// Places that were taken since gaps were closed. Below `bottom` there are only gaps.
    taken: usize,
    bottom: usize,
    /// In the static mode, cumulated probabilities of the positions from the top.
    cumulated: Option<Vec<u64>>,
}

impl Stack {
    /// An empty stack for `size` documents, at least 1, with the `requests` of each document, the most popular first.
    pub(super) fn new(size: usize, mode: StackMode, requests: &[u32]) -> Self {
        let size = size.min(requests.len());
        let places = 2 * size + 1;
        let mut sum = 0;
        let mut add = |requests: &u32| {
            sum += u64::from(*requests);
            sum
        };
        let cumulated = (mode == StackMode::Static).then(|| requests[..size].iter().map(&mut add).collect());
        let (row, masses) = (vec![GAP; places], Fenwick::new(places));
        Self { size, held: 0, row, masses, taken: 0, bottom: 0, cumulated }
    }

    /// Requests that the documents on the stack, or their positions, own.
    pub(super) fn owned(&self) -> u64 {
        match &self.cumulated {
            None => self.masses.total(),
            Some(_) if self.held == 0 => 0,
            Some(cumulated) => cumulated[self.held - 1],
        }
    }

    /// Takes the document that owns request `request` of [`Self::owned`] from the stack.
    pub(super) fn take(&mut self, request: u64) -> u32 {
        let unit = match &self.cumulated {
            None => request,
            Some(cumulated) => {
                let from_top = cumulated.partition_point(|sum| *sum <= request);
                (self.held - 1 - from_top) as u64
            }
        };
        self.remove(self.masses.find(unit))
    }

    /// Puts `document`, which has so many requests in all, on top. The one at the bottom leaves when there is no room.
    pub(super) fn put(&mut self, document: u32, requests: u32) -> Option<u32> {
        let leaves = (self.held == self.size).then(|| {
            let lowest = self.row[self.bottom..].iter().position(|place| *place != GAP);
            self.bottom += lowest.expect("the stack is full");
            self.remove(self.bottom)
        });
        if self.taken == self.row.len() {
            self.close_gaps();
        }
        let mass = if self.cumulated.is_some() { 1 } else { requests };
        self.row[self.taken] = Place { document, mass };
        self.masses.add(self.taken, mass.into());
        self.taken += 1;
        self.held += 1;
        leaves
    }

    fn remove(&mut self, at: usize) -> u32 {
        let place = std::mem::replace(&mut self.row[at], GAP);
        self.masses.subtract(at, place.mass.into());
        self.held -= 1;
        place.document
    }

    fn close_gaps(&mut self) {
        self.row.retain(|place| *place != GAP);
        self.masses.clear();
        for (at, place) in self.row.iter().enumerate() {
            self.masses.add(at, place.mass.into());
        }
        (self.taken, self.bottom) = (self.row.len(), 0);
        self.row.resize(2 * self.size + 1, GAP);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_own_requests_in_the_static_mode() {
        let mut stack = Stack::new(3, StackMode::Static, &[10, 5, 2, 1]);
        assert_eq!(stack.owned(), 0);
        assert_eq!([3, 2, 1].map(|document| stack.put(document, 7)), [None; 3]);
        assert_eq!(stack.owned(), 17);
        // From the top: 1 owns 0 to 9, 2 owns 10 to 14, 3 owns 15 and 16.
        assert_eq!(stack.take(16), 3);
        assert_eq!(stack.owned(), 15);
        assert_eq!((stack.put(3, 7), stack.take(9)), (None, 3));
        assert_eq!((stack.put(3, 7), stack.put(0, 7)), (None, Some(2)), "the bottom leaves");
    }

    #[test]
    fn documents_own_requests_in_the_dynamic_mode() {
        let mut stack = Stack::new(2, StackMode::Dynamic, &[10, 5, 2]);
        assert_eq!((stack.put(1, 5), stack.put(2, 2)), (None, None));
        assert_eq!((stack.owned(), stack.take(6), stack.owned()), (7, 2, 5));
        assert_eq!((stack.put(0, 10), stack.put(2, 2)), (None, Some(1)));
        assert_eq!(stack.owned(), 12);
    }

    proptest! {
        /// As a plain list, from the top down, does it.
        #[test]
        fn it_does_what_a_list_does(
            size in 1..9_usize,
            is_static in any::<bool>(),
            draws in prop::collection::vec((any::<u32>(), any::<bool>()), 0..300),
        ) {
            let requests: Vec<u32> = (0..12).map(|document| 24 - 2 * document).collect();
            let mode = if is_static { StackMode::Static } else { StackMode::Dynamic };
            let mut stack = Stack::new(size, mode, &requests);
            let mut list: Vec<u32> = Vec::new();
            for (draw, hit) in draws {
                let owns = |position: usize| u64::from(requests[if is_static { position } else { list[position] as usize }]);
                let owned: u64 = (0..list.len()).map(owns).sum();
                prop_assert_eq!(stack.owned(), owned);
                let document = if hit && owned > 0 {
                    let request = u64::from(draw) % owned;
                    // The dynamic mode counts from the bottom.
                    let mut order: Vec<usize> = (0..list.len()).collect();
                    if !is_static {
                        order.reverse();
                    }
                    let mut before = 0;
                    let position = order.into_iter().find(|position| { before += owns(*position); request < before }).unwrap();
                    let document = list.remove(position);
                    prop_assert_eq!(stack.take(request), document);
                    if draw % 5 == 0 {
                        continue;
                    }
                    document
                } else {
                    match (0..12).map(|step| (draw % 12 + step) % 12).find(|document| !list.contains(document)) {
                        Some(document) => document,
                        None => continue,
                    }
                };
                list.insert(0, document);
                let leaves = if list.len() > size { list.pop() } else { None };
                prop_assert_eq!(stack.put(document, requests[document as usize]), leaves);
            }
        }
    }
}
