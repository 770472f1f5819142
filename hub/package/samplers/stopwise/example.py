# SPDX-License-Identifier: MIT
import optuna
import optunahub


def objective(trial):
    layers = trial.suggest_int("layers", 1, 9)
    rate = trial.suggest_float("rate", 1e-4, 1e-1, log=True)
    return 0.1 * (layers - 4) ** 2 + abs(rate - 0.01)


StopwiseSampler = optunahub.load_module("samplers/stopwise").StopwiseSampler
sampler = StopwiseSampler(lam=0.01, cost=lambda params: params["layers"], seed=0)
study = optuna.create_study(sampler=sampler)
study.optimize(objective, n_trials=12)
print(study.best_params)
