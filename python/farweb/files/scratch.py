"""Temporary folders: each is locked, and the next command removes those whose process was killed."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from farweb.files.atomic import lock

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"farweb-(?:[a-z]+-)?[a-z0-9_]{8}\.tmp")


@contextlib.contextmanager
def scratch(kind: str = "") -> Iterator[Path]:
    """Make a folder for the block among the system's temporary files, and remove it with its content.

    Folders that killed commands of this user have left there go first, where the file system has locks.

    Args:
        kind: A word for its name.
    """
    _clear(Path(tempfile.gettempdir()))
    with contextlib.ExitStack() as held:
        yield _locked(f"farweb-{kind}-" if kind else "farweb-", held)


def _locked(prefix: str, held: contextlib.ExitStack) -> Path:
    """A new folder, locked: until then another command may take it for a leftover."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=".tmp"))
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        if sys.platform == "win32":
            return folder
        with contextlib.suppress(FileNotFoundError, BlockingIOError):  # another command removes it
            descriptor = os.open(folder, os.O_RDONLY)
            held.callback(os.close, descriptor)
            lock(descriptor)
            if folder.exists():
                return folder


def _clear(place: Path) -> None:
    """Remove the folders that killed commands have left; where there are no locks, nothing says which those are."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) is None:
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == os.getuid() and entry.is_dir(follow_symlinks=False):
                    _remove(entry.path)


def _remove(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
