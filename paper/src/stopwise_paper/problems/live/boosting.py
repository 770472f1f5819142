# SPDX-License-Identifier: Apache-2.0
"""Boosted trees on scikit-learn's diabetes data: squared error on three folds, six parameters."""

from __future__ import annotations

from typing import Any

import stopwise as sw
from stopwise_paper.problems.live.objective import (
    LiveObjective,
    Params,
    Trained,
    at_rates,
    folded,
    squared_error_of,
)
from stopwise_paper.problems.problem import LEARNED

_FOLDS = 3

SPACE: dict[str, sw.space.Parameter] = {
    "trees": sw.Integer(20, 300, log=True),
    "rate": sw.Real(5e-3, 5e-1, log=True),
    "depth": sw.Integer(1, 7),
    "rows_in_leaf": sw.Integer(1, 50, log=True),
    "rows": sw.Real(0.3, 1.0),
    "columns": sw.Real(0.1, 1.0),
}
# Seconds of a fold, of a tree, of a leaf: from a regression on CPU seconds.
RATES = (5.5e-3, 5.1e-4, 3.8e-6)


def train(params: Params) -> Trained:
    """Train and judge a configuration."""
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import KFold

    model = GradientBoostingRegressor(
        n_estimators=params["trees"],
        learning_rate=params["rate"],
        max_depth=params["depth"],
        min_samples_leaf=params["rows_in_leaf"],
        subsample=params["rows"],
        max_features=params["columns"],
        random_state=0,
    )
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    loss, models = folded(model, X, y, folds, squared_error_of)
    return Trained(loss, at_rates(counts(models), RATES))


def counts(models: list[Any]) -> tuple[float, ...]:
    """Folds, trees and leaves that were grown."""
    trees = [tree for model in models for tree in model.estimators_.ravel()]
    leaves = sum(tree.get_n_leaves() for tree in trees)
    return float(len(models)), float(len(trees)), float(leaves)


BOOSTING = LiveObjective(SPACE, train, LEARNED)
