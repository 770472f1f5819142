# SPDX-License-Identifier: Apache-2.0
"""The protocol of models of the objective: from data to a surrogate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypedDict

import numpy as np

from stopwise.core.beliefs.foresight import Seen
from stopwise.core.beliefs.hyperparameters import ObjectiveFit
from stopwise.core.beliefs.priors import Priors
from stopwise.core.beliefs.surrogate import Updatable
from stopwise.core.numerics.arrays import Array, Indices, Mask

DEFAULT_PRIOR = "lognormal"  # of the hyper-parameters


class DataOptions(TypedDict, total=False):
    """The keywords of ``Data`` that say what the user said about the values."""

    design: int | None
    noise: float | Literal["learn"] | None
    prior: str | None
    bounds: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """The observations that a model is fitted to, and what the user said about them.

    Args:
        X: Evaluated points, encoded.
        y: Their values, to be minimised.
        groups: Column -> parameter.
        design: How many of the first observations are the initial design; all, if left out.
        noise: None for exact observations, a variance in squared units of y, or ``"learn"``.
        prior: Of the hyper-parameters.
        bounds: The lowest and the highest value that f can have.
        deciding: Indices of the parameters on whose values it depends which others exist.
    """

    X: Array
    y: Array
    groups: Indices
    design: int | None = None
    noise: float | Literal["learn"] | None = None
    prior: str | Priors | None = DEFAULT_PRIOR
    bounds: tuple[float, float] = (-math.inf, math.inf)
    deciding: Sequence[int] = ()

    @property
    def first_values(self) -> Array:
        """The values of the initial design, or the first 2(d + 1) if it is smaller."""
        if self.design is None:
            return self.y
        return self.y[: max(self.design, 2 * (int(self.groups.max()) + 2))]

    @property
    def choices(self) -> Mask:
        """Which parameters are choices: those of several columns, one for each choice."""
        return np.asarray(np.bincount(self.groups) > 1)

    @property
    def exact(self) -> bool:
        """Whether observations are exact."""
        return self.noise is None


class SurrogateModel(Protocol):
    """A model of the objective. Written as a frozen dataclass.

    A class of your own needs these methods alone. It may have the attribute ``prior``, the name of
    the prior that a study takes with it unless it is given one.
    """

    def fit(self, data: Data, start: ObjectiveFit | None, seen: Sequence[Seen]) -> Updatable:
        """Fit to all observations; a ``Posterior`` or an ``Ensemble``.

        Args:
            data: The observations.
            start: An earlier fit to begin from.
            seen: What earlier choices were expected to bring, and whether it came.
        """
        ...

    def as_fitted(self, data: Data, fitted: ObjectiveFit) -> Updatable:
        """The surrogate at a fit that was made to the same data, or to the first of them."""
        ...

    def weighed(self, surrogate: Updatable, seen: Sequence[Seen]) -> Updatable:
        """The surrogate with its weights and its trust brought up to date."""
        ...
