"""Scenarios written from plain values."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Value = str | bool | int | float | Sequence[Any] | Mapping[str, Any]


def toml(value: Value) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(toml(inner) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def write_scenario(file: Path, **tables: Value) -> Path:
    """Write a scenario with these tables at its top level; the file."""
    lines = [f"{key} = {toml(value)}" for key, value in {"format": 1, "name": file.stem, **tables}.items()]
    file.write_text("\n".join(lines) + "\n")
    return file
