"""Help: of farweb the verbs by purpose, of a group or a verb a screen. `--help-all` has every word."""

import re
import textwrap
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from farweb.text.sheet import Sheet, to_lines
from farweb.text.words import plural

NAMES = ("--help", "-h", "--help-all")

VERBS = """\
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

_KINDS = {"int": "N", "integer": "N", "float": "NUMBER"}  # of values, as the parser calls them
_WIDTH = 80
_OPTIONS_MAX = 12
_EXAMPLES_MAX = 2
_COMMON = {"force", "as_json", "quiet", "debug"}


class Verb(TyperCommand):
    """A verb with a screen as its help: usage, purpose, two examples, its first options."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, in full where `--help-all` asked for it."""
        if ctx.find_root().obj == NAMES[-1]:
            super().format_help(ctx, formatter)
            return
        arguments = [_metavar(each) for each in self.params if isinstance(each, TyperArgument)]
        about, _, rest = (self.help or "").partition("\n\n")
        examples = [line.strip() for line in rest.splitlines() if line.strip().startswith("farweb ")]
        options = [each for each in self.params if isinstance(each, TyperOption) and not each.hidden]
        own = [each for each in options if each.name not in _COMMON]
        names = [f"  {_named(each)}" for each in own[:_OPTIONS_MAX]]
        room = _WIDTH - max(map(len, names), default=0) - 2
        rows = [[name, _shortened(each.help or "", room)] for name, each in zip(names, own, strict=False)]
        common = ", ".join(each.opts[0] for each in options if each.name in _COMMON)
        left = len(own) - len(rows)
        more = f"{plural(left, 'more option')} and all words: --help-all" if left else "--help-all"
        lines = [
            " ".join([ctx.command_path, *arguments, "[options]"]),
            _about(about),
            "",
            *map(_example, examples[:_EXAMPLES_MAX]),
            "",
            *(to_lines(Sheet("", ["", ""], rows), _WIDTH)[1:] if rows else []),
            f"  {common}; {more}",
            *([""] if self.epilog else []),
            *textwrap.wrap(self.epilog or "", _WIDTH, break_on_hyphens=False),
        ]
        formatter.write("\n".join(lines))


class Group(TyperGroup):
    """A group with a line for each of its verbs as its help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: how to call a verb, and the purpose of each."""
        names = sorted(self.commands)
        room = _WIDTH - max(map(len, names)) - 4
        rows = [[f"  {name}", _shortened(self.commands[name].help or "", room)] for name in names]
        call = f"{ctx.command_path} VERB"
        shown = to_lines(Sheet("", ["", ""], rows), _WIDTH)
        formatter.write("\n".join([f"{call} [options]", _about(self.help or ""), *shown, "", f"  {call} --help"]))


def _about(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _example(command: str) -> str:
    """A command, continued before an option where it is wider than a screen."""
    lines = [" "]
    for part in re.split(" (?=--)", command):
        if len(lines[-1]) + len(part) + len("  \\") > _WIDTH:
            lines.append("   ")
        lines[-1] += f" {part}"
    return " \\\n".join(lines)


def _metavar(parameter: Any) -> str:
    name = str(parameter.metavar or parameter.name.upper())
    return name if parameter.required else f"[{name}]"


def _named(option: Any) -> str:
    """The shorter name of an option first, and its metavar."""
    kind = option.type.name.partition(" ")[0]
    takes = "" if option.is_flag or option.count else f" {option.metavar or _KINDS.get(kind, kind.upper())}"
    return ", ".join(sorted(option.opts, key=len)) + takes


def _shortened(text: str, room: int) -> str:
    """The first clause of a text, as much of it as a line has room for."""
    clause = " ".join(text.split()).partition("; ")[0].partition(". ")[0].rstrip(".")
    return textwrap.shorten(clause, room, placeholder=" …")
