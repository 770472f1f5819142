# SPDX-License-Identifier: Apache-2.0
"""The protocols of utilities: what a value of the objective is worth to the user.

Inside, values are minimised and so are utilities: a utility gives its ``Loss``, minus the utility
of the value behind a minimised one.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from stopwise.core.beliefs.laws import Loss
from stopwise.core.numerics.arrays import Array


@runtime_checkable
class Utility(Protocol):
    """What a study needs of a utility: all that ``sw.utility`` makes have it."""

    @property
    def unit(self) -> str:
        """The name of its currency, for sentences; it may be empty."""
        ...

    def loss(self, sign: float) -> Loss:
        """Minus the utility as a function of what is minimised, ``sign`` times the value.

        Raises:
            InputError: The utility falls where values get better.
        """
        ...


@runtime_checkable
class OwnUtility(Protocol):
    """A utility of your own; ``derivative`` must not change its sign."""

    def worth(self, values: Array) -> Array:
        """What values of the objective are worth, elementwise."""
        ...

    def derivative(self, values: Array) -> Array:
        """The derivative of ``worth``, elementwise."""
        ...
