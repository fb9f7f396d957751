"""Makes a host table of what servers advertise in captures, for `farweb workload probe`.

The core reads the captures in a stream and follows their handshakes (`workload/probe`). Here hosts get names, silent
ones an MSS, and the table its file.
"""

import ipaddress
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import RunError, WorkloadError, require_range
from farweb.files.atomic import staged_file
from farweb.files.columns import arrow_schema
from farweb.files.regular import check_file, read_text
from farweb.inputs.tables import HOSTS
from farweb.progress import Progress, unseen
from farweb.text.quantities import count, seconds
from farweb.text.sheet import Screen, Sheet, Shown

DEFAULT_MSS = 1480
"""MSS of hosts that advertise none: the most common one of the hosts of the NZ–US study, which it took for them."""

MAX_UNREADABLE = 0.01

_PACKETS = 200_000  # chosen: a few times a second: Ctrl-C and the progress bar answer
_SHOWN = 5  # chosen: enough to see the pattern (JSON has all)
_TOP = 10
_NAME_MAX = 260  # characters: a DNS name of 253 (RFC 1035, section 2.3.4), and a port
_REASONS = {
    "not-ip": "not IP",
    "not-tcp": "not TCP",
    "fragment": "fragments",
    "cut-short": "cut before the end of the TCP header",
    "link-type": "of an unknown link type",
}

Name = tuple[str, str]
"""An address and a name of the host that has it."""


@dataclass(frozen=True)
class ProbeReport(Shown):
    """Report of what captures show.

    Attributes:
        out: The host table.
        captures: The captures read.
        default_mss: MSS of hosts that advertised none, in bytes.
        hosts: One mapping a host: `host`, `addresses`, `window_bytes`, `mss_bytes` as in the table, `rtt_s`,
            `window_scale`, `silent` (never advertised an MSS), `mss_differs` and `window_differs` (advertised several),
            `connections` that it answered, `rtt_samples`, `half_open`, `refused`, `unanswered`.
        counts: As the reader counted packets and connections.
        failures: Hosts without a connection and why, as words behind "hosts", or empty for captures.
    """

    out: Path
    captures: tuple[str, ...]
    default_mss: int
    hosts: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, Any]
    failures: Mapping[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> list[Mapping[str, Any]]:
        """The hosts of the table."""
        return [host for host in self.hosts if host["connections"]]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "out": str(self.out),
            "captures": list(self.captures),
            "default_mss": self.default_mss,
            **self.counts,
            "silent": self._names("silent"),
            "failures": dict(self.failures),
            "hosts": [dict(host) for host in self.hosts],
        }

    def _names(self, what: str) -> list[str]:
        return [host["host"] for host in self.hosts if host[what]]

    def _sheets(self) -> list[Sheet]:
        counts, hosts = self.counts, self.answered
        rtts = sorted(host["rtt_s"] for host in hosts if host["rtt_s"] is not None)
        skipped = [[f"left out: {_REASONS[reason]}", count(n)] for reason, n in counts["skipped"].items()]
        facts = [
            ["hosts in the table", count(len(hosts))],
            ["packets", count(counts["packets"])],
            ["unreadable", count(counts["unreadable_packets"])],
            *skipped,
            ["connections", count(counts["connections"])],
            *([name, count(counts[key])] for name, key in _CONNECTIONS if counts[key]),
            ["hosts with more than one MSS", count(sum(host["mss_differs"] for host in hosts))],
            ["hosts with more than one window", count(sum(host["window_differs"] for host in hosts))],
            ["median of round-trip times", seconds(rtts[len(rtts) // 2]) if rtts else "–"],
        ]
        header = ["", "connections", "MSS", "window", "scale", "round trip"]
        return [
            Sheet(", ".join(Path(capture).name for capture in self.captures), ["", "value"], facts),
            *(
                Sheet(f"Hosts by {column}", ["", "hosts"], _mix(hosts, column))
                for column in ("mss_bytes", "window_bytes")
            ),
            Sheet("Hosts with most connections", header, _busiest(hosts)),
        ]

    def _remarks(self) -> list[str]:
        groups = [
            (f"no MSS advertised, {self.default_mss} B taken", self._names("silent")),
            ("refused every connection", self._never("refused")),
            ("answered no connection", self._never("unanswered")),
        ]
        if self.failures:
            reasons = sorted(set(self.failures.values()))
            groups[1:] = [
                (f"hosts {why}", [host for host, each in self.failures.items() if each == why]) for why in reasons
            ]
        remarks = [f"{what}: {_some(names)}" for what, names in groups if names]
        unreadable = [
            f"unreadable: {each['file']}: packet {each['packet']}: {each['why']}" for each in self.counts["unreadable"]
        ]
        return [*remarks, *self.counts["cut_off"], *unreadable[:_SHOWN]]

    def _never(self, what: str) -> list[str]:
        return [host["host"] for host in self.hosts if host[what] and not host["connections"]]

    def screen(self) -> Screen:
        """Tables of the hosts, and remarks."""
        return Screen((*self._sheets(), *self._remarks()))


def _mix(hosts: Sequence[Mapping[str, Any]], column: str) -> list[list[str]]:
    """The most common values and how many hosts have each."""
    common = Counter(host[column] for host in hosts).most_common(_TOP)
    return [["not known" if value is None else f"{count(value)} B", count(n)] for value, n in common]


def _busiest(hosts: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [
        [
            host["host"],
            count(host["connections"]),
            *("–" if host[each] is None else f"{count(host[each])} B" for each in ("mss_bytes", "window_bytes")),
            "–" if host["window_scale"] is None else str(host["window_scale"]),
            seconds(host["rtt_s"]),
        ]
        for host in sorted(hosts, key=lambda host: -host["connections"])[:_TOP]
    ]


def _some(names: Sequence[str]) -> str:
    """The first names, and how many there are when these are not all."""
    more = f" and {count(len(names) - _SHOWN)} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


_CONNECTIONS = (
    ("answered", "answered"),
    ("answered, began before the capture", "without_syn"),
    ("answered, never acknowledged (half-open)", "half_open"),
    ("refused", "refused"),
    ("not answered", "unanswered"),
    ("with a retransmitted SYN: no round-trip time", "retransmitted"),
    ("with options cut before an MSS", "options_cut"),
)


def probe_captures(
    captures: Sequence[str | Path],
    out: str | Path,
    *,
    names: Iterable[Name] = (),
    only_named: bool = False,
    default_mss: int = DEFAULT_MSS,
    max_unreadable: float = MAX_UNREADABLE,
    progress: Progress = unseen,
) -> ProbeReport:
    """Make a host table from captures.

    Args:
        captures: Captures, pcap or pcapng, plain or gzip, read one by one. Hosts are gathered over all.
        out: The host table: .tsv, .csv or .parquet. An older one is replaced when the new one is complete.
        names: Addresses and names of hosts. An address may have several names, each a host of its own, and a name
            several addresses. An address without a name is its own.
        only_named: Leave out hosts without a name.
        default_mss: MSS of hosts that advertise none, in bytes.
        max_unreadable: Share of a capture's packets, and of its bytes behind damage, that may be lost, 0 to 1.
        progress: Called some times a second with bytes read, and of all captures.

    Raises:
        WorkloadError: A capture cannot be read, none shows a host that answered, or no host has such a default MSS.
            Nothing is written then.
        RunError: The disk is full. Nothing is left then.
    """
    require_range("--max-unreadable", max_unreadable, 0, 1)
    out = Path(out)
    check_host_table(out)
    check_default_mss(default_mss)
    paths = [Path(capture) for capture in captures]
    for path in paths:
        if path.exists() and out.exists() and out.samefile(path):
            raise WorkloadError(f"{out}: is a capture itself; name another file with --out")
        check_file(path, WorkloadError, "name a capture")
    probe = _core.Probe(max_unreadable=max_unreadable)
    sizes = [path.stat().st_size for path in paths]
    whole = sum(sizes)
    done = 0
    for path, bytes_ in zip(paths, sizes, strict=True):
        probe.open(str(path))
        while probe.advance(_PACKETS):
            packets = json.loads(probe.report())["packets"]
            progress(done + probe.bytes_read, whole, f"{packets:,} packets")
        done += bytes_
    counts = json.loads(probe.report())
    hosts = tuple(_host(found, default_mss) for found in json.loads(probe.hosts(list(names), only_named)))
    report = ProbeReport(out, tuple(map(str, captures)), default_mss, hosts, counts)
    if not report.answered:
        raise WorkloadError(f"{', '.join(report.captures)}: no host answered a connection; {_why_none(counts)}")
    with staged_file(out) as stage:
        write_host_table(_table(report.answered), stage)
    return report


def _host(found: dict[str, Any], default_mss: int) -> dict[str, Any]:
    rtt_ns = found.pop("rtt_ns")
    found["rtt_s"] = None if rtt_ns is None else rtt_ns / 1e9
    if found["silent"]:
        found["mss_bytes"] = default_mss
    return found


def _why_none(counts: Mapping[str, Any]) -> str:
    seen = [f"{n} {_REASONS[reason]}" for reason, n in counts["skipped"].items()]
    tcp = f"{counts['tcp']} of TCP with {counts['connections']} connections that begin"
    return f"{counts['packets']} packets: {', '.join([tcp, *seen])}"


def _table(hosts: Iterable[Mapping[str, Any]]) -> pa.Table:
    rows = [{**host, "name": host["host"], "address": ",".join(host["addresses"])} for host in hosts]
    return pa.Table.from_pylist(rows, schema=arrow_schema(HOSTS, {}))


def check_host_table(out: Path) -> None:
    """Check that a host table can be written to `out`.

    Raises:
        WorkloadError: Its suffix is none of .tsv, .csv, .parquet.
        RunError: It is a folder.
    """
    if out.suffix.lower() not in (".tsv", ".csv", ".parquet"):
        raise WorkloadError(f"{out}: give the host table a name that ends in .tsv, .csv or .parquet")
    if out.is_dir():
        raise RunError(f"{out}: is a folder; name a file")


def check_default_mss(mss: int) -> None:
    """Check that hosts can have that MSS.

    Raises:
        WorkloadError: None can.
    """
    least, most = _core.mss_bytes
    if not least <= mss <= most:
        raise WorkloadError(f"default MSS: found {mss}; write a number of bytes from {least} to {most}")


def write_host_table(table: pa.Table, path: Path) -> None:
    """Write a host table in the format of its suffix, with empty unknown values."""
    if path.suffix.lower() == ".parquet":
        pq.write_table(table, path, compression="zstd")
        return
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    pl.DataFrame(table).write_csv(path, separator=separator)


def read_names(path: str | Path) -> list[Name]:
    """Read names of hosts: a line for each address and its names, as in /etc/hosts, with `#` before comments.

    Raises:
        WorkloadError: The file cannot be read, or a line is none of these.
    """
    path = Path(path)
    names = []
    for number, words in lines_of(path):
        address, *rest = words
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise WorkloadError(
                f"{path}:{number}: {address[:60]!r} is no address; write lines of an address and its names"
            ) from None
        if not rest:
            raise WorkloadError(f"{path}:{number}: {address} has no name; write lines of an address and its names")
        names += [(address, name) for name in rest]
    return names


def lines_of(path: Path) -> Iterable[tuple[int, list[str]]]:
    """The words of each line of a text file that has any, with its number, without `#` and comments.

    Raises:
        WorkloadError: The file cannot be read or is no text.
    """
    text = read_text(path, WorkloadError, "write a line for each host")
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        for word in words:
            if not word.isprintable() or len(word) > _NAME_MAX:
                raise WorkloadError(f"{path}:{number}: {word[:60]!r} is no name of a host")
        if words:
            yield number, words
