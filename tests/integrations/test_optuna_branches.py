# SPDX-License-Identifier: Apache-2.0
"""Parameters of define-by-run objectives with several ranges, or that nothing explains."""

import math
import warnings

import optuna
import pytest
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.samplers import PartialFixedSampler, RandomSampler, TPESampler
from optuna.trial import TrialState

import stopwise as sw
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler, read_history
from stopwise.integrations.optuna._learning import learned
from stopwise.integrations.optuna._space import Axes

PLAIN = {"surrogate": "plain"}
OURS = "cannot tell from the trials"


def two_ranges(trial):
    model = trial.suggest_categorical("model", ["a", "b"])
    low, high = (1e-4, 0.1) if model == "a" else (1e-3, 1)
    lr = trial.suggest_float("lr", low, high, log=True)
    return (math.log10(lr) + 2) ** 2 + 0.3 * (model == "b")


def either(trial):
    a = trial.suggest_categorical("a", [False, True])
    b = trial.suggest_categorical("b", [False, True])
    if a or b:
        return 0.1 + (trial.suggest_float("y", 0, 1) - 0.6) ** 2 + 0.05 * b
    return 0.6


def by_a_real_number(trial):
    x = trial.suggest_float("x", 0.1, 1)
    return (x - 0.7) ** 2 + (trial.suggest_float("y", 0, x) - 0.3) ** 2


def by_a_whole_number(trial):
    trial.suggest_int("trees", 1, 500)
    return by_a_real_number(trial)


def depth_and_leaves(trial):
    depth = trial.suggest_int("depth", 2, 4)
    return trial.suggest_int("leaves", 2, 2**depth) / 2**depth


def told(objective, n=30, seed=0):
    study = optuna.create_study(sampler=RandomSampler(seed))
    study.optimize(objective, n_trials=n)
    return study


def run(objective, n_trials=40, seed=0, sampler=None, **options):
    sampler = sampler or StopwiseSampler(1e-3, seed=seed, **PLAIN, **options)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n_trials, callbacks=[StopwiseCallback(1e-3, **PLAIN)])
    return study


# ------------------------------------------------------------------------------ learning


def test_a_parameter_has_one_branch_for_each_range():
    tree = learned(told(two_ranges).trials)
    assert tree == {
        "model": tree["model"],
        "lr": FloatDistribution(1e-4, 1, log=True),  # what Optuna is told: all of them
    }
    ranges = {
        tree.when[name]["model"]: (branch.distribution.low, branch.distribution.high)
        for name, branch in tree.branches.items()
        if branch.outer == "lr"
    }
    assert ranges == {("a",): (1e-4, 0.1), ("b",): (1e-3, 1)}
    assert not tree.unexplained


def test_a_range_may_follow_from_a_whole_number():
    tree = learned(told(depth_and_leaves).trials)
    highs = {tree.when[n]["depth"]: d.high for n, d in tree.ranges["leaves"].items()}
    assert highs == {(2,): 4, (3,): 8, (4,): 16}


@pytest.mark.parametrize("function", [depth_and_leaves, two_ranges])
@pytest.mark.parametrize("seed", range(4))
def test_what_can_be_explained_is_never_called_unexplained(function, seed):
    trials = told(function, 30, seed).trials
    assert not any(learned(trials[:n]).unexplained for n in range(31))


@pytest.mark.parametrize("function", [by_a_real_number, by_a_whole_number, either])
@pytest.mark.parametrize("n", [5, 12, 40])
def test_what_only_seems_to_explain_is_not_believed(function, n):
    tree = learned(told(function, max(n, 12) if function is either else n).trials)
    assert tree.unexplained == {"y"}
    assert not tree.ranges
    assert "y" not in tree.when


def test_a_single_value_in_one_branch_is_no_parameter_there():
    def constant(trial):
        n = trial.suggest_int("n", 1, 2)
        return trial.suggest_int("k", 1, n)

    tree = learned(told(constant, 10).trials)
    assert [branch.distribution for branch in tree.branches.values()] == [
        IntDistribution(1, 2)
    ] * 2
    axes = Axes(tree)
    for trial in told(constant, 10).trials:
        assert axes.holds(trial)
        assert ("k" in axes.outward(axes.inward(trial.params))) == (trial.params["n"] == 2)


@pytest.mark.parametrize("function", [two_ranges, depth_and_leaves, by_a_real_number, either])
def test_params_go_to_our_space_and_back(function):
    trials = told(function).trials
    axes = Axes(learned(trials))
    for trial in trials:
        assert axes.holds(trial)
        inward = axes.inward(trial.params)
        sw.Study(axes.space, lam=1.0).tell(inward, 0.0)  # a configuration of ours
        whole = axes.filled(trial.params, {})
        assert axes.outward(inward) == pytest.approx(whole)
        assert axes.external(axes.internal(whole)) == pytest.approx(whole)
        assert trial.params.items() <= whole.items()


def test_params_are_completed_by_what_exists_beside_them():
    axes = Axes(learned(told(two_ranges).trials))
    draw = {"lr": 0.01}
    assert axes.completed({"model": "b", "lr": 5e-4}, lambda name, _: draw[name]) == {
        "model": "b",
        "lr": 0.01,
    }
    assert axes.completed({"model": "a", "lr": 5e-4}, lambda *_: None)["lr"] == 5e-4


# ------------------------------------------------------------------- choosing and stopping


@pytest.mark.parametrize("seed", range(5))
def test_several_ranges_are_searched_and_the_study_stops(seed):
    study = run(two_ranges, seed=seed)
    assert study.best_value < 0.02
    assert 5 < len(study.trials) < 40


@pytest.mark.parametrize("function", [either, by_a_real_number])
@pytest.mark.parametrize("seed", range(3))
def test_what_nothing_explains_warns_once_and_is_searched_all_the_same(function, seed):
    with pytest.warns(UserWarning, match=OURS) as caught:
        study = run(function, seed=seed)
    [warning] = [w for w in caught if OURS in str(w.message)]
    assert "suggest 'y'" in str(warning.message)
    assert study.sampler.mirrors._mirror.study.options.noise == "learn"
    assert study.best_value < (0.13 if function is either else 0.03)
    assert len(study.trials) > 5


def test_proposals_for_what_a_trial_did_not_use_are_known():
    with pytest.warns(UserWarning, match=OURS):
        study = run(either, 14)
    mirror = study.sampler.mirrors._mirror
    unused = [
        ours.params["y"]
        for trial, ours in zip(study.trials, mirror.study.history, strict=True)
        if "y" not in trial.params
    ]
    assert len(set(unused)) == len(unused)  # else the same one might be proposed for ever


def test_no_value_that_nothing_explains_is_exhausted():
    def by_chance(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        y = trial.suggest_categorical("y", ["p", "q"]) if trial.number % 3 else "p"
        return (kind == "a") + (y == "p") + 0.1 * math.sin(trial.number)

    study = optuna.create_study(sampler=StopwiseSampler(1e-6, seed=0, **PLAIN))
    study.add_trials(told(by_chance, 9).trials)
    with pytest.warns(UserWarning, match=OURS):
        study.optimize(by_chance, n_trials=5)
    assert len(study.trials) == 14
    assert StopwiseCallback(1e-6, **PLAIN).verdict(study).rule != "exhausted"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_branches_with_enqueued_and_added_trials_and_in_threads(n_jobs):
    sampler = StopwiseSampler(1e-9, seed=0, **PLAIN)
    study = optuna.create_study(sampler=sampler)
    study.add_trials(told(two_ranges, 6).trials)
    for params in ({"model": "b"}, {"model": "a", "lr": 5e-4}, {"lr": 0.02}):
        study.enqueue_trial(params)
    study.optimize(two_ranges, n_trials=8, n_jobs=n_jobs)
    assert study.trials[6].params["model"] == "b"
    assert study.trials[7].params == {"model": "a", "lr": 5e-4}
    assert study.trials[8].params["lr"] == 0.02
    points = [(t.params["model"], t.params["lr"]) for t in study.trials]
    assert len(set(points)) == len(points)


def test_a_study_with_branches_is_taken_up_again(tmp_path):
    storage = f"sqlite:///{tmp_path}/study.db"
    for _ in range(3):
        sampler = StopwiseSampler(1e-3, seed=0, **PLAIN)
        study = optuna.create_study(
            study_name="s", storage=storage, load_if_exists=True, sampler=sampler
        )
        study.optimize(two_ranges, n_trials=5, callbacks=[StopwiseCallback(1e-3, **PLAIN)])
    assert study.best_value < 0.02
    told_of = read_history(study, cost=None)
    assert set(told_of.space) == {"model", "lr [0]", "lr [1]"}
    assert len(told_of.history) == len(study.trials)


def test_an_audit_says_what_it_could_not_explain():
    notes = read_history(told(either), cost=None).notes
    assert "where trials lack 'y', the middle stands for it" in notes


def test_beside_another_sampler_the_callback_knows_the_branches():
    study = run(two_ranges, 60, sampler=TPESampler(seed=0))
    assert study.best_value < 0.02
    assert len(study.trials) > 5


def test_a_fixed_parameter_with_branches():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna calls this sampler experimental
        sampler = PartialFixedSampler({"lr": 0.05}, StopwiseSampler(1e-3, seed=0, **PLAIN))
    study = run(two_ranges, 8, sampler=sampler)
    assert {trial.params["lr"] for trial in study.trials} == {0.05}


@pytest.mark.parametrize("known", [lambda p: p["lr"] <= 0.05, "lr <= 0.05"])
def test_constraints_and_costs_know_the_parameter_and_not_its_branches(known):
    asked = []

    def cost(params):
        asked.append(set(params))
        return 1.0 + params["lr"]

    sampler = StopwiseSampler(1e-3, seed=0, cost=cost, constraints=[known], **PLAIN)
    study = optuna.create_study(sampler=sampler)
    study.optimize(two_ranges, n_trials=10)
    assert all(trial.params["lr"] <= 0.05 for trial in study.trials[3:])
    assert all(names == {"model", "lr"} for names in asked)
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)


# -------------------------------------------------------- trials that end in a branch


@pytest.mark.parametrize("error", [RuntimeError, optuna.TrialPruned])
def test_a_trial_that_ends_in_the_middle_of_a_branch_is_where_it_was_chosen(error):
    def objective(trial):
        model = trial.suggest_categorical("model", ["a", "b"])
        if model == "a" and trial.number > 6:
            raise error
        lr = trial.suggest_float("lr", 0, 1) if model == "a" else trial.suggest_float("lr", 1, 2)
        return lr + (model == "b")

    study = optuna.create_study(sampler=StopwiseSampler(1e-9, seed=0, **PLAIN))
    study.optimize(objective, n_trials=20, catch=(RuntimeError,))
    cut_short = [t for t in study.trials if "lr" not in t.params]
    mirror = study.sampler.mirrors._mirror
    mirror.update(study.trials)
    assert cut_short
    assert len(mirror.study.history) == 20
    chosen = [mirror.points(trial)[0] for trial in cut_short]
    assert len(set(map(str, chosen))) == len(chosen)  # none of them is chosen again


def test_trials_that_fail_before_they_suggested_everything_count_as_failures_in_a_row():
    def objective(trial):
        trial.suggest_categorical("kind", ["a", "b"])
        if trial.number > 3:
            raise RuntimeError
        return trial.suggest_float("x", 0, 1)

    study = optuna.create_study(sampler=StopwiseSampler(1e-9, seed=0, **PLAIN))
    callback = StopwiseCallback(1e-9, **PLAIN)
    study.optimize(objective, n_trials=30, callbacks=[callback], catch=(RuntimeError,))
    assert callback.verdict(study).rule == "failures"
    assert len(study.trials) == 14
