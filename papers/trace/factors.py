"""The choices that the NZ–US studies leave open, each with the range that sources of the time allow.

No range was drawn with a result in view: a value that a published number would want and no source supports is not in
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RELEASES = ("paced", "paced after the wait", "closed loop after the wait", "delayed", "regulated")
"""Ways to give a recorded server time back: spread over all of it; over the transfer behind the wait for the first
byte, by the clock or as fast as the server's TCP takes it; not at all, the response released as a whole at its end; or
below TCP, its packets at the mean rate of the recorded transfer."""


@dataclass(frozen=True)
class Factor:
    """A choice that the papers do not publish.

    Attributes:
        name: In tables and figures.
        low: Least value, in `unit`.
        high: Largest value.
        unit: Its unit; empty for shares and counts.
        log: True when ratios count and not differences.
        evidence: Why from `low` to `high`.
        labels: Names of the values, where they are kinds and no quantities: `low` is 0, `high` their number.
    """

    name: str
    low: float
    high: float
    unit: str
    log: bool
    evidence: str
    labels: tuple[str, ...] = ()

    def value(self, part: float) -> float:
        """The value at `part`, 0 to 1, of the range; of kinds their number."""
        if self.labels:
            return float(min(int(part * len(self.labels)), len(self.labels) - 1))
        if self.log:
            return float(self.low * (self.high / self.low) ** part)
        return self.low + (self.high - self.low) * part

    def written(self, part: float) -> str:
        """The value at `part` with its unit."""
        value = self.value(part)
        if self.labels:
            return self.labels[int(value)]
        return f"{value / 1000:.3g} kB" if self.unit == "B" and value >= 1000 else f"{value:.3g} {self.unit}".strip()


FACTORS = (
    Factor(
        "release",
        0,
        len(RELEASES),
        "",
        False,
        "the papers say that response packets are released at a regulated rate, not from when, nor above TCP or below; "
        "`delayed` is the rule without regulation",
        RELEASES,
    ),
    Factor(
        "wait share",
        0.25,
        0.75,
        "",
        False,
        "of a server time: set-up, thinking and one round trip in the United States, against slow start and transfer "
        "there. Servers near by answered in 50 to 150 ms, of responses that took a second or two in all",
    ),
    Factor(
        "server mean",
        1.7,
        2.6,
        "s",
        False,
        "2.8 s of S1 less 2 round trips of 0.12 s at least, and 9 at most: set-up, request, and slow start of a "
        "long response",
    ),
    Factor(
        "server spread",
        0.5,
        1.2,
        "",
        False,
        "a factor on the deviations of the logarithms of thinking times and rates; 1 gives tenfold differences "
        "between hosts",
    ),
    Factor(
        "response mean",
        8000,
        17000,
        "B",
        False,
        "8 to 13 kB for misses of proxies in 1997; up to 17 kB is what 19 : 1 asks for where every segment is "
        "acknowledged",
    ),
    Factor(
        "tail index",
        1.0,
        1.3,
        "",
        False,
        "Crovella and Bestavros (1997): 1.0 to 1.2 for transfers; misses of proxies 1.1 to 1.3",
    ),
    Factor(
        "request median",
        190,
        500,
        "B",
        True,
        "190 B of robots, 250 to 350 B of browsers with Accept lists, 50 to 150 B of cookies, 60 B that a proxy adds",
    ),
    Factor(
        "small MSS",
        0.10,
        0.45,
        "",
        False,
        "share of 512 and 536 B: a fifth by the systems of the family, 4.4BSD's 512 B and others' 536 B off their "
        "network; half of that and twice, as shares of systems are known no better (chosen)",
    ),
    Factor(
        "small windows",
        0.40,
        0.75,
        "",
        False,
        "share of windows up to 8760 B: 57 % by the systems of the family (Solaris 2.6, Windows NT, SunOS 4, BSD/OS 3, "
        "NetWare), and some 17 points to either side, as shares of systems are known no better (chosen)",
    ),
    Factor(
        "copies offset",
        1,
        120,
        "s",
        True,
        "days are copied to make load, and the papers do not say how far apart; at most a fifth of the ten minutes",
    ),
    Factor(
        "objects a page",
        1,
        43,
        "",
        True,
        "the largest page: single requests at random where caches answer the rest, up to the 43 of W3C's test page",
    ),
    Factor(
        "first window",
        0,
        2,
        "",
        False,
        "4.4BSD's server starts with two segments, as the ACK of its SYN-ACK opens the window; RFC 2001 says one",
        ("1 segment", "2 segments"),
    ),
    Factor(
        "closer",
        0,
        2,
        "",
        False,
        "of an HTTP/1.0 connection: the server, as RFC 1945 has it, with a FIN on the last segment; or the client, as "
        "the papers close connections as soon as the request has been fetched, which only its end sees",
        ("server", "client"),
    ),
    Factor(
        "copies",
        0,
        2,
        "",
        False,
        "copies are offset in time: what is beyond the ten minutes of the trace wraps round to their beginning, or "
        "follows them",
        ("wrap round", "follow"),
    ),
)


def values(point: Floats) -> Mapping[str, float]:
    """The values of a point of the unit cube, by factor."""
    return {factor.name: factor.value(float(part)) for factor, part in zip(FACTORS, point, strict=True)}
