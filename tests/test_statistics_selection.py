"""Values at places among many, found in passes."""

from collections.abc import Sequence

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from farweb.statistics.selection import Selection

INT64 = st.integers(-(1 << 62), 1 << 62)


def at_places(pieces: Sequence[Sequence[int]], places: Sequence[int]) -> dict[int, int]:
    arrays = [np.array(piece, np.int64) for piece in pieces]
    values = np.concatenate(arrays)
    selection = Selection(int(values.min()), int(values.max()), places)
    for _ in range(selection.passes + 2):  # others that are looked for in the same passes may need more
        for array in arrays:
            selection.add(array)
        selection.turn()
    return selection.found


@given(st.lists(st.lists(INT64, max_size=9), min_size=1).filter(any), st.data())
@example([[3]], None)
@example([[5, 5], [], [5]], None)
def test_values_are_those_of_a_sort(pieces: list[list[int]], data: st.DataObject | None) -> None:
    ordered = sorted(value for piece in pieces for value in piece)
    places = st.lists(st.integers(0, len(ordered) - 1), max_size=4)
    asked = [0, len(ordered) - 1] if data is None else data.draw(places)
    assert at_places(pieces, asked) == {place: ordered[place] for place in asked}


def test_numbers_that_differ_in_their_last_digit_take_one_pass() -> None:
    assert Selection(10**12, 10**12 + 65_535, [0]).passes == 1
    assert Selection(10**12, 10**12 + 65_536, [0]).passes == 2
    assert Selection(7, 7, [0]).passes == 0
