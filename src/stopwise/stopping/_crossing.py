# SPDX-License-Identifier: Apache-2.0
"""Which paths fall below a level somewhere in a box; what PRB samples there.

Only a small part of a box matters: where f may still lie below the level. A net of points is laid
there, and paths are drawn exactly at the net (``conditioned_paths.py``). Most cross at a point of
the net or stay far above the level; the few that come near it descend. The first paths, on a
coarse net, show where a finer one for the others is to be laid.

A point's *need* is how far a path must fall there below its mean, or its deviation if that is
more. A net resolves a small part of it, and a path is near if a part of it is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stopwise.acquisition.improvement import ImprovementBy
from stopwise.core.beliefs.conditioned_paths import PathConditioner
from stopwise.core.beliefs.distances import square_distances
from stopwise.core.numerics.arrays import Array, Indices, Mask
from stopwise.core.snapshot import Snapshot
from stopwise.stopping._descent import reach

_SOBOL = 1024  # points spread evenly, of which the likely ones are taken
_GOOD = 3  # best observations that are looked around
_DEVIATIONS = (0.2, 0.05, 0.01, 0.002)  # about likely places, in the unit cube
_CLOUD = 8  # points about each place, at each deviation
_UNLIKELY = -6.5  # z of points that do not matter: a chance below 1e-10
_PILOTS = 64  # first paths: where they are low joins the fine net
_COARSE, _FINE = 128, 384  # most points of the pilots' net and of the others'
_COARSELY, _FINELY = 0.1, 0.02  # part of the need that a net resolves
_FAR, _NEAR = 1.0, 0.4  # part of the need left, from which on pilots and others descend
_ELSEWHERE = 0.3  # length scales between two places from which a path descends
_STEPS = 8  # of a descent; few that reach the level take more


@dataclass(frozen=True, eq=False)  # no slots: the fine net is laid when it is needed
class Crossings:
    """Draws of whether a path gains more than a margin on the incumbent, somewhere in a box."""

    snapshot: Snapshot
    margin: float
    pool: Array
    z: Array  # of the pool
    coarse: Draws

    @classmethod
    def over(cls, snapshot: Snapshot, margin: float) -> Crossings | None:
        """Look where the margin could be gained; None if there is no such point."""
        pool = _pool(snapshot, margin, snapshot.rng("net"))
        z = ImprovementBy(margin).bind(snapshot)(pool)
        likely = _likely(pool, z, _COARSE)
        if not len(likely):
            return None
        return cls(snapshot, margin, pool, z, Draws.at(snapshot, margin, likely, _COARSELY))

    def __call__(self, rng: np.random.Generator, batches: Iterable[int]) -> Iterator[Mask]:
        """For each batch size, whether each of so many paths does."""
        _, pilots = self._pilots
        for n in batches:
            first, pilots = pilots[:n], pilots[n:]
            rest = n - len(first)
            yield np.append(first, self._fine(rng, rest, _NEAR)[1]) if rest else first

    @cached_property
    def _pilots(self) -> tuple[Array, Mask]:
        """Where the first paths are low, and whether they cross."""
        return self.coarse(self.snapshot.rng("pilots"), _PILOTS, _FAR)

    @cached_property
    def _fine(self) -> Draws:
        """Paths on a net that is denser where the pilots were low."""
        low, _ = self._pilots
        pool = np.vstack([self.pool, low])
        z = np.append(self.z, ImprovementBy(self.margin).bind(self.snapshot)(low))
        return Draws.at(self.snapshot, self.margin, _likely(pool, z, _FINE), _FINELY)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Paths through exact draws at a net, and which of them cross."""

    snapshot: Snapshot
    margin: float
    points: Array  # the last one is the incumbent
    need: Array
    net: PathConditioner

    @classmethod
    def at(cls, snapshot: Snapshot, margin: float, points: Array, part: float) -> Draws:
        """Lay a net over some points that resolves a part of their need."""
        points = np.vstack([points, snapshot.X[snapshot.incumbent]])
        law = snapshot.law(points, from_incumbent=True)
        need = np.maximum(law.mean - snapshot.best + margin, law.std)
        net = PathConditioner.at(snapshot.belief.posterior, points, part * need)
        return cls(snapshot, margin, points, need, net)

    def __call__(self, rng: np.random.Generator, n: int, near: float) -> tuple[Array, Mask]:
        """Whether each of n fresh paths crosses; those that come near descend, to these points."""
        normals = self.net.normals(rng, n)
        values = self.net.values(normals)
        levels = self._levels(values)
        left = (values - levels[:, None]) / self.need
        closest = left.min(axis=1)
        crossing: Mask = closest < 0.0
        paths = np.flatnonzero(~crossing & (closest < near))
        if not len(paths):
            return self.points[:0], crossing
        which, starts = self._starts(left[paths], near)
        low, below = reach(
            self.snapshot,
            self.net.paths(normals[paths], rng),
            which,
            self.points[starts],
            levels[paths],
            _STEPS,
        )
        crossing[paths[which[below]]] = True
        return low, crossing

    def _levels(self, values: Array) -> Array:
        """What each path must fall below."""
        if self.snapshot.belief.objective.exact:
            return np.full(len(values), self.snapshot.best - self.margin)
        return values[:, -1] - self.margin

    def _starts(self, left: Array, near: float) -> tuple[Indices, Indices]:
        """Which paths descend from which points: the lowest, and the lowest near one elsewhere."""
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
    """Points spread evenly, where a gain is likeliest and, on a mixed space, beside that."""
    domain = snapshot.domain
    peaks = snapshot.sup(ImprovementBy(margin)).peaks
    good = snapshot.X[np.argsort(snapshot.judged, kind="stable")[:_GOOD]]
    places = good if peaks is None else np.unique(np.vstack([peaks, good]), axis=0)
    deviations = np.tile(np.repeat(_DEVIATIONS, _CLOUD), len(places))[:, None]
    clouds = np.repeat(places, len(_DEVIATIONS) * _CLOUD, axis=0)
    clouds += deviations * rng.standard_normal(clouds.shape)
    pool = [domain.sobol(_SOBOL, rng), places, domain.snap(clouds)]  # type: ignore[union-attr]
    if domain.n_discrete > 1:  # type: ignore[union-attr]
        pool += [domain.neighbours(x) for x in places]  # type: ignore[union-attr]
    return np.vstack(pool)


def _likely(points: Array, z: Array, count: int) -> Array:
    """The likeliest ones, without those that do not matter."""
    order = np.argsort(-z, kind="stable")[:count]
    return points[order[z[order] > _UNLIKELY]]
