"""Measures how much copies of a trace resemble each other, and finds the offset of least resemblance.

Copies of a trace that run at the same time raise the load, but their bursts are the same ones: where copy j is m
offsets after copy i, the load of both together varies by the trace's autocorrelation at that lag. The measure is the
largest autocorrelation of the trace's bytes a second over all lags that occur between its copies.

Source: the NZ-US studies offset copies "to minimise the effect of the artificial self-correlation" and do not say how.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COPIES = 20  # of 31 days: more than an E3 link carries
OFFSET_S = 37  # the scenario's default for `copies_offset`
PERIOD_S = 600  # of the family nzix

LONGEST_S = 7 * 86_400  # chosen: a week by the second
_OFFSET_MAX_S = 120  # chosen: without a period, copies end this much later each


@dataclass(frozen=True)
class SelfCorrelation:
    """Autocorrelation of a trace's bytes a second at the lags between its copies.

    Attributes:
        copies: Number of copies.
        period_s: Time within which they are turned round. None: they are shifted.
        offset_s: Time between the starts of two copies.
        lags: For copies 1, 2, … apart: how far apart they are in s, and the autocorrelation there.
        largest: The largest autocorrelation.
        best_offset_s: The whole number of seconds with the smallest largest autocorrelation.
        best_largest: The largest autocorrelation with that offset.
    """

    copies: int
    period_s: int | None
    offset_s: int
    lags: tuple[tuple[int, float], ...]
    largest: float
    best_offset_s: int
    best_largest: float


def self_correlation(
    by_second: NDArray[np.float64],
    *,
    copies: int = COPIES,
    offset_s: int = OFFSET_S,
    period_s: int | None = None,
) -> SelfCorrelation | None:
    """Measure the self-correlation of a trace.

    Args:
        by_second: Bytes of the responses of requests that start in each second, of all days together.
        copies: Number of copies, at least 2.
        offset_s: Time between the starts of two copies.
        period_s: Time within which copies are turned round, at least the length of the trace.

    Returns:
        None for a trace that is too short (2 s), too long (a week) or the same in every second.
    """
    length = period_s or len(by_second)
    if not 2 <= length <= LONGEST_S:
        return None
    series = np.zeros(length)
    series[: len(by_second)] = by_second
    if not (correlation := autocorrelation(series, period_s is not None)).size:
        return None
    apart = np.arange(1, copies)

    def at(offset: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        lags = apart * offset
        if period_s is not None:
            return lags % length, correlation[lags % length]
        return lags, np.where(lags < length, correlation[np.minimum(lags, length - 1)], 0.0)

    last = length // 2 if period_s is not None else min(length - 1, _OFFSET_MAX_S)
    worst = [at(offset)[1].max() for offset in range(1, last + 1)]
    best = int(np.argmin(worst))
    lags, values = at(offset_s)
    return SelfCorrelation(
        copies=copies,
        period_s=period_s,
        offset_s=offset_s,
        lags=tuple(zip(lags.tolist(), values.tolist(), strict=True)),
        largest=float(values.max()),
        best_offset_s=best + 1,
        best_largest=float(worst[best]),
    )


def autocorrelation(series: NDArray[np.float64], circular: bool) -> NDArray[np.float64]:
    """The autocorrelation at lags 0, 1, … of a series, repeated or ended, or empty for a constant one."""
    deviation = series - series.mean()
    variance = float(deviation @ deviation)
    if variance <= 1e-12 * float(series @ series):
        return np.empty(0)
    size = len(series) if circular else 2 * len(series)  # as many zeros behind it: nothing wraps around
    spectrum = np.fft.rfft(deviation, size)
    products = np.fft.irfft(spectrum * spectrum.conj(), size)[: len(series)]
    return np.asarray(products / variance, dtype=np.float64)
