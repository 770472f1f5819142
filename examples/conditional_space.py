# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn pipeline with alternatives, tuned as one conditional space.

Run it: python examples/conditional_space.py (needs scikit-learn; some seconds)
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import stopwise as sw

SPACE = {
    "reduce": sw.Categorical(["none", "pca"]),
    "components": sw.Integer(5, 60, when={"reduce": ["pca"]}),
    "classifier": sw.Categorical(["svm", "neighbours"]),
    "kernel": sw.Categorical(["rbf", "poly"], when={"classifier": ["svm"]}),
    "C": sw.Real(1e-2, 1e3, log=True, when={"classifier": ["svm"]}),
    "gamma": sw.Real(1e-5, 1e-1, log=True, when={"classifier": ["svm"]}),
    "degree": sw.Integer(2, 5, when={"kernel": ["poly"]}),
    "k": sw.Ordinal([1, 2, 3, 5, 8, 13, 21], when={"classifier": ["neighbours"]}),
}

X, y = load_digits(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(len(y))[:400]
X, y = X[ROWS] / 16.0, y[ROWS]


def misread(params):
    """Percent of the digits that are misread, over three folds."""
    first = PCA(params["components"]) if params["reduce"] == "pca" else "passthrough"
    if params["classifier"] == "svm":
        names = [name for name in ("kernel", "C", "gamma", "degree") if name in params]
        model = SVC(**{name: params[name] for name in names})
    else:
        model = KNeighborsClassifier(params["k"])
    return 100.0 * (1.0 - cross_val_score(make_pipeline(first, model), X, y, cv=3).mean())


result = sw.minimize(
    misread,
    SPACE,
    lam=sw.exchange_rate(improvement=0.1, cost=1),  # one more trial for 0.1 %
    constraints=["C * gamma <= 10"],  # known to be useless beyond
    bounds=(0, 100),
    max_trials=25,
)
print(f"{result.best.value:.1f} % misread after {len(result.history)} trials, with")
print(", ".join(f"{name} = {value}" for name, value in result.best.params.items()))
