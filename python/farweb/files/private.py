"""Places in which other users of the machine have no hand.

Wherever all users may write, another user may be first to create a name that can be guessed and that a program looks
for: modules to be imported, settings, caches, folders for spilled rows. Here others are all users but the owners of
the folders on the way, and the groups that these let write.
"""

import atexit
import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from farweb.errors import FarwebError

_SPILL = "POLARS_OOC_SPILL_DIR"

# Where libraries look for settings and caches: matplotlib, fontconfig, Dask, DuckDB, fsspec, clients of object stores.
_SETTINGS = {
    "HOME": "~",
    "XDG_CONFIG_HOME": "~/.config",
    "XDG_CACHE_HOME": "~/.cache",
    "XDG_DATA_HOME": "~/.local/share",
    **dict.fromkeys(("MPLCONFIGDIR", "MATPLOTLIBRC", "DASK_CONFIG", "DASK_ROOT_CONFIG", "FSSPEC_CONFIG_DIR"), ""),
}


def exposed(path: Path) -> Path | None:
    """The first place on the way to `path`, or `path` itself, that others may fill or replace; None: there is none.

    In a folder that all may write to, nothing is safe but what its owner alone may rename (the sticky bit of /tmp), and
    is this user's or root's.
    """
    if sys.platform == "win32":  # profiles and temporary folders are each user's own
        return None
    return _exposed(Path(os.path.abspath(path))) or _exposed(Path(os.path.realpath(path)))  # noqa: PTH100 - keeps links


def _exposed(path: Path) -> Path | None:
    shared, is_sticky = None, False
    for place in (*reversed(path.parents), path):
        try:
            entry, found = place.lstat(), place.stat()
        except OSError:  # it is absent, or closed to everyone
            return shared
        if shared is not None and not (is_sticky and entry.st_uid in (0, os.geteuid())):
            return place if is_sticky else shared
        has_content = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
        shared = place if has_content and found.st_mode & stat.S_IWOTH else None
        is_sticky = bool(found.st_mode & stat.S_ISVTX)
    return shared


@contextlib.contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """Give an empty temporary folder of this user alone for the block, under a name that cannot be guessed.

    Raises:
        FarwebError: Others could put another in its place.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as name:
        if (place := exposed(Path(name))) is not None:
            raise FarwebError(
                f"{place}: other users may replace what is in it; set TMPDIR to a folder of your own, or one with the "
                "sticky bit (chmod +t)"
            )
        yield Path(name)


def use_own_settings() -> None:
    """Have the libraries of this process look for settings and caches in an empty folder where others may lay some."""
    shown = {}
    for variable, usual in _SETTINGS.items():
        place = os.environ.get(variable) or os.path.expanduser(usual)  # noqa: PTH111 - there may be no home
        if place and exposed(Path(place)) is not None:
            shown[variable] = place
    if shown:
        stack = contextlib.ExitStack()
        folder = stack.enter_context(private_folder("farweb-settings-"))
        atexit.register(stack.close)
        os.environ.update(dict.fromkeys(shown, str(folder)))


def spill_apart() -> None:
    """Have Polars spill to a folder whose name cannot be guessed.

    Its own choice is /var/tmp/polars-USER/spill, in which it removes all folders that are called like a process that
    has ended: where another user has made a link of it, anywhere.
    """
    if _SPILL in os.environ or sys.platform == "win32":
        return
    folder = _disk() / f"farweb-{os.urandom(16).hex()}"
    os.environ[_SPILL] = str(folder)
    atexit.register(_remove, folder)


def _disk() -> Path:
    """A temporary folder that is on a disk where /tmp may be in memory, as Polars chooses it."""
    if (usual := Path("/var/tmp")).is_dir():
        return usual
    import tempfile

    return Path(tempfile.gettempdir())


def _remove(folder: Path) -> None:
    if folder.exists():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
