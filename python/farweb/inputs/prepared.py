"""Opens the files that a scenario names, each once, for every reader."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.regular import sha256_of, stamp
from farweb.inputs.description import Description, Input
from farweb.inputs.provenance import caveats, origin
from farweb.inputs.tables import open_hosts, open_requests


@dataclass(frozen=True)
class Prepared:
    """The files that a scenario names, open, or the requests that its family generates.

    Attributes:
        scenario: The scenario.
        complete: Its compiled form with the content of the files that its links name.
        core: The requests and their hosts.
        inputs: Entries of the manifest by name: `file`, `sha256`, `rows`, `caveats` and `origin_unix_s`.
        imported: Counts of the import that the request table is from, or None of any other table.
    """

    scenario: Description
    complete: _core.Scenario
    core: _core.Prepared
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    imported: Mapping[str, Any] | None = None
    _stamps: Mapping[Path, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    @contextlib.contextmanager
    def of(cls, scenario: Description, *, may_lack: bool = False) -> Iterator[Self]:
        """Open the files of `scenario` for the block.

        A run has the rows read here, or reads a long table again.

        Args:
            scenario: The scenario.
            may_lack: True when the request table need not be there.

        Raises:
            WorkloadError: A file cannot be used, or was changed while it was read.
        """
        named = scenario.inputs()
        requests, hosts = named.get("requests"), named.get("hosts")
        stamps = {each.path: stamp(each.path) for each in named.values()}
        host_table = None if hosts is None else open_hosts(hosts.path)
        complete = scenario.complete()
        inputs = {name: _of_link(each) for name, each in named.items() if each.is_of_link}
        if requests is None:
            core = _core.Prepared.of_family(scenario.core, scenario.effective["run"]["seed"])
            prepared = cls(scenario, complete, core, inputs, None, stamps)
            prepared.require_untouched()
            yield replace(prepared, _stamps={})
        elif may_lack and not requests.path.exists():
            yield cls(scenario, complete, _core.Prepared((), str(requests.path), host_table), inputs)
        else:
            with open_requests(requests.path, host_table) as table:
                described = {"requests": _entry(requests, table.core.rows)}
                if hosts is not None and host_table is not None:
                    described["hosts"] = _entry(hosts, len(host_table))
                described["requests"] |= {"caveats": caveats(table.imported), "origin_unix_s": origin(table.imported)}
                prepared = cls(scenario, complete, table.core, described | inputs, table.imported, stamps)
                prepared.require_untouched()
                is_kept = (table.core.rows or 0) <= _core.rows_kept
                yield replace(prepared, _stamps={}) if is_kept else prepared

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


def _of_link(named: Input) -> dict[str, Any]:
    from farweb.inputs.link_files import read_link_file

    return _entry(named, read_link_file(named.kind, named.path).rows)


def _entry(named: Input, rows: int | None) -> dict[str, Any]:
    digest = sha256_of(named.path, WorkloadError)
    return {"file": named.file, "sha256": digest, "rows": rows, "caveats": [], "origin_unix_s": None}


def _source(scenario: Description) -> Any:
    """Everything that determines requests and hosts."""
    named = {name: each for name, each in scenario.inputs().items() if not each.is_of_link}
    effective = scenario.effective
    if "requests" in named:
        return named
    return effective["run"]["seed"], {key: effective["workload"].get(key) for key in ("family", "days", "parameters")}
