"""The simulator: the compiled core of farweb. Use it through `farweb.Scenario` and `farweb.Results`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from farweb.files.columns import Column

__all__ = [
    "Asked",
    "Cache",
    "Check",
    "Dependency",
    "Edge",
    "FarwebError",
    "HostTable",
    "LinkFile",
    "Loaded",
    "LogOverview",
    "LogReader",
    "PcapngEncoder",
    "Prepared",
    "Probe",
    "Problem",
    "Recording",
    "References",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Sent",
    "Simulation",
    "StackDistances",
    "Survey",
    "TraceReader",
    "WorkloadError",
    "XplotEncoder",
    "absent",
    "answer_of",
    "asked_of",
    "began",
    "caching_words",
    "connection_use",
    "count",
    "debug_build",
    "difference",
    "draft",
    "extent_of",
    "graph_of",
    "interval",
    "later_visit",
    "left_out",
    "link_presets",
    "log_format",
    "log_formats",
    "log_header_bytes",
    "moment",
    "mss_bytes",
    "null_code",
    "null_id",
    "null_int",
    "number",
    "object_ids",
    "percents",
    "plain",
    "proxies",
    "quantity",
    "rate",
    "read_har",
    "relative",
    "relay_tcp",
    "result_version",
    "results_schema",
    "rows_kept",
    "scenario_schema",
    "seconds",
    "settle_each",
    "share",
    "short_url",
    "size",
    "unit_aliases",
    "units",
    "version",
    "whose",
    "with_margin",
    "workload_schema",
]

class FarwebError(Exception):
    """Base of all errors of farweb that a user can put right."""

class ScenarioError(FarwebError):
    """A scenario has a wrong key or value; the message names file, line, key, the value found and those allowed.

    Attributes:
        problems: The problems in the order of the file, then of overrides. Empty where the message stands alone.
    """

    problems: Sequence[Problem]

class Problem(NamedTuple):
    """A problem of a scenario: a line of the message.

    Attributes:
        file: Name of the scenario file. None of an override.
        line: Line in it, from 1.
        column: Column in characters, from 1.
        key: Dotted key, such as `leg.0.tcp.buffer`. Empty where the text is no TOML.
        message: The value found and those allowed.
    """

    file: str | None
    line: int | None
    column: int | None
    key: str
    message: str

class WorkloadError(FarwebError):
    """A request table, host table or log cannot be used; the message names file and line."""

class RunError(FarwebError):
    """A run failed."""

version: str
"""Version of farweb, as results carry it."""

result_version: int
"""Version of the rows of runs: raised when an equal scenario, workload and seed give other rows."""

rows_kept: int
"""Most rows of a request table that are kept when it is opened, instead of being read again."""

debug_build: bool
"""Whether the core was compiled without optimisation: ten times slower."""

null_int: int
"""A missing value in a column of int64."""

null_id: int
"""A missing value in a column of uint64: of objects and clients, none."""

null_code: int
"""A missing value in the codes of a column of words."""

units: list[list[tuple[str, int]]]
"""Units of times, sizes and rates, as scenarios write them, each with its size in the smallest one, smallest first."""

caching_words: list[str]
"""Treatments of a request by caches, as a request table names them."""

unit_aliases: list[list[tuple[str, str]]]
"""Other ways to write units, each with the unit that it stands for, by kind as `units`."""

mss_bytes: tuple[int, int]
"""Smallest and largest MSS that a host may have, in bytes."""

log_header_bytes: int
"""Header of a response, as a reader of server logs adds it to the logged bytes."""

proxies: list[str]
"""Names of proxies on a path."""

relay_tcp: str
"""TCP between two relays over a long part, as a scenario writes it."""

def draft(choices: str) -> str:
    """Write a scenario to start from, with comments.

    Args:
        choices: JSON text: `file`, `ways`, `cache`, `shield`, `is_local`, `serving`, `clients`, `release`, `requests`
            and `span_s`, as `crates/farweb/src/scenario/draft.rs` has them.

    Raises:
        ScenarioError: They are not of that form, or a path is no preset.
    """

def link_presets() -> str:
    """Kinds of paths, which are the presets of links, as JSON text."""

def absent(word: str) -> str | None:
    """Sentence for a name of the field that farweb does not have, such as `bbr`; None of others."""

def scenario_schema() -> str:
    """JSON Schema of a scenario, as JSON text."""

def log_format(head: bytes) -> str | None:
    """The format of a log that begins with `head`, as `LogReader` names it; None when it is not known."""

def log_formats() -> dict[str, bool]:
    """Names of formats of logs, each with True where sizes of responses are without headers."""

def connection_use(carrier: str) -> str:
    """How a carrier uses connections, as JSON text: `{"requests", "reused", "shared", "standing"}`.

    Args:
        carrier: As JSON text, as an effective scenario has it; see `farweb.connection_use.ConnectionUse`.

    Raises:
        ScenarioError: There is no such carrier.
    """

def whose(shared: bool, standing: bool) -> str:
    """The owner of the connections that requests use, in words.

    Args:
        shared: True where all clients come through one place.
        standing: True where the connections of the first leg are opened once, between two proxies.
    """

def extent_of(checks: list[Check], runs: int) -> str | None:
    """The size of so many runs, each check standing for an equal part, as JSON text. None without requests.

    `{"runs", "requests", "packet_hops", "under_way", "rows": {table: rows}, "row": [label, words], "large": [{"key",
    "words", "refusal": words with the limit, or null within it}]}`
    """

def answer_of(points: list[tuple[str, Check]], number: int) -> str:
    """The answer of a sweep with so many points, as JSON text.

    `{"answer", "warnings": [{"key", "words"}], "points": [{"fullest_link", "least_s"}]}`

    Args:
        points: Names and checks of the points looked at, at least one.
        number: Points of the sweep.
    """

def seconds(value: float | None) -> str:
    """A time in s, from µs to hours: ``"342 ms"``, ``"2 h 46 min"``, in words if infinite, and a dash for None."""

def moment(unix_s: float) -> str:
    """A time of a log: its date, or the time since the start of a log that counts from there."""

def began(time_s: float, origin_unix_s: float | None) -> str:
    """A time of a run: on the clock of its log, or since the start of the run.

    Args:
        time_s: Since the start of the run.
        origin_unix_s: Time of that start on the clock of the log. None: it has none.
    """

def rate(bits_per_second: float | None) -> str:
    """A bit rate: ``"34.4 Mbit/s"``. A dash for None."""

def size(in_bytes: float | None) -> str:
    """A number of bytes, in powers of ten: ``"12.3 kB"``. A dash for None."""

def share(value: float | None) -> str:
    """A share of 0 to 1, in percent: ``"87.3 %"``, or ``"< 0.01 %"``. A dash for None."""

def relative(percent: float | None) -> str:
    """A relative difference: ``"+8.74 %"``, ``"+(< 0.01 %)"``, and from ten times the base on ``"+78.4 ×"``."""

def percents(value: float, *, signed: bool = False) -> str:
    """A relative difference in percent without its unit: ``"24.1"``, ``"<0.1"``, ``"+121"``.

    Args:
        value: 0.01 is a percent.
        signed: True for a sign, False for the size alone.
    """

def plain(value: float, digits: int) -> str:
    """A number with so many significant digits, without an exponent, and without zeros at its end."""

def count(value: float | None) -> str:
    """A whole number, by thousands: ``"117,635"``. A dash for None."""

def number(value: float | None) -> str:
    """A number without a unit: ``"0.123"``, ``"12.3"``, ``"117,635"``. A dash for None."""

def quantity(value: float | None, unit: str) -> str:
    """A number with its unit.

    Args:
        value: The number. Infinite means an infinite time, whatever the unit.
        unit: ``s``, ``bit/s``, ``B``, ``1`` (shown in percent), or any other, which is left away.
    """

def difference(value: float | None, unit: str) -> str:
    """A difference with its sign: ``"+12.3 ms"``, ``"+∞"``, in percentage points for shares."""

def interval(low: float | None, high: float | None, unit: str, *, of: float | None = None, signed: bool = False) -> str:
    """An interval in one unit: ``"305 … 319 ms"``, ``"−0.400 … +1.31 s"``, or empty where an end is missing.

    Args:
        low: Lower end, below zero for differences only.
        high: Upper end.
        unit: As `quantity` takes it.
        of: The estimate, which sets the unit of the ends. None, or far smaller than an end: the unit of the larger end.
        signed: True when it is an interval of a `difference`.
    """

def with_margin(value: float, margin: float, unit: str, *, signed: bool = False) -> str:
    """An estimate and its margin in one unit: ``"473.0 ± 9.8 ms"``, the margin with two significant digits.

    Where the margin goes below zero, which no quantity but a difference does, the interval ends there: ``"21 s (0 … 52
    s)"``.

    Args:
        value: The estimate.
        margin: Half the width of its interval, at least 0.
        unit: As `quantity` takes it.
        signed: True when it is a difference: with its sign, and of shares in percentage points.
    """

def object_ids(texts: Sequence[str]) -> NDArray[np.uint64]:
    """The ids that runs give to objects and clients that request tables name by texts.

    Decimal digits below 2^64 - 1 are the number that they write; any other text has the 64-bit FNV-1a hash (RFC 9923)
    of its UTF-8 bytes, or 2^64 - 2 for the one hash above it.
    """

def results_schema() -> str:
    """The tables of a results folder, as JSON text.

    `[{"name", "description", "columns": [{"name", "type", "unit", "nullable", "description"}]}]`, where `type` is
    `int64`, `uint64`, `float64`, `bool`, `string` or `list<struct<start: int64, end: int64>>`.
    """

def workload_schema() -> str:
    """The tables that a scenario reads, `requests` and `hosts`, as JSON text; see `results_schema`."""

@final
class Scenario:
    """A checked scenario."""

    @staticmethod
    def parse(text: str, file: str, overrides: dict[str, str]) -> Scenario:
        """Parse and check.

        Args:
            text: The scenario in TOML.
            file: Its name, for messages.
            overrides: Values by dotted key (`"leg.0.tcp.buffer"`), each as TOML or bare text; applied in order.

        Raises:
            ScenarioError: All problems found, a line each.
        """

    @staticmethod
    def of_effective(effective: str, file: str) -> Scenario:
        """Check a scenario that `effective` has written; `file` is where it stood, for messages.

        Raises:
            ScenarioError: This version of farweb does not know such a scenario.
        """

    @property
    def factors(self) -> list[str]:
        """Names of the factors of its sweep, in the order of the file; none without one."""

    def problem(self, key: str, message: str) -> str:
        """A problem with a key as `ScenarioError` words it: with file and line, or the override."""

    def with_(self, overrides: dict[str, str]) -> Scenario:
        """The same with other values, after those that it has; messages name the places of `parse`.

        Raises:
            ScenarioError: All problems found, a line each.
        """

    def without_sweep(self) -> Scenario:
        """The same without the table `sweep`."""

    def design(self) -> str | None:
        """The design of the sweep as JSON text; None when there is none.

        `{"kind", "replications", "random_numbers", "factors": [{"name", "unit", "levels": [{"label", "value",
        "number"}]}], "points": [[number of the level of each factor]]}`; see `farweb.results.design.Design`.
        """

    def point(self, number: int) -> Scenario:
        """The scenario with the levels of a point set, and without the table `sweep`.

        Raises:
            ScenarioError: Levels that are right alone make no sense together; the message names them.
            IndexError: There is no such point.
        """

    def seed(self, point: int, replication: int) -> int:
        """The seed of a run; replications count from 0.

        Raises:
            IndexError: There is no such point.
        """

    def inputs(self, seed: int) -> list[tuple[str, str, str, str, bool]]:
        """The files that a run with this seed reads.

        The name in manifests, the key, the kind and the file of each, and True for those that links name.
        """

    def complete(self, seed: int, files: Sequence[tuple[str, str, LinkFile]]) -> Scenario:
        """The same with the content of the files that its links name, which `Simulation` needs.

        Args:
            seed: Seed of the run.
            files: Kind, name in the scenario and content of each.

        Raises:
            ScenarioError: A file is missing, or makes no sense in the scenario.
        """

    @property
    def warmup_ns(self) -> int:
        """Requests that start before this time are left out of summaries and figures."""

    def effective(self) -> str:
        """The scenario after overrides with every default spelled out, as JSON text."""

    def check(self, hosts: HostTable | None) -> str:
        """Report on the scenario, as JSON text; `run.seed` draws a family's hosts.

        `{"name", "nodes": [..], "links": [{"index", "from", "to", "up": {"rate", "delay", "queue", "loss"}, "down":
        {..}}], "legs": [{"index", "from", "to", "carrier", "carrier_sentences", "connection_use": {as from
        connection_use}, "profile", "quick_acks", "tls_parts": {"key_exchange", "certificates", "intermediates",
        "scts", "ocsp", "compression", "suppress_intermediates"} or null, "handshakes": [{"start", "up": {"bytes",
        "parts": [{"name", "bytes"}]}, "down": {..}, "first_window_bytes", "rounds"}], "rtt_ns", "bottleneck_up_bps",
        "bottleneck_down_bps", "bdp_bytes", "mss_bytes", "payload_bytes", "window_bytes", "window_segments",
        "window_limit_bps", "connection_limit_bps", "limited_by", "connection_limit_text", "credit_bytes",
        "session_credit_bytes", "session_limit_bps", "loss_share", "loss_event_share", "loss_limit_bps",
        "loss_limit_text", "up": {the same ten, of uploads} or null, "connections_to_fill", "text"}], "workload":
        {"days", "load", "copies_offset_ns", "period_ns", "speed", "rate"}, "sweep": {"design", "points",
        "replications", "runs", "factors": [{"name", "levels": [..]}], "text"} or null, "warnings": [{"key", "words"}],
        "text": "the path drawn in text, a paragraph a leg and one for the sweep"}`
        """

@final
class Check:
    """A scenario explained, and the load of its workload held against its path."""

    def __new__(
        cls,
        scenario: Scenario,
        prepared: Prepared,
        origin_unix_s: float | None = None,
        has_tunnels: bool = True,
        known: Check | None = None,
    ) -> Self:
        """Explain a scenario.

        Args:
            scenario: It, with the content of its links' files.
            prepared: Its requests and hosts.
            origin_unix_s: Time of second 0 on the clock of the log that the table is from.
            has_tunnels: False where what the table calls tunnels began as other requests.
            known: A check with the same requests, which are not read again where it has looked at all that is needed.

        Raises:
            WorkloadError: The request table cannot be read.
        """

    def figures(self) -> str:
        """Figures, as JSON text: those of `Scenario.check` and of the load.

        `{"tls": {"https", "http", "unknown"}, "clients": {"clients", "requests_without", "text"}, "tunnels",
        "requests_of_several_sizes", "requests_bypassing_caches", "offered": {"requests", "span_s", "load", "links":
        [{as farweb.check.offered.OfferedLoad}], "rate_multiple"}}`, null without requests.
        """

    def said(self) -> str:
        """The same in words, as JSON text.

        `{"answer", "lines": [words or [label, words]], "rows": [[label, words]], "bypassing": sentence or null,
        "warnings": [{"key", "words"}], "sheet": {"title", "header": [..], "rows": [[..]]} or null}`
        """

    @property
    def packet_hops(self) -> int | None:
        """Packets over links of the run, by estimate. None without requests."""

@final
class LinkFile:
    """The content of a file that links name."""

    def __new__(cls, kind: str, name: str, content: bytes) -> Self:
        """Read a file in memory.

        Args:
            kind: As `Scenario.inputs` gives it.
            name: For messages.
            content: Its bytes.

        Raises:
            WorkloadError: It is no such file.
        """

    @staticmethod
    def of_any(name: str, content: bytes) -> LinkFile:
        """Read a file of either kind: a whole number in its first line begins a trace.

        Raises:
            WorkloadError: It is none.
        """

    @property
    def kind(self) -> str:
        """``schedule`` or ``trace``."""

    @property
    def length_s(self) -> float:
        """Time of its last row or opportunity."""

    @property
    def rows(self) -> int:
        """Its rows, or opportunities."""

    def rates(self, every_ms: int) -> NDArray[np.float64] | None:
        """Mean rates in spans of `every_ms` within its length, one at least, in bit/s; None without a rate.

        An opportunity carries a packet of 1500 B.
        """

    def gaps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Begin and length in s of times without sending: outages, or those between two opportunities."""

    def extremes(self) -> tuple[tuple[float, float] | None, float | None]:
        """Least and largest delay of a schedule in s, and its largest loss; None where it sets none."""

@final
class HostTable:
    """A host table."""

    @staticmethod
    def open(path: str) -> HostTable:
        """Read .csv, .tsv, or a whitespace-separated host file."""

    @staticmethod
    def from_columns(columns: Mapping[str, Column], name: str) -> HostTable:
        """Take columns read elsewhere (Parquet); `name` is for messages."""

    def columns(self) -> dict[str, Column]:
        """`host`, `window_bytes` and `mss_bytes` of all hosts."""

    def __len__(self) -> int: ...

@final
class Prepared:
    """The requests of a workload and their hosts."""

    def __new__(
        cls,
        requests: str | Iterable[Mapping[str, Column]],
        name: str,
        hosts: HostTable | None = None,
        rows: int | None = None,
    ) -> Self:
        """Open a request table.

        Args:
            requests: Path of a .csv, .tsv or whitespace-separated table, which is read once from end to end, or batches
                of columns by start time; these are iterated over for their first row, and again for each simulation.
            name: Name of the table for messages.
            hosts: The host table.
            rows: Rows of the batches, if they are known.

        Raises:
            WorkloadError: The table is unreadable.
        """

    @staticmethod
    def of_family(scenario: Scenario, seed: int) -> Prepared:
        """Generate the requests of the scenario's family with this seed.

        Raises:
            WorkloadError: The scenario has no family.
        """

    @property
    def hosts(self) -> HostTable | None:
        """The host table, or the hosts of the family in order of their first request."""

    @property
    def rows(self) -> int | None:
        """Rows of the table, or requests of all days of the family, where they are known."""

    def __iter__(self) -> Iterator[dict[str, Column]]:
        """All rows once, whatever the load: checked, by start time, in batches of 65,536 with all columns.

        A table of these columns gives the same requests: times below 2^52 ns (52 days) come back to the nanosecond.

        Raises:
            WorkloadError: The table is unreadable, or a row is not a request.
        """

@final
class Simulation:
    """One run, advanced in steps."""

    def __new__(cls, scenario: Scenario, seed: int, prepared: Prepared) -> Self:
        """Build the world.

        Args:
            scenario: The scenario.
            seed: Root of every random stream.
            prepared: The requests. A table is read once while the simulation runs, or before that when its days or a
                period keep it in memory.

        Raises:
            WorkloadError: The request table is unreadable, or lacks something that the load asks for.
        """

    def advance(self, events: int) -> bool:
        """Process up to `events` events without holding the GIL; whether there is more to do.

        Raises:
            WorkloadError: A row of the request table is not a request.
            RunError: The run cannot go on.
        """

    def take(self) -> dict[str, dict[str, Column]]:
        """Rows that are finished since the last call, as columns by table; tables without new rows are left out."""

    def progress(self) -> dict[str, int | None]:
        """Progress of the run.

        `now_ns`, `events`, `packet_hops`, `requests_started`, `requests_finished`, `requests_failed`,
        `requests_total` (None when not known; copies included).
        """

    def link_totals(self) -> str:
        """Traffic of each direction of each link over the whole run so far, as JSON text.

        A list of objects with the columns of the table `links`, `time_ns` left out; the interval is the whole run.
        """

    def measured(self) -> str:
        """Totals of each direction of each link, each leg and each cache in the measured interval, as JSON text.

        `{"from_ns", "to_ns", "links": [objects as in link_totals], "legs": [objects with the columns of the table
        `legs`, `time_ns` left out], "caches": [objects with `cache`, its place in the scenario, and the counts of the
        table `caches`, up to the end of the run], "presented_bytes", "tunnel_bytes"}`; the whole run so far, as long
        as the warm-up lasts. `run.measure` says when the interval ends.
        `presented_bytes` are the IP bytes of the responses to requests that started in the interval, as their servers
        send them: 40 B of headers with each segment of the host's MSS. `tunnel_bytes` are their
        part in tunnels (CONNECT).
        """

@final
class PcapngEncoder:
    """A capture in the format pcapng, from rows of the packet table in its order."""

    def __new__(
        cls,
        nodes: Sequence[str],
        legs: Sequence[tuple[int, int]],
        points: Sequence[tuple[Literal["end", "link"], int]],
        payload: bool,
    ) -> Self:
        """Begin a capture.

        Args:
            nodes: Names of the nodes of the path.
            legs: Numbers of the first and last node of each leg.
            points: What to capture, an interface each: the end of a leg on the node with a number, or the link with a
                number; packets of other points are left out.
            payload: Whether packets have their payload, frames where there are any and else zeros, or only say its
                length.

        Raises:
            FarwebError: A leg joins no two nodes.
        """

    def start(self, comment: str) -> bytes:
        """The beginning of the file."""

    def add_frames(self, rows: Mapping[str, Column]) -> None:
        """Take note of some rows of the frame table, before the packets that they are in.

        Raises:
            FarwebError: A row is none of a frame table.
        """

    def add(self, rows: Mapping[str, Column]) -> bytes:
        """The packets of some rows.

        Raises:
            FarwebError: A row is none of a packet table.
        """

    @property
    def packets(self) -> int:
        """Packets so far."""

@final
class XplotEncoder:
    """A time–sequence plot of one connection for xplot, from rows of the packet table in its order."""

    def __new__(
        cls,
        nodes: Sequence[str],
        legs: Sequence[tuple[int, int]],
        point: tuple[Literal["end", "link"], int],
        connection: int,
        up: bool,
    ) -> Self:
        """Begin a plot of one direction of `connection`, seen at `point`; see `PcapngEncoder` for the others.

        Raises:
            FarwebError: A leg joins no two nodes.
        """

    def start(self, leg: int) -> bytes:
        """The beginning of the file; `leg` is the connection's.

        Raises:
            FarwebError: There is no such leg.
        """

    def add(self, rows: Mapping[str, Column]) -> bytes:
        """The part of the plot for some rows.

        Raises:
            FarwebError: A row is none of a packet table.
        """

    def finish(self) -> bytes:
        """The end of the file."""

    @property
    def packets(self) -> int:
        """Packets of the connection so far."""

@final
class Cache:
    """A cache that requests go through. Fetching takes no time: a miss is stored at once."""

    def __new__(cls, config: str, seed: int) -> Self:
        """An empty cache.

        Args:
            config: Policy, capacity, admission and time to live as JSON text: `{"policy": "lru", "capacity": "10 MB"}`.
            seed: Root of its random streams.
        """

    def replay(
        self,
        object: NDArray[np.uint64],
        bytes: NDArray[np.int64],
        time_ns: NDArray[np.uint64],
        next: NDArray[np.uint64] | None = None,
        *,
        caching: NDArray[np.uint8] | None = None,
    ) -> NDArray[np.uint8]:
        """Send requests through it; the GIL is released meanwhile.

        Args:
            object: Id of each request's object, 0 to 2^64 - 2.
            bytes: Its size, at least 0.
            time_ns: When; matters only with a time to live.
            next: The number of the next request for the object, 2^64 - 1 for none; only `belady` reads it.
            caching: Its treatment, a place in `caching_words`; None: each response may be stored.

        Returns:
            Of each request 0: a miss; 1: a hit; 2: held and unchanged, but to be revalidated; 3: not looked for, as no
            copy may serve it.
        """

    @property
    def bytes(self) -> int:
        """Bytes held."""

    @property
    def objects(self) -> int:
        """Objects held."""

@final
class StackDistances:
    """Distances of requests in the stack of an LRU cache, in bytes."""

    def __new__(cls) -> Self:
        """An empty stack."""

    def replay(
        self, object: NDArray[np.uint64], bytes: NDArray[np.int64], caching: NDArray[np.uint8]
    ) -> NDArray[np.uint64]:
        """The smallest capacity that makes each request a hit; 2^64 - 1 for the first one of its object.

        Treatments are `store` or `bypass`; a request that bypasses has 2^64 - 1 and leaves the stack as it is.
        """

@final
class Survey:
    """Sums over the requests of a trace."""

    def __new__(cls) -> Self:
        """Of no request yet."""

    def add(self, object: NDArray[np.uint64], bytes: NDArray[np.int64], caching: NDArray[np.uint8]) -> None:
        """Count requests; `caching` has places in `caching_words`."""

    @property
    def requests(self) -> int:
        """Requests so far."""

    @property
    def bytes(self) -> int:
        """Sum of their sizes."""

    @property
    def objects(self) -> int:
        """Different objects."""

    @property
    def storable_objects(self) -> int:
        """Those with a storable response."""

    @property
    def of_several_sizes(self) -> int:
        """Requests with a storable response for objects with several sizes so far."""

    @property
    def objects_of_several_sizes(self) -> int:
        """Objects with storable responses of several sizes so far."""

    @property
    def served_only(self) -> int:
        """Requests that a copy may serve, with a response that is not stored."""

    @property
    def bypassing(self) -> int:
        """Requests that no copy may serve."""

    @property
    def invalidating(self) -> int:
        """Requests that make a cache give up its copy; they are bypassing too."""

    @property
    def footprint(self) -> int:
        """Sum of the sizes of all objects with a storable response, each as it first was."""

    @property
    def largest(self) -> int:
        """Largest size of a storable response."""

    @property
    def resized(self) -> int:
        """Storable responses with another size than the first one of their object."""

@final
class TraceReader:
    """Requests of a text with time, object and size a line, streamed in constant memory."""

    def __new__(cls, path: str, *, max_unreadable: float = 0.01) -> Self:
        """Open `path`, plain or gzip.

        Args:
            path: The trace.
            max_unreadable: Share of lines that may be unreadable before the reading fails, 0 to 1.
        """

    def batch(self, rows: int) -> dict[str, NDArray[Any]] | None:
        """At most `rows` requests as columns `time_ns`, `object`, `bytes`; None at the end."""

    def unreadable(self) -> str:
        """Lines that could not be read so far, as JSON text: `unreadable_lines`, `unreadable`."""

@final
class LogOverview:
    """A first reading of the logs of an import: lines that stand in two of them, and calls that two sidecars log."""

    def __new__(
        cls, paths: list[str], format: str, *, log_format: str | None = None, fields: list[str] | None = None
    ) -> Self:
        """Read the logs at `paths` that have to be: several, and those of sidecars. Arguments as of `LogReader`.

        Raises:
            WorkloadError: A log cannot be read.
        """

    def repeats(self) -> str:
        """Lines at the beginnings of logs that others have too, as JSON text.

        Each has the places of both logs, from 0, `log` and `other`, the number of its `lines`, and `is_whole`, true
        where they are all of the log.
        """

@final
class LogReader:
    """Requests from logs, one after the other, streamed in constant memory."""

    def __new__(
        cls,
        paths: list[str],
        format: str,
        *,
        names: list[str] = ...,
        log_format: str | None = None,
        fields: list[str] | None = None,
        keep: str | None = None,
        dynamic: bool = True,
        errors: bool = True,
        tunnels: bool = True,
        bypass: str = "",
        rtt_ns: int = 0,
        request_bytes: int | None = None,
        assume_bytes: int | None = None,
        server_time: str = "elapsed",
        elapsed_unit: str | None = None,
        server_name: str = "server",
        client_key: bytes | None = None,
        client_from_forwarded: bool = False,
        client: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        span_ns: tuple[int, int] | None = None,
        sample: float | None = None,
        sample_by: str = "client",
        seed: int = 1,
        max_unreadable: float = 0.01,
        overview: LogOverview | None = None,
    ) -> Self:
        """Open the first of `paths`, each plain or packed by gzip, xz or Zstandard; the others as their turn comes.

        Args:
            paths: The logs, at least one; `-` is standard input.
            names: Their names in messages, one each, and in a report on several.
            format: `auto` (by the first lines), or a name of `log_formats`.
            log_format: Format string in its place: Squid's `logformat`, nginx's `log_format`, Apache's `LogFormat`, or
                one with farweb's own names, such as `{client} [{start}] "{request}" {status} {bytes} {elapsed:ms}`.
            fields: Keys of JSON objects in its place, each `NAME=KEY` with one of these names; the unit of a span
                stands behind its key, `elapsed=took:ms`.
            keep: `misses`: requests that no cache answered; `crossed`: revalidations too; `all`: cache hits as well;
                `lines`: also lines of inner tiers, other sides, health checks, the server itself and other logs. None:
                `misses` where a proxy or a server logs its cache's results, `all` where a CDN does.
            dynamic: Keep pages made for each request, with a query, `cgi-bin` or `.cgi` in the URL.
            errors: Keep requests without a status of 2xx or 3xx.
            tunnels: Keep CONNECT tunnels, each as one request and one response of all its bytes.
            bypass: Requests that caches pass by although RFC 9111 lets them store: of `set-cookie`, `cookie`, `query`,
                with commas between them.
            rtt_ns: Round-trip time that the recorded time contains; taken off the server time and off the wait in it.
            request_bytes: Size of each request; None: as logged, else estimated from the URL.
            assume_bytes: Size of a response that the log does not give; None: such requests are left out.
            server_time: `elapsed`: as logged, else the recorded time less `rtt_ns`; `none`: leave out.
            elapsed_unit: Unit of times whose format leaves it open, `s`, `ms`, `us` or `ns`; None: as the log shows it.
            server_name: Host of requests without one in their line.
            client_key: Key of 16 bytes for the pseudonyms of clients, by SipHash-2-4; None: clients as logged, as text.
            client_from_forwarded: Take the client from `X-Forwarded-For`, where a line has one.
            client: Only requests of these clients; `*` stands for any text and `?` for a character.
            from_: Only requests that start then or later: a date, or a date and a time.
            to: Only requests that start before.
            span_ns: Only requests that start in this span, in ns since 1970 or the start of the log, its end excluded.
            sample: Share of clients or hosts, above 0 to 1; None: all.
            sample_by: Unit of the sample, drawn with all its requests: `client` or `host`.
            seed: Another one draws others.
            max_unreadable: Share of lines that may be unreadable before the import fails, 0 to 1.
            overview: A first reading of the same logs, for lines that stand in two and calls with two lines.
        """

    def batch(self, rows: int) -> dict[str, Column] | None:
        """About `rows` requests of one log in its order; None at the end of the last.

        Columns of the request table; `start_s` counts from `origin_unix_s` and may be negative and out of order. Rows
        of one second are spread over it as far as they stand side by side. Besides `second`, the Unix time of a line in
        whole seconds (`null_int`: finer), and `before_s` from the start to it.
        """

    @property
    def origin_unix_s(self) -> int | None:
        """The Unix time of `start_s` 0, in s: a second of the first log with a request. None before that."""

    def report(self) -> str:
        """Counts of the logs that were read to their ends, as JSON text.

        `{"formats": [..], "lines", "requests", "dropped": {reason: n}, "meanings": {reason: text}, "unreadable_lines",
        "unreadable": [{"log", "line", "why", "text"}], "unreadable_by": {value: n}, "first_request": {"log", "line",
        "start_unix_s", "client", "method", "url", "host", "has_host", "status", "request_bytes",
        "request_bytes_logged", "response_bytes", "response_bytes_logged", "server_s", "wait_s"} as its line was read,
        "time_outs": {"requests", "longest_s", "status", "line", "log"} (of 408, 502, 503 and 504 after 10 s or more),
        "unread_fields": {"requests", "fields", "text"} (behind the agent), "given_up": {"requests", "bytes"} of the
        table, "unclear": {"scheme": {"requests", "text"}} (values that say nothing), "units": [..], "unit_doubt",
        "assumptions": [..], "origin_unix_s", "sorted", "request_bytes", "response_bytes", "software", "schemes",
        "http_versions", "methods", "tunnels", "bytes_logged", "dropped_bytes": {reason: bytes}, "table_http_versions"
        (those of the table)}`; the origin is null without a request. The facts from `software` on are of all requests
        of the log, those left out included: `{name: {"requests", "bytes"}}`,
        bytes as logged.
        """

@final
class References:
    """Requests counted by document and by stack distance, in memory that grows with the documents alone."""

    def __new__(cls) -> Self: ...
    def add(self, objects: NDArray[np.uint64], sizes: NDArray[np.int64]) -> None:
        """Count requests, in order.

        Args:
            objects: Id of the document of each.
            sizes: Bytes that each brought; 0: not known.
        """

    def counts(self) -> NDArray[np.uint64]:
        """Requests of each document, in order of its first request."""

    def sizes(self) -> NDArray[np.uint64]:
        """Bytes of each document, in the same order: the largest that was seen; 0: not known."""

    def distances(self) -> NDArray[np.uint64]:
        """Requests by stack distance: how many other documents were asked for since the last time, from 0."""

    @property
    def resized(self) -> int:
        """Requests that brought another size than the largest before."""

@final
class Sent:
    """A request of a page as recorded, times in ms since the page began.

    Attributes:
        name: URL.
        host: Host and port of it.
        kind: html, css, script, font, image, json, xml, preflight, beacon or other.
        method: HTTP method.
        status: Of the response, 0 or below without one.
        protocol: h1, h2 or h3.
        is_secure: True for https.
        issue_ms: When the browser wanted it.
        send_ms: When its first byte left.
        first_ms: First byte of the response.
        end_ms: Last byte of it.
        wait_ms: From its sending to the first byte.
        tcp_ms: TCP handshake, 0 without one.
        tls_ms: TLS handshake, 0 without one.
        connection: Id of the connection, empty where unknown.
        is_new: True for the first request of its connection.
        request_bytes: Header and body.
        response_bytes: Header and body as they were on the wire.
        redirect: Target of a redirect, or empty.
        initiator: URL of the request that caused it, empty where unknown.
        initiator_type: parser, script or another word of the exporter.
        is_ahead: True for a fetch of a service worker that no request of the page waits for.
        is_pushed: True for a response that the server pushed.
        is_sized: False where the file has no size of the response.
        is_unpacked: True where its size is of the unpacked content, and it may have crossed packed.
        parents: Requests that it waited for, as tables of pages name them. Only farweb's own files say so.
        dependency: How that is known, in the same files.
    """

    name: str
    host: str
    kind: str
    method: str
    status: int
    protocol: str
    is_secure: bool
    issue_ms: float
    send_ms: float
    first_ms: float
    end_ms: float
    wait_ms: float
    tcp_ms: float
    tls_ms: float
    connection: str
    is_new: bool
    request_bytes: int
    response_bytes: int
    redirect: str
    initiator: str
    initiator_type: str
    is_ahead: bool
    is_pushed: bool
    is_sized: bool
    is_unpacked: bool
    parents: str
    dependency: str
    def __eq__(self, other: object, /) -> bool: ...

@final
class Recording:
    """A page load as recorded, times in ms since its start, or since its first request if that was earlier.

    Attributes:
        file: Name of the file.
        page: Id of the page in it.
        url: URL of the document; where the file has none, the page's title, or the first request's URL.
        exporter: Program that wrote the file, with its version.
        browser: Browser, where known.
        start_ms: Time 0 of it, Unix time in ms.
        sent: Requests over the network, by issue.
        server_ms: Time of the server for each.
        origins: For each the host that shares a connection with its own over HTTP/2.
        root: Place of the document among them.
        dropped: Entries that were left out, by reason.
        load_ms: onLoad, or the last end where the file has none.
        is_load_known: False where the last end stands for it.
        is_repeat: True where the exporter marks it as a later view, with what the first one left in the cache.
        dom_ms: DOMContentLoaded, where known.
        gates: For each request True if onLoad waited for it.
        rtt_ms: Round trip to each host as estimated.
        rate_bps: Lower bound of the line's rate, from its busiest fifth of a second.
        warnings: Limits of the file, a sentence each.
        tail_ms: From the last end that gated onLoad to onLoad.
        response_bytes: Bytes of all responses.
        gating_bytes: Bytes of the responses that gated onLoad.
        has_tls: True where a request went under TLS.
        protocol: The protocol of most requests.
        counted: The page with its requests, bytes and hosts, as lines begin with them.
        in_the_clear: A sentence where requests have no TLS: they have none over any protocol.
        reservations: Sentences on entries left out and on gaps in the file that belong beside an answer.
    """

    file: str
    page: str
    url: str
    exporter: str
    browser: str
    start_ms: float
    sent: tuple[Sent, ...]
    server_ms: list[float]
    origins: list[str]
    root: int
    dropped: dict[str, int]
    load_ms: float
    is_load_known: bool
    is_repeat: bool
    dom_ms: float | None
    gates: list[bool]
    rtt_ms: dict[str, float]
    rate_bps: float
    warnings: list[str]
    tail_ms: float
    response_bytes: int
    gating_bytes: int
    has_tls: bool
    protocol: str
    counted: str
    in_the_clear: list[str]
    reservations: list[str]

    def rows(self, page: str) -> str:
        """The requests of the page, called `page`, as `farweb.results.tables.PAGE_SCHEMA` has them, as JSON text."""

    def listed(self, page: str) -> str:
        """`facts` of the page, called `page`, with counts, as JSON text.

        Besides `{"url", "exporter", "browser", "recorded_rate_bps", "confidence", "protocols": {word: n},
        "dependencies": {word: n}, "hosts": [{"host", "requests", "response_bytes", "rtt_s", "confidence"}]}`, the host
        with most bytes first.
        """

    def facts(self) -> str:
        """What the file holds and what was left out of it, as JSON text."""

def read_har(path: Path) -> list[Recording | WorkloadError]:
    """The pages of a HAR that have entries, in the order of the file: as recorded, or why one cannot be loaded.

    Raises:
        WorkloadError: The file is no HAR, is damaged or too large. The message names the place in it.
    """

def short_url(url: str) -> str:
    """A URL without its scheme and query, as short as a line allows."""

def left_out(dropped: Sequence[tuple[str, int]]) -> str:
    """A sentence on entries left out, by reason."""

@final
class Edge:
    """A point of another request's load that a request waits for.

    Attributes:
        parent: Place of the other request, always an earlier one.
        share: Share of its response that has to be there, 0 (first byte) to 1 (end). None where its issue is enough.
    """

    parent: int
    share: float | None

    def __new__(cls, parent: int, share: float | None) -> Self: ...

@final
class Dependency:
    """When a request is issued: `think_ms` after the last of its edges, or after the page began.

    Attributes:
        edges: All have to hold.
        think_ms: From the last of them to the issue.
        kind: How it is known: `first`, `redirect`, `preflight`, `initiator`, `hidden`, `time`.
        confidence: How sure it is, 0 to 1.
    """

    edges: tuple[Edge, ...]
    think_ms: float
    kind: str
    confidence: float

    def __new__(cls, edges: Sequence[Edge], think_ms: float, kind: str) -> Self: ...
    def thinking(self, factor: float) -> Self:
        """The same with so many times the think."""

def graph_of(recording: Recording, rule: Literal["likely", "few", "many"] = "likely") -> list[Dependency]:
    """The dependency of each request of a page, in their order."""

@final
class Asked:
    """A request of a page as a run has it.

    Attributes:
        host: Host of the connections it uses.
        is_secure: True under TLS.
    """

    host: str
    is_secure: bool

    def __new__(
        cls,
        host: str,
        request_bytes: int,
        response_bytes: int,
        server_s: float,
        dependency: Dependency,
        is_secure: bool = True,
        source: str = "",
    ) -> Self: ...

def asked_of(
    recording: Recording,
    graph: Sequence[Dependency],
    *,
    is_multiplexed: bool,
    server: float = 1.0,
    sources: Mapping[str, str] | None = None,
) -> list[Asked]:
    """The requests of a page as a run has them.

    Args:
        recording: The page.
        graph: Its graph.
        is_multiplexed: True over HTTP/2: hosts share connections as recorded.
        server: Factor on the times of servers.
        sources: Nodes by the host that they serve in place of its server.
    """

def later_visit(page: Sequence[Asked], pause_ms: float) -> tuple[list[Asked], int]:
    """A later visit: requests of the visit before, which leave a ticket of each host, and the page a pause behind them.

    Returns:
        All requests, and the number of the former.
    """

@final
class Loaded:
    """A page that was loaded, times in ns since it began.

    Attributes:
        issue_ns: Issue of each request.
        first_ns: First byte of its response.
        end_ns: Last byte.
        runs: How often the page was run until it settled.
    """

    issue_ns: NDArray[np.int64]
    first_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    runs: int

    def __new__(
        cls, issue_ns: NDArray[np.int64], first_ns: NDArray[np.int64], end_ns: NDArray[np.int64], runs: int
    ) -> Self: ...
    def behind(self, number: int, begin_ns: int) -> Self:
        """The load without its first requests, so many, times since a visit that began then."""

    def think_ms(self, graph: Sequence[Dependency], place: int) -> float:
        """Think on the critical path to a request, its own included."""

def settle_each(loads: Sequence[tuple[Scenario, Sequence[Asked], int]]) -> list[Loaded]:
    """Load pages, each over its path with its seed, as many at once as there are cores.

    Raises:
        RunError: A request fails, or the issue times do not settle.
        WorkloadError: The path cannot be run with these requests.
    """

@final
class Probe:
    """Hosts from captures, streamed; memory grows with connections under way and servers."""

    def __new__(cls, *, max_unreadable: float = 0.01) -> Self:
        """Begin with nothing seen.

        Args:
            max_unreadable: Share of the packets of a capture that may be unreadable, and of its bytes that may lie
                behind damage, 0 to 1.
        """

    def open(self, path: str) -> None:
        """Begin a capture: pcap or pcapng, plain or gzip.

        Raises:
            WorkloadError: The file cannot be read or is no capture.
        """

    def advance(self, packets: int) -> bool:
        """Look at up to `packets` packets without holding the GIL; whether the capture has more.

        Raises:
            WorkloadError: The device fails, or more is unreadable than is allowed; names the first packet.
        """

    def hosts(self, names: Sequence[tuple[str, str]], only_named: bool) -> str:
        """The hosts seen so far, as JSON text: those with a name by name, the others behind them by address.

        `[{"host", "addresses": [..], "window_bytes", "mss_bytes", "rtt_ns", "window_scale", "silent", "mss_differs",
        "window_differs", "connections", "rtt_samples", "half_open", "refused", "unanswered"}]`; null: not known.

        Args:
            names: An address and its name; either may come several times.
            only_named: Leave out addresses without a name.

        Raises:
            WorkloadError: An address is none.
        """

    def report(self) -> str:
        """Counts so far, as JSON text; connections count when they have ended.

        `{"packets", "tcp", "skipped": {reason: n}, "unreadable_packets", "unreadable": [{"file", "packet", "why"}],
        "cut_off": [..], "connections", "answered", "without_syn", "refused", "unanswered", "half_open",
        "retransmitted", "options_cut", "rtt_samples"}`.
        """

    @property
    def bytes_read(self) -> int:
        """Bytes of the capture that were read, as they are in the file."""
