"""`farweb page`: the load of a recorded page over paths, protocols and proxies."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Json, Output, Quiet
from farweb.errors import FarwebError


def page(
    hars: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.har...", help="HARs, plain or gzip, or folders of them.", show_default=False),
    ],
    path: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="geo, leo, cable, mobile, asymmetric; all but the last when left out. May be repeated."
        ),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="PROTOCOL", help="h1 or h2; both when left out. May be repeated."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="PROXY", help="none, split, mux; all when left out. May be repeated."),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="The path, carriers and proxies of a scenario instead."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--page", min=1, metavar="N", help="Which page of a file with several; the first when left out."),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="METRIC", help="onload.")] = "onload",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how long a recorded page takes over other paths, protocols and proxies, and how sure that is.

    Which request waits for which is taken from the HAR. Low and high are those of two bounding readings of it.

    Examples:

        farweb page shop.har

        farweb page shop.har --path geo --protocol h2 --proxy none

        farweb page shop.har --scenario satellite.toml --json
    """
    del debug
    from farweb.page.answer import Pages, answer, check_metric
    from farweb.page.har import har_files, read_har
    from farweb.page.paths import (
        PROTOCOLS,
        PROXIES,
        USUAL_PATHS,
        check_paths,
        check_protocols,
        check_proxies,
        own_way,
        way_of,
    )
    from farweb.page.recording import recording_of

    check_metric(metric)
    if scenario is not None and (path or protocol or proxy):
        raise FarwebError("--scenario has path, protocol and proxies of its own; leave --path, --protocol, --proxy out")
    paths = check_paths(list(dict.fromkeys(path or USUAL_PATHS)))
    protocols = check_protocols(list(dict.fromkeys(protocol or PROTOCOLS)))
    proxies = check_proxies(list(dict.fromkeys(proxy or PROXIES)))
    own = None if scenario is None else own_way(scenario)
    output = Output(as_json, quiet)
    answers = []
    with output.progress("loading the page") as show:
        for file in har_files(hars):
            pages = read_har(file)
            place = number or 1
            if place > len(pages):
                raise FarwebError(f"--page: found {place}; {file} has {len(pages)}")
            recording = recording_of(pages[place - 1])
            recorded = [recording_of(each) for each in pages] if len(pages) > 1 else [recording]
            others = [each.load_ms / 1000 for each in recorded if each.url == recording.url and each.is_load_known]
            ways = (
                [
                    way_of(each, http, by, is_secure=recording.sent[recording.root].is_secure)
                    for each in paths
                    for by in proxies
                    for http in protocols
                ]
                if own is None
                else [own]
            )
            shown = partial(_show, show, len(ways))
            answers.append(answer(recording, ways, others, (place, len(pages)), shown))
    output.result({"pages": [row for each in answers for row in each.to_dicts()]}, Pages(answers))


def _show(show: Callable[[float, float | None, str], None], total: int, done: int) -> None:
    show(done, total, f"{done} of {total} ways")
