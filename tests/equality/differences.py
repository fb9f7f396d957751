"""Results of two runs, compared exactly: every row of every column of every table, and the totals of the manifest.

Left out is what may differ between equal results: what a run cost (time, events), the ids of a sweep's runs, which are
digests of the scenario's keys, and its estimates, which follow from `runs`.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MANIFEST_PARTS = ("now_ns", "packet_hops", "links", "measured", "rows")
SWEEP_TABLE = "runs.parquet"
SWEEP_LEFT_OUT = ("run", "events")


@dataclass
class Comparison:
    """Findings of a comparison.

    Attributes:
        rows: Rows of the tables that both results have.
        values: Values compared: rows times columns, and numbers of the manifest.
        different: A line for each column, table or number that differs or is gone.
        new: Columns, tables and numbers that only the later result has.
    """

    rows: int = 0
    values: int = 0
    different: list[str] = field(default_factory=list)
    new: set[str] = field(default_factory=set)

    def compare_names(self, before: set[str], after: set[str], prefix: str = "") -> list[str]:
        """Note what only one side has; the names of both, in order."""
        self.different += [f"{prefix}{name}: is gone" for name in sorted(before - after)]
        self.new |= {f"{prefix}{name}" for name in after - before}
        return sorted(before & after)


def compare(before: Path, after: Path) -> Comparison:
    """Compare two results folders, of a run or of a sweep."""
    found = Comparison()
    if (before / SWEEP_TABLE).exists():
        _compare_tables(found, "runs", before / SWEEP_TABLE, after / SWEEP_TABLE, SWEEP_LEFT_OUT)
        return found
    one, other = ({file.stem for file in folder.glob("*.parquet")} for folder in (before, after))
    for table in found.compare_names(one, other):
        _compare_tables(found, table, before / f"{table}.parquet", after / f"{table}.parquet")
    _compare_manifests(found, before, after)
    return found


def compare_answers(before: tuple[int, str, str], after: tuple[int, str, str]) -> Comparison:
    """Compare what `farweb check --json` answers twice: texts to the byte, numbers to 12 digits."""
    found = Comparison()
    one, other = (
        dict(_leaves({"code": code, "err": err, **json.loads(out or "{}")})) for code, out, err in (before, after)
    )
    for key in found.compare_names(set(one), set(other)):
        found.values += 1
        if not _is_same(one[key], other[key]):
            found.different.append(f"{key}: {one[key]!r} before, {other[key]!r} after")
    return found


def _is_same(one: Any, other: Any) -> bool:
    if type(one) is float and type(other) is float:
        return math.isclose(one, other, rel_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def _compare_tables(found: Comparison, name: str, before: Path, after: Path, left_out: tuple[str, ...] = ()) -> None:
    one, other = (pq.read_table(file).drop_columns(list(left_out)) for file in (before, after))
    columns = found.compare_names(set(one.column_names), set(other.column_names), f"{name}.")
    if one.num_rows != other.num_rows:
        found.different.append(f"{name}: has {one.num_rows:,} rows before and {other.num_rows:,} after")
        return
    found.rows += one.num_rows
    found.values += one.num_rows * len(columns)
    for column in columns:
        if difference := _difference(one[column], other[column]):
            found.different.append(f"{name}.{column}: {difference}")


def _difference(before: pa.ChunkedArray, after: pa.ChunkedArray) -> str | None:
    """The first row where two columns differ; None when they are equal to the last bit."""
    if before.type != after.type:
        return f"is {before.type} before and {after.type} after"
    if _exact(before).equals(_exact(after)):
        return None
    pairs = list(zip(_exact(before).to_pylist(), _exact(after).to_pylist(), strict=True))
    rows = [row for row, (one, other) in enumerate(pairs) if one != other]
    first = rows[0]
    return (
        f"{len(rows):,} of {len(pairs):,} rows differ, the first is row {first}: "
        f"{before[first].as_py()!r} before, {after[first].as_py()!r} after"
    )


def _exact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as their bits: 0.0 is not -0.0, and NaN equals itself."""
    if not pa.types.is_float64(column.type):
        return column
    return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64())


def _compare_manifests(found: Comparison, before: Path, after: Path) -> None:
    one, other = (dict(_numbers(_manifest(folder))) for folder in (before, after))
    for key in found.compare_names(set(one), set(other), "manifest."):
        found.values += 1
        if one[key] != other[key] or math.copysign(1, one[key]) != math.copysign(1, other[key]):
            found.different.append(f"manifest.{key}: {one[key]!r} before, {other[key]!r} after")


def _manifest(folder: Path) -> Mapping[str, Any]:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    return {part: manifest[part] for part in MANIFEST_PARTS if part in manifest}


def _numbers(value: Any) -> Iterator[tuple[str, float]]:
    """The numbers in a JSON value, by their dotted path."""
    return ((path, leaf) for path, leaf in _leaves(value) if isinstance(leaf, int | float))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a JSON value that has no parts, by its dotted path."""
    if isinstance(value, Mapping | list):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, part in inner:
            yield from _leaves(part, f"{path}.{key}" if path else str(key))
    else:
        yield path, value
