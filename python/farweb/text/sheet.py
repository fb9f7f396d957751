"""Lays out small tables for people, on a terminal and in a notebook."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from typing import TYPE_CHECKING

from farweb.text.words import elided

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """A table of texts.

    Attributes:
        title: Its heading.
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
    return _Terminal([_bounded(sheet) for sheet in sheets])


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
            for number, part in enumerate(_fitting(sheet, options.max_width)):
                if number:
                    yield ""
                yield _table(part, options.max_width)


_TEXT_MAX = 200  # letters of the longest line of a cell that is shown whole; chosen: ours have half of that


def _bounded(sheet: Sheet) -> Sheet:
    """A table with no text too long to be read; a name may have thousands of letters."""

    def bounded(cell: str) -> str:
        return "\n".join(elided(line, _TEXT_MAX) for line in cell.split("\n"))

    rows = [[bounded(cell) for cell in row] for row in sheet.rows]
    return Sheet(bounded(sheet.title), [bounded(cell) for cell in sheet.header], rows, sheet.names)


_GUTTER = 2
_FEW = 4  # rows that are still easy to compare when they have become columns; chosen
_NUMBER = 24  # characters of the longest number with margin and unit; what is longer is words, and folds; chosen


def _fitting(sheet: Sheet, width: int) -> list[Sheet]:
    """A table that is too wide with its sides changed, or in parts that name their rows again."""
    least = _least_widths(sheet)
    if _total(least) <= width:
        return [sheet]
    if len(sheet.rows) <= _FEW and _total(_least_widths(_transposed(sheet))) <= width:
        return [_transposed(sheet)]
    parts, names = [], list(range(sheet.names))
    columns = list(names)
    for column in range(sheet.names, len(sheet.header)):
        if len(columns) > len(names) and _total([least[each] for each in (*columns, column)]) > width:
            parts.append(columns)
            columns = list(names)
        columns.append(column)
    return [
        Sheet(
            "", [sheet.header[each] for each in part], [[row[each] for each in part] for row in sheet.rows], sheet.names
        )
        for part in (*parts, columns)
    ]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GUTTER * len(widths)


def _table(sheet: Sheet, width: int) -> "Table":
    """A table that folds its header and its names rather than its numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    widths = _widths(sheet, width)
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
            width=widths[position] if widths else None,
        )
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    return table


def _widths(sheet: Sheet, width: int) -> list[int]:
    """Share a width among columns: what numbers leave goes to the words that are folded most.

    Nothing where there is room for all as they are, or not even for the least.
    """
    columns = zip(sheet.header, *sheet.rows, strict=True)
    wanted = [max(len(line) for cell in column for line in cell.split("\n")) for column in columns]
    widths = _least_widths(sheet)
    spare = width - _total(widths)
    if _total(wanted) <= width or spare < 0:
        return []
    for _ in range(spare):
        most = max(range(len(widths)), key=lambda position: wanted[position] - widths[position])
        widths[most] += 1
    return widths


def _least_widths(sheet: Sheet) -> list[int]:
    """The least width of each column: headers, names and other words may be folded, numbers may not."""
    widths = []
    for position, header in enumerate(sheet.header):
        cells = [row[position] for row in sheet.rows]
        longest = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
        is_words = position < sheet.names or longest > _NUMBER
        parts = (cell.split() if is_words else cell.split("\n") for cell in cells)
        widths.append(max((len(part) for part in chain(header.split(), *parts)), default=1))
    return widths


def _transposed(sheet: Sheet) -> Sheet:
    """The same table with a row for each column of numbers."""
    names = [", ".join(row[: sheet.names]) for row in sheet.rows]
    columns = range(sheet.names, len(sheet.header))
    rows = [[sheet.header[column], *(row[column] for row in sheet.rows)] for column in columns]
    return Sheet(sheet.title, [", ".join(sheet.header[: sheet.names]), *names], rows)


def to_lines(sheet: Sheet, width: int) -> list[str]:
    """A table as lines: names and words left, numbers right, two blanks between, or one where room is scarce.

    Names that are too long still lose their beginning. A last column without a header has words about its row.
    """
    rows = [list(sheet.header), *map(list, sheet.rows)]
    has_words = not sheet.header[-1]
    most = [max(len(row[place]) for row in rows) for place in range(len(sheet.header))]
    gap = 2 if _total(most) - _GUTTER <= width else 1
    over = sum(most) + gap * (len(most) - 1) - width
    for place in range(sheet.names):
        if over > 0:
            kept = max(most[place] - over, _SHORTEST)
            over -= most[place] - kept
            most[place] = min(most[place], kept)
            for row in rows:
                row[place] = row[place] if len(row[place]) <= kept else f"…{row[place][1 - kept :]}"
    is_left = [place < sheet.names or (has_words and place == len(most) - 1) for place in range(len(most))]
    return [
        (gap * " ")
        .join(
            cell.ljust(size) if left else cell.rjust(size) for cell, size, left in zip(row, most, is_left, strict=True)
        )
        .rstrip()
        for row in rows
    ]


_SHORTEST = 8  # letters of a name that are left; chosen: less is no name


@dataclass(frozen=True)
class Screen:
    """Lines and tables without rules, one below the other."""

    parts: Sequence[Sheet | str]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.text import Text

        for part in self.parts:
            if isinstance(part, str):
                yield Text(textwrap.fill(part, options.max_width))
                continue
            title = ["", part.title] if part.title else []
            yield Text("\n".join([*title, *to_lines(part, options.max_width)]), no_wrap=True, overflow="ignore")

    def _repr_html_(self) -> str:
        return "".join(
            _html(_bounded(part)) if isinstance(part, Sheet) else f"<p>{escape(part)}</p>"
            for part in self.parts
            if part
        )


def to_html(sheets: Iterable[Sheet]) -> str:
    """The tables one below the other, for a notebook."""
    return "".join(_html(_bounded(sheet)) for sheet in sheets)


def _html(sheet: Sheet) -> str:
    cells = "".join(_head(cell, position < sheet.names) for position, cell in enumerate(sheet.header))
    head = f"<thead><tr>{cells}</tr></thead>" if any(sheet.header) else ""
    body = "".join(f"<tr>{_row(row, sheet.names)}</tr>" for row in sheet.rows)
    caption = f"<caption>{escape(sheet.title)}</caption>" if sheet.title else ""
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
