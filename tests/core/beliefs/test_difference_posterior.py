# SPDX-License-Identifier: Apache-2.0
"""Differences to one point: dense formulas, simulation and finite differences."""

import dataclasses

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.difference_posterior import (
    _NODES,
    DifferencePosterior,
    SoftDifference,
    WarpedDifference,
    _shifted_law,
    difference_posterior,
)
from stopwise.core.beliefs.laws import Bounded, Mixture, Normal, Shifted
from stopwise.core.beliefs.paths import exact_values
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, SoftWarp
from tests.support.dense import DenseGP
from tests.support.gradients import differences

GROUPS = np.array([0, 1, 1])
HYPER = Hyperparameters([0.5, 0.8], outputscale=1.6, noise=0.05, mean=0.3)


@pytest.fixture
def data():
    rng = np.random.default_rng(80)
    X = rng.random((9, 3))
    return X, 20.0 + 6.0 * np.sin(4.0 * X).sum(axis=1), rng.random((6, 3))


def test_the_deviation_is_that_of_the_textbook_s_difference(data):
    X, y, Q = data
    dense = DenseGP(X, y, HYPER, groups=GROUPS)
    relative = DifferencePosterior(condition(X, y, HYPER, groups=GROUPS), X[2])
    mean, std = relative(Q)
    both = np.vstack([Q, X[2:3]])
    C = dense.covariance(both, both)
    np.testing.assert_allclose(mean, dense.mean(Q), rtol=1e-11)
    np.testing.assert_allclose(std**2, np.diag(C)[:-1] + C[-1, -1] - 2 * C[:-1, -1], rtol=1e-9)


def test_simulated_differences_spread_as_they_should(data):
    X, y, Q = data
    posterior = condition(X, y, HYPER, groups=GROUPS)
    both = np.vstack([Q, X[2:3]])
    values = exact_values(posterior, both, np.random.default_rng(81), 40_000)
    found = (values[:, :-1] - values[:, -1:]).std(axis=0)
    std = DifferencePosterior(posterior, X[2])(Q).std
    np.testing.assert_allclose(found, std, rtol=4.5 / np.sqrt(80_000))  # false alarm: 4e-5
    assert not np.allclose(posterior(Q).std, std, rtol=0.02)


def test_the_difference_of_a_point_to_itself_is_certain(data):
    X, y, _ = data
    relative = DifferencePosterior(condition(X, y, HYPER, groups=GROUPS), X[2])
    (mean, std), d_mean, d_std = relative.with_gradient(X[2:3])
    assert std[0] == pytest.approx(0.0, abs=1e-6)
    assert np.isfinite([*mean, *d_mean[0], *d_std[0]]).all()


def test_gradients_are_those_of_differences(data):
    X, y, Q = data
    relative = DifferencePosterior(condition(X, y, HYPER, groups=GROUPS), X[2])
    normal, d_mean, d_std = relative.with_gradient(Q)
    np.testing.assert_allclose(normal, relative(Q), rtol=1e-9)
    np.testing.assert_allclose(d_mean, differences(lambda X: relative(X).mean, Q), atol=1e-5)
    np.testing.assert_allclose(d_std, differences(lambda X: relative(X).std, Q), atol=1e-5)


def test_it_cannot_be_changed_and_can_be_a_key(data):
    X, y, _ = data
    relative = DifferencePosterior(condition(X, y, HYPER, groups=GROUPS), X[2])
    with pytest.raises(dataclasses.FrozenInstanceError):
        relative.x = X[0]
    assert {relative: 1}[relative] == 1


# ------------------------------------------------------------------------- under a soft warp


def seen_from_the_best(data, deviations):
    """A softly warped posterior and its best point, so many deviations below the knee."""
    X, y, Q = data
    best = int(np.argmin(y))
    plain = condition(X, y, HYPER, groups=GROUPS)(X[best : best + 1])
    hyper = dataclasses.replace(HYPER, warp=SoftWarp(1e9, 1.0))
    for _ in range(3):  # the deviation changes with the knee
        knee = float(plain.mean[0] + deviations * plain.std[0])
        hyper = dataclasses.replace(HYPER, warp=SoftWarp(knee, 2.0))
        plain = condition(X, y, hyper, groups=GROUPS)(X[best : best + 1])
    return condition(X, y, hyper, groups=GROUPS), X[best], Q


def test_below_the_knee_a_soft_difference_is_what_the_nodes_say(data):
    posterior, x, Q = seen_from_the_best(data, 5.0)
    value = float(posterior(x[None, :]).mean[0]) - 0.3
    soft = difference_posterior(posterior, x, value)
    assert isinstance(soft, SoftDifference)
    nodes = WarpedDifference(DifferencePosterior(posterior, x), value)
    for level in (value - 2.0, value - 0.5, value):
        ours, theirs = soft.law(Q).log_ei(level).value, nodes.law(Q).log_ei(level).value
        np.testing.assert_allclose(np.exp(ours), np.exp(theirs), rtol=1e-2, atol=1e-6)


def test_nearer_to_the_knee_nodes_are_needed(data):
    posterior, x, _ = seen_from_the_best(data, 1.0)
    assert isinstance(difference_posterior(posterior, x), WarpedDifference)


@pytest.mark.parametrize("of", [DEFAULT_WARP, SoftWarp(19.0, 2.0)])
@pytest.mark.parametrize(("low", "high"), [(12.0, np.inf), (12.0, 40.0)])
def test_bounds_move_with_the_value(data, of, low, high):
    X, y, Q = data
    hyper = dataclasses.replace(HYPER, warp=Clipped(low, high, of))
    relative = difference_posterior(condition(X, y, hyper, groups=GROUPS), X[2], 18.0)
    mean, std = relative.difference.posterior(Q)
    law, slope, rest = relative._mixture(mean, std, relative.difference.covariance(Q))
    assert all(isinstance(part, Bounded) for part in law.laws)
    moved = [
        Shifted(hyper.warp.law(Normal(mean + node * slope, rest)), part.low - low)
        for node, part in zip(_NODES, law.laws, strict=True)
    ]
    there = Mixture(law.weights, moved)
    for level in (14.0, 18.0, 25.0):
        np.testing.assert_allclose(law.cdf(level).value, there.cdf(level).value, rtol=1e-9)
        np.testing.assert_allclose(
            np.exp(law.log_ei(level).value),
            np.exp(there.log_ei(level).value),
            rtol=1e-9,
            atol=1e-15,
        )


def test_bounds_that_cannot_be_told_apart_after_a_move_stay_where_they_are():
    normal = Normal(np.array([0.1]), np.array([0.2]))
    law = _shifted_law(Clipped(0.0, 1.0), normal, 1e20)
    assert isinstance(law, Shifted)
    assert law.median[0] == 1e20


def test_a_soft_difference_to_itself_is_certain_and_its_gradients_are_those_of_differences(data):
    posterior, x, Q = seen_from_the_best(data, 5.0)
    relative = difference_posterior(posterior, x)
    median = float(posterior.law(x[None, :]).median[0])
    law, _ = relative.law_with_gradient(x[None, :])
    assert law.median[0] == pytest.approx(median)
    assert law.std[0] == pytest.approx(0.0, abs=1e-6)
    law, gradients = relative.law_with_gradient(Q)
    np.testing.assert_allclose(law.parameters, relative.law(Q).parameters, rtol=1e-9)
    for i, gradient in enumerate(gradients):
        rises = differences(lambda X, i=i: relative.law(X).parameters[i], Q)
        np.testing.assert_allclose(gradient, rises, atol=1e-5)
