# SPDX-License-Identifier: Apache-2.0
"""Signals, and their traces."""

import dataclasses
import math

import pytest

from stopwise.core.traces import Signal, Trace


def signals(*pairs):
    return tuple(Signal(t, t + 5, value) for t, value in pairs)


def test_the_current_signal_of_a_trace_is_its_last():
    trace = Trace.of(signals((0, 1.0), (1, 2.0), (4, 3.0)))
    assert len(trace) == 3
    assert [s.value for s in trace] == [1.0, 2.0, 3.0]
    assert trace.current is trace.signals[-1]
    assert trace.current.t == 4


def test_an_empty_trace_has_no_answer():
    for empty in (Trace(), Trace.of(())):
        assert len(empty) == 0
        assert not list(empty)
        assert math.isnan(empty.current.value)
        assert (empty.current.t, empty.current.n) == (0, 0)
        assert empty.between(-100, 100) == []


def test_values_are_found_by_t_and_not_by_position():
    trace = Trace.of(signals((0, 0.5), (2, 1.0), (3, math.nan), (7, -math.inf), (9, 4.0)))
    assert trace.between(0, 9) == [0.5, 1.0, -math.inf, 4.0]
    assert trace.between(1, 6) == [1.0]
    assert trace.between(2, 2) == [1.0]
    assert trace.between(4, 6) == []
    assert trace.between(9, 2) == []


def test_a_trace_up_to_a_number_of_observations_is_what_was_recorded_then():
    trace = Trace.of(signals((0, 0.5), (2, 1.0), (7, 4.0)))
    assert trace.upto(5).current.value == 0.5
    assert trace.upto(6) == trace.upto(5)  # n = 6 was never asked about
    assert trace.upto(7).current.t == 2
    assert trace.upto(100) == trace
    assert trace.upto(4) == Trace()


def test_signals_and_traces_cannot_be_changed():
    for thing in (Signal(0, 0, 1.0), Trace()):
        for field in dataclasses.fields(thing):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, field.name, None)
