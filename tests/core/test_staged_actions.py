# SPDX-License-Identifier: Apache-2.0
"""What actions in stages are worth: the best is found without asking all, and gains agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.beliefs.laws import Normal
from stopwise.core.numerics.staged_value import leaving_means
from stopwise.core.staged_actions import Prospects


@st.composite
def prospects(draw):
    """Between one and eight actions with one to three stages ahead."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 8))
    steps = [rng.uniform(0.05, 1.0, rng.integers(1, 4)) for _ in range(n)]
    prices = [rng.uniform(0.1, 3.0, s.size) for s in steps]
    std = np.array([np.sqrt((s**2).sum()) for s in steps])
    law = Normal(rng.normal(size=n), std)
    lam = draw(st.floats(0.001, 0.3))
    return Prospects(law, lambda rows: np.stack([steps[i] for i in rows]), prices, lam), steps


@given(prospects())
def test_the_lowest_fair_value_is_found_without_looking_at_all(drawn):
    actions, _ = drawn
    every = actions.fair_values(np.arange(len(actions)))
    found = actions.lowest()
    assert found.value == pytest.approx(every.min(), abs=1e-9)
    assert every[found.row] == found.value


@given(prospects())
def test_a_fair_value_is_the_mean_less_where_the_box_is_left(drawn):
    actions, steps = drawn
    for i, s in enumerate(steps):
        left = leaving_means([s], [actions.lam * actions.prices[i]])[0]
        [value] = actions.fair_values(np.array([i]))
        assert value == pytest.approx(actions.law.mean[i] - left, abs=1e-3)


@given(prospects(), st.floats(-2.0, 2.0))
def test_an_action_is_worth_its_price_if_its_fair_value_is_lower(drawn, best):
    actions, _ = drawn
    every = np.arange(len(actions))
    worth = np.array([actions.log_worth(i, best) for i in every])
    lower = actions.fair_values(every) < best
    clear = np.abs(worth) > 1e-6
    np.testing.assert_array_equal((worth > 0.0)[clear], lower[clear])
    found = actions.worthiest(best)
    assert found.value == pytest.approx(worth.max(), abs=1e-9)


def test_a_price_is_worked_out_once():
    asked = []

    def steps_of(rows):
        asked.extend(rows)
        return np.tile([0.2, 0.3], (len(rows), 1))

    law = Normal(np.zeros(3), np.full(3, 0.4))
    actions = Prospects(law, steps_of, [np.array([1.0, 2.0])] * 3, 0.1)
    assert len(actions) == 3
    for _ in range(2):
        actions.counting_prices(np.array([0, 2]))
    assert asked == [0, 2]
