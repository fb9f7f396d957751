"""Sees that matplotlib, which is loaded next, finds no settings of other users in the current folder.

It takes them from a file of that name wherever it is loaded: a pipe would keep it waiting for ever.
"""

from pathlib import Path

from farweb.errors import FarwebError
from farweb.files.private import exposed
from farweb.files.regular import check_file

_SETTINGS = Path("matplotlibrc")

if _SETTINGS.exists() and not _SETTINGS.is_dir():
    check_file(_SETTINGS, FarwebError)
    if (_place := exposed(_SETTINGS)) is not None:
        raise FarwebError(
            f"{_place}: other users may write there, and matplotlib would take its settings from "
            f"{_SETTINGS.absolute()}; remove that file, or work in a folder of your own"
        )
