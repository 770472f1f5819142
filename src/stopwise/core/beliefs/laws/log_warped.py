# SPDX-License-Identifier: Apache-2.0
"""The law of a shifted log-normal: log(f - low) is normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._between import log_ei_between
from stopwise.core.beliefs.laws._roots import fair_value_at, rates
from stopwise.core.beliefs.laws._warped_normal import WarpedNormal
from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.lognormal_improvement import log_lognormal_improvement, lognormal_gap
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class LogWarped(WarpedNormal):
    r""":math:`f = \ell + e^z` with a normal z: f is above a lower bound.

    .. math:: \mathrm{EI}(y) = (y - \ell)\,\Phi(d) - e^{m + s^2/2}\,\Phi(d - s), \qquad
        d = \frac{\log(y - \ell) - m}{s}

    Assumes that the bound is known and is not reached.
    Slopes are in the mean and the deviation of z. Log EI is right to 1e-14 (relative where it is
    larger than 1) and what the rounding of log(level - low) - mean adds: 1e-16 of either over the
    deviation, in deviations.

    Args:
        normal: The law of z.
        low: The lower bound of f.

    References:
        Snelson et al. (2004).

    Example:
        >>> from stopwise.core.beliefs.laws import Normal
        >>> law = LogWarped(Normal(np.zeros(1), np.full(1, 0.5)), low=1.0)
        >>> law.median, law.log_ei(1.0).value  # nothing is below 1
        (array([2.]), array([-inf]))
    """

    low: float

    def _forward(self, level: Array | float) -> Array:
        with np.errstate(divide="ignore"):
            warped: Array = np.log(np.maximum(np.asarray(level) - self.low, 0.0))
        return warped

    def _log_slope(self, level: Array | float) -> Array:
        return np.nan_to_num(-self._forward(level))

    def _inverse(self, v: Array) -> Array:
        return self.low + self._inverse_slope(v)

    def _inverse_slope(self, v: Array) -> Array:
        with np.errstate(over="ignore"):
            slope: Array = np.exp(v)
        return slope

    @property
    def mean(self) -> Array:
        r""":math:`\ell + e^{m + s^2/2}`; infinite where that overflows."""
        m, s = self.normal
        with np.errstate(over="ignore"):
            mean: Array = self.low + np.exp(m + 0.5 * s * s)
        return mean

    @property
    def std(self) -> Array:
        r""":math:`e^{m + s^2/2}\sqrt{e^{s^2} - 1}`; infinite where that overflows."""
        m, s = self.normal
        with np.errstate(over="ignore", divide="ignore"):
            # log(exp(v) - 1) = v + log(1 - exp(-v)), v = s^2
            std: Array = np.exp(m + s * s + 0.5 * np.log(-np.expm1(-s * s)))
        return std

    def log_ei(self, level: Array | float) -> WithSlopes:
        r""":math:`(y - \ell)\Phi(a) - e^{m + s^2/2}\Phi(a - s)`, a = (log(y - l) - m)/s."""
        log_level, (m, s) = self._forward(level), self.normal
        log_ratio, d_gap, d_std = log_lognormal_improvement(log_level - m, s)
        return WithSlopes(np.asarray(log_level + log_ratio), (-d_gap, np.asarray(d_std)))

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """Log of EI(level) - EI(low)."""
        return log_ei_between(self, low, level)

    def fair_value(self, price: Array | float) -> FairValue:
        """The level at which EI is the price; ``low`` where nothing is paid."""
        m, s = self.normal
        with np.errstate(divide="ignore"):
            log_price = np.log(price)
        value = self._inverse(m + lognormal_gap(log_price - m, s))
        return fair_value_at(value, rates(self, value))

    def at(self, where: Mask) -> LogWarped:
        """The law at some of the points."""
        return LogWarped(self.normal.at(where), self.low)

    def known_at(self, rows: Indices, values: Array) -> LogWarped:
        """With these values at some of the points.

        Raises:
            InputError: A value is not above ``low``.
        """
        if not np.all(values > self.low):
            message = (
                f"f is believed to be above {self.low:g}, got a value of {np.min(values):g}: give"
                " a lower bound that is below all values."
            )
            raise InputError(message)
        return LogWarped(self.normal.known_at(rows, self._forward(values)), self.low)
