"""`farweb page`: the load of a recorded page over paths, protocols and proxies."""

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
        typer.Argument(
            metavar="FILE.har [AFTER.har]...",
            help="A HAR, plain or gzip. Several are compared with the first; of a folder each stands alone.",
            show_default=False,
        ),
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
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Seeds of each path with losses, handovers or variation (default: 5)."),
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

    The HAR has the dependencies of requests. Low and high come from two bounding readings of it. Of two HARs, before a
    change and after it, says which is faster, and why.

    Examples:

        farweb page shop.har

        farweb page shop.har --path geo --protocol h2 --proxy none --breakdown

        farweb page shop.har bundled.har --path geo

        farweb page shop.har --path geo --protocol h2 --proxy none -o results/shop

        farweb page shop.har --scenario satellite.toml --json
    """
    del debug
    from rich.console import Group

    from farweb.pages.answer import check_metric
    from farweb.pages.har import har_files
    from farweb.pages.page import page as loaded

    check_metric(metric)
    files = har_files(hars)
    if out is not None and len(files) > 1:
        raise FarwebError(f"--out: found {len(files)} HARs; name one")
    is_comparison = len(hars) > 1 and len(files) == len(hars) and not breakdown
    usual = "none" if scenario is None and (breakdown or is_comparison) else None
    output = Output(as_json, quiet)
    with output.progress("loading the page") as show:
        pages = [
            loaded(
                file,
                path=path,
                protocol=protocol,
                proxy=proxy or usual,
                scenario=scenario,
                page=number,
                seeds=seeds,
                out=out,
                replace=force,
                progress=show,
            )
            for file in files
        ]
    if out is not None:
        output.note(f"wrote {out}    next: {command('plot', 'waterfall', out)}")
    if is_comparison:
        change = pages[0].compare(*pages[1:])
        output.result({"pages": [row for each in pages for row in each.to_dicts()], **change.to_dict()}, change)
        return
    shown = [each.breakdown() for each in pages] if breakdown else pages
    screens = [part for each in shown for part in ("", each)]
    output.result({"pages": [row for each in shown for row in each.to_dicts()]}, Group(*screens[1:]))
