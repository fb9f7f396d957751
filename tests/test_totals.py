"""Totals of links and caches from manifests made by hand, and of failures from a table."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from farweb.files.columns import NULL_CODE, NULL_INT
from farweb.results.totals import MEANINGS, caches_of, failures_of, links_of, reasons_of
from sample_results import SECOND, Row

MS = 1_000_000
NODES = ["clients", "edge", "shield", "origin"]


def link(number: int, direction: str, interval_s: int) -> Row:
    kept = {"busy": 0.25, "packets": 9, "drops": 1, "queue_bytes_mean": 5.5, "queue_bytes_max": 3000}
    return {"link": number, "direction": direction, "interval_ns": interval_s * SECOND, "bytes": 250_000, **kept}


def test_links_run_from_the_clients_up_and_carry_bits_a_second() -> None:
    links = [link(1, "up", 2), link(1, "down", 2), link(2, "down", 0), link(2, "down", 1)]
    up, down, timeless, second = links_of({"scenario": {"path": {"nodes": NODES}}, "links": links})
    assert (up.from_node, up.to_node, up.rate_bps) == ("edge", "shield", 1e6)
    assert (up.link, up.direction, up.packets, up.drops) == (1, "up", 9, 1)
    assert (up.marks, up.cells()[4]) == (0, "1")
    assert replace(up, marks=1200).cells()[4] == "1; 1,200 marked"
    assert (up.busy, up.queue_bytes_mean, up.queue_bytes_max) == (0.25, 5.5, 3000)
    assert down == replace(up, direction="down", from_node="shield", to_node="edge")
    assert second == replace(timeless, rate_bps=2e6)
    assert (timeless.from_node, timeless.to_node, timeless.rate_bps) == ("origin", "shield", 0.0)


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ({}, ""),
        ({"drops_full": 0, "drops_aqm": 1234, "drops_loss": 0}, ""),
        ({"drops_full": 1200, "drops_aqm": 0, "drops_loss": 34}, "1,200 by a full queue, 34 by loss"),
        ({"drops_full": 1, "drops_aqm": 1200, "drops_loss": 33}, "1 by a full queue, 1,200 by AQM, 33 by loss"),
    ],
)
def test_drops_are_told_by_reason_where_there_are_two(reasons: Row, said: str) -> None:
    assert reasons_of(reasons) == said


def of_caches(scenario: list[Row], measured: list[Row]) -> Any:
    return SimpleNamespace(
        manifest={"scenario": {"path": {"nodes": NODES}, "cache": scenario}, "measured": {"caches": measured}}
    )


def served(cache: int, requests: int, **more: int) -> Row:
    counts = {"hits": 0, "delayed_hits": 0, "bypasses": 0, "revalidations": 0, "request_bytes": 0, "hit_bytes": 0}
    return {"cache": cache, "requests": requests, **counts, "objects": 7, "bytes": 18_000, **more}


def test_caches_come_from_the_clients_on_with_their_shares() -> None:
    policy = {"policy": "lru", "capacity": "20 kB"}
    scenario: list[Row] = [
        {"node": "origin", **policy, "siblings": 2},
        {"node": "clients", "hit_ratio": 0.3},
        {"node": "shield"},
    ]
    origin = served(0, 8, hits=4, delayed_hits=1, revalidations=2, request_bytes=1000, hit_bytes=300)
    measured = [origin, served(1, 1, hits=1), served(2, 0), served(3, 1, request_bytes=1)]
    found = caches_of(of_caches([*scenario, {"node": "edge", **policy, "siblings": 1}], measured))
    assert [(cache.node, cache.holds) for cache in found] == [
        ("clients", "30 %, drawn"),
        ("edge", "20 kB, lru"),
        ("shield", "as the table lists"),
        ("origin", "2 × 20 kB, lru"),
    ]
    *_, last = found
    assert (last.requests, last.hits, last.delayed_hits, last.revalidations) == (8, 4, 1, 2)
    assert (last.objects, last.bytes) == (7, 18_000)
    ratios = [(cache.hit_ratio, cache.delayed_hit_ratio, cache.byte_hit_ratio) for cache in found]
    assert ratios == [(1.0, 0.0, None), (0.0, 0.0, 0.0), (None, None, None), (0.5, 0.125, 0.3)]
    assert caches_of(of_caches([], [])) == ()


def failing(rows: list[tuple[int, str | None, int | None]], warmup_ns: int) -> Any:
    start, cause, failed = zip(*rows, strict=True)
    words = [*dict.fromkeys(each for each in cause if each)]
    columns = {
        "start_ns": np.array(start),
        "failure": (np.array([words.index(each) if each else NULL_CODE for each in cause]), words),
        "failed_ns": np.array([NULL_INT if each is None else each for each in failed]),
    }
    table = SimpleNamespace(columns=lambda names: iter([columns]))
    return SimpleNamespace(table=lambda name: table, warmup_ns=warmup_ns)


def test_failures_are_counted_by_cause_after_the_warm_up() -> None:
    rows = [
        (4_999 * MS, "reset", 9_000 * MS),
        (5_000 * MS, "run ended", 6_000 * MS),
        (6_000 * MS, None, None),
        (7_000 * MS, "reset", 7_100 * MS),
        (8_000 * MS, "reset", 8_400 * MS),
    ]
    reset, ended = failures_of(failing(rows, 5_000 * MS), 4)
    assert (reset.cause, reset.requests, reset.share, reset.meaning) == ("reset", 2, 0.5, MEANINGS["reset"])
    assert reset.after_p50_s == pytest.approx(0.25)
    assert (ended.cause, ended.requests, ended.share, ended.after_p50_s) == ("run ended", 1, 0.25, 1.0)
    assert failures_of(failing(rows[2:3], 0), 1) == ()
