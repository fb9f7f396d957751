"""What limits a connection over time: slow start, its window, recovery; and its round trips."""

from pathlib import Path

import pytest

from farweb.library.scenario import Scenario
from farweb.plot import describe
from sample_results import request, write_results
from samples import scenario_of
from test_plot_connection import connection


def test_round_trips_slow_start_and_recovery(tmp_path: Path) -> None:
    # The threshold of 1 GB is above cwnd until the loss at 0.65 s, which sets it to 2000 = cwnd afterwards. The cwnd of
    # 2000 is full from the second segment to the acknowledgement that makes it 3000: 2000 are used then.
    results = write_results(tmp_path / "a", [request(3, 1.0, 3000)], packets=connection(3))
    panel = describe("timeseq", [results]).panels[0]
    # The first segment is acknowledged at 0.25 s, the one sent then at 0.75 s.
    assert [round(begin, 6) for begin in panel.rounds] == [0.15, 0.25]
    found = [(phase.label, round(phase.begin, 6), round(phase.end, 6)) for phase in panel.phases]
    assert found == [("slow start", 0.151, 0.25), ("recovery", 0.65, 0.75)]
    assert describe("cwnd", [results]).panels[0].phases == panel.phases


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (8000, [("slow start", 0.151, 0.25)]),
        # At 0.15 s one segment fills it; from 0.25 s on two of 1000 leave room for none.
        (1500, [("limited by the window", 0.15, 0.65)]),
        # Where both are alike cwnd may grow, and the window is the limit.
        (2000, [("limited by the window", 0.151, 0.65)]),
        # An agent of ns-2 that advertises nothing.
        (0, [("slow start", 0.151, 0.25)]),
    ],
)
def test_the_smaller_of_cwnd_and_window_is_the_limit_where_it_is_full(
    tmp_path: Path, window: int, expected: list[tuple[str, float, float]]
) -> None:
    packets = [{**row, "window_bytes": window} for row in connection(3)]
    results = write_results(tmp_path / "a", [request(3, 1.0, 3000)], packets=packets)
    for name in ("timeseq", "cwnd"):
        figure = describe(name, [results])
        found = [(phase.label, round(phase.begin, 6), round(phase.end, 6)) for phase in figure.panels[0].phases]
        assert found == [*expected, ("recovery", 0.65, 0.75)]
        assert "limited by the window" in figure.caption


def test_the_shade_of_the_window_lasts_as_long_as_the_run_was_held_by_it(tmp_path: Path) -> None:
    """A run with a window of 16 kB; the core counts by itself how long it holds the sender."""
    (tmp_path / "requests.csv").write_text("start_s,host,request_bytes,response_bytes,server_s\n0,a,300,200000,0\n")
    (tmp_path / "window.toml").write_text(WINDOW)
    results = Scenario.load(tmp_path / "window.toml").run(out=tmp_path / "run")
    (held,) = results.connections["held_window_ns"]
    (panel,) = describe("cwnd", [results]).panels
    by = {phase.label: 0.0 for phase in panel.phases}
    for phase in panel.phases:
        by[phase.label] += phase.end - phase.begin
    assert by["limited by the window"] == pytest.approx(held / 1e9, rel=0.01)
    assert 0.3 < by["slow start"] < 0.6


LEG = 'client server http/1.0\ntcp = { profile = "bsd44-lite", mss = "1460 B", from = { buffer = "16 kB" } }'
RECORD = '[record]\npackets = "all"\nexchanges = true\nconnections = true\n'
WINDOW = scenario_of("client server", "10 Mbit/s, 40 ms", legs=[LEG], rest=RECORD)
