# SPDX-License-Identifier: Apache-2.0
r"""The law of f when improvements are doubted: with some probability none comes.

A model promises values below the best one, and with probability 1 - trust f is no better than the
best after all: f is then max(f, level). Above the level nothing changes. So
:math:`F_\rho(u) = \rho F(u)` for u below the level and F(u) from it on, and

.. math:: \mathrm{EI}_\rho(y) = \rho\,\mathrm{EI}(\min(y, l)) + \int_l^{\max(y, l)} F
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._log_sum import log_sum, scaled, shares
from stopwise.core.beliefs.laws.bounded import Bounded
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Doubted:
    r"""A law of which improvements below a level are believed with a probability tau only.

    With the best value so far as the level b,

    .. math:: F_\tau(y) = \tau F(y) \quad (y < b), \qquad F_\tau(y) = F(y) \quad (y \ge b)

    Assumes that the model is wrong about all improvements or about none, with one probability for
    all of them, which the promises kept so far tell.

    Args:
        law: The law as the model states it.
        level: The best value so far.
        trust: The probability that the model is right about improvements, in (0, 1].

    References:
        Decision 32.

    Example:
        >>> from stopwise.core.beliefs.laws import Normal
        >>> law = Normal(np.array([1.0]), np.array([0.5]))
        >>> doubted = Doubted(law, level=0.8, trust=0.5)
        >>> gains = [np.exp(each.log_ei(0.8).value[0]) for each in (law, doubted)]
        >>> round(float(gains[1] / gains[0]), 12)
        0.5
    """

    law: Law
    level: float
    trust: float

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of the law."""
        return self.law.parameters

    @property
    def mean(self) -> Array:
        """The mean, raised by the improvement that is not believed."""
        return np.asarray(self.trust * self.law.mean + (1.0 - self.trust) * self._without.mean)

    @property
    def std(self) -> Array:
        """From the deviations with and without improvements, and their means."""
        mean = self.mean
        parts = ((self.trust, self.law), (1.0 - self.trust, self._without))
        with np.errstate(over="ignore", invalid="ignore"):
            square = sum(w * (law.std**2 + (law.mean - mean) ** 2) for w, law in parts)
            std = np.sqrt(square)
        return np.where(np.isnan(std), np.inf, std)

    @property
    def _without(self) -> Bounded:
        """The law without improvements."""
        return Bounded(self.law, self.level)

    @property
    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.quantile(0.0).value

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Below the level of doubt, the law's and the log of the trust."""
        if np.all(np.asarray(level) <= self.level):  # as wherever an improvement is asked for
            value, slopes = self.law.log_ei(level)
            return WithSlopes(value + math.log(self.trust), slopes)
        return self.log_ei_between(-math.inf, level)

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The part below the level of doubt with its trust, the rest as it is."""
        below = self.law.log_ei_between(low, np.minimum(level, self.level))
        above = self.law.log_ei_between(np.maximum(low, self.level), level)
        terms = np.array([below.value + math.log(self.trust), above.value])
        total = log_sum(terms)
        of_below, of_above = shares(terms, total)
        slopes = (
            scaled(of_below, b) + scaled(of_above, a)
            for b, a in zip(below.slopes, above.slopes, strict=True)
        )
        return WithSlopes(total, tuple(slopes))

    def cdf(self, level: Array | float) -> WithSlopes:
        """The law's, times the trust below the level of doubt."""
        value, slopes = self.law.cdf(level)
        factor = np.where(np.asarray(level) < self.level, self.trust, 1.0)
        return WithSlopes(factor * value, tuple(factor * slope for slope in slopes))

    def log_cdf(self, level: Array | float) -> Array:
        """Log of the cdf."""
        return np.asarray(self.law.log_cdf(level) + self._log_trust(level))

    def log_survival(self, level: Array | float) -> Array:
        """Log of what is left above."""
        doubted = np.log1p(-self.trust * np.exp(self.law.log_cdf(level)))
        below = np.asarray(level) < self.level
        return np.where(below, doubted, self.law.log_survival(level))

    def log_density(self, level: Array | float) -> Array:
        """The law's, with the trust below the level of doubt; mass at it is not a density."""
        return np.asarray(self.law.log_density(level) + self._log_trust(level))

    def z_score(self, level: Array | float) -> WithSlopes:
        """From the log cdf below the level of doubt."""
        inner = self.law.z_score(level)
        below = np.asarray(level) < self.level
        z = np.where(below, scipy_parts.special.ndtri_exp(self.log_cdf(level)), inner.value)
        with np.errstate(all="ignore"):  # the ratio of the densities of z-scores
            ratio = self.trust * np.exp(0.5 * (z - inner.value) * (z + inner.value))
        factor = np.where(below, np.where(np.isfinite(z), ratio, 0.0), 1.0)
        return WithSlopes(z, tuple(scaled(factor, slope) for slope in inner.slopes))

    def quantile(self, z: Array | float) -> WithSlopes:
        """The level of doubt where the mass at it is; above, the law's; below, that of p/trust."""
        at_level = self.law.log_cdf(self.level)
        log_p = scipy_parts.special.log_ndtr(z)
        above, deep = log_p >= at_level, log_p < at_level + math.log(self.trust)
        inner = self.law.quantile(z)
        log_q = np.minimum(log_p - math.log(self.trust), -1e-300)
        deeper = self.law.quantile(scipy_parts.special.ndtri_exp(log_q)) if deep.any() else inner
        value = np.where(above, inner.value, np.where(deep, deeper.value, self.level))
        slopes = (
            np.where(above, a, np.where(deep, b, 0.0))
            for a, b in zip(inner.slopes, deeper.slopes, strict=True)
        )
        return WithSlopes(value, tuple(slopes))

    def fair_value(self, price: Array | float) -> FairValue:
        r"""The law's at another price.

        Where the believed improvement below the level is worth the price, it is the law's at
        price/trust. Elsewhere it is above the level, and the law's at the price plus the
        improvement that is not believed, :math:`(1 - \rho)\,\mathrm{EI}(l)`.
        """
        at_level = self.law.log_ei(self.level)
        with np.errstate(all="ignore"):
            prices = np.broadcast_to(price, at_level.value.shape)
            lost = (1.0 - self.trust) * np.exp(at_level.value)
            above = at_level.value + math.log(self.trust) < np.log(prices)
            fair = self.law.fair_value(np.where(above, prices + lost, prices / self.trust))
            if not above.any():
                return fair
            share = np.where(above & (prices < np.inf), lost / (prices + lost), 0.0)
            value = np.where(above, np.maximum(fair.value, self.level), fair.value)
            by_lost = scaled(share, fair.d_log_price)
            slopes = (
                slope + scaled(by_lost, of_lost)
                for slope, of_lost in zip(fair.slopes, at_level.slopes, strict=True)
            )
            return FairValue(value, tuple(slopes), fair.d_log_price * (1.0 - share))

    def at(self, where: Mask) -> Doubted:
        """The law at some of the points."""
        return Doubted(self.law.at(where), self.level, self.trust)

    def known_at(self, rows: Indices, values: Array) -> Doubted:
        """With these values at some of the points; what is known is not doubted."""
        return Doubted(self.law.known_at(rows, values), self.level, self.trust)

    def _log_trust(self, level: Array | float) -> Array:
        return np.where(np.asarray(level) < self.level, math.log(self.trust), 0.0)
