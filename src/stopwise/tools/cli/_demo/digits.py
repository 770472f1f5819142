# SPDX-License-Identifier: Apache-2.0
"""A small real problem: a kernel classifier that reads handwritten digits.

The data come with scikit-learn. An image is compared with some landmarks (images of the training
set, by a Gaussian kernel), and a ridge classifier reads the similarities: Nystroem's method. More
landmarks read better, and training with the most of them takes some thirty times as long as with
the fewest.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from threadpoolctl import threadpool_limits

from stopwise.core.space import Categorical, Integer, Real
from stopwise.errors import MissingExtraError

SPACE: dict[str, Real | Integer | Categorical] = {
    "landmarks": Integer(10, 800, log=True),
    "gamma": Real(1e-3, 1.0, log=True),
    "penalty": Real(1e-6, 1.0, log=True),
}


def misread_percent() -> Callable[[Mapping[str, Any]], float]:
    """The objective: the share of digits misread, by threefold cross-validation, in percent."""
    try:
        from sklearn.datasets import load_digits
        from sklearn.kernel_approximation import Nystroem
        from sklearn.linear_model import RidgeClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_score
        from sklearn.pipeline import make_pipeline
    except ImportError as error:
        raise MissingExtraError.of("scikit-learn", extra="sklearn", purpose="the demo") from error
    images, digits = load_digits(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)

    def objective(params: Mapping[str, Any]) -> float:
        similarities = Nystroem(
            gamma=params["gamma"],
            n_components=params["landmarks"],
            random_state=0,  # the same configuration gives the same value
        )
        model = make_pipeline(similarities, RidgeClassifier(alpha=params["penalty"]))
        # One thread: so small a model gains little by more, and seconds become comparable.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a tiny penalty is ill-conditioned, and allowed
            accuracy = cross_val_score(model, images / 16.0, digits, cv=folds)
        return 100.0 * (1.0 - float(accuracy.mean()))

    return objective
