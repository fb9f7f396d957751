"""`farweb schema`: prints the keys of scenario files and the columns of tables."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farweb.cli.help import Verb
from farweb.cli.options import Debug, Json, Output, Quiet, group

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.files.columns import TableSpec

app = group("Describe scenarios and tables.")


@app.command(cls=Verb)
def scenario(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the JSON Schema of a scenario, with which an editor completes and checks scenario files.

    Example:

        farweb schema scenario > farweb-scenario.schema.json
    """
    del debug
    from farweb import _core

    schema = json.loads(_core.scenario_schema())
    Output(as_json, quiet).result(schema, json.dumps(schema, indent=2, ensure_ascii=False))


@app.command(cls=Verb)
def results(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the tables of a results folder, of a run and of a sweep: every column with type, unit and meaning.

    Example:

        farweb schema results
    """
    del debug
    from farweb.files.columns import derived_tables, results_tables
    from farweb.results.sweep_schema import all_specs

    _print([*results_tables().values(), *derived_tables(), *all_specs()], Output(as_json, quiet))


@app.command(cls=Verb)
def requests(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the tables of a workload, requests and hosts: every column with type, unit and meaning.

    Example:

        farweb schema requests --json
    """
    del debug
    from farweb.inputs.tables import HOSTS, REQUESTS

    _print([REQUESTS, HOSTS], Output(as_json, quiet))


def _print(tables: "Iterable[TableSpec]", output: Output) -> None:
    specs = list(tables)
    output.result({"tables": specs}, _shown(specs))


def _shown(specs: "list[TableSpec]") -> "RenderableType":
    from farweb.text.sheet import Screen, Sheet

    header = ("column", "type", "unit", "may be null", "meaning")
    sheets = []
    for spec in specs:
        rows = [
            [each["name"], each["type"], each["unit"], "yes" if each["nullable"] else "", each["description"]]
            for each in spec["columns"]
        ]
        sheets.append(Sheet(f"{spec['name']}: {spec['description']}", header, rows, names=len(header)))
    return Screen(tuple(sheets))
