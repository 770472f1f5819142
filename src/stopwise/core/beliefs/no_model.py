# SPDX-License-Identifier: Apache-2.0
"""No model: the surrogate of a record of bare values, of which no parameters are known."""

from __future__ import annotations

from dataclasses import dataclass

from stopwise.core.beliefs.laws import Law
from stopwise.core.beliefs.surrogate import Marginals
from stopwise.core.numerics.arrays import Array
from stopwise.errors import InputError


@dataclass(frozen=True, slots=True)
class NoModel:
    """Values are taken as they are, and nothing is expected anywhere: to ask for it is an error.

    Args:
        n: Number of observations.
    """

    n: int

    def __len__(self) -> int:
        """Number of observations."""
        return self.n

    @property
    def exact(self) -> bool:
        """Values are exact."""
        return True

    @property
    def unit(self) -> float:
        """Refused."""
        raise _nothing_expected("the unit")

    @property
    def resolution(self) -> float:
        """Refused."""
        raise _nothing_expected("the resolution")

    @property
    def column_lengthscales(self) -> Array:
        """Refused."""
        raise _nothing_expected("length scales")

    def law(self, X: Array) -> Law:
        """Refused."""
        raise _nothing_expected(f"the law of f at {len(X)} points")

    def law_with_gradient(self, X: Array) -> tuple[Law, tuple[Array, ...]]:
        """Refused."""
        return self.law(X), ()

    def relative_to(self, x: Array, value: float) -> Marginals:  # noqa: ARG002  of a surrogate
        """Refused."""
        raise _nothing_expected("gains")


def _nothing_expected(what: str) -> InputError:
    return InputError(
        f"a rule or an acquisition asks for {what}, and there is no model: values alone are known"
        " here. Name the columns that are parameters, or take rules that read values alone."
    )
