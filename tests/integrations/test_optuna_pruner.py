# SPDX-License-Identifier: Apache-2.0
"""The pruner for Optuna, with Optuna itself."""

import math
import warnings
from typing import Any

import pytest

import stopwise as sw
from stopwise.errors import InputError, InputTypeError

optuna = pytest.importorskip("optuna")

from stopwise.integrations.optuna import (  # noqa: E402
    StopwiseCallback,
    StopwisePruner,
    StopwiseSampler,
)
from stopwise.integrations.optuna._pruner import WORTH  # noqa: E402

STAGES = sw.Stages([1, 3, 9])


def objective(trial: Any, sign: float = 1.0) -> float:
    x = trial.suggest_float("x", 0.0, 1.0)
    trial.suggest_int("fixed", 4, 4)
    value = math.inf
    for step in range(1, 10):
        value = sign * ((x - 0.3) ** 2 + 0.05 * (3.0 / math.sqrt(step) - 1.0))
        trial.report(value, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return value


def run(sign: float = 1.0, **options: Any) -> Any:
    study = optuna.create_study(
        direction="minimize" if sign > 0 else "maximize",
        sampler=optuna.samplers.RandomSampler(seed=3),
        pruner=StopwisePruner(0.02, STAGES, **options),
    )
    study.optimize(lambda trial: objective(trial, sign), n_trials=14)
    return study


def test_bad_trials_are_pruned_by_their_price() -> None:
    study = run()
    states = [t.state.name for t in study.trials]
    assert states[0] == "COMPLETE"  # nothing is pruned before something has finished
    assert "PRUNED" in states
    assert study.best_value == min(
        (t.params["x"] - 0.3) ** 2 for t in study.trials
    )  # the best of all was not pruned
    for trial in study.trials[1:]:
        worths = trial.system_attrs[WORTH]
        last = worths[max(worths, key=int)]
        assert (last <= 1.0) == (trial.state.name == "PRUNED")
    mirrored = run(-1.0)
    assert [t.state for t in mirrored.trials] == [t.state for t in study.trials]


def test_a_trial_that_is_left_has_the_price_of_a_full_start_again() -> None:
    """Beside our sampler and callback: new trials cost 1, and so do those that were pruned."""
    lam = 0.02
    sampler = StopwiseSampler(lam, seed=0)
    study = optuna.create_study(sampler=sampler, pruner=StopwisePruner(lam, STAGES))
    study.optimize(objective, n_trials=40, callbacks=[StopwiseCallback(lam)])
    pruned = [t for t in study.trials if t.state.name == "PRUNED"]
    assert pruned
    assert len({t.params["x"] for t in study.trials}) == len(study.trials)  # none is taken up
    verdict = study.user_attrs["stopwise:verdict"]
    assert "costs 1, worth 0.02 at lam = 0.02" in verdict["reason"]


def test_prices_are_not_learned_from_trials_that_were_left() -> None:
    """Whole trials cost 1 and pruned ones a ninth: a new one is expected to cost 1."""

    def reported(trial: Any) -> float:
        try:
            return objective(trial)
        finally:
            trial.set_user_attr("cost", trial.storage.get_trial(trial._trial_id).last_step / 9)

    lam = 0.01
    sampler = StopwiseSampler(lam, seed=0, cost="reported", n_initial=6)
    study = optuna.create_study(sampler=sampler, pruner=StopwisePruner(lam, STAGES))
    callback = StopwiseCallback(lam, cost="reported", n_initial=6)
    study.optimize(reported, n_trials=40, callbacks=[callback])
    assert {t.state.name for t in study.trials} == {"COMPLETE", "PRUNED"}
    assert "and costs 1, worth" in study.user_attrs["stopwise:verdict"]["reason"]


def test_what_is_dear_is_pruned_sooner() -> None:
    paid = [sum(t.last_step for t in run(cost=lambda _, c=c: c).trials) for c in (0.1, 10.0)]
    assert paid[1] < paid[0]


def test_a_trial_that_has_diverged_is_pruned() -> None:
    study = optuna.create_study(pruner=StopwisePruner(0.02, 9))

    def diverging(trial: Any) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        trial.report(math.nan if trial.number else x, 1)
        if trial.should_prune():
            raise optuna.TrialPruned
        return x

    with pytest.warns(UserWarning, match="reported at steps 1, where"):
        study.optimize(diverging, n_trials=2)
    assert [t.state.name for t in study.trials] == ["COMPLETE", "PRUNED"]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (range(9), "steps 0, 1, ..., 8, where the stages of StopwisePruner are 1, 3, 9"),
        ((2, 5, 8), "steps 2, 5, 8, where"),
        ((1, 2, 3, 4, 5), "steps 1, 2, 3, 4, 5, where"),
        (range(1, 10), ""),
        ((3, 9), ""),
        ((), ""),
    ],
)
def test_steps_that_are_no_stages_are_warned_of_once(steps: Any, said: str) -> None:
    study = optuna.create_study(pruner=StopwisePruner(0.02, STAGES))

    def stepping(trial: Any) -> float:
        x = trial.suggest_float("x", 0.0, 1.0)
        for step in steps:
            trial.report(x, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        study.optimize(stepping, n_trials=4)
    ours = [w for w in warned if "StopwisePruner" in str(w.message)]
    assert len(ours) == bool(said)
    for warning in ours:
        assert said in str(warning.message)
        assert "Steps count from 1" in str(warning.message)
        assert warning.filename == __file__


def test_without_parameters_or_stages_nothing_is_pruned() -> None:
    study = optuna.create_study(pruner=StopwisePruner(0.02, STAGES))

    def constant(trial: Any) -> float:
        trial.report(1.0, 1)
        return float(trial.should_prune())

    with pytest.warns(UserWarning, match="reported at steps 1, where"):
        study.optimize(constant, n_trials=2)
    assert [t.value for t in study.trials] == [0.0, 0.0]


def test_what_is_refused() -> None:
    with pytest.raises(InputTypeError, match="Stages"):
        StopwisePruner(0.02, None)  # type: ignore[arg-type]
    with pytest.raises(InputTypeError, match="cost"):
        StopwisePruner(0.02, STAGES, cost=3.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="lam"):
        StopwisePruner(-1.0, STAGES)
