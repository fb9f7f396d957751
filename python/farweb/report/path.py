"""Words of the drawing of a path, or of several paths with their differences.

Of a link the values upwards (towards the servers) and downwards, and how they change: steps, handovers, fades; of a leg
its carrier, its TLS and its TCP; of a TCP split its own TCP, as far as it differs; caches. A node between two legs is a
proxy.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from farweb.report.points import Point, without_numbers
from farweb.report.words import key_words
from farweb.results.legs import tls_name
from farweb.text.parse import QuantityError, parse, write

_ITSELF = "\0"  # before the key of a value that says by itself what it is
_LARGE = 10_000  # B, chosen: below, engineers write bytes


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


@dataclass(frozen=True)
class Path:
    """Content of a drawing.

    Attributes:
        nodes: Their names, clients first; varied where another drawing lacks the node.
        up: Properties upwards of each link.
        down: Properties downwards of each link.
        legs: In the order of the scenario.
        caches: The caches on each node.
        splits: The TCP split on each node, or nothing.
    """

    nodes: tuple[Term, ...]
    up: tuple[tuple[Term, ...], ...]
    down: tuple[tuple[Term, ...], ...]
    legs: tuple[Leg, ...]
    caches: tuple[tuple[Term, ...], ...]
    splits: tuple[tuple[Term, ...], ...]


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
    at_splits = tuple(_merged([_split(point.scenario, node) for point in points]) for node in nodes)
    up, down = (
        tuple(_merged([_way(point, link, direction) for point in points]) for link in links)
        for direction in ("up", "down")
    )
    return Path(tuple(Term("", node) for node in nodes), up, down, tuple(legs), caches, at_splits)


def told_apart(paths: Sequence[Path]) -> list[Path]:
    """Paths of several shapes, with all varied that one has and another has not.

    Links are alike that have the same ends or the same values, legs that have the same ends.
    """
    return [_against(path, [other for other in paths if other is not path]) for path in paths]


def _parts(path: Path) -> dict[tuple[str, ...], tuple[Term, ...]]:
    """The texts of a path, by what they are about and where it is."""
    names = [node.text for node in path.nodes]
    links = list(pairwise(names))
    return {
        **{("cache", node): terms for node, terms in zip(names, path.caches, strict=True)},
        **{("split", node): terms for node, terms in zip(names, path.splits, strict=True)},
        **{("up", *ends): terms for ends, terms in zip(links, path.up, strict=True)},
        **{("down", *ends): terms for ends, terms in zip(links, path.down, strict=True)},
        **{("leg", names[leg.first], names[leg.last]): leg.terms for leg in path.legs},
    }


def _against(path: Path, others: Sequence[Path]) -> Path:
    """A path with all varied that one of the others has not."""
    theirs = [_parts(other) for other in others]

    def there(key: tuple[str, ...], terms: tuple[Term, ...], of: Mapping[tuple[str, ...], tuple[Term, ...]]) -> Any:
        return terms if key[0] in ("up", "down") and terms in of.values() else of.get(key, ())

    found = {key: _unlike(terms, [there(key, terms, of) for of in theirs]) for key, terms in _parts(path).items()}
    names = [node.text for node in path.nodes]
    links = list(pairwise(names))
    known = [{node.text for node in other.nodes} for other in others]
    return Path(
        tuple(Term("", name, not all(name in each for each in known)) for name in names),
        tuple(found["up", *ends] for ends in links),
        tuple(found["down", *ends] for ends in links),
        tuple(replace(leg, terms=found["leg", names[leg.first], names[leg.last]]) for leg in path.legs),
        tuple(found["cache", name] for name in names),
        tuple(found["split", name] for name in names),
    )


def _unlike(terms: Sequence[Term], others: Sequence[Sequence[Term]]) -> tuple[Term, ...]:
    """Terms, varied where one of the others has none like it."""
    known = [{(term.lead, term.text) for term in other} for other in others]
    return tuple(
        replace(term, varied=term.varied or not all((term.lead, term.text) in each for each in known)) for term in terms
    )


def _splits(leg: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(split["at"] for split in leg.get("split") or ())


def _way(point: Point, link: int, direction: str) -> dict[str, str]:
    """Values of one direction of a link, by the words before them."""
    way = point.scenario["path"]["link"][link][direction]
    figures = point.figures["links"][link][direction]
    rate = way.get("rate")
    is_limited = rate != "unlimited"
    queue = way.get("queue", "unlimited")
    return {
        "": figures["rate"] if rate is None else _readable_rate(rate) if is_limited else "unlimited rate",
        " ": write(parse(way["delay"]).number, "s"),
        **({"queue ": _readable(queue) if isinstance(queue, str) else figures["queue"]} if is_limited else {}),
        "loss ": str(figures["loss"]).removeprefix("loss "),
        **{_ITSELF + without_numbers(text): text for text in figures["changes"]},
    }


def _standing(leg: Mapping[str, Any]) -> int:
    """Number of connections that a leg has all the time; at least the one that is drawn."""
    return int(leg["connections"]) if leg["connection_use"]["standing"] else 1


def _leg(point: Point, number: int) -> dict[str, str]:
    leg, use = point.scenario["leg"][number], point.figures["legs"][number]["connection_use"]
    carrier, tcp = leg["carrier"], leg["tcp"]
    values = {"": carrier["kind"], **_tls(leg), "  ": tcp["profile"], **_of_keys(carrier, without="kind")}
    if use["requests"]:  # one-way agents have neither
        values |= {"MSS ": tcp["mss"], "buffer ": _readable(tcp.get("buffer") or "the profile's own")}
    values |= _of_keys(tcp.get("constants") or {})
    for end in ("from", "to"):
        values |= {f"{key}at {leg[end]} ": value for key, value in _of_keys(tcp.get(end) or {}).items()}
    return values


def _tls(leg: Mapping[str, Any]) -> dict[str, str]:
    """TLS of a leg with connections."""
    if leg["carrier"]["kind"] == "transfer":
        return {}
    return {" ": tls_name(leg.get("tls"))}


def _split(scenario: Mapping[str, Any], node: str) -> dict[str, str]:
    """The TCP split on a node, with what its TCP has else than that of its leg."""
    for leg in scenario["leg"]:
        for split in leg.get("split") or ():
            if split["at"] == node:
                usual = _of_keys(leg["tcp"])
                own = {key: value for key, value in _of_keys(split.get("tcp") or {}).items() if usual.get(key) != value}
                ready = {" ": "connections stand"} if split.get("open") == "ready" else {}
                return {
                    "": "TCP split",
                    **ready,
                    **{key.removeprefix("constants "): value for key, value in own.items()},
                }
    return {}


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


def _readable_rate(text: str) -> str:
    """A rate as the scenario has it, one of a thousand or more in the next unit."""
    return write(parse(text).number, "bit/s") if float(text.split()[0]) >= 1000 else text


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
        texts = sorted(dict.fromkeys(each.get(key, "none") for each in values), key=lambda text: text == "none")
        if (key, texts) != ("loss ", ["none"]):
            lead = "" if key.startswith(_ITSELF) else key.lstrip()
            terms.append(Term(lead, span(texts), len(texts) > 1))
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
