# SPDX-License-Identifier: Apache-2.0
"""Extending: a surrogate of the first observations, given the later ones too.

The factor of a covariance depends on points and hyper-parameters, not on values. So it grows by a
row for each new point, at a cost of n^2, and only what follows from the values is computed anew.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stopwise.core.beliefs._factorisation import centred_targets, frozen
from stopwise.core.beliefs.ensemble import Ensemble
from stopwise.core.beliefs.followed_table import FollowedTable
from stopwise.core.beliefs.gp import Posterior
from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.numerics import cholesky
from stopwise.core.numerics.arrays import Array


def extended(first: Updatable, X: Array, y: Array, fit: ObjectiveFit) -> Updatable:
    """The surrogate given all of the data, as if it had been conditioned on them.

    Args:
        first: The surrogate of the first of the points, whatever their values were then.
        X: All points.
        y: All values.
        fit: Its hyper-parameters, and the weights and the trust that it is to have.
    """
    if not isinstance(first, Ensemble):
        return _extended(first.weighted[0][1], X, y)
    grown = {id(each): _extended(each, X, y) for each in first.components}
    components = tuple(grown[id(each)] for each in first.components)
    return replace(first, components=components, weights=np.array(fit.weights), trust=fit.trust)


def can_extend(first: Updatable, X: Array, fit: ObjectiveFit) -> bool:
    """Whether a surrogate is one of the first of these points at these hyper-parameters."""
    known = first.weighted[0][1].X
    is_first = len(known) <= len(X) and np.array_equal(known, X[: len(known)])
    return is_first and first.fit.components == fit.components


def _extended(posterior: Posterior, X: Array, y: Array) -> Posterior:
    followed = posterior.followed or FollowedTable(len(posterior))
    for x, value in zip(X[len(posterior) :], y[len(posterior) :], strict=True):
        before, posterior = posterior, posterior.append(x, float(value))
        if posterior.jitter != before.jitter:  # the factor was computed anew
            followed = FollowedTable(len(posterior), is_broken=True)
    hyper = posterior.hyper
    standardiser = Standardiser.of(hyper.warp.forward(y))
    centred = centred_targets(y, hyper, standardiser)
    residual = cholesky.solve_lower(posterior.lower, centred[:, None])[:, 0]
    grown = replace(posterior, standardiser=standardiser, residual=frozen(residual))
    object.__setattr__(grown, "followed", followed)  # of this one alone, not of others made of it
    return grown
