# SPDX-License-Identifier: Apache-2.0
"""Whether a function and its derivative belong together, by finite differences.

Integrals of a utility read both, and halve their panels in vain where they disagree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from stopwise.core.numerics.arrays import Array
from stopwise.core.quantity import quantity
from stopwise.errors import InputError

Elementwise = Callable[[Array], Array]

_ROUNDS, _HALVED = 8, 8  # halvings of the intervals on which the function grows most
_STEPS = np.array([-0.1, -0.01, 0.01, 0.1])  # of the distance to the next point
_LOPSIDED = 100.0  # a point this much closer to one neighbour is there by accident
_ALIKE = 0.02  # slopes that differ by more are at a bend, and measure nothing
_WRONG = 0.05
_PRECISION = 1e-6  # of values and of the function: single precision, and some roundings


def check_derivative(function: Elementwise, derivative: Elementwise, points: Array) -> None:
    """Refuse a derivative that is not the function's, at points between some.

    A point tells where four differences, of two sizes to either side, are alike: not at a bend or
    a jump, nor where the function is too flat for its digits.

    Args:
        function: The function, elementwise.
        derivative: What is given for its derivative.
        points: The ends of what is looked at, and some points in between.

    Raises:
        InputError: The two differ by more than a twentieth.
    """
    x = _where_it_grows(function, np.unique(points))
    gaps = np.diff(x)
    apart = np.maximum(gaps[:-1], gaps[1:]) < _LOPSIDED * np.minimum(gaps[:-1], gaps[1:])
    x, room = x[1:-1][apart], np.minimum(gaps[:-1], gaps[1:])[apart]
    near = x + _STEPS[:, None] * room
    with np.errstate(all="ignore"):
        at, around, given = function(x), function(near), derivative(x)
        slopes = (around - at) / (near - x)
        low, high = slopes.min(axis=0), slopes.max(axis=0)
        size = np.maximum(np.abs(low), np.abs(high))
        measured = 0.5 * (low + high)
        off = np.abs(measured - given)
        steepest = np.maximum(size, np.abs(given))
        wrong = (high - low <= _ALIKE * size) & (off > _WRONG * steepest)
        wrong &= off * _STEPS[-1] * room > _PRECISION * (np.abs(at) + steepest * np.abs(x))
    if wrong.any():
        with np.errstate(divide="ignore"):
            ordinary = -np.abs(np.log(np.abs(x)))  # of all sizes, the one nearest to 1
        shown = int(np.argmax(np.where(wrong, ordinary, -np.inf)))
        raise InputError(
            f"custom(derivative=): at {quantity(float(x[shown]))} it is"
            f" {quantity(float(given[shown]))}, but the function there has the slope"
            f" {quantity(float(measured[shown]))} (by finite differences). Give the derivative of"
            " the same function, in the same units."
        )


def _where_it_grows(function: Elementwise, points: Array) -> Array:
    """The points, and more of them where the function grows most."""
    x = points
    for _ in range(_ROUNDS):
        with np.errstate(all="ignore"):
            growth = np.abs(np.diff(function(x)))
        growth = np.where(np.isfinite(growth), growth, 0.0)
        most = np.argsort(growth, kind="stable")[-_HALVED:]
        most = most[growth[most] > 0.0]
        x = np.unique(np.concatenate([x, 0.5 * (x[most] + x[most + 1])]))
    return x
