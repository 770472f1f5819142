# SPDX-License-Identifier: Apache-2.0
"""A pipeline on 300 of scikit-learn's digits: an optional reduction and one of four classifiers.

Log loss on three folds. Of the thirteen parameters those of the classifier that is chosen exist,
and one of them only for one of its kernels.
"""

from __future__ import annotations

from typing import Any

import stopwise as sw
from stopwise_paper.problems.live.network import digits
from stopwise_paper.problems.live.objective import (
    LiveObjective,
    Params,
    Trained,
    at_rates,
    folded,
    log_loss_of,
)
from stopwise_paper.problems.problem import LEARNED

_ROWS = 300
_FOLDS, _CALIBRATIONS = 3, 3
SVM, NEIGHBOURS, FOREST, DISCRIMINANT = "svm", "neighbours", "forest", "discriminant"

SPACE: dict[str, sw.space.Parameter] = {
    "reduce": sw.Categorical(["none", "pca"]),
    "components": sw.Integer(5, 60, when={"reduce": ["pca"]}),
    "classifier": sw.Categorical([SVM, NEIGHBOURS, FOREST, DISCRIMINANT]),
    "kernel": sw.Categorical(["rbf", "poly"], when={"classifier": [SVM]}),
    "C": sw.Real(1e-2, 1e3, log=True, when={"classifier": [SVM]}),
    "gamma": sw.Real(1e-5, 1e-1, log=True, when={"classifier": [SVM]}),
    "degree": sw.Integer(2, 5, when={"kernel": ["poly"]}),
    "k": sw.Integer(1, 50, log=True, when={"classifier": [NEIGHBOURS]}),
    "weights": sw.Categorical(["uniform", "distance"], when={"classifier": [NEIGHBOURS]}),
    "trees": sw.Integer(5, 60, log=True, when={"classifier": [FOREST]}),
    "features": sw.Real(0.02, 1.0, log=True, when={"classifier": [FOREST]}),
    "leaf": sw.Integer(1, 20, log=True, when={"classifier": [FOREST]}),
    "shrinkage": sw.Real(0.0, 1.0, when={"classifier": [DISCRIMINANT]}),
}
# Seconds of a fold, of a reduction, of a tree: from a regression on CPU seconds.
RATES = {
    SVM: (3.4e-2, 0.0, 0.0),
    NEIGHBOURS: (4.4e-3, 8.1e-4, 0.0),
    FOREST: (5.8e-3, 1.3e-3, 1.2e-3),
    DISCRIMINANT: (7.7e-3, 6.7e-4, 0.0),
}


def train(params: Params) -> Trained:
    """Train and judge a configuration."""
    from sklearn.decomposition import PCA
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline

    reduction = (
        PCA(params["components"], svd_solver="full")
        if params["reduce"] == "pca"
        else "passthrough"
    )
    model = make_pipeline(reduction, _classifier(params))
    X, y = digits(_ROWS)
    loss, _ = folded(model, X, y, StratifiedKFold(_FOLDS), log_loss_of)
    return Trained(loss, at_rates(counts(params), RATES[params["classifier"]]))


def _classifier(params: Params) -> Any:  # noqa: ANN401  an estimator
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    if params["classifier"] == SVM:
        machine = SVC(
            kernel=params["kernel"],
            C=params["C"],
            gamma=params["gamma"],
            degree=params.get("degree", 3),  # read by the other kernel alone
        )
        return CalibratedClassifierCV(machine, cv=_CALIBRATIONS, ensemble=False)
    if params["classifier"] == NEIGHBOURS:
        return KNeighborsClassifier(params["k"], weights=params["weights"])
    if params["classifier"] == FOREST:
        return RandomForestClassifier(
            params["trees"],
            max_features=params["features"],
            min_samples_leaf=params["leaf"],
            random_state=0,
        )
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=params["shrinkage"])


def counts(params: Params) -> tuple[float, ...]:
    """Folds, reductions and trees; but for a forest, parameters hardly change the time."""
    reductions = _FOLDS if params["reduce"] == "pca" else 0
    return float(_FOLDS), float(reductions), float(_FOLDS * params.get("trees", 0))


PIPELINE = LiveObjective(SPACE, train, LEARNED)
