# SPDX-License-Identifier: Apache-2.0
"""Fair values and log expected improvements with their derivatives, as nodes of a torch graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from stopwise.core.beliefs.laws import Normal
from stopwise.core.numerics.arrays import Array
from stopwise.core.numerics.normal import log_ei_partials, pbgi_partials
from stopwise.integrations._botorch_belief import UNBOUNDED, Tensor, clipped

Formula = Callable[..., tuple[Array, ...]]


class ClosedForm(torch.autograd.Function):
    """A formula with its partial derivatives, elementwise, as one node of the graph."""

    @staticmethod
    def forward(ctx: Any, formula: Formula, *inputs: Tensor) -> Tensor:  # noqa: ANN401
        """The value; its derivatives are kept for the way back."""
        arrays = [t.detach().cpu().double().numpy() for t in inputs]
        value, *partials = formula(*arrays)
        ctx.save_for_backward(*(torch.as_tensor(p).to(inputs[0]) for p in partials))
        return torch.as_tensor(value).to(inputs[0])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        """The gradient in every input but the formula."""
        return (None, *(gradient * partial for partial in ctx.saved_tensors))


def fair(mean: Array, std: Array, log_cost: Array) -> tuple[Array, ...]:
    """The fair value at a cost, and its partial derivatives."""
    return pbgi_partials(mean, std, np.exp(log_cost))


def log_gain(mean: Array, std: Array, best: Array) -> tuple[Array, ...]:
    """Log expected improvement on the best value, and its partial derivatives."""
    value, d_mean, d_std = log_ei_partials(mean, std, best)
    return value, d_mean, d_std, -d_mean


def fair_within(bounds: tuple[float, float]) -> Formula:
    """The fair value and its partial derivatives, where values lie within bounds."""
    if bounds == UNBOUNDED:
        return fair

    def clipped_fair(mean: Array, std: Array, log_cost: Array) -> tuple[Array, ...]:
        law = clipped(Normal(mean.ravel(), std.ravel()), bounds)
        value, slopes, d_log_cost = law.fair_value(np.exp(log_cost).ravel())
        return tuple(part.reshape(mean.shape) for part in (value, *slopes, d_log_cost))

    return clipped_fair


def log_gain_within(bounds: tuple[float, float]) -> Formula:
    """Log expected improvement and its partial derivatives, where values lie within bounds."""
    if bounds == UNBOUNDED:
        return log_gain

    def clipped_gain(mean: Array, std: Array, best: Array) -> tuple[Array, ...]:
        law, level = clipped(Normal(mean.ravel(), std.ravel()), bounds), best.ravel()
        value, slopes = law.log_ei(level)
        with np.errstate(invalid="ignore"):  # where nothing can be gained
            log_rate = law.log_cdf(level) - value  # the derivative of EI is the cdf
        d_best = np.where(np.isfinite(value), np.exp(log_rate), 0.0)
        return tuple(part.reshape(mean.shape) for part in (value, *slopes, d_best))

    return clipped_gain
