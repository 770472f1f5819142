# SPDX-License-Identifier: Apache-2.0
r"""The covariance of reports, their log marginal likelihood, and its gradient.

The gradient is :math:`\tfrac12\,\mathrm{tr}\,(\alpha\alpha^T - K^{-1})\,\partial K` with
:math:`\alpha = K^{-1} z`; means of stages are part of K.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.curves.data import CurveData
from stopwise.core.beliefs.curves.hyperparameters import (
    CurveHyperparameters,
    StageCovariances,
    stage_covariances,
)
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array

NUGGET = 1e-5  # on the diagonal, standardised


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class CurveCovariance:
    """The prior covariance of reports at one set of hyper-parameters, and its parts."""

    data: CurveData
    hyper: CurveHyperparameters

    @cached_property
    def scaled(self) -> Array:
        """Inputs in length scales."""
        lengthscales = self.hyper.lengthscales[self.data.groups]
        return np.asarray(self.hyper.kernel.warp(self.data.X) / lengthscales)

    @cached_property
    def _kernel(self) -> tuple[Array, Array]:
        return self.hyper.kernel.value_and_slope(square_distances(self.scaled, self.scaled))

    @cached_property
    def stages(self) -> StageCovariances:
        """The covariances of stages."""
        return stage_covariances(self.hyper, self.data.times)

    @cached_property
    def _neighbours(self) -> Array:
        return self._kernel[0] * self._by_stage(self.stages.neighbours)

    @cached_property
    def _own(self) -> Array:
        return self._by_stage(self.stages.own) * self.data.same_trial

    @cached_property
    def matrix(self) -> Array:
        """K, with the nugget on its diagonal."""
        K = self._neighbours + self._own + self._by_stage(self.stages.mean)
        K[np.diag_indices_from(K)] += NUGGET
        return K

    def traces(self, M: Array) -> Array:
        """The traces of M dK, in the order of the gradient."""
        hyper, data = self.hyper, self.data
        W = M * self._kernel[1] * self._by_stage(self.stages.neighbours)
        Xs, sums = self.scaled, W.sum(axis=1)
        by_column = 2.0 * (sums @ (Xs * Xs) - np.einsum("ij,ij->j", Xs, W @ Xs))
        neighbours, own = M * self._neighbours, M * self._own
        apart = self._by_stage(np.abs(data.times[:, None] - data.times[None, :]))
        by_scale = np.bincount(
            data.stage, 2.0 * (neighbours + own).sum(axis=1), minlength=data.times.size
        )
        later = np.cumsum(by_scale[::-1])[::-1]  # a growth scales its stage and all later ones
        return np.concatenate(
            [
                np.bincount(data.groups, by_column),
                [(1.0 - hyper.own) * own.sum() - hyper.own * neighbours.sum()],
                [-hyper.forgetting * (neighbours * apart).sum()],
                [-hyper.own_forgetting * (own * apart).sum()],
                [2.0 * (own.sum(axis=1) @ data.times[data.stage])],
                later[1:],
            ]
        )

    def _by_stage(self, covariance: Array) -> Array:
        return np.asarray(covariance[np.ix_(self.data.stage, self.data.stage)])


@dataclass(frozen=True, eq=False)  # no slots: the gradient is cached
class CurveLikelihood:
    """The log marginal likelihood."""

    covariance: CurveCovariance
    value: float
    _lower: Array
    _residual: Array

    @cached_property
    def gradient(self) -> Array:
        """In log length scales, logit own, logs of both rates, own growth and growths."""
        alpha = cholesky.solve_upper(self._lower, self._residual[:, None])[:, 0]
        inverse = cholesky.inverse(self._lower)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        return 0.5 * self.covariance.traces(np.multiply.outer(alpha, alpha) - inverse)


def curve_likelihood(data: CurveData, z: Array, hyper: CurveHyperparameters) -> CurveLikelihood:
    """The log marginal likelihood of standardised reports z.

    Args:
        data: The reports; their values are not read.
        z: The values, warped and standardised.
        hyper: Where to evaluate.
    """
    covariance = CurveCovariance(data, hyper)
    lower, _ = cholesky.factorise(covariance.matrix)
    residual = cholesky.solve_lower(lower, z[:, None])[:, 0]
    constant = z.size * math.log(2.0 * math.pi)
    quadratic = float(residual @ residual)
    value = -0.5 * (quadratic + cholesky.log_determinant(lower) + constant)
    return CurveLikelihood(covariance, value, lower, residual)
