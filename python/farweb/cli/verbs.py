"""A verb is a question of the library with its signature.

Its options are the parameters of the question, and of the verb's own function for what only a command has. Types and
defaults come from signatures, help from docstrings. What is not typed is not passed on: defaults are the library's.

>>> @verb("results.integrity:verify", path="RESULTS")
... def verify(call: Call) -> None:
...     "Check that results are as they were written."
>>> [(each.metavar, *each.names) for each in verify.options][:2]
[('RESULTS',), ('', '--full')]
"""

import argparse
import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from farweb.cli.output import Output, taken_free
from farweb.cli.signature import Option, Signature, in_memory, in_source, options_of
from farweb.errors import FarwebError
from farweb.text.words import command as written
from farweb.text.words import nearest

HELP = ("--help", "-h", "--help-all")

T = TypeVar("T")


class UsageError(FarwebError):
    """Words that a verb cannot take. The message ends with the command for its help."""


@dataclass(frozen=True, kw_only=True)
class Common:
    """Options of every verb; the first of those that write files.

    Attributes:
        force: Replace an existing file or result.
        json: Print JSON, and nothing else, to standard output.
        quiet: Print only errors and the requested output.
        debug: Show the traceback of an error, and messages of Dask.
    """

    force: bool = False
    json: bool = False
    quiet: bool = False
    debug: bool = False


class Call(Output):
    """A call of a verb.

    Attributes:
        given: What was typed for the question, by parameter.
        typed: Options and arguments as they are typed, by parameter, of all that were.
        force: True to replace files.
        held: What the call holds until the verb ends.
    """

    def __init__(self, given: Mapping[str, Any], typed: Mapping[str, str], common: Common) -> None:
        super().__init__(common.json, common.quiet)
        self.given, self.typed, self.force = given, typed, common.force
        self.held = contextlib.ExitStack()

    def takes(self, *files: Path | None) -> None:
        """Take the names of files before the work begins."""
        self.held.enter_context(taken_free(*files, force=self.force))

    def of(self, question: Callable[..., Any]) -> dict[str, Any]:
        """What was typed for the parameters of a question."""
        known = inspect.signature(question).parameters
        return {name: value for name, value in self.given.items() if name in known}

    def ask(self, title: str, question: Callable[..., T], *values: Any, left: bool = True, **more: Any) -> T:
        """Ask a question with what was typed, while a bar tells how far it is.

        Args:
            title: Of the bar.
            question: A function of the library with a parameter `progress`.
            values: Its arguments.
            left: True where the bar can estimate the time that is left.
            more: Further arguments, in place of those typed.
        """
        with self.progress(title, left=left) as show:
            return question(*values, **{"progress": show, **self.of(question), **more})

    def says(self, found: Any, shown: Any = None) -> None:
        """Print the answer of a verb that writes files: `--quiet` leaves it out."""
        if self.as_json or not self.is_quiet:
            self.result(found if isinstance(found, Mapping) else found.to_dict(), found if shown is None else shown)

    def wrote(self, file: object, *following: object) -> None:
        """Name a file that was written, and the next command."""
        self.note(f"wrote {file}" + (f"    next: {written(*following)}" if following else ""))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(message.removeprefix("argument "))


@dataclass(frozen=True)
class Verb:
    """A command with its options.

    Attributes:
        command: Its function.
        questions: Paths of the library's functions and classes whose parameters it takes as well.
        spelled: Names of options and metavars, where they are others than usual.
        more: Further options.
        foot: Last lines of the help.
        completes: Words that a shell may offer, by parameter.
    """

    command: Callable[..., int | None]
    questions: Sequence[str]
    spelled: Mapping[str, str]
    more: Callable[[], Iterable[Option]]
    foot: Callable[[], str]
    completes: Mapping[str, Callable[[], Iterable[str]]]

    @functools.cached_property
    def options(self) -> tuple[Option, ...]:
        """In the order of the help: arguments, what has to be there, its own, its question's, those of groups."""
        own, groups = self._read(in_memory, self.command), self._read(in_memory, *self._groups.values())
        first = self._read(in_source, *self.questions[:1])
        others = [each for each in self._read(in_source, *self.questions[1:]) if each.names]
        found: dict[str, Option] = {}
        for each in (*own, *first, *self.more(), *groups, *others):
            found.setdefault(each.name, each)
        found |= {each.name: each for each in (*groups, *own)}
        common = inspect.signature(Common).parameters

        def rank(each: Option) -> int:
            return 0 if not each.names else 1 if each.is_required else 3 if each.name in common else 2

        return tuple(sorted(found.values(), key=rank))

    def _read(self, read: Callable[[Any], Signature], *functions: Any) -> list[Option]:
        return [each for function in functions for each in options_of(*read(function), self.spelled)]

    @property
    def _groups(self) -> dict[str, Any]:
        """Groups of options by parameter of the command. Those of every verb have no parameter."""
        own = inspect.signature(self.command).parameters.items()
        return {**{name: each.annotation for name, each in own if is_dataclass(each.annotation)}, "": Common}

    def run(self, called: str, words: Sequence[str]) -> int | None:
        """Do what the words behind its name, `called`, ask for. The exit code, or None for 0."""
        try:
            options, arguments = self._split(words)
            if asked := set(HELP) & set(options):
                from farweb.cli.screen import show

                show(called, inspect.getdoc(self.command) or "", self.options, self.foot(), is_whole=HELP[-1] in asked)
                return 0
            return self._call(self._typed(called, options, arguments))
        except UsageError as error:
            raise UsageError(f"{error} (see {called} --help)") from None

    def _split(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Options, each with its value in one word, and arguments. A value may begin with a dash."""
        takes = {name: each.names[0] for each in self.options if each.kind is not bool for name in each.names}
        flags = {name for each in self.options if each.kind is bool for name in each.names if name[1] != "-"}
        options, arguments, left = [], list[str](), iter(words)
        for word in left:
            while word[:2] in flags and word[2:]:
                options.append(word[:2])
                word = f"-{word[2:]}"
            if word == "--":
                arguments += left
            elif word in takes:
                if (value := next(left, None)) is None:
                    raise UsageError(f"Option '{word}' requires an argument.")
                options.append(f"{takes[word]}={value}")
            else:
                (options if word.startswith("-") and word != "-" else arguments).append(word)
        return options, arguments

    def _typed(self, called: str, options: Sequence[str], arguments: Sequence[str]) -> dict[str, Any]:
        """Values by parameter, of what was typed."""
        parser = _Parser(called, add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
        for each in self.options:
            each.add_to(parser)
        found, left = parser.parse_known_args([*options, *(["--", *arguments] if arguments else [])])
        if left and left[0] in options:
            name = left[0].partition("=")[0]
            near = nearest(name, [name for each in self.options for name in each.names])
            raise UsageError(f"No such option: {name}{near and f'. Did you mean {near}?'}")
        if left:
            raise UsageError(f"One argument too many: {left[-1]}")
        typed = {
            each.name: each.read(value)
            for each in self.options
            if (value := vars(found).get(each.name)) not in (None, [])
        }
        for each in self.options:
            if each.is_required and each.name not in typed:
                missing = f"option '{each.names[0]}'" if each.names else f"argument '{each.metavar}'"
                raise UsageError(f"Missing {missing}.")
        return typed

    def _call(self, typed: dict[str, Any]) -> int | None:
        spelled = {each.name: (*each.names, each.metavar)[0] for each in self.options if each.name in typed}

        def taken(function: Callable[..., Any]) -> dict[str, Any]:
            return {name: typed.pop(name) for name in inspect.signature(function).parameters if name in typed}

        groups = {name: group(**taken(group)) for name, group in self._groups.items()}
        common, own = groups.pop(""), taken(self.command)
        call = Call(typed, spelled, common)
        with call.held:
            return self.command(call, **groups, **own)


def verb(
    *questions: str,
    writes: bool = True,
    more: Callable[[], Iterable[Option]] = tuple,
    foot: Callable[[], str] = str,
    completes: Mapping[str, Callable[[], Iterable[str]]] | None = None,
    **spelled: str,
) -> Callable[[Callable[..., int | None]], Verb]:
    """Make a verb of a function that is given a `Call`.

    Args:
        questions: Functions and classes of the library whose parameters it takes as well: ``cache.curve:cache_curve``.
            The first parameter of the first function is an argument.
        writes: True for `--force`.
        more: Further options.
        foot: Last lines of the help.
        completes: Words that a shell may offer, by parameter.
        spelled: Options of parameters, and words for their values, where they are others than usual: ``"--out -o
            FILE"``. An empty text leaves a parameter out.
    """
    spelled = {**({} if writes else {"force": ""}), **spelled}
    return lambda command: Verb(command, questions, spelled, more, foot, completes or {})
