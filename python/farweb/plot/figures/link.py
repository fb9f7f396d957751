"""Rate, queue, busy share and drops of a link over time, in both directions, and the rate in force where it changes."""

import functools
from collections.abc import Mapping
from typing import Any

import polars as pl

from farweb.errors import ResultsError
from farweb.paint import style
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.plot.catalogue import figure
from farweb.plot.measured import Samples, mean, provenance, rows_of, samples, warmup_line
from farweb.results.run import RunTables
from farweb.results.totals import REASONS, marked, reasons_of
from farweb.text.parse import parse
from farweb.text.quantities import quantity, rate, seconds, share
from farweb.text.words import plural

DIRECTIONS = ("down", "up")
"""Columns of the figure: responses ride down, requests up; most bytes go down."""

_LOSSES = {"list": "losses by list", "gilbert-elliott": "losses in bursts"}
_LISTED = {"steps": "step", "outage": "outage"}
"""Loss processes without one share, and changes of a link that a list has, in words."""


@figure("link", of="run", shows="rate, queue, busy share and drops of a link over time", needs="record.links_every")
def link_over_time(result: RunTables, *, link: int | None = None) -> Figure:
    """Throughput, queue, busy share and drops of one link over time, a column a direction.

    Raises:
        ResultsError: No recorded intervals, or no such link.
    """
    rows, link = chosen(result, link)
    shown = {direction: intervals(rows, direction) for direction in DIRECTIONS}
    columns = [_panels(result, each, link, direction) for direction, each in shown.items()]
    in_force = " (grey: the rate in force)" if any(map(_changes, shown.values())) else ""
    length_s = max(each.length_s for each in shown.values())
    packets = rows["packets"].sum()
    return Figure(
        f"Link {link} over time – {result.path.name}",
        f"Averages over {seconds(length_s)} of: throughput in IP bits{in_force}, queue (line: time-weighted mean; "
        f"shade: peak), time in transmission, packets dropped. Scales differ by column. n = {packets:,} packets. "
        f"{provenance([result])}",
        tuple(panel for row in zip(*columns, strict=True) for panel in row),
        columns=2,
        size=(9, 7),
        share_x=True,
    )


def chosen(result: RunTables, link: int | None) -> tuple[pl.DataFrame, int]:
    """Rows of a link and its number; of the one that is busy most of the time where none is named.

    Raises:
        ResultsError: No recorded intervals, or no such link.
    """
    rows = rows_of(result, "links")
    if link is None:
        busy = rows.group_by("link").agg(pl.col("busy").mean()).sort(["busy", "link"], descending=[True, False])
        link = int(busy["link"][0])
    own = rows.filter(pl.col("link") == link)
    if own.is_empty():
        numbers = ", ".join(map(str, sorted(rows["link"].unique().to_list())))
        raise ResultsError(f"{result.path}: there is no link {link}; links: {numbers}")
    return own, link


def intervals(rows: pl.DataFrame, direction: str) -> Samples:
    """Samples of one direction of a link: rate carried and in force (bit/s), queue (B), busy share (%) and drops.

    Results of states of farweb without `available_bytes` have no rate in force.
    """
    known = pl.col("available_bytes") if "available_bytes" in rows.columns else pl.lit(None, pl.Int64)
    return samples(
        rows.filter(pl.col("direction") == direction),
        rate_bps=pl.col("bytes").sum() * 8e9 / pl.col("interval_ns").sum(),
        in_force_bps=known.mean() * 8e9 / pl.col("interval_ns").mean(),
        queue_mean=mean("queue_bytes_mean"),
        queue_max=pl.col("queue_bytes_max").max(),
        busy_percent=mean("busy") * 100,
        **{name: pl.col(name).sum() for name in ("drops", "marks", *REASONS)},
    )


def _changes(shown: Samples) -> bool:
    """True where the rate in force is not always the same, to the rounding of its bytes."""
    rates = shown.rows["in_force_bps"].drop_nulls()
    return bool(len(rates) and rates.max() > 1.001 * rates.min())  # type: ignore[operator]


def panel(
    result: RunTables, of: Samples, axis: Axis, *drawn: Series, weight: float, title: str = "", note: str = ""
) -> Panel:
    """A panel over time, with the end of the warm-up."""
    fitted = axis.fitted(*(each.y for each in drawn))
    return Panel(of.axis, fitted, drawn, warmup_line(result), title=title, note=note, weight=weight)


def queue_panel(result: RunTables, of: Samples, title: str = "") -> Panel:
    """Bytes in a queue: their mean, and their peak behind it."""
    peak, mean = of.series("", 0, "queue_max", "area", "peak"), of.series("", 0, "queue_mean", part="mean")
    return panel(result, of, Axis("queue", "B", low=0), peak, mean, weight=3, title=title)


def _panels(result: RunTables, shown: Samples, link: int, direction: str) -> tuple[Panel, ...]:
    """The four panels of a direction, from the top."""
    drawn = functools.partial(panel, result, shown)
    most = float(shown.rows["busy_percent"].max() or 0)  # type: ignore[arg-type]
    drops = int(shown.rows["drops"].sum())
    marks = int(shown.rows["marks"].sum())
    reasons = reasons_of({name: int(shown.rows[name].sum()) for name in REASONS if name in shown.rows.columns})
    in_force = [shown.series("", style.QUIETLY, "in_force_bps", part="rate in force")] if _changes(shown) else []
    return (
        drawn(
            Axis("throughput", "bit/s", low=0),
            *in_force,
            shown.series("", 0, "rate_bps", part="carried" if in_force else ""),
            weight=3,
            title=title(result.manifest["scenario"], link, direction),
        ),
        queue_panel(result, shown),
        drawn(
            Axis("busy", "%", low=0, high=105 if most > 95 else None),
            shown.series("", 0, "busy_percent"),
            weight=1.6,
        ),
        drawn(
            Axis("drops, marks" if marks else "drops", low=0, high=None if drops or marks else 1.5, whole=True),
            shown.series("dropped" if marks else "", None, "drops", "area"),
            *([shown.series("marked", 1, "marks", part="marks")] if marks else []),
            weight=1.6,
            note=(f"{drops:,} dropped in all" if drops else "none dropped")
            + (f": {reasons}" if reasons else "")
            + marked(marks),
        ),
    )


def title(scenario: dict[str, Any], link: int, direction: str) -> str:
    """Title of a direction of a link: its rate, delay, queue and loss, and below them what changes."""
    nodes = scenario["path"]["nodes"]
    ends = nodes[link : link + 2]
    if direction == "down":
        ends.reverse()
    both = scenario["path"]["link"][link]
    values = both[direction]
    own = values.get("rate", f"rate by {values.get('trace')}")
    speed = rate(float(parse(own).number)) if "rate" in values and own != "unlimited" else own
    lost = values.get("loss", {"kind": "none"})
    losses = "" if lost["kind"] == "none" else _LOSSES.get(lost["kind"]) or f"loss {share(lost['probability'])}"
    said = filter(None, [speed, seconds(float(parse(values["delay"]).number)), _queue(values), losses])
    changes = [plural(len(values[key]), name) for key, name in _LISTED.items() if values.get(key)]
    changes += [key for key in ("schedule", "fade", "variation", "jitter", "dama", "wake") if values.get(key)]
    changes += ["handovers"] if both.get("handover") else []
    return "\n".join(
        [f"{direction}, {ends[0]} → {ends[1]}", ", ".join(said), *([", ".join(changes)] if changes else [])]
    )


def _queue(values: Mapping[str, Any]) -> str:
    """The queue of a direction in words: its limit, and its discipline where that is another than drop-tail."""
    queue = values.get("queue")
    kind, limit = ("drop-tail", queue) if not isinstance(queue, dict) else (queue["kind"], queue.get("limit"))
    if not limit:
        return "unlimited queue"
    if not limit.endswith("packets"):
        limit = quantity(float(parse(limit).number), parse(limit).base)
    return f"queue {limit}" if kind == "drop-tail" else f"queue {kind} {limit}"
