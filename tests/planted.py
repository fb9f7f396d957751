"""What comes to a name while a command works for it, and another process that has taken the name."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOLDER = """
import pathlib, sys
from farweb.files.atomic import staged_folder
with staged_folder(pathlib.Path(sys.argv[1])) as stage:
    (stage / "theirs").touch()
    print("taken", flush=True)
    sys.stdin.read()
"""


def a_file(path: Path) -> None:
    path.write_text("mine")


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "mine").touch()


def a_link(path: Path) -> None:
    path.symlink_to("elsewhere")


def a_link_to_a_folder(path: Path) -> None:
    Path("elsewhere").mkdir()
    path.symlink_to("elsewhere")


def content(path: Path) -> object:
    """All that says what a path is, but for times of access."""
    if path.is_symlink():
        return path.readlink()
    return sorted(path.iterdir()) if path.is_dir() else path.read_bytes()


@contextmanager
def another_process(out: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has taken a name and is at work for it; it ends its work with the block."""
    command = [sys.executable, "-W", "ignore::RuntimeWarning", "-c", HOLDER, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "taken\n"
        yield holder
