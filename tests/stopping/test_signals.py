# SPDX-License-Identifier: Apache-2.0
"""The gain per cost as a signal: its facts, and the trust in foreseen gains."""

import math

import numpy as np
import pytest

from stopwise.core.beliefs import Hyperparameters
from stopwise.stopping.signals import discount, evaluations, gain_per_cost
from tests.support.textbook import (
    TABLE,
    Textbook,
    ensemble_study,
    free,
    positive_part,
    priced_table,
    study,
)

HYPER = Hyperparameters([0.3, 0.3], 1.0, mean=-0.5)


def test_gain_and_cost_are_those_of_the_best_candidate():
    snapshot = priced_table()
    points = free(snapshot)
    gains = positive_part(*Textbook(snapshot).lead(points))
    costs = snapshot.belief.price.cost(points)
    best = int(np.argmax(gains / costs))
    signal = gain_per_cost(snapshot)
    assert signal.value == pytest.approx(math.log(gains[best] / costs[best]), rel=1e-7)
    assert signal.facts["gain"] == pytest.approx(gains[best], rel=1e-7)
    assert signal.facts["cost"] == pytest.approx(costs[best], rel=1e-12)
    assert signal.facts["cost_spread"] == 0.0


def test_trust_is_a_fact_where_gains_are_not_believed_in_full():
    believed, _ = ensemble_study([HYPER], [1.0])
    doubted, _ = ensemble_study([HYPER], [1.0], trust=0.6)
    one, other = gain_per_cost(believed), gain_per_cost(doubted)
    assert "trust" not in one.facts
    assert other.facts["trust"] == 0.6
    assert other.value == pytest.approx(one.value + math.log(0.6), rel=1e-9)
    assert discount(one) == ""
    assert "60" in discount(other)


def test_where_nothing_remains_nothing_is_gained():
    for trust in (1.0, 0.6):
        snapshot, _ = ensemble_study([HYPER], [1.0], trust=trust, X=TABLE.points)
        signal = gain_per_cost(snapshot)
        assert signal.value == -math.inf
        assert signal.facts["gain"] == 0.0
        assert math.isnan(signal.facts["cost"])
        assert signal.facts.get("trust", 1.0) == trust


def test_evaluations_are_counted_after_the_initial_design():
    assert evaluations(study(n=8, initial=3)).value == 5.0
