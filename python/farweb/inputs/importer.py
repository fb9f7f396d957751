"""Imports logs of proxies and servers into a request table, for `farweb workload import`.

The core reads each log in a stream. The rows go to a Parquet file as they come, which is then sorted by start time (on
disk, when it is large) and shifted to start at zero. Readings before find lines that stand in two logs, and the busiest
span: standard input is kept in a file meanwhile. Memory: some 30 B for each object of the logs, some 100 B for each
client, and for the busiest span the seconds with requests.
"""

import contextlib
import hashlib
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import WorkloadError, require_range
from farweb.files.atomic import staged_file
from farweb.files.columns import arrow_schema, to_arrow
from farweb.files.regular import check_file
from farweb.files.sorting import sort_parquet
from farweb.inputs.busiest import busiest_of
from farweb.inputs.caching import CacheTreatment, survey_of
from farweb.inputs.formats import paths_of
from farweb.inputs.import_report import GAP_S, ImportReport
from farweb.inputs.provenance import REPORT_KEY
from farweb.inputs.tables import REQUESTS
from farweb.inputs.whole_seconds import COLUMNS, spread
from farweb.progress import Progress, unseen

_ROWS = 65_536  # chosen: some MB a batch, and some ten batches a second for the progress line
_RTT_MS_MAX = 86_400_000  # a day, longer than the longest delay of a scenario
_KEY_BYTES = 16  # of SipHash


@dataclass(frozen=True)
class LogOptions:
    """How logs are read, and which of their requests are taken.

    Attributes:
        log_format: A format string instead, alone or in its statement: Squid's logformat, nginx's log_format, Apache's
            LogFormat, or names in braces: ``{client} [{start}] "{request}" {status} {bytes} {elapsed:ms}``.
        from_: Only requests that start then or later: 2015-05-17 or 2015-05-17T10:05:03, by the log's clock.
        to: Only requests that start before; a date is its beginning.
        client_from_forwarded: The client is the first address of X-Forwarded-For: the log is of a server behind a
            proxy.
        client: Only requests of clients like this, such as "10.0.*".
        sample: Only a share of the clients or hosts, whole, above 0 to 1.
        sample_by: client or host: what is sampled.
        seed: Seed of the sample, 0 to 2**53.
        keep: misses: requests that no cache answered (default of Squid, nginx, Varnish); crossed: revalidations too;
            all: hits as well (default of CDNs); lines: health checks, inner tiers and repeated lines too.
        dynamic: Keep pages made for each request (a query or CGI in the URL), or not.
        errors: Keep requests that were not answered with a status of 2xx or 3xx, such as 404, or not.
        tunnels: Keep CONNECT tunnels, each as one request and one response of all its bytes, or not.
        bypass: Requests that caches pass by although RFC 9111 lets them store: query, set-cookie, cookie, with commas
            between them.
        rtt_ns: Round-trip time that recorded times contain, up to a day; taken off server times.
        request_bytes: Size of every request, in bytes (default: as the log has it, or estimated from its URL).
        assume_bytes: Size of a response that the log does not give, in bytes; such requests are left out without it.
        server_time: elapsed: what the log has, or recorded times less the round trip; none: leave it out.
        elapsed_unit: Unit of times in a log whose format leaves it open: s, ms, us or ns (default: as the log shows
            it).
        server_name: Host of requests whose line does not name it.
        max_unreadable: Share of lines that may be unreadable, 0 to 1.

    Raises:
        FarwebError: A number is outside of its range.
    """

    log_format: str | None = None
    from_: str | None = None
    to: str | None = None
    client_from_forwarded: bool = False
    client: str | None = None
    sample: float | None = None
    sample_by: str = "client"
    seed: int = 1
    keep: str | None = None
    dynamic: bool = True
    errors: bool = True
    tunnels: bool = True
    bypass: str = ""
    rtt_ns: int = 0
    request_bytes: int | None = None
    assume_bytes: int | None = None
    server_time: str = "elapsed"
    elapsed_unit: str | None = None
    server_name: str = "server"
    max_unreadable: float = 0.01

    def __post_init__(self) -> None:
        require_range("--rtt-ms", self.rtt_ns / 1e6, 0, _RTT_MS_MAX)
        require_range("--request-bytes", self.request_bytes, 1, 2**53)
        require_range("--assume-bytes", self.assume_bytes, 1, 2**53)
        require_range("--seed", self.seed, 0, 2**53)
        require_range("--max-unreadable", self.max_unreadable, 0, 1)


def import_log(
    log: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    format: str = "auto",
    fields: Mapping[str, str] | None = None,
    busiest_s: float | None = None,
    client_key: str | None = None,
    keep_clients: bool = False,
    progress: Progress = unseen,
    **options: Any,
) -> ImportReport:
    """Make a request table from one or several logs.

    Args:
        log: Logs, plain or packed by gzip, xz or zstd, in any order; - is standard input. They are merged by time.
        out: The request table, a .parquet file. An older one is replaced when the new one is complete.
        format: What a log is: squid, clf, cloudflare or another of `farweb.inputs.formats.LOGS`; auto: what its first
            lines show.
        fields: A key of JSON objects: start=ts, url=req.path, bytes=n, elapsed=took:ms. May be repeated. The unit of a
            span (s, ms, us or ns, default s) stands behind its key. Several keys for one meaning are one text with
            commas.
        busiest_s: Only the span of this length, in whole seconds, with most bytes of responses, from a whole second on.
        client_key: One text gives clients the same pseudonyms in all logs. Without it the key comes from the bytes of
            the logs, for the same pseudonyms in another import of them, or is random for standard input.
        keep_clients: Write clients as the log names them, without pseudonyms.
        progress: Called some ten times a second.
        options: Fields of `LogOptions`.

    Raises:
        FarwebError: A number is outside of its range.
        WorkloadError: A log cannot be read, nothing of them is left, or there is a key although clients are kept.
            Nothing is written then.
        RunError: The disk is full. Nothing is left then.
    """
    options = asdict(LogOptions(**options))
    if fields is not None:
        if format != "auto" or options["log_format"] is not None:
            raise WorkloadError("fields describe a log of JSON objects; leave out its format")
        options["fields"] = [f"{name}={each}" for name, keys in fields.items() for each in keys.split(",")]
    logs = paths_of(log)
    for each in logs:
        if str(each) != "-":
            check_file(each, WorkloadError, "name a log, or - for standard input")
    out = Path(out)
    if busiest_s is not None and (busiest_s < 1 or busiest_s % 1):
        raise WorkloadError(f"--busiest: found {busiest_s:g} s; write whole seconds, such as 90 s or 1h")
    _may_write(out, logs)
    key, of_key = _client_key(client_key, logs, keep_clients=keep_clients)
    names = ", ".join(each.name for each in logs)
    left_out = {"fields"} if options["sample"] is not None else {"fields", "sample_by", "seed"}
    source = {
        "file": names,
        "format": options["log_format"] or " ".join(options.get("fields", [format])),
        **{name: value for name, value in options.items() if name not in left_out and value is not None},
        **({"client_names": "as-logged"} if key is None else {"client_names": "pseudonyms"}),
        **({} if key is None else {"client_key": of_key}),
    }
    with staged_file(out) as stage, _files(logs, stage.parent) as files:
        raw = stage.with_name("raw.parquet")
        described = {name: options.get(name) for name in ("log_format", "fields")}
        overview = _core.LogOverview([str(file) for file in files], format, **described)
        options = {**options, "client_key": key, "overview": overview, "names": [log.name for log in logs]}
        busiest = None if busiest_s is None else busiest_of(files, busiest_s, format, options, progress)
        if busiest is not None:
            options["span_ns"] = busiest.ns
        counts = _copy(files, raw, progress, format, options)
        counts["repeats"] = _repeats(logs, overview)
        counts["unread_fields"]["share"] = counts["unread_fields"]["requests"] / counts["requests"]
        again = spread(counts["origin_unix_s"]) if counts.pop("seconds_come_back") else None
        if not counts.pop("sorted") or again:
            unsorted = raw
            raw = stage.with_name("sorted.parquet")
            sort_parquet(unsorted, raw, by="start_s", scratch=stage.parent, instead=again)
        first_s, last_s = _ends(raw)
        if busiest is not None:
            counts["busiest"] = busiest.counted(counts["response_bytes"])
        logged, left_out_bytes = counts["bytes_logged"], sum(counts["dropped_bytes"].values())
        counts["carried_bytes_share"] = 1 - left_out_bytes / logged if logged else None
        counts["origin_unix_s"] += first_s
        survey, methods = _surveyed(raw, counts)
        treatment = CacheTreatment.of(survey)
        counts["objects"], counts["cache_treatment"] = survey.objects, asdict(treatment)
        absent = {name for name, known in (("wait_s", "with_wait"), ("client", "with_client")) if counts[known] == 0}
        absent |= set() if methods - {"GET"} else {"method"}
        absent |= set() if treatment.bypassing or treatment.served_only else {"caching"}
        absent |= set() if counts.pop("with_tls") else {"tls"}
        kept = {"log": source, **counts, **({} if key is None else _without_clients(counts))}
        _begin_at_zero(raw, stage, first_s, absent, json.dumps(kept, ensure_ascii=False))
    return ImportReport(out, counts["requests"], last_s - first_s, source, counts)


@contextlib.contextmanager
def _files(logs: Sequence[Path], folder: Path) -> Iterator[list[Path]]:
    """The logs as files that can be read again: of standard input a copy in `folder`, for one block."""
    copy = folder / "standard-input"
    is_piped = any(str(log) == "-" for log in logs)
    if is_piped:
        with copy.open("wb") as out:
            out.writelines(_standard_input())
    try:
        yield [copy if str(log) == "-" else log for log in logs]
    except WorkloadError as error:
        if not is_piped:
            raise
        raise WorkloadError(str(error).replace(str(copy), "standard input")) from None


def _standard_input() -> Iterator[bytes]:
    try:
        with open(0, "rb", closefd=False) as piped:
            while part := piped.read(1 << 20):
                yield part
    except OSError as error:
        raise WorkloadError(f"standard input: cannot be read: {error.strerror}") from None


def _repeats(logs: Sequence[Path], overview: _core.LogOverview) -> list[dict[str, Any]]:
    """Lines that stand in two logs, by their names."""
    found = json.loads(overview.repeats())
    return [{**each, "log": str(logs[each["log"]]), "other": str(logs[each["other"]])} for each in found]


def _client_key(text: str | None, logs: Sequence[Path], *, keep_clients: bool) -> tuple[bytes | None, str]:
    """The key of pseudonyms, None where clients are kept as they are, and its source: `given`, `log` or `random`.

    A text of any length and alphabet becomes a key by BLAKE2b (RFC 7693), and so do logs. Whoever can work out the key
    of a log has the log, and its clients.
    """
    if keep_clients and text is not None:
        raise WorkloadError(
            "a key makes pseudonyms, and clients are to be kept as the log names them; leave out one of both"
        )
    if text == "":
        raise WorkloadError("the key of clients is empty; write a text that is hard to guess, or leave it out")
    if keep_clients:
        return None, ""
    if text is not None:
        return hashlib.blake2b(text.encode(), digest_size=_KEY_BYTES, person=b"farweb clients").digest(), "given"
    if any(str(log) == "-" for log in logs):
        return secrets.token_bytes(_KEY_BYTES), "random"
    digest = hashlib.blake2b(digest_size=_KEY_BYTES, person=b"farweb log")
    for log in sorted(logs):
        with log.open("rb") as file:
            digest.update(hashlib.file_digest(file, hashlib.blake2b).digest())
    return digest.digest(), "log"


def _may_write(out: Path, logs: Sequence[Path]) -> None:
    """Refuse a place that can take no table, before anything is read."""
    if out.suffix.lower() != ".parquet":
        raise WorkloadError(f"{out}: a request table is written as Parquet; give it a name that ends in .parquet")
    if os.path.exists(out) and any(log.exists() and out.samefile(log) for log in logs):  # noqa: PTH110 - a name may be too long
        raise WorkloadError(f"{out}: is the log itself; name another file with --out")


def _copy(
    files: Sequence[Path], raw: Path, progress: Progress, format: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the requests of `files` as they come, and return the counts of all of them."""
    rows = 0
    with contextlib.ExitStack() as stack:
        writer = None
        reader = _core.LogReader([str(file) for file in files], format, **options)
        while (columns := reader.batch(_ROWS)) is not None:
            if writer is None:
                schema = _schema(columns, "", options["client_key"] is None)
                for name, type_ in COLUMNS.items():
                    schema = schema.append(pa.field(name, type_))
                writer = stack.enter_context(pq.ParquetWriter(raw, schema, compression="zstd"))
            batch = to_arrow(columns, schema)
            writer.write_batch(batch)
            rows += batch.num_rows
            progress(rows, None, f"{rows:,} requests")
    counts: dict[str, Any] = json.loads(reader.report())
    return counts


def _ends(table: Path) -> tuple[float, float]:
    """First and last start of a table in the order of starts, from its footer."""
    with pq.ParquetFile(table) as file:
        place = file.schema_arrow.get_field_index("start_s")
        groups = [file.metadata.row_group(group) for group in range(file.metadata.num_row_groups)]
    known = [group.column(place).statistics for group in groups if group.num_rows]
    return known[0].min, known[-1].max


def _without_clients(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Counts as the table may keep them: a pseudonym is of no use beside the client that it stands for."""
    first = counts["first_request"]
    return {
        "first_request": None if first is None else {**first, "client": None},
        "unread_fields": {**counts["unread_fields"], "text": ""},
        "unclear": {name: {**those, "text": ""} for name, those in counts["unclear"].items()},
    }


def _surveyed(raw: Path, counts: dict[str, Any]) -> tuple[_core.Survey, set[str]]:
    """Survey of the requests, and their methods, with counts of hosts, clients and schemes."""
    hosts, clients, methods = set[str](), set[int | str](), set[str]()
    secure: Counter[bool | None] = Counter()
    counts["with_client"], counts["with_tls"], last, gaps = 0, 0, np.inf, [0.0]

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal last
        columns = ["start_s", "host", "object", "response_bytes", "client", "method", "caching", "tls"]
        for those in source.iter_batches(batch_size=_ROWS, columns=columns):
            counts["with_client"] += those.num_rows - those["client"].null_count
            starts = those["start_s"].to_numpy()
            between = np.diff(starts, prepend=last)
            gaps.extend(between[between > GAP_S].tolist())
            last = float(starts[-1])
            counts["with_tls"] += those.num_rows - those["tls"].null_count
            secure.update(those["tls"].filter(pc.not_equal(those["method"], "CONNECT")).to_pylist())
            for seen, column in ((hosts, "host"), (clients, "client"), (methods, "method")):
                seen.update(pc.unique(those[column].drop_null()).to_pylist())
            yield those

    with pq.ParquetFile(raw) as source:
        survey = survey_of(batches())
    counts["hosts"], counts["clients"] = len(hosts), len(clients)
    counts["tls"] = {name: secure[known] for name, known in (("https", True), ("http", False), ("unknown", None))}
    counts["gaps"] = {"longer_than_s": GAP_S, "number": len(gaps) - 1, "longest_s": max(gaps)}
    return survey, methods


def _begin_at_zero(raw: Path, out: Path, first_s: float, absent: set[str], report: str) -> None:
    """Write the rows of `raw` to `out`, with starts since `first_s`, without the columns `absent`."""
    with pq.ParquetFile(raw) as source:
        as_text = not pa.types.is_uint64(source.schema_arrow.field("client").type)
        schema = _schema(set(source.schema_arrow.names) - absent, report, as_text)
        position = schema.get_field_index("start_s")
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in source.iter_batches(batch_size=_ROWS, columns=schema.names):
                # No log is finer than a microsecond: whole ones take off what subtraction adds.
                microseconds = np.rint((batch["start_s"].to_numpy() - first_s) * 1e6)
                columns = [*batch.columns[:position], pa.array(microseconds / 1e6), *batch.columns[position + 1 :]]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _schema(names: Iterable[str], report: str, clients_as_text: bool) -> pa.Schema:
    """The schema of a request table with the columns `names` and its `report`."""
    present = [column for column in REQUESTS["columns"] if column["name"] in set(names)]
    schema = arrow_schema({**REQUESTS, "columns": present}, {REPORT_KEY.decode(): report})
    place = schema.get_field_index("client")
    return schema.set(place, schema.field(place).with_type(pa.string())) if clients_as_text and place >= 0 else schema
