# SPDX-License-Identifier: Apache-2.0
"""Make the curves that come with stopwise_paper: scikit-learn models trained step by step.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks._sklearn_curves

Two problems of 128 configurations each: small neural networks on ``digits``, 27 epochs, and
boosted trees on ``breast_cancer``, 81 trees. After each stage (a 27th, a ninth, a third of the
steps, all of them) validation and test log loss and the CPU seconds of training since the stage
before. Half of the data trains, a quarter each validates and tests.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc

import stopwise as sw

SEED = 20261
OUT = Path(__file__).parents[1] / "paper/src/stopwise_paper/data/sklearn_curves.npz"
_SCALE = 7  # 2^7 configurations

NETWORK = {
    "units": sw.Integer(8, 96, log=True),
    "learning_rate": sw.Real(1e-4, 1e0, log=True),
    "momentum": sw.Real(0.0, 0.99),
    "alpha": sw.Real(1e-6, 1e0, log=True),
    "batch_size": sw.Integer(32, 256, log=True),
}
BOOSTING = {
    "learning_rate": sw.Real(1e-3, 1e0, log=True),
    "depth": sw.Integer(1, 8),
    "min_leaf": sw.Integer(1, 32, log=True),
    "subsample": sw.Real(0.2, 1.0),
    "max_features": sw.Real(0.03, 1.0, log=True),
}
NETWORK_STEPS, BOOSTING_STEPS = (1, 3, 9, 27), (3, 9, 27, 81)

Train = Callable[[dict[str, Any], Any, Any], Iterator[Any]]


def network(p: dict[str, Any], X: Any, y: Any) -> Iterator[Any]:  # noqa: ANN401  scikit-learn
    """Yield the network after each stage."""
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier(
        (p["units"],),
        solver="sgd",
        learning_rate_init=p["learning_rate"],
        momentum=p["momentum"],
        alpha=p["alpha"],
        batch_size=p["batch_size"],
        random_state=0,
    )
    for epochs in np.diff(NETWORK_STEPS, prepend=0):
        for _ in range(epochs):
            model.partial_fit(X, y, classes=np.unique(y))
        yield model


def boosting(p: dict[str, Any], X: Any, y: Any) -> Iterator[Any]:  # noqa: ANN401  scikit-learn
    """Yield the trees after each stage."""
    from sklearn.ensemble import GradientBoostingClassifier

    model = GradientBoostingClassifier(
        learning_rate=p["learning_rate"],
        max_depth=p["depth"],
        min_samples_leaf=p["min_leaf"],
        subsample=p["subsample"],
        max_features=p["max_features"],
        warm_start=True,
        random_state=0,
    )
    for trees in BOOSTING_STEPS:
        yield model.set_params(n_estimators=trees).fit(X, y)


def measured(
    space: dict[str, Any], train: Train, data: tuple[Any, Any]
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Configurations, and of each by stage: validation loss, test loss, seconds."""
    from sklearn.metrics import log_loss
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    X, X_rest, y, y_rest = train_test_split(
        *data, test_size=0.5, random_state=SEED, stratify=data[1]
    )
    scaler = StandardScaler().fit(X)
    X, X_rest = scaler.transform(X), scaler.transform(X_rest)
    X_val, X_test, y_val, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, random_state=SEED, stratify=y_rest
    )
    codec = sw.space.Mixed.of(space)
    rows = codec.decode(codec.snap(qmc.Sobol(codec.width, seed=SEED).random_base2(_SCALE)))
    list(train(rows[0], X, y))  # imports and caches are not what a configuration costs
    found = np.full((len(rows), 4, 3), np.nan)
    for i, row in enumerate(rows):
        start = time.process_time()
        for stage, model in enumerate(train(row, X, y)):
            seconds = time.process_time() - start
            losses = (
                log_loss(answers, model.predict_proba(inputs), labels=model.classes_)
                for inputs, answers in ((X_val, y_val), (X_test, y_test))
            )
            found[i, stage] = (*losses, seconds)
            start = time.process_time()
        if i % 50 == 0:
            print(f"{i} of {len(rows)}", file=sys.stderr, flush=True)
    return rows, found


def main() -> None:
    import sklearn
    from sklearn.datasets import load_breast_cancer, load_digits

    warnings.simplefilter("ignore")
    made: dict[str, np.ndarray] = {}
    for name, space, steps, train, data in (
        ("digits-network", NETWORK, NETWORK_STEPS, network, load_digits(return_X_y=True)),
        (
            "cancer-boosting",
            BOOSTING,
            BOOSTING_STEPS,
            boosting,
            load_breast_cancer(return_X_y=True),
        ),
    ):
        rows, found = measured(space, train, data)
        made[f"{name}/names"] = np.array(list(space))
        made[f"{name}/configs"] = np.array([[row[k] for k in space] for row in rows], "float32")
        made[f"{name}/steps"] = np.array(steps)
        made[f"{name}/measured"] = found.astype("float32")
    made["versions"] = np.array([f"scikit-learn {sklearn.__version__}", f"numpy {np.__version__}"])
    np.savez_compressed(OUT, **made)
    print(OUT.name, OUT.stat().st_size)


if __name__ == "__main__":
    main()
