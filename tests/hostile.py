"""Ways in which a stranger may have made a results folder, and the verbs that are tried on it."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from farweb.results.integrity import describe, seal, unsealed
from farweb.results.manifest import MANIFEST

SQL = "select count(*), max(end_ns - start_ns), max(host), max(status) from requests"

RUN_VERBS: Mapping[str, str] = {
    "show": "show r",
    "show --json": "show r --json",
    "breakdown": "show r --breakdown",
    "sql": f"sql r '{SQL}'",
    "sql packets": "sql r 'select * from packets' --json",
    "cdf": "plot cdf r -o out.svg",
    "timeseq": "plot timeseq r -o out.svg",
    "plot breakdown": "plot breakdown r -o out.svg",
    "plot link": "plot link r -o out.svg",
    "connections": "plot connections r -o out.html",
    "report": "report r -o out.html",
    "compare": "compare r whole --json",
    "pcapng": "export pcapng r -o out.pcapng",
    "xpl": "export xpl r -o out.xpl",
    "verify": "verify r",
    "verify --full": "verify r --full",
}
SWEEP_VERBS: Mapping[str, str] = {
    "show": "show r",
    "show --metric": "show r --metric 'within(1 s)' --json",
    "sql": f"sql r '{SQL}'",
    "sql runs": "sql r 'select * from runs' --json",
    "cdf": "plot cdf r -o out.svg",
    "effects": "plot effects r -o out.svg",
    "report": "report r -o out.html",
    "compare": "compare r --point 'leg.0.tcp.buffer=2048 B' --point 'leg.0.tcp.buffer=32767 B' --json",
    "verify": "verify r",
    "verify --full": "verify r --full",
}
ALL = frozenset({*RUN_VERBS, *SWEEP_VERBS})
VERIFY = frozenset({"verify", "verify --full"})
READ_REQUESTS = frozenset({"show", "show --json", "breakdown", "sql", "cdf", "plot breakdown", "report", "compare"})
READ_PACKETS = frozenset({"sql packets", "timeseq", "pcapng", "xpl"})


@dataclass(frozen=True)
class Attack:
    """A way to forge results.

    Attributes:
        name: Of the test.
        do: What is done to the folder.
        refuse: The verbs that have to refuse; the others may as well.
        of_sweep: True when it is done to a sweep, not to a run.
        table: The table that is changed, and nothing else; a verb that does not read it answers as it always does.
    """

    name: str
    do: Callable[[Path], None]
    refuse: frozenset[str] = frozenset()
    of_sweep: bool = False
    table: str | None = None


def reseal(folder: Path) -> None:
    """Write sizes, digests and numbers of rows of the files into the manifest, as whoever forges them would."""
    manifest = unsealed(json.loads((folder / MANIFEST).read_bytes()))
    tables = {}
    for table in sorted(folder.glob("*.parquet")):
        if table.is_file() and table.name != "timings.parquet":
            with table.open("rb") as file:
                tables[table.name] = describe(file)
            if "rows" in manifest:
                manifest["rows"][table.stem] = pq.read_metadata(table).num_rows
    (folder / MANIFEST).write_text(json.dumps(seal(manifest, tables)))


def replaced(name: str, by: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else in the place of a file."""

    def do(folder: Path) -> None:
        file = next(iter(sorted(folder.glob(name))))
        shutil.rmtree(file) if file.is_dir() else file.unlink()
        by(file)

    return do


def moved_out(file: Path) -> None:
    """A link to the same content outside the folder."""
    source = Path("whole") / Path(*file.parts[1:])
    file.symlink_to(source.absolute())


def a_socket(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(file))


def a_terabyte(file: Path) -> None:
    with file.open("wb") as made:
        made.truncate(1 << 40)


OTHER_FILES: Mapping[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a link": moved_out,
    "a loop": lambda file: file.symlink_to(file.name),
    "a socket": a_socket,
    "a folder": Path.mkdir,
    "1 TB of zeros": a_terabyte,
}


def manifest_with(*keys: str | int, value: Any) -> Callable[[Path], None]:
    """A value in the manifest, under a digest that fits."""

    def do(folder: Path) -> None:
        manifest = unsealed_manifest = json.loads((folder / MANIFEST).read_bytes())
        for key in keys[:-1]:
            manifest = manifest[key]
        manifest[keys[-1]] = value
        files = unsealed_manifest.pop("files", {})
        (folder / MANIFEST).write_text(json.dumps(seal(unsealed(unsealed_manifest), files)))

    return do


def table_with(name: str, change: Callable[[pa.Table], pa.Table], **options: Any) -> Callable[[Path], None]:
    """A table that is another, as a manifest says that fits."""

    def do(folder: Path) -> None:
        file = next(iter(sorted(folder.glob(name))))
        pq.write_table(change(pq.read_table(file)), file, **options)
        reseal(file.parent)

    return do


def column(name: str, values: Callable[[int], Any]) -> Callable[[pa.Table], pa.Table]:
    """Another column in the place of one."""

    def change(table: pa.Table) -> pa.Table:
        return table.set_column(table.schema.get_field_index(name), name, pa.array(values(table.num_rows)))

    return change


def without(name: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns([name])


def doubled(name: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.append_column(name, table.column(name))


def repeated(times: int) -> Callable[[pa.Table], pa.Table]:
    """Its first row so many times."""
    return lambda table: table.take(pa.array([0] * times))


def in_footer(folder: Path) -> None:
    """Bytes changed where the columns are described."""
    file = folder / "requests.parquet"
    content = bytearray(file.read_bytes())
    length = int.from_bytes(content[-8:-4], "little")
    content[-8 - length // 2 : -8 - length // 2 + 64] = bytes(range(64))
    file.write_bytes(content)
    manifest = unsealed(json.loads((folder / MANIFEST).read_bytes()))
    (folder / MANIFEST).write_text(json.dumps(manifest))


def long_footer(folder: Path) -> None:
    """A description of 1 GB that is not there."""
    file = folder / "requests.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:-8] + (1 << 30).to_bytes(4, "little") + content[-4:])


HUGE = "x" * 50_000_000
LONG = HUGE[:5_000_000]

MANIFEST_VALUES: Sequence[tuple[tuple[str | int, ...], Any]] = (
    (("files",), {"/dev/zero": {"bytes": 0, "sha256": "0" * 64}}),
    (("files",), {"../whole/requests.parquet": {"bytes": 1, "sha256": "0" * 64}}),
    (("files",), {"a\0b": {"bytes": 1, "sha256": "0" * 64}}),
    (("files",), {"requests.parquet": {"bytes": "1", "sha256": "0" * 64}}),
    (("files",), {"requests.parquet": 5}),
    (("rows",), {"../../requests": 3}),
    (("rows", "requests"), -1),
    (("rows", "requests"), "x"),
    (("name",), LONG),
    (("scenario", "path", "nodes", 0), LONG),
    (("scenario", "path", "nodes"), 5),
    (("scenario", "path", "nodes"), ["client"]),
    (("scenario", "path", "nodes"), []),
    (("scenario", "path", "link", 0, "up"), None),
    (("scenario", "path", "link", 0, "up", "delay"), 5),
    (("scenario", "path", "link"), []),
    (("scenario", "record"), 5),
    (("scenario", "leg"), []),
    (("scenario", "leg", 0), 1),
    (("scenario", "leg", 0, "from"), "nowhere"),
    (("scenario", "leg", 0, "to"), "client"),
    (("scenario", "leg", 0, "carrier"), {}),
    (("scenario", "leg", 0, "tcp"), "x"),
    (("links",), [5]),
    (("links", 0, "busy"), "x"),
    (("links", 0, "link"), 99),
    (("links", 0, "queue_bytes_max"), None),
    (("links", 0), {}),
    (("legs",), [{}]),
    (("legs",), [{"leg": 0, "connection_use": {"requests": 1}}]),
    (("legs",), []),
    (("measured", "legs", 0, "leg"), 7),
    (("measured", "legs", 0, "open_mean"), "x"),
    (("measured", "links"), [[]]),
    (("measured", "caches"), [{"cache": 0}]),
    (("inputs",), {"requests": 5}),
    (("inputs", "requests", "sha256"), "../../../etc/passwd"),
    (("seed",), True),
    (("now_ns",), -5),
    (("warmup_ns",), 1 << 70),
    (("version",), None),
    (("warnings",), [5]),
)

REQUESTS_CHANGED: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "texts for times": column("start_ns", lambda rows: ["x"] * rows),
    "lists for times": column("end_ns", lambda rows: [[1]] * rows),
    "lists for words": column("status", lambda rows: [["done"]] * rows),
    "numbers for words": column("status", lambda rows: [1] * rows),
    "structures": column("start_ns", lambda rows: [{"a": 1}] * rows),
    "times that are missing": column("start_ns", lambda rows: [None] * rows),
    "decimals": column("start_ns", lambda rows: pa.array([1] * rows, pa.decimal256(70, 2))),
    "a column doubled": doubled("start_ns"),
    "no column of times": without("start_ns"),
    "no column of words": without("status"),
}
"""What every reader of requests refuses."""

HOSTS_CHANGED: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "a host of 50 MB": column("host", lambda rows: [HUGE] * rows),
    "bytes that are no text": column("host", lambda rows: pa.array([b"\xff\xfe"] * rows).view(pa.string())),
}
"""What every reader of hosts refuses."""

REQUESTS_ODD: Mapping[str, Callable[[pa.Table], pa.Table]] = {
    "no rows": lambda table: table.slice(0, 0),
    "a word that is none": column("status", lambda rows: ["\x1b[31mx"] * rows),
    "times before the beginning": column("start_ns", lambda rows: [-(1 << 63)] * rows),
    "times beyond all": column("end_ns", lambda rows: [(1 << 63) - 1] * rows),
    "sizes below zero": column("response_bytes", lambda rows: [-(1 << 62)] * rows),
    "a further column with a name of 1 MB": lambda table: table.append_column(
        HUGE[:1_000_000], table.column("start_ns")
    ),
    "connections that are not there": column("connection", lambda rows: [1 << 60] * rows),
    "equal numbers": column("request", lambda rows: [1] * rows),
    "smaller numbers": column("request", lambda rows: pa.array(range(rows), pa.int32())),
    "only nulls": column("connect_ns", lambda rows: pa.nulls(rows)),
}
"""What may be answered, or refused."""

OTHERS_ODD: Sequence[tuple[str, str, Callable[[pa.Table], pa.Table]]] = (
    ("exchanges", "legs that are not there", column("leg", lambda rows: [99] * rows)),
    ("exchanges", "equal numbers", column("request", lambda rows: [1] * rows)),
    ("exchanges", "texts", column("sent_last_ns", lambda rows: ["x"] * rows)),
    ("exchanges", "times backwards", column("requested_ns", lambda rows: [-(1 << 62)] * rows)),
    ("exchanges", "no rows", lambda table: table.slice(0, 0)),
    ("connections", "legs that are not there", column("leg", lambda rows: [-5] * rows)),
    ("connections", "equal numbers", column("connection", lambda rows: [0] * rows)),
    ("connections", "no rows", lambda table: table.slice(0, 0)),
    ("connections", "held below zero", column("held_cwnd_ns", lambda rows: [-(1 << 62)] * rows)),
    ("packets", "legs that are not there", column("leg", lambda rows: [99] * rows)),
    ("packets", "nodes that are not there", column("node", lambda rows: ["$x$"] * rows)),
    ("packets", "a direction that is none", column("direction", lambda rows: ["sideways"] * rows)),
    ("packets", "an event that is none", column("event", lambda rows: ["x"] * rows)),
    ("packets", "no rows", lambda table: table.slice(0, 0)),
    ("packets", "ranges that are numbers", column("sack", lambda rows: [[1]] * rows)),
    ("packets", "numbers beyond all", column("seq", lambda rows: [(1 << 63) - 1] * rows)),
    ("packets", "times backwards", column("time_ns", lambda rows: list(range(rows, 0, -1)))),
    ("links", "links that are not there", column("link", lambda rows: [99] * rows)),
    ("links", "no time", column("interval_ns", lambda rows: [0] * rows)),
    ("links", "a direction that is none", column("direction", lambda rows: ["sideways"] * rows)),
    ("links", "not a number", column("busy", lambda rows: [float("nan")] * rows)),
    ("legs", "no rows", lambda table: table.slice(0, 0)),
    ("legs", "no time", column("interval_ns", lambda rows: [0] * rows)),
)

RUN_ATTACKS: Sequence[Attack] = (
    *(Attack(f"manifest: {what}", replaced(MANIFEST, by), ALL) for what, by in OTHER_FILES.items()),
    *(
        Attack(f"manifest: {'.'.join(map(str, keys))} = {str(value)[:40]}", manifest_with(*keys, value=value), ALL)
        for keys, value in MANIFEST_VALUES
    ),
    *(
        Attack(f"requests: {what}", replaced("requests.parquet", by), READ_REQUESTS | VERIFY, table="requests")
        for what, by in OTHER_FILES.items()
    ),
    *(
        Attack(f"packets: {what}", replaced("packets.parquet", by), READ_PACKETS | VERIFY, table="packets")
        for what, by in OTHER_FILES.items()
    ),
    *(
        Attack(f"requests: {what}", table_with("requests.parquet", change), READ_REQUESTS, table="requests")
        for what, change in REQUESTS_CHANGED.items()
    ),
    *(
        Attack(
            f"requests: {what}",
            table_with("requests.parquet", change),
            frozenset({"sql", "compare"}),
            table="requests",
        )
        for what, change in HOSTS_CHANGED.items()
    ),
    *(
        Attack(f"requests: {what}", table_with("requests.parquet", change), table="requests")
        for what, change in REQUESTS_ODD.items()
    ),
    *(
        Attack(f"{table}: {what}", table_with(f"{table}.parquet", change), table=table)
        for table, what, change in OTHERS_ODD
    ),
    Attack("requests: more rows than events", table_with("requests.parquet", repeated(1_000_000)), ALL),
    Attack("exchanges: more rows than requests on legs", table_with("exchanges.parquet", repeated(1_000_000)), ALL),
    Attack("requests: damaged footer", in_footer, READ_REQUESTS, table="requests"),
    Attack("requests: long footer", long_footer, READ_REQUESTS, table="requests"),
)


def climbing(folder: Path) -> None:
    """Runs whose names lead out of the folder."""
    for name in ("runs", "plan"):
        file = folder / f"{name}.parquet"
        pl.read_parquet(file).with_columns(run=pl.lit("x/../../../../whole/parts/run=1")).write_parquet(file)
    reseal(folder)


def parts_outside(folder: Path) -> None:
    shutil.rmtree(folder / "parts")
    (folder / "parts").symlink_to(Path("whole/parts").absolute())


def unfinished(folder: Path) -> None:
    """A sweep that has not ended, with a failure of a point that is not there."""
    for table in folder.glob("*.parquet"):
        table.unlink()
    manifest_with("complete", value=False)(folder)
    manifest = unsealed(json.loads((folder / MANIFEST).read_bytes()))
    (folder / MANIFEST).write_text(json.dumps(manifest))
    (folder / "failures").mkdir(exist_ok=True)
    failure = {"error": ["x"], "point": 99, "replication": 1 << 40, "seed": "x"}
    (folder / "failures/abc.json").write_text(json.dumps(failure))


def unfinished_with_a_pipe(folder: Path) -> None:
    unfinished(folder)
    (folder / "failures/abc.json").unlink()
    os.mkfifo(folder / "failures/abc.json")


SWEEP_VALUES: Sequence[tuple[tuple[str | int, ...], Any]] = (
    (("design",), {}),
    (("design", "points"), [[0], [99]]),
    (("design", "points"), [[0, 0]]),
    (("design", "factors", 0, "levels", 0), {"label": "1"}),
    (("design", "factors", 0, "levels", 0, "label"), 5),
    (("design", "factors", 0, "name"), LONG),
    (("design", "factors", 0, "name"), ["x"]),
    (("design", "replications"), "x"),
    (("files",), {"../whole/runs.parquet": {"bytes": 1, "sha256": "0" * 64}}),
    (("runs",), -1),
)
READ_RUNS = ALL - {"verify", "verify --full"}

SWEEP_ATTACKS: Sequence[Attack] = tuple(
    Attack(f"sweep, {name}", do, refuse, of_sweep=True)
    for name, do, refuse in (
        *((f"manifest: {what}", replaced(MANIFEST, by), ALL) for what, by in OTHER_FILES.items()),
        *(
            (f"manifest: {'.'.join(map(str, keys))} = {str(value)[:40]}", manifest_with(*keys, value=value), ALL)
            for keys, value in SWEEP_VALUES
        ),
        *((f"runs: {what}", replaced("runs.parquet", by), ALL) for what, by in OTHER_FILES.items()),
        *(
            (f"part: {what}", replaced(f"parts/*/{MANIFEST}", by), frozenset({"sql", "report"}))
            for what, by in OTHER_FILES.items()
        ),
        *(
            (
                f"requests of a part: {what}",
                replaced("parts/*/requests.parquet", by),
                frozenset({"sql", "cdf"}) | VERIFY,
            )
            for what, by in OTHER_FILES.items()
        ),
        ("runs outside", climbing, frozenset({"sql", "cdf", "show --metric"})),
        ("parts outside", parts_outside, frozenset({"sql", "cdf", "report", "show --metric"})),
        ("unfinished", unfinished, READ_RUNS),
        ("unfinished, a pipe", unfinished_with_a_pipe, READ_RUNS),
        ("runs: replications", table_with("runs.parquet", column("replication", lambda n: [1 << 40] * n)), READ_RUNS),
        ("runs: lists", table_with("runs.parquet", column("latency_p50_s", lambda n: [[1.0]] * n)), READ_RUNS),
        ("runs: texts", table_with("runs.parquet", column("latency_p50_s", lambda n: ["x"] * n)), READ_RUNS),
        ("runs: levels", table_with("runs.parquet", column("leg.0.tcp.buffer", lambda n: ["x"] * n)), READ_RUNS),
        ("runs: no status", table_with("runs.parquet", without("status")), READ_RUNS),
        ("runs: a status that is none", table_with("runs.parquet", column("status", lambda n: ["x"] * n)), frozenset()),
        ("runs: a column doubled", table_with("runs.parquet", doubled("seed")), READ_RUNS),
        ("runs: no rows", table_with("runs.parquet", lambda table: table.slice(0, 0)), frozenset()),
        ("estimates: texts", table_with("estimates.parquet", column("mean", lambda n: ["x"] * n)), frozenset({"show"})),
        (
            "estimates: no rows",
            table_with("estimates.parquet", lambda table: table.slice(0, 0)),
            frozenset({"show", "show --metric", "report"}),
        ),
        ("effects: a pipe", replaced("effects.parquet", os.mkfifo), frozenset({"show"}) | VERIFY),
        ("timings: a pipe", replaced("timings.parquet", os.mkfifo), frozenset({"sql"})),
        ("lock: a pipe", lambda folder: os.mkfifo(folder / ".lock"), frozenset()),
    )
)
