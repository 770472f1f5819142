# SPDX-License-Identifier: Apache-2.0
r"""The fall of the lowest posterior mean by one more noisy observation: expected, and actual.

Where observations are noisy the best configuration is the evaluated one with the lowest posterior
mean, and a gain is a fall of that mean; a rise counts as no gain. An observation at x moves the
posterior mean at :math:`x_i` to :math:`\mu_i + \tilde\sigma_i Z` with a standard normal Z and

.. math:: \tilde\sigma_i = \mathrm{cov}(f(x_i), f(x)) / \sqrt{\mathrm{Var} f(x) + \sigma_n^2}.

The lowest mean before is one more line, of slope 0, so the expected gain is a knowledge gradient
(Frazier, Powell and Dayanik 2009). Without noise only x has a slope, and it is the expected
improvement.
"""

from __future__ import annotations

import math

import numpy as np

from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.laws import Normal
from stopwise.core.beliefs.warps import DEFAULT_WARP
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.knowledge_gradient import knowledge_gradient

_REACH, _NODES = 8.0, 200  # deviations, and points, of the quadrature over Z for warped outputs


def expected_fall(posterior: Posterior, X: Array, x: Array) -> float:
    """How far the lowest posterior mean is expected to fall by an observation, at least 0.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts; after the observation x is one of them.
        x: The point to be observed.

    Returns:
        The expected gain in the user's units: exact, or by quadrature where outputs are warped.
    """
    points = np.vstack([X, x])
    before = posterior(points)
    covariance = posterior.covariance(points, points[-1:])[:, 0]
    noise = posterior.nugget * posterior.standardiser.scale**2
    slopes = covariance / math.sqrt(max(covariance[-1], 0.0) + noise)
    lowest = _lowest(posterior, X)
    if posterior.hyper.warp == DEFAULT_WARP:
        lines = np.append(before.mean, lowest)
        gain = knowledge_gradient(lines, np.append(slopes, 0.0))
        return max(lowest - float(lines.min()), 0.0) + gain
    z, weights = np.polynomial.legendre.leggauss(_NODES)
    z *= _REACH
    weights *= np.exp(-0.5 * z * z)
    means = before.mean + slopes * z[:, None]
    std = np.sqrt(np.maximum(before.std**2 - slopes**2, 0.0))
    after = Normal(means.ravel(), np.tile(std, _NODES))
    lows = posterior.hyper.warp.law(after).mean.reshape(means.shape).min(axis=1)
    return float(weights @ np.maximum(lowest - lows, 0.0) / weights.sum())


def actual_fall(posterior: Posterior, X: Array, x: Array, y: float) -> float:
    """How far the lowest posterior mean has fallen by an observation, 0 where it has risen.

    Args:
        posterior: The belief before the observation.
        X: The points whose lowest mean counts; after the observation x is one of them.
        x: The point that was observed.
        y: Its value, in the user's units; smaller is better.
    """
    after = _lowest(posterior.append(x, y), np.vstack([X, x]))
    return max(_lowest(posterior, X) - after, 0.0)


def _lowest(posterior: Posterior, X: Array) -> float:
    return float(posterior.law(X).mean.min())
