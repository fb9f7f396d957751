"""Rates and queue limits of links, as the scenarios of a sweep have them."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from farweb.errors import FarwebError
from farweb.results.sweep import SweepTables
from farweb.text.parse import parse


class Links:
    """Rates (bit/s) and queue limits (bytes) of links, as the scenarios of a sweep's points have them."""

    def __init__(self, sweep: SweepTables) -> None:
        self._sweep = sweep
        done = sweep.runs["status"] == "done"
        self._runs = dict(zip(sweep.points.filter(done), sweep.runs["run"].filter(done), strict=True))

    @functools.cached_property
    def number(self) -> int:
        """Number of links of the path."""
        return len(self._sweep.manifest["scenario"]["path"]["link"])

    def rate(self, points: Sequence[int], link: int, direction: str) -> float | None:
        """The largest rate of a link over time, without variation, in bit/s.

        None when it differs between points, or is in a file.
        """
        return self._same([self._largest(point, link, direction) for point in points])

    def queue(self, points: Sequence[int], link: int, direction: str) -> float | None:
        """The queue limit of a link in bytes; None when it has none, counts packets, or differs between the points."""
        return self._same([self._held(point, link, direction) for point in points])

    def chosen(self, wanted: int | None) -> int:
        """The number of the link that is drawn: the one named, or the busiest.

        Raises:
            FarwebError: There is no such link.
        """
        if wanted is None:
            return int(np.argmax([self._busy(link) for link in range(self.number)]))
        if wanted >= self.number:
            raise FarwebError(f"{self._sweep.path}: there is no link {wanted}; links: 0 to {self.number - 1}")
        return wanted

    def _busy(self, link: int) -> float:
        names = [f"link_{link}_{direction}_utilisation" for direction in ("up", "down")]
        there = [self._sweep.runs[name].mean() for name in names if name in self._sweep.metrics]
        return max((float(mean or 0) for mean in there), default=0.0)  # type: ignore[arg-type]

    def _same(self, values: Sequence[float | None]) -> float | None:
        return values[0] if len(set(values)) == 1 else None

    def _largest(self, point: int, link: int, direction: str) -> float | None:
        own = self._quantity(point, link, direction, "rate", "bit/s")
        both = self._path(point)["link"][link]
        if not {"schedule", "trace"}.isdisjoint(both[direction]):
            return None  # the file knows
        steps = both[direction].get("steps") or []
        factor = both["handover"]["rate"][1] if both.get("handover") else 1.0
        rates = (float(parse(step["rate"]).number) for step in steps if step.get("rate"))
        return own and max(own, *rates, 0.0) * factor

    def _held(self, point: int, link: int, direction: str) -> float | None:
        """The queue limit in bytes, a time at the link's rate at the start."""
        time = self._quantity(point, link, direction, "queue", "s")
        if time is None:
            return self._quantity(point, link, direction, "queue", "B")
        rate = self._quantity(point, link, direction, "rate", "bit/s")
        return rate and rate * time / 8

    def _quantity(self, point: int, link: int, direction: str, key: str, base: str) -> float | None:
        found = self._path(point)["link"][link][direction].get(key, "unlimited")
        text = str(found if isinstance(found, str) else found.get("limit", "unlimited"))
        quantity = None if text == "unlimited" else parse(text)
        return float(quantity.number) if quantity is not None and quantity.base == base else None

    @functools.cache  # noqa: B019 - lives as long as a figure is described
    def _path(self, point: int) -> Mapping[str, Any]:
        if point not in self._runs:
            return dict(self._sweep.manifest["scenario"]["path"])
        path: Mapping[str, Any] = self._sweep.part(self._runs[point]).manifest["scenario"]["path"]
        return path
