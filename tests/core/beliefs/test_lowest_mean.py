# SPDX-License-Identifier: Apache-2.0
"""The fall of the lowest posterior mean: the expected one is the average of actual ones."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.difference_posterior import difference_posterior
from stopwise.core.beliefs.lowest_mean import (
    actual_fall,
    expected_fall,
    knowledge_gain,
    screened_gains,
)
from stopwise.core.beliefs.utilities import Linear, Sigmoid, Threshold
from tests.support.square_warp import Squares

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


@pytest.mark.parametrize("points", [X, X[:0]], ids=["beside others", "alone"])
@pytest.mark.parametrize("below", [-0.5, 0.3, 0.0, 9.0])
@pytest.mark.parametrize("model", [{}, {"warp": Squares(0.2)}], ids=str)
def test_beside_a_fallback_a_fall_counts_from_it_where_that_is_lower(points, below, model):
    """By the means before and after, and by the average over what may be observed."""
    posterior, x = noisy(**model), POINTS["new"]
    lowest = float(posterior.law(np.vstack([points, x])).mean.min())
    fallback = lowest - below if below < 9.0 else np.inf
    if fallback == np.inf and not len(points):
        return  # there is nothing to fall from
    start = min([fallback, *posterior.law(X).mean[: len(points)].tolist()])
    falls = []
    for y in outcomes(posterior, x, 600):
        after = posterior.append(x, y).law(np.vstack([points, x])).mean.min()
        falls.append(max(start - after, 0.0))
        assert actual_fall(posterior, points, x, y, fallback=fallback) == pytest.approx(falls[-1])
    error = np.std(falls) / math.sqrt(len(falls))
    expected = expected_fall(posterior, points, x, fallback=fallback)
    assert expected == pytest.approx(np.mean(falls), abs=4.0 * error + 1e-9)


@pytest.mark.parametrize("x", POINTS.values(), ids=list(POINTS))
@pytest.mark.parametrize("model", [{}, {"noise": 1e-4}, {"warp": Squares(0.2)}], ids=str)
def test_the_knowledge_gain_counts_rises_too(x, model):
    """The lowest mean before less its average after an observation, by simulation."""
    posterior, points = noisy(**model), np.vstack([X, x])
    lowest = posterior.law(X).mean.min()
    after = [posterior.append(x, y).law(points).mean.min() for y in outcomes(posterior, x, 600)]
    error = np.std(after) / math.sqrt(len(after))
    gain = knowledge_gain(posterior, X, x)
    assert gain == pytest.approx(lowest - np.mean(after), abs=4.0 * error + 1e-6)
    assert 0.0 <= gain <= expected_fall(posterior, X, x) + 1e-12


def test_a_point_without_rivals_is_not_worth_knowing_better():
    alone = condition(X[:1], Y[:1], noisy().hyper)
    assert knowledge_gain(alone, X[:1], X[0]) == 0.0
    assert expected_fall(alone, X[:1], X[0]) > 0.1  # its mean may fall, but it may rise as well


@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_the_screen_gives_the_same_gains_where_nothing_is_warped(noise):
    posterior = noisy(noise)
    points = np.vstack([X[:5], list(POINTS.values())])
    exact = [knowledge_gain(posterior, X, x) for x in points]
    assert screened_gains(posterior, X, points) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert max(exact) > 1e-6


def test_without_noise_it_is_the_expected_improvement():
    posterior = condition(X, Y, Hyperparameters([0.4, 0.6], 1.3, 1e-9), interpolate=False)
    x = np.array([0.95, 0.2])
    wanted = math.exp(float(posterior.law(x[None, :]).log_ei(Y.min()).value[0]))
    assert expected_fall(posterior, X, x) == pytest.approx(wanted, rel=1e-4)
    assert knowledge_gain(posterior, X, x) == pytest.approx(wanted, rel=1e-4)
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


@pytest.mark.parametrize("x", POINTS.values(), ids=list(POINTS))
def test_one_observation_brings_no_more_than_to_know_both_points(x):
    """Of two points: the expected improvement of their difference is what certainty is worth."""
    posterior = noisy(0.3)
    best = X[[int(posterior.law(X).mean.argmin())]]
    known = difference_posterior(posterior, best[0]).law(x[None, :])
    certain = math.exp(float(known.log_ei(float(posterior.law(best).mean[0])).value[0]))
    assert knowledge_gain(posterior, best, x) <= certain + 1e-12


@pytest.mark.parametrize("x", POINTS.values(), ids=list(POINTS))
@pytest.mark.parametrize(
    "utility", [Sigmoid(2.6, 0.3, 9.0), Threshold(2.7, 4.0), Linear(3.0)], ids=str
)
def test_the_expected_fall_in_worth_is_the_mean_of_actual_ones(x, utility):
    posterior, loss = noisy(), utility.loss(1.0)
    falls = [actual_fall(posterior, X, x, y, loss) for y in outcomes(posterior, x, 300)]
    expected = expected_fall(posterior, X, x, loss)
    error = np.std(falls) / math.sqrt(len(falls))
    assert expected == pytest.approx(np.mean(falls), abs=4.0 * error + 1e-12)
    if isinstance(utility, Linear):
        assert expected == pytest.approx(3.0 * expected_fall(posterior, X, x), rel=1e-3)
