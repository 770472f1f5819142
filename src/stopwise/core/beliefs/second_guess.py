# SPDX-License-Identifier: Apache-2.0
r"""A second guess at where an outcome keeps its limits, for while nothing has kept all of them.

The Gaussian process of an outcome soon becomes certain that nothing keeps the limits, and says no
more of where to look: the logs of its chances are hundreds apart, or all the same. But it is a
guess, and wrong where there is a pocket of which no value tells. So it counts but for a doubt e:

.. math:: p = (1 - e)\,p_1 + e\,\varrho\,\frac{r^2}{r^2 + R^2}.

The second guess knows no more than which evaluations kept the limits. :math:`\varrho` is how often
they did, by Laplace's rule, and r the distance to the nearest that did not: the less room there
is, the less likely is a pocket that escaped so far. What counts as much room is R, the radius of
the widest hole among those points. (R must not be a typical gap: where a part of the space is
cheap, its gaps narrow as it is searched, and it would be searched for ever.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.core.beliefs.distances import square_distances
from stopwise.core.numerics.arrays import Array, Mask

_DOUBT = 0.01  # the probability that the model of an outcome is no help
_LOG_TRUST = math.log1p(-_DOUBT)
_LEAST = 1e-200  # a squared distance


@dataclass(frozen=True, eq=False)
class SecondGuess:
    """How likely limits are kept, by the room around a point.

    Args:
        broken: Encoded points at which they were not kept, at least one.
        kept: How often they were kept.
        spread: Points spread over the domain, by which the widest hole is found.

    Example:
        >>> spread = np.linspace(0.0, 1.0, 101)[:, None]
        >>> guess = SecondGuess.of(np.array([[0.0], [0.8]]), np.zeros(2, bool), spread)
        >>> nearly_never = np.full(3, -1e6)
        >>> guess.mixed(nearly_never, np.array([[0.4], [0.75], [0.8]])).round(1)
        array([  -6.7,  -10.2, -464.7])
    """

    broken: Array
    kept: int
    spread: Array

    @classmethod
    def of(cls, X: Array, kept: Mask, spread: Array) -> SecondGuess:
        """The guess after some evaluations.

        Args:
            X: Encoded points.
            kept: Whether the limits were kept at each; not at all of them.
            spread: Points spread over the domain.
        """
        return cls(X[~kept], int(np.count_nonzero(kept)), spread)

    @property
    def rate(self) -> float:
        """How likely they are kept where nothing is known, by Laplace's rule."""
        return (self.kept + 1.0) / (self.kept + len(self.broken) + 2.0)

    @cached_property
    def hole(self) -> float:
        """The squared radius of the widest hole."""
        return max(float(self._square_room(self.spread).max(initial=0.0)), _LEAST)

    def broken_at(self, x: Array) -> SecondGuess:
        """As if the limits were not kept at x either."""
        return SecondGuess(np.vstack([self.broken, x]), self.kept, self.spread)

    def mixed(self, log_chance: Array, X: Array) -> Array:
        """The log of the chance by both guesses, from that by the first."""
        return np.asarray(np.logaddexp(_LOG_TRUST + log_chance, self._log_share(X)))

    def mixed_with_gradient(
        self, log_chance: Array, gradient: Array, X: Array
    ) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        share, value = self._log_share(X), self.mixed(log_chance, X)
        nearest = self.broken[square_distances(X, self.broken).argmin(axis=1)]
        room = self._square_room(X)
        slope = 2.0 * self.hole / room / (room + self.hole)
        of_first, of_second = np.exp(_LOG_TRUST + log_chance - value), np.exp(share - value)
        by_room = (of_second * slope)[:, None] * (X - nearest)
        return value, of_first[:, None] * gradient + by_room

    def _log_share(self, X: Array) -> Array:
        """The log of the second guess, times that of the doubt."""
        narrowness = np.log1p(self.hole / self._square_room(X))
        return np.asarray(math.log(_DOUBT * self.rate) - narrowness)

    def _square_room(self, X: Array) -> Array:
        """The squared distance to the nearest point at which the limits were not kept."""
        nearest = square_distances(X, self.broken).min(axis=1)
        return np.asarray(np.maximum(nearest, _LEAST))
