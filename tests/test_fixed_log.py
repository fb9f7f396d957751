"""Sweeps with replications that repeat a log: intervals come from blocks of its time, and everything says so."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from farweb.library.sweep_results import SweepResults
from farweb.plot import draw
from farweb.report import report
from farweb.results.manifest import repeats_its_requests
from farweb.statistics.intervals import margin_of, resampled
from sample_reports import with_scenarios
from sample_results import Row, request
from sample_sweeps import Levels, design_of, write_sweep
from samples import SCENARIO

LOG = SCENARIO.replace("requests.csv", "log.csv")
NUMBER = 200
LATENCIES = np.random.default_rng(1).lognormal(size=NUMBER)


def swept(folder: Path, *, text: str = LOG, replications: int = 3) -> SweepResults:
    """Circuit b takes a tenth longer than a; replication r, which repeats the log, takes r µs longer."""

    def rows(levels: Levels, replication: int) -> Sequence[Row]:
        factor = 1.1 if levels["circuit"] == "b" else 1.0
        return [request(n, LATENCIES[n] * factor + 1e-6 * replication, 1000 << n % 4) for n in range(NUMBER)]

    design = design_of({"circuit": ["a", "b"]}, replications)
    return with_scenarios(write_sweep(folder / "s", design, None, rows), lambda _: {}, text)


@pytest.mark.parametrize(
    ("workload", "repeats"),
    [
        ({"requests": "log.csv", "family": None}, True),
        ({"requests": "log.csv", "scale": "rate"}, True),
        ({"requests": "log-{seed}.csv"}, False),
        ({"requests": "log.csv", "resample": "days"}, False),
        ({"family": "nzix", "requests": None}, False),
        (None, False),
    ],
)
def test_replications_repeat_a_table_that_is_neither_resampled_nor_one_a_seed(workload: Row, repeats: bool) -> None:
    assert repeats_its_requests({"workload": workload}) is repeats


def test_estimates_have_the_intervals_of_blocks_and_others_none(tmp_path: Path) -> None:
    sweep = swept(tmp_path)
    row = sweep.estimates(["latency_p50_s"]).row(0, named=True)
    assert (row["interval_of"], row["method"], row["n"]) == ("blocks", "bootstrap", 3)
    half = margin_of(resampled(np.array_split(LATENCIES, 20), 0.5), 20)
    assert (row["mean"] - row["low"], row["high"] - row["mean"]) == pytest.approx((half, half), rel=0.05)
    assert half > 0.05  # replications alone would say 2 µs
    goodput = sweep.estimates(["goodput_bps"]).row(0, named=True)
    assert (goodput["interval_of"], goodput["low"], goodput["n"]) == ("none", None, 3)
    mean = sweep.estimates(["latency_mean_s"]).row(0, named=True)
    assert mean["interval_of"] == "blocks" and mean["high"] - mean["mean"] > 0.05


def test_differences_are_resampled_together(tmp_path: Path) -> None:
    """Both circuits share what varies from block to block: a tenth of it is left in the difference."""
    sweep = swept(tmp_path)
    row = sweep.differences(["latency_p50_s"]).row(0, named=True)
    of_one = sweep.estimates(["latency_p50_s"]).row(0, named=True)
    assert row["interval_of"] == "blocks"
    assert row["high"] - row["mean"] == pytest.approx((of_one["high"] - of_one["mean"]) / 10, rel=0.05)
    assert row["unpaired_half_width"] is None


def test_requests_of_their_own_leave_intervals_to_replications(tmp_path: Path) -> None:
    sweep = swept(tmp_path, text=SCENARIO)
    rows = [table(["latency_p50_s"]).row(0, named=True) for table in (sweep.estimates, sweep.differences)]
    assert {row["interval_of"] for row in rows} == {"replications"}
    assert rows[0]["high"] - rows[0]["mean"] < 1e-4


@pytest.mark.usefixtures("unpainted")
def test_show_report_and_figures_say_so(tmp_path: Path) -> None:
    sweep = swept(tmp_path)
    shown = sweep.summary()
    html = shown._repr_html_()
    assert "Estimates, ± 95 % interval of time blocks" in html
    assert "To cover other weeks, set workload.resample" in html
    (judged,) = shown.to_dict()["judged"]
    assert judged["interval_of"] == "blocks" and "Holds for this log" in judged["holds"]
    page = report([sweep]).html()
    assert "of time blocks of the log" in page
    caption = draw("cdf", [sweep]).description.caption
    assert "each time block of this log taken as a cluster" in caption


def test_two_replications_are_named_beside_their_intervals(tmp_path: Path) -> None:
    html = swept(tmp_path, text=SCENARIO, replications=2).summary()._repr_html_()
    assert "interval of seeds; 2 seeds: ± 12.7 standard errors" in html


def test_nobody_is_sent_for_replications_of_a_log(tmp_path: Path) -> None:
    html = swept(tmp_path / "family", text=SCENARIO, replications=1).summary()._repr_html_()
    assert "set sweep.replications" in html
    assert "interval" not in re.findall(r"Estimates[^<]*<", html)[0]
    html = swept(tmp_path / "log", replications=1).summary()._repr_html_()
    assert "interval of time blocks" in html
    assert "sweep.replications" not in html
