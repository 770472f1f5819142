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


def found(name, noise, seed):
    """What a study reports as its best and what it saw as the lowest: (value, f, least f) each."""
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
    lowest = min(result.history, key=lambda trial: trial.value)
    return [(each.value, f(each.params), minimum) for each in (result.best, lowest)]


def compared(name, seeds):
    """Regrets with the noise learned, and with it ignored: (2, seeds)."""
    reported = [[found(name, noise, n)[0] for n in seeds] for noise in NOISES.values()]
    return np.array([[f - minimum for _, f, minimum in row] for row in reported])
