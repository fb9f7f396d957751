"""Seventeen comparisons with known right verdicts, as tables with their characters: requests as logs have them.

Latencies are whole round trips of 0.62 s, as over a satellite, and quantiles jump; who gains and who loses is drawn by
fixed generators.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from farweb.judge.judged import Matched, verdict_of
from farweb.judge.judgement import Verdict, held_by
from farweb.judge.pairs import Pairs, Sides
from farweb.judge.ranking import ranking
from farweb.judge.units import Floats
from farweb.text.quantities import seconds

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
    return verdict_of([pairs], ONE, ("a", "b"), **more)[0]


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
    assert (found.overall, found.groups[0][1].word) == ("better", "equivalent")
    assert found.sentence.startswith(f"b is better than a: requests take {-percents(found)} % less time on average")
    assert found.slices[0].slower == 0 and found.holds == "Holds for this log (95 %, 20 time blocks)."


def test_tls_is_worse_for_first_and_later_requests() -> None:
    base, visit = trips(673), visits(673, 0.36)
    added = np.where(visit == 0, 1.31, np.where(some(673, 0.36), 1.25, 1.0))
    found = verdict(base, base * added, visit)
    assert (found.overall, [each.word for _, each in found.groups]) == ("worse", ["worse", "worse"])


def moved(n: int, faster: float, by: float, slower: float = 0.0, and_by: float = 1.0) -> Floats:
    """Factors of latencies: a share of the requests is faster by one, a share of the others slower by another."""
    return np.where(some(n, faster), by, np.where(some(n, slower, 3), and_by, 1.0))


@pytest.mark.parametrize(
    ("n", "share", "slowest", "others", "word", "overall", "decides", "said"),
    [
        # ECDSA → ML-DSA-65: 43 % slower, 16 % faster.
        (673, 0.1, 1.12, moved(673, 0.16, 0.9, 0.43, 1.07), None, "worse", "slowest_tenth", "for the slowest tenth"),
        # The slowest 9 % longer, the others 2.3 % less: they hold most of the time.
        (1014, 0.1, 1.09, 0.977, "equivalent", "mixed", "slowest_tenth", "2.3 % less for the quicker nine tenths, 9.0"),
        # ML-DSA-44: −3.3 %, the slowest −7 %.
        (1014, 0.1, 0.93, 0.967, "slightly better", "better", "slowest_tenth", "b is better than a: requests take"),
        # Buffer auto → 64 kB.
        (6500, 0.1, 1.062, 1.0, "slightly worse", "worse", "slowest_tenth", "6.2 % more for the slowest tenth"),
        (6500, 0.1, 1.051, 1.003, "slightly worse", "worse", "slowest_tenth", "b is worse than a: requests take"),
        # mux 1 → 8: 26 % slower, 12 % faster.
        (1800, 0.1, 1.28, moved(1800, 0.12, 0.85, 0.2, 1.6), "worse", "worse", "slowest_tenth", "b is worse than a"),
        # Satellite of 34 Mbit/s → line of 0.7 Mbit/s: faster for most, far slower for the slowest.
        (1800, 0.12, 5.0, moved(1800, 0.78, 0.4), "split", "mixed", "slowest_tenth", "are slower and"),
    ],
)
def test_the_slices_weigh_beside_all(
    n: int, share: float, slowest: float, others: Any, word: str | None, overall: str, decides: str, said: str
) -> None:
    base = trips(n) * (1 + np.arange(n) / 1e7)
    found = verdict(base, base * np.where(slow(base, share), slowest, others))
    assert found.overall == overall and word in (None, found.slices[0].word)
    assert decides in (found.gain if overall == "better" else found.harm) and said in found.sentence


def test_a_decile_that_goes_the_other_way_is_named() -> None:
    """A PEP that takes 20 % off most requests and adds 4 % to a tenth, or to fewer."""
    base = trips(1000)
    for share, said in ((0.12, ", 11 % are slower,"), (0.06, ", ")):
        found = verdict(base, base * np.where(some(1000, share), 1.04, 0.8))
        assert found.overall == "better" and f"instead of {seconds(base.mean())}){said}" in found.sentence


def test_groups_on_two_sides_are_mixed() -> None:
    """ECDSA → SLH-DSA-128s: first requests +11 %, later ones −3.7 %."""
    base, visit = trips(673), visits(673, 0.36)
    found = verdict(base, base * np.where(visit == 0, 1.11, 0.963), visit)
    assert (found.overall, [each.word for _, each in found.groups]) == ("mixed", ["worse", "slightly better"])
    assert "11.0 % more for first requests of visits, 3.7 % less for later ones" in found.sentence


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
    assert found.sentence == (
        "b is better than a: 7 of 8 faster, 1 the same: −28.4 % on average (1.34 s instead of 1.87 s); "
        "for these 8 requests"
    )
    three = verdict(base[:3], base[:3] * 0.7)
    assert (three.overall, three.cell) == ("cannot be told apart", "open")
    assert three.sentence.startswith("b against a: 3 of 3 faster: −30.0 % on average")
    assert three.sentence.endswith("; 3 requests are too few for a verdict")


def test_failures_count_beside_survivors() -> None:
    """An overloaded line, 4.4BSD → Linux: 7.4 % fail, and the slowest survivors are quicker; they do not vote."""
    base = trips(3762)
    base *= 1 + np.arange(3762) / 1e7
    slowest, lost = slow(base), some(3762, 0.74, 4)
    moved = np.where(slowest, 0.48, np.where(some(3762, 0.3), 0.7, 1.2))
    base *= np.where(slowest, 3, 1)
    found = verdict(base, np.where(slowest & lost, np.inf, base * moved))
    assert found.overall == "worse" and "failed_share" in found.harm
    place, survivors = next((at, each) for at, each in enumerate(found.slices) if each.name == "slowest_tenth")
    assert percents(found, place) < -50 and survivors.by_count and survivors.word == "slightly worse"
    assert "points more fail" in found.sentence


def test_less_than_the_margin_is_slightly_better() -> None:
    """A tenth of the requests take 40 % less: −3.5 %."""
    base = trips()
    found = verdict(base, base * np.where(some(1800, 0.1), 0.604, 1.0))
    assert found.overall == "slightly better" and -5 < percents(found) < -3


def test_26_of_the_slowest_are_no_slice() -> None:
    base = trips(260)
    found = verdict(base, np.where(slow(base), base * 1.4, base))
    assert [each.name for each in found.slices] == ["all", "quicker_nine_tenths"]
    assert (found.overall, found.harm) == ("worse", ()), "by all requests"


def test_what_differs_by_chance_alone_cannot_be_told_apart() -> None:
    base, random = trips(400), np.random.default_rng(5)
    found = verdict(*(base * random.lognormal(0, 1.0, 400) for _ in range(2)))
    assert found.overall == "cannot be told apart"
    assert found.sentence.startswith("b and a cannot be told apart: requests take") and "…" in found.sentence


TENTH = np.arange(1000) % 10 == 0
LONG = np.where(TENTH, 10.0, 1.0)
"""Of a thousand requests the slowest tenth take 10 s, the others 1 s: 1.9 s on average."""

LIKE = np.where(TENTH, 1.1, 1.0)
HOURS = np.where(np.arange(1000) % 500 == 250, 3000.0, LIKE)
"""Two of a thousand requests take most of the time."""


def test_two_are_apart_by_the_change_of_the_mean_or_failures_and_else_tie_or_are_open() -> None:
    """Slightly is apart, a slice alone is not; more failures are, and equal ones are not."""
    base = trips(1000) * (1 + np.arange(1000) / 1e7)
    assert verdict(base, base * 1.02).is_apart and verdict(base, base * 1.009).ties
    a_slice = verdict(LIKE, LIKE * np.where(TENTH, 1.08, 1.0))
    assert (a_slice.overall, a_slice.ties, a_slice.turned().cell) == ("worse", True, "better: slowest 10 %")
    runs = [LIKE * np.where(TENTH, 1.08, 1.0), LIKE]
    found = ranking(["b", "a"], lambda one, other: verdict(runs[one], runs[other]))
    assert [(row.letters, row.name) for row in found.rows] == [("a", "a"), ("a", "b")]
    said = "requests take the same time on average (−0.9 %: 1.01 s instead of 1.02 s), 7.4 % less for these"
    assert found.sentence() == f"a is better than b for the slowest tenth: {said}.", "two have the words of compare"
    assert found.to_dicts()[1]["for"] == "slowest_tenth"
    fail = np.where(some(1000, 0.008), np.inf, base)
    assert (verdict(base, fail).overall, verdict(base, fail).is_apart) == ("worse", True)
    others = [np.where(np.arange(1000) % 50 == place, np.inf, base) for place in (7, 8)]
    found_lost = verdict(*others)
    assert (found_lost.by_failures, found_lost.is_apart, found_lost.ties) == (True, False, False)
    assert verdict(base, np.where(np.arange(1000) % 10 == 3, np.inf, base)).is_apart
    three = verdict(base[:3], base[:3] * 0.7)
    assert (three.is_apart, three.ties) == (False, False) and verdict(base[:8], base[:8] * 0.7).is_apart
    hours = verdict(HOURS, np.where(HOURS > 9, HOURS * 1.1, HOURS))
    assert (hours.is_apart, hours.ties) == (False, False), "open is no tie"


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([1.004, 1.5], "a is best (1.01 s on average); b ties with it: +0.4 %. c is worse: 50 % more time."),
        ([1.004, 1.002], "a takes the least time (1.01 s on average); c and b tie with it: +0.2 to +0.4 %."),
        (
            [np.where(TENTH, 1.08, 1.0), 1.5],
            "a is best (1.01 s on average); b ties with it: +0.9 %, 8.0 % more for the slowest tenth. "
            "c is worse: 50 % more time.",
        ),
    ],
)
def test_line_one_of_several_has_numbers_for_what_ties_with_the_best(others: list[Any], said: str) -> None:
    runs = [LIKE, *(LIKE * each for each in others)]
    found = ranking(["a", "b", "c"], lambda one, other: verdict(runs[one], runs[other], together=3))
    assert found.sentence() == said


def test_line_one_of_several_says_how_open_one_is_and_how_few_requests_hold_most() -> None:
    runs = [HOURS, np.where(HOURS > 9, HOURS * 1.1, HOURS), HOURS * 2]
    found = ranking(["a", "b", "c"], lambda one, other: verdict(runs[one], runs[other], together=3))
    assert found.sentence("point") == (
        "a takes the least time (7.01 s on average); b cannot be told apart from it: +8.6 % (−27.9 … +63.6). c is "
        "worse: 100 % more time. 2 of 1,000 requests hold half of the waiting."
    )
    assert (found.sure, found.rows[1].cell) == ("98.3 % interval", "open")


FIRST = np.where(np.arange(1000) % 4 == 0, 0, 1).astype(np.int8)
SAME = "requests take the same time on average"


@pytest.mark.parametrize(
    ("base", "other", "visit", "said", "cell"),
    [
        (
            LONG,
            LONG * np.where(TENTH, 0.5, 1.0),
            None,
            "b is better than a: requests take 26.3 % less time on average (1.40 s instead of 1.90 s), 50.0 % less for "
            "the slowest tenth",
            "better",
        ),
        (
            LONG,
            LONG * np.where(TENTH, 0.97, 0.9),
            None,
            "b is better than a: requests take 6.3 % less time on average (1.78 s instead of 1.90 s)",
            "better",
        ),
        (
            LONG,
            LONG * 1.03,
            None,
            "b is slightly worse than a: requests take 3.0 % more time on average (1.96 s instead of 1.90 s)",
            "slightly worse",
        ),
        (
            HOURS,
            HOURS * np.where(HOURS > 9, 1.1, 0.8),
            None,
            "b is better than a for the quicker nine tenths: requests take 5.7 % more time on average (7.41 s instead "
            "of 7.01 s), open: −49.1 … +119 %, 20.0 % less for these; 2 of 1,000 requests hold half of the waiting",
            "better: quicker 90 %",
        ),
        (
            LIKE,
            np.where(TENTH, LIKE * 1.08, LIKE),
            None,
            f"b is worse than a for the slowest tenth: {SAME} (+0.9 %: 1.02 s instead of 1.01 s), 8.0 % more for these",
            "worse: slowest 10 %",
        ),
        (
            LIKE,
            np.where(TENTH, LIKE * 0.881, LIKE * 1.014),
            None,
            f"b against a is mixed: {SAME} (both 1.01 s), 1.4 % more for the quicker nine tenths, 11.9 % less for the "
            "slowest tenth",
            "mixed",
        ),
        (
            LONG,
            LONG * np.where(TENTH, 0.8, 1.1),
            None,
            "b against a is mixed: requests take 5.8 % less time on average (1.79 s instead of 1.90 s), 90 % are "
            "slower and 10 % faster, 10.0 % more for the quicker nine tenths, 20.0 % less for the slowest tenth",
            "mixed",
        ),
        (
            np.ones(1000),
            np.where(FIRST == 0, 1.115, 0.976),
            FIRST,
            "b against a is mixed: requests take 1.1 % more time on average (1.01 s instead of 1 s), 11.5 % more for "
            "first requests of visits, 2.4 % less for later ones",
            "mixed",
        ),
        (LIKE, LIKE * 1.004, None, f"b and a are equivalent: {SAME} (+0.4 %: both 1.01 s)", "equivalent"),
        (
            HOURS,
            np.where(HOURS > 9, HOURS * 1.1, HOURS),
            None,
            "b and a cannot be told apart: requests take 8.6 % more time on average (7.61 s instead of 7.01 s), "
            "−11.5 … +33.1 %; 2 of 1,000 requests hold half of the waiting",
            "open",
        ),
        (LIKE, LIKE, None, "b and a are equivalent: all requests take the same time", "equivalent"),
        (
            LIKE,
            np.where(TENTH, np.inf, LIKE * 1.2),
            None,
            "b is worse than a: 100 % of requests are slower and 0 % faster, 100 % of the slowest tenth slower and 0 % "
            "faster, 10 points more fail",
            "worse",
        ),
    ],
)
def test_line_one(base: Floats, other: Floats, visit: Any, said: str, cell: str) -> None:
    found = verdict(base, other, visit)
    assert (found.sentence, found.cell) == (said, cell)
    there = found.to_dict()
    assert there["for"] == (found.alone or None) and there["change"]["value"] == found.change.value
    assert there["geometric"] == found.slices[0].geometric
    if found.change.value and abs(found.change.value) < 0.01 and "failed_share" not in found.harm:
        assert found.overall not in ("better", "worse") or found.alone, "a bare word needs 1 %"


def test_line_one_of_other_requests() -> None:
    """Another load: means of those answered, and failures in numbers."""
    base, other = np.full(1000, 1.4), np.full(1200, 1.9)
    found = verdict_of([Sides(base, other)], ONE, ("a", "b"))[0]
    assert found.sentence == "b is worse than a: requests take 35.7 % more time on average (1.90 s instead of 1.40 s)"
    other[::40] = np.inf
    found = verdict_of([Sides(base, other)], ONE, ("a", "b"))[0]
    assert found.sentence == (
        "b is worse than a: 2.50 % of requests fail instead of 0; those answered take 1.90 s instead of 1.40 s"
    )


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
    assert found.sentence() == "mux1 is best (1.74 s on average). mux4 and mux8 are second: 10 % more time."
    three = ranking(
        ["a", "b", "c"], lambda one, other: verdict(runs[(1, 3, 4)[one]], runs[(1, 3, 4)[other]], together=3)
    )
    assert three.sentence() == "a is best (1.74 s on average). b and c are second: 10 % more time."
    assert found.places[1] == ["mux4", "mux8"] and len(found.verdicts) == 15
    seven = [base * (1 + place / 10) for place in range(7)]
    apart = ranking(list("abcdefg"), lambda one, other: verdict(seven[one], seven[other], together=6))
    assert apart.sentence() == "a is best (1.74 s on average). The other 6 runs take 10 to 60 % more time."
    more = ranking([*names, "x"], lambda one, other: verdict([*runs, base][one], [*runs, base][other], together=6))
    assert [row.name for row in more.rows[:2]] == ["mux1", "x"] and len(more.verdicts) == 6
    assert more.rows[1].cell == "equivalent" and "x ties with it" in more.sentence()


def test_a_reference_that_was_asked_for_stands_in_line_one() -> None:
    base = trips()
    runs = [base, base * 0.5, base * 0.8]
    found = ranking(["a", "b", "c"], lambda one, other: verdict(runs[one], runs[other], together=3), 0)
    assert found.reference == "a"
    assert found.sentence() == (
        "b is best (871 ms on average, −50.0 % against a). The other 2 runs take 60 to 100 % more time."
    )


def test_several_verdicts_hold_for_what_the_least_sure_does() -> None:
    base = trips(400)
    sure, drifting = verdict(base, base * 1.1), verdict(base, base * np.linspace(0.5, 1.5, 400))
    assert (sure.is_dependent, drifting.is_dependent) == (False, True)
    assert held_by([sure, drifting]) == drifting.holds and held_by([sure]) == sure.holds and held_by([]) == ""


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
        "Failures decide: 49.6 % of requests fail at half and 20.8 % at fifth. whole is better than slow: requests "
        "take 23.1 % less time on average (1.74 s instead of 2.26 s), 23.1 % less for the slowest tenth."
    )
    slow = ranking(["a", "b", "c"], lambda one, other: verdict(*(base * (1, 1, 11)[each] for each in (one, other))))
    assert slow.sentence() == "a is best (1.74 s on average); b ties with it: 0 %. c is worse: 1,000 % more time."


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


@pytest.mark.parametrize("losses", ["bernoulli", "list"])
def test_one_seed_with_random_losses_on_either_side_says_so(losses: str) -> None:
    def run(kind: str) -> Any:
        link = {"up": {"loss": {"kind": kind}}}
        return SimpleNamespace(manifest={"scenario": {"workload": {"requests": "t.csv"}, "path": {"link": [link]}}})

    base, n = trips(400), np.arange(400)
    pairs = Pairs(n, n, base, base, np.full(400, 2, np.int8))
    for sides in ((losses, "none"), ("none", losses)):
        here, there = map(run, sides)
        found = verdict_of([pairs], Matched([here], [there], [0]), ("a", "b"))[0]
        assert ("One seed" in found.holds) == (losses == "bernoulli"), sides
        of_sweep = verdict_of([pairs], Matched([here], [there], [0], "--seeds 5"), ("a", "b"))[0]
        assert ("--seeds 5" in of_sweep.holds) == (losses == "bernoulli")
        assert "sweep.replications" not in found.holds, "two runs alone are no sweep"


@pytest.mark.parametrize(("hours", "remedy"), [(1, "; a longer log is surer"), (24, "")])
def test_a_longer_log_is_no_remedy_from_a_day_on(hours: int, remedy: str) -> None:
    run: Any = SimpleNamespace(manifest={**RUN.manifest, "now_ns": hours * 3600 * 10**9})
    base, n = trips(400), np.arange(400)
    pairs = Pairs(n, n, base, base * np.linspace(0.5, 1.5, 400), np.full(400, 2, np.int8))
    found = verdict_of([pairs], Matched([run], [run], [0]), ("a", "b"))[0]
    less = "less surely than 95 %: its 20 time blocks resemble their neighbours"
    assert found.holds == f"Holds for this log, {less}{remedy}."
