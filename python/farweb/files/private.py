"""Polars' folder for spilled rows, where other users of the machine have no hand."""

import atexit
import os
import sys
from pathlib import Path

_SPILL = "POLARS_OOC_SPILL_DIR"


def spill_apart() -> None:
    """Have Polars spill to a folder with an unguessable name.

    Its default is /var/tmp/polars-USER/spill, where it removes all folders named like an ended process, anywhere on the
    disk if another user has put a link there.
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
