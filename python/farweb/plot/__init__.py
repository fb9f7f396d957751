"""Figures from results, redrawn from Parquet without simulating.

Every figure says what it shows, with units on its axes, n and the seed. matplotlib is imported when a figure is drawn,
not before; its global state stays as it was.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.errors import FarwebError, ResultsError

if TYPE_CHECKING:
    from farweb.plot.style import Chart
    from farweb.results import Results

NAMES = {
    "size-latency": "latency against response size, with the median by size class; one or several results",
    "cdf": "distribution of latency; one or several results",
    "link": "rate, queue, busy share and drops of a link over time (needs record.links_every)",
    "timeseq": "time–sequence plot of a connection: segments, ACKs, window, SACK (needs record.packets)",
    "cwnd": "congestion window, threshold and flight of a connection (needs record.packets)",
}
"""The figures there are: name and what it shows."""

OF_ONE = ("link", "timeseq", "cwnd")


def draw(
    name: str,
    results: "Sequence[Results]",
    out: Path | None = None,
    *,
    connection: int | None = None,
    link: int | None = None,
) -> "Chart":
    """Draw a figure, and save it when `out` is given.

    Args:
        name: One of `NAMES`.
        results: What to draw; `link`, `timeseq` and `cwnd` take one result, the others any number.
        out: File to write; its suffix names the format: .png, .svg or .pdf. The same figure gives the same bytes.
        connection: Connection for `timeseq` and `cwnd`; None: that of the slowest finished request.
        link: Link for `link`, 0 at the clients; None: the busiest.

    Returns:
        The figure, to be changed further; `farweb.plot.draw` has saved it already.

    Raises:
        FarwebError: An unknown name or suffix, an option that the figure does not have, no results, or results that
            lack what the figure needs.
        RunError: The file cannot be written.
    """
    if name not in NAMES:
        raise FarwebError(f"there is no plot {name!r}; plots: {', '.join(NAMES)}")
    if connection is not None and name not in ("timeseq", "cwnd"):
        raise FarwebError(f"plot {name} has no option connection; timeseq and cwnd have")
    if link is not None and name != "link":
        raise FarwebError(f"plot {name} has no option link; plot link has")
    if not results:
        raise FarwebError(f"plot {name} needs results to draw")
    if name in OF_ONE and len(results) != 1:
        raise ResultsError(f"plot {name} draws one result at a time, not {len(results)}: name one results folder")

    from farweb.plot import style

    if out is not None:
        style.check_target(out)
    with style.look():
        chart = _build(name, results, connection, link)
    if out is not None:
        style.save(chart, out)
    return chart


def _build(name: str, results: "Sequence[Results]", connection: int | None, link: int | None) -> "Chart":
    from farweb.plot import cwnd, latency, timeseq
    from farweb.plot import link as links

    match name:
        case "size-latency":
            return latency.size_latency(results)
        case "cdf":
            return latency.cdf(results)
        case "link":
            return links.link(results[0], link)
        case "timeseq":
            return timeseq.timeseq(results[0], connection)
        case _:
            return cwnd.cwnd(results[0], connection)


class Plots:
    """The figures of one result, for notebooks: ``results.plot.cdf()``."""

    def __init__(self, results: "Results") -> None:
        self._results = results

    def size_latency(self, *others: "Results", out: Path | None = None) -> "Chart":
        """Latency against response size; further results are drawn with it. See `draw`."""
        return draw("size-latency", [self._results, *others], out)

    def cdf(self, *others: "Results", out: Path | None = None) -> "Chart":
        """Distribution of latency; further results are drawn with it. See `draw`."""
        return draw("cdf", [self._results, *others], out)

    def link(self, link: int | None = None, *, out: Path | None = None) -> "Chart":
        """Rate, queue, busy share and drops of a link over time; the busiest link when None. See `draw`."""
        return draw("link", [self._results], out, link=link)

    def timeseq(self, connection: int | None = None, *, out: Path | None = None) -> "Chart":
        """Time–sequence plot of a connection; that of the slowest finished request when None. See `draw`."""
        return draw("timeseq", [self._results], out, connection=connection)

    def cwnd(self, connection: int | None = None, *, out: Path | None = None) -> "Chart":
        """Congestion window, threshold and flight of a connection; as `timeseq`. See `draw`."""
        return draw("cwnd", [self._results], out, connection=connection)
