# SPDX-License-Identifier: Apache-2.0
"""Components of a mixture that are normals, softly warped or not, asked together.

Most of a step is spent on these. Up to its knee a softly warped normal is a normal, and the levels
that matter are below the knees, as a rule. EI increases, so where the root of the normals' EI is
below the knees it is that of the mixture's. Quantiles are those of normals whose level is warped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._components import knee_of, normal_below_knee
from stopwise.core.beliefs.laws._log_sum import log_sum
from stopwise.core.beliefs.laws._roots import halfway
from stopwise.core.beliefs.laws._soft_stack import SoftStack
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.beliefs.laws.soft_warped import SoftWarped
from stopwise.core.numerics import normal_mixture, scipy_parts
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.normal_mixture import (
    Normals,
    components_at_price,
    joined,
    root_from_right,
)
from stopwise.core.numerics.soft_log import log_slope_of_soft_log, soft_exp, soft_log

_MOST_STEPS = 100  # of a quantile; five or so are usual
_CLOSE = 1e-13  # of a z-score
_NO_WARP = (np.inf, 1.0)
_ACCURATE = 1e-9  # of a z-score: what is further off was not found


class NormalStack(NamedTuple):
    """Weights, means and deviations, (components, points), and the laws that they are of."""

    weights: Array
    mean: Array
    std: Array
    laws: Sequence[Law]

    @property
    def knee(self) -> float:
        """The lowest knee."""
        return min(map(knee_of, self.laws))

    @classmethod
    def of(cls, weights: Array, laws: Sequence[Law]) -> NormalStack | None:
        """The stack of a mixture; None if a component is no normal, or certain, or unweighted."""
        stack = cls.uncertain_or_not(weights, laws)
        if stack is None or not (
            stack.std.min(initial=np.inf) > 0.0 and np.isfinite(stack.std.sum() + stack.mean.sum())
        ):
            return None
        return stack

    @classmethod
    def uncertain_or_not(cls, weights: Array, laws: Sequence[Law]) -> NormalStack | None:
        """The same, also where components are certain; it is not to be asked there."""
        normals = [law for law in map(normal_below_knee, laws) if isinstance(law, Normal)]
        if len(normals) < len(laws) or len({law.mean.shape for law in normals}) > 1:
            return None
        mean, std = np.array([law.mean for law in normals]), np.array([law.std for law in normals])
        if mean.ndim != 2 or mean.shape != std.shape or not weights.min() > 0.0:
            return None
        return cls(weights, mean, std, laws)

    @property
    def answerable(self) -> Mask:
        """At which points nothing is certain or infinite."""
        known = (self.std > 0.0) & np.isfinite(self.std) & np.isfinite(self.mean)
        return np.asarray(known.all(axis=0))

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log EI at a level, for all points or for each."""
        if np.max(level, initial=-np.inf) <= self.knee:
            at = normal_mixture.improvement(self.weights, self.mean, self.std, level)
        else:
            with np.errstate(all="ignore"):
                at = self._soft(slice(None)).improvement(np.asarray(level, dtype=np.float64))
        return WithSlopes(at.log_ei, _in_order(-at.d_mean, at.d_std))

    def fair_value(self, price: Array | float) -> tuple[FairValue, Mask]:
        """Fair values, and where they were not found."""
        prices = np.broadcast_to(np.asarray(price, dtype=np.float64), self.mean.shape[1:])
        with np.errstate(all="ignore"):
            normals = Normals.of(self.weights, self.mean, self.std)
            start = components_at_price(self.weights, self.mean, self.std, prices).min(axis=0)
            beyond = self._beyond_knee(normals, prices, start)
        if not beyond.any():
            fair = root_from_right(normals, prices, start)
        else:
            there, below = self._soft(beyond), ~beyond
            right = there.right_of_root(prices[beyond])
            fair = joined(
                beyond,
                root_from_right(there, prices[beyond], right),
                root_from_right(normals.at(below), prices[below], start[below]),
            )
        slopes = _in_order(fair.d_mean, fair.d_std)
        return FairValue(fair.value, slopes, fair.d_log_price), np.isnan(fair.value)

    def _beyond_knee(self, normals: Normals, prices: Array, start: Array) -> Mask:
        """Where the fair value is beyond the lowest knee: EI there is less than the price."""
        beyond = np.asarray(start > self.knee)
        if beyond.any():
            there = normals.at(beyond)
            at_knee = there.improvement(np.full(there.mean.shape[1], self.knee))
            beyond[beyond] = at_knee.log_ei < np.log(prices[beyond])
        return beyond

    def _soft(self, points: Mask | slice) -> SoftStack:
        """The mixture at some of the points, with its knees."""
        mean, std = self.mean[:, points], self.std[:, points]
        warps = [
            (law.knee, law.tau) if isinstance(law, SoftWarped) else _NO_WARP for law in self.laws
        ]
        knee, tau = (np.broadcast_to(each[:, None], mean.shape) for each in np.array(warps).T)
        return SoftStack(self.weights[:, None], mean, std, knee, tau)

    def quantile(self, z: Array | float) -> tuple[WithSlopes, Mask]:
        """The root of the z-score of the cdf, and where it was not found: at a jump, as a rule.

        It lies between the quantiles of the components: Newton's method, which halves the bracket
        where it leaves it or does not halve the error.
        """
        with np.errstate(all="ignore"):
            ends = np.array(
                [
                    _unwarped(law, q)
                    for law, q in zip(self.laws, self.mean + z * self.std, strict=True)
                ]
            )
            low, high = ends.min(axis=0), ends.max(axis=0)
            value, error = halfway(low, high), np.full(low.shape, np.inf)
            for _ in range(_MOST_STEPS):
                at = self._at(value, z)
                low = np.where(at.excess <= 0.0, value, low)
                high = np.where(at.excess >= 0.0, value, high)
                after = value - at.excess / at.slope
                newton = (after > low) & (after < high) & (np.abs(at.excess) <= 0.5 * error)
                after = np.where(newton, after, halfway(low, high))
                todo = np.abs(at.excess) > _CLOSE
                todo &= np.abs(after - value) > np.spacing(np.abs(value))
                if not todo.any():
                    break
                error, value = np.abs(at.excess), np.where(todo, after, value)
            known = np.isfinite(value + at.d_mean.sum(axis=0)) & (np.abs(at.excess) <= _ACCURATE)
            slopes = _in_order(at.d_mean, at.d_mean * at.scores)
        return WithSlopes(value, slopes), ~known

    def _at(self, level: Array, z: Array | float) -> _Quantile:
        """The cdf at a level. Above the median by its complement: both tails are precise."""
        sign = np.where(np.asarray(z) > 0.0, -1.0, 1.0)
        warps = [_warped(law, level) for law in self.laws]
        scores = (np.array([value for value, _ in warps]) - self.mean) / self.std
        log_slopes = np.array([log_slope for _, log_slope in warps])
        log_weights = np.log(self.weights)[:, None]
        at = scipy_parts.special.ndtri_exp(
            log_sum(log_weights + scipy_parts.special.log_ndtr(sign * scores))
        )
        parts = log_weights - 0.5 * scores * scores - np.log(self.std)
        density = log_sum(parts + log_slopes)
        slope = np.exp(density + 0.5 * at * at)
        return _Quantile(scores, np.exp(parts - density), sign * at - z, slope)


class _Quantile(NamedTuple):
    """Of a level taken for a quantile.

    Attributes:
        scores: The components' z-scores.
        d_mean: The quantile's slopes in their means.
        excess: The z-score of the mixture's cdf, less the one that is wanted.
        slope: Its derivative in the level.
    """

    scores: Array
    d_mean: Array
    excess: Array
    slope: Array


def _warped(law: Law, level: Array) -> tuple[Array, Array]:
    """A level in the units of a component's normal, and the log of the derivative."""
    if isinstance(law, SoftWarped):
        warp = (law.knee, law.tau)
        return soft_log(level, *warp), log_slope_of_soft_log(level, *warp)
    return level, np.zeros_like(level)


def _unwarped(law: Law, value: Array) -> Array:
    """And back."""
    return soft_exp(value, law.knee, law.tau) if isinstance(law, SoftWarped) else value


def _in_order(d_mean: Array, d_std: Array) -> tuple[Array, ...]:
    """The slopes of one component after the other."""
    return tuple(slope for both in zip(d_mean, d_std, strict=True) for slope in both)
