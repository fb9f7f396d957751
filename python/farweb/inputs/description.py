"""Descriptions of scenarios, checked when they are made: a path, its protocols and its workload."""

import contextlib
import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from farweb import _core
from farweb.errors import ScenarioError
from farweb.files.regular import read_text
from farweb.results.design import Design
from farweb.text import toml

if TYPE_CHECKING:
    from rich.console import RenderableType

Value = str | int | float | bool | os.PathLike[str] | list[Any] | tuple[Any, ...] | Mapping[str, Any]


class Input(NamedTuple):
    """A file that a scenario names.

    Attributes:
        key: The key that names it, ``workload.requests``.
        kind: ``requests``, ``hosts``, ``schedule`` or ``trace``.
        file: Its name in the scenario, with the seed in place of ``{seed}``.
        path: Its place.
        is_of_link: True for a file that a link names.
    """

    key: str
    kind: str
    file: str
    path: Path
    is_of_link: bool


_PARSED_KEPT = 8  # chosen: a worker has the scenarios of a sweep or two


@dataclass(frozen=True, init=False)
class Description:
    """A checked description of a scenario, as every part that simulates or explains one needs it.

    It can be pickled, and is checked again where it arrives, once a process for all points of a sweep. People use
    `farweb.Scenario`, which also runs it.

    Attributes:
        path: The file that it came from, or ``scenario`` for a dict.
        overrides: Values that stand instead of the file's, by dotted key, as TOML or bare text.
        core: The compiled form, for whoever drives the simulation.
        tables: Folder that its paths of tables are relative to. None: the file's, or the current one.
    """

    path: Path
    overrides: Mapping[str, str]
    _text: str = field(repr=False)
    core: _core.Scenario = field(repr=False, compare=False)
    _cut: "_Cut | None" = field(default=None, repr=False)
    tables: Path | None = None

    def __init__(
        self,
        description: Mapping[str, Any],
        overrides: Mapping[str, Value] | None = None,
        *,
        tables: Path | None = None,
    ) -> None:
        """Check a scenario that is a dict.

        Args:
            description: Keys and values as a scenario file has them: ``{"format": 1, "path": {"nodes": […], …}, …}``.
            overrides: Values by dotted key that stand instead of the dict's, as `with_` takes them.
            tables: Folder of the tables that it names (default: the current one).

        Raises:
            ScenarioError: There are problems: one line each, with key, value found and values allowed.
        """
        if not isinstance(description, Mapping):
            raise ScenarioError(f"a scenario is a dict, not {description!r}; Scenario.load reads a file")
        text = "".join(f"{toml.key(str(key))} = {toml.value(value, str(key))}\n" for key, value in description.items())
        texts = _texts(overrides or {})
        with _problems_by_key():
            self._fill(_NO_FILE, texts, text, _parsed(text, str(_NO_FILE), tuple(texts.items())), None, tables)

    def _fill(
        self,
        path: Path,
        overrides: Mapping[str, str],
        text: str,
        core: _core.Scenario,
        cut: "_Cut | None",
        tables: Path | None,
    ) -> Self:
        fields = {"path": path, "overrides": overrides, "_text": text, "core": core, "_cut": cut, "tables": tables}
        for name, value in fields.items():
            object.__setattr__(self, name, value)  # frozen from now on
        return self

    @classmethod
    def load(
        cls, path: str | Path, overrides: Mapping[str, Value] | None = None, *, tables: Path | None = None
    ) -> Self:
        """Read and check a scenario file.

        Args:
            path: The file (TOML).
            overrides: Values by dotted key that stand instead of the file's, as `with_` takes them.
            tables: Folder of the tables that it names (default: the file's).

        Raises:
            ScenarioError: The file cannot be read, or has problems: one line each, with file, line, key, value found
                and values allowed.
        """
        path = Path(path)
        texts = _texts(overrides or {})
        with _problems_by_key():
            return cls._parse(path, read_text(path, ScenarioError, "a scenario is a TOML file"), texts, tables)

    @classmethod
    def _parse(cls, path: Path, text: str, overrides: Mapping[str, str], tables: Path | None) -> Self:
        core = _parsed(text, str(path), tuple(overrides.items()))
        return cls._new()._fill(path, overrides, text, core, None, tables)

    @classmethod
    def _new(cls) -> Self:
        return object.__new__(cls)

    @classmethod
    def _rebuild(
        cls, path: Path, text: str, overrides: Mapping[str, str], cut: "_Cut | None", tables: Path | None
    ) -> Self:
        """The scenario that was pickled."""
        if cut is None:
            return cls._parse(path, text, overrides, tables)
        core = cut.apply(_parsed(text, str(path), tuple(cut.before.items())))
        return cls._new()._fill(path, overrides, text, core, cut, tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._rebuild, (self.path, self._text, dict(self.overrides), self._cut, self.tables)

    def with_(self, changes: Mapping[str, Value] | None = None, /, **more: Value) -> Self:
        """The same scenario with other values, which at a point of a sweep override its levels.

        Args:
            changes: Values by dotted key: ``{"leg.0.tcp.buffer": "65535 B", "workload.load": 4}``. A value may be a
                dict: ``{"leg.0.carrier": {"kind": "mux", "connections": 20}}``.
            more: The same as keyword arguments.

        Raises:
            ScenarioError: A key or value is not allowed.
        """
        texts = _texts({**(changes or {}), **more})
        overrides = _later(self.overrides, texts)
        with _problems_by_key():
            if self._cut is None:
                return self._parse(self.path, self._text, overrides, self.tables)
            cut, core = replace(self._cut, after=_later(self._cut.after, texts)), self.core.with_(texts)
        return self._new()._fill(self.path, overrides, self._text, core, cut, self.tables)

    @functools.cached_property
    def design(self) -> Design | None:
        """The factors of the table `sweep` and their combinations, or None without the table."""
        design = self.core.design()
        return None if design is None else Design.from_dict(json.loads(design))

    def point(self, number: int) -> Self:
        """The scenario at a point of its sweep: the levels of the point set, and the table `sweep` gone.

        Args:
            number: Place in `design.points`, from 0.

        Raises:
            ScenarioError: Levels that are right alone make no sense together. The message names them.
            IndexError: There is no such point.
        """
        return self._without_sweep(number)

    def plain(self) -> "Description":
        """The same without what a subclass adds: another process need not know it."""
        return Description._new()._fill(self.path, self.overrides, self._text, self.core, self._cut, self.tables)

    def without_sweep(self) -> Self:
        """The scenario without the table `sweep`, as a single run simulates it."""
        return self if self.design is None else self._without_sweep(None)

    def _without_sweep(self, point: int | None) -> Self:
        cut = _Cut(self.overrides, point, {})
        core = cut.apply(self.core)
        return self._new()._fill(self.path, self.overrides, self._text, core, cut, self.tables)

    @functools.cached_property
    def effective(self) -> dict[str, Any]:
        """The scenario after overrides, every default spelled out, quantities as texts with their unit."""
        effective: dict[str, Any] = json.loads(self.core.effective())
        return effective

    @property
    def name(self) -> str:
        """The name of the scenario: its `name`, or else its file's."""
        return self.effective["name"] or self.path.stem

    def inputs(self, seed: int | None = None) -> dict[str, Input]:
        """The files that a run reads, by their names in manifests.

        Args:
            seed: Seed of the run (default: the scenario's `run.seed`).
        """
        folder = self.path.parent if self.tables is None else self.tables
        named = self.core.inputs(self.effective["run"]["seed"] if seed is None else seed)
        return {name: Input(key, kind, file, folder / file, of_link) for name, key, kind, file, of_link in named}

    def complete(
        self, seed: int | None = None, opened: Callable[[str, Input], _core.LinkFile] | None = None
    ) -> _core.Scenario:
        """The compiled form with the content of the files that its links name, as it is simulated and explained.

        Args:
            seed: Seed of the run (default: the scenario's `run.seed`).
            opened: Gives the content of a file by its name in manifests (default: it is read).

        Raises:
            WorkloadError: A file cannot be read.
            ScenarioError: A file makes no sense in the scenario.
        """
        seed = self.effective["run"]["seed"] if seed is None else seed
        files = {name: each for name, each in self.inputs(seed).items() if each.is_of_link}
        if not files:
            return self.core
        from farweb.inputs.link_files import read_link_file

        read = opened or (lambda _, each: read_link_file(each.kind, each.path))
        content = [(each.kind, each.file, read(name, each)) for name, each in files.items()]
        with _problems_by_key():
            return self.core.complete(seed, content)

    def __rich__(self) -> "RenderableType":
        from rich.text import Text

        changed = "".join(f"\n  {key} = {value}" for key, value in self.overrides.items())
        return Text.assemble((self.name, "bold"), f"\n  {self.path}{changed}")


@dataclass(frozen=True)
class _Cut:
    """Steps from a scenario with a sweep to one without.

    Attributes:
        before: Overrides of the one with a sweep.
        point: The point that sets the levels. None: no levels.
        after: Overrides since then.
    """

    before: Mapping[str, str]
    point: int | None
    after: Mapping[str, str]

    def apply(self, core: _core.Scenario) -> _core.Scenario:
        core = core.without_sweep() if self.point is None else core.point(self.point)
        return core.with_(dict(self.after)) if self.after else core


@functools.lru_cache(maxsize=_PARSED_KEPT)
def _parsed(text: str, file: str, overrides: tuple[tuple[str, str], ...]) -> _core.Scenario:
    """The compiled form, parsed once a process."""
    core = _core.Scenario.parse(text, file, dict(overrides))
    _check_factors(core)
    return core


def _check_factors(core: _core.Scenario) -> None:
    """Refuse factors named like columns beside them. A dotted key never is."""
    names = [name for name in core.factors if "." not in name]
    if not names:
        return
    from farweb.results.sweep_schema import is_column

    wrong = [name for name in names if is_column(name)]
    if wrong:
        message = "results have a column of this name; give the factor another"
        raise ScenarioError("\n".join(core.problem(f"sweep.factors.{toml.key(name)}", message) for name in wrong))


_NO_FILE = Path("scenario")  # of a scenario from a dict: names its results folder


@contextlib.contextmanager
def _problems_by_key() -> Iterator[None]:
    """Make lines about values of no file begin with their key, instead of with `--set` of the command line.

    The cause of the error that is raised has the words of the command line.
    """
    try:
        yield
    except ScenarioError as error:
        if not error.problems:
            raise
        *said, closing = str(error).splitlines()
        lines = [_by_key(problem, line) for problem, line in zip(error.problems, said, strict=True)]
        again = ScenarioError("\n".join([*lines, closing]))
        again.problems = error.problems
        raise again from error


def _by_key(problem: _core.Problem, line: str) -> str:
    is_of_a_file = problem.file is not None and problem.file != str(_NO_FILE)
    return line if is_of_a_file else f"{problem.key}: {problem.message}"


def _later(overrides: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """All overrides in order of application, `more` last."""
    return {**{key: value for key, value in overrides.items() if key not in more}, **more}


def _texts(values: Mapping[str, Value]) -> dict[str, str]:
    """Values as the core takes them: bare text, or TOML."""
    return {
        key: os.fspath(value) if isinstance(value, str | os.PathLike) else toml.value(value, key)
        for key, value in values.items()
    }
