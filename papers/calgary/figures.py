"""The figures of the cache-hierarchy study: 2 to 7 have the numbers of the paper, the others go beyond it."""

import csv
from pathlib import Path

import numpy as np

from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.plot.figures.effects import effects as allocation
from farweb.reproduce.drawing import runs_text
from farweb.reproduce.study import StudyResults

from .claims import HITS, NEAR
from .drawing import PLACE, SERVERS, scatter, scatters, spread
from .live_figures import LIVE_FIGURES
from .transfers import FAST, LINKS, RATE, SLOW, Floats, Levels, of_case, of_runs
from .workload import STRENGTHS

POLICIES = {"good": "default", "threshold": "size threshold"}


def _levels(rate: int = 10, hits: str = "40 / 15 %", capacity: str = SLOW, delay: str = NEAR) -> Levels:
    return {RATE: rate, "hit_ratios": hits, "capacity": capacity, "delay": delay}


def _baseline(results: StudyResults) -> Figure:
    panel = scatter(results, "factorial", _levels(), "")
    caption = "10 requests/s, links of 10 Mbit/s, 1, 5 and 30 ms."
    return scatters(results, "2: the baseline", caption, [panel], "factorial")


def _capacity(results: StudyResults) -> Figure:
    panel = scatter(results, "factorial", _levels(capacity=FAST), "")
    return scatters(results, "3: a link of 100 Mbit/s to the clients", "10 requests/s.", [panel], "factorial")


def _delay(results: StudyResults) -> Figure:
    panel = scatter(results, "factorial", _levels(delay="1 / 10 / 30"), "", (1, 10, 30))
    caption = "10 requests/s, links of 10 Mbit/s."
    return scatters(results, "4: the parent proxy 10 ms away", caption, [panel], "factorial")


def _rates(results: StudyResults) -> Figure:
    panels = [
        scatter(results, "factorial", _levels(rate), f"({letter}) {rate} requests/s")
        for letter, rate in zip("abc", (20, 40, 80), strict=True)
    ]
    return scatters(results, "5: the arrival rate", "Links of 10 Mbit/s.", panels, "factorial")


def _hit_ratios(results: StudyResults) -> Figure:
    panels = [
        scatter(results, "factorial", _levels(40, hits), f"({letter}) hits {hits} at child / parent")
        for letter, hits in zip("abc", HITS, strict=True)
    ]
    return scatters(results, "6: the hit ratios", "40 requests/s, links of 10 Mbit/s.", panels, "factorial")


def _policies(results: StudyResults) -> Figure:
    panels = [
        scatter(
            results,
            "cases",
            {RATE: 40, "case": case, "capacity": capacity},
            f"({letter}) {policy}, C1 = {capacity.split()[0]} Mbit/s",
        )
        for letter, (capacity, (case, policy)) in zip(
            "abcd", ((capacity, each) for capacity in (SLOW, FAST) for each in POLICIES.items()), strict=True
        )
    ]
    caption = "40 requests/s; with the threshold the child has documents of 8 KB at most, and the parent larger ones."
    return scatters(results, "7: what the caches may have", caption, panels, "cases")


def _effects(results: StudyResults) -> Figure:
    return allocation(results.sweep("factorial"), metric="acked_mean_s")


def _factorial(results: StudyResults) -> Figure:
    """Mean latency of all 192 runs: a panel a delay setting, a line a pair of hit ratios and a capacity setting."""
    sweep = results.sweep("factorial")
    factors = {factor.name: [str(level.value) for level in factor.levels] for factor in sweep.design.factors}
    rates = [int(rate) for rate in factors[RATE]]
    x = Axis("arrival rate", "requests/s", low=0, marks=tuple(map(float, rates)))
    panels = []
    for delay in factors["delay"]:
        series = []
        for index, hits in enumerate(factors["hit_ratios"]):
            for capacity in factors["capacity"]:
                mean = [
                    of_runs(results, "factorial", "mean_s", _levels(rate, hits, capacity, delay))[0] for rate in rates
                ]
                slow = capacity == SLOW
                label = f"hits {hits}, C1 {'= 10' if slow else '≥ 100'} Mbit/s" if slow or capacity == FAST else ""
                number = 2 * index if slow else 2 * index + 1
                series.append(
                    Series(label, number, np.array(rates, float), np.array(mean), "points", joined=bool(label))
                )
        y = Axis("mean latency", "s", low=0)
        panels.append(Panel(x, y.fitted(*(each.y for each in series)), tuple(series), title=f"delays {delay} ms"))
    return Figure(
        f"The full factorial design – {PLACE}",
        "Mean time until the sender has the last ACK, in each of the 192 runs. Three capacity settings have C1 ≥ 100 "
        f"Mbit/s (C2 = 10 or 100, C1 = 100 or 1000) and lie on one another. {runs_text([sweep])}",
        tuple(panels),
        columns=2,
        size=(10.0, 8.2),
        share_y=True,
    )


_ASKED = (
    ("mean_s", Axis("mean latency", "s", low=0)),
    ("above 1 s", Axis("transfers above 1 s", low=0)),
    ("from 6 s", Axis("transfers of 6 s or more", low=0)),
)


_CLUSTERS = {
    "all": "default policy, all transfers",
    "child": "default policy, hits at the child alone",
    "threshold": "size threshold, all transfers",
}
_PUBLISHED: dict[int, dict[str, dict[str, float]]] = {
    40: {"mean_s": {"all": 0.156, "threshold": 0.150}, "above 1 s": {"all": 4}, "from 6 s": {"all": 1}},
    80: {"mean_s": {"all": 0.214, "threshold": 0.163}, "above 1 s": {"all": 58}, "from 6 s": {"all": 27}},
}


def _clusters(results: StudyResults) -> Figure:
    sweep = results.sweep("clusters")
    rates = sorted(set(sweep.runs[RATE]))
    panels = [_clustered(results, rate, what, y) for rate in rates for what, y in _ASKED]
    return Figure(
        f"Large transfers that come together – {PLACE}",
        "Beyond the paper: the same transfers at the same times, in an order in which those of 10,000 B and more come "
        "together, of all transfers or among the hits at the child; 1: they are independent. Dashed: published, in the "
        f"colour of the policy. Shade: 95 % interval (Student). {runs_text([sweep])}",
        tuple(panels),
        columns=3,
        counted="workloads",
        size=(12.6, 1.9 + 3.2 * len(rates)),
    )


def _clustered(results: StudyResults, rate: int, what: str, y: Axis) -> Panel:
    """A number over how long clusters last, at an arrival rate."""
    series = []
    for number, (name, label) in enumerate(_CLUSTERS.items()):
        levels: list[Levels] = [{RATE: rate, "workload": f"{name}, {strength:g}"} for strength in STRENGTHS]
        values = [of_runs(results, "clusters", what, each) for each in levels]
        x, mean = np.array([1 / (1 - strength) for strength in STRENGTHS]), np.array([each.mean() for each in values])
        series.append(Series(label, number, x, mean, "points", **spread(values)))
    published = _PUBLISHED[rate][what]
    lines = [Reference("", published[name], index=number) for number, name in enumerate(_CLUSTERS) if name in published]
    length = Axis("transfers that a cluster lasts", scale="log")
    return Panel(
        length, y.fitted(*(each.y for each in series)), tuple(series), tuple(lines), title=f"{rate} requests/s"
    )


def _http(results: StudyResults) -> Figure:
    """Latency with and without handshakes and requests, and what the size threshold then gains or costs."""
    sweep = results.sweep("http")
    return Figure(
        f"Handshakes and requests – {PLACE}",
        "Beyond the paper: the same documents one-way as in ns-2, and over HTTP/1.0 with a connection each and "
        "segments of 512 or 1460 B. Latency to the last byte at the client. Bars: 95 % interval (Student), of the "
        f"differences paired by workload. {runs_text([sweep])}",
        (_by_distance(results), *(_threshold_less_default(results, capacity) for capacity in (SLOW, FAST))),
        columns=3,
        counted="workloads",
        size=(12.6, 5.6),
    )


def _over_http(results: StudyResults, **levels: str | int) -> Floats:
    """The mean latency of the runs with these levels, by replication; of a source when there is a level `source`."""
    source = levels.pop("source", None)
    of = {RATE: levels.pop("rate"), "capacity": SLOW, "case": "good", **levels}
    return of_runs(results, "http", "delivered_s", of, None if source is None else str(source))


def _transports(results: StudyResults) -> list[str]:
    (factor,) = (factor for factor in results.sweep("http").design.factors if factor.name == "transport")
    return [str(level.value) for level in factor.levels]


def _by_distance(results: StudyResults) -> Panel:
    transports = _transports(results)
    series = []
    for number, source in enumerate(LINKS):
        values = [_over_http(results, rate=40, transport=transport, source=source) for transport in transports]
        mean, place = np.array([each.mean() for each in values]), np.arange(len(values), dtype=float)
        series.append(
            Series(SERVERS[source], number, place, mean, "points", **spread(values), interval="bars", joined=False)
        )
    x = Axis("", scale="category", levels=tuple(transports))
    y = Axis("mean latency to the last byte", "s", "log", low=0.01, high=0.6)
    return Panel(x, y, tuple(series), title="40 requests/s, C1 = 10 Mbit/s, default policy")


def _threshold_less_default(results: StudyResults, capacity: str) -> Panel:
    rates = sorted(set(results.sweep("http").runs[RATE]))
    series = []
    for number, transport in enumerate(_transports(results), start=len(LINKS)):
        values = [
            _over_http(results, rate=rate, transport=transport, capacity=capacity, case="threshold")
            - _over_http(results, rate=rate, transport=transport, capacity=capacity)
            for rate in rates
        ]
        mean = np.array([each.mean() for each in values])
        series.append(
            Series(transport, number, np.array(rates, float), mean, "points", **spread(values), interval="bars")
        )
    y = Axis("threshold less default", "s").fitted(*(each.y for each in series))
    x = Axis("arrival rate", "requests/s", low=0, marks=tuple(map(float, rates)))
    return Panel(x, y, tuple(series), (Reference("", 0.0),), title=f"C1 = {capacity.split()[0]} Mbit/s")


def _ns2(results: StudyResults) -> Figure:
    """What ns-2 makes of the same transfers, against farweb: means by source, and the slow ones."""
    theirs, runs = _of_ns2(), results.sweep("cases")
    done = [row for row in theirs if int(row["seed"]) <= runs.design.replications]
    columns = {f"{source}_s": ("mean_s", source) for source in LINKS}
    means = [
        _against(results, done, each, SERVERS[of[1]], *of, index) for index, (each, of) in enumerate(columns.items())
    ]
    slow = [
        _against(results, done, "above_1_s", "above 1 s", "above 1 s", None, 3),
        _against(results, done, "from_6_s", "of 6 s or more", "from 6 s", None, 4),
    ]
    same = Reference("equal", along="identity")
    panels = (
        Panel(Axis("mean latency in ns-2", "s", "log"), Axis("in farweb", "s", "log"), tuple(means), (same,)),
        Panel(Axis("transfers in ns-2", low=0), Axis("in farweb", low=0), tuple(slow), (same,)),
    )
    lossless = sum(row["retransmits"] == "0" for row in done)
    return Figure(
        f"ns-2 and farweb on the same transfers – {PLACE}",
        f"Each point is one of {len(done)} runs of ns-2 2.35, {lossless} of them without loss, and farweb's of the "
        "same case, rate, capacity and workload. With losses a transfer depends on the random phases of clocks. "
        f"{runs_text([runs])}",
        panels,
        columns=2,
        size=(10.0, 5.0),
    )


def _of_ns2() -> list[dict[str, str]]:
    """Runs of ns-2, by ns2.tcl."""
    with (Path(__file__).parent / "ns-2.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _against(
    results: StudyResults,
    runs: list[dict[str, str]],
    column: str,
    label: str,
    what: str,
    source: str | None,
    index: int,
) -> Series:
    """A number of farweb's runs over that of ns-2."""
    capacities = {"10": SLOW, "100": FAST}
    theirs = np.array([float(row[column]) for row in runs])
    ours = [
        of_case(results, what, row["case"], int(row["rate"]), source, capacities[row["c1_mbit"]])[int(row["seed"]) - 1]
        for row in runs
    ]
    return Series(label, index, theirs, np.array(ours), "points", joined=False)


FIGURES = {
    "2": _baseline,
    "3": _capacity,
    "4": _delay,
    "5": _rates,
    "6": _hit_ratios,
    "7": _policies,
    "factorial": _factorial,
    "effects": _effects,
    "clusters": _clusters,
    "http": _http,
    "ns-2": _ns2,
    **LIVE_FIGURES,
}
