# SPDX-License-Identifier: Apache-2.0
"""BoTorch: the loop of its tutorials with LogEI, and with LogEI per predicted cost."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import stopwise as sw
from stopwise_paper.runs.field.contenders.contender import (
    Contender,
    FieldEvaluation,
    Params,
    Setting,
    log_costs_of_rows,
)

_INITIAL = 10  # Sobol points, as in the tutorials
_RESTARTS, _RAW = 10, 512
_ROWS = 2048  # of a table whose acquisition is computed together


class BoTorchLoop:
    """A Gaussian process fitted at every step, and its acquisition maximised.

    Whole numbers and choices are relaxed to columns of the unit cube and rounded. A failed
    evaluation is left out, and not proposed again because the next random stream differs. Of a
    conditional space the cube has all columns, and what does not exist is told at their middle.
    Where a table has costs that are known, the loop per cost is told them and chooses among the
    rows that are not taken.
    """

    def __init__(self, setting: Setting, *, per_cost: bool = False) -> None:
        import torch

        torch.set_num_threads(1)
        self._torch = torch
        self._domain = sw.space.Mixed.of(setting.space)
        self._priced_rows = _PricedRows.of(setting) if per_cost else None
        self._per_cost, self._seed = per_cost, setting.seed
        rng = np.random.default_rng(setting.seed)
        self._design = self._domain.sobol(_INITIAL, rng).tolist()
        self._X: list[Any] = []
        self._y: list[float] = []
        self._costs: list[float] = []
        self._taken: list[Any] = []
        self._asked = 0

    def ask(self) -> Params:
        """A point of the design, or the maximiser of the acquisition."""
        self._asked += 1
        if self._design:
            point = np.array([self._design.pop(0)])
        elif len(self._y) < 2:
            point = self._domain.sobol(1, np.random.default_rng([self._seed, self._asked]))
        elif self._priced_rows is None:
            point = self._best_point()
        else:
            return self._best_row(self._priced_rows)
        return self._domain.decode(point)[0]

    def tell(self, evaluated: FieldEvaluation) -> None:
        """Keep an evaluation that succeeded."""
        params, value, cost = evaluated
        [x] = self._domain.encode(params)
        self._taken.append(x)
        if value is None:
            return
        self._X.append(x)
        self._y.append(value)
        self._costs.append(cost)

    def would_stop(self) -> bool:
        """It has no rule."""
        return False

    def _best_point(self) -> Any:  # noqa: ANN401  an array
        from botorch.optim import optimize_acqf

        torch = self._torch
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            acquisition = self._log_ei()
            if self._per_cost:
                acquisition = _per_expected_cost(acquisition, self._cost_model())
            d = self._domain.width
            bounds = torch.stack([torch.zeros(d), torch.ones(d)]).double()
            points, _ = optimize_acqf(
                acquisition, bounds, q=1, num_restarts=_RESTARTS, raw_samples=_RAW
            )
        return points.numpy()

    def _best_row(self, rows: _PricedRows) -> Params:
        """As ``optimize_acqf_discrete`` chooses one point, by log EI less the log of the cost."""
        torch = self._torch
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")
            log_ei = self._log_ei()
            choices = torch.tensor(rows.table.points, dtype=torch.float64)[:, None, :]
            scores = torch.cat([log_ei(some) for some in choices.split(_ROWS)]).numpy()
        scores = scores - rows.log_costs
        scores[rows.table.index_of(np.array(self._taken))] = -np.inf
        return rows.table.params(int(scores.argmax()))

    def _log_ei(self) -> Any:  # noqa: ANN401  of BoTorch
        from botorch.acquisition import LogExpectedImprovement

        self._torch.manual_seed(self._seed * 1000 + self._asked)
        y = -self._torch.tensor(self._y, dtype=self._torch.float64)[:, None]
        return LogExpectedImprovement(self._model(y), best_f=y.max())

    def _cost_model(self) -> Any:  # noqa: ANN401  of BoTorch
        costs = self._torch.tensor(self._costs, dtype=self._torch.float64)
        return self._model(costs.log()[:, None])

    def _model(self, y: Any) -> Any:  # noqa: ANN401  of BoTorch
        """A Gaussian process fitted to what has succeeded, as in the tutorials."""
        from botorch import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = self._torch.tensor(np.array(self._X), dtype=self._torch.float64)
        with self._torch.enable_grad():
            model = SingleTaskGP(X, y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model


class _PricedRows(NamedTuple):
    """A table and the log of the cost of each row."""

    table: sw.space.Finite
    log_costs: Any

    @classmethod
    def of(cls, setting: Setting) -> _PricedRows | None:
        """None where there is no table, or its costs are not known beforehand."""
        log_costs = log_costs_of_rows(setting)
        if log_costs is None or not isinstance(setting.domain, sw.space.Finite):
            return None
        return cls(setting.domain, log_costs)


def _per_expected_cost(log_ei: Any, log_cost_model: Any) -> Any:  # noqa: ANN401
    """Log EI minus the log of the expected cost, E[c] = exp(m + s^2 / 2)."""

    def acquisition(X: Any) -> Any:  # noqa: ANN401
        posterior = log_cost_model.posterior(X)
        log_cost = posterior.mean + posterior.variance / 2.0
        return log_ei(X) - log_cost.squeeze(-1).squeeze(-1)

    return acquisition


BOTORCH_LOGEI = Contender(
    "BoTorch, LogEI", BoTorchLoop, 50, ("botorch", "gpytorch", "torch"), (20, 50), seeds=3
)
BOTORCH_LOGEI_PER_COST = Contender(
    "BoTorch, LogEI per cost",
    partial(BoTorchLoop, per_cost=True),
    50,
    ("botorch", "gpytorch", "torch"),
    (20, 50),
    seeds=3,
    plays="priced",
)
