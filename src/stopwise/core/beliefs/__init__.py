# SPDX-License-Identifier: Apache-2.0
"""Gaussian processes over encoded inputs: posteriors, fits, sample paths and prices."""

from stopwise.core.beliefs.fit import fit_posterior
from stopwise.core.beliefs.gp import Hyperparameters, Normal, Posterior, Standardiser, condition

__all__ = [
    "Hyperparameters",
    "Normal",
    "Posterior",
    "Standardiser",
    "condition",
    "fit_posterior",
]
