"""Writes a commented scenario to start from, by kind of path and of proxies, for a log or a family (`farweb new`).

Facts of a log decide how its servers are simulated (`serving`); a chosen value says so.
"""

import json
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow.parquet as pq

from farweb.errors import WorkloadError
from farweb.files.atomic import staged_file
from farweb.files.parquet import equals
from farweb.inputs.carried import bytes_in_table
from farweb.inputs.formats import AUTO, TABLE, format_of
from farweb.inputs.importer import import_log
from farweb.inputs.paths import RELAY_TCP, PathKind, path_kind, years_apart
from farweb.inputs.provenance import connects, server_times, unread
from farweb.inputs.serving import OF_TODAY, Serving, serving_of
from farweb.inputs.tables import open_requests
from farweb.text.quantities import count, moment, seconds, size
from farweb.text.sheet import Screen, Sheet
from farweb.text.words import plural

if TYPE_CHECKING:
    from farweb.inputs.import_report import ImportReport


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

_TUNNELS = """\
# TLS inside tunnels (CONNECT), between a client and its server: handshakes go over the whole path. Without this table a
# tunnel is one transfer of all its bytes.
[clients.tunnels]
tls = { version = "1.3" }

"""

PROXIES = {
    "none": "Connections go from end to end and are used again; far-end only forwards.",
    "split": "far-end is a proxy: connections end there, and it has its own to the servers.",
    "mux": "The near end and far-end are proxies, and all requests share the connections between them.",
    "pep": "terminal and far-end end TCP and begin it anew; TLS goes from end to end.",
}
"""Proxies on the path, by name."""

QUEUES = ("drop-tail", "codel", "fq-codel", "pie")
"""Disciplines of queues that `--queue` writes."""

_QUEUE = """\
# A router has this queue where it sends slower than the modem behind it: set rates a little below the line's.
up.queue = {up}
down.queue = {down}
"""

_SEEN_AT = {
    "server": ("each", "The log is a server's: each of its clients has connections of its own."),
    "proxy-clients": ("each", "The log is a proxy's, towards its clients: each has connections of its own to it."),
    "proxy-servers": ("all", "The log is a proxy's, towards the servers: it asks for all its clients, who share."),
}

SEEN_AT = tuple(_SEEN_AT)
"""Where a log was written, as seen from the path: who has connections of its own there."""

_EVERY = ((1, "1 s", "second"), (60, "1 min", "minute"), (600, "10 min", "ten minutes"), (3600, "60 min", "hour"))
_LINE_SHOWN = 80  # bytes (chosen)
_ROWS_MAX = 100_000  # chosen: a day by the second, some MB


@dataclass(frozen=True)
class Way:
    """A kind of path and the proxies on it.

    Attributes:
        path: A key of `PATHS` or `STAND_FOR`.
        proxy: A key of `PROXIES`.
    """

    path: str
    proxy: str

    @classmethod
    def of(cls, text: str, proxy: str) -> Self:
        """The way that a text names: ``geo+pep``, or ``geo`` with the `proxy` of those that name none."""
        path, _, own = text.partition("+")
        return cls(path, own or proxy)

    @property
    def kind(self) -> PathKind:
        """Its kind of path."""
        return path_kind(self.path)


@dataclass(frozen=True)
class Wanted:
    """Parts of a scenario to write.

    Attributes:
        ways: The first of several is simulated, and a sweep compares them.
        cache: Size and policy of a cache in front of the long part. None: none.
        shield: The same of a cache behind it.
        is_local: True when the clients are a local network away from the long part.
        queues: Disciplines of the long part's queues, where they are not the preset's: a sweep compares several.
    """

    ways: tuple[Way, ...]
    cache: tuple[str, str] | None
    shield: tuple[str, str] | None
    is_local: bool
    queues: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, Way]:
        """The ways by path, and by proxy where that differs: ``geo+pep``."""
        return {
            way.path if way.proxy == "none" or not self.has_several_proxies else f"{way.path}+{way.proxy}": way
            for way in self.ways
        }

    @property
    def has_several_proxies(self) -> bool:
        """True where the ways differ in their proxies."""
        return len({way.proxy for way in self.ways}) > 1

    @property
    def nodes(self) -> list[str]:
        """Nodes from the clients to the servers, the same on all ways."""
        near = [] if not self.is_local else ["near-end" if self.cache is None else "cache"]
        relay = ["terminal"] if any(way.proxy == "pep" for way in self.ways) else []
        return ["clients", *near, *relay, "far-end", "servers"]

    @property
    def long_link(self) -> int:
        """Place of the long part among the links."""
        return self.nodes.index("far-end") - 1

    def legs(self, proxy: str, serving: Serving) -> list[tuple[str, str, str]]:
        """Begin, end and carrier of each leg on a way with such a proxy."""
        inner = {
            "none": [("servers", serving.carrier)],
            "split": [("far-end", serving.carrier), ("servers", serving.carrier)],
            "mux": [("far-end", '{ kind = "mux", connections = 8 }'), ("servers", serving.carrier)],
            "pep": [("servers", serving.carrier)],
        }["split" if self.shield is not None and proxy in ("none", "pep") else proxy]
        ends = [*([] if self.cache is None else [("cache", serving.carrier)]), *inner]
        begins = ["clients", *(end for end, _ in ends)]
        return [(begin, end, carrier) for begin, (end, carrier) in zip(begins, ends, strict=False)]


@dataclass(frozen=True)
class NewScenario:
    """Files that were written.

    Attributes:
        scenario: The scenario file.
        requests: The request table of the log, if there is one.
        hosts: The host table of the log.
        imported: Numbers that the import kept and left out.
        remarks: Reservations about the answers, a sentence each.
        facts: Decisions of the log about the scenario: a label and a sentence each.
    """

    scenario: Path
    requests: Path | None
    hosts: Path | None
    imported: "ImportReport | None"
    remarks: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

    def screen(self, path: str, swept: str = "") -> Screen:
        """The path, the log's first request, its decisions, and the factors of a sweep.

        Args:
            path: The path in a sentence.
            swept: Factors of the scenario's sweep beside it.
        """
        rows = [*map(list, self.facts), *([["sweep", swept]] if swept else [])]
        return Screen((path, "", Sheet("", ["", ""], rows)) if rows else (path,))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        paths = {"requests": self.requests, "hosts": self.hosts}
        named = {name: None if path is None else str(path) for name, path in paths.items()}
        imported = None if self.imported is None else self.imported.to_dict()
        return {"scenario": str(self.scenario), **named, "import": imported, "remarks": list(self.remarks)}


def files_of(file: Path, *, with_log: bool) -> list[Path]:
    """Files of `new_scenario`: the scenario, and the tables of a log."""
    tables = ("requests.parquet", "hosts.tsv") if with_log else ()
    return [file, *(file.with_name(f"{file.stem}-{name}") for name in tables)]


def new_scenario(
    file: str | Path,
    *,
    path: str = "geo",
    compare: Sequence[str] = (),
    proxy: str = "none",
    queues: Sequence[str] = (),
    cache: tuple[str, str] | Literal["none"] | None = None,
    shield: tuple[str, str] | None = None,
    seen_at: str | None = None,
    log: str | Path | Sequence[str | Path] | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> NewScenario:
    """Write a scenario, and beside it the tables of a log.

    Args:
        file: The scenario. Its tables are called ``NAME-requests.parquet`` and ``NAME-hosts.tsv``.
        path: A key of `PATHS`, or of `STAND_FOR`.
        compare: Several of them, in place of `path`: the scenario has a sweep over them. One may name a proxy of its
            own, such as ``geo+pep``.
        proxy: A key of `PROXIES`.
        queues: Of `QUEUES`, in both directions of the long part, in place of the path's own; the scenario has a sweep
            over several. Drop-tail has the depth of the path.
        cache: Capacity and policy of a cache in front of the long part of the path, such as ``("10 GB", "lru")``, or
            ``"none"`` for the same path and requests without it.
        shield: The same of a second level at the far end, which the cache asks.
        seen_at: One of `SEEN_AT`: which requests of a proxy's log are taken, and who shares connections. When left out,
            `proxy-servers` for a log that marks cache hits, `server` for others.
        log: The log or logs, or a request table, simulated as it is (default: the family nzix).
        progress: Called with the number of requests imported so far.
        options: For the import, as `import_log` takes them. `proxy-clients` and a cache keep hits by default.

    Raises:
        WorkloadError: The log cannot be imported, or would be replaced. Nothing is written then.
    """
    file = Path(file)
    ways = tuple(dict.fromkeys(Way.of(each, proxy) for each in compare or (path,)))
    wanted = Wanted(ways, None if cache == "none" else cache, shield, cache is not None, tuple(dict.fromkeys(queues)))
    logs = [] if log is None else [Path(each) for each in ([log] if isinstance(log, str | Path) else log)]
    table = table_of(logs, options)
    remarks = tuple(filter(None, (years_apart(tuple(dict.fromkeys(way.path for way in ways))),)))
    for written in files_of(file, with_log=bool(logs) and table is None):
        if any(each.exists() and written.exists() and written.samefile(each) for each in logs):
            raise WorkloadError(f"{written}: is the log itself; name another file")
    if not logs:
        family = _PROWGEN if wanted.is_local else _FAMILY
        _write(file, _scenario(file, wanted, OF_TODAY, "", _PACED, family, 600))
        return NewScenario(file, None, None, None, remarks)
    if table is not None:
        counts, span_s, has_tunnels = _table(table)
        asked = _clients(seen_at or ("server" if counts is None else _likely(counts)), has_tunnels)
        workload = _TABLE.format(requests=json.dumps(os.path.relpath(table, file.parent)))
        served, release = (OF_TODAY, _PACED) if counts is None else (serving_of(counts), _release(counts))
        _write(file, _scenario(file, wanted, served, asked, release, workload, span_s))
        return NewScenario(file, table, None, None, remarks)
    _, requests, hosts = files_of(file, with_log=True)
    if seen_at == "proxy-clients" or wanted.is_local:
        options = {"keep": "all", **options}
    imported = import_log(logs, requests, progress=progress, **options)
    _write(hosts, _host_table(requests))
    workload = _workload(imported, requests, hosts)
    asked = _clients(seen_at or _likely(imported.counts), bool(connects(imported.counts)))
    served = serving_of(imported.counts)
    _write(file, _scenario(file, wanted, served, asked, _release(imported.counts), workload, imported.span_s))
    facts = tuple(_facts(imported, served, _SEEN_AT[seen_at or _likely(imported.counts)][1]))
    return NewScenario(file, requests, hosts, imported, remarks, facts)


def _facts(imported: "ImportReport", served: Serving, clients: str) -> Iterator[tuple[str, str]]:
    """Facts of the log, its first request, and the decisions from them."""
    counts = imported.counts
    log = (
        f"{count(imported.requests)} of {plural(counts['lines'], 'line')}: {size(bytes_in_table(counts))} in "
        f"{seconds(imported.span_s)}, from {moment(counts['origin_unix_s'])}"
    )
    yield "log", "; ".join([log, *unread(counts["unread_fields"])])
    if first := counts.get("first_request"):
        yield (
            "first",
            f"{first['client']} {first['method']} {first['url']} to {first['host']}, {first['response_bytes']:,} B "
            f"(line {first['line']})",
        )
    yield "http", served.reasons[0]
    yield "clients", clients
    if tunnels := connects(counts):
        yield "tunnels", f"TLS 1.3 inside each of {count(tunnels['requests'])}, over the whole path"
    yield "servers", server_times({"log": imported.log, **counts})


def table_of(logs: Sequence[Path], options: Mapping[str, Any]) -> Path | None:
    """The request table that is given in place of logs. None: they are logs.

    Args:
        logs: The files.
        options: As `import_log` takes them. A file with options is a log.

    Raises:
        WorkloadError: There is no such file.
    """
    if options.get("log_format") or options.get("fields") or options.get("format", AUTO) != AUTO:
        return None
    if len(logs) != 1 or logs[0].suffix.lower() not in (".parquet", ".csv", ".tsv"):
        return None
    return logs[0] if format_of(logs[0], None) == TABLE else None


def _table(path: Path) -> tuple[Mapping[str, Any] | None, float, bool]:
    """Counts of the import that a table is from, None where it is from none, its span in s, and if it has tunnels."""
    first, last, has_tunnels = None, 0.0, False
    try:
        with open_requests(path) as table:
            for columns in table.core:
                starts = np.asarray(columns["start_s"])
                first, last = float(starts[0]) if first is None else first, float(starts[-1])
                has_tunnels |= "method" in columns and bool(equals(columns["method"], "CONNECT").any())
    except WorkloadError:
        with path.open("rb") as file:
            first_line = file.readline(_LINE_SHOWN)
        if path.suffix.lower() == ".parquet" or b"start_s" in first_line:
            raise
        raise WorkloadError(
            f"{path}: is neither a log that is recognized nor a request table; its first line is "
            f"{first_line.decode(errors='replace').strip()!r}; describe its lines, such as "
            "--log-format '{start},{client},{url},{bytes}', or give it the columns start_s, host, request_bytes "
            "and response_bytes"
        ) from None
    has_tunnels &= table.imported is None or bool(connects(table.imported))
    return table.imported, 0.0 if first is None else last - first, has_tunnels


def _write(file: Path, text: str) -> None:
    with staged_file(file) as stage:
        stage.write_text(text, "utf-8")


def _host_table(requests: Path) -> str:
    """The hosts of a request table, with empty places for facts that a log lacks."""
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


_TABLE = """\
[workload]
requests = {requests}
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


def _likely(counts: Mapping[str, Any]) -> str:
    """Place of a log, by its format and its hits."""
    return "proxy-servers" if "squid" in counts["formats"] or "hit" in counts["dropped"] else "server"


def _clients(seen_at: str, has_tunnels: bool) -> str:
    share, about = _SEEN_AT[seen_at]
    chosen = f'# {about}\n# "each" and "all" choose; --seen-at {seen_at} wrote this.\n[clients]\nshare = "{share}"\n\n'
    return chosen + (_TUNNELS if has_tunnels else "")


def _release(counts: Mapping[str, Any]) -> str:
    """How responses are released: after the wait where the log has it of each, else over the recorded time.

    Without the wait of some, `after-wait` would put the recorded transfer of these before the simulated one.
    """
    served, waited = counts["with_server_time"], counts["with_wait"]
    return _AFTER_WAIT if 0 < served == waited else _PACED


_PROWGEN = """\
# Requests of a proxy's clients by the model ProWGen, to try the scenario with: a fiftieth of its 5,000,000. With a log:
#   farweb new FILE --cache SIZE --log access.log
[workload]
family = "prowgen"
parameters = { requests = 100_000 }
"""


def _scenario(
    file: Path, wanted: Wanted, serving: Serving, clients: str, release: str, workload: str, span_s: float
) -> str:
    every, in_words = next((each for each in _EVERY if span_s / each[0] <= _ROWS_MAX), _EVERY[-1])[1:]
    way, kind = wanted.ways[0], wanted.ways[0].kind
    title = f"{kind.title}, {kind.dated}" + ("" if way.proxy == "none" else f", proxy: {way.proxy}")
    several = " or ".join(f"{name} ({each.kind.dated})" for name, each in wanted.names.items())
    return f"""\
{_head(file, wanted)}
# Every key is in the documentation of the scenario format; farweb schema scenario prints it for editors.

format = 1
name = "{title if len(wanted.ways) == 1 else several}"

# From the clients to the servers; up is towards the servers, down towards the clients.
[path]
nodes = [{", ".join(f'"{node}"' for node in wanted.nodes)}]

{"".join(_LOCAL.format(*pair) for pair in zip(wanted.nodes[: wanted.long_link], wanted.nodes[1:], strict=False))}\
# {wanted.nodes[wanted.long_link]} – far-end: the long part.
{_figures(wanted)}\
# A key of the link that is written here takes the place of the preset's: down.rate = "40 Mbit/s"
[[path.link]]
preset = "{kind.name}"
{_QUEUE.format(**_queue(kind, wanted.queues[0])) if wanted.queues else ""}
# far-end – servers: the rest of the Internet, 10 ms away (chosen). Where the log has server times that were measured at
# the far end, it is in them: write 0 ms then.
[[path.link]]
up   = {{ rate = "1 Gbit/s", delay = "10 ms" }}
down = {{ rate = "1 Gbit/s", delay = "10 ms" }}

{_about_far_end(wanted, serving)}\
{"".join(_comment(reason) for reason in serving.reasons)}\
{_legs(wanted, way.proxy, serving)}
{_caches(wanted)}{clients}{release}
{workload}
[run]
seed = 1

# What figures need: each link by the {in_words}, and each step of a request.
[record]
links_every = "{every}"
exchanges = true
{_sweep(wanted, serving, is_log="requests = " in workload)}"""


def _legs(wanted: Wanted, proxy: str, serving: Serving) -> str:
    """The legs of a way with such a proxy, as tables."""
    tls = '\ntls = { version = "1.3" }' if serving.tls else ""
    return "\n".join(
        f'[[leg]]\nfrom = "{begin}"\nto = "{end}"\ncarrier = {carrier}\n'
        f'tcp = {{ profile = "linux", mss = "1460 B", constants = {{ nagle = {_nagle(end, serving)} }} }}{tls}\n'
        + (_splits(wanted, begin, end, serving) if proxy == "pep" else "")
        for begin, end, carrier in wanted.legs(proxy, serving)
    )


def _about_far_end(wanted: Wanted, serving: Serving) -> str:
    """The node behind the long part on each way, under its name if its proxies differ."""
    said = {name: _about_proxy(way, wanted, serving) for name, way in wanted.names.items()}
    modems = any(way.proxy == "none" and way.kind.name.startswith("geo-") for way in wanted.ways)
    about = [f"{name}: {each}" for name, each in said.items()] if wanted.has_several_proxies else [*said.values()][:1]
    return "".join(map(_comment, about)) + (_comment(_MODEM) if modems and wanted.shield is None else "")


def _about_proxy(way: Way, wanted: Wanted, serving: Serving) -> str:
    if wanted.shield is not None and way.proxy == "none":
        return "far-end is a cache that the nearer one asks, and asks the servers itself."
    decrypts = " TLS is decrypted there." if serving.tls and way.proxy in ("split", "mux") else ""
    return PROXIES[way.proxy] + decrypts


def _nagle(end: str, serving: Serving) -> str:
    """Nagle's rule on a leg to `end`, as a scenario writes it. Proxies switch it off."""
    return "true" if serving.nagle and end == "servers" else "false"


def _head(file: Path, wanted: Wanted) -> str:
    """First lines: the path, the years of its figures, and commands for it."""
    kinds = dict.fromkeys(f"{way.kind.title} (figures of {way.kind.dated})" for way in wanted.ways)
    about, verb = " or ".join(kinds), "run" if len(wanted.ways) == 1 else "sweep"
    return (
        f"{_comment(f'The web over {about}.')}#\n#   farweb check {file.name}\n"
        f"#   farweb {verb} {file.name}\n#   farweb report results/{file.stem}\n#"
    )


_LOCAL = """\
# {} – {}: a local network (chosen).
[[path.link]]
up   = {{ rate = "1 Gbit/s", delay = "1 ms" }}
down = {{ rate = "1 Gbit/s", delay = "1 ms" }}

"""

_MODEM = (
    "Modems of geostationary operators have a proxy for TCP (PEP) inside, which is not here: --proxy pep writes it."
)

_TERMINAL = """
# terminal ends TCP for the clients. Over the long part {about}, with a large first window, and buffers that hold
# more than the path in a round trip (chosen).
[[leg.split]]
at = "terminal"
tcp = {relay}
"""

_FAR_END = """
[[leg.split]]
at = "far-end"
tcp = {{ profile = "linux", mss = "1460 B", constants = {{ nagle = {nagle} }} }}
"""


def _splits(wanted: Wanted, begin: str, end: str, serving: Serving) -> str:
    """The splits inside a leg: both, or the one in front of a proxy that ends TCP itself."""
    inside = wanted.nodes[wanted.nodes.index(begin) + 1 : wanted.nodes.index(end)]
    if "terminal" not in inside:
        return ""
    both = "far-end" in inside
    first = _TERMINAL.format(
        about="connections stand" if both else "connections are opened",
        relay=RELAY_TCP,
    )
    if not both:
        return first
    return f'{first}open = "ready"\n{_FAR_END.format(nagle=_nagle(end, serving))}'


def _figures(wanted: Wanted) -> str:
    """Each figure of the long part with its source, under the name of its path if there are several."""
    paths = dict.fromkeys(way.path for way in wanted.ways)
    return "".join(
        ("" if len(paths) == 1 else _comment(f"{each}:")) + "".join(map(_comment, path_kind(each).facts))
        for each in paths
    )


def _caches(wanted: Wanted) -> str:
    levels = [
        (node, cache) for node, cache in (("cache", wanted.cache), ("far-end", wanted.shield)) if cache is not None
    ]
    about = (
        "# A copy that is held serves, but methods and responses for which none may. ttl bounds the age of a copy.\n"
    )
    tables = "\n".join(
        f'[[cache]]\nnode = "{node}"\npolicy = "{policy}"\ncapacity = "{capacity}"\n'
        for node, (capacity, policy) in levels
    )
    return f"{about}{tables}\n" if levels else ""


def _lines(form: str, links: Mapping[str, str]) -> str:
    return "".join(f"{form.format(way, link)}\n" for way, link in links.items())


def _sweep(wanted: Wanted, serving: Serving, *, is_log: bool) -> str:
    """A sweep over the ways, or over queues of one or their depths. A log's requests are the same in each run."""
    replications, often = (1, "once: its requests are those of the log") if is_log else (5, "with five seeds")
    kind = wanted.ways[0].kind
    legs: dict[str, str] = {}
    if len(wanted.ways) > 1:
        factor, about = "path", f"farweb sweep runs each path {often}."
        levels = {name: {"preset": f'"{way.kind.name}"'} for name, way in wanted.names.items()}
        if wanted.has_several_proxies:
            legs = {name: _legs(wanted, way.proxy, serving) for name, way in wanted.names.items()}
        unknown = ", ".join(dict.fromkeys(way.path for way in wanted.ways if way.kind.depths))
        if unknown:
            about += f" Depths of queues are unpublished and chosen for {unknown}: farweb new --path NAME sweeps them."
    elif len(wanted.queues) > 1:
        factor, about = "queue", f"farweb sweep runs each queue {often}."
        levels = {name: {f"{way}.queue": text for way, text in _queue(kind, name).items()} for name in wanted.queues}
    elif kind.depths and not wanted.queues:
        factor, about = "queue", f"The depth of the queues is unpublished: farweb sweep runs a range of them {often}."
        depths = [f"{depth} ms" for depth in kind.depths]
        levels = {depth: {f"{way}.queue": f'"{depth}"' for way in ("up", "down")} for depth in depths}
    else:
        return ""
    key = f'"path.link.{wanted.long_link}.{{}}" = {{}}'
    tables = "".join(
        f'\n[[sweep.factors.{factor}]]\nlevel = "{level}"\n[sweep.factors.{factor}.set]\n{_lines(key, links)}'
        f"{_of_level(factor, legs.get(level, ''))}"
        for level, links in levels.items()
    )
    return f"\n{_comment(about)}[sweep]\nreplications = {replications}\n{tables}"


def _queue(kind: PathKind, name: str) -> dict[str, str]:
    """A queue of the long part in each direction, as a scenario has it: drop-tail with the depth of the path."""
    trip = kind.delay.up + kind.delay.down
    depths = {"up": kind.queue.up, "down": kind.queue.down} if kind.queue is not None else {"up": trip, "down": trip}
    return {way: f'"{depth:g} ms"' if name == "drop-tail" else f'"{name}"' for way, depth in depths.items()}


def _of_level(factor: str, legs: str) -> str:
    """Legs as a level of a sweep sets them, without their comments."""
    lines = (line for line in legs.splitlines() if line and not line.startswith("#"))
    return "".join(f"{line.replace('[[leg', f'[[sweep.factors.{factor}.set.leg')}\n" for line in lines)


def _comment(text: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(text, 116, break_long_words=False, break_on_hyphens=False))
