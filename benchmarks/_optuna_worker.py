# SPDX-License-Identifier: Apache-2.0
"""One Optuna worker of the benchmark: _optuna_worker STORAGE SURROGATE N SECONDS.

It loads everything, says that it is ready, waits for a line, does N trials that sleep for so many
seconds, and writes the seconds of each. The surrogate "random" is Optuna's random sampler without
a callback: what the storage alone costs.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise

import optuna
from optuna.distributions import FloatDistribution
from optuna.samplers import RandomSampler
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend

from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler

NAME, LAM = "workers", 1e-12  # nothing but the number of trials ends the study
SPACE = {name: FloatDistribution(0.0, 1.0) for name in "abc"}


def loss(params: dict[str, float]) -> float:
    """A bowl with ripples, which 100 trials do not exhaust."""
    return sum((x - 0.4) ** 2 + 0.1 * math.sin(15.0 * x) for x in params.values())


def storage_at(place: str) -> str | BaseStorage:
    """A URL, or the path of a journal file."""
    return place if "://" in place else JournalStorage(JournalFileBackend(place))


def work(place: str, surrogate: str, trials: int, seconds: float) -> list[float]:
    """Do some trials; returns the seconds that each took."""
    storage = storage_at(place)
    _study(f"warm-up {os.getpid()}", storage, surrogate, 0.0)(3)  # loads what is loaded once
    optimize = _study(NAME, storage, surrogate, seconds)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    return optimize(trials)


def _study(
    name: str, storage: str | BaseStorage, surrogate: str, seconds: float
) -> Callable[[int], list[float]]:
    """A function that does so many trials of a study, and returns the seconds of each."""
    ours = surrogate != "random"
    sampler = (
        StopwiseSampler(LAM, space=SPACE, seed=0, surrogate=surrogate) if ours else RandomSampler()
    )
    callbacks = [StopwiseCallback(LAM, surrogate=surrogate)] if ours else []
    study = optuna.create_study(
        study_name=name, storage=storage, sampler=sampler, load_if_exists=True
    )

    def objective(trial: optuna.Trial) -> float:
        params = {name: trial.suggest_float(name, 0.0, 1.0) for name in SPACE}
        time.sleep(seconds)
        return loss(params)

    def optimize(trials: int) -> list[float]:
        ends = [time.perf_counter()]
        clock = [*callbacks, lambda *_: ends.append(time.perf_counter())]
        study.optimize(objective, n_trials=trials, callbacks=clock)
        return [after - before for before, after in pairwise(ends)]

    return optimize


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    took = work(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    sys.stdout.write(json.dumps(took) + "\n")
