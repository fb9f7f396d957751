"""What holds senders: shares by leg on hand-made tables, and of a run as the command line shows them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb.results.legs import HOLDERS, Held, held_by_leg, held_sheet
from sample_results import SECOND, Row, leg, write_results
from samples import Farweb


def connection(number: int, of: int, **held_s: float) -> Row:
    """A connection held so long by each holder named, and by no other."""
    times = {f"held_{holder}_ns": int(held_s.get(holder, 0) * SECOND) for holder in HOLDERS}
    return {"connection": number, "leg": of, "open_ns": 0, **times}


def shown(cells: list[str]) -> float:
    return sum(float(cell.removesuffix(" %")) for cell in cells)


def test_times_of_all_connections_of_a_leg_are_shared_out(tmp_path: Path) -> None:
    of_one_way = {"connection": 3, "leg": 2, "open_ns": 0}
    rows = [connection(0, 0, cwnd=1, nothing=2), connection(1, 0, credit=1), connection(2, 1, window=5), of_one_way]
    found = held_by_leg(write_results(tmp_path / "r", connections=rows, scenario=[leg(), leg(), leg()]))
    nothing = dict.fromkeys(HOLDERS, 0.0)
    assert found == (
        Held(0, 2, 4.0, {**nothing, "cwnd": 0.25, "credit": 0.25, "nothing": 0.5}),
        Held(1, 1, 5.0, {**nothing, "window": 1.0}),
    )


def test_a_run_without_exchanges_has_none(tmp_path: Path) -> None:
    rows = [{"connection": 0, "leg": 0, "open_ns": 0}]
    assert held_by_leg(write_results(tmp_path / "without", connections=rows)) == ()
    assert held_by_leg(write_results(tmp_path / "nothing")) == ()


@given(st.lists(st.integers(0, 10**12), min_size=len(HOLDERS), max_size=len(HOLDERS)).filter(any))
def test_what_is_shown_adds_up_to_a_hundred(times: list[int]) -> None:
    shares = {holder: time / sum(times) for holder, time in zip(HOLDERS, times, strict=True)}
    sheet = held_sheet({"r": [Held(0, 1, 1.0, shares)]})
    (row,) = sheet.rows
    cells = dict(zip(sheet.header, row, strict=True))
    assert shown([cells[called] for called in HOLDERS.values() if called in cells]) == pytest.approx(100.0, abs=1e-6)
    for holder, called in HOLDERS.items():
        assert abs(shown([cells.get(called, "0 %")]) - 100 * shares[holder]) < 0.1 + 1e-9


def test_all_runs_are_in_one_table_without_what_held_nobody() -> None:
    nothing = dict.fromkeys(HOLDERS, 0.0)
    half = Held(0, 2, 4.0, {**nothing, "cwnd": 0.5, "nothing": 0.5})
    whole = Held(1, 1, 5.0, {**nothing, "window": 1.0})
    sheet = held_sheet({"a": [half], "b": [half, whole]})
    holders = ["slow start", "receive window", "nothing to send"]
    assert sheet.header == ["run", "leg", *holders, "open, in all", "connections"]
    assert sheet.rows[0] == ["a", "leg 0", "50.0 %", "0.0 %", "50.0 %", "4 s", "2"]
    assert sheet.rows[2] == ["b", "leg 1", "0.0 %", "100.0 %", "0.0 %", "5 s", "1"]
    assert held_sheet({"a": [], "b": []}).rows == []


@pytest.mark.usefixtures("unpainted")
def test_the_command_line_tells_it(farweb: Farweb, cable: Path) -> None:
    assert farweb("run", cable, "--set", "record.exchanges=true", "--out", "r").code == 0
    breakdown = farweb("show", "r", "--breakdown", "--json").json()["breakdown"]
    (result,) = breakdown["held"]
    assert (result["leg"], result["connections"]) == (0, 3)
    assert sum(result["shares"].values()) == pytest.approx(1)
    # A connection for each response, which is there at once: what holds its last byte holds the sender.
    (by_cwnd,) = (part["mean_s"] for part in breakdown["parts"] if part["kind"] == "cwnd")
    assert by_cwnd > 0
    assert result["shares"]["cwnd"] * result["time_s"] == pytest.approx(3 * by_cwnd)
    shares = {HOLDERS[holder]: share for holder, share in result["shares"].items() if share >= 0.0005}
    shown_on_a_terminal = farweb("show", "r", "--breakdown").out
    for holder, share in shares.items():
        assert holder in shown_on_a_terminal
        assert f"{100 * share:.1f} %" in shown_on_a_terminal
