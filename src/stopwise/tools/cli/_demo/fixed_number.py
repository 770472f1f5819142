# SPDX-License-Identifier: Apache-2.0
"""What the demo is compared with: a fixed number of trials, really run.

By Optuna's default sampler where Optuna is installed, and else drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from stopwise.core.space import Integer, Real, as_domain
from stopwise.study.loop import evaluate
from stopwise.tools.cli._demo.digits import SPACE

Objective = Callable[[dict[str, Any]], float]
Tell = Callable[[float], None]
FIXED = 50  # a usual number of trials without a stopping rule


@dataclass(frozen=True)
class Summary:
    """A finished search.

    Args:
        name: Who chose.
        trials: How many there were.
        seconds: What they took.
        best: The best value.
    """

    name: str
    trials: int
    seconds: float
    best: float


def fixed_number(
    objective: Objective, seed: int, console: Console, *, count: int, most_seconds: float
) -> Summary:
    """Run ``count`` trials, while time lasts."""
    name, asked = proposals(seed, count)
    values: list[float] = []
    seconds = 0.0
    watched = console.is_terminal
    what = f"{name}, to compare"
    for params, tell in track(
        asked, what, total=count, console=console, transient=True, disable=not watched
    ):
        evaluated = evaluate(objective, params)
        values.append(float(evaluated.returned))
        tell(values[-1])
        seconds += evaluated.seconds
        if seconds > most_seconds:
            break
    return Summary(name, len(values), seconds, min(values))


def proposals(seed: int, count: int) -> tuple[str, Iterator[tuple[dict[str, Any], Tell]]]:
    """Who chooses, and the configurations, each with whom to tell its value."""
    try:
        import optuna
    except ImportError:
        return "random trials", _at_random(seed, count)
    said = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # or it says that a study was created
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    optuna.logging.set_verbosity(said)
    return "Optuna's default (TPE)", _of_optuna(study, count)


def _at_random(seed: int, count: int) -> Iterator[tuple[dict[str, Any], Tell]]:
    """As ``RandomizedSearchCV(n_iter=count)`` draws them."""
    domain = as_domain(SPACE)
    for params in domain.decode(np.random.default_rng(seed).random((count, domain.width))):
        yield params, lambda _: None


def _of_optuna(study: Any, count: int) -> Iterator[tuple[dict[str, Any], Tell]]:  # noqa: ANN401
    """As ``study.optimize(objective, n_trials=count)`` has them chosen."""
    for _ in range(count):
        trial = study.ask()
        params = {}
        for name, one in SPACE.items():
            if isinstance(one, Integer):
                params[name] = trial.suggest_int(name, one.low, one.high, log=one.log)
            elif isinstance(one, Real):
                params[name] = trial.suggest_float(name, one.low, one.high, log=one.log)
        yield params, partial(study.tell, trial)
