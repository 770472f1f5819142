# SPDX-License-Identifier: Apache-2.0
"""The law of f plus a constant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stopwise.core.beliefs.laws.law import FairValue, Law, WithSlopes
from stopwise.core.numerics.arrays import Array, Indices, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Shifted:
    r"""The law of :math:`f + a`; its parameters are those of the law of f.

    :math:`\mathrm{EI}_a(y) = \mathrm{EI}(y - a)`, and the fair value moves by a. Assumes that a is
    known.

    Args:
        law: The law of f.
        by: What is added to f.

    References:
        Decision 23.
    """

    law: Law
    by: float

    @property
    def parameters(self) -> tuple[Array, ...]:
        """Those of the law."""
        return self.law.parameters

    @property
    def mean(self) -> Array:
        """The mean, moved."""
        return np.asarray(self.law.mean + self.by)

    @property
    def std(self) -> Array:
        """That of the law."""
        return self.law.std

    @property
    def median(self) -> Array:
        """The median, moved."""
        return np.asarray(self.law.median + self.by)

    def log_ei(self, level: Array | float) -> WithSlopes:
        """The law's at the level moved back."""
        return self.law.log_ei(level - self.by)

    def log_ei_between(self, low: Array | float, level: Array | float) -> WithSlopes:
        """The law's between the levels moved back."""
        return self.law.log_ei_between(low - self.by, level - self.by)

    def cdf(self, level: Array | float) -> WithSlopes:
        """The law's at the level moved back."""
        return self.law.cdf(level - self.by)

    def log_cdf(self, level: Array | float) -> Array:
        """The law's at the level moved back."""
        return self.law.log_cdf(level - self.by)

    def log_survival(self, level: Array | float) -> Array:
        """The law's at the level moved back."""
        return self.law.log_survival(level - self.by)

    def log_density(self, level: Array | float) -> Array:
        """The law's at the level moved back."""
        return self.law.log_density(level - self.by)

    def z_score(self, level: Array | float) -> WithSlopes:
        """The law's at the level moved back."""
        return self.law.z_score(level - self.by)

    def quantile(self, z: Array | float) -> WithSlopes:
        """The law's, moved."""
        value, slopes = self.law.quantile(z)
        return WithSlopes(value + self.by, slopes)

    def fair_value(self, price: Array | float) -> FairValue:
        """The law's, moved."""
        value, slopes, d_log_price = self.law.fair_value(price)
        return FairValue(value + self.by, slopes, d_log_price)

    def at(self, where: Mask) -> Shifted:
        """The law at some of the points."""
        return Shifted(self.law.at(where), self.by)

    def known_at(self, rows: Indices, values: Array) -> Shifted:
        """With these values at some of the points."""
        return Shifted(self.law.known_at(rows, values - self.by), self.by)
