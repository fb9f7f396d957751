"""`farweb page`: the load of a recorded page over paths, protocols and proxies."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from farweb.cli.help import Verb
from farweb.cli.options import Debug, Force, Json, Output, Quiet
from farweb.errors import FarwebError
from farweb.text.words import command


class Command(Verb):
    """The command with a help that names the paths."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from farweb.inputs.paths import PATHS, STAND_FOR

        self.epilog = f"Paths: {', '.join((*STAND_FOR, *PATHS))}."
        super().format_help(ctx, formatter)


def page(
    hars: Annotated[
        list[Path],
        typer.Argument(metavar="FILE.har...", help="HARs, plain or gzip, or folders of them.", show_default=False),
    ],
    path: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="May be repeated (default: geo, leo, cable and mobile)."),
    ] = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="PROTOCOL", help="h1 or h2 (default: both). May be repeated."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROXY",
            help="none, split (one, far end), mux (at both ends), default: these three; pep (TCP alone).",
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="The path, carriers and proxies of a scenario instead."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--page", min=1, metavar="N", help="Which page of a file with several (default: the first)."),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="METRIC", help="onload.")] = "onload",
    breakdown: Annotated[
        bool, typer.Option("--breakdown", help="Where the time goes, over each way; without proxies if none is named.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="RESULTS", help="Results of one way, for plot waterfall, report and export har."
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how long a recorded page takes over other paths, protocols and proxies, and how sure that is.

    The HAR has the dependencies of requests. Low and high come from two bounding readings of it.

    Examples:

        farweb page shop.har

        farweb page shop.har --path geo --protocol h2 --proxy none

        farweb page shop.har --path geo --protocol h2 --proxy none --breakdown

        farweb page shop.har --path geo --protocol h2 --proxy none -o results/shop

        farweb page shop.har --scenario satellite.toml --json
    """
    del debug
    from rich.console import Group

    from farweb.inputs.paths import check_words
    from farweb.pages.answer import answer, check_metric
    from farweb.pages.breakdown import PageBreakdown
    from farweb.pages.har import har_files, numbered, read_har
    from farweb.pages.paths import (
        ALL_PATHS,
        PROTOCOLS,
        PROXIES,
        USUAL_PATHS,
        USUAL_PROXIES,
        own_way,
        way_of,
    )
    from farweb.pages.recording import recording_of, recordings_of

    check_metric(metric)
    if scenario is not None and (path or protocol or proxy):
        raise FarwebError("--scenario has path, protocol and proxies of its own; leave --path, --protocol, --proxy out")
    paths = list(dict.fromkeys(path or USUAL_PATHS))
    protocols = list(dict.fromkeys(protocol or PROTOCOLS))
    proxies = list(dict.fromkeys(proxy or (PROXIES[:1] if breakdown else USUAL_PROXIES)))
    check_words("--path", paths, ALL_PATHS)
    check_words("--protocol", protocols, PROTOCOLS)
    check_words("--proxy", proxies, PROXIES)
    own = None if scenario is None else own_way(scenario)
    files = har_files(hars)
    if (
        out is not None
        and (number_of := len(files) * (len(paths) * len(protocols) * len(proxies) if own is None else 1)) > 1
    ):
        raise FarwebError(f"--out: found {number_of} loads; name one HAR, one --path, one --protocol and one --proxy")
    output = Output(as_json, quiet)
    answers = []
    with output.progress("loading the page") as show:
        for file in files:
            pages = read_har(file)
            place = number or 1
            recording = recording_of(numbered(file, pages, place))
            others = [
                each.load_ms / 1000
                for each in recordings_of(pages)[0]
                if each.url == recording.url and each.is_load_known
            ]
            ways = (
                [
                    way_of(each, http, by, is_secure=recording.has_tls)
                    for each in paths
                    for by in proxies
                    for http in protocols
                ]
                if own is None
                else [own]
            )
            step = partial(_show, show, len(ways))
            answers.append(answer(recording, ways, others, (place, len(pages)), step))
    if out is not None:
        from farweb.pages.results import write_results

        (cell,) = answers[0].cells
        write_results(answers[0].recording, cell.way, cell.loaded, out, replace=force)
        output.note(f"wrote {out}    next: {command('plot', 'waterfall', out)}")
    shown = [PageBreakdown.of(each) for each in answers] if breakdown else answers
    screens = [part for each in shown for part in ("", each)]
    output.result({"pages": [row for each in shown for row in each.to_dicts()]}, Group(*screens[1:]))


def _show(show: Callable[[float, float | None, str], None], total: int, done: int) -> None:
    show(done, total, f"{done} of {total} ways")
