# SPDX-License-Identifier: Apache-2.0
"""The chance that an evaluation succeeds: that it gives a value, and keeps all limits.

It is a product of parts that are taken for independent: where evaluations fail is learned by a
classifier, and each limited outcome has a model of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.laws import Chance, Law
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI

_LEAST_LOG_CHANCE = -600.0  # of a law: so that prices over chances stay within range
_LEAST_STD = 1e-100  # where an outcome is certain
_NEVER = -1e6  # the log of a probability that counts as 0


class Requirement(NamedTuple):
    """A condition of success: a Gaussian process is within an interval.

    Args:
        model: The posterior of the process, without a warp.
        low: The lower end, or -inf.
        high: The upper end, or inf.
        blurred: Whether a standard normal number, one for each draw, is added to the process.
    """

    model: Posterior
    low: float
    high: float
    blurred: bool = False

    def excess(self, values: Array) -> Array:
        """How far values are outside, in deviations of the model; 0 of those that are inside."""
        outside = np.maximum(self.low - values, values - self.high)
        return np.asarray(np.maximum(outside, 0.0) / self.model.unit)


class LogChance(Protocol):
    """The log of a probability by place."""

    @property
    def requirement(self) -> Requirement:
        """What the probability is of."""
        ...

    def log_chance(self, X: Array) -> Array:
        """At the rows of X."""
        ...

    def log_chance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        ...


class Correction(Protocol):
    """A second guess at a probability, by which that of a model is corrected."""

    def mixed(self, log_chance: Array, X: Array) -> Array:
        """The log of the probability by both, from that by the model."""
        ...

    def mixed_with_gradient(
        self, log_chance: Array, gradient: Array, X: Array
    ) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        ...

    def broken_at(self, x: Array) -> Correction:
        """As if limits had been broken at x."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class WithinLimits:
    """The probability that a measured outcome is within its limits.

    Args:
        outcome: The posterior of the outcome, without a warp.
        low: The lower limit, or -inf.
        high: The upper limit, or inf.
        second: What else may be so, if the posterior is not taken at its word.
    """

    outcome: Posterior
    low: float
    high: float
    second: Correction | None = None

    @property
    def requirement(self) -> Requirement:
        """The outcome is within its limits."""
        return Requirement(self.outcome, self.low, self.high)

    def log_chance(self, X: Array) -> Array:
        r"""Log of :math:`\Phi(b) - \Phi(a)` with the standardised limits a, b."""
        a, b = self._standardised(*self.outcome(X))
        value = log_between(a, b)
        return value if self.second is None else self.second.mixed(value, X)

    def log_chance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        (mean, std), d_mean, d_std = self.outcome.with_gradient(X)
        a, b = self._standardised(mean, std)
        value = log_between(a, b)
        with np.errstate(over="ignore", invalid="ignore"):
            at_a, at_b = (np.exp(-0.5 * z * z - LOG_SQRT_2PI - value) for z in (a, b))
            s = np.maximum(std, _LEAST_STD)
            by_mean = (at_a - at_b) / s
            by_std = (_product(a, at_a) - _product(b, at_b)) / s
            gradient = by_mean[:, None] * d_mean + by_std[:, None] * d_std
        flat = (value <= _NEVER)[:, None] | ~np.isfinite(gradient)
        gradient = np.where(flat, 0.0, gradient)
        if self.second is None:
            return value, gradient
        return self.second.mixed_with_gradient(value, gradient, X)

    def broken_at(self, x: Array) -> WithinLimits:
        r"""As if x had given what is expected there if the outcome breaks its limits.

        On the side on which it is likelier to, that is :math:`m + s\,\varphi(b)/\Phi(-b)`.
        """
        mean, std = self.outcome(x[None, :])
        a, b = (float(z[0]) for z in self._standardised(mean, std))
        log_cdf = scipy_parts.special.log_ndtr
        above = log_cdf(-b) >= log_cdf(a)
        z = b if above else -a
        beyond = np.exp(-0.5 * z * z - LOG_SQRT_2PI - log_cdf(-z))
        value = mean[0] + (std[0] if above else -std[0]) * beyond
        second = None if self.second is None else self.second.broken_at(x)
        return replace(self, outcome=self.outcome.append(x, float(value)), second=second)

    def _standardised(self, mean: Array, std: Array) -> tuple[Array, Array]:
        s = np.maximum(std, _LEAST_STD)
        with np.errstate(over="ignore"):
            return (self.low - mean) / s, (self.high - mean) / s


@dataclass(frozen=True, slots=True, eq=False)
class Success:
    """The chance that an evaluation succeeds: the product of its parts.

    Args:
        parts: The probabilities, at least one.
    """

    parts: tuple[LogChance, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What success is: all of these hold."""
        return tuple(part.requirement for part in self.parts)

    def log_chance(self, X: Array) -> Array:
        """The sum of logs at the rows of X."""
        return np.asarray(sum(part.log_chance(X) for part in self.parts))

    def log_chance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        values, gradients = zip(
            *(part.log_chance_with_gradient(X) for part in self.parts), strict=True
        )
        return np.asarray(sum(values)), np.asarray(sum(gradients))

    def log_chance_of_limits(self, X: Array) -> Array:
        """The log of the chance that outcomes keep their limits, whether or not it fails."""
        parts = (p.log_chance(X) for p in self.parts if isinstance(p, WithinLimits))
        return np.asarray(sum(parts, start=np.zeros(len(X))))

    def broken_at(self, X: Array) -> Success:
        """The chance elsewhere if what is evaluated at the rows of X breaks its limits."""
        parts = self.parts
        for x in X:
            parts = tuple(p.broken_at(x) if isinstance(p, WithinLimits) else p for p in parts)
        return Success(parts)

    def of(self, model: Marginals) -> ChanceMarginals:
        """A model of f whose values come with this chance."""
        return ChanceMarginals(model, self)


@dataclass(frozen=True, slots=True, eq=False)
class ChanceMarginals:
    """A model of f at points whose values come with a chance."""

    model: Marginals
    success: Success

    def law(self, X: Array) -> Law:
        """The law of f with the chance."""
        log_chance = np.maximum(self.success.log_chance(X), _LEAST_LOG_CHANCE)
        return Chance(self.model.law(X), log_chance)

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """The law and the gradients of its parameters: the model's, and the log chance."""
        law, gradients = self.model.law_with_gradient(X)
        log_chance, gradient = self.success.log_chance_with_gradient(X)
        least = log_chance <= _LEAST_LOG_CHANCE
        of_chance = np.where(least[:, None], 0.0, gradient)
        return Chance(law, np.where(least, _LEAST_LOG_CHANCE, log_chance)), (*gradients, of_chance)


def log_between(a: Array, b: Array) -> Array:
    r"""Log of :math:`\Phi(b) - \Phi(a)` for a < b, precise in both tails."""
    with np.errstate(all="ignore"):
        upper = a + b > 0.0
        a, b = np.where(upper, -b, a), np.where(upper, -a, b)
        below, total = scipy_parts.special.log_ndtr(a), scipy_parts.special.log_ndtr(b)
        value = total + np.log(-np.expm1(np.minimum(below - total, 0.0)))
    return np.where(value > _NEVER, value, _NEVER)


def _product(z: Array, density: Array) -> Array:
    """A bound times the density there; 0 of an infinite bound."""
    return np.where(np.isfinite(z), z, 0.0) * density
