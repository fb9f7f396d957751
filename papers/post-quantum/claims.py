"""How the claims of both papers are measured."""

import itertools
from collections.abc import Sequence

from farweb.reproduce.claims import Measured
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import student

from .measures import (  # type: ignore[import-not-found]  # mypy knows no package with a hyphen
    FAST,
    KIB,
    LARGE,
    LIMITS,
    NAMED,
    ROUND_TRIPS,
    SEGMENT,
    SLOW,
    SMALL,
    TODAY,
    added,
    added_s,
    both_flights,
    first_byte,
    handshake,
    mean,
    parts_of,
    resumed,
    times,
    with_merkle_tree,
)

ML_DSA = ("ml-dsa-44", "ml-dsa-65", "ml-dsa-87")
SLH_DSA = ("slh-dsa-128s", "slh-dsa-128f", "slh-dsa-192s", "slh-dsa-192f", "slh-dsa-256s", "slh-dsa-256f")
LARGER = (50, 100, 200, 1000)
"""Responses of 50 KiB and more, in KiB."""


def _growth(results: StudyResults) -> list[Measured]:
    folder = results.study.folder
    today = both_flights(folder, "ecdsa-p256", "x25519")
    ratios = {scheme: both_flights(folder, scheme) / today for scheme in (*ML_DSA, *SLH_DSA)}
    smallest, largest = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return [
        Measured(ratios[smallest], what=smallest, bound="smallest"),
        Measured(ratios[largest], what=largest, bound="largest"),
    ]


def _steps(results: StudyResults) -> list[Measured]:
    found = []
    for path in (*NAMED, FAST):
        for limit in LIMITS:
            at = {
                flight: first_byte(results, path, flight) / ROUND_TRIPS[path]
                for flight in (limit - SEGMENT, limit, limit + 1, limit + SEGMENT)
            }
            found += [
                Measured(at[limit + 1] - at[limit], what=f"{path}, {limit} B", bound="step"),
                Measured(at[limit] - at[limit - SEGMENT], what=f"{path}, below {limit} B", bound="elsewhere"),
                Measured(at[limit + SEGMENT] - at[limit + 1], what=f"{path}, above {limit} B", bound="elsewhere"),
            ]
    return found


def _merkle_tree(results: StudyResults) -> list[Measured]:
    folder = results.study.folder
    return [
        Measured(handshake(folder, each)["down"]["bytes"] / with_merkle_tree(folder, each), what=each)
        for each in ML_DSA
    ]


def _without_intermediates(results: StudyResults) -> list[Measured]:
    folder, found = results.study.folder, []
    for each in ML_DSA:
        plain, short = handshake(folder, each), handshake(folder, each, suppress_intermediates=True)
        found.append(Measured(plain["down"]["bytes"] / short["down"]["bytes"], what=each))
    return found


def _resumption(results: StudyResults) -> list[Measured]:
    return [
        Measured(resumed(results, path, visits) / resumed(results, path, 1), what=f"{path}, {visits} visits")
        for path in NAMED
        for visits in (2, 5, 10)
    ]


def _nearness(results: StudyResults) -> list[Measured]:
    more = {
        path: added_s(results, "sizes", "first_byte_s", LARGE, path=path, response_bytes=KIB)
        for path in sorted(NAMED, key=ROUND_TRIPS.__getitem__)
    }
    return [
        Measured(more[longer] - more[shorter], what=f"{longer} less {shorter}")
        for shorter, longer in itertools.pairwise(more)
    ]


def _last_byte(results: StudyResults, paths: Sequence[str], certificates: str, sizes: Sequence[int]) -> list[Measured]:
    """What certificates add to the time to the last byte, in %, by path and size in KiB."""
    return [
        Measured(
            added(results, "sizes", "last_byte_s", certificates, path=path, response_bytes=size * KIB),
            what=f"{path}, {size} KiB",
        )
        for path in paths
        for size in sizes
    ]


def _handshake(results: StudyResults) -> float:
    return float(added(results, "sizes", "handshake_s", SMALL, path=SLOW))


def _diminishing(results: StudyResults) -> list[Measured]:
    sizes = (10, *LARGER)
    steps = [("handshake", _handshake(results))]
    last = _last_byte(results, (SLOW,), SMALL, sizes)
    steps += [(f"{size} KiB", each.value) for size, each in zip(sizes, last, strict=True)]
    return [
        Measured(before - after, what=f"{earlier} less {later}")
        for (earlier, before), (later, after) in itertools.pairwise(steps)
    ]


def _lossy(results: StudyResults) -> list[Measured]:
    found = []
    for path in (FAST, SLOW):
        more = [
            added(results, "losses", "handshake_s", SMALL, path=path, loss="3 %", replication=each)
            - added(results, "losses", "handshake_s", SMALL, path=path, loss="0 %", replication=each)
            for each in sorted(times(results, "losses")["replication"].unique())
        ]
        found.append(Measured.of(student(more), what=path))
    return found


def _slow_added(results: StudyResults) -> str:
    """Range of what is added on the slow path, without losses and with 3 %."""
    without, lossy = (
        1e3 * added_s(results, "losses", "handshake_s", SMALL, path=SLOW, loss=loss) for loss in ("0 %", "3 %")
    )
    return f"from {without:.0f} to {lossy:.0f} ms"


def _slow_today(results: StudyResults) -> str:
    """Range of today's handshake there."""
    without, lossy = (
        1e3 * mean(results, "losses", "handshake_s", certificates=TODAY, path=SLOW, loss=loss)
        for loss in ("0 %", "3 %")
    )
    return f"from {without:.0f} to {lossy:.0f} ms"


def _fast_losses(results: StudyResults) -> str:
    """What losses add on the fast path, in percent points."""
    return f"{_lossy(results)[0].value:.1f}"


def _message_ratio(results: StudyResults) -> str:
    """The Certificate message of ML-DSA-44 over that with a Merkle tree."""
    names = ("certificate lengths", "leaf: fields", "leaf: key", "leaf: signature", "leaf: SCTs", "intermediates")
    plain = parts_of(handshake(results.study.folder, "ml-dsa-44")["down"])
    message = sum(plain[name] for name in names)
    saved = sum(plain.values()) - with_merkle_tree(results.study.folder, "ml-dsa-44")
    return f"{message / (message - saved):.1f}"


MEASURES = {
    "N1": _growth,
    "N2": _steps,
    "N3": _merkle_tree,
    "N4": _without_intermediates,
    "N5": _resumption,
    "N6": _nearness,
    "K1": lambda results: _last_byte(results, (FAST,), SMALL, (10, *LARGER)),
    "K2": lambda results: [Measured(_handshake(results))],
    "K3": lambda results: _last_byte(results, (SLOW,), SMALL, LARGER),
    "K4": lambda results: _last_byte(results, (FAST, SLOW), LARGE, (200,)),
    "K5": _diminishing,
    "K6": _lossy,
}

FACTS = {
    "slow_added": _slow_added,
    "slow_today": _slow_today,
    "fast_losses": _fast_losses,
    "message_ratio": _message_ratio,
}
