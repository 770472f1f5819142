# SPDX-License-Identifier: Apache-2.0
"""Where a replay stops is where the rules' verdicts do, whatever was recorded."""

import math

import numpy as np
import pytest
from hypothesis import given
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
    ThresholdRule,
    Verdict,
)
from stopwise_paper.analysis.replay import Variant, step_by_step, stopping_times

PRB = ProbabilisticRegretBound()
RULES = [PBGI(0.1), LogEIPCMedian(0.3, 4), SRGapMedian(0.3, 3), UCBLCB(0.2), PRB, Convergence(2)]
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


def times(view, rule):
    """The same by the sweep and by the rule's own verdicts."""
    swept = list(stopping_times(view, rule))
    assert swept == list(step_by_step(view, rule))
    return swept


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(data=st.data())
def test_stops_are_those_of_every_verdict(rule, variant, data):
    times(recorded(rule, data.draw(numbers(rule.signal_scale))), variant.of(rule))


def test_wrappers_may_come_in_any_order():
    view = recorded(PBGI(0.1), np.log([0.01, 0.5, 0.2, 0.01, 0.01, 0.01]))
    assert times(view, After(Smoothed(PBGI(0.1), 2), 2)) == [3, 4, 5]
    assert times(view, Smoothed(After(PBGI(0.1), 2), 2)) == [3, 4, 5]


def test_where_rounding_would_decide_the_rule_itself_does():
    view = recorded(PBGI(0.1), np.full(25, math.log(0.1)))
    assert times(view, Smoothed(PBGI(0.1), 20)) == list(range(25))


def test_a_number_that_is_zero_takes_the_geometric_mean_with_it():
    view = recorded(UCBLCB(0.2), np.array([math.inf, 0.0, 0.3, 0.3, 0.3]))
    assert times(view, Variant(3, scale="log").of(UCBLCB(0.2))) == [1, 2, 3]


def test_a_recorded_signal_is_swept_and_no_verdict_is_asked(monkeypatch):
    def refuse(self, trace):
        raise AssertionError((self, trace))

    view = recorded(GSS(0.1), [math.nan, 0.5, 0.05, 0.3, 0.0])
    for cls in (ThresholdRule, After, Smoothed):
        monkeypatch.setattr(cls, "verdict", refuse)
    assert list(stopping_times(view, GSS(0.1))) == [2, 4]
    assert list(stopping_times(view, After(GSS(0.1), 3))) == [4]
    assert list(stopping_times(view, Smoothed(GSS(0.2), 2))) == [3, 4]


def test_what_was_not_recorded_is_asked_step_by_step():
    view = trajectory(np.zeros(8))
    assert list(stopping_times(view, Convergence(2))) == [2, 3, 4, 5, 6]
    assert list(stopping_times(view, Smoothed(GSS(), 2))) == []  # values without spread


def test_a_subclass_with_verdicts_of_its_own_is_asked_step_by_step():
    class Never(PBGI):
        def verdict(self, trace):
            return Verdict.not_yet(self.name, f"never, not even at {trace.current.t}")

    view = trajectory(np.zeros(8), gain=np.full(7, 0.5))
    assert times(view, PBGI(1.0)) == list(range(7))
    assert times(view, Never(1.0)) == []
