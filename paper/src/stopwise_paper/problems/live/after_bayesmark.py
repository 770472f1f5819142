# SPDX-License-Identifier: Apache-2.0
"""Six problems after Bayesmark's: its ranges, data and cross-validation, in code of our own.

Bayesmark (Uber, 2019) tunes scikit-learn models on scikit-learn's data. Of its models there are
two here, the decision tree ``DT`` and the network ``MLP-sgd``, as classifiers on three of its
data sets. As there, four fifths of the rows are used, five folds are cut from them in order, data
are not scaled, and the loss is the log loss. Other than there, the models' seed is fixed, so that
a configuration has one value, and the part on which Bayesmark reports generalisation is not used.
Parameters with its logit scale are searched as their logits. Every evaluation costs 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from scipy.special import expit, logit

import stopwise as sw
from stopwise_paper.arrays import Array
from stopwise_paper.problems.curves import RUNS
from stopwise_paper.problems.live.objective import (
    LiveObjective,
    Params,
    Trained,
    folded,
    log_loss_of,
)

DATASETS = ("breast", "iris", "wine")
_HELD_OUT, _FOLDS = 0.2, 5
_LOGIT = "logit "  # before the name of a parameter that is searched as its logit


@dataclass(frozen=True, slots=True, eq=False)
class TunedModel:
    """A model with the ranges of its parameters.

    Args:
        make: The estimator of a configuration.
        space: The parameters.
    """

    make: Callable[[Params], Any]
    space: Mapping[str, sw.space.Parameter]


def _on_logit_scale(**ranges: tuple[float, float]) -> dict[str, sw.space.Parameter]:
    return {
        _LOGIT + name: sw.Real(float(logit(low)), float(logit(high)))
        for name, (low, high) in ranges.items()
    }


def _tree(params: Params) -> Any:  # noqa: ANN401  an estimator
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0, **params)


def _network(params: Params) -> Any:  # noqa: ANN401  an estimator
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(
        solver="sgd",
        early_stopping=True,
        learning_rate="invscaling",
        nesterovs_momentum=True,
        random_state=0,
        **params,
    )


MODELS = {
    "DT": TunedModel(
        _tree,
        {
            "max_depth": sw.Integer(1, 15),
            **_on_logit_scale(
                min_samples_split=(0.01, 0.99),
                min_samples_leaf=(0.01, 0.49),
                min_weight_fraction_leaf=(0.01, 0.49),
                max_features=(0.01, 0.99),
            ),
            "min_impurity_decrease": sw.Real(0.0, 0.5),
        },
    ),
    "MLP-sgd": TunedModel(
        _network,
        {
            "hidden_layer_sizes": sw.Integer(50, 200),
            "alpha": sw.Real(1e-5, 1e1, log=True),
            "batch_size": sw.Integer(10, 250),
            "learning_rate_init": sw.Real(1e-5, 1e-1, log=True),
            "tol": sw.Real(1e-5, 1e-1, log=True),
            **_on_logit_scale(
                power_t=(0.1, 0.9), momentum=(0.001, 0.999), validation_fraction=(0.1, 0.9)
            ),
        },
    ),
}


@cache
def _training_rows(dataset: str) -> tuple[Array, Array]:
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    loaders = {
        "breast": datasets.load_breast_cancer,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }
    X, _, y, _ = train_test_split(
        *loaders[dataset](return_X_y=True), test_size=_HELD_OUT, random_state=0
    )
    return X, y


def train(model: TunedModel, dataset: str, params: Params) -> Trained:
    """Cross-validate a configuration."""
    from sklearn.model_selection import StratifiedKFold

    estimator = model.make(_from_logits(params))
    X, y = _training_rows(dataset)
    return Trained(folded(estimator, X, y, StratifiedKFold(_FOLDS), log_loss_of).loss, 1.0)


def _from_logits(params: Params) -> dict[str, Any]:
    return {
        name.removeprefix(_LOGIT): float(expit(value)) if name.startswith(_LOGIT) else value
        for name, value in params.items()
    }


AFTER_BAYESMARK = {
    f"bayesmark:{name}-{dataset}": LiveObjective(model.space, partial(train, model, dataset), RUNS)
    for name, model in MODELS.items()
    for dataset in DATASETS
}
