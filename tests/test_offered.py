"""The load that a workload offers: closed forms, copies, and warnings."""

from pathlib import Path

import polars as pl
import pytest

from farweb import Scenario
from farweb.check.offered import Offered
from farweb.size.find import is_overloaded
from samples import SCENARIO, Farweb

OPENING = 3 * 40  # SYN, FIN and a bare acknowledgement, each way
_ROW = "{start},a.example,300,{size}\n"


def offered(folder: Path, rows: list[tuple[float, int]], **changes: str | int | float) -> Offered:
    """What requests with these starts and sizes offer to the cable."""
    table = "start_s,host,request_bytes,response_bytes\n" + "".join(_ROW.format(start=s, size=n) for s, n in rows)
    (folder / "requests.csv").write_text(table)
    (folder / "cable.toml").write_text(SCENARIO)
    keys = {f"workload.{key}": value for key, value in changes.items()}
    found = Scenario.load(folder / "cable.toml").with_(keys).check().offered
    assert found is not None
    return found


def test_a_response_has_a_header_a_segment_and_an_acknowledgement_for_two(folder: Path) -> None:
    found = offered(folder, [(0.5, 146_000), (1.2, 1461), (90.0, 1460)])
    up, down = found.links
    segments = [100, 2, 1]
    assert down.direction == "down"
    assert down.second_bps == 8 * (146_000 + 40 * segments[0] + OPENING)
    assert down.minute_bps == pytest.approx(8 * (146_000 + 1461 + 40 * (segments[0] + segments[1]) + 2 * OPENING) / 60)
    assert down.mean_bps == pytest.approx(8 * (146_000 + 1461 + 1460 + 40 * sum(segments) + 3 * OPENING) / 89.5)
    assert up.second_bps == 8 * (340 + 40 * 50 + OPENING)
    assert (found.requests, found.load, found.warnings) == (3, 1, ())


@pytest.mark.parametrize(("profile", "syn"), [("bsd44-lite", 4), ("linux", 8)])
def test_a_run_sends_as_much_but_for_options_of_syns(folder: Path, profile: str, syn: int) -> None:
    """Linux acknowledges a connection's first segments at once, before there is a response to do so."""
    offered(folder, [(0.0, 1000)])
    text = SCENARIO.replace("bsd44-lite", profile) + '\n[record]\nlinks_every = "60 s"\n'
    (folder / "cable.toml").write_text(text)
    scenario = Scenario.load(folder / "cable.toml")
    found = scenario.check().offered
    assert found is not None
    up, down = (load.second_bps for load in found.links)
    assert up is not None and down is not None
    sent = dict(scenario.run().links.group_by("direction").agg(pl.col("bytes").sum()).rows())
    assert sent == {"up": up / 8 + syn, "down": down / 8 + syn}


def test_copies_lie_over_each_other_as_a_run_lays_them(folder: Path) -> None:
    rows = [(float(second), 1460) for second in range(0, 120, 10)]
    response = 8 * (1500 + OPENING)
    assert offered(folder, rows, load=3, copies_offset="0 s").links[1].second_bps == 3 * response
    assert offered(folder, rows, load=3, copies_offset="1 s").links[1].second_bps == response
    assert offered(folder, rows, load=3, copies_offset="5 s", period="120 s").links[1].second_bps == 2 * response
    apart = offered(folder, rows, load=2, copies_offset="200 s")
    assert (apart.span_s, apart.requests) == (310.0, 24)
    assert offered(folder, rows, speed=10).links[1].second_bps == response
    assert offered(folder, rows, speed=20).links[1].second_bps == 2 * response


def test_a_load_that_is_a_rate_has_so_many_times_the_requests_and_no_copies(folder: Path) -> None:
    rows = [(float(second), 1460) for second in range(0, 120, 10)]
    found = offered(folder, rows, load=2.5, scale="rate")
    assert (found.requests, found.load) == (30, 2.5)
    assert found.links[1].mean_bps == pytest.approx(2.5 * offered(folder, rows).links[1].mean_bps)


def test_a_family_is_laid_over_itself_within_its_own_period(folder: Path) -> None:
    text = SCENARIO.replace('requests = "requests.csv"', 'family = "nzix"\ndays = 1\nload = 20')
    (folder / "family.toml").write_text(text)
    found = Scenario.load(folder / "family.toml").check().offered
    assert found is not None and found.span_s == 600


def test_more_than_80_percent_in_a_minute_is_warned_of(folder: Path) -> None:
    limit = 0.8 * 34.368e6 * 60 / 8
    below, above = int(limit / 1500 * 1460 * 0.99), int(limit / 1500 * 1460 * 1.01)
    assert offered(folder, [(0.0, below), (3600.0, 1000)]).warnings == ()
    (warning,) = offered(folder, [(0.0, above), (3600.0, 1000)]).warnings
    assert warning.startswith("path.link.0.down.rate: the workload offers 27.8 Mbit/s in the busiest minute")
    assert "80.8 % of 34.4 Mbit/s" in warning


def test_a_minute_is_held_against_the_rate_that_the_link_has_then(folder: Path) -> None:
    """12 and then 10 Mbit/s for a minute each, over 30 Mbit/s that fall to 8 in the second one: 19 on average."""
    packets = [1000 if second < 60 else 834 for second in range(120)]
    rows = [(float(second), 1460 * number - OPENING) for second, number in enumerate(packets)]
    steady = offered(folder, rows)
    assert (steady.warnings, steady.links[1].minute_bps, steady.links[1].minute_from_s) == ((), 12e6, 0)
    keys = {"path.link.0.down.rate": "30 Mbit/s", "run.until": "120 s"}
    keys["path.link.0.down.steps"] = '[{ at = "60 s", rate = "8 Mbit/s" }]'
    stepped = Scenario.load(folder / "cable.toml").with_(keys)
    found = stepped.check().offered
    assert found is not None
    down = found.links[1]
    assert (down.rate_bps, down.minute_rate_bps, down.minute_from_s) == (19e6, 8e6, 60)
    assert down.minute_bps == pytest.approx(10.008e6)
    (warning,) = found.warnings
    assert (
        "10.0 Mbit/s in the busiest minute (from 60 s on), 125 % of a mean of 8 Mbit/s (on average 58.4 %)" in warning
    )
    silent = {"path.link.0.down.steps": "[]", "path.link.0.down.outage": '[{ at = "60 s", lasts = "60 s" }]'}
    found = stepped.with_(silent).check().offered
    assert found is not None and "(from 60 s on), with nothing sent (on average 74.0 %)" in found.warnings[0]


def test_copies_within_a_burst_are_warned_of(folder: Path) -> None:
    """Four hours with a burst of ten minutes: 20 copies 37 s apart all burst within twenty minutes."""
    rows = [(60.0 * minute, 100_000 if 60 <= minute < 70 else 1000) for minute in range(240)]
    (warning,) = offered(folder, rows, load=20).warnings
    assert warning.startswith("workload.copies_offset: 37 s keeps the bursts of 20 copies together")
    assert 'period = "14341 s" and copies_offset = "717 s"' in warning
    assert offered(folder, rows, load=20, period="14341 s", copies_offset="717 s").warnings == ()
    assert offered(folder, rows).warnings == ()
    even = [(60.0 * minute, 10_000) for minute in range(240)]
    assert offered(folder, even, load=20).warnings == ()


def test_copies_that_stretch_a_short_log_are_warned_of(folder: Path) -> None:
    """A minute: the last of 8 copies starts 259 s later, so 8 times the requests take 319 s."""
    rows = [(float(second), 1000) for second in range(61)]
    found = offered(folder, rows, load=8)
    assert found.rate_multiple == pytest.approx(8 * 60 / 319)
    (warning,) = found.warnings
    assert warning.startswith("workload.load: 8 is 1.5 times the rate of requests: 8 copies start each 37 s later")
    assert warning.endswith('write period = "61 s" and copies_offset = "8 s"')
    remedied = offered(folder, rows, load=8, period="61 s", copies_offset="8 s")
    assert (remedied.rate_multiple, remedied.warnings) == (8, ())
    repeated = offered(folder, rows, load=8, scale="rate")
    assert repeated.rate_multiple == pytest.approx(8 * 60 / 97)
    assert repeated.warnings[0].endswith('write copies_offset = "1 s"')


def with_edge(folder: Path, cache: str) -> Scenario:
    """The cable with an equal link behind it, and a cache between them."""
    text = SCENARIO.replace('nodes = ["client", "server"]', 'nodes = ["client", "edge", "server"]')
    link = text[text.index("[[path.link]]") : text.index("[[leg]]")]
    scenario = folder / "edge.toml"
    scenario.write_text(text.replace("[[leg]]", link + "[[leg]]") + f'\n[[cache]]\nnode = "edge"\n{cache}\n')
    return Scenario.load(scenario)


def test_a_cache_takes_its_share_off_the_links_behind(folder: Path) -> None:
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes\n0,a.example,300,1460\n")
    found = with_edge(folder, "hit_ratio = 0.25").check().offered
    assert found is not None
    assert [load.second_bps for load in found.links if load.direction == "down"] == [
        8 * (1500 + OPENING),
        6 * (1500 + OPENING),
    ]


def test_check_shows_the_load_and_json_has_it(farweb: Farweb, cable: Path) -> None:
    answer = farweb("check", cable, "--details")
    assert "Offered load: 3 requests in 20 s, load 1" in answer.out
    assert "more:" not in answer.err
    figures = farweb("check", cable, "--json").json()["check"]
    assert [load["direction"] for load in figures["offered"]["links"]] == ["up", "down"]
    answer = farweb("check", cable, "--set", "path.link.0.down.rate=2 kbit/s")
    assert "warning: path.link.0.down.rate: the workload offers 3.48 kbit/s in the busiest minute (from 0 s on)" in (
        " ".join(answer.out.split())
    )


def test_requests_for_objects_with_several_sizes_are_counted_behind_a_live_cache(folder: Path) -> None:
    rows = ["a,1000", "b,500", "a,1000", "a,1200", "b,500", ",300", "a,1000"]
    lines = (f"{second},a.example,300,{row.split(',')[1]},{row.split(',')[0]}\n" for second, row in enumerate(rows))
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes,object\n" + "".join(lines))
    found = with_edge(folder, 'policy = "lru"\ncapacity = "1 MB"').check()
    assert found.figures["requests_of_several_sizes"] == 4
    assert any(warning.startswith("cache: 4 of 7 requests (57.1 %) are for") for warning in found.warnings)
    drawn = with_edge(folder, "hit_ratio = 0.5").check()
    assert not any("size changes" in warning for warning in drawn.warnings)


CACHED = "start_s,host,request_bytes,response_bytes,object,method\n"


def load_behind(
    folder: Path, cache: str, rows: list[tuple[float, str, str, int]], **workload: str | int
) -> tuple[float, ...]:
    """Bytes down in the busiest minute behind a cache: all that is asked for, and what no cache answers."""
    lines = (f"{start},a.example,300,{size},{name},{method}\n" for start, method, name, size in rows)
    (folder / "requests.csv").write_text(CACHED + "".join(lines))
    changes = {f"workload.{key}": value for key, value in workload.items()}
    found = with_edge(folder, cache).with_(changes).check().offered
    assert found is not None
    load = found.links[-1]
    assert load.minute_bps is not None and load.direction == "down"
    return tuple(round(each * 60 / 8) for each in (load.minute_bps, load.least_minute_bps))


def test_behind_a_live_cache_load_has_two_bounds(folder: Path) -> None:
    """First requests, POST, requests behind a POST that gave a copy up, and tunnels are no hits of any cache."""
    live = 'policy = "lru"\ncapacity = "1 MB"'
    rows = [
        (0.0, "GET", "a", 1460), (1.0, "GET", "a", 1460), (2.0, "POST", "b", 1460), (3.0, "GET", "b", 1460),
        (4.0, "POST", "b", 1460), (5.0, "GET", "b", 1460), (6.0, "CONNECT", "c", 1460), (7.0, "HEAD", "a", 1460),
        (8.0, "GET", "a", 1460),
    ]  # fmt: skip
    one = 1500 + OPENING
    assert load_behind(folder, live, rows) == (9 * one, 6 * one)
    # Copies ask for the same objects: three are first, three are for no cache in each.
    assert load_behind(folder, live, rows, load=2, copies_offset="10 s") == (18 * one, 9 * one)
    assert load_behind(folder, live, rows, load=2, copies_offset="10 s", copies_hosts="renamed") == (18 * one, 12 * one)
    # A draw answers a fourth of those that a copy may serve.
    drawn = load_behind(folder, "hit_ratio = 0.25", rows)
    assert drawn == (3 * one + 6 * one * 3 / 4, 3 * one + 6 * one * 3 / 4)


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        (
            "10 kbit/s",
            "Overloaded: at least 140 % of 10 kbit/s from server to edge in the busiest minute (from 0 s on), ",
        ),
        ("16 kbit/s", "Nearly full: its fullest link, server to edge, is 87.5 % to 175 % busy in the busiest minute "),
        (
            "30 kbit/s",
            "The cache decides whether the path carries this load: its fullest link, server to edge, is 46.7 % ",
        ),
        (
            "70 kbit/s",
            "The path carries this load: its fullest link, server to edge, is at most 40 % busy in the busiest",
        ),
    ],
)
def test_line_1_behind_a_live_cache_is_sure_or_says_that_the_cache_decides(folder: Path, rate: str, says: str) -> None:
    """60 objects, each asked for twice, in a minute: 14 kbit/s of first requests, 28 kbit/s in all."""
    size = 14_000 * 60 // 8 // 60 - 40 * 2 - OPENING
    lines = [f"{second / 2},a.example,300,{size},{second // 2},GET\n" for second in range(120)]
    (folder / "requests.csv").write_text(CACHED + "".join(lines))
    scenario = with_edge(folder, 'policy = "lru"\ncapacity = "1 MB"')
    rated = scenario.with_({"path.link.0.down.rate": "10 Mbit/s", "path.link.1.down.rate": rate})
    checked = rated.check()
    assert checked.answer.startswith(says), checked.answer
    assert is_overloaded(rated) == says.startswith("Over"), "a search for a size fails such a rate"
    assert any("what no cache answers takes at least" in each for each in checked.warnings) == says.startswith(
        ("Over", "Near")
    )


def test_a_websocket_is_spread_over_its_life(folder: Path) -> None:
    """6 MB over ten minutes: a tenth in each, and nothing behind the last start."""
    head = "start_s,host,request_bytes,response_bytes,method,server_s,wait_s\n"
    rows = ["0,a.example,300,1460,GET,,", "0,a.example,300,6000000,CONNECT,600,0", "599,a.example,300,1460,GET,,"]
    (folder / "requests.csv").write_text(head + "\n".join(rows) + "\n")
    (folder / "cable.toml").write_text(SCENARIO)

    def minute() -> float:
        found = Scenario.load(folder / "cable.toml").check().offered
        assert found is not None and found.links[1].minute_bps is not None
        return found.links[1].minute_bps * 60 / 8

    whole = 6_000_000 + 40 * -(-6_000_000 // 1460)
    assert minute() == pytest.approx(whole / 10, rel=0.01)
    (folder / "requests.csv").write_text(head + "\n".join(rows).replace("600,0", ",") + "\n")
    assert minute() == pytest.approx(whole, rel=0.01), "without a life it is sent at once"
    (folder / "requests.csv").write_text(head + rows[1] + "\n" + rows[1].replace("0,a", "60,a", 1) + "\n")
    assert minute() == pytest.approx(whole * 61 / 601, rel=0.01), "a minute and a second"
