# SPDX-License-Identifier: Apache-2.0
"""Draws of a Gaussian process on a box, by random Fourier features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

import stopwise as sw
from stopwise.acquisition import Search, supremum
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import OnBox
from stopwise_paper.problems.gp1d import EPSILON, LENGTHSCALE
from stopwise_paper.seeds import stream

FREQUENCIES = 2048  # four times as many as the published runs drew
RAW, RESTARTS = 1024, 4  # per d^2: the search for the optimum of a draw


@dataclass(frozen=True, eq=False)
class GPBox(OnBox):
    """One draw on the unit cube, and its optimum as a long search sees it."""

    domain: sw.space.Domain
    path: sw.beliefs.Paths
    minimiser: Array
    optimum: float
    epsilon: float = EPSILON
    kernel: Literal["known", "fitted"] = "known"
    lengthscale: float = LENGTHSCALE
    facts: Mapping[str, str | float] = field(default_factory=dict)

    def value(self, x: Array) -> float:
        """The value of the path."""
        return float(self.path(x[None, :])[0, 0])


@lru_cache(maxsize=2)  # the cells of one seed come one after the other
def gp_box(seed: int, d: int = 8) -> GPBox:
    """The problem of one seed."""
    domain = sw.space.as_domain({f"x{i}": sw.Real(0.0, 1.0) for i in range(d)})
    prior = sw.beliefs.condition(
        np.empty((0, d)),
        np.empty(0),
        sw.beliefs.Hyperparameters(np.full(d, LENGTHSCALE)),
        standardiser=sw.beliefs.Standardiser(),
        interpolate=True,
    )
    path = sw.beliefs.sample_paths(prior, stream(seed, "objective"), 1, FREQUENCIES)
    search = Search(RAW * d * d, RESTARTS * d * d)
    highest = supremum(NegatedPath(path), domain, stream(seed, "optimum"), search=search)
    facts = {"optimum_spread": highest.spread, "frequencies": FREQUENCIES}
    return GPBox(domain, path, np.asarray(highest.x), -highest.value, facts=facts)


@dataclass(frozen=True, eq=False, slots=True)
class NegatedPath:
    """The negative of a path, as a score: its supremum is where the path is lowest."""

    path: sw.beliefs.Paths
    unit: float = 1.0

    @property
    def scales(self) -> Array:
        """Length scale of each column."""
        return np.asarray(self.path.posterior.hyper.lengthscales[self.path.posterior.groups])

    def __call__(self, X: Array) -> Array:
        """Scores at the rows of X."""
        return np.asarray(-self.path(X)[0])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        """Scores and gradients at the rows of X."""
        value, gradient = self.path.with_gradient(X, np.zeros(len(X), dtype=np.intp))
        return -value, -gradient
