"""Lays out small tables for people, on a terminal and in a notebook."""

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from html import escape
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.text.words import elided, folded, shortened, shortened_head, visible, wrapped

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(frozen=True)
class Sheet:
    """A table of texts.

    Attributes:
        title: Its heading.
        header: A text a column.
        rows: As many texts as columns, numbers with their units. A text may have several lines.
        names: How many first columns name the subject of a row. The others are numbers.
        is_whole: True where these are values, which are never cut.
        spare: Columns that are left out, in this order, where a line has no room for all.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    is_whole: bool = False
    spare: Sequence[int] = ()


_TEXT_MAX = 400  # letters of the longest line of a cell that is shown whole (chosen)


def _bounded(sheet: Sheet) -> Sheet:
    """A table with cells short enough to read: a name may have thousands of letters."""

    def bounded(cell: str) -> str:
        return "\n".join(elided(line, _TEXT_MAX) for line in cell.split("\n"))

    rows = [[bounded(cell) for cell in row] for row in sheet.rows]
    return replace(sheet, title=bounded(sheet.title), header=[bounded(cell) for cell in sheet.header], rows=rows)


_VERDICT = re.compile(r"(?:slightly )?(better|worse)(?:: [a-z]+ \d+ %)?")

_COLOURS = {"better": "green", "worse": "red"}
"""Colours of verdicts on a terminal. rich omits them without colours: NO_COLOR, TERM=dumb, a pipe."""

_GUTTER = 2
_FEW = 4  # rows that are still easy to compare when they have become columns (chosen)
_NUMBER = 24  # characters of the longest number with margin and unit. Longer cells are words, and fold (chosen)


def to_lines(sheet: Sheet, width: int) -> list[str]:
    """A table as lines: names and words left, numbers right, two blanks between, or one where room is scarce.

    Names that are too long still lose their beginning, heads whole words of it. A last column without a header has
    words about its row.
    """
    lines = (zip_longest(*(cell.split("\n") for cell in row), fillvalue="") for row in sheet.rows)
    rows = [list(sheet.header), *map(list, chain.from_iterable(lines))]
    has_words = not sheet.header[-1]
    most = [max(len(row[place]) for row in rows) for place in range(len(sheet.header))]
    gap = _GUTTER if sum(most) + _GUTTER * (len(most) - 1) <= width else 1
    over = sum(most) + gap * (len(most) - 1) - width
    for place in range(0 if sheet.is_whole else sheet.names):
        if over > 0:
            numbers = (len(row[place]) for row in rows if row[place][:1].isdigit())
            head = shortened_head(rows[0][place], 0)
            kept = min(most[place], max(most[place] - over, _SHORTEST, len(head), *numbers))
            over -= most[place] - kept
            most[place] = kept
            rows[0][place] = shortened_head(rows[0][place], kept)
            for row in rows[1:]:
                row[place] = shortened(row[place], kept)
    is_left = [place < sheet.names or (has_words and place == len(most) - 1) for place in range(len(most))]
    return [
        (gap * " ")
        .join(
            cell.ljust(size) if left else cell.rjust(size) for cell, size, left in zip(row, most, is_left, strict=True)
        )
        .rstrip()
        for row in rows
    ]


def _fitted(sheet: Sheet, width: int) -> list[str]:
    """A table as lines that fit: last sentences fold, or sides change, or it comes in parts that name their rows."""

    def fits(part: Sheet) -> bool:
        return max(map(len, to_lines(part, width))) <= width

    if sheet.spare and not fits(sheet):
        gone, *rest = sheet.spare
        kept = _columns(sheet, [column for column in range(len(sheet.header)) if column != gone])
        return _fitted(replace(kept, spare=[column - (column > gone) for column in rest]), width)
    last = max((len(row[-1]) for row in sheet.rows), default=0)
    if last > _NUMBER and max(map(len, to_lines(sheet, _TEXT_MAX * len(sheet.header)))) > width:
        return _folded(sheet, width)
    if fits(sheet):
        return to_lines(sheet, width)
    if len(sheet.rows) <= _FEW and fits(_transposed(sheet)):
        return to_lines(_transposed(sheet), width)
    names = list(range(sheet.names))
    parts = [list(names)]
    for column in range(sheet.names, len(sheet.header)):
        if parts[-1] != names and not fits(_columns(sheet, [*parts[-1], column])):
            parts.append(list(names))
        parts[-1].append(column)
    return [line for part in parts for line in ("", *to_lines(_columns(sheet, part), width))][1:]


def _folded(sheet: Sheet, width: int) -> list[str]:
    """A table with sentences in its last column, continued below their beginning or below the row."""
    before = to_lines(_columns(sheet, range(len(sheet.header) - 1)), width)
    words = [sheet.header[-1]]
    for row in sheet.rows:  # a row has as many lines as the longest of its cells
        words += [row[-1], *[""] * max(cell.count("\n") for cell in row[:-1])]
    indent = max(map(len, before)) + _GUTTER
    beside = indent <= width - _NUMBER
    lines = []
    for line, word in zip(before, words, strict=True):
        indented = indent * " " if beside else _GUTTER * " "
        text = "\n".join(wrapped(word, width, initial_indent=indented, subsequent_indent=indented))
        lines += f"{line}{text[len(line) :]}".split("\n") if beside else [line, *text.split("\n")]
    return lines


def _columns(sheet: Sheet, places: Sequence[int]) -> Sheet:
    header = [sheet.header[place] for place in places]
    rows = [[row[place] for place in places] for row in sheet.rows]
    return Sheet("", header, rows, min(sheet.names, len(places)), sheet.is_whole)


def _transposed(sheet: Sheet) -> Sheet:
    """The same table with a row for each column of numbers."""
    names = [", ".join(row[: sheet.names]) for row in sheet.rows]
    columns = range(sheet.names, len(sheet.header))
    rows = [[sheet.header[column], *(row[column] for row in sheet.rows)] for column in columns]
    return Sheet(sheet.title, [", ".join(sheet.header[: sheet.names]), *names], rows)


_SHORTEST = 8  # letters of a name that are left. Chosen: less is no name


Part = Sheet | str | tuple[Sheet, ...]
"""A part of a screen: a table, a line, an empty one, or tables behind an empty line."""


@dataclass(frozen=True)
class Screen:
    """Lines and tables, one below the other, with one empty line at most between two."""

    parts: Sequence[Part]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.text import Text

        is_apart = is_begun = False
        parts: Iterable[Sheet | str] = chain.from_iterable(
            ("", *part) if isinstance(part, tuple) else (part,) for part in self.parts
        )
        for part in parts:
            is_apart |= not part or (isinstance(part, Sheet) and bool(part.title))
            if not part:
                continue
            if is_apart and is_begun:
                yield ""
            is_apart, is_begun = False, True
            if isinstance(part, str):
                yield Text(folded(part, options.max_width), style="yellow" if part.startswith("warning: ") else "")
                continue
            if part.title:
                yield Text(textwrap.fill(part.title, options.max_width))
            lines = _fitted(_bounded(part), options.max_width)
            table = Text("\n".join(lines if any(part.header) else lines[1:]), no_wrap=True, overflow="ignore")
            for word, colour in _COLOURS.items():
                table.highlight_regex(rf"(?m)(?<=  )(slightly )?{word}(: [a-z]+ \d+ %)?(?=  |$)", colour)
            yield table

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape(part)}</p>" if isinstance(part, str) else to_html([part] if isinstance(part, Sheet) else part)
            for part in self.parts
            if part
        )


def to_json(value: Any) -> Any:
    """Plain values with None in place of what is infinite: JSON has no infinity. Objects are as `to_dict` says."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return to_object(value)
    if isinstance(value, list | tuple):
        return [to_json(each) for each in value]
    if isinstance(value, Path):
        return str(value)
    return None if isinstance(value, float) and math.isinf(value) else value


def to_object(values: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values by name, as `to_json` has them."""
    return {name: to_json(each) for name, each in values.items()}


_PRINTED = 80  # columns of a screen as text


class Shown:
    """Object that a terminal, a notebook and `print` show as its screen."""

    def screen(self) -> Screen:
        """Lines and tables for people."""
        return Screen(list(self._parts()))

    def _parts(self) -> Iterable[Part]:
        """Parts of the screen. A class has these, or a screen of its own."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return to_object(vars(self))

    def __rich__(self) -> Screen:
        return self.screen()

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=_PRINTED, color_system=None)
        with console.capture() as shown:
            console.print(self.screen())
        return visible(shown.get().rstrip("\n"))

    def _repr_html_(self) -> str:
        return self.screen()._repr_html_()


def to_html(sheets: Iterable[Sheet]) -> str:
    """The tables one below the other, for a notebook."""
    return "".join(_html(_bounded(sheet)) for sheet in sheets)


def _html(sheet: Sheet) -> str:
    cells = "".join(_head(cell, position < sheet.names) for position, cell in enumerate(sheet.header))
    head = f"<thead><tr>{cells}</tr></thead>" if any(sheet.header) else ""
    body = "".join(f"<tr>{_row(row, sheet)}</tr>" for row in sheet.rows)
    caption = f"<caption>{escape(sheet.title)}</caption>" if sheet.title else ""
    return f"<table>{caption}{head}<tbody>{body}</tbody></table>"


def _head(cell: str, is_name: bool) -> str:
    look = ' class="name"' if is_name else ""
    return f'<th scope="col"{look}>{escape(cell)}</th>' if cell else f"<td{look}></td>"


def _row(row: Sequence[str], sheet: Sheet) -> str:
    """Cells that name the row are its headers: whoever has it read aloud hears them with each number.

    A number has the head of its column with it, for layouts without columns.
    """
    names = "".join(f'<th scope="row" class="name">{escape(cell)}</th>' for cell in row[: sheet.names])
    heads = (f' data-head="{escape(head)}"' if head else "" for head in sheet.header[sheet.names :])
    cells = zip(row[sheet.names :], heads, strict=True)
    return names + "".join(f"<td{head}{_look(cell)}>{_lines(cell)}</td>" for cell, head in cells)


def _look(cell: str) -> str:
    found = _VERDICT.fullmatch(cell)
    return f' class="{found[1]}"' if found else ""


def _lines(cell: str) -> str:
    """A cell, with small print for the lines below its number."""
    first, *below = escape(cell).split("\n")
    return first + "".join(f"<br><small>{line}</small>" for line in below)
