"""Paths to start from, with figures of publications, rounded (`farweb new`).

Queues hold what the path carries in a round trip, the rule of C. Villamizar and C. Song, "High performance TCP in
ANSNET" (CCR 24(5), 1994).
"""

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class PathKind:
    """A kind of path.

    Attributes:
        title: A short description.
        also: Other words for it, in lower case.
        years: When its figures were measured.
        up_mbps: Rate towards the servers, in Mbit/s.
        down_mbps: Rate towards the clients.
        up_ms: Delay towards the servers, one way, in ms.
        down_ms: Delay towards the clients.
        sources: Where the figures come from, a sentence each.
    """

    title: str
    also: tuple[str, ...]
    years: str
    up_mbps: float
    down_mbps: float
    up_ms: int
    down_ms: int
    sources: tuple[str, ...]

    def queue_kb(self, rate_mbps: float) -> int:
        """Data sent at this rate in a round trip, in kB."""
        return round(rate_mbps * (self.up_ms + self.down_ms) / 8)


_STUDY = (
    'McGregor, Pearson and Cleary, "The effect of multiplexing HTTP connections over asymmetric high bandwidth-delay '
    'product circuits" (SPIE 3529, 1998)'
)

PATHS = {
    "geo": PathKind(
        "a geostationary satellite",
        ("satellite", "geostationary", "gso", "sat", "vsat", "viasat", "hughesnet", "inmarsat", "konnect"),
        "2021 and 2022",
        3,
        18.75,
        300,
        300,
        (
            'Round trip: about 600 ms at least, Michel and others, "A first look at Starlink performance" (IMC 2022).',
            "Rates: medians of Viasat in the United States, Ookla, third quarter of 2021 (up: less than 3.5 Mbit/s).",
        ),
    ),
    "leo": PathKind(
        "a constellation in low Earth orbit",
        ("starlink", "oneweb", "kuiper", "iridium", "constellation", "low-orbit"),
        "2021 and 2022",
        12,
        105,
        20,
        20,
        (
            "Rates and round trip: medians of Starlink in the United States, Ookla, fourth quarter of 2021.",
            'Michel and others, "A first look at Starlink performance" (IMC 2022): 50 ms to servers in Europe.',
            'Losses come in bursts and are left out; Pan and others, "Measuring the satellite links of a LEO network" '
            '(ICC 2024), found about 1 % on average: loss = { kind = "gilbert-elliott", … } adds them.',
        ),
    ),
    "cable": PathKind(
        "a sea cable, New Zealand to the United States",
        ("sea-cable", "submarine", "undersea", "transpacific", "transatlantic", "fibre", "fiber", "terrestrial"),
        "1998",
        34.368,
        34.368,
        60,
        60,
        (f"Rate (an E3 line) and delays: {_STUDY}.",),
    ),
    "mobile": PathKind(
        "a mobile network, LTE",
        ("lte", "4g", "5g", "3g", "cellular", "phone", "wireless"),
        "2012",
        6,
        13,
        35,
        35,
        (
            'Rates and round trip (70 ms): medians of LTE, Huang and others, "A close examination of performance and '
            'power characteristics of 4G LTE networks" (MobiSys 2012).',
        ),
    ),
    "asymmetric": PathKind(
        "out by sea cable, back by satellite",
        ("one-way", "unidirectional", "hybrid"),
        "1998",
        34.368,
        34.368,
        60,
        320,
        (f"Rate (an E3 line) and delays: {_STUDY}.",),
    ),
}


def nearest_path(word: str) -> str | None:
    """The path that a word means, or is written like; None: none is near."""
    meant = {other: name for name, kind in PATHS.items() for other in (name, *kind.also)}
    near = difflib.get_close_matches(word.lower().replace("_", "-"), meant, 1, 0.7)
    return meant[near[0]] if near else None
