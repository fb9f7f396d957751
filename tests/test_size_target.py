"""Targets of `farweb size`: readable ones, and the messages about others."""

import pytest

from farweb.results.metrics import METRICS
from farweb.size.target import DEFAULT, TargetError, parse_target


@pytest.mark.parametrize(
    ("text", "metric", "operator", "bound", "of_best"),
    [
        ("utilisation >= 0.98", "utilisation", ">=", 0.98, False),
        ("utilisation>=98 %", "utilisation", ">=", 0.98, False),
        ("p50(latency) <= 1.05*best", "latency_p50_s", "<=", 1.05, True),
        ("mean( first_byte )<500ms", "first_byte_mean_s", "<", 0.5, False),
        ("p95(latency) <= 1 min", "latency_p95_s", "<=", 60.0, False),
        ("max(queue_bytes) <= 64 KiB", "queue_bytes_max", "<=", 65536.0, False),
        ("goodput > 30 Mbit/s", "goodput_bps", ">", 30e6, False),
        ("carried >= 0.95 * best", "carried_bps", ">=", 0.95, True),
        ("latency_p50_s <= 0.25", "latency_p50_s", "<=", 0.25, False),
        ("max(leg_1_busy) <= 50", "leg_1_busy_max", "<=", 50.0, False),
        ("leg_0_connection_requests_max < 1.5*best", "leg_0_connection_requests_max", "<", 1.5, True),
        ("presented >= 10 Mbit/s", "presented_bps", ">=", 10e6, False),
        ("link_1_down_queue_bytes_mean <= 1e4", "link_1_down_queue_bytes_mean", "<=", 1e4, False),
        ("drops <= best", "drops", "<=", 1.0, True),
        ("within( 5000 ms ) >= 95 %", "within(5 s)", ">=", 0.95, False),
        ("failed_share <= 0.001", "failed_share", "<=", 0.001, False),
    ],
)
def test_a_clause_is_a_metric_an_operator_and_a_bound(
    text: str, metric: str, operator: str, bound: float, of_best: bool
) -> None:
    (clause,) = parse_target(text).clauses
    assert (clause.metric.name, clause.operator, clause.bound, clause.of_best) == (metric, operator, bound, of_best)
    assert clause.upper == (operator in ("<=", "<"))
    assert clause.strict == (operator in ("<", ">"))


def test_latency_alone_is_judged_by_the_rule_of_verdicts() -> None:
    (clause,) = parse_target(DEFAULT).clauses
    assert (clause.by_rule, clause.called, clause.bound, clause.of_best) == (True, "latency", 1.05, True)
    with pytest.raises(TargetError, match="latency alone is held against the best"):
        parse_target("latency <= 2 s")


def test_clauses_are_joined_by_and() -> None:
    target = parse_target(" drops<=0 and goodput>=  3 Mbit/s and p50(latency) <= 2*best ")
    assert [clause.metric.name for clause in target.clauses] == ["drops", "goodput_bps", "latency_p50_s"]
    assert str(target) == "drops <= 0 and goodput >= 3 Mbit/s and p50(latency) <= 2*best"


def test_every_metric_is_known_by_its_name() -> None:
    for name in METRICS:
        assert parse_target(f"{name} <= 1").clauses[0].metric is METRICS[name]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("p50(latncy) <= 1 s", 1, "did you mean latency_p50"),
        ("drops <= 0 and godput >= 1 bit/s", 16, "did you mean goodput"),
        ("hit_ratio >= 0.5", 1, "did you mean cache_0_hit_ratio"),
        ("drops = 0", 7, "one of <=, <, >=, >"),
        ("drops <= 0 or done >= 1", 10, 'unknown unit "or"'),
        ("drops <= 0 done >= 1", 10, 'unknown unit "done"'),
        ("drops <= few", 10, "'few', expected a number"),
        ("drops <=", 9, "'the end', expected a number"),
        ("drops <= 3 and", 15, "'the end', expected a metric"),
        ("p50(latency <= 3 s", 13, "expected )"),
        ("goodput >= 30 MB", 12, "units: bit/s, kbit/s, Mbit/s, Gbit/s"),
        ("goodput >= 30", 12, "needs a unit"),
        ("drops <= 3 s", 10, "it is a number"),
        ("p50(latency) <= 0.9*best", 17, "a factor above 1"),
        ("goodput > best", 11, "a factor between 0 and 1"),
        ("within(5 kB) >= 0.9", 8, "write a time above 0"),
        ("within(5 s >= 0.9", 18, "expected ) after within"),
        ("", 1, "expected a metric"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: int, words: str) -> None:
    with pytest.raises(TargetError) as error:
        parse_target(text)
    assert f"character {place}: " in str(error.value)
    assert words in str(error.value)
