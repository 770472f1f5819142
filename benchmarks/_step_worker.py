# SPDX-License-Identifier: Apache-2.0
"""A process that takes steps of studies when it is asked to, and says how long their parts took.

It knows public names alone, those of version 0.1, so that it runs on any version of the package.
Each line that it reads is a case, a surrogate and a seed in JSON; each that it writes, CPU seconds
of the parts of a step, in the mean over a few steps.
"""

import json
import math
import sys
import time
from functools import cache
from random import Random
from typing import Any

import stopwise as sw

STEPS = 4  # that are timed together: where a search ends is a matter of chance
PARTS = ("tell", "fit", "signal", "ask")
LAM = 1e-5


def value(params: dict[str, Any]) -> float:
    """A bowl with ripples; categories count by their names' lengths."""
    x = [float(len(p)) if isinstance(p, str) else float(p) for p in params.values()]
    bowl = sum((v - 0.4) ** 2 * (1.0 + i) for i, v in enumerate(x))
    return bowl + 0.3 * sum(math.sin(7.0 * v + i) for i, v in enumerate(x))


@cache
def space(kind: str, size: int) -> Any:  # noqa: ANN401  whatever a study takes
    """A box or a mixed space of so many parameters, or a table of so many rows."""
    if kind == "box":
        return {f"x{i}": sw.Real(0.0, 1.0) for i in range(size)}
    if kind == "mixed":
        kinds = (
            lambda: sw.Real(0.0, 1.0),
            lambda: sw.Integer(0, 5),
            lambda: sw.Categorical(["a", "bb", "ccc"]),
        )
        return {f"x{i}": kinds[i % len(kinds)]() for i in range(size)}
    return sw.Candidates(rows(size))


@cache
def rows(size: int) -> list[dict[str, float]]:
    """A table of four columns."""
    random = Random(0)  # noqa: S311  no secrets
    return [{f"x{i}": random.random() for i in range(4)} for _ in range(size)]


def drawn(kind: str, size: int, n: int, seed: int) -> list[dict[str, Any]]:
    """The first points of a study, drawn at random."""
    random = Random(seed)  # noqa: S311  no secrets
    if kind == "table":
        return random.sample(rows(size), n)

    def draw(parameter: Any) -> Any:  # noqa: ANN401  of any kind
        if isinstance(parameter, sw.Categorical):
            return random.choice(["a", "bb", "ccc"])
        return random.randint(0, 5) if isinstance(parameter, sw.Integer) else random.random()

    return [{name: draw(p) for name, p in space(kind, size).items()} for _ in range(n)]


def step(kind: str, size: int, n: int, surrogate: str | None, seed: int) -> dict[str, float]:
    """Mean CPU seconds of the parts of a step after n observations."""
    options = {} if surrogate is None else {"surrogate": surrogate}
    study = sw.Study(space(kind, size), lam=LAM, seed=seed, max_trials=10 * n + 100, **options)
    for params in drawn(kind, size, n - 1, seed):
        study.tell(params, value(params))
    study.should_stop()
    trial = study.ask()
    seconds = dict.fromkeys(PARTS, 0.0)
    for _ in range(STEPS):
        times = [time.process_time()]
        study.tell(trial, value(trial.params))
        times.append(time.process_time())
        study.snapshot()
        times.append(time.process_time())
        study.should_stop()
        times.append(time.process_time())
        trial = study.ask()
        times.append(time.process_time())
        for part, begin, end in zip(PARTS, times[:-1], times[1:], strict=True):
            seconds[part] += (end - begin) / STEPS
    return seconds


def search_as_in_0_1() -> None:
    """Search for suprema as 0.1 did, to tell what thorougher searches cost."""
    import numpy as np

    from stopwise.core.search import supremum

    def none_close(_score: object, domain: Any, _rng: object, **_options: object) -> Any:  # noqa: ANN401
        return np.empty((0, domain.width))

    for name, value in (("FEW", 0), ("_ENTRANTS", 4), ("close_starts", none_close)):
        setattr(supremum, name, value)


def main() -> None:
    if "--search-as-in-0.1" in sys.argv:
        search_as_in_0_1()
    for line in sys.stdin:
        print(json.dumps(step(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
