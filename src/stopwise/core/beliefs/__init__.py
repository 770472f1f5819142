# SPDX-License-Identifier: Apache-2.0
"""Gaussian processes over encoded inputs: posteriors, fits, sample paths and prices.

``condition`` gives a posterior at known hyper-parameters and ``fit_posterior`` fits them;
``sample_paths`` draws whole functions. ``UnitCost``, ``KnownCost`` and ``LearnedCost`` are cost
models, each of which gives a price over a domain; a posterior and a price are a ``Belief``.

Example:
    >>> import numpy as np
    >>> prior = condition(np.empty((0, 1)), np.empty(0), Hyperparameters(np.array([0.1])))
    >>> path = sample_paths(prior, np.random.default_rng(0), 1)  # one function, drawn
    >>> path(np.array([[0.2], [0.7]])).shape
    (1, 2)
"""

from stopwise.core.beliefs.belief import Belief
from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Hyperparameters, Normal, Posterior, Standardiser, condition
from stopwise.core.beliefs.paths import Paths, sample_paths
from stopwise.core.beliefs.prices import (
    CostModel,
    KnownCost,
    LearnedCost,
    LearnedPrice,
    Price,
    UnitCost,
)

__all__ = [
    "Belief",
    "CostModel",
    "Hyperparameters",
    "KnownCost",
    "LearnedCost",
    "LearnedPrice",
    "Normal",
    "Paths",
    "Posterior",
    "Price",
    "Standardiser",
    "UnitCost",
    "condition",
    "fit_posterior",
    "sample_paths",
]
