# SPDX-License-Identifier: Apache-2.0
"""A small real problem: a neural network that reads handwritten digits.

The data come with scikit-learn. Training the largest network of the space takes some thirty
times as long as training the smallest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from threadpoolctl import threadpool_limits

from stopwise.core.space import Categorical, Integer, Real
from stopwise.errors import MissingExtraError

SPACE: dict[str, Real | Integer | Categorical] = {
    "neurons": Integer(16, 512, log=True),
    "epochs": Integer(8, 64, log=True),
    "learning_rate": Real(1e-3, 3e-2, log=True),
}
SMALLEST = {"neurons": 16, "epochs": 8, "learning_rate": 3e-3}
LARGEST = {"neurons": 512, "epochs": 64, "learning_rate": 3e-3}


def misread_percent() -> Callable[[Mapping[str, Any]], float]:
    """The objective: the share of digits misread, by threefold cross-validation, in percent."""
    try:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import StratifiedKFold, cross_val_score
        from sklearn.neural_network import MLPClassifier
    except ImportError as error:
        raise MissingExtraError.of("scikit-learn", extra="sklearn", purpose="the demo") from error
    images, digits = load_digits(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def objective(params: Mapping[str, Any]) -> float:
        network = MLPClassifier(
            (params["neurons"],),
            max_iter=params["epochs"],
            learning_rate_init=params["learning_rate"],
            random_state=0,  # the same configuration gives the same value
        )
        # One thread: so small a network gains nothing by more, and seconds become comparable.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few epochs are meant: it need not converge
            accuracy = cross_val_score(network, images / 16.0, digits, cv=folds)
        return 100.0 * (1.0 - float(accuracy.mean()))

    return objective
