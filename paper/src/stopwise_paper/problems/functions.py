# SPDX-License-Identifier: Apache-2.0
"""Textbook functions on boxes, where the model is fitted, as in practice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import minimize

import stopwise as sw
from stopwise.errors import InputError
from stopwise_paper.arrays import Array
from stopwise_paper.problems.box import OnBox, sobol_points
from stopwise_paper.problems.gp1d import EPSILON

_SAMPLE = 4096  # points whose standard deviation is the unit of values


class Textbook(NamedTuple):
    """A function of the unit cube, and where the search for its minimum starts."""

    d: int
    f: Callable[[Array], float]
    start: tuple[float, ...]


def branin(x: Array) -> float:
    """Branin's function; three minima."""
    u, v = 15.0 * x[0] - 5.0, 15.0 * x[1]
    square = (v - 5.1 / (4.0 * math.pi**2) * u**2 + 5.0 / math.pi * u - 6.0) ** 2
    return float(square + 10.0 * (1.0 - 1.0 / (8.0 * math.pi)) * math.cos(u) + 10.0)


def levy(x: Array) -> float:
    """Levy's function on [-10, 10]^d; many minima."""
    w = 1.0 + (20.0 * x - 11.0) / 4.0
    inner = (w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(math.pi * w[:-1] + 1.0) ** 2)
    last = (w[-1] - 1.0) ** 2 * (1.0 + math.sin(2.0 * math.pi * w[-1]) ** 2)
    return float(math.sin(math.pi * w[0]) ** 2 + inner.sum() + last)


_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_WIDTHS3 = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
_CENTRES3 = 1e-4 * np.array(
    [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
)
_WIDTHS6 = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_CENTRES6 = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(x: Array) -> float:
    """Hartmann's functions of three and of six variables."""
    widths, centres = (_WIDTHS3, _CENTRES3) if len(x) == 3 else (_WIDTHS6, _CENTRES6)
    return -float(_WEIGHTS @ np.exp(-(widths * (x - centres) ** 2).sum(axis=1)))


FUNCTIONS = {
    "branin": Textbook(2, branin, (0.5428, 0.1517)),
    "hartmann3": Textbook(3, hartmann, (0.1146, 0.5556, 0.8525)),
    "levy4": Textbook(4, levy, (0.55,) * 4),
    "hartmann6": Textbook(6, hartmann, (0.2017, 0.1500, 0.4769, 0.2753, 0.3117, 0.6573)),
}


@dataclass(frozen=True, eq=False)
class FunctionOnBox(OnBox):
    """A textbook function, in units of its standard deviation over the cube."""

    domain: sw.space.Domain
    f: Callable[[Array], float]
    minimiser: Array
    unit: float
    epsilon: float = EPSILON
    kernel: Literal["known", "fitted"] = "fitted"
    lengthscale: float = math.nan
    facts: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def optimum(self) -> float:
        """The lowest value."""
        return self.value(self.minimiser)

    def value(self, x: Array) -> float:
        """The function at a point, in its unit."""
        return self.f(x) / self.unit


@lru_cache(maxsize=len(FUNCTIONS))
def function_on_box(name: str) -> FunctionOnBox:
    """The problem of one of ``FUNCTIONS``."""
    if name not in FUNCTIONS:
        message = f"there is no function {name!r}; there are {', '.join(FUNCTIONS)}."
        raise InputError(message)
    d, f, start = FUNCTIONS[name]
    minimum = minimize(f, start, bounds=[(0.0, 1.0)] * d, tol=1e-14)
    sample = sobol_points(d, _SAMPLE, 0)
    unit = float(np.std([f(x) for x in sample]))
    domain = sw.space.as_domain({f"x{i}": sw.Real(0.0, 1.0) for i in range(d)})
    return FunctionOnBox(domain, f, np.asarray(minimum.x), unit)
