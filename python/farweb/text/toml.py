"""TOML as farweb writes it: scenarios, and values of their keys."""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from farweb.errors import ScenarioError


def document(tables: Mapping[str, Any]) -> str:
    """A scenario as its file could be: a table a part, a line a key."""
    lines = [f"{key(name)} = {value(each, name)}" for name, each in tables.items() if not _is_table(each)]
    for name, each in tables.items():
        if isinstance(each, Mapping):
            lines += ["", f"[{key(name)}]", *_pairs(each, name)]
        elif _is_table(each):
            for place, entry in enumerate(each):
                lines += ["", f"[[{key(name)}]]", *_pairs(entry, f"{name}.{place}")]
    return "\n".join(lines) + "\n"


def value(value_: Any, of: str = "") -> str:
    """A value on one line.

    Args:
        value_: A text, path, number, truth value, list or mapping.
        of: Its key, for the message.

    Raises:
        ScenarioError: It is none of these.
    """
    if isinstance(value_, bool):
        return "true" if value_ else "false"
    if isinstance(value_, str | os.PathLike):
        return _text(os.fspath(value_))
    if isinstance(value_, Mapping):
        return f"{{ {', '.join(_pairs(value_, of))} }}" if value_ else "{}"
    if isinstance(value_, list | tuple):
        return f"[{', '.join(value(each, f'{of}.{place}') for place, each in enumerate(value_))}]"
    if isinstance(value_, int | float):
        return repr(value_)
    if hasattr(value_, "item"):  # a number of numpy
        return value(value_.item(), of)
    raise ScenarioError(f"{of}: found {value_!r}; a scenario has texts, numbers, truth values, lists and tables")


def key(name: str) -> str:
    """A key, in quotes where it takes them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _is_table(value_: Any) -> bool:
    return isinstance(value_, Mapping) or (isinstance(value_, list) and bool(value_) and isinstance(value_[0], Mapping))


def _pairs(table: Mapping[str, Any], of: str) -> list[str]:
    return [f"{key(str(name))} = {value(each, f'{of}.{name}')}" for name, each in table.items()]


def _text(text: str) -> str:
    """A text in quotes, escaped as in JSON, and DEL besides, which TOML forbids."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
