# SPDX-License-Identifier: Apache-2.0
"""Weights and trust that follow from foresights."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwise.core.beliefs.foresight import TRUST_PRIOR, TRUSTS, Foresight, Seen, weigh

chances = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)
records = st.lists(st.tuples(chances, st.booleans()), max_size=30)
PRIOR = [0.3, 0.4, 0.3]


def seen(record):
    return [Seen(Foresight(0.0, tuple(c)), came=came) for c, came in record]


def test_before_any_choice_there_are_only_the_priors():
    weights, trust = weigh(PRIOR, [])
    np.testing.assert_allclose(weights, PRIOR, rtol=1e-14)
    assert trust == pytest.approx(float(TRUST_PRIOR @ TRUSTS))


def test_bayes_rule_by_hand():
    """One choice that came and one that did not, summed over all pairs of belief and trust."""
    record = [((0.6, 0.1, 0.0), True), ((0.5, 0.9, 0.2), False)]
    joint = {}
    for k, prior in enumerate(PRIOR):
        for theta, of_theta in zip(TRUSTS, TRUST_PRIOR, strict=True):
            first = max(record[0][0][k], 1e-6) * theta
            joint[k, theta] = prior * of_theta * first * (1 - theta * record[1][0][k])
    total = sum(joint.values())
    believed = [sum(joint[k, t] * t for t in TRUSTS) / total for k in range(3)]
    weights, trust = weigh(PRIOR, seen(record))
    assert trust == pytest.approx(sum(believed), rel=1e-12)
    np.testing.assert_allclose(weights, np.array(believed) / sum(believed), rtol=1e-9)


@given(records)
def test_weights_are_a_distribution_and_the_order_of_choices_does_not_matter(record):
    weights, trust = weigh(PRIOR, seen(record))
    assert math.isclose(weights.sum(), 1.0, rel_tol=1e-12)
    assert (weights >= 0).all()
    assert TRUSTS.min() * (1 - 1e-9) <= trust <= 1.0
    other, other_trust = weigh(PRIOR, seen(record[::-1]))
    np.testing.assert_allclose(other, weights, rtol=1e-9, atol=1e-300)
    assert other_trust == pytest.approx(trust, rel=1e-9)


@given(records, st.floats(0.0, 1.0))
def test_a_promise_that_fails_costs_trust_and_one_that_comes_earns_it(record, chance):
    """Where all beliefs give it the same chance; else weights move as well."""
    _, before = weigh(PRIOR, seen(record))
    _, missed = weigh(PRIOR, seen([*record, ([chance] * 3, False)]))
    _, came = weigh(PRIOR, seen([*record, ([chance] * 3, True)]))
    assert missed <= before * (1 + 1e-9)
    assert came >= before * (1 - 1e-9)


def test_a_belief_that_keeps_promising_what_does_not_come_loses_its_weight():
    weights, trust = weigh(PRIOR, seen([((0.5, 0.05, 0.05), False)] * 40))
    assert weights[0] < 0.1
    assert trust < 0.5
    _, again = weigh(PRIOR, seen([((0.5, 0.5, 0.5), True)] * 10))
    assert again > 0.99


def test_beliefs_that_are_right_keep_their_trust():
    """Chances of 0.3 of which three in ten come: the trust stays near 1."""
    record = [((0.3, 0.3, 0.3), i % 10 < 3) for i in range(60)]
    assert weigh(PRIOR, seen(record)).trust > 0.8


def test_what_kept_its_discounted_promise_alone_says_nothing():
    missed, came = Foresight(0.0, (0.5, 0.1)), Foresight(0.0, (0.3, 0.6))
    told = [Seen(missed, came=False), Seen(came, came=True, came_discounted=True)]
    partly = Seen(came, came=False, came_discounted=True)
    assert partly.tells is False
    for seen in ([], told):
        alone, beside = weigh([0.5, 0.5], seen), weigh([0.5, 0.5], [partly, *seen, partly])
        assert beside.trust == alone.trust
        assert beside.weights.tolist() == alone.weights.tolist()
