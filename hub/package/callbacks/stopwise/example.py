# SPDX-License-Identifier: MIT
import optuna
import optunahub


def objective(trial):
    x = trial.suggest_float("x", -5, 5)
    return (x - 1) ** 2


StopwiseCallback = optunahub.load_module("callbacks/stopwise").StopwiseCallback
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
study.optimize(objective, n_trials=60, callbacks=[StopwiseCallback(lam=0.05)])
print(len(study.trials), "trials")
