"""The studio, farweb in a browser tab: writes its one file with a scenario and its requests inside (`farweb studio`).

The file is built from `studio/` (`make studio`), and may connect to nothing: what stands in it is all that it shows. A
scenario goes in as a block of data, which no program in the page runs.
"""

import base64
import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from farweb import _core
from farweb.errors import FarwebError, ScenarioError
from farweb.files.atomic import staged_file
from farweb.files.columns import Column
from farweb.files.regular import read_text
from farweb.files.shipped import shipped
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.text.quantities import count

ROWS_MAX = 50_000
"""Most requests that go into a file. Chosen: a run of seconds in a tab, and 2 MB."""

_END = "</body>"
_NAMES = {"object": _core.null_id, "client": _core.null_id, "day": _core.null_int}


@dataclass(frozen=True)
class Studio:
    """A file that was written.

    Attributes:
        file: The file.
        requests: Requests of a table that are in it. None: the scenario draws its own, or there is no scenario.
    """

    file: Path
    requests: int | None


def built() -> Path:
    """The studio as it was built, without a scenario.

    Raises:
        FarwebError: It was not built.
    """
    file = shipped("studio") / "dist/studio.html"
    if not file.is_file():
        raise FarwebError(f"{file}: is not built; in the source tree, make studio builds it")
    return file


def write_studio(file: Path, scenario: Description | None = None) -> Studio:
    """Write the studio, with a scenario and its request table inside if there is one.

    Readable for its owner alone: a log's hosts are in it.

    Raises:
        FarwebError: The studio was not built, the table has too many rows or cannot be read, or the file cannot be
            written, as it is the scenario or a table of it.
    """
    page, rows = built().read_text("utf-8"), None
    if scenario is not None:
        for path in (scenario.path, *(named.path for named in scenario.inputs().values())):
            if file.exists() and file.samefile(path):
                raise FarwebError(f"{file}: is the scenario itself or a table of it; name another file with --out")
        tables, rows = _tables(scenario) if "requests" in scenario.inputs() else ([], None)
        carried = {"name": scenario.path.name, "text": _text(scenario.path), "tables": tables}
        packed = base64.b64encode(gzip.compress(json.dumps(carried).encode(), mtime=0)).decode()
        head, end, foot = page.rpartition(_END)
        page = f'{head}<script type="text/plain" id="carried">{packed}</script>\n{end}{foot}'
    with staged_file(file) as stage:
        stage.touch(0o600)
        stage.write_text(page, "utf-8")
    return Studio(file, rows)


def _text(scenario: Path) -> str:
    return read_text(scenario, ScenarioError, "a scenario is a TOML file")


def _tables(scenario: Description) -> tuple[list[dict[str, str]], int]:
    """The request table of a scenario as CSV and its host table, under the names that it has for them; and the rows."""
    named = scenario.inputs()
    with Prepared.of(scenario) as prepared:
        rows = prepared.core.rows
        if rows is None or rows > ROWS_MAX:
            raise FarwebError(
                f"{named['requests'].path}: has {count(rows)} requests, and a tab takes {count(ROWS_MAX)}; take some, "
                "such as farweb new --busiest 10m, or simulate all with farweb run"
            )
        requests = pl.concat([_frame(columns) for columns in prepared.core])
    workload = scenario.effective["workload"]
    tables = [
        {
            "name": workload["requests"],
            "file": f"{named['requests'].path.stem}.csv",
            "bytes": _packed(requests[[column.name for column in requests if column.null_count() < rows]]),
        }
    ]
    if "hosts" in named:
        hosts = named["hosts"].path
        of_parquet = hosts.suffix.lower() == ".parquet"
        bytes_ = _packed(pl.read_parquet(hosts)) if of_parquet else base64.b64encode(hosts.read_bytes()).decode()
        file = f"{hosts.stem}.csv" if of_parquet else hosts.name
        tables.append({"name": workload["hosts"], "file": file, "bytes": bytes_})
    return tables, rows


def _frame(columns: Mapping[str, Column | None]) -> pl.DataFrame:
    """Rows of a request table with null where the core has a number for it."""
    series = []
    for name, values in columns.items():
        if values is None:
            continue
        if isinstance(values, tuple):
            codes, words = values[0], values[-1]
            series.append(pl.Series(name, [None if code < 0 else words[code] for code in codes.tolist()], pl.String))
        elif name == "tls":
            series.append(pl.Series(name, [None if tls < 0 else bool(tls) for tls in values.tolist()], pl.Boolean))
        else:
            number = pl.Series(name, values)
            missing = number.is_nan() if number.dtype.is_float() else number == _NAMES.get(name, _core.null_int)
            series.append(number.set(missing, None))
    return pl.DataFrame(series)


def _packed(table: pl.DataFrame) -> str:
    """A table as CSV, packed, in letters."""
    file = io.BytesIO()
    table.write_csv(file)
    return base64.b64encode(gzip.compress(file.getvalue(), mtime=0)).decode()
