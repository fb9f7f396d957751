"""Figures of single connections, against a connection made by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.library.run_results import Results
from farweb.paint.figure import Figure, Series
from farweb.plot import describe, draw
from farweb.views.connection import trace
from farweb.views.export import _of_leg, capture_points
from sample_results import Row, exchange, leg, request, write_results

MS = 1_000_000
HUGE = 1 << 30


def packet(connection: int, at_ms: int, node: str, event: str, direction: str, **more: Any) -> Row:
    return {
        **{"time_ns": at_ms * MS, "connection": connection, "leg": 0, "node": node, "event": event},
        **{"direction": direction, "seq": 0, "ack": 0, "payload_bytes": 0, "window_bytes": 8000},
        **{"flags": ".", "retransmission": False, "sack": []},
        "cwnd_bytes": None if event == "drop" else 2000,
        "ssthresh_bytes": None if event == "drop" else HUGE,
        **more,
    }


def connection(number: int, start_ms: int = 1000) -> Sequence[Row]:
    """A response of three segments of 1000 bytes over 50 ms each way; the second is dropped and sent again."""
    up, down = "up", "down"

    def at(ms: int, node: str, event: str, direction: str, **more: Any) -> Row:
        return packet(number, start_ms + ms, node, event, direction, **more)

    return [
        at(0, "client", "send", up, flags="S"),
        at(50, "server", "receive", up, flags="S"),
        at(50, "server", "send", down, flags="S.", ack=1),
        at(100, "client", "receive", down, flags="S.", ack=1),
        at(100, "client", "send", up, seq=1, ack=1),
        at(100, "client", "send", up, seq=1, ack=1, payload_bytes=300, flags="P."),
        at(150, "server", "receive", up, seq=1, ack=1),
        at(150, "server", "receive", up, seq=1, ack=1, payload_bytes=300, flags="P."),
        at(150, "server", "send", down, seq=1, ack=301, payload_bytes=1000),
        at(151, "server", "send", down, seq=1001, ack=301, payload_bytes=1000),
        at(152, "server", "drop", down, seq=1001, ack=301, payload_bytes=1000),
        at(200, "client", "receive", down, seq=1, ack=301, payload_bytes=1000),
        at(200, "client", "send", up, seq=301, ack=1001),
        at(250, "server", "receive", up, seq=301, ack=1001, cwnd_bytes=3000),
        at(250, "server", "send", down, seq=2001, ack=301, payload_bytes=1000, flags="P.", cwnd_bytes=3000),
        at(300, "client", "receive", down, seq=2001, ack=301, payload_bytes=1000, flags="P."),
        at(300, "client", "send", up, seq=301, ack=1001),
        at(350, "server", "receive", up, seq=301, ack=1001, cwnd_bytes=3000),
        at(650, "server", "send", down, seq=1001, ack=301, payload_bytes=1000, retransmission=True,
           cwnd_bytes=1000, ssthresh_bytes=2000),
        at(700, "client", "receive", down, seq=1001, ack=301, payload_bytes=1000),
        at(700, "client", "send", up, seq=301, ack=3001),
        at(750, "server", "receive", up, seq=301, ack=3001, cwnd_bytes=2000, ssthresh_bytes=2000),
        at(750, "server", "send", down, seq=3001, ack=301, flags="F.", cwnd_bytes=2000, ssthresh_bytes=2000),
    ]  # fmt: skip


@pytest.fixture
def results_path(tmp_path: Path) -> Path:
    """Three requests of 0.5, 2 and 1 s; the packets of the last two are there."""
    rows = [
        request(1, 9.0, 3000, status="failed", end_ns=None),
        request(2, 0.5, 3000),
        request(3, 2.0, 3000),
        request(4, 1.0, 3000),
    ]
    packets = [*connection(2), *connection(3, start_ms=3000), *connection(4, start_ms=4000)]
    write_results(tmp_path / "a", rows, packets=packets)
    return tmp_path / "a"


def part(figure: Figure, name: str) -> Series:
    (series,) = [each for each in figure.panels[0].series if each.part == name]
    return series


def points(series: Series) -> list[tuple[float, float]]:
    return [(round(float(x), 9), float(y)) for x, y in zip(series.x, series.y, strict=True)]


def bars(series: Series) -> list[tuple[float, float, float]]:
    """Time, low and high end of upright strokes."""
    assert series.low is not None and series.high is not None
    ends = zip(series.x, series.low, series.high, strict=True)
    return [(round(float(x), 9), float(low), float(high)) for x, low, high in ends]


def legend(figure: Figure) -> list[str]:
    return [series.label for series in figure.panels[0].series if series.label]


def test_the_slowest_finished_request_is_drawn(results_path: Path) -> None:
    assert "connection 3 " in describe("timeseq", [Results.open(results_path)]).title


def test_the_slowest_one_is_looked_for_among_recorded_connections(tmp_path: Path) -> None:
    rows = [request(2, 5.0, 3000), request(3, 1.0, 3000), request(4, 2.0, 3000)]
    results = write_results(tmp_path / "a", rows, packets=[*connection(3), *connection(4)])
    assert trace(results, None).connection == 4


def test_the_sender_of_the_data_and_its_view(results_path: Path) -> None:
    one = trace(Results.open(results_path), 3)
    assert (one.node, one.direction, one.start_s) == ("server", "down", 3.0)
    assert one.sent["seq"].to_list() == [0, 1, 1001, 2001, 1001, 3001]
    assert one.acks["ack"].to_list() == [1, 1, 1001, 1001, 3001]
    assert one.drops.rows() == [(0.152, 1001, 1000)]
    assert one.state["flight_bytes"].to_list() == [0, 1, 0, 0, 1000, 2000, 1000, 2000, 2000, 2000, 0, 1]


def test_a_connection_that_sends_more_up_is_seen_at_the_client(tmp_path: Path) -> None:
    swap = {"up": "down", "down": "up", "client": "server", "server": "client"}
    packets = [{**row, **{key: swap[row[key]] for key in ("node", "direction")}} for row in connection(3)]
    one = trace(write_results(tmp_path / "a", [request(3, 1.0, 300)], packets=packets), 3)
    assert (one.node, one.direction) == ("client", "up")


def test_time_sequence_plot(results_path: Path) -> None:
    figure = describe("timeseq", [Results.open(results_path)], connection=3)
    assert bars(part(figure, "segments")) == [(0.15, 1, 1001), (0.151, 1001, 2001), (0.25, 2001, 3001)]
    assert bars(part(figure, "retransmissions")) == [(0.65, 1001, 2001)]
    assert points(part(figure, "drops")) == [(0.152, 1501)]
    assert points(part(figure, "ack")) == [
        (0.15, 1),
        (0.15, 1),
        (0.25, 1001),
        (0.35, 1001),
        (0.75, 3001),
        (0.75, 3001),
    ]
    assert points(part(figure, "repeated acks")) == [(0.35, 1001)]
    assert [name for series in figure.panels[0].series for name in series.names] == ["R", "SYN", "FIN"]
    chart = draw("timeseq", [Results.open(results_path)], connection=3)
    assert {"R", "SYN", "FIN"} < {text.get_text() for text in chart.axes[0].texts}


def test_a_window_above_the_segments_is_told_and_leaves_them_the_picture(tmp_path: Path, results_path: Path) -> None:
    # 3000 bytes are sent: a window of 8000 is above them, one of 1500 touches them.
    far = describe("timeseq", [Results.open(results_path)], connection=3)
    assert legend(far) == ["acknowledged", "segment", "retransmission (R)", "dropped"]
    assert "window lies above the picture" in far.caption
    packets = [{**row, "window_bytes": 1500} for row in connection(3)]
    near = describe("timeseq", [write_results(tmp_path / "near", [request(3, 1.0, 3000)], packets=packets)])
    assert legend(near) == ["acknowledged", "advertised window", "segment", "retransmission (R)", "dropped"]
    assert points(part(near, "window"))[1:3] == [(0.15, 1501), (0.25, 2501)]
    assert "above the picture" not in near.caption
    for figure in (far, near):
        high = figure.panels[0].y.high
        assert high is not None and 3001 < high < 1.2 * 3001


def test_a_short_loss_is_enlarged_and_a_long_one_is_not(tmp_path: Path) -> None:
    # The loss takes 0.6 s: of 4 s that is little, of 1.2 s half.
    for until_ms, enlarged in ((4000, True), (1200, False)):
        later = packet(3, 3000 + until_ms, "server", "send", "down", seq=3001, ack=301, payload_bytes=10)
        packets = [*connection(3, start_ms=3000), later]
        (panel,) = describe(
            "timeseq", [write_results(tmp_path / str(until_ms), [request(3, 1.0, 3000)], packets=packets)]
        ).panels
        assert panel.inset_at == "lower right"
        assert (panel.inset is not None) == enlarged
        if panel.inset is not None:
            assert panel.inset.x.low is not None and panel.inset.x.high is not None
            assert panel.inset.x.low < 0.152 < 0.75 < panel.inset.x.high < 1


def test_two_connections_or_two_runs_share_their_axes(tmp_path: Path, results_path: Path) -> None:
    one = Results.open(results_path)
    two = write_results(tmp_path / "b", [request(3, 1.0, 3000)], packets=connection(3, start_ms=3000))
    for name in ("timeseq", "cwnd"):
        beside = describe(name, [one], connection=[2, 4])
        assert [panel.title for panel in beside.panels] == ["connection 2 – a", "connection 4 – a"]
        assert beside.panels[0].x == beside.panels[1].x and beside.panels[0].y == beside.panels[1].y
        assert (beside.columns, beside.share_x, beside.share_y) == (2, True, True)
        runs = describe(name, [one, two], request=3)
        assert [panel.title for panel in runs.panels] == ["connection 3 – a", "connection 3 – b"]
    with pytest.raises(FarwebError, match="3 connections of 2 runs: name one for all runs, or one for each"):
        describe("timeseq", [one, two], connection=[2, 3, 4])
    with pytest.raises(FarwebError, match="5 connections are more than can be drawn side by side: 4 at most"):
        describe("timeseq", [one], connection=[2, 3, 4, 2, 3])


def test_a_paced_sender_has_its_pace_below_and_the_states_of_bbr_as_shades(tmp_path: Path) -> None:
    def state(at_ms: int) -> str:
        return "STARTUP" if at_ms < 150 else "DRAIN" if at_ms < 350 else "PROBE_BW"

    packets = [
        {**row, "pace_bps": 8000 * (at_ms + 1), "bbr_state": state(at_ms)} if row["node"] == "server" else row
        for row in connection(3, start_ms=3000)
        for at_ms in [row["time_ns"] // MS - 3000]
    ]
    bbr = write_results(tmp_path / "bbr", [request(3, 1.0, 3000)], packets=packets)
    figure = describe("cwnd", [bbr])
    windows, pace = figure.panels
    assert (pace.y.read_in, pace.x) == ("Mbit/s", windows.x)
    (drawn,) = pace.series
    assert points(drawn)[-1] == (0.75, 6_008_000)
    shades = [(phase.label, round(phase.begin, 9), round(phase.end, 9)) for phase in windows.phases]
    assert shades[:2] == [("STARTUP", 0.05, 0.15), ("DRAIN", 0.15, 0.35)] and pace.phases == windows.phases
    assert "slow start" not in {name for name, *_ in shades} and "states of BBR" in figure.caption

    plain = write_results(tmp_path / "plain", [request(3, 1.0, 3000)], packets=connection(3, start_ms=3000))
    beside = describe("cwnd", [plain, bbr])
    assert (len(beside.panels), beside.columns, beside.share_x) == (4, 2, "columns")
    assert "slow start" in beside.caption and "states of BBR" in beside.caption


def test_credit_is_a_stair_of_its_own_with_gaps_where_nothing_is_limited(tmp_path: Path) -> None:
    limits = {150: 2001, 151: 2001, 250: 3501, 350: None}
    packets = [
        {**row, "credit_limit": limits.get(row["time_ns"] // MS - 3000) if row["node"] == "server" else 9999}
        for row in connection(3, start_ms=3000)
    ]
    figure = describe("timeseq", [write_results(tmp_path / "a", [request(3, 1.0, 3000)], packets=packets)])
    shown = [(round(x, 3), y) for x, y in points(part(figure, "credit")) if y == y]
    assert shown == [(0.15, 2001), (0.15, 2001), (0.15, 2001), (0.151, 2001), (0.25, 3501), (0.25, 3501)]
    assert "credit" in legend(figure)
    without = describe("timeseq", [write_results(tmp_path / "b", [request(3, 1.0, 3000)], packets=connection(3))])
    assert "credit" not in legend(without)


def test_a_syn_that_is_sent_again_says_so(tmp_path: Path) -> None:
    packets = [packet(1, ms, "client", "send", "up", flags="S", retransmission=ms > 1000) for ms in (1000, 6500)]
    results = write_results(tmp_path / "a", [request(1, 75.0, 10, status="failed", end_ns=None)], packets=packets)
    assert part(describe("timeseq", [results], connection=1), "SYN").names == ("SYN", "SYN R")


def test_sack_blocks_stand_where_they_reached_the_sender(tmp_path: Path) -> None:
    def blocks(row: Row) -> Row:
        if (row["event"], row["ack"], row["seq"]) != ("receive", 1001, 301):
            return row
        newest = {"start": 2001, "end": 3001}
        # The second acknowledgement of byte 1001 reports the bytes behind the hole, the first nothing.
        return {**row, "sack": [newest, {"start": 1, "end": 501}] if row["time_ns"] == 3350 * MS else []}

    packets = [blocks(row) for row in connection(3, start_ms=3000)]
    figure = describe("timeseq", [write_results(tmp_path / "a", [request(3, 1.0, 3000)], packets=packets)])
    assert bars(part(figure, "sack")) == [(0.35, 2001, 3001), (0.35, 1, 501)]
    assert "SACK block" in legend(figure)


def test_packets_of_links_alone_make_no_plot(tmp_path: Path) -> None:
    packets = [{**row, "event": "pass", "link": 0} for row in connection(3)]
    results = write_results(tmp_path / "a", [request(3, 1.0, 3000)], packets=packets)
    with pytest.raises(ResultsError, match=r'recorded on links only; add "ends" to record\.points'):
        draw("timeseq", [results], connection=3)


def test_window_plot(results_path: Path) -> None:
    figure = describe("cwnd", [Results.open(results_path)], connection=3)
    assert points(part(figure, "cwnd"))[-4:] == [(0.35, 3000), (0.65, 1000), (0.75, 2000), (0.75, 2000)]
    # The threshold of 1 GB that no loss has set is not drawn; the axis fits the others.
    assert points(part(figure, "ssthresh")) == [(0.65, 2000), (0.75, 2000), (0.75, 2000)]
    (panel,) = figure.panels
    # The window of 8000 lies above twice what cwnd ever was.
    assert panel.y.high == pytest.approx(1.08 * 3000)
    assert "The advertised window lies above the picture." in figure.caption
    ((again, foot),) = points(part(figure, "retransmission"))
    assert again == 0.65
    assert foot == pytest.approx(0.03 * 1.08 * 3000)
    assert [x for x, _ in points(part(figure, "dropped"))] == [0.152]


@pytest.mark.parametrize("name", ["timeseq", "cwnd"])
def test_errors_say_what_there_is_and_what_to_set(tmp_path: Path, results_path: Path, name: str) -> None:
    with pytest.raises(ResultsError, match="no packets of connection 1; there are 3 recorded connections from 2 to 4"):
        draw(name, [Results.open(results_path)], connection=1)
    with pytest.raises(ResultsError, match=r"record\.packets"):
        draw(name, [write_results(tmp_path / "absent", [request(1, 1.0, 10)])])
    with pytest.raises(ResultsError, match=r"record\.packets"):
        draw(name, [write_results(tmp_path / "empty", [request(1, 1.0, 10)], packets=[])], connection=1)
    unfinished = write_results(tmp_path / "unfinished", [], packets=connection(3))
    with pytest.raises(ResultsError, match="no finished request has recorded packets; name one with --connection"):
        draw(name, [unfinished])


@pytest.mark.parametrize("name", ["timeseq", "cwnd"])
def test_a_connection_that_never_got_an_answer(tmp_path: Path, name: str) -> None:
    packets = [
        packet(1, ms, "client", event, "up", flags="S", retransmission=ms > 1000)
        for ms in (1000, 6500, 30500)
        for event in ("send", "drop")
    ]
    results = write_results(tmp_path / "a", [request(1, 75.0, 10, status="failed", end_ns=None)], packets=packets)
    chart = draw(name, [results], tmp_path / "figure.png", connection=1)
    assert np.isfinite(chart.axes[0].get_ylim()).all()


@pytest.fixture
def chain(tmp_path: Path) -> Any:
    """Two requests on the mux connection 3, 3.2 to 3.5 s and 3.6 to 5 s; the second has connection 4 on leg 1."""
    rows = [
        request(1, 0.3, 1000, connection=3, start_ns=3200 * MS, end_ns=3500 * MS),
        request(2, 1.4, 2000, connection=3, start_ns=3600 * MS, end_ns=5000 * MS),
    ]
    outer = [{**row, "leg": 1} for row in connection(4, start_ms=4000)]
    exchanges = [
        exchange(2, leg=0, connection_down=3, start_ns=3600 * MS, end_ns=5000 * MS),
        exchange(2, leg=1, connection_up=4, connection_down=4, start_ns=4000 * MS, end_ns=4800 * MS),
    ]
    return write_results(
        tmp_path / "chain",
        rows,
        packets=[*connection(3, start_ms=3000), *outer],
        exchanges=exchanges,
        scenario=[leg({"kind": "mux", "connections": 1}), leg()],
    )


def test_of_a_shared_connection_the_time_of_the_request_is_shown(chain: Any) -> None:
    whole = trace(chain, 3)
    assert (whole.request, len(whole.sent), whole.name) == (None, 6, "connection 3 (leg 0, mux)")
    slowest = trace(chain)
    assert (slowest.request, slowest.name) == (2, "connection 3 (leg 0, mux), request 2")
    assert slowest.sent["time_s"].to_list() == [0.65, 0.75]
    first = trace(chain, request=1)
    assert (first.request, first.sent["seq"].to_list(), first.acks["ack"].to_list()) == (1, [2001], [1001, 1001])
    # Flight counts from the connection's first byte on, whatever is shown.
    assert first.state["flight_bytes"].to_list() == [1000, 2000, 2000]


def test_a_picture_of_a_request_begins_where_the_request_does(chain: Any) -> None:
    (panel,) = describe("timeseq", [chain], request=2).panels
    assert panel.x.low is not None and panel.y.low is not None
    assert 0.6 < panel.x.low < 0.65
    assert panel.y.low > 800
    assert describe("cwnd", [chain], request=2).title == "Windows of connection 3 (leg 0, mux), request 2 – chain"


def test_the_connection_of_a_request_on_another_leg(chain: Any) -> None:
    one = trace(chain, request=2, leg=1)
    # A connection of http/1.0 has no other request: all of it is shown.
    assert (one.connection, one.leg, one.request, len(one.sent)) == (4, 1, None, 6)
    assert one.name == "connection 4 (leg 1, http/1.0)"
    assert trace(chain, leg=1).connection == 4
    assert trace(chain, 4).leg == 1


def test_what_is_not_known_of_a_request_is_told(chain: Any) -> None:
    with pytest.raises(ResultsError, match="there is no request 7 on a connection of leg 0"):
        draw("timeseq", [chain], request=7)
    with pytest.raises(ResultsError, match="there is no leg 2; legs: 0 to 1"):
        draw("timeseq", [chain], leg=2)
    with pytest.raises(FarwebError, match="name a connection, or the request and the leg"):
        draw("timeseq", [chain], connection=3, request=2)
    (chain.path / "exchanges.parquet").unlink()
    assert trace(chain, request=2).connection == 3
    with pytest.raises(ResultsError, match=r"carried requests over leg 1: set record\.exchanges = true"):
        draw("timeseq", [chain], request=2, leg=1)


def test_a_capture_of_a_connection_is_from_the_end_of_its_leg(chain: Any) -> None:
    known = capture_points(chain)
    assert list(known) == ["client", "proxy1", "server"]
    assert list(_of_leg(chain, known, 3)) == ["client", "proxy1"]
    assert list(_of_leg(chain, known, 4)) == ["proxy1", "server"]
    assert list(_of_leg(chain, known, 99)) == list(known)
