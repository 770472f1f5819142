# SPDX-License-Identifier: Apache-2.0
r"""The expected improvement between two levels, :math:`\int_l^y F`, of a smooth law.

EI(y) - EI(l) where the two differ; where they nearly agree, the integral of the cdf by
Gauss-Legendre, to a relative error below 1e-12. It is for laws whose cdf is log-concave and
analytic (a normal, a log-normal): between levels at which EI differs by less than a quarter, such
a cdf changes by less than that too.
"""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from stopwise.core.beliefs.laws._log_sum import scaled
from stopwise.core.beliefs.laws.law import WithSlopes
from stopwise.core.numerics import scipy_parts
from stopwise.core.numerics.arrays import Array, Mask
from stopwise.core.numerics.quadrature import CANCELS, UNIT_NODES, UNIT_WEIGHTS
from stopwise.core.numerics.standard_improvement import LOG_SQRT_2PI


class SmoothLaw(Protocol):
    """The parts of a law that are read here."""

    def at(self, where: Mask) -> Self:
        """The law at some of the points."""
        ...

    def log_ei(self, level: Array | float) -> WithSlopes:
        """Log of the expected improvement below a level."""
        ...

    def z_score(self, level: Array | float) -> WithSlopes:
        """The z with Phi(z) = P(f <= level)."""
        ...


def log_ei_between(law: SmoothLaw, low: Array | float, level: Array | float) -> WithSlopes:
    """Log of EI(level) - EI(low), with its slopes; -inf, without, where the level is not above."""
    if np.all(np.isneginf(low)):
        return law.log_ei(level)
    upper, lower = law.log_ei(level), law.log_ei(low)
    some = (np.asarray(level) > low) & (upper.value > -np.inf)
    with np.errstate(all="ignore"):
        drop = np.where(some, np.minimum(lower.value - upper.value, 0.0), -np.inf)
        share = np.exp(drop)
        value = np.where(some, upper.value + np.log1p(-share), -np.inf)
        slopes = [
            np.where(some, (s - scaled(share, t)) / (1.0 - share), 0.0)
            for s, t in zip(upper.slopes, lower.slopes, strict=True)
        ]
        near = drop > -CANCELS
        if near.any():
            ends = (np.broadcast_to(end, near.shape)[near] for end in (low, level))
            value[near], *of_near = _by_quadrature(law.at(near), *ends)
            for slope, there in zip(slopes, of_near, strict=True):
                slope[near] = there
    return WithSlopes(value, tuple(slopes))


def _by_quadrature(law: SmoothLaw, low: Array, level: Array) -> tuple[Array, ...]:
    """Log of the integral of Phi(z(u)) over u from low to level, and its slopes."""
    width = level - low
    z, along_nodes = law.z_score(low + UNIT_NODES[:, None] * width)
    log_cdf = scipy_parts.special.log_ndtr(z)
    top = log_cdf[-1]  # the largest: nodes and cdf increase
    total = np.tensordot(UNIT_WEIGHTS, np.exp(log_cdf - top), axes=1)
    density = np.exp(-0.5 * z * z - LOG_SQRT_2PI - top)
    slopes = (
        np.tensordot(UNIT_WEIGHTS, scaled(density, along), axes=1) / total for along in along_nodes
    )
    return np.log(width) + top + np.log(total), *slopes
