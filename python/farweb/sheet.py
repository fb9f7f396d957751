"""Small tables for people: the same rows on a terminal and in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Sheet:
    """A table of texts; the first column names what a row is about, the others are numbers with their units."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def to_rich(sheets: Iterable[Sheet]) -> "RenderableType":
    """The tables one below the other, for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    tables = []
    for sheet in sheets:
        table = Table(title=Text(sheet.title), title_justify="left", title_style="bold", header_style="")
        for position, column in enumerate(sheet.header):
            table.add_column(column, justify="left" if position == 0 else "right")
        for row in sheet.rows:
            table.add_row(*map(Text, row))
        tables.append(table)
    return Group(*tables)


def to_html(sheets: Iterable[Sheet]) -> str:
    """The tables one below the other, for a notebook."""
    return "".join(_html(sheet) for sheet in sheets)


def _html(sheet: Sheet) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in sheet.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in sheet.rows)
    caption = f"<caption>{escape(sheet.title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
