"""`farweb what-if`: changes ranked by the time that each saves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farweb.cli.importing import given_options, takes_import_options
from farweb.cli.options import Debug, Jobs, Json, NoLimits, Output, Quiet
from farweb.cli.runs import Settings, changes_of, load
from farweb.extras import SWEEP, require

if TYPE_CHECKING:
    from farweb.sweep.sweep import Progress
    from farweb.whatif.answer import WhatIf


@takes_import_options
def what_if(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.har|SCENARIO|LOG",
            help="A HAR, a scenario file (.toml), or a log or request table, which is simulated over a path.",
            show_default=False,
        ),
    ],
    path: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Of a HAR or a log: geo, leo, cable, mobile, … (default: geo)."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--page", min=1, metavar="N", help="Of a HAR: which page (default: the first)."),
    ] = None,
    settings: Settings = None,
    jobs: Jobs = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Results folder of a log or scenario (default: results/NAME-what-if).",
        ),
    ] = None,
    no_limits: NoLimits = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    importing: dict[str, Any],
) -> None:
    """Say what to change first: protocols, TLS, windows, connections, an edge, servers, each with its saving.

    Runs the page or the requests as they are, with each change, and with the best ones together. Changes that are there
    already or have no place are named and left out.

    Examples:

        farweb what-if shop.har --path geo

        farweb what-if access.log.gz --path starlink

        farweb what-if access.log --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'

        farweb what-if satellite.toml --set leg.0.tls='{ version = "1.2" }'
    """
    del debug
    from farweb.inputs.new import table_of
    from farweb.pages.har import is_har

    output = Output(as_json, quiet)
    given = given_options(context)
    if given and (is_har(file) or file.suffix == ".toml" or table_of([file], importing) is not None):
        raise typer.BadParameter(f"{given[0]}: is of logs, and {file} is none")
    if is_har(file):
        if out is not None or jobs is not None:
            raise typer.BadParameter("--out and --jobs are of logs and scenarios; a page is loaded in this process")
        answer = _of_har(file, path or "geo", number or 1, settings, output)
        output.result({"results": None, **answer.to_dict()}, answer)
        return
    if number is not None:
        raise typer.BadParameter(f"--page is of a HAR, and {file} is none")
    require("farweb what-if", *SWEEP)
    folder = f"results/{_stem(file)}-what-if" if out is None else out
    with output.continuing(folder):
        answer = _of_requests(
            file, path, settings, folder, jobs, limits=not no_limits, output=output, importing=importing
        )
    output.result({"results": folder, **answer.to_dict()}, answer)
    output.note(f"wrote {folder}")


def _of_har(file: Path, path: str, number: int, settings: list[str] | None, output: Output) -> "WhatIf":
    from farweb.inputs.paths import check_words
    from farweb.pages.har import numbered, read_har
    from farweb.pages.paths import ALL_PATHS, path_name
    from farweb.pages.recording import recording_of
    from farweb.whatif.pages import base_of, of_page

    check_words("--path", [path], ALL_PATHS)
    recording = recording_of(numbered(file, read_har(file), number))
    base = base_of(recording, path, changes_of(settings))
    with output.progress("loading the page") as show:
        return of_page(recording, base, path_name(path), lambda done, total: show(done, total, f"{done} of {total}"))


def _of_requests(
    file: Path,
    path: str | None,
    settings: list[str] | None,
    folder: str,
    jobs: int | None,
    *,
    limits: bool,
    output: Output,
    importing: dict[str, Any],
) -> "WhatIf":
    from farweb.files.scratch import scratch
    from farweb.inputs.new import new_scenario
    from farweb.inputs.paths import check_words
    from farweb.pages.paths import ALL_PATHS, path_name
    from farweb.whatif.requests import of_requests

    with scratch() as place, output.progress("simulating") as show:

        def on_progress(now: "Progress") -> None:
            show(now.done + now.failed, now.total, f"{now.done + now.failed:,} of {now.total:,} runs")

        if file.suffix == ".toml":
            if path is not None:
                raise typer.BadParameter(f"--path: {file} has a path of its own; set its keys with --set")
            scenario, where = load(file, settings), file.stem
        else:
            check_words("--path", [path or "geo"], ALL_PATHS)
            written = place / f"{_stem(file)}.toml"
            new_scenario(written, path=path or "geo", log=file, **importing)
            scenario, where = load(written, settings), f"{file.name} over {path_name(path or 'geo')}"
        return of_requests(scenario, folder, where, jobs=jobs, limits=limits, progress=on_progress)


def _stem(file: Path) -> str:
    """Name of a file without what says its kind."""
    return file.name.partition(".")[0] or file.name
