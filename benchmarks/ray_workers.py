# SPDX-License-Identifier: Apache-2.0
"""Ray workers with sleeping trials: how many trials a second one searcher keeps going.

Ray is told that there are as many cores as workers; the trials sleep, so that the driver, Ray and
the storage of results have the real cores to themselves. Actors are used again. Behind
docs/scale.md.

- chooser: a searcher of ours with that surrogate, or "random", Ray's own random search.
- trials/s: results a second from the one after which every worker has ended a trial on, to the
  last; "possible" is the number of workers over the seconds that a trial sleeps.
- choice, result: CPU milliseconds of the searcher for a suggestion, and to be told a result,
  medians; a result that is told is not yet a decision.
- begin: seconds until every worker has ended a trial, less the sleep.

``python -m benchmarks.ray_workers WORKERS SLEEPS ROUNDS CHOOSER`` measures one row.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import Row, _report

ROOT = Path(__file__).parent.parent
LAM = 1e-12  # nothing but the number of trials ends a search
SPACE = ("a", "b", "c")
PLANS = ((4, 2.0, 16), (16, 10.0, 4), (64, 20.0, 4))  # workers, seconds, trials of each worker


def run(*, quick: bool) -> list[Row]:
    plans = (
        [(4, 1.0, 3, "plain")]
        if quick
        else [
            (workers, sleeps, rounds, chooser)
            for workers, sleeps, rounds in PLANS
            for chooser in ("random", "plain", "default")
        ]
    )
    return [in_a_process(*plan) for plan in plans]


def in_a_process(workers: int, sleeps: float, rounds: int, chooser: str) -> Row:
    """A row; Ray is begun and ended in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.ray_workers"]
    done = subprocess.run(  # noqa: S603  our own module
        [*command, str(workers), str(sleeps), str(rounds), chooser, "--json"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "RAY_AIR_NEW_OUTPUT": "0"},
    )
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def sleeping(config: dict[str, float]) -> None:
    """A trial: it sleeps and reports a bowl."""
    from ray import tune

    time.sleep(config["sleeps"])
    tune.report({"loss": sum((config[name] - 0.4) ** 2 for name in SPACE)})


def measured(workers: int, sleeps: float, rounds: int, chooser: str) -> Row:
    """Run workers * rounds trials."""
    import ray
    from ray import tune

    trials = workers * rounds
    moments: list[float] = []

    class Moments(tune.Callback):
        def on_trial_complete(self, *_: Any, **__: Any) -> None:  # noqa: ANN401
            moments.append(time.perf_counter())

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    searcher, choices, results = _searcher(chooser)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tune.Tuner(
            sleeping,
            param_space={**{name: tune.uniform(0.0, 1.0) for name in SPACE}, "sleeps": sleeps},
            tune_config=tune.TuneConfig(
                metric="loss",
                mode="min",
                search_alg=searcher,
                num_samples=trials,
                max_concurrent_trials=workers,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(storage_path=folder, verbose=0, callbacks=[Moments()]),
        ).fit()
    ray.shutdown()
    steady = moments[workers - 1 :]
    rate = (len(steady) - 1) / (steady[-1] - steady[0])
    return {
        "chooser": chooser,
        "workers": workers,
        "sleeps, s": sleeps,
        "trials": len(moments),
        "trials/s": f"{rate:.2f}",
        "possible": f"{workers / sleeps:.2f}",
        "choice, ms": _median(choices),
        "result, ms": _median(results),
        "begin, s": f"{steady[0] - begin - sleeps:.0f}",
    }


def _median(seconds: list[float]) -> str:
    return f"{1e3 * statistics.median(seconds):.0f}" if seconds else ""


def _searcher(chooser: str) -> tuple[Any, list[float], list[float]]:
    """A searcher, None for random search, and the lists to which it adds its CPU seconds."""
    choices: list[float] = []
    results: list[float] = []
    if chooser == "random":
        return None, choices, results
    from stopwise.integrations.ray import StopwiseSearcher

    class Timed(StopwiseSearcher):
        def suggest(self, trial_id: str) -> Any:  # noqa: ANN401  as its parent
            begin = time.process_time()
            config = super().suggest(trial_id)
            choices.append(time.process_time() - begin)
            return config

        def on_trial_complete(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
            begin = time.process_time()
            super().on_trial_complete(*arguments, **named)
            results.append(time.process_time() - begin)

    return Timed(LAM, cost=None, surrogate=chooser, seed=0), choices, results


if __name__ == "__main__":
    workers, sleeps, rounds, chooser, *as_json = sys.argv[1:]
    row = measured(int(workers), float(sleeps), int(rounds), chooser)
    print(json.dumps(row) if as_json else _report.table([row]))
