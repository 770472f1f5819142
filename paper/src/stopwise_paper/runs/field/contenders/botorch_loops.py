# SPDX-License-Identifier: Apache-2.0
"""BoTorch: the loop of its tutorials with LogEI, and with LogEI per predicted cost."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

import stopwise as sw
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
)

_INITIAL = 10  # Sobol points, as in the tutorials
_RESTARTS, _RAW = 10, 512


class BoTorchLoop:
    """A Gaussian process fitted at every step, and its acquisition maximised over the cube.

    Whole numbers and choices are relaxed to columns of the unit cube and rounded. A failed
    evaluation is left out, and not proposed again because the next random stream differs. Of a
    conditional space the cube has all columns, and what does not exist is told at their middle.
    """

    def __init__(self, setting: Setting, *, per_cost: bool = False) -> None:
        import torch

        torch.set_num_threads(1)
        self._torch = torch
        self._domain = sw.space.Mixed.of(setting.space)
        self._per_cost, self._seed = per_cost, setting.seed
        rng = np.random.default_rng(setting.seed)
        self._design = self._domain.sobol(_INITIAL, rng).tolist()
        self._X: list[Any] = []
        self._y: list[float] = []
        self._costs: list[float] = []
        self._asked = 0

    def ask(self) -> Params:
        """A point of the design, or the maximiser of the acquisition."""
        self._asked += 1
        if self._design:
            point = np.array([self._design.pop(0)])
        elif len(self._y) < 2:
            point = self._domain.sobol(1, np.random.default_rng([self._seed, self._asked]))
        else:
            point = self._best_point()
        return self._domain.decode(point)[0]

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Keep an evaluation that succeeded."""
        params, value, cost = evaluated
        if value is None:
            return
        self._X.append(self._domain.encode(params)[0])
        self._y.append(value)
        self._costs.append(cost)

    def would_stop(self) -> bool:
        """It has no rule."""
        return False

    def _best_point(self) -> Any:  # noqa: ANN401  an array
        from botorch.acquisition import LogExpectedImprovement
        from botorch.optim import optimize_acqf

        torch = self._torch
        torch.manual_seed(self._seed * 1000 + self._asked)
        X = torch.tensor(np.array(self._X), dtype=torch.float64)
        y = -torch.tensor(self._y, dtype=torch.float64)[:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            acquisition: Any = LogExpectedImprovement(_fitted(X, y), best_f=y.max())
            if self._per_cost:
                log_costs = torch.tensor(self._costs, dtype=torch.float64).log()[:, None]
                acquisition = _per_expected_cost(acquisition, _fitted(X, log_costs))
            bounds = torch.stack([torch.zeros(X.shape[1]), torch.ones(X.shape[1])]).double()
            points, _ = optimize_acqf(
                acquisition, bounds, q=1, num_restarts=_RESTARTS, raw_samples=_RAW
            )
        return points.numpy()


def _fitted(X: Any, y: Any) -> Any:  # noqa: ANN401  tensors
    from botorch import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    model = SingleTaskGP(X, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _per_expected_cost(log_ei: Any, log_cost_model: Any) -> Any:  # noqa: ANN401
    """Log EI minus the log of the expected cost, E[c] = exp(m + s^2 / 2)."""

    def acquisition(X: Any) -> Any:  # noqa: ANN401
        posterior = log_cost_model.posterior(X)
        log_cost = posterior.mean + posterior.variance / 2.0
        return log_ei(X) - log_cost.squeeze(-1).squeeze(-1)

    return acquisition


BOTORCH_LOGEI = Contender(
    "BoTorch, LogEI", BoTorchLoop, 50, ("botorch", "gpytorch", "torch"), (20, 50)
)
BOTORCH_LOGEI_PER_COST = Contender(
    "BoTorch, LogEI per cost",
    partial(BoTorchLoop, per_cost=True),
    50,
    ("botorch", "gpytorch", "torch"),
    (20, 50),
)
