# SPDX-License-Identifier: Apache-2.0
"""The second guess at where limits are kept: by the room around what did not keep them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.beliefs import Hyperparameters, condition
from stopwise.core.beliefs.second_guess import SecondGuess
from stopwise.core.beliefs.success import WithinLimits
from tests.support.gradients import differences

RNG = np.random.default_rng(4)
X = RNG.random((6, 2))
KEPT = np.array([False, True, False, False, False, True])
SPREAD = RNG.random((300, 2))
GUESS = SecondGuess.of(X, KEPT, SPREAD)
NEVER = -1e6


def by_definition(log_chance, x):
    """The mixture, from distances one by one."""
    broken = [row for row, kept in zip(X, KEPT, strict=True) if not kept]
    room = min(math.dist(x, row) for row in broken)
    hole = max(min(math.dist(at, row) for row in broken) for at in SPREAD)
    second = (2 + 1) / (6 + 2) * room**2 / (room**2 + hole**2)
    return math.log(0.99 * math.exp(log_chance) + 0.01 * second)


@given(st.floats(-50.0, 0.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_both_guesses_count_by_the_doubt(log_chance, a, b):
    x = np.array([[a, b]])
    if min(math.dist(x[0], row) for row in X) > 1e-6:
        found = GUESS.mixed(np.array([log_chance]), x)[0]
        assert found == pytest.approx(by_definition(log_chance, x[0]), rel=1e-9, abs=1e-12)


def test_where_a_model_is_certain_it_is_the_room_that_counts():
    middle, beside = X[0] + 0.2, X[0] + 1e-6
    log_chance = GUESS.mixed(np.full(3, NEVER), np.array([middle, beside, X[0]]))
    assert -10.0 < log_chance[0] < math.log(0.01)
    assert log_chance[0] > log_chance[1] + 15.0 > log_chance[2] + 100.0


def test_what_is_broken_at_a_point_is_as_if_it_had_been_evaluated():
    x = np.array([0.1, 0.9])
    after = SecondGuess.of(np.vstack([X, x]), np.append(KEPT, False), SPREAD)
    at = RNG.random((5, 2))
    expected = after.mixed(np.full(5, NEVER), at)
    np.testing.assert_array_equal(GUESS.broken_at(x).mixed(np.full(5, NEVER), at), expected)


def test_the_chance_of_a_limit_has_its_gradient_and_knows_what_is_pending():
    outcome = condition(X, 2.0 + X[:, 0], Hyperparameters([0.4, 0.6], 1.3, 1e-6, 0.0))
    within = WithinLimits(outcome, -np.inf, 1.9, GUESS)
    at = RNG.random((8, 2))
    value, gradient = within.log_chance_with_gradient(at)
    np.testing.assert_allclose(value, within.log_chance(at), rtol=1e-12)
    rises = differences(within.log_chance, at)
    np.testing.assert_allclose(gradient, rises, rtol=1e-4, atol=1e-4)
    x = np.array([0.1, 0.9])
    plain = WithinLimits(outcome, -np.inf, 1.9)
    assert plain.broken_at(x).second is None
    assert within.broken_at(x).log_chance(x[None, :])[0] < within.log_chance(x[None, :])[0] - 3.0


def test_a_single_place_has_no_hole():
    alone = SecondGuess.of(X[:1], np.zeros(1, bool), X[:1])
    assert np.isfinite(alone.mixed(np.array([NEVER]), X[:1])).all()
