# SPDX-License-Identifier: Apache-2.0
"""Paused trials: what a result and a verdict say of them, and why they were left."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import stopwise as sw
from stopwise.record.staged import Left, PassedOver
from stopwise.study.choosing import NothingLeftError
from stopwise.tools.report._curves_picture import curves_picture
from stopwise.tools.report._facts import Facts

SPACE = {"x": sw.Real(0.0, 1.0)}
STAGES = sw.Stages([1, 3, 9])


def train(params: dict[str, Any]) -> Iterator[tuple[int, float]]:
    for step in range(1, 10):
        yield step, (params["x"] - 0.3) ** 2 + 0.1 * (3.0 / math.sqrt(step) - 1.0)


def run(**options: Any) -> sw.Result:
    return sw.minimize(train, SPACE, **{"lam": 0.01, "stages": STAGES, **options})


def test_a_result_has_curves_and_paused_trials() -> None:
    result = run()
    study = result._study
    assert result.curves == study.curves
    assert {p.number for p in result.paused} == {trial.number for trial in study.paused}
    params = {trial.number: trial.params for trial in study.paused}
    for paused in result.paused:
        last = result.curves[paused.number][-1]
        assert (paused.step, paused.value, paused.cost) == (last.step, last.value, last.cost)
        assert paused.params == params[paused.number]
        assert paused.cost + paused.cost_to_finish == pytest.approx(1.0)  # a run costs 1
    values = [paused.value for paused in result.paused]
    assert values == sorted(values)
    assert f", {len(values)} paused" in str(result)


def test_the_best_of_those_that_are_paused_is_first_where_larger_is_better() -> None:
    result = sw.maximize(
        lambda params: ((step, -value) for step, value in train(params)),
        SPACE,
        lam=0.01,
        stages=STAGES,
    )
    values = [paused.value for paused in result.paused]
    assert len(values) > 1
    assert values == sorted(values, reverse=True)


def test_without_stages_nothing_is_paused() -> None:
    result = sw.minimize(lambda params: params["x"], SPACE, lam=1.0)
    assert result.curves == {}
    assert result.paused == ()
    assert "paused" not in str(result)


def test_a_verdict_compares_a_paused_trial_with_finished_ones_only_if_there_are_any() -> None:
    result = run(budget=0.35, cost_unit="runs")
    assert result.best is None
    best = result.paused[0]
    assert "finished one" not in result.verdict.reason
    assert (
        f"No trial has finished: trial {best.number}, the best of {len(result.paused)} that are"
        f" paused, has {best.value:.4g} at step {best.step} of 9; to finish it is expected to cost"
    ) in result.verdict.reason
    assert result.verdict.reason.endswith(" runs")


def tell(study: sw.Study, action: Any) -> None:
    step = action.to_step
    study.tell(action.trial, dict(train(dict(action.trial.params)))[step], step=step)


def test_why_a_trial_was_left_is_what_going_on_was_worth_at_that_moment(tmp_path: Path) -> None:
    study = sw.Study(SPACE, lam=0.01, stages=STAGES, journal=tmp_path / "run.jsonl")
    compared, known = 0, dict[int, Left]()
    while not study.should_stop().stop:
        worths = study.worth_going_on()
        action = study.next()
        for number, left in study.why_left.items():
            if known.get(number) == left:
                continue
            known[number] = left
            assert left.chosen == action.trial.number
            assert left.chosen_fair_value == action.fair_value
            assert left.step == study.curves[number][-1].step
            assert left.going_on is not None
            assert left.going_on.fair_value is not None
            assert left.going_on.fair_value >= left.chosen_fair_value
            if worths:
                assert left.going_on.worth == pytest.approx(worths[number], rel=1e-6)
                compared += 1
        tell(study, action)
    assert compared
    assert sw.Study.load(tmp_path / "run.jsonl").why_left == study.why_left


def test_looking_at_what_going_on_is_worth_does_not_move_a_bit() -> None:
    quiet, looked = (sw.Study(SPACE, lam=0.01, stages=STAGES) for _ in range(2))
    while not quiet.should_stop().stop:
        looked.should_stop()
        looked.worth_going_on()
        action = quiet.next()
        assert looked.next() == action
        for study in (quiet, looked):
            tell(study, action)
    assert quiet.legs == looked.legs
    assert quiet.why_left == looked.why_left


def test_a_trial_that_the_budget_does_not_pay_for_is_passed_over() -> None:
    study = sw.Study(SPACE, lam=0.01, stages=[1, 9], budget=0.75)
    while not study.should_stop().stop:
        tell(study, study.next())
    assert len(study.curves) > 4  # after the design only starts could be paid
    assert {of.going_on for of in study.why_left.values()} == {PassedOver()}
    assert sorted(study.why_left) == list(range(len(study.curves) - 1))  # and after it the end
    rows = curves_picture(Facts(study)).rows
    assert rows[0][5] == "left for trial 4: the budget did not pay for its next stage"
    assert rows[-1][5] == "left when the study stopped: the budget did not pay for its next stage"


def test_one_trial_is_spoken_of_in_the_singular() -> None:
    study = sw.Study({"x": sw.Categorical(["a"])}, lam=0.01, stages=STAGES, n_initial=1)
    study.tell(study.next().trial, 0.5, step=1)
    assert study.should_stop().reason == "no trial has finished yet, and 1 is begun: go on"
    study.tell(study.paused[0], None)
    assert "the only trial has ended" in study.should_stop().reason
    with pytest.raises(NothingLeftError, match="1 of 1 trials has ended, 0 being run"):
        study.next()
