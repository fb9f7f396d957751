"""Gaussian processes that stand for the simulations between the points of the design, and what they say.

One for each published number, over the open choices: kinds as coordinates of their own, so that none is nearer to
another. From them come the share of a number's variance that each choice explains, alone and with all its interactions
(Sobol's first-order and total indices, Saltelli's and Jansen's estimators), and the region of choices that all numbers
allow (history matching). Leaves out covariances between numbers.

Sources: I. M. Sobol', Mathematics and Computers in Simulation 55 (2001); A. Saltelli and others, Computer Physics
Communications 181 (2010); I. Vernon, M. Goldstein, R. G. Bower, Bayesian Analysis 5 (2010), for implausibility.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import qmc, sobol_indices, uniform
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import KFold, cross_val_predict

from .factors import FACTORS, Floats

_SAMPLES = 2048  # of Sobol's sequence, for each of the matrices of an estimate; chosen: indices differ by 0.02 then
_FOLDS = 10


def coordinates(points: Floats) -> Floats:
    """Points of the unit cube as the processes take them: of a choice between kinds a coordinate each, 0 or 1."""
    columns = []
    for factor, column in zip(FACTORS, np.asarray(points, float).T, strict=True):
        if not factor.labels:
            columns.append(column)
            continue
        kinds = np.minimum((column * len(factor.labels)).astype(int), len(factor.labels) - 1)
        columns += [(kinds == kind).astype(float) for kind in range(len(factor.labels))]
    return np.column_stack(columns)


@dataclass(frozen=True)
class Emulator:
    """What stands for a number between the points.

    Attributes:
        process: A Gaussian process over `coordinates`.
        error: Root mean square of its errors at points left out (with the same lengths), in the number's unit.
        explained: Share of the variance between points that it predicts where they are left out; 1 is all.
    """

    process: GaussianProcessRegressor
    error: float
    explained: float

    @classmethod
    def fit(cls, points: Floats, values: Floats) -> "Emulator":
        """Fit to the points that have a value."""
        known = ~np.isnan(values)
        x, y = coordinates(points[known]), values[known]
        kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.ones(x.shape[1]), (0.1, 1e3)) + WhiteKernel(0.1, (1e-5, 1.0))
        process = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a length at its bound: a choice without effect
            process.fit(x, y)
        as_fitted = GaussianProcessRegressor(process.kernel_, optimizer=None, normalize_y=True)
        left_out = cross_val_predict(as_fitted, x, y, cv=KFold(_FOLDS, shuffle=True, random_state=0))
        error = float(np.sqrt(np.mean((left_out - y) ** 2)))
        return cls(process, error, max(0.0, 1 - error**2 / max(float(np.var(y)), 1e-300)))

    def __call__(self, points: Floats) -> Floats:
        """The number at points of the unit cube."""
        found: Floats = self.process.predict(coordinates(points))
        return found


@dataclass(frozen=True)
class Effects:
    """How much each choice moves a number: shares of its variance over all choices.

    Attributes:
        first: What each explains alone.
        total: What each explains alone and together with others.
    """

    first: Floats
    total: Floats

    @classmethod
    def of(cls, emulator: Emulator) -> "Effects":
        """By the emulator, over choices that are uniform in their ranges."""
        found = sobol_indices(
            func=lambda x: emulator(x.T),
            n=_SAMPLES,
            dists=[uniform() for _ in FACTORS],
            rng=np.random.default_rng(0),
        )
        return cls(np.clip(found.first_order, 0, 1), np.clip(found.total_order, 0, 1))


def candidates(number: int = 1 << 18) -> Floats:
    """Points that fill the unit cube evenly, among which an allowed region is looked for."""
    found: Floats = qmc.Sobol(len(FACTORS), rng=np.random.default_rng(1)).random(number)
    return found
