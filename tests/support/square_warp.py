# SPDX-License-Identifier: Apache-2.0
"""A warp that is in no table: values are squares, and their law is written out by hand."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs import Normal
from stopwise.core.beliefs.laws import WithSlopes


@dataclass(frozen=True)
class Squares:
    """f is (shift + g)^2 of a normal g, which is far above -shift."""

    shift: float = 1.0
    name: ClassVar[str] = "squares"

    def forward(self, y):
        return np.sqrt(y) - self.shift

    def inverse(self, g):
        return (g + self.shift) ** 2

    def inverse_slope(self, g):
        return 2.0 * (g + self.shift)

    def law(self, normal):
        return SquareLaw(self.shift, normal)


@dataclass(frozen=True)
class SquareLaw:
    """The law of such an f: a normal, moved and squared."""

    shift: float
    normal: Normal

    @property
    def parameters(self):
        return self.normal.parameters

    @property
    def mean(self):
        return (self.normal.mean + self.shift) ** 2 + self.normal.std**2

    @property
    def median(self):
        return (self.normal.mean + self.shift) ** 2

    def quantile(self, z):
        g, slopes = self.normal.quantile(z)
        return WithSlopes((g + self.shift) ** 2, tuple(2.0 * (g + self.shift) * s for s in slopes))
