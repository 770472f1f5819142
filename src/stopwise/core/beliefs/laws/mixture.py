# SPDX-License-Identifier: Apache-2.0
"""The law of a mixture: with each weight, f is distributed as one of several laws says."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._bounds_around import bounds_around
from stopwise.core.beliefs.laws._components import Components
from stopwise.core.beliefs.laws._log_sum import log_sum, mixed, scaled, weighted_logs
from stopwise.core.beliefs.laws._mixture_rates import rates_of_mixture, right_of_root
from stopwise.core.beliefs.laws._normal_stack import NormalStack
from stopwise.core.beliefs.laws._patched import Answer, merged, patched
from stopwise.core.beliefs.laws._roots import fair_value_from_right, increasing_root
from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI
from stopwise.errors import InputError

_LOG_HALF = math.log(0.5)
_CLOSED = 1e-12  # of the bracket of a quantile: its width at the end
_JUMP = 1e-9  # of a z-score: where a quantile's is off by more, the cdf jumps there


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    r"""A mixture of laws of f at the same points: :math:`F = \sum_i w_i F_i`.

    So :math:`\mathrm{EI} = \sum_i w_i\,\mathrm{EI}_i`. Assumes that one of the components is
    right, and that the weights say how probable each is.

    Slopes are in the parameters of all components, one component after the other. Log EI is as
    precise as those of the components. The fair value is the root of the mixture's EI, not a mean
    of the components' fair values. A mixture of one component answers as that component does.

    Args:
        weights: One for each component, not negative; they are scaled to a sum of 1.
        laws: The components; of a mixture among them, its own ones.

    References:
        Snoek et al. (2012), who average over hyper-parameters; decision 23.

    Example:
        >>> from stopwise.core.beliefs.laws import Normal
        >>> components = [Normal(np.array([mean]), np.array([0.5])) for mean in (0.0, 2.0)]
        >>> law = Mixture(np.array([0.9, 0.1]), components)
        >>> law.mean.round(3), law.median.round(3)
        (array([0.2]), array([0.07]))
    """

    weights: Array
    laws: Sequence[Law]
    _kept: list[NormalStack | None] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of_checked(cls, weights: Array, laws: Sequence[Law]) -> Mixture:
        """The mixture with ``checked_weights`` of laws that are no mixtures; for inner loops."""
        mixture = object.__new__(cls)
        object.__setattr__(mixture, "weights", weights)
        object.__setattr__(mixture, "laws", laws)
        object.__setattr__(mixture, "_kept", [])
        return mixture

    def __post_init__(self) -> None:
        weights = checked_weights(self.weights, len(self.laws))
        laws = tuple(zip(weights, self.laws, strict=True))
        flat = [pair for weight, law in laws for pair in _components_of(weight, law)]
        weights = np.array([weight for weight, _ in flat])
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "laws", tuple(law for _, law in flat))

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of all components, one component after the other."""
        return tuple(parameter for law in self.laws for parameter in law.parameters)

    @property
    def mean(self) -> Array:
        """The weighted mean of means."""
        return _total([w * law.mean for w, law in self._weighted])

    @property
    def std(self) -> Array:
        """From the variances within the components and that of their means."""
        if len(self.laws) == 1:
            return self.laws[0].std
        mean = self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            squares = [w * (law.std**2 + (law.mean - mean) ** 2) for w, law in self._weighted]
            std = np.sqrt(_total(squares))
        return np.where(np.isnan(std), np.inf, std)

    @property
    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.quantile(0.0).value

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the weighted sum of expected improvements."""
        stack = self._stack
        if stack is not None:
            log_ei = stack.log_ei(level)
            if np.isfinite(log_ei.value).all():
                return log_ei
        components = Components.up_to(level, self.weights, self.laws)
        return mixed(self.weights, components.with_slopes(lambda law, _: law.log_ei(level)))

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The same above a level."""
        if np.all(np.isneginf(low)):
            return self.log_ei(level)
        return mixed(
            self.weights,
            self._components.with_slopes(lambda law, _: law.log_ei_between(low, level)),
        )

    def cdf(self, level: Array | float) -> WithSlopes:
        """The weighted sum of cdfs."""
        parts = self._components.with_slopes(lambda law, _: law.cdf(level))
        values = [w * part.value for w, part in zip(self.weights, parts, strict=True)]
        slopes = [w * s for w, part in zip(self.weights, parts, strict=True) for s in part.slopes]
        return WithSlopes(_total(values), tuple(slopes))

    def log_cdf(self, level: Array | float) -> Array:
        """Log of the weighted sum of cdfs."""
        cdfs = self._components.values(lambda law, _: law.log_cdf(level))
        return log_sum(weighted_logs(self.weights, cdfs))

    def log_survival(self, level: Array | float) -> Array:
        """Log of the weighted sum of survival functions."""
        survivals = self._components.values(lambda law, _: law.log_survival(level))
        return log_sum(weighted_logs(self.weights, survivals))

    def log_density(self, level: Array | float) -> Array:
        """Log of the weighted sum of densities."""
        densities = self._components.values(lambda law, _: law.log_density(level))
        return log_sum(weighted_logs(self.weights, densities))

    def z_score(self, level: Array | float) -> WithSlopes:
        """From the log cdf below the median and the log survival above: precise in both tails."""
        if len(self.laws) == 1:
            return self.laws[0].z_score(level)
        z, slopes = self._z(level), []
        parts = self._components.with_slopes(lambda law, _: law.z_score(level))
        for w, part in zip(self.weights, parts, strict=True):
            with np.errstate(all="ignore"):  # the ratio of the normal densities at the z-scores
                ratio = np.exp(0.5 * (z - part.value) * (z + part.value))
            factor = np.where(np.isfinite(z), w * ratio, 0.0)
            slopes += [scaled(factor, slope) for slope in part.slopes]
        return WithSlopes(z, tuple(slopes))

    def quantile(self, z: Array | float) -> WithSlopes:
        """The root of the z-score, between the least and the largest quantile of a component."""
        if len(self.laws) == 1:
            return self.laws[0].quantile(z)
        around = bounds_around(self.weights, self.laws, Mixture)
        if around is not None:  # searched for inside, where nothing jumps
            return around.quantile(z)
        return self._answered(NormalStack.quantile, Mixture._searched_quantile, z)

    def _searched_quantile(self, z: Array | float) -> WithSlopes:
        """The same for components of any kind."""
        parts = self._components.with_slopes(lambda law, _: law.quantile(z))
        ends = np.array([part.value for part in parts])[self.weights > 0.0]
        low, high = ends.min(axis=0), ends.max(axis=0)
        aimed = _Aimed(self, np.broadcast_to(z, low.shape))
        value = increasing_root(aimed, _Aimed.excess, low, high)
        # A jump of the cdf is at the quantile of a component, up to where the bracket closed.
        nearest = np.take_along_axis(ends, np.abs(ends - value).argmin(axis=0)[None], axis=0)[0]
        closed = _CLOSED * np.minimum(high - low, 1.0 + np.abs(value))
        value = np.where(np.abs(nearest - value) <= closed, nearest, value)
        return WithSlopes(value, self._slopes_of_quantile(value, z, parts))

    def fair_value(self, price: Array | float) -> FairValue:
        """The root of EI(g) = price, from the right end of a bracket.

        With the components' fair values g_i(c), the root lies between min g_i(c) and the smaller
        of max g_i(c) and min g_i(c/w_i). At the latter EI is at most the price times the number of
        components, so that few steps lead from there to the root.
        """
        if len(self.laws) == 1:
            return self.laws[0].fair_value(price)
        around = bounds_around(self.weights, self.laws, Mixture)
        if around is not None:
            return around.fair_value(price)
        return self._answered(NormalStack.fair_value, Mixture._searched_fair_value, price)

    def _searched_fair_value(self, price: Array | float) -> FairValue:
        """The same for components of any kind."""
        start = right_of_root(self.weights, self.laws, price)
        return fair_value_from_right(
            self, price, start, lambda law, level: rates_of_mixture(law.weights, law.laws, level)
        )

    def at(self, where: Mask) -> Mixture:
        """The law at some of the points."""
        return Mixture(self.weights, [law.at(where) for law in self.laws])

    def known_at(self, rows: Indices, values: Array) -> Mixture:
        """With these values at some of the points, in every component."""
        return Mixture(self.weights, [law.known_at(rows, values) for law in self.laws])

    def _answered(
        self,
        ask: Callable[[NormalStack, Array | float], tuple[Answer, Mask]],
        search: Callable[[Mixture, Array | float], Answer],
        given: Array | float,
    ) -> Answer:
        """The answer of the components together, and what is searched for where they have none."""
        stack = self._stack
        if stack is None:
            return self._answered_apart(ask, search, given)
        answer, elsewhere = ask(stack, given)
        if not elsewhere.any():
            return answer
        there = np.broadcast_to(given, elsewhere.shape)[elsewhere]
        return patched(answer, elsewhere, search(self.at(elsewhere), there))

    def _answered_apart(
        self,
        ask: Callable[[NormalStack, Array | float], tuple[Answer, Mask]],
        search: Callable[[Mixture, Array | float], Answer],
        given: Array | float,
    ) -> Answer:
        """The same where the components have no common answer, or only at some of the points."""
        stack = NormalStack.uncertain_or_not(self.weights, self.laws)
        together = None if stack is None else stack.answerable
        if together is None or not together.any():
            return search(self, given)
        all_given = np.broadcast_to(given, together.shape)
        return merged(
            together,
            self.at(together)._answered(ask, search, all_given[together]),  # noqa: SLF001  its own
            search(self.at(~together), all_given[~together]),
        )

    @property
    def _stack(self) -> NormalStack | None:
        """The components together; made once."""
        if not self._kept:
            self._kept.append(NormalStack.of(self.weights, self.laws))
        return self._kept[0]

    @property
    def _components(self) -> Components:
        return Components.of(self.weights, self.laws)

    @property
    def _weighted(self) -> list[tuple[float, Law]]:
        """Components of a positive weight."""
        pairs = zip(self.weights.tolist(), self.laws, strict=True)
        return [(w, law) for w, law in pairs if w > 0.0]

    def _z(self, level: Array | float) -> Array:
        below, above = self.log_cdf(level), self.log_survival(level)
        z: Array = np.where(
            below <= _LOG_HALF,
            scipy_parts.special.ndtri_exp(below),
            -scipy_parts.special.ndtri_exp(above),
        )
        return z

    def _slopes_of_quantile(
        self, value: Array, z: Array | float, parts: list[WithSlopes]
    ) -> tuple[Array, ...]:
        """-dF/dparameter over the density; at a jump, the slopes of the components that jump."""
        log_density = self.log_density(value)
        after = value + 4.0 * np.spacing(np.abs(value))  # a warped jump has moved by rounding
        jump = (self._z(after) > z + _JUMP) | ~np.isfinite(log_density)
        jumping = [w * (part.value == value) for w, part in zip(self.weights, parts, strict=True)]
        total = np.maximum(_total(jumping), np.finfo(np.float64).tiny)
        scores = self._components.with_slopes(lambda law, _: law.z_score(value))
        slopes = []
        for w, score, part, weight in zip(self.weights, scores, parts, jumping, strict=True):
            with np.errstate(all="ignore"):
                factor = w * np.exp(-0.5 * score.value**2 - LOG_SQRT_2PI - log_density)
            factor = np.where((w > 0.0) & ~jump, factor, 0.0)
            slopes += [
                np.where(jump, scaled(weight / total, in_part), scaled(factor, -slope))
                for slope, in_part in zip(score.slopes, part.slopes, strict=True)
            ]
        return tuple(slopes)


class _Aimed(NamedTuple):
    """A mixture and the z-scores whose levels are looked for."""

    law: Mixture
    z: Array

    def at(self, where: Mask) -> _Aimed:
        """The same at some of the points."""
        return _Aimed(self.law.at(where), self.z[where])

    def excess(self, level: Array) -> tuple[Array, Array]:
        """The z-scores at levels over those looked for, and their slopes in the level."""
        at = self.law._z(level)  # noqa: SLF001  of this file
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.exp(self.law.log_density(level) + 0.5 * at * at + LOG_SQRT_2PI)
        return at - self.z, slope


def checked_weights(weights: Array, count: int) -> Array:
    """The weights of so many laws, with a sum of 1."""
    weights = np.array(weights, dtype=np.float64)
    total = float(weights.sum())
    if weights.shape != (count,) or not (np.all(weights >= 0.0) and 0 < total < np.inf):
        message = (
            f"weights {weights.tolist()} of {count} laws: give one for each, none of them"
            " negative, and not all of them 0."
        )
        raise InputError(message)
    return np.asarray(weights / total)


def _components_of(weight: float, law: Law) -> list[tuple[float, Law]]:
    """A component, or those of a mixture: a mixture of mixtures is one mixture."""
    if not isinstance(law, Mixture):
        return [(weight, law)]
    return [(weight * w, part) for w, part in zip(law.weights, law.laws, strict=True)]


def _total(arrays: list[Array]) -> Array:
    total: Array = np.sum(np.array(arrays), axis=0)
    return total
