# SPDX-License-Identifier: Apache-2.0
"""Comparisons in expressions: Python's, but what rounding alone moves does not decide.

The decimals .33, .56 and .11 add up to 1.0000000000000002 as floats. So numbers count as equal in
``<=``, ``>=``, ``==`` and ``!=`` if they differ by at most 1e-12 of the largest term on either
side; ``<`` and ``>`` stay strict. Whole numbers are exact.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

Evaluate = Callable[[Mapping[str, Any]], Any]

_SLACK = (
    1e-12  # of the largest term: the roundings of thousands of terms, and no amount of anything
)


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum or a difference, which knows its terms: their size says how far it may be rounded."""

    value: Evaluate
    parts: tuple[Evaluate, Evaluate]

    def __call__(self, params: Mapping[str, Any]) -> Any:  # noqa: ANN401  a number
        """The sum."""
        return self.value(params)


@dataclass(frozen=True, slots=True)
class Relation:
    """One comparison.

    Args:
        compare: Left and right side -> whether it holds, exactly.
        of_equals: What it says of equal numbers, where numbers that differ by rounding alone count
            as equal; None where they do not.
    """

    compare: Callable[[Any, Any], bool]
    of_equals: bool | None = None

    def holds(
        self, values: tuple[Any, Any], sides: tuple[Evaluate, Evaluate], params: Mapping[str, Any]
    ) -> bool:
        """Tell whether it holds between two values.

        Args:
            values: The values of the left and of the right side.
            sides: The functions that gave the values.
            params: Those that they were given.
        """
        left, right = values
        exactly = bool(self.compare(left, right))
        if self.of_equals in (None, exactly) or not _may_be_rounded(left, right):
            return exactly
        terms = (term for side in sides for term in _terms(side))
        return not exactly if _are_close(left, right, terms, params) else exactly


def _may_be_rounded(left: object, right: object) -> bool:
    """Whether two values are numbers that are not both whole."""
    is_float = isinstance(left, float) or isinstance(right, float)
    return is_float and isinstance(left, Real) and isinstance(right, Real)


def _terms(side: Evaluate) -> Iterator[Evaluate]:
    """The terms of a sum of any depth; what is no sum is one term."""
    waiting = [side]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Sum):
            waiting.extend(term.parts)
        else:
            yield term


def _are_close(
    left: float, right: float, terms: Iterable[Evaluate], params: Mapping[str, Any]
) -> bool:
    """Whether two numbers differ by no more than the slack; an infinite one is close to itself."""
    try:
        largest = max(abs(float(term(params))) for term in terms)
        return math.isclose(left, right, rel_tol=0.0, abs_tol=_SLACK * largest)
    except OverflowError:  # a whole number that is too large for a float
        return False


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison by size, which names do not have: Python would go by the alphabet."""

    def checked(a: Any, b: Any) -> bool:  # noqa: ANN401  values of parameters
        if isinstance(a, str) and isinstance(b, str):
            message = "names have no size; list those that are allowed, as in kind in ['a', 'b']"
            raise TypeError(message)
        return compare(a, b)

    return checked


COMPARISONS: dict[type[ast.cmpop], Relation] = {
    ast.Eq: Relation(operator.eq, of_equals=True),
    ast.NotEq: Relation(operator.ne, of_equals=False),
    ast.Lt: Relation(_ordered(operator.lt)),
    ast.LtE: Relation(_ordered(operator.le), of_equals=True),
    ast.Gt: Relation(_ordered(operator.gt)),
    ast.GtE: Relation(_ordered(operator.ge), of_equals=True),
    ast.In: Relation(lambda a, b: a in b),
    ast.NotIn: Relation(lambda a, b: a not in b),
}
