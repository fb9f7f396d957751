"""Where the time of requests goes, on hand-made tables with known parts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb import ResultsError
from farweb.results.breakdown import break_down, sums_by_kind
from farweb.results.legs import connection_uses, described
from farweb.results.parts import KINDS, Leg, parts, path_legs
from sample_results import COLUMNS, Row, leg, request, write_results
from samples import REQUESTS, Farweb

MS = 1_000_000


def over(kind: str, here: str, there: str, delay_ms: int) -> Leg:
    """A leg with a carrier of this kind."""
    carrier = {"kind": kind, **({"connections": 20} if kind == "mux" else {})}
    (use,) = connection_uses({"legs": described({"leg": [{"carrier": carrier}]})})
    return Leg(here, there, kind, use, delay_ms * MS, delay_ms * MS)


ONE = [over("http/1.0", "client", "server", 60)]
CHAIN = [over("mux", "client", "proxy1", 60), over("http/1.0", "proxy1", "server", 5)]


def exchange(number: int, of: int, start: int, **at: int | None) -> Row:
    """A row of the table, times in ms; a time not given is the request's start, or zero."""
    names = ("connect", "requested", "ready_first", "ready_last", "sent_last", "first_byte", "end")
    times = {f"{name}_ns": start for name in names}
    given_ms = {name if name.startswith("connection") else f"{name}_ns": value for name, value in at.items()}
    held = dict.fromkeys(("cwnd_ns", "pacing_ns", "window_ns", "buffer_ns", "credit_ns", "nagle_ns", "pace_ns"), 0)
    row = {"request": number, "leg": of, "start_ns": start, **held, **times, **given_ms}
    return {
        name: value if value is None or not name.endswith("_ns") else round(value * MS) for name, value in row.items()
    }


def table(rows: Sequence[Row]) -> pl.DataFrame:
    return pl.DataFrame(
        [dict.fromkeys(COLUMNS["exchanges"]) | dict(row) for row in rows],
        schema_overrides={**dict.fromkeys(COLUMNS["exchanges"], pl.Int64), "cache_answer": pl.String},
    )


def connections(numbers: Sequence[int], open_ns: Sequence[int], tls_cwnd_ns: int | None = None) -> pl.DataFrame:
    """Connections with the times at which they were opened, and for which their flights of TLS were held."""
    schema = {"connection": pl.Int64, "open_ns": pl.Int64, "tls_cwnd_ns": pl.Int64}
    return pl.DataFrame([(*row, tls_cwnd_ns) for row in zip(numbers, open_ns, strict=True)], schema, orient="row")


def in_ms(found: pl.DataFrame, row: int = 0) -> Mapping[str, float]:
    """The parts of a request that are not zero, in ms."""
    values = found.row(row, named=True)
    return {name: value / MS for name, value in values.items() if name != "request" and value}


def ms(text: str) -> Mapping[str, float]:
    """Parts in ms, written `handshake 0: 120, server: 40`."""
    return {name: float(value) for name, _, value in (part.partition(": ") for part in text.split(", "))}


STEPS = {"connect": 0, "requested": 60, "ready_first": 60, "ready_last": 60, "sent_last": 460, "end": 520}
HELD = {"cwnd": 60, "pacing": 40, "window": 130, "buffer": 30, "credit": 100, "nagle": 50}


@pytest.mark.parametrize(
    ("leg", "at", "expected"),
    [
        # A handshake of a round trip, the request half a one, 40 ms of server, one segment of 1 ms there.
        (
            ONE[0],
            {"connect": 120, "requested": 181, "ready_first": 221, "ready_last": 221, "sent_last": 221, "end": 282},
            "handshake 0: 120, request 0: 61, server: 40, travel 0: 60, rest 0: 1",
        ),
        # Slow start and a window hold the last byte, neither for 10 ms of the 380; it takes 10 ms more than it has to.
        (
            ONE[0],
            {**STEPS, "connect": 120, "requested": 180, "ready_first": 180, "ready_last": 180}
            | {"sent_last": 560, "cwnd": 240, "window": 130, "end": 630},
            "handshake 0: 120, request 0: 60, cwnd 0: 240, window 0: 130, other 0: 10, travel 0: 60, rest 0: 10",
        ),
        # Paced over 500 ms: of 400 ms held only the last 100 are after the last byte was there, three of four by cwnd.
        (
            ONE[0],
            {**STEPS, "ready_last": 560, "sent_last": 660, "cwnd": 300, "window": 100, "end": 720},
            "request 0: 60, server: 500, cwnd 0: 75, window 0: 25, travel 0: 60",
        ),
        (
            ONE[0],
            STEPS | HELD,
            "request 0: 60, cwnd 0: 60, pacing 0: 40, window 0: 100, buffer 0: 30, credit 0: 100, nagle 0: 50, "
            "other 0: 20, travel 0: 60",
        ),
        # The last byte came when three quarters of what held was over.
        (
            ONE[0],
            STEPS | HELD | {"ready_last": 365},
            "request 0: 60, server: 305, cwnd 0: 15, pacing 0: 10, window 0: 25, buffer 0: 7.5, credit 0: 25, "
            "nagle 0: 12.5, travel 0: 60",
        ),
        # A transfer has neither connection nor request.
        (
            over("transfer", "client", "server", 60),
            {"connect": None, "requested": None, "ready_last": 0, "sent_last": 50, "cwnd": 50, "end": 120},
            "cwnd 0: 50, travel 0: 60, rest 0: 10",
        ),
    ],
    ids=["a segment", "slow start and a window", "while the server releases", "each reason", "late", "a transfer"],
)
def test_parts_of_one_leg(leg: Leg, at: dict[str, int | None], expected: str) -> None:
    assert in_ms(parts(table([exchange(0, 0, 0, **at)]), [leg], None)) == ms(expected)


def test_a_relay_holds_the_last_byte_after_the_server_has_sent_it() -> None:
    """10 ms behind the relay, 50 in front: sent at 180, relayed at 230 in place of 190, read at 285."""
    row = exchange(0, 0, 0, connect=120, requested=180, ready_first=180, ready_last=180, sent_last=180, end=285)
    rows = table([row]).with_columns(relayed_last_ns=pl.lit(230 * MS), pace_ns=pl.lit(0))
    for behind_ms, expected in ((10, "relay 0: 40, travel 0: 60, rest 0: 5"), (None, "travel 0: 60, rest 0: 45")):
        leg = ONE[0] if behind_ms is None else replace(ONE[0], behind_ns=behind_ms * MS)
        assert in_ms(parts(rows, [leg], None)) == ms(f"handshake 0: 120, request 0: 60, {expected}")


def chain(number: int = 0) -> list[Row]:
    """A request over a proxy: its mux is open, the server a handshake away, and its answer overtakes none."""
    inner = exchange(
        number, 0, 0, requested=62, ready_first=107, ready_last=147, sent_last=167, cwnd=15, window=5, end=230
    )
    held = {"cwnd": 20, "window": 18}
    outer = exchange(
        number, 1, 62, connect=72, requested=77, ready_first=102, ready_last=102, sent_last=140, end=147, **held
    )
    return [inner, outer]


def test_a_chain_of_two_legs() -> None:
    assert in_ms(parts(table(chain()), CHAIN, None)) == ms(
        "request 0: 62, handshake 1: 10, request 1: 5, server: 25, cwnd 1: 20, window 1: 18, travel 1: 5, rest 1: 2, "
        "cwnd 0: 15, window 0: 5, travel 0: 60, rest 0: 3"
    )


def test_time_between_legs_belongs_to_the_rest_of_the_nearer_one() -> None:
    inner, outer = chain()
    late = {**outer, "start_ns": outer["start_ns"] + 3 * MS}
    found = parts(table([inner, late]), CHAIN, None)
    assert in_ms(found)["rest 0"] == 6
    assert in_ms(found)["handshake 1"] == 7


def test_each_leg_uses_connections_as_its_own_carrier_does() -> None:
    """Another request was on the connection of the first leg before; the second opens one a request."""
    inner, outer = chain()
    legs = [over("http/1.1", "client", "proxy1", 60), CHAIN[1]]
    opened = connections([0, 1], [-1 * MS, 62 * MS])
    rows = [{**inner, "connection_up": 0, "connect_ns": 12 * MS}, {**outer, "connection_up": 1}]
    found = in_ms(parts(table(rows), legs, opened))
    assert {name: found[name] for name in found if name.startswith(("wait", "handshake", "request"))} == ms(
        "wait 0: 12, request 0: 50, handshake 1: 10, request 1: 5"
    )


@pytest.mark.parametrize(
    ("carrier", "open_ms", "wait", "handshake"),
    [
        ("http/1.0", 1000, 0, 120),
        ("http/1.1", 1000, 0, 120),
        ("http/1.1", 1080, 80, 40),  # a limit let it open only then
        ("http/1.1", 10, 120, 0),  # another request was on the connection
        ("mux", 950, 0, 120),  # which is still opening
        ("mux", 1080, 80, 40),  # it had failed
    ],
)
def test_waiting_for_a_connection_is_no_handshake(carrier: str, open_ms: int, wait: int, handshake: int) -> None:
    row = exchange(0, 0, 1000, connection_up=3, connect=1120, requested=1180, ready_last=1180, sent_last=1180, end=1240)
    opened = connections([2, 3], [0, open_ms * MS])
    found = in_ms(parts(table([row]), [over(carrier, "client", "server", 60)], opened))
    assert (found.get("wait 0", 0), found.get("handshake 0", 0)) == (wait, handshake)


@pytest.mark.parametrize(
    ("open_ms", "handshake", "flight"),
    [
        (1000, 240, 120),
        (1280, 0, 80),  # opened when the request had waited for 280 ms: the flight has all that was left
        (10, 0, 0),  # the handshake was another request's
    ],
)
def test_a_flight_of_tls_that_waits_for_the_window_is_no_handshake(open_ms: int, handshake: int, flight: int) -> None:
    row = exchange(0, 0, 1000, connection_up=3, connect=1360, requested=1420, ready_last=1420, sent_last=1420, end=1480)
    opened = connections([3], [open_ms * MS], 120 * MS)
    found = in_ms(parts(table([row]), [over("http/1.1", "client", "server", 60)], opened))
    assert (found.get("handshake 0", 0), found.get("flight 0", 0)) == (handshake, flight)
    assert sum(found.values()) == 480


def test_a_request_that_was_served_before_a_leg_took_no_time_there() -> None:
    inner, _ = chain(1)
    found = parts(table([*chain(0), inner]), CHAIN, None)
    assert found["request"].to_list() == [0, 1]
    assert not found.select(pl.any_horizontal(pl.all().is_null())).to_series().any()
    # What the chain has above and between the legs, 85 ms, is the server's here: its end of leg 0 has the response.
    assert in_ms(found, 1) == ms("request 0: 62, server: 85, cwnd 0: 15, window 0: 5, travel 0: 60, rest 0: 3")
    assert found.select(pl.sum_horizontal(pl.exclude("request"))).to_series().to_list() == [230 * MS] * 2


def test_what_a_request_never_came_to_the_end_of_is_null() -> None:
    inner, outer = chain(1)
    gone = dict.fromkeys(("ready_first_ns", "ready_last_ns", "sent_last_ns", "first_byte_ns", "end_ns", "cwnd_ns"))
    gone |= {"window_ns": None, "pace_ns": None}
    inner = {**inner, **gone}
    # The server was not reached: its connection was opened, but no handshake came to an end.
    waits = {**outer, **gone, "connect_ns": None, "requested_ns": None, "connection_up": 1}
    opened = connections([1], [64 * MS])
    (row,) = parts(table([inner, waits]), CHAIN, opened).iter_rows(named=True)
    known = {"wait 0": 0, "handshake 0": 0, "flight 0": 0, "request 0": 62 * MS, "wait 1": 2 * MS}
    assert {name: value for name, value in row.items() if value is not None} == {"request": 1, **known}
    # And here no connection was there to wait for, on the only leg that it came to.
    (row,) = parts(table([{**inner, "connect_ns": None, "requested_ns": None}]), CHAIN, opened).iter_rows(named=True)
    assert {name: value for name, value in row.items() if value is not None} == {"request": 1}


def served(rows: Sequence[Row], answers: Sequence[str | None], by: Sequence[str]) -> pl.DataFrame:
    """The table, with how the cache on the leg of each exchange answered, and who served the request."""
    return table(rows).with_columns(cache_answer=pl.Series(answers, dtype=pl.String), served_by=pl.Series(by))


def test_a_fetch_under_way_inside_a_leg_comes_before_its_connection() -> None:
    """A cache 6 ms from the clients, on a path of 60 ms: a delayed hit, a hit and a miss there."""
    (through,) = ONE
    edge = replace(through, inside={"edge": 6 * MS}, has_cache=True)
    near = exchange(0, 0, 0, connection_up=0, connect=112, requested=118, ready_last=119, sent_last=119, end=127)
    near_too = exchange(1, 0, 0, connection_up=1, connect=22, requested=28, ready_last=29, sent_last=29, end=37)
    far = exchange(2, 0, 0, connection_up=2, connect=130, requested=190, ready_last=200, sent_last=200, end=261)
    opened = connections([0, 1, 2], [100 * MS, 10 * MS, 10 * MS])
    asked = served([near, near_too, far], ["delayed hit", "hit", "miss"], ["edge", "edge", "server"])
    found = parts(asked, [edge], opened)
    close = {"handshake 0": 12, "request 0": 6, "travel 0": 6, "rest 0": 2}
    assert in_ms(found, 0) == {"fetch 0": 100, **close, "server": 1}
    assert in_ms(found, 1) == {"wait 0": 10, **close, "server": 1}
    expected = "wait 0: 10, handshake 0: 120, request 0: 60, server: 10, travel 0: 60, rest 0: 1"
    assert in_ms(found, 2) == ms(expected)


def test_a_fetch_under_way_at_the_end_of_a_leg_takes_the_place_of_the_server() -> None:
    inner, outer = chain()
    cached = [replace(CHAIN[0], has_cache=True), replace(CHAIN[1], has_cache=True)]
    held = {"cwnd 0": 15, "window 0": 5, "travel 0": 60, "rest 0": 3}
    # Served by the proxy: what another request fetches there is 85 ms away.
    for answer, kind in {"delayed hit": "fetch 0", "hit": "server"}.items():
        found = in_ms(parts(served([inner], [answer], ["proxy1"]), cached, None))
        assert found == {"request 0": 62, kind: 85, **held}
    # Whoever came to the next leg did not wait for another: the answer of the first cache is of another attempt.
    outer_parts = {"handshake 1": 10, "request 1": 5, "cwnd 1": 20, "window 1": 18, "travel 1": 5, "rest 1": 2}
    for answer, kind in {"delayed hit": "fetch 1", "hit": "server", "miss": "server"}.items():
        found = in_ms(parts(served([inner, outer], ["delayed hit", answer], ["server"] * 2), cached, None))
        assert found == {"request 0": 62, **outer_parts, kind: 25, **held}
    without = parts(served([inner], ["delayed hit"], ["proxy1"]), CHAIN, None)
    assert "fetch 0" not in without.columns and in_ms(without)["server"] == 85


def test_a_transfer_from_a_cache_inside_a_leg_waits_at_the_cache() -> None:
    push = replace(over("transfer", "client", "server", 60), inside={"edge": 6 * MS}, has_cache=True)
    row = exchange(0, 0, 0, connect=None, requested=None, ready_last=30, sent_last=30, end=40)
    found = in_ms(parts(served([row], ["delayed hit"], ["edge"]), [push], None))
    assert found == {"fetch 0": 30, "travel 0": 6, "rest 0": 4}


def test_legs_have_the_propagation_of_their_links_and_their_caches() -> None:
    delays_ms = ((5, 6), (20, 21), (60, 61))
    links = [{way: {"delay": f"{ms} ms"} for way, ms in zip(("up", "down"), each, strict=True)} for each in delays_ms]
    path = {"nodes": ["clients", "edge", "shield", "origin"], "link": links}
    ends = [("clients", "shield"), ("shield", "origin")]
    legs = [{"from": here, "to": there, "carrier": {"kind": "http/1.0"}} for here, there in ends]

    def of(*caches: str) -> Sequence[Leg]:
        cache = [{"node": node} for node in caches]
        scenario = {"path": path, "leg": legs, **({"cache": cache} if cache else {})}
        return path_legs({"scenario": scenario, "legs": described(scenario)})

    first, second = of()
    assert (first.from_node, first.to_node, first.carrier, first.use) == ("clients", "shield", "http/1.0", ONE[0].use)
    assert (first.up_ns, first.down_ns, second.up_ns, second.down_ns) == (25 * MS, 27 * MS, 60 * MS, 61 * MS)
    assert not (first.inside or first.has_cache or second.inside or second.has_cache)
    with pytest.raises(ValueError, match="zip"):
        path_legs({"scenario": {"path": path, "leg": legs}, "legs": []})
    assert of("edge", "clients") == (replace(first, inside={"edge": 6 * MS}, has_cache=True), second)
    assert of("shield") == (replace(first, has_cache=True), second)
    assert of("origin") == (first, replace(second, has_cache=True))


steps = st.lists(st.integers(0, 10**11), min_size=6, max_size=6)


held = st.lists(st.one_of(st.just(0), st.integers(0, 10**11)), min_size=5, max_size=5)


@given(st.lists(st.tuples(steps, held), min_size=2, max_size=2))
def test_parts_add_up_whatever_the_table_says(legs: Any) -> None:
    rows = []
    for place, (gaps, (cwnd, window, buffer, credit, nagle)) in enumerate(legs):
        times = [sum(gaps[: end + 1]) for end in range(6)]
        names = ("start_ns", "connect_ns", "requested_ns", "ready_last_ns", "sent_last_ns", "end_ns")
        reasons = {"cwnd_ns": cwnd, "window_ns": window + buffer, "buffer_ns": buffer}
        reasons |= {"pacing_ns": 0, "credit_ns": credit, "nagle_ns": nagle, "pace_ns": 0}
        rows.append({"request": 0, "leg": place, **dict(zip(names, times, strict=True)), **reasons})
    found = parts(table(rows), CHAIN, None)
    assert found.select(pl.sum_horizontal(pl.exclude("request"))).item() == rows[0]["end_ns"] - rows[0]["start_ns"]


def make(path: Path, rows: Sequence[Row], requests: Sequence[Row], **more: Any) -> Any:
    return write_results(
        path, requests, exchanges=rows, scenario=[leg({"kind": "mux", "connections": 20}), leg()], **more
    )


def test_the_mean_over_the_sample_in_round_trips_of_the_path(tmp_path: Path) -> None:
    requests = [request(number, 0.23, 1000, tag="sample" if number < 2 else None) for number in range(3)]
    # Each link of a hand-made path takes 60 ms each way: 240 ms there and back.
    rows = [{**row, "cwnd_ns": 0, "window_ns": 0} for number in (1, 2) for row in chain(number)]
    results = make(tmp_path / "r", [*chain(0), *rows], requests)
    found = break_down(results)
    assert (found.tag, found.requests, found.rtt_s, found.latency_s) == ("sample", 2, 0.24, 0.23)
    assert sum(part.mean_s for part in found.parts) == pytest.approx(found.latency_s)
    assert [(part.kind, part.leg) for part in found.parts] == [
        (kind, leg) for kind in KINDS if kind != "fetch" for leg in ((None,) if kind == "server" else (0, 1))
    ]
    assert found.total_s("cwnd", 1) == 0.01  # 20 ms of the one, none of the other
    assert found.total_s("cwnd") == 0.0175
    (server,) = [part for part in found.parts if part.kind == "server"]
    assert (server.leg, server.mean_s) == (None, 0.025)
    assert server.share == pytest.approx(25 / 230)
    assert server.round_trips == pytest.approx(25 / 240)
    everyone = break_down(results, tagged=False)
    assert (everyone.tag, everyone.requests) == (None, 3)
    warm = make(tmp_path / "warm", [*chain(0), *rows], requests, warmup_ns=500 * MS)
    assert break_down(warm, tagged=False).requests == 2
    near = break_down(make(tmp_path / "near", chain(0)[:1], requests[:1]))
    assert near.remarks == ["Of these requests 0 reached leg 1; the others were served before."]


def test_the_table_for_people(tmp_path: Path) -> None:
    """In hundredths of 230 ms and in round trips of 240 ms; what seldom takes time is a row only where it does."""
    requests = [request(number, 0.23, 1000) for number in range(2)]
    results = make(tmp_path / "r", [*chain(0), *chain(1)], requests)
    found = break_down(results)
    assert (found.remarks, found._repr_html_().count("<table")) == ([], 1)
    sheet = found.sheet()
    assert sheet.header == ["", "leg 0", "leg 1", "mean", "share", "round trips"]
    assert sheet.rows == [
        ["connection queue", "0 s", "0 s", "0 s", "0 %", "0"],
        ["connecting", "0 s", "10 ms", "10 ms", "4.35 %", "0.0417"],
        ["request on the way", "62 ms", "5 ms", "67 ms", "29.1 %", "0.279"],
        ["server", "–", "–", "25 ms", "10.9 %", "0.104"],
        ["slow start", "15 ms", "20 ms", "35 ms", "15.2 %", "0.146"],
        ["receive window", "5 ms", "18 ms", "23 ms", "10 %", "0.0958"],
        ["response on the way", "60 ms", "7 ms", "67 ms", "29.1 %", "0.279"],
        ["queues and transmission", "3 ms", "0 s", "3 ms", "1.30 %", "0.0125"],
        ["latency", "", "", "230 ms", "100 %", "0.958"],
    ]
    nagle = break_down(make(tmp_path / "nagle", [{**row, "nagle_ns": 2 * MS} for row in chain(0)], requests[:1]))
    assert nagle.sheet().rows[6][0] == "Nagle's rule"


def test_an_upload_says_that_its_part_has_no_causes(tmp_path: Path) -> None:
    """A request takes longer than a round trip where it is an upload; others have nothing to add."""
    found = break_down(make(tmp_path / "r", chain(0), [request(0, 0.23, 1000)]))
    assert found.remarks == []
    upload = replace(found, parts=tuple(replace(part, mean_s=4 * part.mean_s) for part in found.parts))
    (remark,) = upload.remarks
    assert remark.startswith("Requests on their way have no causes: what held their senders")


def test_sums_over_requests_by_kind(tmp_path: Path) -> None:
    requests = [request(number, 0.23, 1000, tag="sample" if number else None) for number in range(2)]
    results = make(tmp_path / "r", [*chain(0), *chain(1)], requests)
    times = {"handshake": 0.01, "request": 0.067, "server": 0.025, "cwnd": 0.035, "window": 0.023, "travel": 0.067}
    for chosen in ([0], [1], [0, 1], [7]):
        number = len(set(chosen) - {7})
        expected = {kind: number * times.get(kind, 0.003 if kind == "rest" else 0.0) for kind in KINDS}
        assert sums_by_kind(results, pl.Series(chosen)) == pytest.approx(expected)


def test_pieces_give_what_the_whole_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = [request(number, 0.23, 1000) for number in range(7)]
    results = make(tmp_path / "r", [row for number in reversed(range(7)) for row in chain(number)], requests)
    whole = break_down(results)
    monkeypatch.setattr("farweb.results.breakdown._LEAST_REQUESTS", 2)
    monkeypatch.setattr("farweb.results.breakdown.spare_bytes", lambda: 0)
    assert break_down(results) == whole


def test_of_a_request_sent_again_the_last_crossing_counts() -> None:
    """The inner leg was lost at first: the outer one was crossed twice, or once where a cache answers then."""
    lost = exchange(0, 1, 30, connect=35, requested=36, ready_first=50, ready_last=50, sent_last=50, end=60)
    inner, outer = chain()
    once = parts(table([inner, outer]), CHAIN, None)
    assert parts(table([inner, lost, outer]), CHAIN, None).equals(once)
    assert parts(table([inner, outer, lost]), CHAIN, None).equals(once)
    assert parts(table([inner, lost]), CHAIN, None).equals(parts(table([inner]), CHAIN, None))


def test_a_latency_of_nothing_on_one_leg(tmp_path: Path) -> None:
    requests = [request(0, 0, 1000), request(1, 1, 1000, status="failed", end_ns=None)]
    rows = [exchange(number, 0, 1000 * number) for number in range(2)]
    results = write_results(tmp_path / "r", requests, exchanges=rows, scenario=[leg()])
    assert set(sums_by_kind(results, pl.Series([0, 1])).values()) == {0.0}
    found = break_down(results)
    assert {part.share for part in found.parts} == {0.0}
    assert found.sheet().header == ["", "mean", "share", "round trips"]
    assert found.sheet().rows[-1] == ["latency", "0 s", "–", "0"]
    assert found.remarks == ["1 request more did not finish and is in no part."]


def test_who_reached_which_leg_stands_beside_the_mean(tmp_path: Path, farweb: Farweb) -> None:
    requests = [request(number, 0.23, 1000, status="done" if number < 3 else "failed") for number in range(5)]
    rows = [*chain(0), *chain(1), chain(2)[0], chain(3)[0], *chain(4)]
    results = make(tmp_path / "r", rows, requests)
    found = break_down(results)
    assert (found.requests, found.reached, found.unfinished_reached) == (3, (3, 2), (2, 1))
    assert found.total_s("handshake", 1) == pytest.approx(2 / 3 * 0.01)
    assert sum(part.mean_s for part in found.parts) == pytest.approx(found.latency_s) == pytest.approx(0.23)
    remarks = [
        "Of these requests 2 reached leg 1; the others were served before.",
        "2 requests more did not finish and are in no part: 1 reached leg 1.",
    ]
    assert found.remarks == remarks
    shown = farweb("show", "--breakdown", results.path)
    assert shown.out.startswith("230 ms in the mean of 3 requests: ")
    assert all(remark in " ".join(shown.out.split()) for remark in remarks)
    assert all(remark in found._repr_html_() for remark in remarks)
    assert all(remark in results.plot.breakdown().texts[-1].get_text().replace("\n", " ") for remark in remarks)
    result = farweb("show", "--breakdown", results.path, "--json").json()["breakdown"]
    assert (result["reached"], result["unfinished_reached"]) == ([3, 2], [2, 1])
    assert farweb("show", "--breakdown", results.path, "--all").code == 0
    assert farweb("show", results.path, "--all").code == 2


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"record\.exchanges = true"):
        break_down(write_results(tmp_path / "without", [request(0, 1, 10)], scenario=[leg()]))
    with pytest.raises(ResultsError, match="no request tagged sample finished"):
        break_down(make(tmp_path / "none", chain(0), [request(0, 0.23, 10)]), tagged=True)


def test_a_run_that_ended_before_its_first_request_says_so(farweb: Farweb, cable: Path) -> None:
    Path("requests.csv").write_text(REQUESTS.replace("\n0.0,", "\n5.0,"))
    assert farweb("run", cable, "-o", "r", "--set", "run.until='1 s'", "--set", "record.exchanges=true").code == 0
    answer = farweb("show", "r", "--breakdown")
    assert answer.code == 2
    assert answer.err == "farweb: r: has no table of exchanges: the run ended before its first request (run.until)\n"
