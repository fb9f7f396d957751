"""The queue of a link over time: what stands in it, how long packets wait, and what is dropped, by reason."""

import functools

import polars as pl

from farweb.paint.figure import Axis, Figure, Panel
from farweb.plot.catalogue import figure
from farweb.plot.figures.link import DIRECTIONS, chosen, panel, queue_panel, title
from farweb.plot.measured import Samples, mean, provenance, samples
from farweb.results.run import RunTables
from farweb.results.totals import REASONS, marked
from farweb.text.quantities import seconds

_WAITS = {"sojourn_max_s": "longest", "sojourn_p95_s": "95th percentile", "sojourn_p50_s": "median"}


@figure(
    "queue",
    of="run",
    shows="backlog, waits and drops of a link's queue over time",
    needs="record.links_every, for waits record.sojourn",
)
def queue_over_time(result: RunTables, *, link: int | None = None) -> Figure:
    """Bytes in the queue of one link, how long packets waited there, and drops by reason, a column a direction.

    Raises:
        ResultsError: No recorded intervals, or no such link.
    """
    own, link = chosen(result, link)
    has_waits = bool(own["sojourn_max_s"].is_not_null().any())
    shown = {way: _intervals(own.filter(pl.col("direction") == way), has_waits=has_waits) for way in DIRECTIONS}
    columns = [_panels(result, each, link, way, has_waits=has_waits) for way, each in shown.items()]
    waits = "waits of the packets sent (shade: the longest); " if has_waits else "waits with record.sojourn = true; "
    length_s = max(each.length_s for each in shown.values())
    return Figure(
        f"Queue of link {link} over time – {result.path.name}",
        f"By {seconds(length_s)}: bytes in the queue (line: time-weighted mean; shade: peak), the packet in "
        f"transmission included; {waits}packets dropped. Scales differ by column. "
        f"n = {own['packets'].sum():,} packets. "
        f"{provenance([result])}",
        tuple(panel for row in zip(*columns, strict=True) for panel in row),
        columns=2,
        size=(9, 7 if has_waits else 5),
        share_x=True,
    )


def _intervals(rows: pl.DataFrame, *, has_waits: bool) -> Samples:
    """Samples of a direction; of intervals that are merged the largest quantile."""
    return samples(
        rows,
        queue_mean=mean("queue_bytes_mean"),
        queue_max=pl.col("queue_bytes_max").max(),
        **({name: pl.col(name).max() for name in _WAITS} if has_waits else {}),
        **{name: pl.col(name).sum() for name in (*REASONS, "marks")},
    )


def _panels(result: RunTables, shown: Samples, link: int, direction: str, *, has_waits: bool) -> tuple[Panel, ...]:
    """The panels of a direction, from the top."""
    drawn = functools.partial(panel, result, shown)
    waits = [
        shown.series("" if name == "sojourn_max_s" else part, number, name, "area" if number == 0 else "steps", part)
        for number, (name, part) in enumerate(_WAITS.items())
        if has_waits
    ]
    # Each line of the column has a colour of its own.
    first = len(waits)
    dropped = {name: int(shown.rows[name].sum()) for name in REASONS}
    drops = [
        shown.series(REASONS[name], number, name, part=name)
        for number, (name, many) in enumerate(dropped.items(), first)
        if many
    ]
    marks = int(shown.rows["marks"].sum())
    drops += [shown.series("marked", first + len(dropped), "marks", part="marks")] if marks else []
    return (
        queue_panel(result, shown, title(result.manifest["scenario"], link, direction)),
        *([drawn(Axis("wait", "s", low=0), *waits, weight=3)] if has_waits else []),
        drawn(
            Axis("drops, marks" if marks else "drops", low=0, high=None if drops else 1.5, whole=True),
            *(drops or [shown.series("", None, next(iter(dropped)))]),
            weight=1.6,
            note=(f"{sum(dropped.values()):,} dropped in all" if any(dropped.values()) else "none dropped")
            + marked(marks),
        ),
    )
