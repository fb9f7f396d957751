"""Charts: matplotlib figures with title, legend and caption around the axes, and how they are written to files.

Nothing here changes matplotlib's global state: a figure is built and saved inside `look()`, on a canvas of its own and
without pyplot, so it needs no display and leaves an open notebook or script as it was.
"""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

# isort: split

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from farweb.errors import FarwebError
from farweb.files.atomic import staged_file
from farweb.files.made import HTML, SUFFIXES
from farweb.paint import page
from farweb.paint.figure import AROUND
from farweb.paint.figure import Figure as Description
from farweb.paint.letters import DPI, FONT, TEXT, points, wrapped
from farweb.paint.style import INK, QUIET
from farweb.text.words import listed

# Any: matplotlib types the keys, differently from version to version.
_RC: Any = {
    "font.family": [FONT],
    "text.color": INK,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
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
    "figure.dpi": DPI,  # laid out as it is saved
    "text.parse_math": False,  # a name may have dollar signs
    "svg.fonttype": "none",  # text stays text: small, searchable, read aloud
    "pdf.fonttype": 42,  # the same: letters as TrueType, which publishers ask for, and not as drawings
    "svg.hashsalt": "farweb",  # ids inside an SVG are the same for the same figure
    "path.simplify": True,
    "agg.path.chunksize": 20000,
}

_VECTORS = 400_000  # bytes of a page's picture; chosen: its values are as many again
_DENSE = 500  # points of a line or of marks that may become pixels. Chosen: 2 pixels apart across a page
_COLUMNS_MAX = 8  # of a legend. Chosen: as many as a panel has series
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
        drawn: The part of it that its size has room for.
        left_out: Parts that its size has no room for, in words.
    """

    description: Description
    drawn: Description
    left_out: Sequence[str] = ()

    @property
    def shortage(self) -> str:
        """What its size has no room for, in a sentence, or nothing."""
        return f"no room for {listed([*self.left_out])}" if self.left_out else ""

    def _repr_png_(self) -> bytes:
        return encode(self, "png")

    def html(self) -> str:
        """A page with the figure and its values under the pointer, below 1 MB; refers to nothing outside.

        Where lines and marks alone would be more than that, the dense ones are pixels.
        """
        painted = replace(self.description, panels=self.drawn.panels)
        picture = encode(self, "svg")
        if len(picture) > _VECTORS:
            with _pixels(self):
                picture = encode(self, "svg")
        return page.page(painted, self.axes, picture.decode())


@contextmanager
def _pixels(chart: Figure) -> Iterator[None]:
    """Draw what has many points as pixels, as long as the block lasts."""
    dense = chart.findobj(lambda artist: _points(artist) > _DENSE)
    for artist in dense:
        artist.set_rasterized(True)
    try:
        yield
    finally:
        for artist in dense:
            artist.set_rasterized(False)


def _points(artist: Artist) -> int:
    match artist:
        case Line2D():
            return int(np.shape(artist.get_xydata())[0])
        case Collection():
            vertices = sum(int(np.shape(path.vertices)[0]) for path in artist.get_paths())
            return max(int(np.shape(artist.get_offsets())[0]), vertices)
        case _:
            return 0


@contextmanager
def look(letters: float = 1.0) -> Iterator[None]:
    """Set farweb's look for as long as the block lasts.

    Args:
        letters: Height of letters by the usual one (`farweb.paint.figure.Figure.letters`).
    """
    with mpl.rc_context(), warnings.catch_warnings():
        # Characters that no font here has, such as Chinese, are boxes in a picture; SVG and HTML keep the text.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        # Where names leave no room for the axes, a figure is drawn all the same.
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        mpl.rcdefaults()  # a user's matplotlibrc does not change a figure
        with mpl.rc_context({**_RC, "font.size": letters * TEXT}):
            yield


def frame(
    chart: Figure,
    title: str,
    caption: str,
    entries: Sequence[Line2D] = (),
    heading: str = "",
    *,
    exact: bool = False,
) -> list[str]:
    """Put the title and a legend above the axes and the caption below, and lay the axes out between them.

    Args:
        chart: The figure, of any size.
        title: Title; wrapped to the width. Empty: none.
        caption: Caption, with n and seed; wrapped to the width. Empty: none.
        entries: Lines of a legend of the whole figure, named by their labels; in as many columns as the width takes.
        heading: Heading above the entries.
        exact: True when the figure keeps its size and drops parts that leave too little of it for the axes.

    Returns:
        The parts that are dropped.
    """
    width, height = chart.get_size_inches()
    across = (1 - 2 * _SIDE) * width
    large, small, line = map(points, (_TITLE_POINTS, _CAPTION_POINTS, _POINTS_A_LINE))
    lines = wrapped(caption, across, small).splitlines()
    titles = wrapped(title, across, large, bold=True).splitlines()
    legend = _legend(chart, entries, heading) if entries else None
    dropped: list[str] = []

    def around() -> tuple[float, float, float]:
        """Inches of the caption, of the title, and of both with the legend."""
        foot = (len(lines) * line + 9) / 72 if lines else 4 / 72
        head = (3 + len(titles) * large * 1.75) / 72 if titles else 4 / 72
        named = legend.get_window_extent().height / chart.dpi + 4 / 72 if legend else 0
        return foot, head, 3 / 72 + head + named

    if exact:  # the caption goes first, then the title, then the legend
        cell = chart.axes[0].get_subplotspec() if chart.axes else None
        rows = cell.get_gridspec().nrows if cell else 0
        most = height - max(_PANELS * height, rows * _ROW)
        if sum(around()[::2]) > most and lines:
            lines = []
            dropped.append("caption")
        if sum(around()[::2]) > most and titles:
            titles = []
            dropped.append("title")
        if sum(around()[::2]) > most and legend:
            legend.remove()
            legend = None
            dropped.append("legend")
    below, title_height, above = around()
    if not exact:  # texts around the axes are not to take their room
        height += max(0.0, above + below - AROUND)
        chart.set_size_inches(width, height)
    foot, head = below / height, above / height
    if legend:
        legend.set_bbox_to_anchor((0.004, 1 - title_height / height))
    chart.set_layout_engine("constrained", rect=(0.005, foot, 0.985, 1 - foot - head), hspace=0.03)
    bold: dict[str, Any] = {"fontsize": large, "fontweight": "bold", "va": "top", "gid": "title"}
    chart.text(_SIDE, 1 - 7 / 72 / height, "\n".join(titles), **bold)
    quiet: dict[str, Any] = {"fontsize": small, "color": QUIET, "linespacing": 1.25, "gid": "caption"}
    chart.text(_SIDE, 5 / 72 / height, "\n".join(lines), va="bottom", **quiet)
    return dropped


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
            fontsize=points(9),
            title_fontsize=points(9),
        )
        if columns == 1 or legend.get_window_extent().width <= 0.985 * chart.bbox.width:
            break
        legend.remove()
    return legend


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
    letters = chart.description.letters if isinstance(chart, Chart) else 1.0
    with look(letters), _laid_out(chart):
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
