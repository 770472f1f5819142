# SPDX-License-Identifier: Apache-2.0
r"""Drawn success: where the evaluations of a sample path give a value and keep all limits.

Every part of a chance to succeed is the probability that a Gaussian process, and perhaps a normal
number e besides, is within an interval: a measured outcome within its limits, or the latent
process of a classifier, :math:`h(x) + e \ge 0`. A draw has a path of each process and one e for
each classifier. At any one point it succeeds with the chance of the law, and neighbours succeed or
fail together. Parts are drawn independently, as the chance takes them for independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.paths import JointDraws, Paths, sample_paths
from stopwise.core.beliefs.success import Requirement, Success
from stopwise.core.numerics.arrays import Array, Indices


@dataclass(frozen=True, slots=True, eq=False)
class SuccessPaths:
    """n draws of where evaluations succeed, at all points.

    Attributes:
        requirements: What must be kept.
        paths: n paths of the model of each.
        shifts: What is added to each path, (n,) for each requirement.
    """

    requirements: tuple[Requirement, ...]
    paths: tuple[Paths, ...]
    shifts: tuple[Array, ...]

    @classmethod
    def of(cls, success: Success, rng: np.random.Generator, n: int) -> SuccessPaths:
        """Draw n times."""
        needed = success.requirements
        paths = tuple(sample_paths(need.model, rng, n) for need in needed)
        return cls(needed, paths, tuple(_shifts(need, rng, n) for need in needed))

    def excess(self, X: Array) -> Array:
        """How far each draw misses its worst requirement at the rows of X, (n, rows).

        In deviations of the requirement's model; 0 where the evaluation succeeds.
        """
        each = zip(self.requirements, self.paths, self.shifts, strict=True)
        beyond = [need.excess(paths(X) + shifts[:, None]) for need, paths, shifts in each]
        return np.asarray(np.max(beyond, axis=0))

    def excess_with_gradient(self, X: Array, which: Indices) -> tuple[Array, Array]:
        """Row i of X in draw ``which[i]``: the excess (rows,) and its gradient (rows, width)."""
        worst, gradient = np.zeros(len(X)), np.zeros(X.shape)
        for need, paths, shifts in zip(self.requirements, self.paths, self.shifts, strict=True):
            value, slope = paths.with_gradient(X, which)
            value = value + shifts[which]
            excess = need.excess(value)
            slope *= (np.where(value > need.high, 1.0, -1.0) / need.model.unit)[:, None]
            gradient = np.where((excess > worst)[:, None], slope, gradient)
            worst = np.maximum(worst, excess)
        return worst, gradient


@dataclass(frozen=True, slots=True, eq=False)
class JointSuccess:
    """Exact joint draws of where evaluations succeed among some points, factorised once.

    Attributes:
        requirements: What must be kept.
        draws: Of the model of each, at the points.
    """

    requirements: tuple[Requirement, ...]
    draws: tuple[JointDraws, ...]

    @classmethod
    def at(cls, success: Success, X: Array) -> JointSuccess:
        """Draws at the rows of X; meant for a few thousand."""
        needed = success.requirements
        return cls(needed, tuple(JointDraws.at(need.model, X) for need in needed))

    def excess(self, rng: np.random.Generator, n: int) -> Array:
        """Draw n times how far each point misses its worst requirement, (n, rows)."""
        beyond = [
            need.excess(draws(rng, n) + _shifts(need, rng, n)[:, None])
            for need, draws in zip(self.requirements, self.draws, strict=True)
        ]
        return np.asarray(np.max(beyond, axis=0))


def _shifts(need: Requirement, rng: np.random.Generator, n: int) -> Array:
    """The normal numbers of n draws, or zeros."""
    return rng.standard_normal(n) if need.blurred else np.zeros(n)
