# SPDX-License-Identifier: Apache-2.0
"""The factorisation behind a posterior: its factor from scratch, and its targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from stopwise.core.beliefs.hyperparameters import Hyperparameters
from stopwise.core.beliefs.interpolation import MANY, Interpolation
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array, Indices

if TYPE_CHECKING:
    from stopwise.core.beliefs.gp import Posterior

_BLOCK = 512  # rows per pass: bounds memory

AnyArray = TypeVar("AnyArray", Array, Indices)


def centred_targets(y: Array, hyper: Hyperparameters, standardiser: Standardiser) -> Array:
    """y - m, standardised."""
    return standardiser.forward(hyper.warp.forward(y)) - hyper.mean


def factorised(posterior: Posterior, centred: Array) -> Posterior:
    """The posterior with its factor computed from scratch."""
    n = len(posterior.X)
    covariance = np.empty((n, n), order="F")
    for start in range(0, n, _BLOCK):
        rows = slice(start, start + _BLOCK)
        covariance[:, rows] = posterior.cross_covariance(posterior.X[rows])
    covariance[np.diag_indices_from(covariance)] += posterior.hyper.noise
    lower, jitter = cholesky.factorise(covariance)
    residual = cholesky.solve_lower(lower, centred[:, None])[:, 0]
    whitener = cholesky.inverse_factor(lower)
    nugget = posterior.hyper.noise + jitter
    many = posterior.interpolate and len(lower) >= MANY
    return replace(
        posterior,
        lower=frozen(lower),
        whitener=frozen(whitener),
        residual=frozen(residual),
        jitter=jitter,
        interpolation=Interpolation.of(whitener, nugget) if many else None,
    )


def frozen(array: AnyArray) -> AnyArray:
    """The array, read-only from now on."""
    array.flags.writeable = False
    return array
