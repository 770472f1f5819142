# SPDX-License-Identifier: Apache-2.0
r"""The law of a softly warped normal: normal up to a knee, log-normal beyond it.

With the soft logarithm w (``stopwise.core.numerics.soft_log``), z = w(f) is normal. So EI is that
of the normal for levels up to the knee k. Beyond it :math:`f = (k - \tau) + \tau e^u` with
:math:`u = (z - k)/\tau`, a shifted log-normal; with its expected improvement K,

.. math:: \mathrm{EI}(y) = \mathrm{EI}(k) + [K(y) - K(k)].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._between import log_ei_between
from stopwise.core.beliefs.laws._log_sum import log_sum_with_slopes
from stopwise.core.beliefs.laws._patched import at, patched
from stopwise.core.beliefs.laws._roots import fair_value_at, rates
from stopwise.core.beliefs.laws._warped_normal import WarpedNormal
from stopwise.core.beliefs.laws.law import FairValue, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.lognormal_improvement import log_lognormal_improvement, lognormal_gap
from stopwise.core.numerics.normal import log_ei
from stopwise.core.numerics.soft_log import (
    log_slope_of_soft_log,
    slope_of_soft_exp,
    soft_exp,
    soft_log,
)

_NEARLY_LINEAR = 1e-4  # s/tau below which the deviation is a derivative times s, to its square


@dataclass(frozen=True, slots=True, eq=False)
class Upper:
    """The shifted log-normal that f is beyond the knee, for levels there.

    Args:
        normal: The law of z.
        knee: Where the logarithm begins, for all points or for each.
        tau: The scale of the logarithm, likewise.
    """

    normal: Normal
    knee: Array | float
    tau: Array | float

    def at(self, where: Mask) -> Upper:
        """The law at some of the points."""
        return Upper(self.normal.at(where), at(self.knee, where), at(self.tau, where))

    @property
    def unit(self) -> Normal:
        """The law of u."""
        mean, std = self.normal
        return Normal((mean - self.knee) / self.tau, std / self.tau)

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log K(level)."""
        mean, std = self.unit
        log_level = np.log1p((np.asarray(level) - self.knee) / self.tau)
        log_ratio, d_gap, d_std = log_lognormal_improvement(log_level - mean, std)
        value = np.log(self.tau) + log_level + log_ratio
        return WithSlopes(value, (-d_gap / self.tau, d_std / self.tau))

    def z_score(self, level: Array | float) -> WithSlopes:
        """The z-score of the warped level."""
        return self.normal.z_score(soft_log(level, self.knee, self.tau))


def _call(mean: Array, std: Array) -> Array:
    """E[max(exp(u) - 1, 0)] of a normal u: a put on exp(-u), with u tilted by exp(u)."""
    log_ratio, _, _ = log_lognormal_improvement(mean + std * std, std)
    call: Array = np.exp(mean + 0.5 * std * std + log_ratio)
    return call


@dataclass(frozen=True, slots=True, eq=False)
class SoftWarped(WarpedNormal):
    r""":math:`f = w^{-1}(z)` with a normal z and the soft logarithm w.

    Up to the knee it is the normal, beyond it a shifted log-normal:

    .. math:: \mathrm{EI}(y) = \int_{-\infty}^{y} \Phi\left(\frac{w(v) - m}{s}\right)\,dv

    Assumes that very bad values differ by their logarithm, and good ones by their size.
    Slopes are in the mean and the deviation of z. Log EI is right to 1e-13 (relative where it is
    larger than 1) and what the rounding of w(level) - mean adds: 1e-16 of either over the
    deviation, in deviations.

    Args:
        normal: The law of z.
        knee: Where the logarithm begins; an array where laws are stacked.
        tau: The scale of the logarithm, > 0; the smaller, the stronger the warp; likewise.

    References:
        Snelson et al. (2004); decision 32.

    Example:
        >>> law = SoftWarped(Normal(np.array([0.0, 2.0]), np.full(2, 0.5)), knee=1.0, tau=0.5)
        >>> law.median.round(3)
        array([0.   , 4.195])
        >>> law.fair_value(0.01).value[0] == law.normal.fair_value(0.01).value[0]
        np.True_
    """

    knee: Array | float
    tau: Array | float

    def _forward(self, level: Array | float) -> Array:
        return soft_log(level, self.knee, self.tau)

    def _log_slope(self, level: Array | float) -> Array:
        return log_slope_of_soft_log(level, self.knee, self.tau)

    def _inverse(self, v: Array) -> Array:
        return soft_exp(v, self.knee, self.tau)

    def _inverse_slope(self, v: Array) -> Array:
        return slope_of_soft_exp(v, self.knee, self.tau)

    @property
    def _upper(self) -> Upper:
        return Upper(self.normal, self.knee, self.tau)

    @property
    def mean(self) -> Array:
        r""":math:`m + E[(f - z)]`; infinite where that overflows."""
        return self.normal.mean + self.tau * self._excess_moments()[1]

    @property
    def std(self) -> Array:
        r"""The deviation, to a relative error of 1e-7; infinite where it overflows.

        f = z + e with the excess e; Var f = s^2 + 2 Cov(z, e) + Var e, where by Stein's lemma
        Cov(z, e) = s^2 E[e'(z)].
        """
        s = self.normal.std
        slope, first, second = self._excess_moments()
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.maximum(second - first * first, 0.0) * self.tau**2
            wide = np.sqrt(s * s * (1.0 + 2.0 * slope) + spread)
            std = np.where(s < _NEARLY_LINEAR * self.tau, s * (1.0 + slope), wide)
        return np.where(np.isnan(std), np.inf, std)

    def _excess_moments(self) -> tuple[Array, Array, Array]:
        r"""E[e'(z)], E[e/tau] and E[(e/tau)^2], where :math:`e/\tau = e^u - 1 - u` for u > 0."""
        mean, std = self._upper.unit
        over = np.exp(log_ei(-mean, std, 0.0))  # E[u; u > 0]
        with np.errstate(over="ignore", invalid="ignore"):
            tilt = mean + std * std
            grown, grown_twice = _call(mean, std), _call(2.0 * mean, 2.0 * std)
            product = np.exp(mean + 0.5 * std * std + log_ei(-tilt, std, 0.0)) - over  # u(e^u - 1)
            square = std * std * np.exp(self.normal.log_survival(self.knee)) + mean * over
            second = grown_twice - 2.0 * grown - 2.0 * product + square
        return grown, grown - over, second

    def log_ei(self, level: Array | float) -> WithSlopes:
        """The normal's up to the knee; beyond, what is gained between knee and level is added."""
        return self.log_ei_between(-np.inf, level)

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """Log of EI(level) - EI(low)."""
        knee = self.knee
        below = self.normal.log_ei_between(np.minimum(low, knee), np.minimum(level, knee))
        beyond = np.broadcast_to(np.asarray(level) > knee, below.value.shape)
        if not beyond.any():
            return below
        ends = (
            np.broadcast_to(end, beyond.shape)[beyond] for end in (np.maximum(low, knee), level)
        )
        above = log_ei_between(self._upper.at(beyond), *ends)
        there = WithSlopes(below.value[beyond], tuple(slope[beyond] for slope in below.slopes))
        total = log_sum_with_slopes([there, above])
        return patched(below, beyond, total)

    def fair_value(self, price: Array | float) -> FairValue:
        """The normal's up to the knee; beyond, the level at which K is the rest of the price."""
        fair = self.normal.fair_value(price)
        beyond = fair.value > self.knee
        if not beyond.any():
            return fair
        law, prices = self.at(beyond), np.broadcast_to(price, beyond.shape)[beyond]
        value = law._beyond_knee(prices)  # noqa: SLF001  its own class
        there = fair_value_at(value, rates(law, value))
        return patched(fair, beyond, there)

    def _beyond_knee(self, price: Array) -> Array:
        """The level at which K(level) = price - EI(knee) + K(knee)."""
        mean, std = self._upper.unit
        with np.errstate(all="ignore"):
            rest = np.maximum(price - np.exp(self.normal.log_ei(self.knee).value), 0.0)
            rest += np.exp(self._upper.log_ei(self.knee).value)
            log_level = mean + lognormal_gap(np.log(rest / self.tau) - mean, std)
            value: Array = self.knee + self.tau * np.expm1(log_level)
        return value

    def at(self, where: Mask) -> SoftWarped:
        """The law at some of the points."""
        return SoftWarped(self.normal.at(where), at(self.knee, where), at(self.tau, where))

    def known_at(self, rows: Indices, values: Array) -> SoftWarped:
        """With these values at some of the points."""
        return SoftWarped(self.normal.known_at(rows, self._forward(values)), self.knee, self.tau)
