"""Counts how often each id of a column occurs that is read in parts."""

import numpy as np
from numpy.typing import NDArray

from farweb import _core

_MERGED_AT = 1 << 20  # ids. Chosen: 16 MB with their counts

Ids = NDArray[np.uint64]
Counts = NDArray[np.int64]


class Tally:
    """Occurrences of each id, in some 32 bytes a different one.

    Attributes:
        null: Rows so far with a null id.
    """

    def __init__(self) -> None:
        self.null = 0
        self._known: tuple[Ids, Counts] = (np.empty(0, np.uint64), np.empty(0, np.int64))
        self._new: list[tuple[Ids, Counts]] = []

    def add(self, ids: Ids) -> None:
        """Take the next ids, as the core has them."""
        known = ids[ids != _core.null_id]
        self.null += ids.size - known.size
        self._new.append(np.unique(known, return_counts=True))
        if sum(part.size for part, _ in self._new) > max(self._known[0].size, _MERGED_AT):
            self.counts()

    def counts(self) -> Counts:
        """Occurrences of each id, in the order of ids."""
        parts = [self._known, *self._new]
        ids, place = np.unique(np.concatenate([part for part, _ in parts]), return_inverse=True)
        times = np.zeros(ids.size, np.int64)
        np.add.at(times, place, np.concatenate([counts for _, counts in parts]))
        self._known, self._new = (ids, times), []
        return times
