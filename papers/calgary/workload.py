"""The workload of the study: 5,000 transfers that meet the paper's tables 2 to 4, one set for each seed.

The paper's requests are a slice of a trace by WebTraff, which is not available. Here sizes are drawn as its generator
ProWGen draws those of documents (a lognormal body cut off where a Pareto tail begins), and who serves each is drawn by
the hit ratios. What the tables fix is met in two steps that disturb the draw as little as they can:

- of many draws the one nearest to the table is taken, so that little is left to adjust;
- what is left is adjusted in as few places as possible: the body is scaled to the median (by up to some percent), the
  tail stretched to the total (its index changes by some percent), and a few pairs of transfers change places between
  two sources until each has its bytes.

The table of the size threshold adds up to 8 bytes less than the total: the server has them.

Left out: documents that are asked for again, so that who serves a transfer does not depend on its size or on those
before (`traces` has them), and time of day: gaps are exponential.

Sources: Williamson and Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003, tables 2 to 4;
Busari and Williamson, "ProWGen", Computer Networks 38(6), 2002, for the model of sizes and its parameters.
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from . import traces
from .published import BYTES, CHILD, COUNTS, LARGEST, MEDIAN, PARENT, SERVER, SMALL, SMALLEST, SOURCES, TOTAL, TRANSFERS

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
Random = np.random.Generator

REQUEST_BYTES = 300
"""Of a request, where requests travel; chosen: as browsers of the study's time sent them."""

TAIL_BEGINS, TAIL_INDEX, TAIL_SHARE = 10_000, 1.322, 0.22
BODY_MEAN, BODY_DEVIATION = 7_000, 11_000
_DRAWS = 400  # chosen: the nearest is within a percent of the tables, and a seed takes a fraction of a second


@dataclass(frozen=True)
class Workload:
    """5,000 transfers.

    Attributes:
        gap: Time to the transfer before at one transfer a second on average, in s; divide by the arrival rate.
        size: Bytes of each.
        source: Who serves each, by case: a place in `SOURCES`.
    """

    gap: NDArray[np.float64]
    size: Ints
    source: Mapping[str, Ints]

    def table(self, case: str) -> "pa.Table":
        """The request table of a case at one transfer a second."""
        import pyarrow as pa

        return pa.table(
            {
                "start_s": self.gap.cumsum().round(9),
                "host": ["web"] * TRANSFERS,
                "request_bytes": np.zeros(TRANSFERS, np.int64),
                "response_bytes": self.size,
                "source": [SOURCES[source] for source in self.source[case]],
            }
        )

    def requests(self, case: str) -> "pa.Table":
        """The request table of a case with requests that travel."""
        table = self.table(case)
        place = table.schema.get_field_index("request_bytes")
        return table.set_column(place, "request_bytes", [np.full(TRANSFERS, REQUEST_BYTES)])

    def clustered(self, strength: float, seed: int, among: "NDArray[np.bool_] | None" = None) -> "Workload":
        """The same transfers at the same times in an order in which large ones come together.

        A hidden state wanders from one place in the order to the next with correlation `strength`; the places where it
        is highest get the large transfers. Large and small ones keep their order among themselves. With r the state
        forgets within some 1 / (1 - r) transfers.

        Args:
            strength: 0 ≤ strength < 1; with 0 nothing moves.
            seed: Of the hidden state.
            among: Which transfers change places with each other; None: all.
        """
        if strength == 0:
            return self
        places = np.arange(TRANSFERS) if among is None else np.flatnonzero(among)
        large = self.size[places] >= TAIL_BEGINS
        state = _wandering(strength, large, seed)
        there = np.zeros(places.size, bool)
        there[np.argsort(state, kind="stable")[places.size - large.sum() :]] = True
        order = np.arange(TRANSFERS)
        order[places[there]], order[places[~there]] = places[large], places[~large]
        return replace(self, size=self.size[order], source={case: of[order] for case, of in self.source.items()})


def _wandering(strength: float, large: NDArray[np.bool_], seed: int) -> NDArray[np.float64]:
    """A normal state with this correlation from place to place; with a small one it is high where `large` says."""
    drawn = np.sort(_random(seed, "clusters").standard_normal(large.size))
    state = np.empty(large.size)
    for name, those in (("low", ~large), ("high", large)):
        own, drawn = drawn[: those.sum()], drawn[those.sum() :]
        _random(seed, name).shuffle(own)
        state[those] = own
    for place in range(1, large.size):
        state[place] = strength * state[place - 1] + math.sqrt(1 - strength**2) * state[place]
    return state


@functools.cache
def workload(seed: int) -> Workload:
    """The transfers of a seed; those of seed 1 are the study's, the others show what chance does."""
    size = _sizes(_random(seed, "sizes"))
    source = {case: _sources(_random(seed, case), size, case) for case in COUNTS}
    return Workload(_random(seed, "gaps").exponential(size=TRANSFERS), size, source)


def _random(seed: int, what: str) -> Random:
    """A stream of its own for each thing that is drawn."""
    return np.random.Generator(np.random.PCG64([seed, *what.encode()]))


def _sizes(random: Random) -> Ints:
    """Sizes with the total, smallest, median and largest of the table."""
    drawn = [_prowgen(random) for _ in range(_DRAWS)]
    size = min(drawn, key=lambda each: abs(each.sum() / TOTAL - 1) + abs(np.median(each) / MEDIAN - 1))
    order = np.argsort(size, kind="stable")
    body = size < TAIL_BEGINS
    size[body] = np.clip(np.rint(size[body] * (MEDIAN / np.median(size))), SMALLEST, TAIL_BEGINS - 1)
    size[order[TRANSFERS // 2 - 1 : TRANSFERS // 2 + 1]] = MEDIAN
    size[order[0]], size[order[-1]] = SMALLEST, LARGEST
    tail = order[body.sum() : -1]
    size[tail] = _stretched(size[tail], TOTAL - int(size.sum() - size[tail].sum()))
    return size


def _prowgen(random: Random) -> Ints:
    """Sizes as ProWGen draws them, between the smallest and the largest of the table."""
    spread = math.log(1 + (BODY_DEVIATION / BODY_MEAN) ** 2)
    size = np.zeros(TRANSFERS, np.int64)
    tail = random.random(TRANSFERS) < TAIL_SHARE
    while (missing := (size < SMALLEST) | (size > LARGEST) | (~tail & (size >= TAIL_BEGINS))).any():
        body = random.lognormal(math.log(BODY_MEAN) - spread / 2, math.sqrt(spread), TRANSFERS)
        beyond = TAIL_BEGINS * (1 - random.random(TRANSFERS)) ** (-1 / TAIL_INDEX)
        size[missing] = np.minimum(np.where(tail, beyond, body), LARGEST + 1).astype(np.int64)[missing]
    return size


def _stretched(tail: Ints, total: int) -> Ints:
    """Ascending sizes of the tail, stretched from where it begins until they sum up to `total`."""

    def stretched(power: float) -> Ints:
        longer = TAIL_BEGINS * (tail / TAIL_BEGINS) ** power
        return np.minimum(longer, LARGEST).astype(np.int64)

    low, high = 0.5, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if stretched(middle).sum() <= total else (low, middle)
    found = stretched(low)
    left, place = total - int(found.sum()), -1
    while left:  # less than a byte a transfer was lost by rounding down
        more = min(left, LARGEST - int(found[place]), 1)
        found[place], left, place = found[place] + more, left - more, place - 1
    return found


def _sources(random: Random, size: Ints, case: str) -> Ints:
    """Who serves each transfer: at random, with the counts of the case and, where they are told, the bytes."""
    kinds = [size <= SMALL, size > SMALL] if case == "threshold" else [np.full(TRANSFERS, True)]
    drawn = [_drawn(random, kinds, case) for _ in range(_DRAWS if case in BYTES else 1)]
    if case not in BYTES:
        return drawn[0]
    wanted = np.array(BYTES[case])
    source = min(drawn, key=lambda each: float(np.abs(_bytes(size, each) / wanted - 1).sum()))
    for cache in (PARENT, CHILD):
        _exchange(size, source, cache, BYTES[case][cache])
    return source


def _drawn(random: Random, kinds: list[NDArray[np.bool_]], case: str) -> Ints:
    """One assignment: the caches of each kind of transfer take theirs, the server has the others."""
    source = np.full(TRANSFERS, SERVER)
    for number, kind in enumerate(kinds):
        caches = (PARENT, CHILD) if len(kinds) == 1 else ((CHILD, PARENT)[number],)
        places, begin = random.permutation(np.flatnonzero(kind)), 0
        for cache in caches:
            end = begin + COUNTS[case][cache]
            source[places[begin:end]], begin = cache, end
    return source


def _bytes(size: Ints, source: Ints) -> NDArray[np.float64]:
    return np.bincount(source, size.astype(float), len(SOURCES)).astype(float)


def _exchange(size: Ints, source: Ints, cache: int, wanted: int) -> None:
    """Let transfers of a cache and of the server change places, pair by pair, until the cache has its bytes.

    Of all pairs the one is taken that leaves least to be done. Both are small or both large, which changes nothing
    without a threshold but that fewer pairs are looked at.
    """
    while lacking := wanted - int(size[source == cache].sum()):
        best: tuple[int, int, int] | None = None
        for kind in (size <= SMALL, size > SMALL):
            mine, theirs = (np.flatnonzero(kind & (source == each)) for each in (cache, SERVER))
            if not mine.size or not theirs.size:
                continue
            theirs = theirs[np.argsort(size[theirs], kind="stable")]
            for step in (-1, 0):
                place = np.searchsorted(size[theirs], size[mine] + lacking) + step
                other = theirs[np.clip(place, 0, theirs.size - 1)]
                left = np.abs(lacking - (size[other] - size[mine]))
                at = int(np.argmin(left))
                if best is None or left[at] < best[0]:
                    best = int(left[at]), int(mine[at]), int(other[at])
        assert best is not None and best[0] < abs(lacking), "there is always a pair that helps"
        source[best[1]], source[best[2]] = SERVER, cache


def unloaded() -> "pa.Table":
    """Transfers of 1 to 100 packets from each source, so far apart that each is alone."""
    import pyarrow as pa

    packets = np.tile(np.arange(1, 101), len(SOURCES))
    return pa.table(
        {
            "start_s": 10.0 * np.arange(packets.size),
            "host": ["web"] * packets.size,
            "request_bytes": np.zeros(packets.size, np.int64),
            "response_bytes": 512 * packets,
            "source": [source for source in SOURCES for _ in range(100)],
        }
    )


def _table(case: str, seed: int, strength: float = 0.0, source: int | None = None) -> "Callable[[], pa.Table]":
    """What makes a table; with a source, its transfers alone come together."""

    def made() -> "pa.Table":
        drawn = workload(seed)
        among = None if source is None else drawn.source[case] == source
        return drawn.clustered(strength, seed, among).table(case)

    return made


def _requests(case: str, seed: int) -> "Callable[[], pa.Table]":
    return lambda: workload(seed).requests(case)


SEEDS = tuple(range(1, 9))
STRENGTHS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98)
CLUSTERS = {"all": ("good", None), "child": ("good", CHILD), "threshold": ("threshold", None)}
"""Whose large transfers come together, with the case that it is tried in."""

TABLES = {
    **{f"{case}-{seed}.parquet": _table(case, seed) for case in COUNTS for seed in SEEDS},
    **{
        f"clusters-{name}-{strength:g}-{seed}.parquet": _table(case, seed, strength, source)
        for name, (case, source) in CLUSTERS.items()
        for strength in STRENGTHS
        for seed in SEEDS
    },
    **{f"requests-{case}-{seed}.parquet": _requests(case, seed) for case in BYTES for seed in SEEDS},
    **traces.tables(SEEDS),
    "unloaded.parquet": unloaded,
}
"""The request tables that scenarios name, as `farweb reproduce` writes them."""
