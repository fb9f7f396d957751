"""`farweb workload`: makes request and host tables from logs, captures and models, and describes them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from farweb.cli import cache, merge, probe
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
    check_free,
    group,
)
from farweb.errors import FarwebError
from farweb.files.made import is_figure

app = group("Make and examine request and host tables.")
app.command()(probe.probe)
app.command()(merge.merge)
app.command()(cache.cache)

_RTT_MS_MAX = 86_400_000  # a day; a longer delay than that no scenario has
_BYTES_MAX = 2**53  # as in a request table

_FORMATS = "squid, squid-common, clf, combined, vhost-combined, w3c, json"

Format = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=f"What the log is: auto, {_FORMATS}.")]
Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG...",
        help="Logs, plain or packed by gzip, xz or zstd, in any order; - is standard input.",
        show_default=False,
    ),
]


@app.command("import")
def import_(
    logs: Logs,
    format_: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help=f"What a log is: {_FORMATS}; auto: what its first lines show."),
    ] = "auto",
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="STRING",
            help="A format string instead: Squid's logformat, nginx's log_format or Apache's LogFormat.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Request table; LOG.parquet here when left out."),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="Only requests that start then or later: 2015-05-17 or 2015-05-17T10:05:03, in the zone of the log.",
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only requests that start before; a date is its beginning.")
    ] = None,
    busiest: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Only the span of this length with most bytes of responses, such as 1h."),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help='Only requests of clients like this, such as "10.0.*".'),
    ] = None,
    sample: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Only a share of the clients or hosts, whole, such as 10%.")
    ] = None,
    sample_by: Annotated[str, typer.Option(help="client or host: what is sampled.")] = "client",
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Seed of the sample.")] = 1,
    keep: Annotated[
        str, typer.Option(help="misses: what crossed the link; crossed: revalidations too; all: cache hits as well.")
    ] = "misses",
    errors: Annotated[
        bool, typer.Option(help="Keep answers with a status other than 2xx and 3xx, such as 404, or not.")
    ] = True,
    tunnels: Annotated[
        bool, typer.Option("--tunnels", help="Keep CONNECT tunnels, each as one request and one response.")
    ] = False,
    rtt_ms: Annotated[
        float,
        typer.Option(
            min=0, max=_RTT_MS_MAX, help="Round-trip time that recorded times contain, in ms; taken off server times."
        ),
    ] = 0.0,
    request_bytes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=_BYTES_MAX,
            help="Size of every request, in bytes; as the log has it, or estimated from its URL, when left out.",
        ),
    ] = None,
    server_time: Annotated[
        str, typer.Option(help="elapsed: what the log has, or recorded times less the round trip; none: leave it out.")
    ] = "elapsed",
    server_name: Annotated[str, typer.Option(help="Host of requests whose line does not name it.")] = "server",
    max_unreadable: MaxUnreadable = 0.01,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a request table from logs of proxies or web servers.

    Lines that are no request over the link are left out and counted by reason. Starts are put in order and begin at 0.

    Examples:

        farweb workload import access.log.gz -o link.parquet

        farweb workload import access.log access.log.gz --busiest 1h -o b.parquet

        farweb workload import access.log --from 1996-12-19 --client "10.0.*"

        farweb workload import access.log --sample 90% --seed 4 -o s.parquet

        zcat access.log.*.gz | farweb workload import - -o piped.parquet

        farweb workload import access.log -o f.parquet
        --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'
    """
    del debug
    from farweb.inputs.importer import import_log

    table = out or Path(_stem(logs[0]) + ".parquet")
    check_free(table, force=force)
    output = Output(as_json, quiet)
    with output.progress("importing") as show:
        report = import_log(
            logs,
            table,
            format=format_,
            busiest_s=None if busiest is None else _quantity("--busiest", busiest, "s", "a span such as 1h or 90 min"),
            log_format=log_format,
            keep=keep,
            errors=errors,
            tunnels=tunnels,
            rtt_ns=round(rtt_ms * 1e6),
            request_bytes=request_bytes,
            server_time=server_time,
            server_name=server_name,
            client=client,
            from_=from_,
            to=to,
            **_sample(sample, sample_by, seed),
            max_unreadable=max_unreadable,
            progress=lambda kept: show(kept, None, f"{kept:,} requests"),
        )
    if as_json or not quiet:
        output.result(report.to_dict(), report)
    output.note(f"The requests are in {report.out}; farweb workload stats {report.out} describes them.")


def _quantity(option: str, text: str, base: str, allowed: str) -> float:
    from farweb.text.parse import QuantityError, parse

    try:
        quantity = parse(text)
    except QuantityError:
        quantity = None
    if quantity is None or quantity.base != base or quantity.number <= 0:
        raise typer.BadParameter(f"{option}: found {text}; write {allowed}")
    return float(quantity.number)


def _sample(sample: str | None, by: str, seed: int) -> dict[str, Any]:
    """Read the options of a sample as `import_log` takes them; none without a sample."""
    if sample is None:
        return {}
    share = _quantity("--sample", sample, "1", "a share such as 10%")
    return {"sample": share, "sample_by": by, "seed": seed}


@app.command("generate")
def generate_(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="The family: nzix, prowgen.")],
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Root of the random streams, as run.seed.")] = 1,
    days: Annotated[
        int | None, typer.Option(min=1, max=3660, help="Days of the trace of nzix; 31 when left out.")
    ] = None,
    parameters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Values for parameters, a TOML file such as fit writes; --set goes first."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help='Another value for a parameter, such as us_rate="64 kbit/s".'),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FOLDER", help="Where to; FAMILY here when left out.")
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
            progress=lambda rows: show(rows, None, f"{rows:,} requests"),
        )
    if as_json or not quiet:
        output.result(written.to_dict(), written)
    output.note(f"The trace is in {written.out}.")


@app.command()
def stats(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A request table (.parquet, .csv, .tsv), or a log.")],
    format_: Format = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A host table: adds the mix of MSS and windows.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw it as well: a .png, .svg, .pdf or .html file."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Describe a request table or a log: requests by time, sizes, server times, hosts.

    Examples:

        farweb workload stats requests.parquet -o workload.png

        farweb workload stats access.log --format squid

        farweb workload stats requests.parquet --hosts hosts.tsv
    """
    del debug
    from farweb.inputs.statistics import describe, read_stats

    if out is not None:
        from farweb.plot import chart, paper

        chart.check_target(out)
    check_free(out, force=force)
    output = Output(as_json, quiet)
    with output.progress("reading") as show:
        found = read_stats(
            table, format=format_, hosts=hosts, progress=lambda rows: show(rows, None, f"{rows:,} requests")
        )
    if out is not None:
        paper.draw(describe(found), out)
    output.result(found.to_dict(), found)
    if out is not None:
        output.note(f"The figure is in {out}.")


@app.command()
def fit(
    log: Annotated[
        Path, typer.Argument(metavar="REQUESTS", help="A request table with objects, a log, or a cache trace.")
    ],
    format_: InputFormat = None,
    keep: InputKeep = "all",
    dynamic: Dynamic = False,
    max_unreadable: MaxUnreadable = 0.01,
    tail_from: Annotated[
        float | None,
        typer.Option(min=1, max=2**31, help="Where the tail of sizes starts, in bytes; found when left out."),
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
    check_free(*files, force=force)
    output = Output(as_json, quiet)
    with output.progress("reading", left=False) as show:
        found = estimate(
            log,
            format=format_,
            keep=keep,
            dynamic=dynamic,
            max_unreadable=max_unreadable,
            tail_from=tail_from,
            seed=seed,
            progress=lambda rows: show(rows, None, f"{rows:,} requests"),
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
        output.note(f"{'The figure is' if is_figure(file) else 'The parameters are'} in {file}.")


def _parameter(setting: str) -> tuple[str, str]:
    name, equals, value = setting.partition("=")
    if not equals or not name:
        raise typer.BadParameter(f"{setting}: --set wants KEY=VALUE, such as us_rate=64 kbit/s")
    return name.strip(), value.strip()


def _stem(log: Path) -> str:
    """`access.log.gz` and `access.log` are both `access`; standard input has no name."""
    if log == Path("-"):
        return "requests"
    name = log.name
    for packing in (".gz", ".xz", ".zst"):
        name = name.removesuffix(packing)
    return name.rpartition(".")[0] or name
