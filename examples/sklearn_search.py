# SPDX-License-Identifier: Apache-2.0
"""Tune a pipeline with scikit-learn, until another candidate is not worth its fit time."""

from scipy.stats import loguniform, randint
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import stopwise as sw
from stopwise.integrations.sklearn import StopwiseSearchCV

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X[:400], y[:400], random_state=0)

search = StopwiseSearchCV(
    make_pipeline(PCA(random_state=0), SVC()),
    {
        "pca__n_components": randint(5, 40),
        "svc__C": loguniform(1e-2, 1e2),
        "svc__kernel": ["rbf", "linear"],
    },
    lam=sw.exchange_rate(improvement=0.01, cost=1),  # "I would wait 1 s for one point"
    noise="learn",  # a score over few rows moves in steps; do not chase the last one
    start_from=[{"pca__n_components": 20, "svc__C": 1.0, "svc__kernel": "rbf"}],
    cv=3,
)
search.fit(X, y)

print(f"best of {len(search.history_)}: {search.best_params_}, score {search.best_score_:.3f}")
print(f"{search.spent_:.1f} s of fitting; on held-out data {search.score(X_test, y_test):.3f}")
print(search.verdict_.reason)
