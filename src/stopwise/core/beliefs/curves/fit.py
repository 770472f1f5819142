# SPDX-License-Identifier: Apache-2.0
"""Hyper-parameters of curves: the most probable ones under priors, searched in logs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.active_set_bfgs import descend
from stopwise.core.beliefs.curves.data import CurveData
from stopwise.core.beliefs.curves.hyperparameters import CurveHyperparameters
from stopwise.core.beliefs.curves.likelihood import CurveLikelihood, curve_likelihood
from stopwise.core.beliefs.curves.standardised import StageScales
from stopwise.core.numerics.arrays import Array

MOST_LIKELIHOODS = 60  # of one fit
_INNER = (  # logit own, logs of both rates, own growth
    (-1.5, 1.0),
    (math.log(0.15), 0.9),
    (math.log(0.4), 0.7),
    (0.0, 0.2),
)
_INNER_BOUNDS = ((-6.0, 1.5), (-5.0, 1.5), (-5.0, 1.5), (-2.0, 2.0))
_LENGTHSCALE, _LENGTHSCALE_SPREAD, _LENGTHSCALE_BOUNDS = 0.5, 0.9, (-3.0, 3.0)  # times sqrt(d)
_GROWTH_SPREAD, _GROWTH_BOUNDS = 0.35, (-2.0, 2.0)
_PRICES = 6.0  # prices of a whole evaluation that final values are expected to differ by, at least


class CurveFit(NamedTuple):
    """Hyper-parameters, and the maps to the standardised values that they are for."""

    hyper: CurveHyperparameters
    scales: StageScales


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class _Problem:
    """One fit: reports, standardised values, and normal priors of the searched parameters."""

    data: CurveData
    z: Array
    growth: float

    @cached_property
    def d(self) -> int:
        return int(self.data.groups.max()) + 1

    @cached_property
    def priors(self) -> Array:
        """Mean, deviation, lowest and highest of each parameter, (parameters, 4)."""
        lengthscale = math.log(_LENGTHSCALE * math.sqrt(self.d)), _LENGTHSCALE_SPREAD
        growth = (self.growth, _GROWTH_SPREAD, *_GROWTH_BOUNDS)
        inner = [(*prior, *bounds) for prior, bounds in zip(_INNER, _INNER_BOUNDS, strict=True)]
        rows = [(*lengthscale, *_LENGTHSCALE_BOUNDS)] * self.d + inner
        return np.array(rows + [growth] * self.data.last)

    def unpack(self, theta: Array) -> CurveHyperparameters:
        d = self.d
        own = 1.0 / (1.0 + math.exp(-theta[d]))
        rates = math.exp(theta[d + 1]), math.exp(theta[d + 2])
        return CurveHyperparameters(np.exp(theta[:d]), own, *rates, theta[d + 3], theta[d + 4 :])

    def at(self, theta: Array) -> _Evaluation:
        return _Evaluation(self, theta, curve_likelihood(self.data, self.z, self.unpack(theta)))


@dataclass(frozen=True, eq=False)  # no slots: derivatives are cached
class _Evaluation:
    """Minus the log posterior density at one theta, x, and its gradient when asked for."""

    problem: _Problem
    x: Array
    likelihood: CurveLikelihood

    @cached_property
    def _deviations(self) -> Array:
        mean, spread = self.problem.priors.T[:2]
        return np.asarray((self.x - mean) / spread)

    @cached_property
    def value(self) -> float:
        return 0.5 * float(self._deviations @ self._deviations) - self.likelihood.value

    @cached_property
    def gradient(self) -> Array:
        return self._deviations / self.problem.priors[:, 1] - self.likelihood.gradient


def fit_curves(
    data: CurveData,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    price: float = 0.0,
) -> CurveFit:
    """Fit the model of curves to reports; the same reports always give the same fit.

    Args:
        data: The reports; one that has a value at least.
        bounds: The lowest and the highest value that a final value can have.
        price: Of a whole evaluation, in units of the objective. Who names it expects final values
            to differ by several times as much. So where early values hardly differ, because they
            are all still near chance, later ones are expected to differ more.
    """
    scales = StageScales.of(data, bounds)
    growth = _expected_growth(price / scales.standardiser.scale, data.last)
    problem = _Problem(data, scales.forward(data), growth)
    mean, spread, *limits = problem.priors.T
    begin = problem.at(mean.copy())
    curvature = np.diag(spread**-2.0)
    end, _ = descend(
        problem.at, begin, curvature, np.stack(limits, axis=1), at_most=MOST_LIKELIHOODS
    )
    return CurveFit(problem.unpack(end.x), scales)


def _expected_growth(price: float, stages: int) -> float:
    """The expected log growth from stage to stage; the price is in standardised units."""
    if stages == 0 or _PRICES * price <= 1.0:
        return 0.0
    return min(math.log(_PRICES * price) / stages, _GROWTH_BOUNDS[1])
