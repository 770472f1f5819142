# SPDX-License-Identifier: Apache-2.0
"""Limits through other packages: kept where these hand measured outcomes over."""

import math

import numpy as np
import optuna
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from stopwise.errors import InputError, InputTypeError
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler
from stopwise.integrations.sklearn import StopwiseSearchCV

ax = pytest.importorskip("stopwise.integrations.ax")
ray = pytest.importorskip("stopwise.integrations.ray")
from ax.api.client import Client  # noqa: E402
from ax.api.configs import RangeParameterConfig  # noqa: E402
from ray import tune  # noqa: E402

LIMITS = {"toxicity": (None, 2.0)}
OPTIONS = {"lam": 1e-3, "limits": LIMITS, "surrogate": "plain", "n_initial": 4}


def toxicity(dose):
    return 4.0 * dose


def harm(dose):
    return 1.0 - dose


# ------------------------------------------------------------------------------------- Optuna


def optuna_study(report, n_trials=10, **options):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = StopwiseSampler(seed=0, **{**OPTIONS, "cost": None, **options})
    study = optuna.create_study(sampler=sampler)

    def objective(trial):
        dose = trial.suggest_float("dose", 0.0, 1.0)
        report(trial, toxicity(dose))
        return harm(dose)

    study.optimize(objective, n_trials=n_trials)
    return study


def test_optuna_keeps_limits_of_user_attributes():
    study = optuna_study(lambda trial, value: trial.set_user_attr("toxicity", value))
    mirror = study.sampler.mirrors.mirror(
        study, study.trials[0].distributions, study.get_trials(deepcopy=False)
    )
    mirror.update(study.trials)
    assert mirror.study.best.outcomes["toxicity"] <= 2.0
    assert mirror.study.best.params["dose"] == pytest.approx(0.5, abs=0.02)
    assert any(o.infeasible for o in mirror.study.history)
    callback = StopwiseCallback(**OPTIONS)
    assert callback.verdict(study).rule == "pbgi"


def test_constraints_of_optuna_are_outcomes_too_and_its_best_trial_keeps_them():
    study = optuna_study(
        lambda trial, value: trial.set_constraint("toxicity", value - 2.0),
        limits={"toxicity": (None, 0.0)},
    )
    assert study.best_trial.params["dose"] == pytest.approx(0.5, abs=0.02)
    assert study.best_trial.params["dose"] <= 0.5


def test_a_trial_of_optuna_without_the_outcome_is_an_error_and_nan_is_a_failure():
    with pytest.raises(InputError, match=r"trial 0 does not report 'toxicity'.*set_constraint"):
        optuna_study(lambda trial, value: trial.set_user_attr("tox", value), 2)
    study = optuna_study(lambda trial, _: trial.set_user_attr("toxicity", math.nan), 3)
    reason = StopwiseCallback(**OPTIONS).verdict(study).reason
    assert reason.startswith("initial design, 0 of 4; 3 failed")


# ------------------------------------------------------------------------------- scikit-learn


@pytest.fixture(scope="module")
def data():
    return make_classification(120, n_features=5, random_state=0)


def tree_search(**options):
    tree, space = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6]}
    scores = {"scoring": ["recall", "precision"], "refit": "recall"}
    return StopwiseSearchCV(tree, space, lam=1e-6, cost=None, **scores, **options)


def searched(data, **options):
    return tree_search(**options).fit(*data)


def test_scikit_learn_keeps_limits_of_other_scores_and_refits_what_keeps_them(data):
    free = searched(data)
    ruled_out = float(free.cv_results_["mean_test_precision"][free.best_index_])
    search = searched(data, limits={"precision": (ruled_out + 1e-6, None)})
    results = search.cv_results_
    np.testing.assert_array_equal(results["feasible"], results["mean_test_precision"] > ruled_out)
    assert search.best_params_ != free.best_params_
    kept = np.where(results["feasible"], results["mean_test_recall"], -np.inf)
    assert search.best_score_ == kept.max()
    assert search.history_[0].outcomes.keys() == {"precision"}
    assert search.get_params()["limits"] == {"precision": (ruled_out + 1e-6, None)}


def test_scikit_learn_has_limits_of_times_and_names_what_it_lacks(data):
    search = searched(data, limits={"fit_time": (None, 100.0)})
    assert search.cv_results_["feasible"].all()
    with pytest.raises(InputError, match=r"does not report 'roc'.*it reports recall, precision"):
        searched(data, limits={"roc": (0.5, None)})


def test_where_no_candidate_keeps_the_limits_nothing_is_refitted(data):
    search = tree_search(limits={"precision": (2.0, None)})
    with pytest.raises(InputError, match="none of 6 candidates keeps all limits"):
        search.fit(*data)
    assert all(o.infeasible for o in search.history_)


# ----------------------------------------------------------------------------------- Ray Tune


def ray_search(n, **options):
    searcher = ray.StopwiseSearcher(cost=None, seed=1, **{**OPTIONS, **options})
    searcher.set_search_properties("harm", "min", {"dose": tune.uniform(0.0, 1.0)})
    for i in range(n):
        config = searcher.suggest(f"t{i}")
        if not isinstance(config, dict):
            break
        dose = config["dose"]
        result = {"harm": harm(dose), "toxicity": toxicity(dose), "time_total_s": 1.0}
        searcher.on_trial_complete(f"t{i}", result)
    return searcher


def test_ray_keeps_limits_of_what_trials_report_also_after_a_restore(tmp_path):
    searcher = ray_search(8)
    history = searcher.history
    assert [o.infeasible for o in history] == [o.outcomes["toxicity"] > 2.0 for o in history]
    assert {o.infeasible for o in history} == {True, False}
    path = str(tmp_path / "searcher.json")
    searcher.save(path)
    again = ray.StopwiseSearcher(cost=None, seed=1, **OPTIONS)
    again.restore(path)
    assert again.history == history
    assert again.verdict == searcher.verdict


def test_a_result_of_ray_without_the_outcome_is_an_error_and_nan_is_a_failure():
    searcher = ray_search(0)
    searcher.suggest("a")
    with pytest.raises(InputError, match=r"a result does not report 'toxicity'.*tune\.report"):
        searcher.on_trial_complete("a", {"harm": 1.0})
    searcher.on_trial_complete("a", {"harm": 1.0, "toxicity": math.nan})
    assert searcher.history[0].message == "the outcome 'toxicity' is nan"
    searcher.add_evaluated_point({"dose": 0.3}, 0.7, outcomes={"toxicity": 1.2})
    assert searcher.history[1].outcomes == {"toxicity": 1.2}


# ----------------------------------------------------------------------------------------- Ax


def ax_client(*constraints):
    client = Client()
    dose = RangeParameterConfig(name="dose", parameter_type="float", bounds=(0.0, 1.0))
    client.configure_experiment(parameters=[dose])
    client.configure_optimization(objective="-harm", outcome_constraints=list(constraints))
    return client


def run_ax(client, n, metrics):
    options = {"lam": 1e-3, "surrogate": "plain", "n_initial": 4}
    client.set_generation_strategy(ax.generation_strategy(seed=0, **options))
    strategy = ax.StopwiseStrategy(**options)
    for _ in range(n):
        [(index, params)] = client.get_next_trials(max_trials=1).items()
        client.complete_trial(index, raw_data=metrics(params["dose"]))
        ax.should_stop(client, strategy)
    return strategy._mirror.study


def test_outcome_constraints_of_ax_are_limits():
    study = run_ax(
        ax_client("toxicity <= 2.0", "toxicity >= 0.1"),
        8,
        lambda dose: {"harm": harm(dose), "toxicity": toxicity(dose)},
    )
    assert study.options.limits == {"toxicity": (0.1, 2.0)}
    assert study.best.params["dose"] == pytest.approx(0.5, abs=0.03)
    assert study.best.outcomes["toxicity"] <= 2.0
    assert any(o.infeasible for o in study.history)


def test_what_ax_cannot_hand_over_is_refused():
    with pytest.raises(InputError, match="trial 0 does not report 'toxicity'"):
        run_ax(ax_client("toxicity <= 2.0"), 1, lambda dose: {"harm": harm(dose)})
    both = ax_client("toxicity + smell <= 2.0")
    with pytest.raises(InputError, match="cannot be kept: stopwise keeps limits of one metric"):
        run_ax(both, 1, lambda dose: {"harm": dose, "toxicity": 1.0, "smell": 1.0})
    with pytest.raises(InputTypeError, match="'limits' is no option"):
        ax.StopwiseStrategy(lam=1.0, limits=LIMITS)
    with pytest.raises(InputError, match="audit compares rules by one metric"):
        ax.read_client(ax_client("toxicity <= 2.0"))
