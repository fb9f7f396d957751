"""`farweb schema`: what files may hold and what tables hold."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from farweb.cli.options import Debug, Json, Output, Quiet

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.columns import TableSpec

app = typer.Typer(help="Describe scenarios and tables.", no_args_is_help=True)


@app.command()
def scenario(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the JSON Schema of a scenario; an editor that knows it completes and checks scenario files.

    Example:

        farweb schema scenario > farweb-scenario.schema.json
    """
    del debug
    from farweb import _core

    schema = json.loads(_core.scenario_schema())
    Output(as_json, quiet).result(schema, json.dumps(schema, indent=2, ensure_ascii=False))


@app.command()
def results(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the tables of a results folder, of a run and of a sweep: every column with type, unit and meaning.

    Example:

        farweb schema results
    """
    del debug
    from farweb.columns import results_tables
    from farweb.sweep.tables import all_specs

    _print([*results_tables().values(), *all_specs()], Output(as_json, quiet))


@app.command()
def requests(as_json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Print the tables of a workload, requests and hosts: every column with type, unit and meaning.

    Example:

        farweb schema requests --json
    """
    del debug
    from farweb.tables import HOSTS, REQUESTS

    _print([REQUESTS, HOSTS], Output(as_json, quiet))


def _print(tables: "Iterable[TableSpec]", output: Output) -> None:
    specs = list(tables)
    output.result({"tables": specs}, _shown(specs))


def _shown(specs: "list[TableSpec]") -> "RenderableType":
    from rich.console import Group
    from rich.table import Table

    shown = []
    for spec in specs:
        table = Table(title=f"{spec['name']}: {spec['description']}", title_justify="left", title_style="bold")
        for heading in ("column", "type", "unit", "may be null", "meaning"):
            table.add_column(heading)
        for column in spec["columns"]:
            null = "yes" if column["nullable"] else ""
            table.add_row(column["name"], column["type"], column["unit"], null, column["description"])
        shown.append(table)
    return Group(*shown)
