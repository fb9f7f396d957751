"""How the answer of `farweb size` reads, in words and as JSON."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from farweb import Scenario
from farweb.size.answer import Answer, answer_of
from farweb.size.log import Beside, OfLog
from farweb.size.screen import screen
from farweb.size.search import Limits, Search
from farweb.size.target import Clause, parse_target
from farweb.size.vary import parse_vary


@pytest.fixture
def scenario(cable: Path) -> Scenario:
    return Scenario.load(cable)


def answer(
    scenario: Scenario,
    metric: Callable[[float], float],
    target: str,
    noise: float = 0.0,
    largest: bool = False,
    limits: Limits | None = None,
) -> Answer:
    """Search loads of 1 to 40 for a target on the median latency, `metric` being its expectation."""
    axis = parse_vary("workload.load=1..40", scenario, None, largest)
    goal, limits = parse_target(target), limits or Limits()
    search = Search(axis, goal, limits)
    while asked := search.ask():
        for position, replication in asked:
            luck = float(np.random.default_rng([position, replication]).standard_normal())
            latency = metric(axis.choice(position).number or 0) * (1 + noise * luck)
            search.add(position, replication, {"latency_p50_s": latency})
    return answer_of(search, axis, goal, limits, "cable", ["said before"])


def text(found: Answer, details: bool = False) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(screen(found, details=details))
    return console.export_text()


def test_without_chance_the_neighbour_is_told(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 500 ms")
    assert found.text == "Take 20: it meets p50(latency) <= 500 ms; 19 fails."
    assert found.interval == "19 fails; nothing is random here"
    assert f"{found.runs} runs. Holds for these requests: nothing is random here." in text(found)
    assert [tried.number for tried in found.curve] == sorted(tried.number or 0 for tried in found.curve)
    assert "0.526" in text(found)
    assert found.warnings == ("said before",)
    assert "500 ms" in found._repr_html_()


def test_with_chance_the_interval_is_told_from_low_to_high(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    assert found.low is not None
    assert found.high is not None
    assert found.answer == found.high
    smallest = "the smallest value that meets the target is"
    assert found.interval == f"{smallest} above {found.low.label} and at most {found.high.label}, at 95 % confidence"
    assert "The smallest value that meets the target is above" in text(found, details=True)
    assert found.text.startswith(f"Take {found.answer.label}: it meets p50(latency) <= 0.52 s")
    most = answer(scenario, lambda load: load, "p50(latency) <= 20.5 s", noise=0.01, largest=True)
    assert most.low is not None
    assert most.high is not None
    assert most.answer == most.low
    largest = "the largest value that meets the target is"
    assert most.interval == f"{largest} at least {most.low.label} and below {most.high.label}, at 95 % confidence"


def test_the_end_of_the_range_and_beyond_it(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 11 s")
    assert found.text == "Take 1: it meets p50(latency) <= 11 s, the smallest value tried."
    assert found.interval == "the smallest value that meets the target is at the end of the range"
    assert found.low is None
    unclear = answer(scenario, lambda load: 1 / load, "p50(latency) <= 1 s", noise=0.01, limits=Limits(most=5))
    assert unclear.low is None
    assert unclear.interval == "the smallest value that meets the target is at 2 or beyond, at 95 % confidence"
    assert unclear.text.endswith("; 1 is open.")
    assert "Open: 1; --max-replications narrows this." in text(unclear)


def test_what_is_not_attainable_tells_what_is_reached(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.2 s")
    assert found.attainable is False
    assert found.text == (
        "No workload.load from 1 to 40 meets p50(latency) <= 0.2 s: median latency at best 250 ms, at 40."
    )
    unclear = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.25 s", noise=0.01)
    assert unclear.attainable is None
    assert "is shown to meet p50(latency) <= 0.25 s" in unclear.text
    assert unclear.text.endswith("; 40 is open.")


def test_what_to_know_is_told(scenario: Scenario) -> None:
    turning = answer(scenario, lambda load: abs(load - 20), "p50(latency) <= 5 s")
    assert turning.answer is not None
    assert turning.answer.number == 15
    assert turning.warnings[0] == "values from 40 on fail again"
    short = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.05, limits=Limits(runs=40))
    assert any("--max-runs 40" in warning for warning in short.warnings)


def test_the_ratio_to_the_best_is_shown(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 2*best")
    assert found.answer is not None
    assert found.answer.number == 20
    assert found.answer.estimates[0].ratio == 2
    assert found.text == "Take 20: it is within 100 % of 40, the best (+100 %); 19 is worse (+111 %)."
    assert [each.word for each in found.curve[-2:]] == ["within", "best"]
    assert "against best, %" in text(found) and "Within: up to 100 % more than the best." in text(found)


def test_a_row_of_several_values_has_the_span_of_their_numbers(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s")
    row = next(line for line in text(found).splitlines() if "and less" in line)
    assert row.split()[0] == "7" and "1.43 to 10 " in row and "fails  (" in row
    mixed = [replace(each, word="open") if each.number == 7 else each for each in found.curve]
    assert "open or fails" in text(replace(found, curve=tuple(mixed)))


def test_values_are_never_cut(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 2*best", noise=0.01)
    *others, best = found.curve
    curve = tuple(replace(each, label=f"{each.label} of {38 * 'x'}") for each in others)
    shown = text(replace(found, curve=(*curve, best), answer=curve[-1], best=best)).splitlines()
    assert max(map(len, shown)) <= 80
    assert any(line.startswith(f"{curve[-1].label}  ") for line in shown)


def scripted(values: dict[int, float | None], best: int, scenario: Scenario) -> Answer:
    """An answer by the comparison of each load with the best: None is open."""
    axis = parse_vary(f"workload.load={','.join(map(str, values))}", scenario)
    goal, loads = parse_target("p90(latency) <= 1.05*best"), list(values)
    log = Scripted([values[each] for each in loads])
    search = Search(axis, goal, Limits(), log=log)
    while asked := search.ask():
        for position, replication in asked:
            search.add(position, replication, {"latency_p90_s": 1.0 if loads[position] == best else 2.0})
    return answer_of(search, axis, goal, Limits(), "log", [])


class Scripted(OfLog):
    """A log with the given change of each value against the best."""

    def __init__(self, changes: list[float | None]) -> None:
        super().__init__(0.95)
        self._changes = changes

    def judges(self, clause: Clause) -> bool:
        return True

    def holds(self, clause: Clause, position: int, rival: int | None) -> bool | None:
        change = self._changes[position]
        return None if change is None else change <= 0.05

    def interval(self, clause: Clause, position: int) -> tuple[float | None, float | None, float | None]:
        value = 1.0 if self._changes[position] == 0 else 2.0
        return value, value, value

    def ratio(self, clause: Clause, position: int, best: int) -> tuple[float | None, float | None, float | None]:
        change = self._changes[position]
        return (1.05, 0.9, 1.16) if change is None else (1 + change,) * 3

    def are_apart(self, clause: Clause, position: int, other: int) -> bool:
        changes = self._changes[position], self._changes[other]
        return None not in changes and abs((1 + (changes[0] or 0)) / (1 + (changes[1] or 0)) - 1) >= 0.01

    def beside(self, clause: Clause, position: int, best: int) -> Beside:
        return "within" if self.are_apart(clause, position, best) else "ties"


@pytest.mark.parametrize(
    ("values", "best", "words"),
    [
        (
            {24: 0.34, 26: 0.39, 27: None, 28: None, 29: None, 30: 0.0},
            30,
            "Take 27: it cannot be told apart from 30, the best (+5.0 %, −10.0 … +16.0 %); 26 is worse (+39.0 %).",
        ),
        (
            {1: 0.0, 2: None, 3: None, 4: 0.48, 8: 0.6, 16: 0.7},
            1,
            "Take 1, the best. 2 and 3 cannot be told apart from it (+5.0 %); 4 and more are worse (+48.0 to +70.0 %).",
        ),
        (
            {1: 0.3, 2: 0.04, 4: 0.0, 8: 0.2},
            4,
            "Take 2: it is within 5 % of 4, the best (+4.0 %); 1 is worse (+30.0 %); 8 is worse (+20.0 %).",
        ),
        (
            {1: None, 2: 0.3, 4: None, 8: 0.0},
            8,
            "Take 4: it cannot be told apart from 8, the best (+5.0 %, −10.0 … +16.0 %); 2 is worse (+30.0 %).",
        ),
        ({1: 0.0, 2: 0.009, 3: 0.002}, 1, "Take 1, the best. 2 and more tie with it (+0.2 to +0.9 %)."),
        ({1: 0.0, 2: 0.01, 3: 0.002}, 1, "Take 1, the best. 2 and more are within 5 % of it (+0.2 to +1.0 %)."),
        ({1: 0.3, 2: 0.0}, 2, "Take 2, the best. 1 is worse (+30.0 %)."),
    ],
)
def test_the_cheapest_value_that_is_not_worse_up_to_the_best(
    scenario: Scenario, values: dict[int, float | None], best: int, words: str
) -> None:
    found = scripted(values, best, scenario)
    assert found.text == words
    assert found.best is not None and found.best.number == best
    assert text(found).count("  best") == 1, "beside its row, not in its verdict too"
    shown = text(found).splitlines()
    assert len(shown) <= 15
    is_open = found.answer is not None and found.answer.word == "open"
    assert ("up to 16.0 % slower than" in text(found)) == is_open


def test_no_interval_begins_below_zero(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    wide = [replace(estimate, low=-1.0, high=2.0) for estimate in found.curve[0].estimates]
    said = text(replace(found, curve=(*found.curve[:-1], replace(found.curve[-1], estimates=tuple(wide)))), True)
    assert "0 … 2  meets" in said
    assert "-1" not in said


def test_json_has_everything(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    said = json.loads(json.dumps(found.to_dict()))
    assert said["answer"]["verdict"] == "meets"
    assert said["low"]["verdict"] == "does not meet"
    assert {"key", "target", "confidence", "attainable", "curve", "runs", "warnings", "largest"} <= set(said)
    again = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    assert again == found
    assert said["answer"]["word"] == "meets"
    assert "1 run. Holds" in text(replace(found, runs=1))
