"""Source ports: whether one host can open as many connections to one server as the requests need (`farweb check`)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.text.quantities import count

_MINUTE_S = 60


def are_limited(figures: Mapping[str, Any]) -> bool:
    """True when ports limit a leg of a check."""
    return any(leg["opens_per_s_max"] is not None for leg in figures["legs"])


class Opens:
    """Requests by host and minute: connections, where each request opens one."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, int, int]] = Counter()

    def add(self, hosts: Any, day: NDArray[np.int64], start_s: NDArray[Any]) -> None:
        """Count a batch: codes and words of the hosts, as the core has them, days from 0, and starts in s."""
        codes, words = hosts
        rows = np.stack([codes.astype(np.int64), day, (start_s // _MINUTE_S).astype(np.int64)])
        found, counts = np.unique(rows, axis=1, return_counts=True)
        for (code, of_day, minute), requests in zip(found.T.tolist(), counts.tolist(), strict=True):
            self._counts[words[code], of_day, minute] += requests

    def busiest(self) -> tuple[str, float]:
        """The host with most requests in a minute, and how many of them come in a second."""
        (host, _, _), requests = max(self._counts.items(), key=lambda each: each[1])
        return host, requests / _MINUTE_S

    def together(self) -> float:
        """Requests a second of all hosts in the busiest minute."""
        minutes: Counter[tuple[int, int]] = Counter()
        for (_, day, minute), requests in self._counts.items():
            minutes[day, minute] += requests
        return max(minutes.values()) / _MINUTE_S


def too_few(figures: Mapping[str, Any], opens: Opens, days: int) -> list[str]:
    """A warning for each leg whose client end has too few ports, for the requests of a trace of so many days.

    All connections of a leg that ends at a proxy are to that proxy.
    """
    workload, legs = figures["workload"], figures["legs"]
    times = workload["speed"] * workload["rate"] * workload["load"] / days
    host, to_host = opens.busiest()
    asked = [*((leg["to"], opens.together()) for leg in legs[:-1]), (host, to_host)]
    return [
        f"leg.{leg['index']}: up to {count(round(times * opened))} connections a second to {server} need "
        f"{count(round(times * opened * _MINUTE_S))} ports, and a Linux host has {count(round(limit * _MINUTE_S))} for "
        'a minute: reuse connections (http/1.1), let the server close (closed_by = "server"), or count more addresses'
        for leg, (server, opened) in zip(legs, asked, strict=True)
        if (limit := leg["opens_per_s_max"]) is not None and times * opened > limit
    ]
