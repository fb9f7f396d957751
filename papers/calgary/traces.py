"""Requests that come again, for caches that decide by what they hold: slices of traces by ProWGen.

A trace has the parameters of ProWGen's base case, 25,000 requests for 8,500 documents. The first 10,000 fill the caches
and are not measured, the next 5,000 are; the others only make the trace as long as its model wants it, since ProWGen is
not stationary: it ends with what is left of the popular documents. As the transfers of the paper were, the 5,000 are
"selected from a longer trace": of several traces the one is taken whose 5,000 are nearest to the paper's total and
median. Nothing is scaled or exchanged, and nothing is chosen by what caches make of it.

`arrange` takes apart what live caches do. In each step one thing more is left to chance, while each source keeps its
number of requests:

- ``live``: the caches decide, in the run;
- ``listed``: a request is served by who would have the document if fetching took no time;
- ``alike``: requests of nearly the same size exchange who serves them, so that hits forget what came before them;
- ``drawn``: any requests exchange who serves them, with a size threshold those on the same side of it, as in the paper;
- ``shuffled``: the drawn requests in any order, so that sizes forget what came before them too.

The capacities are those of ``live.toml``; they were chosen for the paper's hit ratios, by sending the requests through
caches without packets.

Left out: what the paper does not state, which is everything about its trace but number and sizes.

Source: Busari and Williamson, "ProWGen", Computer Networks 38(6), 2002; docs/models/prowgen.md.
"""

import functools
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.inputs.generate import family_scenario

from .published import CHILD, LARGEST, MEDIAN, PARENT, SERVER, SMALL, SOURCES, TOTAL, TRANSFERS

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]

REQUESTS, FILLING = 25_000, 10_000
"""Requests of a trace, and those that fill the caches before the measured ones."""

LOCALITIES = {"good": "dynamic", "average": "dynamic", "poor": "dynamic", "threshold": "dynamic", "static": "static"}
"""How the documents on ProWGen's stack are drawn, by case; `static` has the hit ratios of `average`."""

ARRANGEMENTS = ("live", "listed", "alike", "drawn", "shuffled")

_TRACES = 40  # chosen: the nearest is within some percent of the tables, and a seed takes half a second
_ALIKE = 10  # chosen: requests that are neighbours by size and exchange who serves them


@dataclass(frozen=True)
class Trace:
    """The requests of a trace up to the last one that is measured.

    Attributes:
        start_s: When each starts at one a second on average; the measured ones start after `FILLING` seconds.
        document: What each asks for.
        size: Its bytes.
    """

    start_s: NDArray[np.float64]
    document: NDArray[np.uint64]
    size: Ints

    def table(self, source: Ints | None = None, order: Ints | None = None) -> "pa.Table":
        """The request table: without sources for caches that decide, else with those that serve them.

        Args:
            source: Who serves each: a place in `SOURCES`.
            order: Which request starts at each time; None: as they are.
        """
        import pyarrow as pa

        place = np.arange(self.size.size) if order is None else order
        columns = {
            "start_s": self.start_s,
            "host": ["web"] * place.size,
            "object": [str(each) for each in self.document[place]],
            "request_bytes": np.zeros(place.size, np.int64),
            "response_bytes": self.size[place],
        }
        return pa.table(columns if source is None else {**columns, "source": [SOURCES[each] for each in source[place]]})


@functools.cache
def trace(seed: int, locality: str) -> Trace:
    """The trace of a seed, with ProWGen's stack `dynamic` or `static`."""
    drawn = [_requests(seed * _TRACES + number, locality) for number in range(_TRACES)]
    document, size = min(drawn, key=lambda each: _farness(each[1][FILLING:]))
    gap = np.random.Generator(np.random.PCG64([seed, *b"trace"])).exponential(size=FILLING + TRANSFERS)
    gap[:FILLING] *= FILLING / gap[:FILLING].sum()
    return Trace(gap.cumsum().round(9), document, size)


def _requests(seed: int, locality: str) -> tuple[NDArray[np.uint64], Ints]:
    """Documents and sizes of a trace by ProWGen."""
    parameters = {"requests": str(REQUESTS), "stack_mode": locality, "response_max": f"{LARGEST + 1} B"}
    scenario, rows = family_scenario("prowgen", seed=seed, parameters=parameters), FILLING + TRANSFERS
    columns = next(iter(_core.Prepared.of_family(scenario, seed)))
    return np.asarray(columns["object"], np.uint64)[:rows], np.asarray(columns["response_bytes"], np.int64)[:rows]


def _farness(size: Ints) -> float:
    return float(abs(size.sum() / TOTAL - 1) + abs(np.median(size) / MEDIAN - 1))


@functools.cache
def caches(case: str) -> tuple[Mapping[str, Any], ...]:
    """The caches of a case as ``live.toml`` has them, from the clients on."""
    described = tomllib.loads((Path(__file__).parent / "live.toml").read_text("utf-8"))
    (level,) = (each for each in described["sweep"]["factors"]["served"] if each["level"] == f"{case}, live")
    return tuple(level["set"]["cache"])


def served(requests: Trace, levels: Sequence[Mapping[str, Any]]) -> Ints:
    """Who would serve each request if fetching took no time: a place in `SOURCES`.

    Args:
        requests: All of them, from empty caches on.
        levels: Child and parent as scenarios have them; what the child misses goes to the parent.
    """
    source = np.full(requests.size.size, SERVER)
    for place, level in zip((CHILD, PARENT), levels, strict=True):
        missed = np.flatnonzero(source == SERVER)
        held = _core.Cache(json.dumps({key: level[key] for key in level if key not in ("node", "mode")}), 1)
        found = held.replay(requests.document[missed], requests.size[missed], np.zeros(missed.size, np.uint64))
        source[missed[found == 1]] = place
    return source


def arrange(seed: int, case: str, arrangement: str) -> "pa.Table":
    """The request table of a case in one of the `ARRANGEMENTS` but ``live``, which is the trace without sources."""
    requests = trace(seed, LOCALITIES[case])
    source, order = served(requests, caches(case)), np.arange(FILLING + TRANSFERS)
    random = np.random.Generator(np.random.PCG64([seed, *case.encode()]))
    measured = np.arange(FILLING, FILLING + TRANSFERS)
    sides = requests.size[measured] <= SMALL
    kinds = [measured[sides], measured[~sides]] if case == "threshold" else [measured]
    if arrangement == "alike":
        for kind in kinds:
            by_size = kind[np.argsort(requests.size[kind], kind="stable")]
            for begin in range(0, by_size.size, _ALIKE):
                _exchange(source, by_size[begin : begin + _ALIKE], random)
    elif arrangement in ("drawn", "shuffled"):
        for kind in kinds:
            _exchange(source, kind, random)
    if arrangement == "shuffled":
        random.shuffle(order[FILLING:])
    return requests.table(source, order)


def _exchange(source: Ints, among: Ints, random: np.random.Generator) -> None:
    source[among] = random.permutation(source[among])


def tables(seeds: Sequence[int]) -> "dict[str, Callable[[], pa.Table]]":
    """The request tables that ``live.toml`` and ``policies.toml`` name, by file name."""
    traces = {
        f"trace-{locality}-{seed}.parquet": functools.partial(_without_sources, seed, locality)
        for locality in sorted(set(LOCALITIES.values()))
        for seed in seeds
    }
    arranged = {
        f"trace-{case}-{arrangement}-{seed}.parquet": functools.partial(arrange, seed, case, arrangement)
        for case in LOCALITIES
        for arrangement in ARRANGEMENTS[1:]
        for seed in seeds
    }
    return {**traces, **arranged}


def _without_sources(seed: int, locality: str) -> "pa.Table":
    return trace(seed, locality).table()
