# SPDX-License-Identifier: Apache-2.0
"""Verdicts in arrays are the rules' verdicts, whatever was recorded."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paper.tests.support.synthetic_trajectories import trajectory
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    Verdict,
)
from stopwise_paper.analysis.replay import Variant, step_by_step, stopping_times
from stopwise_paper.analysis.sweep import averaged, sweep

PRB = ProbabilisticRegretBound()
RULES = [PBGI(0.1), LogEIPCMedian(0.3, 4), SRGapMedian(0.3, 3), UCBLCB(0.2), PRB]
VARIANTS = [
    Variant(),
    Variant(3),
    Variant(after=4),
    Variant(5, after=2),
    Variant(4, scale="linear"),
    Variant(4, scale="log"),
]


def recorded(rule, values):
    made = trajectory(np.zeros(len(values) + 1), initial=2, signals={rule.key: values})
    assert len(values) - 1 == made.T
    return made


def numbers(scale):
    special = [math.nan, -math.inf] if scale == "log" else [math.nan, 0.0]
    usual = st.floats(-6.0, 1.0) if scale == "log" else st.floats(1e-3, 2.0)
    return st.lists(
        st.one_of(usual, usual, usual, st.sampled_from(special)), min_size=1, max_size=14
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(data=st.data())
def test_a_sweep_is_every_verdict(rule, variant, data):
    view = recorded(rule, data.draw(numbers(rule.signal_scale)))
    read = variant.of(rule)
    swept = sweep(view, read)
    assume(swept is not None)  # a tie
    assert np.flatnonzero(swept).tolist() == list(step_by_step(view, read))
    assert swept.shape == (view.T + 1,)


def test_wrappers_may_come_in_any_order():
    values = np.log([0.01, 0.5, 0.2, 0.01, 0.01, 0.01])
    view = recorded(PBGI(0.1), values)
    one, other = After(Smoothed(PBGI(0.1), 2), 2), Smoothed(After(PBGI(0.1), 2), 2)
    found = np.flatnonzero(sweep(view, one)).tolist()
    assert found == np.flatnonzero(sweep(view, other)).tolist() == list(step_by_step(view, other))
    assert found == [3, 4, 5]


def test_ties_are_decided_by_the_rule_itself():
    view = recorded(PBGI(0.1), np.full(25, math.log(0.1)))
    read = Smoothed(PBGI(0.1), 20)
    assert sweep(view, read) is None
    assert list(stopping_times(view, read)) == list(range(25))


def test_a_number_that_is_zero_takes_the_geometric_mean_with_it():
    values = np.array([math.inf, 0.0, 0.3, 0.3, 0.3])
    view = recorded(UCBLCB(0.2), values)
    read = Variant(3, scale="log").of(UCBLCB(0.2))
    assert (
        np.flatnonzero(sweep(view, read)).tolist() == list(step_by_step(view, read)) == [1, 2, 3]
    )


def test_rules_that_a_sweep_does_not_cover_are_asked_step_by_step():
    view = trajectory(np.zeros(8))

    class Never(PBGI):
        def verdict(self, trace):
            return Verdict.not_yet(self.name, f"never, not even at {trace.current.t}")

    for rule in (GSS(), Convergence(2), Smoothed(GSS(), 2), UCBLCB(), Never(1.0)):
        assert sweep(view, rule) is None


def test_moving_averages_skip_what_is_no_answer():
    signal = np.array([math.nan, 2.0, 4.0, 9.0])
    np.testing.assert_allclose(averaged(signal, 2)[1:], [2.0, 3.0, 6.5])
    np.testing.assert_allclose(
        averaged(np.log(signal[1:]), 2, "log", "linear"), np.log([2, 3, 6.5])
    )
    np.testing.assert_allclose(averaged(signal[1:], 2, "linear", "log"), [2, math.sqrt(8), 6])
