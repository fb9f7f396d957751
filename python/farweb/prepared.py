"""Opens the files that a scenario names, each once, for all that is made of them."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from farweb import _core
from farweb.description import Description
from farweb.errors import WorkloadError
from farweb.files.regular import stamp
from farweb.inputs.provenance import caveats
from farweb.inputs.tables import open_hosts, open_requests
from farweb.results.integrity import describe


@dataclass(frozen=True)
class Prepared:
    """The files that a scenario names, open, or the requests that its family generates.

    Attributes:
        scenario: The scenario.
        core: The requests and their hosts.
        inputs: Entries of the manifest by name: `file`, `sha256`, `rows` and `caveats`.
        imported: Counts of the import that the request table is from; None of any other table.
        lacks: The request table, where it is not there yet.
    """

    scenario: Description
    core: _core.Prepared
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    imported: Mapping[str, Any] | None = None
    lacks: Path | None = None
    _stamps: Mapping[Path, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    @contextlib.contextmanager
    def of(cls, scenario: Description, *, may_lack: bool = False) -> Iterator[Self]:
        """Open the files of `scenario` for the block.

        A run has the rows that were read here, or reads those of a long table again.

        Args:
            scenario: The scenario.
            may_lack: True when the request table need not be there.

        Raises:
            WorkloadError: A file cannot be used, or was changed while it was read.
        """
        named = scenario.inputs()
        requests, hosts = named.get("requests"), named.get("hosts")
        if requests is None:
            yield cls(scenario, _core.Prepared.of_family(scenario.core, scenario.effective["run"]["seed"]))
            return
        stamps = {each.path: stamp(each.path) for each in named.values()}
        host_table = None if hosts is None else open_hosts(hosts.path)
        if may_lack and not requests.path.exists():
            yield cls(scenario, _core.Prepared((), str(requests.path), host_table), lacks=requests.path)
            return
        with open_requests(requests.path) as table:
            core = _core.Prepared(table, str(requests.path), host_table)
            rows, imported = (core.rows, None) if isinstance(table, str) else (table.rows, table.imported)
            assert rows is not None, "the core counts the rows of a text"
            counts = {"requests": rows, "hosts": 0 if host_table is None else len(host_table)}
            inputs = {
                name: {"file": each.file, "sha256": _sha256(each.path), "rows": counts[name], "caveats": []}
                for name, each in named.items()
            }
            inputs["requests"]["caveats"] = caveats(imported)
            prepared = cls(scenario, core, inputs, imported, _stamps=stamps)
            prepared.require_untouched()
            again = {requests.path} if rows > _core.rows_kept else set()
            yield replace(prepared, _stamps={path: stamps[path] for path in again})

    def fits(self, scenario: Description) -> bool:
        """True when another scenario has the same requests and hosts."""
        return bool(_source(scenario) == _source(self.scenario))

    def require_untouched(self) -> None:
        """Refuse files that are read again and are others by now.

        Raises:
            WorkloadError: One is.
        """
        for path, found in self._stamps.items():
            if stamp(path) != found:
                raise WorkloadError(f"{path}: was changed after it was read; begin again when it stays as it is")


def _source(scenario: Description) -> Any:
    """Everything that determines requests and hosts."""
    named, effective = scenario.inputs(), scenario.effective
    if "requests" in named:
        return named
    return effective["run"]["seed"], {key: effective["workload"].get(key) for key in ("family", "days", "parameters")}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return str(describe(file)["sha256"])
