"""What keeps a figure from being read: texts on others, beyond its edges or too small, axes without two marks."""

import itertools

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.text import Text

from farweb.paint.chart import Chart, encode

SMALLEST = 5.0  # points


def flaws(chart: Chart) -> list[str]:
    """The flaws of a figure as it is written to a file, in words."""
    encode(chart, "png")
    every = list(chart.findobj(Axes))
    marks = {axis: _marks(axis) for axes in every for axis in (axes.xaxis, axes.yaxis)}
    ticks = {tick for axis in marks for each in (axis.majorTicks, axis.minorTicks) for tick in each}
    of_ticks = {text for tick in ticks for text in (tick.label1, tick.label2)}
    texts = [text for text in chart.findobj(Text) if text not in of_ticks and text.get_visible()]
    texts = [text for text in (*texts, *itertools.chain(*marks.values())) if text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    found = [f"{a!r} on {b!r}" for (a, one), (b, other) in itertools.combinations(boxes, 2) if one.overlaps(other)]
    width, height = chart.bbox.width, chart.bbox.height
    found += [
        f"{text!r} cut"
        for text, box in boxes
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]
    found += [f"{text.get_text()!r} small" for text in texts if float(text.get_fontsize()) < SMALLEST]
    for axes in every:
        for axis in (axes.xaxis, axes.yaxis):
            if (
                axes.get_visible()
                and axis.get_tick_params().get(_WRITTEN[axis.axis_name], True)
                and len(marks[axis]) < 2
            ):
                found.append(f"{len(marks[axis])} marks along {axis.get_label_text()!r} of {axes.get_title('left')!r}")
    return found


_WRITTEN = {"x": "labelbottom", "y": "labelleft"}


def _marks(axis: Axis) -> list[Text]:
    """The labels of an axis in view."""
    low, high = np.sort(axis.get_view_interval())
    inside = [low <= place <= high for place in axis.get_majorticklocs()]
    shown = [tick.label1 for tick, is_there in zip(axis.get_major_ticks(), inside, strict=False) if is_there]
    return [label for label in shown if label.get_visible() and label.get_text()]
