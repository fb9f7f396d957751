"""Lines at rates and queue limits of links, to compare with."""

from collections.abc import Callable, Sequence

from farweb.paint.figure import Reference, Series
from farweb.plot.grouping import Group
from farweb.text.words import listed

IN_PICTURE = 1.6
"""Up to how many times the largest value a line to compare with is drawn; chosen: beyond, it would flatten the rest."""

LINES_MAX = 4
"""Different values of a line to compare with; chosen: more hide the series."""


class Lines:
    """Lines to compare with. A line outside all panels is left out and named in words."""

    def __init__(self) -> None:
        self._drawn: set[str] = set()
        self._above: dict[str, None] = {}

    def of(
        self,
        groups: Sequence[Group],
        value_of: Callable[[Group], float | None],
        name: str,
        in_words: Callable[[float], str],
        series: Sequence[Series],
        beside: Sequence[Series] = (),
    ) -> list[Reference]:
        """A line for each value that groups have and a panel reaches.

        Args:
            groups: The panel's.
            value_of: The value of a group; one that a single group of several has is drawn in its colour.
            name: Name of the values.
            in_words: A value in words.
            series: Of the panel.
            beside: Of other panels on the same axis, which reach as far.
        """
        values: dict[float, list[int]] = {}
        for group in groups:
            if (value := value_of(group)) is not None:
                values.setdefault(value, []).append(group.index)
        values = dict(sorted(values.items()))
        highest = max((float(each.y.max()) for each in (*series, *beside)), default=0.0)
        few = len(values) <= LINES_MAX
        near = [value for value in values if few and value <= IN_PICTURE * highest]
        self._drawn |= {f"{name} {in_words(value)}" for value in near}
        self._above |= {f"{name} {in_words(value)}": None for value in values if value not in near}
        own = {value: values[value][0] for value in near if len(values[value]) == 1 and len(series) > 1}
        quiet = [value for value in near if value not in own]
        lines = [Reference(f"{name} {in_words(value)}", value, index=index) for value, index in own.items()]
        # Groups of one look are one entry of the legend.
        entry = f"{name} {listed([in_words(value) for value in quiet])}"
        return lines + [Reference("" if number else entry, value) for number, value in enumerate(quiet)]

    @property
    def left_out(self) -> str:
        """Lines that are in no panel, for the caption."""
        missing = [label for label in self._above if label not in self._drawn]
        return f"Not drawn, far above the values: {listed(missing)}." if missing else ""
