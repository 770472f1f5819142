# SPDX-License-Identifier: Apache-2.0
"""Utilities through other people's loops: an option like any other."""

import numpy as np
import optuna
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import stopwise as sw
from stopwise.errors import InputError
from stopwise.integrations.optuna import StopwiseCallback
from stopwise.integrations.sklearn import StopwiseSearchCV

ax = pytest.importorskip("stopwise.integrations.ax")
ray = pytest.importorskip("stopwise.integrations.ray")
from ax.api.client import Client  # noqa: E402
from ax.api.configs import RangeParameterConfig  # noqa: E402
from ray import tune  # noqa: E402

ENOUGH = {1.0: [(0.5, 100.0), (1.5, 0.0)], -1.0: [(-1.5, 0.0), (-0.5, 100.0)]}  # by sign


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_callback_of_optuna_stops_by_what_values_are_worth(direction):
    """The direction is the study's; a list that fits it is taken, and decides when to stop."""
    sign = 1.0 if direction == "minimize" else -1.0
    enough = sw.utility.piecewise(ENOUGH[sign])
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0))
    callback = StopwiseCallback(utility=enough, n_initial=4, surrogate="plain")
    study.optimize(
        lambda trial: sign * (trial.suggest_float("x", 0.0, 1.0) - 0.4) ** 2,
        n_trials=9,
        callbacks=[callback],
    )
    assert len(study.trials) == 4  # all values are good enough: nothing is to be gained


def test_a_search_of_scikit_learn_takes_it_and_can_be_cloned():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    search = StopwiseSearchCV(
        Ridge(),
        {"alpha": sw.Real(1e-3, 1e2, log=True)},
        utility=sw.utility.piecewise([(0.2, 0.0), (0.6, 100.0)]),
        cost=None,
        n_initial=4,
        surrogate="plain",
        max_trials=8,
        scoring="r2",
        cv=KFold(3, shuffle=True, random_state=0),
    )
    found = clone(search).fit(X, 3.0 * X[:, 0])
    assert found.best_score_ > 0.6
    assert "can gain anything" in found.verdict_.reason  # more than 0.6 is worth no more


# ----------------------------------------------------------------------------------- Ray Tune


def ray_search(mode, **options):
    searcher = ray.StopwiseSearcher(cost=None, seed=1, surrogate="plain", n_initial=4, **options)
    searcher.set_search_properties("loss", mode, {"x": tune.uniform(0.0, 1.0)})
    sign = 1.0 if mode == "min" else -1.0
    for i in range(9):
        config = searcher.suggest(f"t{i}")
        if not isinstance(config, dict):
            break
        result = {"loss": sign * (config["x"] - 0.4) ** 2, "time_total_s": 1.0}
        searcher.on_trial_complete(f"t{i}", result)
    return searcher


@pytest.mark.parametrize(("mode", "sign"), [("min", 1.0), ("max", -1.0)])
def test_a_searcher_of_ray_ends_when_all_is_good_enough_also_after_a_restore(mode, sign, tmp_path):
    options = {"utility": sw.utility.piecewise(ENOUGH[sign], unit="dollars")}
    searcher = ray_search(mode, **options)
    assert len(searcher.history) == 4  # all values are good enough: nothing is to be gained
    assert "can gain anything" in searcher.verdict.reason
    assert len(ray_search(mode, lam=1e-6).history) > 4  # a straight line goes on
    path = str(tmp_path / "searcher.json")
    searcher.save(path)
    again = ray.StopwiseSearcher(cost=None, seed=1, surrogate="plain", n_initial=4, **options)
    again.restore(path)
    assert (again.history, again.verdict) == (searcher.history, searcher.verdict)


def test_a_searcher_of_ray_refuses_several_objectives_when_it_is_made():
    with pytest.raises(InputError, match=r"metric=\['a', 'b'\].*a weighted sum"):
        ray.StopwiseSearcher(0.1, metric=["a", "b"], mode=["min", "max"])


def test_a_searcher_of_ray_promises_in_the_currency():
    steep = sw.utility.piecewise([(-0.1, 50.0), (0.02, 0.0)], unit="dollars")
    searcher = ray_search("min", utility=steep, lam=0.1)
    assert "dollars more and costs" in searcher.verdict.reason


# ----------------------------------------------------------------------------------------- Ax


def run_ax(direction, **options):
    client, sign = Client(), 1.0 if direction == "minimize" else -1.0
    x = RangeParameterConfig(name="x", parameter_type="float", bounds=(0.0, 1.0))
    client.configure_experiment(parameters=[x])
    client.configure_optimization(objective="-loss" if direction == "minimize" else "loss")
    options = {**options, "surrogate": "plain", "n_initial": 4}
    client.set_generation_strategy(ax.generation_strategy(seed=0, **options))
    strategy = ax.StopwiseStrategy(**options)
    for n in range(1, 8):
        [(index, params)] = client.get_next_trials(max_trials=1).items()
        client.complete_trial(index, raw_data={"loss": sign * (params["x"] - 0.4) ** 2})
        stop, reason = ax.should_stop(client, strategy)
        if stop:
            return n, reason
    return n, reason


@pytest.mark.parametrize(("direction", "sign"), [("minimize", 1.0), ("maximize", -1.0)])
def test_a_strategy_of_ax_stops_by_what_values_are_worth(direction, sign):
    enough = sw.utility.piecewise(ENOUGH[sign])
    n, reason = run_ax(direction, utility=enough)
    assert n == 4
    assert "can gain anything" in reason
