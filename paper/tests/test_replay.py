# SPDX-License-Identifier: Apache-2.0
"""Replay, regret tables and baselines, on trajectories whose answers are known by hand."""

import math

import numpy as np
import pytest

import stopwise as sw
from paper.tests.support.synthetic_trajectories import everything, trajectory
from stopwise.errors import InputError
from stopwise.stopping import (
    GSS,
    PBGI,
    UCBLCB,
    After,
    Convergence,
    LogEIPCMedian,
    Smoothed,
    SRGapMedian,
)
from stopwise_paper import RecordedSignal, plan
from stopwise_paper.analysis.regret import (
    BEST_FIXED,
    HINDSIGHT,
    IMMEDIATE,
    as_records,
    means,
    non_stops,
    regret_rows,
)
from stopwise_paper.analysis.replay import Stop, Variant, paper_rules, recorded_prb, stop_of
from stopwise_paper.runs.loop import run_cell

GAIN = [1.0, 0.05, 0.5, 0.05, 0.02, 0.01]


def only_pbgi(_view, lam):
    return {"pbgi": PBGI(lam)}


# ------------------------------------------------------------------------------- stops


@pytest.mark.parametrize(
    ("rule", "t"),
    [
        (PBGI(2.0), 0),  # at once
        (PBGI(0.1), 1),
        (PBGI(0.05), 1),  # ties stop
        (After(PBGI(0.1), 2), 3),
        (PBGI(0.015), 5),
        # geometric means of two: 1, .22, .16, .16, .032, .014
        (Smoothed(PBGI(0.1), 2), 4),
        # arithmetic means of two: 1, .525, .275, .275, .035, .015
        (Smoothed(PBGI(0.1), 2, "linear"), 4),
        (Smoothed(PBGI(0.2), 2), 2),
        (Smoothed(PBGI(0.2), 2, "linear"), 4),
    ],
)
def test_a_rule_stops_where_its_signal_says(rule, t):
    view = trajectory([3, 2, 2, 2, 2, 2, 2], gain=GAIN)
    assert stop_of(view, rule) == Stop(t, stopped=True)


def test_a_rule_that_never_stops_ends_at_the_cap():
    view = trajectory([3, 2, 2, 2, 2, 2, 2], gain=GAIN)
    assert stop_of(view, PBGI(1e-3)) == Stop(5, stopped=False)


def test_rules_of_values_need_no_record():
    #                 design | t = 1 ...
    view = trajectory([9, 5, 4, 3, 3, 3, 3, 3, 3])
    assert stop_of(view, Convergence(3)) == Stop(5, stopped=True)
    # t = 3 is the first with nothing gained over one step
    assert stop_of(view, GSS(window=1)) == Stop(3, stopped=True)
    with pytest.raises(InputError, match="ucb_lcb_gap"):
        stop_of(view, UCBLCB())


def test_medians_are_of_the_first_twenty_and_need_them():
    srgap = np.r_[np.nan, np.full(20, 5.0), 0.06, 0.04, 0.01]
    view = trajectory(np.ones(25), gain=np.ones(24), signals={"srgap": srgap})
    assert stop_of(view, SRGapMedian()) == Stop(22, stopped=True)
    gain = np.r_[np.full(21, 1.0), 0.5, 0.009, 0.009]
    assert stop_of(trajectory(np.ones(25), gain=gain), LogEIPCMedian()).t == 22


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        (Variant(), "plain"),
        (Variant(20), "W=20"),
        (Variant(20, 20, "linear"), "W=20 linear, after 20"),
    ],
)
def test_variants_say_what_they_are(variant, name):
    assert str(variant) == name


def test_variants_wrap_rules_of_the_model_and_lengthen_the_others():
    variant = Variant(20, 7, "linear")
    assert variant.of(PBGI(0.1)) == After(Smoothed(PBGI(0.1), 20, "linear"), 7)
    assert Variant(20).of(GSS()) == GSS(window=20)
    assert Variant(20).of(Convergence()) == Convergence(20)
    assert Variant().of(GSS()) == GSS()


def test_the_paper_compares_seven_rules():
    view = everything([3, 2, 1])
    rules = paper_rules(view, 0.1)
    names = ["pbgi", "logeipc-med", "srgap-med", "ucb-lcb", "prb", "gss", "convergence"]
    assert list(rules) == names
    assert rules["prb"].epsilon == 0.1
    assert "prb" not in paper_rules(trajectory([3, 2, 1]), 0.1)
    assert recorded_prb(view, "mean") is None
    with pytest.raises(InputError, match="estimate='median'"):
        recorded_prb(view, "median")


def test_replay_stops_where_the_live_rule_does():
    study = sw.Study(
        {"x": sw.Real(0.0, 1.0)}, lam=0.05, stopping=PBGI(0.05), watch=["ucb-lcb"], seed=3
    )
    while not study.should_stop():
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    y = np.array([o.value for o in study.history])
    n_initial = study.traces[PBGI(0.05).key].signals[0].n
    view = trajectory(
        y,
        initial=n_initial,
        signals={key: RecordedSignal.of(trace).value for key, trace in study.traces.items()},
    )
    assert stop_of(view, PBGI(0.05)) == Stop(len(y) - n_initial, stopped=True)
    (replayed,) = sw.replay(study.traces, UCBLCB(1e-3))
    ours = stop_of(view, UCBLCB(1e-3))
    assert (ours.t if ours.stopped else None) == replayed.stop_t


def test_replay_of_a_trajectory_is_that_of_the_library():
    cell = plan("gp1d", "smoke")[0]
    view = next(run_cell(cell).views())
    for lam in (10.0, 0.3, 1e-3, 1e-9):
        (library,) = sw.replay(view.traces(), PBGI(lam))
        ours = stop_of(view, PBGI(lam))
        assert (ours.t if ours.stopped else None) == library.stop_t


# ------------------------------------------------------------------------------ tables


def two_seeds(**given):
    """Regrets 2, 1, 0.5, 0.5 and 4, 4, 1, 0 over t = 0..3; every evaluation costs 2."""
    cost = np.full(5, 2.0)
    yield trajectory([3, 2, 1, 0.5, 0.7], cost=cost, gain=[1, 0.05, 1, 1], seed=0, **given)
    yield trajectory([4, 5, 4, 1, 0], cost=cost, gain=[1, 1, 1, 1], seed=1, **given)


def test_rows_carry_both_sums():
    rows = regret_rows(two_seeds(), [0.1], rules=only_pbgi, baselines=False)
    stopped, capped = rows
    assert (stopped.t, stopped.stopped, stopped.regret, stopped.spent) == (1, True, 1.0, 2.0)
    assert stopped.adjusted == pytest.approx(1.0 + 0.1 * 2.0)
    assert stopped.adjusted_with_initial == pytest.approx(1.0 + 0.1 * 2.0 + 0.1 * 4.0)
    assert (capped.t, capped.stopped, capped.regret, capped.spent) == (3, False, 0.0, 6.0)


def test_means_have_standard_errors():
    rows = regret_rows(two_seeds(), [0.1], rules=only_pbgi, baselines=False)
    (mean,) = means(rows)
    assert mean.seeds == 2
    assert mean.adjusted == pytest.approx(0.5 * (1.2 + 0.6))
    assert mean.adjusted_se == pytest.approx(0.3)  # half the difference, for two
    assert mean.t == 2.0
    assert mean.non_stops == 1
    assert non_stops(rows) == {mean.pair: (1, 2)}
    (alone,) = means(rows[:1])
    assert math.isnan(alone.adjusted_se)


def test_baselines_by_hand():
    rows = regret_rows(two_seeds(), [0.1], rules=lambda *_: {})
    stops = {(row.pair.rule, row.seed): row.t for row in rows}
    assert stops == {
        (IMMEDIATE, 0): 0,
        (IMMEDIATE, 1): 0,
        (HINDSIGHT, 0): 2,  # 2, 1.2, 0.9, 1.1
        (HINDSIGHT, 1): 3,  # 4, 4.2, 1.4, 0.6
        (BEST_FIXED, 0): 3,  # on average 3, 2.7, 1.15, 0.85
        (BEST_FIXED, 1): 3,
    }
    assert {m.pair.rule: round(m.adjusted, 9) for m in means(rows)} == {
        IMMEDIATE: 3.0,
        HINDSIGHT: 0.75,
        BEST_FIXED: 0.85,
    }


def test_the_regret_is_that_of_the_incumbent_by_what_was_observed():
    view = trajectory([3, 2, 1, 0.5], judged=[3, 2, 9, 0], gain=[1, 0.01, 1], optimum=-1.0)
    (row,) = regret_rows([view], [0.1], rules=only_pbgi, baselines=False)
    assert (row.t, row.regret) == (1, 10.0)


def test_what_was_really_paid_moves_the_score_and_not_the_stop():
    paid = {"cost": np.ones(5), "judged_cost": np.full(5, 10.0), "gain": [1, 0.05, 1, 1]}
    view = trajectory([3, 2, 1, 0.5, 0.7], **paid)
    (priced,) = regret_rows([view], [0.1], rules=only_pbgi, baselines=False)
    (real,) = regret_rows([view], [0.1], rules=only_pbgi, baselines=False, judged=True)
    assert priced.t == real.t == 1
    assert (priced.spent, real.spent) == (1.0, 10.0)
    rows = regret_rows([view], [0.1], rules=lambda *_: {}, judged=True)
    # 2, 1 + 1, 0.5 + 2, 0.5 + 3: the first of equals
    assert [r.t for r in rows if r.pair.rule == HINDSIGHT] == [0]


def test_tables_become_flat_records():
    rows = regret_rows(two_seeds(), [0.1], rules=only_pbgi)
    (first, *_), (mean, *_) = as_records(rows), as_records(means(rows))
    assert first["rule"] == mean["rule"] == "pbgi"
    assert first["adjusted"] == pytest.approx(1.2)
    assert mean["adjusted"] == pytest.approx(0.9)


def test_a_trajectory_with_a_lambda_is_read_at_its_own():
    views = [*two_seeds(), *two_seeds(acquisition="lcb", lam=None)]
    rows = regret_rows(views, [1.0, 0.1], rules=only_pbgi, baselines=False)
    read = {(row.pair.acquisition, row.pair.lam) for row in rows}
    assert read == {("pbgi", 0.1), ("lcb", 0.1), ("lcb", 1.0)}
