//! A list of entries in the order of joining, linked through the entries.

use super::entries::{Entries, NOWHERE, Place};

/// A list that knows its length.
#[derive(Debug, Clone)]
pub(super) struct List {
    newest: Place,
    oldest: Place,
    bytes: u64,
    /// Number of the list, which its entries carry as `list`.
    number: u8,
}

impl List {
    /// An empty list, which gives its entries `number`.
    pub(super) const fn new(number: u8) -> Self {
        Self { newest: NOWHERE, oldest: NOWHERE, bytes: 0, number }
    }

    /// Sum of the sizes of its entries.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.oldest == NOWHERE
    }

    /// The entry that has been in it longest.
    pub(super) const fn oldest(&self) -> Option<Place> {
        if self.is_empty() { None } else { Some(self.oldest) }
    }

    /// True when `place`, an entry of the policy that owns the list, stands in it.
    pub(super) fn has(&self, entries: &Entries, place: Place) -> bool {
        entries[place].list == self.number
    }

    /// Puts the entry at `place`, which is on no list, at the new end.
    pub(super) fn push(&mut self, entries: &mut Entries, place: Place) {
        self.bytes += entries[place].bytes;
        entries[place].list = self.number;
        self.link(entries, place);
    }

    /// Takes the entry at `place` out.
    pub(super) fn unlink(&mut self, entries: &mut Entries, place: Place) {
        self.bytes -= entries[place].bytes;
        self.cut(entries, place);
    }

    /// Moves the entry at `place` to the new end.
    pub(super) fn refresh(&mut self, entries: &mut Entries, place: Place) {
        if self.newest != place {
            self.cut(entries, place);
            self.link(entries, place);
        }
    }

    /// Takes out and drops the oldest entry, if there is one.
    pub(super) fn drop_oldest(&mut self, entries: &mut Entries) {
        if let Some(place) = self.oldest() {
            self.unlink(entries, place);
            entries.remove(place);
        }
    }

    fn link(&mut self, entries: &mut Entries, place: Place) {
        (entries[place].newer, entries[place].older) = (NOWHERE, self.newest);
        if self.newest == NOWHERE {
            self.oldest = place;
        } else {
            entries[self.newest].newer = place;
        }
        self.newest = place;
    }

    fn cut(&mut self, entries: &mut Entries, place: Place) {
        let (newer, older) = (entries[place].newer, entries[place].older);
        if newer == NOWHERE {
            self.newest = older;
        } else {
            entries[newer].older = older;
        }
        if older == NOWHERE {
            self.oldest = newer;
        } else {
            entries[older].newer = newer;
        }
    }
}
