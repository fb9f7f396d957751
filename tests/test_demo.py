"""The demonstration and the examples, end to end."""

import contextlib
import io
import re
from pathlib import Path

import polars as pl
import pytest

from farweb.cli import main
from farweb.cli.demonstration import EXAMPLES, SCENARIOS
from farweb.library.run_results import Results
from farweb.library.scenario import Scenario
from farweb.text.quantities import number

RTT_S = {"cable": 0.12, "satellite": 0.64}

# The published queue is 256,000 B on both paths; 34.368 Mbit/s × 640 ms are 2.75 MB.
SMALL = "256 kB is 9.31 % of what the path holds (2.75 MB): bursts will lose packets"
WARNINGS = {"cable": [], "satellite": [f"path.link.0.{way}.queue: {SMALL}" for way in ("up", "down")]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a demonstration and its output."""
    out = tmp_path_factory.mktemp("demo") / "demo"
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "100")
        assert main(["demo", "--out", str(out)]) == 0
    return out, shown.getvalue()


@pytest.mark.slow(reason="demonstration")
def test_the_demonstration_leaves_figures_and_a_report_and_tells_where(made: tuple[Path, str]) -> None:
    out, shown = made
    for name in ("size-latency.png", "cdf.png", "timeseq.png", "report.html"):
        assert (out / name).stat().st_size > 10_000
        assert str(out / name) in shown
    assert str(EXAMPLES) in shown
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


@pytest.mark.slow(reason="demonstration")
def test_the_table_it_prints_is_that_of_the_runs(made: tuple[Path, str]) -> None:
    out, shown = made
    for name in SCENARIOS:
        summary = Results.open(out / name).summary()
        (row,) = [line for line in shown.splitlines() if re.match(rf"{name} +\d", line)]
        assert row.split()[1:3] == [number(summary.latency.mean_s), number(summary.latency.p50_s)]
    assert "Over a satellite 418 of 418 requests are slower than over a sea cable: 3" in shown


@pytest.mark.slow(reason="demonstration")
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_request_is_answered_and_none_faster_than_the_path_allows(made: tuple[Path, str], name: str) -> None:
    results = Results.open(made[0] / name)
    requests = results.requests
    assert set(requests["status"]) == {"done"}
    latency_s = (requests["end_ns"] - requests["start_ns"]) / 1e9
    assert min(latency_s.to_list()) > 2 * RTT_S[name]  # one round trip to connect, one to ask
    assert not results.links.is_empty()
    assert set(results.packets["connection"]) == set(requests["connection"])


@pytest.mark.slow(reason="demonstration")
def test_both_paths_carry_the_same_requests(made: tuple[Path, str]) -> None:
    same = ["request", "host", "start_ns", "request_bytes", "response_bytes"]
    cable, satellite = (Results.open(made[0] / name).requests.select(same).sort("request") for name in SCENARIOS)
    assert cable.equals(satellite)
    assert cable.select(pl.col("response_bytes").mean()).item() == pytest.approx(11_000, rel=0.1)


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_example_runs_as_it_lies(tmp_path: Path, name: str) -> None:
    scenario = Scenario.load(EXAMPLES / f"{name}.toml")
    assert scenario.check().warnings == WARNINGS[name]
    results = scenario.run(out=tmp_path / "results")
    assert results.summary().done == 8
