# SPDX-License-Identifier: Apache-2.0
"""Fifty trials as they are usually spent: by Optuna's default sampler, or at random without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stopwise.core.space import Integer, Real, as_domain
from stopwise.tools.cli._demo.digits import SPACE

Report = Callable[[float], None]


@dataclass(frozen=True)
class Usual:
    """A search that does not stop by itself.

    Args:
        name: For the table.
        suggest: Gives the next configuration, and a function that is told its value.
    """

    name: str
    suggest: Callable[[], tuple[dict[str, Any], Report]]


def usual_search(seed: int, count: int) -> Usual:
    """Optuna's default where it is installed, random trials elsewhere."""
    return _optuna_default(seed) or _random(seed, count)


def _random(seed: int, count: int) -> Usual:
    """As RandomizedSearchCV(n_iter=50) draws them."""
    domain = as_domain(SPACE)
    draws = iter(domain.decode(np.random.default_rng(seed).random((count, domain.width))))
    return Usual("random trials, really run", lambda: (next(draws), lambda _: None))


def _optuna_default(seed: int) -> Usual | None:
    try:
        import optuna
    except ImportError:
        return None
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    optuna.logging.set_verbosity(verbosity)

    def suggest() -> tuple[dict[str, Any], Report]:
        trial = study.ask()
        params = {name: _suggested(trial, name, kind) for name, kind in SPACE.items()}
        return params, lambda value: (study.tell(trial, value), None)[1]

    return Usual("Optuna's default, really run", suggest)


def _suggested(trial: Any, name: str, kind: object) -> Any:  # noqa: ANN401  Optuna's trial
    if isinstance(kind, Integer):
        return trial.suggest_int(name, kind.low, kind.high, log=kind.log)
    if isinstance(kind, Real):
        return trial.suggest_float(name, kind.low, kind.high, log=kind.log)
    message = f"{name} is neither an integer nor a real number"
    raise TypeError(message)
