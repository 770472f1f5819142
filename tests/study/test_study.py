# SPDX-License-Identifier: Apache-2.0
"""Ask, tell, should_stop: what an ordinary study does from its beginning to its end."""

import math

import pytest

import stopwise as sw
from stopwise.record.history import History
from stopwise.study.result import Best
from tests.support.small_studies import LINE, MIXED, bowl, rows, run, state_of, valley

TABLE = sw.Candidates(rows(20))


def test_a_study_from_beginning_to_end():
    study = sw.Study(LINE, lam=0.001)
    assert (len(study.history), study.pending, study.best, study.spent) == (0, (), None, 0.0)
    told = []
    while not (verdict := study.should_stop()).stop:
        trial = study.ask()
        assert study.pending == (trial,)
        assert trial.number == len(told)
        value = bowl(trial.params)
        study.tell(trial, value)
        told.append((trial.number, trial.params, value, 1.0))
        assert study.pending == ()
    assert [(o.number, o.params, o.value, o.cost) for o in study.history] == told
    assert study.spent == len(told)
    assert study.best.value == min(value for _, _, value, _ in told)
    assert told[study.best.number][1:3] == (study.best.params, study.best.value)
    assert abs(study.best.params["x"] - 0.3) < 0.05
    assert 4 < len(told) < 20
    assert (verdict.rule, verdict.stop) == ("pbgi", True)
    result = study.result()
    assert (result.best, result.verdict, result.spent) == (study.best, verdict, study.spent)
    assert (result.history, result.traces) == (study.history, study.traces)


def test_the_loop_in_one_call_is_the_loop_by_hand():
    study = sw.Study(TABLE, lam=0.05, seed=3)
    while not study.should_stop().stop:
        run(study, valley, 1)
    result = sw.minimize(valley, TABLE, lam=0.05, seed=3)
    assert result == study.result()


def test_asking_twice_gives_the_same_answer_and_changes_nothing():
    study = run(sw.Study(TABLE, lam=0.05, watch=["prb", "ucb-lcb"]), valley, 8)
    first = study.should_stop()
    before = state_of(study)
    assert study.should_stop() == first
    assert study.explain() == study.explain()
    assert study.result().verdict == first
    assert state_of(study) == before


def test_a_verdict_is_true_if_it_is_to_stop():
    study = sw.Study(TABLE, lam=0.05)
    while not study.should_stop():
        run(study, valley, 1)
    assert study.result() == sw.minimize(valley, TABLE, lam=0.05)
    assert bool(study.should_stop()) is study.should_stop().stop is True
    assert bool(sw.Study(TABLE, lam=0.05).should_stop()) is False


def test_a_study_and_a_result_are_printed_in_one_line():
    study = sw.Study(LINE, lam=1e9, direction="maximize")
    assert repr(study) == "<Study: 0 told, 0 pending, best none>"
    for x, value in ((0.1, 2.0), (0.2, 3.14159), (0.3, None), (0.4, 1.0), (0.5, 1.5)):
        study.tell({"x": x}, value)
    study.ask()
    assert repr(study) == "<Study: 5 told, 1 pending, best 3.142>"
    shown = repr(study.result())
    assert shown.startswith("Result(best=Best(params={'x': 0.2}, value=3.14159, number=1")
    assert "Observation" not in shown
    assert "Signal" not in shown


def test_a_result_asks_for_the_verdict_if_nobody_has():
    study = run(sw.Study(TABLE, lam=1e9), valley, 6)
    assert study.result().verdict.stop
    study.ask()
    assert "1 still running" in study.should_stop().reason


def test_the_first_of_equals_is_the_best():
    study = sw.Study(LINE, lam=0.1)
    for x, value in ((0.1, 2.0), (0.2, 1.0), (0.3, 1.0)):
        study.tell({"x": x}, value)
    assert study.best == Best({"x": 0.2}, 1.0, 1)


def test_the_largest_is_the_best_when_maximising():
    study = sw.Study(LINE, lam=0.1, direction="maximize")
    for x, value in ((0.1, 2.0), (0.2, 3.0), (0.3, 1.0)):
        study.tell({"x": x}, value)
    assert (study.best.params, study.best.value) == ({"x": 0.2}, 3.0)


def test_what_is_handed_out_can_be_changed_without_harm():
    study = sw.Study(TABLE, lam=0.05)
    trial = study.ask()
    asked = dict(trial.params)
    trial.params["epochs"] = 10
    study.tell(trial, 1.0)
    assert study.history[0].params == asked
    study.best.params.clear()
    assert study.best.params == asked
    run(study, valley, 5)
    study.should_stop()
    recorded = dict(study.traces)
    assert recorded
    study.traces.clear()
    assert study.traces == recorded


def test_params_come_back_as_they_were_given():
    rows = [{"n": 1, "act": (64, 64), "lr": 0.1}, {"n": 2, "act": (32,), "lr": 1e-3}]
    study = sw.Study(sw.Candidates(rows), lam=0.1)
    asked = [study.ask().params for _ in rows]
    assert sorted(asked, key=lambda row: row["n"]) == rows
    assert all(type(row["n"]) is int for row in asked)


@pytest.mark.parametrize("space", [LINE, MIXED, TABLE], ids=["box", "mixed", "table"])
def test_what_is_asked_for_is_in_the_space(space):
    study = sw.Study(space, lam=1e-9)
    for i in range(9):
        trial = study.ask()
        study.domain.encode(trial.params)  # refuses what is not
        study.tell(trial, math.sin(i))


# ------------------------------------------------------------------------------------- which trial


def test_the_params_of_a_trial_stand_for_the_trial():
    study = sw.Study(LINE, lam=0.1)
    first, second = study.ask(), study.ask()
    study.tell(second.params, 2.0)
    assert study.pending == (first,)
    assert study.history[0].number == second.number
    assert study.spent == 1.0
    study.tell({"x": 0.123}, 3.0)  # none of this study
    assert study.pending == (first,)
    assert study.spent == 1.0
    assert study.ask().number == 3


def test_trials_are_told_in_any_order():
    study = sw.Study(LINE, lam=0.1)
    trials = [study.ask() for _ in range(4)]
    for trial in reversed(trials):
        study.tell(trial, bowl(trial.params))
    assert [o.number for o in study.history] == [3, 2, 1, 0]
    assert study.should_stop().rule == "pbgi"


# ---------------------------------------------------------------------------- scales, and few data


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_objective_and_cost_do_not_matter(scale):
    def asked(value_scale, cost_scale):
        result = sw.minimize(
            lambda p: value_scale * valley(p),
            TABLE,
            lam=0.005 * value_scale / cost_scale,
            cost=lambda p: cost_scale * (1 + p["x"]),
        )
        return [o.params for o in result.history]

    plain = asked(1.0, 1.0)
    assert len(plain) > 7
    assert asked(scale, 1.0) == asked(1.0, scale) == asked(scale, scale) == plain


def test_one_observation_is_enough_to_go_on_from():
    study = sw.Study(LINE, lam=0.01, n_initial=1)
    while not study.should_stop().stop:
        run(study, bowl, 1)
    assert study.history
    assert study.traces["sup_log_ei_per_cost"].signals[0].n == 1


def test_an_empty_study_is_at_its_beginning():
    study = sw.Study(LINE, lam=0.1)
    assert study.history == History()
    result = study.result()
    assert (result.best, result.spent, result.traces) == (None, 0.0, {})
    assert result.verdict.reason == "initial design, 0 of 4"
