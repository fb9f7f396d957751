"""`farweb workload`: makes request and host tables from logs, captures and models, and describes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from farweb.cli.importing import QUESTIONS, Imported, formats
from farweb.cli.verbs import Call, verb
from farweb.errors import FarwebError
from farweb.files.made import is_figure


@verb(*QUESTIONS, foot=formats, log="LOG...", busiest_s="", rtt_ns="", dynamic="")
def import_(
    call: Call, log: Sequence[Path], *, out: Path | None = None, explain: bool = False, imported: Imported
) -> None:
    """Make a request table from logs of proxies or web servers, or tables of pages from HARs.

    Lines that are no request over the link are left out and counted by reason. Starts are put in order and begin at 0.

    Args:
        log: Logs, plain or packed by gzip, xz or zstd, in any order; - is standard input. Or HARs, or their folders.
        out: Request table (default: LOG.parquet here). Of HARs the beginning of three names.
        explain: Print all counts, assumptions and rules of caches as well.

    Examples:

        farweb workload import access.log.gz -o link.parquet

        farweb workload import access.log access.log.gz --busiest 1h -o b.parquet

        farweb workload import access.log --from 1996-12-19 --client "10.0.*"

        farweb workload import access.log --client-key "$KEY"
        --client-from-forwarded

        farweb workload import access.log --sample 90% --seed 4 -o s.parquet

        zcat access.log.*.gz | farweb workload import - -o piped.parquet

        farweb workload import access.log -o f.parquet
        --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'

        farweb workload import app.json -o j.parquet
        --field start=ts --field url=uri --field body=size --field elapsed=took:ms

        farweb workload import shop.har blog.har.gz -o pages
    """
    from farweb.inputs.importer import import_log
    from farweb.pages.har import is_har

    options = imported.options(call)
    if options.get("format") == "har" or is_har(log[0]):
        return _import_har(call, log, out)
    table = out or Path(_stem(log[0]) + ".parquet")
    call.takes(table)
    report = call.ask("importing", import_log, log, table, **options)
    call.says(report, report.explained() if explain else report)
    call.wrote(report.out, "new", "link.toml", "--log", report.out)


def _import_har(call: Call, hars: Sequence[Path], out: Path | None) -> None:
    from farweb.pages.tables import import_har, tables_of

    beginning = Path(_stem(hars[0])) if out is None else out.with_name(out.name.removesuffix(".parquet"))
    call.takes(*tables_of(beginning))
    with call.progress("importing") as show:
        report = import_har(hars, beginning, show)
    call.result(report.to_dict(), report)
    call.wrote(", ".join(map(str, report.out)), "page", hars[0])


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Values for the parameters of a family.

    Attributes:
        parameters: Values for parameters, a TOML file such as fit writes; --set goes first.
        settings: Another value for a parameter, such as us_rate="64 kbit/s".
    """

    parameters: Path | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@verb("inputs.generate:generate", replace="", out="--out -o FOLDER")
def generate(call: Call, family: str, *, changed: Parameters, out: Path | None = None) -> None:
    """Write the trace of a family, as a run with that family has it: requests.parquet and hosts.parquet.

    nzix: ten minutes a day of web traffic of 1997. prowgen: requests of a proxy's clients, by the model ProWGen.

    Args:
        family: The family: nzix, prowgen.
        out: Where to (default: FAMILY here).

    Examples:

        farweb workload generate nzix --seed 1 --days 31 -o nzix

        farweb workload generate nzix --set us_rate="64 kbit/s" -o slow

        farweb workload generate prowgen --set requests=1000000 --set arrivals=on-off

        farweb workload generate prowgen --parameters fitted.toml --seed 2 -o again
    """
    from farweb.inputs.generate import generate as write
    from farweb.inputs.generate import read_parameters

    values = {**(read_parameters(changed.parameters) if changed.parameters else {}), **changed.settings}
    folder = out or Path(family)
    written = call.ask("generating", write, family, folder, left=False, parameters=values, replace=call.force)
    call.says(written)
    call.wrote(written.out)


@verb("inputs.statistics:read_stats", files="TABLE...", is_all="--all")
def stats(call: Call, files: Sequence[Path], *, out: Path | None = None, is_all: bool = False) -> None:
    """Describe a request table, or logs: requests by time, sizes, server times, hosts.

    Of a HAR it describes the pages that workload import writes, and draws the waterfall of the first. Of a log it
    describes the requests that workload import keeps without further options, and counts the others. --log-format and
    --field describe a log without a named format, as there.

    Args:
        files: A request table (.parquet, .csv, .tsv), logs in any order, or HARs.
        out: Draw it as well: a .png, .svg, .pdf or .html file.
        is_all: All tables: hosts, clients, copies, what caches do with the requests.

    Examples:

        farweb workload stats requests.parquet -o workload.png

        farweb workload stats access.log access.log.1.gz

        farweb workload stats requests.parquet --hosts hosts.tsv

        farweb workload stats app.json
        --field start=ts --field url=uri --field body=size
    """
    from farweb.inputs.statistics import describe, read_stats
    from farweb.pages.har import is_har

    if is_har(files[0]):
        return _stats_of_har(call, files, out)
    if out is not None:
        from farweb.paint import chart, paper

        chart.check_target(out)
    call.takes(out)
    found = call.ask("reading", read_stats, files)
    if out is not None:
        paper.draw(describe(found), out)
    call.result(found.to_dict(), found.screen(is_all))
    if found.imported is not None:
        are, them = ("is a log", "it") if len(files) == 1 else ("are logs", "them")
        call.note(f"{found.source} {are}; workload import, which has more options, makes a table of {them}.")
    if out is not None:
        call.wrote(out)


def _stats_of_har(call: Call, files: Sequence[Path], out: Path | None) -> None:
    from farweb.pages.tables import describe_har, page_rows

    call.takes(out)
    pages = describe_har(files)
    if out is not None:
        from farweb.paint import paper
        from farweb.plot import waterfall
        from farweb.views.page_load import recorded_view

        paper.draw(waterfall.recorded(recorded_view(page_rows(*pages.pages[0]))), out)
        of = f", of page 1 of {len(pages.pages)}" if pages.pages[1:] else ""
        call.note(f"wrote {out}: the waterfall as recorded{of}")
    call.result(pages.to_dict(), pages)


@verb()
def path(call: Call, file: Path, *, out: Path | None = None) -> None:
    """Describe a trace or a schedule of a link: rates in 100 ms, and gaps with their period.

    A link reads such a file by trace = "down.trace", in place of its rate, or schedule = "pass.csv".

    Args:
        file: A trace of mahimahi, or a schedule (.csv, .tsv), plain or packed.
        out: Draw it as well: a .png, .svg, .pdf or .html file.

    Examples:

        farweb workload path down.trace

        farweb workload path pass.csv -o pass.png
    """
    from farweb.inputs.path_stats import describe, read_path_stats

    if out is not None:
        from farweb.paint import chart, paper

        chart.check_target(out)
    call.takes(out)
    found = read_path_stats(file)
    if out is not None:
        paper.draw(describe(found), out)
    call.result(found.to_dict(), found)
    if out is not None:
        call.wrote(out)


@verb("inputs.fit:fit", log="REQUESTS...", dynamic="--dynamic --no-dynamic")
def fit(call: Call, log: Sequence[Path], *, out: Sequence[Path] = ()) -> None:
    """Estimate the parameters of the model ProWGen from a log, and show how well they fit.

    Estimates popularity, one-timers, sizes and their tail, the correlation of size and popularity, and the LRU stack.
    A workload generated with them is compared with the log.

    Args:
        log: A request table with objects, logs in any order, or a cache trace.
        out: The parameters for generate prowgen --parameters, a .toml file, or a figure of model and data: .png, .svg,
            .pdf, .html. May be given more than once.

    Examples:

        farweb workload fit access.log.gz -o fit.png --out fitted.toml

        farweb workload fit requests.parquet --tail-from 10000 --json
    """
    from farweb.inputs.fit import fit as estimate
    from farweb.inputs.fit import write_parameters

    for file in out:
        if not is_figure(file) and file.suffix.lower() != ".toml":
            raise FarwebError(f"{file}: parameters are written as .toml, a figure as .png, .svg, .pdf or .html")
    call.takes(*out)
    found = call.ask("reading", estimate, log, left=False)
    for file in out:
        if is_figure(file):
            from farweb.inputs.fit.drawing import describe
            from farweb.paint import paper

            paper.draw(describe(found), file)
        else:
            write_parameters(found, file)
    call.result(found.to_dict(), found)
    for file in out:
        call.wrote(file)


def _stem(log: Path) -> str:
    """`access.log.gz` and `access.log` are both `access`. Standard input has no name."""
    if log == Path("-"):
        return "requests"
    name = log.name
    for packing in (".gz", ".xz", ".zst"):
        name = name.removesuffix(packing)
    return name.rpartition(".")[0] or name
