"""The figures of the studies of multiplexing, with the numbers that they have in the papers, and some beyond them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from farweb.errors import ResultsError
from farweb.paint.figure import Axis, Figure, Reference
from farweb.plot import describe
from farweb.reproduce.curves import Curve, curve
from farweb.reproduce.drawing import Line, figure, panel
from farweb.reproduce.study import StudyResults
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables

from .measures import LATENCY, Multiplexing, many

Of = Callable[[StudyResults], Multiplexing]

_WAIT = Axis("mean latency of the sample", "s", "log")
_LEGEND = "between the proxies"


def figures(of: Of, place: str) -> Mapping[str, Callable[[StudyResults], Figure]]:
    """The figures of a study by their numbers.

    Args:
        of: What makes the study of its results.
        place: What it is about, for titles: ``NZ–US cable``.
    """

    def drawn(describe: Callable[[Multiplexing, str], Figure]) -> Callable[[StudyResults], Figure]:
        return lambda results: describe(of(results), place)

    return {
        "4": drawn(_single),
        "5a": drawn(_carried),
        "5b": drawn(_latency),
        **{f"6{letter}": drawn(_buffer(*which)) for letter, which in zip("abcd", _BUFFERS, strict=True)},
        "7a": drawn(_connections),
        "7b": drawn(_start_of_latency),
        "7c": drawn(_outbound),
        "7d": drawn(_inbound),
        "requests": drawn(_presented_by_servers),
        "headline": drawn(_headline),
        "linux": drawn(_linux),
        "idle": drawn(_idle),
        "nagle": drawn(_nagle),
        "breakdown": drawn(_breakdown),
    }


_BUFFERS = (("down", "mean"), ("down", "max"), ("up", "mean"), ("up", "max"))


def _lines(
    study: Multiplexing,
    without: str,
    with_proxy: str,
    numbers: Sequence[int] | None = None,
    x: str = "presented_bps",
) -> list[Line]:
    """No proxy, then all numbers of connections; each keeps its colour in all figures."""
    chosen = study.numbers if numbers is None else numbers
    lines = [Line("no US proxy", study.no_proxy(without, x), 0)]
    return lines + [_of_number(study, number, study.proxy(number, with_proxy, x)) for number in chosen]


def _of_number(study: Multiplexing, number: int, of: Curve) -> Line:
    """The line of a number of connections; the more, the darker."""
    place = study.numbers.index(number)
    return Line(many(number), of, 1 + place, place / (len(study.numbers) - 1))


def _sweeps(study: Multiplexing) -> list[SweepTables]:
    return [study.results.sweep(name) for name in ("no-proxy", "few", "proxy")]


def _rate(study: Multiplexing) -> Reference:
    return Reference("link rate", study.link_bps)


def _single(study: Multiplexing, place: str) -> Figure:
    limit = Reference("window over round trip", study.connection_bps)
    lines = [Line("1 connection", study.proxy(1, "carried_bps"), 0)]
    return figure(
        f"4: load carried to NZ by a single TCP connection – {place}",
        "What the link carried to NZ, over one connection between the proxies.",
        [panel(lines, Axis("load carried to NZ", "bit/s", low=0), references=[limit])],
        [study.results.sweep("few")],
    )


def _carried(study: Multiplexing, place: str) -> Figure:
    lines = _lines(study, "carried_bps", "carried_bps")
    return figure(
        f"5a: load carried to NZ against load presented – {place}",
        "What the link carried to NZ, all headers included.",
        [panel(lines, Axis("load carried to NZ", "bit/s", low=0), references=[_rate(study)], most=study.link_bps)],
        _sweeps(study),
        legend=_LEGEND,
    )


def _latency(study: Multiplexing, place: str) -> Figure:
    return figure(
        f"5b: latency against load presented – {place}",
        "Mean time to the last byte of the requests of the first day, which are in every load.",
        [panel(_lines(study, LATENCY, LATENCY), _WAIT)],
        _sweeps(study),
        legend=_LEGEND,
    )


def _buffer(direction: str, statistic: str) -> Callable[[Multiplexing, str], Figure]:
    letter = "abcd"[_BUFFERS.index((direction, statistic))]
    where = {"down": "to NZ", "up": "to the US"}[direction]
    what = {"mean": "mean", "max": "peak"}[statistic]

    def describe(study: Multiplexing, place: str) -> Figure:
        metric = f"link_0_{direction}_queue_bytes_{statistic}"
        return figure(
            f"6{letter}: buffer {where}, {what} – {place}",
            f"Bytes queued at the link {where}, the packet in transmission included: {what} of the measured interval.",
            [panel(_lines(study, metric, metric), Axis(f"buffer {where}, {what}", "B", "log"))],
            _sweeps(study),
            legend=_LEGEND,
        )

    return describe


def _connections(study: Multiplexing, place: str) -> Figure:
    return figure(
        f"7a: connections to servers – {place}",
        "The most connections open at a time: from the US proxy to servers, without it from the NZ proxy to servers.",
        [panel(_lines(study, "leg_0_open_max", "leg_1_open_max"), Axis("connections to servers, most", "", "log"))],
        _sweeps(study),
        legend=_LEGEND,
    )


def _start_of_latency(study: Multiplexing, place: str) -> Figure:
    lines = [
        replace(line, curve=line.curve.between(0, 0.2 * study.link_bps))
        for line in _lines(study, LATENCY, LATENCY, study.enough)
    ]
    return figure(
        f"7b: start of the latency curves – {place}",
        "The beginning of figure 5b, for numbers of connections that do not limit.",
        [panel(lines, Axis("mean latency of the sample", "s", low=0), paired=True)],
        _sweeps(study),
        legend=_LEGEND,
    )


def _outbound(study: Multiplexing, place: str) -> Figure:
    return figure(
        f"7c: traffic to the US against load presented – {place}",
        "What the link carried to the US: requests, handshakes and acknowledgements, all headers included.",
        [panel(_lines(study, "carried_up_bps", "carried_up_bps"), Axis("traffic to the US", "bit/s", low=0))],
        _sweeps(study),
        legend=_LEGEND,
    )


def _inbound(study: Multiplexing, place: str) -> Figure:
    lines = _lines(study, "carried_bps", "carried_bps", x="carried_up_bps")
    return figure(
        f"7d: traffic to NZ against traffic to the US – {place}",
        "What the link carried in both directions, all headers included.",
        [
            panel(
                lines,
                Axis("traffic to NZ", "bit/s", low=0),
                x=Axis("traffic to the US", "bit/s", low=0),
                most=study.link_bps,
            )
        ],
        _sweeps(study),
        legend=_LEGEND,
    )


def _presented_by_servers(study: Multiplexing, place: str) -> Figure:
    lines = [_of_number(study, number, study.proxy(number, "link_1_down_bps")) for number in study.numbers]
    return figure(
        f"What servers send to the US proxy – {place}",
        "Beyond the papers: servers answer only the requests that have come through. Where the connections between the "
        "proxies cannot carry all requests, they send less than the trace presents.",
        [panel(lines, Axis("sent by servers", "bit/s", low=0))],
        [study.results.sweep(name) for name in ("few", "proxy")],
        legend=_LEGEND,
    )


_WAYS = ("no US proxy", "US proxy, a connection each")


def _pair(title: str, caption: str, lines: Callable[[str], list[Line]], study: Multiplexing, *sweeps: str) -> Figure:
    """Carried load and latency side by side."""
    axis = Axis("load carried to NZ", "bit/s", low=0)
    carried = panel(lines("carried_bps"), axis, references=[_rate(study)], most=study.link_bps)
    return figure(
        title,
        caption,
        [carried, panel(lines(LATENCY), _WAIT)],
        [study.results.sweep(name) for name in sweeps],
        columns=2,
    )


def _headline(study: Multiplexing, place: str) -> Figure:
    split = study.results.sweep("split")

    def lines(metric: str) -> list[Line]:
        return [
            Line(_WAYS[0], study.no_proxy(metric), 0),
            Line(_WAYS[1], curve(split, metric), 1),
            Line(f"US proxy, {many(study.most)}", study.proxy(study.most, metric), 2),
        ]

    return _pair(
        f"No proxy, split connections, and multiplexing – {place}",
        "Beyond the papers: a proxy that opens a connection to the server for each that is opened to it, between no "
        "proxy and proxies that share long-lived connections.",
        lines,
        study,
        *("no-proxy", "split", "proxy"),
    )


def _linux(study: Multiplexing, place: str) -> Figure:
    sweep = study.results.sweep("linux")
    ways = [level.label for factor in sweep.design.factors if factor.name == "architecture" for level in factor.levels]

    def lines(metric: str) -> list[Line]:
        return [Line(way, curve(sweep, metric, where={"architecture": way}), at) for at, way in enumerate(ways)]

    return _pair(
        f"The same with the TCP of Linux – {place}",
        "Beyond the papers: profile linux at both ends of everything (initial window of ten segments, CUBIC, windows "
        "that follow the rate).",
        lines,
        study,
        "linux",
    )


def _idle(study: Multiplexing, place: str) -> Figure:
    rules = _levels(study.results.sweep("idle"), "leg.0.tcp.constants.idle_restart")
    panels = [
        panel(
            _low_load(study, {f"restart {rule}": {**_AS_IT_IS, _RULE: rule, _TIES: ties} for rule in rules}),
            Axis("mean latency of the sample", "s", low=0),
            title=title,
            paired=True,
        )
        for ties, title in (("first", "ties to the first connection"), ("next", "ties in turns"))
    ]
    return figure(
        f"When quiet connections begin again with one segment – {place}",
        "Beyond the papers: latency at low loads, by the rule of idle restart between the proxies.",
        panels,
        [study.results.sweep(name) for name in ("idle", "no-proxy")],
        columns=2,
    )


def _nagle(study: Multiplexing, place: str) -> Figure:
    settings = {
        f"{'with' if nagle else 'without'} Nagle's rule": {**_AS_IT_IS, _NAGLE: nagle} for nagle in (True, False)
    }
    return figure(
        f"What Nagle's rule costs between the proxies – {place}",
        "Beyond the papers: latency at low loads. With the rule, as 4.4BSD has it, the end of a response waits until "
        "what was sent on its connection is acknowledged.",
        [panel(_low_load(study, settings), Axis("mean latency of the sample", "s", low=0), paired=True)],
        [study.results.sweep(name) for name in ("idle", "no-proxy")],
    )


_RULE = "leg.0.tcp.constants.idle_restart"
_TIES = "leg.0.carrier.ties"
_NAGLE = "leg.0.tcp.constants.nagle"
_AS_IT_IS: Mapping[str, str | bool] = {_RULE: "since-received", _TIES: "first", _NAGLE: True}


def _low_load(study: Multiplexing, settings: Mapping[str, Mapping[str, str | bool]]) -> list[Line]:
    """No proxy, and a line for each setting of the sweep `idle`, by its label."""
    sweep = study.results.sweep("idle")
    curves = {label: curve(sweep, LATENCY, where=setting) for label, setting in settings.items()}
    loads = next(iter(curves.values())).levels
    lines = [Line("no US proxy", _at(study.no_proxy(LATENCY), loads), 0)]
    return lines + [Line(label, each, number) for number, (label, each) in enumerate(curves.items(), 1)]


def _breakdown(study: Multiplexing, place: str) -> Figure:
    """Of the first replication of each architecture, at the largest load."""
    sweep = study.results.sweep("breakdown")
    runs = sweep.runs.filter(
        (sweep.runs["status"] == "done")
        & (sweep.runs["replication"] == 0)
        & (sweep.runs["workload.load"] == sweep.runs["workload.load"].max())
    )
    if runs.is_empty():
        raise ResultsError(f"{sweep.path}: no run has ended well")
    parts = [sweep.part(run) for run in runs["run"]]
    named = [
        RunTables(part.path, {**part.manifest, "name": way})
        for part, way in zip(parts, runs["architecture"], strict=True)
    ]
    described = describe("breakdown", named)
    return replace(described, title=f"Where the time of the sample requests goes – {place}")


def _at(of: Curve, levels: Sequence[float]) -> Curve:
    """A curve at some levels of the load."""
    return of.where(np.array([level in levels for level in of.levels]))


def _levels(sweep: SweepTables, factor: str) -> list[str]:
    return [level.label for each in sweep.design.factors if each.name == factor for level in each.levels]
