# SPDX-License-Identifier: Apache-2.0
"""LogEIPC-med: the median of first signals, and what it is compared with."""

import math

import pytest

from stopwise.core.traces import Signal, Trace
from stopwise.stopping import (
    LogEIPCMedian,
)


def record(values, first=0, facts=None):
    return Trace.of(
        tuple(Signal(t, t + 5, v, facts or {}) for t, v in enumerate(values, start=first))
    )


def test_the_median_is_of_t_from_1_to_i_and_the_rule_answers_from_i_plus_1_on():
    rule = LogEIPCMedian(eta=0.1, initial=4)
    #          t = 0   1     2     3     4
    values = [-9.0, 1.0, 3.0, 7.0, -2.0]  # median of t = 1..4 is 2
    threshold = 2.0 + math.log(0.1)
    for last in range(1, 6):
        verdict = rule.verdict(record(values[:last]))
        assert not verdict.stop
        assert verdict.reason == f"{last - 1} of 4 first values of gain per cost: go on"
    for value, stop in ((threshold + 1e-9, False), (threshold, True), (-20.0, True)):
        verdict = rule.verdict(record([*values, value]))
        assert verdict.stop == stop
        assert verdict.threshold == pytest.approx(threshold, rel=1e-15)
        assert verdict.value == value


def test_the_median_does_not_move_any_more():
    rule = LogEIPCMedian(eta=0.1, initial=3)
    values = [0.0, 1.0, 2.0, 3.0]
    for more in ([5.0], [5.0, -50.0], [5.0, -50.0, 9.0]):
        assert rule.verdict(record(values + more)).threshold == pytest.approx(2.0 + math.log(0.1))


def test_gaps_in_t_leave_a_median_of_what_was_recorded():
    rule = LogEIPCMedian(eta=0.1, initial=4)
    signals = tuple(Signal(t, t + 5, v) for t, v in [(0, 0.0), (2, 1.0), (3, 3.0), (9, -9.0)])
    assert rule.verdict(Trace.of(signals)).threshold == pytest.approx(2.0 + math.log(0.1))
    none = tuple(Signal(t, t + 5, v) for t, v in [(0, 0.0), (9, -9.0)])
    verdict = rule.verdict(Trace.of(none))
    assert not verdict.stop
    assert math.isnan(verdict.threshold)


def test_the_median_rule_speaks_of_gain_per_cost():
    verdict = LogEIPCMedian(0.5, 1).verdict(record([0.0, math.log(8.0), math.log(3.0)]))
    assert verdict.reason == (
        "the best remaining gain per cost is 3, and 0.5 of its median over the first 1"
        " evaluations is 4: stop"
    )
