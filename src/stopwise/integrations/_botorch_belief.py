# SPDX-License-Identifier: Apache-2.0
"""A fitted BoTorch model as a ``Surrogate``, the model of the objective that stopping rules ask.

Laws and prices at points of the unit cube come from the model's posterior, their gradients from
autograd.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from botorch.models.model import Model
from botorch.utils.transforms import is_ensemble

from stopwise.core.beliefs.belief import Pricing
from stopwise.core.beliefs.laws import Bounded, Law, Normal
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.lognormal import log_harmonic_mean, log_mean
from stopwise.core.space import Domain, Finite
from stopwise.errors import InputError

Tensor: TypeAlias = Any  # torch is not followed by the type checker
Cost: TypeAlias = Callable[[Tensor], Tensor] | None
UNBOUNDED = (-np.inf, np.inf)
Moments: TypeAlias = Callable[[Tensor], tuple[Tensor, Tensor]]


def check_costs(cost: Cost, cost_model: Model | None) -> None:
    """Refuse a cost beside a cost model, and an ensemble as the cost model."""
    if cost is not None and cost_model is not None:
        message = "cost and cost_model both say what an evaluation costs: give one of them."
        raise InputError(message)
    if cost_model is not None and is_ensemble(cost_model):
        message = "the cost model is an ensemble; give one model of log cost, a SingleTaskGP say."
        raise InputError(message)


def clipped(normal: Normal, bounds: tuple[float, float]) -> Law:
    """The law within bounds; the normal itself if there are none."""
    return normal if bounds == UNBOUNDED else Bounded(normal, *bounds)


def deviation(variance: Tensor) -> Tensor:
    """Square root of a variance; at zero its derivative is zero, not infinite."""
    return variance.clamp_min(torch.finfo(variance.dtype).tiny).sqrt()


def log_cost(X: Tensor, cost: Cost, cost_model: Model | None) -> tuple[Tensor, Tensor]:
    """Mean and deviation of ln c at X, ... x d; the deviation of a known cost is zero.

    The deviation of a learned cost is the predictive one, noise included, because the cost that
    is paid varies by it.
    """
    if cost_model is not None:
        posterior = cost_model.posterior(X.unsqueeze(-2), observation_noise=True)
        return posterior.mean[..., 0, 0], deviation(posterior.variance[..., 0, 0])
    if cost is None:
        return X.new_zeros(X.shape[:-1]), X.new_zeros(X.shape[:-1])
    paid = torch.as_tensor(cost(X)).to(X).reshape(X.shape[:-1])
    bad = ~(torch.isfinite(paid) & (paid > 0))
    if bool(bad.any()):
        message = (
            f"a cost must be positive and finite: cost(X) gave {paid[bad].flatten()[0].item()!r}"
            f" at X = {X[bad].reshape(-1, X.shape[-1])[0].tolist()}."
        )
        raise InputError(message)
    return paid.log(), torch.zeros_like(paid)


def log_price(X: Tensor, cost: Cost, cost_model: Model | None, pricing: Pricing) -> Tensor:
    """Log of E[c], or of 1/E[1/c] for ``"inv"``, at X, ... x d."""
    mean, std = log_cost(X, cost, cost_model)
    return log_mean(mean, std) if pricing == "exp" else log_harmonic_mean(mean, std)


@dataclass(frozen=True)
class InputMap:
    """From points of the unit cube to the model's inputs.

    Args:
        domain: A box, or a list of points.
        low: Lower bounds, d; or the inputs of all points of a list, N x d.
        high: Upper bounds.
    """

    domain: Domain
    low: Tensor
    high: Tensor

    def inputs(self, U: Tensor) -> Tensor:
        """The model's inputs at encoded points; differentiable on a box."""
        if isinstance(self.domain, Finite):
            return self.low[self.domain.index_of(U.detach().cpu().numpy())]
        return self.low + U * (self.high - self.low)

    def moments(self, moments: Moments, U: Array) -> Normal:
        """Mean and deviation at encoded points."""
        with torch.no_grad():
            mean, std = moments(self.inputs(self.tensor(U)))
        return Normal(_numpy(mean), _numpy(std))

    def with_gradient(self, moments: Moments, U: Array) -> tuple[Normal, Array, Array]:
        """The same with gradients in the encoded points."""
        points = self.tensor(U).requires_grad_(True)  # noqa: FBT003  torch's signature
        mean, std = moments(self.inputs(points))
        slopes = [
            torch.autograd.grad(part.sum(), points, retain_graph=True, allow_unused=True)[0]
            if part.requires_grad
            else None
            for part in (mean, std)
        ]
        d_mean, d_std = (np.zeros(U.shape) if s is None else _numpy(s) for s in slopes)
        return Normal(_numpy(mean), _numpy(std)), d_mean, d_std

    def tensor(self, U: Array) -> Tensor:
        """Encoded points as a tensor of the model's kind."""
        return torch.as_tensor(np.array(U)).to(self.low)


def _numpy(tensor: Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().double().numpy())


@dataclass(frozen=True)
class ModelPosterior:
    """A BoTorch model as a ``Surrogate``, minimised.

    Args:
        model: Fitted, with one outcome.
        chart: From the unit cube to the model's inputs.
        y: The observed values, minimised.
        sign: 1 to minimise, -1 to maximise.
        exact: Whether observations are exact.
        reference: An input of the model; deviations are then those of f(x) - f(reference).
        bounds: The lowest and the highest possible value, minimised; laws are clipped to them.
    """

    model: Model
    chart: InputMap
    y: Array
    sign: float
    exact: bool
    reference: Tensor | None = None
    bounds: tuple[float, float] = UNBOUNDED

    def __len__(self) -> int:
        """Number of observations."""
        return len(self.y)

    def law(self, U: Array) -> Law:
        """The normal law at encoded points, within the bounds."""
        return clipped(self.chart.moments(self._moments, U), self.bounds)

    def law_with_gradient(self, U: Array) -> tuple[Law, tuple[Array, Array]]:
        """The same with gradients of mean and deviation."""
        normal, d_mean, d_std = self.chart.with_gradient(self._moments, U)
        return clipped(normal, self.bounds), (d_mean, d_std)

    def relative_to(self, u: Array, value: float) -> ModelPosterior:  # noqa: ARG002  its own mean
        """The model as seen from an encoded point u: means of f, deviations of f - f(u)."""
        reference = self.chart.inputs(self.chart.tensor(u[None, :]))[0]
        return replace(self, reference=reference)

    @cached_property
    def unit(self) -> float:
        """The deviation of the observed values."""
        return Standardiser.of(self.y).scale

    @property
    def resolution(self) -> float:
        """Zero, because the effect of the model's jitter is not known."""
        return 0.0

    @property
    def column_lengthscales(self) -> Array:
        """The width of the cube, because a model in general does not state its length scales."""
        return np.ones(self.chart.domain.width)

    def _moments(self, X: Tensor) -> tuple[Tensor, Tensor]:
        if self.reference is None:
            posterior = self.model.posterior(X.unsqueeze(-2))
            mean = posterior.mean[..., 0, 0]
            return self.sign * mean, deviation(posterior.variance[..., 0, 0])
        pairs = torch.stack([X, self.reference.expand_as(X)], dim=-2)
        posterior = self.model.posterior(pairs)
        c = posterior.distribution.covariance_matrix
        variance = c[..., 0, 0] + c[..., 1, 1] - 2.0 * c[..., 0, 1]
        return self.sign * posterior.mean[..., 0, 0], deviation(variance)


@dataclass(frozen=True)
class ModelPrice:
    """A cost, or a model of log cost, as a ``Price``."""

    chart: InputMap
    cost: Cost
    cost_model: Model | None

    def log_cost(self, U: Array) -> Normal:
        """Mean and deviation of ln c at encoded points."""
        return self.chart.moments(self._moments, U)

    def log_cost_with_gradient(self, U: Array) -> tuple[Normal, Array, Array]:
        """The same with gradients."""
        return self.chart.with_gradient(self._moments, U)

    def _moments(self, X: Tensor) -> tuple[Tensor, Tensor]:
        return log_cost(X, self.cost, self.cost_model)
