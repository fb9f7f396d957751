"""Hits of a cache against its capacity."""

import re
from collections.abc import Sequence
from typing import Any

from farweb.errors import FarwebError, ResultsError
from farweb.paint.figure import Axis, Figure
from farweb.plot.against import Drawing
from farweb.plot.catalogue import figure
from farweb.results.select import Where
from farweb.results.sweep import SweepTables

_CAPACITY = re.compile(r"cache\.(\d+)\.capacity")


@figure(
    "cache-size",
    of="sweep",
    shows="hit ratio, byte hit ratio, delayed hits and latency against the capacity of a cache",
    needs="a factor cache.N.capacity",
)
def cache_size(
    sweep: SweepTables,
    *,
    by: Sequence[str] | None = None,
    x: str | None = None,
    where: Where | None = None,
) -> Figure:
    """Hit ratios of a cache, and the latency that they are worth to users, against its capacity.

    Raises:
        FarwebError: The factor on the axis is no capacity of a cache, or unknown.
        ResultsError: No capacity varies, or no run has ended well.
    """
    name = x or _varied_capacity(sweep)
    if not (found := _CAPACITY.fullmatch(name)):
        raise FarwebError(
            f"plot cache-size is against the capacity of a cache, and {name} is none; try cache.0.capacity"
        )
    cache = int(found[1])
    drawing = Drawing(sweep, by, name, where)
    node = sweep.manifest["scenario"]["cache"][cache]["node"]
    return drawing.figure(
        f"Capacity of the cache at {node} – {sweep.name}",
        f"Shares of the requests, and of the bytes, that came to the cache at {node} and that it served from what it "
        "held (delayed hits apart), and the latency of all requests.",
        [drawing.quantity(*each) for each in _drawn(cache)],
        columns=2,
    )


def _drawn(cache: int) -> tuple[tuple[str, Axis, str], ...]:
    """The panels: metric, axis and title."""
    ratio: dict[str, Any] = {"low": 0, "high": 1}
    return (
        (f"cache_{cache}_hit_ratio", Axis("hit ratio", **ratio), "hits"),
        (f"cache_{cache}_byte_hit_ratio", Axis("byte hit ratio", **ratio), "bytes of hits"),
        (f"cache_{cache}_delayed_hit_ratio", Axis("delayed hit ratio", low=0), "delayed hits"),
        ("latency_mean_s", Axis("mean latency", "s", low=0), "latency"),
    )


def _varied_capacity(sweep: SweepTables) -> str:
    """The capacity that varies."""
    names = [factor.name for factor in sweep.design.factors if _CAPACITY.fullmatch(factor.name)]
    if not names:
        raise ResultsError(
            f'{sweep.path}: no capacity of a cache varies; give "cache.0.capacity" several levels in [sweep.factors]'
        )
    return names[0]
