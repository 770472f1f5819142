# SPDX-License-Identifier: Apache-2.0
"""Several workers, one Optuna study: python examples/optuna_workers.py [storage URL]

Every worker runs the same few lines; all they share is the storage, as of PostgreSQL:
postgresql+psycopg://user@host/database (pip install 'psycopg[binary]').
"""

import math
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import optuna

from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler, timed

WORKERS, BUDGET, LAM = 3, 2.0, 0.5  # 2 s of training in all; a second is worth 0.5 of the loss
SPACE = {
    "lr": optuna.distributions.FloatDistribution(1e-4, 1e-1, log=True),
    "layers": optuna.distributions.IntDistribution(1, 6),
}


@timed  # what the sampler needs to choose is not counted
def train(trial):
    lr, layers = trial.suggest_float("lr", 1e-4, 1e-1, log=True), trial.suggest_int("layers", 1, 6)
    time.sleep(0.01 * layers)
    return (math.log10(lr) + 2.5) ** 2 + 0.1 * (layers - 3) ** 2


def storage_at(url):  # a worker that dies stops beating; others count its trial as failed
    return optuna.storages.RDBStorage(url, heartbeat_interval=10, grace_period=60)


def work(url):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = StopwiseSampler(LAM, cost="seconds", budget=BUDGET, space=SPACE)
    callback = StopwiseCallback(LAM, cost="seconds", budget=BUDGET)
    study = optuna.load_study(study_name="workers", storage=storage_at(url), sampler=sampler)
    if not callback.should_terminate(study):  # it may be over before this worker has begun
        study.optimize(train, callbacks=[callback])


if __name__ == "__main__":
    folder = tempfile.TemporaryDirectory()
    url = sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{Path(folder.name) / 'study.db'}"
    study = optuna.create_study(study_name="workers", storage=storage_at(url))
    workers = [multiprocessing.Process(target=work, args=(url,)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    spent = sum(trial.user_attrs.get("cost", 0.0) for trial in study.trials)
    who = f"{len(study.trials)} trials by {WORKERS} workers"
    print(f"{who}, {spent:.2f} s, best {study.best_value:.3f}")
    print(study.user_attrs["stopwise:verdict"]["reason"])
    folder.cleanup()
