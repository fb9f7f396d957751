"""Reads the options of a study of caches: policies, capacities, admission, freshness, warm-up."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from farweb.errors import WorkloadError
from farweb.text.parse import read
from farweb.text.words import nearest

POLICIES = ("fifo", "lru", "rand", "lfu", "gds", "gdsf", "arc", "s3-fifo", "sieve", "w-tinylfu", "belady")
USUAL_POLICIES = tuple(policy for policy in POLICIES if policy != "belady")
USUAL_CAPACITIES = ("0.1 %", "0.2 %", "0.5 %", "1 %", "2 %", "5 %", "10 %", "20 %", "50 %")

_BYTES_MAX = 2**61  # of the core


@dataclass(frozen=True)
class Capacity:
    """A capacity as it was asked for.

    Attributes:
        bytes: In bytes, or None where it is a share.
        share: Of the footprint, or None where it is in bytes.
    """

    bytes: int | None
    share: Fraction | None

    def of(self, footprint: int) -> int:
        """In bytes, from 1 to the core's maximum."""
        if self.bytes is not None:
            return self.bytes
        assert self.share is not None, "a capacity is one of both"
        return min(max(1, int(self.share * footprint)), _BYTES_MAX)


@dataclass(frozen=True)
class Warmup:
    """Requests that are left out at the beginning: a share of all, or a number.

    Attributes:
        share: Of all requests, or 0 for a number.
        requests: How many.
    """

    share: Fraction = Fraction(0)
    requests: int = 0

    def of(self, requests: int) -> int:
        """The number that is left out of so many requests."""
        return min(requests, self.requests + int(self.share * requests))


@dataclass(frozen=True)
class Admission:
    """Rules for what caches store, for how long it is fresh, and for requests of another size.

    Attributes:
        admit: As the core has it: `min` and `max` as sizes, `second_hit`, `probability`.
        ttl: A duration as the core reads it. None: always fresh.
        changed: Rule for a request of another size than the fresh copy: `serve` or `fetch`.
    """

    admit: dict[str, str | bool | float] = field(default_factory=dict)
    ttl: str | None = None
    changed: str = "serve"

    @property
    def takes_all(self) -> bool:
        """True when everything that fits is taken in and stays fresh."""
        return not self.admit and self.ttl is None

    def config(self, policy: str, capacity: int) -> str:
        """A cache as the core reads it."""
        ttl = {} if self.ttl is None else {"ttl": self.ttl}
        cache = {"policy": policy, "capacity": f"{capacity} B", "admit": self.admit, "changed": self.changed, **ttl}
        return json.dumps(cache)


def read_policies(words: Iterable[str]) -> tuple[str, ...]:
    """Policies by their names, each once.

    Raises:
        WorkloadError: A name is none of `POLICIES`.
    """
    for word in words:
        if word not in POLICIES:
            hint = f' (did you mean "{near}"?)' if (near := nearest(word.lower(), POLICIES)) else ""
            raise WorkloadError(f'unknown policy "{word}"{hint}; the policies are {", ".join(POLICIES)}')
    return tuple(dict.fromkeys(words))


def read_capacity(text: str) -> Capacity:
    """`10 MB` or `5 %` of the footprint.

    Raises:
        WorkloadError: It is no whole number of bytes from 1 to 2^61, and no share above 0.
    """
    quantity = read("capacity", text, "B", "1", error=WorkloadError)
    number = quantity.number
    if quantity.base == "1" and number > 0:
        return Capacity(None, number)
    if quantity.base == "B" and number.denominator == 1 and 0 < number <= _BYTES_MAX:
        return Capacity(int(number), None)
    raise WorkloadError(
        f'capacity "{text}": write a size such as 10 MB (units: B, kB, MB, GB, KiB, MiB, GiB), or a share of the '
        "footprint above 0 such as 5 %"
    )


def read_warmup(text: str) -> Warmup:
    """`10 %` of the requests, or a number of them.

    Raises:
        WorkloadError: It is neither a share from 0 to below 100 % nor a whole number.
    """
    quantity = read("warm-up", text, "1", error=WorkloadError)
    if quantity.base == "1" and 0 <= quantity.number < 1:
        return Warmup(share=quantity.number)
    if quantity.base == "" and quantity.whole and quantity.number >= 0:
        return Warmup(requests=int(quantity.number))
    raise WorkloadError(
        f'warm-up "{text}": write a share of the requests from 0 to below 100 %, such as 10 %, or a number of requests'
    )


def read_admission(rules: Sequence[str], ttl: str | None, changed: str = "serve") -> Admission:
    """Read rules such as `min=1 kB` and `second-hit`, a time to live such as `1 h`, and `serve` or `fetch`.

    Raises:
        WorkloadError: A rule is unknown or has a value that it cannot have.
    """
    admit: dict[str, str | bool | float] = {}
    for rule in rules:
        name, _, value = (part.strip() for part in rule.partition("="))
        if name in ("min", "max"):
            admit[name] = f"{_whole(rule, value, 'B')} B"
        elif name == "second-hit" and not value:
            admit["second_hit"] = True
        elif name == "probability":
            admit["probability"] = _probability(rule, value)
        else:
            raise WorkloadError(
                f'admission rule "{rule}" is not known; the rules are min=SIZE, max=SIZE, second-hit, probability=SHARE'
            )
    if changed not in ("serve", "fetch"):
        raise WorkloadError(f'changed objects "{changed}": write serve, the copy held, or fetch, the new version')
    return Admission(admit, None if ttl is None else f"{_whole(f'time to live {ttl}', ttl, 's')} ns", changed)


def _whole(what: str, text: str, base: str) -> int:
    """A size in bytes or a time in ns."""
    example, grain = ("8 KiB", 1) if base == "B" else ("1 h", 10**9)
    quantity = read(f"{what}:", text, base, error=WorkloadError)
    number = quantity.number * grain
    if quantity.base != base or number < 0 or number.denominator != 1 or number >= 2**63:
        raise WorkloadError(f"{what}: write a number and a unit, such as {example}")
    return int(number)


def _probability(rule: str, text: str) -> float:
    quantity = read(f"{rule}:", text, "1", error=WorkloadError)
    if quantity.base not in ("", "1") or not 0 <= quantity.number <= 1:
        raise WorkloadError(f"{rule}: a probability is from 0 to 1")
    return float(quantity.number)
