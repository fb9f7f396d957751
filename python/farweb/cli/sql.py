"""`farweb sql`: queries the tables of a run or a sweep."""

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.cli.verbs import Call, UsageError, verb
from farweb.text.words import plural, visible

if TYPE_CHECKING:
    import polars as pl

_MOST_SHOWN = 1000  # chosen: enough to read on a terminal


@verb(as_csv="--csv")
def sql(call: Call, results: str, query: str, *, out: Path | None = None, as_csv: bool = False) -> None:
    """Query the tables of a sweep or a run in SQL (DuckDB's dialect).

    Tables of a sweep: runs, estimates, differences, effects, level_effects, warmup, timings, and of all its runs
    together requests, exchanges, connections, links, legs and packets, if recorded. Factors are columns, written in
    double quotes when they have dots. Nothing is changed, and no other file is read.

    Args:
        results: The results folder of a run or a sweep; of a sweep also a URL.
        query: SQL, in quotes.
        out: Write the answer to FILE.parquet or FILE.csv.
        as_csv: Print the answer as CSV.

    Examples:

        farweb sql results/sweep "select status, count(*) from runs group by all"

        farweb sql results/sweep 'describe requests'

        farweb sql results/sweep 'select "workload.load", mean from estimates'

        farweb sql results/cable "select host, end_ns from requests" -o ends.csv
    """
    from farweb.library.folders import open_results

    if as_csv and call.as_json:
        raise UsageError("--csv and --json exclude each other; give one")
    if out is not None and out.suffix.lower() not in {".parquet", ".csv"}:
        raise UsageError(f"{out}: the answer is written as .parquet or .csv")
    call.takes(out)
    answer = open_results(results).sql(query)
    if out is not None:
        _write(answer, out)
        if call.as_json:
            call.result({"results": str(results), "out": str(out), "rows": answer.height}, "")
        call.note(f"wrote {out}: {plural(answer.height, 'row')}")
    elif as_csv:
        sys.stdout.write(visible(_csv(answer)) if sys.stdout.isatty() else _csv(answer))
    elif call.as_json:
        rows = [{name: _json(value) for name, value in row.items()} for row in answer.iter_rows(named=True)]
        call.result({"results": str(results), "columns": answer.columns, "rows": rows}, "")
    else:
        from farweb.text.sheet import Screen, Sheet

        shown = [[_text(value) for value in row] for row in answer.head(_MOST_SHOWN).iter_rows()]
        call.result({}, Screen((Sheet("", answer.columns, shown),)))
        if answer.height > _MOST_SHOWN:
            call.note(f"The first {_MOST_SHOWN:,} of {answer.height:,} rows; -o FILE writes all.")


def _write(answer: "pl.DataFrame", out: Path) -> None:
    from farweb.files.atomic import staged_file

    with staged_file(out) as stage:
        if out.suffix.lower() == ".csv":
            stage.write_text(_csv(answer), "utf-8")
        else:
            answer.write_parquet(stage)


def _csv(answer: "pl.DataFrame") -> str:
    """Convert to CSV, with lists as texts in JSON."""
    import polars as pl

    nested = [name for name, kind in answer.schema.items() if kind.is_nested()]
    texts = [
        pl.Series(name, [None if value is None else json.dumps(_json(value)) for value in answer[name].to_list()])
        for name in nested
    ]
    return answer.with_columns(texts).write_csv()


def _json(value: Any) -> Any:
    """A value as JSON has it: no NaN, no infinity, times and the like as texts."""
    if isinstance(value, dict):
        return {name: _json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _text(value: Any) -> str:
    """A value for people: numbers with six significant digits, whole numbers as they are."""
    from farweb.text.quantities import plain

    if value is None:
        return "–"
    return plain(value, 6) if isinstance(value, float) else str(value)
