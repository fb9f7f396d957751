"""Scenarios: a description of a path and what rides on it, checked when it is made."""

import contextlib
import functools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb import _core, toml
from farweb.errors import ScenarioError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.offered import Offered
    from farweb.results import Results
    from farweb.run import Progress
    from farweb.sweep.design import Design
    from farweb.sweep.results import SweepResults
    from farweb.sweep.sweep import Progress as SweepProgress

Value = str | int | float | bool | os.PathLike[str] | list[Any] | tuple[Any, ...] | Mapping[str, Any]

_LABEL_WIDTH = 24  # as the core aligns what `check` says
_PARSED_KEPT = 8  # chosen: a worker has the scenarios of a sweep or two


@dataclass(frozen=True, init=False)
class Scenario:
    """A checked scenario: from a file with `Scenario.load`, or from a dict with the keys of such a file.

    Change keys with `with_`; simulate it with `run` or `sweep`. It can be pickled, and is checked again where it
    arrives, once a process for all points of a sweep.

    Attributes:
        path: The file that it came from; of one from a dict, ``scenario``.
        overrides: Values that stand instead of the file's, by dotted key, as TOML or bare text.
        core: The compiled form, for whoever drives the simulation.
        tables: Folder that the tables which it names are relative to; None: that of its file, or the current one.
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
            tables: Folder of the tables that it names; the current one when left out.

        Raises:
            ScenarioError: There are problems: a line each, with the key, what was found and what is allowed.
        """
        if not isinstance(description, Mapping):
            raise ScenarioError(f"a scenario is a dict, not {description!r}; Scenario.load reads a file")
        text = "".join(f"{toml.key(str(key))} = {toml.value(value, str(key))}\n" for key, value in description.items())
        texts = _texts(overrides or {})
        with _told_by_key(texts):
            self._fill(_NO_FILE, texts, text, _parsed(text, str(_NO_FILE), tuple(texts.items())), None, tables)

    def _fill(
        self,
        path: Path,
        overrides: Mapping[str, str],
        text: str,
        core: _core.Scenario,
        cut: "_Cut | None",
        tables: Path | None,
    ) -> "Scenario":
        fields = {"path": path, "overrides": overrides, "_text": text, "core": core, "_cut": cut, "tables": tables}
        for name, value in fields.items():
            object.__setattr__(self, name, value)  # frozen from now on
        return self

    @classmethod
    def load(
        cls, path: str | Path, overrides: Mapping[str, Value] | None = None, *, tables: Path | None = None
    ) -> "Scenario":
        """Read and check a scenario file.

        Args:
            path: The file (TOML).
            overrides: Values by dotted key that stand instead of the file's, as `with_` takes them.
            tables: Folder of the tables that it names; that of the file when left out.

        Raises:
            ScenarioError: The file cannot be read, or has problems: a line each, with file, line, key, what was found
                and what is allowed.
        """
        path = Path(path)
        texts = _texts(overrides or {})
        with _told_by_key(texts):
            return cls._parse(path, _read(path), texts, tables)

    @classmethod
    def _parse(cls, path: Path, text: str, overrides: Mapping[str, str], tables: Path | None) -> "Scenario":
        core = _parsed(text, str(path), tuple(overrides.items()))
        return cls._new()._fill(path, overrides, text, core, None, tables)

    @classmethod
    def _new(cls) -> "Scenario":
        return object.__new__(cls)

    @classmethod
    def _rebuild(
        cls, path: Path, text: str, overrides: Mapping[str, str], cut: "_Cut | None", tables: Path | None
    ) -> "Scenario":
        """The scenario that was pickled."""
        if cut is None:
            return cls._parse(path, text, overrides, tables)
        core = cut.apply(_parsed(text, str(path), tuple(cut.before.items())))
        return cls._new()._fill(path, overrides, text, core, cut, tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scenario._rebuild, (self.path, self._text, dict(self.overrides), self._cut, self.tables)

    def with_(self, changes: Mapping[str, Value] | None = None, /, **more: Value) -> "Scenario":
        """The same scenario with other values; at a point of a sweep they stand instead of what its levels set.

        Args:
            changes: Values by dotted key: ``{"leg.0.tcp.buffer": "65535 B", "workload.load": 4}``. A value may be a
                dict: ``{"leg.0.carrier": {"kind": "mux", "connections": 20}}``.
            more: The same as keyword arguments.

        Raises:
            ScenarioError: A key or value is not allowed.
        """
        texts = _texts({**(changes or {}), **more})
        overrides = _later(self.overrides, texts)
        with _told_by_key(overrides):
            if self._cut is None:
                return self._parse(self.path, self._text, overrides, self.tables)
            cut, core = replace(self._cut, after=_later(self._cut.after, texts)), self.core.with_(texts)
        return self._new()._fill(self.path, overrides, self._text, core, cut, self.tables)

    @functools.cached_property
    def design(self) -> "Design | None":
        """The factors of the table `sweep` and their combinations; None without the table."""
        from farweb.sweep.design import Design

        design = self.core.design()
        return None if design is None else Design.from_dict(json.loads(design))

    def point(self, number: int) -> "Scenario":
        """The scenario at a point of its sweep: the levels of the point set, and the table `sweep` gone.

        Args:
            number: Place in `design.points`, from 0.

        Raises:
            ScenarioError: Levels that are right alone make no sense together; the message names them.
            IndexError: There is no such point.
        """
        return self._without_sweep(number)

    def without_sweep(self) -> "Scenario":
        """The scenario without the table `sweep`: what a single run simulates."""
        return self if self.design is None else self._without_sweep(None)

    def _without_sweep(self, point: int | None) -> "Scenario":
        cut = _Cut(self.overrides, point, {})
        core = cut.apply(self.core)
        return self._new()._fill(self.path, self.overrides, self._text, core, cut, self.tables)

    @functools.cached_property
    def effective(self) -> dict[str, Any]:
        """The scenario after overrides, every default spelled out; quantities are texts with their unit."""
        effective: dict[str, Any] = json.loads(self.core.effective())
        return effective

    @property
    def name(self) -> str:
        """What the scenario is called: its `name`, or its file's."""
        return self.effective["name"] or self.path.stem

    def table(self, kind: str, seed: int) -> Path | None:
        """A table of the workload as a run with this seed reads it; None when the scenario names none.

        Args:
            kind: ``requests`` or ``hosts``.
            seed: Stands where the name says ``{seed}``: a table for each replication.
        """
        named = self.effective["workload"].get(kind)
        folder = self.path.parent if self.tables is None else self.tables
        return None if named is None else folder / str(named).replace("{seed}", str(seed))

    @property
    def requests_path(self) -> Path | None:
        """The request table; None when a family stands in its place."""
        return self.table("requests", self.effective["run"]["seed"])

    @property
    def hosts_path(self) -> Path | None:
        """The host table, if there is one."""
        return self.table("hosts", self.effective["run"]["seed"])

    def check(self) -> "Check":
        """What the scenario means: round-trip times, bandwidth-delay products, window limits, offered load, warnings.

        Reads the tables of the workload, if they are there, and simulates nothing.

        Raises:
            WorkloadError: A table cannot be used.
        """
        from farweb.offered import offered
        from farweb.tables import open_hosts

        hosts = None if self.hosts_path is None else open_hosts(self.hosts_path)
        figures = json.loads(self.core.check(hosts))
        if self.requests_path is not None and not self.requests_path.exists():
            figures["warnings"].append(f"workload.requests: {self.requests_path} does not exist yet; a run needs it")
        load = offered(self, figures)
        figures["offered"] = None if load is None else load.to_dict()
        figures["warnings"] += [] if load is None else load.warnings
        return Check(figures, self.effective, load)

    def run(
        self,
        seed: int | None = None,
        out: str | Path | None = None,
        progress: "Callable[[Progress], None] | None" = None,
        *,
        replace: bool = True,
    ) -> "Results":
        """Simulate the scenario and write a results folder.

        Args:
            seed: Root of every random stream; the scenario's `run.seed` when left out. The same scenario, seed and
                version give the same tables, byte for byte, in any process.
            out: The folder; ``results/NAME`` when left out, NAME being that of the scenario file.
            progress: Called some ten times a second.
            replace: Whether an older result of a run that is there is replaced; anything else that is there stays.

        Raises:
            ScenarioError: The seed is not allowed.
            WorkloadError: A table of the workload cannot be used.
            ResultsError: There is a folder at `out` that is not a result, or may not be replaced.
            RunError: The run failed, or the disk is full. Nothing is left at `out` then.
        """
        from farweb.run import simulate

        scenario = self if seed is None else self.with_({"run.seed": seed})
        folder = Path("results") / self.path.stem if out is None else Path(out)
        return simulate(scenario, folder, progress, replace=replace)

    def sweep(
        self,
        out: str | Path | None = None,
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        retries: int = 0,
        progress: "Callable[[SweepProgress], None] | None" = None,
    ) -> "SweepResults":
        """Do the runs of the scenario's table `[sweep]`, as many at a time as there are cores.

        Runs whose results are in the folder are not done again. A run that fails is recorded, and the others go on. A
        script that calls this has to do so below ``if __name__ == "__main__":``, as its worker processes import it.

        Args:
            out: The folder, or a URL that fsspec knows; ``results/NAME`` when left out, NAME being that of the scenario
                file.
            jobs: Runs at a time, a process each; as many as cores when left out.
            scheduler: Address of a Dask scheduler, or path of its scheduler file, whose workers do the runs instead.
            retries: How often a run that failed is tried again.
            progress: Called some ten times a second.

        Raises:
            ScenarioError: There is no table `[sweep]`, or a combination of levels is not allowed.
            WorkloadError: A table of the workload cannot be used. Nothing is written then.
            ResultsError: There is something else at `out`, or another sweep is at work there.
            RunError: The folder cannot be written to, or the scheduler has gone. What was finished stays.
        """
        from farweb.sweep.sweep import run_sweep

        folder = Path("results") / self.path.stem if out is None else out
        return run_sweep(self, folder, jobs=jobs, scheduler=scheduler, retries=retries, progress=progress)

    def __rich__(self) -> "RenderableType":
        from rich.text import Text

        changed = "".join(f"\n  {key} = {value}" for key, value in self.overrides.items())
        return Text.assemble((self.name, "bold"), f"\n  {self.path}{changed}")

    def _repr_html_(self) -> str:
        return f"<strong>{escape(self.name)}</strong><pre>{escape(self.check().text)}</pre>"


@dataclass(frozen=True)
class Check:
    """What a scenario means.

    Attributes:
        figures: Links, legs and warnings with their numbers; units are in the names.
        scenario: The scenario after overrides, every default spelled out.
        offered: What the workload offers to the links; None without requests or without a rate.
    """

    figures: Mapping[str, Any]
    scenario: Mapping[str, Any]
    offered: "Offered | None" = None

    @property
    def text(self) -> str:
        """The path drawn in text, and a paragraph a leg."""
        return str(self.figures["text"])

    @property
    def warnings(self) -> list[str]:
        """What is allowed but may not be meant."""
        return list(self.figures["warnings"])

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"check": dict(self.figures), "scenario": dict(self.scenario)}

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table
        from rich.text import Text

        from farweb.sheet import to_rich

        parts: list[RenderableType] = []
        for line in self.text.rstrip().splitlines():
            if found := re.fullmatch(r"  (\S.*?)  +(\S.*)", line):  # a label and what it says, which may be folded
                pair = Table.grid(padding=(0, 1, 0, 0))
                pair.add_column(min_width=_LABEL_WIDTH)
                pair.add_column(overflow="fold")
                pair.add_row(found[1], Text(found[2]))
                parts.append(Padding(pair, (0, 0, 0, 2)))
            else:
                parts.append(Text(line))
        parts += [] if self.offered is None else [Text(""), to_rich([self.offered.sheet()])]
        parts += [Text.assemble(("warning: ", "yellow"), warning) for warning in self.warnings]
        return Group(*parts)

    def _repr_html_(self) -> str:
        from farweb.sheet import to_html

        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        load = "" if self.offered is None else to_html([self.offered.sheet()])
        return f"<pre>{escape(self.text)}</pre>{load}<ul>{warnings}</ul>"


@dataclass(frozen=True)
class _Cut:
    """How a scenario without a sweep came from one with a sweep.

    Attributes:
        before: Overrides of the one with a sweep.
        point: The point whose levels are set; None: no levels.
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
    """Refuse factors that are called like columns beside them; a dotted key is none."""
    names = [name for name in core.factors if "." not in name]
    if not names:
        return
    from farweb.sweep.tables import is_column

    wrong = [name for name in names if is_column(name)]
    if wrong:
        message = "results have a column of this name; give the factor another"
        raise ScenarioError("\n".join(core.problem(f"sweep.factors.{toml.key(name)}", message) for name in wrong))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path}: not UTF-8 text (byte {error.start}); a scenario is a TOML file") from None


_NO_FILE = Path("scenario")  # of a scenario from a dict: names its results folder


@contextlib.contextmanager
def _told_by_key(overrides: Mapping[str, str]) -> Iterator[None]:
    """Let problems begin with their key where they are of no file: `--set` is a word of the command line.

    The cause of the error that is raised has the words of the command line.
    """
    try:
        yield
    except ScenarioError as error:
        lines = [_without_option(line, overrides) for line in str(error).splitlines()]
        raise ScenarioError("\n".join(lines)) from error


def _without_option(line: str, overrides: Mapping[str, str]) -> str:
    for key, value in overrides.items():
        line = line.removeprefix(f"--set {key}={_in_one_line(value)}: ")
    return re.sub(rf"^{_NO_FILE}:\d+: ", "", line)


def _in_one_line(text: str) -> str:
    """A text as messages of the core repeat it: control characters are spelled out."""
    short = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda found: short.get(found[0], f"\\u{{{ord(found[0]):x}}}"), text)


def _later(overrides: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """All of them, those of `more` last, as they are applied in order."""
    return {**{key: value for key, value in overrides.items() if key not in more}, **more}


def _texts(values: Mapping[str, Value]) -> dict[str, str]:
    """Values as the core takes them: bare text, or TOML."""
    return {
        key: os.fspath(value) if isinstance(value, str | os.PathLike) else toml.value(value, key)
        for key, value in values.items()
    }
