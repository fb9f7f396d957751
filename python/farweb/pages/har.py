"""HARs: which files are some, and their pages as recorded."""

import re
from collections.abc import Sequence
from pathlib import Path

from farweb import _core
from farweb.errors import WorkloadError, require_range
from farweb.files.regular import check_file
from farweb.inputs.formats import head_of

_SUFFIXES = (".har", ".har.gz")
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{')  # a text there is a line that Docker keeps


def is_har(path: Path) -> bool:
    """True for a HAR, plain or packed, by its name or its first bytes, and for a folder with one."""
    try:
        if path.is_dir():
            return bool(_files_of(path))
        if not path.is_file():  # a pipe without a writer opens never
            return False
        if path.name.endswith(_SUFFIXES):
            return True
    except OSError:  # a name that is too long
        return False
    return _BEGINNING.match(head_of(path)) is not None


def har_files(paths: Sequence[Path]) -> list[Path]:
    """HARs among some paths and in the folders there, by name.

    Raises:
        WorkloadError: A path is neither, or a folder has no HAR.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            files = _files_of(path)
            if not files:
                raise WorkloadError(f"{path}: has no file that ends in .har or .har.gz")
            found += files
        else:
            check_file(path, WorkloadError, "name a HAR, or a folder of them")
            found.append(path)
    return found


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES) and path.is_file())


def read_har(path: Path) -> list[_core.Recording | WorkloadError]:
    """The pages of a HAR that have entries, in the order of the file: as recorded, or why one cannot be loaded.

    Raises:
        WorkloadError: The file is no HAR, is damaged or too large. The message names the place in it.
    """
    check_file(path, WorkloadError, "name a HAR")
    return _core.read_har(path)


def numbered(path: Path, pages: Sequence[_core.Recording | WorkloadError], number: int) -> _core.Recording:
    """A page of `read_har`, from 1.

    Raises:
        FarwebError: The number is below 1.
        WorkloadError: There are fewer, or it cannot be loaded.
    """
    require_range("--page", number, 1)
    if number > len(pages):
        raise WorkloadError(f"--page: found {number}; {path} has {len(pages)}")
    page = pages[number - 1]
    if isinstance(page, WorkloadError):
        raise page
    return page
