# SPDX-License-Identifier: Apache-2.0
"""Make the table that comes with stopwise_paper: scikit-learn models on scikit-learn's own data.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks._sklearn_table

Two problems, 1,536 configurations each: small neural networks on ``digits``, forests of random
trees on ``breast_cancer``. Each is trained once, alone, on one thread; the cost is the CPU time
of ``fit`` in seconds. Half of the data trains, a quarter each validates and tests.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc

import stopwise as sw

CONFIGURATIONS = 1536
SEED = 20260
OUT = Path(__file__).parents[1] / "paper/src/stopwise_paper/data/sklearn.npz"

NETWORK = {
    "units": sw.Integer(8, 192, log=True),
    "layers": sw.Integer(1, 3),
    "learning_rate": sw.Real(1e-4, 1e-1, log=True),
    "alpha": sw.Real(1e-6, 1e0, log=True),
    "batch_size": sw.Integer(16, 256, log=True),
    "epochs": sw.Integer(4, 32, log=True),
}
FOREST = {
    "trees": sw.Integer(5, 250, log=True),
    "depth": sw.Integer(1, 12),
    "min_leaf": sw.Integer(1, 32, log=True),
    "max_features": sw.Real(0.03, 1.0, log=True),
    "max_samples": sw.Real(0.1, 1.0),
}


def network(p: dict[str, Any]) -> Any:  # noqa: ANN401  an estimator
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = MLPClassifier(
        (p["units"],) * p["layers"],
        learning_rate_init=p["learning_rate"],
        alpha=p["alpha"],
        batch_size=p["batch_size"],
        max_iter=p["epochs"],
        random_state=0,
    )
    return make_pipeline(StandardScaler(), model)


def forest(p: dict[str, Any]) -> Any:  # noqa: ANN401  an estimator
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        p["trees"],
        max_depth=p["depth"],
        min_samples_leaf=p["min_leaf"],
        max_features=p["max_features"],
        max_samples=p["max_samples"],
        random_state=0,
        n_jobs=1,
    )


def measured(
    space: dict[str, Any], make: Callable[[dict[str, Any]], Any], data: tuple[Any, Any]
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Configurations, and of each: validation error, test error (percent), seconds."""
    from sklearn.model_selection import train_test_split

    X, X_rest, y, y_rest = train_test_split(
        *data, test_size=0.5, random_state=SEED, stratify=data[1]
    )
    X_val, X_test, y_val, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, random_state=SEED, stratify=y_rest
    )
    codec = sw.space.Mixed.of(space)
    unit = qmc.Sobol(codec.width, seed=SEED).random_base2(11)[:CONFIGURATIONS]
    rows = codec.decode(codec.snap(unit))
    found = np.empty((len(rows), 3))
    make(rows[0]).fit(X, y)  # imports and caches are not what a configuration costs
    for i, row in enumerate(rows):
        start = time.process_time()
        model = make(row).fit(X, y)
        seconds = time.process_time() - start
        errors = (
            100.0 * (1.0 - model.score(*part)) for part in ((X_val, y_val), (X_test, y_test))
        )
        found[i] = (*errors, seconds)
        if i % 100 == 0:
            print(f"{i} of {len(rows)}", file=sys.stderr, flush=True)
    return rows, found


def main() -> None:
    import sklearn
    from sklearn.datasets import load_breast_cancer, load_digits

    warnings.simplefilter("ignore")  # few epochs do not converge: that is what is measured
    made: dict[str, np.ndarray] = {}
    for name, space, make, data in (
        ("digits-network", NETWORK, network, load_digits(return_X_y=True)),
        ("cancer-forest", FOREST, forest, load_breast_cancer(return_X_y=True)),
    ):
        rows, found = measured(space, make, data)
        made[f"{name}/names"] = np.array(list(space))
        made[f"{name}/configs"] = np.array([[row[k] for k in space] for row in rows], "float32")
        made[f"{name}/measured"] = found.astype("float32")
    made["versions"] = np.array([f"scikit-learn {sklearn.__version__}", f"numpy {np.__version__}"])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(OUT, **made)
    print(OUT, OUT.stat().st_size)


if __name__ == "__main__":
    main()
