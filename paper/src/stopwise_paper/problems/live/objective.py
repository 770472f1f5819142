# SPDX-License-Identifier: Apache-2.0
"""The live objective: a space, and a training that is run anew for each configuration.

Values are those of fixed folds and seeds, so that a configuration has one value. The cost of a
training is counted, not measured: trees, leaves, steps, multiplications, each at a fixed rate in
seconds. It is known when the training is over, and it is the same for every contender however
busy the machine is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise.errors import MissingExtraError
from stopwise_paper.arrays import Array

Params = Mapping[str, Any]


class Trained(NamedTuple):
    """What came of a configuration.

    Args:
        value: The loss, nan where the training diverged.
        cost: Counted work, in seconds at fixed rates.
    """

    value: float
    cost: float


@dataclass(frozen=True, slots=True, eq=False)
class LiveObjective:
    """A training as a function of its configuration.

    Args:
        space: The parameters, each after those that it depends on.
        train: Trains and judges a configuration.
        price: The price by which contenders are charged, ``learned`` or ``runs``.
    """

    space: Mapping[str, sw.space.Parameter]
    train: Callable[[Params], Trained]
    price: str


class Folded(NamedTuple):
    """A model trained on every fold.

    Args:
        loss: The mean over the folds of the loss on what was held out, nan if it is not finite.
        models: The trained models; fewer where a training diverged.
    """

    loss: float
    models: list[Any]


def folded(model: Any, X: Array, y: Array, folds: Any, loss: Callable[..., float]) -> Folded:  # noqa: ANN401  of scikit-learn
    """Train a model on fixed folds.

    Args:
        model: An estimator, which is copied.
        X: Features.
        y: Targets.
        folds: A splitter.
        loss: Of a trained model on what it has not seen.
    """
    from sklearn.base import clone

    models, losses = [], []
    for train, test in folds.split(X, y):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # few steps do not converge: that is what is searched
            try:
                models.append(clone(model).fit(X[train], y[train]))
                losses.append(loss(models[-1], X[test], y[test]))
            except ValueError as error:
                if not _is_divergence(error):
                    raise
                losses.append(np.nan)
    mean = float(np.mean(losses))
    return Folded(mean if np.isfinite(mean) else np.nan, models)


def _is_divergence(error: ValueError) -> bool:
    """Whether scikit-learn says that weights or predictions have left the floats."""
    return any(word in str(error) for word in ("non-finite", "contains NaN", "infinity"))


def log_loss_of(model: Any, X: Array, y: Array) -> float:  # noqa: ANN401  of scikit-learn
    """The log loss of a classifier."""
    from sklearn.metrics import log_loss

    return float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def squared_error_of(model: Any, X: Array, y: Array) -> float:  # noqa: ANN401  of scikit-learn
    """The mean squared error of a regressor."""
    return float(np.mean((y - model.predict(X)) ** 2))


def at_rates(counts: Sequence[float], rates: Sequence[float]) -> float:
    """Counted work in seconds.

    Args:
        counts: How much of each kind of work there was.
        rates: Seconds that one of each takes.
    """
    return float(np.dot(counts, rates))


def check_sklearn() -> None:
    """Refuse to go on where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError.of(
            "sklearn", extra="sklearn", purpose="an objective that trains live", cause=error
        ) from error
