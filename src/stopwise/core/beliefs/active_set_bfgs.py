# SPDX-License-Identifier: Apache-2.0
"""Minimisation within bounds: an active-set BFGS method that starts from a given Hessian.

BFGS that starts from a multiple of the identity needs about one gradient for each parameter before
it has learned how they scale and interact. Given an approximate Hessian, its first step already
has about the right length, and a search that starts near its end, as a fit to one more observation
does, takes a few steps (docs/adr/0016-fits.md).

References:
    Bertsekas (1982), Projected Newton Methods for Optimization Problems with Simple Constraints:
        the active set, coordinates that rest at their bounds.
    Nocedal & Wright (2006), Numerical Optimization, sections 3.1 (Armijo) and 6.1 (BFGS).
    Levenberg (1944), Marquardt (1963): the damping of a Hessian that cannot be inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from stopwise.core.numerics.arrays import Array

_FINE = 1e-5  # a step that promises less is not made
_LONGEST = 2.0  # longest step of any coordinate
_DAMPING = 1e-2  # added to the curvature of every coordinate
_MORE_DAMPING = 10.0 ** np.arange(-14, 3, 2)  # of the largest entry, where the Hessian is singular
_SUFFICIENT = 1e-4  # Armijo's fraction of the predicted gain
_CURVED = 1e-3  # least cosine of step and change of gradient for an update of the Hessian
_STEPS, _TRIES = 200, 20  # most steps of a descent, and most tries for each
_NEAR = 1e-3  # a coordinate this close to a bound that it leans on is taken to be there


class Iterate(Protocol):
    """A point of the search, its value and its gradient, which is computed when it is read."""

    @property
    def x(self) -> Array:
        """The point."""
        ...

    @property
    def value(self) -> float:
        """The objective, which is minimised."""
        ...

    @property
    def gradient(self) -> Array:
        """Its gradient."""
        ...


P = TypeVar("P", bound=Iterate)


class Descent(NamedTuple, Generic[P]):
    """Where a descent ended, and what it took.

    Args:
        end: The best point found.
        evaluations: How many points were evaluated, without the first.
    """

    end: P
    evaluations: int


def descend(
    at: Callable[[Array], P],
    begin: P,
    curvature: Array,
    bounds: Array,
    *,
    at_most: int = _STEPS * _TRIES,
) -> Descent[P]:
    """A local minimum, from a point at which the Hessian is about ``curvature``.

    Args:
        at: Point -> iterate.
        begin: Where to begin, inside the bounds.
        curvature: A positive semidefinite matrix; the identity is used if it is not finite.
        bounds: Lowest and highest of every coordinate, (size, 2); equal where one is fixed.
        at_most: Evaluations after which the descent ends where it is.
    """
    identity = np.eye(begin.x.size)
    here, evaluations = begin, 0
    hessian = curvature + _DAMPING * identity if np.isfinite(curvature).all() else identity
    for _ in range(_STEPS):
        step = _newton_step(here, hessian, bounds)
        promise = -0.5 * float(here.gradient @ step)
        if not promise >= _FINE:  # too little, or nan
            break
        there, tries = _first_better(at, here, step, bounds, at_most - evaluations)
        evaluations += tries
        if there is None:
            break
        hessian = _updated(hessian, there.x - here.x, there.gradient - here.gradient)
        here = there
    return Descent(here, evaluations)


def _newton_step(here: Iterate, hessian: Array, bounds: Array) -> Array:
    """To the minimum of the quadratic model; a coordinate that leans on a bound rests there."""
    to_low, to_high = bounds.T - here.x
    if np.any((to_low >= -_NEAR) | (to_high <= _NEAR)):
        step = _along_bounds(here.gradient, hessian, to_low, to_high)
    else:  # the common case
        step = _solved(hessian, here.gradient)
    longest = float(np.abs(step).max(initial=0.0))
    return step if longest <= _LONGEST else step * (_LONGEST / longest)


def _along_bounds(gradient: Array, hessian: Array, to_low: Array, to_high: Array) -> Array:
    """A Newton step that leaves no bound behind."""
    at_low, at_high = to_low >= -_NEAR, to_high <= _NEAR
    push, resting = -gradient, np.zeros(gradient.size, dtype=bool)
    # One that is almost at its bound goes there: from a little inside, a step that passes the
    # bound is bent, gains nothing until it is short, and ends a little inside again.
    rest = np.where(at_low & (push < 0.0), to_low, np.where(at_high & (push > 0.0), to_high, 0.0))
    step = rest
    # Each pass but the last rests one more coordinate, so one of them ends the loop.
    for _ in range(gradient.size + 1):  # pragma: no branch
        resting |= (at_low & (push <= 0.0)) | (at_high & (push >= 0.0))
        free = np.flatnonzero(~resting)
        step = rest.copy()
        step[free] = _solved(hessian[np.ix_(free, free)], gradient[free])
        if not np.any(~resting & ((at_low & (step < 0.0)) | (at_high & (step > 0.0)))):
            break
        push = step  # a coordinate that would move inward alone may be pushed out by the others
    return step


def _solved(hessian: Array, gradient: Array) -> Array:
    """The Newton step -H^-1 g; where H is singular, that of H with as much damping as it takes.

    A Hessian that has met curvatures of very different size may be singular to rounding, or nearly
    so that the step overflows. With much damping the step is a short one down the gradient. It is
    zero, which ends the search, if no step is both finite and downhill.
    """
    step = _solved_or_nan(hessian, gradient)
    if np.isfinite(step).all():
        return step
    largest = float(np.abs(hessian).max()) or 1.0
    for relative in _MORE_DAMPING:
        step = _solved_or_nan(hessian + relative * largest * np.eye(gradient.size), gradient)
        if np.isfinite(step).all() and float(gradient @ step) < 0.0:
            return step
    return np.zeros_like(gradient)


def _solved_or_nan(hessian: Array, gradient: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(hessian, -gradient))
    except np.linalg.LinAlgError:
        return np.full_like(gradient, np.nan)


def _first_better(
    at: Callable[[Array], P], here: P, step: Array, bounds: Array, at_most: int
) -> tuple[P | None, int]:
    """The first point along the step that gains enough, if any, and the number of tries.

    The step is at least halved after each try. Where rounding errors of the value hide what it
    gains, it is given up when it is so short that it moves nothing: to stay is no step.
    """
    length = 1.0
    for tried in range(min(_TRIES, at_most)):
        x = np.clip(here.x + length * step, *bounds.T)
        expected = float(here.gradient @ (x - here.x))
        if expected == 0.0:
            return None, tried
        there = at(x)
        gained = there.value - here.value
        if gained <= -_SUFFICIENT * abs(expected):
            return there, tried + 1
        # To the minimum of the parabola through value, slope and the failed try.
        parabola = 0.5 * expected / min(expected - gained, -1e-300)
        length *= min(max(parabola, 0.1), 0.5)
    return None, min(_TRIES, at_most)


def _updated(hessian: Array, s: Array, y: Array) -> Array:
    """The BFGS update after a step s that changed the gradient by y.

    The Hessian stays as it is where the step met no curvature, or so much that it overflows.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sy = float(s @ y)
        if sy <= _CURVED * float(np.sqrt((s @ s) * (y @ y))):
            return hessian
        Bs = hessian @ s
        updated = (
            hessian + np.multiply.outer(y, y) / sy - np.multiply.outer(Bs, Bs) / float(s @ Bs)
        )
    return updated if np.isfinite(updated).all() else hessian
