"""Figures from results, redrawn from Parquet without simulating.

Every figure says what it shows, with units on its axes, n and the seeds. matplotlib and plotly are imported when a
figure is drawn, not before; matplotlib's global state stays as it was.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.errors import FarwebError, ResultsError

if TYPE_CHECKING:
    from farweb.plot.chart import Chart
    from farweb.plot.figure import Figure
    from farweb.plot.presentation import Presentation
    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables


@dataclass(frozen=True)
class Kind:
    """A figure that there is.

    Attributes:
        shows: What it shows.
        of: What it is drawn from: ``run``: one run; ``several``: one or several runs; ``side by side``: the same, each
            beside the other; ``sweep``: one sweep; ``either``: one run or one sweep; ``runs``: one or several runs, or
            a sweep.
        options: What `draw` takes for it.
        needs: What the scenario has to say, empty for nothing.
    """

    shows: str
    of: str
    options: tuple[str, ...] = ()
    needs: str = ""

    @property
    def told(self) -> str:
        """What it is drawn from, what it needs, and its options, in one line."""
        needs = f"; needs {self.needs}" if self.needs else ""
        options = f"; {', '.join(f'--{option}' for option in self.options)}" if self.options else ""
        return f"of {_OF[self.of]}{needs}{options}"


_OF = {
    "run": "a run",
    "several": "one or several runs",
    "side by side": "one or several runs, side by side",
    "sweep": "a sweep",
    "either": "a run or a sweep",
    "runs": "one or several runs, or a sweep",
}

_OF_CONNECTION = ("connection", "request", "leg")

FIGURES = {
    "size-latency": Kind("latency against response size, with the median by size class", "runs", ("by", "where")),
    "cdf": Kind("distribution of latency", "runs", ("by", "where")),
    "link": Kind("rate, queue, busy share and drops of a link over time", "run", ("link",), "record.links_every"),
    "timeseq": Kind(
        "time–sequence plot of connections: segments, ACKs, window, SACK",
        "side by side",
        _OF_CONNECTION,
        "record.packets",
    ),
    "cwnd": Kind(
        "congestion window, threshold and flight of connections", "side by side", _OF_CONNECTION, "record.packets"
    ),
    "breakdown": Kind(
        "where the time of requests goes: handshake, server, cwnd, window and others, as stacked bars",
        "several",
        ("without",),
        "record.exchanges",
    ),
    "hits": Kind(
        "hits, delayed hits and bytes of hits of each cache over time, and what it holds",
        "run",
        (),
        "caches and record.links_every",
    ),
    "cache-size": Kind(
        "hit ratio, byte hit ratio, delayed hits and latency against the capacity of a cache",
        "sweep",
        ("by", "x", "where"),
        "a factor cache.N.capacity",
    ),
    "latency-load": Kind(
        "latency, or another metric, against the offered load or another factor",
        "sweep",
        ("by", "x", "metric", "where", "against"),
        "a factor with numbers",
    ),
    "carried-offered": Kind(
        "what the link carried against what was offered, or presented",
        "sweep",
        ("by", "x", "where"),
        "a factor with numbers",
    ),
    "buffer": Kind(
        "mean and peak of a queue against the load",
        "sweep",
        ("by", "x", "where", "link"),
        "a factor with numbers",
    ),
    "connections": Kind(
        "connections open and busy by leg: of a run over time, of a sweep against the load",
        "either",
        ("by", "x", "where"),
        "of a run record.links_every, of a sweep a factor with numbers",
    ),
    "effects": Kind(
        "how much of a metric's variation each factor explains, and the effect of each level",
        "sweep",
        ("metric",),
        "a full factorial with replications",
    ),
}
"""The figures there are, by name."""

NAMES = {name: f"{kind.shows}; {kind.told}" for name, kind in FIGURES.items()}
"""The figures there are: name and what it shows, of what, and with which options."""


def draw(
    name: str,
    results: "Sequence[RunTables | SweepTables]",
    out: Path | None = None,
    *,
    presentation: "Presentation | None" = None,
    **options: Any,
) -> "Chart":
    """Draw a figure, and save it when `out` is given.

    Args:
        name: One of `FIGURES`, which says what each is drawn from and which options it has.
        results: What to draw: a run, several runs, or a sweep.
        out: File to write; its suffix names the format: .png, .svg, .pdf, or .html for one to zoom into. The same
            figure gives the same bytes.
        presentation: Size, title, caption and names, where they are to be other than usual.
        options: As `describe` takes them.

    Returns:
        The figure, to be changed further; `farweb.plot.draw` has saved it already. Its `description` holds what is
        drawn as numbers and words.

    Raises:
        FarwebError: As `describe`; or an unknown suffix, or a label that the figure does not have.
        RunError: The file cannot be written.
    """
    _check(name, results, {option: value for option, value in options.items() if value is not None})

    from farweb.plot import chart, paper

    if out is not None:
        chart.check_target(out)
    described = describe(name, results, **options)
    return paper.draw(described if presentation is None else presentation.of(described), out)


def _check(name: str, results: "Sequence[RunTables | SweepTables]", options: Mapping[str, Any]) -> None:
    """See that the figure exists, has these options, and can be drawn from such results."""
    from farweb.results.run import RunTables

    if name not in FIGURES:
        near = difflib.get_close_matches(name, FIGURES, 1)
        raise FarwebError(f"there is no plot {name!r};{f' {near[0]}?' if near else ''} plots: {', '.join(FIGURES)}")
    for option in options:
        if option not in FIGURES[name].options:
            having = [other for other, kind in FIGURES.items() if option in kind.options]
            raise FarwebError(f"plot {name} has no option {option}; {_and(having)} {'have' if having[1:] else 'has'}")
    if not results:
        raise FarwebError(f"plot {name} needs results to draw")
    of = FIGURES[name].of
    runs = [each for each in results if isinstance(each, RunTables)]
    if of == "sweep" and runs:
        raise ResultsError(f"{runs[0].path}: is a run, and plot {name} draws a sweep: name the folder of a sweep")
    if of in ("run", "several", "side by side") and len(runs) < len(results):
        sweep = next(each for each in results if not isinstance(each, RunTables))
        raise ResultsError(f"{sweep.path}: is a sweep, and plot {name} draws a run: name one in {sweep.path / 'parts'}")
    if len(runs) < len(results) != 1:
        raise ResultsError(f"plot {name} draws one sweep at a time, not {len(results)} results")
    if of in ("run", "either") and len(results) != 1:
        raise ResultsError(f"plot {name} draws one result at a time, not {len(results)}: name one results folder")
    if runs and (of_sweeps := [option for option in options if option in ("by", "x", "where", "against")]):
        raise ResultsError(f"{runs[0].path}: is a run, and has no factors for option {of_sweeps[0]}")


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def describe(
    name: str,
    results: "Sequence[RunTables | SweepTables]",
    *,
    connection: int | Sequence[int] | None = None,
    request: int | None = None,
    leg: int | None = None,
    link: int | None = None,
    by: Sequence[str] | None = None,
    x: str | None = None,
    metric: str | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    against: tuple[str, str] | None = None,
    without: Sequence[str] | None = None,
) -> "Figure":
    """What a figure holds, in numbers and words: what `draw` paints.

    Args:
        name: As for `draw`.
        results: As for `draw`.
        connection: Connections for `timeseq` and `cwnd`, of any leg, side by side; of several runs one for all or one
            for each. None: that which carried the response of `request`.
        request: Request for `timeseq` and `cwnd`; None: the slowest finished one. On a connection that may have others
            its time is drawn.
        leg: Leg on which the request's connection is looked for; None: leg 0. Others need `record.exchanges`.
        link: Link for `link` and `buffer`, 0 at the clients; None: the busiest.
        by: Factors of which each combination of levels is a series; None: all that vary.
        x: Factor on the horizontal axis, or a metric by which points are placed, such as ``presented_bps``; None: the
            load that was offered, or the factor with most numbers.
        metric: Metric of `latency-load` and `effects`; None: ``latency_mean_s``.
        where: By factor, the level or levels that are drawn: ``{"circuit": "satellite"}``; None: all.
        against: A factor and its level for `latency-load`: differences of the other levels from it are drawn, paired by
            replication; None: the values themselves.
        without: Parts that `breakdown` leaves out: ``["server"]``.

    Raises:
        FarwebError: An unknown name, factor, level or metric, an option that the figure does not have, no results, or
            results that lack what the figure needs.
    """
    given: dict[str, Any] = {"connection": connection, "request": request, "leg": leg, "link": link, "by": by, "x": x}
    given |= {"metric": metric, "where": where, "against": against, "without": without}
    _check(name, results, {option: value for option, value in given.items() if value is not None})

    from farweb.results.run import RunTables

    runs = [each for each in results if isinstance(each, RunTables)]
    if name in ("timeseq", "cwnd"):
        return _describe_connections(name, runs, connection, request, leg)
    if runs:
        return _describe_runs(name, runs, link, without or ())
    (sweep,) = (each for each in results if not isinstance(each, RunTables))
    levels = {factor: [some] if isinstance(some, str) else list(some) for factor, some in (where or {}).items()}

    from farweb.plot.against import Ask

    return _describe_sweep(name, sweep, Ask(by, x, metric, levels, link, against))


def _describe_connections(
    name: str, runs: "Sequence[RunTables]", connection: int | Sequence[int] | None, request: int | None, leg: int | None
) -> "Figure":
    from farweb.plot import cwnd, timeseq

    if connection is not None and (request is not None or leg is not None):
        raise FarwebError(f"plot {name}: name a connection, or the request and the leg that lead to it")
    numbers = [] if connection is None else [connection] if isinstance(connection, int) else list(connection)
    describe = timeseq.timeseq if name == "timeseq" else cwnd.cwnd
    return describe(runs, numbers, request=request, leg=leg)


def _describe_runs(name: str, runs: "Sequence[RunTables]", link: int | None, without: Sequence[str]) -> "Figure":
    from farweb.plot import breakdown, caches, latency, legs
    from farweb.plot import link as links

    match name:
        case "breakdown":
            return breakdown.breakdown(runs, without)
        case "connections":
            return legs.legs(runs[0])
        case "hits":
            return caches.hits(runs[0])
        case "size-latency":
            return latency.size_latency(runs)
        case "cdf":
            return latency.cdf(runs)
        case _:
            return links.link(runs[0], link)


def _describe_sweep(name: str, sweep: "SweepTables", ask: Any) -> "Figure":
    from farweb.plot import caches, effects, load, pooled

    figures = {
        "size-latency": pooled.size_latency,
        "cdf": pooled.cdf,
        "latency-load": load.latency_load,
        "carried-offered": load.carried_offered,
        "buffer": load.buffer,
        "connections": load.connections,
        "effects": effects.effects,
        "cache-size": caches.cache_size,
    }
    return figures[name](sweep, ask)


class Plots:
    """The figures of one result, for notebooks: ``results.plot.cdf()``."""

    def __init__(self, results: "RunTables") -> None:
        self._results = results

    def __call__(self, name: str, *others: "RunTables", out: Path | None = None, **options: Any) -> "Chart":
        """The figure of that name, as on the command line: ``results.plot("cdf")``. See `draw`."""
        return draw(name, [self._results, *others], out, **options)

    def size_latency(self, *others: "RunTables", out: Path | None = None) -> "Chart":
        """Latency against response size; further results are drawn with it. See `draw`."""
        return draw("size-latency", [self._results, *others], out)

    def cdf(self, *others: "RunTables", out: Path | None = None) -> "Chart":
        """Distribution of latency; further results are drawn with it. See `draw`."""
        return draw("cdf", [self._results, *others], out)

    def link(self, link: int | None = None, *, out: Path | None = None) -> "Chart":
        """Rate, queue, busy share and drops of a link over time; the busiest link when None. See `draw`."""
        return draw("link", [self._results], out, link=link)

    def connections(self, *, out: Path | None = None) -> "Chart":
        """Connections open and busy and requests over time, by leg. See `draw`."""
        return draw("connections", [self._results], out)

    def hits(self, *, out: Path | None = None) -> "Chart":
        """Hits, delayed hits and bytes of hits of each cache over time. See `draw`."""
        return draw("hits", [self._results], out)

    def breakdown(self, *others: "RunTables", without: Sequence[str] = (), out: Path | None = None) -> "Chart":
        """Where the time of requests goes; further results are drawn with it. See `draw`."""
        return draw("breakdown", [self._results, *others], out, without=without or None)

    def timeseq(self, *connections: int, out: Path | None = None, **found_by: Any) -> "Chart":
        """Time–sequence plot of connections; of that of a `request` on a `leg`, the slowest, when none is named."""
        return draw("timeseq", [self._results], out, connection=connections or None, **found_by)

    def cwnd(self, *connections: int, out: Path | None = None, **found_by: Any) -> "Chart":
        """Congestion window, threshold and flight of connections; as `timeseq`."""
        return draw("cwnd", [self._results], out, connection=connections or None, **found_by)


class SweepPlots:
    """The figures of a sweep, for notebooks: ``sweep.plot.latency_load(by=["circuit"])``. `draw` has the options."""

    def __init__(self, sweep: "SweepTables") -> None:
        self._sweep = sweep

    def __call__(self, name: str, *, out: Path | None = None, **options: Any) -> "Chart":
        """The figure of that name, as on the command line: ``sweep.plot("effects")``. See `draw`."""
        return draw(name, [self._sweep], out, **options)

    def latency_load(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Latency or another metric against the load. Options: by, x, metric, where, against."""
        return draw("latency-load", [self._sweep], out, **options)

    def carried_offered(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """What the link carried against what was offered. Options: by, x, where."""
        return draw("carried-offered", [self._sweep], out, **options)

    def buffer(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Mean and peak of a queue against the load. Options: by, x, where, link."""
        return draw("buffer", [self._sweep], out, **options)

    def connections(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Connections open and busy against the load, by leg. Options: by, x, where."""
        return draw("connections", [self._sweep], out, **options)

    def cache_size(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Hit ratio, byte hit ratio and latency against the capacity of a cache. Options: by, x, where."""
        return draw("cache-size", [self._sweep], out, **options)

    def effects(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """How much of a metric's variation each factor explains. Options: metric."""
        return draw("effects", [self._sweep], out, **options)

    def size_latency(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Median latency by response size. Options: by, where."""
        return draw("size-latency", [self._sweep], out, **options)

    def cdf(self, *, out: Path | None = None, **options: Any) -> "Chart":
        """Distribution of latency. Options: by, where."""
        return draw("cdf", [self._sweep], out, **options)
