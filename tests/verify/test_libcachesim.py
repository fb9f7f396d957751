"""The same requests through farweb's caches and through libCacheSim: every single hit is compared.

libCacheSim has an environment of its own, which `make verify` makes. What differs where a policy is not the same here
and there, docs/models/cache.md says.
"""

import heapq
import json
import lzma
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from farweb import _core
from farweb.cache.replay import next_requests

pytestmark = pytest.mark.slow(reason="libCacheSim")

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared/data/cache"
LIBCACHESIM = os.environ.get("LIBCACHESIM", str(ROOT / "build/libcachesim/bin/python"))

SAME_WITH_SIZES = ("fifo", "lru", "sieve", "gdsf", "s3-fifo", "belady")
SAME_WITH_UNITS = (*SAME_WITH_SIZES, "arc")
SHARES = (0.01, 0.1)

Hits = NDArray[np.bool_]


@dataclass(frozen=True)
class Trace:
    """Requests: objects, and their sizes at each request."""

    object: NDArray[np.uint64]
    bytes: NDArray[np.int64]

    def with_units(self) -> "Trace":
        return replace(self, bytes=np.ones(len(self.bytes), np.int64))

    def with_first_sizes(self) -> "Trace":
        """Every object keeps the size that it has first."""
        _, first, which = np.unique(self.object, return_index=True, return_inverse=True)
        return replace(self, bytes=self.bytes[first][which])

    def footprint(self) -> int:
        _, first = np.unique(self.object, return_index=True)
        return int(self.bytes[first].sum())

    def capacity(self, share: float) -> int:
        """A share of the footprint, but large enough that no object exceeds a tenth of it."""
        tenfold = 11 * int(self.bytes.max()) if self.bytes.max() > 1 else 10
        return max(int(share * self.footprint()), tenfold)


def unpacked(name: str) -> bytes:
    with lzma.open(SHARED / name) as file:
        return file.read()


def bu98() -> Trace:
    """A proxy of Boston University, 1998; sizes of some objects change."""
    columns = np.array(unpacked("bu98-adaptsize-request.trace.xz").split(), np.int64).reshape(-1, 3)
    return Trace(columns[:, 1].astype(np.uint64), columns[:, 2].copy())


def cloud_physics() -> Trace:
    """Blocks read and written by a virtual machine."""
    record = np.dtype([("time", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])
    records = np.frombuffer(unpacked("cloudPhysicsIO.oracleGeneral.bin.xz"), record)
    return Trace(records["object"].astype(np.uint64), records["bytes"].astype(np.int64))


def web12() -> Trace:
    """Pages of a shop."""
    objects = np.frombuffer(unpacked("cache2k-web12.trace.xz"), ">u4").astype(np.uint64)
    return Trace(objects, np.ones(len(objects), np.int64))


def zipf(requests: int, objects: int, exponent: float) -> Trace:
    """Independent requests by Zipf's law, for objects with lognormal sizes."""
    random = np.random.default_rng(1998)
    weights = np.arange(1, objects + 1) ** -exponent
    asked = random.choice(objects, requests, p=weights / weights.sum())
    sizes = 1 + random.lognormal(8, 1.5, objects).clip(max=200_000).astype(np.int64)
    return Trace(asked.astype(np.uint64), sizes[asked])


TRACES: dict[str, Callable[[], Trace]] = {
    "bu98": bu98,
    "cloudphysics": cloud_physics,
    "zipf 0.9": lambda: zipf(250_000, 25_000, 0.9),
    "zipf 0.7": lambda: zipf(150_000, 30_000, 0.7),
}
UNIT_TRACES: dict[str, Callable[[], Trace]] = {
    **{f"{name} units": lambda make=make: make().with_units() for name, make in TRACES.items()},  # type: ignore[misc]
    "web12": web12,
}


LibCacheSim = Callable[[str, int, Trace], Hits]


@cache
def trace(name: str) -> Trace:
    return {**TRACES, **UNIT_TRACES}[name]()


def of_farweb(policy: str, capacity: int, requests: Trace, **admit: str) -> Hits:
    config = json.dumps({"policy": policy, "capacity": f"{capacity} B", "admit": admit})
    store = np.zeros(len(requests.object), np.uint8)
    following = next_requests(requests.object, store)
    times = np.zeros(len(requests.object), np.uint64)
    met = _core.Cache(config, 1).replay(requests.object, requests.bytes, times, following)
    return np.asarray(met == 1)


@pytest.fixture(scope="module")
def of_libcachesim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibCacheSim]:
    folder, script = tmp_path_factory.mktemp("libcachesim"), Path(__file__).with_name("libcachesim_hits.py")
    pipe = subprocess.PIPE
    with subprocess.Popen([LIBCACHESIM, script], cwd=folder, stdin=pipe, stdout=pipe, text=True) as process:

        def hits(policy: str, capacity: int, requests: Trace) -> Hits:
            following = next_requests(requests.object, np.zeros(len(requests.object), np.uint8))
            following = np.minimum(following, np.uint64(2**63 - 1)).astype(np.int64)
            np.savez(folder / "requests.npz", object=requests.object, bytes=requests.bytes, next=following)
            assert process.stdin and process.stdout, "they are pipes"
            print(policy, capacity, file=process.stdin, flush=True)
            assert process.stdout.readline() == "done\n", "libCacheSim failed"
            return np.asarray(np.load(folder / "hits.npy"))

        yield hits


def same(ours: Hits, theirs: Hits) -> None:
    different = np.flatnonzero(ours != theirs)
    assert len(different) == 0, f"{len(different)} of {len(ours)} differ, the first is request {different[0]}"
    assert 0 < ours.sum() < len(ours)


def test_half_a_million_requests_are_compared() -> None:
    assert sum(len(trace(name).object) for name in TRACES) > 500_000
    assert sum(len(trace(name).object) for name in UNIT_TRACES) > 500_000


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("policy", SAME_WITH_SIZES)
@pytest.mark.parametrize("name", TRACES)
def test_hits_are_the_same_with_the_sizes_of_objects(
    name: str, policy: str, share: float, of_libcachesim: LibCacheSim
) -> None:
    requests = trace(name)
    capacity = requests.capacity(share)
    same(of_farweb(policy, capacity, requests), of_libcachesim(policy, capacity, requests))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("policy", SAME_WITH_UNITS)
@pytest.mark.parametrize("name", UNIT_TRACES)
def test_hits_are_the_same_with_unit_sizes(name: str, policy: str, share: float, of_libcachesim: LibCacheSim) -> None:
    requests = trace(name)
    capacity = requests.capacity(share)
    same(of_farweb(policy, capacity, requests), of_libcachesim(policy, capacity, requests))


@pytest.mark.parametrize("policy", ["fifo", "lru", "sieve", "gdsf", "belady"])
def test_hits_are_the_same_in_a_cache_that_objects_bypass(policy: str, of_libcachesim: LibCacheSim) -> None:
    requests = trace("bu98")
    capacity = 1_000_003
    assert requests.bytes.max() > capacity
    same(of_farweb(policy, capacity, requests), of_libcachesim(policy, capacity, requests))


def test_s3_fifo_is_the_same_where_large_objects_are_not_admitted(of_libcachesim: LibCacheSim) -> None:
    requests = trace("bu98").with_first_sizes()
    capacity = 1_000_003
    assert requests.bytes.max() > capacity // 10
    assert capacity // 10 not in requests.bytes
    theirs = of_libcachesim("s3-fifo", capacity, requests)
    same(of_farweb("s3-fifo", capacity, requests, max=f"{capacity // 10} B"), theirs)
    assert (of_farweb("s3-fifo", capacity, requests) != theirs).any()


def test_arc_moves_its_target_by_the_bytes_of_an_object(of_libcachesim: LibCacheSim) -> None:
    """With equal sizes that are not one byte the two differ: here only the number of objects that fit matters."""
    requests = trace("zipf 0.9 units")
    capacity = requests.capacity(0.01)
    pages = replace(requests, bytes=requests.bytes * 4096)
    ours = of_farweb("arc", capacity * 4096, pages)
    same(ours, of_libcachesim("arc", capacity, requests))
    assert (ours != of_libcachesim("arc", capacity * 4096, pages)).any()


def lfu(capacity: int, requests: Trace, *, mean_max: float) -> Hits:
    """LFU in a plain way: a heap by count and order, counts halved when their mean exceeds `mean_max`."""
    held: dict[int, tuple[int, int, int]] = {}  # count, order, size
    heap: list[tuple[int, int, int]] = []
    hits, order, used, counts = [], 0, 0, 0
    for object_, size in zip(requests.object.tolist(), requests.bytes.tolist(), strict=True):
        order += 1
        hits.append(object_ in held)
        if object_ in held:
            count, _, size = held[object_]
            counts += 1
        elif size <= capacity:
            while used + size > capacity:
                count, age, oldest = heapq.heappop(heap)
                if oldest in held and held[oldest][:2] == (count, age):
                    counts -= count
                    used -= held.pop(oldest)[2]
            count, counts, used = 0, counts + 1, used + size
        else:
            continue
        held[object_] = (count + 1, order, size)
        heapq.heappush(heap, (count + 1, order, object_))
        if counts > mean_max * len(held):
            by_count = sorted(held, key=lambda each: held[each][:2])
            held = {each: ((held[each][0] + 1) // 2, order + n, held[each][2]) for n, each in enumerate(by_count)}
            order += len(held)
            counts = sum(count for count, _, _ in held.values())
            heap = sorted((count, age, each) for each, (count, age, _) in held.items())
    return np.array(hits)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", [*TRACES, "web12"])
def test_lfu_differs_by_its_ageing_alone(name: str, share: float, of_libcachesim: LibCacheSim) -> None:
    requests = trace(name)
    capacity = requests.capacity(share)
    same(of_farweb("lfu", capacity, requests), lfu(capacity, requests, mean_max=10))
    same(lfu(capacity, requests, mean_max=np.inf), of_libcachesim("lfu", capacity, requests))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", UNIT_TRACES)
def test_w_tinylfu_has_about_the_same_hit_ratio(name: str, share: float, of_libcachesim: LibCacheSim) -> None:
    requests = trace(name)
    capacity = requests.capacity(share)
    ours, theirs = of_farweb("w-tinylfu", capacity, requests), of_libcachesim("w-tinylfu", capacity, requests)
    assert abs(ours.mean() - theirs.mean()) < 0.03
