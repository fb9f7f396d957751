"""Sends requests through caches: all caches in one pass, on as many threads as there are cores.

LRU caches that hold every object whole need no cache each: one stack of distances answers for all of them exactly
(`docs/models/cache.md`). Every other policy and capacity is a cache of its own.
"""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.cache.settings import Admission
from farweb.inputs.caching import BYPASS, INVALIDATE
from farweb.inputs.requests import Batch
from farweb.progress import Progress, unseen

_HIT, _STALE = 1, 2  # of the core
_NEVER = np.uint64(2**64 - 1)

STACK_FROM = 10
"""LRU capacities from which one stack is cheaper than a cache each: measured, it costs some ten caches."""


CacheKind = tuple[str, int, str]
"""Policy, capacity in bytes, and `serve` or `fetch` for requests of another size than the fresh copy."""


@dataclass
class Tally:
    """Counts of requests and of hits.

    Attributes:
        requests: How many.
        bytes: Sum of their sizes.
        hits: Requests for held and fresh objects.
        hit_bytes: Sum of their sizes.
        revalidated: Requests for held objects that had to be revalidated and were unchanged.
        revalidated_bytes: Sum of their sizes.
    """

    requests: int = 0
    bytes: int = 0
    hits: int = 0
    hit_bytes: int = 0
    revalidated: int = 0
    revalidated_bytes: int = 0


class _Replay(Protocol):
    """Something that requests go through."""

    def feed(self, batch: Batch, skip: int, following: NDArray[np.uint64] | None) -> None:
        """Take the requests of a batch, without counting the first `skip`."""


class _Cached:
    """One cache."""

    def __init__(self, policy: str, capacity: int, admission: Admission, seed: int) -> None:
        self._cache = _core.Cache(admission.config(policy, capacity), seed)
        self._looks_ahead = policy == "belady"
        self.tally = Tally()

    def feed(self, batch: Batch, skip: int, following: NDArray[np.uint64] | None) -> None:
        ahead = following if self._looks_ahead else None
        met = self._cache.replay(batch.object, batch.bytes, batch.time_ns, ahead, caching=batch.caching)[skip:]
        sizes, tally = batch.bytes[skip:], self.tally
        tally.requests += len(met)
        tally.bytes += int(sizes.sum())
        for code, name in ((_HIT, "hits"), (_STALE, "revalidated")):
            those = met == code
            of = f"{name.removesuffix('s')}_bytes"
            setattr(tally, name, getattr(tally, name) + int(np.count_nonzero(those)))
            setattr(tally, of, getattr(tally, of) + int(sizes[those].sum()))


class _LruStack:
    """LRU caches of several capacities, none of them smaller than any object."""

    def __init__(self, capacities: Sequence[int]) -> None:
        self._capacities = np.array(sorted(capacities), dtype=np.uint64)
        self._stack = _core.StackDistances()
        self._hits = np.zeros(len(capacities) + 1, dtype=np.int64)
        self._hit_bytes = np.zeros(len(capacities) + 1, dtype=np.int64)
        self._requests = self._bytes = 0

    def feed(self, batch: Batch, skip: int, following: NDArray[np.uint64] | None) -> None:
        del following
        distances = self._stack.replay(batch.object, batch.bytes, batch.caching)[skip:]
        sizes = batch.bytes[skip:]
        smallest = np.searchsorted(self._capacities, distances)  # the first capacity that is at least the distance
        self._requests += len(sizes)
        self._bytes += int(sizes.sum())
        self._hits += np.bincount(smallest, minlength=len(self._hits))
        # Floats sum exactly below 2^53, and a batch stays below.
        self._hit_bytes += np.bincount(smallest, sizes, len(self._hits)).astype(np.int64)

    def tallies(self) -> dict[int, Tally]:
        """The counts by capacity."""
        hits, hit_bytes = self._hits.cumsum(), self._hit_bytes.cumsum()
        return {
            int(capacity): Tally(self._requests, self._bytes, int(hits[place]), int(hit_bytes[place]))
            for place, capacity in enumerate(self._capacities)
        }


def replay(
    batches: Iterable[Batch],
    caches: Sequence[CacheKind],
    *,
    admission: Admission,
    stackable_from: int | None,
    skip: int,
    seed: int,
    following: NDArray[np.uint64] | None,
    progress: Progress = unseen,
) -> list[Tally]:
    """Send requests through caches, and count hits and revalidations.

    Args:
        batches: The requests.
        caches: Policy, capacity in bytes, and treatment of requests of another size.
        admission: Objects that they take in, and how long these are fresh.
        stackable_from: Smallest LRU capacity that a stack of distances can answer for (None: none).
        skip: Requests at the beginning that are not counted.
        seed: Root of the random streams.
        following: Number of the next request for the same object, by request, for policies that look ahead.
        progress: Called as requests are sent.
    """
    stacked = [kind for kind in caches if kind[0] == "lru" and stackable_from is not None and kind[1] >= stackable_from]
    stack = _LruStack([capacity for _, capacity, _ in stacked]) if len(stacked) >= STACK_FROM else None
    alone = {
        kind: _Cached(kind[0], kind[1], replace(admission, changed=kind[2]), seed)
        for kind in caches
        if stack is None or kind not in stacked
    }
    runs: list[_Replay] = [*([stack] if stack is not None else []), *alone.values()]
    sent = 0
    with ThreadPoolExecutor(min(len(runs), os.cpu_count() or 1)) as threads:
        for batch in batches:
            # An object takes at least a byte.
            batch = replace(batch, bytes=np.maximum(batch.bytes, 1))
            ahead = None if following is None else following[sent : sent + len(batch)]
            left_out = min(len(batch), max(0, skip - sent))
            for done in [threads.submit(run.feed, batch, left_out, ahead) for run in runs]:
                done.result()
            sent += len(batch)
            progress(sent, None, f"{sent:,} requests")
    tallies = {cache: cached.tally for cache, cached in alone.items()}
    if stack is not None:
        by_capacity = stack.tallies()
        tallies |= {kind: by_capacity[kind[1]] for kind in stacked}
    return [tallies[cache] for cache in caches]


def next_requests(objects: NDArray[np.uint64], caching: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """By request, the number of the next one that a copy of its object may serve, or 2^64 - 1 for none.

    No copy outlives a request that makes caches give it up.
    """
    known = np.flatnonzero(caching != BYPASS)
    order = known[np.argsort(objects[known], kind="stable")]
    again = (objects[order[1:]] == objects[order[:-1]]) & (caching[order[1:]] != INVALIDATE)
    following = np.full(len(objects), _NEVER)
    following[order[:-1][again]] = order[1:][again]
    return following
