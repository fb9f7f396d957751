"""Seventeen comparisons with known right verdicts, as tables with their characters: requests as logs have them.

Latencies are whole round trips of 0.62 s, as over a satellite, and quantiles jump; who gains and who loses is drawn by
fixed generators.
"""

import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from farweb.results.judged import Matched, verdict_of
from farweb.results.pairs import Pairs
from farweb.results.ranking import ranking
from farweb.statistics.judgement import Verdict
from farweb.statistics.units import Floats

RUN: Any = SimpleNamespace(manifest={"scenario": {"workload": {"requests": "log.parquet"}}})
ONE = Matched([RUN], [RUN], [0])


def trips(n: int = 1800, seed: int = 1) -> Floats:
    """Latencies of requests: two round trips for most, up to eight."""
    random = np.random.default_rng(seed)
    return 0.62 * random.choice([2.0, 3, 4, 5, 8], n, p=[0.6, 0.2, 0.1, 0.07, 0.03]) + random.uniform(0, 0.02, n)


def visits(n: int, first: float) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Whether a request begins a visit, 0, or follows in one, 1."""
    return np.where(np.random.default_rng(9).random(n) < first, 0, 1).astype(np.int8)


def verdict(base: Floats, other: Floats, visit: Any = None, **more: Any) -> Verdict:
    n = np.arange(base.size)
    unnamed = np.full(base.size, 2, np.int8)
    pairs = Pairs(n, n * 0, base, other, unnamed if visit is None else visit)
    return verdict_of([pairs], ONE, ("a", "b"), **more)


def some(n: int, share: float, seed: int = 2) -> Any:
    return np.random.default_rng(seed).random(n) < share


def slow(base: Floats, share: float = 0.1) -> Any:
    return base >= np.quantile(base, 1 - share)


def percents(found: Verdict, place: int = 0) -> float:
    return round(100 * (found.slices[place].change.value or 0.0), 1)


def test_a_round_trip_saved_by_43_percent_is_better() -> None:
    """HTTP/1.0 → 1.1: a p90 that jumps decides nothing; first requests of visits are as before."""
    base, visit = trips(), visits(1800, 0.14)
    saved = np.where((visit == 1) & some(1800, 0.5), 0.53, 1.0)
    found = verdict(base, base * saved, visit)
    assert (found.overall, found.groups[0][1].overall) == ("better", "equivalent")
    assert found.sentence.startswith(f"b is better than a: requests take {-percents(found)} % less time on average")
    assert found.slices[0].slower == 0 and found.holds == "Holds for this log (95 %, 20 time blocks)."


def test_tls_is_worse_for_first_and_later_requests() -> None:
    base, visit = trips(673), visits(673, 0.36)
    added = np.where(visit == 0, 1.31, np.where(some(673, 0.36), 1.25, 1.0))
    found = verdict(base, base * added, visit)
    assert (found.overall, [each.overall for _, each in found.groups]) == ("worse", ["worse", "worse"])


def moved(n: int, faster: float, by: float, slower: float = 0.0, and_by: float = 1.0) -> Floats:
    """Factors of latencies: a share of the requests is faster by one, a share of the others slower by another."""
    return np.where(some(n, faster), by, np.where(some(n, slower, 3), and_by, 1.0))


@pytest.mark.parametrize(
    ("n", "share", "slowest", "others", "word", "overall", "said"),
    [
        # ECDSA → ML-DSA-65: 43 % slower, 16 % faster.
        (673, 0.1, 1.12, moved(673, 0.16, 0.9, 0.43, 1.07), "slightly worse", "worse", "for the slowest tenth"),
        # A made-up site, ML-DSA-65: −1.3 % on average, the slowest +9 %.
        (
            1014,
            0.1,
            1.09,
            0.977,
            "slightly better",
            "mixed",
            "requests take 1.2 % less time on average, 9.0 % more for",
        ),
        # ML-DSA-44: −3.6 %, the slowest −7 %.
        (1014, 0.1, 0.93, 0.967, "slightly better", "better", "b is better than a"),
        # Buffer auto → 64 kB.
        (6500, 0.1, 1.062, 1.0, "equivalent", "worse", "worse than a for the slowest tenth: requests take 0.6 % more"),
        # mux 1 → 8: 26 % slower, 12 % faster.
        (1800, 0.1, 1.28, moved(1800, 0.12, 0.85, 0.2, 1.6), None, "worse", "b is worse than a"),
        # Satellite of 34 Mbit/s → line of 0.7 Mbit/s: faster for most, far slower for the slowest.
        (1800, 0.12, 5.0, moved(1800, 0.78, 0.4), None, "mixed", "b against a is mixed"),
    ],
)
def test_the_slowest_tenth_weighs_beside_all(
    n: int, share: float, slowest: float, others: Any, word: str | None, overall: str, said: str
) -> None:
    base = trips(n) * (1 + np.arange(n) / 1e7)
    found = verdict(base, base * np.where(slow(base, share), slowest, others))
    assert found.overall == overall and word in (None, found.slices[0].word)
    assert (found.gain if overall == "better" else found.harm)[0] == "slowest_tenth"
    assert said in found.sentence


def test_groups_on_two_sides_are_mixed() -> None:
    """ECDSA → SLH-DSA-128s: first requests +11 %, later ones −3.7 %."""
    base, visit = trips(673), visits(673, 0.36)
    found = verdict(base, base * np.where(visit == 0, 1.11, 0.963), visit)
    assert (found.overall, [each.overall for _, each in found.groups]) == ("mixed", ["worse", "slightly better"])
    assert "11.0 % more for first requests of visits, 3.7 % less for later requests" in found.sentence


def test_a_small_sure_difference_is_equivalent_though_p90_is_open() -> None:
    """mux 4 → 8: 98 % of requests take the same."""
    base = trips()
    found = verdict(base, base * np.where(some(1800, 0.02), 1.2, 1.0))
    assert found.overall == "equivalent" and 0 < percents(found) < 1


def test_eight_requests_have_an_exact_test() -> None:
    """HTTP/1.0 → mux proxy of a Squid log."""
    base = trips(8)
    found = verdict(base, base * np.array([0.69] * 7 + [1.0]))
    assert (found.overall, found.interval_of) == ("better", "none")
    assert found.sentence == "b is better than a: 7 of 8 faster, 1 the same: −27.7 %; for these 8 requests"


def test_failures_count_beside_survivors() -> None:
    """An overloaded line, 4.4BSD → Linux: 7.4 % fail, and the slowest survivors are quicker; they do not vote."""
    base = trips(3762)
    base *= 1 + np.arange(3762) / 1e7
    slowest, lost = slow(base), some(3762, 0.74, 4)
    moved = np.where(slowest, 0.48, np.where(some(3762, 0.3), 0.7, 1.2))
    base *= np.where(slowest, 3, 1)
    found = verdict(base, np.where(slowest & lost, np.inf, base * moved))
    assert found.overall == "worse" and "failed_share" in found.harm
    survivors = next(each for each in found.slices if each.name == "slowest_tenth")
    assert percents(found, 1) < -50 and survivors.by_count and survivors.word == "slightly worse"
    assert "points more fail" in found.sentence


def test_less_than_the_margin_is_slightly_better() -> None:
    """−4.91 % (−6.66 … −3.13)."""
    base = trips()
    found = verdict(base, base * np.where(some(1800, 0.1), 0.604, 1.0))
    assert found.slices[0].word == "slightly better" and -5 < percents(found) < -4


def test_26_of_the_slowest_are_no_slice() -> None:
    base = trips(260)
    found = verdict(base, np.where(slow(base), base * 1.4, base))
    assert [each.name for each in found.slices] == ["all"] and found.harm == ()


def test_what_differs_by_chance_alone_cannot_be_told_apart() -> None:
    base = trips(400)
    found = verdict(base, base * np.exp(np.random.default_rng(5).normal(0, 1.0, 400)))
    assert found.overall == "cannot be told apart"
    assert found.sentence.startswith("b and a cannot be told apart: requests take") and "…" in found.sentence


def test_six_runs_rank_with_letters_and_a_tie() -> None:
    """mux1, mux4, mux8, persistent, link, geo-iw4: the second and the third tie."""
    base = trips()
    few = base * np.where(some(1800, 0.02), 1.15, 1.0)
    runs = [base * 1.9, base, base * 1.4, base * 1.1, few * 1.1, base * 2.2]
    names = ["link", "mux1", "persistent", "mux4", "mux8", "geo-iw4"]
    found = ranking(names, lambda one, other: verdict(runs[one], runs[other], together=15))
    assert [(row.letters, row.name) for row in found.rows] == [
        ("a", "mux1"), ("b", "mux4"), ("b", "mux8"), ("c", "persistent"), ("d", "link"), ("e", "geo-iw4")
    ]  # fmt: skip
    assert found.sentence() == "mux1 is best. mux4 and mux8 tie for second: 10 % more time."
    assert found.places[1] == ["mux4", "mux8"] and len(found.verdicts) == 15
    more = ranking([*names, "x"], lambda one, other: verdict([*runs, base][one], [*runs, base][other], together=6))
    assert [row.name for row in more.rows[:2]] == ["mux1", "x"] and len(more.verdicts) == 6
    assert more.rows[1].word == "equivalent" and "x ties with it" in more.sentence()


def test_runs_that_lose_requests_rank_by_these_and_not_by_the_others() -> None:
    """The fifth and the half that are left take half the time, and still stand behind all that answer."""
    base = trips()
    lost = [np.where(some(1800, share), np.inf, base * 0.5) for share in (0.2, 0.5)]
    runs = [lost[1], base * 1.3, lost[0], base]
    found = ranking(["half", "slow", "fifth", "whole"], lambda one, other: verdict(runs[one], runs[other], together=6))
    assert [row.name for row in found.rows] == ["whole", "slow", "fifth", "half"]
    assert [row.by_failures for row in found.rows] == [False, False, True, True]
    assert found.rows[3].change is not None and found.rows[3].change.value is None
    assert found.sentence() == (
        "Failures decide: 49.6 % of requests fail at half and 20.8 % at fifth. whole is best. "
        "slow is worse: 30 % more time."
    )
    slow = ranking(["a", "b"], lambda one, other: verdict(*(base * (1, 11)[each] for each in (one, other))))
    assert slow.sentence() == "a is best. b is worse: 1,000 % more time."


def test_runs_that_are_alike_have_no_difference() -> None:
    base = trips()
    found = ranking(["a", "b", "c"], lambda one, other: verdict(base, base, together=3))
    assert found.sentence("point") == "No difference: all 3 points take the same time."


@pytest.mark.parametrize(
    ("by", "said", "heading", "changes"),
    [
        ("failed_share", "All 2 points tie in failures.", "failures, points", [None, 0.0]),
        ("within(2 s)", "Best by within(2 s): fast.", "within(2 s), points", [None, -1.0]),
        ("latency_mean_s", "Best by mean: fast.", "mean %", [None, 1.0]),
    ],
)
def test_a_named_quantity_has_its_own_words_and_column(by: str, said: str, heading: str, changes: list[Any]) -> None:
    """A ranking by failures of runs that all answer calls none the fastest."""
    runs = [np.full(100, 3.0), np.full(100, 1.5)]
    found = ranking(["slow", "fast"], lambda one, other: verdict(runs[one], runs[other], by=[by]))
    assert (found.sentence("point"), found.heading) == (said, heading)
    assert [row.change and row.change.value for row in found.rows] == changes


def test_runs_that_all_fail_rank_by_no_time() -> None:
    found = ranking(["a", "b"], lambda one, other: verdict(*[np.full(100, np.inf)] * 2))
    assert found.sentence() == "Failures decide: 100 % of requests fail at a and 100 % at b. a and b fail alike."


def test_seeds_of_one_scenario_are_equivalent() -> None:
    """120 pairs of 16 seeds: the same requests, 3 % of them lose a packet and wait for a timeout."""
    base = trips(1000)
    seeds = []
    for seed in range(16):
        random = np.random.default_rng(seed)
        seeds.append(base + np.where(random.random(1000) < 0.03, random.choice([0.62, 1.0, 1.5], 1000), 0))
    found = Counter(verdict(one, other).overall for one, other in itertools.combinations(seeds, 2))
    assert found["equivalent"] >= 115, found


@pytest.mark.parametrize("losses", ["bernoulli", "list"])
def test_one_seed_with_random_losses_on_either_side_says_so(losses: str) -> None:
    def run(kind: str) -> Any:
        link = {"up": {"loss": {"kind": kind}}}
        return SimpleNamespace(manifest={"scenario": {"workload": {"requests": "t.csv"}, "path": {"link": [link]}}})

    base, n = trips(400), np.arange(400)
    pairs = Pairs(n, n, base, base, np.full(400, 2, np.int8))
    for sides in ((losses, "none"), ("none", losses)):
        here, there = map(run, sides)
        found = verdict_of([pairs], Matched([here], [there], [0]), ("a", "b"))
        assert ("One seed" in found.holds) == (losses == "bernoulli"), sides
