# SPDX-License-Identifier: Apache-2.0
"""The fall of the lowest posterior mean: the expected one is the average of actual ones."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.lowest_mean import actual_fall, expected_fall
from tests.core.beliefs.test_warps import Squares

RNG = np.random.default_rng(7)
X = RNG.random((9, 2))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1] + 3.0
POINTS = {
    "new": np.array([0.31, 0.77]),
    "beside": X[2] + 0.02,
    "again": X[4],
    "best": X[Y.argmin()],
}


def noisy(noise=0.2, **more):
    return condition(X, Y, Hyperparameters([0.4, 0.6], 1.3, noise, -0.1, **more))


def outcomes(posterior, x, size):
    """Draws of an observation at x, in the user's units."""
    normal = posterior(x[None, :])
    noise = posterior.nugget * posterior.standardiser.scale**2
    spread = math.sqrt(float(normal.std[0]) ** 2 + noise)
    z = np.random.default_rng(3).standard_normal(size)
    return posterior.hyper.warp.inverse(float(normal.mean[0]) + spread * np.append(z, -z))


@pytest.mark.parametrize("x", POINTS.values(), ids=list(POINTS))
@pytest.mark.parametrize("model", [{}, {"noise": 1e-4}, {"warp": Squares(0.2)}], ids=str)
def test_the_expected_fall_is_the_mean_of_actual_ones(x, model):
    posterior = noisy(**model)
    falls = [actual_fall(posterior, X, x, y) for y in outcomes(posterior, x, 600)]
    expected = expected_fall(posterior, X, x)
    assert min(falls) >= 0.0
    error = np.std(falls) / math.sqrt(len(falls))
    assert expected == pytest.approx(np.mean(falls), abs=4.0 * error + 1e-12)
    assert expected > 8.0 * error  # the comparison says something


def test_without_noise_it_is_the_expected_improvement():
    posterior = condition(X, Y, Hyperparameters([0.4, 0.6], 1.3, 1e-9), interpolate=False)
    x = np.array([0.95, 0.2])
    wanted = math.exp(float(posterior.law(x[None, :]).log_ei(Y.min()).value[0]))
    assert expected_fall(posterior, X, x) == pytest.approx(wanted, rel=1e-4)
    assert actual_fall(posterior, X, x, Y.min() - 0.25) == pytest.approx(0.25, rel=1e-4)
    assert actual_fall(posterior, X, x, Y.min() + 0.25) == pytest.approx(0.0, abs=1e-4)


def test_a_mean_that_is_lower_already_is_part_of_the_fall():
    """Only evaluated points count before; afterwards the new one is among them."""
    posterior = noisy()
    grid = np.random.default_rng(1).random((400, 2))
    x = grid[posterior.law(grid).mean.argmin()]
    sure = float(posterior.law(X).mean.min() - posterior.law(x[None, :]).mean[0])
    assert sure > 0.0
    assert expected_fall(posterior, X, x) > sure


def test_gains_are_in_the_users_units():
    one, ten = noisy(), condition(X, 10.0 * Y, noisy().hyper)
    x = POINTS["new"]
    assert expected_fall(ten, X, x) == pytest.approx(10.0 * expected_fall(one, X, x))
    assert actual_fall(ten, X, x, -30.0) == pytest.approx(10.0 * actual_fall(one, X, x, -3.0))
    assert actual_fall(one, X, x, -3.0) > 0.1
