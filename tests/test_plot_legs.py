"""Figures of legs: connections over time, and where the time of requests goes."""

from pathlib import Path

import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.library.run_results import Results
from farweb.paint.figure import Figure, Panel
from farweb.plot import describe
from farweb.plot.figures.breakdown import _SHOWN
from farweb.plot.figures.connections import intervals
from farweb.plot.measured import POINTS_MAX
from farweb.results.parts import KINDS
from sample_results import SECOND, exchange, leg, leg_interval, request, write_results

MUX = {"kind": "mux", "connections": 20}


def test_connections_over_time_of_each_leg(tmp_path: Path) -> None:
    rows = [
        leg_interval(0, 0, open_mean=18.0, open_max=20, busy_mean=2.0, requests_mean=3.5, requests_max=9),
        leg_interval(0, 1, open_mean=20.0, open_max=20, busy_mean=8.0, requests_mean=12.0, connection_requests_max=4),
        leg_interval(1, 0, open_mean=3.5, open_max=7),
        leg_interval(1, 1, open_mean=12.0, open_max=30),
    ]
    results = write_results(tmp_path / "a", legs=rows, scenario=[leg(MUX), leg()])
    figure = describe("connections", [results])
    inner, requests, outer, _ = figure.panels
    assert (inner.title, requests.note) == ("leg 0: client – proxy1, mux over 20", "at most 4 on one connection")
    assert outer.title == "leg 1: proxy1 – server, http/1.0"
    peak, opened, busy = inner.series
    assert (opened.label, opened.x.tolist(), opened.y.tolist()) == ("open", [0, 1, 2], [18, 20, 20])
    assert (busy.label, busy.y.tolist(), peak.y.tolist()) == ("busy", [2, 8, 8], [20, 20, 20])
    assert [series.y.tolist() for series in requests.series] == [[9, 0, 0], [3.5, 12, 12]]
    assert outer.series[0].y.tolist() == [7, 30, 30]


def test_intervals_are_merged_by_their_length(tmp_path: Path) -> None:
    rows = [leg_interval(0, number, open_mean=float(number % 2), open_max=number) for number in range(POINTS_MAX + 1)]
    rows[-1] = {**rows[-1], "interval_ns": SECOND // 2, "time_ns": rows[-1]["time_ns"] - SECOND // 2, "open_mean": 4.0}
    results = write_results(tmp_path / "a", legs=rows, scenario=[leg()])
    shown = intervals(results.legs, 0)
    samples = shown.rows
    assert (shown.length_s, len(samples)) == (2, POINTS_MAX // 2 + 1)
    assert samples["open_mean"][:2].to_list() == [0.5, 0.5]
    assert samples["open_max"][:2].to_list() == [1, 3]
    assert samples.row(-1)[:3] == (POINTS_MAX, POINTS_MAX + 0.5, 4.0)


def test_a_run_without_intervals_says_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"record\.links_every"):
        describe("connections", [write_results(tmp_path / "absent", scenario=[leg()])])
    with pytest.raises(ResultsError, match=r"record\.links_every"):
        describe("connections", [write_results(tmp_path / "empty", legs=[], scenario=[leg()])])
    results = write_results(tmp_path / "a", legs=[leg_interval(0, 0)], scenario=[leg()])
    with pytest.raises(ResultsError, match="is a run, and plot connections has option x of a sweep only"):
        describe("connections", [results], x="presented_bps")


def ends(panel: Panel) -> list[float]:
    """Where each bar of a panel ends."""
    most = [0.0] * len(panel.y.levels)
    for series in panel.series:
        assert series.base is not None
        for place, (base, length) in enumerate(zip(series.base, series.x, strict=True)):
            assert base == pytest.approx(most[place])  # on the part before
            most[place] = base + length
    return most


def part(figure: Figure, label: str) -> list[float]:
    (series,) = [series for series in figure.panels[0].series if series.label == label]
    return [float(length) for length in series.x]


def one_leg(path: Path) -> Results:
    return write_results(path, [request(1, 1.0, 3000, tag="sample")], exchanges=[exchange(1)], scenario=[leg()])


def test_the_parts_of_several_runs_stand_on_one_another(tmp_path: Path) -> None:
    near = {"requested_ns": 1_100_000_000, "connect_ns": 1_000_000_000, "cwnd_ns": 0, "ready_first_ns": 1_200_000_000}
    near |= {"ready_last_ns": 1_550_000_000, "sent_last_ns": 1_600_000_000, "end_ns": 1_700_000_000}
    far = {"leg": 1, "start_ns": 1_100_000_000, "connect_ns": 1_250_000_000, "requested_ns": 1_300_000_000}
    far |= {"ready_last_ns": 1_480_000_000, "sent_last_ns": 1_480_000_000, "end_ns": 1_550_000_000}
    chain = write_results(
        tmp_path / "chain",
        [request(1, 0.7, 3000, tag="sample")],
        exchanges=[exchange(1, **near), exchange(1, **far)],
        scenario=[leg(MUX), leg()],
    )
    figure = describe("breakdown", [one_leg(tmp_path / "one"), chain])
    time, trips = figure.panels
    assert time.y.levels == ("one", "chain", "\u2003\u2003leg 0, mux", "\u2003\u2003leg 1, http/1.0")
    # One request of 1 s; with the proxy of 0.7 s: 0.1 and 0.15 s on leg 0, 0.2 s up and 0.25 s down on leg 1.
    assert ends(time) == pytest.approx([1, 0.7, 0.25, 0.45])
    assert ends(trips) == pytest.approx([1 / 0.12, 0.7 / 0.24, 0.25 / 0.24, 0.45 / 0.24])
    assert part(figure, "server and its pace") == pytest.approx([0.5, 0.18, 0, 0.18])
    without = describe("breakdown", [one_leg(tmp_path / "two"), chain], without=["server"])
    assert ends(without.panels[0]) == pytest.approx([0.5, 0.52, 0.25, 0.27])
    assert "Not in the bars: server and its pace." in without.caption
    with pytest.raises(
        FarwebError, match="no part 'sever' to leave out; server\\? parts: wait, handshake, way, server"
    ):
        describe("breakdown", [chain], without=["sever"])
    assert part(figure, "connecting") == pytest.approx([0.12, 0.15, 0, 0.15])
    assert part(figure, "on the way") == pytest.approx([0.12, 0.27, 0.16, 0.11])
    assert part(figure, "slow start") == pytest.approx([0.2, 0, 0, 0])
    assert part(figure, "held otherwise (pacing, Nagle)") == pytest.approx([0.02, 0.05, 0.05, 0])
    assert part(figure, "queues and transmission") == pytest.approx([0.04, 0.05, 0.04, 0.01])
    assert "waiting for a connection or a fetch" not in [series.label for series in time.series]
    assert "n = 1 request tagged sample (120 ms a round trip) and 1 request tagged sample (240 ms" in figure.caption


def test_each_kind_of_part_is_drawn_in_one_place_and_alone_under_its_own_name() -> None:
    assert sorted(kind for part in _SHOWN for kind in part.kinds) == sorted(KINDS)
    assert {part.label for part in _SHOWN} >= {KINDS["relay"], KINDS["rest"]}
