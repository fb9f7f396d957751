"""A page over several ways: onLoad of each, how sure that is, and the screen that says so."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from farweb._core import Dependency, Loaded, Recording, asked_of, graph_of, settle_each
from farweb.errors import FarwebError
from farweb.inputs.paths import path_kind
from farweb.pages.paths import PROTOCOLS, PROXIES, Way
from farweb.pages.weather import SEED, seeds_of
from farweb.progress import Progress, unseen
from farweb.text.quantities import seconds, size
from farweb.text.sheet import Sheet, Shown
from farweb.text.words import elided, listed, plural, visible

Rule = Literal["likely", "few", "many"]
RULES: tuple[Rule, ...] = ("likely", "few", "many")
"""Rules for the graph of a page: what it likely is, and two bounds around it (`crates/farweb/src/page/graph.rs`)."""

SURE = 1.5
"""Largest ratio of the highest to the lowest answer to print one number for. Chosen: no page load is known more
closely."""

_REFUSED = {
    **dict.fromkeys(("fcp", "lcp", "speed-index", "speedindex", "si"), "layout and paint"),
    **dict.fromkeys(("tti", "tbt"), "the browser's main thread"),
}
"""Metrics that a HAR does not hold, and what decides them."""


def check_metric(word: str) -> None:
    """Refuse all metrics but onLoad.

    Raises:
        FarwebError: It is another.
    """
    name = word.lower().replace(" ", "-").replace("_", "-")
    if name in _REFUSED:
        raise FarwebError(f"--metric: {word} is decided by {_REFUSED[name]}, of which a HAR says nothing; write onload")
    if name != "onload":
        raise FarwebError(f'--metric: found "{word}"; write onload')


@dataclass(frozen=True)
class Cell:
    """A page over a way, times in s since it began.

    Attributes:
        way: The way.
        load_s: onLoad by the likely graph. Of several seeds, the median one's.
        low_s: The least by any graph and seed.
        high_s: The most.
        full_s: Last end of all, by the likely graph.
        simple_s: Bytes at the path's rate and the first request's round trips, or None for a scenario.
        loaded: The load by the likely graph.
        idle_s: Think and tail of it, on the critical path: no transfer, on any path.
        seed: Seed of `loaded`.
        seeds: How many seeds `low_s` and `high_s` are of.
        readings_s: onLoad by seed, and by each graph.
    """

    way: Way
    load_s: float
    low_s: float
    high_s: float
    full_s: float
    simple_s: float | None
    loaded: Loaded
    idle_s: float = 0.0
    seed: int = SEED
    seeds: int = 1
    readings_s: Sequence[float] = ()

    @property
    def is_sure(self) -> bool:
        """True where one number stands for the answer."""
        return self.high_s <= SURE * self.low_s

    @property
    def is_behind(self) -> bool:
        """True behind a proxy."""
        return self.way.proxy != "none"


@dataclass(frozen=True)
class PageAnswer(Shown):
    """A page over several ways.

    Attributes:
        recording: The page as recorded.
        cells: Its load over each way.
        others: Loads of the same URL with an onLoad in the same file, this one among them.
        number: Its place among the pages that were given, from 1, and their number.
    """

    recording: Recording
    cells: Sequence[Cell]
    others: Sequence[Recording]
    number: tuple[int, int]

    @classmethod
    def of(
        cls,
        recording: Recording,
        ways: Sequence[Way],
        others: Sequence[Recording] = (),
        number: tuple[int, int] = (1, 1),
        *,
        seeds: int | None = None,
        progress: Progress = unseen,
    ) -> Self:
        """Load a page over each way, by each graph of its requests.

        Args:
            recording: The page as recorded.
            ways: The ways.
            others: Loads of the same page with an onLoad.
            number: Place of the page among those given, from 1, and their number.
            seeds: How many seeds a way with chance has (default: five).
            progress: Called as ways are done.

        Raises:
            RunError: A request fails.
        """
        graphs = {rule: graph_of(recording, rule) for rule in RULES}
        cells = []
        for done, way in enumerate(ways, 1):
            pages = {rule: asked_of(recording, graphs[rule], is_multiplexed=way.protocol == "h2") for rule in RULES}
            each = [(seed, rule) for seed in seeds_of(way.effective, seeds) for rule in RULES]
            loaded = settle_each([(way.scenario, pages[rule], seed) for seed, rule in each])
            loads = dict(zip(each, loaded, strict=True))
            cells.append(_cell(recording, way, loads, graphs["likely"]))
            progress(done, len(ways), f"{done} of {len(ways)} ways")
        return cls(recording, cells, others, number)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each way, as plain values."""
        facts = json.loads(self.recording.facts())
        return [
            {
                **facts,
                **cell.way.names,
                "onload_s": cell.load_s,
                "low_s": cell.low_s,
                "high_s": cell.high_s,
                "fully_s": cell.full_s,
                "idle_s": cell.idle_s,
                "simple_s": cell.simple_s,
                "seeds": cell.seeds,
            }
            for cell in self.cells
        ]

    def _parts(self) -> Iterator[Sheet | str]:
        """The page in two lines, its loads in a table, and conclusions."""
        yield self.sentence
        yield self.recorded
        yield ""
        yield self._sheet()
        yield ""
        yield from self._remarks()

    @property
    def _there(self) -> list[Cell]:
        """The ways over the slowest path for the page."""
        path = max(self.cells, key=lambda cell: cell.load_s).way.path
        return [cell for cell in self.cells if cell.way.path == path]

    @property
    def best(self) -> Cell:
        """The best way over the slowest path for the page; of ways that tie, one without a proxy."""
        most = ALIKE * min(cell.load_s for cell in self._there)
        found = (cell for cell in self._there if cell.load_s <= most)
        return min(found, key=lambda cell: (cell.is_behind, cell.load_s))

    @property
    def _worst(self) -> Cell:
        least = max(cell.load_s for cell in self._there) / ALIKE
        found = (cell for cell in self._there if cell.load_s >= least)
        return min(found, key=lambda cell: (cell.is_behind, -cell.load_s))

    @property
    def _named(self) -> list[Cell]:
        """The ways of the answer: the least sure one, or the best and the worst where they differ as written."""
        if unsure := [cell for cell in self.cells if not cell.is_sure]:
            return [max(unsure, key=lambda cell: cell.high_s / cell.low_s)]
        best, worst = self.best, self._worst
        differ = worst.load_s > ALIKE * best.load_s and _short(worst.load_s) != _short(best.load_s)
        return [best, worst] if differ else [best]

    @property
    def sentence(self) -> str:
        """Where the page takes longest: how long in the best and in the worst way."""
        return self._loads + self._idle

    @property
    def _loads(self) -> str:
        best, *others = self._named
        page = f"Over {best.way.over} the page"
        if not best.is_sure:
            return (
                f"{page} takes between {_short(best.low_s)} and {_short(best.high_s)} s with {how(best.way)}: "
                f"this file cannot say more.{self._less_than(best.way.over)}"
            )
        if not others:
            return f"{page} takes {_short(best.load_s)} s with {_ways(self._alike(best))}."
        worst = others[0]
        says = "takes" if worst.low_s > best.high_s else "may take"
        return (
            f"{page} {says} {_short(best.load_s)} s at best, with {_ways(self._alike(best))}, and "
            f"{_short(worst.load_s)} s at worst, with {_ways(self._alike(worst))}."
        )

    def _less_than(self, unsure: str) -> str:
        """A sentence on the paths over which the page takes less by every reading than over one that is unsure."""
        paths: dict[str, list[Cell]] = {}
        for cell in self.cells:
            paths.setdefault(cell.way.over, []).append(cell)
        ends = {over: (min(each.low_s for each in of), max(each.high_s for each in of)) for over, of in paths.items()}
        less = {over: each for over, each in ends.items() if each[1] < ends[unsure][0]}
        said = [f"{over} ({_short(low)} to {_short(high)} s)" for over, (low, high) in less.items()]
        return f" By every reading it takes less over {listed(said)}." if said else ""

    @property
    def _idle(self) -> str:
        """A sentence where most of the time is no load."""
        first = self._named[0]
        if first.idle_s <= _MOSTLY * first.load_s:
            return ""
        loads = _short(first.load_s - first.idle_s)
        return f" Of {_short(first.load_s)} s the load takes {loads} s; the rest was a script or a person."

    def _alike(self, cell: Cell) -> list[Cell]:
        """The ways over the slowest path that tie with one, itself first."""
        best = self.best
        tied = [each for each in self._there if max(each.load_s, cell.load_s) <= ALIKE * min(each.load_s, cell.load_s)]
        if cell is not best:
            tied = [each for each in tied if each.load_s > ALIKE * best.load_s]
        return [cell, *(each for each in tied if each is not cell)]

    @property
    def recorded(self) -> str:
        """The page, how it was recorded, and by what."""
        page, (place, of) = self.recording, self.number
        exporter, browser = (elided(visible(name), _LETTERS) for name in (page.exporter, page.browser))
        through = f"{browser}, {page.protocol}" if page.browser not in page.exporter else page.protocol
        recorded = seconds(page.load_ms / 1000) if page.is_load_known else "no usable onLoad"
        which = f"; page {place} of {of}, --page chooses" if of > 1 else ""
        return f"{page.counted}; {recorded} by {exporter} ({through}){which}"

    def _sheet(self) -> Sheet:
        protocols = list(dict.fromkeys(cell.way.protocol for cell in self.cells))
        rows: dict[tuple[str, str], dict[str, Cell]] = {}
        for cell in self.cells:
            rows.setdefault((cell.way.over, cell.way.proxy), {})[cell.way.protocol] = cell
        lines, shown = [], ""
        for (path, proxy), cells in rows.items():
            first = path if path != shown else ""
            shown = path
            lines.append((first, proxy_name(proxy), *(in_words(cells[each]) for each in protocols)))
        names = (PROTOCOLS.get(each, each) for each in protocols)
        return Sheet("", ("onLoad in s", "(low … high)", *names), lines, names=2)

    def _remarks(self) -> Iterator[str]:
        legend = [low_high(self.cells)]
        proxies = {cell.way.proxy for cell in self.cells}
        legend += [meaning for proxy, meaning in _ENDING.items() if proxy in proxies]
        if len(legend) > 1 and self.recording.has_tls:
            legend.append("Both end TLS." if len(legend) > 2 else "It ends TLS.")
        legend += [_PEP] if "pep" in proxies else []
        has_own_tls = "own" in proxies  # as the legs of a scenario say
        yield " ".join([*legend, *(() if has_own_tls else self.recording.in_the_clear)])
        simple = [(cell.simple_s, how(cell.way)) for cell in self._named if cell.simple_s is not None]
        least = ""
        if simple:
            least_s, by = min(simple)
            least = f"Bytes and one request's round trips alone take {_short(least_s)} s with {by}. "
        yield f"{least}{self._noise()}"
        yield from self.recording.reservations

    def _noise(self) -> str:
        alike = [each for each in self.others if each.is_repeat == self.recording.is_repeat]
        unlike = [each for each in self.others if each.is_repeat != self.recording.is_repeat]
        said = _took("load", alike) if len(alike) > 1 else "Loads of one page differ by some 10 % anyway."
        return (
            f"{said} {_took('first view' if self.recording.is_repeat else 'repeat view', unlike)}" if unlike else said
        )


_MOSTLY = 0.5  # of onLoad, from where a sentence names what is no load
_LETTERS = 32  # of a program's name, chosen
ALIKE = 1.02
"""Ratio of loads that a sentence takes for equal. Chosen."""

_ENDING = {
    "split": "split: a proxy at the path's far end.",
    "mux": "mux: proxies at both ends, with standing connections between them.",
}
_PEP = "pep: TCP ends at both ends of the path, TLS does not."


def low_high(cells: Sequence[Cell]) -> str:
    """A sentence on the ends of an interval."""
    most = max(cell.seeds for cell in cells)
    each = f", over a path with chance with {most} seeds each" if most > 1 else ""
    return f"low … high: three readings of what waited for what{each}; a range alone if they differ by half."


def onload_s(recording: Recording, loaded: Loaded) -> float:
    """The onLoad of a load: the last end that gates it, and the recorded tail."""
    ends = [int(end) for end, gates in zip(loaded.end_ns, recording.gates, strict=True) if gates]
    return max(ends) / 1e9 + recording.tail_ms / 1000


def _cell(
    recording: Recording, way: Way, loads: Mapping[tuple[int, Rule], Loaded], graph: Sequence[Dependency]
) -> Cell:
    """A cell by its loads with each seed by each graph, and by the likely graph."""
    found = {each: onload_s(recording, loaded) for each, loaded in loads.items()}
    seeds = sorted((seed for seed, rule in loads if rule == "likely"), key=lambda seed: found[seed, "likely"])
    seed = seeds[(len(seeds) - 1) // 2]
    likely = loads[seed, "likely"]
    gating = [place for place, gates in enumerate(recording.gates) if gates]
    last = max(gating, key=lambda place: likely.end_ns[place])
    idle = (likely.think_ms(graph, last) + recording.tail_ms) / 1000
    full = int(likely.end_ns.max()) / 1e9
    low, high = min(found.values()), max(found.values())
    load, simple = found[seed, "likely"], _simple_s(recording, way)
    return Cell(way, load, low, high, full, simple, likely, idle, seed, len(seeds), [*found.values()])


def _simple_s(recording: Recording, way: Way) -> float | None:
    """Bytes at the rate of the path, and the round trips of one request on a new connection."""
    if way.proxy not in PROXIES:
        return None
    has_tls = recording.sent[recording.root].is_secure
    turns = 1 if way.proxy == "mux" else 1 + has_tls + (way.proxy != "pep")  # a standing connection, or one of TCP
    rtt_ns: int = sum(leg["rtt_ns"] for leg in json.loads(way.scenario.check(None))["legs"])
    return turns * rtt_ns / 1e9 + 8 * recording.gating_bytes / (path_kind(way.path).rate.down * 1e6)


def in_words(cell: Cell) -> str:
    """A load with its range, or the range alone."""
    interval = f"{_short(cell.low_s)} … {_short(cell.high_s)}"
    return f"{_short(cell.load_s)} ({interval})" if cell.is_sure else interval


def _took(noun: str, loads: Sequence[Recording]) -> str:
    """A sentence on recorded loads: onLoad, requests and bytes, from the least to the most."""
    times = _least_to_most([each.load_ms / 1000 for each in loads], _short)
    counts = [len(each.sent) for each in loads]
    least = f"{min(counts)} to " if min(counts) < max(counts) else ""
    requests = f"{least}{plural(max(counts), 'request')}"
    sizes = _least_to_most([each.response_bytes for each in loads], size)
    return f"{plural(len(loads), noun)} of it in this file took {times} s, with {requests} and {sizes}."


def _least_to_most(values: Sequence[Any], word: Callable[[Any], str]) -> str:
    return " to ".join(dict.fromkeys((word(min(values)), word(max(values)))))


def _short(value_s: float) -> str:
    return f"{value_s:.2f}" if value_s < 1 else f"{value_s:.1f}"


def proxy_name(proxy: str) -> str:
    """The proxies of a way as tables have them."""
    return {"none": "no proxy", "own": ""}.get(proxy, proxy)


def _ways(cells: Sequence[Cell]) -> str:
    """Ways that tie, as a sentence has them behind *with*."""
    return " or ".join(how(each.way) for each in cells)


def how(way: Way) -> str:
    """Protocol and proxies of a way, as a sentence has them behind *with*."""
    proxies = {"split": " and a split", "mux": " and a mux between proxies", "pep": " and a PEP"}.get(way.proxy, "")
    return PROTOCOLS.get(way.protocol, way.protocol) + proxies
