"""Times of handshakes, first bytes and last bytes of a sweep, what certificates add to them, and sizes of flights."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.check.check import check
from farweb.errors import ResultsError
from farweb.inputs.description import Description
from farweb.reproduce.study import StudyResults

if TYPE_CHECKING:
    import polars as pl

FLIGHT = "leg.0.tls.server_flight"
TODAY, SMALL, LARGE = "today", "ML-DSA-44", "ML-DSA-65"
ROUND_TRIPS = {"LEO": 0.04, "mobile": 0.07, "cable": 0.12, "GEO": 0.6, "1 Gbit/s": 0.1424, "1 Mbit/s": 0.1424}
"""Propagation there and back, by path, in s."""
NAMED = ("LEO", "mobile", "cable", "GEO")
"""Paths with figures from publications, by their round trips."""
FAST, SLOW = "1 Gbit/s", "1 Mbit/s"
"""The stable networks of Kampanakis and Childs-Klein."""
LIMITS = (14_480, 43_440)
"""Bytes of a server's flight that its first windows carry in one and in two turns: 10 and 30 segments of 1,448 B."""
SEGMENT = 1448
MTC_PROOF = 23 * 32
"""Inclusion proof of a Merkle Tree certificate. Chosen: 23 hashes of 32 B, for 4 to 8 million certificates."""
KIB = 1024


@functools.lru_cache(maxsize=8)
def times(results: StudyResults, sweep: str) -> "pl.DataFrame":
    """Requests of a sweep with its factors: `handshake_s`, `first_byte_s` and `last_byte_s` since their start.

    Raises:
        ResultsError: It was not run, or a request did not end well, so that means would leave it out.
    """
    import polars as pl

    swept = results.sweep(sweep)
    factors = [factor.name for factor in swept.design.factors]
    used = ["start_ns", "connect_ns", "first_byte_ns", "end_ns", "response_bytes", "client", "status"]
    rows = swept.scan("requests").select("run", *factors, *used).collect()
    rows = rows.join(swept.runs.select("run", "replication"), on="run")
    if failed := rows.filter(pl.col("status").cast(pl.String) != "done").height:
        raise ResultsError(f"{swept.path}: {failed} requests failed")
    ends = {"handshake_s": "connect_ns", "first_byte_s": "first_byte_ns", "last_byte_s": "end_ns"}
    since = {name: (pl.col(column) - pl.col("start_ns")) / 1e9 for name, column in ends.items()}
    return rows.with_columns(**since)


def mean(results: StudyResults, sweep: str, time: str, **where: Any) -> float:
    """The mean of a time over the requests with these levels, in s.

    Raises:
        ResultsError: There are none.
    """
    found = times(results, sweep).filter(**where)
    if not found.height:
        raise ResultsError(f"{results.path / sweep}: no run has {where}")
    value: float = found[time].mean()  # type: ignore[assignment]
    return value


def added(results: StudyResults, sweep: str, time: str, certificates: str, **where: Any) -> float:
    """What certificates add to the mean of a time, in %."""
    before = mean(results, sweep, time, certificates=TODAY, **where)
    return 100 * (mean(results, sweep, time, certificates=certificates, **where) / before - 1)


def added_s(results: StudyResults, sweep: str, time: str, certificates: str, **where: Any) -> float:
    """What certificates add to the mean of a time, in s."""
    before = mean(results, sweep, time, certificates=TODAY, **where)
    return mean(results, sweep, time, certificates=certificates, **where) - before


def first_byte(results: StudyResults, path: str, flight: int) -> float:
    """Time to the first byte of the sweep of flights, in s."""
    return mean(results, "steps", "first_byte_s", path=path, **{FLIGHT: f"{flight} B"})


def resumed(results: StudyResults, path: str, visits: int, certificates: str = LARGE) -> float:
    """What certificates add to the time to the first byte in the mean of each visitor's first visits, in s."""
    import polars as pl

    rows = times(results, "visits").filter(pl.col("start_ns") < visits * 60_000_000_000, path=path)
    means = dict(rows.group_by("certificates").agg(pl.col("first_byte_s").mean()).iter_rows())
    return float(means[certificates] - means[TODAY])


@functools.cache
def handshake(
    folder: Path, certificates: str, *, key_exchange: str = "x25519mlkem768", **keys: Any
) -> Mapping[str, Any]:
    """First flights of a full handshake with a scheme, as `check` has them: bytes and parts."""
    tls = {"key_exchange": key_exchange, "certificates": certificates, **keys}
    scenario = Description.load(folder / "sizes.toml").without_sweep()
    changed = scenario.with_({f"leg.0.tls.{key}": value for key, value in tls.items()})
    found: Mapping[str, Any] = check(changed).figures["legs"][0]["handshakes"][0]
    return found


def both_flights(folder: Path, certificates: str, key_exchange: str = "x25519mlkem768") -> int:
    """Bytes of both first flights."""
    found = handshake(folder, certificates, key_exchange=key_exchange)
    return int(found["up"]["bytes"] + found["down"]["bytes"])


def with_merkle_tree(folder: Path, certificates: str) -> int:
    """Bytes of the server's flight with a Merkle Tree certificate.

    Without intermediates and timestamps, and with an inclusion proof in place of the issuer's signature. Headers that
    change by some bytes are left as they are.
    """
    down = handshake(folder, certificates, intermediates=0, scts=0)["down"]
    return int(down["bytes"] - parts_of(down)["leaf: signature"] + MTC_PROOF)


def parts_of(flight: Mapping[str, Any]) -> dict[str, int]:
    """Parts of a flight by name, in bytes."""
    return {part["name"]: part["bytes"] for part in flight["parts"]}
