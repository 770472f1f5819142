# SPDX-License-Identifier: Apache-2.0
r"""Hyper-parameters by maximum likelihood, or maximum a posteriori under a prior.

The log marginal likelihood :math:`-\tfrac12 v^T v - \log|L| - \tfrac n2\log 2\pi` and its
gradient :math:`\tfrac12\,\mathrm{tr}\,(\alpha\alpha^T - K^{-1})\,\partial K` cost one
factorisation and one inverse. The constant mean is not searched for: at every step it is the
one that maximises the likelihood, :math:`1^T K^{-1} y / 1^T K^{-1} 1`, and by the envelope theorem
the other gradients do not change. Parameters are searched in logs, within bounds, by L-BFGS-B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from stopwise._math import chol
from stopwise.models.gp import (
    Groups,
    Hyperparameters,
    Posterior,
    Standardiser,
    as_data,
    condition,
)
from stopwise.models.kernel import matern52_and_slope, scaled_square_distances
from stopwise.models.priors import Fixed, Flat, Prior, Priors, priors

Array = NDArray[np.float64]

NUGGET = 1e-11  # of the standardised variance, where observations are exact (docs/adr)

_LENGTHSCALE_BOUNDS = (math.log(5e-3), math.log(1e6))
_OUTPUTSCALE_BOUNDS = (math.log(1e-3), math.log(1e4))
_NOISE_BOUNDS = (math.log(1e-6), math.log(10.0))
_EDGE = 0.05  # a parameter this close (in logs) to a bound makes a fit doubtful


class Likelihood(NamedTuple):
    """Log marginal likelihood, the mean that was used, and gradients (logs, except the mean)."""

    value: float
    mean: float
    d_log_lengthscales: Array
    d_log_outputscale: float
    d_log_noise: float
    d_mean: float


def log_likelihood(
    X: Array, y: Array, hyper: Hyperparameters, groups: Groups, *, profile_mean: bool = False
) -> Likelihood:
    """Log marginal likelihood of standardised y with all gradients.

    Where K needs jitter to be factorised, it is part of the noise, as it is of a posterior's.

    Args:
        X: Encoded inputs.
        y: Standardised observations.
        hyper: Where to evaluate; its mean is ignored with ``profile_mean``.
        groups: Column -> parameter.
        profile_mean: Use the mean that maximises the likelihood.
    """
    n = y.size
    Xs = X / hyper.lengthscales[groups]
    k, slope = matern52_and_slope(scaled_square_distances(Xs, Xs))
    k *= hyper.outputscale
    k.flat[:: n + 1] += hyper.noise
    lower, _ = chol.factorise(k)
    whitened = chol.solve_lower(lower, np.stack([y, np.ones(n)], axis=1))
    ones = whitened[:, 1]
    mean = float(ones @ whitened[:, 0] / (ones @ ones)) if profile_mean else hyper.mean
    v = whitened[:, 0] - mean * ones
    quadratic = float(v @ v)
    value = -0.5 * (quadratic + chol.log_determinant(lower) + n * math.log(2.0 * math.pi))

    alpha = chol.solve_upper(lower, v[:, None])[:, 0]
    inverse, _ = lapack.dpotri(lower, lower=1)  # lower triangle; zeros above
    trace = float(alpha @ alpha) - float(inverse.trace())
    # tr((aa' - K^-1) dK) over pairs, once each; (x - x')^2 is expanded so that BLAS does the sums.
    pairs = np.triu(np.multiply.outer(alpha, alpha))
    pairs -= inverse.T  # in rows, as everything else here
    pairs *= slope
    sums = pairs.sum(axis=0) + pairs.sum(axis=1)
    per_column = sums @ (Xs * Xs) - 2.0 * np.einsum("ij,ij->j", Xs, pairs @ Xs)
    d_lengthscales = np.zeros(hyper.lengthscales.size)
    np.add.at(d_lengthscales, groups, hyper.outputscale * per_column)
    # tr((aa' - K^-1)(K - noise I)) needs no product of matrices; jitter, if any, grows with K.
    d_outputscale = 0.5 * (quadratic - n - hyper.noise * trace)
    return Likelihood(
        value, mean, d_lengthscales, d_outputscale, 0.5 * hyper.noise * trace, float(v @ ones)
    )


@dataclass(frozen=True, slots=True)
class _Problem:
    """One fit: data, what is free, and the map between log parameters and hyper-parameters."""

    X: Array
    y: Array
    groups: Groups
    priors: Priors
    noise: float | None  # None: learned

    @property
    def d(self) -> int:
        return int(self.groups.max()) + 1

    def unpack(self, theta: Array) -> Hyperparameters:
        d = self.d
        noise = math.exp(theta[d + 1]) if self.noise is None else self.noise
        return Hyperparameters(np.exp(theta[:d]), math.exp(theta[d]), noise)

    def pack(self, hyper: Hyperparameters) -> Array:
        free = [*np.log(hyper.lengthscales), math.log(hyper.outputscale)]
        if self.noise is None:
            free.append(math.log(hyper.noise or NUGGET))
        return self._inside(np.array(free))

    def bounds(self) -> Array:
        """Lowest and highest log parameters, (free, 2); both the same where one is fixed."""
        lengthscale = _range(self.priors.lengthscale, _LENGTHSCALE_BOUNDS)
        outputscale = _range(self.priors.outputscale, _OUTPUTSCALE_BOUNDS)
        learned = [_range(self.priors.noise, _NOISE_BOUNDS)] if self.noise is None else []
        return np.array([lengthscale] * self.d + [outputscale, *learned])

    def loss(self, theta: Array) -> tuple[float, Array]:
        """Minus the log posterior density, and its gradient."""
        likelihood = log_likelihood(
            self.X, self.y, self.unpack(theta), self.groups, profile_mean=True
        )
        slopes = [likelihood.d_log_outputscale, likelihood.d_log_noise]
        gradient = np.append(likelihood.d_log_lengthscales, slopes)[: theta.size]
        lengthscales, outputscale, noise = np.split(theta, [self.d, self.d + 1])
        opinions = [
            self.priors.lengthscale.log_density(lengthscales),
            self.priors.outputscale.log_density(outputscale),
            self.priors.noise.log_density(noise),  # of nothing, where the noise is given
        ]
        value = likelihood.value + sum(float(density.sum()) for density, _ in opinions)
        return -value, -gradient - np.concatenate([slope for _, slope in opinions])

    def start(self, stretch: float = 1.0) -> Array:
        """Where a search begins: the modes of the priors, and the variance of the data, 1."""
        lengthscale = self.priors.lengthscale.log_mode + math.log(stretch)
        noise = [self.priors.noise.log_mode] if self.noise is None else []
        return self._inside(np.array([lengthscale] * self.d + [0.0, *noise]))

    def _inside(self, theta: Array) -> Array:
        return np.asarray(np.clip(theta, *self.bounds().T))


def _range(prior: Prior, bounds: tuple[float, float]) -> tuple[float, float]:
    return (prior.log_mode, prior.log_mode) if isinstance(prior, Fixed) else bounds


class _Search(NamedTuple):
    loss: float
    theta: Array
    doubtful: bool


def _search(problem: _Problem, start: Array) -> _Search:
    from scipy.optimize import minimize  # heavy; at first use

    bounds = problem.bounds()
    found = minimize(
        problem.loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 200, "ftol": 1e-8, "gtol": 1e-4, "maxcor": 20},
    )
    low, high = bounds.T
    # A long length scale is an irrelevant parameter, an everyday result; every other edge is not.
    at_edge = found.x < low + _EDGE
    at_edge[problem.d :] |= found.x[problem.d :] > high[problem.d :] - _EDGE
    return _Search(float(found.fun), found.x, bool(at_edge[low < high].any()))


def fit(
    X: Array,
    y: Array,
    *,
    groups: Groups | None = None,
    noise: float | None = NUGGET,
    prior: str | Priors | None = "lognormal",
    start: Hyperparameters | None = None,
) -> Hyperparameters:
    """Hyper-parameters for standardised observations y at encoded inputs X.

    Args:
        X: Encoded inputs, (n, width).
        y: Standardised observations, (n,).
        groups: Column -> parameter; one parameter per column if left out.
        noise: A fixed variance, or None to learn it.
        prior: ``"lognormal"``, ``"gamma"``, None or own ``Priors``; see
            ``stopwise.models.priors``.
        start: An earlier result to begin from, unless a cold start is the better beginning.

    Returns:
        The best of the searches that were run: one as a rule, more where the first result is
        doubtful or no prior guides it. Nothing is mutated. No data leave the priors' modes.
    """
    X, y = as_data(X, y)
    groups = np.arange(X.shape[1]) if groups is None else groups
    known = prior if isinstance(prior, Priors) else priors(prior, int(groups.max()) + 1)
    problem = _Problem(X, y, groups, known, noise)
    cold = problem.start()
    if not y.size:
        return problem.unpack(cold)
    first = cold
    if start is not None:
        first = min(problem.pack(start), cold, key=lambda theta: problem.loss(theta)[0])
    searches = [_search(problem, first)]
    if searches[0].doubtful or isinstance(known.lengthscale, Flat):
        others = [problem.start(0.3), problem.start(4.0)] + ([] if first is cold else [cold])
        searches += [_search(problem, other) for other in others]
    best = min(searches, key=lambda search: search.loss)
    hyper = problem.unpack(best.theta)
    return replace(hyper, mean=log_likelihood(X, y, hyper, groups, profile_mean=True).mean)


def fit_posterior(
    X: Array,
    y: Array,
    *,
    groups: Groups | None = None,
    noise: float | None = NUGGET,
    prior: str | Priors | None = "lognormal",
    start: Hyperparameters | None = None,
    interpolate: bool | None = None,
) -> Posterior:
    """Standardise, fit and condition: the posterior given y (user's units) at encoded X.

    ``interpolate`` says that a fixed noise is only a nugget; by default it is when the noise is
    no larger than the default one.

    Example:
        >>> X = np.linspace(0, 1, 8)[:, None]
        >>> posterior = fit_posterior(X, np.sin(6 * X[:, 0]))
        >>> at = posterior(np.array([[0.5]]))
        >>> bool(abs(at.mean[0] - np.sin(3.0)) < 3 * at.std[0] < 0.2)
        True
    """
    X, y = as_data(X, y)
    standardiser = Standardiser.of(y)
    hyper = fit(X, standardiser.forward(y), groups=groups, noise=noise, prior=prior, start=start)
    nugget = noise is not None and noise <= NUGGET
    exact = nugget if interpolate is None else interpolate
    return condition(X, y, hyper, standardiser=standardiser, groups=groups, interpolate=exact)
