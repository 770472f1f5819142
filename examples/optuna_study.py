# SPDX-License-Identifier: Apache-2.0
"""An Optuna study that counts its cost and stops by itself: python examples/optuna_study.py"""

import math
import time

import optuna

import stopwise as sw
from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler, timed


@timed  # the seconds of this body are the trial's cost
def train(trial):
    lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 6)
    act = trial.suggest_categorical("act", ["relu", "tanh"])
    time.sleep(0.005 * layers)  # stands for training
    return (math.log10(lr) + 2.5) ** 2 + 0.1 * (layers - 3) ** 2 + 0.1 * (act == "relu")


optuna.logging.set_verbosity(optuna.logging.WARNING)

# "I would wait one second for 0.5 less loss."
lam = sw.exchange_rate(improvement=0.5, cost=1.0)

study = optuna.create_study(sampler=StopwiseSampler(lam, cost="seconds", seed=0))
study.optimize(train, n_trials=200, callbacks=[StopwiseCallback(lam, cost="seconds")])

spent = sum(trial.user_attrs["cost"] for trial in study.trials)
print(f"{len(study.trials)} of 200 trials, {spent:.2f} s of training, best {study.best_value:.4f}")
print(study.user_attrs["stopwise:verdict"]["reason"])
