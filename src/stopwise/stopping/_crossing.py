# SPDX-License-Identifier: Apache-2.0
"""Which paths fall below a level somewhere in a box; what PRB samples there.

Only a small part of a box matters: where f may still lie below the level. A net of points is laid
there, and paths are drawn exactly at the net (``stopwise.models.net``). Most cross at a point of
the net or stay far above the level; the few that come near it descend.

A point's *need* is how far a path must fall there below its mean, or its deviation if that is
more. A net resolves a small part of it, and a path is near if a part of it is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stopwise.acquisition.improvement import ImprovementBy
from stopwise.models.net import Net
from stopwise.snapshot import Snapshot
from stopwise.stopping._descent import descend

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_SOBOL = 1024  # points spread evenly, of which the likely ones are taken
_GOOD = 3  # best observations that are looked around
_DEVIATIONS = (0.2, 0.05, 0.01, 0.002)  # about likely places, in the unit cube
_CLOUD = 8  # points about each place, at each deviation
_UNLIKELY = -6.5  # z of points that do not matter: a chance below 1e-10
_PILOTS = 128  # paths whose minima join the net
_COARSE, _FINE = 256, 384  # most points of the pilots' net and of the net
_COARSELY, _FINELY = 0.1, 0.02  # part of the need that a net resolves
_NEAR = 0.4  # part of the need that is left, from which on a path descends
_STARTS = (0, 3)  # from its lowest point of the net, and the fourth, which may be elsewhere
_STEPS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Crossings:
    """Draws of whether a path gains more than a margin on the incumbent, somewhere in a box."""

    snapshot: Snapshot
    margin: float
    points: Array  # the last one is the incumbent
    need: Array
    net: Net

    @classmethod
    def over(cls, snapshot: Snapshot, margin: float) -> Crossings | None:
        """Lay the net; None if there is no point at which the margin could be gained."""
        rng = snapshot.rng("net")
        pool = _pool(snapshot, margin, rng)
        chances = ImprovementBy(margin).bind(snapshot)
        z = chances(pool)
        coarse = cls._on(snapshot, margin, _likely(pool, z, _COARSE), _COARSELY)
        if coarse is None:
            return None
        lowest = coarse.lowest_points(rng, _PILOTS)
        pool, z = np.vstack([pool, lowest]), np.append(z, chances(lowest))
        return cls._on(snapshot, margin, _likely(pool, z, _FINE), _FINELY)

    @classmethod
    def _on(
        cls, snapshot: Snapshot, margin: float, points: Array, part: float
    ) -> Crossings | None:
        if not len(points):
            return None
        points = np.vstack([points, snapshot.X[snapshot.incumbent]])
        mean, std = snapshot.normal(points, from_incumbent=True)
        need = np.maximum(mean - snapshot.best + margin, std)
        net = Net.at(snapshot.belief.objective, points, part * need)
        return cls(snapshot, margin, points, need, net)

    def __call__(self, rng: np.random.Generator, n: int) -> Mask:
        """Whether each of n fresh paths does."""
        normals = self.net.normals(rng, n)
        values = self.net.values(normals)
        levels = self._levels(values)
        left = (values - levels[:, None]) / self.need
        closest = left.min(axis=1)
        crossing: Mask = closest < 0.0
        near = np.flatnonzero(~crossing & (closest < _NEAR))
        if len(near):
            ranks = np.minimum(_STARTS, len(self.points) - 1)
            starts = self.points[np.argsort(left[near], axis=1)[:, ranks]]
            which = np.repeat(np.arange(len(near)), len(ranks))
            paths = self.net.paths(normals[near], rng)
            starts = starts.reshape(len(which), -1)
            _, found = descend(self.snapshot, paths, which, starts, levels[near], _STEPS)
            lowest = found.reshape(len(near), -1).min(axis=1)
            crossing[near] = lowest < levels[near]
        return crossing

    def _levels(self, values: Array) -> Array:
        """What each path must fall below."""
        if self.snapshot.belief.objective.interpolate:
            return np.full(len(values), self.snapshot.best - self.margin)
        return values[:, -1] - self.margin

    def lowest_points(self, rng: np.random.Generator, n: int) -> Array:
        """Where n fresh paths are lowest, or nearly so."""
        normals = self.net.normals(rng, n)
        values = self.net.values(normals)
        left = (values - self._levels(values)[:, None]) / self.need
        starts = self.points[np.argmin(left, axis=1)]
        paths = self.net.paths(normals, rng)
        return descend(self.snapshot, paths, np.arange(n), starts, max_steps=_STEPS)[0]


def _pool(snapshot: Snapshot, margin: float, rng: np.random.Generator) -> Array:
    """Points spread evenly, where a gain is likeliest and, on a mixed space, beside that."""
    domain = snapshot.domain
    peaks = snapshot.sup(ImprovementBy(margin)).peaks
    good = snapshot.X[np.argsort(snapshot.judged, kind="stable")[:_GOOD]]
    places = good if peaks is None else np.unique(np.vstack([peaks, good]), axis=0)
    beside = [domain.neighbours(x) for x in places]  # type: ignore[union-attr]
    pool = [domain.sobol(_SOBOL, rng), places, *beside]  # type: ignore[union-attr]
    for deviation in _DEVIATIONS:
        centres = np.repeat(places, _CLOUD, axis=0)
        noise = deviation * rng.standard_normal(centres.shape)
        pool.append(domain.snap(centres + noise))
    return np.vstack(pool)


def _likely(points: Array, z: Array, count: int) -> Array:
    """The likeliest ones, without those that do not matter."""
    order = np.argsort(-z, kind="stable")[:count]
    return points[order[z[order] > _UNLIKELY]]
