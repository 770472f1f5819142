# SPDX-License-Identifier: Apache-2.0
"""Paused trials: what a result and a verdict say of them, and why they were left."""

import math
from collections.abc import Iterator
from typing import Any

import pytest

import stopwise as sw

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
