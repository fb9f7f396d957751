"""The search for a size, on made-up metrics: the runs it asks for, its finds, and how often it errs."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb.size.intervals import mean_interval
from farweb.size.judge import Meets, schedule
from farweb.size.search import Found, Limits, Search
from farweb.size.target import parse_target
from farweb.statistics.intervals import student

# A metric at a position in a replication.
Metric = Callable[[int, int], float | None]


class Steps:
    """A row of values: their positions."""

    def __init__(self, length: int, width: int = 1) -> None:
        self._length = length
        self._width = width

    def __len__(self) -> int:
        return self._length

    def between(self, one: int, other: int) -> int:
        return (one + other) // 2

    def spread(self, number: int) -> list[int]:
        return sorted({round(step * (self._length - 1) / (number - 1)) for step in range(number)})

    def is_narrow(self, one: int, other: int) -> bool:
        return other - one <= self._width

    def times(self, one: int, other: int) -> float | None:
        return None


def search(
    metric: Metric,
    target: str = "drops <= 0.5",
    length: int = 100,
    limits: Limits | None = None,
    chance: bool = False,
    name: str = "drops",
    width: int = 1,
) -> Search:
    """Run a search to its end."""
    made = Search(Steps(length, width), parse_target(target), limits or Limits(), chance)
    while asked := made.ask():
        for position, replication in reversed(asked):  # runs may end in any order
            made.add(position, replication, {name: metric(position, replication)})
    assert len(made.tried) <= made.values
    return made


def test_what_is_asked_for_is_asked_once_and_stays_until_it_is_told() -> None:
    made = Search(Steps(100), parse_target("drops <= 0.5"), Limits())
    shown: set[tuple[int, int]] = set()
    while asked := made.ask():
        assert asked == made.ask()
        assert len({*asked} - shown) == len(asked)
        shown |= {*asked}
        for position, replication in asked:
            made.add(position, replication, {"drops": float(position < 70) + 0.1 * (replication % 2)})
    assert made.found().answer == 70


def falls_at(step: int) -> Metric:
    return lambda position, _: float(position < step)


def test_without_chance_a_run_a_value_finds_the_step() -> None:
    """Two runs of the values next to the answer, and of the spread about it, show that the seed is nothing."""
    for step in range(100):
        made = search(falls_at(step))
        found = made.found()
        assert (found.answer, found.below, found.above) == (step, step - 1 if step else None, step)
        assert found.attainable is True
        assert made.judge.without_chance
        assert {made.judge.count(position) for position in (step, max(step - 1, 0))} == {2}
        assert len(made.tried) <= 5 + math.ceil(math.log2(25))
        assert made.runs <= len(made.tried) + 4


def test_the_bracket_is_found_with_a_run_a_value_before_replications_are_asked_for() -> None:
    metric = noisy(lambda position: 2 - position / 100, 3, 0.0, 0.005)
    made = Search(Steps(101), parse_target("drops <= 1.5"), Limits())
    asked: list[list[tuple[int, int]]] = []
    while now := made.ask():
        asked.append(now)
        for position, replication in now:
            made.add(position, replication, {"drops": metric(position, replication)})
    first = list(itertools.takewhile(lambda step: all(replication == 0 for _, replication in step), asked))
    assert len(first) > 3
    found = made.found()
    assert found.below is not None and found.answer is not None
    assert found.below < 50 <= found.answer
    assert made.judge.count(0) == 1, "far from the answer a run is enough"


def test_an_interval_as_narrow_as_asked_ends_it() -> None:
    metric = noisy(lambda position: 2 - position / 100, 3, 0.0, 0.005)
    runs = []
    for width in (1, 10):
        made = search(metric, "drops <= 1.5", length=101, width=width)
        found = made.found()
        assert found.below is not None and found.answer is not None
        assert found.below < 50 <= found.answer <= found.below + max(width, 8)
        runs.append(made.runs)
    assert runs[1] < runs[0] / 2


def test_a_target_that_nothing_meets_is_not_attainable() -> None:
    found = search(lambda position, _: 1.0).found()
    assert found == Found(None, 99, None, False, (), (), (), False)


def test_bounds_are_exact_without_chance() -> None:
    values = [3.0, 2.0, 1.0, 0.0]
    for target, answer in [("drops <= 1", 2), ("drops < 1", 3), ("drops <= 3", 0), ("drops < 3", 1), ("drops <= 0", 3)]:
        assert search(lambda position, _: values[position], target, length=4).found().answer == answer
    for target, answer in [("drops >= 2", 2), ("drops > 2", 3)]:
        assert search(lambda position, _: float(position), target, length=4).found().answer == answer


def test_clauses_hold_together() -> None:
    made = Search(Steps(100), parse_target("drops <= 60 and retransmits <= 10"), Limits())
    while asked := made.ask():
        for position, replication in asked:
            made.add(position, replication, {"drops": 100 - position, "retransmits": 90 - position})
    assert (made.found().below, made.found().answer) == (79, 80)


def test_a_metric_that_turns_is_told() -> None:
    again = search(lambda position, _: float(not 30 <= position < 80)).found()
    assert (again.below, again.answer, again.again) == (29, 30, (99,))
    made = search(lambda position, _: float(position < 10 or 45 <= position < 60))
    found = made.found()
    assert (found.below, found.answer, found.again) == (59, 60, ())
    assert found.before == (25,)


def test_best_is_the_best_of_all_values_tried() -> None:
    # 9 values are spread over 0..100; the best of all, at 60, lies between two of them and is found on the way.
    def latency(position: int, _: int) -> float:
        return 10.0 + abs(position - 60)

    made = search(latency, "drops <= 1.2*best", length=101)
    found = made.found()
    tried = [latency(position, 0) for position in made.tried]
    bound = 1.2 * min(tried)
    meets = [position for position in made.tried if latency(position, 0) <= bound]
    assert found.answer == min(meets)
    assert found.below == min(meets) - 1
    assert found.again, "it is not met at the far end"
    assert search(lambda position, _: float(position), "drops >= 0.9*best", length=101).found().answer == 90


def test_a_run_without_a_value_does_not_meet() -> None:
    found = search(lambda position, _: None if position < 40 else 0.0).found()
    assert (found.below, found.answer) == (39, 40)
    assert search(lambda position, _: None).found().attainable is False


def test_a_quantile_that_failures_reach_is_beyond_every_bound() -> None:
    """Failures in one replication of eight, at values below 60; the others are quicker there than above."""

    def p90(position: int, replication: int) -> float:
        quick = 1.0 + 0.01 * (replication % 3)
        return (math.inf if replication == 7 else quick / 2) if position < 60 else quick

    for target in ("p90(latency) <= 2 s", "p90(latency) <= 1.05*best"):
        found = search(p90, target, name="latency_p90_s", limits=Limits(replications=8)).found()
        assert (found.below, found.answer) == (59, 60), target


def test_a_mean_of_what_ended_is_not_compared_where_requests_failed() -> None:
    for target in ("mean(latency) <= 2 s", "mean(latency) <= 1.05*best"):
        made = Search(Steps(100), parse_target(target), Limits())
        while asked := made.ask():
            for position, replication in asked:
                failed = position < 40
                made.add(
                    position, replication, {"latency_mean_s": 0.5 if failed else 1.5, "failed_share": 0.1 * failed}
                )
        assert (made.found().below, made.found().answer) == (39, 40), target
        (clause,) = parse_target(target).clauses
        assert [made.judge.is_partial(clause, position) for position in (39, 40)] == [True, False]
        assert made.judge.interval(clause, 39) == (None, None, None)


def test_equal_runs_are_not_enough_where_the_scenario_draws_losses() -> None:
    made = search(lambda position, _: 0.0 if position >= 50 else 3.0, chance=True)
    assert (made.found().below, made.found().answer) == (49, 50)
    assert not made.judge.without_chance
    assert made.judge.count(50) == 21  # (2/3)**20 is below the error that a look may make, (2/3)**12 is not


def test_one_pair_that_differs_takes_back_what_two_equal_runs_said() -> None:
    def metric(position: int, replication: int) -> float:
        return float(position < 50) + (1e-9 * replication if position == 74 else 0)

    made = search(metric)
    assert not made.judge.without_chance
    assert made.judge.count(50) == 21, "counts may be equal by chance"
    made = search(metric, "goodput_bps <= 0.5", name="goodput_bps")
    assert made.judge.count(50) == 21, "and zeros"
    made = search(lambda *run: 1 + metric(*run), "goodput_bps <= 1.5", name="goodput_bps")
    assert made.judge.count(50) == 5, "but not rates"
    assert (made.found().below, made.found().answer) == (49, 50)


def test_what_is_never_negative_is_above_zero_after_one_positive_run() -> None:
    def metric(position: int, replication: int) -> float:
        return float(position < 50 and replication == 1)

    made = search(metric, "drops <= 0", chance=True)
    assert (made.found().below, made.found().answer) == (49, 50)
    assert made.judge.count(49) == 5


def noisy(mean: Callable[[int], float], seed: int, common: float, own: float, skewed: bool = False) -> Metric:
    """Noise with a part common to equal replications, as with common random numbers."""
    random = np.random.default_rng(seed)
    shape = 102, 100  # of positions, the first for all of them, and of replications
    luck = random.exponential(size=shape) - 1 if skewed else random.standard_normal(shape)

    def metric(position: int, replication: int) -> float:
        noise = common * luck[0, replication] + own * luck[position + 1, replication]
        return mean(position) * float(1 + noise)

    return metric


many = pytest.mark.slow(reason="seeds")


@pytest.mark.parametrize(
    ("target", "truth", "skewed"),
    [
        ("drops <= 1.405", 24, True),  # 1 + 10 / (24 + 1) = 1.4
        pytest.param("drops <= 1.405", 24, False, marks=many),
        pytest.param("drops <= 1.4", 24, False, marks=many),  # the truth is on the bound: nothing can be shown of it
        pytest.param("drops <= 1.4*best", 18, True, marks=many),  # 1.4 (1 + 10 / 100) = 1.54
    ],
)
def test_the_interval_holds_the_truth_in_95_of_100_seeds(target: str, truth: int, skewed: bool) -> None:
    limits = Limits(most=34)
    right = 0
    for seed in range(100):
        metric = noisy(lambda position: 1 + 10 / (position + 1), seed, 0.05, 0.05, skewed)
        found = search(metric, target, limits=limits).found()
        assert found.above is not None
        assert found.below is not None
        right += found.below < truth <= found.above
    assert right >= 95


def test_looking_often_does_not_add_up() -> None:
    """At a value exactly on the bound each verdict is an error: 1,000 values looked at 7 times each."""
    limits = Limits(confidence=0.5)  # as large an error as can be: there is something to count
    wrong = {Meets.MEETS: 0, Meets.FAILS: 0}
    for seed in range(1000):
        random = np.random.default_rng(seed)
        made = Search(Steps(2), parse_target("goodput_bps >= 1"), limits, chance=True)
        values = random.normal(1, 0.1, (2, limits.most))
        while asked := made.ask():
            for position, replication in asked:
                made.add(position, replication, {"goodput_bps": values[position, replication]})
        for position in (0, 1):
            verdict = made.judge.verdict(position)
            if verdict in wrong:
                wrong[verdict] += 1
    # A half is spent on two values; above and below the bound each may err as often.
    assert 0.05 < wrong[Meets.MEETS] / 2000 < 0.25
    assert 0.05 < wrong[Meets.FAILS] / 2000 < 0.25


@pytest.mark.parametrize("n", [13, *(pytest.param(n, marks=many) for n in (5, 55))])
def test_intervals_of_skewed_metrics_err_seldom(n: int) -> None:
    """Of exponential values Student's upper end is too low 30 times as often as it may be at an error of 0.0004."""
    error, wrong, of_student = 0.002, [0, 0], 0
    samples = np.random.default_rng(1).exponential(1, (10_000, n))
    for sample in samples:
        low, high = mean_interval(sample, error, error)
        alone = student(sample, 1 - 2 * error)
        assert alone.low is not None
        assert alone.high is not None
        assert low <= alone.low + 1e-9 < alone.high - 1e-9 <= high
        wrong[0] += low > 1
        wrong[1] += high < 1
        of_student += alone.high < 1
        mirrored = mean_interval(-sample, error, error)
        assert mirrored == pytest.approx((-high, -low))
    assert wrong[0] <= 10_000 * error
    assert wrong[1] < of_student / 1.5
    assert wrong[1] < 10_000 * error * 60 / n**0.75


def test_the_ratio_to_the_best_holds_the_true_one_without_the_luck_that_equal_seeds_share() -> None:
    metric = noisy(lambda position: 1 + 10 / (position + 1), 1, 0.5, 0.005)
    judge, (clause,) = search(metric, "drops <= 1.4*best").judge, parse_target("drops <= 1.4*best").clauses
    best = judge.best(clause)
    assert best is not None
    tried = [position for position in range(100) if judge.count(position) >= 5 and position != best]
    for position in tried:
        _, low, high = judge.ratio(clause, position)
        assert low is not None and high is not None
        assert low < (1 + 10 / (position + 1)) / (1 + 10 / (best + 1)) < high < 1.06 * low
    assert len(tried) > 3


def test_pairs_see_what_replications_apart_do_not() -> None:
    """Noise common to all values does not matter to a multiple of the best one, and does to a number."""
    metric = noisy(lambda position: 1 + 10 / (position + 1), 1, 0.5, 0.005)
    paired = search(metric, "drops <= 1.4*best").found()
    assert paired.undecided == ()
    assert paired.answer is not None and paired.below == paired.answer - 1
    alone = search(metric, "drops <= 1.54").found()
    assert alone.undecided != ()
    assert alone.answer is not None and alone.below is not None and alone.answer - alone.below > 10


def test_undecided_values_are_bracketed() -> None:
    metric = noisy(lambda position: 2 - position / 100, 3, 0.0, 0.05)
    made = search(metric, "drops <= 1.5", length=101, limits=Limits(most=13))
    found = made.found()
    assert found.below is not None
    assert found.answer is not None
    assert found.below < 50 <= found.answer
    assert found.undecided
    assert all(found.below < position < found.answer for position in found.undecided)
    side = max(1, 0.25 * (found.answer - found.below))
    inside = [position for position in made.tried if found.below < position < found.answer]
    assert inside[0] - found.below <= side
    assert found.answer - inside[-1] <= side
    assert max(map(made.judge.count, made.tried)) == 13


def test_the_most_runs_end_it() -> None:
    metric = noisy(lambda position: 2 - position / 100, 3, 0.0, 0.05)
    made = search(metric, "drops <= 1.5", length=101, limits=Limits(runs=60))
    assert made.runs <= 60
    assert made.found().stopped
    early = search(metric, "drops <= 1.5", length=101, limits=Limits(runs=3))
    assert early.runs == 0
    assert early.found().attainable is None


def test_more_confidence_takes_more_runs() -> None:
    metric = noisy(lambda position: 1.05 - position / 10, 3, 0.0, 0.05)
    runs = [
        search(metric, "drops <= 1", length=2, limits=Limits(confidence=confidence)).runs for confidence in (0.5, 0.999)
    ]
    assert runs[0] < runs[1]


@given(st.integers(1, 20), st.integers(1, 200))
def test_looks_grow_to_the_most(first: int, more: int) -> None:
    looks = schedule(first, first + more)
    assert (looks[0], looks[-1]) == (first, first + more)
    assert all(before < after for before, after in itertools.pairwise(looks))
    assert schedule(5, 89) == (5, 8, 13, 21, 34, 55, 89)


def test_the_ratio_to_the_best_has_a_paired_interval() -> None:
    metric = noisy(lambda position: 1 + 10 / (position + 1), 1, 0.3, 0.01)
    made = search(metric, "drops <= 1.4*best")
    (clause,) = parse_target("drops <= 1.4*best").clauses
    for position in made.tried:
        ratio, low, high = made.judge.ratio(clause, position)
        assert ratio is not None
        assert low is not None
        assert high is not None
        truth = (1 + 10 / (position + 1)) / 1.1
        assert low <= ratio <= high
        assert low - 0.01 < truth < high + 0.01
        assert high - low < 0.15 * ratio, "as wide as the noise of their own, not as that which they share"
