"""Writes the trace of a family as a request table and a host table, for `farweb workload generate`.

Requests are written as they are made, in batches: memory is the family's own, whatever their number.

The core generates the same trace in a run with `workload.family`. Files are for inspection, for changes and for other
programs.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import FarwebError, ScenarioError, require_range
from farweb.files.atomic import staged_folder, taken
from farweb.files.columns import TableSpec, arrow_schema, to_arrow
from farweb.files.regular import kind_of, read_text
from farweb.inputs.tables import HOSTS_READ, REQUESTS, write_requests
from farweb.progress import Progress, unseen
from farweb.text.quantities import count
from farweb.text.sheet import Screen, Sheet, to_html

if TYPE_CHECKING:
    from rich.console import RenderableType

FILES = ("requests.parquet", "hosts.parquet")

_KEY = "farweb.generate"

_ALWAYS = ("start_s", "host", "request_bytes", "response_bytes", "server_s")
_COLUMNS = {"nzix": (*_ALWAYS, "wait_s", "tag", "day", "client"), "prowgen": (*_ALWAYS, "object", "client")}

# A path for the scenario that checks family, days and parameters, without effect on them.
_SCENARIO = """\
format = 1
path = { nodes = ["clients", "servers"], link = [
    { up = { rate = "unlimited", delay = "0 s" }, down = { rate = "unlimited", delay = "0 s" } },
] }
leg = [{ from = "clients", to = "servers", carrier = { kind = "http/1.0" } }]
workload = {}
"""


@dataclass(frozen=True)
class Generated:
    """A trace that was written.

    Attributes:
        out: The folder with `requests.parquet` and `hosts.parquet`.
        requests: Rows of the request table.
        hosts: Rows of the host table.
        trace: Family, seed, days (of nzix) and parameters that differ from the family's own.
    """

    out: Path
    requests: int
    hosts: int
    trace: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {"out": str(self.out), "requests": self.requests, "hosts": self.hosts, "trace": dict(self.trace)}

    def _sheet(self) -> Sheet:
        changed = [[name, str(value)] for name, value in self.trace["parameters"].items()]
        rows = [
            ["seed", str(self.trace["seed"])],
            *([["days", count(self.trace["days"])]] if "days" in self.trace else []),
            ["requests", count(self.requests)],
            ["hosts", count(self.hosts)],
            *changed,
        ]
        return Sheet(self.trace["family"], ["", "value"], rows)

    def __rich__(self) -> "RenderableType":
        return Screen((self._sheet(),))

    def _repr_html_(self) -> str:
        return f"{to_html([self._sheet()])}<p>{escape(str(self.out))}</p>"


def generate(
    family: str,
    out: str | Path,
    *,
    seed: int = 1,
    days: int | None = None,
    parameters: Mapping[str, str] | None = None,
    progress: Progress = unseen,
    replace: bool = True,
) -> Generated:
    """Write the trace of a family.

    Args:
        family: ``nzix``, ``prowgen``.
        out: A folder.
        seed: Root of the random streams, as run.seed, 0 to 2**53.
        days: Days of the trace of nzix, 1 to 3660 (default: 31).
        parameters: Parameters that are to have other values, as in a scenario.
        progress: Called as requests are written.
        replace: True to replace an older trace. Anything else there stays.

    Raises:
        ScenarioError: There is no such family or parameter, or a value is not allowed.
        FarwebError: There is something at `out` that may not be replaced, or the disk is full. Nothing is written then.
    """
    require_range("--seed", seed, 0, 2**53)
    require_range("--days", days, 1, 3660)
    out = Path(out)
    changed = dict(parameters or {})
    scenario = family_scenario(family, seed=seed, days=days, parameters=changed)
    prepared = _core.Prepared.of_family(scenario, seed)
    hosts = prepared.hosts
    assert hosts is not None, "a family has hosts"
    of_days = json.loads(scenario.check(hosts))["workload"]["days"]
    trace = {"family": family, "seed": seed, **({} if of_days is None else {"days": of_days}), "parameters": changed}
    with taken(out, lambda _: _may_write(out, replace)), staged_folder(out) as stage:
        requests = _write_requests(prepared, stage / FILES[0], trace, progress)
        schema = _schema(HOSTS_READ, tuple(column["name"] for column in HOSTS_READ["columns"]), trace)
        with pq.ParquetWriter(stage / FILES[1], schema, compression="zstd") as writer:
            writer.write_batch(to_arrow(hosts.columns(), schema))
    return Generated(out, requests, len(hosts), trace)


def family_scenario(
    family: str, *, seed: int = 1, days: int | None = None, parameters: Mapping[str, str] | None = None
) -> _core.Scenario:
    """A scenario with this family, on a path that nothing rides on.

    Raises:
        ScenarioError: There is no such family or parameter, or a value is not allowed.
    """
    keys = {"family": family, **{f"parameters.{name}": value for name, value in (parameters or {}).items()}}
    if days is not None:
        keys["days"] = str(days)
    settings = {**{f"workload.{key}": value for key, value in keys.items()}, "run.seed": str(seed)}
    return _core.Scenario.parse(_SCENARIO, "a scenario", settings)


def read_parameters(path: str | Path) -> dict[str, str]:
    """Parameters of a family from a TOML file with a key for each, such as ``farweb workload fit --out`` writes.

    Raises:
        ScenarioError: The file cannot be read, is not TOML, or a value is neither a number, text, nor true or false.
    """
    path = Path(path)
    try:
        found = tomllib.loads(read_text(path, ScenarioError, "parameters are a TOML file"))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: is not TOML: {error}") from None
    for name, value in found.items():
        if not isinstance(value, bool | int | float | str):
            raise ScenarioError(
                f"{path}: {name}: found {value}; write a number, text, true or false, a parameter on each line"
            )
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in found.items()}


def _write_requests(requests: _core.Prepared, path: Path, trace: Mapping[str, Any], progress: Progress) -> int:
    """Write all requests by start, and return their number."""
    left_out = {"wait_s"} if trace["parameters"].get("wait_recorded") == "false" else set()
    if int(trace["parameters"].get("clients", "0"), 0) == 0:
        left_out.add("client")
    columns_written = tuple(name for name in _COLUMNS[trace["family"]] if name not in left_out)
    return write_requests(requests, path, _schema(REQUESTS, columns_written, trace), progress)


def _schema(spec: TableSpec, names: tuple[str, ...], trace: Mapping[str, Any]) -> Any:
    present = [column for column in spec["columns"] if column["name"] in names]
    return arrow_schema({**spec, "columns": present}, {_KEY: json.dumps(dict(trace))})


def _may_write(out: Path, replace: bool) -> None:
    """Refuse to replace anything but a trace that may be replaced."""
    if not out.exists():
        return
    if not out.is_dir():
        raise FarwebError(f"{out}: {kind_of(out)}; name a folder with --out")
    other = sorted({path.name for path in out.iterdir()} - set(FILES))
    if other:
        raise FarwebError(
            f"{out}: has files that are not a trace, such as {other[0]}, and is left alone; name another folder"
        )
    if not replace and any(out.iterdir()):
        raise FarwebError(f"{out}: has a trace; --force replaces it, or name another folder with --out")
