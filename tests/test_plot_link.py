"""The link figure, against results made by hand."""

from pathlib import Path

import pytest

from farweb.errors import ResultsError
from farweb.plot import describe, draw
from farweb.plot.figures.link import intervals
from farweb.plot.measured import POINTS_MAX
from sample_results import interval, write_results


def test_panels_hold_rate_queue_busy_and_drops(tmp_path: Path) -> None:
    rows = [
        interval(0, "down", 0, bytes=1_000_000, queue_bytes_mean=100.0, queue_bytes_max=3000, busy=0.25, drops=2),
        interval(0, "down", 1, bytes=500_000, queue_bytes_mean=50.0, queue_bytes_max=1500, busy=0.125),
        interval(0, "up", 0, bytes=1000),
        interval(0, "up", 1, bytes=2000),
    ]
    figure = describe("link", [write_results(tmp_path / "a", [], links=rows)])

    rate, up, queue, _, busy, _, drops, _ = figure.panels
    # Each holds until the next; the last level is drawn again where it ends.
    assert [panel.series[-1].y.tolist() for panel in (rate, queue, busy, drops)] == [
        [8e6, 4e6, 4e6],
        [100, 50, 50],
        [25, 12.5, 12.5],
        [2, 0, 0],
    ]
    assert rate.series[0].x.tolist() == [0, 1, 2]
    assert queue.series[0].y.tolist() == [3000, 1500, 1500]  # the peak, behind the mean
    assert [panel.y.label for panel in (rate, up, queue, busy)] == [
        "throughput [Mbit/s]",
        "throughput [kbit/s]",
        "queue [kB]",
        "busy [%]",
    ]
    assert rate.title == "down, server → client\n34.4 Mbit/s, 60 ms, queue 256 kB"
    assert drops.note == "2 dropped in all"


def test_a_rate_that_changes_is_drawn_behind_what_was_carried(tmp_path: Path) -> None:
    rows = [
        *(interval(0, "down", n, bytes=500, available_bytes=available) for n, available in enumerate((1000, 4000))),
        *(interval(0, "up", n, bytes=500, available_bytes=1000) for n in range(2)),
    ]
    figure = describe("link", [write_results(tmp_path / "a", [], links=rows)])
    down, up = figure.panels[:2]
    assert [(each.part, each.y.tolist()) for each in down.series] == [
        ("rate in force", [8000, 32000, 32000]),
        ("carried", [4000, 4000, 4000]),
    ]
    assert [each.part for each in up.series] == [""]
    assert "(grey: the rate in force)" in figure.caption


def test_a_discipline_is_named_with_its_limit_and_drops_by_reason(tmp_path: Path) -> None:
    rows = [interval(0, way, 0, drops=5, drops_full=2, drops_aqm=3) for way in ("up", "down")]
    results = write_results(tmp_path / "a", links=rows)
    results.manifest["scenario"]["path"]["link"][0]["down"]["queue"] = {"kind": "fq-codel", "limit": "10240 packets"}
    figure = describe("link", [results])
    assert figure.panels[0].title.endswith("queue fq-codel 10240 packets")
    assert figure.panels[-1].note == "5 dropped in all: 2 by a full queue, 3 by AQM"


def test_marks_stand_beside_drops_where_there_are_any(tmp_path: Path) -> None:
    rows = [interval(0, way, 0, drops=5, drops_full=5, marks=7 * (way == "down")) for way in ("up", "down")]
    results = [write_results(tmp_path / "a", links=rows)]
    for name, label in (("link", "dropped"), ("queue", "by a full queue")):
        down, up = describe(name, results).panels[-2:]
        assert [(each.label, each.y.tolist()) for each in down.series] == [(label, [5, 5]), ("marked", [7, 7])]
        assert (down.y.label, down.note) == ("drops, marks", "5 dropped in all; 7 marked")
        assert (len(up.series), up.y.label, up.note) == (1, "drops", "5 dropped in all")


def test_a_queue_is_drawn_with_its_waits_where_they_are_measured(tmp_path: Path) -> None:
    waits = {"sojourn_p50_s": 0.002, "sojourn_p95_s": 0.02, "sojourn_max_s": 0.05}
    rows = [interval(0, way, 0, queue_bytes_max=3000, drops=5, drops_full=2, drops_aqm=3) for way in ("up", "down")]
    figure = describe("queue", [write_results(tmp_path / "a", links=[{**row, **waits} for row in rows])])
    assert [panel.y.label for panel in figure.panels[::2]] == ["queue [kB]", "wait [ms]", "drops"]
    assert [(each.part, each.y.tolist()) for each in figure.panels[2].series] == [
        ("longest", [0.05, 0.05]),
        ("95th percentile", [0.02, 0.02]),
        ("median", [0.002, 0.002]),
    ]
    assert [(each.part, each.y.tolist()) for each in figure.panels[4].series] == [
        ("drops_full", [2, 2]),
        ("drops_aqm", [3, 3]),
    ]
    labelled = [each.index for panel in figure.panels[2:5:2] for each in panel.series]
    assert len(set(labelled)) == len(labelled), "a colour each"
    assert "(shade: the longest)" in figure.caption
    assert figure.panels[4].note == "5 dropped in all"
    bare = describe("queue", [write_results(tmp_path / "b", links=rows)])
    assert [panel.y.label for panel in bare.panels[::2]] == ["queue [kB]", "drops"]
    assert "record.sojourn = true" in bare.caption


def test_a_direction_that_loses_packets_says_how(tmp_path: Path) -> None:
    results = write_results(tmp_path / "a", links=[interval(0, way, 0) for way in ("up", "down")])
    one = results.manifest["scenario"]["path"]["link"][0]
    changes = {"delay": "22500 us", "loss": {"kind": "bernoulli", "probability": 0.002}, "jitter": {"uniform": "3 ms"}}
    results.manifest["scenario"]["path"]["link"] = [{**one, "up": one["up"] | changes}]
    down, up = describe("link", [results]).panels[:2]
    assert up.title.endswith("Mbit/s, 22.5 ms, queue 256 kB, loss 0.200 %\njitter")
    assert "loss" not in down.title


def test_the_busiest_link_is_drawn_unless_one_is_named(tmp_path: Path) -> None:
    rows = [interval(link, way, 0, busy=0.1 + 0.5 * link) for link in (0, 1) for way in ("up", "down")]
    results = write_results(tmp_path / "a", links=rows)
    titles = [describe("link", [results], link=link).panels[0].title for link in (None, 0, 1)]
    assert [title.splitlines()[0] for title in titles] == [
        "down, server → router1",
        "down, router1 → client",
        "down, server → router1",
    ]
    with pytest.raises(ResultsError, match="there is no link 2; links: 0, 1"):
        draw("link", [results], link=2)


def test_merged_intervals_keep_totals_means_and_peaks(tmp_path: Path) -> None:
    number = 3 * POINTS_MAX
    rows = [
        interval(0, "up", n, bytes=n, drops=n % 2, queue_bytes_mean=float(n % 3), queue_bytes_max=n, busy=0.5)
        for n in range(number)
    ]
    shown = intervals(write_results(tmp_path / "a", links=rows).links, "up")
    samples = shown.rows
    assert len(samples) == POINTS_MAX
    assert shown.length_s == 3
    assert samples["drops"].sum() == number // 2
    assert samples["rate_bps"].sum() == pytest.approx(8 / 3 * sum(range(number)))
    assert samples["queue_mean"].unique().to_list() == [1.0]
    assert samples["queue_max"].to_list()[:2] == [2, 5]
    assert samples["from_s"].to_list()[1:] == samples["to_s"].to_list()[:-1]


def test_results_without_intervals_say_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"record\.links_every"):
        draw("link", [write_results(tmp_path / "absent")])
    with pytest.raises(ResultsError, match=r"record\.links_every"):
        draw("link", [write_results(tmp_path / "empty", links=[])])


def test_only_one_result_at_a_time(tmp_path: Path) -> None:
    results = write_results(tmp_path / "a", links=[interval(0, "up", 0)])
    with pytest.raises(ResultsError, match="one result at a time, not 2"):
        draw("link", [results, results])
