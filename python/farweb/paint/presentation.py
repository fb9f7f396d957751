"""Presentation of figures: size, title, caption and names, the same for every figure. The data stay."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from farweb.errors import FarwebError
from farweb.paint.figure import AROUND, Axis, Figure, Panel
from farweb.text.words import elided, nearest, visible

INCHES = {"in": 1.0, "cm": 1 / 2.54}
SMALLEST, LARGEST = 2.0, 40.0
"""Inches between which a figure can be high and wide. Chosen: a caption fits into the one, and no printer has more than
the other."""


@dataclass(frozen=True)
class Presentation:
    """Choices of how a figure is presented, where it is other than usual.

    Attributes:
        width: In inches. None: the figure's.
        height: In inches, title and caption included. None: the figure's, with room for long captions.
        title: True when the title is written.
        caption: True when the caption is written.
        labels: New names of curves, panels, levels, axes and lines, by the old ones.
    """

    width: float | None = None
    height: float | None = None
    title: bool = True
    caption: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)

    def of(self, figure: Figure) -> Figure:
        """The figure as it is to be presented.

        Raises:
            FarwebError: It has no such label.
        """
        known = sorted(set(labels_of(figure)))
        for old in self.labels:
            if old not in known:
                raise FarwebError(f"label: nothing is called {old!r}{_near(old, known)}; labels: {', '.join(known)}")
        width, height = figure.size
        if self.width is not None and self.height is None:
            # Names of levels are no lower than their letters.
            least = (
                replace(figure, size=(self.width, height)).letters
                if any(panel.y.levels for panel in figure.panels)
                else 0.0
            )
            part = min(1.0, max(self.width / width, least))
            height = max(SMALLEST, AROUND + (height - AROUND) * part)
        figure = _renamed(figure, lambda label: self.labels.get(label, label))
        return replace(
            figure,
            title=figure.title if self.title else "",
            caption=figure.caption if self.caption else "",
            size=(width if self.width is None else self.width, height if self.height is None else self.height),
            exact=self.height is not None,
        )


_NAME_MAX, _TITLE_MAX, _CAPTION_MAX = 80, 160, 5000
"""Letters of the longest line of a name, of a title and a caption. Chosen: few of ours have half of that."""


def within_bounds(figure: Figure) -> Figure:
    """The figure with no text too long to be drawn, and none that reverses the letters of its neighbours."""
    return replace(
        _renamed(figure, lambda label: "\n".join(elided(visible(line), _NAME_MAX) for line in label.split("\n"))),
        title=elided(visible(figure.title), _TITLE_MAX),
        caption=elided(visible(figure.caption), _CAPTION_MAX),
    )


def inches(text: str) -> float:
    """A length with its unit, ``5.5in`` or ``14 cm``, in inches.

    Raises:
        FarwebError: No number, no unit, or out of range.
    """
    number, unit = text.strip(), ""
    for each in INCHES:
        if number.endswith(each):
            number, unit = number.removesuffix(each).strip(), each
    try:
        length = float(number) * INCHES[unit]
    except (ValueError, KeyError):
        raise FarwebError(f"{text}: write a length with its unit, for example 8in or 20cm") from None
    if not SMALLEST <= length <= LARGEST:
        raise FarwebError(
            f"{text}: a figure is {SMALLEST:g} to {LARGEST:g} in wide and high ({SMALLEST * 2.54:g} cm up)"
        )
    return length


def renaming(text: str) -> tuple[str, str]:
    """The old and the new name in ``old=new``; the old one may have ``=`` in it, the new one not.

    Raises:
        FarwebError: It is not of this form.
    """
    old, equals, new = text.rpartition("=")
    if not equals or not old.strip():
        raise FarwebError(f'label {text}: write OLD=NEW, for example "cable=sea cable"')
    return old.strip(), new.strip()


def labels_of(figure: Figure) -> Iterator[str]:
    """Names of all that has one in a figure."""
    yield from filter(None, [figure.legend])
    for panel in figure.panels:
        yield from filter(None, [panel.title, panel.x.quantity, panel.y.quantity])
        yield from (level.strip() for axis in (panel.x, panel.y) for level in axis.levels)
        for named in (panel.series, panel.references, panel.phases):
            yield from (each.label for each in named if each.label)


def _renamed(figure: Figure, name: Callable[[str], str]) -> Figure:
    return replace(
        figure, legend=name(figure.legend), panels=tuple(_renamed_panel(panel, name) for panel in figure.panels)
    )


def _renamed_panel(panel: Panel, name: Callable[[str], str]) -> Panel:
    def axis(of: Axis) -> Axis:
        levels = tuple(level.replace(level.strip(), name(level.strip())) for level in of.levels)
        return replace(of, quantity=name(of.quantity), levels=levels)

    return replace(
        panel,
        title=name(panel.title),
        x=axis(panel.x),
        y=axis(panel.y),
        series=tuple(replace(each, label=name(each.label)) for each in panel.series),
        references=tuple(replace(each, label=name(each.label)) for each in panel.references),
        phases=tuple(replace(each, label=name(each.label)) for each in panel.phases),
        inset=None if panel.inset is None else _renamed_panel(panel.inset, name),
    )


def _near(name: str, names: list[str]) -> str:
    return f"; {near!r}?" if (near := nearest(name, names)) else ""
