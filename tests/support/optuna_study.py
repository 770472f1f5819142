# SPDX-License-Identifier: Apache-2.0
"""A small study of Optuna: a space, an objective with a price, and the points that were tried."""

from optuna.distributions import CategoricalDistribution, IntDistribution

SPACE = {
    "layers": IntDistribution(1, 6),
    "act": CategoricalDistribution(["relu", "tanh", None]),
}


def loss(params):
    """The value: least, 0, at 3 layers with tanh."""
    return 0.1 * (params["layers"] - 3) ** 2 + 0.5 * (params["act"] != "tanh")


def price(params):
    """What an evaluation costs."""
    return float(params["layers"])


def objective(trial):
    """The value of a trial that asks for its parameters itself."""
    layers = trial.suggest_int("layers", 1, 6)
    act = trial.suggest_categorical("act", ["relu", "tanh", None])
    return loss({"layers": layers, "act": act})


def points(study):
    """The points of all trials that have one, as tuples that can be compared."""
    return [tuple(sorted(t.params.items(), key=str)) for t in study.trials if t.params]
