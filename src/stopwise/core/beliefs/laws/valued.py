# SPDX-License-Identifier: Apache-2.0
r"""The law of what f is worth: a loss, which is minus a utility, of a law.

A utility of a law is a law. With a loss L that never falls, and the largest y(u) at which L is at
most u, the cdf at u is that of f at y(u), and the expected improvement below a level u is

.. math:: \mathrm{EI}_L(u) = \int_{-\infty}^u P(L(f) \le v)\,dv
    = \int_{-\infty}^{y(u)} F(y)\,dL(y) + \max(u - \sup L, 0)

It is convex in u, not in y. Levels and fair values are in the unit of the loss; a fair value may
lie above all that a value can lose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._anchored import anchored_fair_value
from stopwise.core.beliefs.laws._log_sum import log_sum_with_slopes, scaled
from stopwise.core.beliefs.laws._quantile_moments import mean_and_std
from stopwise.core.beliefs.laws._roots import fair_value_from_right
from stopwise.core.beliefs.laws.chance import Chance
from stopwise.core.beliefs.laws.doubted import Doubted
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.numerics.arrays import Array, Indices, Mask


def valued(law: Law, loss: Loss) -> Law:
    """The law of the loss of f.

    A chance to succeed and a doubt stay outside, where they have formulas: what fails has no
    worth at all, and a loss of the better of two values is the better of their losses.
    """
    if isinstance(law, Chance):
        return Chance(valued(law.law, loss), law.log_chance)
    if isinstance(law, Doubted):
        level = float(loss(np.asarray(law.level)))
        return Doubted(valued(law.law, loss), level, law.trust)
    return Valued(law, loss)


@dataclass(frozen=True, slots=True, eq=False)
class Valued:
    r"""The law of L(f), with a loss L that never falls.

    .. math:: \mathrm{EI}_L(L(y)) = \int_{-\infty}^{y} F(v)\,L'(v)\,dv

    Assumes that values matter by L alone: lower ones are never worth less.
    Slopes are in the parameters of the law of f. Log EI is as precise as the loss integrates.

    Args:
        law: The law of f; that of a finite f (see ``valued`` for one that may fail).
        loss: Minus what a value is worth.

    References:
        Decision 39.

    Example:
        >>> from stopwise.core.beliefs.laws import Normal
        >>> from stopwise.core.beliefs.utilities import Threshold
        >>> loss = Threshold(at=0.0).loss(1.0)  # below 0 nothing is gained
        >>> law = Valued(Normal(np.array([1.0]), np.array([0.5])), loss)
        >>> law.quantile(-3.0).value, law.log_ei(0.0).value
        (array([0.]), array([-inf]))
    """

    law: Law
    loss: Loss

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of the law of f."""
        return self.law.parameters

    @property
    def mean(self) -> Array:
        """The mean, from quantiles."""
        return mean_and_std(self)[0]

    @property
    def std(self) -> Array:
        """The deviation, from quantiles."""
        return mean_and_std(self)[1]

    @property
    def median(self) -> Array:
        """The loss of the median."""
        return self.loss(self.law.median)

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the integral of the cdf up to the level."""
        return self.log_ei_between(-np.inf, level)

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The integral over losses that f can have, and certain gain beyond them."""
        lower, upper = (self._points(end) for end in (low, level))
        within = self.loss.log_integral(self.law, lower, upper)
        top = np.maximum(low, self.loss.high)
        if not np.any(level > top):
            return within
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log(np.maximum(np.asarray(level) - top, 0.0)) + np.zeros_like(within.value)
        certain = WithSlopes(value, tuple(np.zeros_like(slope) for slope in within.slopes))
        return log_sum_with_slopes([within, certain])

    def cdf(self, level: Array | float) -> WithSlopes:
        """That of f at the largest value of at most this loss."""
        y, inside = self._inside(level)
        value, slopes = self.law.cdf(y)
        beyond = np.asarray(level) >= self.loss.high
        return WithSlopes(
            np.where(inside, value, beyond), tuple(np.where(inside, s, 0.0) for s in slopes)
        )

    def log_cdf(self, level: Array | float) -> Array:
        """That of f at the largest value of at most this loss."""
        y, inside = self._inside(level)
        outside = np.where(np.asarray(level) >= self.loss.high, 0.0, -np.inf)
        return np.where(inside, self.law.log_cdf(y), outside)

    def log_survival(self, level: Array | float) -> Array:
        """That of f at the largest value of at most this loss."""
        y, inside = self._inside(level)
        outside = np.where(np.asarray(level) >= self.loss.high, -np.inf, 0.0)
        return np.where(inside, self.law.log_survival(y), outside)

    def log_density(self, level: Array | float) -> Array:
        """The density of f over the derivative of the loss; mass where L is flat is not in it."""
        y, inside = self._inside(level)
        density = self.law.log_density(y) - self.loss.log_slope(y)
        return np.where(inside, density, -np.inf)

    def z_score(self, level: Array | float) -> WithSlopes:
        """That of f at the largest value of at most this loss; infinite beyond all losses."""
        y, inside = self._inside(level)
        z, slopes = self.law.z_score(y)
        outside = np.where(np.asarray(level) >= self.loss.high, np.inf, -np.inf)
        return WithSlopes(
            np.where(inside, z, outside), tuple(np.where(inside, s, 0.0) for s in slopes)
        )

    def quantile(self, z: Array | float) -> WithSlopes:
        """The loss of the quantile of f."""
        y, slopes = self.law.quantile(z)
        outer = np.exp(self.loss.log_slope(y))
        return WithSlopes(self.loss(y), tuple(scaled(outer, slope) for slope in slopes))

    def fair_value(self, price: Array | float) -> FairValue:
        """The root of EI in the unit of the loss.

        Half of the probability is at most at the median's loss m, so EI is at least the price at
        m + 2 price. What is dearer than all that can be gained has its fair value beyond.
        """
        median = self.median
        prices = np.broadcast_to(np.asarray(price, dtype=np.float64), median.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            start = median + 2.0 * prices
        if self.loss.by_quadrature:
            return anchored_fair_value(self, self.law, self.loss, prices, start)
        if np.any(start > self.loss.high):
            with np.errstate(over="ignore", invalid="ignore"):
                gain = np.exp(self.log_ei(self.loss.high).value)
                beyond = self.loss.high + np.maximum(prices - gain, 0.0)
                start = np.minimum(start, beyond)
        return fair_value_from_right(self, prices, start)

    def at(self, where: Mask) -> Valued:
        """The law at some of the points."""
        return Valued(self.law.at(where), self.loss)

    def known_at(self, rows: Indices, values: Array) -> Valued:
        """With these values of f, not of its loss, at some of the points."""
        return Valued(self.law.known_at(rows, values), self.loss)

    def _points(self, level: Array | float) -> Array:
        """The largest value of at most a loss, for every point."""
        shape = np.broadcast_shapes(*(np.shape(p) for p in self.law.parameters))
        return np.broadcast_to(self.loss.inverse(np.asarray(level, dtype=np.float64)), shape)

    def _inside(self, level: Array | float) -> tuple[Array, Mask]:
        """The same, and where it is finite; elsewhere 0, and the answer is known."""
        y = self._points(level)
        inside = np.isfinite(y)
        return np.where(inside, y, 0.0), inside
