"""Writes files and folders completely or not at all.

Files and folders are written under a hidden name beside their destination and renamed when they are complete. A process
that is killed leaves at most a hidden `.NAME.….partial`, which nothing takes for a result.
"""

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from farweb.errors import StorageError

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
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,  # folders of /proc cannot be made
}


@contextlib.contextmanager
def staged_folder(out: Path, *, replace: bool = True) -> Iterator[Path]:
    """Give a hidden folder that becomes `out` when the block ends; when the block raises, nothing is left of it.

    A folder that is already at `out` is replaced: it is renamed away, the new one takes its name, then it is deleted.
    The caller has to have made sure that it may be. Of a process that is killed between the two renames, both
    folders remain under hidden names. Without `replace`, a folder that is there first stays and the new one goes:
    for folders whose content their name determines.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    with storage_errors(out), made_folder(out.parent), _hidden_folder(out) as stage:
        yield stage
        for path in stage.iterdir():
            _flush(path)
        stage.chmod(0o777 & ~_umask())
        if replace:
            _replace_folder(stage, out)
        else:
            _add_folder(stage, out)


@contextlib.contextmanager
def staged_file(out: Path) -> Iterator[Path]:
    """Give the path of a hidden file that becomes `out` when the block ends; when it raises, nothing is left of it.

    Its folder is hidden too and goes at the end: the block may keep other files beside it.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    with storage_errors(out), made_folder(out.parent), _hidden_folder(out) as folder:
        stage = folder / out.name
        yield stage
        _flush(stage)
        stage.replace(out)


@contextlib.contextmanager
def storage_errors(out: Path | str) -> Iterator[None]:
    """Turn what the machine, not the program, has to put right into one line about `out`.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _ENVIRONMENT:
            raise
        raise StorageError(f"{out}: cannot be written: {os.strerror(error.errno)}; nothing was left there") from error


@contextlib.contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and those above it for the block; when the block raises, those that were made go again."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in made:
            with contextlib.suppress(OSError):  # another process may have put something into it
                each.rmdir()
        raise


@contextlib.contextmanager
def _hidden_folder(out: Path) -> Iterator[Path]:
    """Make a hidden folder beside `out` for the block, and remove it with what is left in it."""
    folder = out.parent / f".{out.name}.{secrets.token_hex(6)}.partial"
    try:  # before it is made: an interrupt may come as soon as it is there
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _add_folder(stage: Path, out: Path) -> None:
    try:
        stage.rename(out)
    except OSError:
        if not out.is_dir():
            raise


def remove_stages(folder: Path) -> None:
    """Remove what killed processes left in `folder` under hidden names; none may be writing there now."""
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.startswith(".") and path.suffix in {".partial", ".old"}:
                shutil.rmtree(path, ignore_errors=True)


def _flush(path: Path) -> None:
    """Bring a file to the disk, so that a power failure after the rename cannot empty it."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
