"""Summaries of results made by hand, with known figures."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from farweb import Results, ResultsError
from farweb.text.sheet import Sheet
from sample_results import interval, write_results
from samples import Farweb

MS = 1_000_000


def make(path: Path, requests: list[dict[str, Any]], warmup_ns: int = 0) -> Results:
    """A results folder with these requests; every column that is not given is zero."""
    results = write_results(path, [{"response_bytes": 0, **row} for row in requests], seed=3, warmup_ns=warmup_ns)
    link = {"link": 0, "interval_ns": 2_000 * MS, "packets": 9, "drops": 1, "queue_bytes_mean": 5.0}
    link |= {"queue_bytes_max": 3000, "busy": 0.25}
    links = [{**link, "direction": "up", "bytes": 1000}, {**link, "direction": "down", "bytes": 250_000}]
    results.manifest["scenario"]["path"]["nodes"] = ["here", "there"]
    manifest = {**results.manifest, "name": "by hand", "now_ns": 2_000 * MS, "packet_hops": 18, "links": links}
    (path / "manifest.json").write_text(json.dumps(manifest))
    return Results.open(path)


def request(start_ms: int, latency_ms: int, **more: Any) -> dict[str, Any]:
    end = (start_ms + latency_ms) * MS
    first = (start_ms + latency_ms // 2) * MS
    times = {"start_ns": start_ms * MS, "first_byte_ns": first, "end_ns": end}
    return {"status": "done", **times, "response_bytes": 1000, **more}


LOST = [request(0, 5, status=status) for status in ("failed", "failed", "unfinished", "unfinished", "unfinished")]


def test_failed_requests_count_and_are_null_in_json(tmp_path: Path) -> None:
    """Eight that ended after 10 to 80 ms and two that did not: places 4.5, 8.1 and 8.91 of 0 … 9."""
    rows = [request(0, 10 * number) for number in range(1, 9)]
    summary = make(tmp_path / "r", [*rows, *LOST[1:3]]).summary()
    assert (summary.failed_share, summary.latency.p50_s) == pytest.approx((0.2, 0.055))
    assert summary.latency.p90_s == math.inf
    assert summary.latency.mean_s == pytest.approx(0.045)
    assert summary.of_ended("45 ms") == "45 ms (of 80 %)"
    assert summary.latency.text(summary.latency.p90_s) == "more than 80 ms"
    result = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert (result["failed_share"], result["latency"]["p90_s"], result["latency"]["p99_s"]) == (0.2, None, None)


def test_the_answer_is_true_of_few_requests_and_says_no_quantile_that_they_lack(tmp_path: Path) -> None:
    """Of 50 requests 25 take 250 ms, 45 take 450 ms: observed, not interpolated; of 49 fewer than 5 take longer."""
    rows = [request(0, 10 * number) for number in range(1, 51)]
    fifty, fewer = make(tmp_path / "50", rows).summary(), make(tmp_path / "49", rows[:49]).summary()
    assert (fifty.latency.p50_s, fifty.latency.p90_s) == pytest.approx((0.255, 0.451))
    assert (fifty.latency.p50_observed_s, fifty.latency.p90_observed_s) == pytest.approx((0.25, 0.45))
    assert fifty.answer == "Half of 50 requests take 250 ms or less, 90 % take 450 ms or less; 0 failed."
    assert fewer.answer == "Half of 49 requests take 250 ms or less; 0 failed."
    sheets = [next(part for part in each.screen().parts if isinstance(part, Sheet)) for each in (fifty, fewer)]
    assert list(sheets[0].rows[0][2:5]) == ["255", "250", "450"]
    assert [sheet.header[1:] for sheet in sheets] == [
        ["requests", "mean", "median", "90 %", "max", "failed"],
        ["requests", "mean", "median", "max", "failed"],
    ]


def test_failed_requests_are_counted_apart(tmp_path: Path) -> None:
    failed = request(0, 75_000, status="failed", end_ns=None, first_byte_ns=None, retransmits=3, timeouts=3)
    unfinished = request(5, 1, status="unfinished", end_ns=None)
    summary = make(tmp_path / "r", [request(0, 100), failed, unfinished]).summary()
    assert (summary.done, summary.failed, summary.unfinished, summary.requests) == (1, 1, 1, 3)
    assert summary.latency.max_s == pytest.approx(0.1)
    assert (summary.retransmits, summary.timeouts) == (3, 3)
    assert summary.response_bytes == 1000


def test_the_warm_up_is_left_out(tmp_path: Path) -> None:
    early = request(0, 900, retransmits=5)
    at_its_end = request(1000, 100)
    summary = make(tmp_path / "r", [early, at_its_end], warmup_ns=1000 * MS).summary()
    assert (summary.requests, summary.left_out, summary.retransmits) == (1, 1, 0)
    assert summary.latency.max_s == pytest.approx(0.1)
    assert summary.goodput_bps == pytest.approx(8 * 1000 / 0.1)


def test_a_run_without_a_finished_request(tmp_path: Path) -> None:
    summary = make(tmp_path / "r", []).summary()
    assert summary.latency.n == 0
    assert summary.latency.p99_s is None
    assert summary.goodput_bps is None
    assert "–" in summary._repr_html_()


def test_links_have_their_nodes_and_rates(tmp_path: Path) -> None:
    up, down = make(tmp_path / "r", [request(0, 1)]).summary().links
    assert (up.from_node, up.to_node) == ("here", "there")
    assert (down.from_node, down.to_node) == ("there", "here")
    assert down.rate_bps == pytest.approx(1e6)  # 250,000 B in 2 s
    assert (down.drops, down.busy, down.queue_bytes_max) == (1, 0.25, 3000)


@pytest.mark.parametrize(
    ("workload", "inputs", "when"),
    [
        ({}, {}, "from 30 s on"),
        ({}, {"origin_unix_s": 1_000_000_000}, "from 2001-09-09 01:47:10 UTC on"),
        ({"speed": 2}, {"origin_unix_s": 1_000_000_000}, "from 30 s on"),
    ],
)
def test_the_fullest_link_is_the_one_of_the_busiest_minute_by_the_clock_of_the_log(
    tmp_path: Path, workload: dict[str, Any], inputs: dict[str, Any], when: str
) -> None:
    """Of 120 s a link is busy from 30 to 90 one way, and for three quarters of each second the other."""
    rows = [
        interval(0, way, second, busy=0.75 if way == "up" else float(30 <= second < 90))
        for second in range(120)
        for way in ("up", "down")
    ]
    results = write_results(tmp_path / "r", [], links=rows)
    results.manifest["scenario"]["workload"] = workload
    results.manifest["inputs"]["requests"] = inputs
    summary = results.summary()
    assert [link.busiest and link.busiest.busy for link in summary.links] == [0.75, 1]
    said = summary.screen(["links"]).parts
    (table,) = (part for part in said if isinstance(part, Sheet) and part.title == "Busiest minute")
    assert [row[:2] for row in table.rows] == [["client to server", "75 %"], ["server to client", "100 %"]]
    assert (
        f"fullest link: server to client, 0 % busy over the run, 100 % in the busiest minute ({when}); no drops" in said
    )


@pytest.mark.parametrize(
    ("intervals", "lasts_s", "says"), [(3, 600, "in the busiest 10 min (from 10 min on)"), (59, 1, "")]
)
def test_intervals_longer_than_a_minute_stand_for_themselves(
    tmp_path: Path, intervals: int, lasts_s: int, says: str
) -> None:
    times = [{"time_ns": lasts_s * n * 1000 * MS, "interval_ns": lasts_s * 1000 * MS} for n in range(1, intervals + 1)]
    rows = [{**interval(0, "up", 0), **time, "busy": 0.5 if n == 1 else 0.1} for n, time in enumerate(times)]
    busiest = write_results(tmp_path / "r", [], links=rows).summary().links[0].busiest
    assert (busiest is not None and says in busiest.text) if says else busiest is None


def test_marks_stand_beside_drops_or_none(tmp_path: Path) -> None:
    made = make(tmp_path / "r", [request(0, 10)])
    links = [{**link, "drops": 0, "marks": marks} for link, marks in zip(made.manifest["links"], (50, 8), strict=True)]
    (made.path / "manifest.json").write_text(json.dumps({**made.manifest, "links": links}))
    said = Results.open(made.path).summary().screen().parts
    assert "fullest link: here to there, 25 % busy over the run; no drops; 58 marked" in said


def test_show_prints_what_the_summary_says(tmp_path: Path, farweb: Farweb) -> None:
    results = make(tmp_path / "r", [request(0, 10 * i) for i in range(101)])
    shown = farweb("show", results.path)
    assert shown.code == 0, shown.err
    screen = """\
Half of 101 requests take 500 ms or less, 90 % take 900 ms or less; 0 failed.

latency, s  requests   mean  median   90 %    max  failed
all              101  0.500   0.500  0.900      1       0
first byte       101  0.250   0.250  0.450  0.500

mean 500 ms; record.exchanges = true says where it goes
fullest link: here to there, 25 % busy over the run; 2 drops on all links
more: --links --details
"""
    assert shown.out == screen
    details = farweb("show", results.path, "--details").out
    for figure in ("808 kbit/s", "1 Mbit/s", "there to here"):
        assert figure in details
    assert farweb("show", results.path, "--json").json()["summary"] == json.loads(
        json.dumps(results.summary().to_dict())
    )


@pytest.mark.parametrize(
    ("requests", "warmup_ns", "answer"),
    [
        ([], 0, "No request began."),
        ([request(0, 1)], MS, "No request began after the warm-up."),
        ([request(0, 1240)], 0, "The only request takes 1.24 s."),
        ([*[request(0, 100)] * 6, *LOST[:2]], 0, "Half of 8 requests take 100 ms or less; 2 failed."),
        (LOST[2:], 0, "At least half of 3 requests failed or were cut off: 0 failed, 3 cut off by the end of the run."),
    ],
)
def test_the_answer_is_a_sentence(tmp_path: Path, requests: list[dict[str, Any]], warmup_ns: int, answer: str) -> None:
    assert make(tmp_path / "r", requests, warmup_ns).summary().answer == answer


def test_a_table_that_was_not_recorded_says_what_to_set(tmp_path: Path) -> None:
    results = make(tmp_path / "r", [])
    keys = {"packets": 'packets = "all"', "links": "links_every", "legs": "links_every"}
    for table, key in (*keys.items(), ("connections", "connections"), ("exchanges", "exchanges")):
        with pytest.raises(ResultsError, match=rf"record\.{key}"):
            getattr(results, table)
