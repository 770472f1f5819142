# SPDX-License-Identifier: Apache-2.0
r"""The law of f where an evaluation gives a value with a probability only.

With probability p the evaluation succeeds and f is distributed as a law says; else it gives
nothing, as if f were infinite. So the cdf is :math:`p F`, the rest of the mass is at infinity, and

.. math:: \mathrm{EI}_p(y) = p\,\mathrm{EI}(y), \qquad g_p(c) = g(c/p)

Acquisitions and rules need nothing more: what holds for any law holds for this one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._log_sum import log_sum, scaled
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI

_LOG_HALF = math.log(0.5)
_JUMP = 1e-9  # of a log cdf: where a quantile's is larger by more, the cdf jumps there
_BELOW_ONE = -1e-300  # a log probability that is not that of certainty


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    r"""A law of f that counts with a probability p, the chance to succeed: its cdf is p F.

    So :math:`\mathrm{EI}_p = p\,\mathrm{EI}`, and the fair value at a price c is that of the law
    at :math:`c/p`. Assumes that whether an evaluation succeeds is independent of its value.
    Slopes are in the parameters of the law and then in the log of the chance. Mean and deviation
    are infinite unless success is certain, and so is every quantile above the chance.

    Args:
        law: The law of f where the evaluation succeeds.
        log_chance: The log of the probability that it does, one a point; at most 0, and finite.

    References:
        Gardner et al. (2014); decision 37.

    Example:
        >>> from stopwise.core.beliefs.laws import Normal
        >>> law = Normal(np.array([1.0]), np.array([0.5]))
        >>> halved = Chance(law, np.log([0.5]))
        >>> gains = [np.exp(each.log_ei(0.8).value[0]) for each in (law, halved)]
        >>> round(float(gains[1] / gains[0]), 12)
        0.5
        >>> bool(halved.fair_value(0.1).value == law.fair_value(0.2).value)
        True
    """

    law: Law
    log_chance: Array

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of the law, and the log of the chance."""
        return (*self.law.parameters, self.log_chance)

    @property
    def mean(self) -> Array:
        """The mean of the law where success is certain; else infinite."""
        return np.where(self.log_chance < 0.0, np.inf, self.law.mean)

    @property
    def std(self) -> Array:
        """The deviation of the law where success is certain; else infinite."""
        return np.where(self.log_chance < 0.0, np.inf, self.law.std)

    @property
    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.quantile(0.0).value

    def log_ei(self, level: Array | float) -> WithSlopes:
        """The law's and the log of the chance."""
        return self._with_chance(self.law.log_ei(level))

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The law's and the log of the chance."""
        gain, slopes = self._with_chance(self.law.log_ei_between(low, level))
        *inner, of_chance = slopes
        return WithSlopes(gain, (*inner, np.where(np.isneginf(gain), 0.0, of_chance)))

    def cdf(self, level: Array | float) -> WithSlopes:
        """The law's times the chance."""
        chance, (value, slopes) = np.exp(self.log_chance), self.law.cdf(level)
        within = chance * value
        return WithSlopes(within, (*(chance * slope for slope in slopes), within))

    def log_cdf(self, level: Array | float) -> Array:
        """The law's and the log of the chance."""
        return np.asarray(self.law.log_cdf(level) + self.log_chance)

    def log_survival(self, level: Array | float) -> Array:
        """Log of the sum of what is above among successes, and of failures."""
        above = self.law.log_survival(level) + self.log_chance
        with np.errstate(divide="ignore"):
            failure = np.log(-np.expm1(self.log_chance))
        return log_sum(np.array(np.broadcast_arrays(above, failure)))

    def log_density(self, level: Array | float) -> Array:
        """The law's and the log of the chance."""
        return np.asarray(self.law.log_density(level) + self.log_chance)

    def z_score(self, level: Array | float) -> WithSlopes:
        """From the log cdf below the median and the log survival above."""
        inner, below = self.law.z_score(level), self.log_cdf(level)
        z = np.where(
            below <= _LOG_HALF,
            scipy_parts.special.ndtri_exp(below),
            -scipy_parts.special.ndtri_exp(self.log_survival(level)),
        )
        with np.errstate(all="ignore"):  # ratios of densities of z-scores
            ratio = np.exp(self.log_chance + 0.5 * (z - inner.value) * (z + inner.value))
            of_chance = np.exp(below + 0.5 * z * z + LOG_SQRT_2PI)
        finite = np.isfinite(z)
        factor = np.where(finite, ratio, 0.0)
        slopes = (scaled(factor, slope) for slope in inner.slopes)
        return WithSlopes(z, (*slopes, np.where(finite, of_chance, 0.0)))

    def quantile(self, z: Array | float) -> WithSlopes:
        """The law's at the probability over the chance; infinite above the chance."""
        log_q = scipy_parts.special.log_ndtr(z) - self.log_chance
        certain, beyond = self.log_chance == 0.0, log_q >= 0.0
        inside = np.where(
            beyond, 0.0, scipy_parts.special.ndtri_exp(np.minimum(log_q, _BELOW_ONE))
        )
        value, slopes = self.law.quantile(np.where(certain, z, inside))
        with np.errstate(all="ignore"):
            of_chance = -np.exp(log_q - self.law.log_density(value))
        flat = beyond | certain & ~np.isfinite(of_chance)
        flat = flat | (self.law.log_cdf(value) > log_q + _JUMP)
        value = np.where(beyond & ~certain, np.inf, value)
        rest = (np.where(beyond & ~certain, 0.0, slope) for slope in slopes)
        return WithSlopes(value, (*rest, np.where(flat, 0.0, of_chance)))

    def fair_value(self, price: Array | float) -> FairValue:
        """The law's at the price over the chance."""
        with np.errstate(over="ignore"):
            of_success = price * np.exp(-self.log_chance)
        value, slopes, d_log_price = self.law.fair_value(of_success)
        return FairValue(value, (*slopes, -d_log_price), d_log_price)

    def at(self, where: Mask) -> Chance:
        """The law at some of the points."""
        return Chance(self.law.at(where), np.broadcast_to(self.log_chance, where.shape)[where])

    def known_at(self, rows: Indices, values: Array) -> Chance:
        """With these values at some of the points, where success is certain."""
        log_chance = self.log_chance.copy()
        log_chance[rows] = 0.0
        return Chance(self.law.known_at(rows, values), log_chance)

    def _with_chance(self, log_gain: WithSlopes) -> WithSlopes:
        value, slopes = log_gain
        with_chance = value + self.log_chance
        return WithSlopes(with_chance, (*slopes, np.ones_like(with_chance)))
