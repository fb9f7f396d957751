"""`farweb workload cache`: computes the hit ratios of caches without simulating packets."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.importing import Fields, LogFormat, keys_of
from farweb.cli.options import (
    Bypass,
    Debug,
    Dynamic,
    Force,
    InputFormat,
    InputKeep,
    Json,
    MaxUnreadable,
    Output,
    Quiet,
    taken_free,
)
from farweb.errors import FarwebError
from farweb.files.made import is_figure


def cache(
    context: typer.Context,
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="REQUESTS...",
            help="A request table with objects, logs in any order, or a cache trace; also more values of --policy and "
            "--capacity, one after the other.",
            show_default=False,
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY",
            help="fifo lru rand lfu gds gdsf arc s3-fifo sieve w-tinylfu belady; all but the last: all, or left out, "
            "where the screen has three.",
        ),
    ] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE", help='A size ("10 MB") or a share of the footprint ("5 %") (default: 0.1 to 50 %).'
        ),
    ] = None,
    format_: InputFormat = None,
    log_format: LogFormat = None,
    fields: Fields = None,
    keep: InputKeep = "all",
    dynamic: Dynamic = True,
    bypass: Bypass = "",
    max_unreadable: MaxUnreadable = 0.01,
    admit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help='Rule for what is stored: "min=1 kB", "max=8 KiB", second-hit, probability=0.5.'
        ),
    ] = None,
    ttl: Annotated[
        str | None, typer.Option(metavar="TIME", help='How long an object is fresh ("1 h") (default: always).')
    ] = None,
    changed: Annotated[
        str,
        typer.Option(
            metavar="serve|fetch", help="A request whose size differs from the fresh copy: serve that, or fetch anew."
        ),
    ] = "serve",
    warmup: Annotated[
        str, typer.Option(metavar="SHARE", help='The first requests fill the caches, unmeasured: "10 %", or a number.')
    ] = "0 %",
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Root of the random streams.")] = 1,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the ratios as a table, .parquet, .csv or .tsv, or as a figure: .png, .svg, .pdf, .html. May be "
            "given more than once.",
        ),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="All capacities, revalidations, the other rule for changed sizes, facts.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compute the hit ratios of caches by policy and capacity, without simulating packets.

    An object that misses is stored at once. --policy, --capacity and --admit may be given several times.

    Examples:

        farweb workload cache requests.parquet --policy lru --policy s3-fifo --capacity "10 MB" --capacity "5 %"

        farweb workload cache access.log access.log.1.gz --warmup "20 %" -o caches.png
    """
    del debug
    from farweb.cache.curve import cache_curve
    from farweb.cache.result import TABLES
    from farweb.cache.settings import USUAL_CAPACITIES, USUAL_POLICIES

    files = out or []
    for file in files:
        if not is_figure(file) and file.suffix.lower() not in TABLES:
            raise FarwebError(
                f"{file}: a table is written as {', '.join(TABLES)}, a figure as .png, .svg, .pdf or .html"
            )
    context.with_resource(taken_free(*files, force=force))
    paths, policies, capacities = _several(policy or [], capacity or [], requests)
    is_all, policies = bool(policies), [each for each in policies if each != "all"]
    output = Output(as_json, quiet)
    with output.progress("caches") as show:
        curve = cache_curve(
            paths,
            policies or USUAL_POLICIES,
            capacities or USUAL_CAPACITIES,
            format=format_,
            log_format=log_format,
            fields=keys_of(fields),
            keep=keep,
            dynamic=dynamic,
            bypass=bypass,
            max_unreadable=max_unreadable,
            admit=admit or (),
            ttl=ttl,
            changed=changed,
            warmup=warmup,
            seed=seed,
            progress=show,
        )
    for file in files:
        if is_figure(file):
            curve.draw(file)
        else:
            curve.write(file)
    output.result(curve.to_dict(), curve.screen(is_all=is_all, details=details))
    for file in files:
        output.note(f"wrote {file}")


def _several(policies: list[str], capacities: list[str], words: list[str]) -> tuple[list[Path], list[str], list[str]]:
    """Files, policies and capacities, from lists with commas and from values one after the other behind an option.

    The first word is a file, and so is every other that is neither a policy nor begins as a number, or is there.
    """
    from farweb.cache.settings import POLICIES

    files, (policies, capacities) = [Path(words[0])], (_split(policies), _split(capacities))
    for word in words[1:]:
        for value in [word] if Path(word).is_file() else _split([word]):
            if value in (*POLICIES, "all"):
                policies.append(value)
            elif value[:1].isdigit() and not Path(value).is_file():
                capacities.append(value)
            else:
                files.append(Path(value))
    return files, policies, capacities


def _split(texts: list[str]) -> list[str]:
    return [word.strip() for text in texts for word in text.split(",")]
