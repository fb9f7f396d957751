"""Output of all verbs: tables for people, or JSON; and the names of files to write."""

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from farweb import signals
from farweb.errors import FarwebError
from farweb.files.atomic import Place, taken
from farweb.files.made import is_made
from farweb.text.words import folded, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.progress import Progress


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


def columns(stream: TextIO | None = None) -> int:
    """Columns of a stream, usually standard output: of its terminal or of COLUMNS, within bounds, else 80."""
    stream = stream or sys.stdout
    given = os.environ.get("COLUMNS", "")
    asked = int(given) if given.isdecimal() else 0
    if not asked and stream.isatty():
        with contextlib.suppress(OSError):
            asked = os.get_terminal_size(stream.fileno()).columns
    return min(max(asked or _WIDTH, _NARROWEST), _WIDEST)


def _painted(text: str) -> str:
    """Lines for standard error: warnings yellow, the path of "wrote" bold, where there are colours."""
    text = folded(visible(text), columns(sys.stderr))
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
        self.is_quiet = quiet

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

        console = Console(width=columns())
        if isinstance(shown, str):
            console.print(Text(visible(shown)), soft_wrap=True)
            return
        # Names come from logs and manifests. The console's own output is control segments and styles.
        parts = (part if part.control else Segment(visible(part.text), part.style) for part in console.render(shown))
        console.print(Segments(parts), end="")

    def note(self, text: str) -> None:
        """Print a line about the result, such as where it was saved, except with `--json`, which contains it."""
        if not self.as_json:
            self._say(text)

    def warn(self, text: str) -> None:
        """Print a warning about the result, also with `--json`."""
        self._say(f"warning: {text}")

    def _say(self, text: str) -> None:
        if not self.is_quiet:
            sys.stderr.write(_painted(text) + "\n")

    @contextlib.contextmanager
    def continuing(self, folder: str | Path) -> Iterator[None]:
        """Say of interrupted work where its finished runs are, once there is a folder (or a URL), also with `--json`.

        JSON says nothing then.
        """
        try:
            yield
        except BaseException as error:
            # Libraries make errors of their own of a signal.
            is_ended = isinstance(error, KeyboardInterrupt | SystemExit) or signals.ending() is not None
            if is_ended and ("://" in str(folder) or Path(folder).exists()):
                self._say(f"Finished runs are kept in {folder}; the same command continues from there.")
            raise

    @contextlib.contextmanager
    def progress(self, title: str, *, left: bool = True) -> Iterator["Progress"]:
        """Give a function that shows how far something is: done, of how many (None: unknown), and words about it.

        A bar appears on a terminal, once the work has lasted a second. With `left` it estimates the time that is left.
        """
        if self.is_quiet or not sys.stderr.isatty():
            yield lambda _done, _total, _words: None
            return
        from rich import progress as parts
        from rich.console import Console

        began = time.monotonic()
        bar = parts.Progress(
            parts.TextColumn("{task.description}"),
            parts.BarColumn(),
            parts.TextColumn("{task.fields[words]}"),
            parts.TimeElapsedColumn(),
            *([parts.TimeRemainingColumn()] if left else []),
            console=Console(stderr=True),
            transient=True,
        )
        task = bar.add_task(title, total=None, words="")

        def show(done: int, total: int | None, words: str) -> None:
            bar.update(task, completed=done, total=total, words=words)
            if not bar.live.is_started and time.monotonic() - began > _PATIENCE_S:
                bar.start()

        try:
            yield show
        finally:
            if bar.live.is_started:
                bar.stop()
