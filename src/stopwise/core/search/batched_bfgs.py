# SPDX-License-Identifier: Apache-2.0
"""Batched BFGS: projected quasi-Newton searches over the unit cube, evaluated together.

Each search keeps its own inverse Hessian and its own place in its line search. One batched
evaluation of value and gradient tries one point for every search: a search that gains enough
(Armijo) takes the point and computes a new direction, one that does not shortens its move. So no
search waits for another's line search, and there are as many evaluations as the longest search
needs. A coordinate whose gradient points out of the cube at a wall rests there. One L-BFGS-B of
scipy after the other takes several times as long (docs/adr/0011).

Among many starts for one maximum, effort goes to the promising ones. After a few evaluations
searches that have come close count as one, as in multistart with clustering, and only the highest
go on, as in a rung of successive halving.

References:
    Bertsekas (1982), Projected Newton Methods for Optimization Problems with Simple Constraints.
    Nocedal & Wright (2006), Numerical Optimization, sections 3.1 (Armijo) and 6.1 (BFGS).
    Rinnooy Kan & Timmer (1987), Stochastic Global Optimization Methods, part II: clustering.
    Jamieson & Talwalkar (2016), Non-stochastic Best Arm Identification and Hyperparameter
        Optimization: successive halving.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from stopwise.core.numerics.arrays import Array, Indices, Mask

Objective = Callable[[Array], tuple[Array, Array]]

_STEEPEST = 1e100  # slopes beyond this count as this: their squares overflow
_SUFFICIENT = 1e-4  # Armijo's fraction of the predicted gain
_SHORTEST = 1e-6  # a line search gives up below this fraction of its move
_FIRST_MOVE = 0.8  # longest move along a gradient alone, in the unit cube
_LONGEST_SCALE = 10.0  # a parameter with a longer scale is irrelevant, however long it is
_FINE = 1e-8  # a move that promises less is not worth an evaluation
_PATIENCE = 20.0  # steps, at its present pace, within which a search must reach the leader
_HOPE = 10.0  # a search must reach its goal within this many times the gain of its next move
_STRIDE = 2.0  # growth of the next move after a step along which the slope did not decrease
_BEYOND = 1.0 + 1e-12  # a little further than the wall, so that rounding does not stop short of it
_RUNG = 3  # evaluations from one selection of the searches to the next
SAME_HILL = 0.1  # searches this close, in scales of at most 1, are climbing the same hill
_CURVED = 1e-10  # least cosine of step and change of gradient for an update of the Hessian


def batched_bfgs(
    objective: Objective,
    X: Array,
    free: Mask,
    *,
    scales: Array | None = None,
    rivals: bool = True,
    finalists: int | None = None,
    first_same: float = SAME_HILL,
    goal: float | None = None,
    max_steps: int = 200,
) -> tuple[Array, Array]:
    """Maximise from each row of X within [0, 1]; returns the points reached and their values.

    A search ends when its next move promises almost nothing or, among rivals, when it could not
    reach the leader at its present pace.

    Args:
        objective: Points -> (values, gradients). A value may be -inf (and nan counts as -inf): no
            search goes there, and one that starts there stays.
        X: Starting points, inside the cube.
        free: Columns that may move.
        scales: Distance over which the objective changes, per column; the first metric.
        rivals: Whether the searches are for one maximum; if each is for its own, none is given up.
        finalists: How many searches go on after the first few evaluations; all if left out.
            Searches that have met count as one from then on.
        first_same: Searches this close, in scales of at most 1, have met at the first selection.
        goal: A value that is enough for each search: beyond it the objective must be flat. A
            search that has no hope to reach it is given up.
        max_steps: Upper bound of evaluations.
    """
    if not len(X):
        return X.copy(), np.empty(0)
    evaluate = _finite(objective)
    values, gradients = evaluate(X)
    reached, heights, leaders = X.copy(), values.copy(), np.arange(len(X))
    rows = np.flatnonzero(np.isfinite(values) & free.any())
    scales = np.ones(X.shape[1]) if scales is None else np.minimum(scales, _LONGEST_SCALE)
    metric = scales**2
    searches = _Searches.begin(rows, X[rows], values[rows], gradients[rows], metric)
    searches.aim(free)
    for step in range(1, max_steps + 1):
        if not searches.rows.size:
            break
        pace = searches.advance(evaluate, free, metric)
        reached[searches.rows], heights[searches.rows] = searches.X, searches.values
        behind = _behind(heights, searches.values) if rivals else np.zeros(1)
        going = (searches.promises > _FINE) & (_PATIENCE * pace >= behind)
        if goal is not None:
            going &= searches.fresh | (_HOPE * searches.promises >= goal - searches.values)
        if finalists is not None and step % _RUNG == 0:
            same = first_same if step == _RUNG else SAME_HILL
            nearby = _best_nearby(searches.X / np.minimum(scales, 1.0), searches.values, same)
            leaders[searches.rows] = searches.rows[nearby]
            going &= nearby == np.arange(len(nearby))
            going &= _among_highest(searches.values, going, finalists)
        if not going.all():
            searches = searches.only(going)
    return _of_leaders(leaders, reached, heights)


def _behind(heights: Array, values: Array) -> Array:
    """How far values are below the highest; nan where both are infinite: it goes no further."""
    with np.errstate(invalid="ignore"):
        return np.asarray(heights.max() - values)


def _of_leaders(leaders: Indices, reached: Array, heights: Array) -> tuple[Array, Array]:
    """What each search's leader has reached; a leader may have joined another one later."""
    for _ in range(len(leaders).bit_length()):  # each pass doubles the part that is followed
        leaders = leaders[leaders]
    return reached[leaders], heights[leaders]


@dataclass(slots=True)
class _Searches:
    """Several searches, one a row: where each is, what it has learned, and what it tries next."""

    rows: Indices  # the start it began from
    X: Array
    values: Array
    gradients: Array
    inverse_hessians: Array  # of minus the objective
    fresh: Mask  # whether the inverse Hessian is still the metric it began with
    uphill: Array  # the gradient, zero in the coordinates that rest
    moves: Array  # the next move, at full length
    lengths: Array  # the fraction of it that is tried
    promises: Array  # what the move would gain if the slope stayed as it is

    @classmethod
    def begin(
        cls, rows: Indices, X: Array, values: Array, gradients: Array, metric: Array
    ) -> _Searches:
        """Searches that have learned nothing yet and have no moves; ``aim`` gives them some."""
        inverse_hessians = np.tile(np.diag(metric), (len(X), 1, 1))
        fresh, lengths, promises = np.ones(len(X), dtype=bool), np.ones(len(X)), np.zeros(len(X))
        uphill, moves = np.zeros_like(X), np.zeros_like(X)
        state = (rows, X, values, gradients, inverse_hessians, fresh)
        return cls(*state, uphill, moves, lengths, promises)

    def only(self, which: Mask) -> _Searches:
        """The searches of a mask."""
        return _Searches(*[array[which] for array in _ARRAYS(self)])

    def advance(self, evaluate: Objective, free: Mask, metric: Array) -> Array:
        """Try one point each; what each gained: -inf ends a search, inf says that it tries on."""
        X = np.minimum(np.maximum(self.X + self.lengths[:, None] * self.moves, 0.0), 1.0)
        values, gradients = evaluate(X)
        steps = X - self.X
        expected = np.vecdot(self.uphill, steps)
        gained = values - self.values
        good = gained >= _SUFFICIENT * np.abs(expected)  # a wall may bend the step downhill
        curved = self._learn(good, steps, gradients, metric)
        # Where the slope did not decrease there is more to gain further on.
        lengths = np.where(curved, 1.0, _STRIDE * self.lengths)
        if good.all():
            self.X, self.values, self.gradients, self.lengths = X, values, gradients, lengths
        else:
            rows = np.flatnonzero(~good)
            lengths[rows], gained[rows] = self._shorten(rows, expected[rows], gained[rows], metric)
            self.X = np.where(good[:, None], X, self.X)
            self.values = np.where(good, values, self.values)
            self.gradients = np.where(good[:, None], gradients, self.gradients)
            self.lengths = lengths
        self.aim(free)
        return gained

    def aim(self, free: Mask) -> None:
        """Compute the next moves; those of searches whose last try failed come out as before."""
        room = np.where(self.gradients > 0.0, 1.0 - self.X, self.X)
        moving = (room > 0.0) & free
        self.uphill = self.gradients * moving
        self.moves = _times(self.inverse_hessians, self.uphill) * moving
        if self.fresh.any():
            sizes = np.maximum(np.sqrt(np.vecdot(self.moves, self.moves)), 1e-300)
            self.moves[self.fresh] *= np.minimum(1.0, _FIRST_MOVE / sizes)[self.fresh, None]
        self.promises = np.vecdot(self.uphill, self.moves)

    def _learn(self, good: Mask, s: Array, gradients: Array, metric: Array) -> Mask:
        """Update inverse Hessians (BFGS) after the steps s; which of the steps met a curvature."""
        taught = good[:, None] & (self.uphill != 0.0)
        y = np.where(taught, self.gradients - gradients, 0.0)
        sy = np.vecdot(s, y)
        curved: Mask = sy > _CURVED * np.sqrt(np.vecdot(s, s) * np.vecdot(y, y))
        sy = np.where(curved, sy, np.inf)  # so that the update is zero where no curvature was met
        H = self.inverse_hessians
        first = self.fresh & curved
        if first.any():
            unit = sy[first] / np.vecdot(y[first], metric * y[first])
            H[first] *= unit[:, None, None]
            self.fresh = self.fresh & ~curved
        Hy = _times(H, y)
        weight = 0.5 * (1.0 + np.vecdot(y, Hy) / sy)
        half = (Hy - weight[:, None] * s)[:, :, None] * (s / sy[:, None])[:, None, :]
        H -= half
        H -= half.transpose(0, 2, 1)
        return curved

    def _shorten(
        self, rows: Indices, expected: Array, gained: Array, metric: Array
    ) -> tuple[Array, Array]:
        """Shorter lengths for moves that failed, and what ``advance`` returns for them.

        A search whose moves have become too short starts again from the metric; if it had just
        done so, it ends.
        """
        # To the top of the parabola through value, slope and the failed try; a tenth if -inf.
        with np.errstate(over="ignore"):  # of steep scores, such as the log of a tiny chance
            parabola = 0.5 * expected / np.maximum(expected - gained, 1e-300)
        lengths = self.lengths[rows] * np.clip(parabola, 0.1, 0.5)
        # A move that a wall has bent is first shortened to end exactly at the wall.
        wall = _first_wall(self.X[rows], self.moves[rows])
        lengths = np.where(wall < self.lengths[rows], np.maximum(lengths, wall), lengths)
        lost = lengths < _SHORTEST
        outlook = np.where(lost & self.fresh[rows], -np.inf, np.inf)
        if lost.any():
            self.inverse_hessians[rows[lost]], self.fresh[rows[lost]] = np.diag(metric), True
            lengths[lost] = 1.0
        return lengths, outlook


_ARRAYS = attrgetter(*_Searches.__slots__)


def _first_wall(X: Array, moves: Array) -> Array:
    """The fraction of each move at which it meets a wall."""
    room = np.where(moves > 0.0, 1.0 - X, X)
    moving = (moves != 0.0) & (room > 0.0)
    parts = np.divide(room, np.abs(moves), out=np.full_like(X, np.inf), where=moving)
    return np.asarray(parts.min(axis=1) * _BEYOND)


def _times(matrices: Array, vectors: Array) -> Array:
    """Matrix times vector, row by row."""
    return np.asarray(np.matmul(matrices, vectors[:, :, None])[:, :, 0])


def _best_nearby(X: Array, values: Array, same: float) -> Indices:
    """For each search the highest one close to it, which may be itself."""
    order = np.argsort(-values, kind="stable")
    sorted_X = X[order]
    sizes = np.vecdot(sorted_X, sorted_X)
    squares = sizes[:, None] + sizes - 2.0 * (sorted_X @ sorted_X.T)
    nearby = np.empty_like(order)
    nearby[order] = order[np.argmax(squares < same**2, axis=1)]
    return nearby


def _among_highest(values: Array, mask: Mask, count: int) -> Mask:
    """Which values are among the ``count`` highest of those in a mask."""
    order = np.argsort(np.where(mask, -values, np.inf), kind="stable")
    chosen = np.zeros(len(values), dtype=bool)
    chosen[order[:count]] = True
    return chosen


def _finite(objective: Objective) -> Objective:
    """The objective with -inf for values that are nan, and slopes that can be squared.

    A slope that is not finite counts as zero, a very steep one as less steep.
    """

    def evaluate(X: Array) -> tuple[Array, Array]:
        values, gradients = objective(X)
        if np.isfinite(values).all() and np.abs(gradients).max(initial=0.0) <= _STEEPEST:
            return values, gradients
        slopes = np.where(np.isfinite(gradients), gradients, 0.0)
        values = np.where(np.isnan(values), -np.inf, values)
        return values, np.clip(slopes, -_STEEPEST, _STEEPEST)

    return evaluate
