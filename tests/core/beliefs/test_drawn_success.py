# SPDX-License-Identifier: Apache-2.0
"""Draws of success: at each point the chance of the law, and neighbours together.

Seeds are fixed; with others a right program would fail with probability 1e-4 or so.
"""

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.classifier import fit_classifier
from stopwise.core.beliefs.drawn_success import JointSuccess, SuccessPaths
from stopwise.core.beliefs.success import Success, WithinLimits

X = np.array([[0.1], [0.35], [0.6], [0.95]])
AT = np.array([[0.2], [0.201], [0.5], [0.8]])
DRAWS = 20_000


@pytest.fixture(scope="module")
def success():
    values = np.array([1.0, 2.5, 3.5, 2.0])
    outcome = condition(X, values, Hyperparameters([0.3]), interpolate=True)
    tried = np.array([[0.0], [0.2], [0.4], [0.7], [0.9], [0.95]])
    failures = fit_classifier(tried, np.array([1, 1, 1, 0, 0, 1], dtype=bool), np.array([0]))
    return Success((WithinLimits(outcome, 1.2, 3.0), failures))


def close_to(chance, share, draws):
    return np.all(np.abs(share - chance) <= 4.0 * np.sqrt(chance * (1 - chance) / draws) + 1e-9)


def test_at_each_point_a_draw_succeeds_with_the_chance_of_the_law(success):
    chance = np.exp(success.log_chance(AT))
    assert (chance > 0.02).all()
    assert (chance < 0.95).any()
    share = (JointSuccess.at(success, AT).excess(np.random.default_rng(0), DRAWS) == 0).mean(0)
    assert close_to(chance, share, DRAWS)


def test_at_each_point_a_path_succeeds_with_the_chance_of_the_law(success):
    """But for its features: paths of one call share them, so several calls are averaged."""
    rng = np.random.default_rng(1)
    shares = [(SuccessPaths.of(success, rng, 500).excess(AT) == 0).mean(axis=0) for _ in range(40)]
    np.testing.assert_allclose(np.mean(shares, axis=0), np.exp(success.log_chance(AT)), atol=0.02)


def test_neighbours_succeed_or_fail_together(success):
    drawn = JointSuccess.at(success, AT).excess(np.random.default_rng(2), DRAWS) == 0
    assert np.mean(drawn[:, 0] != drawn[:, 1]) < 0.01
    chance = np.exp(success.log_chance(AT))
    assert np.mean(drawn[:, 0] & drawn[:, 1]) > 1.2 * chance[0] * chance[1]  # not independently


def test_what_was_measured_is_kept(success):
    limits = Success(success.parts[:1])
    for drawn in (
        JointSuccess.at(limits, X).excess(np.random.default_rng(3), 9),
        SuccessPaths.of(limits, np.random.default_rng(3), 9).excess(X),
    ):
        assert ((drawn == 0) == [False, True, False, True]).all()
        unit = limits.parts[0].outcome.unit
        np.testing.assert_allclose(drawn[:, [0, 2]], np.full((9, 2), [0.2, 0.5]) / unit, rtol=1e-6)


def test_the_slope_of_the_excess_is_that_of_differences(success):
    drawn = SuccessPaths.of(success, np.random.default_rng(4), 3)
    at = np.random.default_rng(5).random((40, 1))
    which = np.arange(40) % 3
    value, slope = drawn.excess_with_gradient(at, which)
    np.testing.assert_allclose(value, drawn.excess(at)[which, np.arange(40)], atol=1e-9)
    step = 1e-5
    ahead, behind = (drawn.excess_with_gradient(at + by, which)[0] for by in (step, -step))
    np.testing.assert_allclose(slope[:, 0], (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-4)
    assert (value == 0).any()
    assert (value > 0).any()
