"""Caches with and without packets: where each request ends before the next one begins, both serve the same ones."""

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb import Results, _core
from farweb.cache.settings import read_admission
from samples import Farweb, scenario_of

PATH = ("clients proxy origin", "100 Mbit/s, 1 ms", "100 Mbit/s, 5 ms")
AT_ONCE = '[origin]\nrelease = "at-once"\n'
SPLIT = scenario_of(*PATH, legs=["clients proxy http/1.0", "proxy origin http/1.0"], rest=AT_ONCE)
THROUGH = scenario_of(*PATH, legs=["clients origin http/1.0"], rest=AT_ONCE)

POLICIES = ("fifo", "lru", "lfu", "gds", "gdsf", "arc", "s3-fifo", "sieve", "w-tinylfu")
CAPACITY = 60_000
APART_S = 10


def zipf(*, resized: bool) -> list[tuple[int, int]]:
    """Object and size of requests: one object does not fit, one just so; one request in ten may bring a byte more."""
    source = random.Random(7)
    sizes = [int(source.lognormvariate(8, 1.3)) + 1 for _ in range(120)]
    sizes[3:5] = CAPACITY + 1, CAPACITY
    objects = source.choices(range(120), [1 / (1 + rank) for rank in range(120)], k=500)
    return [(each, sizes[each] + (resized and source.random() < 0.1)) for each in objects]


def compare(
    farweb: Farweb,
    asked: list[tuple[int, int]],
    scenario: str,
    policy: str,
    line: str = "",
    admit: Sequence[str] = (),
    ttl: str | None = None,
    changed: str = "serve",
) -> dict[str, Any]:
    """Send requests through a cache with packets and without, and hold one against the other; what the first counted.

    Args:
        farweb: The command line.
        asked: Object and size of each.
        scenario: A path with its legs.
        policy: Of the cache.
        line: Admission or freshness, as a scenario has it.
        admit: The same as `farweb workload cache` has it: admission,
        ttl: and freshness,
        changed: and requests for another size.
    """
    rows = (f"{APART_S * row},a.example,300,{size},{object_}" for row, (object_, size) in enumerate(asked))
    Path("requests.csv").write_text("\n".join(("start_s,host,request_bytes,response_bytes,object", *rows)))
    cache = f'\n[[cache]]\nnode = "proxy"\npolicy = "{policy}"\ncapacity = "{CAPACITY} B"\n{line}\n'
    Path("path.toml").write_text(scenario + cache)

    options = [*(word for rule in admit for word in ("--admit", rule)), *(("--ttl", ttl) if ttl else ())]
    options += ["--changed", changed]
    asking = ("workload", "cache", "requests.csv", "--policy", policy, "--capacity", f"{CAPACITY} B", "--json")
    (shown,) = farweb(*asking, *options).json()["results"]
    bare = _core.Cache(read_admission(admit, ttl, changed).config(policy, CAPACITY), 1)
    objects, sizes = (np.array(column) for column in zip(*asked, strict=True))
    times = np.arange(len(asked), dtype=np.uint64) * np.uint64(APART_S * 10**9)
    met = bare.replay(objects.astype(np.uint64), sizes, times)

    assert farweb("run", "path.toml", "--out", "r", "--quiet").code == 0
    run = Results.open("r")
    requests = run.requests.sort("request")
    latencies: list[int] = (requests["end_ns"] - requests["start_ns"]).to_list()
    assert max(latencies) < APART_S * 10**9, "one ends before the next one begins"
    assert (requests["served_by"] == "proxy").to_list() == (met > 0).tolist()
    (kept,) = run.caches.rows(named=True)
    assert kept["delayed_hits"] == 0
    assert (kept["objects"], kept["bytes"]) == (bare.objects, bare.bytes)
    assert (kept["requests"], kept["request_bytes"]) == (shown["requests"], shown["request_bytes"])
    # With packets a hit that had to be asked about is a hit.
    assert kept["revalidations"] == shown["revalidated_ratio"] * shown["requests"]
    assert kept["hits"] == shown["hits"] + kept["revalidations"]
    revalidated_bytes = shown["revalidated_byte_ratio"] * shown["request_bytes"]
    assert kept["hit_bytes"] == pytest.approx(shown["hit_bytes"] + revalidated_bytes, abs=0.5)
    return kept


@pytest.mark.parametrize("legs", [SPLIT, THROUGH], ids=["split", "cut-through"])
@pytest.mark.parametrize("policy", POLICIES)
def test_one_by_one_requests_are_served_as_without_packets(
    folder: Path, farweb: Farweb, policy: str, legs: str
) -> None:
    kept = compare(farweb, zipf(resized=True), legs, policy)
    assert 100 < kept["hits"] < 400


@pytest.mark.parametrize(
    ("line", "admit", "ttl"),
    [
        ('ttl = "95 s"', [], "95 s"),
        ("admit = { second_hit = true }", ["second-hit"], None),
        ('admit = { min = "500 B", max = "10 kB" }', ["min=500 B", "max=10 kB"], None),
    ],
    ids=["ttl", "second hit", "sizes"],
)
def test_admission_and_freshness_mean_the_same(
    folder: Path, farweb: Farweb, line: str, admit: list[str], ttl: str | None
) -> None:
    kept = compare(farweb, zipf(resized=False), SPLIT, "lru", line, admit, ttl)
    assert 50 < kept["hits"] < 400
    assert (kept["revalidations"] > 50) == (ttl is not None)


@pytest.mark.parametrize(
    ("legs", "ttl"), [(SPLIT, None), (SPLIT, "95 s"), (THROUGH, None)], ids=["split", "split, ttl", "cut-through"]
)
def test_changed_objects_mean_the_same(folder: Path, farweb: Farweb, legs: str, ttl: str | None) -> None:
    hits = {}
    for changed in ("serve", "fetch"):
        line = f'changed = "{changed}"' + (f'\nttl = "{ttl}"' if ttl else "")
        kept = compare(farweb, zipf(resized=True), legs, "lru", line, ttl=ttl, changed=changed)
        hits[changed] = kept["hits"]
        shutil.rmtree("r")
    assert 50 < hits["fetch"] < hits["serve"]
