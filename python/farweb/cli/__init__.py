"""The command `farweb`: collects the verbs, runs one, and turns its errors into messages and exit codes.

Each group of verbs has a file, imported for the first of its verbs. A verb imports its own needs in its body.

Exit codes: 0 done, 2 usage or scenario error, 3 a run failed or answered nothing, 4 a target or a claim not met, 130
interrupted.
"""

import functools
import importlib
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from farweb.cli.failure import INTERRUPTED, check_names, ended_by
from farweb.cli.help import NAMES, VERBS, Verb
from farweb.cli.options import help_alone
from farweb.cli.streams import open_standard_streams
from farweb.text.words import nearest, visible

_FILES = {
    "demo": "demo",
    "new": "new",
    "check": "runs",
    "run": "runs",
    "sweep": "sweeps",
    "size": "size",
    "page": "page",
    "what-if": "what_if",
    "studio": "studio",
    "show": "runs",
    "compare": "compare",
    "plot": "figures",
    "report": "report",
    "sql": "sql",
    "verify": "verify",
    "reproduce": "reproduce",
    "export": "export",
    "workload": "workload",
    "schema": "schema",
}  # of `farweb.cli`, by verb or group of verbs, in the order of the help
_NEAR = 0.75  # of the letters of a verb that are right. Chosen: one of four may be wrong


class _Verbs(TyperGroup):
    """The verbs, each loaded on demand, with a hint for names known in the field that farweb lacks."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - of the parser
        """Names of all verbs."""
        return list(_FILES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - of the parser
        """The verb of a name, or the group, or None without one."""
        if cmd_name in _FILES and cmd_name not in self.commands:
            self.commands[cmd_name] = _loaded(cmd_name)
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs by purpose."""
        if ctx.obj == NAMES[-1]:
            super().format_help(ctx, formatter)
        else:
            formatter.write(VERBS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that the first argument names."""
        if args[0] not in _FILES:
            for name in _FILES:
                self.get_command(ctx, name)
        try:
            return super().resolve_command(ctx, args)
        except TyperException as error:
            from farweb import _core

            nested = {
                verb: f"farweb {name} {verb}"
                for name, group in self.commands.items()
                if isinstance(group, TyperGroup)
                for verb in group.commands
            }
            is_near = "Did you mean" in error.message
            if sentence := _core.absent(args[0]):
                error.message = f"{error.message.rstrip('.')}: {sentence}"
            elif near := nearest(args[0], nested, 1 if is_near else _NEAR):
                error.message = f"No such command '{args[0]}'. Did you mean '{nested[near]}'?"
            raise


app = typer.Typer(
    name="farweb",
    cls=_Verbs,
    help="What will the web feel like over this path? Simulates web traffic, packet by packet, over long paths.",
    invoke_without_command=True,
    context_settings={"help_option_names": list(NAMES)},  # of every verb
    pretty_exceptions_enable=False,  # main() decides on the look of errors
    rich_markup_mode="markdown",
)


def _loaded(name: str) -> Any:
    """Import the file of a verb or of a group, and build what parses its arguments."""
    file = importlib.import_module(f"{__name__}.{_FILES[name]}")
    if (verbs := getattr(file, "app", None)) is None:
        verbs = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        verbs.command(cls=getattr(file, "Command", Verb))(getattr(file, name.replace("-", "_")))
    return typer.main.get_command(verbs)


def _show_version(wanted: bool) -> None:
    if wanted:
        from farweb import __version__

        sys.stdout.write(f"farweb {__version__}\n")
        raise typer.Exit


@app.callback()
def _farweb(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    del version  # the callback has answered
    help_alone(context)


@functools.cache
def _command() -> Any:
    """The verbs as the parser has them, built once in a process."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str]) -> int:
    """Run the command with `arguments` (without the program's name) and return its exit code."""
    logging.getLogger("farweb").setLevel(logging.DEBUG if "--debug" in arguments else logging.NOTSET)
    try:
        check_names(arguments)
        asked = NAMES[-1] if NAMES[-1] in arguments else None
        code = _command()(list(arguments), prog_name="farweb", standalone_mode=False, obj=asked)
        sys.stdout.flush()
    except BaseException as error:
        if "--debug" in arguments and not isinstance(error, TyperException | SystemExit):
            traceback.print_exc()
        return _fail(*ended_by(error, arguments))
    if code == INTERRUPTED[1]:  # click's code for Ctrl-C
        return _fail(*INTERRUPTED)
    return code if isinstance(code, int) else 0


def script() -> None:
    """Run the command of this process and end it, for `farweb.__main__`."""
    open_standard_streams()
    sys.exit(main(sys.argv[1:]))


def _fail(message: str, code: int) -> int:
    # Several problems are lines of their own, which begin with the place in the file.
    shown = visible(message)
    sys.stderr.write(f"{shown}\n" if "\n" in shown else f"farweb: {shown}\n")
    return code
