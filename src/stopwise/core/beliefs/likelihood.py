# SPDX-License-Identifier: Apache-2.0
r"""The log marginal likelihood at one set of hyper-parameters, its gradient and its curvature.

The value, :math:`-\tfrac12 v^T v - \log|L| - \tfrac n2\log 2\pi`, costs one factorisation; the
gradient, :math:`\tfrac12\,\mathrm{tr}\,(\alpha\alpha^T - K^{-1})\,\partial K`, twice as much again
for an inverse. Each is computed when it is asked for.

The curvature is the average information of Gilmour, Thompson and Cullis (1995),

.. math:: A_{ij} = \tfrac12\,\alpha^T\,\partial_i K\,K^{-1}\,\partial_j K\,\alpha

the mean of observed and expected information but for terms whose expectation is zero. It needs
products with vectors only, is never negative, and tells a search how far to go from the start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.distances import from_pairs, to_pairs
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.pairwise_distances import PairwiseDistances
from stopwise.core.numerics import cholesky, scipy_parts
from stopwise.core.numerics.arrays import Array, Indices


class _Gradient(NamedTuple):
    log_lengthscales: Array
    log_outputscale: float
    log_noise: float


@dataclass(frozen=True, eq=False)  # no slots: derivatives are cached
class Likelihood:
    """Log marginal likelihood, the mean that was used, and derivatives in logs of the others."""

    value: float
    mean: float
    _hyper: Hyperparameters
    _pairs: PairwiseDistances
    _slope: Array  # of the kernel, for every pair
    _lower: Array
    _residual: Array  # L^-1 (y - mean)
    _ones: Array  # L^-1 1

    @property
    def d_log_lengthscales(self) -> Array:
        """Derivatives in the logs of the length scales."""
        return self._gradient.log_lengthscales

    @property
    def d_log_outputscale(self) -> float:
        """Derivative in the log of the output scale."""
        return self._gradient.log_outputscale

    @property
    def d_log_noise(self) -> float:
        """Derivative in the log of the noise."""
        return self._gradient.log_noise

    @property
    def d_mean(self) -> float:
        """Derivative in the mean; zero where the mean was profiled out."""
        return float(self._residual @ self._ones)

    @cached_property
    def _alpha(self) -> Array:
        """K^-1 (y - mean)."""
        return cholesky.solve_upper(self._lower, self._residual[:, None])[:, 0]

    @cached_property
    def _gradient(self) -> _Gradient:
        n, alpha, noise = self._residual.size, self._alpha, self._hyper.noise
        inverse = cholesky.inverse(self._lower)
        trace = float(alpha @ alpha) - float(inverse.trace())
        # tr((aa' - K^-1) dK), over pairs.
        rest = scipy_parts.blas.dsyr(-1.0, alpha, lower=1, a=inverse, overwrite_a=1)
        by_pair = self._slope * to_pairs(rest.T)
        scales = self._hyper.outputscale / self._hyper.lengthscales**2
        d_lengthscales = -scales * self._pairs.square_differences(by_pair)
        # tr((aa' - K^-1)(K - noise I)) needs no product of matrices; jitter, if any, grows with K.
        quadratic = float(self._residual @ self._residual)
        d_outputscale = 0.5 * (quadratic - n - noise * trace)
        return _Gradient(d_lengthscales, d_outputscale, 0.5 * noise * trace)

    def information(self) -> Array:
        """The average information of the logs of length scales, output scale and noise.

        The mean is taken for one that is estimated too, as it is when it is profiled out.
        """
        groups, alpha = self._pairs.groups, self._alpha
        Xs = self._pairs.X / self._hyper.lengthscales[groups]
        width = Xs.shape[1]
        slope = self._hyper.outputscale * from_pairs(self._slope, alpha.size)
        powers = np.hstack([np.ones((alpha.size, 1)), Xs, Xs * Xs]) * alpha[:, None]
        total, first, second = np.split(slope @ powers, [1, 1 + width], axis=1)
        by_column = Xs * (Xs * total - 2.0 * first) + second  # dK alpha, for each column
        by_noise = self._hyper.noise * alpha[:, None]
        by_outputscale = (self._lower @ self._residual)[:, None] - by_noise
        changes = np.hstack([self._by_parameter(by_column), by_outputscale, by_noise])
        whitened = cholesky.solve_lower(self._lower, changes)
        ones = self._ones / math.sqrt(self._ones @ self._ones)
        whitened -= np.multiply.outer(ones, ones @ whitened)
        return np.asarray(0.5 * (whitened.T @ whitened))

    def _by_parameter(self, by_column: Array) -> Array:
        """Sums over the columns of each parameter."""
        sums = np.zeros((self._hyper.lengthscales.size, len(by_column)))
        np.add.at(sums, self._pairs.groups, by_column.T)
        return sums.T


def log_likelihood(
    X: Array,
    y: Array,
    hyper: Hyperparameters,
    groups: Indices,
    *,
    profile_mean: bool = False,
    pairs: PairwiseDistances | None = None,
) -> Likelihood:
    """Log marginal likelihood of standardised y.

    Where K needs jitter to be factorised, it is part of the noise, as it is of a posterior's.

    Args:
        X: Encoded inputs.
        y: Standardised observations.
        hyper: Where to evaluate; its mean is ignored with ``profile_mean``.
        groups: Column -> parameter.
        profile_mean: Use the mean that maximises the likelihood.
        pairs: Distances of X as the kernel warps it, from whoever asks more than once.
    """
    pairs = PairwiseDistances(hyper.kernel.warp(X), groups) if pairs is None else pairs
    n = y.size
    k, slope = hyper.kernel.value_and_slope(pairs.square_distances(hyper.lengthscales))
    k *= hyper.outputscale
    K = from_pairs(k, n)
    K.flat[:: n + 1] = hyper.outputscale + hyper.noise
    lower, _ = cholesky.factorise(K.T)  # in LAPACK's order, which spares a copy
    whitened = cholesky.solve_lower(lower, np.stack([y, np.ones(n)], axis=1))
    ones = whitened[:, 1]
    mean = float(ones @ whitened[:, 0] / (ones @ ones)) if profile_mean else hyper.mean
    residual = whitened[:, 0] - mean * ones
    quadratic = float(residual @ residual)
    value = -0.5 * (quadratic + cholesky.log_determinant(lower) + n * math.log(2.0 * math.pi))
    return Likelihood(value, mean, hyper, pairs, slope, lower, residual, ones)
