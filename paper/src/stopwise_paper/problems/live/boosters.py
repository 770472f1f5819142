# SPDX-License-Identifier: Apache-2.0
"""Boosters of three kinds on scikit-learn's breast cancer data: log loss on three folds.

Which of the ten parameters exist depends on the booster: rows are sampled by one, columns by two,
one puts values into bins and shrinks leaves, and one may split at random.
"""

from __future__ import annotations

from typing import Any

import stopwise as sw
from stopwise_paper.problems.live.objective import (
    LiveObjective,
    Params,
    Trained,
    at_rates,
    folded,
    log_loss_of,
)
from stopwise_paper.problems.problem import LEARNED

_FOLDS = 3
GRADIENT, HISTOGRAM, ADAPTIVE = "gradient", "histogram", "adaptive"

SPACE: dict[str, sw.space.Parameter] = {
    "booster": sw.Categorical([GRADIENT, HISTOGRAM, ADAPTIVE]),
    "trees": sw.Integer(10, 100, log=True),
    "rate": sw.Real(1e-2, 1e0, log=True),
    "leaves": sw.Integer(2, 32, log=True),
    "rows_in_leaf": sw.Integer(1, 50, log=True),
    "rows": sw.Real(0.3, 1.0, when={"booster": [GRADIENT]}),
    "columns": sw.Real(0.05, 1.0, when={"booster": [GRADIENT, HISTOGRAM]}),
    "ridge": sw.Real(1e-3, 1e1, log=True, when={"booster": [HISTOGRAM]}),
    "bins": sw.Integer(8, 255, log=True, when={"booster": [HISTOGRAM]}),
    "splits": sw.Categorical(["best", "random"], when={"booster": [ADAPTIVE]}),
}
# Seconds of a fold, of a tree, of a leaf: from a regression on CPU seconds.
RATES = {
    GRADIENT: (2.3e-3, 1.2e-3, 0.0),
    HISTOGRAM: (1.1e-2, 1.3e-4, 5.9e-5),
    ADAPTIVE: (3.3e-2, 1.5e-3, 1.8e-5),
}


def train(params: Params) -> Trained:
    """Train and judge a configuration."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import StratifiedKFold

    X, y = load_breast_cancer(return_X_y=True)
    loss, models = folded(_model(params), X, y, StratifiedKFold(_FOLDS), log_loss_of)
    return Trained(loss, at_rates(counts(models), RATES[params["booster"]]))


def _model(params: Params) -> Any:  # noqa: ANN401  an estimator
    from sklearn.ensemble import (
        AdaBoostClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
    )
    from sklearn.tree import DecisionTreeClassifier

    tree = {"max_leaf_nodes": params["leaves"], "min_samples_leaf": params["rows_in_leaf"]}
    shared = {"learning_rate": params["rate"], "random_state": 0}
    if params["booster"] == GRADIENT:
        return GradientBoostingClassifier(
            n_estimators=params["trees"],
            subsample=params["rows"],
            max_features=params["columns"],
            **tree,
            **shared,
        )
    if params["booster"] == HISTOGRAM:
        return HistGradientBoostingClassifier(
            max_iter=params["trees"],
            max_features=params["columns"],
            l2_regularization=params["ridge"],
            max_bins=params["bins"],
            early_stopping=False,
            **tree,
            **shared,
        )
    base = DecisionTreeClassifier(splitter=params["splits"], random_state=0, **tree)
    return AdaBoostClassifier(base, n_estimators=params["trees"], **shared)


def counts(models: list[Any]) -> tuple[float, ...]:
    """Folds, trees and leaves that were grown; AdaBoost may end before its last tree."""
    leaves = [n for model in models for n in _leaves(model)]
    return float(len(models)), float(len(leaves)), float(sum(leaves))


def _leaves(model: Any) -> list[int]:  # noqa: ANN401  an estimator
    if hasattr(model, "_predictors"):  # of histograms, which have no public way to their trees
        grown = [tree for trees in model._predictors for tree in trees]  # noqa: SLF001
        return [tree.get_n_leaf_nodes() for tree in grown]
    trees = getattr(model.estimators_, "ravel", lambda: model.estimators_)()
    return [tree.get_n_leaves() for tree in trees]


BOOSTERS = LiveObjective(SPACE, train, LEARNED)
