"""What caches serve: of a run over time, of a sweep against their size."""

import re
from typing import Any

import numpy as np
import polars as pl

from farweb.errors import FarwebError, ResultsError
from farweb.plot.against import Ask, Drawing
from farweb.plot.figure import Axis, Figure, Panel, Series
from farweb.plot.legs import POINTS_MAX
from farweb.plot.measured import labels, provenance, warmup_line
from farweb.plot.replicated import Estimates
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.results.totals import caches_of
from farweb.text.quantities import seconds, share

_CAPACITY = re.compile(r"cache\.(\d+)\.capacity")


def hits(result: RunTables) -> Figure:
    """Hit ratio, delayed hits and byte hit ratio over time: a row a cache.

    Raises:
        ResultsError: No cache, or no recorded intervals.
    """
    if result.manifest["scenario"]["record"].get("links_every") is None:
        raise ResultsError(
            f"{result.path}: has no intervals to draw over time; run again with one, for example record.links_every = "
            '"1 s"'
        )
    caches = caches_of(result)
    if not caches:
        raise ResultsError(f"{result.path}: has no cache: write a [[cache]] table into its scenario")
    found = [(cache, *intervals(result.caches, cache.node)) for cache in caches]
    told = [
        f"{cache.node} ({cache.holds}): {share(cache.hit_ratio)} of {cache.requests:,} requests hit, "
        f"{share(cache.delayed_hit_ratio)} were delayed hits"
        for cache in caches
    ]
    return Figure(
        f"Hits over time – {labels([result])[0]}",
        f"Shares over {seconds(found[0][2])} of the requests that came to a cache: hits, delayed hits (served from a "
        "fetch that was under way), and of their bytes those of hits; right: what the cache holds. After the warm-up: "
        f"{'; '.join(told)}. {provenance([result])}",
        tuple(panel for cache, samples, _ in found for panel in _panels(result, cache.node, samples)),
        columns=2,
        size=(9, 1.6 + 2.3 * len(caches)),
        share_x=True,
    )


def intervals(rows: pl.DataFrame, node: str) -> tuple[pl.DataFrame, float]:
    """Samples of a cache, neighbours merged until there are at most `POINTS_MAX`.

    Returns:
        Columns `from_s`, `to_s` (s), `hit_ratio`, `delayed_hit_ratio`, `byte_hit_ratio` (null where nothing was asked
        for) and `bytes` at the end, by time; and the time that a row covers, in s.
    """
    one = rows.filter(pl.col("node") == node).sort("time_ns")
    merge = max(1, -(-len(one) // POINTS_MAX))
    counts = ("requests", "hits", "delayed_hits", "request_bytes", "hit_bytes")
    samples = (
        one.with_row_index("row")
        .group_by(pl.col("row") // merge, maintain_order=True)
        .agg(
            from_s=(pl.col("time_ns").first() - pl.col("interval_ns").first()) / 1e9,
            to_s=pl.col("time_ns").last() / 1e9,
            bytes=pl.col("bytes").last(),
            **{name: pl.col(name).sum() for name in counts},
        )
        .with_columns(
            hit_ratio=_over("hits", "requests"),
            delayed_hit_ratio=_over("delayed_hits", "requests"),
            byte_hit_ratio=_over("hit_bytes", "request_bytes"),
        )
    )
    return samples, float(one["interval_ns"].to_list()[0] if len(one) else 0) * merge / 1e9


def _over(part: str, whole: str) -> pl.Expr:
    return pl.when(pl.col(whole) > 0).then(pl.col(part) / pl.col(whole))


def _panels(result: RunTables, node: str, samples: pl.DataFrame) -> tuple[Panel, Panel]:
    """Shares of a cache, and what it holds."""
    time = np.append(samples["from_s"].to_numpy(), samples["to_s"].to_numpy()[-1:])
    x = Axis.of_time("time", time)

    def steps(label: str, index: int, column: str, scale: float = 1.0) -> Series:
        values = samples[column].cast(pl.Float64).fill_null(np.nan).to_numpy() * scale
        return Series(label, index, time, np.append(values, values[-1:]), "steps")

    shares = (
        steps("hits", 0, "hit_ratio", 100),
        steps("delayed hits", 1, "delayed_hit_ratio", 100),
        steps("bytes of hits", 2, "byte_hit_ratio", 100),
    )
    held = steps("held", 3, "bytes")
    return (
        Panel(x, Axis("share", "%", low=0, high=100), shares, warmup_line(result), title=node),
        Panel(x, Axis("held", "B", low=0).fitted(held.y), (held,), warmup_line(result)),
    )


def cache_size(sweep: SweepTables, ask: Ask) -> Figure:
    """What a cache serves, and what that is worth to users, against its capacity.

    Raises:
        FarwebError: The factor on the axis is no capacity of a cache, or unknown.
        ResultsError: No capacity varies, or no run has ended well.
    """
    name = ask.x or _varied_capacity(sweep)
    if not (found := _CAPACITY.fullmatch(name)):
        raise FarwebError(
            f"plot cache-size is against the capacity of a cache, and {name} is none; try cache.0.capacity"
        )
    cache = int(found[1])
    drawing = Drawing(sweep, Ask(ask.by, name, None, ask.where), panels=1)
    panels, used = [], []
    for metric, title, axis in _drawn(cache):
        estimates = Estimates(sweep, metric)
        used.append(estimates)
        y = axis.fitted(drawing.means(estimates))
        panels.append(Panel(drawing.x.axis, y, drawing.series(estimates), title=title))
    node = sweep.manifest["scenario"]["cache"][cache]["node"]
    caption = drawing.caption(
        f"Shares of the requests, and of the bytes, that came to the cache at {node} and that it served from what it "
        "held (delayed hits apart), and the latency of all requests.",
        used,
    )
    return drawing.figure(f"Capacity of the cache at {node} – {sweep.name}", caption, panels, 2)


def _drawn(cache: int) -> tuple[tuple[str, str, Axis], ...]:
    """The panels: metric, title and axis."""
    ratio: dict[str, Any] = {"low": 0, "high": 1}
    return (
        (f"cache_{cache}_hit_ratio", "hits", Axis("hit ratio", **ratio)),
        (f"cache_{cache}_byte_hit_ratio", "bytes of hits", Axis("byte hit ratio", **ratio)),
        (f"cache_{cache}_delayed_hit_ratio", "delayed hits", Axis("delayed hit ratio", low=0)),
        ("latency_mean_s", "latency", Axis("mean latency", "s", low=0)),
    )


def _varied_capacity(sweep: SweepTables) -> str:
    """The capacity that varies."""
    names = [factor.name for factor in sweep.design.factors if _CAPACITY.fullmatch(factor.name)]
    if not names:
        raise ResultsError(
            f'{sweep.path}: no capacity of a cache varies; give "cache.0.capacity" several levels in [sweep.factors]'
        )
    return names[0]
