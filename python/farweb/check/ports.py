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
    """Requests of the busiest minute, by start: connections, where each request opens one."""

    def __init__(self) -> None:
        self._minute, self._counts = 0, Counter[tuple[str, int]]()
        self._to_host, self._together = ("", 0), 0

    def add(self, hosts: Any, day: NDArray[np.int64], start_s: NDArray[Any]) -> None:
        """Count a batch: codes and words of the hosts, as the core has them, days from 0, and starts in s."""
        codes, words = hosts
        minutes = (start_s // _MINUTE_S).astype(np.int64)
        for minute in np.unique(minutes).tolist():
            if minute != self._minute:
                self._end()
                self._minute = minute
            rows = np.stack([codes.astype(np.int64), day])[:, minutes == minute]
            found, counts = np.unique(rows, axis=1, return_counts=True)
            for (code, of_day), requests in zip(found.T.tolist(), counts.tolist(), strict=True):
                self._counts[words[code], of_day] += requests

    def _end(self) -> None:
        of_days = Counter[int]()
        for (host, day), requests in self._counts.items():
            of_days[day] += requests
            if requests > self._to_host[1]:
                self._to_host = (host, requests)
        self._together = max(self._together, *of_days.values(), 0)
        self._counts.clear()

    def busiest(self) -> tuple[tuple[str, float], float]:
        """The host with the most requests a second in a minute of a day, and the rate of all hosts then."""
        self._end()
        host, requests = self._to_host
        return (host, requests / _MINUTE_S), self._together / _MINUTE_S


def too_few(figures: Mapping[str, Any], opens: Opens, days: int) -> list[str]:
    """A warning for each leg with too few ports at its client end, for the requests of a trace of so many days.

    All connections of a leg that ends at a proxy are to that proxy.
    """
    workload, legs = figures["workload"], figures["legs"]
    times = workload["speed"] * workload["rate"] * workload["load"] / days
    to_host, together = opens.busiest()
    asked = [*((leg["to"], together) for leg in legs[:-1]), to_host]
    return [
        f"leg.{leg['index']}: up to {count(round(times * opened))} connections a second to {server} need "
        f"{count(round(times * opened * _MINUTE_S))} ports, and a Linux host has {count(round(limit * _MINUTE_S))} for "
        'a minute: reuse connections (http/1.1), let the server close (closed_by = "server"), or count more addresses'
        for leg, (server, opened) in zip(legs, asked, strict=True)
        if (limit := leg["opens_per_s_max"]) is not None and times * opened > limit
    ]
