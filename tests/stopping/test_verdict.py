# SPDX-License-Identifier: Apache-2.0
"""The verdict: ties stop, nan never does, and the sentence ends with the answer."""

import math

import pytest

from stopwise.stopping import Verdict


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
