# SPDX-License-Identifier: Apache-2.0
"""A booster to tune: from a script or a notebook, with the seconds of training as its price."""

import sys
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score

import stopwise as sw

folder = Path(sys.argv[1])
X, y = load_digits(n_class=4, return_X_y=True)

space = {
    "learning_rate": sw.Real(0.01, 1.0, log=True),
    "leaves": sw.Integer(2, 16),
    "rounds": sw.Integer(1, 20),
}


def misread(params):
    model = HistGradientBoostingClassifier(
        learning_rate=params["learning_rate"],
        max_leaf_nodes=params["leaves"],
        max_iter=params["rounds"],
    )
    return 100.0 * (1.0 - cross_val_score(model, X[::2], y[::2], cv=2).mean())


result = sw.minimize(
    misread,
    space,
    cost="seconds",
    lam=sw.exchange_rate(improvement=1.0, cost=10.0),  # a percent is worth ten seconds to me
    value_name="misread %",
    max_trials=12,
    journal=folder / "booster.jsonl",
    progress=True,
)
print(result.verdict)
print(result.explain())
result.report(folder / "booster.html")
for ending in ("svg", "png", "pdf"):
    result.plot_best().save(folder / f"booster.{ending}")
