//! An LRU stack: items in the order of their last use, with the weight above each.
//!
//! Items stand in a row that grows at its end, with gaps at their former places. A Fenwick tree over the row sums the
//! weights at and above a place. A full row closes its gaps, and grows if there are few. A use costs O(log items).
//!
//! Sources: R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems
//! Journal 9(2), 1970; the tree: B. T. Bennett, V. J. Kruskal, "LRU Stack Processing", IBM Journal of Research and Development
//! 19(4), 1975, and G. Almási, C. Caşcaval, D. A. Padua, "Calculating stack distances efficiently" (MSP 2002).

use super::fenwick::Fenwick;

/// Places of the row at first.
const PLACES: usize = 1024;

/// A gap in the row.
const GAP: u32 = u32::MAX;

/// Things with weights, numbered from 0 in the order of their first use, by last use. Some 40 bytes each.
#[derive(Debug, Clone)]
pub(crate) struct LruStack {
    /// Place and weight of each thing.
    things: Vec<(u32, u64)>,
    /// Things by place, the one used last at the end.
    row: Vec<u32>,
    weights: Fenwick,
}

impl Default for LruStack {
    fn default() -> Self {
        Self { things: Vec::new(), row: Vec::with_capacity(PLACES), weights: Fenwick::new(PLACES) }
    }
}

impl LruStack {
    /// Uses a thing, with this weight from then on, and returns the former weight of it and the things used since, or
    /// `None` for a new one.
    pub(crate) fn use_again(&mut self, thing: u32, weight: u64) -> Option<u64> {
        if self.row.len() == self.weights.len() {
            self.make_room();
        }
        let place = self.row.len();
        let depth = self.things.get_mut(thing as usize).map(|thing| {
            let (before, old) = std::mem::replace(thing, (place as u32, weight));
            self.row[before as usize] = GAP;
            self.weights.subtract(before as usize, old);
            self.weights.total() - self.weights.up_to(before as usize) + old
        });
        if depth.is_none() {
            self.things.push((place as u32, weight));
        }
        self.row.push(thing);
        self.weights.add(place, weight);
        depth
    }

    fn make_room(&mut self) {
        self.row.retain(|thing| *thing != GAP);
        self.weights = Fenwick::new(PLACES.max(2 * self.row.len()));
        for (place, thing) in self.row.iter().enumerate() {
            let thing = &mut self.things[*thing as usize];
            thing.0 = place as u32;
            self.weights.add(place, thing.1);
        }
    }
}
