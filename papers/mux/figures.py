"""The figures of the page on W3C MUX, whose pictures are lost: time–sequence plots, global and zoomed, and more."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.style import QUIETLY
from farweb.reproduce.drawing import runs_text
from farweb.reproduce.study import StudyResults

from .packets import EXPERIMENTS, PUBLISHED, Dump, Floats, Ints, Levels, dumps, meeting_all, of_experiment

PLACE = "W3C MUX"
FACTORS: dict[str, tuple[str, Any]] = {
    "leg.0.application.wake": ("wake", "600 us"),
    "leg.0.tcp.constants.ack_every": ("segments an ACK", 2),
    "leg.0.tcp.constants.ack_on_read": ("ACK on read", False),
    "leg.0.tcp.constants.join_writes": ("joined writes", False),
    "leg.0.tcp.constants.nagle_each_segment": ("Nagle each segment", True),
    "leg.0.tcp.buffer": ("buffer", "8192 B"),
    "delay": ("delay", "300 us"),
}
"""What is not known: in words, and as the study has it."""
ZOOM = 0.15
"""Share of the time of the document that the zoomed plots show, around its middle."""

_TOLD = (
    "As tcpdump at the server sees it: dots are the ends of segments with data, the stair below is what the client has "
    "acknowledged, the stair above how far its window allows to send."
)


def _series(dump: Dump, begin_ns: int, span_ns: int) -> tuple[Series, ...]:
    """Window, ACKs and segments over the time since `begin_ns`, for `span_ns`."""

    def seen(times: Ints, values: Ints) -> tuple[Floats, Floats]:
        inside = (times >= begin_ns) & (times <= begin_ns + span_ns)
        return (times[inside] - begin_ns) / 1e9, values[inside].astype(float)

    with_data = dump.down["payload_bytes"] > 0
    ends = dump.down["seq"] + dump.down["payload_bytes"]
    window = seen(dump.up["time_ns"], dump.up["edge"])
    acked = seen(dump.up["time_ns"], dump.up["ack"])
    sent = seen(dump.down["time_ns"][with_data], ends[with_data])
    return (
        Series("window", QUIETLY, *window, "steps"),
        Series("acknowledged", 1, *acked, "steps"),
        Series("segments", 0, *sent, "points", joined=False),
    )


def _global(results: StudyResults) -> Figure:
    panels = []
    shown = {experiment: of_experiment(results, experiment) for experiment in EXPERIMENTS}
    longest = max(dump.taken_s for dump in shown.values())
    for experiment, dump in shown.items():
        panels.append(
            Panel(
                Axis("time since the connection", "s", low=0, high=longest, prefix="m"),
                Axis("sequence number", "B", low=0, high=80_000, prefix="k"),
                _series(dump, dump.begin_ns, dump.end_ns - dump.begin_ns),
                title=experiment,
                note=f"{dump.sent_down} / {dump.sent_up} packets, {1e3 * dump.taken_s:.0f} ms",
            )
        )
    return _figure(results, "global: a document of 64 KiB", "", panels)


def _zoomed(results: StudyResults) -> Figure:
    panels = []
    for experiment in EXPERIMENTS:
        dump = of_experiment(results, experiment)
        first, last = dump.middle_ns
        span = int(ZOOM * dump.taken_s * 1e9)
        begin = (first + last - span) // 2
        panels.append(
            Panel(
                Axis("time", "s", low=0, high=span / 1e9, prefix="m"),
                Axis("sequence number", "B", prefix="k"),
                _series(dump, begin, span),
                title=experiment,
                note=f"at most {dump.most_in_flight()} in flight",
            )
        )
    caption = f"The {100 * ZOOM:.0f} % of the time in the middle of each document; axes differ. "
    return _figure(results, "zoomed: the middle of the document", caption, panels)


def _figure(results: StudyResults, title: str, caption: str, panels: list[Panel]) -> Figure:
    return Figure(
        f"{title} – {PLACE}",
        f"{caption}{_TOLD} {runs_text([results.sweep('experiments')])}",
        tuple(panels),
        columns=3,
        size=(13.0, 5.0),
    )


def _in_flight(results: StudyResults) -> Figure:
    panels = []
    for place, experiment in enumerate(EXPERIMENTS):
        dump = of_experiment(results, experiment)
        times, flying = dump.in_flight()
        sent = (times - dump.begin_ns) / 1e9
        panels.append(
            Panel(
                Axis("time since the connection", "s", low=0, prefix="m"),
                Axis("segments in flight", low=0, high=6, whole=True),
                (Series("", place, sent, flying.astype(float), "steps"),),
                title=experiment,
                note=f"{dump.grants} grants, {dump.runts} runts",
            )
        )
    return Figure(
        f"segments in flight – {PLACE}",
        "Segments with data that the server has sent and has no ACK for, whenever it sends one. "
        f"{runs_text([results.sweep('experiments')])}",
        tuple(panels),
        columns=3,
        size=(13.0, 4.2),
        share_y=True,
    )


def _is_of_study(levels: Levels, besides: str) -> bool:
    """True when all factors, but the one that is named, are as the study has them."""
    return all(str(levels[factor]) == str(own) for factor, (_, own) in FACTORS.items() if factor != besides)


def _sensitivity(results: StudyResults) -> Figure:
    """What each unknown parameter changes of the counts: alone, and the range over all combinations."""
    panels = [_counts(results, experiment) for experiment in EXPERIMENTS]
    return Figure(
        f"what is not known – {PLACE}",
        "Packets each way by the level of each parameter that is not known: points have all others as the study has "
        "them, bars are the range over all combinations; lines: as published. Within the tolerance of all six counts "
        f"are {meeting_all(results)} combinations. "
        f"{runs_text([results.sweep('sensitivity')])}",
        tuple(panels),
        columns=1,
        size=(11.0, 13.0),
        share_x=True,
    )


def _counts(results: StudyResults, experiment: str) -> Panel:
    runs = [(levels, dump) for levels, dump in dumps(results, "sensitivity") if levels["experiment"] == experiment]
    names: list[str] = []
    counts: dict[str, list[tuple[float, int, int]]] = {"server to client": [], "client to server": []}
    for factor, (name, _) in FACTORS.items():
        for level in dict.fromkeys(levels[factor] for levels, _ in runs):
            names.append(f"{name} {level}")
            own = [(levels, dump.counts) for levels, dump in runs if levels[factor] == level]
            _add_level(counts, own, factor)
    places = np.arange(len(names), dtype=float)
    series = []
    for index, (label, values) in enumerate(counts.items()):
        alone, low, high = np.array(values, float).T
        shifted = places + 0.16 * (2 * index - 1)
        series.append(Series(label, index, shifted, alone, "points", low=low, high=high, interval="bars", joined=False))
    ends = np.array([-0.5, len(names) - 0.5])
    published = [
        Series("published" if place == 0 else "", QUIETLY, ends, np.full(2, float(value)), "line")
        for place, value in enumerate(PUBLISHED[experiment])
    ]
    axis = Axis("", scale="category", levels=tuple(names))
    return Panel(axis, Axis("packets", low=0), (*published, *series), title=experiment)


def _add_level(
    counts: dict[str, list[tuple[float, int, int]]], runs: Sequence[tuple[Levels, tuple[int, int]]], factor: str
) -> None:
    """Adds, for each direction, the count of a level of `factor` with all else as the study has it, and its range."""
    for place, values in enumerate(counts.values()):
        of_way = [count[place] for _, count in runs]
        alone = [count[place] for levels, count in runs if _is_of_study(levels, factor)]
        values.append((alone[0] if alone else np.nan, min(of_way), max(of_way)))


FIGURES = {
    "global": _global,
    "zoomed": _zoomed,
    "in-flight": _in_flight,
    "sensitivity": _sensitivity,
}
