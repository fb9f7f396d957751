"""Values at given places among so many that they are not kept: found in passes over them.

Whole numbers are read in digits of 16 bits, the highest first. For each wanted place a pass counts the values of the
next digit among the numbers with the digits known so far, and so finds that digit. The result is exact, as from
sorting. Memory: 65,536 counts a place.

Source: radix selection, the distribution sort of D. E. Knuth, The Art of Computer Programming, volume 3, 2nd ed., 1998,
section 5.2.5, with counts in place of moves.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_BITS = 16  # chosen: two or three passes for times in ns
_DIGITS = 1 << _BITS


class Selection:
    """A search for values by their places among all in order, from 0.

    Give every value to `add` in each of `passes` passes, with `turn` after each. After that `found` has the values.

    Args:
        low: The smallest value.
        high: The largest value.
        places: Ranks to be found, below the number of values.
    """

    def __init__(self, low: int, high: int, places: Iterable[int]) -> None:
        self._low = low
        self.passes = -(-(high - low).bit_length() // _BITS)
        self._left = self.passes
        self._known = {place: (0, place) for place in places}
        self._begin()

    def _begin(self) -> None:
        """Start counts for each prefix of the wanted numbers."""
        begins = {begin for begin, _ in self._known.values()}
        self._counts = {begin: np.zeros(_DIGITS, np.int64) for begin in begins} if self._left else {}

    def add(self, values: NDArray[np.int64]) -> None:
        """Take some of the values, in any order."""
        shift = _BITS * (self._left - 1)
        above_low = values - self._low
        for begin, counts in self._counts.items():
            is_first = self._left == self.passes
            chosen = above_low if is_first else above_low[above_low >> (shift + _BITS) == begin]
            counts += np.bincount(chosen >> shift & (_DIGITS - 1), minlength=_DIGITS)

    def turn(self) -> None:
        """End a pass. Superfluous ones change nothing."""
        if not self._left:
            return
        for place, (begin, rest) in self._known.items():
            up_to = self._counts[begin].cumsum()
            digit = int(np.searchsorted(up_to, rest, side="right"))
            before = int(up_to[digit - 1]) if digit else 0
            self._known[place] = (begin << _BITS | digit, rest - before)
        self._left -= 1
        self._begin()

    @property
    def found(self) -> dict[int, int]:
        """The values by place, after the last pass."""
        assert not self._left, "all passes have been made"
        return {place: self._low + begin for place, (begin, _) in self._known.items()}
