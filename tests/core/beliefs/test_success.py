# SPDX-License-Identifier: Apache-2.0
"""The chance to succeed: outcomes within limits, products, and the laws that come of them."""

from dataclasses import replace

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.belief import believe
from stopwise.core.beliefs.classifier import fit_classifier
from stopwise.core.beliefs.laws import Chance
from stopwise.core.beliefs.prices import UnitCost
from stopwise.core.beliefs.success import Success, WithinLimits, log_between
from stopwise.core.space import Real, as_domain
from tests.support.gradients import differences
from tests.support.oracles import mp

X = np.array([[0.1], [0.35], [0.6], [0.95]])
GROUPS = np.array([0])


@pytest.fixture
def outcome():
    return condition(X, np.array([1.0, 2.5, 3.5, 2.0]), Hyperparameters([0.3]), interpolate=True)


@pytest.fixture
def objective():
    return condition(X, np.array([0.3, 0.1, -0.4, 0.5]), Hyperparameters([0.4]), interpolate=True)


def test_the_log_of_a_difference_of_cdfs_in_40_digits():
    pairs = [(-40.0, -39.0), (-9.0, 3.0), (-0.1, 0.1), (2.0, 2.001), (30.0, 31.0), (5.0, np.inf),
             (-np.inf, -20.0), (-np.inf, 20.0), (-3.0, np.inf), (-1e4, -1e3)]  # fmt: skip
    for a, b in pairs:
        low, high = (a, b) if a < 0 else (-b, -a)
        with mp.workdps(60):
            wanted = mp.log(mp.ncdf(high) - mp.ncdf(low))
        assert float(log_between(np.array(a), np.array(b))) == pytest.approx(
            float(wanted), rel=1e-12
        )
    for a, b in ((1e200, 1e200), (-1e300, -1e299), (-1e5, -1e4)):  # counts as impossible
        assert log_between(np.array(a), np.array(b)) == -1e6


@pytest.mark.parametrize("limits", [(-np.inf, 3.0), (1.5, np.inf), (1.2, 2.2)])
def test_the_chance_is_the_share_of_draws_within_the_limits(outcome, limits):
    x = np.array([[0.2], [0.5], [0.8]])
    found = np.exp(WithinLimits(outcome, *limits).log_chance(x))
    mean, std = outcome(x)
    draws = mean + std * np.random.default_rng(0).standard_normal((200_000, 3))
    share = ((draws >= limits[0]) & (draws <= limits[1])).mean(axis=0)
    np.testing.assert_allclose(found, share, atol=0.005)


@pytest.mark.parametrize("limits", [(-np.inf, 3.0), (3.1, np.inf), (0.2, 2.4)])
def test_what_breaks_its_limits_gave_what_is_expected_of_that(outcome, limits):
    """By draws: the mean of those beyond the limit that is likelier to be broken."""
    x = np.array([0.45])
    mean, std = outcome(x[None, :])
    draws = mean + std * np.random.default_rng(0).standard_normal(400_000)
    sides = [draws[draws < limits[0]], draws[draws > limits[1]]]
    wanted = max(sides, key=len).mean()
    chance = Success((WithinLimits(outcome, *limits), fit_classifier(X, np.ones(4, bool), GROUPS)))
    after = chance.broken_at(x[None, :])
    assert after.parts[0].outcome(x[None, :]).mean[0] == pytest.approx(wanted, abs=0.01)
    assert after.log_chance(x[None, :])[0] < chance.log_chance(x[None, :])[0] - 10.0
    assert after.parts[1] is chance.parts[1]


@pytest.mark.parametrize("limits", [(-np.inf, 3.0), (1.5, np.inf), (1.2, 2.2), (-np.inf, -60.0)])
def test_gradients_are_those_of_differences(outcome, limits):
    classifier = fit_classifier(X, np.array([True, True, False, True]), GROUPS)
    success = Success((WithinLimits(outcome, *limits), classifier))
    x = np.array([[0.2], [0.5], [0.8]])
    value, gradient = success.log_chance_with_gradient(x)
    np.testing.assert_allclose(value, success.log_chance(x), rtol=1e-9)
    rises = differences(success.log_chance, x)
    np.testing.assert_allclose(gradient, rises, rtol=1e-4, atol=1e-5)


def test_where_an_outcome_is_known_the_chance_is_0_or_1(outcome):
    within = WithinLimits(outcome, -np.inf, 3.0)
    value, gradient = within.log_chance_with_gradient(X)
    assert (value > -1e-9).tolist() == [True, True, False, True]
    assert value[2] < -1e3
    assert np.isfinite(gradient).all()


def test_a_model_with_a_chance_has_the_law_of_a_chance(outcome, objective):
    success = Success((WithinLimits(outcome, -np.inf, 3.0),))
    model, x = success.of(objective), np.array([[0.2], [0.5], [0.6]])
    law = model.law(x)
    assert isinstance(law, Chance)
    np.testing.assert_allclose(
        law.log_ei(0.2).value[:2],
        (objective.law(x).log_ei(0.2).value + success.log_chance(x))[:2],
        rtol=1e-12,
    )
    assert law.log_chance[2] == -600.0  # never quite impossible: prices over it stay finite
    again, gradients = model.law_with_gradient(x)
    np.testing.assert_array_equal(again.log_chance[2], -600.0)
    assert gradients[-1][2] == 0.0
    step = np.array([[1e-6]])
    up, down = (model.law(x + s).log_ei(0.2).value for s in (step, -step))
    _, slopes = again.log_ei(0.2)
    chained = sum(s[:, None] * g for s, g in zip(slopes, gradients, strict=True))
    np.testing.assert_allclose(chained[:2, 0], ((up - down) / 2e-6)[:2], rtol=1e-4)


def test_a_belief_gives_its_chance_with_and_without_a_gradient(outcome):
    success = Success((WithinLimits(outcome, -np.inf, 3.0),))
    y, paid = np.array([0.3, 0.1, -0.4, 0.5]), (X, np.ones(4))
    certain = believe(as_domain({"x": Real(0, 1)}), X, y, paid=paid, cost=UnitCost())
    doubtful = replace(certain, success=success)
    x = np.array([[0.2], [0.5]])
    for belief, wanted in ((certain, np.zeros(2)), (doubtful, success.log_chance(x))):
        value, gradient = belief.log_chance_with_gradient(x)
        np.testing.assert_allclose(value, wanted, rtol=1e-9)
        rises = differences(belief.log_chance, x)
        np.testing.assert_allclose(gradient, rises, rtol=1e-4, atol=1e-5)
