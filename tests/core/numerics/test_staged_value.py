# SPDX-License-Identifier: Apache-2.0
"""The fair value of a box that is paid for in stages, against backward induction on a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.numerics import staged_value
from stopwise.core.numerics.normal import pbgi
from stopwise.core.numerics.staged_value import equivalent_price, leaving_means

_NODES = np.linspace(-8.0, 8.0, 801)  # of the trapezoidal rule, which stands kinks
_WEIGHTS = np.exp(-0.5 * _NODES**2)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()

amounts = st.floats(1e-3, 1.0)


@st.composite
def boxes(draw, most=4):
    r = draw(st.integers(1, most))
    listed = st.lists(amounts, min_size=r, max_size=r)
    return np.array(draw(listed)), np.array(draw(listed))


def by_induction(steps, prices, points=4001):
    """The mean at which a box is left: V on a fine grid, expectations by the trapezoidal rule."""
    reach = 9.0 * np.sqrt((steps**2).sum()) + prices.sum()
    grid = np.linspace(-reach, reach, points)
    value = np.maximum(-grid, 0.0)
    for s, c in zip(steps[::-1], prices[::-1], strict=True):
        ahead = np.zeros_like(grid)
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            at = grid + s * node
            beyond = np.where(at < -reach, value[0] - (at + reach), 0.0)  # the slope there is -1
            ahead += weight * (np.interp(at, grid, value) + beyond)
        going_on = ahead - c
        value = np.maximum(going_on, 0.0)
    last = np.flatnonzero(going_on >= 0.0)[-1]
    a, b = going_on[last], going_on[last + 1]
    return grid[last] + (grid[1] - grid[0]) * a / (a - b)


@pytest.mark.parametrize(
    ("steps", "prices"),
    [
        ([0.5], [0.01]),
        ([0.3, 0.4], [0.01, 0.09]),
        ([0.3, 0.4], [0.2, 0.05]),
        ([0.1, 0.2, 0.4], [0.01, 0.03, 0.09]),
        ([0.6, 0.1, 0.1, 0.05], [0.02, 0.06, 0.18, 0.5]),
        ([0.05, 0.05, 0.8], [0.01, 0.02, 0.04]),
    ],
)
def test_the_mean_at_which_a_box_is_left(steps, prices):
    s, c = np.array(steps), np.array(prices)
    error = leaving_means([s], [c])[0] - by_induction(s, c)
    assert abs(error) < 2e-3 * np.sqrt((s**2).sum())


@given(boxes(most=1))
def test_one_stage_is_the_fair_value_of_a_normal_box(box):
    s, c = box
    assert leaving_means([s], [c])[0] == pytest.approx(-float(pbgi(0.0, s[0], c[0])), abs=1e-9)
    assert equivalent_price([s], [c])[0] == pytest.approx(c[0], rel=1e-6)


@given(boxes())
def test_leaving_is_worth_something_and_not_more_than_knowing_all_at_once(box):
    """The price that counts lies between that of the next stage and that of all."""
    s, c = box
    total = np.sqrt((s**2).sum())
    left = leaving_means([s], [c])[0]
    assert left >= -float(pbgi(0.0, total, c.sum())) - 1e-6
    assert left <= -float(pbgi(0.0, total, c[0])) + 1e-6
    assert c[0] <= equivalent_price([s], [c])[0] <= c.sum()


@given(boxes(), st.floats(1e-3, 1e3))
def test_in_other_units_it_is_the_same_box(box, unit):
    s, c = box
    np.testing.assert_allclose(
        leaving_means([unit * s], [unit * c]), unit * leaving_means([s], [c]), rtol=1e-6, atol=1e-9
    )


@given(boxes(), st.integers(0, 3), st.floats(1.1, 4.0))
def test_a_dearer_stage_is_left_earlier(box, which, factor):
    s, c = box
    dearer = c.copy()
    dearer[which % len(c)] *= factor
    slack = 2e-3 * (np.sqrt((s**2).sum()) + dearer.sum())  # what the grid of hinges is off by
    assert leaving_means([s], [dearer])[0] <= leaving_means([s], [c])[0] + slack


@pytest.mark.parametrize("where", [0, 1])
def test_a_stage_that_tells_nothing_is_only_paid(where):
    s, c = np.array([0.5, 0.5]), np.array([0.02, 0.05])
    s[where] = 0.0
    left = leaving_means([s], [c])[0]
    # Nothing is learned before the second price, or the box is as good as open after the first.
    at_once = -float(pbgi(0.0, 0.5, c.sum()))
    assert left == pytest.approx(at_once if where == 0 else by_induction(s + 1e-9, c), abs=2e-3)


def test_the_search_ends_within_its_bracket_whatever_happens(monkeypatch):
    s, c = np.array([0.3, 0.4]), np.array([0.01, 0.09])
    monkeypatch.setattr(staged_value, "_ITERATIONS", 1)
    left = leaving_means([s], [c])[0]
    assert -pbgi(0.0, 0.5, 0.1) <= left <= -pbgi(0.0, 0.5, 0.01)


def test_many_boxes_at_once_are_each_its_own():
    rng = np.random.default_rng(0)
    s, c = rng.uniform(0.01, 1.0, (20, 3)), rng.uniform(0.001, 0.5, (20, 3))
    alone = [leaving_means(s[[i]], c[[i]])[0] for i in range(20)]
    np.testing.assert_allclose(leaving_means(s, c), alone, rtol=1e-6, atol=1e-8)
