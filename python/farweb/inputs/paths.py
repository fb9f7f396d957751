"""Paths to start from: figures with year, source and how sure each is, rounded (`farweb new`).

Rates and round trips of tests are medians to near servers over several connections, not what one page gets. Queues hold
what the path carries in a round trip, the rule of C. Villamizar and C. Song, "High performance TCP in ANSNET" (CCR
24(5), 1994), where no figure says otherwise.
"""

import difflib
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """A figure of a path, in both directions.

    Attributes:
        up: Towards the servers.
        down: Towards the clients.
        dated: When it was measured, its year first, such as ``2025, first quarter``; empty where it was not.
        mark: Seen in the source, chosen for farweb, or from memory.
        source: Where it comes from, a sentence.
    """

    up: float
    down: float
    dated: str
    mark: Literal["seen", "chosen", "from memory"]
    source: str

    def text(self, quantity: str, unit: str) -> str:
        """The figure and where it comes from, as a scenario's comment has it."""
        values = f"{self.up:g}" if self.up == self.down else f"up {self.up:g}, down {self.down:g}"
        dated = f"{self.dated}; " if self.dated else ""
        return f"{quantity}: {values}{unit} ({dated}{self.mark}). {self.source}"


@dataclass(frozen=True)
class PathKind:
    """A kind of path.

    Attributes:
        title: A short description.
        also: Other words for it, in lower case.
        rate: Rates, in Mbit/s.
        delay: Delays one way, in ms.
        queue: Depths of the queues, in ms at full rate; None: a round trip.
        depths: Depths to sweep, in ms in both directions, where no one has published any.
        loss: Shares of packets lost at random, 0 to 1; None: none.
        gap: Lengths of the gap in each 15 s, in ms; None: none.
        left_out: A sentence on what varies there and is constant here; empty: nothing known.
    """

    title: str
    also: tuple[str, ...]
    rate: Figure
    delay: Figure
    queue: Figure | None = None
    depths: tuple[int, ...] = ()
    loss: Figure | None = None
    gap: Figure | None = None
    left_out: str = ""

    @property
    def years(self) -> tuple[int, ...]:
        """Years of its rates and delays, in order."""
        return tuple(sorted({int(each.dated[:4]) for each in (self.rate, self.delay) if each.dated}))

    @property
    def dated(self) -> str:
        """The same in words, such as ``2021 and 2022``."""
        return " and ".join(map(str, self.years))

    @property
    def facts(self) -> tuple[str, ...]:
        """Each figure with its source, a sentence or two each."""
        lines = [self.rate.text("Rates", " Mbit/s"), self.delay.text("Delays", " ms one way")]
        if self.queue is None:
            lines.append("Queues: what the path carries in a round trip (chosen).")
        else:
            lines.append(self.queue.text("Queues", " ms at full rate"))
        if self.loss is not None:
            lines.append(self.loss.text("Loss", " of the packets"))
        if self.gap is not None:
            lines.append(self.gap.text("Gaps every 15 s", " ms"))
        return (*lines, self.left_out) if self.left_out else tuple(lines)

    def directions(self, depth_ms: int | None = None) -> dict[str, str]:
        """Up and down as a scenario writes them, with the depth of the queues where one is given, in ms."""
        trip = self.delay.up + self.delay.down
        queue = self.queue or Figure(trip, trip, "", "chosen", "")
        ways = (
            ("up", self.rate.up, self.delay.up, depth_ms or queue.up, self.loss and self.loss.up),
            ("down", self.rate.down, self.delay.down, depth_ms or queue.down, self.loss and self.loss.down),
        )
        gap = f', outage = [{{ at = "12 s", lasts = "{self.gap.up:g} ms", every = "15 s" }}]' if self.gap else ""
        return {
            way: f'{{ rate = "{rate:g} Mbit/s", delay = "{delay:g} ms", queue = "{round(rate * depth / 8)} kB"'
            + (f', loss = {{ kind = "bernoulli", probability = {loss:g} }}' if loss else "")
            + f"{gap} }}"
            for way, rate, delay, depth, loss in ways
        }


_STUDY = (
    'McGregor, Pearson and Cleary, "The effect of multiplexing HTTP connections over asymmetric high bandwidth-delay '
    'product circuits" (SPIE 3529, 1998).'
)
_OOKLA = "Medians of Speedtest in the United States, Ookla."

_GEO_QUEUE = Figure(1000, 1000, "", "chosen", "Depths are unpublished; a modem's proxy for TCP and DAMA are left out.")
_GEO_LOSS = Figure(1e-6, 1e-6, "", "from memory", "What is left behind the code of the modem.")
_STARLINK_QUEUE = Figure(
    200, 200, "", "chosen", "Depths are unpublished; the queue drops at its head (arXiv 2605.27717), here at its tail."
)
_STARLINK_LOSS = Figure(2e-3, 1e-4, "2025", "seen", "Settings of LeoReplayer (SIGCOMM 2025), from traces.")
_STARLINK_GAP = Figure(
    *(82, 82, "2025", "seen"),
    "Mean of gaps of 59 to 135 ms, a trace of LeoReplayer (SIGCOMM 2025); up and down at once.",
)
_STARLINK_VARIES = "Left out: gaps of different lengths, and rates that differ by 13 % between them (LeoReplayer)."
_STARLINK_DEPTHS = (50, 200, 400)
_GEO_DEPTHS = (250, 1000, 2000)

PATHS = {
    "starlink": PathKind(
        "Starlink, homes",
        ("constellation", "low-orbit", "kuiper", "oneweb", "iridium"),
        Figure(17, 117, "2025", "seen", f"{_OOKLA} Tenth to ninetieth percentile in Maine: down 23 to 251."),
        Figure(22.5, 22.5, "2025, first quarter", "seen", f"{_OOKLA} Round trip 45 ms, in Maine 37 to 72."),
        _STARLINK_QUEUE,
        _STARLINK_DEPTHS,
        _STARLINK_LOSS,
        _STARLINK_GAP,
        _STARLINK_VARIES,
    ),
    "starlink-operator": PathKind(
        "Starlink, by its operator",
        (),
        Figure(30, 200, "2025, October", "seen", "The operator, for the busiest hours."),
        Figure(13, 13, "2025, October", "seen", "The operator: round trip of 26 ms to its point of presence."),
        _STARLINK_QUEUE,
        _STARLINK_DEPTHS,
        _STARLINK_LOSS,
        _STARLINK_GAP,
        _STARLINK_VARIES,
    ),
    "geo-viasat": PathKind(
        "a geostationary satellite, Viasat",
        ("satellite", "geostationary", "gso", "sat", "vsat", "viasat", "inmarsat"),
        Figure(1.1, 49, "2025, first quarter", "seen", _OOKLA),
        Figure(342, 342, "2025, first quarter", "seen", f"{_OOKLA} Round trip 684 ms."),
        _GEO_QUEUE,
        _GEO_DEPTHS,
        _GEO_LOSS,
    ),
    "geo-hughesnet": PathKind(
        "a geostationary satellite, HughesNet",
        ("hughesnet", "hughes"),
        Figure(4.4, 48, "2025, first quarter", "seen", _OOKLA),
        Figure(341.5, 341.5, "2025, first quarter", "seen", f"{_OOKLA} Round trip 683 ms."),
        _GEO_QUEUE,
        _GEO_DEPTHS,
        _GEO_LOSS,
    ),
    "geo-konnect": PathKind(
        "a geostationary satellite, Konnect",
        ("konnect", "eutelsat"),
        Figure(5, 45, "2023, second quarter", "chosen", "Ookla has 19.5 to 68.4 down, by country, and no rate up."),
        Figure(310, 310, "2023", "chosen", "An operator measured round trips of 550 ms at least."),
        _GEO_QUEUE,
        _GEO_DEPTHS,
        _GEO_LOSS,
    ),
    "5g": PathKind(
        "a mobile network, 5G",
        ("nr", "wireless", "cellular", "phone"),
        Figure(20, 200, "2025", "chosen", "Ookla: T-Mobile in the United States 309 over 5G, 259 over all, late 2025."),
        Figure(20, 20, "2025", "chosen", "Czechia 33 ms in 2024; few users of a CDN below 20 ms (arXiv 2507.18834)."),
        Figure(500, 500, "", "chosen", "Depths are unpublished."),
        (100, 500, 2000),
        left_out="Left out: rates vary by about 30 %.",
    ),
    "lte": PathKind(
        "a mobile network, LTE of today",
        ("4g",),
        Figure(10, 30, "2024", "from memory", "Opensignal has 13 to 22 down in a crowd in India (2025)."),
        Figure(25, 25, "2024", "chosen", "The fastest response of 4G in the United Kingdom took 18 ms (2024)."),
        Figure(1500, 1500, "", "chosen", "Depths are unpublished; one or two seconds are seen."),
        (500, 1500, 4000),
        left_out="Left out: rates vary by about 40 %.",
    ),
    "docsis": PathKind(
        "a cable modem, DOCSIS 3.1",
        ("cable-modem", "hfc", "coax", "broadband"),
        Figure(15, 225, "2022", "seen", "Ookla, fourth quarter: Comcast 226 and 20, Charter 225 and 12."),
        Figure(7.5, 7.5, "2022", "seen", "Ookla: round trips of 11 to 16 ms."),
        Figure(30, 100, "2021", "chosen", "Stands for PIE, which keeps 15 to 30 ms up under load (Comcast)."),
    ),
    "docsis-old": PathKind(
        "a cable modem with a deep queue",
        ("bufferbloat",),
        Figure(1, 20, "2012", "from memory", "A plan of that time."),
        Figure(10, 10, "2012", "from memory", "As cable modems have."),
        Figure(250, 250, "2021", "seen", "Comcast: about 250 ms under load without PIE."),
    ),
    "dsl": PathKind(
        "a telephone line, VDSL",
        ("vdsl", "adsl"),
        Figure(12, 41, "2022", "seen", "Ookla: CenturyLink."),
        Figure(7.5, 7.5, "2022", "seen", "Ookla: round trip 15 ms."),
        Figure(43, 12.5, "", "from memory", "64 kB each."),
        loss=Figure(1e-5, 1e-5, "", "from memory", "What is left behind the code of the line."),
    ),
    "meo": PathKind(
        "a constellation in medium Earth orbit",
        ("o3b", "medium-orbit", "mpower"),
        Figure(20, 100, "2025", "from memory", "A plan of O3b."),
        Figure(65, 65, "2025", "from memory", "O3b: round trips of 120 to 150 ms."),
        loss=Figure(1e-5, 1e-5, "", "from memory", "What is left behind the code of the modem."),
    ),
    "cable": PathKind(
        "a sea cable, New Zealand to the United States",
        ("sea-cable", "submarine", "undersea", "transpacific", "transatlantic", "fibre", "fiber", "terrestrial"),
        Figure(1000, 1000, "2025", "chosen", "A share of a cable that a network of today would have."),
        Figure(60, 60, "2025", "seen", "Press on Southern Cross NEXT: 63 ms one way before it, 55 to 60 by it."),
    ),
    "geo-2021": PathKind(
        "a geostationary satellite",
        (),
        Figure(3, 18.75, "2021, third quarter", "seen", f"{_OOKLA} Viasat (up: less than 3.5 Mbit/s)."),
        Figure(300, 300, "2022", "seen", 'Michel and others, "A first look at Starlink performance" (IMC 2022).'),
    ),
    "leo-2021": PathKind(
        "a constellation in low Earth orbit",
        (),
        Figure(12, 105, "2021, fourth quarter", "seen", f"{_OOKLA} Starlink."),
        Figure(20, 20, "2021, fourth quarter", "seen", f"{_OOKLA} 50 ms to servers in Europe: Michel, IMC 2022."),
        left_out='Left out: losses in bursts; Pan and others, "Measuring the satellite links of a LEO network" '
        '(ICC 2024), found about 1 % on average: loss = { kind = "gilbert-elliott", … } adds them.',
    ),
    "mobile-2012": PathKind(
        "a mobile network, LTE",
        (),
        Figure(
            *(6, 13, "2012", "seen"),
            'Huang and others, "A close examination of performance and power characteristics of 4G LTE networks" '
            "(MobiSys 2012).",
        ),
        Figure(35, 35, "2012", "seen", "The same: round trip 70 ms."),
    ),
    "cable-1998": PathKind(
        "a sea cable, New Zealand to the United States",
        (),
        Figure(34.368, 34.368, "1998", "seen", f"An E3 line, {_STUDY}"),
        Figure(60, 60, "1998", "seen", "The same."),
    ),
    "asymmetric": PathKind(
        "out by sea cable, back by satellite",
        ("one-way", "unidirectional", "hybrid"),
        Figure(34.368, 34.368, "1998", "seen", f"An E3 line, {_STUDY}"),
        Figure(60, 320, "1998", "seen", "The same."),
    ),
}
"""Kinds of paths, by name."""

STAND_FOR = {"geo": "geo-viasat", "leo": "starlink", "mobile": "5g"}
"""Words of a kind, and the path of today that each stands for."""


def path_kind(word: str) -> PathKind:
    """The kind of path that a key of `PATHS` or of `STAND_FOR` names."""
    return PATHS[STAND_FOR.get(word, word)]


def years_apart(names: tuple[str, ...]) -> str | None:
    """A remark where the figures of several paths are of more than one decade; None: they are of one."""
    dated = {name: path_kind(name).years for name in names}
    years = [year for each in dated.values() for year in each]
    if max(years) - min(years) < 10:
        return None
    listed = ", ".join(f"{name} of {path_kind(name).dated}" for name in names)
    return f"figures of more than one decade are compared: {listed}"


def nearest_path(word: str) -> str | None:
    """The path that a word means, or is written like; None: none is near."""
    meant = {other: name for name, kind in PATHS.items() for other in (name, *kind.also)} | STAND_FOR
    near = difflib.get_close_matches(word.lower().replace("_", "-"), meant, 1, 0.7)
    return meant[near[0]] if near else None
