# SPDX-License-Identifier: Apache-2.0
"""Boosted trees of three kinds: the cross-validated log loss of LightGBM on two sets of data.

Which parameters exist depends on the booster: rows are sampled at random (gbtree, dart) or by
their gradients (goss), and dart alone drops trees. It needs the package lightgbm, which is no
dependency of stopwise: ``pip install lightgbm``.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import optuna

import stopwise as sw

SPACE = {
    "booster": sw.Categorical(["gbtree", "dart", "goss"]),
    "trees": sw.Integer(20, 200, log=True),
    "rate": sw.Real(0.01, 0.5, log=True),
    "leaves": sw.Integer(4, 64, log=True),
    "rows_in_leaf": sw.Integer(2, 50, log=True),
    "columns": sw.Real(0.2, 1.0),
    "ridge": sw.Real(1e-3, 10.0, log=True),
    "rows": sw.Real(0.3, 1.0, when={"booster": ["gbtree", "dart"]}),
    "drop": sw.Real(0.0, 0.5, when={"booster": ["dart"]}),
    "skip_drop": sw.Real(0.0, 0.9, when={"booster": ["dart"]}),
    "most_dropped": sw.Integer(1, 50, log=True, when={"booster": ["dart"]}),
    "top_rows": sw.Real(0.1, 0.6, when={"booster": ["goss"]}),
    "other_rows": sw.Real(0.05, 0.4, when={"booster": ["goss"]}),
}


@cache
def _cancer() -> tuple[Any, Any]:
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(return_X_y=True)


@cache
def _odd_digits() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y % 2


def _of_booster(trial: optuna.Trial) -> dict[str, Any]:
    """The arguments of LightGBM that depend on the booster."""
    booster = trial.suggest_categorical("booster", ["gbtree", "dart", "goss"])
    if booster == "goss":
        return {
            "data_sample_strategy": "goss",
            "top_rate": trial.suggest_float("top_rows", 0.1, 0.6),
            "other_rate": trial.suggest_float("other_rows", 0.05, 0.4),
        }
    sampled = {"subsample": trial.suggest_float("rows", 0.3, 1.0), "subsample_freq": 1}
    if booster == "gbtree":
        return sampled
    return {
        **sampled,
        "boosting_type": "dart",
        "drop_rate": trial.suggest_float("drop", 0.0, 0.5),
        "skip_drop": trial.suggest_float("skip_drop", 0.0, 0.9),
        "max_drop": trial.suggest_int("most_dropped", 1, 50, log=True),
    }


def of_cancer(trial: optuna.Trial) -> float:
    """Breast cancer: 569 rows."""
    return _loss(trial, *_cancer())


def of_odd_digits(trial: optuna.Trial) -> float:
    """Whether a handwritten digit is odd: 1,797 rows."""
    return _loss(trial, *_odd_digits())


def _loss(trial: optuna.Trial, X: Any, y: Any) -> float:  # noqa: ANN401  data
    """The log loss on three fixed folds."""
    from lightgbm import LGBMClassifier
    from sklearn.model_selection import cross_val_score

    special = _of_booster(trial)
    model = LGBMClassifier(
        n_estimators=trial.suggest_int("trees", 20, 200, log=True),
        learning_rate=trial.suggest_float("rate", 0.01, 0.5, log=True),
        num_leaves=trial.suggest_int("leaves", 4, 64, log=True),
        min_child_samples=trial.suggest_int("rows_in_leaf", 2, 50, log=True),
        colsample_bytree=trial.suggest_float("columns", 0.2, 1.0),
        reg_lambda=trial.suggest_float("ridge", 1e-3, 10.0, log=True),
        random_state=0,
        n_jobs=1,
        verbose=-1,
        **special,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(-cross_val_score(model, X, y, cv=3, scoring="neg_log_loss").mean())
