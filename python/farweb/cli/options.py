"""Options that several verbs share, and the output of all verbs: tables for people, or JSON."""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from farweb.cli.help import Group
from farweb.errors import FarwebError
from farweb.files.atomic import Place, taken
from farweb.files.made import is_made
from farweb.text.words import folded, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.plot.presentation import Presentation

Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to standard output.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file or result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors and the requested output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error, and messages of Dask.")]

InputFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="What is read: table, a format of workload import such as squid or clf, oracle-general, webcachesim, "
        "cache2k (default: detected from the file).",
    ),
]
InputKeep = Annotated[
    str,
    typer.Option("--keep", help="Of a log: all that clients got; crossed or misses, as workload import has it."),
]
Bypass = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="Of a log: requests that caches pass by although RFC 9111 lets them store: query, set-cookie, cookie, "
        "with commas between them.",
    ),
]
Dynamic = Annotated[
    bool, typer.Option(help="Of a log: take pages made for each request too (a query or CGI in the URL), or not.")
]
MaxUnreadable = Annotated[float, typer.Option(min=0, max=1, help="Share of lines that may be unreadable.")]

Width = Annotated[
    str | None, typer.Option(metavar="LENGTH", help="Width of the figure, in inches or centimetres: 8in, 20cm.")
]
Height = Annotated[
    str | None,
    typer.Option(metavar="LENGTH", help="Height of the figure, likewise (default: as high as it needs to be)."),
]
NoTitle = Annotated[bool, typer.Option("--no-title", help="Write no title.")]
NoCaption = Annotated[bool, typer.Option("--no-caption", help="Write no caption.")]
Label = Annotated[
    list[str] | None,
    typer.Option(metavar="OLD=NEW", help="Another name for a curve, panel, level or axis; again for further ones."),
]
Data = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Write the numbers that are drawn, in base units, as well.")
]

Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="Runs at a time, a process each (default: as many as cores)."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="A running Dask cluster instead: tcp://host:port, tls://host:port, or its scheduler file.",
    ),
]
NoLimits = Annotated[
    bool, typer.Option("--no-limits", help="Accept a run or a sweep however large it is estimated to become.")
]
RunMemory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Memory of a run's process beyond which that run fails: 2 GB.")
]
RunTime = Annotated[str | None, typer.Option(metavar="TIME", help="Time beyond which a run fails: 10 min.")]
Retries = Annotated[int, typer.Option(min=0, help="How often a run that failed is tried again.")]


def help_alone(context: typer.Context) -> None:
    """Print the help of a group that is called without a verb, and end without an error."""
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")
        raise typer.Exit


def group(help: str) -> typer.Typer:
    """A group of verbs, such as `farweb workload`, that shows its help when it is called alone."""
    return typer.Typer(
        cls=Group,
        help=help,
        callback=help_alone,
        invoke_without_command=True,
        add_completion=False,
        rich_markup_mode="markdown",
    )


def presented(
    width: str | None, height: str | None, *, no_title: bool, no_caption: bool, label: list[str] | None
) -> "Presentation":
    """Read the options that all figures share."""
    from farweb.plot.presentation import Presentation, inches, renaming

    return Presentation(
        width=None if width is None else inches(width),
        height=None if height is None else inches(height),
        title=not no_title,
        caption=not no_caption,
        labels=dict(renaming(each) for each in label or ()),
    )


@contextlib.contextmanager
def taken_free(*files: Path | None, force: bool) -> Iterator[None]:
    """Take the names of files to write before any work begins. Drawings of farweb may be replaced.

    A verb has them until it ends: `context.with_resource(taken_free(out, force=force))`.

    Args:
        files: Files to write, or None for those not asked for.
        force: `--force`.

    Raises:
        FarwebError: A file is there, and it is no figure or page of farweb's, or another command has the name.
        StorageError: A name is none of a file, or its folder cannot be written to.
    """

    def allow(place: "Place") -> None:
        place.require_file()
        if not force and place.path.is_file() and not is_made(place.path):
            raise FarwebError(f"{place.out}: exists already; --force replaces it, or name another file")

    with contextlib.ExitStack() as names:
        for file in files:
            if file is not None:
                names.enter_context(taken(file, allow))
        yield


_NARROWEST, _WIDTH, _WIDEST = 60, 80, 120  # columns: a terminal may ask for what lies between
_PATIENCE_S = 1.0  # work that ends sooner needs no progress bar


_BOLD = re.compile(r"(?<=^wrote )\S+")


def _columns(stream: TextIO) -> int:
    """Columns of a stream: of its terminal or of COLUMNS, within bounds, else 80."""
    given = os.environ.get("COLUMNS", "")
    asked = int(given) if given.isdecimal() else 0
    if not asked and stream.isatty():
        with contextlib.suppress(OSError):
            asked = os.get_terminal_size(stream.fileno()).columns
    return min(max(asked or _WIDTH, _NARROWEST), _WIDEST)


def _painted(text: str) -> str:
    """Lines for standard error: warnings yellow, the path of "wrote" bold, where there are colours."""
    text = folded(visible(text), _columns(sys.stderr))
    if not sys.stderr.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[33m{text}\x1b[0m" if text.startswith("warning: ") else _BOLD.sub("\x1b[1m\\g<0>\x1b[0m", text)


class Output:
    """Output of a verb: results go to standard output, everything else to standard error.

    Args:
        as_json: `--json`.
        quiet: `--quiet`.
    """

    def __init__(self, as_json: bool, quiet: bool) -> None:
        self.as_json = as_json
        self._quiet = quiet

    def result(self, value: Mapping[str, Any], shown: "RenderableType") -> None:
        """Print `value` as JSON or `shown` for people, as asked."""
        if self.as_json:
            # Where the terminal lacks a character JSON escapes it, and loses nothing.
            has_all = (sys.stdout.encoding or "").lower().startswith("utf")
            sys.stdout.write(visible(json.dumps(value, indent=2, ensure_ascii=not has_all)) + "\n")
            return
        from rich.console import Console
        from rich.segment import Segment, Segments
        from rich.text import Text

        console = Console(width=_columns(sys.stdout))
        if isinstance(shown, str):
            console.print(Text(visible(shown)), soft_wrap=True)
            return
        # Names come from logs and manifests. The console's own output is control segments and styles.
        parts = (part if part.control else Segment(visible(part.text), part.style) for part in console.render(shown))
        console.print(Segments(parts), end="")

    def note(self, text: str) -> None:
        """Print a line about the result, such as where it was saved, except with `--json`, which contains it."""
        if not self._quiet and not self.as_json:
            sys.stderr.write(_painted(text) + "\n")

    def warn(self, text: str) -> None:
        """Print a warning about the result, also with `--json`."""
        if not self._quiet:
            sys.stderr.write(_painted(f"warning: {text}") + "\n")

    @contextlib.contextmanager
    def continuing(self, folder: str | Path) -> Iterator[None]:
        """Say of interrupted work where its finished runs are, once there is a folder (or a URL)."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):  # SIGTERM and SIGHUP end as the latter
            if "://" in str(folder) or Path(folder).exists():
                self.note(f"Finished runs are kept in {folder}; the same command continues from there.")
            raise

    @contextlib.contextmanager
    def progress(self, title: str, *, left: bool = True) -> Iterator[Callable[[float, float | None, str], None]]:
        """Give a function that shows how far something is: done, of how many (None: unknown), and words about it.

        A bar appears on a terminal, once the work has lasted a second. With `left` it estimates the time that is left.
        """
        if self._quiet or not sys.stderr.isatty():
            yield lambda _done, _total, _words: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        began = time.monotonic()
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            *([TimeRemainingColumn()] if left else []),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task(title, total=None, words="")

        def show(done: float, total: float | None, words: str) -> None:
            bar.update(task, completed=done, total=total, words=words)
            if not bar.live.is_started and time.monotonic() - began > _PATIENCE_S:
                bar.start()

        try:
            yield show
        finally:
            if bar.live.is_started:
                bar.stop()
