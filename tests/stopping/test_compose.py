# SPDX-License-Identifier: Apache-2.0
"""After and Smoothed: what they read, on records made by hand."""

import math

import pytest

from stopwise.core.traces import Signal, Trace
from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    FixedTrials,
    Immediate,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    Smoothed,
    SRGapMedian,
    StoppingRule,
)
from tests.support.textbook import priced_table

FACTS = {"gain": 0.5, "cost": 2.0, "cost_spread": 0.0, "spread": 0.0, "samples": 0.0, "iqr": 1.0}
NAN = math.nan


def record(*values, t=None):
    """A trace of these values at t = 0, 1, ..., or at the given ones."""
    moments = range(len(values)) if t is None else t
    return Trace.of(
        tuple(Signal(at, at + 5, v, FACTS) for at, v in zip(moments, values, strict=True))
    )


def averages(rule, *values, t=None):
    """What the rule decides by, at each moment."""
    trace = record(*values, t=t)
    return [rule.verdict(trace.upto(signal.n)).value for signal in trace]


# ------------------------------------------------------------------------------ moving averages


def test_at_first_the_window_is_what_there_is():
    found = averages(Smoothed(UCBLCB(), 3), 6.0, 2.0, 1.0, 3.0, 8.0)
    assert found == [6.0, 4.0, 3.0, 2.0, 4.0]


def test_a_window_of_one_changes_nothing():
    values = (6.0, 2.0, 1.0)
    assert averages(Smoothed(UCBLCB(), 1), *values) == list(values)
    smoothed, plain = Smoothed(UCBLCB(1.0), 1), UCBLCB(1.0)
    assert smoothed.verdict(record(*values)) == plain.verdict(record(*values))


def test_values_without_an_answer_are_skipped():
    found = averages(Smoothed(SRGapMedian(initial=1), 3), NAN, 4.0, 2.0, NAN, 6.0)
    assert math.isnan(found[0])
    assert found[1:3] == [4.0, 3.0]
    assert math.isnan(found[3])  # no answer now is no answer
    assert found[4] == 4.0  # of 2 and 6


def test_now_without_an_answer_never_stops():
    for rule in (UCBLCB(10.0), GSS(10.0), PBGI(1e9, update="before")):
        assert not Smoothed(rule, 3).verdict(record(0.0, 0.0, NAN)).stop
        assert not Smoothed(rule, 3).verdict(Trace()).stop


def test_the_window_is_of_evaluations_and_not_of_records():
    # At t = 7 a window of 3 reaches back to t = 5: only the last record is in it.
    found = averages(Smoothed(UCBLCB(), 3), 6.0, 2.0, 1.0, 3.0, t=[0, 2, 3, 7])
    assert found == [6.0, 4.0, 1.5, 3.0]


def test_a_log_signal_is_averaged_as_a_logarithm():
    values = [math.log(v) for v in (8.0, 2.0, 1.0)]
    found = averages(Smoothed(PBGI(1.0), 3), *values)
    assert found == pytest.approx([math.log(8.0), math.log(4.0), math.log(16.0) / 3.0])


def test_or_on_request_as_the_number_it_stands_for():
    values = [math.log(v) for v in (8.0, 2.0, 2.0)]
    found = averages(Smoothed(PBGI(1.0), 3, scale="linear"), *values)
    assert found == pytest.approx([math.log(8.0), math.log(5.0), math.log(4.0)])
    # However small: a naive exponential is 0 here.
    moved = averages(Smoothed(PBGI(1.0), 3, scale="linear"), *(v - 2000.0 for v in values))
    assert moved == pytest.approx([v - 2000.0 for v in found], abs=1e-9)


def test_a_linear_signal_is_averaged_as_it_is_or_on_request_by_logarithms():
    assert averages(Smoothed(UCBLCB(), 2), 8.0, 2.0) == [8.0, 5.0]
    assert averages(Smoothed(UCBLCB(), 2, scale="log"), 8.0, 2.0) == pytest.approx([8.0, 4.0])
    assert averages(Smoothed(UCBLCB(), 2, scale="linear"), 8.0, 2.0) == [8.0, 5.0]
    assert averages(Smoothed(UCBLCB(), 2, scale="log"), 8.0, 0.0)[1] == 0.0


def test_nothing_to_gain_counts_as_nothing():
    inf = math.inf
    assert averages(Smoothed(PBGI(1.0), 2), 0.0, -inf) == [0.0, -inf]
    found = averages(Smoothed(PBGI(1.0), 2, scale="linear"), 0.0, -inf, -inf)
    assert found == pytest.approx([0.0, -math.log(2.0), -inf])


def test_only_the_current_number_is_averaged_and_the_median_is_of_the_raw_record():
    values = [0.0, 1.0, 9.0, 2.0, 8.0, -3.0]  # t = 1..3: median 2
    raw, smooth = LogEIPCMedian(0.5, 3), Smoothed(LogEIPCMedian(0.5, 3), 4)
    trace = record(*values)
    assert smooth.verdict(trace).threshold == raw.verdict(trace).threshold
    assert raw.verdict(trace).threshold == pytest.approx(2.0 + math.log(0.5))
    assert smooth.verdict(trace).value == pytest.approx((9.0 + 2.0 + 8.0 - 3.0) / 4.0)
    gaps = record(NAN, 1.0, 9.0, 2.0, 8.0, 0.0)
    assert Smoothed(SRGapMedian(0.5, 3), 4).verdict(gaps).threshold == 1.0
    assert Smoothed(SRGapMedian(0.5, 3), 4).verdict(gaps).value == pytest.approx(19.0 / 4.0)


def test_one_low_value_does_not_stop_a_smoothed_rule():
    trace = record(0.5, 0.4, -9.0)
    assert PBGI(math.exp(-5.0)).verdict(trace).stop
    assert not Smoothed(PBGI(math.exp(-5.0)), 3).verdict(trace).stop
    low = record(0.5, -9.0, -9.0, -9.0)
    assert Smoothed(PBGI(math.exp(-5.0)), 3).verdict(low).stop


def test_the_record_itself_is_not_touched():
    trace = record(1.0, 2.0, 3.0)
    Smoothed(UCBLCB(), 3).verdict(trace)
    assert trace == record(1.0, 2.0, 3.0)


# ----------------------------------------------------------------------------------- After


def test_a_rule_is_silent_for_its_first_evaluations():
    rule = After(Immediate(), 3)
    for t in range(6):
        verdict = rule.verdict(record(*range(t + 1)))
        assert verdict.stop == (t >= 3)
        if t < 3:
            assert verdict.reason == f"stabilisation, {t} of 3 evaluations: go on"
            assert verdict.value == t
            assert math.isnan(verdict.threshold)
        else:
            assert verdict == Immediate().verdict(record(*range(t + 1)))


def test_after_reads_t_and_not_the_number_of_records():
    assert After(UCBLCB(1.0), 5).verdict(record(0.5, 0.5, t=[0, 5])).stop
    assert not After(UCBLCB(1.0), 5).verdict(record(*[0.5] * 5)).stop


# ---------------------------------------------------------------------------------- wrapped


def test_wrappers_nest_in_either_order():
    values = [5.0, 1.0, 0.0, 2.0, 0.0]
    trace = record(*values)
    one, other = After(Smoothed(UCBLCB(1.0), 3), 4), Smoothed(After(UCBLCB(1.0), 4), 3)
    for signal in trace:
        seen = trace.upto(signal.n)
        assert one.verdict(seen).stop == other.verdict(seen).stop
    assert one.verdict(trace) == other.verdict(trace)
    assert one.verdict(trace).value == pytest.approx(2.0 / 3.0)
    later = After(After(UCBLCB(1.0), 2), 4)
    assert [later.verdict(trace.upto(s.n)).stop for s in trace] == [False] * 4 + [True]


RULES = [
    PBGI(1.0),
    PBGI(1.0, update="before"),
    LogEIPCMedian(),
    SRGapMedian(),
    UCBLCB(),
    ProbabilisticRegretBound(),
    GSS(),
    Convergence(),
    Immediate(),
    FixedTrials(3),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_a_wrapper_records_what_the_rule_inside_records(rule):
    snapshot = priced_table(initial=2)
    for wrapped in (After(rule, 3), Smoothed(rule, 3), After(Smoothed(rule, 3), 2)):
        assert isinstance(wrapped, StoppingRule)
        assert wrapped.name == rule.name
        assert wrapped.key == rule.key
        assert wrapped.signal_scale == rule.signal_scale
        assert repr(wrapped.signal(snapshot)) == repr(rule.signal(snapshot))
        trace = record(0.1, 0.2, 0.3, 0.4)
        assert wrapped.verdict(trace).rule == rule.name


def test_wrappers_are_values():
    assert Smoothed(PBGI(1.0), 3) == Smoothed(PBGI(1.0), 3) != Smoothed(PBGI(1.0), 4)
    assert After(PBGI(1.0), 3) != Smoothed(PBGI(1.0), 3)
    assert len({After(PBGI(1.0), 3), After(PBGI(1.0), 3), After(PBGI(2.0), 3)}) == 2


# ------------------------------------------------------------------------ parameters that teach


def test_a_scale_is_log_or_linear():
    with pytest.raises(InputError, match=r"Smoothed\(scale='geometric'\): give 'log', 'linear'"):
        Smoothed(PBGI(1.0), 3, scale="geometric")


@pytest.mark.parametrize("inner", [Smoothed(PBGI(1.0), 3), After(Smoothed(PBGI(1.0), 3), 4)])
def test_a_rule_is_smoothed_once(inner):
    with pytest.raises(InputError, match=r"smoothed already.* Give one window\."):
        Smoothed(inner, 5)
