"""A published study: a folder with scenarios, the claims of its paper, and how its numbers and figures are made.

The folder holds `study.toml` (the question, its sweeps, and sources of the ranges of its claims over open choices), the
scenario files that it names, `claims.toml`, `claims.py` (measurements by claim: `MEASURES`) and `figures.py`
(`FIGURES`). A generated workload has `workload.py` besides (request tables by file name: `TABLES`). All modules use
farweb's public interface only.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from farweb.errors import FarwebError, ResultsError
from farweb.files.shipped import shipped
from farweb.inputs.description import Description
from farweb.paint.figure import Figure
from farweb.reproduce.claims import Claim, Measured, read_claims
from farweb.reproduce.reading import AS_WRITTEN, Reading, find_reading, read_toml
from farweb.results.sweep import SweepTables
from farweb.text.words import nearest

Measure = Callable[["StudyResults"], "Sequence[Measured]"]
Drawn = Callable[["StudyResults"], "Figure"]
Fact = Callable[["StudyResults"], str]

STUDY = "study.toml"
PAPERS = shipped("papers")
"""The studies that come with farweb."""


@dataclass(frozen=True)
class StudySweep:
    """A sweep of a study.

    Attributes:
        name: Name in claims and figures, and of its folder.
        scenario: The scenario file, with its table [sweep].
        quick: Keys that a coarse look sets otherwise, as `Scenario.with_` takes them.
        reading: The reading of the paper, or None for the scenario as it is written.
    """

    name: str
    scenario: Path
    quick: Mapping[str, Any]
    reading: Reading | None = None

    def load(self, *, quick: bool, tables: Path | None = None) -> Description:
        """The scenario of the sweep.

        Args:
            quick: True when for a coarse look.
            tables: Folder of its request tables (default: the scenario's).

        Raises:
            ScenarioError: It is not allowed.
        """
        changes = self.reading.changes(self.scenario) if self.reading else {}
        loaded = Description.load(self.scenario, {key: toml_of(value) for key, value in changes.items()}, tables=tables)
        return loaded.with_({key: toml_of(value) for key, value in self.quick.items()}) if quick else loaded


@dataclass(frozen=True)
class Study:
    """A study and all that it takes to repeat it.

    Attributes:
        name: Name on the command line.
        folder: Folder of its files.
        title: Its subject, in a line.
        question: The question that it asks.
        source: The paper.
        sweeps: In the order of running.
        claims: The paper's claims, in its order.
        reading: Name of the reading of the paper.
    """

    name: str
    folder: Path
    title: str
    question: str
    source: str
    sweeps: tuple[StudySweep, ...]
    claims: tuple[Claim, ...]
    reading: str = AS_WRITTEN

    @functools.cached_property
    def measures(self) -> Mapping[str, Measure]:
        """The measure of each claim, by its id.

        Raises:
            FarwebError: A claim has none, or there is one for no claim.
        """
        found: Mapping[str, Measure] = self.module("claims").MEASURES
        if odd := set(found) ^ {claim.id for claim in self.claims}:
            raise FarwebError(f"{self.folder / 'claims.py'}: {', '.join(sorted(odd))}: not in both it and claims.toml")
        return found

    def fact(self, name: str, results: "StudyResults") -> str:
        """A number of the runs that the reason of a verdict names, in words: `FACTS` of ``claims.py`` makes it.

        Raises:
            FarwebError: There is no such fact.
        """
        facts: Mapping[str, Fact] = getattr(self.module("claims"), "FACTS", {})
        if name not in facts:
            raise FarwebError(
                f"{self.folder / 'claims.toml'}: {{{name}}}: neither a claim that was measured nor a fact"
            )
        try:
            return facts[name](results)
        except ResultsError:
            return "(not run)"

    @functools.cached_property
    def figures(self) -> Mapping[str, Drawn]:
        """The function that describes each figure, by its number in the paper or its name."""
        found: Mapping[str, Drawn] = self.module("figures").FIGURES
        return found

    @functools.cached_property
    def tables(self) -> Mapping[str, Callable[[], pa.Table]]:
        """The request tables that the study generates, by file name, or none."""
        if not (self.folder / "workload.py").is_file():
            return {}
        found: Mapping[str, Callable[[], pa.Table]] = self.module("workload").TABLES
        return found

    def module(self, name: str) -> ModuleType:
        """A module of the folder, by the name of its file.

        The folder of all studies is a package meanwhile: modules import each other with a dot, and a neighbouring
        folder's with two.

        Raises:
            FarwebError: There is no such file.
        """
        file = self.folder / f"{name}.py"
        if not file.is_file():
            raise FarwebError(f"{file}: no such file; a study has one")
        papers = ModuleType("farweb_papers")
        papers.__path__ = [str(self.folder.parent)]
        if getattr(sys.modules.get(papers.__name__), "__path__", None) != papers.__path__:
            for each in [each for each in sys.modules if each.partition(".")[0] == papers.__name__]:
                del sys.modules[each]  # of another folder of studies
            sys.modules[papers.__name__] = papers
        return importlib.import_module(f"{papers.__name__}.{self.name}.{name}")


class StudyResults:
    """The results of a study: a folder with a folder a sweep.

    Attributes:
        study: Which.
        path: The folder.
        quick: True for a coarse look.
    """

    def __init__(self, study: Study, path: Path, *, quick: bool) -> None:
        self.study = study
        self.path = path
        self.quick = quick
        self._sweeps: dict[str, SweepTables] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.study.folder, self.path, self.quick, self.study.reading)

    def sweep(self, name: str) -> SweepTables:
        """A sweep of the study.

        Raises:
            ResultsError: It was not run.
        """
        if name not in self._sweeps:
            if not (self.path / name).is_dir():
                raise ResultsError(f"{self.path / name}: the sweep was not run")
            self._sweeps[name] = SweepTables.open(self.path / name)
        return self._sweeps[name]

    def scenario(self, name: str) -> Description:
        """The scenario of a sweep, as it was run."""
        (found,) = (sweep for sweep in self.study.sweeps if sweep.name == name)
        return found.load(quick=self.quick)

    def of_study(self, name: str) -> "StudyResults":
        """The results of another study of the same campaign.

        Raises:
            ResultsError: It was not run in this folder.
        """
        path = self.path.parent / name
        if not path.is_dir():
            raise ResultsError(f"the study {name} was not run in this folder")
        study = read_study(self.study.folder.parent / name, self.study.reading)
        return StudyResults(study, path, quick=self.quick)


@functools.lru_cache(maxsize=1)
def _reopened(folder: Path, path: Path, quick: bool, reading: str) -> StudyResults:
    """The results that another process has sent: one object for all figures of a study, which reads tables once."""
    return StudyResults(read_study(folder, reading), path, quick=quick)


def find_studies(papers: Path, names: Sequence[str], reading: str = AS_WRITTEN) -> list[Study]:
    """Read the studies of a folder with these names, in its order. Without names: all that have the reading.

    Raises:
        FarwebError: There is no such folder, study or reading, or a file of one is wrong.
    """
    there = sorted((file.parent for file in papers.glob(f"*/{STUDY}")), key=_order)
    if not there:
        raise FarwebError(f"{papers}: there is no study here")
    known = [folder.name for folder in there]
    for name in names:
        if name not in known:
            hint = f" {near}?" if (near := nearest(name, known, 0.4)) else ""
            raise FarwebError(f"there is no study {name!r};{hint} studies: {', '.join(known)}")
    found = [read_study(folder, reading) for folder in there if not names or folder.name in names]
    if names and (without := [study.name for study in found if not study.sweeps]):
        raise FarwebError(f"reading {reading} is not of the study {without[0]}")
    return [study for study in found if study.sweeps]


def _order(folder: Path) -> tuple[int, str]:
    """Sort key of a study: its `order`, then its name."""
    return int(read_toml(folder / STUDY).get("order", 0)), folder.name


def read_study(folder: Path, reading: str = AS_WRITTEN) -> Study:
    """Read the study in a folder.

    Another reading than the scenarios as written has the sweeps that name it in their `readings`, and claims without
    reasons and ranges, which belong to the runs as written.

    Raises:
        FarwebError: A file of it is missing or wrong.
    """
    file = folder / STUDY
    described = read_toml(file)
    other = None if reading == AS_WRITTEN else find_reading(folder.parent, reading)
    try:
        sweeps = tuple(
            StudySweep(str(sweep["name"]), folder / str(sweep["scenario"]), dict(sweep.get("quick", {})), other)
            for sweep in described["sweep"]
            if other is None or reading in sweep.get("readings", ())
        )
        ranges = read_toml(folder / str(described["ranges"])) if "ranges" in described else None
        claims = read_claims(folder / "claims.toml", ranges)
        return Study(
            name=folder.name,
            folder=folder,
            title=str(described["title"]),
            question=str(described["question"]),
            source=str(described["source"]),
            sweeps=sweeps,
            claims=tuple(map(_bare, claims)) if other else claims,
            reading=reading,
        )
    except (KeyError, TypeError) as error:
        raise FarwebError(f"{file}: lacks the key {error}") from None


def _bare(claim: Claim) -> Claim:
    return replace(claim, why="", range="", decides="")


def toml_of(value: Any) -> Any:
    """A value of a TOML file as an override takes it: tables inside it become inline tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_quoted(key)} = {_inner(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return _inner(value)
    return value


def _inner(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(toml_of(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_inner, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
