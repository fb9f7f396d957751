"""What the page reads off its dumps: packets each way, what is in flight, and how long the document takes.

Packets are those that an end sends on the whole connection, from the SYN to the last ACK of the FINs: the filter of the
dump, printed on the page, takes every packet between the two hosts, and a document was a connection.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.reproduce.study import StudyResults

EXPERIMENTS = ("plain", "MUX 4096/8192", "MUX 2048/2048")
PLAIN, LARGE, SMALL = EXPERIMENTS
PUBLISHED = {PLAIN: (55, 33), LARGE: (62, 55), SMALL: (102, 82)}
"""Packets down and up, by experiment."""
TOLERATED = {PLAIN: (3, 5), LARGE: (4, 5), SMALL: (8, 8)}
"""By how many the counts may differ, as the claims M1 to M3 have it."""
DOCUMENT = 65_536
"""Bytes of the document, without the head of the response."""
MSS = 1460
CREDIT = 2048
"""Bytes of the small credit."""
GRANT = 8
"""Bytes of a SendCredit."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Levels = Mapping[str, Any]


@dataclass(frozen=True)
class Dump:
    """What was seen of one run at the server.

    Segments are those before the first FIN.

    Attributes:
        down: Segments that it sent: time [ns], first byte, payload [B].
        up: Segments that it received: time [ns], first byte, payload [B], ACK, right edge of the window.
        counts: Packets down and up, of the whole connection.
        begin_ns: When the client had its connection.
        end_ns: When it had the last byte.
    """

    down: Mapping[str, Ints]
    up: Mapping[str, Ints]
    counts: tuple[int, int]
    begin_ns: int
    end_ns: int

    @property
    def sent_down(self) -> int:
        """Packets that the server sent."""
        return self.counts[0]

    @property
    def sent_up(self) -> int:
        """Packets that the client sent."""
        return self.counts[1]

    @property
    def taken_s(self) -> float:
        """Time from the connection to the last byte."""
        return (self.end_ns - self.begin_ns) / 1e9

    @property
    def grants(self) -> int:
        """Segments from the client that carry a grant and nothing else."""
        return int((self.up["payload_bytes"] == GRANT).sum())

    @property
    def runts(self) -> int:
        """Segments from the server with data below the MSS."""
        payload = self.down["payload_bytes"]
        return int(((payload > 0) & (payload < MSS)).sum())

    @property
    def freed_by_a_grant(self) -> float:
        """Bytes that the server sends between two grants in the middle half of the document, on average."""
        first, last = self.middle_ns
        granted = self.up["time_ns"][self.up["payload_bytes"] == GRANT]
        granted = granted[(granted >= first) & (granted <= last)]
        sent, at = self.down["payload_bytes"], self.down["time_ns"]
        return float(sent[(at >= granted[0]) & (at < granted[-1])].sum() / (len(granted) - 1))

    def in_flight(self) -> tuple[Ints, Ints]:
        """When the server sent a segment with data, and how many of them it had no ACK for then, itself included."""
        with_data = self.down["payload_bytes"] > 0
        times = self.down["time_ns"][with_data]
        ends = (self.down["seq"] + self.down["payload_bytes"])[with_data]
        acked = np.array([self.up["ack"][self.up["time_ns"] <= time].max(initial=0) for time in times], dtype=np.int64)
        flying = [int((ends[: place + 1] > acked[place]).sum()) for place in range(len(times))]
        return times, np.array(flying, dtype=np.int64)

    def most_in_flight(self) -> int:
        """The most segments in flight in the middle half of the document."""
        times, flying = self.in_flight()
        first, last = self.middle_ns
        return int(flying[(times >= first) & (times <= last)].max())

    @property
    def middle_ns(self) -> tuple[int, int]:
        """From when to when the server sent the middle half of the document."""
        ends = self.down["seq"] + self.down["payload_bytes"]
        inside = (ends > ends.max() * 0.25) & (ends <= ends.max() * 0.75)
        times = self.down["time_ns"][inside]
        return int(times[0]), int(times[-1])


@functools.lru_cache(maxsize=4)
def dumps(results: StudyResults, sweep: str) -> list[tuple[Levels, Dump]]:
    """What was seen of each run of a sweep, with its levels."""
    import polars as pl

    swept = results.sweep(sweep)
    factors = [factor.name for factor in swept.design.factors]
    used = ["time_ns", "node", "event", "direction", "seq", "payload_bytes", "ack", "window_bytes", "flags"]
    packets = swept.scan("packets").select("run", *factors, *used)
    packets = packets.with_columns(pl.col("node", "event", "direction", "flags").cast(pl.String))
    requests = swept.scan("requests").select("run", "connect_ns", "end_ns").collect()
    times = {row["run"]: row for row in requests.to_dicts()}
    found: list[tuple[Levels, Dump]] = []
    for (run,), own in packets.collect().partition_by("run", as_dict=True, maintain_order=True).items():
        fins = own.filter(pl.col("flags").str.contains("F"))["time_ns"]
        before = own.filter(pl.col("time_ns") < fins.min()) if len(fins) else own
        at_server = before.filter(pl.col("node") == "www43")
        sent = own.filter(event="send")["direction"]
        down = at_server.filter(pl.col("event") == "send")
        up = at_server.filter(pl.col("event") == "receive").with_columns(edge=pl.col("ack") + pl.col("window_bytes"))
        columns = ("time_ns", "seq", "payload_bytes")
        dump = Dump(
            {name: down[name].to_numpy() for name in columns},
            {name: up[name].to_numpy() for name in (*columns, "ack", "edge")},
            (int((sent == "down").sum()), int((sent == "up").sum())),
            int(times[run]["connect_ns"]),
            int(times[run]["end_ns"]),
        )
        found.append(({name: own[name][0] for name in factors}, dump))
    return found


def meeting_all(results: StudyResults) -> int:
    """How many combinations of what is not known meet all six counts of the page within the tolerance of its claims."""
    missed: dict[tuple[Any, ...], bool] = {}
    for levels, dump in dumps(results, "sensitivity"):
        experiment = levels["experiment"]
        each = zip(dump.counts, PUBLISHED[experiment], TOLERATED[experiment], strict=True)
        combination = tuple(level for factor, level in levels.items() if factor != "experiment")
        misses = any(abs(count - published) > tolerated for count, published, tolerated in each)
        missed[combination] = missed.get(combination, False) or misses
    return sum(not each for each in missed.values())


def of_experiment(results: StudyResults, experiment: str) -> Dump:
    """What was seen of an experiment with the parameters of the study.

    Raises:
        ResultsError: It was not run.
    """
    for levels, dump in dumps(results, "experiments"):
        if levels["experiment"] == experiment:
            return dump
    raise ResultsError(f"{results.path / 'experiments'}: no run has experiment = {experiment}")
