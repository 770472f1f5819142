# SPDX-License-Identifier: Apache-2.0
r"""The fall of the lowest posterior mean by one more noisy observation: expected, and actual.

Where observations are noisy the best configuration is the evaluated one with the lowest posterior
mean, and a gain is a fall of that mean; a rise counts as no gain. An observation at x moves the
posterior mean at :math:`x_i` to :math:`\mu_i + \tilde\sigma_i Z` with a standard normal Z and

.. math:: \tilde\sigma_i = \mathrm{cov}(f(x_i), f(x)) / \sqrt{\mathrm{Var} f(x) + \sigma_n^2}.

So the expected fall is a knowledge gradient (Frazier, Powell and Dayanik 2009). Where a rise
counts as no gain, as in promises, the lowest mean before is one more line, of slope 0. Without
noise only x has a slope, and both are the expected improvement.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.laws import Loss, Normal
from stopwise.core.beliefs.warps import DEFAULT_WARP
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.knowledge_gradient import knowledge_gradient

_REACH, _NODES = 8.0, 200  # deviations, and points, of the quadrature over Z for warped outputs


def expected_fall(
    posterior: Posterior, X: Array, x: Array, loss: Loss | None = None, fallback: float = math.inf
) -> float:
    """How far the lowest posterior mean is expected to fall, where a rise counts as no gain.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts, if any; after the observation x is one of them.
        x: The point to be observed.
        loss: With a utility, minus what values are worth; the fall is then that of the loss.
        fallback: The value that one has anyhow: a fall counts from it, where that is lower.

    Returns:
        The expected gain in the user's units: exact, or by quadrature where outputs are warped or
        there is a loss.
    """
    return _gain(posterior, X, x, loss, rises_count=False, fallback=fallback)


def knowledge_gain(posterior: Posterior, X: Array, x: Array) -> float:
    """How far the lowest posterior mean is expected to fall, rises included: at least 0.

    That is the knowledge gradient of one observation. What is learned is worth something only if
    another point may be preferred for it, so at a point without rivals it is 0.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts; after the observation x is one of them.
        x: The point to be observed; it may be one of X.

    Returns:
        The expected gain in the user's units: exact, or by quadrature where outputs are warped.
    """
    return max(_gain(posterior, X, x, None, rises_count=True), 0.0)


def screened_gains(posterior: Posterior, X: Array, at: Array) -> Array:
    """Knowledge gains of one observation at each of some points, in units of the warp.

    Without a warp they are those of ``knowledge_gain``; with one they serve to compare points.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts; after the observation its point is one of them.
        at: The points to be observed.
    """
    means, (here, std) = posterior(X).mean, posterior(at)
    deviations = np.sqrt(std**2 + posterior.nugget * posterior.standardiser.scale**2)
    slopes = np.vstack([posterior.covariance(X, at), std**2]) / deviations
    lower = np.maximum(means.min() - here, 0.0)
    pairs = zip(here.tolist(), slopes.T, strict=True)
    gains = [knowledge_gradient(np.append(means, mean), slope) for mean, slope in pairs]
    return np.asarray(lower + np.array(gains))


def _gain(
    posterior: Posterior,
    X: Array,
    x: Array,
    loss: Loss | None,
    *,
    rises_count: bool,
    fallback: float = math.inf,
) -> float:
    points = np.vstack([X, x])
    before = posterior(points)
    covariance = posterior.covariance(points, points[-1:])[:, 0]
    noise = posterior.nugget * posterior.standardiser.scale**2
    slopes = covariance / math.sqrt(max(covariance[-1], 0.0) + noise)
    lowest = min(_lowest(posterior, X), fallback)
    if posterior.hyper.warp == DEFAULT_WARP and loss is None:
        lines = before.mean
        if not rises_count:
            lines, slopes = np.append(lines, lowest), np.append(slopes, 0.0)
        return max(lowest - float(lines.min()), 0.0) + knowledge_gradient(lines, slopes)
    z, weights = np.polynomial.legendre.leggauss(_NODES)
    z *= _REACH
    weights *= np.exp(-0.5 * z * z)
    means = before.mean + slopes * z[:, None]
    std = np.sqrt(np.maximum(before.std**2 - slopes**2, 0.0))
    after = Normal(means.ravel(), np.tile(std, _NODES))
    lows = posterior.hyper.warp.law(after).mean.reshape(means.shape).min(axis=1)
    if loss is not None:
        lowest, lows = float(loss(np.array([lowest]))[0]), loss(lows)
    falls = lowest - lows if rises_count else np.maximum(lowest - lows, 0.0)
    return float(weights @ falls / weights.sum())


def actual_fall(
    posterior: Posterior,
    X: Array,
    x: Array,
    y: float,
    loss: Loss | None = None,
    fallback: float = math.inf,
) -> float:
    """How far the lowest posterior mean has fallen by an observation, 0 where it has risen.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts; after the observation x is one of them.
        x: The point that was observed.
        y: Its value, in the user's units; smaller is better.
        loss: With a utility, minus what values are worth.
        fallback: The value that one has anyhow: a fall counts from it, where that is lower.
    """
    before = min(_lowest(posterior, X), fallback)
    after = min(_lowest(posterior.append(x, y), np.vstack([X, x])), fallback)
    if loss is not None:
        before, after = loss(np.array([before, after])).tolist()
    return max(before - after, 0.0)


def _lowest(posterior: Posterior, X: Array) -> float:
    return float(posterior.law(X).mean.min(initial=math.inf))
