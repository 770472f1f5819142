# SPDX-License-Identifier: Apache-2.0
"""The verdict: ties stop, nan never does, and the sentence ends with the answer."""

import dataclasses
import math
import re

import pytest

from stopwise.core.traces import Signal, Trace
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    LogEIPCMedian,
    ProbabilisticRegretBound,
    SRGapMedian,
    Verdict,
)


@pytest.mark.parametrize(
    ("value", "at_most", "at_least"),
    [(1.0, True, False), (2.0, True, True), (3.0, False, True), (math.nan, False, False)],
)
def test_comparisons_with_two(value, at_most, at_least):
    for make, stop in ((Verdict.at_most, at_most), (Verdict.at_least, at_least)):
        verdict = make("rule", value, 2.0, "a sentence")
        assert verdict.stop is stop
        assert bool(verdict) is stop
        assert str(verdict) == f"a sentence: {'stop' if stop else 'go on'}"
        assert (verdict.rule, verdict.threshold) == ("rule", 2.0)
        assert verdict.value is value


def test_not_yet_goes_on_and_was_compared_with_nothing():
    verdict = Verdict.not_yet("rule", "too few")
    assert not verdict.stop
    assert math.isnan(verdict.value)
    assert math.isnan(verdict.threshold)
    assert str(verdict) == "too few"
    assert Verdict.not_yet("rule", "too few", 7.0).value == 7.0


def test_infinities_are_answers():
    assert Verdict.at_most("rule", -math.inf, -50.0, "x").stop
    assert not Verdict.at_most("rule", math.inf, 50.0, "x").stop


def test_a_verdict_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Verdict.not_yet("pbgi", "wait").stop = True


def test_a_stop_by_a_hair_shows_the_hair():
    """A gain of 0.1500004 for a price of 0.15 is worth it, and both are to be read."""
    facts = {"gain": 0.1500004, "cost": 3.0, "cost_spread": 0.0, "spread": 0.0}
    now = Signal(1, 5, math.log(0.1500004 / 3.0), facts)
    verdict = PBGI(0.05).verdict(Trace.of((now,)))
    assert not verdict.stop
    assert "gain 0.1500004 and costs 3, worth 0.15 at lam = 0.05" in verdict.reason
    bound = ProbabilisticRegretBound(0.01)
    for rule in (UCBLCB(1e-3), GSS(), SRGapMedian(), LogEIPCMedian(), bound):
        now = Signal(30, 40, _on_scale(rule, 0.250003), facts)
        said = rule.sentence(now, _on_scale(rule, 0.25))
        assert "0.250003" in said
        assert re.search(r"0\.25($|[^0])", said)


def _on_scale(rule, number):
    return math.log(number) if rule.signal_scale == "log" else number
