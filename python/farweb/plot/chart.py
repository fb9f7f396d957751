"""Charts: matplotlib figures with title, legend and caption around the axes, and how they are written to files.

Nothing here changes matplotlib's global state: a figure is built and saved inside `look()`, on a canvas of its own and
without pyplot, so it needs no display and leaves an open notebook or script as it was.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# isort: split

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from farweb.errors import FarwebError
from farweb.files.atomic import staged_file
from farweb.files.made import HTML, SUFFIXES
from farweb.plot import browser
from farweb.plot.figure import Figure as Description
from farweb.plot.letters import FONT, wrapped
from farweb.plot.style import FEW_DECADES, INK, QUIET
from farweb.text.quantities import plain

# Any: matplotlib types the keys, differently from version to version.
_RC: Any = {
    "font.family": [FONT],
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.dpi": 160,
    "text.parse_math": False,  # a name may have dollar signs
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "pdf.fonttype": 42,  # the same: letters as TrueType, which publishers ask for, and not as drawings
    "svg.hashsalt": "farweb",  # ids inside an SVG are the same for the same figure
    "path.simplify": True,
    "agg.path.chunksize": 20000,
}

_COLUMNS_MAX = 8  # of a legend. Chosen: as many as a panel has series
_AROUND = 1.4  # inches of title, legend and caption behind the sizes of figures
_PANELS = 0.5  # of the height of a figure that keeps its size, at least, for axes and their labels (chosen)
_ROW = 0.7  # inches of a row of axes, at least, for the same (chosen)
_POINTS_A_LINE = 11.5
_TITLE_POINTS = 11.5
_CAPTION_POINTS = 8
_SIDE = 0.012  # of the width: left and right of title and caption


class Chart(Figure):
    """A figure that a notebook shows by itself; otherwise a matplotlib `Figure`.

    Attributes:
        description: The drawing, in numbers and words.
    """

    description: Description

    def _repr_png_(self) -> bytes:
        return encode(self, "png")

    def html(self) -> str:
        """A page with the figure to zoom into, the values under the pointer; refers to nothing outside.

        Raises:
            FarwebError: plotly is not installed.
        """
        return browser.page(self.description)


@contextmanager
def look() -> Iterator[None]:
    """Set farweb's look for as long as the block lasts."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Characters that no font here has, such as Chinese, are boxes in a picture; SVG and HTML keep the text.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        # Where names leave no room for the axes, a figure is drawn all the same.
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        mpl.rcdefaults()  # a user's matplotlibrc does not change a figure
        with mpl.rc_context(_RC):
            yield


def frame(
    chart: Figure,
    title: str,
    caption: str,
    entries: Sequence[Line2D] = (),
    heading: str = "",
    *,
    exact: bool = False,
) -> None:
    """Put the title and a legend above the axes and the caption below, and lay the axes out between them.

    Args:
        chart: The figure, of any size.
        title: Title; wrapped to the width. Empty: none.
        caption: Caption, with n and seed; wrapped to the width. Empty: none.
        entries: Lines of a legend of the whole figure, named by their labels; in as many columns as the width takes.
        heading: Heading above the entries.
        exact: True when the figure keeps its size and drops parts that leave too little of it for the axes.
    """
    width, height = chart.get_size_inches()
    together = re.sub(r" (?=[=%])|(?<==) ", "\N{NO-BREAK SPACE}", caption)
    across = (1 - 2 * _SIDE) * width
    lines = wrapped(together, across, _CAPTION_POINTS).splitlines()
    titles = wrapped(title, across, _TITLE_POINTS, bold=True).splitlines()
    legend = _legend(chart, entries, heading) if entries else None

    def around() -> tuple[float, float, float]:
        """Inches of the caption, of the title, and of both with the legend."""
        foot = (len(lines) * _POINTS_A_LINE + 9) / 72 if lines else 4 / 72
        head = (3 + len(titles) * _TITLE_POINTS * 1.75) / 72 if titles else 4 / 72
        named = legend.get_window_extent().height / chart.dpi + 4 / 72 if legend else 0
        return foot, head, 3 / 72 + head + named

    if exact:  # the caption goes first, then the title, then the legend
        cell = chart.axes[0].get_subplotspec() if chart.axes else None
        most = height - max(_PANELS * height, cell.get_gridspec().nrows * _ROW if cell else 0.0)
        if sum(around()[::2]) > most:
            lines = []
        if sum(around()[::2]) > most:
            titles = []
        if legend and sum(around()[::2]) > most:
            legend.remove()
            legend = None
    below, title_height, above = around()
    if not exact:  # texts around the axes are not to take their room
        height += max(0.0, above + below - _AROUND)
        chart.set_size_inches(width, height)
    foot, head = below / height, above / height
    if legend:
        legend.set_bbox_to_anchor((0.004, 1 - title_height / height))
    chart.set_layout_engine("constrained", rect=(0.005, foot, 0.985, 1 - foot - head), hspace=0.03)
    bold: dict[str, Any] = {"fontsize": _TITLE_POINTS, "fontweight": "bold", "va": "top", "gid": "title"}
    chart.text(_SIDE, 1 - 7 / 72 / height, "\n".join(titles), **bold)
    small: dict[str, Any] = {"fontsize": _CAPTION_POINTS, "color": QUIET, "linespacing": 1.25, "gid": "caption"}
    chart.text(_SIDE, 5 / 72 / height, "\n".join(lines), va="bottom", **small)


def _legend(chart: Figure, entries: Sequence[Line2D], heading: str) -> Legend:
    """A legend of the figure, in as many columns as fit; where it stands is still to be said."""
    for columns in range(min(len(entries), _COLUMNS_MAX), 0, -1):
        legend = chart.legend(
            handles=entries,
            title=heading or None,
            ncols=columns,
            loc="upper left",
            bbox_to_anchor=(0.004, 1),
            alignment="left",
            borderaxespad=0.0,
            borderpad=0.3,
            handlelength=2.6,
            columnspacing=1.6,
            fontsize=9,
            title_fontsize=9,
        )
        if columns == 1 or legend.get_window_extent().width <= 0.985 * chart.bbox.width:
            break
        legend.remove()
    return legend


_FEW_SIZES = 30
"""Factor up to which an axis of sizes, with a unit in its labels, has room for 2 and 5 (chosen)."""


def log_seconds(axis: Axis) -> None:
    """Label a logarithmic axis of seconds with plain numbers, at 1, 2 and 5 as well where it spans few decades.

    Call it last: it goes by the limits that the data have set.
    """
    _log_marks(axis, FEW_DECADES)
    axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value, 6)))


def log_counted(axis: Axis, unit: str) -> None:
    """Label a logarithmic axis in `unit` with decimal prefixes: 500 B, 32 kB, 1.5 MB; call it last too."""
    _log_marks(axis, _FEW_SIZES)
    axis.set_major_formatter(EngFormatter(unit=unit))


def _log_marks(axis: Axis, few: float) -> None:
    """Mark powers of ten, within a factor of `few` 2 and 5 as well; marks between have no label, which is a formula."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < low * few else (1,)))
    axis.set_minor_formatter(NullFormatter())


def encode(chart: Figure, suffix: str) -> bytes:
    """The figure as a file in memory.

    The same figure gives the same bytes: the file has no dates and no versions.

    Args:
        chart: The figure.
        suffix: ``png``, ``svg`` or ``pdf``.
    """
    stamps: dict[str, dict[str, Any]] = {
        "png": {"Software": "farweb"},
        "svg": {"Date": None, "Creator": "farweb"},
        "pdf": {"CreationDate": None, "Creator": "farweb", "Producer": None},
    }
    buffer = io.BytesIO()
    with look(), _laid_out(chart):
        chart.savefig(buffer, format=suffix, metadata=stamps[suffix])
    return buffer.getvalue()


@contextmanager
def _laid_out(chart: Figure) -> Iterator[None]:
    """Keep the axes at places rounded to 1/10,000 of the figure as long as the block lasts.

    The layout solves equations in an order that changes from time to time, and so do the last digits of its places.
    """
    engine = chart.get_layout_engine()
    if engine is None:
        yield
        return
    engine.execute(chart)
    chart.set_layout_engine(None)  # "none" leaves one that does nothing and costs another drawing
    for axes in chart.axes:
        left, bottom, width, height = (round(side, 4) for side in axes.get_position(original=True).bounds)
        axes.set_position((left, bottom, width, height))
        axes.set_in_layout(True)  # the layout comes back after the block
    try:
        yield
    finally:
        chart.set_layout_engine(engine)


def check_target(out: Path) -> None:
    """Refuse a file name without a figure's suffix, before anything is drawn.

    Raises:
        FarwebError: The suffix is none of png, svg, pdf and html.
    """
    if out.suffix.lower() not in SUFFIXES:
        raise FarwebError(f"{out}: a figure is written as {', '.join(SUFFIXES)}; the suffix says which")


def save(chart: Chart, out: Path) -> None:
    """Write the figure in the format that the suffix of `out` names; all of it or, when that fails, nothing.

    Raises:
        FarwebError: The suffix is none of png, svg, pdf, html.
        RunError: The file cannot be written.
    """
    check_target(out)
    suffix = out.suffix.lower()
    content = chart.html().encode() if suffix == HTML else encode(chart, suffix.removeprefix("."))
    with staged_file(out) as stage:
        stage.write_bytes(content)


def words(chart: Figure) -> str:
    """Title and caption of a figure, for whoever cannot see it."""
    said = {text.get_gid(): text.get_text() for text in chart.texts}
    return " ".join(f"{said['title']}. {said['caption']}".split())
