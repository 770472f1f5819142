# SPDX-License-Identifier: Apache-2.0
"""An acquisition and a rule of another package, which experiments run by name."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.stopping import Verdict


@dataclass(frozen=True)
class Greedy:
    """Go where the posterior mean is lowest."""

    name: ClassVar[str] = "greedy"

    def bind(self, snapshot):
        return LowestMean(snapshot)


@dataclass(frozen=True, eq=False)
class LowestMean:
    snapshot: object
    starts: ClassVar[None] = None
    scales: ClassVar[None] = None
    unit: ClassVar[float] = 1.0

    def __call__(self, X):
        mean = self.snapshot.belief.objective(X).mean
        return np.where(self.snapshot.taken(X), -np.inf, -mean)


@dataclass(frozen=True)
class CheapestLeft:
    """Stop when the cheapest point that is left costs 1."""

    name: ClassVar[str] = "cheapest-left"
    signal_scale: ClassVar[str] = "linear"
    key: ClassVar[str] = "cheapest_left"

    def signal(self, snapshot):
        return snapshot.signal(snapshot.cheapest)

    def verdict(self, trace):
        return Verdict.at_least(self.name, trace.current.value, 1.0, "the cheapest costs that")
