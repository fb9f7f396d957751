"""Share of a log's traffic in its request table, from the counts that the import kept with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farweb.text.quantities import count, share, size
from farweb.text.words import listed, plural

LOW = 0.9
"""Share below which the log's load is another one. Chosen."""

_SHORT = 0.9995  # 100 % with three digits

_NOT_SELECTED = ("outside-time", "other-client", "not-sampled")
_HEADER_ALONE = "revalidation"
_NO_SIZE = "no-size"
_NOT_ON_THE_LINK = ("hit", "sibling-hit", _HEADER_ALONE, "answered-by-proxy", "denied", "icp")


@dataclass(frozen=True)
class Carried:
    """Bytes of a log in its request table.

    Attributes:
        table: Name of the table.
        log: Name of the log.
        logged_bytes: Bytes of the requests that were selected and crossed the link, as logged.
        elsewhere_bytes: Bytes of those selected that did not cross it: answered or refused before the link.
        unselected_bytes: Bytes of the others: another time or client.
        dropped_bytes: Bytes that crossed the link and are not in the table, by reason.
        unsized: Requests that crossed it and are not in the table, by reason, without known bytes: none are logged, a
            header came for a copy of the cache, or the line cannot be read.
        silent: Those that brought nothing, by reason: given up before any byte, answered with none.
        has_requests: True where the log has bytes of requests as well, which count with those of responses.
        tunnels: Tunnels in the table.
        tunnel_share: Their part of the bytes of responses in the table, 0 to 1.
    """

    table: str
    log: str
    logged_bytes: int
    elsewhere_bytes: int
    unselected_bytes: int
    dropped_bytes: Mapping[str, int]
    unsized: Mapping[str, int]
    silent: Mapping[str, int]
    has_requests: bool
    tunnels: int
    tunnel_share: float

    @property
    def share(self) -> float:
        """Share of the bytes that the table carries, 0 to 1."""
        return 1 - sum(self.dropped_bytes.values()) / self.logged_bytes

    @property
    def text(self) -> str:
        """The share, the parts missing, and the part of tunnels, in a sentence."""
        dropped = sorted(self.dropped_bytes.items(), key=lambda item: -item[1])
        without = "".join(f", {share(part / self.logged_bytes)} {reason}" for reason, part in dropped if part)
        tunnels = ""
        if self.tunnels:
            those = "the bytes of responses" if self.has_requests else "these bytes"
            tunnels = f"; {plural(self.tunnels, 'tunnel')} with {share(self.tunnel_share)} of {those}"
        missing = f", without{without[1:]}" if without else ""
        part = "all" if not without else f"{share(self.share)} of" if self.share < _SHORT else "nearly all of"
        others = {"did not cross it": self.elsewhere_bytes, "are not selected": self.unselected_bytes}
        beside = "".join(f"; {size(number)} {why}" for why, number in others.items() if number)
        of = " of requests and responses" if self.has_requests else " of responses"
        crossed = f"{size(self.logged_bytes)}{of} {'logged on' if self.unsized else 'that crossed'} the link"
        return f"{self.log}: {part} {crossed} are in{missing}{tunnels}{self._out()}{beside}"

    def _out(self) -> str:
        """Requests out of the table that no share of bytes counts."""
        kinds = {"of no known size": self.unsized, "without a byte": self.silent}
        said = [
            f"{plural(sum(reasons.values()), 'request')} {kind} ({_by_reason(reasons)})"
            for kind, reasons in kinds.items()
            if reasons
        ]
        return f"; out: {listed(said)}" if said else ""


def _by_reason(reasons: Mapping[str, int]) -> str:
    """The reason, or several with their numbers: ``2 revalidation and 1 unreadable``."""
    most = sorted(reasons, key=lambda reason: (-reasons[reason], reason))
    return most[0] if len(most) == 1 else listed([f"{count(reasons[reason])} {reason}" for reason in most])


def carried(table: str, counts: Mapping[str, Any]) -> Carried | None:
    """The share that a request table carries, or None of a log without sizes.

    Args:
        table: Its name.
        counts: Counts of its import.
    """
    if "dropped_bytes" not in counts:
        return None
    dropped = dict(counts["dropped_bytes"])
    unselected, elsewhere = (
        sum(dropped.pop(reason, 0) for reason in reasons) for reasons in (_NOT_SELECTED, _NOT_ON_THE_LINK)
    )
    logged = counts["bytes_logged"] - unselected - elsewhere
    without = {reason: counts["dropped"][reason] for reason, part in dropped.items() if not part}
    unsized = {reason: counts["dropped"].get(reason, 0) for reason in (_NO_SIZE, _HEADER_ALONE)}
    unsized = {reason: number for reason, number in unsized.items() if number}
    unsized |= {"unreadable": counts["unreadable_lines"]} if counts["unreadable_lines"] else {}
    silent = {reason: number for reason, number in without.items() if reason not in unsized}
    first = counts["first_request"]
    has_requests = first is not None and first["request_bytes_logged"] is not None
    tunnels = [part for rule, part in counts["caching"].items() if rule in ("tunnel", "upgrade")]
    tunneled = {name: sum(part[name] for part in tunnels) for name in ("requests", "bytes")}
    responses = sum(each["bytes"] for each in counts["caching"].values())
    if logged <= 0:
        return None
    others = elsewhere, unselected, dropped, unsized, silent, has_requests
    return Carried(
        table, counts["log"]["file"], logged, *others, tunneled["requests"], tunneled["bytes"] / max(responses, 1)
    )
