"""The command `farweb`: collects the verbs, runs one, and turns its errors into messages and exit codes.

Each group of verbs has a file. A verb imports what it needs in its body, so that `farweb --help` answers at once.

Exit codes: 0 done, 2 usage or scenario error, 3 a run failed or answered nothing, 4 a target or a claim not met, 130
interrupted.
"""

import logging
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import typer
from typer.exceptions import TyperException

from farweb.cli import (
    compare,
    demo,
    export,
    figures,
    new,
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
from farweb.cli.encoding import write_in_any_encoding
from farweb.cli.options import help_alone
from farweb.errors import FarwebError, RunError
from farweb.extras import how_to_install
from farweb.text.words import visible

_FAILED = 3
_INTERRUPTED = 130

app = typer.Typer(
    name="farweb",
    help="What will the web feel like over this path? Simulates web traffic, packet by packet, over long paths.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help", "-h"]},  # of every verb
    pretty_exceptions_enable=False,  # main() decides what an error looks like
    rich_markup_mode="markdown",
)
app.command()(demo.demo)
app.command()(new.new)
app.command()(runs.check)
app.command()(runs.run)
app.command()(sweeps.sweep)
app.command()(size.size)
app.command()(runs.show)
app.command()(compare.compare)
app.command(cls=figures.PlotCommand)(figures.plot)
app.command()(report.report)
app.command()(sql.sql)
app.command()(verify.verify)
app.command()(reproduce.reproduce)
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


def main(arguments: Sequence[str]) -> int:
    """Run the command with `arguments` (without the program's name) and return its exit code."""
    logging.getLogger("farweb").setLevel(logging.DEBUG if "--debug" in arguments else logging.NOTSET)
    try:
        code = app(list(arguments), prog_name="farweb", standalone_mode=False)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        verb = context.command_path if context else "farweb"
        return _fail(f"{error.format_message()} (see {verb} --help)", error.exit_code)
    except FarwebError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        return _fail(str(error), _FAILED if isinstance(error, RunError) else 2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: a message would reach nobody
        return 0
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of the core
            raise
        if "--debug" in arguments:
            traceback.print_exc()
        if isinstance(error, ModuleNotFoundError) and (needed := how_to_install(error.name or "")):
            return _fail(f"this needs {needed}", 2)
        if message := _damage(error, arguments):
            return _fail(message, 2)
        if isinstance(error, MemoryError):
            return _fail("memory ran out", _FAILED)
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        return _fail(f"this is a bug in farweb: {what} (--debug shows where)", _FAILED)
    if code == _INTERRUPTED:  # what the library makes of Ctrl-C
        return _fail("interrupted", _INTERRUPTED)
    return code if isinstance(code, int) else 0


def _damage(error: BaseException, arguments: Sequence[str]) -> str | None:
    """Describe the damaged results that made the command fail; None when it failed for another reason."""
    from farweb.results.integrity import explain

    return explain(error, map(Path, arguments))


def script() -> None:
    """Entry point of the command `farweb`."""
    write_in_any_encoding()
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(main(sys.argv[1:]))


def _terminate(number: int, _frame: FrameType | None) -> None:
    """Leave through the `finally` blocks, so that nothing half-written stays."""
    sys.exit(128 + number)


def _fail(message: str, code: int) -> int:
    # Several problems are lines of their own, which begin with the place in the file.
    shown = visible(message)
    sys.stderr.write(f"{shown}\n" if "\n" in shown else f"farweb: {shown}\n")
    return code
