# SPDX-License-Identifier: Apache-2.0
"""A sweep over a record is every one of the rule's verdicts, whatever was recorded."""

import math

import numpy as np
import pytest
from hypothesis import given

from stopwise.core.traces import Trace
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Boundary,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    Verdict,
    sweep,
)
from stopwise.stopping._moving_average import moving_average
from stopwise.stopping.threshold_rule import SignalColumns
from tests.support.strategies import traces

RULES = [
    PBGI(0.1),
    PBGI(0.1, update="before"),
    LogEIPCMedian(0.3, 4),
    SRGapMedian(0.3, 3),
    UCBLCB(0.2),
    ProbabilisticRegretBound(),
    GSS(0.3),
    Convergence(3),
    Immediate(),
    FixedTrials(5),
]
WRAPPERS = {
    "bare": lambda rule: rule,
    "after": lambda rule: After(rule, 4),
    "smoothed": lambda rule: Smoothed(rule, 3),
    "smoothed-linear": lambda rule: Smoothed(rule, 4, scale="linear"),
    "smoothed-log": lambda rule: Smoothed(rule, 4, scale="log"),
    "after-smoothed": lambda rule: After(Smoothed(rule, 5), 2),
    "smoothed-after": lambda rule: Smoothed(After(rule, 2), 5),
}


def swept(rule, trace):
    return sweep(rule, [s.t for s in trace], [s.value for s in trace])


def one_by_one(rule, trace):
    return [rule.verdict(trace.upto(signal.n)).stop for signal in trace]


RECORDS = traces(max_size=15)  # windows and patience above are at most 5


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(trace=RECORDS)
def test_a_sweep_is_every_verdict(rule, wrap, trace):
    stops = swept(wrap(rule), trace)
    if stops is not None:  # else rounding would decide
        assert stops.tolist() == one_by_one(wrap(rule), trace)


@pytest.mark.parametrize("wrap", [WRAPPERS["bare"], WRAPPERS["after"]], ids=["bare", "after"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
@given(trace=RECORDS)
def test_without_an_average_a_sweep_always_answers(rule, wrap, trace):
    assert swept(wrap(rule), trace) is not None


def test_where_rounding_decides_there_is_no_answer():
    values = np.full(25, math.log(0.1))
    assert sweep(Smoothed(PBGI(0.1), 20), np.arange(25), values) is None
    assert sweep(Smoothed(PBGI(0.2), 20), np.arange(25), values).all()


def test_a_subclass_with_verdicts_of_its_own_is_asked_one_by_one():
    class Never(PBGI):
        def verdict(self, trace):
            return Verdict.not_yet(self.name, f"never, not even at {trace.current.t}")

    class Easier(PBGI):
        def boundary(self, record):  # noqa: ARG002
            return Boundary(0.0)

    values = [-0.5, 0.5]
    assert sweep(Never(1.0), [0, 1], values) is None
    assert sweep(After(Never(1.0), 1), [0, 1], values) is None
    assert sweep(Easier(0.1), [0, 1], values).tolist() == [True, False]


def test_a_rule_without_a_sweep_is_asked_one_by_one():
    class Plain:
        name, key, signal_scale = "plain", "plain", "linear"

        def signal(self, snapshot):
            raise NotImplementedError

        def verdict(self, trace):
            return Verdict.at_most(self.name, trace.current.value, 1.0, "it is 1 at most")

    assert sweep(Plain(), [0], [0.0]) is None
    assert sweep(Smoothed(Plain(), 2), [0], [0.0]) is None


def test_an_empty_record_stops_nowhere():
    for rule in RULES:
        assert sweep(rule, [], []).tolist() == []
        assert not rule.verdict(Trace()).stop


# ---------------------------------------------------------------------------- moving averages


def test_averages_skip_what_is_no_answer():
    record = SignalColumns(np.arange(4), np.array([math.nan, 2.0, 4.0, 9.0]))
    np.testing.assert_allclose(moving_average(record, 2, "linear")[1:], [2.0, 3.0, 6.5])


def test_averages_are_over_evaluations_and_not_over_records():
    record = SignalColumns(np.array([0, 2, 3, 7]), np.array([6.0, 2.0, 1.0, 3.0]))
    np.testing.assert_allclose(moving_average(record, 3, "linear"), [6.0, 4.0, 1.5, 3.0])


def test_averages_on_the_other_scale():
    numbers = np.array([2.0, 4.0, 9.0])
    logs = SignalColumns(np.arange(3), np.log(numbers))
    np.testing.assert_allclose(moving_average(logs, 2, "log", "linear"), np.log([2, 3, 6.5]))
    plain = SignalColumns(np.arange(3), numbers)
    np.testing.assert_allclose(moving_average(plain, 2, "linear", "log"), [2, math.sqrt(8), 6])
    with_zero = SignalColumns(np.arange(4), np.array([3.0, 0.0, 4.0, 4.0]))
    np.testing.assert_allclose(moving_average(with_zero, 2, "linear", "log"), [3, 0, 0, 4])
