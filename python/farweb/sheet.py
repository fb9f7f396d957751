"""Small tables for people: the same rows on a terminal and in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """A table of texts.

    Attributes:
        title: What it shows.
        header: A text a column.
        rows: As many texts as columns, numbers with their units; a text may have several lines.
        names: How many columns, the first ones, name what a row is about; the others are numbers.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1


def to_rich(sheets: Iterable[Sheet]) -> "RenderableType":
    """The tables one below the other, as narrow as the terminal asks for."""
    return _Terminal(list(sheets))


@dataclass(frozen=True)
class _Terminal:
    """Tables laid out when the width of the terminal is known."""

    sheets: Sequence[Sheet]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.text import Text

        for place, sheet in enumerate(self.sheets):
            if place:
                yield ""
            yield Text(sheet.title, "bold")
            yield _table(sheet, options.max_width)


_GUTTER = 2
_FEW = 4  # rows that are still easy to compare when they have become columns; chosen


def _table(sheet: Sheet, width: int) -> "Table":
    """A table that folds its header and its names rather than its numbers; of few rows, one with its sides changed."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    least = _least_widths(sheet)
    fits = sum(least) + _GUTTER * len(least) <= width
    if not fits and len(sheet.rows) <= _FEW and len(sheet.header) > _FEW:
        return _table(_transposed(sheet), width)
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, padding=(0, _GUTTER - 1, 0, 0), header_style="", show_header=any(sheet.header)
    )
    for position, column in enumerate(sheet.header):
        is_name = position < sheet.names
        table.add_column(
            Text(column),
            justify="left" if is_name else "right",
            vertical="top" if is_name else "bottom",
            overflow="fold",
            min_width=least[position] if fits else None,
        )
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return table


def _least_widths(sheet: Sheet) -> list[int]:
    """How narrow columns may be: names and headers may be folded between words, numbers may not."""
    widths = []
    for position, header in enumerate(sheet.header):
        cells = [row[position] for row in sheet.rows]
        parts = (cell.split() if position < sheet.names else cell.split("\n") for cell in cells)
        widths.append(max((len(part) for part in chain(header.split(), *parts)), default=1))
    return widths


def _transposed(sheet: Sheet) -> Sheet:
    """The same table with a row for each column of numbers."""
    names = [", ".join(row[: sheet.names]) for row in sheet.rows]
    columns = range(sheet.names, len(sheet.header))
    rows = [[sheet.header[column], *(row[column] for row in sheet.rows)] for column in columns]
    return Sheet(sheet.title, [", ".join(sheet.header[: sheet.names]), *names], rows)


def to_html(sheets: Iterable[Sheet]) -> str:
    """The tables one below the other, for a notebook."""
    return "".join(_html(sheet) for sheet in sheets)


def _html(sheet: Sheet) -> str:
    cells = "".join(_head(cell, position < sheet.names) for position, cell in enumerate(sheet.header))
    head = f"<thead><tr>{cells}</tr></thead>" if any(sheet.header) else ""
    body = "".join(f"<tr>{_row(row, sheet.names)}</tr>" for row in sheet.rows)
    caption = f"<caption>{escape(sheet.title)}</caption>"
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


def _head(cell: str, is_name: bool) -> str:
    look = ' class="name"' if is_name else ""
    return f'<th scope="col"{look}>{escape(cell)}</th>' if cell else f"<td{look}></td>"


def _row(row: Sequence[str], names: int) -> str:
    """Cells that name the row are its headers: whoever has it read aloud hears them with each number."""
    heads = "".join(f'<th scope="row" class="name">{escape(cell)}</th>' for cell in row[:names])
    return heads + "".join(f"<td>{_lines(cell)}</td>" for cell in row[names:])


def _lines(cell: str) -> str:
    """A cell; what is on lines of its own, below the number, is small."""
    first, *below = escape(cell).split("\n")
    return first + "".join(f"<br><small>{line}</small>" for line in below)
