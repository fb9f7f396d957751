"""The claims of the cable and the asymmetric study, on results made by hand: each is met, and each can fail."""

from collections.abc import Callable

import pytest

from farweb.reproduce.claims import Verdict, judge
from farweb.reproduce.scoreboard import judge_study
from farweb.reproduce.study import StudyResults
from sample_studies import ASYMMETRIC, CABLE, LINK, Change, results_of, satellite_of

Metrics = dict[str, float]


def verdicts(results: StudyResults) -> dict[str, Verdict]:
    return {each.claim.id: each for each in judge_study(results).verdicts}


def verdict(results: StudyResults, name: str) -> Verdict:
    """The verdict of one claim; the others are measured where its reason has their numbers."""
    (claim,) = (each for each in results.study.claims if each.id == name)
    if "{" in claim.why:
        return verdicts(results)[name]
    return judge(claim, results.study.name, results.study.measures[name](results))


def scaled(metric: str, factor: float, of: Callable[[int | None], bool], over: float = 0.0) -> Change:
    """A change of one metric, of some configurations, where more than `over` is presented."""

    def change(connections: int | None, metrics: Metrics) -> Metrics:
        if metric in metrics and of(connections) and metrics["presented_bps"] > over:
            metrics[metric] *= factor
        return metrics

    return change


def with_proxy(connections: int | None) -> bool:
    return connections is not None


def without(connections: int | None) -> bool:
    return connections is None


LATENCY = "sample_latency_mean_s"
QUEUE = "link_0_down_queue_bytes_mean"


@pytest.fixture(scope="module")
def judged() -> dict[str, Verdict]:
    """All claims: T of the cable, A of the asymmetric and S of the satellite study."""
    studies = (results_of("cable", CABLE), results_of("asymmetric", ASYMMETRIC), satellite_of())
    return {name: found for results in studies for name, found in verdicts(results).items()}


OF_ONE = 100 * 2000 / (5 * 20e3 * 620 * 1.0005 * 65e3 / LINK * 50)


@pytest.mark.parametrize(
    ("claim", "measured"),
    [
        *(("T1", 2.18), ("T2", 1.03), ("T4", 99.8), ("T5", 1.0), ("T6", -0.01), ("T7", -17.0), ("T11", OF_ONE)),
        *(("T13", 19.0), ("T14", 1.02 / 1.03 / 1.1), ("T16", 516)),
        *(("A1", 690), ("A2", 1.03), ("A5", -25), ("A6", 0.1 * 75), ("A8", 18), ("A9", 19)),
        *(("S1", 2.8), ("S2", 5.8), ("S3", 55), ("S5", 75), ("S6", -55), ("S7", 256_000), ("S9", 100)),
    ],
)
def test_what_claims_measure(judged: dict[str, Verdict], claim: str, measured: float) -> None:
    found = judged[claim]
    assert found.measured is not None
    assert found.measured.value == pytest.approx(measured, rel=1e-3)
    assert found.verdict == "pass"


def test_the_curve_leaves_the_line_where_the_link_is_full(judged: dict[str, Verdict]) -> None:
    found = judged["T3"]
    assert found.measured is not None
    assert found.verdict == "pass"
    assert found.measured.value == pytest.approx(0.2, abs=0.1)  # 99.8 % are carried at most


def test_latency_rises_between_the_loads_where_it_was_low_and_high(judged: dict[str, Verdict]) -> None:
    found = {each.what: each.value for each in judged["T8"].all}
    # Of 10 connections 60 % are 12.8 Mbit/s presented: between 10.1 (155 days) and 14.1 (217 days).
    assert 100 * 155 * 65e3 / 21.8e6 < found["10 connections"] < 100 * 217 * 65e3 / 21.8e6
    # 5 connections: between 4 and 6 Mbit/s, too far apart to tell.
    assert (judged["T8"].verdict, judged["T8"].why) == ("not run", "no run has a value for 5 connections")


def test_numbers_of_connections(judged: dict[str, Verdict]) -> None:
    assert {each.what: each.value for each in judged["T15"].all} == {"to use the link": 20, "for best latency": 35}
    assert {each.what: each.value for each in judged["A10"].all} == {"to use the link": 50, "for best latency": 70}


def test_of_several_measurements_the_worst_is_told(judged: dict[str, Verdict]) -> None:
    saturation = judged["A3"]
    assert {each.what: round(each.value, 1) for each in saturation.all}["35 connections"] == 70.3
    assert saturation.measured is not None
    assert (saturation.verdict, saturation.measured.bound) == ("pass", "50 and 70")


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("T1", scaled("carried_bps", 1.1, with_proxy)),
        ("T2", scaled("carried_bps", 1.05, without)),
        ("T4", scaled("carried_bps", 0.97, with_proxy)),
        ("T5", scaled("carried_bps", 0.9, lambda n: n == 10)),
        ("T6", scaled("carried_bps", 1.02, lambda n: n == 35)),
        ("T7", scaled(LATENCY, 1.1, with_proxy)),
        ("T9", scaled(QUEUE, 0.05, without, over=0.9 * LINK)),
        ("T10", scaled(QUEUE, 50, lambda n: n == 5, over=0.9 * LINK)),
        ("T11", scaled("link_0_up_queue_bytes_max", 300, without)),
        ("T12", scaled("leg_0_open_max", 0.01, without, over=0.9 * LINK)),
        ("T13", scaled("carried_up_bps", 1.2, with_proxy)),
        ("T14", scaled("carried_up_bps", 1.3, with_proxy)),
        ("T15", scaled("carried_bps", 0.9, lambda n: n == 20)),
        ("A1", scaled("carried_bps", 1.1, with_proxy)),
        ("A2", scaled("carried_bps", 1.05, without)),
        ("A3", scaled("carried_bps", 1.5, lambda n: n == 35)),
        ("A4", scaled("leg_0_connection_requests_max", 0.1, with_proxy)),
        ("A5", scaled(LATENCY, 1.2, with_proxy)),
        ("A6", scaled(LATENCY, 1.5, with_proxy, over=LINK / 30)),
        ("A8", scaled("link_1_down_bps", 2, with_proxy)),
        ("A9", scaled("carried_up_bps", 1.2, with_proxy)),
        ("A10", scaled("carried_bps", 1.5, lambda n: n == 35)),
    ],
)
def test_each_claim_can_fail(judged: dict[str, Verdict], claim: str, change: Change) -> None:
    assert judged[claim].verdict == "pass"
    study, model = {"T": ("cable", CABLE), "A": ("asymmetric", ASYMMETRIC)}[claim[0]]
    changed = verdict(results_of(study, model, change, 1), claim)
    assert changed.verdict == "fail" and changed.why


def test_persistence_gains_with_load(judged: dict[str, Verdict]) -> None:
    most, least, slope = judged["S4"].all
    assert (most.what, least.what) == ("most, at 26.2 Mbit/s", "least, at 0.065 Mbit/s")
    assert most.value == pytest.approx(20 + 10 * 403 / 620)
    assert slope.value == pytest.approx(10 * 10e6 / (620 * 65e3))


@pytest.mark.parametrize(
    ("claim", "configuration", "metric", "factor"),
    [
        ("S1", "noprxyTT1.0", LATENCY, 1.2),
        ("S2", "noprxySS1.0", LATENCY, 1.2),
        ("S3", "proxySS1.0", LATENCY, 1.2),
        ("S4", "noprxySS1.1", LATENCY, 1.3),
        ("S5", "noprxyST1.0", LATENCY, 1.2),
        ("S6", "proxySS1.1", LATENCY, 1.2),
        ("S7", "proxyST1.0", "link_0_down_queue_bytes_max", 1.00001),
        ("S8", "noprxyST1.1", "leg_0_open_max", 0.3),
        ("S9", "proxySS1.1", LATENCY, 1.2),
    ],
)
def test_each_claim_of_the_satellite_study_can_fail(
    judged: dict[str, Verdict], claim: str, configuration: str, metric: str, factor: float
) -> None:
    assert judged[claim].verdict == "pass"
    assert verdict(satellite_of({(configuration, metric): factor}), claim).verdict == "fail"


def test_a_wrong_order_is_named() -> None:
    found = verdicts(satellite_of({("noprxySS1.0", LATENCY): 0.75}))["S9"]
    assert found.measured is not None
    assert "noprxySS1.0 is not slower than noprxyST1.0" in found.measured.what
