"""How the claims of the cache-hierarchy study are measured."""

import numpy as np

from farweb.errors import ResultsError
from farweb.reproduce.claims import Measured
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import student

from .published import BYTES, COUNTS, SOURCES
from .transfers import FAST, RATE, SLOW, Floats, alone_ns, delayed_by_others, of_case, of_runs, of_transfers

RATES = (10, 20, 40, 80)
HITS = {"40 / 15 %": "good", "30 / 10 %": "average", "20 / 7 %": "poor"}
NEAR = "1 / 5 / 30"
STEPS = (1, 2, 4, 8, 16)


def _measured(values: Floats, what: str = "", bound: str = "") -> Measured:
    return Measured.of(student(values), what, bound)


def _workload(results: StudyResults) -> list[Measured]:
    """How many entries of tables 2 to 4 the transfers that were run do not meet, by case, over all workloads."""
    found = []
    for case, counts in COUNTS.items():
        wrong = 0
        for number, source in enumerate(SOURCES):
            wrong += int((of_case(results, "transfers", case, 40, source) != counts[number]).sum())
            if case in BYTES:
                wrong += int((of_case(results, "bytes", case, 40, source) != BYTES[case][number]).sum())
        found.append(Measured(wrong, what=case))
    return found


def _no_loss(results: StudyResults) -> list[Measured]:
    sweep = results.sweep("cases")
    light = sweep.runs.filter(
        (sweep.runs[RATE] == 10) & (sweep.runs["capacity"] == SLOW) & (sweep.runs["case"] == "good")
    )
    drops = light["drops"].to_numpy()
    return [Measured(float(drops.max()), what=f"{len(drops)} workloads")] if len(drops) else []


def _steps(results: StudyResults) -> list[Measured]:
    """How far transfers are from the closed form, and how many sizes each of their steps has."""
    found = []
    for source, own in of_transfers(results, "unloaded", {}).items():
        expected = alone_ns(source, int(own["packets"].max()))[own["packets"] - 1]
        found.append(
            Measured(int(np.abs(own["latency_ns"] - expected).max()), what=f"{source}, ns apart", bound="apart")
        )
        if source != "child":  # whose round trip is shorter than what a window of packets takes
            rises = np.flatnonzero(np.diff(own["latency_s"]) > 0.25 * np.diff(own["latency_s"]).max())
            widths = np.diff([0, *(rises + 1)])[: len(STEPS)]
            same = sum(int(width == step) for width, step in zip(widths, STEPS, strict=False))
            found.append(Measured(same, what=f"{source}, steps of {', '.join(map(str, widths))}", bound="steps"))
    return found


def _throughput(results: StudyResults) -> list[Measured]:
    """Bits by second along the slope of latency over size, of transfers beyond slow start."""
    transfers = of_transfers(
        results, "factorial", {RATE: 10, "hit_ratios": "40 / 15 %", "capacity": SLOW, "delay": NEAR}
    )
    found = []
    for source, own in transfers.items():
        large = own["packets"] > 2 * sum(STEPS)
        slope = np.polyfit(own["bits"][large], own["latency_s"][large], 1)[0]
        found.append(Measured(1e-6 / slope, what=source, bound=source))
    return found


def _timeouts(results: StudyResults) -> list[Measured]:
    return [
        _measured(of_case(results, "above 1 s", "good", 40), "above 1 s", "above"),
        _measured(of_case(results, "near 6 s", "good", 40), "near 6.0 s", "six"),
    ]


def _overload(results: StudyResults) -> list[Measured]:
    return [
        _measured(of_case(results, "above 1 s", "good", 80), "above 1 s", "above"),
        _measured(of_case(results, "from 6 s", "good", 80), "6 s or more", "six"),
    ]


def _offered(results: StudyResults) -> list[Measured]:
    sweep = results.sweep("cases")
    found = []
    for rate in sorted(set(sweep.runs[RATE])):
        own = sweep.runs.filter(
            (sweep.runs[RATE] == rate) & (sweep.runs["capacity"] == SLOW) & (sweep.runs["case"] == "good")
        )
        found.append(_measured(own["offered_bps"].to_numpy() / 1e6, f"{rate} requests/s", str(rate)))
    return found


def _hit_ratios(results: StudyResults) -> list[Measured]:
    return [_measured(of_case(results, "mean_s", case, 40), case, case) for case in HITS.values()]


def _by_source(results: StudyResults) -> list[Measured]:
    return [
        _measured(of_case(results, "mean_s", case, 40, source), f"{source}, {case}", f"{source} {case}")
        for source in ("server", "parent", "child")
        for case in HITS.values()
    ]


def _policies(results: StudyResults, rate: int, capacity: str, better: str) -> list[Measured]:
    """Latency of both policies, and by how much the one that is said to be better is, paired by workload."""
    latency = {case: of_case(results, "mean_s", case, rate, capacity=capacity) for case in ("good", "threshold")}
    other = "threshold" if better == "good" else "good"
    names = {"good": "default", "threshold": "threshold"}
    at = f"C1 = {10 if capacity == SLOW else 100}"
    return [
        *(_measured(values, f"{names[case]}, {at}", f"{names[case]} {at}") for case, values in latency.items()),
        _measured(latency[other] - latency[better], f"{names[other]} less {names[better]}, {at}", "order"),
    ]


def _heavy(results: StudyResults) -> list[Measured]:
    return [*_policies(results, 80, SLOW, "threshold"), *_policies(results, 80, FAST, "good")]


def _fewer_hits(results: StudyResults) -> list[Measured]:
    """Latency of the child's hits with poor hit ratios over that with good ones, and how far others delay them."""
    found = []
    for rate in (40, 80):
        good, poor = (of_case(results, "mean_s", case, rate, "child") for case in ("good", "poor"))
        found.append(_measured(poor / good, f"mean, {rate} requests/s"))
        good, poor = (
            np.array([np.quantile(each, 0.9) for each in delayed_by_others(results, case, rate, "child")])
            for case in ("good", "poor")
        )
        found.append(_measured(poor / good, f"delayed by others, 90 %, {rate} requests/s"))
    return found


def _upgrades(results: StudyResults) -> list[Measured]:
    """What faster links than C1 = 100 change, in percent of the mean."""
    base = of_runs(results, "factorial", "mean_s", _baseline(FAST))
    return [
        _measured(100 * np.abs(of_runs(results, "factorial", "mean_s", _baseline(capacity)) / base - 1), capacity)
        for capacity in ("100 / 100 / 10", "1000 / 100 / 10")
    ]


def _baseline(capacity: str) -> dict[str, str | int]:
    return {RATE: 10, "hit_ratios": "40 / 15 %", "capacity": capacity, "delay": NEAR}


def _design(results: StudyResults) -> list[Measured]:
    if results.quick:
        raise ResultsError("a coarse look leaves most of the 192 runs out")
    runs = results.sweep("factorial").runs
    return [Measured(int((runs["status"] == "done").sum()))]


def _simulations(results: StudyResults) -> list[Measured]:
    """Simulations of the cable study, and configurations of the satellite study, in the same campaign."""
    cable, satellite = results.of_study("cable"), results.of_study("satellite").sweep("configurations")
    done = sum(int((cable.sweep(each.name).runs["status"] == "done").sum()) for each in cable.study.sweeps)
    ended = satellite.runs.filter(satellite.runs["status"] == "done")["configuration"].n_unique()
    return [
        Measured(done, what="simulations of the cable study", bound="cable"),
        Measured(ended, what="configurations of the satellite study", bound="satellite"),
    ]


MEASURES = {
    "C1": _workload,
    "C2": _no_loss,
    "C3": _steps,
    "C4": _throughput,
    "C5": _timeouts,
    "C6": _overload,
    "C7": _offered,
    "C8": _hit_ratios,
    "C9": _by_source,
    "C10": lambda results: _policies(results, 40, SLOW, "threshold"),
    "C11": lambda results: _policies(results, 40, FAST, "good"),
    "C12": _heavy,
    "C13": _fewer_hits,
    "C14": _upgrades,
    "C15": _design,
    "C16": _simulations,
}
