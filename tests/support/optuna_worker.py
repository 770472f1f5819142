# SPDX-License-Identifier: Apache-2.0
"""One worker of the test with several, to be run in a process of its own."""

import os
import signal
import time
import warnings

import optuna

from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler, timed

SPACE = {
    "layers": optuna.distributions.IntDistribution(1, 8),
    "units": optuna.distributions.IntDistribution(8, 128, step=8),
}


def loss(params):
    return 0.05 * (params["layers"] - 5) ** 2 + ((params["units"] - 72) / 40) ** 2


def price(params):
    return params["layers"] * params["units"] / 64


def die_when_others_have_told(study, count):
    complete = (optuna.trial.TrialState.COMPLETE,)
    while len(study.get_trials(deepcopy=False, states=complete)) < count:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)


def main(url, lam, budget, fate=""):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    storage = optuna.storages.RDBStorage(url, heartbeat_interval=3, grace_period=30)
    options = {"cost": price, "budget": budget, "surrogate": "plain"}
    study = optuna.load_study(
        study_name="many",
        storage=storage,
        sampler=StopwiseSampler(lam, space=SPACE, seed=0, **options),
    )
    callback = StopwiseCallback(lam, **options)
    told = []

    @timed
    def objective(trial):
        layers = trial.suggest_int("layers", 1, 8)
        units = trial.suggest_int("units", 8, 128, step=8)
        time.sleep(0.05)
        if fate == "die":
            die_when_others_have_told(study, 3)
        value = loss({"layers": layers, "units": units})
        told.append([trial.number, value])
        return value

    if not callback.should_terminate(study):
        study.optimize(objective, n_trials=100, callbacks=[callback])
    verdict = callback._written(study)  # what all workers see, not an opinion of this one
    return {"told": told, "rule": verdict.rule, "reason": verdict.reason}


def report_to(connection, *arguments):
    """Work, and send the report; nothing is sent by one that dies."""
    connection.send(main(*arguments))
    connection.close()
