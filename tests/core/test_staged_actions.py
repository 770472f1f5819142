# SPDX-License-Identifier: Apache-2.0
"""What actions are worth: the best one is found without looking at all of them closely."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs.laws import Normal
from stopwise.core.numerics.normal import pbgi
from stopwise.core.staged_actions import Prospects


def _prospects(seed: int, count: int = 25) -> Prospects:
    rng = np.random.default_rng(seed)
    steps = [rng.uniform(0.05, 1.0, rng.integers(1, 5)) for _ in range(count)]
    prices = [10.0 ** rng.uniform(-2.0, 1.0, s.size) for s in steps]
    law = Normal(rng.normal(size=count), np.array([math.sqrt(s @ s) for s in steps]))
    return Prospects(law, lambda i: steps[i], prices, 0.1)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_action_is_the_best_of_all(seed: int) -> None:
    prospects = _prospects(seed)
    fair = prospects.fair_values(np.arange(len(prospects)))
    row, value = _prospects(seed).lowest()  # a fresh one, whose memo is empty
    assert row == int(np.argmin(fair))
    assert value == pytest.approx(float(fair.min()), rel=1e-9)
    for best in (-3.0, -1.0, float(fair.min()) + 1e-6, float(fair.min()) - 1e-6):
        worths = [prospects.log_worth(i, best) for i in range(len(prospects))]
        top, worth = _prospects(seed).worthiest(best)
        assert worth == pytest.approx(max(worths), rel=1e-9)
        assert worths[top] == pytest.approx(max(worths), rel=1e-9)
        # Something is worth its price if and only if some fair value is below the best value.
        assert (worth > 0.0) == (fair.min() < best)


def test_one_stage_is_a_box() -> None:
    law = Normal(np.array([0.3]), np.array([0.5]))
    one = Prospects(law, lambda _: np.array([0.5]), [np.array([2.0])], 0.01)
    assert one.lowest().value == pytest.approx(float(pbgi(0.3, 0.5, 0.02)), rel=1e-9)
