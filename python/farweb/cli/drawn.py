"""Options of a figure, for each verb that draws one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from farweb.paint.chart import Chart
    from farweb.paint.presentation import Presentation


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The look of a figure.

    Attributes:
        width: Width of the figure, in inches or centimetres: 8in, 20cm.
        height: Height of the figure, in inches or centimetres (default: as high as it needs to be).
        no_title: Write no title.
        no_caption: Write no caption.
        label: Another name for a curve, panel, level or axis; again for further ones.
        data: Write the numbers that are drawn, in base units, as well.
    """

    width: str | None = None
    height: str | None = None
    no_title: bool = False
    no_caption: bool = False
    label: Sequence[str] = ()
    data: Path | None = None

    def presentation(self) -> "Presentation":
        """The look as the library takes it, after a glance at the name of the file of numbers."""
        from farweb.paint import numbers
        from farweb.paint.presentation import Presentation, inches, renaming

        if self.data is not None:
            numbers.check_target(self.data)
        return Presentation(
            width=None if self.width is None else inches(self.width),
            height=None if self.height is None else inches(self.height),
            title=not self.no_title,
            caption=not self.no_caption,
            labels=dict(renaming(each) for each in self.label),
        )

    def write_numbers(self, chart: "Chart") -> dict[str, str]:
        """Write the numbers of a figure where they are asked for. Their file, for JSON."""
        from farweb.paint import numbers

        if self.data is None:
            return {}
        numbers.write(chart.description, self.data)
        return {"data": str(self.data)}
