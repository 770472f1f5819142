# SPDX-License-Identifier: Apache-2.0
"""The costs of runs in stages: a start, and then so much for every step."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stopwise as sw
from stopwise.record.staged import Report
from stopwise.study.staged.choosing import StagedChoosing
from stopwise.study.staged.run_costs import RunCost, run_costs, usual_start

STEPS = (1, 3, 9, 27)


def reports(start: float, rate: float, reached: dict[int, int]) -> list[Report]:
    return [
        Report(trial, step, 0.0, start + rate * step)
        for trial, upto in reached.items()
        for step in STEPS
        if step <= upto
    ]


@given(st.floats(0.0, 50.0), st.floats(0.1, 10.0))
def test_a_start_is_seen_once_a_run_has_reported_twice(start: float, rate: float) -> None:
    costs = run_costs(reports(start, rate, {0: 1, 1: 9, 2: 3}), 27)
    if 0.05 < start / (start + rate) < 0.999:
        for cost in costs.values():  # of trial 0, too
            assert cost.start == pytest.approx(start)
            assert cost.whole == pytest.approx(start + 27 * rate)
        assert usual_start(costs) == pytest.approx(start / (start + 27 * rate))


def test_without_a_start_a_run_costs_what_it_has_cost_so_far() -> None:
    told = reports(0.0, 0.7, {0: 1, 1: 9})
    costs = run_costs(told, 27)
    assert costs[0] == RunCost(0.0, told[0].cost / 1 * 27)  # to the last bit
    assert costs[1] == RunCost(0.0, told[-1].cost / 9 * 27)
    assert usual_start(costs) == 0.0
    assert run_costs(reports(5.0, 1.0, {0: 1}), 27)[0].whole == 6.0 * 27  # nothing is known yet
    assert usual_start({}) == 0.0


def test_steps_that_become_dearer_have_no_start_and_nothing_is_below_zero() -> None:
    dearer = [Report(0, 1, 0.0, 1.0), Report(0, 3, 0.0, 9.0), Report(1, 1, 0.0, 1.0)]
    assert run_costs(dearer, 9)[0] == RunCost(0.0, 27.0)
    flat = [Report(0, 1, 0.0, 8.0), Report(0, 3, 0.0, 8.0), Report(1, 1, 0.0, 2.0)]
    for cost in run_costs(flat, 9).values():
        assert cost.steps > 0.0
        assert cost.start > 0.0
    free = [Report(0, 1, 0.0, 0.0)]
    assert run_costs(free, 9) == {}


def test_the_price_of_going_on_is_without_the_start() -> None:
    study = sw.Study(
        {"x": sw.Real(0, 1)},
        lam=0.01,
        cost="reported",
        stages=sw.Stages([1, 3, 9]),
        n_initial=3,
    )
    for _ in range(6):
        action = study.next()
        step = action.to_step or 9
        value = (action.trial.params["x"] - 0.3) ** 2 + 0.3 / step
        study.tell(action.trial, value, 10.0 + 0.1 * step, step=step)
    assert study._staged is not None
    assert max(len(curve) for curve in study.curves.values()) > 1
    number = study.paused[0].number
    reached = study.curves[number][-1].step
    price = study._staged.deciding._choosing.price_of_finishing(number)
    assert price == pytest.approx(0.1 * (9 - reached))


def test_a_low_lam_of_which_next_to_nothing_is_paid_as_a_rule_can_choose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StagedChoosing, "_share_paid", lambda *_: 1e-9)
    study = sw.Study({"x": sw.Real(0, 1)}, lam=1e-295, stages=sw.Stages([1, 3]), n_initial=2)
    for _ in range(3):
        action = study.next()
        study.tell(action.trial, action.trial.params["x"], step=action.to_step)
    assert not study.should_stop().stop
