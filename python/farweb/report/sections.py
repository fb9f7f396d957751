"""What it takes to have the numbers of a report again: command lines, inputs, manifests."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from farweb.report import page
from farweb.text.sheet import Sheet


def command(*folders: str, **options: str | Sequence[str] | None) -> str:
    """The command line that made the report; options that were not given are None or empty."""
    line = ["farweb report", *map(shlex.quote, folders)]
    for name, given in options.items():
        values = [given] if isinstance(given, str) else list(given or ())
        line += [f"--{name} {shlex.quote(value)}" for value in values]
    return " ".join(line)


def manifest(told: Mapping[str, Any]) -> str:
    """A manifest as it is."""
    return page.commands([json.dumps(told, indent=2, ensure_ascii=False)])


def inputs_sheet(manifests: Sequence[Mapping[str, Any]]) -> Sheet:
    """The input files, told once each, with what to know them by."""
    rows = {}
    for told in manifests:
        for what, file in told["inputs"].items():
            rows[file["sha256"]] = [what, PurePath(str(file["file"])).name, file["sha256"]]
    return Sheet("Input files", ["table", "file", "SHA-256"], list(rows.values()), names=3)
