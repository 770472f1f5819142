# SPDX-License-Identifier: Apache-2.0
"""Functions drawn from a Gaussian process on a box, by random features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from stopwise.core.beliefs.gp import Hyperparameters, Standardiser, condition
from stopwise.core.beliefs.paths import Paths, sample_paths
from stopwise.core.numerics.seeds import stream
from stopwise.core.search.supremum import Search, supremum
from stopwise.core.space import Domain, Real
from stopwise.core.space.domain import Mixed
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import OnBox
from stopwise_paper.problems.gp1d import EPSILON, LENGTHSCALE

FREQUENCIES = 2048  # four times as many as the published runs drew
RAW, RESTARTS = 1024, 4  # times d^2: the search for the optimum of a draw


@dataclass(frozen=True, eq=False)
class GPBox(OnBox):
    """One draw on the unit cube, and its optimum, found by a long search."""

    domain: Domain
    path: Paths
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
    domain = Mixed.of({f"x{i}": Real(0.0, 1.0) for i in range(d)})
    prior = condition(
        np.empty((0, d)),
        np.empty(0),
        Hyperparameters(np.full(d, LENGTHSCALE)),
        standardiser=Standardiser(),
        interpolate=True,
    )
    path = sample_paths(prior, stream(seed, "objective"), 1, FREQUENCIES)
    found = supremum(
        _Minus(path), domain, stream(seed, "optimum"), search=Search(RAW * d * d, RESTARTS * d * d)
    )
    minimiser = np.asarray(found.x)
    facts = {"optimum_spread": found.spread, "frequencies": FREQUENCIES}
    return GPBox(domain, path, minimiser, -found.value, facts=facts)


@dataclass(frozen=True, eq=False, slots=True)
class _Minus:
    """Minus a path, as a score."""

    path: Paths
    unit: float = 1.0

    @property
    def scales(self) -> Array:
        return np.asarray(self.path.posterior.hyper.lengthscales[self.path.posterior.groups])

    def __call__(self, X: Array) -> Array:
        return np.asarray(-self.path(X)[0])

    def with_gradient(self, X: Array) -> tuple[Array, Array]:
        value, gradient = self.path.with_gradient(X, np.zeros(len(X), dtype=np.intp))
        return -value, -gradient
