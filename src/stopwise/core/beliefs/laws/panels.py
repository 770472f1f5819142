# SPDX-License-Identifier: Apache-2.0
"""Panels: the intervals on which a cdf over a loss is integrated, of several laws together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stopwise.core.beliefs.laws._parts import bends_of
from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.numerics.arrays import Array, Indices, Mask

CERTAIN = 8.5  # deviations: the cdf is 1 or 0 beyond, to rounding
_Z = np.array([-8.5, -4.5, -1.5, 1.5, 4.5])  # ends of panels, where they are below the top
_TAIL = -1.5  # tops below this z-score have panels of their own, by how fast the cdf falls
_FALLS = np.array([32.0, 32.0, 32.0, 14.0, 6.0])  # of log F, about
_LOWEST_Z = -1e8  # so that z-scores are finite
_FARTHEST = 1e200  # a warped quantile may be infinite, and a panel is not


class Bends(NamedTuple):
    """Where a loss bends, and how it falls below its bends.

    Attributes:
        at: Values at which panels are cut, increasing.
        coarse: For each, the width of a panel that must be cut there; narrower ones need not be.
        tail: The scale on which the loss falls exponentially below the first bend; 0 if it does
            not.
    """

    at: Array
    coarse: Array
    tail: float = 0.0

    def cuts(self, top: Array, others: list[float]) -> tuple[Array, Array]:
        """Values at which panels below a top are cut, (cuts, points), and how wide ones."""
        points, coarse = (
            np.array([*self.at, *others]),
            np.array([*self.coarse, *(0.0 for _ in others)]),
        )
        cuts = np.broadcast_to(points[:, None], (len(points), len(top)))
        if self.tail == 0.0 or not np.any(top < self.at[0]):
            return cuts, coarse
        steps = self.tail * _FALLS[:, None]
        in_tail = np.where(top < self.at[0], top - steps, top)
        return np.vstack([cuts, in_tail]), np.concatenate(
            [coarse, np.full(len(steps), 6.0 * self.tail)]
        )


class Panels(NamedTuple):
    """Intervals, each of one point and one law; those of a law stand together.

    Attributes:
        laws: Each at its intervals.
        counts: How many intervals each law has.
        owner: The place of the point among the points of all laws, one law after the other.
        low: Lower ends.
        high: Upper ends.
    """

    laws: tuple[Law, ...]
    counts: tuple[int, ...]
    owner: Indices
    low: Array
    high: Array

    @classmethod
    def of(cls, laws: Sequence[Law], low: Array, tops: Sequence[Array], bends: Bends) -> Panels:
        """Between quantiles and bends, from low to the top of each law and point."""
        n = len(low)
        parts = []
        for i, (law, top) in enumerate(zip(laws, tops, strict=True)):
            ends = _ends(law, low, top, bends)
            marked = ends[1:] > ends[:-1]
            owner = np.broadcast_to(np.arange(i * n, i * n + n), marked.shape)[marked]
            parts.append((law.at(marked), owner, ends[:-1][marked], ends[1:][marked]))
        at, owners, lows, highs = zip(*parts, strict=True)
        counts = tuple(map(len, owners))
        return cls(at, counts, *map(np.concatenate, (owners, lows, highs)))

    @property
    def slices(self) -> list[slice]:
        """The place of each law's intervals."""
        ends = np.cumsum([0, *self.counts]).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def halves_of(self, where: Mask) -> Panels:
        """The two halves of some."""
        parts = []
        for law, here in zip(self.laws, self.slices, strict=True):
            some = where[here]
            owner, low, high = (each[here][some] for each in self[2:])
            middle = 0.5 * (low + high)
            ends = np.concatenate([low, middle]), np.concatenate([middle, high])
            parts.append((law.at(np.vstack([some, some])), np.tile(owner, 2), *ends))
        at, owners, lows, highs = zip(*parts, strict=True)
        counts = tuple(map(len, owners))
        return Panels(at, counts, *map(np.concatenate, (owners, lows, highs)))

    def z_scores(self, y: Array) -> list[WithSlopes]:
        """Of values, (nodes, intervals), by each law."""
        pairs = zip(self.laws, self.slices, strict=True)
        return [law.z_score(y[:, here]) for law, here in pairs]


def _ends(law: Law, low: Array, top: Array, bends: Bends) -> Array:
    """Ends of panels for each point, (ends, points), in order."""
    z_top = np.clip(law.z_score(top).value, _LOWEST_Z, CERTAIN)
    in_tail = -np.sqrt(z_top * z_top + 2.0 * _FALLS[:, None])
    z = np.where(z_top < _TAIL, in_tail, np.minimum(_Z[:, None], z_top))
    everywhere = np.ones(z.shape, dtype=bool)
    y = law.at(everywhere).quantile(z.ravel()).value.reshape(z.shape)
    low, top = np.clip(low, -_FARTHEST, _FARTHEST), np.clip(top, -_FARTHEST, _FARTHEST)
    ends = np.clip(np.vstack([y, top[None, :]]), low, top)
    cuts, coarse = bends.cuts(top, bends_of(law))
    at = (cuts[:, None] > ends[:-1]).sum(axis=1)  # the panel of each
    widths = np.vstack([np.zeros_like(top), np.diff(ends, axis=0)])
    width = np.take_along_axis(widths, at, axis=0)
    cuts = np.where(width > coarse[:, None], np.clip(cuts, low, top), top)
    return np.sort(np.vstack([ends, cuts]), axis=0)
