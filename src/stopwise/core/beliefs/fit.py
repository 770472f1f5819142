# SPDX-License-Identifier: Apache-2.0
r"""Hyper-parameters by maximum likelihood, or maximum a posteriori under a prior.

The constant mean is not searched for: at every step it is the one that maximises the likelihood,
:math:`1^T K^{-1} y / 1^T K^{-1} 1`, and by the envelope theorem the other gradients do not change.
Parameters are searched in logs, within bounds (``stopwise.core.beliefs.active_set_bfgs``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from stopwise.core.beliefs.active_set_bfgs import Descent, descend
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.kernels import DEFAULT_KERNEL, Kernel, make_kernel
from stopwise.core.beliefs.likelihood import Likelihood, log_likelihood
from stopwise.core.beliefs.observations import as_data
from stopwise.core.beliefs.pairwise_distances import PairwiseDistances
from stopwise.core.beliefs.priors import Fixed, Flat, Prior, Priors, priors
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.warps import DEFAULT_WARP, Warp, make_warp
from stopwise.core.numerics.arrays import Array, Indices, Mask

NUGGET = 1e-11  # of the standardised variance, where observations are exact (docs/adr)

_LENGTHSCALE_BOUNDS = (math.log(5e-3), math.log(1e6))
_OUTPUTSCALE_BOUNDS = (math.log(1e-3), math.log(1e4))
_NOISE_BOUNDS = (math.log(1e-6), math.log(10.0))
_EDGE = 0.05  # a parameter this close (in logs) to a bound makes a fit doubtful
_FEW = 100  # observations up to which every doubt is followed
_STRETCHES = (0.3, 4.0)  # of the length scales at which further searches begin

MOST_LIKELIHOODS = 150  # of one fit, whatever the data (docs/adr/0033-bounded-work.md)
_SEARCHED = MOST_LIKELIHOODS - 2 - len(_STRETCHES)  # but for where searches begin


@dataclass(frozen=True, eq=False)  # no slots: what derives from the fields is cached
class _Problem:
    """One fit: data, what is free, and the map between log parameters and hyper-parameters."""

    X: Array
    y: Array
    groups: Indices
    kernel: Kernel
    priors: Priors
    noise: float | None  # None: learned

    @cached_property
    def d(self) -> int:
        return int(self.groups.max()) + 1

    def unpack(self, theta: Array) -> Hyperparameters:
        d = self.d
        noise = math.exp(theta[d + 1]) if self.noise is None else self.noise
        return Hyperparameters(np.exp(theta[:d]), math.exp(theta[d]), noise, kernel=self.kernel)

    def pack(self, hyper: Hyperparameters) -> Array:
        hyper.check_dimension(self.d)
        free = [*np.log(hyper.lengthscales), math.log(hyper.outputscale)]
        if self.noise is None:
            free.append(math.log(hyper.noise or NUGGET))
        return self._inside(np.array(free))

    def bounds(self) -> Array:
        """Lowest and highest log parameters, (free, 2); both the same where one is fixed."""
        lengthscales = [_range(prior, _LENGTHSCALE_BOUNDS) for prior in self.lengthscales]
        outputscale = _range(self.priors.outputscale, _OUTPUTSCALE_BOUNDS)
        learned = [_range(self.priors.noise, _NOISE_BOUNDS)] if self.noise is None else []
        return np.array([*lengthscales, outputscale, *learned])

    def at(self, theta: Array) -> _Evaluation:
        """Minus the log posterior density at log parameters, with its derivatives on demand."""
        hyper = self.unpack(theta)
        likelihood = log_likelihood(
            self.X, self.y, hyper, self.groups, profile_mean=True, pairs=self._pairs
        )
        return _Evaluation(self, theta, likelihood)

    def with_priors(self, theta: Array) -> list[tuple[Prior, Array]]:
        """Each prior, and the log parameters that it is the prior of."""
        d = self.d
        return [
            *((prior, theta[parameters]) for prior, parameters in self._alike),
            (self.priors.outputscale, theta[d : d + 1]),
            (self.priors.noise, theta[d + 1 :]),  # none, where the noise is fixed
        ]

    def start(self, stretch: float = 1.0) -> Array:
        """Where a search begins: the modes of the priors, and the variance of the data, 1."""
        lengthscales = [prior.log_mode + math.log(stretch) for prior in self.lengthscales]
        noise = [self.priors.noise.log_mode] if self.noise is None else []
        return self._inside(np.array([*lengthscales, 0.0, *noise]))

    @cached_property
    def lengthscales(self) -> tuple[Prior, ...]:
        """The prior of each parameter's length scale."""
        return self.priors.by_parameter or (self.priors.lengthscale,) * self.d

    @cached_property
    def _alike(self) -> list[tuple[Prior, slice]]:
        """Each prior of length scales, with the neighbouring parameters that share it."""
        starts = [i for i, (a, b) in enumerate(pairwise(self.lengthscales), start=1) if a != b]
        ends = [*starts, self.d]
        return [
            (self.lengthscales[begin], slice(begin, end))
            for begin, end in zip([0, *starts], ends, strict=True)
        ]

    @cached_property
    def _pairs(self) -> PairwiseDistances:
        return PairwiseDistances(self.kernel.warp(self.X), self.groups)

    def _inside(self, theta: Array) -> Array:
        return np.asarray(np.clip(theta, *self.bounds().T))


def _range(prior: Prior, bounds: tuple[float, float]) -> tuple[float, float]:
    return (prior.log_mode, prior.log_mode) if isinstance(prior, Fixed) else bounds


@dataclass(frozen=True, eq=False)  # no slots: derivatives are cached
class _Evaluation:
    """Minus the log posterior density at one theta, x, and its derivatives when asked for."""

    problem: _Problem
    x: Array
    likelihood: Likelihood

    @cached_property
    def value(self) -> float:
        return -self.likelihood.value - sum(float(density.sum()) for density, _ in self._priors)

    @cached_property
    def gradient(self) -> Array:
        of = self.likelihood
        gradient = [*of.d_log_lengthscales, of.d_log_outputscale, of.d_log_noise]
        slopes = np.concatenate([slope for _, slope in self._priors])
        return np.asarray(-np.array(gradient[: self.x.size]) - slopes)

    @cached_property
    def _priors(self) -> list[tuple[Array, Array]]:
        """Log densities and slopes."""
        return [prior.log_density(part) for prior, part in self.problem.with_priors(self.x)]

    def curvature(self) -> Array:
        """An approximation of the Hessian."""
        of_priors = [prior.curvature(part) for prior, part in self.problem.with_priors(self.x)]
        size = self.x.size
        return self.likelihood.information()[:size, :size] + np.diag(np.concatenate(of_priors))

    @property
    def edges(self) -> Mask:
        """Which parameters are at an edge where one is not expected.

        A long length scale is an irrelevant parameter, an everyday result; other edges are not.
        """
        low, high = self.problem.bounds().T
        d = self.problem.d
        at_edge = self.x < low + _EDGE
        at_edge[d:] |= self.x[d:] > high[d:] - _EDGE
        return np.asarray(at_edge & (low < high))


def _search(begin: _Evaluation, at_most: int) -> Descent[_Evaluation]:
    problem = begin.problem
    return descend(problem.at, begin, begin.curvature(), problem.bounds(), at_most=at_most)


def _is_doubtful(found: _Evaluation, begin: _Evaluation) -> bool:
    """Whether other searches are to check what one has found.

    With many data, an edge at which the search began was checked when it was reached.
    """
    if any(isinstance(prior, Flat) for prior in found.problem.lengthscales):
        return True
    few = found.problem.y.size <= _FEW
    return bool((found.edges if few else found.edges & ~begin.edges).any())


def _minimum(problem: _Problem, start: Hyperparameters | None) -> _Evaluation:
    """The best point of all searches, which share the budget of likelihoods."""
    cold = problem.at(problem.start())
    first = cold
    if start is not None:
        first = min(problem.at(problem.pack(start)), cold, key=_value)
    best, spent = _search(first, _SEARCHED)
    if _is_doubtful(best, first):
        others = [problem.at(problem.start(stretch)) for stretch in _STRETCHES]
        for begin in others if first is cold else [*others, cold]:
            found, more = _search(begin, _SEARCHED - spent)
            best, spent = min(best, found, key=_value), spent + more
    return best


def _value(evaluation: _Evaluation) -> float:
    return evaluation.value


def fit(
    X: Array,
    y: Array,
    *,
    groups: Indices | None = None,
    kernel: str | Kernel = DEFAULT_KERNEL,
    noise: float | None = NUGGET,
    prior: str | Priors | None = "lognormal",
    start: Hyperparameters | None = None,
) -> Hyperparameters:
    """Hyper-parameters for standardised observations y at encoded inputs X.

    Args:
        X: Encoded inputs, (n, width).
        y: Standardised observations, (n,).
        groups: Column -> parameter; one parameter per column if left out.
        kernel: A kernel, or its name in ``KERNELS``.
        noise: A fixed variance, or None to learn it.
        prior: ``"lognormal"``, ``"gamma"``, None or ``Priors``; see
            ``stopwise.core.beliefs.priors``.
        start: An earlier result to begin from, unless a cold start is the better beginning.

    Returns:
        The best of the searches that were run: one as a rule, more where the first result is
        doubtful or no prior guides it, with ``MOST_LIKELIHOODS`` likelihoods at most. Nothing is
        mutated. Without data it is the priors' modes.
    """
    X, y = as_data(X, y)
    groups = np.arange(X.shape[1]) if groups is None else groups
    chosen = prior if isinstance(prior, Priors) else priors(prior, int(groups.max()) + 1)
    problem = _Problem(X, y, groups, make_kernel(kernel), chosen, noise)
    if not y.size:
        return problem.unpack(problem.start())
    best = _minimum(problem, start)
    return replace(problem.unpack(best.x), mean=best.likelihood.mean)


def fit_posterior(
    X: Array,
    y: Array,
    *,
    groups: Indices | None = None,
    kernel: str | Kernel = DEFAULT_KERNEL,
    warp: str | Warp = DEFAULT_WARP,
    noise: float | None = NUGGET,
    prior: str | Priors | None = "lognormal",
    start: Hyperparameters | None = None,
    interpolate: bool | None = None,
) -> Posterior:
    """Warp, standardise, fit and condition: the posterior given y (user's units) at encoded X.

    Args:
        X: Encoded inputs, (n, width).
        y: Observed values, (n,).
        groups: Column -> parameter; one parameter per column if left out.
        kernel: A kernel, or its name in ``KERNELS``.
        warp: An output warp, or its name in ``WARPS``.
        noise: A fixed variance, standardised, or None to learn it.
        prior: As for ``fit``.
        start: An earlier result to begin from.
        interpolate: Whether a fixed noise is only a nugget; by default it is when it is no larger
            than the default one.

    Example:
        >>> X = np.linspace(0, 1, 8)[:, None]
        >>> posterior = fit_posterior(X, np.sin(6 * X[:, 0]))
        >>> at = posterior(np.array([[0.5]]))
        >>> bool(abs(at.mean[0] - np.sin(3.0)) < 3 * at.std[0] < 0.2)
        True
    """
    X, y = as_data(X, y)
    warp = make_warp(warp)
    warped = warp.forward(y)
    standardiser = Standardiser.of(warped)
    z = standardiser.forward(warped)
    hyper = fit(X, z, groups=groups, kernel=kernel, noise=noise, prior=prior, start=start)
    hyper = replace(hyper, warp=warp)
    nugget = noise is not None and noise <= NUGGET
    exact = nugget if interpolate is None else interpolate
    return condition(X, y, hyper, standardiser=standardiser, groups=groups, interpolate=exact)
