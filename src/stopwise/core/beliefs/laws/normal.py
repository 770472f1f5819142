# SPDX-License-Identifier: Apache-2.0
"""The normal law; its formulas are in ``stopwise.core.numerics.normal``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.numerics.arrays import Array, Indices
from stopwise.core.numerics.normal import log_ei_partials, pbgi_partials

_LEAST_STD = 1e-100  # where f is certain: so that z-scores and their slopes are numbers


class Normal(NamedTuple):
    r"""Normal distributions by their means and standard deviations, elementwise.

    Slopes are in mean and deviation. A deviation of 0 is allowed: f is then certain.

    Example:
        >>> law = Normal(np.array([1.0]), np.array([0.5]))
        >>> gain = np.exp(law.log_ei(level=0.8).value)
        >>> law.fair_value(price=gain).value.round(12)  # EI below 0.8 is the price
        array([0.8])
        >>> law.quantile(-2.0).value  # two deviations below the mean
        array([0.])
    """

    mean: Array
    std: Array

    @property
    def parameters(self) -> tuple[Array, Array]:
        """Mean and deviation."""
        return self.mean, self.std

    def log_ei(self, level: Array | float) -> WithSlopes:
        r"""Log expected improvement, :math:`\log s\,h((y - m)/s)`."""
        value, *slopes = log_ei_partials(self.mean, self.std, level)
        return WithSlopes(value, tuple(slopes))

    def cdf(self, level: Array | float) -> WithSlopes:
        r""":math:`\Phi((y - m)/s)`; 0 or 1, without a slope, where f is certain."""
        z, slopes = self.z_score(level)
        certain = self.std == 0.0
        value = np.where(certain, np.asarray(level) >= self.mean, ndtr(z))
        with np.errstate(over="ignore"):  # the square of a huge z; the density is then 0
            density = np.where(certain, 0.0, np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
        return WithSlopes(value, tuple(density * np.where(certain, 0.0, s) for s in slopes))

    def z_score(self, level: Array | float) -> WithSlopes:
        r""":math:`z = (y - m)/s`."""
        std = np.maximum(self.std, _LEAST_STD)
        z = (level - self.mean) / std
        return WithSlopes(z, (-1.0 / std, -z / std))

    def quantile(self, z: float) -> WithSlopes:
        r""":math:`m + z s`."""
        ones = np.ones_like(self.mean)
        return WithSlopes(self.mean + z * self.std, (ones, z * ones))

    def fair_value(self, price: Array | float) -> FairValue:
        r""":math:`m + s\,h^{-1}(c/s)` (Eq. 3 of Xie et al. 2026)."""
        value, d_mean, d_std, d_log_price = pbgi_partials(self.mean, self.std, price)
        return FairValue(value, (d_mean, d_std), d_log_price)

    def known_at(self, rows: Indices, values: Array) -> Normal:
        """With these means and no deviation at some of the points."""
        mean, std = self.mean.copy(), self.std.copy()
        mean[rows], std[rows] = values, 0.0
        return Normal(mean, std)
