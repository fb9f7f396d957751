"""Small tables for people: the same rows on a terminal and in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


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
    """The tables one below the other, for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    tables = []
    for sheet in sheets:
        table = Table(title=Text(sheet.title), title_justify="left", title_style="bold", header_style="")
        for position, column in enumerate(sheet.header):
            table.add_column(column, justify="left" if position < sheet.names else "right")
        for row in sheet.rows:
            table.add_row(*map(Text, row))
        tables.append(table)
    return Group(*tables)


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
