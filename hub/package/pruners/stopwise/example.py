# SPDX-License-Identifier: MIT
import optuna
import optunahub


def objective(trial):
    x = trial.suggest_float("x", -5, 5)
    for epoch in range(1, 28):
        loss = (x - 1) ** 2 + 3 / epoch
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return loss


package = optunahub.load_module("pruners/stopwise")
pruner = package.StopwisePruner(lam=0.1, stages=package.Stages(27, eta=3))
study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0), pruner=pruner)
study.optimize(objective, n_trials=30)
epochs = sum(trial.last_step for trial in study.trials)
print(f"{epochs} of {30 * 27} epochs, best {study.best_value:.2f}")
