"""Estimates of the parameters of ProWGen from counted requests, each with its error and how well it fits.

Nothing here reads or writes. Sources of the estimators:

- Zipf slope: least squares on logarithms of ranks and requests, averaged in bins of equal width in the logarithm of the
  rank: otherwise the thousands of ranks with few requests decide alone (L. A. Adamic, B. A. Huberman, "Zipf's law and
  the Internet", Glottometrics 3, 2002). Maximum likelihood would need ranks known beforehand, but they come from the
  same counts.
- Body: maximum likelihood of the lognormal distribution below the start of the tail, by the EM algorithm (A. P.
  Dempster, N. M. Laird, D. B. Rubin, J. R. Statist. Soc. B 39(1), 1977), with sizes above as the missing ones.
- Tail: Hill's estimator, and for the start of the tail the size at which the Kolmogorov–Smirnov distance is least
  (A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-law distributions in empirical data", SIAM Review 51(4), 2009).
- Correlation: Spearman's, ranks of ties averaged; p by the normal approximation of its null distribution.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_BINS_A_DECADE = 10
_LEAST_REQUESTS = (10, 5, 2)  # whole numbers of requests are near enough to the line from 10 on
_LEAST_BINS = 6
_TAIL_LEAST = 50  # documents of a tail. Chosen: Clauset and others find estimates of the start useless below
_TAIL_SHARE_MAX = 0.5  # chosen: the rest is to be the body
_CANDIDATES = 200
_BELOW_LEAST = 0.02  # of the lognormal distribution: what generates draws again above, fifty times at most on average


@dataclass(frozen=True)
class Zipf:
    """Requests in proportion to rank^-slope.

    Attributes:
        slope: Least squares over bins of ranks.
        error: Its standard error, from the scatter of bins about the line.
        r2: Share of the variance of the logarithms of requests that the line explains.
        bins: How many bins of ranks.
        least_requests: Documents with fewer requests were left out.
    """

    slope: float
    error: float
    r2: float
    bins: int
    least_requests: int


@dataclass(frozen=True)
class Tail:
    """Sizes from `start` on, a Pareto distribution.

    Attributes:
        start: In bytes.
        given: True when the start was given, instead of found.
        shape: Tail index.
        error: Its standard error, shape / √n, to which the choice of the start adds.
        share: Of the documents with a size.
        n: Documents in the tail.
        ks: Kolmogorov–Smirnov distance of their sizes from the distribution.
    """

    start: float
    given: bool
    shape: float
    error: float
    share: float
    n: int
    ks: float


@dataclass(frozen=True)
class Body:
    """Sizes below the tail: a lognormal distribution without what lies above.

    Attributes:
        mu: Mean of the logarithm, with its standard error `mu_error`.
        sigma: Standard deviation of the logarithm, with `sigma_error`.
        mean: Of the whole distribution, in bytes.
        deviation: Standard deviation of the whole distribution, in bytes.
        n: Documents in the body.
        ks: Kolmogorov–Smirnov distance of their sizes from the distribution.
        bounded: True when nearly all of the distribution seems to lie above. Then it is the most likely one with 2 %
            below, without standard errors.
    """

    mu: float
    sigma: float
    mu_error: float | None
    sigma_error: float | None
    mean: float
    deviation: float
    n: int
    ks: float
    bounded: bool


@dataclass(frozen=True)
class Correlation:
    """Of size and popularity over `n` documents: Spearman's `rho`, and `p` that chance gives one as far from 0."""

    rho: float
    p: float
    n: int


def zipf(requests: Numbers) -> Zipf | None:
    """The slope of popularity, or None with too few ranks.

    Args:
        requests: Requests of each document, the most popular first.
    """
    for least in _LEAST_REQUESTS:
        ranks = np.arange(1, int((requests >= least).sum()) + 1)
        if not len(ranks):
            continue
        bins = np.floor(np.log10(ranks) * _BINS_A_DECADE).astype(int)
        _, bins, size = np.unique(bins, return_inverse=True, return_counts=True)
        if len(size) < _LEAST_BINS:
            continue
        x = np.bincount(bins, np.log(ranks)) / size
        y = np.bincount(bins, np.log(requests[: len(ranks)])) / size
        x_spread = ((x - x.mean()) ** 2).sum()
        slope = ((x - x.mean()) * (y - y.mean())).sum() / x_spread
        residual = ((y - y.mean() - slope * (x - x.mean())) ** 2).sum()
        total = ((y - y.mean()) ** 2).sum()
        error = math.sqrt(residual / (len(x) - 2) / x_spread)
        return Zipf(float(-slope), error, float(1 - residual / total) if total else 1.0, len(x), least)
    return None


def tail(sizes: Numbers, start: float | None = None) -> Tail | None:
    """The Pareto distribution of the largest sizes, or None with too few of them.

    Args:
        sizes: Sizes of documents, above 0, in order.
        start: Where the tail starts. None: where the distance is least.
    """
    if start is not None:
        return _tail_from(sizes, start, given=True)
    shares = np.linspace(_TAIL_LEAST / max(len(sizes), 1), _TAIL_SHARE_MAX, _CANDIDATES)
    if len(sizes) < _TAIL_LEAST / _TAIL_SHARE_MAX:
        return None
    places = np.ceil((1 - shares) * len(sizes)).astype(int).clip(0, len(sizes) - 1)
    found = [_tail_from(sizes, candidate, given=False) for candidate in np.unique(sizes[places])]
    usable = [each for each in found if each is not None and each.share <= _TAIL_SHARE_MAX]
    return min(usable, key=lambda each: each.ks, default=None)


def _tail_from(sizes: Numbers, start: float, *, given: bool) -> Tail | None:
    above = sizes[np.searchsorted(sizes, start) :]
    logs = np.log(above / start)
    if len(above) < _TAIL_LEAST or logs.sum() == 0:
        return None
    n = len(above)
    shape = n / float(logs.sum())
    ks = distance(1 - np.exp(-shape * logs))
    return Tail(float(start), given, shape, shape / math.sqrt(n), n / len(sizes), n, ks)


def body(sizes: Numbers, end: float) -> Body | None:
    """The lognormal distribution of the sizes below `end`, or None with too few of them, or all the same.

    Args:
        sizes: Sizes of documents, above 0, in order.
        end: Where the tail starts, in bytes, or infinite without a tail.
    """
    logs = np.log(sizes[: np.searchsorted(sizes, end)])
    n, bound = len(logs), math.log(end)
    if n < 2 or logs[0] == logs[-1]:
        return None
    first, second = float(logs.mean()), float((logs**2).mean())
    mu, sigma, bounded = _without_what_is_above(first, second, bound)
    below = _normal((bound - mu) / sigma)
    mu_error, sigma_error = (None, None) if bounded else _errors(first, second, bound, mu, sigma, n)
    mean = math.exp(mu + sigma**2 / 2)
    cumulated = np.array([_normal((log - mu) / sigma) for log in logs]) / below
    deviation = mean * math.sqrt(math.expm1(sigma**2))
    return Body(mu, sigma, mu_error, sigma_error, mean, deviation, n, distance(cumulated), bounded)


def _without_what_is_above(first: float, second: float, bound: float) -> tuple[float, float, bool]:
    """Mean and standard deviation of a normal distribution from the moments of what lies below a bound."""
    mu, sigma = first, math.sqrt(second - first**2)
    if math.isinf(bound):
        return mu, sigma, False
    for _ in range(100_000):
        z = (bound - mu) / sigma
        below = _normal(z)
        if below < _BELOW_LEAST:
            return *_at_the_least_below(first, second, bound), True
        # Moments of the part above, in units of the part below.
        hazard = math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / (1 - below) if below < 1 - 1e-12 else 0.0
        missing = (1 - below) / below
        above = mu + sigma * hazard
        above_second = sigma**2 * (1 + z * hazard) + 2 * mu * above - mu**2
        mean = (first + missing * above) / (1 + missing)
        deviation = math.sqrt((second + missing * above_second) / (1 + missing) - mean**2)
        step = abs(mean - mu) + abs(deviation - sigma)
        mu, sigma = mean, deviation
        if step < 1e-10:
            break
    return mu, sigma, False


def _at_the_least_below(first: float, second: float, bound: float) -> tuple[float, float]:
    """The most likely of the distributions with `_BELOW_LEAST` of them below the bound, in closed form."""
    z = NormalDist().inv_cdf(_BELOW_LEAST)
    mean, square = first - bound, second - 2 * bound * first + bound**2
    sigma = (z * mean + math.sqrt((z * mean) ** 2 + 4 * square)) / 2
    return bound - z * sigma, sigma


def _errors(
    first: float, second: float, bound: float, mu: float, sigma: float, n: int
) -> tuple[float, float] | tuple[None, None]:
    """Standard errors by the curvature of the logarithm of the likelihood."""

    def likelihood(mu: float, sigma: float) -> float:
        square = second - 2 * mu * first + mu**2
        return -n * (math.log(sigma) + square / (2 * sigma**2) + math.log(_normal((bound - mu) / sigma)))

    step = 1e-4 * sigma
    at = {(i, j): likelihood(mu + i * step, sigma + j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    of_mu = (2 * at[0, 0] - at[1, 0] - at[-1, 0]) / step**2
    of_sigma = (2 * at[0, 0] - at[0, 1] - at[0, -1]) / step**2
    mixed = -(at[1, 1] - at[1, -1] - at[-1, 1] + at[-1, -1]) / (4 * step**2)
    determinant = of_mu * of_sigma - mixed**2
    if determinant <= 0 or of_mu <= 0:
        return None, None
    return math.sqrt(of_sigma / determinant), math.sqrt(of_mu / determinant)


def correlation(requests: Numbers, sizes: Numbers) -> Correlation | None:
    """Of popularity and size, over documents with a size, or None where either is the same for all."""
    n = len(sizes)
    if n < 3:
        return None
    one, other = (ranks - (n - 1) / 2 for ranks in (_ranks(requests), _ranks(sizes)))
    spread = math.sqrt(float((one**2).sum()) * float((other**2).sum()))
    if spread == 0:
        return None
    rho = float((one * other).sum()) / spread
    return Correlation(rho, math.erfc(abs(rho) * math.sqrt(n - 1) / math.sqrt(2)), n)


def _ranks(values: Numbers) -> Numbers:
    """Ranks from 0, equal values with the mean of theirs."""
    _, place, size = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(size)
    return (ends - (size + 1) / 2)[place]


def distance(cumulated: Numbers) -> float:
    """Kolmogorov–Smirnov distance of values from a continuous distribution that is so `cumulated` at each, in order."""
    shares = np.arange(len(cumulated) + 1) / len(cumulated)
    return float(max((shares[1:] - cumulated).max(), (cumulated - shares[:-1]).max()))


def histogram_distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Kolmogorov–Smirnov distance of two distributions over 0, 1, 2 …, from their counts."""
    length = max(len(one), len(other))
    first, second = (np.cumsum(np.pad(each.astype(float), (0, length - len(each)))) for each in (one, other))
    return float(np.max(np.abs(first / first[-1] - second / second[-1])))


def sample_distance(one: Numbers, other: Numbers) -> float:
    """Kolmogorov–Smirnov distance of two samples, each in order."""
    values = np.concatenate((one, other))
    first, second = (np.searchsorted(each, values, side="right") / len(each) for each in (one, other))
    return float(np.max(np.abs(first - second)))


def _normal(z: float) -> float:
    """Share of the standard normal distribution below `z`."""
    return math.erfc(-z / math.sqrt(2)) / 2
