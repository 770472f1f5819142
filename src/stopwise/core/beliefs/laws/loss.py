# SPDX-License-Identifier: Apache-2.0
"""The protocol of losses: minus what a value is worth, as a function of the minimised value.

A loss never falls: a higher value, which is worse, is not worth more. It may be flat, and bounded
on either side.
"""

from __future__ import annotations

from typing import Protocol

from stopwise.core.beliefs.laws.law import Law, WithSlopes
from stopwise.core.numerics.arrays import Array


class Loss(Protocol):
    """A function L of the minimised value that never falls. Immutable."""

    @property
    def low(self) -> float:
        """The infimum of L, or -inf."""
        ...

    @property
    def high(self) -> float:
        """The supremum of L, or inf."""
        ...

    @property
    def by_quadrature(self) -> bool:
        """Whether ``log_integral`` is by quadrature; otherwise it is in closed form."""
        ...

    def __call__(self, y: Array) -> Array:
        """L(y), elementwise."""
        ...

    def log_slope(self, y: Array) -> Array:
        """Log of the derivative; at a kink, of that to the right; -inf where L is flat."""
        ...

    def inverse(self, level: Array) -> Array:
        """The largest y with L(y) <= level; inf where all are, -inf where none is."""
        ...

    def log_integral(self, law: Law, low: Array, high: Array) -> WithSlopes:
        r"""Log of :math:`\int_l^h F\,dL` with the law's cdf F, and its slopes; l may be -inf."""
        ...
