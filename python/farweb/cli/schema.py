"""`farweb schema`: prints the keys of scenario files and the columns of tables."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farweb.cli.verbs import Call, verb

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.files.columns import TableSpec


@verb(writes=False)
def scenario(call: Call) -> None:
    """Print the JSON Schema of a scenario, with which an editor completes and checks scenario files.

    Examples:

        farweb schema scenario > farweb-scenario.schema.json
    """
    from farweb import _core

    schema = json.loads(_core.scenario_schema())
    call.result(schema, json.dumps(schema, indent=2, ensure_ascii=False))


@verb(writes=False)
def results(call: Call) -> None:
    """Print the tables of a results folder, of a run and of a sweep: every column with type, unit and meaning.

    Examples:

        farweb schema results
    """
    from farweb.files.columns import derived_tables, results_tables
    from farweb.results.sweep_schema import all_specs

    _say(call, [*results_tables().values(), *derived_tables(), *all_specs()])


@verb(writes=False)
def requests(call: Call) -> None:
    """Print the tables of a workload, requests and hosts: every column with type, unit and meaning.

    Examples:

        farweb schema requests --json
    """
    from farweb.inputs.tables import HOSTS, REQUESTS

    _say(call, [REQUESTS, HOSTS])


def _say(call: Call, tables: "Iterable[TableSpec]") -> None:
    specs = list(tables)
    call.result({"tables": specs}, _shown(specs))


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
