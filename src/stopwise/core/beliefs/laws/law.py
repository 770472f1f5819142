# SPDX-License-Identifier: Apache-2.0
r"""The protocol of laws: distributions of f at some points, in the user's units, elementwise.

For any law the expected improvement over a level y is
:math:`\mathrm{EI}(y) = E[\max(y - f, 0)] = \int_{-\infty}^y F`. So its derivative in y is the cdf
F, and it is convex. The fair value at a price c is the g with EI(g) = c; its derivative in a
parameter is minus that of EI over F(g).

Where f is certain (a deviation of 0), EI is max(level - f, 0), and the fair value is f + c. No
answer is nan for finite parameters and levels, and none emits a numpy warning. A mean or a
deviation may be infinite: that of a warped normal overflows while its quantiles do not.

A law has parameters, arrays with one entry a point: mean and deviation of a normal; two of each
component of a mixture. Whoever knows how the parameters change with x gets gradients in x by the
chain rule, whatever the law. Levels, prices and z-scores are numbers, or arrays with one entry a
point.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from stopwise.core.numerics.arrays import Array, Indices, Mask


class WithSlopes(NamedTuple):
    """A number for every point, and its derivatives in the parameters of the law."""

    value: Array
    slopes: tuple[Array, ...]


class FairValue(NamedTuple):
    """Fair values, their derivatives in the parameters of the law, and in the log of the price."""

    value: Array
    slopes: tuple[Array, ...]
    d_log_price: Array


class Law(Protocol):
    """Distributions of f at some points, one a point. Immutable."""

    @property
    def parameters(self) -> tuple[Array, ...]:
        """What the law depends on; slopes are in these, in this order."""
        ...

    @property
    def mean(self) -> Array:
        """Means of f."""
        ...

    @property
    def std(self) -> Array:
        """Standard deviations of f."""
        ...

    @property
    def median(self) -> Array:
        """Medians of f."""
        ...

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the expected improvement below a level, log E[max(level - f, 0)]."""
        ...

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """Log of the integral of the cdf from low to level: the improvement of max(f, low).

        EI(level) - EI(low), to relative precision however close the two are; -inf where the level
        is not above low. ``log_ei`` is the case of low = -inf.
        """
        ...

    def cdf(self, level: Array | float) -> WithSlopes:
        """The probability of at most a level, P(f <= level)."""
        ...

    def log_cdf(self, level: Array | float) -> Array:
        """Log P(f <= level), to relative precision in the lower tail too."""
        ...

    def log_survival(self, level: Array | float) -> Array:
        """Log P(f > level), to relative precision in the upper tail too."""
        ...

    def log_density(self, level: Array | float) -> Array:
        """Log of the density at a level; where f is certain, -inf but for inf at its value."""
        ...

    def z_score(self, level: Array | float) -> WithSlopes:
        """The same on the scale of a standard normal: the z with Phi(z) = P(f <= level)."""
        ...

    def quantile(self, z: Array | float) -> WithSlopes:
        """The value below which f is with probability Phi(z); infinite where no value is."""
        ...

    def fair_value(self, price: Array | float) -> FairValue:
        """The g at which the expected improvement below g is the price."""
        ...

    def at(self, where: Mask) -> Law:
        """The law at some of the points, those that are marked."""
        ...

    def known_at(self, rows: Indices, values: Array) -> Law:
        """The same law, but with f known to have these values at some of the points.

        Values are in the user's units.
        """
        ...
