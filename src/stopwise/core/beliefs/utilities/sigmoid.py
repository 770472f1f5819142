# SPDX-License-Identifier: Apache-2.0
"""The sigmoid utility: a level that must be reached, softly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stopwise.core.beliefs.laws import Law, WithSlopes
from stopwise.core.beliefs.laws.loss_integral import log_integral
from stopwise.core.beliefs.laws.panels import Bends
from stopwise.core.beliefs.utilities._checks import checked_positive, checked_unit, checked_value
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array

_KNOTS = np.array([-40.0, -16.0, -6.0, -2.0, 2.0, 6.0, 16.0, 40.0])  # in widths: ends of panels
_COARSE = np.array([24.0, 16.0, 8.0, 6.0, 6.0, 8.0, 16.0, 24.0])  # in widths: not of narrower ones


@dataclass(frozen=True, slots=True)
class Sigmoid:
    r"""Worth :math:`h/(1 + e^{-t})`, where t is by how many widths a value is better than ``at``.

    At ``at`` it is half of the height; three widths beyond it is 95 % of it, three before, 5 %.

    Args:
        at: The level to reach, a value of the objective.
        width: How softly, in units of the objective.
        height: What a value far beyond is worth.
        unit: The name of the currency, for sentences.
    """

    at: float
    width: float
    height: float = 1.0
    unit: str = ""
    kind: ClassVar[str] = "sigmoid"

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", checked_value("sigmoid", "at", self.at))
        what = "over how many units of the objective the worth rises"
        object.__setattr__(self, "width", checked_positive("sigmoid", "width", self.width, what))
        what = "what a value far beyond the level is worth"
        object.__setattr__(
            self, "height", checked_positive("sigmoid", "height", self.height, what)
        )
        checked_unit("sigmoid", self.unit)

    def loss(self, sign: float) -> SigmoidLoss:
        """The same of what is minimised."""
        return SigmoidLoss(sign * self.at, self.width, self.height)


@dataclass(frozen=True, slots=True)
class SigmoidLoss:
    r""":math:`-h/(1 + e^{(y - a)/w})`."""

    at: float
    width: float
    height: float

    @property
    def low(self) -> float:
        """Minus the height."""
        return -self.height

    @property
    def high(self) -> float:
        """Nothing is lost beyond."""
        return 0.0

    @property
    def by_quadrature(self) -> bool:
        """Its integrals are by quadrature."""
        return True

    def __call__(self, y: Array) -> Array:
        """The loss."""
        return np.asarray(-self.height * scipy_parts.special.expit(-self._widths(y)))

    def log_slope(self, y: Array) -> Array:
        """Log of the derivative."""
        t = self._widths(y)
        away = np.abs(t)
        return np.asarray(np.log(self.height / self.width) - away - 2.0 * np.log1p(np.exp(-away)))

    def inverse(self, level: Array) -> Array:
        """By the logit."""
        share = np.clip(-level / self.height, 0.0, 1.0)
        return np.asarray(self.at - self.width * scipy_parts.special.logit(share))

    def log_integral(self, law: Law, low: Array, high: Array) -> WithSlopes:
        """By quadrature, with panels that end where the sigmoid bends."""
        bends = Bends(self.at + self.width * _KNOTS, self.width * _COARSE, tail=self.width)
        return log_integral(self, law, low, high, bends)

    def _widths(self, y: Array) -> Array:
        with np.errstate(over="ignore"):
            return np.asarray((y - self.at) / self.width)
