"""Options of a verb, from the signatures of functions and the words of their docstrings.

A function of the library is read from its source and not imported: a help loads nothing.
"""

import argparse
import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter
from math import isfinite
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).parents[1]
_KINDS: Mapping[str, type] = {"Path": Path, "bool": bool, "int": int, "float": float, "str": str}
Signature = tuple[list[Parameter], dict[str, str]]
"""Parameters, and the words on each."""

_METAVARS = {int: "N", float: "NUMBER", Path: "FILE"}
_SPELLED = {
    "out": "--out -o",
    "metric": "--metric -m NAME",
    "metrics": "--metric -m NAME",
    "jobs": "--jobs -j",
    "quiet": "--quiet -q",
    "settings": "--set KEY=VALUE",
    "fields": "--field NAME=KEY,…",
    "format": "--format FORMAT",
    "log_format": "--log-format STRING",
    "elapsed_unit": "--elapsed-unit UNIT",
    "bypass": "--bypass LIST",
    "busiest": "--busiest SPAN",
    "client": "--client PATTERN",
    "client_key": "--client-key TEXT",
    "from_": "--from TIME",
    "sample": "--sample SHARE",
    "to": "--to TIME",
    "scheduler": "--scheduler ADDRESS",
    "run_memory": "--run-memory SIZE",
    "run_time": "--run-time TIME",
    "width": "--width LENGTH",
    "height": "--height LENGTH",
    "label": "--label OLD=NEW",
    "data": "--data FILE.csv",
}
"""Options of parameters that are the same in every verb, where they differ from the parameter's name."""


@dataclass(frozen=True)
class Option:
    """An option of a verb, or an argument.

    Attributes:
        name: Of the parameter.
        names: As they are typed. Empty: an argument.
        kind: Type of a value.
        form: `list` of values, `dict` of them by name, or None for one.
        default: Its literal, None for another expression, or `Parameter.empty`: it has to be there.
        meaning: Words of the docstring.
        metavar: Words for its value. With … at the end, values of one name in a `dict` are one text with commas.
    """

    name: str
    names: tuple[str, ...]
    kind: type
    form: type | None
    default: Any
    meaning: str
    metavar: str

    @property
    def is_required(self) -> bool:
        """True without a default."""
        return self.default is Parameter.empty

    @property
    def is_pair(self) -> bool:
        """True for a flag that has an opposite: ``--errors``, ``--no-errors``."""
        return self.kind is bool and self.names[-1] == f"--no-{self.names[0][2:]}"

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Let a parser know it. To the parser all are optional: a wrong option is named before a missing one."""
        names = self.names[:1] if self.is_pair else self.names
        more: dict[str, Any] = {"dest": self.name} if names else {}
        if self.kind is bool:
            more["action"] = argparse.BooleanOptionalAction if self.is_pair else "store_true"
        else:
            more |= {"type": self._value, "metavar": self.metavar}
            if not names:
                more |= {"nargs": "?" if self.form is None else "*", "default": None}
            elif self.form is not None:
                more["action"] = "append"
        parser.add_argument(*(names or [self.name]), **more)

    def read(self, typed: Any) -> Any:
        """The value of the parameter from the parser's."""
        if self.form is not dict:
            return typed
        found: dict[str, Any] = {}
        for name, value in typed:
            found[name] = f"{found[name]},{value}" if name in found and self.metavar.endswith("…") else value
        return found

    def _value(self, text: str) -> Any:
        name, equals, value = text.partition("=") if self.form is dict else ("", "=", text)
        try:
            read = self.kind(value.strip() if self.form is dict else value)
        except ValueError:
            read = None
        is_named = self.form is not dict or (name.strip() and equals)
        if read is None or not is_named or (self.kind is float and not isfinite(read)):
            wanted = self.metavar if self.form is dict else "a whole number" if self.kind is int else "a number"
            raise argparse.ArgumentTypeError(f"found {text}; write {wanted}")
        return (name.strip(), read) if self.form is dict else read


def options_of(
    parameters: Iterable[Parameter], meanings: Mapping[str, str], spelled: Mapping[str, str]
) -> Iterator[Option]:
    """Options for parameters behind ``*``, arguments for those ahead of it; none where no value can be typed.

    Args:
        parameters: Each annotation is a type, or its text.
        meanings: Words by parameter.
        spelled: Names, and a metavar, by parameter, with blanks between them. Empty: no option.
    """
    for each in parameters:
        annotation = each.annotation
        text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
        kind = next((kind for name, kind in _KINDS.items() if re.search(rf"\b{name}\b", text)), None)
        usual = f"--{each.name.rstrip('_').replace('_', '-')}"
        words = spelled.get(each.name, _SPELLED.get(each.name, usual)).split()
        if kind is None or not words:
            continue
        form = dict if "Mapping[" in text else list if "Sequence[" in text else None
        names = [word for word in words if word.startswith("-")] or [usual]
        names = names if each.kind is Parameter.KEYWORD_ONLY else []
        if each.default is True:
            names.append(f"--no-{names[0][2:]}")
        called = (names or [usual])[0][2:].replace("-", "_").upper()
        metavar = "NAME=VALUE" if form is dict else _METAVARS.get(kind, called) if names else called
        metavar = " ".join(word for word in words if not word.startswith("-")) or metavar
        meaning = meanings.get(each.name, "")
        yield Option(each.name, tuple(names), kind, form, each.default, meaning, "" if kind is bool else metavar)


def meanings(docstring: str | None) -> dict[str, str]:
    """Words of a docstring on each parameter, or on each field of a class."""
    section = re.search(r"^(?:Args|Attributes):\n((?:(?: .*)?\n)*?(?: .*))(?=\n\n\S|\Z)", docstring or "", re.MULTILINE)
    found = re.split(r"^    (\w+): ", section[1] if section else "", flags=re.MULTILINE)[1:]
    return {name: " ".join(text.replace("`", "").split()) for name, text in zip(found[::2], found[1::2], strict=True)}


def in_memory(function: Callable[..., Any]) -> Signature:
    """Parameters of a function or class, and their meanings."""
    return [*inspect.signature(function).parameters.values()], meanings(inspect.getdoc(function))


def in_source(path: str) -> Signature:
    """Parameters of a function, or fields of a class, of the library, ``module:name``, and their meanings.

    The first parameter of a function is an argument. All others have names on a command line.
    """
    module, _, names = path.partition(":")
    file = _SOURCE.joinpath(*module.split("."))
    body = ast.parse((file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_bytes()).body
    for name in names.split("."):
        found = next(each for each in body if isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == name)
        body = found.body
    if isinstance(found, ast.FunctionDef):
        given = found.args
        defaults = [*[None] * (len(given.args) - len(given.defaults)), *given.defaults, *given.kw_defaults]
        of = [(each.arg, each.annotation) for each in (*given.args, *given.kwonlyargs)]
    else:
        fields = [each for each in body if isinstance(each, ast.AnnAssign)]
        defaults = [each.value for each in fields]
        of = [(ast.unparse(each.target), each.annotation) for each in fields]
    parameters = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY if place or isinstance(found, ast.ClassDef) else Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if default is None else getattr(default, "value", None),
            annotation=ast.unparse(hint) if hint else "",
        )
        for place, ((name, hint), default) in enumerate(zip(of, defaults, strict=True))
    ]
    return parameters, meanings(ast.get_docstring(found))
