# SPDX-License-Identifier: Apache-2.0
"""A network on 600 of scikit-learn's digits: log loss on three folds, seven parameters."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.problems.live.objective import (
    LiveObjective,
    Params,
    Trained,
    at_rates,
    folded,
    log_loss_of,
)
from stopwise_paper.problems.problem import LEARNED

_ROWS = 600
_FOLDS = 3

SPACE: dict[str, sw.space.Parameter] = {
    "units": sw.Integer(8, 128, log=True),
    "layers": sw.Integer(1, 3),
    "activation": sw.Categorical(["relu", "tanh"]),
    "learning_rate": sw.Real(1e-4, 1e-1, log=True),
    "alpha": sw.Real(1e-6, 1e0, log=True),
    "batch_size": sw.Integer(16, 256, log=True),
    "epochs": sw.Integer(5, 40, log=True),
}
# Seconds of a fold, of a step in a layer, of a product: from a regression on CPU seconds.
RATES = (5.5e-3, 7.8e-5, 3.7e-10)


@cache
def digits(rows: int) -> tuple[Array, Array]:
    """Some of the handwritten digits, always the same ones."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    kept = np.random.default_rng(0).permutation(len(y))[:rows]
    return X[kept] / 16.0, y[kept]


def train(params: Params) -> Trained:
    """Train for at most so many epochs; a loss that no longer falls ends it earlier."""
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        (params["units"],) * params["layers"],
        activation=params["activation"],
        learning_rate_init=params["learning_rate"],
        alpha=params["alpha"],
        batch_size=params["batch_size"],
        max_iter=params["epochs"],
        n_iter_no_change=5,
        random_state=0,
    )
    X, y = digits(_ROWS)
    loss, models = folded(model, X, y, StratifiedKFold(_FOLDS), log_loss_of)
    return Trained(loss, at_rates(counts(models), RATES))


def counts(models: list[Any]) -> tuple[float, ...]:
    """Folds, steps in layers, and multiplications of an example by a weight."""
    rows = _ROWS * (_FOLDS - 1) / _FOLDS
    steps = sum(m.n_iter_ * np.ceil(rows / m.batch_size) * (m.n_layers_ - 1) for m in models)
    products = sum(m.n_iter_ * rows * sum(w.size for w in m.coefs_) for m in models)
    return float(len(models)), float(steps), float(products)


NETWORK = LiveObjective(SPACE, train, LEARNED)
