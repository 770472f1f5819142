# SPDX-License-Identifier: Apache-2.0
"""What trials of Optuna cost: timed, reported, learned, within a budget; and storages, audited."""

import time

import optuna
import pytest
from optuna.trial import TrialState, create_trial

from stopwise.errors import InputError
from stopwise.integrations.optuna import (
    StopwiseCallback,
    StopwiseSampler,
    read_history,
    timed,
    timing,
)
from stopwise.integrations.optuna._board import NOTE, Note
from stopwise.integrations.optuna._callback import VERDICT
from stopwise.integrations.optuna._space import Axes
from tests.support.commands import stopwise
from tests.support.optuna_study import SPACE, objective, points, price


class SlowSampler(optuna.samplers.RandomSampler):
    def infer_relative_search_space(self, *_):
        return {"layers": SPACE["layers"]}

    def sample_relative(self, *_):
        time.sleep(0.5)
        return {"layers": 3}


def test_the_body_is_timed_and_the_sampler_is_not():
    study = optuna.create_study(sampler=SlowSampler())

    @timed
    def body(trial):
        trial.suggest_int("layers", 1, 6)
        if trial.number == 1:
            raise optuna.TrialPruned
        if trial.number == 2:
            trial.set_user_attr("cost", 12.5)
        return 1.0

    study.optimize(body, n_trials=3)
    first, pruned, reported = study.trials
    assert first.duration.total_seconds() > 0.5
    assert 0 < first.user_attrs["cost"] < 0.4
    assert 0 < pruned.user_attrs["cost"] < 0.4
    assert reported.user_attrs["cost"] == 12.5
    trial = study.ask()
    with timing(trial):
        time.sleep(0.01)
    assert trial.user_attrs["cost"] >= 0.01


def test_costs_are_learned_from_what_trials_say():
    options = {"cost": "reported", "space": SPACE, "n_initial": 4, "seed": 0}
    sampler = StopwiseSampler(0.01, surrogate="plain", **options)
    study = optuna.create_study(sampler=sampler)

    def reporting(trial):
        value = objective(trial)
        trial.set_user_attr("cost", 10.0 * trial.params["layers"])
        return value

    study.optimize(reporting, n_trials=12)
    reserved = [Note.of(t).price for t in study.trials]
    paid = [t.user_attrs["cost"] for t in study.trials]
    assert reserved[0] == 0.0  # nobody knew
    assert reserved[-3:] == pytest.approx(paid[-3:], rel=0.1)
    assert len(set(paid[-3:])) > 1  # or one guess would fit them all


def test_a_trial_that_does_not_say_its_cost_is_refused_in_words():
    study = optuna.create_study()
    study.optimize(objective, n_trials=1)
    with pytest.raises(InputError, match=r"trial 0 does not say what it cost.*timed.*leave out"):
        StopwiseCallback(0.1, cost="seconds").verdict(study)
    odd = optuna.create_study()
    params = {"layers": 1, "act": None}
    odd.add_trial(
        create_trial(value=1.0, params=params, distributions=SPACE, user_attrs={"cost": -1})
    )
    with pytest.raises(InputError, match="says that it cost -1"):
        StopwiseCallback(0.1, cost="seconds").verdict(odd)


# ----------------------------------------------------------------------------- budgets


def test_a_budget_that_does_not_pay_for_the_design_is_refused():
    study = optuna.create_study(
        sampler=StopwiseSampler(cost=price, budget=5.0, space=SPACE, n_initial=6)
    )
    with pytest.raises(InputError, match="does not exceed the"):
        study.optimize(objective, n_trials=1)


def test_what_pruned_and_dead_trials_cost_is_spent():
    study = optuna.create_study()
    params = {"layers": 2, "act": None}
    note = Note({"layers": 2.0, "act": 2.0}, 7.0, settled=True).as_json()
    for state, attributes, system in (
        (TrialState.COMPLETE, {"cost": 1.0}, {}),
        (TrialState.PRUNED, {"cost": 2.0}, {}),
        (TrialState.FAIL, {}, {NOTE: note}),  # killed: what was reserved for it counts
        (TrialState.FAIL, {}, {}),
    ):
        value = 1.0 if state == TrialState.COMPLETE else None
        study.add_trial(
            create_trial(
                state=state, value=value, params=params, distributions=SPACE,
                user_attrs=attributes, system_attrs=system,
            )
        )  # fmt: skip
    callback = StopwiseCallback(0.1, cost="reported")
    callback.verdict(study)
    assert callback._own_mirrors._mirror.study.spent == 10.0


@pytest.mark.parametrize("lam", [None, 1e-30])
def test_a_budget_holds_for_all_threads_together(lam):
    budget = 24.0
    options = {"cost": price, "budget": budget, "n_initial": 3, "surrogate": "plain"}
    study = optuna.create_study(sampler=StopwiseSampler(lam, space=SPACE, seed=0, **options))
    callback = StopwiseCallback(lam, **options)

    def slow(trial):
        value = objective(trial)
        time.sleep(0.02)
        return value

    study.optimize(slow, n_trials=40, n_jobs=6, callbacks=[callback])
    complete = [t for t in study.trials if t.state == TrialState.COMPLETE]
    assert sum(price(t.params) for t in complete) <= budget
    assert len(set(points(study))) == len(complete)
    assert study.user_attrs[VERDICT]["rule"] == "budget"
    assert len(study.trials) < 40


# ----------------------------------------------------------------------------- reading


def test_a_storage_is_read_and_audited(tmp_path):
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(storage=url, study_name="old", direction="maximize")

    def body(trial):
        value = objective(trial)
        trial.set_user_attr("cost", float(trial.params["layers"]))
        if trial.number == 4:
            raise optuna.TrialPruned
        return -value

    study.optimize(body, n_trials=14)
    told = read_history(url)
    assert told.direction == "maximize"
    assert told.space == Axes(SPACE).space | {}
    assert [o.value for o in told.history if not o.failed] == [
        t.value for t in study.trials if t.state == TrialState.COMPLETE
    ]
    assert told.history.spent == sum(t.params["layers"] for t in study.trials)
    assert told.notes == ("1 pruned trials count as evaluations without a value",)
    assert read_history(url, cost="duration").notes[-1].startswith("costs are durations")
    assert read_history(url, cost=None).history.spent == 14

    done = stopwise("audit", url, "--study", "old", "--lam", "0.01")
    counted = "14 evaluations, 1 of them without a value (the first 3 with a value are the initial"
    assert counted in done.out
    assert "1 pruned trials count" in done.out
    with pytest.raises(InputError, match="there is no study 'new': name one of 'old'"):
        read_history(url, "new")
    with pytest.raises(InputError, match=r"no user attribute 'price'.*\['cost'\].*'duration'"):
        read_history(url, cost="price")
