"""Self-correlation of copies, on series of known autocorrelation."""

import numpy as np
import pytest
from numpy.typing import NDArray

from farweb.inputs.correlation import LONGEST_S, autocorrelation, self_correlation


def wave(period_s: int, length_s: int) -> NDArray[np.float64]:
    return 1000.0 + 100.0 * np.cos(2 * np.pi * np.arange(length_s) / period_s)


def test_of_a_wave_that_repeats() -> None:
    found = autocorrelation(wave(20, 600), circular=True)
    np.testing.assert_allclose(found, np.cos(2 * np.pi * np.arange(600) / 20), atol=1e-12)


def test_of_a_series_that_ends() -> None:
    series = np.array([3.0, -1.0, -1.0, -1.0])  # its mean is 0
    by_hand = [12.0, -3 + 1 + 1, -3 + 1, -3]
    np.testing.assert_allclose(autocorrelation(series, circular=False), np.array(by_hand) / 12, atol=1e-12)


def test_the_largest_over_the_lags_of_copies() -> None:
    found = self_correlation(wave(20, 600), copies=4, offset_s=5, period_s=600)
    assert found is not None
    assert [lag for lag, _ in found.lags] == [5, 10, 15]
    np.testing.assert_allclose([value for _, value in found.lags], [0, -1, 0], atol=1e-12)
    assert found.largest == pytest.approx(0, abs=1e-12)
    assert found.best_largest <= found.largest + 1e-12
    in_step = self_correlation(wave(20, 600), copies=3, offset_s=40, period_s=600)
    assert in_step is not None
    assert in_step.largest == pytest.approx(1)


def test_lags_are_turned_round_within_the_period() -> None:
    found = self_correlation(wave(20, 100), copies=4, offset_s=50, period_s=100)
    assert found is not None
    assert [lag for lag, _ in found.lags] == [50, 0, 50]
    assert found.largest == pytest.approx(1), "two copies at the same time"
    assert found.best_offset_s <= 50


def test_copies_that_do_not_overlap_do_not_correlate() -> None:
    found = self_correlation(wave(20, 60), copies=3, offset_s=60)
    assert found is not None
    assert found.lags == ((60, 0.0), (120, 0.0))


def test_of_two_bursts_the_best_offset_keeps_them_apart() -> None:
    series = np.zeros(100)
    series[[10, 17]] = 1.0
    found = self_correlation(series, copies=2, offset_s=7, period_s=100)
    assert found is not None
    # By hand: deviations of 0.98 twice and -0.02 else; at lag 7 one burst meets the other.
    assert found.largest == pytest.approx((0.98**2 - 2 * 0.98 * 0.02 + 97 * 0.02**2) / (2 * 0.98**2 + 98 * 0.02**2))
    assert found.best_offset_s != 7
    assert found.best_largest < 0


@pytest.mark.parametrize("series", [np.array([1.0]), np.full(60, 3.0), np.zeros(60)])
def test_nothing_to_measure(series: NDArray[np.float64]) -> None:
    assert self_correlation(series) is None


def test_a_series_of_more_than_a_week_is_left_alone() -> None:
    assert self_correlation(np.ones(LONGEST_S + 1)) is None
