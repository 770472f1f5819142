# SPDX-License-Identifier: Apache-2.0
"""Level crossings of sample paths: which fall below a level somewhere in a box (for PRB).

Only a small part of a box matters: where f may still lie below the level. A net of points is laid
there, and paths are drawn exactly at the net (``conditioned_paths.py``). Most paths cross at a
point of the net or stay far above the level everywhere; the few that come near it are followed
downhill. A pilot sample on a coarse net comes first: where its paths are low, the finer net for
all other paths gets points too.

The *need* of a point is how far a path must fall below its mean there to cross, or its deviation
if that is more. It is the yardstick at that point: a net resolves values to a small part of the
need, and a path is near the level where only a part of the need is left to fall.

Where evaluations may fail or break a limit, a path crosses only where its draw of success does
succeed: descents begin at such points of the net, and must end at one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stopwise.acquisition.improvement import ImprovementBy
from stopwise.core.beliefs.conditioned_paths import PathConditioner
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.numerics.rows import unique_rows
from stopwise.core.snapshot import Snapshot
from stopwise.stopping._path_minima import descend_to_level, success_paths

_SOBOL = 1024  # points spread evenly over the box
_GOOD = 3  # best observations whose neighbourhoods are searched
_DEVIATIONS = (0.2, 0.05, 0.01, 0.002)  # about places where a gain is likely, in the unit cube
_CLOUD = 8  # points about each such place, at each deviation
_UNLIKELY = -6.5  # z of points that are left out: a chance below 1e-10
_PILOT_SIZE = 64  # paths of the pilot sample
_COARSE, _FINE = 128, 384  # most points of the net of the pilot sample, and of the others'
_COARSE_PART, _FINE_PART = 0.1, 0.02  # part of the need to which each net resolves values
_PILOT_NEAR, _NEAR = 1.0, 0.4  # part of the need left, below which a path is followed downhill
_ELSEWHERE = 0.3  # length scales between two places from which one path is followed
_STEPS = 8  # of a descent; few that reach the level take more


@dataclass(frozen=True, eq=False)  # no slots: the fine net is laid when it is needed
class Crossings:
    """Draws of whether a path gains more than a margin on the incumbent, somewhere in a box.

    Attributes:
        snapshot: The moment.
        margin: What a path must gain on the incumbent to cross.
        pool: Points from which nets are chosen, (p, width).
        z: Phi(z) is the chance of a gain above the margin at each of them, (p,).
        coarse: Paths on the net of the pilot sample.
    """

    snapshot: Snapshot
    margin: float
    pool: Array
    z: Array
    coarse: Draws

    @classmethod
    def over(cls, snapshot: Snapshot, margin: float) -> Crossings | None:
        """The crossings of a box; None if no point has a chance to gain the margin."""
        pool = _pool(snapshot, margin, snapshot.rng("net"))
        z = ImprovementBy(margin).bind(snapshot)(pool)
        likely = _likely(pool, z, _COARSE)
        if not len(likely):
            return None
        return cls(snapshot, margin, pool, z, Draws.at(snapshot, margin, likely, _COARSE_PART))

    def __call__(self, rng: np.random.Generator, batches: Iterable[int]) -> Iterator[Mask]:
        """For each batch size, whether each of so many paths crosses; the pilot sample first."""
        _, pilots = self._pilot_sample
        for n in batches:
            first, pilots = pilots[:n], pilots[n:]
            rest = n - len(first)
            yield np.append(first, self._fine(rng, rest, _NEAR)[1]) if rest else first

    @cached_property
    def _pilot_sample(self) -> tuple[Array, Mask]:
        """Where the paths of the pilot sample are low, and whether they cross."""
        return self.coarse(self.snapshot.rng("pilots"), _PILOT_SIZE, _PILOT_NEAR)

    @cached_property
    def _fine(self) -> Draws:
        """Paths on a net that is denser where the pilot sample was low."""
        low, _ = self._pilot_sample
        pool = np.vstack([self.pool, low])
        z = np.append(self.z, ImprovementBy(self.margin).bind(self.snapshot)(low))
        return Draws.at(self.snapshot, self.margin, _likely(pool, z, _FINE), _FINE_PART)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Paths through exact draws at a net, and which of them cross.

    Attributes:
        snapshot: The moment.
        margin: What a path must gain on the incumbent to cross.
        points: Of the net, (rows, width); the last one is the incumbent.
        need: How far a path must fall at each of them, (rows,).
        net: Their joint distribution.
    """

    snapshot: Snapshot
    margin: float
    points: Array
    need: Array
    net: PathConditioner

    @classmethod
    def at(cls, snapshot: Snapshot, margin: float, points: Array, part: float) -> Draws:
        """A net over some points and the incumbent that resolves values to a part of the need."""
        points = np.vstack([points, snapshot.X[snapshot.incumbent]])
        certain = replace(snapshot.belief, success=None)  # by value alone
        law = snapshot.law(points, certain, from_incumbent=True)
        need = np.maximum(law.mean - snapshot.best + margin, law.std)
        net = PathConditioner.at(snapshot.belief.posterior, points, part * need)
        return cls(snapshot, margin, points, need, net)

    def __call__(self, rng: np.random.Generator, n: int, near: float) -> tuple[Array, Mask]:
        """Draw n paths; where those near the level end downhill, and whether each path crosses."""
        normals = self.net.normals(rng, n)
        values = self.net.values(normals)
        levels = self._levels(values)
        left = (values - levels[:, None]) / self.need
        success = success_paths(self.snapshot, rng, n)
        if success is not None:
            left[success.excess(self.points) > 0.0] = np.inf
        closest = left.min(axis=1)
        crossing: Mask = closest < 0.0
        paths = np.flatnonzero(~crossing & (closest < near))
        if not len(paths):
            return self.points[:0], crossing
        which, starts = self._starts(left[paths], near)
        low, below = descend_to_level(
            self.snapshot,
            self.net.paths(normals[paths], rng),
            which,
            self.points[starts],
            levels[paths],
            _STEPS,
        )
        if success is not None:
            below &= success.excess_with_gradient(low, paths[which])[0] == 0.0
        crossing[paths[which[below]]] = True
        return low, crossing

    def _levels(self, values: Array) -> Array:
        """The level of each path: the margin below its value at the incumbent."""
        if self.snapshot.belief.objective.exact or self.snapshot.rests_on_fallback:
            return np.full(len(values), self.snapshot.best - self.margin)
        return values[:, -1] - self.margin

    def _starts(self, left: Array, near: float) -> tuple[Indices, Indices]:
        """Which paths descend from which points: the lowest, and the lowest one away from it."""
        rows = np.arange(len(left))
        lowest = np.argmin(left, axis=1)
        objective = self.snapshot.belief.objective
        scaled = self.points / objective.column_lengthscales
        elsewhere = square_distances(scaled[lowest], scaled) > _ELSEWHERE**2
        left = np.where(elsewhere, left, np.inf)
        second = np.argmin(left, axis=1)
        also = np.flatnonzero(left[rows, second] < near)
        return np.append(rows, also), np.append(lowest, second[also])


def _pool(snapshot: Snapshot, margin: float, rng: np.random.Generator) -> Array:
    """Points spread evenly and about likely places; on a mixed space their neighbours too."""
    domain = snapshot.domain
    peaks = snapshot.sup(ImprovementBy(margin)).peaks
    good = snapshot.X[np.argsort(snapshot.judged, kind="stable")[:_GOOD]]
    places = good if peaks is None else unique_rows(np.vstack([peaks, good]))[0]
    deviations = np.tile(np.repeat(_DEVIATIONS, _CLOUD), len(places))[:, None]
    clouds = np.repeat(places, len(_DEVIATIONS) * _CLOUD, axis=0)
    clouds += deviations * rng.standard_normal(clouds.shape)
    pool = [domain.sobol(_SOBOL, rng), places, domain.snap(clouds)]  # type: ignore[union-attr]
    if domain.n_discrete > 1:  # type: ignore[union-attr]
        pool += domain.neighbours_of_each(places)  # type: ignore[union-attr]
    return domain.only_allowed(np.vstack(pool))  # type: ignore[union-attr]


def _likely(points: Array, z: Array, count: int) -> Array:
    """The likeliest points, at most so many, without those that have no chance."""
    order = np.argsort(-z, kind="stable")[:count]
    return points[order[z[order] > _UNLIKELY]]
