# SPDX-License-Identifier: Apache-2.0
"""The suite bbob of COCO (Hansen et al. 2021), through its package: functions that others wrote.

The package does not tell the lowest value of a function, so ``optimum`` is 0 and what is recorded
as regret is the value itself; contenders are compared with each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

import stopwise as sw
from stopwise.errors import InputError, MissingExtraError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import sobol_points
from stopwise_paper.problems.curves import RUNS
from stopwise_paper.problems.problem import PaidValue

FUNCTIONS = tuple(range(1, 25))
_BOUND = 5.0  # the box is [-5, 5]^d
_NAME = re.compile(r"f(\d+)_i(\d+)_d(\d+)")


@dataclass(frozen=True, eq=False)
class BBOB:
    """One function of the suite in one dimension; every evaluation costs 1."""

    domain: sw.space.Domain
    f: Any
    optimum: float = 0.0
    epsilon: float = np.nan
    kernel: Literal["known", "fitted"] = "fitted"
    lengthscale: float = np.nan
    facts: Mapping[str, str | float] = field(default_factory=dict)

    def initial(self, seed: int, n: int | None = None) -> Array:
        """The first n points of a Sobol sequence, or 2(d + 1)."""
        return sobol_points(self.domain.d, n or 2 * (self.domain.d + 1), seed)

    def evaluate(self, x: Array) -> PaidValue:
        """The value at a point of the unit cube."""
        value = float(self.f((2.0 * x - 1.0) * _BOUND))
        return PaidValue(x, value, value, {RUNS: 1.0}, {RUNS: 1.0})

    def cost_model(self, cost: str) -> sw.beliefs.CostModel:
        """Every evaluation costs 1; there is no other price."""
        if cost != RUNS:
            message = f"this problem has the price {RUNS!r}, not {cost!r}."
            raise InputError(message)
        return sw.beliefs.UnitCost()


def bbob_problem(name: str) -> BBOB:
    """The function ``f001_i01_d02``: its number, its instance and its dimension."""
    try:
        import cocoex
    except ImportError as error:
        message = "bbob needs the package coco-experiment: pip install coco-experiment."
        raise MissingExtraError(message) from error
    number, instance, d = _numbers(name)
    chosen = f"dimensions:{d} instance_indices:{instance} function_indices:{number}"
    suite = cocoex.Suite("bbob", "", chosen)
    domain = sw.space.as_domain({f"x{i}": sw.Real(0.0, 1.0) for i in range(d)})
    return BBOB(domain, suite.get_problem(0), facts={"suite": "bbob"})


def dimension(problem: str) -> int:
    """The number of parameters of a problem ``bbob:f001_i01_d02``."""
    return _numbers(problem.partition(":")[2])[2]


def instance(problem: str) -> int:
    """The number of the instance of a problem ``bbob:f001_i01_d02``."""
    return _numbers(problem.partition(":")[2])[1]


def _numbers(name: str) -> tuple[int, int, int]:
    found = _NAME.fullmatch(name)
    if found is None:
        message = f"{name!r} is no function of bbob; give one like 'f001_i01_d02'."
        raise InputError(message)
    number, instance, d = map(int, found.groups())
    return number, instance, d
