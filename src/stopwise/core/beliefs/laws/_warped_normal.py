# SPDX-License-Identifier: Apache-2.0
"""Laws of a warped normal: f is an increasing function of a normal variable."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws._log_sum import scaled
from stopwise.core.beliefs.laws.law import WithSlopes
from stopwise.core.beliefs.laws.normal import Normal
from stopwise.core.numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no plain equality
class WarpedNormal(ABC):
    """What follows from the warp alone: probabilities, densities and quantiles.

    Args:
        normal: The law of the warped f.
    """

    normal: Normal

    @abstractmethod
    def _forward(self, level: Array | float) -> Array:
        """The warped level; -inf for one that f cannot reach."""

    @abstractmethod
    def _log_slope(self, level: Array | float) -> Array:
        """The log of the derivative of ``_forward``; any number where that is -inf."""

    @abstractmethod
    def _inverse(self, v: Array) -> Array:
        """The level of a warped level."""

    @abstractmethod
    def _inverse_slope(self, v: Array) -> Array:
        """The derivative of ``_inverse``."""

    @property
    def parameters(self) -> tuple[Array, Array]:
        """Mean and deviation of the normal."""
        return self.normal.parameters

    @property
    def median(self) -> Array:
        """The median of the normal, unwarped."""
        return self._inverse(self.normal.mean)

    def cdf(self, level: Array | float) -> WithSlopes:
        """The probability of at most a level."""
        return self.normal.cdf(self._forward(level))

    def log_cdf(self, level: Array | float) -> Array:
        """Log P(f <= level)."""
        return self.normal.log_cdf(self._forward(level))

    def log_survival(self, level: Array | float) -> Array:
        """Log P(f > level)."""
        return self.normal.log_survival(self._forward(level))

    def log_density(self, level: Array | float) -> Array:
        """The density of the normal at the warped level, times the derivative of the warp."""
        v = self._forward(level)
        return np.where(v > -np.inf, self.normal.log_density(v) + self._log_slope(level), -np.inf)

    def z_score(self, level: Array | float) -> WithSlopes:
        """The z-score of the warped level."""
        v = self._forward(level)
        z, slopes = self.normal.z_score(v)
        return WithSlopes(z, tuple(np.where(np.isfinite(v), slope, 0.0) for slope in slopes))

    def quantile(self, z: Array | float) -> WithSlopes:
        """The quantile of the normal, unwarped."""
        v, slopes = self.normal.quantile(z)
        outer = self._inverse_slope(v)
        return WithSlopes(self._inverse(v), tuple(scaled(slope, outer) for slope in slopes))
