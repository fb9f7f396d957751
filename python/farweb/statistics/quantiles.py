"""Quantiles of times with some infinite.

A failed or cut-off request has no time, but it was not quick: it counts as slower than any completed one. Leaving
failures out flatters a distribution: with 15 % of the requests lost, the 90 % quantile of the others is the 76 %
quantile of all. The time of such a request is infinity. A quantile among them is infinite too, known only to exceed the
slowest completed time.

Source: right-censored data, with every censored time behind the last observed one (Klein and Moeschberger, Survival
Analysis, 2nd ed., 2003, chapter 3); Quantiles are linear between the two nearest values (type 7 of Hyndman and Fan, The
American Statistician 50, 1996). Sentences give an observed value (type 1).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

_ROUNDING = 1e-9  # of a place among the values, within which it is that value's own. Chosen: above a double's rounding

_BEYOND = 5  # values beyond a quantile that is shown. Chosen: with one it is the maximum, and few are one bad moment


def with_lost(ended: ArrayLike, lost: int) -> NDArray[np.float64]:
    """Times that ended, and an infinite one for each that did not."""
    return np.concatenate((np.asarray(ended, np.float64), np.full(lost, np.inf)))


def quantiles(times: ArrayLike, shares: Sequence[float]) -> list[float | None]:
    """Quantiles of times, infinite where they fall among infinite ones, or None of no times.

    Args:
        times: In any order and unit.
        shares: Quantiles to give, 0 to 1.
    """
    ordered = np.sort(np.asarray(times, np.float64))
    if not ordered.size:
        return [None] * len(shares)
    below, above, part = places(ordered.size, shares)
    found: list[float | None] = between(ordered[below], ordered[above], part).tolist()
    return found


def observed(number: int, shares: Sequence[float]) -> NDArray[np.int64]:
    """Places, from 0, of the smallest values with at least these shares at or below (type 1)."""
    needed = np.ceil(np.asarray(shares if number else [], np.float64) * number - _ROUNDING)
    return np.maximum(needed, 1).astype(np.int64) - 1


def has_quantile(number: int, share: float) -> bool:
    """True when enough of so many values lie beyond the quantile: from 50 on for 90 %, from 500 on for 99 %."""
    return number * (1 - share) >= _BEYOND - _ROUNDING


def places(number: int, shares: Sequence[float]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Places from 0 of the values that quantiles lie between, among so many in order, and how far on the way they are.

    No values, no quantiles.
    """
    below, part = split(np.asarray(shares if number else [], np.float64) * (number - 1))
    return below, np.minimum(below + 1, number - 1), part


def split(place: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The value at or below a place among ordered values, from 0, and how far the place is on the way to the next."""
    below = np.floor(place + _ROUNDING).astype(np.int64)
    return below, np.maximum(place - below, 0.0)


def between(lower: NDArray[np.float64], upper: NDArray[np.float64], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """Linear between two values; on the way to or from an infinite one, that one."""
    known = np.isfinite(lower) & np.isfinite(upper)
    gap = np.subtract(upper, lower, out=np.zeros_like(upper), where=known)
    found: NDArray[np.float64] = lower + part * gap
    return np.where((part > _ROUNDING) & np.isposinf(upper) & np.isfinite(lower), np.inf, found)
