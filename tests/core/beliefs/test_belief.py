# SPDX-License-Identifier: Apache-2.0
"""Objective and price together: expected prices by simulation, prefixes, gradients."""

import dataclasses
import math

import numpy as np
import pytest

from stopwise.core.beliefs import fit_posterior
from stopwise.core.beliefs.belief import Belief, believe, believe_as_fitted
from stopwise.core.beliefs.fit import NUGGET
from stopwise.core.beliefs.paths import exact_values
from stopwise.core.beliefs.prices import KnownCost, LearnedCost, Priced, UnitCost
from stopwise.core.space import Real, as_domain
from tests.support.gradients import differences

BOX = as_domain({"a": Real(0.0, 1.0), "b": Real(0.0, 1.0)})
DRAWS = 200_000


def some_belief(model):
    rng = np.random.default_rng(50)
    X = BOX.sobol(16, rng)
    paid = np.exp(1.0 + X[:, 0] + 0.5 * rng.standard_normal(16))
    price = model.price(BOX, X, paid)
    return Belief(fit_posterior(X, np.sin(4.0 * X).sum(axis=1)), price)


@pytest.fixture(scope="module")
def learned():
    return some_belief(LearnedCost())


def bills(belief, X):
    """Simulated costs of evaluations at the rows of X, (draws, rows)."""
    rng = np.random.default_rng(51)
    posterior = belief.price.posterior
    noise = math.sqrt(posterior.hyper.noise) * posterior.standardiser.scale
    logs = exact_values(posterior, X, rng, DRAWS)
    return np.exp(logs + noise * rng.standard_normal(logs.shape))


def test_the_price_is_what_is_paid_on_average(learned):
    X = BOX.sobol(4, np.random.default_rng(52))
    paid = bills(learned, X)
    sure = paid.std(axis=0) / math.sqrt(DRAWS)
    assert np.all(np.abs(np.exp(learned.log_price(X)) - paid.mean(axis=0)) < 4.5 * sure)
    # The median exp(mu) is another number, and the simulation can tell.
    assert np.all(paid.mean(axis=0) - np.exp(learned.price.log_cost(X).mean) > 4.5 * sure)


def test_the_inverse_price_is_one_over_the_average_of_inverses(learned):
    X = BOX.sobol(4, np.random.default_rng(53))
    inverses = 1.0 / bills(learned, X)
    sure = inverses.std(axis=0) / math.sqrt(DRAWS)
    found = np.exp(-learned.log_price(X, "inv"))
    assert np.all(np.abs(found - inverses.mean(axis=0)) < 4.5 * sure)
    assert np.all(inverses.mean(axis=0) - np.exp(-learned.log_price(X, "exp")) > 4.5 * sure)


@pytest.mark.parametrize("pricing", ["exp", "inv"])
@pytest.mark.parametrize(
    "model",
    [UnitCost(), KnownCost(lambda p: 1.0 + p["a"] ** 2 + p["b"]), LearnedCost()],
    ids=["unit", "known", "learned"],
)
def test_gradients_of_the_price_are_those_of_differences(model, pricing):
    belief = some_belief(model)
    X = 0.05 + 0.9 * BOX.sobol(8, np.random.default_rng(54))
    value, gradient = belief.log_price_with_gradient(X, pricing)
    np.testing.assert_allclose(value, belief.log_price(X, pricing), atol=1e-10)
    rises = differences(lambda X: belief.log_price(X, pricing), X, step=1e-5)
    np.testing.assert_allclose(gradient, rises, atol=1e-6)


def test_a_prefix_forgets_values_and_keeps_prices(learned):
    X = BOX.sobol(8, np.random.default_rng(55))
    short = learned.prefix(5)
    assert len(short.objective) == 5
    assert len(learned.objective) == 16
    np.testing.assert_array_equal(short.objective(X), learned.objective.prefix(5)(X))
    np.testing.assert_array_equal(short.log_price(X), learned.log_price(X))


# -------------------------------------------------------------------------------- believing


def some_study(n=16):
    """What has been seen: points, values, and what was paid where."""
    rng = np.random.default_rng(56)
    X = BOX.sobol(n, rng)
    y = 30.0 * np.sin(4.0 * X).sum(axis=1) + 0.5 * rng.standard_normal(n)
    return X, y, (X, np.exp(1.0 + X[:, 0] + 0.1 * rng.standard_normal(n)))


def test_exact_values_are_interpolated_and_noisy_ones_are_not():
    X, y, paid = some_study()
    exact = believe(BOX, X, y, paid=paid, cost=UnitCost()).objective
    assert exact.interpolate
    assert exact.hyper.noise == NUGGET
    np.testing.assert_allclose(exact(X).mean, y, rtol=1e-4, atol=1e-3)
    noisy = believe(BOX, X, y, paid=paid, cost=UnitCost(), noise=0.25).objective
    assert not noisy.interpolate
    assert noisy.hyper.noise * noisy.standardiser.scale**2 == pytest.approx(0.25)
    learned = believe(BOX, X, y, paid=paid, cost=UnitCost(), noise="learn").objective
    assert not learned.interpolate
    assert 0.1 < math.sqrt(learned.hyper.noise) * learned.standardiser.scale < 5.0


def test_the_prior_reaches_the_objective_and_groups_come_from_the_domain():
    X, y, paid = some_study()
    plain, guided = (
        believe(BOX, X, y, paid=paid, cost=UnitCost(), noise="learn", prior=prior).objective
        for prior in (None, "lognormal")
    )
    assert plain.log_likelihood > guided.log_likelihood
    np.testing.assert_array_equal(guided.groups, BOX.groups)


def test_a_belief_is_revised_from_the_one_before():
    X, y, paid = some_study()
    first = believe(BOX, X[:15], y[:15], paid=(X[:15], paid[1][:15]), cost=LearnedCost())
    revised = believe(BOX, X, y, paid=paid, cost=LearnedCost(), start=first.fitted)
    fresh = believe(BOX, X, y, paid=paid, cost=LearnedCost())
    assert len(revised.objective) == len(revised.price.posterior) == 16
    Q = BOX.sobol(8, np.random.default_rng(57))
    np.testing.assert_allclose(revised.objective(Q), fresh.objective(Q), atol=0.05)
    np.testing.assert_allclose(revised.log_price(Q), fresh.log_price(Q), atol=1e-2)


def test_what_is_known_in_advance_is_not_worked_out_again():
    X, y, paid = some_study()
    for cost in (UnitCost(), KnownCost(lambda params: 1.0 + params["a"])):
        price = believe(BOX, X[:15], y[:15], paid=paid, cost=cost).price
        assert believe(BOX, X, y, paid=paid, cost=Priced(price)).price is price


@pytest.mark.parametrize("cost", [UnitCost(), LearnedCost()])
@pytest.mark.parametrize("noise", [None, 0.01, "learn"])
def test_a_belief_comes_again_from_its_hyper_parameters_bit_for_bit(cost, noise):
    X, y, paid = some_study()
    was = believe(BOX, X, y, paid=paid, cost=cost, noise=noise)
    again = believe_as_fitted(BOX, X, y, paid=paid, cost=cost, fitted=was.fitted, noise=noise)
    Q = BOX.sobol(8, np.random.default_rng(58))
    np.testing.assert_array_equal(again.objective(Q), was.objective(Q))
    np.testing.assert_array_equal(again.log_price(Q), was.log_price(Q))


def test_a_learned_price_may_follow_one_that_was_not():
    X, y, paid = some_study()
    first = believe(BOX, X, y, paid=paid, cost=UnitCost())
    then = believe(BOX, X, y, paid=paid, cost=LearnedCost(), start=first.fitted)
    np.testing.assert_allclose(then.price.log_cost(X).mean, np.log(paid[1]), atol=0.5)


def test_a_belief_cannot_be_changed(learned):
    with pytest.raises(dataclasses.FrozenInstanceError):
        learned.price = None
    assert {learned: 1}[learned] == 1
