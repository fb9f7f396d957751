"""Hits of caches over time."""

import polars as pl

from farweb.errors import ResultsError
from farweb.paint.figure import Axis, Figure, Panel
from farweb.plot.catalogue import figure
from farweb.plot.measured import Samples, provenance, samples, warmup_line
from farweb.results.run import RunTables
from farweb.results.totals import caches_of
from farweb.text.quantities import seconds, share


@figure(
    "hits",
    of="run",
    shows="hits, delayed hits and bytes of hits of each cache over time, and what it holds",
    needs="caches and record.links_every",
)
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
    found = [(cache, intervals(result.caches, cache.node)) for cache in caches]
    after_warmup = [
        f"{cache.node} ({cache.holds}): {share(cache.hit_ratio)} of {cache.requests:,} requests hit, "
        f"{share(cache.delayed_hit_ratio)} were delayed hits"
        for cache in caches
    ]
    return Figure(
        f"Hits over time – {result.path.name}",
        f"Shares over {seconds(found[0][1].length_s)} of the requests that came to a cache: hits, delayed hits (served "
        "from a fetch that was under way), and of their bytes those of hits; right: what the cache holds. After the "
        f"warm-up: {'; '.join(after_warmup)}. {provenance([result])}",
        tuple(panel for cache, shown in found for panel in _panels(result, cache.node, shown)),
        columns=2,
        size=(9, 1.6 + 2.3 * len(caches)),
        share_x=True,
    )


def intervals(rows: pl.DataFrame, node: str) -> Samples:
    """Samples of a cache: ratios, null where nothing was asked for, and `bytes` that it held at the end."""
    return samples(
        rows.filter(pl.col("node") == node),
        bytes=pl.col("bytes").last(),
        hit_ratio=_over("hits", "requests"),
        delayed_hit_ratio=_over("delayed_hits", "requests"),
        byte_hit_ratio=_over("hit_bytes", "request_bytes"),
    )


def _over(part: str, whole: str) -> pl.Expr:
    return pl.when(pl.col(whole).sum() > 0).then(pl.col(part).sum() / pl.col(whole).sum())


def _panels(result: RunTables, node: str, shown: Samples) -> tuple[Panel, Panel]:
    """Shares of a cache, and its contents."""
    shares = (
        shown.series("hits", 0, "hit_ratio", scale=100),
        shown.series("delayed hits", 1, "delayed_hit_ratio", scale=100),
        shown.series("bytes of hits", 2, "byte_hit_ratio", scale=100),
    )
    held = shown.series("held", 3, "bytes")
    return (
        Panel(shown.axis, Axis("share", "%", low=0, high=100), shares, warmup_line(result), title=node),
        Panel(shown.axis, Axis("held", "B", low=0).fitted(held.y), (held,), warmup_line(result)),
    )
