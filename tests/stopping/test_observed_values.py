# SPDX-License-Identifier: Apache-2.0
"""GSS, Convergence, Immediate, FixedTrials: they read values as observed, or count evaluations."""

import math

import numpy as np
import pytest

from stopwise.core.traces import Signal
from stopwise.stopping import (
    GSS,
    Convergence,
    FixedTrials,
    Immediate,
)
from tests.support.rules import verdict_of
from tests.support.textbook import (
    LINE,
    study,
)


def told(y, initial):
    """A study that was told these values, in this order."""
    X = np.arange(len(y), dtype=float)[:, None] / len(y)
    return study(LINE, X=X, y=y, initial=initial)


def test_gss_is_improvement_over_the_window_in_interquartile_ranges_of_all_values():
    y = [9.0, 5.0, 7.0, 4.0, 6.0, 8.0, 3.5]
    # Best after 7 is 3.5; before the last three, 4. Quartiles of all seven: 4.5 and 7.5.
    signal = GSS(window=3).signal(told(y, 2))
    assert signal.value == pytest.approx(0.5 / 3.0)
    assert (signal.facts["gain"], signal.facts["iqr"]) == (0.5, 3.0)
    low, high = (sorted(y)[1] + sorted(y)[2]) / 2.0, (sorted(y)[4] + sorted(y)[5]) / 2.0
    assert (low, high) == (4.5, 7.5)
    # Not of the best-so-far trace, whose quartiles are 4 and 5.
    assert signal.value != pytest.approx(0.5 / 1.0)


@pytest.mark.parametrize(("t", "answer"), [(2, False), (3, True), (4, True)])
def test_gss_needs_a_window_of_evaluations_after_the_design(t, answer):
    y = [9.0, 5.0, 7.0, 4.0, 6.0, 8.0]
    rule = GSS(window=3)
    signal = rule.signal(told(y, len(y) - t))
    assert math.isnan(signal.value) != answer
    if not answer:
        verdict = verdict_of(rule, signal)
        assert not verdict.stop
        assert verdict.reason == "fewer than 3 evaluations, or values without spread: go on"


def test_values_without_spread_give_gss_no_answer():
    rule = GSS(window=2)
    signal = rule.signal(told([1.0, 1.0, 1.0, 1.0, 1.0, 0.5], 2))  # its quartiles are both 1
    assert math.isnan(signal.value)
    assert not verdict_of(rule, signal).stop


def test_gss_compares_with_phi():
    for value, stop in ((0.0, True), (0.01, True), (0.0101, False)):
        verdict = verdict_of(GSS(), Signal(6, 9, value, {"gain": value * 2.0, "iqr": 2.0}))
        assert (verdict.stop, verdict.threshold) == (stop, 0.01)
    assert "gained 0.0202, which is 0.0101 of the interquartile range" in verdict.reason
    assert GSS(0.1, 5).key == GSS(0.2, 5).key != GSS(0.1, 6).key


def test_gss_over_whole_histories():
    rng = np.random.default_rng(53)
    for _ in range(20):
        y, w = rng.standard_normal(12), int(rng.integers(1, 5))
        for n in range(3 + w, 13):
            best = np.minimum.accumulate(y[:n])
            iqr = np.subtract(*np.percentile(y[:n], [75, 25]))
            rule = GSS(phi=0.2, window=w)
            wanted = best[n - 1 - w] - best[n - 1] <= 0.2 * iqr
            assert verdict_of(rule, rule.signal(told(y[:n], 3))).stop == wanted


# ------------------------------------------------------------------------------------- Convergence


def test_convergence_counts_evaluations_without_improvement():
    #     initial | t =  1    2    3    4    5    6
    y = [5.0, 4.0, 6.0, 4.0, 3.0, 3.0, 7.0, 3.5]
    counts = [Convergence().signal(told(y[:n], 2)).value for n in range(2, 9)]
    assert counts == [0, 1, 2, 0, 1, 2, 3]  # a tie is no improvement
    for patience in (1, 2, 3):
        stops = [verdict_of(Convergence(patience), Signal(t, t, c)).stop
                 for t, c in enumerate(counts)]  # fmt: skip
        best = np.minimum.accumulate(y)
        wanted = [t >= patience and best[t + 1] == best[t + 1 - patience] for t in range(7)]
        assert stops == wanted


def test_convergence_does_not_count_within_the_initial_design():
    y = [1.0, 5.0, 6.0, 7.0, 8.0]  # the best came first
    assert [Convergence().signal(told(y[:n], 3)).value for n in (3, 4, 5)] == [0, 1, 2]


def test_convergence_speaks_of_its_patience():
    verdict = verdict_of(Convergence(4), Signal(9, 12, 3.0))
    assert verdict.reason == (
        "the best value has not changed over the last 3 evaluations; the patience is 4: go on"
    )
    assert Convergence(1).key == Convergence(2).key


# -------------------------------------------------------------------------- Immediate, FixedTrials


def test_immediate_stops_at_once():
    for initial in (8, 5):
        snapshot = study(n=8, initial=initial)
        verdict = verdict_of(Immediate(), Immediate().signal(snapshot))
        assert verdict.stop
        assert verdict.value == 8 - initial


def test_fixed_trials_counts_evaluations_after_the_design():
    for initial, stop in ((8, False), (6, False), (5, True), (4, True)):
        rule = FixedTrials(3)
        verdict = verdict_of(rule, rule.signal(study(n=8, initial=initial)))
        assert verdict.stop == stop
        assert verdict.reason.startswith(f"{8 - initial} of 3 evaluations after the initial")
    assert FixedTrials(3).key == Immediate().key == "evaluations"
