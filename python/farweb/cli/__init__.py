"""The command `farweb`: collects the verbs, runs one, and turns its errors into messages and exit codes.

Each group of verbs has a file. A verb imports what it needs in its body, so that `farweb --help` answers at once.

Exit codes: 0 done, 2 usage or scenario error, 3 a run failed or answered nothing, 4 a target or a claim not met, 130
interrupted.
"""

import functools
import logging
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from farweb.cli import (
    compare,
    demo,
    export,
    figures,
    new,
    page,
    report,
    reproduce,
    runs,
    schema,
    size,
    sql,
    sweeps,
    verify,
    workload,
)
from farweb.cli.failure import INTERRUPTED, check_names, ended_by
from farweb.cli.help import NAMES, VERBS, Verb
from farweb.cli.options import help_alone
from farweb.cli.streams import open_standard_streams
from farweb.text.words import visible


class _Verbs(TyperGroup):
    """The verbs; says of a name that is none, but known in the field, that farweb does not have it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs by what one does with them."""
        if ctx.obj == NAMES[-1]:
            super().format_help(ctx, formatter)
        else:
            formatter.write(VERBS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb that the first argument names."""
        try:
            return super().resolve_command(ctx, args)
        except TyperException as error:
            from farweb import _core

            if sentence := _core.absent(args[0]):
                error.message = f"{error.message.rstrip('.')}: {sentence}"
            raise


app = typer.Typer(
    name="farweb",
    cls=_Verbs,
    help="What will the web feel like over this path? Simulates web traffic, packet by packet, over long paths.",
    invoke_without_command=True,
    context_settings={"help_option_names": list(NAMES)},  # of every verb
    pretty_exceptions_enable=False,  # main() decides what an error looks like
    rich_markup_mode="markdown",
)
app.command(cls=Verb)(demo.demo)
app.command(cls=Verb)(new.new)
app.command(cls=Verb)(runs.check)
app.command(cls=Verb)(runs.run)
app.command(cls=Verb)(sweeps.sweep)
app.command(cls=Verb)(size.size)
app.command(cls=Verb)(page.page)
app.command(cls=Verb)(runs.show)
app.command(cls=Verb)(compare.compare)
app.command(cls=figures.PlotCommand)(figures.plot)
app.command(cls=Verb)(report.report)
app.command(cls=Verb)(sql.sql)
app.command(cls=Verb)(verify.verify)
app.command(cls=Verb)(reproduce.reproduce)
app.add_typer(export.app, name="export")
app.add_typer(workload.app, name="workload")
app.add_typer(schema.app, name="schema")


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
    if code == INTERRUPTED[1]:  # what the library makes of Ctrl-C
        return _fail(*INTERRUPTED)
    return code if isinstance(code, int) else 0


def script() -> None:
    """Run the command of this process and end it; `farweb.__main__` is what calls it."""
    open_standard_streams()
    sys.exit(main(sys.argv[1:]))


def _fail(message: str, code: int) -> int:
    # Several problems are lines of their own, which begin with the place in the file.
    shown = visible(message)
    sys.stderr.write(f"{shown}\n" if "\n" in shown else f"farweb: {shown}\n")
    return code
