# SPDX-License-Identifier: Apache-2.0
"""The plain model: one Gaussian process at its likeliest hyper-parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from stopwise.core.beliefs.fit import NUGGET, fit_posterior
from stopwise.core.beliefs.foresight import Seen
from stopwise.core.beliefs.gp import Posterior, condition
from stopwise.core.beliefs.hyperparameters import Hyperparameters, ObjectiveFit
from stopwise.core.beliefs.models.model import DEFAULT_PRIOR, Data
from stopwise.core.beliefs.standardiser import Standardiser
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.beliefs.warps import DEFAULT_WARP, Clipped, Warp

_MOST_NOISE = 1e100  # standardised variance of an observation that says nothing of f


@dataclass(frozen=True, slots=True)
class PlainModel:
    """One posterior, no warp: the belief of version 0.1.

    Args:
        nugget: Standardised variance on the diagonal where observations are exact.
    """

    nugget: float = NUGGET
    name: ClassVar[str] = "plain"
    prior: ClassVar[str | None] = DEFAULT_PRIOR

    def fit(
        self,
        data: Data,
        start: ObjectiveFit | None,
        seen: Sequence[Seen],  # noqa: ARG002  one interface; there is nothing to weigh
    ) -> Posterior:
        """Fit the hyper-parameters."""
        return fit_component(data, start.components[0] if start else None, nugget=self.nugget)

    def as_fitted(self, data: Data, fitted: ObjectiveFit) -> Posterior:
        """Condition on the data."""
        return condition_component(data, fitted.components[0])

    def weighed(self, surrogate: Updatable, seen: Sequence[Seen]) -> Updatable:  # noqa: ARG002
        """Unchanged."""
        return surrogate


def fit_component(
    data: Data,
    start: Hyperparameters | None,
    *,
    warp: Warp = DEFAULT_WARP,
    nugget: float = NUGGET,
) -> Posterior:
    """A posterior of the data under a warp, within their bounds.

    A given noise far below the spread of the values is raised to the nugget of exact observations;
    one far above is lowered to where an observation still says nothing.
    """
    within = bounded(warp, data.bounds)
    if data.noise is None:
        variance: float | None = nugget
    elif data.noise == "learn":
        variance = None
    else:  # in units of the warp, whose slope is 1 about the better values
        scale = Standardiser.of(within.forward(data.y)).scale
        variance = min(max(float(data.noise) / scale**2, NUGGET), _MOST_NOISE)
    return fit_posterior(
        data.X,
        data.y,
        groups=data.groups,
        warp=within,
        noise=variance,
        prior=data.prior,
        start=start,
        interpolate=data.exact,
    )


def condition_component(data: Data, hyper: Hyperparameters) -> Posterior:
    """The posterior at hyper-parameters that were fitted to the same data."""
    return condition(data.X, data.y, hyper, groups=data.groups, interpolate=data.exact)


def bounded(warp: Warp, bounds: tuple[float, float]) -> Warp:
    """The warp within the bounds; the warp itself if there are none."""
    low, high = bounds
    return warp if low == -math.inf and high == math.inf else Clipped(low, high, warp)
