# SPDX-License-Identifier: Apache-2.0
"""The protocol of output warps."""

from __future__ import annotations

from typing import ClassVar, Protocol

from stopwise.core.beliefs.laws import Law, Normal
from stopwise.core.numerics.arrays import Array


class Warp(Protocol):
    """An increasing map from values of f to the values that a Gaussian process models.

    A warp is written as a frozen dataclass. Its fields are its parameters; they are fixed, not
    fitted, and are written to journals as JSON. All methods are elementwise.

    Attributes:
        name: Its name in ``WARPS``.
    """

    name: ClassVar[str]

    def words(self, sign: float = 1.0) -> str:
        """What it does to values, as a clause for users.

        Args:
            sign: -1 where the user maximises: the values that are warped are then minus the
                user's.
        """
        ...

    def forward(self, y: Array) -> Array:
        """From the user's units to the model's; an InputError for values that it cannot take."""
        ...

    def inverse(self, g: Array) -> Array:
        """From the model's units back to the user's."""
        ...

    def inverse_slope(self, g: Array) -> Array:
        """The derivative of ``inverse``."""
        ...

    def law(self, normal: Normal) -> Law:
        """The law of f where the warped f is normal; its parameters are those of the normal."""
        ...
