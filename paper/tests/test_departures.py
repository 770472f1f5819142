# SPDX-License-Identifier: Apache-2.0
"""Departures of the published code, one by one, on trajectories made by hand."""

import numpy as np
import pytest

from paper.tests.support.synthetic_trajectories import everything, trajectory
from stopwise.errors import InputError
from stopwise.stopping import GSS, PBGI, UCBLCB, Convergence, LogEIPCMedian, SRGapMedian
from stopwise_paper.analysis.departures import (
    DEPARTURES,
    NOT_REPLAYABLE,
    PUBLISHED_DEPARTURES,
    check_departures,
    stop_with_departures,
)
from stopwise_paper.analysis.regret import HINDSIGHT, regret_rows
from stopwise_paper.analysis.replay import Stop, recorded_prb, stop_of


def stop(view, rule, *departures, donor=None):
    return stop_with_departures(view, rule, frozenset(departures), donor)


def test_without_departures_nothing_changes():
    view = everything([3, 2, 2, 2, 2, 2, 2], gain=[1, 0.05, 0.5, 0.05, 0.02, 0.01])
    for rule in (PBGI(0.1), PBGI(1e-9), UCBLCB(), GSS(window=2), Convergence(2)):
        assert stop(view, rule) == stop_of(view, rule)


def test_published_departures_are_all_known():
    assert {name for names in PUBLISHED_DEPARTURES.values() for name in names} == DEPARTURES.keys()
    assert not DEPARTURES.keys() & NOT_REPLAYABLE.keys()
    for names in PUBLISHED_DEPARTURES.values():
        check_departures(names)


def test_departures_that_cannot_be_replayed_say_so():
    with pytest.raises(InputError, match="'lcb-sign' cannot be replayed: on tables LCB"):
        regret_rows([], [0.1], departures=["lcb-sign"])
    with pytest.raises(InputError, match="there is no departure 'late'"):
        check_departures(["late"])


def test_one_evaluation_late():
    view = trajectory([3, 2, 1, 0.5, 0.4], gain=[1, 0.05, 1, 1])
    assert stop(view, PBGI(0.1), "late-index") == Stop(2, stopped=True)
    (row,) = regret_rows(
        [view],
        [0.1],
        rules=lambda _, lam: {"pbgi": PBGI(lam)},
        departures=["late-index"],
        baselines=False,
    )
    assert (row.t, row.spent, row.regret) == (2, 2.0, 0.5)
    # a stop at the very end is one too late to be charged
    last = trajectory([3, 2, 1, 0.5, 0.4], gain=[1, 1, 1, 0.01])
    assert stop(last, PBGI(0.1), "late-index") == Stop(3, stopped=False)


def test_rules_of_values_are_not_late_unless_their_incumbent_is():
    view = trajectory([3, 2, 2, 2, 2, 1])
    assert stop(view, Convergence(2), "late-index").t == 2
    assert stop(view, Convergence(2), "late-index", "late-incumbent").t == 3


def test_the_last_evaluation_is_left_out():
    view = trajectory([5, 4, 3, 2, 1])
    assert stop(view, PBGI(0.1), "short-cap") == Stop(2, stopped=False)
    view = trajectory([5, 4, 3, 2, 1], lam=1e-3)
    rows = regret_rows([view], [1e-3], rules=lambda *_: {}, departures=["short-cap"])
    assert [r.t for r in rows if r.pair.rule == HINDSIGHT] == [2]


def test_burn_in_counts_the_evaluation_that_is_charged():
    view = trajectory(np.ones(42), gain=np.full(41, 0.01))
    assert stop(view, PBGI(0.1)).t == 0
    assert stop(view, PBGI(0.1), "burn-in").t == 20
    assert stop(view, PBGI(0.1), "burn-in", "late-index").t == 20


def test_averages_over_what_logarithms_stand_for():
    gain = np.r_[1.0, np.full(30, 1e-6)]
    view = trajectory(np.ones(32), gain=gain)
    assert stop(view, PBGI(0.0501), "linear-average").t == 19  # 1/20 is left of the first
    assert stop(view, PBGI(0.04), "linear-average").t == 20


def test_a_median_of_values_that_are_not_known_yet():
    gain = np.r_[1.0, 1.0, 0.001, np.full(28, 1.0)]
    view = trajectory(np.ones(32), gain=gain)
    assert not stop(view, LogEIPCMedian()).stopped
    assert stop(view, LogEIPCMedian(), "early-median") == Stop(2, stopped=True)
    srgap = np.r_[np.nan, 1.0, 1.0, 0.001, np.full(27, 1.0)]
    view = trajectory(np.ones(32), gain=np.ones(31), signals={"srgap": srgap})
    assert stop(view, SRGapMedian(), "early-median") == Stop(3, stopped=True)


def test_mixed_spaces_never_stop_unless_gains_are_huge():
    gain = np.r_[np.full(25, 1.0), np.full(25, 1e-9)]
    view = trajectory(np.ones(51), gain=gain)
    assert stop(view, LogEIPCMedian()).t == 25
    assert not stop(view, LogEIPCMedian(), "mixed-spaces").stopped
    huge = trajectory(np.ones(51), gain=gain * 10.0)  # 10 - 4.6 > an average of less than 5.4
    assert stop(huge, LogEIPCMedian(), "mixed-spaces").t == 25 + 9


def test_a_tenth_of_the_median():
    srgap = np.r_[np.nan, np.full(21, 1.0), 0.09, 0.009, 1.0]
    view = trajectory(np.ones(26), gain=np.ones(25), signals={"srgap": srgap})
    assert stop(view, SRGapMedian()).t == 23
    assert stop(view, SRGapMedian(), "chi-0.1").t == 22


def test_gss_of_incumbents():
    # Incumbents 4 | 4 4 4 4 4 4 1 1: no spread for long, then nothing gained beside none.
    view = trajectory([9, 4, 5, 6, 7, 5, 6, 7, 1, 1], initial=2)
    assert stop(view, GSS()).t == 5
    assert not stop(view, GSS(), "trace-iqr").stopped
    assert stop(view, GSS(), "trace-iqr", "flat-stops").t == 5
    long = trajectory(np.r_[9.0, np.linspace(8, 5, 9), np.full(25, 5.0)], initial=2)
    assert stop(long, GSS(), "trace-iqr").t == 8 + 5
    assert stop(long, GSS(), "trace-iqr", "window-20").t == 8 + 20


@pytest.mark.parametrize(("departure", "t"), [(None, 6), ("patience-4", 5), ("patience-19", 20)])
def test_patience(departure, t):
    view = trajectory(np.r_[5.0, 4.0, 3.0, np.full(25, 3.0)])
    assert stop(view, Convergence(), *([departure] if departure else [])).t == t


def test_waiting_for_an_evaluation_that_does_not_improve():
    view = trajectory([5, 4, 3, 2, 2, 1], gain=np.full(5, 0.01))
    assert stop(view, PBGI(0.1)).t == 0
    assert stop(view, PBGI(0.1), "no-improvement").t == 3
    assert stop(view, LogEIPCMedian(), "no-improvement") == stop(view, LogEIPCMedian())


def test_stops_read_from_the_pbgi_trajectory():
    pbgi = trajectory([3, 2, 1, 0.5, 0.4], gain=[1, 1, 0.05, 1])
    lcb = trajectory([3, 2, 9, 9, 9], gain=[1, 0.05, 1, 1], acquisition="lcb", lam=None)
    rules = {"rules": lambda _, lam: {"pbgi": PBGI(lam)}, "baselines": False}
    own = regret_rows([pbgi, lcb], [0.1], **rules)
    assert [(r.pair.acquisition, r.t) for r in own] == [("pbgi", 2), ("lcb", 1)]
    borrowed = regret_rows([pbgi, lcb], [0.1], departures=["pbgi-index"], **rules)
    assert [(r.pair.acquisition, r.t, r.regret) for r in borrowed] == [
        ("pbgi", 2, 1.0 - 0.5),
        ("lcb", 2, 2.0),
    ]


def test_the_plain_fraction_of_paths():
    bound, mean = "regret_probability_bound_0.1_0.05", "regret_probability_mean_0.1_0.05"
    view = everything([3, 2, 1, 1, 1], signals={bound: [1, 1, 1, 0.02], mean: [1, 0.04, 1, 1]})
    rule = recorded_prb(view)
    assert stop(view, rule).t == 3
    assert stop(view, rule, "prb-mean").t == 1


def test_gains_that_never_fall_below_those_beside_the_incumbent():
    # EI of a known point is 4e-4: above a hundredth of the first gains for ever.
    gain = np.r_[np.full(25, 1e-2), np.full(25, 1e-9)]
    view = trajectory(np.ones(51), gain=gain)
    assert stop(view, LogEIPCMedian()).t == 25
    assert not stop(view, LogEIPCMedian(), "ei-floor").stopped
    assert stop(view, PBGI(1e-3), "ei-floor").t == 25
    cheap = trajectory(np.ones(51), gain=gain, cost=np.full(51, 0.1))  # 4e-3 per cost
    assert not stop(cheap, PBGI(1e-3), "ei-floor").stopped
