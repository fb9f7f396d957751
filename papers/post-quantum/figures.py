"""Figures of the study: steps of the first byte, what is added to the last one, losses, visits that resume, pages."""

import numpy as np

from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.reproduce.drawing import runs_text
from farweb.reproduce.study import StudyResults

from .measures import (  # type: ignore[import-not-found]  # mypy knows no package with a hyphen
    FAST,
    FLIGHT,
    KIB,
    LARGE,
    LIMITS,
    NAMED,
    ROUND_TRIPS,
    SLOW,
    SMALL,
    TODAY,
    added,
    handshake,
    resumed,
    times,
    with_merkle_tree,
)

SHOWN = {
    "ECDSA P-256": ("ecdsa-p256", False),
    "ML-DSA-44, Merkle tree": ("ml-dsa-44", True),
    "FN-DSA-512": ("fn-dsa-512", False),
    "ML-DSA-44": ("ml-dsa-44", False),
    "ML-DSA-65": ("ml-dsa-65", False),
    "ML-DSA-87": ("ml-dsa-87", False),
    "SLH-DSA-128s": ("slh-dsa-128s", False),
    "SLH-DSA-128f": ("slh-dsa-128f", False),
}
"""Chains whose places the figure of steps marks: scheme, and whether by a Merkle tree."""
SIZES = (10, 50, 100, 200, 1000)
"""Responses, in KiB."""


def flights(results: StudyResults) -> list[tuple[str, int]]:
    """Server's flights of chains, by size."""
    folder = results.study.folder
    found = [
        (name, with_merkle_tree(folder, scheme) if by_tree else int(handshake(folder, scheme)["down"]["bytes"]))
        for name, (scheme, by_tree) in SHOWN.items()
    ]
    return sorted(found, key=lambda each: each[1])


def _steps(results: StudyResults) -> Figure:
    rows = times(results, "steps")
    series = []
    for index, (path, round_trip) in enumerate(ROUND_TRIPS.items()):
        own = rows.filter(path=path)
        flight = np.array([float(each.removesuffix(" B")) for each in own[FLIGHT]])
        order = np.argsort(flight)
        trips = own["first_byte_s"].to_numpy()[order] / round_trip
        series.append(Series(f"{path}, {1e3 * round_trip:.0f} ms", index, flight[order], trips))
    marks = [Reference("first window, and the second" if limit == LIMITS[0] else "", limit, "y") for limit in LIMITS]
    chains = flights(results)
    places = np.array([float(size) for _, size in chains])
    rows_of = 2.7 - 0.3 * (
        np.arange(len(chains), dtype=np.float64) % 4
    )  # below each other, so that names do not collide
    stands = Series("chains", None, places, rows_of, "signs", sign="^", names=tuple(name for name, _ in chains))
    return Figure(
        "time to the first byte by the size of the server's flight",
        "In round trips of each path: TCP, handshake and request take three. A flight beyond 14480 B, and one beyond "
        "43440 B, takes one more, less its transmission; at 1 Mbit/s that is nearly all of it. Triangles: "
        f"{', '.join(f'{name} {size} B' for name, size in chains)}, each with X25519MLKEM768, an intermediate and two "
        f"timestamps, or a Merkle tree certificate. {runs_text([results.sweep('steps')])}",
        (
            Panel(
                Axis("server's flight", "B", low=0, high=70_000, prefix="k"),
                Axis("time to the first byte in round trips", low=1.5),
                (*series, stands),
                tuple(marks),
            ),
        ),
        size=(10.5, 6.2),
    )


def _sizes(results: StudyResults) -> Figure:
    panels = []
    for path in ROUND_TRIPS:
        series = []
        for index, certificates in enumerate((SMALL, LARGE)):
            more = [
                added(results, "sizes", "last_byte_s", certificates, path=path, response_bytes=size * KIB)
                for size in SIZES
            ]
            series.append(Series(certificates, index, np.array(SIZES, float) * KIB, np.array(more)))
        zero = Reference("as today", 0.0)
        x, y = Axis("response", "B", "log"), Axis("added to the time to the last byte", "%")
        panels.append(Panel(x, y, tuple(series), (zero,), title=f"{path}, {1e3 * ROUND_TRIPS[path]:.0f} ms"))
    return Figure(
        "what post-quantum handshakes add to the time to the last byte",
        "Against X25519 and ECDSA P-256. Below zero: acknowledgements of the longer flight have opened the server's "
        f"window, so that the response takes fewer turns. {runs_text([results.sweep('sizes')])}",
        tuple(panels),
        columns=3,
        size=(13.0, 7.6),
        share_y=True,
    )


def _losses(results: StudyResults) -> Figure:
    panels = []
    for path in (FAST, SLOW):
        series = []
        for place, loss in enumerate(("0 %", "1 %", "3 %")):
            where = {"path": path, "loss": loss}
            more = [added(results, "losses", "handshake_s", SMALL, **where)]
            more += [
                added(results, "losses", "last_byte_s", SMALL, response_bytes=size * KIB, **where)
                for size in (10, 50, 200)
            ]
            series.append(Series(f"loss {loss}", 0, np.arange(4.0), np.array(more), shade=place / 2))
        levels = ("handshake", "10 KiB", "50 KiB", "200 KiB")
        x = Axis("", scale="category", levels=levels)
        panels.append(
            Panel(x, Axis("added by ML-DSA-44", "%"), tuple(series), (Reference("as today", 0.0),), title=path)
        )
    return Figure(
        "what is added where packets are lost at random in both directions",
        f"Of the mean time of the handshake, and to the last byte of responses. {runs_text([results.sweep('losses')])}",
        tuple(panels),
        columns=2,
        size=(10.5, 4.8),
    )


def _visits(results: StudyResults) -> Figure:
    visits = np.array([1, 2, 5, 10])
    series = [
        Series(
            path,
            index,
            100 * (1 - 1 / visits),
            np.array([resumed(results, path, int(each)) / ROUND_TRIPS[path] for each in visits]),
        )
        for index, path in enumerate(NAMED)
    ]
    return Figure(
        "what ML-DSA-65 adds to the first byte, by the share of visits that resume",
        f"In the mean over all visits, in round trips. {runs_text([results.sweep('visits')])}",
        (
            Panel(
                Axis("visits that resume", "%", low=0, high=100),
                Axis("added to the time to the first byte in round trips", low=0),
                tuple(series),
            ),
        ),
        size=(7.5, 5.2),
    )


def _page(results: StudyResults) -> Figure:
    carriers = tuple(times(results, "page")["carrier"].unique(maintain_order=True))
    panels = []
    for path in NAMED:
        series = []
        for index, certificates in enumerate((TODAY, SMALL, LARGE)):
            own = times(results, "page").filter(path=path, certificates=certificates)
            whole = [own.filter(carrier=carrier)["last_byte_s"].max() for carrier in carriers]
            places = np.arange(len(carriers), dtype=np.float64) + 0.12 * (index - 1)
            series.append(Series(certificates, index, places, np.array(whole, float), joined=False))
        x, y = Axis("", scale="category", levels=carriers), Axis("sixty objects of 12 KiB", "s", low=0)
        panels.append(Panel(x, y, tuple(series), title=path))
    return Figure(
        "six connections with a handshake each, or one",
        f"Time until the last of the objects is there. {runs_text([results.sweep('page')])}",
        tuple(panels),
        columns=4,
        size=(15.0, 4.4),
    )


FIGURES = {"steps": _steps, "sizes": _sizes, "losses": _losses, "visits": _visits, "page": _page}
