"""Writing that is either complete or absent.

Files and folders are written under a hidden name beside their destination and renamed when they are complete. A process
that is killed leaves at most a hidden `.NAME.….partial`, which nothing takes for a result.
"""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from farweb.errors import RunError

# What the machine, not the program, has to put right.
_ENVIRONMENT = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
}


@contextlib.contextmanager
def staged_folder(out: Path) -> Iterator[Path]:
    """Give a hidden folder that becomes `out` when the block ends; when the block raises, nothing is left of it.

    A folder that is already at `out` is replaced: it is renamed away, the new one takes its name, then it is deleted.
    The caller has to have made sure that it may be. Of a process that is killed between the two renames, both
    folders remain under hidden names.

    Raises:
        RunError: The disk is full, or the place cannot be written to.
    """
    with _clear_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{out.name}.", suffix=".partial", dir=out.parent))
        try:
            yield stage
            for path in stage.iterdir():
                _flush(path)
            stage.chmod(0o777 & ~_umask())
            _replace_folder(stage, out)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def staged_file(out: Path) -> Iterator[Path]:
    """Give the path of a hidden file that becomes `out` when the block ends; when it raises, nothing is left of it.

    Its folder is hidden too and goes at the end: the block may keep other files beside it.

    Raises:
        RunError: The disk is full, or the place cannot be written to.
    """
    with _clear_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=f".{out.name}.", suffix=".partial", dir=out.parent, ignore_cleanup_errors=True
        ) as folder:
            stage = Path(folder) / out.name
            yield stage
            _flush(stage)
            stage.replace(out)


@contextlib.contextmanager
def _clear_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _ENVIRONMENT:
            raise
        raise RunError(f"{out}: cannot be written: {os.strerror(error.errno)}; nothing was left there") from error


def _replace_folder(stage: Path, out: Path) -> None:
    if not out.exists():
        stage.rename(out)
        return
    old = stage.with_suffix(".old")
    out.rename(old)
    try:
        stage.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _flush(path: Path) -> None:
    """Bring a file to the disk, so that a power failure after the rename cannot empty it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
