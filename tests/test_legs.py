"""Legs of results made by hand: connections at a time, their lives, and the memory that they stand for."""

from pathlib import Path
from typing import Any

from farweb import Results
from farweb.results.legs import Lives, Memory
from sample_results import SECOND, Row, leg, measured_leg, write_results
from samples import Farweb

MUX = {"kind": "mux", "connections": 20}
PERSISTENT = {"kind": "http/1.1", "idle_timeout": "15 s", "closed_by": "client", "per_host": None, "total": None}


def connection(number: int, of: int, open_s: float, close_s: float | None, busy_s: float, requests: int) -> Row:
    return {
        "connection": number,
        "leg": of,
        "open_ns": round(open_s * SECOND),
        "close_ns": None if close_s is None else round(close_s * SECOND),
        "bytes_up": 300 * requests,
        "bytes_down": 10_000 * requests,
        "requests": requests,
        "busy_ns": round(busy_s * SECOND),
        "requests_max": 1,
    }


CONNECTIONS = [
    connection(0, 0, 0, 60, 45, 100),
    connection(1, 1, 1, 21, 2, 4),  # idle for 18 s
    connection(2, 1, 10, 26, 1, 1),  # idle for 15 s
    connection(3, 1, 40, None, 5, 5),  # still open at the end, 60 s: idle for 15 s
    connection(4, 1, 50, 54, 0, 0),  # opened for no request: idle for 4 s
]

MEASURED = [
    measured_leg(
        0, open_mean=20.0, open_max=20, busy_mean=5.0, busy_max=17, requests_max=60, connection_requests_max=4
    ),
    measured_leg(1, open_mean=2.5, open_max=3, busy_mean=0.5, busy_max=2, requests_mean=0.75, requests_max=2),
]


def make(path: Path, **more: Any) -> Results:
    scenario = [leg(MUX), leg(PERSISTENT, buffer="host", **{"from": {"mss": "1460 B", "buffer": "32767 B"}})]
    tables: dict[str, Any] = {"connections": CONNECTIONS, "measured": MEASURED, "scenario": scenario}
    return write_results(path, **{**tables, **more})


def test_connections_live_are_reused_and_lie_idle(tmp_path: Path) -> None:
    first, second = make(tmp_path / "r").summary().legs
    assert first.connections == Lives(1, 100, None, 30_000, 1_000_000, 60, 15, 15, 0.25)
    # 20, 16, 20 and 4 s of life, 18, 15, 15 and 4 s of it idle.
    assert second.connections == Lives(4, 10, 7, 3000, 100_000, 15, 13, 15, 52 / 60)


def test_what_was_open_at_a_time_is_that_of_the_measured_interval(tmp_path: Path) -> None:
    first, second = make(tmp_path / "r").summary().legs
    assert (first.name, first.carrier, first.open_mean, first.busy_max) == ("0: client → proxy1", "mux over 20", 20, 17)
    assert (first.requests_max, first.connection_requests_max) == (60, 4)
    assert (second.name, second.carrier, second.requests_mean) == ("1: proxy1 → server", "http/1.1", 0.75)


def test_open_connections_stand_for_both_buffers_of_an_end(tmp_path: Path) -> None:
    first, second = make(tmp_path / "r").summary().legs
    ends = [Memory(node, 20_000, 400_000, 400_000, 300_000) for node in ("client", "proxy1")]
    assert list(first.memory) == ends
    # Each host sets the server's buffer; the proxy's own is fixed. Two of 2.5 are idle.
    assert list(second.memory) == [Memory("proxy1", 65_534, 2.5 * 65_534, 3 * 65_534, 2 * 65_534)]


def test_a_buffer_that_the_scenario_leaves_to_the_profile_is_not_made_up(tmp_path: Path) -> None:
    results = make(tmp_path / "r", scenario=[leg(MUX, buffer=None), leg(PERSISTENT, buffer="host")])
    assert [each.memory for each in results.summary().legs] == [(), ()]


def test_results_without_connections(tmp_path: Path) -> None:
    legs = make(tmp_path / "without", connections=None).summary().legs
    assert [each.connections for each in legs] == [None, None]
    assert legs[0].open_max == 20


def test_show_tells_of_legs(tmp_path: Path, farweb: Farweb) -> None:
    results = make(tmp_path / "r")
    shown = farweb("show", results.path, "--links")
    assert shown.code == 0, shown.err
    for result in ("1: proxy1 → server", "mux over 20", "13 s", "86.7 %", "70 %", "400 kB", "197 kB"):
        assert result in shown.out, result


def test_a_run_of_one_leg_says_nothing_that_it_did_not_measure(tmp_path: Path, farweb: Farweb) -> None:
    shown = farweb("show", write_results(tmp_path / "none").path)
    assert "Connections and requests" not in shown.out
