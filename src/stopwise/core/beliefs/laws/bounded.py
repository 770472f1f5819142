# SPDX-License-Identifier: Apache-2.0
r"""The law of a bounded f: another law, clipped to an interval.

With the EI of the law inside, that of f is EI(y) - EI(low) for levels between the bounds; beyond
the upper one it grows as the level does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._log_sum import log_sum_with_slopes, scaled
from stopwise.core.beliefs.laws._patched import at, patched
from stopwise.core.beliefs.laws._quantile_moments import mean_and_std
from stopwise.core.beliefs.laws._roots import fair_value_from_right, rates
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.normal import log_ei
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    r"""The law of :math:`\min(\max(f, \ell), u)`: what is beyond a bound is at the bound.

    .. math:: \mathrm{EI}(y) = \int_{\ell}^{\min(y, u)} F(v)\,dv + \max(y - u, 0)

    for y above the lower bound, and 0 below it.
    Assumes that the bounds are known, and that the model's mass beyond them belongs to them.
    Slopes are in the parameters of the law inside. Log EI is as precise as its ``log_ei_between``.

    Args:
        law: The law before it is clipped.
        low: The lower bound, or -inf; an array where laws are stacked.
        high: The upper bound, or inf; likewise.

    References:
        Decision 23.

    Example:
        >>> law = Bounded(Normal(np.array([0.1]), np.array([0.2])), low=0.0)
        >>> law.cdf(0.0).value.round(3)  # probably it is at the bound
        array([0.309])
        >>> law.log_ei(0.0).value  # but not below
        array([-inf])
    """

    law: Law
    low: Array | float = -np.inf
    high: Array | float = np.inf

    def __post_init__(self) -> None:
        if not np.all(np.less(self.low, self.high)):
            message = (
                f"bounds of f from {self.low!r} to {self.high!r}: give a lower one that is below"
                " the upper one, or leave one out."
            )
            raise InputError(message)

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of the law inside."""
        return self.law.parameters

    @property
    def mean(self) -> Array:
        """E[f] = E[min(f', high)] + EI(low) of the f' inside."""
        if isinstance(self.law, Normal):
            m, s = self.law
            below = np.exp(log_ei(m, s, self.low))
            mean = m + (below - np.exp(log_ei(-m, s, -self.high)))
        elif np.isposinf(self.high):
            mean = self.law.mean + np.exp(self.law.log_ei(self.low).value)
        else:
            mean = self.high - np.exp(self.law.log_ei_between(self.low, self.high).value)
        return np.asarray(np.clip(mean, self.low, self.high))

    @property
    def std(self) -> Array:
        """The deviation; of a law inside that is not normal, to about a hundredth.

        That is by a trapezoidal rule over the quantiles within eight deviations, which cannot see
        a variance that lies beyond.
        """
        if isinstance(self.law, Normal):
            return _clipped_std(self.law, self.low, self.high)
        return mean_and_std(self)[1]

    @property
    def median(self) -> Array:
        """The median inside, clipped."""
        return np.clip(self.law.median, self.low, self.high)

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of EI(level) - EI(low) of the law inside; beyond the upper bound, certain gain."""
        return self.log_ei_between(-np.inf, level)

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The same above a level of its own."""
        within = self.law.log_ei_between(np.maximum(low, self.low), np.minimum(level, self.high))
        top = np.maximum(low, self.high)
        if not np.any(level > top):
            return within
        with np.errstate(divide="ignore"):
            value = np.log(np.maximum(np.asarray(level) - top, 0.0)) + np.zeros_like(within.value)
        certain = WithSlopes(value, tuple(np.zeros_like(slope) for slope in within.slopes))
        return log_sum_with_slopes([within, certain])

    def cdf(self, level: Array | float) -> WithSlopes:
        """That of the law inside between the bounds; 0 below, 1 from the upper one on."""
        value, slopes = self.law.cdf(level)
        inside = self._inside(level)
        return WithSlopes(
            np.where(inside, value, np.asarray(level) >= self.high),
            tuple(np.where(inside, slope, 0.0) for slope in slopes),
        )

    def log_cdf(self, level: Array | float) -> Array:
        """That of the law inside between the bounds."""
        outside = np.where(np.asarray(level) >= self.high, 0.0, -np.inf)
        return np.where(self._inside(level), self.law.log_cdf(level), outside)

    def log_survival(self, level: Array | float) -> Array:
        """That of the law inside between the bounds."""
        outside = np.where(np.asarray(level) >= self.high, -np.inf, 0.0)
        return np.where(self._inside(level), self.law.log_survival(level), outside)

    def log_density(self, level: Array | float) -> Array:
        """That of the law inside between the bounds; the mass at a bound is not in it."""
        within = (np.asarray(level) >= self.low) & (np.asarray(level) <= self.high)
        return np.where(within, self.law.log_density(level), -np.inf)

    def z_score(self, level: Array | float) -> WithSlopes:
        """That of the law inside between the bounds; infinite beyond."""
        z, slopes = self.law.z_score(level)
        inside = self._inside(level)
        outside = np.where(np.asarray(level) >= self.high, np.inf, -np.inf)
        return WithSlopes(
            np.where(inside, z, outside), tuple(np.where(inside, slope, 0.0) for slope in slopes)
        )

    def quantile(self, z: Array | float) -> WithSlopes:
        """That of the law inside, clipped."""
        value, slopes = self.law.quantile(z)
        inside = (value >= self.low) & (value <= self.high)
        return WithSlopes(
            np.clip(value, self.low, self.high),
            tuple(np.where(inside, slope, 0.0) for slope in slopes),
        )

    def fair_value(self, price: Array | float) -> FairValue:
        """The fair value inside at the price plus EI(low); what is dearer than EI(high) is beyond.

        Where the price is small beside EI(low) their sum would lose it: there it is found from
        low + price/F(low), which is on the right because EI is convex.
        """
        at_low = self.law.log_ei(self.low)
        lost = np.exp(at_low.value)
        fair = self.law.fair_value(price + lost)
        if lost.any():
            fair = _at_price_alone(fair, price, lost, at_low)
        changed = (fair.value > self.high) | (lost > price)
        if not changed.any():
            return fair
        law, prices = self.at(changed), np.broadcast_to(price, changed.shape)[changed]
        there = law._with_bounds(prices, lost[changed], fair.value[changed])  # noqa: SLF001  its own class
        return patched(fair, changed, there)

    def _with_bounds(self, price: Array, lost: Array, fair: Array) -> FairValue:
        """Fair values where a bound matters, from those of the law inside at price + EI(low)."""
        with np.errstate(all="ignore"):
            tangent = self.low + np.exp(np.log(price) - self.law.log_cdf(self.low))
            start = np.clip(np.where(lost > price, tangent, fair), self.low, self.high)
            if not np.all(np.isposinf(self.high)):
                gain = np.exp(self.log_ei(self.high).value)
                start = np.where(price > gain, self.high + (price - gain), start)
        return fair_value_from_right(self, price, start, rates)

    def at(self, where: Mask) -> Bounded:
        """The law at some of the points."""
        return Bounded(self.law.at(where), at(self.low, where), at(self.high, where))

    def known_at(self, rows: Indices, values: Array) -> Bounded:
        """With these values at some of the points, clipped."""
        return Bounded(self.law.known_at(rows, values), self.low, self.high)

    def _inside(self, level: Array | float) -> Mask:
        return (np.asarray(level) >= self.low) & (np.asarray(level) < self.high)


def _at_price_alone(
    fair: FairValue, price: Array | float, lost: Array, at_low: WithSlopes
) -> FairValue:
    """A fair value g inside at price + EI(low), as one at the price: EI(low) has slopes too.

    Args:
        fair: The fair value inside.
        price: The price.
        lost: EI(low).
        at_low: Its logarithm.
    """
    with np.errstate(all="ignore"):
        share = np.where(lost > 0.0, lost / (price + lost), 0.0)
    slopes = (
        slope + scaled(scaled(share, fair.d_log_price), of_lost)
        for slope, of_lost in zip(fair.slopes, at_low.slopes, strict=True)
    )
    return FairValue(fair.value, tuple(slopes), fair.d_log_price * (1.0 - share))


def _clipped_std(normal: Normal, low: Array | float, high: Array | float) -> Array:
    r"""The deviation of a clipped normal.

    With standardised bounds a, b, mirrored so that b > 0, and :math:`a_+ = \max(a, 0)`, the
    moments about :math:`a_+` are :math:`h(-|a|) - h(-b)` and
    :math:`\Phi(b) - \Phi(a) - |a| h(-|a|) + (2 a_+ - b) h(-b)`.
    """
    m, s = normal
    with np.errstate(all="ignore"):
        a, b = (low - m) / s, (high - m) / s
        a, b = np.where(b < 0.0, -b, a), np.where(b < 0.0, -a, b)
        at_a, at_b = (np.exp(log_ei(0.0, 1.0, -np.abs(bound))) for bound in (a, b))
        within = np.where(
            a > 0.0,
            scipy_parts.special.ndtr(-a) - scipy_parts.special.ndtr(-b),
            scipy_parts.special.ndtr(b) - scipy_parts.special.ndtr(a),
        )
        beyond = np.where(at_b > 0.0, (2.0 * np.maximum(a, 0.0) - b) * at_b, 0.0)
        second = within - np.where(at_a > 0.0, np.abs(a) * at_a, 0.0) + beyond
        std = s * np.sqrt(np.maximum(second - (at_a - at_b) ** 2, 0.0))
    return np.where(s > 0.0, std, 0.0)
