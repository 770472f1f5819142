# SPDX-License-Identifier: Apache-2.0
"""Means and variances of a posterior from covariances with its data, all standardised."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array

if TYPE_CHECKING:
    from stopwise.core.beliefs.gp import Posterior


def moments(posterior: Posterior, k: Array) -> tuple[Array, Array]:
    """Means, without the constant, and variances at points with covariances k, (n, points).

    They are computed in the place of k.
    """
    prior, exact = posterior.hyper.outputscale, posterior.interpolation
    if exact is not None:
        return posterior.weights @ k, prior - exact.reduction(k)
    u = cholesky.times_lower(posterior.whitener, k, in_place=True)
    mean, variance = posterior.residual @ u, prior - np.einsum("ij,ij->j", u, u)
    if posterior.interpolate:
        w = cholesky.times_upper(posterior.whitener, u, in_place=True)
        variance -= posterior.nugget * np.einsum("ij,ij->j", w, w)
    return mean, variance


def moments_and_pull(posterior: Posterior, k: Array) -> tuple[Array, Array, Array]:
    """The same and the pull, (n, points): d variance = -2 pull^T dk."""
    prior, exact = posterior.hyper.outputscale, posterior.interpolation
    if exact is not None:
        mean = posterior.weights @ k
        reduction, pull = exact.reduction_with_pull(k)
        return mean, prior - reduction, pull
    whitener = posterior.whitener
    u = cholesky.times_lower(whitener, k, in_place=True)
    mean, variance = posterior.residual @ u, prior - np.vecdot(u.T, u.T)
    w = cholesky.times_upper(whitener, u, in_place=True)
    if not posterior.interpolate:
        return mean, variance, w
    variance -= posterior.nugget * np.vecdot(w.T, w.T)
    again = cholesky.times_lower(whitener, w)
    again = cholesky.times_upper(whitener, again, in_place=True)
    again *= posterior.nugget
    again += w
    return mean, variance, again
