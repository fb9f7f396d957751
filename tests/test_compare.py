"""Comparisons of runs with known differences: pairs, failures, intervals, causes, the verdict, and the command."""

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farweb
from farweb import FarwebError, Results, ResultsError
from farweb.comparison import Change, words
from farweb.comparison.change import Cause
from farweb.statistics import blocks
from farweb.statistics.intervals import student
from farweb.text.sheet import Sheet
from sample_results import Row, exchange, leg, request, write_results
from sample_sweeps import Levels, design_of, write_sweep
from samples import Farweb

FAILED = {"status": "failed", "end_ns": None, "first_byte_ns": None}


def run(path: Path, latencies: Sequence[float | None], **more: Any) -> Results:
    """A run of a request a second, of 500 B and 5 kB in turn; None: it failed."""
    rows = [
        request(number, latency or 1.0, 5000 if number % 2 else 500, **({} if latency else FAILED))
        for number, latency in enumerate(latencies)
    ]
    return write_results(path, rows, name=path.name, **more)


SAME_FAILURES = {"failed_share": "equivalent"}


def one(*results: Results) -> Change:
    (change,) = farweb.compare(*results).changes
    return change


def test_runs_whose_tls_differs_say_so(tmp_path: Path) -> None:
    """Handshakes of TLS are in the difference: it is not of the protocol alone."""
    clear = run(tmp_path / "clear", [1.0] * 9, scenario=[leg()])
    secure = {**leg({"kind": "http/2"}), "tls": {"version": "1.3", "start": "resumed"}}
    h2 = run(tmp_path / "h2", [1.2] * 9, scenario=[secure])
    said = "TLS differs: no TLS in clear and TLS 1.3 resumed in h2."
    differing = farweb.compare(clear, h2)
    assert differing.screen().parts[-1] == said
    assert differing.to_dict()["tls"] == said
    alike = farweb.compare(h2, run(tmp_path / "again", [1.0] * 9, scenario=[secure]))
    assert "TLS" not in str(alike.screen().parts) and "tls" not in alike.to_dict()


def test_differences_are_those_of_pairs(tmp_path: Path) -> None:
    """Small ones gain 0.5 s, large ones lose 0.25 s, whatever they take; each block of ten has as many of either."""
    base = [1 + number / 100 for number in range(200)]
    other = [latency + (0.25 if number % 2 else -0.5) for number, latency in enumerate(base)]
    found = one(run(tmp_path / "a", base), run(tmp_path / "b", other))
    everyone, judgement = found.everyone, found.judgement
    assert (found.pairs, everyone.faster, everyone.slower, everyone.count.value) == (200, 0.5, 0.5, 0.0)
    assert everyone.difference_s.value == pytest.approx(-0.125)
    small, large = found.sizes
    assert (small.from_bytes, small.n, small.faster, large.from_bytes, large.slower) == (0, 100, 1.0, 1000, 1.0)
    assert (small.mean_s.value, large.mean_s.value) == pytest.approx((-0.5, 0.25))
    assert small.change.value == pytest.approx(-0.5 / np.mean(base[::2]))
    moved = sum(each.n * (each.mean_s.value or 0) for each in found.sizes)
    assert moved == pytest.approx(200 * -0.125), "classes add up"
    assert (found.of_base.mean_s, found.of_base.quantiles_s[50]) == pytest.approx((1.995, 1.995))
    assert (judgement.interval_of, judgement.quantities[0].units) == ("blocks", 20)


def test_faster_and_slower_are_by_a_fifth_of_the_margin_or_more(tmp_path: Path) -> None:
    """Half of the requests take 0.5 % longer, half 2 %."""
    found = one(run(tmp_path / "a", [2.0] * 200), run(tmp_path / "b", [2.01, 2.04] * 100))
    assert (found.everyone.slower, found.everyone.faster) == (0.5, 0.0)
    assert [each.slower for each in found.sizes] == [0.0, 1.0]


def test_the_rows_of_a_table_are_judged_by_one_rule(tmp_path: Path) -> None:
    """All requests take 3 % longer, the slowest tenth 20 %: 4.7 % more is slightly worse in each row."""
    latencies = np.repeat([1.0, 1.01], [540, 60])
    ratios = np.repeat([1.03, 1.2], [540, 60])
    order = np.random.default_rng(1).permutation(600)

    def visited(path: Path, times: np.ndarray) -> Results:
        groups = [{"client": 1, "visit_request": "first" if number % 20 == 0 else "later"} for number in range(600)]
        return write_results(path, [request(n, times[order][n], 500, **groups[n]) for n in range(600)], name=path.name)

    both = visited(tmp_path / "a", latencies), visited(tmp_path / "b", latencies * ratios)
    found = farweb.compare(*both)
    assert found.changes[0].judgement.overall == "worse"
    rows = next(part for part in found.screen().parts if isinstance(part, Sheet)).rows
    assert {row[0].strip(): row[-1] for row in rows} == {
        "all": "slightly worse",
        "first of a visit": "slightly worse",
        "later": "slightly worse",
        "quicker 90 %": "slightly worse",
        "slowest 10 %": "worse",
    }


def test_all_that_agrees_makes_the_verdict(tmp_path: Path) -> None:
    base = [2 + number % 7 for number in range(200)]
    found = one(run(tmp_path / "a", base), run(tmp_path / "b", [latency - 0.5 for latency in base]))
    assert found.judgement.by_quantity == {
        "change": "better",
        "quicker_nine_tenths": "better",
        "failed_share": "equivalent",
    }
    assert [each.name for each in found.judgement.quantities[3:]] == ["latency_p50_s", "latency_p90_s", "latency_p99_s"]
    assert found.verdict == (
        "b is better than a: requests take 10.1 % less time on average (4.47 s instead of 4.97 s)."
    )
    same = one(run(tmp_path / "c", base), run(tmp_path / "d", base))
    assert same.judgement.overall == "equivalent"
    assert same.verdict == "d and c are equivalent: all requests take the same time."


def test_the_user_says_what_decides_and_what_is_practically_the_same(tmp_path: Path) -> None:
    """Nine of ten requests take 6 % less, the others twice as long."""
    base = np.random.default_rng(1).uniform(1, 2, 400)
    factor = np.where(base < 1.9, 0.94, 2.0)
    both = run(tmp_path / "a", base.tolist()), run(tmp_path / "b", (base * factor).tolist())
    judged = {
        by: farweb.compare(*both, by=by, margin=margin).pairs[0].verdict.overall
        for by, margin in (("median", 0.05), ("mean", 0.02), ("p99", 0.05))
    }
    assert judged == {"median": "better", "mean": "worse", "p99": "worse"}
    whole = farweb.compare(*both).pairs[0].verdict
    assert (whole.overall, whole.by_quantity["change"]) == ("mixed", "split")
    assert "% more time on average" in whole.sentence and "faster" in whole.sentence
    with pytest.raises(FarwebError, match="--by p9x: nothing that runs are judged by; did you mean p99"):
        farweb.compare(*both, by="p9x")
    with pytest.raises(FarwebError, match=r"--by foo: nothing that runs are judged by\. Quantities: median"):
        farweb.compare(*both, by="foo")


def test_a_request_that_fails_on_one_side_is_slower_there(tmp_path: Path) -> None:
    """Of 200 one in ten fails at b only, one in ten at a only and one in ten at both; b gains 1 s of the others."""
    first: list[float | None] = [None if number % 10 in (1, 2) else 3.0 for number in range(200)]
    second: list[float | None] = [None if number % 10 in (2, 3) else 2.0 for number in range(200)]
    found = one(run(tmp_path / "a", first), run(tmp_path / "b", second))
    assert (found.only_base, found.only_other, found.neither, found.everyone.one_sided) == (20, 20, 20, 0.2)
    assert (found.everyone.faster, found.everyone.slower) == (0.8, 0.1)
    assert found.everyone.change.value == pytest.approx(-1 / 3) and found.everyone.difference_s.value is None
    assert (found.of_base.failed_share, found.failed.value) == pytest.approx((0.2, 0.0))
    assert (found.of_other.mean_s, found.of_other.quantiles_s[90]) == (2.0, math.inf)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["of_other"]["quantiles_s"]["90"] is None


def test_failures_are_weighed_against_time(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    quick: list[float | None] = [None if random.random() < 0.1 else 1 + random.random() for _ in range(400)]
    slow = [3 + random.random() for _ in range(400)]
    found = one(run(tmp_path / "a", slow), run(tmp_path / "b", quick))
    judged = found.judgement
    assert judged.by_quantity["change"] == "slightly better" and judged.by_quantity["failed_share"] == "worse"
    assert (judged.overall, judged.harm) == ("mixed", ("failed_share",))
    assert found.verdict == ("b against a is mixed: 8 % of requests are slower and 92 % faster, 7.75 points more fail.")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"host": "b.example"}, "request 3 has the host b.example, in .*a a.example"),
        ({"response_bytes": 1}, "request 3 has the response_bytes 1, in .*a 5000"),
        ({"start_ns": 3}, "request 3 has the start_ns 3"),
        ({"request": 9}, "a has request 3, .*b has not"),
    ],
)
def test_only_the_same_requests_are_compared(tmp_path: Path, change: Row, said: str) -> None:
    base = run(tmp_path / "a", [1.0] * 5)
    rows = [dict(row) for row in base.requests.iter_rows(named=True)]
    rows[3] |= change
    with pytest.raises(ResultsError, match=said):
        farweb.compare(base, write_results(tmp_path / "b", rows))


def test_requests_of_either_warm_up_are_left_out(tmp_path: Path) -> None:
    base = run(tmp_path / "a", [1.0] * 10 + [2.0] * 30, warmup_ns=4 * 10**9)
    found = one(base, run(tmp_path / "b", [9.0] * 10 + [2.5] * 30, warmup_ns=10 * 10**9))
    assert (found.pairs, found.everyone.difference_s.value, found.judgement.interval_of) == (30, 0.5, "none")
    assert found.verdict == (
        "b is worse than a: 30 of 30 slower: +25.0 % on average (2.50 s instead of 2 s); for these 30 requests."
    )


def test_intervals_of_blocks_cover_what_neighbours_share() -> None:
    """Differences that follow one another (correlation 0.8): of 300 series most intervals of blocks hold the mean 0."""
    random = np.random.default_rng(3)
    covered = naive = 0
    for _ in range(300):
        noise = random.standard_normal(2100)
        series = np.empty(2100)
        series[0] = noise[0]
        for place in range(1, 2100):
            series[place] = 0.8 * series[place - 1] + noise[place]
        series = series[100:]
        parts = student([part.mean() for part in np.array_split(series, blocks.number_of_blocks(series.size))])
        alone = student(series)
        covered += bool((parts.low or 0) <= 0 <= (parts.high or 0))
        naive += bool((alone.low or 0) <= 0 <= (alone.high or 0))
    assert covered / 300 > 0.9
    assert naive / 300 < 0.6


def test_blocks_that_depend_on_each_other_are_told(tmp_path: Path) -> None:
    """A difference that drifts from -1 to 1 s: neighbouring blocks are alike."""
    base = [3.0] * 200
    drifting = one(run(tmp_path / "a", base), run(tmp_path / "b", [2 + number / 100 for number in range(200)]))
    assert "less surely than 95 %" in drifting.judgement.holds
    random = np.random.default_rng(1)
    steady = one(run(tmp_path / "c", base), run(tmp_path / "d", (3 + random.uniform(-1, 1, 200)).tolist()))
    assert "less surely" not in steady.judgement.holds


def test_causes_add_up_to_the_mean_difference(tmp_path: Path) -> None:
    """The server takes 0.2 s longer, and nothing else changes."""

    def recorded(path: Path, more_ms: int) -> Results:
        moved = dict.fromkeys(("ready_first_ns", "ready_last_ns", "sent_last_ns", "end_ns"), 10**6 * more_ms)
        rows = [{name: value + moved.get(name, 0) for name, value in exchange(number).items()} for number in range(30)]
        requests = [request(number, 1 + more_ms / 1000, 500) for number in range(30)]
        return write_results(path, requests, name=path.name, exchanges=rows, scenario=[leg()])

    found = one(recorded(tmp_path / "a", 0), recorded(tmp_path / "b", 200))
    (cause,) = found.causes
    assert cause.kind == "server"
    assert (cause.mean_s, found.everyone.difference_s.value) == pytest.approx((0.2, 0.2))
    causes = (Cause("travel", -0.002), Cause("request", -0.0015), Cause("cwnd", -0.00001))
    assert "cause: 3.50 ms less on the way, in the mean" in words.screen(replace(found, causes=causes), ())


def test_points_of_a_sweep_are_compared_by_replication(tmp_path: Path) -> None:
    """Over the satellite replication r takes 1 + r / 10 s longer than 1.5 s: 1.1 s in the mean."""

    def requests(levels: Levels, replication: int) -> list[Row]:
        longer = 1 + replication / 10 if levels["circuit"] == "satellite" else 0.0
        return [request(number, levels["workload.load"] + longer, 1000) for number in range(40)]

    design = design_of({"circuit": ["cable", "satellite"], "workload.load": [1, 2]}, 3)
    sweep = write_sweep(tmp_path / "s", design, None, requests)
    points = [{"circuit": "cable"}, {"circuit": "satellite"}]
    (found,) = farweb.compare(sweep, points=points).changes
    judgement, difference = found.judgement, found.everyone.difference_s
    assert (found.pairs, found.runs, judgement.interval_of, judgement.quantities[0].units) == (
        240,
        6,
        "replications",
        3,
    )
    # Of the logarithm, with Student's t(2) of the standard error 0.1 / 2.6 / √3.
    half = 1.5 * 2.6 / 1.5 * math.sinh(4.302653 * 0.1 / 2.6 / math.sqrt(3))
    assert difference.value == pytest.approx(1.1)
    assert difference.low is not None and difference.high is not None
    assert (difference.high - difference.low) / 2 == pytest.approx(half, rel=0.01)
    assert (found.base, found.other) == ("cable", "satellite")
    alike = [{**point, "load": "2"} for point in points]
    (found,) = farweb.compare(sweep, points=alike).changes
    assert (found.pairs, found.of_base.quantiles_s[50]) == (120, 2.0)
    with pytest.raises(FarwebError, match="levels of the same factors"):
        farweb.compare(sweep, points=[{"circuit": "cable"}, {"workload.load": "2"}])
    cable, satellite = "'circuit=cable and workload.load=1'", "'circuit=satellite and workload.load=2'"
    with pytest.raises(FarwebError, match=f"name two points of it: --point {cable} --point {satellite}"):
        farweb.compare(sweep)
    with pytest.raises(FarwebError, match=f"no factor 'link'; points: {cable}, "):
        farweb.compare(sweep, points=[{"link": "cable"}, {"link": "5g"}])


def test_of_several_runs_columns_go_and_rows_stay(farweb: Farweb, tmp_path: Path) -> None:
    """A word with its slice leaves no room for all quantiles; the table is still a row a run."""
    hours = [3000.0 if number % 300 == 150 else 1.0 + number % 7 / 1000 for number in range(600)]
    slower = {"quick": (1.0, 1.0), "other-settings": (1.15, 1.0), "slow": (3.0, 3.0)}
    for name, (long, short) in slower.items():
        run(
            tmp_path / name,
            [each * (long if each > 9 else 0.8 if name == "other-settings" else short) for each in hours],
        )
    shown = farweb("compare", *(tmp_path / name for name in slower)).out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert "latency, s mean median time % 98.3 % interval failed" in lines, shown
    assert "…" not in shown.replace(" … ", ""), "names are whole"
    assert any(line.endswith("0 better: quicker 90 %") and "other-settings" in line for line in lines), shown
    assert shown.startswith("quick takes the least time (")


def test_the_command_prints_draws_and_refuses(farweb: Farweb, tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    random = np.random.default_rng(1)
    for place, latency in zip(places, (2.0, 1.0, None), strict=True):
        run(place, [latency and latency * (1 + 0.01 * random.random()) for _ in range(100)])
    answer = farweb("compare", *places)
    assert answer.code == 0, answer.err
    printed = " ".join(answer.out.split())
    assert answer.out.startswith("Failures decide: 100 % of requests fail at c. b is better than a: requests take")
    assert "a b 1.01 1.00 1.01 best 0 b a 2.01 2.01 2.02 +100 +99.8 … +100 0 worse" in printed
    assert "c c – failed failed" in printed and printed.endswith("more: --pairs (3 verdicts) --base NAME")
    against_a = farweb("compare", *places, "--base", "a", "--pairs")
    assert "base" in against_a.out and "b against a" in against_a.out
    shown = farweb("compare", *places[:2], "--json", "-o", tmp_path / "d.html").json()
    assert shown["changes"][0]["mean_s"]["value"] == pytest.approx(-1, abs=0.02)
    assert shown["changes"][0]["interval_of"] == shown["pairs"][0]["interval_of"] == "blocks"
    assert [shown["pairs"][0][key] for key in ("base", "other", "overall")] == ["a", "b", "better"]
    few = [run(tmp_path / name, [1.0] * 99).path for name in ("few", "as-few")]
    assert [line.split()[2:] for line in farweb("compare", *few).out.splitlines() if "latency, s" in line] == [
        ["mean", "median", "90", "%", "failed"]
    ]
    assert shown["ranking"] == [{"group": "", "places": [["b"], ["a"]], "letters": {"b": "a", "a": "b"}}]
    assert "100 % faster" in (tmp_path / "d.html").read_text()
    assert farweb("compare", *places, "-o", tmp_path / "d.png", "--quiet").code == 0
    assert (tmp_path / "d.png").stat().st_size > 10_000
    presented = ("--no-caption", "--label", "b=quick", "--data", tmp_path / "d.csv")
    assert farweb("compare", *places, "-o", tmp_path / "d.svg", *presented).code == 0
    assert "quick: 100 % faster, 0 % slower" in (tmp_path / "d.svg").read_text()
    assert "n = 100 requests" not in (tmp_path / "d.svg").read_text()
    rows = list(csv.DictReader((tmp_path / "d.csv").read_text().splitlines()))
    drawn = [float(row["difference in latency [s]"]) for row in rows if row["panel"] == "all requests"]
    assert drawn and max(drawn) < -0.9
    for arguments, said in (
        ((*places, "--no-title"), "name its file with -o"),
        ((*places, "-o", tmp_path / "e.png", "--data", tmp_path / "d.csv"), "exists already; --force replaces it"),
        ((places[0],), "at least two runs"),
        ((*places, "--base", "x"), "no such run; there are a, b and c"),
        ((*places[:2], "--margin", "much"), "write a share, such as 5% or 0.05"),
        ((*places[:2], "--margin", "200%"), "above 0 and below 1"),
        ((*places[:2], "--point", "circuit"), "write FACTOR=LEVEL"),
        ((*places[:2], "--point", "circuit=a", "--point", "circuit=b"), "points are of one sweep"),
    ):
        answer = farweb("compare", *arguments)
        assert (answer.code, said in answer.err) == (2, True), answer.err
