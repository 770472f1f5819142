# SPDX-License-Identifier: Apache-2.0
"""A whole step (tell, fit, signal, ask) against BoTorch and Optuna's GPSampler, quality beside it.

Everybody is told the same n - 1 observations in 8 dimensions and makes a suggestion, which is not
timed; then come the steps. Ours: tell, ask whether to stop, ask for the next point; with the plain
model and with the default one. BoTorch: a fit from the last hyper-parameters and one supremum of
log EI, which is signal and choice together. Optuna: tell and ask of its GPSampler, which has no
signal. Beyond 100 observations a study fits at fixed sizes only, and n is such a size: the first
step has a fit, the further ones have none; the others fit in every step.

- ms: CPU milliseconds, one thread for everybody, medians over drawn functions.
- faster by: the other's step over ours, medians and quartiles over the same functions.
- lowest: the lowest value after the steps, in standard deviations of the function's values above
  the lowest that anybody found, in the mean over functions.

``fit + supremum`` is the part of ours until it is known whether to stop, against the same steps.
Wanted are factors for it and for a step with a fit, so a step without one has no target.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import stopwise as sw
from benchmarks import Row, _wanted
from benchmarks.suprema import (
    RAW,
    RESTARTS,
    D,
    botorch_fit,
    optuna_distributions,
    optuna_study,
)
from stopwise.core.beliefs.refits import RefitAtSizes
from stopwise.core.numerics.threads import one_blas_thread
from tests.support.landscapes import hilly

Array = NDArray[np.float64]
LAM = 1e-8
STEPS = 4
OURS = ("ours, plain", "ours, default")


class Stepper(Protocol):
    """Somebody who is told a value and says where to evaluate next."""

    def first(self) -> Array:
        """The first suggestion."""
        ...

    def step(self, value: float) -> Array:
        """Tell the value of the last suggestion, and make the next one."""
        ...


@dataclass
class Timed:
    """What the steps of one contender on one function took and came to."""

    fitted: float
    without: float
    decided: float  # ours only: with a fit, until it is known whether to stop
    lowest: float


def run(*, quick: bool) -> list[Row]:
    import optuna
    import torch

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    torch.set_num_threads(1)
    rows: list[Row] = []
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")  # what others warn of is not timed
        for n, functions in [(100, 2)] if quick else [(100, 9), (500, 3)]:
            rows += rows_at(n, functions)
    return rows


def rows_at(n: int, functions: int) -> list[Row]:
    """Rows of all contenders at about n observations; a first function only warms up."""
    size = RefitAtSizes().latest(n)
    found: dict[str, list[Timed]] = {name: [] for name in CONTENDERS}
    for seed in range(functions + 1):
        rng, function = hilly(seed, D)
        X = rng.random((size - 1, D))
        y, spread = function(X), float(np.std(function(rng.random((1000, D)))))
        timed = {name: _timed(make(X, y), function, y) for name, make in CONTENDERS.items()}
        least = min(one.lowest for one in timed.values())
        for one in timed.values():
            one.lowest = (one.lowest - least) / spread
        if seed:
            for name, one in timed.items():
                found[name].append(one)
    return [{"n": size, **row} for name in found for row in _rows(n, name, found)]


def _timed(stepper: Stepper, function: Callable[[Array], Array], y: Array) -> Timed:
    x = stepper.first()
    lowest, seconds = float(y.min()), []
    decided = 0.0
    for i in range(STEPS):
        value = float(function(x[None, :])[0])
        lowest = min(lowest, value)
        begin = time.process_time()
        x = stepper.step(value)
        seconds.append(time.process_time() - begin)
        if i == 0 and isinstance(stepper, Ours):
            decided = stepper.decided - begin
    lowest = min(lowest, float(function(x[None, :])[0]))
    return Timed(seconds[0], statistics.median(seconds[1:]), decided, lowest)


def _rows(n: int, name: str, found: dict[str, list[Timed]]) -> list[Row]:
    own = found[name]
    if name not in OURS:
        everything = [s for one in own for s in (one.fitted, one.without)]
        return [_row("step", name, everything, own)]
    rows = []
    wanted: dict[tuple[int, str], float]
    for what, seconds, wanted in (
        ("fit + supremum", [one.decided for one in own], _wanted.FIT_AND_SUPREMUM),
        ("step with a fit", [one.fitted for one in own], _wanted.STEP),
        ("step without", [one.without for one in own], {}),
    ):
        row = _row(what, name, seconds, own)
        for other in ("BoTorch", "Optuna"):
            ratios = [
                (theirs.fitted + theirs.without) / 2 / mine
                for theirs, mine in zip(found[other], seconds, strict=True)
            ]
            low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
            row[f"faster than {other} by"] = f"{middle:.1f} ({low:.1f} to {high:.1f})"
            target = _wanted.at_least(middle, wanted.get((n, other.lower())))
            row |= {f"{column}, {other}": text for column, text in target.items()}
        rows.append(row)
    return rows


def _row(what: str, name: str, seconds: list[float], own: list[Timed]) -> Row:
    return {
        "what": what,
        "who": name,
        "ms": f"{1e3 * statistics.median(seconds):.1f}",
        "lowest": f"{statistics.mean(one.lowest for one in own):.3f}",
        **{
            f"{column} {other}{more}": ""
            for other in ("BoTorch", "Optuna")
            for column, more in (("faster than", " by"), ("wanted,", ""), ("met,", ""))
        },
    }


# ------------------------------------------------------------------------------- contenders


class Ours:
    """A study."""

    def __init__(self, X: Array, y: Array, surrogate: str) -> None:
        space = {f"x{i}": sw.Real(0.0, 1.0) for i in range(D)}
        self.study = sw.Study(space, lam=LAM, seed=0, surrogate=surrogate, max_trials=10 * len(y))
        self.decided = 0.0
        for x, value in zip(X, y, strict=True):
            self.study.tell(dict(zip(space, map(float, x), strict=True)), float(value))

    def first(self) -> Array:
        """Ask both questions once."""
        self.study.should_stop()
        return self._ask()

    def step(self, value: float) -> Array:
        """Tell, signal, ask."""
        self.study.tell(self._trial, value)
        self.study.should_stop()
        self.decided = time.process_time()
        return self._ask()

    def _ask(self) -> Array:
        self._trial = self.study.ask()
        return np.array(list(self._trial.params.values()), dtype=float)


@dataclass
class BoTorch:
    """Fit and supremum with BoTorch, from the hyper-parameters of the step before."""

    X: Array
    y: Array
    state: dict[str, Any] | None = field(default=None)

    def first(self) -> Array:
        """A cold fit."""
        from botorch.acquisition.analytic import LogExpectedImprovement
        from botorch.optim import optimize_acqf
        from torch import tensor

        model, best = botorch_fit(self.X, self.y, self.state)
        self.state = model.covar_module.state_dict()
        bounds = tensor([[0.0] * D, [1.0] * D]).double()
        found, _ = optimize_acqf(LogExpectedImprovement(model, best), bounds, 1, RESTARTS, RAW)
        self._x = np.asarray(found.detach().numpy()[0], dtype=float)
        return self._x

    def step(self, value: float) -> Array:
        """The same with one observation more."""
        self.X, self.y = np.vstack([self.X, self._x]), np.append(self.y, value)
        return self.first()


class Optuna:
    """Tell and ask of Optuna's GPSampler."""

    def __init__(self, X: Array, y: Array) -> None:
        self.study = optuna_study(X, y)

    def first(self) -> Array:
        """Ask."""
        self._trial = self.study.ask(optuna_distributions())
        return np.array([self._trial.params[f"x{i}"] for i in range(D)])

    def step(self, value: float) -> Array:
        """Tell and ask."""
        self.study.tell(self._trial, value)
        return self.first()


CONTENDERS: dict[str, Callable[[Array, Array], Stepper]] = {
    "ours, plain": lambda X, y: Ours(X, y, "plain"),
    "ours, default": lambda X, y: Ours(X, y, "default"),
    "BoTorch": BoTorch,
    "Optuna": Optuna,
}
