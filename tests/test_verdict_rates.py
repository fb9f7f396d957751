"""How often verdicts are wrong, and how much they see: seeds of one scenario, heavy tails, known savings."""

import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from farweb.judge.judged import Matched, verdict_of
from farweb.judge.judgement import Verdict
from farweb.judge.pairs import Pairs
from farweb.judge.units import Floats
from farweb.judge.verdicts import Table, clear, measured

N = np.arange(1000)
RUN: Any = SimpleNamespace(manifest={"scenario": {"workload": {"requests": "log.parquet"}}})


def verdict(base: Floats, other: Floats) -> Verdict:
    unnamed = np.full(base.size, 2, np.int8)
    return verdict_of([Pairs(N, N, base, other, unnamed)], Matched([RUN], [RUN], [0]), ("a", "b"))[0]


def seeds() -> list[tuple[Floats, Floats]]:
    """Each two of 16 runs of the same requests, round trips of 0.62 s; 3 % of them lose a packet and wait."""
    random = np.random.default_rng(1)
    base = 0.62 * random.choice([2.0, 3, 4, 5, 8], 1000, p=[0.6, 0.2, 0.1, 0.07, 0.03]) + random.uniform(0, 0.02, 1000)
    runs = []
    for seed in range(16):
        random = np.random.default_rng(seed)
        runs.append(base + np.where(random.random(1000) < 0.03, random.choice([0.62, 1.0, 1.5], 1000), 0))
    return list(itertools.combinations(runs, 2))


def test_seeds_of_one_scenario_are_equivalent() -> None:
    found = Counter(verdict(*pair).overall for pair in seeds())
    assert found["equivalent"] >= 114 and not {"better", "worse", "mixed"} & set(found), found


def test_six_percent_less_waiting_is_seen() -> None:
    found = Counter(verdict(base, other * 0.94).overall for base, other in seeds()[::3])
    assert found["better"] + found["slightly better"] >= 38, found


def test_five_requests_of_a_heavy_tail_are_rarely_taken_for_an_effect() -> None:
    """Of a thousand latencies of a Pareto distribution (0.8) the five largest vary by 30 %, in the mean by nothing."""
    random = np.random.default_rng(7)
    wrong, logs = 0, 300
    for _ in range(logs):
        base = random.pareto(0.8, 1000) + 1
        other = base * np.where(base >= np.sort(base)[-5], random.lognormal(-0.045, 0.3, 1000), 1.0)
        found = measured(Table(base, other, N // 50, N, 20), "all")
        wrong += clear(found.change, 0.01) != 0
    assert wrong <= 0.08 * logs, wrong
