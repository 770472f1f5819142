# SPDX-License-Identifier: Apache-2.0
"""Utilities through other people's loops: an option like any other."""

import numpy as np
import optuna
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import stopwise as sw
from stopwise.integrations.optuna import StopwiseCallback
from stopwise.integrations.sklearn import StopwiseSearchCV


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_callback_of_optuna_stops_by_what_values_are_worth(direction):
    """The direction is the study's; a list that fits it is taken, and decides when to stop."""
    sign = 1.0 if direction == "minimize" else -1.0
    enough = sw.utility.piecewise([(sign * 0.5, 100.0), (sign * 1.5, 0.0)])
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
