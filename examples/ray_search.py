# SPDX-License-Identifier: Apache-2.0
"""Tune with Ray, two trials at a time, until another trial is not worth its seconds.

On a cluster three lines change; they are marked. Everything else is the same on one machine
and on a hundred: the searcher lives in the driver, the trials run where Ray puts them.
"""

import tempfile
import time

import ray
from ray import tune

import stopwise as sw
from stopwise.integrations.ray import StopwiseSearcher


def train(config):  # stands for a training run: deeper networks take longer
    time.sleep(0.02 * config["layers"])
    loss = (config["lr"] - 0.03) ** 2 * 400 + 0.1 * abs(config["layers"] - 3)
    tune.report({"loss": loss})


# On a cluster: ray.init(address="auto"), in a job sent with `ray job submit`.
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)

searcher = StopwiseSearcher(
    lam=sw.exchange_rate(improvement=0.2, cost=1),  # "a second of training for 0.2 of loss"
    cost="time_total_s",  # what each trial took, queues and search not counted
    n_initial=4,
)
tuner = tune.Tuner(
    train,  # On a cluster: tune.with_resources(train, {"gpu": 1})
    param_space={"lr": tune.loguniform(1e-3, 1e-1), "layers": tune.randint(1, 6)},
    tune_config=tune.TuneConfig(
        metric="loss",
        mode="min",
        search_alg=searcher,
        num_samples=-1,  # the searcher says when it is enough
        max_concurrent_trials=2,  # On a cluster: as many as are worth running side by side
        reuse_actors=True,
    ),
    # On a cluster: storage_path="s3://..." or a shared folder, so that any node can restore.
    run_config=tune.RunConfig(storage_path=tempfile.mkdtemp(), verbose=0),
)
best = tuner.fit().get_best_result()

print(f"{best.config}, loss {best.metrics['loss']:.3f}")
print(f"{len(searcher.history)} trials, {searcher.history.spent:.1f} s")
print(searcher.verdict.reason)
