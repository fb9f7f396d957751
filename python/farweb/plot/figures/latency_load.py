"""Latency, or another metric, against the load or another factor."""

from collections.abc import Sequence

from farweb.paint.figure import Axis, Figure, Reference
from farweb.plot.against import DECADES, Drawing
from farweb.plot.catalogue import figure
from farweb.results.estimates import Differences, Estimates
from farweb.results.metrics import base_unit, words
from farweb.results.select import Where, level_index
from farweb.results.sweep import SweepTables


@figure(
    "latency-load",
    of="sweep",
    shows="latency, or another metric, against the offered load or another factor",
    needs="a factor with numbers",
)
def latency_load(
    sweep: SweepTables,
    *,
    by: Sequence[str] | None = None,
    x: str | None = None,
    metric: str | None = None,
    where: Where | None = None,
    against: tuple[str, str] | None = None,
) -> Figure:
    """A metric, latency as a rule, against the offered load or another factor.

    Raises:
        FarwebError: An unknown factor, level or metric, or too many series.
        ResultsError: Nothing varies that it could be drawn against, or no run has ended well.
    """
    drawing = Drawing(sweep, by, x, where, against=against)
    if against is not None:
        return _differences(sweep, drawing, metric or "latency_mean_s", *against)
    estimates = Estimates(sweep, metric or "latency_mean_s")
    what = words(estimates.metric)
    return drawing.figure(
        f"{what[0].upper()}{what[1:]} against {drawing.x.name} – {sweep.name}",
        f"Markers: {what}.",
        [drawing.panels(estimates, _measured_axis(drawing, estimates))],
    )


def _differences(sweep: SweepTables, drawing: Drawing, metric: str, factor: str, level: str) -> Figure:
    """Differences of a metric from its value at a level of a factor, with a line where both are alike."""
    estimates = Differences(sweep, metric, *level_index(sweep.design, factor, level))
    what, base = words(estimates.metric), f"{sweep.design.short_names[factor]} = {level}"
    y = Axis(f"{what}, less that of {base}", base_unit(estimates.metric)).fitted(drawing.means(estimates))
    paired = "the same requests in both" if sweep.design.random_numbers == "common" else "of other requests in each"
    seen = f"Markers: {what}, less that of {base} with the same seed ({paired}). Below the line it is less."
    title = f"{what[0].upper()}{what[1:]}, less that of {base}, against {drawing.x.name} – {sweep.name}"
    return drawing.figure(title, seen, [drawing.panels(estimates, y, Reference("no difference", 0.0))])


def _measured_axis(drawing: Drawing, estimates: Estimates) -> Axis:
    """The vertical axis of a metric: from 0, or logarithmic where its values span decades."""
    means = drawing.means(estimates)
    quantity, unit = words(estimates.metric), base_unit(estimates.metric)
    if means.min() > 0 and means.max() >= DECADES * means.min():
        return Axis(quantity, unit, "log", low=float(means.min()) / 2)
    return Axis(quantity, unit, low=min(0.0, float(means.min()))).fitted(means)
