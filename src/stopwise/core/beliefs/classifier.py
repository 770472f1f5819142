# SPDX-License-Identifier: Apache-2.0
r"""The classifier of evaluations: a Gaussian process for the probability that one succeeds.

An evaluation at x succeeds with probability :math:`\Phi(h(x))`. The latent h is a Gaussian process
with a Matern-5/2 kernel over encoded inputs; its constant mean is such that far from all data the
probability is the observed rate. The posterior of h is approximated by a normal (expectation
propagation): each outcome is replaced by a pseudo-observation of h whose value and variance match
the first two moments of the posterior there. So a ``Posterior`` of a regression on them answers
for it. (Laplace's approximation is cheaper, but too timid by far: after 30 failures at one place
it still gave success a chance of 0.1, and the search went back there.)

Length scales and prior variance are taken from a few candidates, by the approximate marginal
likelihood and the default prior of length scales: those that are the same in all parameters first,
then each parameter's own.

References:
    Minka (2001); Rasmussen and Williams (2006), Section 3.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs._factorisation import frozen
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.priors import priors
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.success import Requirement
from stopwise.core.numerics import cholesky, scipy_parts
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI

MOST_POINTS = 800  # that a classifier is given; of more, so many of all times
_POINTS_OF_CHOICE = 100  # by which hyper-parameters are chosen
_LENGTHSCALES = (0.1, 0.2, 0.4, 0.8, 1.6)  # the same for all parameters, in roots of d
_STRETCHES = (0.5, 2.0, 8.0)  # of one parameter's length scale
_VARIANCES = (1.0, 4.0, 16.0, 64.0)  # of the latent process
_MOST_SWEEPS = 50  # of the last approximation
_SWEEPS_OF_CHOICE = 6  # of those by which hyper-parameters are compared; each starts from the last
_DAMPING = 0.8  # the part of a step that is taken
_CLOSE = 1e-7  # of the sites: a step that is smaller is the last
_LEAST_PRECISION, _LEAST_VARIANCE = 1e-10, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """The probability of success by place.

    Args:
        latent: The posterior of the latent process.
    """

    latent: Posterior

    @property
    def requirement(self) -> Requirement:
        """The latent process and a normal number are not negative together."""
        return Requirement(self.latent, 0.0, np.inf, blurred=True)

    def log_chance(self, X: Array) -> Array:
        r"""Log :math:`E\,\Phi(h) = \log\Phi(m/\sqrt{1 + s^2})` at the rows of X."""
        mean, std = self.latent(X)
        return np.asarray(scipy_parts.special.log_ndtr(mean / np.hypot(1.0, std)))

    def log_chance_with_gradient(self, X: Array) -> tuple[Array, Array]:
        """The same with its gradient in x."""
        (mean, std), d_mean, d_std = self.latent.with_gradient(X)
        width = np.hypot(1.0, std)
        z = mean / width
        value = scipy_parts.special.log_ndtr(z)
        d_z = d_mean / width[:, None] - d_std * (mean * std / width**3)[:, None]
        return value, d_z * _ratio(z, value)[:, None]


def fit_classifier(
    X: Array, succeeded: Mask, groups: Indices, hyper: Hyperparameters | None = None
) -> Classifier:
    """The classifier of some evaluations.

    Args:
        X: Encoded points.
        succeeded: Whether each evaluation gave a value.
        groups: Column -> parameter.
        hyper: Length scales and prior variance, if they were chosen before; the mean is always
            that of the observed rate.

    Example:
        >>> X = np.linspace(0.0, 1.0, 11)[:, None]
        >>> classifier = fit_classifier(X, X[:, 0] < 0.55, np.array([0]))
        >>> np.exp(classifier.log_chance(np.array([[0.25], [0.75]]))).round(1)
        array([1., 0.])
    """
    hyper = choose_hyperparameters(X, succeeded, groups) if hyper is None else hyper
    hyper = replace(hyper, mean=_mean(succeeded, hyper.outputscale))
    rows = _thinned(len(X), MOST_POINTS)
    X, signs = X[rows], _signs(succeeded[rows])
    covariance = _covariance(X, groups, hyper)
    (precision, shift), lower, _ = _propagated(covariance, hyper.mean, signs, None, _MOST_SWEEPS)
    residual = cholesky.solve_lower(lower, (shift / precision)[:, None])[:, 0]
    return Classifier(
        Posterior(
            X=frozen(np.array(X)),
            hyper=hyper,
            standardiser=Standardiser(),
            groups=groups,
            interpolate=False,
            lower=frozen(lower),
            whitener=frozen(cholesky.inverse_factor(lower)),
            residual=frozen(residual),
            jitter=0.0,
            interpolation=None,
        )
    )


def choose_hyperparameters(X: Array, succeeded: Mask, groups: Indices) -> Hyperparameters:
    """Length scales and prior variance: the likeliest of a few candidates."""
    rows = _thinned(len(X), _POINTS_OF_CHOICE)
    X, succeeded = X[rows], succeeded[rows]
    d = int(groups.max()) + 1
    prior, signs = priors("lognormal", d).lengthscale, _signs(succeeded)
    sites: _Sites | None = None

    def log_density(hyper: Hyperparameters) -> float:
        nonlocal sites
        mean, covariance = _mean(succeeded, hyper.outputscale), _covariance(X, groups, hyper)
        sites, _, value = _propagated(covariance, mean, signs, sites, _SWEEPS_OF_CHOICE)
        of_prior, _ = prior.log_density(np.log(hyper.lengthscales))
        return value + float(of_prior.sum())

    same = [
        Hyperparameters(np.full(d, lengthscale * math.sqrt(d)), variance)
        for variance in _VARIANCES
        for lengthscale in _LENGTHSCALES
    ]
    densities = [log_density(hyper) for hyper in same]
    best = int(np.argmax(densities))
    chosen, highest = same[best], densities[best]
    for i in range(d if d > 1 else 0):
        for stretch in _STRETCHES:
            lengthscales = np.array(chosen.lengthscales)
            lengthscales[i] = same[best].lengthscales[i] * stretch
            other = replace(chosen, lengthscales=lengthscales)
            density = log_density(other)
            if density > highest:
                chosen, highest = other, density
    return chosen


class _Sites(NamedTuple):
    """Pseudo-observations of the latent process less its mean, one a point.

    Attributes:
        precision: One over the variance of each.
        shift: Each one's precision times its value.
    """

    precision: Array
    shift: Array


class _Approximation(NamedTuple):
    """The normal approximation of the latent process.

    Attributes:
        sites: Its pseudo-observations.
        lower: The factor of covariance plus their variances.
        log_likelihood: The approximate log marginal likelihood.
    """

    sites: _Sites
    lower: Array
    log_likelihood: float


def _propagated(
    covariance: Array, mean: float, signs: Array, start: _Sites | None, most_sweeps: int
) -> _Approximation:
    """Expectation propagation, all sites at once and damped; ends after so many sweeps."""
    n = len(signs)
    sites = _Sites(np.full(n, _LEAST_PRECISION), np.zeros(n)) if start is None else start
    lower, log_likelihood, after = _sweep(covariance, mean, signs, sites)
    for _ in range(most_sweeps - 1):
        if max(np.abs(new - old).max() for new, old in zip(after, sites, strict=True)) <= _CLOSE:
            break
        pairs = zip(sites, after, strict=True)
        sites = _Sites(*((1.0 - _DAMPING) * old + _DAMPING * new for old, new in pairs))
        lower, log_likelihood, after = _sweep(covariance, mean, signs, sites)
    return _Approximation(sites, lower, log_likelihood)


def _sweep(
    covariance: Array, mean: float, signs: Array, sites: _Sites
) -> tuple[Array, float, _Sites]:
    """The factor and the log marginal likelihood at some sites, and the sites that follow."""
    precision, shift = sites
    noisy = covariance.copy()
    noisy[np.diag_indices_from(noisy)] += 1.0 / precision
    lower, _ = cholesky.factorise(noisy)
    targets = shift / precision
    u = cholesky.solve_lower(lower, np.asfortranarray(covariance))
    v = cholesky.solve_lower(lower, targets[:, None])[:, 0]
    variance = np.maximum(np.diag(covariance) - np.einsum("ij,ij->j", u, u), _LEAST_VARIANCE)
    # Each point's marginal without its own site.
    cavity = np.maximum(1.0 / variance - precision, _LEAST_PRECISION)
    var, centre = 1.0 / cavity, ((v @ u) / variance - shift) / cavity
    width = np.sqrt(1.0 + var)
    z = signs * (mean + centre) / width
    log_cdf = scipy_parts.special.log_ndtr(z)
    ratio = _ratio(z, log_cdf)
    matched = np.maximum(var - var**2 * ratio * (z + ratio) / (1.0 + var), _LEAST_VARIANCE)
    new_precision = np.maximum(1.0 / matched - cavity, _LEAST_PRECISION)
    new_shift = (centre + signs * var * ratio / width) / matched - centre * cavity
    joint = var + 1.0 / precision
    log_likelihood = float(
        log_cdf.sum()
        + 0.5 * np.sum(np.log(joint) + (centre - targets) ** 2 / joint)
        - 0.5 * (cholesky.log_determinant(lower) + v @ v)
    )
    return lower, log_likelihood, _Sites(new_precision, new_shift)


def _ratio(z: Array, log_cdf: Array) -> Array:
    """The normal density over the cdf, the derivative of log Phi."""
    return np.asarray(np.exp(-0.5 * z * z - LOG_SQRT_2PI - log_cdf))


def _covariance(X: Array, groups: Indices, hyper: Hyperparameters) -> Array:
    scaled = X / hyper.lengthscales[groups]
    return hyper.outputscale * hyper.kernel.value(square_distances(scaled, scaled))


def _mean(succeeded: Mask, variance: float) -> float:
    """The mean at which the prior probability is the observed rate, by Laplace's rule."""
    rate = (np.count_nonzero(succeeded) + 1.0) / (len(succeeded) + 2.0)
    return float(scipy_parts.special.ndtri(rate)) * math.sqrt(1.0 + variance)


def _signs(succeeded: Mask) -> Array:
    return np.where(succeeded, 1.0, -1.0)


def _thinned(n: int, most: int) -> Indices:
    """Rows of all times, at most so many."""
    return np.unique(np.linspace(0.0, n - 1.0, min(n, most)).round().astype(np.intp))
