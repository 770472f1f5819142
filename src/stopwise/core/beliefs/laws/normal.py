# SPDX-License-Identifier: Apache-2.0
"""The normal law; its formulas are in ``stopwise.core.numerics.normal``."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._between import log_ei_between
from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.normal import log_ei_of_many, log_ei_partials, pbgi_partials
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI

_LEAST_STD = 1e-100  # where f is certain: so that z-scores and their slopes are numbers


class Normal(NamedTuple):
    r"""Normal distributions by their means and standard deviations, elementwise.

    With :math:`h(z) = z\Phi(z) + \varphi(z)`,

    .. math:: \mathrm{EI}(y) = \sigma\,h\left(\frac{y - \mu}{\sigma}\right), \qquad
        g(c) = \mu + \sigma\,h^{-1}\left(\frac{c}{\sigma}\right)

    Assumes that f at a point is normal: a Gaussian process whose hyper-parameters are known.
    Slopes are in mean and deviation. A deviation of 0 is allowed: f is then certain.

    References:
        Jones et al. (1998); Ament et al. (2023) for the logarithm; decision 6.

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

    @property
    def median(self) -> Array:
        """The mean."""
        return self.mean

    def log_ei(self, level: Array | float) -> WithSlopes:
        r"""Log expected improvement, :math:`\log s\,h((y - m)/s)`."""
        if isinstance(level, float) and self.mean.shape == self.std.shape:
            value, *slopes = log_ei_of_many(self.mean, self.std, level)
        else:
            value, *slopes = log_ei_partials(self.mean, self.std, level)
        return WithSlopes(value, tuple(slopes))

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        r""":math:`\log s\,[h((y - m)/s) - h((l - m)/s)]`."""
        return log_ei_between(self, low, level)

    def cdf(self, level: Array | float) -> WithSlopes:
        r""":math:`\Phi((y - m)/s)`; 0 or 1, without a slope, where f is certain."""
        z, slopes = self.z_score(level)
        certain = self.std == 0.0
        value = np.where(certain, np.asarray(level) >= self.mean, scipy_parts.special.ndtr(z))
        with np.errstate(over="ignore"):  # the square of a huge z; the density is then 0
            density = np.where(certain, 0.0, np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi))
        return WithSlopes(value, tuple(density * np.where(density > 0.0, s, 0.0) for s in slopes))

    def log_cdf(self, level: Array | float) -> Array:
        r""":math:`\log\Phi((y - m)/s)`."""
        return np.asarray(scipy_parts.special.log_ndtr(self._unfloored_z(level)))

    def log_survival(self, level: Array | float) -> Array:
        r""":math:`\log\Phi((m - y)/s)`."""
        return np.asarray(scipy_parts.special.log_ndtr(-self._unfloored_z(level)))

    def log_density(self, level: Array | float) -> Array:
        r""":math:`\log\varphi((y - m)/s) - \log s`."""
        z = self.z_score(level).value
        with np.errstate(over="ignore"):
            value = -0.5 * z * z - LOG_SQRT_2PI - np.log(np.maximum(self.std, _LEAST_STD))
        certain = np.where(np.asarray(level) == self.mean, np.inf, -np.inf)
        return np.where(self.std == 0.0, certain, value)

    def _unfloored_z(self, level: Array | float) -> Array:
        """The z-score; infinite where f is certain."""
        certain = np.where(np.asarray(level) >= self.mean, np.inf, -np.inf)
        return np.where(self.std == 0.0, certain, self.z_score(level).value)

    def z_score(self, level: Array | float) -> WithSlopes:
        r""":math:`z = (y - m)/s`."""
        std = np.maximum(self.std, _LEAST_STD)
        with np.errstate(over="ignore"):  # far beyond all deviations, z is infinite
            z = (level - self.mean) / std
            return WithSlopes(z, (-1.0 / std, -z / std))

    def quantile(self, z: Array | float) -> WithSlopes:
        r""":math:`m + z s`."""
        ones = np.ones_like(self.mean)
        return WithSlopes(self.mean + z * self.std, (ones, z * ones))

    def fair_value(self, price: Array | float) -> FairValue:
        r""":math:`m + s\,h^{-1}(c/s)` (Eq. 3 of Xie et al. 2026)."""
        value, d_mean, d_std, d_log_price = pbgi_partials(self.mean, self.std, price)
        return FairValue(value, (d_mean, d_std), d_log_price)

    def at(self, where: Mask) -> Normal:
        """Means and deviations of some of the points."""
        mean, std = (np.broadcast_to(array, where.shape)[where] for array in self)
        return Normal(mean, std)

    def known_at(self, rows: Indices, values: Array) -> Normal:
        """With these means and no deviation at some of the points."""
        mean, std = self.mean.copy(), self.std.copy()
        mean[rows], std[rows] = values, 0.0
        return Normal(mean, std)
