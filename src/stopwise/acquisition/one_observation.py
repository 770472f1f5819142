# SPDX-License-Identifier: Apache-2.0
"""The worth of one noisy observation: of a new configuration, or of an evaluated one again.

The expected improvement of the incumbent over itself is 0, whatever is known of it, so it cannot
say what a repeat is worth. Where evaluated points may be repeated, every action is valued by the
knowledge gradient: how far the lowest posterior mean among evaluated points is expected to fall by
one observation (``stopwise.core.beliefs.lowest_mean``). It counts as an improvement does: with the
chance to succeed and the trust in what the model promises. Expected improvement at a new point is
what the point itself would gain if it were then known exactly, and is not compared with this.

References:
    Frazier, Powell and Dayanik (2009), The Knowledge-Gradient Policy for Correlated Normal
        Beliefs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from stopwise.acquisition.logeipc import LogEIPC
from stopwise.core.beliefs.lowest_mean import knowledge_gain, screened_gains
from stopwise.core.beliefs.prices import expected_cost
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.search.score import highest, nan_excluded
from stopwise.core.snapshot import Snapshot
from stopwise.core.space import Finite

_LOWEST = 40  # evaluated points, by their means, that are considered for a repeat
_EXACT = 3  # of what is screened, how many are valued exactly
_ROWS = 200  # candidates of a table, by their expected improvement per cost, that are screened
_SPREAD = 128  # points over the space that are screened
_NEAR, _AROUND = 3, 8  # best observations, and points about each of them at each distance:
_REACH = (1.0, 0.5, 0.2, 0.05)  # in length scales of the objective


@dataclass(frozen=True, slots=True, eq=False)
class ObservationWorth:
    """One more observation: where, what it is worth and what it costs.

    Args:
        x: The encoded point.
        gain: The knowledge gradient, in the objective's unit.
        price: The expected cost.
        row: Which observation it repeats, the first at this point; None for a new point.
    """

    x: Array
    gain: float
    price: float
    row: int | None = None

    @property
    def log_gain_per_cost(self) -> float:
        """By which actions are compared."""
        return math.log(self.gain) - math.log(self.price) if self.gain > 0.0 else -math.inf


def observation_worth(snapshot: Snapshot, x: Array, row: int | None = None) -> ObservationWorth:
    """What one observation at x is worth, by the belief of the snapshot."""
    belief = snapshot.belief
    X = snapshot.X[np.isfinite(snapshot.judged)]
    gains = [w * knowledge_gain(each, X, x) for w, each in belief.own.weighted]
    chance = math.exp(float(belief.log_chance(x[None, :])[0]))
    price = float(expected_cost(belief.price, x[None, :])[0])
    return ObservationWorth(x, chance * belief.trust * math.fsum(gains), price, row)


def best_repeat(snapshot: Snapshot, among: Mask | None = None) -> ObservationWorth | None:
    """The evaluated point that is most worth another observation; None if none may have one.

    Points that failed, are pending, break a limit or cost more than is left are not repeated.

    Args:
        snapshot: The moment.
        among: Which observations may be repeated; all if left out.
    """
    key = ("best repeat", None if among is None else among.tobytes())
    return snapshot.once(key, lambda: _best_repeat(snapshot, among))


def _best_repeat(snapshot: Snapshot, among: Mask | None) -> ObservationWorth | None:
    rows = _repeatable(snapshot, among)
    if not len(rows):
        return None
    first = rows[_most_worth(snapshot, snapshot.X[rows])]
    worths = [observation_worth(snapshot, snapshot.X[i], int(i)) for i in first.tolist()]
    return max(worths, key=lambda worth: worth.log_gain_per_cost)


def _most_worth(snapshot: Snapshot, at: Array) -> Indices:
    """Which points are most worth their price by a screen, in the units of the model."""
    judged, belief = snapshot.X[np.isfinite(snapshot.judged)], snapshot.belief
    gains = sum(w * screened_gains(each, judged, at) for w, each in belief.own.weighted)
    score = gains * np.exp(belief.log_chance(at)) / expected_cost(belief.price, at)
    return np.argsort(-score, kind="stable")[:_EXACT]


def values_one_observation(snapshot: Snapshot) -> bool:
    """Whether actions are valued by one observation: where evaluated points may be repeated.

    Not where there is a utility, nor a fallback, which is known exactly and is no evaluated point,
    nor while nothing keeps the limits: there is nothing to be known better.
    """
    noisy = snapshot.replicates and not snapshot.belief.objective.exact and snapshot.loss is None
    return noisy and snapshot.has_incumbent and math.isinf(snapshot.fallback)


def best_observation(snapshot: Snapshot) -> ObservationWorth | None:
    """The action most worth its price, a repeat or a new point; None if nothing may be observed.

    New points are sought by a screen: of points spread over the space, of the neighbourhoods of
    the best observations, and of those at which searches for the largest expected improvement per
    cost have ended; of a table all rows, or the most promising of many.
    """
    return snapshot.once("best observation", lambda: _best_observation(snapshot))


def _best_observation(snapshot: Snapshot) -> ObservationWorth | None:
    repeat = best_repeat(snapshot)
    worths = [] if repeat is None else [repeat]
    new = _new_points(snapshot)
    if len(new):
        first = new[_most_worth(snapshot, new)]
        worths += [observation_worth(snapshot, x) for x in first]
    return max(worths, key=lambda worth: worth.log_gain_per_cost, default=None)


def _new_points(snapshot: Snapshot) -> Array:
    """Points that are neither evaluated nor barred, among which one may be worth observing."""
    alone = replace(snapshot, replicates=False)
    if isinstance(snapshot.domain, Finite):
        points = snapshot.domain.points
        return highest(points, nan_excluded(LogEIPC().bind(alone)(points)), _ROWS)[0]
    domain, best, rng = snapshot.domain, snapshot.sup(LogEIPC()), snapshot.rng("one observation")
    near = snapshot.X[np.argsort(snapshot.judged, kind="stable")[:_NEAR]]
    scales = np.minimum(snapshot.belief.objective.column_lengthscales, 1.0)
    moves = rng.standard_normal((len(_REACH), _AROUND, *near.shape)) * scales
    moves *= np.array(_REACH)[:, None, None, None]
    found = [
        domain.sobol(_SPREAD, rng),
        domain.only_allowed(domain.snap((near + moves).reshape(-1, domain.width))),
    ]
    if best.x is not None:
        found.append(best.x[None, :] if best.peaks is None else np.vstack([best.x, best.peaks]))
    points = np.vstack(found)
    return points[~alone.barred(points)]


def _repeatable(snapshot: Snapshot, among: Mask | None) -> Indices:
    """Rows of X that may be repeated, each point once, those with the lowest means."""
    allowed = np.isfinite(snapshot.judged) & snapshot.affordable(snapshot.X)
    if isinstance(snapshot.domain, Finite):  # data off the table are not proposed
        allowed = allowed & (snapshot.domain.index_of(snapshot.X) >= 0)
    if among is not None:
        allowed = allowed & among
    rows = np.flatnonzero(allowed)
    if not len(rows):
        return rows
    seen = set(snapshot.domain.key(snapshot.barred_from_repeats))
    kept = []
    for i, key in zip(rows.tolist(), snapshot.domain.key(snapshot.X[rows]), strict=True):
        if key not in seen:
            seen.add(key)
            kept.append(i)
    order = np.argsort(snapshot.judged[kept], kind="stable")[:_LOWEST]
    return np.array(kept, dtype=np.intp)[np.sort(order)]
