# SPDX-License-Identifier: Apache-2.0
"""Values at the points of a screen, computed once for all acquisitions of a moment.

Every search at one moment screens the same points, because their random stream is addressed by
the moment alone: a rule's search and the one that follows it for the next point differ in the
score, not in the law of f or in the price.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol, TypeVar

from stopwise.core.numerics.arrays import Array
from stopwise.core.space import Domain, Finite

T = TypeVar("T")

_MANY = 256  # points from which on they are a screen


class Moment(Protocol):
    """The parts of a snapshot that are read here."""

    @property
    def domain(self) -> Domain:
        """The encoded space."""
        ...

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute a value once for this moment."""
        ...


def screened(moment: Moment, what: Hashable, X: Array, compute: Callable[[Array], T]) -> T:
    """A value at points, kept if they are many; candidates of a table are kept elsewhere.

    Args:
        moment: Whose memo keeps it.
        what: The key; with the points, all that the value depends on.
        X: The points.
        compute: The value at points.
    """
    if len(X) < _MANY or isinstance(moment.domain, Finite):
        return compute(X)
    return moment.once((what, X.shape, X.tobytes()), lambda: compute(X))
