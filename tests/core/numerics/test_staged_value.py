# SPDX-License-Identifier: Apache-2.0
"""The fair value of a box that is paid for in stages, against quadrature and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stopwise.core.numerics.normal import pbgi
from stopwise.core.numerics.staged_value import equivalent_price, leaving_means


def _by_grid(steps: list[float], prices: list[float]) -> float:
    """The mean at which a box is left, by backward induction on a dense grid."""
    mean = np.linspace(-30.0, 15.0, 9001)
    z = np.linspace(-6.0, 6.0, 241)
    weights = np.exp(-0.5 * z**2)
    weights /= weights.sum()
    value = np.maximum(-mean, 0.0)
    for std, price in zip(reversed(steps), reversed(prices), strict=True):
        ahead = np.zeros_like(mean)
        for weight, node in zip(weights, z, strict=True):
            ahead += weight * np.interp(mean + std * node, mean, value)
        going_on = ahead - price
        value = np.maximum(going_on, 0.0)
    inner = slice(1500, None)  # away from the left end, where the grid is cut off
    first = int(np.flatnonzero(going_on[inner] < 0.0)[0]) + 1500
    below, above = going_on[first - 1], going_on[first]
    return float(mean[first - 1] + (mean[first] - mean[first - 1]) * below / (below - above))


@pytest.mark.parametrize(
    ("steps", "prices"),
    [
        ([0.5, 0.5], [0.05, 0.1]),
        ([0.3, 0.4, 0.8], [0.01, 0.05, 0.2]),
        ([1.0, 0.5, 0.2, 0.1], [0.02, 0.06, 0.2, 0.5]),
    ],
)
def test_it_is_what_backward_induction_on_a_grid_gives(
    steps: list[float], prices: list[float]
) -> None:
    # The hinges are chords of a convex function, a little above it.
    found = float(leaving_means([steps], [prices])[0])
    assert found == pytest.approx(_by_grid(steps, prices), abs=2e-3)


def test_one_stage_is_the_fair_value_of_a_box() -> None:
    steps, prices = [[0.5], [0.3], [1e-3], [0.0]], [[0.01], [0.5], [1e-9], [0.1]]
    expected = pbgi(0.0, np.ravel(steps), np.ravel(prices))
    np.testing.assert_allclose(-leaving_means(steps, prices), expected, rtol=1e-12)
    np.testing.assert_allclose(equivalent_price(steps, prices), np.ravel(prices), rtol=1e-9)


_STAGES = st.lists(st.tuples(st.floats(0.01, 2.0), st.floats(1e-4, 1.0)), min_size=2, max_size=5)


@settings(max_examples=25, deadline=None)
@given(_STAGES)
def test_the_right_to_leave_is_worth_something_and_not_more_than_knowing_all(
    stages: list[tuple[float, float]],
) -> None:
    steps, prices = np.array(stages).T
    total = float(np.sqrt(steps @ steps))
    fair = -float(leaving_means([steps], [prices])[0])
    assert fair <= pbgi(0.0, total, prices.sum()) + 2e-3 * total
    assert fair >= pbgi(0.0, total, prices[0]) - 1e-9
    [price] = equivalent_price([steps], [prices])
    assert prices[0] * (1 - 1e-9) <= price <= prices.sum() * (1 + 1e-9)


@settings(max_examples=15, deadline=None)
@given(_STAGES, st.floats(0.1, 10.0))
def test_it_scales_with_the_unit(stages: list[tuple[float, float]], unit: float) -> None:
    steps, prices = np.array(stages).T
    once = leaving_means([steps], [prices])
    np.testing.assert_allclose(
        leaving_means([unit * steps], [unit * prices]), unit * once, rtol=1e-6, atol=1e-9
    )


def test_steps_that_reveal_nothing_are_only_paid_for() -> None:
    # The first stage says nothing: what is left behind it is a box of one stage.
    alone = float(leaving_means([[0.7]], [[0.1]])[0])
    after = float(leaving_means([[0.0, 0.7]], [[0.05, 0.1]])[0])
    assert after < alone
    together = float(leaving_means([[0.7]], [[0.15]])[0])
    assert after == pytest.approx(together, abs=2e-3)
