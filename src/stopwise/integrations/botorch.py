# SPDX-License-Identifier: Apache-2.0
"""BoTorch: PBGI and LogEI per cost as acquisition functions, and stopping rules on its models.

Values and derivatives are those of ``stopwise.math``, in closed form. Guide:
docs/how-to/botorch.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stopwise.core.beliefs.belief import Belief, Pricing
from stopwise.core.checks import Bounds, check_within_bounds, checked_bounds, minimised_bounds
from stopwise.core.exchange_rate import check_lam
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Candidates, Mixed, Real
from stopwise.core.traces import Trace
from stopwise.errors import InputError, MissingExtraError
from stopwise.stopping import StoppingRule, make_rule, traits_of
from stopwise.stopping.verdict import Verdict

try:
    import torch
    from botorch.acquisition.analytic import AnalyticAcquisitionFunction
    from botorch.models.model import Model
    from botorch.utils.transforms import (
        average_over_ensemble_models,
        is_ensemble,
        t_batch_mode_transform,
    )
except ImportError as error:
    raise MissingExtraError.of(
        "botorch", extra="botorch", purpose="stopwise.integrations.botorch", cause=error
    ) from error

from stopwise.integrations._botorch_belief import (
    Cost,
    InputMap,
    ModelPosterior,
    ModelPrice,
    Tensor,
    check_costs,
    log_price,
)
from stopwise.integrations._botorch_formulas import ClosedForm, fair_within, log_gain_within

__all__ = ["LogExpectedImprovementPerCost", "PandorasBoxGittinsIndex", "StopwiseStopper"]

_LEAST_VARIANCE = 1e-24  # BoTorch's own 1e-12 is a deviation of 1e-6, not small for every unit


class _Priced(AnalyticAcquisitionFunction):
    """The base of both acquisition functions: an objective, minimised inside, and a price."""

    def __init__(
        self,
        model: Model,
        cost: Cost,
        cost_model: Model | None,
        posterior_transform: Any,  # noqa: ANN401
        *,
        maximize: bool,
        value_bounds: Bounds | None,
    ) -> None:
        super().__init__(model=model, posterior_transform=posterior_transform)
        check_costs(cost, cost_model)
        self.within = minimised_bounds(checked_bounds(value_bounds), -1.0 if maximize else 1.0)
        self.cost = cost
        self.cost_model = cost_model
        self.maximize = maximize

    def _minimised(self, X: Tensor, pricing: Pricing) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and deviation, minimised, and log price, of one shape."""
        mean, std = self._mean_and_sigma(X, min_var=_LEAST_VARIANCE)
        price = log_price(X.squeeze(-2), self.cost, self.cost_model, pricing)
        price = price.reshape(*price.shape, *(1,) * (mean.dim() - price.dim()))
        return (-mean if self.maximize else mean), std, price.expand_as(mean)


class PandorasBoxGittinsIndex(_Priced):
    r"""Fair value of a point: the g at which EI over g is :math:`\lambda c(x)`.

    Maximising, that is :math:`E[(f(x) - g)^+] = \lambda c(x)`; minimising, the value is -g. Either
    way the point with the highest value is evaluated next, and no point is worth its price once no
    fair value is better than the best observation. Over an ensemble of models it is averaged.

    Args:
        model: A fitted model with one outcome.
        lam: What a unit of cost is worth, in units of the objective.
        cost: A function from X to known costs, ``... x d -> ...``; 1 everywhere if left out.
        cost_model: Instead, a fitted model of *log* cost; its E[c] counts.
        posterior_transform: As in BoTorch.
        maximize: As in BoTorch.
        value_bounds: ``(low, high)``, either may be None: no value is beyond them.

    References:
        Xie et al. (2024); Xie et al. (2026), Eq. 3.
    """

    def __init__(
        self,
        model: Model,
        lam: float,
        *,
        cost: Cost = None,
        cost_model: Model | None = None,
        posterior_transform: Any = None,  # noqa: ANN401
        maximize: bool = True,
        value_bounds: Bounds | None = None,
    ) -> None:
        super().__init__(
            model,
            cost,
            cost_model,
            posterior_transform,
            maximize=maximize,
            value_bounds=value_bounds,
        )
        check_lam(lam)
        self.lam = lam

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models
    def forward(self, X: Tensor) -> Tensor:
        """Fair values at X, ``b x 1 x d -> b``; higher is better."""
        mean, std, price = self._minimised(X, "exp")
        formula = fair_within(self.within)
        return -ClosedForm.apply(formula, mean, std, price + math.log(self.lam)).squeeze(-1)


class LogExpectedImprovementPerCost(_Priced):
    r"""Gain per price, :math:`\log \mathrm{EI}(x) - \log c(x)`.

    Args:
        model: A fitted model with one outcome.
        best_f: The value to improve on.
        cost: A function from X to known costs, ``... x d -> ...``; 1 everywhere if left out.
        cost_model: Instead, a fitted model of *log* cost.
        pricing: How an uncertain price enters: ``"exp"`` by E[c], on which the guarantees rest,
            or ``"inv"`` by 1/E[1/c].
        posterior_transform: As in BoTorch.
        maximize: As in BoTorch.
        value_bounds: ``(low, high)``, either may be None: no value is beyond them.

    References:
        Ament et al. (2023); Xie et al. (2026), Eq. 4.
    """

    _log = True

    def __init__(
        self,
        model: Model,
        best_f: float | Tensor,
        *,
        cost: Cost = None,
        cost_model: Model | None = None,
        pricing: Pricing = "exp",
        posterior_transform: Any = None,  # noqa: ANN401
        maximize: bool = True,
        value_bounds: Bounds | None = None,
    ) -> None:
        super().__init__(
            model,
            cost,
            cost_model,
            posterior_transform,
            maximize=maximize,
            value_bounds=value_bounds,
        )
        if pricing not in ("exp", "inv"):
            message = f"pricing={pricing!r}: give 'exp' (by E[c]) or 'inv' (by 1/E[1/c])."
            raise InputError(message)
        self.pricing = pricing
        # A float as torch would take it is rounded to float32, which is above some best values.
        exact = {} if isinstance(best_f, torch.Tensor) else {"dtype": torch.float64}
        self.register_buffer("best_f", torch.as_tensor(best_f, **exact))

    @t_batch_mode_transform(expected_q=1)
    @average_over_ensemble_models
    def forward(self, X: Tensor) -> Tensor:
        """Log gain per price at X, ``b x 1 x d -> b``."""
        mean, std, price = self._minimised(X, self.pricing)
        best = (-self.best_f if self.maximize else self.best_f).to(mean)
        best = best.reshape(*best.shape, *(1,) * (mean.dim() - best.dim())).expand_as(mean)
        formula = log_gain_within(self.within)
        return (ClosedForm.apply(formula, mean, std, best) - price).squeeze(-1)


class StopwiseStopper:
    """Stopping rules for a loop that you write, on BoTorch models that you fit.

    Any fitted model with one outcome will do, with its transforms. Rules that need only means,
    deviations and prices are supported: pbgi, logeipc-med, ucb-lcb, gss, convergence, immediate
    and fixed, also wrapped. Not supported are srgap-med, prb and PBGI before the update.

    Args:
        bounds: The box that is searched, 2 x d; give this or ``choices``.
        choices: The points among which one is chosen, N x d.
        lam: What a unit of cost is worth, in units of the objective.
        stopping: A name or a rule, as for ``sw.Study``.
        cost: A function from X to known costs, ``... x d -> ...``; 1 everywhere if left out.
        maximize: As in BoTorch.
        value_bounds: ``(low, high)``, either may be None: no value is beyond them. (``bounds`` are
            those of the box, as in BoTorch.)
        noisy: Whether observations are noisy: points are then judged by their posterior mean, and
            an improvement by the uncertainty of the difference to the best.
        initial: Number of observations in the initial design; by default those of the first call
            of ``should_stop``.
        seed: Seed of the searches for suprema.
    """

    def __init__(
        self,
        bounds: Tensor | None = None,
        *,
        choices: Tensor | None = None,
        lam: float | None = None,
        stopping: str | StoppingRule = "pbgi",
        cost: Cost = None,
        maximize: bool = True,
        value_bounds: Bounds | None = None,
        noisy: bool = False,
        initial: int | None = None,
        seed: int = 0,
    ) -> None:
        self._input_map = _input_map(bounds, choices)
        rule = make_rule(stopping, lam)
        _check_answerable(rule)
        self.rule = rule
        self.trace = Trace()
        self.initial = initial
        self._cost = cost
        self._sign = -1.0 if maximize else 1.0
        self._value_bounds = checked_bounds(value_bounds)
        self._noisy = noisy
        self._seed = seed

    def should_stop(
        self,
        model: Model,
        train_X: Tensor,
        train_Y: Tensor,
        *,
        cost_model: Model | None = None,
        X_pending: Tensor | None = None,
    ) -> Verdict:
        """Whether to stop, and why.

        Another call at the same number of observations replaces the signal that was recorded.

        Args:
            model: The model, fitted to the data.
            train_X: Evaluated points, n x d, in order.
            train_Y: Their values, n x 1.
            cost_model: A fitted model of *log* cost, if the cost is learned.
            X_pending: Points that are being evaluated.
        """
        check_costs(self._cost, cost_model)
        if is_ensemble(model):
            message = "the model is an ensemble; a rule needs one posterior. Give a SingleTaskGP."
            raise InputError(message)
        snapshot = self._snapshot(model, train_X, train_Y, cost_model, X_pending)
        signal = self.rule.signal(snapshot)
        self.trace = Trace.of((*self.trace.upto(snapshot.n - 1).signals, signal))
        return self.rule.verdict(self.trace)

    def _snapshot(
        self,
        model: Model,
        train_X: Tensor,
        train_Y: Tensor,
        cost_model: Model | None,
        X_pending: Tensor | None,
    ) -> Snapshot:
        y = self._sign * train_Y.detach().cpu().double().numpy().reshape(-1)
        if len(y) != len(train_X) or not len(y):
            message = (
                f"train_X has shape {tuple(train_X.shape)} and train_Y {tuple(train_Y.shape)}:"
                " give one value per point, n x d and n x 1, and at least one."
            )
            raise InputError(message)
        self.initial = len(y) if self.initial is None else self.initial
        for value in self._sign * y:
            check_within_bounds("an observation", float(value), self._value_bounds)
        objective = ModelPosterior(
            model,
            self._input_map,
            y,
            self._sign,
            not self._noisy,
            bounds=minimised_bounds(self._value_bounds, self._sign),
        )
        price = ModelPrice(self._input_map, self._cost, cost_model)
        return Snapshot(
            self._input_map.domain,
            self._encoded(train_X),
            y,
            Belief(objective, price),
            self._encoded(train_X[:0] if X_pending is None else X_pending),
            initial=self.initial,
            seed=self._seed,
        )

    def _encoded(self, X: Tensor) -> Array:
        """Points of the model as rows of the unit cube; points outside the space are refused."""
        domain = self._input_map.domain
        if not len(X):
            return np.empty((0, domain.width))
        return domain.encode(_named(X))


def _input_map(bounds: Tensor | None, choices: Tensor | None) -> InputMap:
    if (bounds is None) == (choices is None):
        message = "give bounds (2 x d) for a box, or choices (N x d) for a list of points."
        raise InputError(message)
    if choices is not None:
        domain = Candidates(_named(choices)).domain
        rows = [list(domain.params(i).values()) for i in range(len(domain))]
        inputs = torch.tensor(rows, dtype=choices.dtype, device=choices.device)
        return InputMap(domain, inputs, inputs)
    low, high = torch.as_tensor(bounds)
    box = {
        f"x{i}": Real(float(lo), float(hi))
        for i, (lo, hi) in enumerate(zip(low, high, strict=True))
    }
    return InputMap(Mixed.of(box), low, high)


def _named(X: Tensor) -> list[dict[str, float]]:
    return [{f"x{i}": value for i, value in enumerate(row)} for row in X.detach().tolist()]


def _check_answerable(rule: StoppingRule) -> None:
    needs = traits_of(rule).signal.beyond_marginals
    if needs:
        message = (
            f"the rule {rule!r} needs {needs}, which a BoTorch model does not give; use sw.Study"
            " for it, or one of pbgi, logeipc-med, ucb-lcb, gss, convergence."
        )
        raise InputError(message)
