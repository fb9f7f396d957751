"""Which request of a page waited for what: rules on initiators and times, and two bounds around them.

- ``likely``: the initiator that the file names, and the last script, sheet or document that ended right before it
  if the initiator had ended long before. Without an initiator the latter alone.
- ``few``: initiators alone, or else the document. The least moves with round trips.
- ``many``: always the last that ended before. The most moves with round trips.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from farweb._core import Recording, Sent

Rule = Literal["likely", "few", "many"]
RULES: tuple[Rule, ...] = ("likely", "few", "many")

_ACTIVE = {"html", "css", "script", "json", "xml", "preflight"}
_HIDDEN_MS = 50.0
"""A cause that ended within so long before a request may stand behind its initiator."""

CONFIDENCE = {"first": 1.0, "redirect": 1.0, "preflight": 1.0, "initiator": 0.9, "hidden": 0.6, "time": 0.3}
"""How sure a dependency is, by kind. Chosen."""


@dataclass(frozen=True)
class Edge:
    """The dependency of a request.

    Attributes:
        parent: Place of the other request, always an earlier one.
        share: Share of its response that has to be there, 0 (first byte) to 1 (end). None where its issue is enough.
    """

    parent: int
    share: float | None


@dataclass(frozen=True)
class Dependency:
    """When a request is issued: `think_ms` after the last of its edges, or after the page began.

    Attributes:
        edges: All have to hold.
        think_ms: From the last of them to the issue.
        kind: A key of `CONFIDENCE`.
    """

    edges: tuple[Edge, ...]
    think_ms: float
    kind: str


def graph_of(recording: Recording, rule: Rule = "likely") -> list[Dependency]:
    """The dependency of each request of a page, in their order."""
    return _Causes(recording, rule).all()


class _Causes:
    """Candidates for the cause of a request, by URL and by time."""

    def __init__(self, recording: Recording, rule: Rule) -> None:
        self._sent, self._root, self._rule = recording.sent, recording.root, rule
        self._hop_of = _redirects(self._sent)
        self._by_url: dict[tuple[str, ...], list[int]] = {}
        for place, each in enumerate(self._sent):
            self._by_url.setdefault(_key(each.name), []).append(place)
        active = [place for place, each in enumerate(self._sent) if each.kind in _ACTIVE or each.redirect]
        self._active = sorted(active, key=lambda place: (self._sent[place].end_ms, place))
        self._ends = [self._sent[place].end_ms for place in self._active]

    def all(self) -> list[Dependency]:
        return [self._of(place) for place in range(len(self._sent))]

    def _of(self, place: int) -> Dependency:
        edges, kind = self._edges(place)
        issue = self._sent[place].issue_ms
        think = max(0.0, issue - max((_at(self._sent, edge) for edge in edges), default=0.0))
        return Dependency(edges, think, kind)

    def _edges(self, place: int) -> tuple[tuple[Edge, ...], str]:
        if place == 0:
            return (), "first"
        if self._rule == "likely" and (stated := self._stated(place)):
            return stated, self._sent[place].dependency
        if place in self._hop_of:
            return (Edge(self._hop_of[place], 1.0),), "redirect"
        preflight = self._preflight(place)
        if preflight is not None:
            return (Edge(preflight, 1.0),), "preflight"
        issue = self._sent[place].issue_ms
        last = self._last_active(place)
        named = None if self._rule == "many" else self._initiator(place)
        if named is None:
            if self._rule == "few" or last is None:
                root = self._root if self._root < place else 0
                return (self._anchor(root, issue),), "time"
            return (Edge(last, 1.0),), "time"
        edge = self._anchor(named, issue)
        if self._rule == "likely" and last is not None and last != named:
            is_long_over = edge.share == 1.0 and issue - self._sent[named].end_ms > _HIDDEN_MS
            if is_long_over and issue - self._sent[last].end_ms <= _HIDDEN_MS:
                return (edge, Edge(last, 1.0)), "hidden"
        return (edge,), "initiator"

    def _stated(self, place: int) -> tuple[Edge, ...]:
        """Causes of a request by farweb's own file. None where it does not say, or says what cannot be."""
        sent, edges = self._sent[place], []
        for stated in sent.parents.split():
            number, _, part = stated.partition("@")
            parent = int(number) if number.isdecimal() else place
            share = {"start": None, "first": 0.0, "end": 1.0}.get(part, math.nan)
            if part.isdecimal() and parent < place:
                share = int(part) / self._sent[parent].response_bytes
            if parent >= place or (share is not None and not 0 <= share <= 1):
                return ()
            edges.append(Edge(parent, share))
        return tuple(edges) if sent.dependency in CONFIDENCE else ()

    def _anchor(self, parent: int, issue_ms: float) -> Edge:
        """The point of another request that issued a request."""
        other = self._sent[parent]
        if issue_ms >= other.end_ms:
            return Edge(parent, 1.0)
        if issue_ms < other.first_ms:
            return Edge(parent, None)
        return Edge(parent, (issue_ms - other.first_ms) / (other.end_ms - other.first_ms))

    def _initiator(self, place: int) -> int | None:
        """The request that the file names as the cause. None without a name, or where several could be meant.

        A preflight has the URL of the request behind it in that place.
        """
        sent = self._sent[place]
        if not sent.initiator or sent.kind == "preflight":
            return None
        named = [each for each in self._by_url.get(_key(sent.initiator), ()) if each < place]
        named = [each for each in named if not self._sent[each].redirect and self._sent[each].kind != "preflight"]
        if not named or (len(named) > 1 and sent.initiator_type != "parser"):
            return None
        return named[-1]

    def _preflight(self, place: int) -> int | None:
        """The preflight of a request: the last before it for its URL."""
        sent = self._sent[place]
        if sent.kind == "preflight":
            return None
        asked = (
            each for each in self._by_url[_key(sent.name)] if each < place and self._sent[each].kind == "preflight"
        )
        found = max(asked, default=None)
        return found if found is not None and self._sent[found].end_ms <= sent.issue_ms else None

    def _last_active(self, place: int) -> int | None:
        """The last script, sheet, document or hop that had ended when a request was issued."""
        upto = bisect_right(self._ends, self._sent[place].issue_ms)
        return next((each for each in reversed(self._active[:upto]) if each < place), None)


def _at(sent: Sequence[Sent], edge: Edge) -> float:
    """When an edge held in the recording."""
    other = sent[edge.parent]
    if edge.share is None:
        return other.issue_ms
    return other.first_ms + edge.share * (other.end_ms - other.first_ms)


def _redirects(sent: Sequence[Sent]) -> Mapping[int, int]:
    """The hop before each target of a redirect: the first later request for it, if need be with another query."""
    by_target: dict[tuple[str, ...], list[int]] = {}
    for place, each in enumerate(sent):
        for key in (_key(each.name), _key(each.name)[:3]):
            by_target.setdefault(key, []).append(place)
    hop_of: dict[int, int] = {}
    for hop, each in enumerate(sent):
        if each.redirect:
            key = _key(each.redirect)
            later = [place for way in (key, key[:3]) for place in by_target.get(way, ()) if place > hop]
            target = next((place for place in later if place not in hop_of), None)
            if target is not None:
                hop_of[target] = hop
    return hop_of


def _key(url: str) -> tuple[str, ...]:
    """Scheme, host, path and query of a URL."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return (url, "", "", "")
    return (parts.scheme, parts.netloc, parts.path or "/", parts.query)
