# SPDX-License-Identifier: Apache-2.0
"""Fair values of laws whose improvements are integrated numerically: one integral, and steps.

From a guess of the fair value, at which the improvement is integrated once, the search for the
root adds or takes away what lies between the guess and its present level: a narrow integral.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from stopwise.core.beliefs.laws._log_sum import scaled
from stopwise.core.beliefs.laws._parts import components
from stopwise.core.beliefs.laws._patched import patched
from stopwise.core.beliefs.laws._roots import fair_value_between, rates
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.loss import Loss
from stopwise.core.numerics.arrays import Array, Mask

_Z = np.array([-6.0, -5.0, -4.0, -3.0, -2.25, -1.5, -0.75, 0.0, 0.75, 1.5, 3.0])
_CANCELS = 0.9  # of the improvement at the guess: where more is taken away, it is integrated anew


class Integrated(Protocol):
    """The parts of a law that are read here."""

    def at(self, where: Mask) -> Self:
        """The law at some of the points."""
        ...

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the expected improvement below a level."""
        ...

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The same from one level to another."""
        ...

    def log_cdf(self, level: Array | float) -> Array:
        """Log P(f <= level)."""
        ...

    def log_density(self, level: Array | float) -> Array:
        """Log of the density at a level."""
        ...


def anchored_fair_value(
    law: Integrated, of_f: Law, loss: Loss, price: Array, start: Array
) -> FairValue:
    """Fair values of the loss of f.

    Args:
        law: The law of the loss.
        of_f: The law of f.
        loss: Minus what f is worth.
        price: The price, one a point.
        start: Levels at which EI is at least the price.
    """
    guess = _rough(components(of_f)[1], of_f, loss, price)
    guess = np.where(np.isfinite(guess), np.minimum(guess, start), start)
    anchored = Anchored(law, guess, law.log_ei(guess))
    return fair_value_between(anchored, price, guess, start, rates)


def _rough(laws: Sequence[Law], law: Law, loss: Loss, price: Array) -> Array:
    """About the level of loss at which EI is the price, by the cdf at some quantiles.

    Between two levels the cdf is taken for exponential, which is exact for none and close for all.

    Args:
        laws: Components of the law, whose quantiles are taken.
        law: The law of f.
        loss: Minus what f is worth.
        price: The price, one a point.
    """
    shape = (len(_Z), len(price))
    everywhere = np.ones(shape, dtype=bool)
    z = np.repeat(_Z, len(price))
    y = np.vstack([part.at(everywhere).quantile(z).value.reshape(shape) for part in laws])
    y = np.sort(y, axis=0)
    rows = np.ones(y.shape, dtype=bool)
    with np.errstate(all="ignore"):
        cdf = np.exp(law.at(rows).log_cdf(y.ravel())).reshape(y.shape)
        levels = loss(y)
        ratio = np.log(cdf[1:] / cdf[:-1])
        mean = np.where(ratio > 1e-6, np.diff(cdf, axis=0) / ratio, cdf[1:])
        gains = np.cumsum(
            np.vstack([np.zeros_like(price), mean * np.diff(levels, axis=0)]), axis=0
        )
        at = np.clip((gains <= price).sum(axis=0) - 1, 0, len(y) - 1)[None, :]
        level, gain, slope = (
            np.take_along_axis(each, at, axis=0)[0] for each in (levels, gains, cdf)
        )
        after = np.minimum(at + 1, len(y) - 1)
        step = np.take_along_axis(levels, after, axis=0)[0] - level
        bend = (np.take_along_axis(cdf, after, axis=0)[0] - slope) / step
        bend = np.where(step > 0.0, bend, 0.0)
        rest = np.maximum(price - gain, 0.0)
        return np.asarray(level + 2.0 * rest / (slope + np.sqrt(slope**2 + 2.0 * rest * bend)))


@dataclass(frozen=True, slots=True, eq=False)
class Anchored:
    """A law whose improvement is known at one level, for each point.

    Args:
        law: The law.
        level: The level.
        there: Log EI at that level, with its slopes.
    """

    law: Integrated
    level: Array
    there: WithSlopes

    def at(self, where: Mask) -> Anchored:
        """The same at some of the points."""
        value, slopes = self.there
        there = WithSlopes(value[where], tuple(slope[where] for slope in slopes))
        return Anchored(self.law.at(where), self.level[where], there)

    def log_ei(self, level: Array | float) -> WithSlopes:
        """That at the known level, and what lies between."""
        level = np.asarray(level, dtype=np.float64)
        if np.array_equal(level, self.level):
            return self.there
        low, high = np.minimum(level, self.level), np.maximum(level, self.level)
        between = self.law.log_ei_between(low, high)
        with np.errstate(all="ignore"):
            ratio = np.exp(between.value - self.there.value)
            signed = np.where(level > self.level, ratio, -ratio)
            value = self.there.value + np.log1p(signed)
            slopes = tuple(
                (old + scaled(signed, more)) / (1.0 + signed)
                for old, more in zip(self.there.slopes, between.slopes, strict=True)
            )
            anew = ~(signed > -_CANCELS) | ~np.isfinite([value, *slopes]).all(axis=0)
        answer = WithSlopes(value, slopes)
        if not anew.any():
            return answer
        return patched(answer, anew, self.law.at(anew).log_ei(level[anew]))

    def log_cdf(self, level: Array | float) -> Array:
        """That of the law."""
        return self.law.log_cdf(level)

    def log_density(self, level: Array | float) -> Array:
        """That of the law."""
        return self.law.log_density(level)
