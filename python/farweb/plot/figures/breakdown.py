"""Parts of the mean latency of requests as stacked bars, a bar a run and leg: where their time goes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from farweb.errors import FarwebError
from farweb.paint import style
from farweb.paint.figure import Axis, Figure, Floats, Panel, Series
from farweb.plot.catalogue import figure
from farweb.plot.measured import of_group, provenance, short_labels
from farweb.results.breakdown import Breakdown, break_down, break_down_by
from farweb.results.parts import KINDS, Kind
from farweb.results.run import RunTables
from farweb.text.quantities import seconds
from farweb.text.words import listed, nearest

_INDENT = "\N{EM SPACE}\N{EM SPACE}"
"""Before a leg, under its run."""


@dataclass(frozen=True)
class _Part:
    """Kinds of parts under one name.

    Attributes:
        option: Its name in `--without`.
        label: Its name in the legend.
        kinds: The kinds of parts that it holds.
        index: Number or role of its colour.
    """

    option: str
    label: str
    kinds: tuple[Kind, ...]
    index: int | str | None


_SHOWN: Sequence[_Part] = (
    _Part("wait", "connection queue or a fetch in flight", ("wait", "fetch"), 5),
    _Part("handshake", KINDS["handshake"], ("handshake",), 0),
    _Part("way", "on the way", ("request", "travel"), 2),
    _Part("server", "server and its pace", ("server", "pace"), 3),
    _Part("cwnd", "slow start", ("cwnd", "flight"), 1),
    _Part("window", "receive window or send buffer", ("window", "buffer"), 4),
    _Part("credit", KINDS["credit"], ("credit",), style.BRIGHTLY),
    _Part("other", "held otherwise (pacing, Nagle)", ("pacing", "nagle", "other"), None),
    _Part("relay", KINDS["relay"], ("relay",), "relay"),
    _Part("rest", KINDS["rest"], ("rest",), style.QUIETLY),
)
"""Parts that are stacked, from the left. Both ways together: eight colours are distinguished, and the length of a
way changes between paths only."""

PARTS = tuple(part.option for part in _SHOWN)
"""Names of the parts in `--without`."""


@dataclass(frozen=True)
class _Bar:
    """A bar: its name, its requests' group, and the leg. None: all legs and the server."""

    name: str
    of: Breakdown
    leg: int | None

    def length(self, kinds: Sequence[Kind]) -> float:
        """Time of these kinds, in s."""
        last = len(self.of.legs) - 1
        at_server = self.of.total_s("server") if "server" in kinds and self.leg == last else 0.0
        return at_server + sum(self.of.total_s(kind, self.leg) for kind in kinds)


@figure(
    "breakdown",
    of="runs",
    shows="where the time of requests goes: connecting, server, slow start, window and others, as stacked bars",
    needs="record.exchanges",
)
def breakdown(
    results: Sequence[RunTables], *, by: Sequence[str] | None = None, without: Sequence[str] | None = None
) -> Figure:
    """The mean latency of the sample of each run, or of all its requests where none is tagged, in parts that add up.

    A run over several legs has a bar for all of them and one a leg; the server is in the bar of the last leg.

    Raises:
        FarwebError: There is no such part or grouping, or nothing is left.
        ResultsError: A run did not record exchanges, or none of its requests finished.
    """
    shown = _without(without or ())
    named = [
        (of_group(label, each.group or "", results), each)
        for result, label in zip(results, short_labels(results), strict=True)
        for each in (break_down_by(result, by) if by else [break_down(result)])
    ]
    names, found = [name for name, _ in named], [each for _, each in named]
    bars = [bar for name, each in named for bar in _bars(name, each)]
    y = Axis("", scale="category", levels=tuple(bar.name for bar in bars))
    stacked = _stacked(bars, shown)
    longest = max((float(((0.0 if each.base is None else each.base) + each.x).max()) for each in stacked), default=0.0)
    panels = [Panel(Axis("mean latency", "s", low=0).fitted(longest), y, stacked, title="in time")]
    if all(each.rtt_s for each in found):
        trips = np.array([bar.of.rtt_s for bar in bars])
        panels.append(
            Panel(
                Axis("round trips of the path", low=0),
                y,
                _stacked(bars, shown, trips),
                title="in round trips of its own path",
            )
        )
    missing = listed([part.label for part in _SHOWN if part not in shown])
    whose = [f"{each.subject} ({seconds(each.rtt_s)} a round trip)" for each in found]
    if len(set(whose)) == 1 < len(whose):
        whose = [f"{whose[0]} in each"]
    caption = (
        "Mean latency in parts that follow one another and add up. Slow start, window, buffer and credit: waits of the "
        "response's last byte. The rest: queues, transmission, retransmissions.",
        f"Not in the bars: {missing}." if missing else "",
        f"n = {listed(whose)}.",
        *_remarks(names, found),
        provenance(results, measured=True),
    )
    return Figure(
        f"Where the time goes{f' – {results[0].path.name}' if len(results) == 1 else ''}",
        " ".join(each for each in caption if each),
        tuple(panels),
        columns=len(panels),
        counted="requests",
        size=(9, 2.0 + 0.42 * len(bars)),
        share_y=True,
    )


def _remarks(names: Sequence[str], found: Sequence[Breakdown]) -> list[str]:
    """Who was served before the last leg, and who is in no bar."""
    said = [(name, remark) for name, each in zip(names, found, strict=True) for remark in each.remarks]
    return [remark if len(found) == 1 else f"{name}: {remark}" for name, remark in said]


def _bars(name: str, of: Breakdown) -> list[_Bar]:
    if len(of.legs) == 1:
        return [_Bar(name, of, None)]
    return [
        _Bar(name, of, None),
        *(_Bar(f"{_INDENT}leg {place}, {leg.carrier}", of, place) for place, leg in enumerate(of.legs)),
    ]


def _without(names: Sequence[str]) -> Sequence[_Part]:
    """Parts that are stacked, without those named."""
    for name in names:
        if name not in PARTS:
            hint = f" {near}?" if (near := nearest(name, PARTS)) else ""
            raise FarwebError(f"no part {name!r} to leave out;{hint} parts: {', '.join(PARTS)}")
    shown = [part for part in _SHOWN if part.option not in names]
    if not shown:
        raise FarwebError("without all its parts a breakdown has nothing to show")
    return shown


def _stacked(bars: Sequence[_Bar], shown: Sequence[_Part], one: Floats | None = None) -> tuple[Series, ...]:
    """The parts of all bars, each where the one before it ends; `one`: by what each bar is divided."""
    places = np.arange(len(bars), dtype=np.float64)
    ends = np.zeros(len(bars))
    n = np.array([bar.of.requests for bar in bars])
    drawn = []
    for part in shown:
        length = np.array([bar.length(part.kinds) for bar in bars]) / (1.0 if one is None else one)
        if length.any():
            drawn.append(Series(part.label, part.index, length, places, "bars", n=n, base=ends))
        ends = ends + length
    return tuple(drawn)
