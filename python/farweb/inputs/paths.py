"""Paths to start from: figures with year, source and how sure each is, rounded (`farweb new`).

They are the presets of links. Rates and round trips of tests are medians to near servers over several connections: one
page gets less. Queues hold what the path carries in a round trip, the rule of C. Villamizar and C. Song, "High
performance TCP in ANSNET" (CCR 24(5), 1994), where no figure says otherwise.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from farweb import _core
from farweb.errors import FarwebError
from farweb.text.words import nearest

RELAY_TCP: str = _core.relay_tcp
"""TCP between two relays over a long part: a large first window, and buffers that hold more than the path. Chosen."""


@dataclass(frozen=True)
class Figure:
    """A figure of a path, in both directions.

    Attributes:
        up: Towards the servers.
        down: Towards the clients.
        dated: When it was measured, its year first, such as ``2025, first quarter``, or empty where it was not.
        mark: Seen in the source, chosen for farweb, or from memory.
        source: Where it comes from, a sentence.
    """

    up: float
    down: float
    dated: str
    mark: Literal["seen", "chosen", "from memory"]
    source: str


@dataclass(frozen=True)
class PathKind:
    """A kind of path.

    Attributes:
        name: The preset of a link.
        title: A short description.
        also: Other words for it, in lower case.
        rate: Rates, in Mbit/s.
        delay: Delays one way, in ms.
        queue: Depths of the queues, in ms at full rate. None: a round trip.
        discipline: Tables of the queues in both directions, without their limits, with date, mark and source. None:
            drop-tail.
        depths: Depths to sweep, in ms in both directions, where no one has published any.
        loss: Shares of packets lost at random, 0 to 1. None: none.
        handover: Keys of a link's handovers with their date, mark and source. None: none.
        variation: Keys of the variation of a rate, likewise.
        left_out: A sentence on what varies there and is constant here (empty: nothing known).
        facts: Each figure with its source, a sentence or two each.
    """

    name: str
    title: str
    also: list[str]
    rate: Figure
    delay: Figure
    queue: Figure | None = None
    discipline: Mapping[str, Any] | None = None
    depths: list[int] = field(default_factory=list)
    loss: Figure | None = None
    handover: Mapping[str, Any] | None = None
    variation: Mapping[str, Any] | None = None
    left_out: str = ""
    facts: list[str] = field(default_factory=list)

    @property
    def years(self) -> tuple[int, ...]:
        """Years of its rates and delays, in order."""
        return tuple(sorted({int(each.dated[:4]) for each in (self.rate, self.delay) if each.dated}))

    @property
    def dated(self) -> str:
        """The same in words, such as ``2021 and 2022``."""
        return " and ".join(map(str, self.years))


def _kind(preset: dict[str, Any]) -> PathKind:
    figures = {key: preset[key] and Figure(**preset[key]) for key in ("rate", "delay", "queue", "loss")}
    return PathKind(**(preset | figures))


PATHS = {preset["name"]: _kind(preset) for preset in json.loads(_core.link_presets())}
"""Kinds of paths, by name."""

STAND_FOR = {"geo": "geo-viasat", "leo": "starlink", "mobile": "5g"}
"""Words of a kind, and the path of today that each stands for."""


def path_kind(word: str) -> PathKind:
    """The kind of path that a key of `PATHS` or of `STAND_FOR` names."""
    return PATHS[STAND_FOR.get(word, word)]


def years_apart(names: tuple[str, ...]) -> str | None:
    """A remark where the figures of several paths are of more than one decade. None: they are of one."""
    dated = {name: path_kind(name).years for name in names}
    years = [year for each in dated.values() for year in each]
    if max(years) - min(years) < 10:
        return None
    listed = ", ".join(f"{name} of {path_kind(name).dated}" for name in names)
    return f"figures of more than one decade are compared: {listed}"


def check_words(option: str, words: Iterable[str], allowed: Collection[str]) -> None:
    """Refuse words that an option does not take.

    Raises:
        FarwebError: One is not among those allowed.
    """
    for word in words:
        if word in allowed:
            continue
        said, near, absent = f"found {word}", _nearest(word), _core.absent(word) or ""
        if near is not None and near in allowed:
            said += f"; {near} is nearest, {PATHS[near].title}"
        elif absent.startswith("farweb does not model"):  # else a key of scenarios, no help beside an option
            said = absent
        raise FarwebError(f"{option}: {said}; write one of: {', '.join(allowed)}")


def _nearest(word: str) -> str | None:
    """The path that a word means, or is written like. None: none is near."""
    meant = {other: name for name, kind in PATHS.items() for other in (name, *kind.also)} | STAND_FOR
    return meant.get(nearest(word.lower().replace("_", "-"), meant, 0.7))
