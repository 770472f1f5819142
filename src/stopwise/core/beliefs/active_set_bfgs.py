# SPDX-License-Identifier: Apache-2.0
"""Descent within bounds, by BFGS that begins with a curvature it is told.

A search that knows nothing needs a gradient for each parameter to learn how they scale and mix.
One that is told begins with a step of about the right length, and where it starts near its end, as
fits to one more observation do, it ends after a few (docs/adr/0016-fits.md).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from stopwise.core.numerics.arrays import Array, Mask

_FINE = 1e-5  # a step that promises less is not made
_LONGEST = 2.0  # longest step of any coordinate
_DAMPING = 1e-2  # added to the curvature of every coordinate
_SUFFICIENT = 1e-4  # Armijo's fraction of the predicted gain
_CURVED = 1e-3  # cosine of step and change of gradient from which on a curvature is believed
_STEPS, _TRIES = 200, 20


class Place(Protocol):
    """A point with what is known there; derivatives are asked for only where they are needed."""

    @property
    def x(self) -> Array:
        """The point."""
        ...

    @property
    def value(self) -> float:
        """What is minimised."""
        ...

    @property
    def gradient(self) -> Array:
        """Its gradient."""
        ...


P = TypeVar("P", bound=Place)


def descend(at: Callable[[Array], P], begin: P, curvature: Array, bounds: Array) -> P:
    """A local minimum, from a place at which the Hessian is about ``curvature``.

    Args:
        at: Point -> place.
        begin: Where to begin, inside the bounds.
        curvature: A matrix that is not negative.
        bounds: Lowest and highest of every coordinate, (size, 2); equal where one is fixed.
    """
    here, hessian = begin, curvature + _DAMPING * np.eye(begin.x.size)
    for _ in range(_STEPS):
        step = _newton_step(here, hessian, bounds)
        if -0.5 * float(here.gradient @ step) < _FINE:
            break
        there = _first_better(at, here, step, bounds)
        if there is None:
            break
        hessian = _updated(hessian, there.x - here.x, there.gradient - here.gradient)
        here = there
    return here


def _newton_step(here: Place, hessian: Array, bounds: Array) -> Array:
    """To where the quadratic model is least; a coordinate that leans on a bound rests there."""
    at_low, at_high = here.x <= bounds[:, 0], here.x >= bounds[:, 1]
    if (at_low | at_high).any():
        step = _along_bounds(here.gradient, hessian, at_low, at_high)
    else:  # the common case
        step = np.asarray(np.linalg.solve(hessian, -here.gradient))
    longest = float(np.abs(step).max(initial=0.0))
    return step if longest <= _LONGEST else step * (_LONGEST / longest)


def _along_bounds(gradient: Array, hessian: Array, at_low: Mask, at_high: Mask) -> Array:
    """A Newton step that leaves no bound behind."""
    push, resting = -gradient, np.zeros(gradient.size, dtype=bool)
    while True:
        resting |= (at_low & (push <= 0.0)) | (at_high & (push >= 0.0))
        free = np.flatnonzero(~resting)
        step = np.zeros_like(gradient)
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], -gradient[free])
        if not np.any((at_low & (step < 0.0)) | (at_high & (step > 0.0))):
            return step
        push = step  # the others may push one out that would not go by itself


def _first_better(at: Callable[[Array], P], here: P, step: Array, bounds: Array) -> P | None:
    """The first place along the step, halved and more each time, that gains enough."""
    length = 1.0
    for _ in range(_TRIES):
        there = at(np.clip(here.x + length * step, *bounds.T))
        expected = float(here.gradient @ (there.x - here.x))
        gained = there.value - here.value
        if gained <= -_SUFFICIENT * abs(expected):
            return there
        # To the bottom of the parabola through value, slope and the failed try.
        parabola = 0.5 * expected / min(expected - gained, -1e-300)
        length *= min(max(parabola, 0.1), 0.5)
    return None


def _updated(hessian: Array, s: Array, y: Array) -> Array:
    """BFGS, unless the step met no curvature."""
    sy = float(s @ y)
    if sy <= _CURVED * float(np.sqrt((s @ s) * (y @ y))):
        return hessian
    Bs = hessian @ s
    return hessian + np.multiply.outer(y, y) / sy - np.multiply.outer(Bs, Bs) / float(s @ Bs)
