# SPDX-License-Identifier: Apache-2.0
"""Utilities of your own: a function and its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from stopwise.core.beliefs.laws import Law, WithSlopes
from stopwise.core.beliefs.laws.loss_integral import log_integral
from stopwise.core.beliefs.laws.loss_inverse import largest_at_most
from stopwise.core.beliefs.laws.panels import Bends
from stopwise.core.beliefs.utilities._checks import checked_unit, checked_value, wrong_way
from stopwise.core.beliefs.utilities._slopes import check_derivative
from stopwise.core.checks import Bounds, checked_bounds
from stopwise.core.numerics.arrays import Array
from stopwise.core.quantity import quantity
from stopwise.errors import InputError, InputTypeError, shown

Function = Callable[[Array], Any]

_FARTHEST = 1e100  # values beyond are failures
_SIZES = 10.0 ** np.arange(-6, 7)
_TRIED = np.concatenate([-_SIZES[::-1], [0.0], _SIZES])  # where the direction is looked at


@dataclass(frozen=True, slots=True)
class Custom:
    """Worth by a function of the value. It must not be worth less where values get better.

    Args:
        function: What values are worth, elementwise: an array in, an array out.
        derivative: Its derivative, elementwise.
        between: ``(low, high)``, either of which may be None: values beyond are worth what the
            nearer of the two is. For a function that is defined between them only.
        knots: Values at which it bends sharply; they make it faster to integrate.
        unit: The name of the currency, for sentences.
    """

    function: Function
    derivative: Function
    between: Bounds | None = None
    knots: Sequence[float] = ()
    unit: str = ""
    kind: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        for name in ("function", "derivative"):
            if not callable(getattr(self, name)):
                message = (
                    f"custom({name}={shown(getattr(self, name))}): give a function of an array of"
                    " values that returns an array, as in custom(np.log, lambda v: 1 / v)."
                )
                raise InputTypeError(message)
        knots = tuple(sorted(checked_value("custom", "knots", knot) for knot in self.knots))
        object.__setattr__(self, "knots", knots)
        object.__setattr__(self, "between", checked_bounds(self.between))
        checked_unit("custom", self.unit)

    def loss(self, sign: float) -> CustomLoss:
        """Minus the function of what is minimised; one that goes the wrong way is refused.

        So is a derivative that is not the function's.
        """
        low, high = self.between or (None, None)
        ends = [
            -_FARTHEST if low is None else float(low),
            _FARTHEST if high is None else float(high),
        ]
        first, last = sorted(sign * end for end in ends)
        loss = CustomLoss(self.function, self.derivative, sign, first, last, tuple(self.knots))
        inside = np.unique(np.clip(_TRIED, first, last))
        bounded = low is not None and high is not None
        even = np.linspace(first, last, 25) if bounded else inside
        points = np.concatenate([inside, even, [sign * knot for knot in self.knots]])
        loss.log_slope(points)
        self._check_derivative(sign * points)
        return loss

    def _check_derivative(self, points: Array) -> None:
        """Refuse a derivative that is not the function's."""

        def function(values: Array) -> Array:
            return _called(self.function, values, "function")

        def derivative(values: Array) -> Array:
            return _called(self.derivative, values, "derivative")

        check_derivative(function, derivative, points)


@dataclass(frozen=True, slots=True)
class CustomLoss:
    """Minus a function of the user's, by what is minimised; constant beyond two ends."""

    function: Function
    derivative: Function
    sign: float
    first: float
    last: float
    bends: tuple[float, ...]

    @property
    def low(self) -> float:
        """The loss at the first end, far away if none was given."""
        return float(self(np.array([self.first]))[0])

    @property
    def high(self) -> float:
        """The loss at the last end."""
        return float(self(np.array([self.last]))[0])

    @property
    def by_quadrature(self) -> bool:
        """Its integrals are by quadrature."""
        return True

    def __call__(self, y: Array) -> Array:
        """Minus the function, clipped to its ends."""
        values = self.sign * np.clip(y, self.first, self.last)
        worth = _called(self.function, values, "function")
        if np.isnan(worth).any():
            raise _no_number("function", values, worth)
        return -worth

    def log_slope(self, y: Array) -> Array:
        """Log of the derivative; -inf beyond the ends."""
        values = self.sign * np.clip(y, self.first, self.last)
        slope = -self.sign * _called(self.derivative, values, "derivative")
        if np.isnan(slope).any():
            raise _no_number("derivative", values, slope)
        if (slope < 0.0).any():
            at = values[slope < 0.0].flat[0]
            falling = "falls" if self.sign < 0.0 else "rises"
            raise wrong_way("custom", self.sign, f"this one {falling} at {quantity(float(at))}")
        inside = (y >= self.first) & (y < self.last)
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(np.minimum(slope, np.finfo("f8").max)), -np.inf)

    def inverse(self, level: Array) -> Array:
        """By bisection and Newton's method."""
        ends = self.first, self.last
        return largest_at_most(self, np.asarray(level, dtype=np.float64), *ends)

    def log_integral(self, law: Law, low: Array, high: Array) -> WithSlopes:
        """By quadrature, with panels that end at its knots."""
        ends = (end for end in (self.first, self.last) if abs(end) < _FARTHEST)
        knots = np.sort([*(self.sign * knot for knot in self.bends), *ends])
        return log_integral(self, law, low, high, Bends(knots, np.zeros_like(knots)))


def _called(function: Function, values: Array, name: str) -> Array:
    """A function of the user's, elementwise; one that takes or gives no arrays is refused."""
    with np.errstate(all="ignore"):
        try:
            answer = np.asarray(function(values), dtype=np.float64)
            return np.array(np.broadcast_to(answer, values.shape))
        except (TypeError, ValueError) as error:
            message = (
                f"custom({name}=): called with an array of {values.size} values it failed"
                f" ({error}): give a function that works elementwise, such as one of numpy's, or"
                " wrap it in np.vectorize."
            )
            raise InputError(message) from error


def _no_number(name: str, values: Array, answer: Array) -> InputError:
    at = quantity(float(values[np.isnan(answer)].flat[0]))
    return InputError(
        f"custom({name}=): it is no number at {at}. If it is not defined there, give"
        " between=(low, high), beyond which the worth is constant."
    )
