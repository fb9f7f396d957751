"""Help: of farweb the verbs by purpose, of a group or a verb a screen. `--help-all` has every word of a verb."""

import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.cli.output import columns
from farweb.text.sheet import Sheet, to_lines
from farweb.text.words import plural

if TYPE_CHECKING:
    from farweb.cli.signature import Option

PURPOSES = """\
farweb: what will the web feel like over this path?

start   demo     a small log over a cable and over a satellite
        new      write a scenario for your log and a kind of path
run     check    can the path carry the load? (no simulation)
        run      simulate a scenario
        show     the answer of a run or a sweep
decide  compare  which run is better, for whom, why
        size     how much is enough
        page     a page that a browser recorded (HAR), over other paths
        what-if  what to change first: protocols, TLS, windows, an edge
        sweep    many settings and seeds
tell    plot, report, sql, export, studio (in a browser tab)
logs    workload import, stats, cache, fit, generate, merge, probe
more    verify, reproduce, schema            farweb VERB --help
"""

_WIDTH = 80
_LINES = 24
_EXAMPLES_MAX = 2
_COMMON = ("force", "json", "quiet", "debug")


def show(called: str, docstring: str, options: "Sequence[Option]", foot: str, *, is_whole: bool) -> None:
    """Print the help of a verb: usage, purpose, examples and options, on a screen or with all words.

    Args:
        called: The command, as it is typed.
        docstring: Of its function.
        options: And arguments, in their order.
        foot: Last lines.
        is_whole: True for all words.
    """
    last = ["", *textwrap.wrap(foot, _WIDTH, break_on_hyphens=False)] if foot else []
    lines = (_whole if is_whole else _brief)(called, docstring, options, len(last))
    sys.stdout.write("\n".join([*lines, *last]) + "\n")


def show_group(called: str, about: str, docstrings: Mapping[str, str]) -> None:
    """Print the help of a group: the call of a verb, and the purpose of each by its docstring."""
    room = _WIDTH - max(map(len, docstrings)) - 4
    rows = [[f"  {name}", _shortened(_parts(docstrings[name])[0], room)] for name in sorted(docstrings)]
    lines = [f"{called} VERB [options]", *_filled(about), *to_lines(Sheet("", ["", ""], rows), _WIDTH)]
    sys.stdout.write("\n".join([*lines, "", f"  {called} VERB --help"]) + "\n")


def _brief(called: str, docstring: str, options: "Sequence[Option]", below: int) -> list[str]:
    about, _, examples = _parts(docstring)
    commands = "\n".join(_example(" ".join(each.split())) for each in examples[:_EXAMPLES_MAX]).splitlines()
    ahead = [_usage(called, options), *_filled(about), "", *commands, ""]
    own = [each for each in options if each.names and each.name not in _COMMON]
    shown = own[: _LINES - len(ahead) - below - 1]
    names = [f"  {_named(each)}" for each in shown]
    room = _WIDTH - max(map(len, names), default=0) - 2
    rows = [[name, _shortened(each.meaning, room)] for name, each in zip(names, shown, strict=True)]
    common = ", ".join(each.names[0] for each in options if each.name in _COMMON)
    left = len(own) - len(shown)
    more = f"{plural(left, 'more option')} and all words: --help-all" if left else "--help-all"
    return [*ahead, *(to_lines(Sheet("", ["", ""], rows), _WIDTH)[1:] if rows else []), f"  {common}; {more}"]


def _whole(called: str, docstring: str, options: "Sequence[Option]", _: int) -> list[str]:
    about, rest, examples = _parts(docstring)
    commands = [line for each in examples for part in each.splitlines() for line in _filled(part, width=columns())]
    paragraphs = [line for paragraph in (about, *rest) for line in ("", *_filled(paragraph))]
    words = [line for each in options for line in (f"  {_named(each)}", *_filled(_told(each), "      "))]
    return [f"Usage: {_usage(called, options)}", *paragraphs, "", *commands, "", *words]


def _parts(docstring: str) -> tuple[str, list[str], list[str]]:
    """First sentence of a docstring, the further paragraphs, and the commands below Examples."""
    words, _, below = re.sub(r"\nArgs:\n(?: .*\n|\n(?= ))*", "", docstring).partition("\nExamples:\n")
    about, *rest = [" ".join(each.split()) for each in words.split("\n\n") if each.strip()]
    return about, rest, [each.strip() for each in below.split("\n\n") if each.strip()]


def _usage(called: str, options: "Iterable[Option]") -> str:
    arguments = [each.metavar if each.is_required else f"[{each.metavar}]" for each in options if not each.names]
    return " ".join([called, *arguments, "[options]"])


def _named(option: "Option") -> str:
    """The shorter name of an option first, and its metavar."""
    return " ".join([", ".join(sorted(option.names, key=len)), option.metavar]).strip()


def _told(option: "Option") -> str:
    """The words on an option, and its value where it is left out, if they do not tell that."""
    value, words = option.default, option.meaning
    is_told = (
        value == "" or option.kind is bool or "default" in words or not isinstance(value, str | int | float | Path)
    )
    return words if is_told else f"{words.removesuffix('.')} (default: {value})."


def _filled(text: str, indent: str = "  ", width: int = _WIDTH) -> Sequence[str]:
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _example(command: str) -> str:
    """A command, continued before an option where it is wider than a screen."""
    lines = [" "]
    for part in re.split(" (?=--)", command):
        if len(lines[-1]) + len(part) + len("  \\") > _WIDTH:
            lines.append("   ")
        lines[-1] += f" {part}"
    return " \\\n".join(lines)


def _shortened(text: str, room: int) -> str:
    """The first clause of a text, as much of it as a line has room for."""
    clause = " ".join(text.split()).partition("; ")[0].partition(". ")[0].rstrip(".")
    return textwrap.shorten(clause, room, placeholder=" …", break_on_hyphens=False)
