"""Reading B of the papers with single changes, in search of the claims that it fails.

Runs the design's configurations. The family keeps its defaults, except the two parameters fitted in reading B
(papers/calibration/readings.toml).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .design import AS_PUBLISHED, CASES, LINK_BPS, Case, Proxies, at
from .factors import FACTORS

RESPONSE_B = 7911  # mean of the family with both readings
LARGER_B = 13051
LARGER: Mapping[str, str | float] = {"tail_share": 0.275, "us_rate": "146 kbit/s", "request_median": "445 B"}
"""Responses of 13 kB and requests of 445 B, with the server time of reading B."""
READING_B: Mapping[str, str | float] = {"tail_share": 0.126, "us_rate": "75 kbit/s", "request_median": "270 B"}
_POINT: Mapping[str, str | float] = {
    "release": "regulated",
    "first window": "1 segment",
    "closer": "client",
    "copies": "wrap round",
    "copies offset": 37.0,
    "response mean": RESPONSE_B,
}


@dataclass(frozen=True)
class Change:
    """A change of reading B.

    Attributes:
        name: In words.
        point: Choices of the design that it changes, kinds by their label.
        proxies: What the proxies do between themselves.
        parameters: Of the family.
    """

    name: str
    point: Mapping[str, str | float] = field(default_factory=dict)
    proxies: Proxies = AS_PUBLISHED
    parameters: Mapping[str, str | float] = field(default_factory=dict)


CHANGES = (
    Change("B"),
    Change("paced", {"release": "paced"}),
    Change("as-a-whole", {"release": "delayed"}),
    Change("two-segments", {"first window": "2 segments"}),
    Change("server-closes", {"closer": "server"}),
    Change("unwrapped", {"copies": "follow"}),
    Change("no-nagle", proxies=Proxies(nagle=False)),
    Change("in-turns", proxies=Proxies(assign="round-robin")),
    Change("larger", {"response mean": LARGER_B}, parameters=LARGER),
    Change("larger-no-nagle", {"response mean": LARGER_B}, Proxies(nagle=False), LARGER),
)

FULL = {
    f"{links} {connections or 'no proxy'}": Case(links, connections, "1.0", 1.3 * LINK_BPS)
    for links, connections in [("TT", None), *((links, few) for links in ("TT", "ST") for few in (35, 50, 70))]
}
"""Configurations of T3, T4 and A3, with a third more load than the link carries."""
_FILLING = ("B", "unwrapped")  # changes that may matter where the link is full


def full() -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of a full link."""
    for change in CHANGES:
        if change.name in _FILLING:
            yield from runs(change, FULL)


def runs(change: Change, cases: Mapping[str, Case] = CASES) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of a change: their labels, and the keys of their scenarios."""
    point = {**_POINT, **change.point}
    numbers = {
        factor.name: float(factor.labels.index(str(point[factor.name])) if factor.labels else point[factor.name])
        for factor in FACTORS
        if factor.name in point
    }
    return at(change.name, numbers, {**READING_B, **change.parameters}, change.proxies, cases)
