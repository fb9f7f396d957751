"""The figure of a fit: popularity, sizes and stack distances of a log, and of the model with the fitted parameters."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from farweb.fit import Fit, Seen
from farweb.plot.style import Chart, check_target, counted, frame, look, save, series
from farweb.quantities import count, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINTS = 400  # of a curve; more cannot be told apart
_TICKS = 5  # as many sizes as fit below a panel


def draw(found: Fit, out: Path) -> "Figure":
    """Draw model against data in three panels, and save it by the suffix of `out`.

    Raises:
        FarwebError: The suffix is none of png, svg, pdf.
    """
    check_target(out)
    with look():
        chart = Chart(figsize=(11, 4.2))
        by_rank, by_size, by_distance = chart.subplots(1, 3)
        for index, (label, seen) in enumerate((("data", found.data), ("model", found.model))):
            line: dict[str, Any] = {"label": label, **series(index), "zorder": 2 + index}
            _popularity(by_rank, seen, line)
            if len(found.data.sizes):
                _sizes(by_size, seen, line)
            if found.locality is not None:
                _distances(by_distance, seen, line)
        _finish(by_rank, by_size, by_distance, found)
        frame(chart, f"ProWGen fitted to {Path(found.source).name}", _caption(found), _entries())
        save(chart, out)
    return chart


def _popularity(axes: "Axes", seen: Seen, line: dict[str, Any]) -> None:
    ranks = _thinned(len(seen.requests))
    axes.plot(ranks + 1, seen.requests[ranks], **line)


def _sizes(axes: "Axes", seen: Seen, line: dict[str, Any]) -> None:
    """The share of documents as large as each size or larger."""
    from_largest = _thinned(len(seen.sizes))
    # Many points in the tail, where few documents are; and enough where most are.
    places = np.unique(np.concatenate((len(seen.sizes) - 1 - from_largest, from_largest)))
    axes.plot(seen.sizes[places], 1 - places / len(seen.sizes), **line)


def _distances(axes: "Axes", seen: Seen, line: dict[str, Any]) -> None:
    places = _thinned(len(seen.distances))
    cumulated = np.cumsum(seen.distances)
    axes.step(places + 1, cumulated[places] / cumulated[-1] * 100, where="post", **line)


def _finish(by_rank: "Axes", by_size: "Axes", by_distance: "Axes", found: Fit) -> None:
    by_rank.set(title="Popularity", xlabel="rank of the document", ylabel="requests", xscale="log", yscale="log")
    by_rank.set_ylim(bottom=0.7)  # nothing is asked for less than once
    by_size.set(title="Sizes", xlabel="size", ylabel="documents as large or larger (share)")
    by_distance.set(title="Stack distances", xlabel="documents asked for since, plus 1", ylabel="requests up to it (%)")
    if len(found.data.sizes):
        by_size.set(xscale="log", yscale="log")
        counted(by_size.xaxis, "B")
        by_size.xaxis.set_major_locator(LogLocator(numticks=_TICKS))
    else:
        _empty(by_size, "no sizes in the data")
    if found.locality is not None:
        by_distance.set(xscale="log", ylim=(0, 102))
    else:
        _empty(by_distance, "nothing is asked for twice")


def _empty(axes: "Axes", why: str) -> None:
    axes.set(xticks=[], yticks=[])
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center")


def _entries() -> list[Line2D]:
    return [Line2D([], [], label=label, **series(index)) for index, label in enumerate(("data", "model"))]


def _caption(found: Fit) -> str:
    """What is to be seen, in numbers."""
    popularity = found.popularity
    parts = [
        f"{count(found.requests)} requests for {count(popularity.documents)} documents, "
        f"{count(popularity.onetimers)} of them asked for once."
    ]
    if (zipf := popularity.zipf) is not None:
        parts.append(f"Zipf slope {zipf.slope:.2f} ± {zipf.error:.2f} (R² {zipf.r2:.3f}).")
    if (tail := found.tail) is not None:
        parts.append(
            f"Tail index {tail.shape:.2f} ± {tail.error:.2f} from {count(tail.start)} B, "
            f"{share(tail.share)} of the documents."
        )
    if (locality := found.locality) is not None:
        parts.append(f"LRU stack: {locality.mode}, {count(locality.stack_size)} documents.")
    apart = [("sizes", found.sizes_ks, "documents"), ("stack distances", locality.ks if locality else None, "requests")]
    far = [f"{share(ks)} of the {of} in their {what}" for what, ks, of in apart if ks is not None]
    if far:
        parts.append(f"Model and data differ by at most {' and '.join(far)}.")
    return " ".join(parts)


def _thinned(length: int) -> NDArray[np.int64]:
    """Places from 0, equally far apart on a logarithmic axis, the last one included."""
    places = np.unique(np.geomspace(1, length, _POINTS).astype(np.int64)) - 1
    return np.unique(np.append(places, length - 1))
