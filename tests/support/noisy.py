# SPDX-License-Identifier: Apache-2.0
"""Noisy studies of smooth functions: the true regret of what they report."""

import numpy as np

import stopwise as sw
from stopwise.core.numerics.seeds import stream
from stopwise.stopping import FixedTrials
from tests.support.problems import SMOOTH

SHARE = 0.05  # deviation of the noise, of the range of the function
RANGES = {"branin": 307.73, "hartmann6": 3.3224}  # largest less smallest value on the cube
AFTER = {"branin": 60, "hartmann6": 80}  # evaluations after the initial design
NOISES = {"learned": "learn", "ignored": None}


def regret(name, noise, seed):
    """f at the reported configuration, less the minimum of f; without noise both."""
    function, d, _, minimum = SMOOTH[name]
    rng = stream(seed, "noise")

    def f(params):
        return float(function(np.array([list(params.values())]))[0])

    result = sw.minimize(
        lambda params: f(params) + SHARE * RANGES[name] * rng.standard_normal(),
        {f"x{i}": sw.Real(0.0, 1.0) for i in range(d)},
        lam=1e-3 * RANGES[name],
        noise=noise,
        stopping=FixedTrials(AFTER[name]),
        seed=seed,
    )
    return f(result.best.params) - minimum


def compared(name, seeds):
    """Regrets with the noise learned, and with it ignored: (2, seeds)."""
    return np.array([[regret(name, noise, seed) for seed in seeds] for noise in NOISES.values()])
