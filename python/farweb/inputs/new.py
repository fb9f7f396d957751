"""Writes a commented scenario to start from, by kind of path and of proxies, for a log or a family (`farweb new`).

Figures are those of the publications that stand beside them, rounded; what is chosen says so. Queues hold what the path
carries in a round trip, the rule of C. Villamizar and C. Song, "High performance TCP in ANSNET" (CCR 24(5), 1994).
"""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from farweb.errors import WorkloadError
from farweb.files.atomic import staged_file
from farweb.text.quantities import count

if TYPE_CHECKING:
    from farweb.inputs.importer import ImportReport


@dataclass(frozen=True)
class PathKind:
    """A kind of path.

    Attributes:
        title: What it is, in some words.
        up_mbps: Rate towards the servers, in Mbit/s.
        down_mbps: Rate towards the clients.
        up_ms: Delay towards the servers, one way, in ms.
        down_ms: Delay towards the clients.
        sources: Where the figures come from, a sentence each.
    """

    title: str
    up_mbps: float
    down_mbps: float
    up_ms: int
    down_ms: int
    sources: tuple[str, ...]

    def queue_kb(self, rate_mbps: float) -> int:
        """What is sent at this rate in a round trip, in kB."""
        return round(rate_mbps * (self.up_ms + self.down_ms) / 8)


_STUDY = (
    'McGregor, Pearson and Cleary, "The effect of multiplexing HTTP connections over asymmetric high bandwidth-delay '
    'product circuits" (SPIE 3529, 1998)'
)

PATHS = {
    "geo": PathKind(
        "a geostationary satellite",
        3,
        18.75,
        300,
        300,
        (
            'Round trip: about 600 ms at least, Michel and others, "A first look at Starlink performance" (IMC 2022).',
            "Rates: medians of Viasat in the United States, Ookla, third quarter of 2021 (up: less than 3.5 Mbit/s).",
        ),
    ),
    "leo": PathKind(
        "a constellation in low Earth orbit",
        12,
        105,
        20,
        20,
        (
            "Rates and round trip: medians of Starlink in the United States, Ookla, fourth quarter of 2021.",
            'Michel and others, "A first look at Starlink performance" (IMC 2022): 50 ms to servers in Europe.',
            'Losses come in bursts and are left out; Pan and others, "Measuring the satellite links of a LEO network" '
            '(ICC 2024), found about 1 % on average: loss = { kind = "gilbert-elliott", … } adds them.',
        ),
    ),
    "cable": PathKind(
        "a sea cable, New Zealand to the United States",
        34.368,
        34.368,
        60,
        60,
        (f"Rate (an E3 line) and delays: {_STUDY}.",),
    ),
    "mobile": PathKind(
        "a mobile network, LTE",
        6,
        13,
        35,
        35,
        (
            'Rates and round trip (70 ms): medians of LTE, Huang and others, "A close examination of performance and '
            'power characteristics of 4G LTE networks" (MobiSys 2012).',
        ),
    ),
    "asymmetric": PathKind(
        "out by sea cable, back by satellite",
        34.368,
        34.368,
        60,
        320,
        (f"Rate (an E3 line) and delays: {_STUDY}.",),
    ),
}

_PACED = """\
# A response comes spread over the time that its server took, where the workload has it.
[origin]
release = "paced"
"""

_AFTER_WAIT = """\
# A response is there when its server has waited as long as the log says it did for the first byte, and TCP makes the
# transfer. Pages that were sent while they were made come too early: release = "paced" spreads them as the log does.
[origin]
release = "after-wait"
"""

_PROXIES = {
    "none": (
        "Connections go from end to end and are used again; far-end only forwards. All clients of a log are one node.",
        (("clients", "servers", '{ kind = "http/1.1" }'),),
    ),
    "split": (
        "far-end is a proxy: connections end there, and it has its own to the servers.",
        (
            ("clients", "far-end", '{ kind = "http/1.1" }'),
            ("far-end", "servers", '{ kind = "http/1.1" }'),
        ),
    ),
    "mux": (
        "clients and far-end are proxies, and all requests share the connections between them.",
        (
            ("clients", "far-end", '{ kind = "mux", connections = 8 }'),
            ("far-end", "servers", '{ kind = "http/1.1" }'),
        ),
    ),
}

PROXIES = tuple(_PROXIES)

_EVERY = ((1, "1 s", "second"), (60, "1 min", "minute"), (600, "10 min", "ten minutes"), (3600, "60 min", "hour"))
_ROWS_MAX = 100_000  # chosen: a day by the second, some MB


@dataclass(frozen=True)
class NewScenario:
    """Files that were written.

    Attributes:
        scenario: The scenario file.
        requests: The request table of the log, if there is one.
        hosts: The host table of the log.
        imported: What the import kept and left out.
    """

    scenario: Path
    requests: Path | None
    hosts: Path | None
    imported: "ImportReport | None"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        paths = {"requests": self.requests, "hosts": self.hosts}
        named = {name: None if path is None else str(path) for name, path in paths.items()}
        imported = None if self.imported is None else self.imported.to_dict()
        return {"scenario": str(self.scenario), **named, "import": imported}


def files_of(file: Path, *, with_log: bool) -> list[Path]:
    """What `new_scenario` writes: the scenario, and the tables of a log."""
    tables = ("requests.parquet", "hosts.tsv") if with_log else ()
    return [file, *(file.with_name(f"{file.stem}-{name}") for name in tables)]


def new_scenario(
    file: str | Path,
    *,
    path: str = "geo",
    proxy: str = "none",
    log: str | Path | Sequence[str | Path] | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> NewScenario:
    """Write a scenario, and beside it the tables of a log.

    Args:
        file: The scenario; tables are called after it, ``NAME-requests.parquet`` and ``NAME-hosts.tsv``.
        path: A key of `PATHS`.
        proxy: One of `PROXIES`.
        log: The log or logs; the family nzix when left out.
        progress: Called with the number of requests imported so far.
        options: For the import, as `import_log` takes them.

    Raises:
        WorkloadError: The log cannot be imported, or would be replaced. Nothing is written then.
    """
    from farweb.inputs.importer import import_log

    file = Path(file)
    logs = [] if log is None else [Path(each) for each in ([log] if isinstance(log, str | Path) else log)]
    for written in files_of(file, with_log=bool(logs)):
        if any(each.exists() and written.exists() and written.samefile(each) for each in logs):
            raise WorkloadError(f"{written}: is the log itself; name another file")
    if not logs:
        _write(file, _scenario(file, path, proxy, _PACED, _FAMILY, 600))
        return NewScenario(file, None, None, None)
    _, requests, hosts = files_of(file, with_log=True)
    imported = import_log(logs, requests, progress=progress, **options)
    _write(hosts, _host_table(requests))
    workload = _workload(imported, requests, hosts)
    _write(file, _scenario(file, path, proxy, _release(imported), workload, imported.span_s))
    return NewScenario(file, requests, hosts, imported)


def _write(file: Path, text: str) -> None:
    with staged_file(file) as stage:
        stage.write_text(text, "utf-8")


def _host_table(requests: Path) -> str:
    """The hosts of a request table, with empty places for what a log does not have."""
    names: set[str] = set()
    with pq.ParquetFile(requests) as table:
        for batch in table.iter_batches(columns=["host"]):
            names.update(batch["host"].unique().to_pylist())
    return "host\tname\twindow_bytes\tmss_bytes\n" + "".join(f"{name}\t{name}\t\t\n" for name in sorted(names))


_FAMILY = """\
# Ten minutes of the web of 1997, to try the scenario with. With a log of your own:
#   farweb new FILE --log access.log
[workload]
family = "nzix"
"""


def _workload(imported: "ImportReport", requests: Path, hosts: Path) -> str:
    counts = imported.counts
    dropped = ", ".join(f"{count(lines)} {reason}" for reason, lines in sorted(counts["dropped"].items()))
    origin = (
        f"Imported from {imported.log['file']} ({', '.join(counts['formats'])}): {count(imported.requests)} requests "
        f"of {count(counts['lines'])} lines; left out: {dropped or 'nothing'}; "
        f"unreadable: {counts['unreadable_lines']}."
    )
    return (
        f"{_comment(origin)}"
        "# Hosts are those of the log; fill in what you know of their MSS and windows (farweb workload probe finds\n"
        '# them), and write mss = "host", buffer = "host" on the leg to the servers.\n'
        f'[workload]\nrequests = "{requests.name}"\nhosts = "{hosts.name}"\n'
    )


def _release(imported: "ImportReport") -> str:
    """How responses are released: after the wait where the log has it of each, else over the recorded time.

    Without the wait of some, `after-wait` would put the recorded transfer of these before the simulated one.
    """
    served, waited = imported.counts["with_server_time"], imported.counts["with_wait"]
    return _AFTER_WAIT if 0 < served == waited else _PACED


def _scenario(file: Path, path: str, proxy: str, release: str, workload: str, span_s: float) -> str:
    kind = PATHS[path]
    about, legs = _PROXIES[proxy]
    links = "\n".join(
        f'{name:<4} = {{ rate = "{rate:g} Mbit/s", delay = "{delay} ms", queue = "{kind.queue_kb(rate)} kB" }}'
        for name, rate, delay in (("up", kind.up_mbps, kind.up_ms), ("down", kind.down_mbps, kind.down_ms))
    )
    joined = "\n".join(
        f'[[leg]]\nfrom = "{begin}"\nto = "{end}"\ncarrier = {carrier}\ntcp = {{ profile = "linux", mss = "1460 B" }}\n'
        for begin, end, carrier in legs
    )
    every, in_words = next((each for each in _EVERY if span_s / each[0] <= _ROWS_MAX), _EVERY[-1])[1:]
    return f"""\
# The web over {kind.title}.
#
#   farweb check {file.name}
#   farweb run {file.name}
#   farweb report results/{file.stem}
#
# Every key is in the documentation of the scenario format; farweb schema scenario prints it for editors.

format = 1
name = "{kind.title}{"" if proxy == "none" else f", proxy: {proxy}"}"

# From the clients to the servers; up is towards the servers, down towards the clients.
[path]
nodes = ["clients", "far-end", "servers"]

# clients – far-end: the long part.
{"".join(_comment(source) for source in kind.sources)}\
# Queues hold what the path carries in a round trip.
[[path.link]]
{links}

# far-end – servers: the rest of the Internet, 10 ms away (chosen). Where the log has server times that were measured at
# the far end, it is in them: write 0 ms then.
[[path.link]]
up   = {{ rate = "1 Gbit/s", delay = "10 ms" }}
down = {{ rate = "1 Gbit/s", delay = "10 ms" }}

# {about}
{joined}
{release}
{workload}
[run]
seed = 1

# What figures need: each link by the {in_words}, and each step of a request.
[record]
links_every = "{every}"
exchanges = true
"""


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False))
