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
from farweb.size.answer import Answer, answer_of, shown
from farweb.size.search import Limits, Search
from farweb.size.target import parse_target
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


def text(found: Answer) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(found)
    return console.export_text()


def test_without_chance_the_neighbour_is_told(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 500 ms")
    assert found.text == (
        "The smallest workload.load with p50(latency) <= 500 ms is 20 "
        f"(19 does not meet it; the seed makes no difference); {found.runs} runs."
    )
    assert [tried.number for tried in found.curve] == sorted(tried.number or 0 for tried in found.curve)
    assert "526.32 ms" in text(found)
    assert "warning: said before" in text(found)
    assert "500 ms" in found._repr_html_()


def test_with_chance_the_interval_is_told_from_low_to_high(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    assert found.low is not None
    assert found.high is not None
    assert found.answer == found.high
    assert f"above {found.low.label}, at most {found.high.label} at 95 % confidence" in found.text
    most = answer(scenario, lambda load: load, "p50(latency) <= 20.5 s", noise=0.01, largest=True)
    assert most.low is not None
    assert most.high is not None
    assert most.answer == most.low
    assert "The largest workload.load with" in most.text
    assert f"at least {most.low.label}, below {most.high.label} at 95 % confidence" in most.text


def test_the_end_of_the_range_and_beyond_it(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 11 s")
    assert "is 1 (at the end of the range); " in found.text
    assert found.low is None
    unclear = answer(scenario, lambda load: 1 / load, "p50(latency) <= 1 s", noise=0.01, limits=Limits(most=5))
    assert unclear.low is None
    assert "(or beyond, at 95 % confidence)" in unclear.text
    assert "not decided after 5 replications: 1; " in " ".join(unclear.warnings)


def test_what_is_not_attainable_tells_what_is_reached(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.2 s")
    assert found.attainable is False
    assert found.text.startswith(
        "No workload.load from 1 to 40 meets p50(latency) <= 0.2 s (the seed makes no difference): "
        "the best latency_p50_s is 250 ms at 40; "
    )
    unclear = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.25 s", noise=0.01)
    assert unclear.attainable is None
    assert "was shown to meet p50(latency) <= 0.25 s, and not every value was shown not to" in unclear.text


def test_what_to_know_is_told(scenario: Scenario) -> None:
    turning = answer(scenario, lambda load: abs(load - 20), "p50(latency) <= 5 s")
    assert turning.answer is not None
    assert turning.answer.number == 15
    assert "not met at 40 beyond the answer" in turning.warnings[0]
    short = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.05, limits=Limits(runs=40))
    assert any("--max-runs 40" in warning for warning in short.warnings)


def test_the_ratio_to_the_best_is_shown(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 2*best")
    assert found.answer is not None
    assert found.answer.number == 20
    assert found.answer.estimates[0].ratio == 2
    assert "of best" in text(found)


def test_no_interval_begins_below_zero(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    wide = [replace(estimate, low=-1.0, high=2.0) for estimate in found.curve[0].estimates]
    said = text(replace(found, curve=(replace(found.curve[0], estimates=tuple(wide)), *found.curve[1:])))
    assert "0 … 2 s" in said
    assert "-1 s" not in said


def test_json_has_everything(scenario: Scenario) -> None:
    found = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    said = json.loads(json.dumps(found.to_dict()))
    assert said["answer"]["verdict"] == "meets"
    assert said["low"]["verdict"] == "does not meet"
    assert {"key", "target", "confidence", "attainable", "curve", "runs", "warnings", "largest"} <= set(said)
    again = answer(scenario, lambda load: 10 / load, "p50(latency) <= 0.52 s", noise=0.01)
    assert again == found
    assert replace(found, runs=1).text.endswith("; 1 run.")


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0.97984, "1", "0.97984"),
        (3, "", "3"),
        (1234567.8, "", "1,234,568"),
        (0.0123456, "s", "12.346 ms"),
        (90, "s", "90 s"),
        (29_987_654, "bit/s", "29.988 Mbit/s"),
        (65536, "B", "65.536 kB"),
        (0, "B", "0 B"),
        (None, "B", "–"),
    ],
)
def test_estimates_have_five_digits(value: float | None, unit: str, words: str) -> None:
    assert shown(value, unit) == words
