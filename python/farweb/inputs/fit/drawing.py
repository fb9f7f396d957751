"""Draws a fit: popularity, sizes and stack distances of the data, and of the model with its parameters."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.inputs.fit import Fit, Seen
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.text.quantities import count, share

_POINTS = 400  # of a curve: more cannot be distinguished


def describe(found: Fit) -> Figure:
    """Describe the figure, in numbers and words, without panels that lack data."""
    curves = tuple(enumerate((("data", found.data), ("model", found.model))))
    panels = [
        Panel(
            Axis("rank of the document", scale="log"),
            Axis("requests", scale="log", low=0.7),  # nothing is asked for less than once
            tuple(_popularity(label, number, seen) for number, (label, seen) in curves),
            title="Popularity",
        )
    ]
    if len(found.data.sizes):
        series = tuple(_sizes(label, number, seen) for number, (label, seen) in curves)
        y = Axis("documents as large or larger (share)", scale="log")
        panels.append(Panel(Axis("size", "B", scale="log"), y, series, title="Sizes"))
    if found.locality is not None:
        series = tuple(_distances(label, number, seen) for number, (label, seen) in curves)
        x, y = Axis("documents asked for since, plus 1", scale="log"), Axis("requests up to it", "%", low=0, high=102)
        panels.append(Panel(x, y, series, title="Stack distances"))
    title = f"ProWGen fitted to {Path(found.source).name}"
    return Figure(title, _caption(found), tuple(panels), columns=len(panels), size=(11, 4.2))


def _popularity(label: str, number: int, seen: Seen) -> Series:
    ranks = _thinned(len(seen.requests))
    return Series(label, number, (ranks + 1).astype(np.float64), seen.requests[ranks], "line")


def _sizes(label: str, number: int, seen: Seen) -> Series:
    """The share of documents as large as each size or larger."""
    from_largest = _thinned(len(seen.sizes))
    # Many points in the tail, where few documents are, and enough where most are.
    places = np.unique(np.concatenate((len(seen.sizes) - 1 - from_largest, from_largest)))
    return Series(label, number, seen.sizes[places], 1 - places / len(seen.sizes), "line")


def _distances(label: str, number: int, seen: Seen) -> Series:
    places = _thinned(len(seen.distances))
    cumulated = np.cumsum(seen.distances)
    return Series(label, number, (places + 1).astype(np.float64), cumulated[places] / cumulated[-1] * 100, "steps")


def _caption(found: Fit) -> str:
    """The figure in numbers."""
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
    if not len(found.data.sizes):
        parts.append("The data have no sizes.")
    if found.locality is None:
        parts.append("Nothing is asked for twice.")
    if far:
        parts.append(f"Model and data differ by at most {' and '.join(far)}.")
    parts.append(f"farweb {_core.version}.")
    return " ".join(parts)


def _thinned(length: int) -> NDArray[np.int64]:
    """Places from 0, equally far apart on a logarithmic axis, the last one included."""
    places = np.unique(np.geomspace(1, length, _POINTS).astype(np.int64)) - 1
    return np.unique(np.append(places, length - 1))
