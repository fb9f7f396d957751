//! A priority queue of entries with changing keys: a heap, smallest key first, that knows the place of each entry.

use super::entries::Place;

/// Key of the order, the first number before the second. No two entries share one.
pub(super) type Key = (u64, u64);

/// Children of a node. Chosen: two levels of a binary heap in one, a third fewer cache misses on the way down.
const CHILDREN: usize = 4;

/// The heap.
#[derive(Debug, Clone, Default)]
pub(super) struct Heap {
    nodes: Vec<(Key, Place)>,
    /// Position in `nodes` by place.
    positions: Vec<u32>,
}

impl Heap {
    /// The smallest key and its entry.
    pub(super) fn first(&self) -> Option<(Key, Place)> {
        self.nodes.first().copied()
    }

    /// Adds the entry at `place`, which is not in it.
    pub(super) fn push(&mut self, key: Key, place: Place) {
        if self.positions.len() <= place as usize {
            self.positions.resize(place as usize + 1, u32::MAX);
        }
        self.nodes.push((key, place));
        self.rise(self.nodes.len() - 1);
    }

    /// Gives the entry at `place` another key.
    pub(super) fn change(&mut self, key: Key, place: Place) {
        let position = self.positions[place as usize] as usize;
        self.nodes[position].0 = key;
        let position = self.rise(position);
        self.sink(position);
    }

    /// Takes the entry at `place` out.
    pub(super) fn remove(&mut self, place: Place) {
        let position = self.positions[place as usize] as usize;
        self.nodes.swap_remove(position);
        if position < self.nodes.len() {
            let position = self.rise(position);
            self.sink(position);
        }
    }

    /// Moves a node up to where it belongs, and says where.
    fn rise(&mut self, mut position: usize) -> usize {
        let node = self.nodes[position];
        while position > 0 {
            let parent = (position - 1) / CHILDREN;
            if self.nodes[parent].0 <= node.0 {
                break;
            }
            self.put(position, self.nodes[parent]);
            position = parent;
        }
        self.put(position, node);
        position
    }

    /// Moves a node down to where it belongs.
    fn sink(&mut self, mut position: usize) {
        let node = self.nodes[position];
        loop {
            let first = position * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.nodes.len());
            let Some(least) = children.min_by_key(|child| self.nodes[*child].0) else { break };
            if node.0 <= self.nodes[least].0 {
                break;
            }
            self.put(position, self.nodes[least]);
            position = least;
        }
        self.put(position, node);
    }

    fn put(&mut self, position: usize, node: (Key, Place)) {
        self.nodes[position] = node;
        self.positions[node.1 as usize] = position as u32;
    }
}
