"""The numbers that a figure draws, as a table: for other programs, and for whoever wants the values themselves."""

from pathlib import Path

import numpy as np
import polars as pl

from farweb.errors import FarwebError
from farweb.files.atomic import staged_file
from farweb.paint.figure import OTHERS, Axis, Density, Figure, Panel, Series

SUFFIX = ".csv"


def table(figure: Figure) -> pl.DataFrame:
    """A row a value that is drawn.

    Returns:
        `panel` and `series`, the names that the figure has for them, and `part`, what of a series it is (``mean``,
        ``percentiles``), where there are several; a column an axis, with its base unit in brackets: all panels that
        have the same axis share it, others leave it empty; `low` and `high` of the vertical axis, or of the horizontal
        one where the vertical has names; n; and `not answered`, the share of requests behind a hollow marker
        that failed or were cut off. Values are in base units, whatever prefix the figure reads them in.
    """
    rows = [_rows(panel, figure.counted) for panel in figure.panels]
    found = pl.concat([frame for of_panel in rows for frame in of_panel], how="diagonal")
    return found.select(name for name in found.columns if not found[name].is_null().all() or name in _ALWAYS)


def write(figure: Figure, out: Path) -> None:
    """Write the numbers of a figure as CSV; all of them or, when that fails, nothing.

    Raises:
        FarwebError: The suffix is not ``.csv``.
        RunError: The file cannot be written.
    """
    check_target(out)
    with staged_file(out) as stage:
        table(figure).write_csv(stage)


def check_target(out: Path) -> None:
    """Refuse a file name that is none of a CSV file, before anything is drawn.

    Raises:
        FarwebError: The suffix is not ``.csv``.
    """
    if out.suffix.lower() != SUFFIX:
        raise FarwebError(f"{out}: the numbers of a figure are written as {SUFFIX}")


_ALWAYS = ("panel", "series")


def _rows(panel: Panel, counted: str) -> list[pl.DataFrame]:
    frames = [_of_series(panel, series, counted) for series in panel.series if series.index != OTHERS]
    return frames if panel.density is None else [*frames, _of_density(panel, panel.density)]


def _of_series(panel: Panel, series: Series, counted: str) -> pl.DataFrame:
    across = panel.y.scale == "category"
    measured = panel.x if across else panel.y
    columns: dict[str, object] = {
        "panel": [_line(panel.title)] * len(series.x),
        "series": [series.label] * len(series.x),
        "part": pl.Series([series.part or None] * len(series.x), dtype=pl.String),
        _header(panel.x): _values(panel.x, series.x),
        _header(panel.y): _values(panel.y, series.y),
    }
    if series.low is not None and series.high is not None:
        columns |= {f"{_header(measured)} low": series.low, f"{_header(measured)} high": series.high}
    if series.n is not None:
        columns[f"n [{counted}]" if counted else "n"] = series.n
    if series.failed is not None:
        columns["not answered"] = series.failed
    return pl.DataFrame(columns)


def _of_density(panel: Panel, density: Density) -> pl.DataFrame:
    """Cells that are not empty, by the middle of each on logarithmic axes."""
    row, column = np.nonzero(density.count)
    x, y = (np.sqrt(edges[:-1] * edges[1:]) for edges in (density.x_edges, density.y_edges))
    return pl.DataFrame(
        {
            "panel": [_line(panel.title)] * len(row),
            "series": [""] * len(row),
            "part": ["cell"] * len(row),
            _header(panel.x): x[column],
            _header(panel.y): y[row],
            f"n [{density.of}]": density.count[row, column],
        }
    )


def _line(title: str) -> str:
    return ", ".join(title.splitlines())


def _header(axis: Axis) -> str:
    return f"{axis.quantity or 'of'} [{axis.unit}]" if axis.unit else axis.quantity or "of"


def _values(axis: Axis, values: np.ndarray) -> object:
    """Values of an axis, as names on one with levels, also beside their places."""
    if axis.scale != "category":
        return values.astype(np.float64)
    return [axis.levels[round(float(place))].strip() for place in values]
