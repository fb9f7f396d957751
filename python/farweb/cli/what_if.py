"""`farweb what-if`: changes ranked by the time that each saves."""

import contextlib
from pathlib import Path

from farweb.cli.importing import QUESTIONS, Imported
from farweb.cli.runs import Changed
from farweb.cli.verbs import Call, UsageError, verb


@verb(
    "whatif.what_if:what_if",
    *QUESTIONS,
    writes=False,
    file="FILE.har|SCENARIO|LOG",
    out="--out -o DIR",
    limits="",
    busiest_s="",
    rtt_ns="",
    dynamic="",
)
def what_if(call: Call, file: Path, *, out: str | None = None, changed: Changed, imported: Imported) -> None:
    """Say what to change first: protocols, TLS, windows, connections, an edge, servers, each with its saving.

    Runs the page or the requests as they are, with each change, and with the best ones together. Changes that are there
    already or have no place are named and left out.

    Args:
        file: A HAR, a scenario file (.toml), or a log or request table, which is simulated over a path.
        out: Results folder of a log or scenario (default: results/NAME-what-if).

    Examples:

        farweb what-if shop.har --path geo

        farweb what-if access.log.gz --path starlink

        farweb what-if access.log --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'

        farweb what-if satellite.toml --set leg.0.tls='{ version = "1.2" }'
    """
    from farweb.errors import ScenarioError
    from farweb.inputs.new import table_of
    from farweb.pages.har import is_har
    from farweb.whatif.what_if import folder_of
    from farweb.whatif.what_if import what_if as asked

    options, given = imported.options(call), imported.typed(call)
    is_page = is_har(file)
    if given and (is_page or file.suffix == ".toml" or table_of([file], options) is not None):
        raise UsageError(f"{given[0]}: is of logs, and {file} is none")
    with contextlib.nullcontext() if is_page else call.continuing(folder_of(file, out)):
        try:
            answer = call.ask(
                "loading the page" if is_page else "simulating",
                asked,
                file,
                settings=changed.settings,
                out=out,
                limits=not changed.no_limits,
                **options,
            )
        except ScenarioError as error:
            raise (error.__cause__ or error) from None  # which says --set, as it was typed
    call.result(answer.to_dict(), answer)
    if answer.results is not None:
        call.wrote(answer.results)
