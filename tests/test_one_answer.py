"""One question, one answer: `compare`, `report`, `show`, `plot effects` and `size` judge five workloads alike.

Verdicts are read from the JSON of each verb. Logs are cut to a busy span: each sweep takes seconds.
"""

from pathlib import Path
from typing import Any

import pytest

from farweb.judge import judged, pairs
from farweb.judge.ranking import rank_points
from farweb.results.sweep import SweepTables
from samples import SCENARIO, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)

SWEEP = """
[sweep]
replications = 3
[[sweep.factors.circuit]]
level = "cable"
set = { "path.link.0.up.delay" = "60 ms", "path.link.0.down.delay" = "60 ms", "path.link.0.down.rate" = "34.368 Mbit/s" }
[[sweep.factors.circuit]]
level = "geo"
set = { "path.link.0.up.delay" = "260 ms", "path.link.0.down.delay" = "260 ms", "path.link.0.down.rate" = "34.368 Mbit/s" }
[[sweep.factors.circuit]]
level = "geo, wide"
set = { "path.link.0.up.delay" = "260 ms", "path.link.0.down.delay" = "260 ms", "path.link.0.down.rate" = "70 Mbit/s" }
"""  # noqa: E501 - a level stays on a line

LOGS = {
    "nasa": ("clf/nasa-jul95-excerpts.log.gz", "15min"),
    "semicomplete": ("clf/semicomplete-2015-combined.log.gz", "6h"),
    "squid": ("squid/webreadr-2010-log.squid", "24h"),
}
FAMILIES = {
    "nzix": 'family = "nzix"\ndays = 1',
    "prowgen": 'family = "prowgen"\nparameters = { requests = 2000, arrival_rate = 20.0 }',
}


alike = pytest.mark.slow(reason="logs")
WORKLOADS = ["nasa", "prowgen", *(pytest.param(each, marks=alike) for each in ("semicomplete", "squid", "nzix"))]


@pytest.mark.usefixtures("unpainted")
@pytest.mark.parametrize("workload", WORKLOADS)
def test_four_verbs_have_one_verdict(folder: Path, farweb: Farweb, workload: str) -> None:
    (folder / "asked.toml").write_text(asked(farweb, workload) + SWEEP)
    swept = farweb("sweep", "asked.toml", "--out", "s", "--jobs", "2", "--quiet")
    assert swept.code == 0, swept.err

    points = [f"circuit={level}" for level in ("cable", "geo", "geo, wide")]
    compared = farweb("compare", "s", *(part for point in points for part in ("--point", point)), "--json").json()
    answers = {
        "compare": verdicts(compared["pairs"], "other"),
        "show": verdicts(farweb("show", "s", "--json").json()["sweep"]["judged"], "level"),
        "report": verdicts(farweb("report", "s", "--json", "--out", "r.html").json()["judged"], "level"),
        "plot effects": verdicts(farweb("plot", "effects", "s", "-o", "e.svg", "--json").json()["judged"], "level"),
    }
    assert len(answers["compare"]) == 3
    for verb, found in answers.items():
        assert found == answers["compare"], verb
    geo = answers["compare"]["cable", "geo"]
    assert geo["overall"] == "worse"
    assert geo["interval_of"] == ("blocks" if workload in LOGS else "replications")
    assert geo["holds"].startswith("Holds for this log" if workload in LOGS else "Holds for traffic of this kind")
    assert "cable" in compared["ranking"][0]["places"][0]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_size_judges_as_compare_does(folder: Path, farweb: Farweb, workload: str) -> None:
    """A level does not meet 1.05*best where `compare` calls it worse than another, with a margin of 5 %."""
    (folder / "asked.toml").write_text(asked(farweb, workload) + SWEEP)
    arguments = ("--vary", "circuit", "--largest", "--target", "p50(latency) <= 1.05*best", "--jobs", "2", "--quiet")
    found = farweb("size", "asked.toml", *arguments, "--json", "--out", "z")
    assert found.code == 0, found.err
    said = found.json()
    fixed = workload in LOGS
    assert said["interval_of"] == ("blocks" if fixed else "replications")
    assert ("this log" in said["holds"], said["scope"] == "for this log") == (fixed, fixed)
    curve = {tried["label"]: tried for tried in said["curve"]}
    if fixed:
        assert [tried["n"] for tried in curve.values()] == [1, 1, 1]

    levels = ("cable", "geo", "geo, wide")
    points = [part for level in levels for part in ("--point", f"circuit={level}")]
    pairs = farweb("compare", "z", *points, "--by", "median", "--json").json()["pairs"]
    worse = {pair["other"] for pair in pairs if pair["overall"] == "worse"}
    worse |= {pair["base"] for pair in pairs if pair["overall"] == "better"}
    assert {label for label, tried in curve.items() if tried["verdict"] == "does not meet"} == worse
    assert "cable" not in worse and "geo" in worse
    for level in levels[1:] if fixed else ():
        two = ("--point", "circuit=cable", "--point", f"circuit={level}")
        for pair in farweb("compare", "z", *two, "--by", "median", "--json").json()["pairs"]:
            (estimate,), (quantity,) = curve[pair["other"]]["estimates"], pair["quantities"]
            ratio = [estimate[name] - 1 for name in ("ratio", "ratio_low", "ratio_high")]
            assert ratio == pytest.approx([quantity[name] for name in ("value", "low", "high")])
            assert estimate["interval_of"] == quantity["interval_of"]


def test_all_verbs_have_one_change_of_the_mean(folder: Path, farweb: Farweb) -> None:
    """M of `compare`, `show`, `size` and `what-if` is the ratio of the mean latencies, and a ranking their order."""
    rows = "".join(f"{n * 0.9:.1f},a.example,300,{2000 + n % 7 * 9000},c{n % 9}\n" for n in range(120))
    (folder / "requests.csv").write_text(f"start_s,host,request_bytes,response_bytes,client\n{rows}")
    levels = '[sweep.factors]\n"leg.0.tcp.constants.initial_cwnd_segments" = [2, 4, 30]\n'
    (folder / "a.toml").write_text(SCENARIO + "[sweep]\n" + levels)
    (folder / "one.toml").write_text(SCENARIO)
    window = "leg.0.tcp.constants.initial_cwnd_segments"
    for number in (2, 4, 30):
        assert farweb("run", "one.toml", "--set", f"{window}={number}", "-o", f"w{number}", "-q").code == 0
    means = {n: farweb("show", f"w{n}", "--json").json()["summary"]["latency"]["mean_s"] for n in (2, 4, 30)}
    compared = farweb("compare", "w2", "w4", "w30", "--json").json()
    found = {(each["base"], each["other"]): each["change"]["value"] for each in compared["pairs"]}
    for (base, other), change in found.items():
        assert change == pytest.approx(means[int(other[1:])] / means[int(base[1:])] - 1)
    order = [name for place in compared["ranking"][0]["places"] for name in place]
    assert order == [f"w{number}" for number in sorted(means, key=means.__getitem__)]
    for each in compared["pairs"]:
        groups = {group["group"]: group for group in each["groups"]}
        moved = [
            part["requests"] * (part["other_s"] - part["base_s"]) for part in (each["slices"][0], *groups.values())
        ]
        assert len(groups) == 2 and moved[0] == pytest.approx(sum(moved[1:])), "groups add up"

    assert farweb("sweep", "a.toml", "-o", "s", "-q", "--jobs", "1").code == 0
    shown = farweb("show", "s", "--json").json()["sweep"]["judged"]
    assert {each["level"]: each["change"]["value"] for each in shown if each["base"] == "2"} == {
        "4": pytest.approx(found["w2", "w4"]),
        "30": pytest.approx(found["w2", "w30"]),
    }
    sized = farweb("size", "one.toml", "--vary", f"{window}=2,4,30", "--json", "-o", "z", "--jobs", "1", "-q").json()
    assert sized["best"]["label"] == order[0][1:]
    ratios = {each["label"]: each["estimates"][0]["ratio"] for each in sized["curve"]}
    assert ratios["2"] == pytest.approx(means[2] / means[int(order[0][1:])])
    asked = farweb(
        "what-if", "one.toml", "--set", f"{window}=2", "--seeds", "1", "--json", "-o", "f", "--jobs", "1", "-q"
    ).json()
    saved = next(each["all_s"] for each in asked["changes"] if each["change"] == "first window 30")
    assert saved / asked["as_it_is"]["all_s"] == pytest.approx(found["w2", "w30"])


def test_each_run_is_read_once_while_levels_are_judged(
    folder: Path, farweb: Farweb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three levels are three pairs of three replications, of nine runs; a large sweep keeps none and reads eighteen."""
    (folder / "asked.toml").write_text(asked(farweb, "prowgen") + SWEEP)
    assert farweb("sweep", "asked.toml", "--out", "s", "--jobs", "2", "--quiet").code == 0
    requests_of, counted = pairs.requests_of, []

    def counting(*arguments: Any) -> dict[str, Any]:
        counted.append(arguments)
        return requests_of(*arguments)

    monkeypatch.setattr(pairs, "requests_of", counting)
    kept = judged.levels_judged(sweep := SweepTables.open("s"))
    assert len(counted) == 9
    assert judged.levels_judged(sweep) == kept
    rank_points(sweep)
    assert len(counted) == 9, "a page, its figure of effects and the ranking read the same"
    monkeypatch.setattr(judged, "KEPT_REQUESTS", 0)
    assert judged.levels_judged(SweepTables.open("s")) == kept
    assert len(counted) == 9 + 18


def asked(farweb: Farweb, workload: str) -> str:
    """A scenario with that workload, its table in the current folder."""
    if workload in FAMILIES:
        return SCENARIO.replace('requests = "requests.csv"', FAMILIES[workload])
    if DATA is None:
        pytest.skip("the logs are not here")
    log, span = LOGS[workload]
    imported = farweb("workload", "import", DATA / log, "--busiest", span, "--out", "requests.parquet")
    assert imported.code == 0, imported.err
    return SCENARIO.replace("requests.csv", "requests.parquet")


def verdicts(rows: list[dict[str, Any]], other: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The verdict on each two, whatever a verb calls them."""
    kept = (
        "overall",
        "for",
        "by_quantity",
        "quantities",
        "margin",
        "interval_of",
        "sentence",
        "holds",
        "slices",
        "change",
    )
    return {(row["base"], row[other]): {name: row[name] for name in kept} for row in rows}
