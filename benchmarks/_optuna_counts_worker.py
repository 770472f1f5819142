# SPDX-License-Identifier: Apache-2.0
"""Work of one Optuna study: _optuna_counts_worker FINISHED TRIALS ACQUISITION [SURROGATE].

Fits, suprema and translated trials are counted where they are made, with the names that they have
now or had in 0.1 (which has no choice of surrogates).
"""

import importlib
import json
import math
import sys
import time
from collections import Counter
from itertools import pairwise
from random import Random
from types import ModuleType
from typing import Any

import optuna
from optuna.distributions import FloatDistribution
from optuna.trial import create_trial

LAM = 1e-12  # nothing but the number of trials ends the study
SPACE = {name: FloatDistribution(0.0, 1.0) for name in "abc"}
COUNTED = {  # what is counted: its names, now and in 0.1
    "fits": ("stopwise.core.beliefs.fit:fit", "stopwise.models.fit:fit"),
    "suprema": ("stopwise.core.snapshot:supremum", "stopwise.snapshot:supremum"),
    "translated": ("stopwise.integrations.optuna._space:Axes.inward",) * 2,
}


def counted() -> Counter[str]:
    """A counter of all calls from now on."""
    counts: Counter[str] = Counter()
    for what, (now, before) in COUNTED.items():
        place, _, name = (now if _exists(now) else before).partition(":")
        owner: Any = importlib.import_module(place)
        *within, name = name.split(".")
        for part in within:
            owner = getattr(owner, part)
        setattr(owner, name, _counting(counts, what, getattr(owner, name)))
    return counts


def _exists(where: str) -> ModuleType | None:
    try:
        return importlib.import_module(where.partition(":")[0])
    except ModuleNotFoundError:
        return None


def _counting(counts: Counter[str], what: str, function: Any) -> Any:  # noqa: ANN401  any function
    def called(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        counts[what] += 1
        return function(*arguments, **named)

    return called


def loss(params: dict[str, float]) -> float:
    return sum((x - 0.4) ** 2 + 0.1 * math.sin(15.0 * x) for x in params.values())


def study_with(finished: int, sampler: optuna.samplers.BaseSampler) -> optuna.Study:
    """A study in memory with so many random trials."""
    rng, study = Random(0), optuna.create_study(sampler=sampler)  # noqa: S311  no secret
    for _ in range(finished):
        params = {name: rng.random() for name in SPACE}
        study.add_trial(create_trial(params=params, distributions=SPACE, value=loss(params)))
    return study


def work(finished: int, trials: int, options: dict[str, str]) -> list[dict[str, float]]:
    """Counts and CPU seconds of each trial, from the end of the one before."""
    from stopwise.integrations.optuna import StopwiseCallback, StopwiseSampler

    acquisition = {"acquisition": options.pop("acquisition")}
    study = study_with(
        finished, StopwiseSampler(LAM, space=SPACE, seed=0, **acquisition, **options)
    )
    counts = counted()
    moments: list[dict[str, float]] = [_moment(counts)]
    study.optimize(
        lambda trial: loss({name: trial.suggest_float(name, 0.0, 1.0) for name in SPACE}),
        n_trials=trials,
        callbacks=[
            StopwiseCallback(LAM, **options),
            lambda *_: moments.append(_moment(counts)),
        ],
    )
    return [{k: after[k] - before[k] for k in after} for before, after in pairwise(moments)]


def _moment(counts: Counter[str]) -> dict[str, float]:
    return {**{what: counts[what] for what in COUNTED}, "seconds": time.process_time()}


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    finished, trials, acquisition, *surrogate = sys.argv[1:]
    options = {"acquisition": acquisition, **({"surrogate": surrogate[0]} if surrogate else {})}
    sys.stdout.write(json.dumps(work(int(finished), int(trials), options)) + "\n")
