"""Drawing of the path of a scenario, or of several that differ only in values, as SVG.

Nodes stand upright, servers at the top. Beside a link are its values upwards (towards the servers) and downwards. A leg
is a bracket with its carrier and its TCP, several brackets in one where several connections are always open, a tick at
each TCP split. A node between two legs is a proxy. Values that differ between scenarios are in colour and bold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any

from farweb.report.points import Point
from farweb.report.words import key_words
from farweb.text.parse import QuantityError, parse, write

_CHARACTER = 7.4  # px, chosen: the mean width of a letter of the widest usual sans-serif at 12.5 px, with room to spare
_LINE = 17  # px from one line of text to the next
_BOX = 32  # px, height of a node
_WIDTH = 330  # px; a phone has as many
_LARGE = 10_000  # B, chosen: below, engineers write bytes
_STRANDS = 4  # of a bundle of connections. Chosen: more fill the bracket
_STRAND = 3.0  # px from one to the next


@dataclass(frozen=True)
class Term:
    """A value in the drawing.

    Attributes:
        lead: The words before it, with the space after them.
        text: The value, or values.
        varied: True when the scenarios differ in it.
    """

    lead: str
    text: str
    varied: bool = False

    def __len__(self) -> int:
        return len(self.lead) + len(self.text)


@dataclass(frozen=True)
class Leg:
    """A leg: its first and last node, its description, the most connections it always has, and its splits."""

    first: int
    last: int
    terms: tuple[Term, ...]
    connections: int = 1
    splits: tuple[int, ...] = ()

    @property
    def strands(self) -> list[float]:
        """Distances from the bracket of the lines that stand for its connections, in px."""
        return [_STRAND * strand for strand in range(min(self.connections, _STRANDS))]


@dataclass(frozen=True)
class Path:
    """Content of a drawing.

    Attributes:
        nodes: Their names, clients first.
        up: Properties upwards of each link.
        down: Properties downwards of each link.
        legs: In the order of the scenario.
        caches: The caches on each node.
    """

    nodes: tuple[str, ...]
    up: tuple[tuple[Term, ...], ...]
    down: tuple[tuple[Term, ...], ...]
    legs: tuple[Leg, ...]
    caches: tuple[tuple[Term, ...], ...]

    def lines_at(self, node: int, room: float) -> list[list[Term]]:
        """Text at a node in lines of so many px: proxy, TCP split or neither, and its caches."""
        is_proxy = {leg.last for leg in self.legs} & {leg.first for leg in self.legs} >= {node}
        is_split = any(node in leg.splits for leg in self.legs)
        named = [[Term("", "proxy" if is_proxy else "TCP split")]] if is_proxy or is_split else []
        return named + (wrap("cache: ", self.caches[node], room) if self.caches[node] else [])


def shape(point: Point) -> tuple[Any, ...]:
    """Nodes, legs with their splits, and caches, which scenarios share that one drawing shows."""
    legs = tuple((leg["from"], leg["to"], _splits(leg)) for leg in point.scenario["leg"])
    caches = tuple(cache["node"] for cache in point.scenario.get("cache") or ())
    return tuple(point.scenario["path"]["nodes"]), legs, caches


def path_of(points: Sequence[Point]) -> Path:
    """Content of the drawing of scenarios of one shape."""
    nodes = tuple(points[0].scenario["path"]["nodes"])
    links = range(len(nodes) - 1)
    legs = []
    for number, leg in enumerate(points[0].scenario["leg"]):
        terms = _merged([_leg(point, number) for point in points])
        always = max(_standing(point.figures["legs"][number]) for point in points)
        splits = tuple(map(nodes.index, _splits(leg)))
        legs.append(Leg(nodes.index(leg["from"]), nodes.index(leg["to"]), terms, always, splits))
    caches = tuple(_merged([_caches(point.scenario, node) for point in points]) for node in nodes)
    up, down = (
        tuple(_merged([_way(point, link, direction) for point in points]) for link in links)
        for direction in ("up", "down")
    )
    return Path(nodes, up, down, tuple(legs), caches)


def _splits(leg: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(split["at"] for split in leg.get("split") or ())


def _way(point: Point, link: int, direction: str) -> dict[str, str]:
    """Values of one direction of a link, by the words before them."""
    way = point.scenario["path"]["link"][link][direction]
    figures = point.figures["links"][link][direction]
    is_limited = way["rate"] != "unlimited"
    queue = way.get("queue", "unlimited")
    return {
        "": way["rate"] if is_limited else "unlimited rate",
        " ": write(parse(way["delay"]).number, "s"),
        **({"queue ": _readable(queue) if isinstance(queue, str) else figures["queue"]} if is_limited else {}),
        "loss ": str(figures["loss"]).removeprefix("loss "),
        **({"changes ": "; ".join(figures["changes"])} if figures["changes"] else {}),
    }


def _standing(leg: Mapping[str, Any]) -> int:
    """Number of connections that a leg has all the time; at least the one that is drawn."""
    return int(leg["connections"]) if leg["connection_use"]["standing"] else 1


def _leg(point: Point, number: int) -> dict[str, str]:
    leg, use = point.scenario["leg"][number], point.figures["legs"][number]["connection_use"]
    carrier, tcp = leg["carrier"], leg["tcp"]
    values = {"": carrier["kind"], " ": tcp["profile"], **_of_keys(carrier, without="kind")}
    if use["requests"]:  # one-way agents have neither
        values |= {"MSS ": tcp["mss"], "buffer ": _readable(tcp.get("buffer") or "the profile's own")}
    values |= _of_keys(tcp.get("constants") or {})
    for end in ("from", "to"):
        values |= {f"{key}at {leg[end]} ": value for key, value in _of_keys(tcp.get(end) or {}).items()}
    return values


def _caches(scenario: Mapping[str, Any], node: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for cache in scenario.get("cache") or ():
        values |= _of_keys(cache, without="node") if cache["node"] == node else {}
    return values


def _of_keys(table: Mapping[str, Any], without: str = "") -> dict[str, str]:
    """The values of keys, by the words before them."""
    return {
        f"{key_words(key)} ": ("on" if value else "off") if isinstance(value, bool) else _readable(str(value))
        for key, value in _flat(table)
        if key != without
    }


def _readable(text: str) -> str:
    """A value as the scenario has it, a size from 10 kB on in the unit that says it shortest with two decimals."""
    try:
        found = parse(text)
    except QuantityError:
        return text
    if found.base != "B" or found.number < _LARGE:
        return text
    return min((write(found.number, "B", binary) for binary in (False, True)), key=len)


def _flat(table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys with a value, inner tables' as `outer inner`."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from ((f"{key} {inner}", each) for inner, each in _flat(value))
        elif value is not None:
            yield key, value


def _merged(values: Sequence[Mapping[str, str]]) -> tuple[Term, ...]:
    """The values of all scenarios, a term a key; a key that a scenario lacks has no value there."""
    terms = []
    for key in dict.fromkeys(key for each in values for key in each):
        texts = list(dict.fromkeys(each.get(key, "none") for each in values))
        if (key, texts) != ("loss ", ["none"]):
            terms.append(Term(key.lstrip(), span(texts), len(texts) > 1))
    return tuple(terms)


def span(texts: Sequence[str]) -> str:
    """Different values in a few words: ``60 ms … 320 ms``, ``linux or bsd44-lite``."""
    sizes = {text: size for text in texts if (size := _size(text)) is not None}
    numbers = sorted(sizes, key=lambda text: sizes[text])
    others = [text for text in texts if text not in sizes]
    if len(others) > 3:
        others = [f"{len(others)} others" if numbers else f"{len(others)} values"]
    if len(numbers) > 2:
        numbers = [f"{numbers[0]} … {numbers[-1]}"]
    every = [*numbers, *others]
    return every[0] if len(every) == 1 else f"{', '.join(every[:-1])} or {every[-1]}"


def _size(text: str) -> Fraction | None:
    """A quantity as a number to sort by, or None for other texts."""
    try:
        return parse(text).number
    except QuantityError:
        return None


def draw_path(path: Path, words: str) -> str:
    """The drawing as SVG.

    Args:
        path: The path to draw.
        words: Description for readers who cannot see it.
    """
    return f'<div class="path">{_Drawing(path).svg(words)}</div>'


class _Drawing:
    """An SVG in the making: the path upright, the servers at the top; sizes are CSS pixels."""

    def __init__(self, path: Path) -> None:
        self._parts: list[str] = []
        x, text = 84.0, 108.0
        y = _BOX / 2 + 2
        places = [0.0] * len(path.nodes)
        for number in reversed(range(len(path.nodes))):
            places[number] = y
            box = min(220, max(100, 8.2 * len(path.nodes[number]) + 22))
            self.node(x - 50 + box / 2, y, box, path.nodes[number])
            self.text(text, y + _BOX / 2 + 16, path.lines_at(number, _WIDTH - text))
            y = y + _BOX / 2
            if number > 0:
                y = self._draw_link(path, number - 1, x, text, y)
        self._height = self._draw_legs(path, places, y + 24)

    def svg(self, words: str) -> str:
        size = f"{_WIDTH}", f"{self._height:.0f}"
        box = f'viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}"'
        return f'<svg role="img" aria-label="{escape(words)}" {box}>{"".join(self._parts)}</svg>'

    def node(self, x: float, y: float, width: float, name: str) -> None:
        """A box with a name, its middle at `x`, `y`."""
        room = max(int((width - 12) / 8.2), 3)
        shown = name if len(name) <= room else f"{name[: room - 1]}…"
        self._parts.append(
            f'<g><title>{escape(name)}</title><rect class="node" x="{x - width / 2:.0f}" y="{y - _BOX / 2:.0f}" '
            f'width="{width:.0f}" height="{_BOX}" rx="6"/><text class="name" x="{x:.0f}" y="{y + 4.5:.1f}" '
            f'text-anchor="middle">{escape(shown)}</text></g>'
        )

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """A wire in one direction, upright or level."""
        (x0, y0), (x1, y1) = start, end
        dx, dy = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
        back, side = (x1 - 8 * dx, y1 - 8 * dy), (3.5 * dy, 3.5 * dx)
        corners = f"{x1:.1f},{y1:.1f} {back[0] + side[0]:.1f},{back[1] + side[1]:.1f} "
        corners += f"{back[0] - side[0]:.1f},{back[1] - side[1]:.1f}"
        self._parts.append(
            f'<path class="wire" d="M{x0:.1f} {y0:.1f}L{back[0]:.1f} {back[1]:.1f}"/>'
            f'<polygon class="head" points="{corners}"/>'
        )

    def text(self, x: float, y: float, lines: Sequence[Sequence[Term]]) -> None:
        """Lines of text, the base of the first at `y`."""
        for number, line in enumerate(lines):
            spans = " · ".join(map(_span, line))
            place = f'x="{x:.0f}" y="{y + number * _LINE:.0f}"'
            self._parts.append(f"<text {place}>{spans}</text>")

    def bracket(self, *steps: str) -> None:
        self._parts.append(f'<path class="leg" d="{"".join(steps)}"/>')

    def _draw_link(self, path: Path, link: int, x: float, text: float, top: float) -> float:
        """A link below the node at its upper end; where the next node has its middle."""
        room = _WIDTH - text
        above = len(path.lines_at(link + 1, room)) * _LINE
        up = wrap("up ↑ ", path.up[link], room)
        down = wrap("down ↓ ", path.down[link], room)
        bottom = top + above + (len(up) + len(down)) * _LINE + 22
        self.arrow((x - 5, bottom - 3), (x - 5, top + 3))
        self.arrow((x + 5, top + 3), (x + 5, bottom - 3))
        self.text(text, top + above + 18, up)
        self.text(text, top + above + 22 + len(up) * _LINE, down)
        return bottom + _BOX / 2

    def _draw_legs(self, path: Path, places: Sequence[float], top: float) -> float:
        """Brackets beside the nodes and their texts below; the height of the drawing."""
        for number, leg in enumerate(path.legs):
            low, high = places[leg.first] - 4, places[leg.last] + 4
            for strand in leg.strands:
                self.bracket(f"M26 {low:.0f}", f"h-{9 - strand:g}", f"V{high:.0f}", f"h{9 - strand:g}")
            for split in leg.splits:
                self.bracket(f"M17 {places[split]:.0f}", "h9")
            middle = (low + high) / 2
            self._parts.append(
                f'<text class="way" x="12" y="{middle:.0f}" text-anchor="middle" '
                f'transform="rotate(-90 12 {middle:.0f})">leg {number}</text>'
            )
            lines = wrap(f"leg {number}: ", leg.terms, _WIDTH - 4)
            self.text(2, top, lines)
            top += len(lines) * _LINE + 4
        return top - _LINE + 8


def _span(term: Term) -> str:
    text = escape(term.text)
    return escape(term.lead) + (f'<tspan class="varied">{text}</tspan>' if term.varied else text)


def wrap(label: str, terms: Sequence[Term], room: float) -> list[list[Term]]:
    """Terms in lines no wider than `room` px where single terms allow it; the label stands before the first."""
    first, *rest = terms
    lines = [[Term(label + first.lead, first.text, first.varied)]]
    for term in rest:
        used = sum(len(each) + 3 for each in lines[-1])
        if (used + len(term)) * _CHARACTER > room:
            lines.append([term])
        else:
            lines[-1].append(term)
    return lines
