# SPDX-License-Identifier: Apache-2.0
"""The laws of acquisitions. Each is one function, and a line of ``ACQUISITION_LAWS``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from stopwise.acquisition import Acquisition, PointwiseScore
from stopwise.core.beliefs.laws import Normal
from stopwise.core.numerics.arrays import Array
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite
from stopwise.testing._law import Case, Law, LawBroken, is_a_value, same
from stopwise.testing._looking import acquisition_looked_at
from stopwise.testing._problems import (
    KINDS,
    NUMERICAL,
    free_points,
    in_other_units,
    points_of,
    snapshot_of,
    with_costs,
)

AcquisitionCase = Case[Acquisition]

_FACTOR = 4.0  # a power of two, so that a change of units does not round
_SHIFT = 3.0
_STEP = 1e-4  # of the fourth-order differences
_LEFT = 3  # candidates left free where a table is used up
_DEARER = 4.0


def numbers(case: AcquisitionCase) -> None:
    """A score is finite or -inf: at all sorts of points, and at the ends of its formula."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        score = case.subject.bind(snapshot)
        X = points_of(snapshot)
        values = score(X)
        if values.shape != (len(X),):
            raise LawBroken(f"{kind}: {len(X)} points have scores of shape {values.shape}")
        _finite_or_left_out(f"{kind}: the score", values, X)
    if isinstance(score, PointwiseScore):
        ends = np.array([0.0, 1e-150, 1.0, 1e6])
        grid = np.meshgrid(ends - 1.0, ends, [-50.0, 0.0, 50.0])
        mean, std, log_price = (axis.ravel() for axis in grid)
        value = score.formula(Normal(mean, std), log_price, 0.0).value
        given = np.column_stack([mean, std, log_price])
        _finite_or_left_out("best = 0: the score at (mean, std, log price)", value, given)


def rows(case: AcquisitionCase) -> None:
    """A row's score is its own: the same alone as in company, with a gradient or without."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        score = case.subject.bind(snapshot)
        X = free_points(snapshot)[:8]
        values = score(X)
        for i, x in enumerate(X):
            _close(f"{kind}: the score of {x}, in company and alone", values[i], score(X[i, None]))
        if kind in NUMERICAL and hasattr(score, "with_gradient"):
            given, _ = score.with_gradient(X.copy())
            _close(f"{kind}: scores without and with gradient", values, given)


def gradient(case: AcquisitionCase) -> None:
    """Gradients in the real columns are those of fourth-order differences."""
    for kind in NUMERICAL:
        snapshot = snapshot_of(kind)
        score = case.subject.bind(snapshot)
        if not hasattr(score, "with_gradient"):
            continue
        X = free_points(snapshot)
        X = X[score(X) > -np.inf]  # a score may leave out what has hardly a chance to succeed
        _, given = score.with_gradient(X.copy())
        for column in np.flatnonzero(snapshot.domain.real):  # type: ignore[union-attr]
            step = np.zeros(X.shape[1])
            step[column] = _STEP
            near, far = (score(X + k * step) - score(X - k * step) for k in (1, 2))
            wanted = (8.0 * near - far) / (12.0 * _STEP)
            what = f"{kind}: d score/d x[{column}], given and by differences"
            _close(what, given[:, column], wanted, 1e-5, score.unit)


def hints(case: AcquisitionCase) -> None:
    """What a score tells its search has the right form: unit, scales and starts."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        width = snapshot.domain.width
        score = case.subject.bind(snapshot)
        if not 0.0 < score.unit < np.inf:
            raise LawBroken(f"{kind}: unit is {score.unit!r}; it must be positive and finite")
        scales, starts = score.scales, score.starts
        if scales is not None and not (scales.shape == (width,) and np.all(scales > 0)):
            raise LawBroken(f"{kind}: scales are {scales!r}; give {width} positive ones, or None")
        if starts is not None and not np.array_equal(snapshot.domain.snap(starts), starts):
            raise LawBroken(f"{kind}: starts are {starts!r}, which is not attainable")


def barred(case: AcquisitionCase) -> None:
    """What is not to be had scores -inf; a table is used up, each candidate once."""
    for kind in KINDS:
        plain = snapshot_of(kind)
        free = free_points(plain)
        costs = np.exp(plain.belief.log_price(free))
        left = float(np.median(costs))
        poor = replace(plain, failed=free[:2], left=left)
        evaluated = plain.X[:0] if plain.replicates else plain.X  # which may then be repeated
        _leaves_out(f"{kind}, evaluated or pending", case.subject, plain, evaluated, plain.pending)
        _leaves_out(f"{kind}, failed", case.subject, poor, free[:2])
        _leaves_out(f"{kind}, too dear at {left:.9g}", case.subject, poor, free[costs > left])
    _use_up(case.subject)


def _leaves_out(what: str, acquisition: Acquisition, snapshot: Snapshot, *points: Array) -> None:
    """Some points score -inf, and what is proposed is another."""
    X = np.vstack(points)
    values = acquisition.bind(snapshot)(X)
    if not np.all(values == -np.inf):
        i = int(np.argmax(values))
        raise LawBroken(f"{what}: {X[i]} scores {values[i]:.9g}, not -inf")
    found = snapshot.sup(acquisition)
    if found.x is not None and snapshot.barred(found.x[None, :])[0]:
        raise LawBroken(f"{what}: {found.x} was proposed")


def _use_up(acquisition: Acquisition) -> None:
    """Propose until nothing is left."""
    snapshot = snapshot_of("table")
    free = free_points(snapshot)
    snapshot = replace(snapshot, pending=np.vstack([snapshot.pending, free[_LEFT:]]))
    for left in range(_LEFT, -1, -1):
        found = snapshot.sup(acquisition)
        if (found.x is None) != (left == 0):
            raise LawBroken(f"{left} candidates are left, and the proposal is {found.x}")
        if found.x is not None:
            if snapshot.taken(found.x[None, :])[0]:
                raise LawBroken(f"{found.x} is taken and was proposed, {left} left")
            pending = np.vstack([snapshot.pending, found.x])
            snapshot = replace(snapshot, pending=pending)


def attainable(case: AcquisitionCase) -> None:
    """What is proposed can be evaluated: rounding it changes nothing."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        x = _choice(case.subject, snapshot)
        snapped = snapshot.domain.snap(x[None, :])[0]
        if not np.array_equal(snapped, x):
            raise LawBroken(f"{kind}: {x} was proposed; the nearest attainable point is {snapped}")


def seed(case: AcquisitionCase) -> None:
    """The same snapshot and seed give the same choice."""
    for kind in KINDS:
        first, second = (_choice(case.subject, snapshot_of(kind)) for _ in range(2))
        _close(f"{kind}: two choices, {first} and {second}, in a column", first, second)


def shift(case: AcquisitionCase) -> None:
    """A constant added to y does not move the choice."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        moved = in_other_units(snapshot, shift=_SHIFT)
        _same_choice(f"{kind}, y + {_SHIFT}", case.subject, snapshot, case.subject, moved)


def scale(case: AcquisitionCase) -> None:
    """Other units of y and of cost, with lambda in the same units, do not move the choice."""
    for kind in KINDS:
        snapshot = snapshot_of(kind)
        moved = in_other_units(snapshot, factor=_FACTOR)
        rescaled = case.rescaled(objective=_FACTOR)
        _same_choice(f"{kind}, {_FACTOR} y", case.subject, snapshot, rescaled, moved)
        dearer = in_other_units(snapshot, cost=_FACTOR)
        rescaled = case.rescaled(cost=_FACTOR)
        _same_choice(f"{kind}, {_FACTOR} cost", case.subject, snapshot, rescaled, dearer)


def price(case: AcquisitionCase) -> None:
    """A point that becomes dearer does not score higher."""
    snapshot = snapshot_of("table")
    domain = cast("Finite", snapshot.domain)
    costs = np.exp(snapshot.belief.log_price(domain.points))
    before = case.subject.bind(with_costs(snapshot, costs))(domain.points)
    for i in np.flatnonzero(before > -np.inf)[::3]:
        raised = costs.copy()
        raised[i] *= _DEARER
        after = case.subject.bind(with_costs(snapshot, raised))(domain.points)[i]
        if not after <= before[i] + _rounding(before[i]):
            raise LawBroken(
                f"candidate {i} scores {before[i]:.9g} at a cost of {costs[i]:.9g} and"
                f" {after:.9g} at {raised[i]:.9g}"
            )


def mean(case: AcquisitionCase) -> None:
    """A lower mean of a normal law does not lower the score; for scores of law and price."""
    for what, values in _along(case.subject, "mean"):
        falls = np.diff(values, axis=0)  # along rising means
        if not np.all(falls <= _rounding(values[1:])):
            raise LawBroken(f"the score rises by {np.max(falls):.9g} with the mean, at {what}")


def deviation(case: AcquisitionCase) -> None:
    """A larger deviation of a normal law does not lower the score; as for ``mean``."""
    for what, values in _along(case.subject, "std"):
        rises = np.diff(values, axis=0)
        if not np.all(rises >= -_rounding(values[1:])):
            raise LawBroken(f"the score falls by {-np.min(rises):.9g} with the std, at {what}")


ACQUISITION_LAWS: tuple[Law[Acquisition], ...] = (
    Law("value", "It is hashable, frozen, and equal to its copies.", is_a_value),
    Law("numbers", "A score is finite or -inf, never nan.", numbers),
    Law("rows", "A row's score does not depend on the other rows.", rows),
    Law("gradient", "Gradients in the real columns agree with differences.", gradient),
    Law("hints", "Unit, scales and starts have the right form.", hints),
    Law(
        "barred",
        "Evaluated, pending, failed and unaffordable points score -inf and are never proposed.",
        barred,
    ),
    Law("attainable", "What is proposed is a point of the space, not a relaxation.", attainable),
    Law("seed", "The same snapshot and seed give the same choice.", seed),
    Law("looking", "Looking at a supremum does not change a study's path.", acquisition_looked_at),
    Law("shift", "A constant added to y does not move the choice.", shift),
    Law("scale", "Other units of y or cost, lambda in step, do not move the choice.", scale),
    Law("price", "A point that becomes dearer does not score higher.", price),
    Law("mean", "A lower mean does not lower a pointwise score.", mean),
    Law("deviation", "A larger deviation does not lower a pointwise score.", deviation),
)


# ------------------------------------------------------------------------------- helpers


def _choice(acquisition: Acquisition, snapshot: Snapshot) -> Array:
    found = snapshot.sup(acquisition)
    if found.x is None:
        raise LawBroken("nothing was proposed although not everything is taken")
    return found.x


def _same_choice(
    what: str, one: Acquisition, here: Snapshot, other: Acquisition, there: Snapshot
) -> None:
    """The same candidate of a table; elsewhere a point that is as good."""
    x, moved = _choice(one, here), _choice(other, there)
    if isinstance(here.domain, Finite):
        same(f"{what}: the choice, before and after", x, moved)
        return
    score = one.bind(here)
    _close(f"{what}: scores of {x} and {moved}", score(x[None, :]), score(moved[None, :]), 1e-5)


def _along(acquisition: Acquisition, axis: str) -> Iterator[tuple[str, Array]]:
    """Scores over a grid of (mean, std, log price), the named one rising along the first axis."""
    snapshot = snapshot_of("table")
    score = acquisition.bind(snapshot)
    if not isinstance(score, PointwiseScore):
        return
    means, stds = snapshot.best + np.linspace(-2.0, 3.0, 21), np.geomspace(1e-2, 5.0, 21)
    for log_price in (-4.0, 0.0, 2.0):
        mean, std = np.meshgrid(means, stds, indexing="ij")
        price = np.full(mean.size, log_price)
        law = Normal(mean.ravel(), std.ravel())
        partials = score.formula(law, price, snapshot.best)
        values = partials.value.reshape(mean.shape)
        what = f"best = {snapshot.best!r}, log price = {log_price!r}"
        yield what, values if axis == "mean" else values.T


def _rounding(values: Array) -> Array:
    return np.asarray(1e-10 * (1.0 + np.abs(values)))


def _finite_or_left_out(what: str, values: Array, X: Array) -> None:
    bad = np.flatnonzero(~(np.isfinite(values) | (values == -np.inf)))
    if bad.size:
        raise LawBroken(f"{what} {X[bad[0]]} is {values[bad[0]]}")


def _close(
    what: str, one: Array, other: Array, tolerance: float = 1e-6, unit: float = 1.0
) -> None:
    """Raise unless numbers agree: to the tolerance, relative where they are large."""
    one, other = np.broadcast_arrays(one, other)
    agree = np.isclose(one, other, rtol=tolerance, atol=tolerance * unit)
    if not np.all(agree):
        i = int(np.flatnonzero(~agree)[0])
        raise LawBroken(f"{what}: {one.flat[i]:.9g} and {other.flat[i]:.9g}")
