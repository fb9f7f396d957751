"""`farweb workload`: makes request and host tables from logs, captures and models, and describes them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from farweb.cli import cache, merge, probe
from farweb.cli.help import Verb
from farweb.cli.importing import ElapsedUnit, Fields, LogFormat, keys_of, takes_import_options
from farweb.cli.options import (
    Debug,
    Dynamic,
    Force,
    InputFormat,
    InputKeep,
    Json,
    MaxUnreadable,
    Output,
    Quiet,
    group,
    taken_free,
)
from farweb.errors import FarwebError
from farweb.files.made import is_figure
from farweb.text.words import command

app = group("Make and examine request and host tables, and files of links.")
app.command(cls=Verb)(probe.probe)
app.command(cls=Verb)(merge.merge)
app.command(cls=Verb)(cache.cache)

Format = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="What the log is, when its first lines do not show it."),
]
Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG...",
        help="Logs, plain or packed by gzip, xz or zstd, in any order; - is standard input. Or HARs, or their folders.",
        show_default=False,
    ),
]


@app.command("import", cls=Verb)
@takes_import_options
def import_(
    context: typer.Context,
    logs: Logs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Request table (default: LOG.parquet here). Of HARs the beginning of three names.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print all counts, assumptions and rules of caches as well.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    importing: dict[str, Any],
) -> None:
    """Make a request table from logs of proxies or web servers, or tables of pages from HARs.

    Lines that are no request over the link are left out and counted by reason. Starts are put in order and begin at 0.

    Examples:

        farweb workload import access.log.gz -o link.parquet

        farweb workload import access.log access.log.gz --busiest 1h -o b.parquet

        farweb workload import access.log --from 1996-12-19 --client "10.0.*"

        farweb workload import access.log --client-key "$KEY" --client-from-forwarded

        farweb workload import access.log --sample 90% --seed 4 -o s.parquet

        zcat access.log.*.gz | farweb workload import - -o piped.parquet

        farweb workload import access.log -o f.parquet
        --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'

        farweb workload import app.json -o j.parquet
        --field start=ts --field url=uri --field body=size --field elapsed=took:ms

        farweb workload import shop.har blog.har.gz -o pages
    """
    del debug
    from farweb.inputs.importer import import_log
    from farweb.pages.har import is_har

    output = Output(as_json, quiet)
    if importing["format"] == "har" or is_har(logs[0]):
        return _import_har(context, logs, out, output, force=force)
    table = out or Path(_stem(logs[0]) + ".parquet")
    context.with_resource(taken_free(table, force=force))
    with output.progress("importing") as show:
        report = import_log(
            logs,
            table,
            **importing,
            progress=show,
        )
    if as_json or not quiet:
        output.result(report.to_dict(), report.explained() if explain else report)
    output.note(f"wrote {report.out}    next: {command('new', 'link.toml', '--log', logs[0])}")


def _import_har(context: typer.Context, hars: list[Path], out: Path | None, output: Output, *, force: bool) -> None:
    from farweb.pages.tables import import_har, tables_of

    beginning = Path(_stem(hars[0])) if out is None else out.with_name(out.name.removesuffix(".parquet"))
    context.with_resource(taken_free(*tables_of(beginning), force=force))
    with output.progress("importing") as show:
        report = import_har(hars, beginning, show)
    output.result(report.to_dict(), report)
    output.note(f"wrote {', '.join(map(str, report.out))}    next: {command('page', hars[0])}")


@app.command("generate", cls=Verb)
def generate_(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="The family: nzix, prowgen.")],
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Root of the random streams, as run.seed.")] = 1,
    days: Annotated[int | None, typer.Option(min=1, max=3660, help="Days of the trace of nzix (default: 31).")] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Values for parameters, a TOML file such as fit writes; --set goes first."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help='Another value for a parameter, such as us_rate="64 kbit/s".'),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Where to (default: FAMILY here).")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the trace of a family, as a run with that family has it: requests.parquet and hosts.parquet.

    nzix: ten minutes a day of web traffic of 1997. prowgen: requests of a proxy's clients, by the model ProWGen.

    Examples:

        farweb workload generate nzix --seed 1 --days 31 -o nzix

        farweb workload generate nzix --set us_rate="64 kbit/s" -o slow

        farweb workload generate prowgen --set requests=1000000 --set arrivals=on-off

        farweb workload generate prowgen --parameters fitted.toml --seed 2 -o again
    """
    del debug
    from farweb.inputs.generate import generate, read_parameters

    changed = {
        **(read_parameters(parameters) if parameters else {}),
        **dict(_parameter(setting) for setting in settings or ()),
    }
    output = Output(as_json, quiet)
    with output.progress("generating", left=False) as show:
        written = generate(
            family,
            out or Path(family),
            seed=seed,
            days=days,
            parameters=changed,
            replace=force,
            progress=show,
        )
    if as_json or not quiet:
        output.result(written.to_dict(), written)
    output.note(f"wrote {written.out}")


@app.command(cls=Verb)
def stats(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="TABLE...",
            help="A request table (.parquet, .csv, .tsv), logs in any order, or HARs.",
            show_default=False,
        ),
    ],
    format_: Format = None,
    log_format: LogFormat = None,
    fields: Fields = None,
    elapsed_unit: ElapsedUnit = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A host table: adds the mix of MSS and windows.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it as well: a .png, .svg, .pdf or .html file."),
    ] = None,
    is_all: Annotated[
        bool, typer.Option("--all", help="All tables: hosts, clients, copies, what caches do with the requests.")
    ] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Describe a request table, or logs: requests by time, sizes, server times, hosts.

    Of a HAR it describes the pages that workload import writes, and draws the waterfall of the first. Of a log it
    describes the requests that workload import keeps without further options, and counts the others. --log-format and
    --field describe a log without a named format, as there.

    Examples:

        farweb workload stats requests.parquet -o workload.png

        farweb workload stats access.log access.log.1.gz

        farweb workload stats requests.parquet --hosts hosts.tsv

        farweb workload stats app.json
        --field start=ts --field url=uri --field body=size
    """
    del debug
    from farweb.inputs.statistics import describe, read_stats
    from farweb.pages.har import is_har

    output = Output(as_json, quiet)
    if is_har(files[0]):
        from farweb.pages.tables import describe_har, page_rows

        context.with_resource(taken_free(out, force=force))
        pages = describe_har(files)
        if out is not None:
            from farweb.plot import paper, waterfall
            from farweb.results.view import recorded_view

            paper.draw(waterfall.recorded(recorded_view(page_rows(*pages.pages[0]))), out)
            of = f", of page 1 of {len(pages.pages)}" if pages.pages[1:] else ""
            output.note(f"wrote {out}: the waterfall as recorded{of}")
        return output.result(pages.to_dict(), pages)
    if out is not None:
        from farweb.plot import chart, paper

        chart.check_target(out)
    context.with_resource(taken_free(out, force=force))
    with output.progress("reading") as show:
        found = read_stats(
            files,
            format=format_,
            log_format=log_format,
            fields=keys_of(fields),
            elapsed_unit=elapsed_unit,
            hosts=hosts,
            progress=show,
        )
    if out is not None:
        paper.draw(describe(found), out)
    output.result(found.to_dict(), found.screen(is_all))
    if found.imported is not None:
        are, them = ("is a log", "it") if len(files) == 1 else ("are logs", "them")
        output.note(f"{found.source} {are}; workload import, which has more options, makes a table of {them}.")
    if out is not None:
        output.note(f"wrote {out}")


@app.command(cls=Verb)
def path(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A trace of mahimahi, or a schedule (.csv, .tsv), plain or packed.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it as well: a .png, .svg, .pdf or .html file."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Describe a trace or a schedule of a link: rates in 100 ms, and gaps with their period.

    A link reads such a file by trace = "down.trace", in place of its rate, or schedule = "pass.csv".

    Examples:

        farweb workload path down.trace

        farweb workload path pass.csv -o pass.png
    """
    del debug
    from farweb.inputs.path_stats import describe, read_path_stats

    output = Output(as_json, quiet)
    if out is not None:
        from farweb.plot import chart, paper

        chart.check_target(out)
    context.with_resource(taken_free(out, force=force))
    found = read_path_stats(file)
    if out is not None:
        paper.draw(describe(found), out)
    output.result(found.to_dict(), found)
    if out is not None:
        output.note(f"wrote {out}")


@app.command(cls=Verb)
def fit(
    context: typer.Context,
    requests: Annotated[
        list[Path],
        typer.Argument(
            metavar="REQUESTS...",
            help="A request table with objects, logs in any order, or a cache trace.",
            show_default=False,
        ),
    ],
    format_: InputFormat = None,
    keep: InputKeep = "all",
    dynamic: Dynamic = False,
    max_unreadable: MaxUnreadable = 0.01,
    tail_from: Annotated[
        float | None,
        typer.Option(min=1, max=2**31, help="Where the tail of sizes starts, in bytes (default: found)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Root of the random streams of the model.")] = 1,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The parameters for generate prowgen --parameters, a .toml file, or a figure of model and data: .png, "
            ".svg, .pdf, .html. May be given more than once.",
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Estimate the parameters of the model ProWGen from a log, and show how well they fit.

    Estimates popularity, one-timers, sizes and their tail, the correlation of size and popularity, and the LRU stack.
    A workload generated with them is compared with the log.

    Examples:

        farweb workload fit access.log.gz -o fit.png --out fitted.toml

        farweb workload fit requests.parquet --tail-from 10000 --json
    """
    del debug
    from farweb.inputs.fit import fit as estimate
    from farweb.inputs.fit import write_parameters

    files = out or []
    for file in files:
        if not is_figure(file) and file.suffix.lower() != ".toml":
            raise FarwebError(f"{file}: parameters are written as .toml, a figure as .png, .svg, .pdf or .html")
    context.with_resource(taken_free(*files, force=force))
    output = Output(as_json, quiet)
    with output.progress("reading", left=False) as show:
        found = estimate(
            requests,
            format=format_,
            keep=keep,
            dynamic=dynamic,
            max_unreadable=max_unreadable,
            tail_from=tail_from,
            seed=seed,
            progress=show,
        )
    for file in files:
        if is_figure(file):
            from farweb.inputs.fit.drawing import describe
            from farweb.plot import paper

            paper.draw(describe(found), file)
        else:
            write_parameters(found, file)
    output.result(found.to_dict(), found)
    for file in files:
        output.note(f"wrote {file}")


def _parameter(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{setting}: --set wants KEY=VALUE, such as us_rate=64 kbit/s")
    return name.strip(), value.strip()


def _stem(log: Path) -> str:
    """`access.log.gz` and `access.log` are both `access`. Standard input has no name."""
    if log == Path("-"):
        return "requests"
    name = log.name
    for packing in (".gz", ".xz", ".zst"):
        name = name.removesuffix(packing)
    return name.rpartition(".")[0] or name
