"""Chance and change on a path: which loads several seeds have to show, and which depend on when they begin."""

from collections.abc import Iterator, Mapping
from typing import Any

from farweb.errors import FarwebError

SEED = 1
"""Root of the random streams of a load, unless another is named: `run.seed` of a scenario without it."""
SEEDS = 5
"""Seeds on a path with chance, where no number is asked for. Chosen."""
SEEDS_MAX = 1000
_RARE = 1e-5
"""Share of packets lost from which on chance counts. Chosen: of a page's thousand packets one in a hundred pages."""
_CONSTANT = {"rate", "delay", "queue", "queue_counts", "loss"}
"""Keys of a direction of a link that never change."""
_TICKING = ("bsd44-lite", "solaris-2.5", "ns2-reno")
"""Profiles of TCP with timers as coarse as a round trip: a seed draws their phase."""

Effective = Mapping[str, Any]
"""A scenario with every default spelled out."""


def is_drawn(effective: Effective, rare: float = _RARE) -> bool:
    """True where a seed decides: losses, handovers, a rate, delays or frames that vary, hits of caches, timers of TCP.

    A schedule may have losses.

    Args:
        effective: The scenario.
        rare: Share of packets lost at random that counts as none.
    """
    links = any(
        "handover" in link or any(_is_drawn(direction, rare) for direction in _directions(link))
        for link in effective["path"]["link"]
    )
    caches = any(0 < cache.get("hit_ratio", 0) < 1 for cache in effective.get("cache", ()))
    return links or caches or any(leg["tcp"]["profile"] in _TICKING for leg in effective["leg"])


def is_steady(effective: Effective) -> bool:
    """True where a load is the same at any time: nothing is drawn, and no link changes."""
    links = effective["path"]["link"]
    return not is_drawn(effective) and all(set(way) <= _CONSTANT for link in links for way in _directions(link))


def seeds_of(effective: Effective, asked: int | None) -> range:
    """Seeds of a scenario's loads, from `run.seed` on: several where chance decides.

    Args:
        effective: The scenario.
        asked: How many (default: `SEEDS` where a seed decides, else 1).
    """
    first: int = effective["run"]["seed"]
    number = asked if asked and is_drawn(effective, 0) else SEEDS if is_drawn(effective) else 1
    return range(first, first + number)


def check_seeds(asked: int | None, *scenarios: Effective) -> None:
    """Refuse a number of seeds that is out of range, or makes no difference in any of some scenarios.

    Raises:
        FarwebError: It is, or does not.
    """
    if asked is None:
        return
    if not 1 <= asked <= SEEDS_MAX:
        raise FarwebError(f"--seeds: found {asked}; write 1 to {SEEDS_MAX}")
    if scenarios and not any(is_drawn(each, 0) for each in scenarios):
        raise FarwebError("--seeds: nothing is drawn by chance on this path; leave it out")


def _directions(link: Effective) -> Iterator[Effective]:
    return (link[way] for way in ("up", "down"))


def _is_drawn(direction: Effective, rare: float) -> bool:
    loss = direction.get("loss", {})
    shares = [loss.get("probability", 0), *(step.get("loss", 0) for step in direction.get("steps", ()))]
    is_lossy = loss.get("kind") == "gilbert-elliott" or any(rare < share < 1 for share in shares)
    begins_anywhere = direction.get("trace_offset") == "random"
    return is_lossy or begins_anywhere or not {"variation", "jitter", "dama", "schedule"}.isdisjoint(direction)
