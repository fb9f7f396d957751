"""`farweb workload path`: rates and gaps of files that links name."""

import json
from pathlib import Path

import pytest

from farweb.inputs.path_stats import describe, read_path_stats
from samples import Farweb


def handovers(path: Path) -> Path:
    """Two opportunities a ms for a minute, but for 100 ms every 15 s and a little more."""
    times = [at for at in range(1, 60_001) if not 0 <= (at - 7_000) % 15_000 < 100 for _ in range(2)]
    path.write_text("".join(f"{at}\n" for at in times))
    return path


def test_a_trace_has_rates_by_percent_and_gaps_with_their_period(folder: Path) -> None:
    found = read_path_stats(handovers(folder / "down.trace"))
    assert (found.kind, found.rows, found.length_s, found.window_s) == ("trace", 2 * (60_000 - 400), 60, 0.1)
    assert found.rate_bps is not None
    assert (found.rate_bps["1"], found.rate_bps["5"], found.rate_bps["99"]) == (23.76e6, 24e6, 24e6)
    assert found.mean_bps == pytest.approx(24e6 * (1 - 400 / 60_000))
    assert (found.gaps.number, found.gaps.shortest_s, found.gaps.longest_s) == (4, 0.101, 0.101)
    assert found.gaps.period_s == 15
    assert [at for at, _ in found.gaps.at] == [6.999, 21.999, 36.999, 51.999]
    panels = [panel.title for panel in describe(found).panels]
    assert panels == ["Rate in 100 ms", "4 gaps, every 15 s", "Rates in 100 ms"]


def test_gaps_at_any_time_have_no_period(folder: Path) -> None:
    gone = [1_000, 2_900, 3_700, 7_000]
    times = (at for at in range(1, 9_001) if all(not 0 <= at - begin < 80 for begin in gone))
    (folder / "down.trace").write_text("".join(f"{at}\n" for at in times))
    gaps = read_path_stats(folder / "down.trace").gaps
    assert (gaps.number, gaps.period_s) == (4, None)


def test_a_schedule_without_losses_says_none(folder: Path, farweb: Farweb) -> None:
    (folder / "pass.csv").write_text("time_s,rate_mbps,loss\n0,8,0\n5,4,\n")
    shown = farweb("workload", "path", folder / "pass.csv").out
    assert "loss" not in shown
    assert [line.split() for line in shown.splitlines() if line.startswith("gaps")] == [["gaps", "none"]]


def test_a_schedule_has_outages_delays_and_losses(folder: Path) -> None:
    rows = ["0,8,20,", "2,0,,", "3,4,40,0.01", "10,,,"]
    (folder / "pass.csv").write_text("\n".join(["time_s,rate_mbps,delay_ms,loss", *rows]))
    found = read_path_stats(folder / "pass.csv")
    assert (found.kind, found.rows, found.length_s) == ("schedule", 4, 10)
    assert found.mean_bps == pytest.approx(4.4e6)
    assert (found.gaps.number, found.gaps.at) == (1, ((2, 1),))
    assert (found.delay_s, found.loss_max) == ((0.02, 0.04), 0.01)


def test_the_command_prints_draws_and_has_json(folder: Path, farweb: Farweb) -> None:
    handovers(folder / "down.trace")
    answer = farweb("workload", "path", "down.trace", "-o", "down.png")
    assert answer.code == 0
    assert "4, 101 ms, every 15 s" in answer.out.replace("101 ms to 101 ms", "101 ms")
    assert (folder / "down.png").stat().st_size > 10_000
    found = json.loads(farweb("workload", "path", "down.trace", "--json").out)
    assert (found["kind"], found["gaps"]["number"], found["rate_bps"]["50"]) == ("trace", 4, 24e6)


def test_what_is_neither_trace_nor_schedule_is_refused(folder: Path, farweb: Farweb) -> None:
    (folder / "down.trace").write_text("2\n1\n")
    (folder / "pass.csv").write_text("time,rate\n")
    for name, message in (
        ("down.trace", 'down.trace:2: found "1" behind "2"; write times in whole ms that do not go back'),
        ("pass.csv", 'pass.csv:1: unknown column "time"'),
        ("none", "none: no such file; name a schedule or a trace"),
    ):
        answer = farweb("workload", "path", name)
        assert (answer.code, message in answer.err) == (2, True), answer.err
